// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counters of an instance of ICP, and the filters of its siblings. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "filter/compat.h"
#include "icp/icp.h"
#include "util/clock.h"
#include "xdp/load.h"
#include "xdp/xdp.h"

int baleen_icp_sibling(const struct baleen_icp *icp, const char *name)
{
	for (u32 i = 0; i < icp->now.config.n_siblings; i++)
		if (!strcmp(icp->now.config.sibling[i].name, name))
			return i;
	return -ENOENT;
}

/* --- filters --------------------------------------------------------------- */

/* Says why baleen_icp_may_feed() says no. */
static int cannot_feed(const struct baleen_image *image, struct baleen_error *error)
{
	const struct baleen_table *table = &image->table[BALEEN_TUPLE];

	if (table->kind != BALEEN_KIND_COUNTING && table->kind != BALEEN_KIND_CUCKOO)
		return baleen_fail(error, EOPNOTSUPP,
				   "kind %s cannot follow a feed: counting and cuckoo can",
				   baleen_kind_name(table->kind));
	if (image->flags & BALEEN_FLAG_COPIES)
		return baleen_fail(error, EOPNOTSUPP, "a filter with copies cannot follow a feed");
	if (table->kind == BALEEN_KIND_COUNTING)
		return baleen_fail(error, EOPNOTSUPP,
				   "only hashes keyed, squid and blocked, and up to %d bits a key, "
				   "can follow a feed",
				   BALEEN_ICP_MAX_HASHES);
	return baleen_fail(
		error, EOPNOTSUPP,
		"only a cuckoo table of 64-bit slots, four a bucket and without a stash, "
		"can follow a feed");
}

int baleen_icp_check(const struct baleen_image *image, u32 feeders, struct baleen_error *error)
{
	const struct baleen_table *table = &image->table[BALEEN_TUPLE];

	if (image->key_spec != BALEEN_KEY_SQUID)
		return baleen_fail(error, EOPNOTSUPP,
				   "its keys are no objects of Squid: build it with --key squid");
	if (baleen_kind_has_chains(table->kind))
		return baleen_fail(error, EOPNOTSUPP, "only userspace asks a table of kind %s",
				   baleen_kind_name(table->kind));
	if (table->kind == BALEEN_KIND_QUOTIENT && !baleen_quotient_fits_packets(table))
		return baleen_fail(error, EOPNOTSUPP,
				   "it has a cluster of %u slots, and queries are looked up in %d "
				   "at most: resize it to more room",
				   table->longest_cluster, BALEEN_QUOTIENT_SCAN);
	if (feeders && !baleen_icp_may_feed(image))
		return cannot_feed(image, error);
	/* A set cannot know that two of them have one object, and would forget it with
	 * the first that does.
	 */
	if (feeders & (feeders - 1) && table->kind != BALEEN_KIND_COUNTING)
		return baleen_fail(error, EOPNOTSUPP,
				   "only kind counting can follow several feeders");
	return 0;
}

static bool same_header(const struct baleen_image *a, const struct baleen_image *b)
{
	return a->n_blocks == b->n_blocks && a->key_spec == b->key_spec &&
	       !memcmp(&a->seed, &b->seed, sizeof(a->seed)) &&
	       baleen_same_geometry(&a->table[BALEEN_TUPLE], &b->table[BALEEN_TUPLE]);
}

int baleen_icp_filter(const struct baleen_icp *icp, u32 n, struct baleen_filter *filter,
		      struct baleen_error *error)
{
	const struct baleen_icp_sibling *sibling = &icp->now.config.sibling[n];
	const char *reason = "header and program disagree";
	struct baleen_filter mapped;
	struct baleen_image found;
	/* The program goes by the constants of its load, so do we. */
	int err = baleen_load_view(icp->now.sibling_fd[n], &sibling->image, 0, PROT_READ, &mapped);

	if (err)
		return baleen_fail(error, -err, "%s:%s: %s", icp->device, sibling->name,
				   strerror(-err));
	if (baleen_image_check(mapped.bytes, mapped.n_bytes, &found, &reason) ||
	    !same_header(&found, &sibling->image)) {
		baleen_filter_free(&mapped);
		return baleen_fail(error, EINVAL, "%s:%s: %s", icp->device, sibling->name, reason);
	}
	*filter = mapped;
	return 0;
}

/* --- counters -------------------------------------------------------------- */

int baleen_icp_stats(const struct baleen_icp *icp, struct baleen_icp_stats *stats,
		     struct baleen_error *error)
{
	int err = baleen_xdp_sum_counters(icp->now.stats_fd, icp->device, stats, sizeof(*stats),
					  error);

	/* A late datagram takes back a loss, also one that was not counted: of the time
	 * before the first datagram, or because it came twice.
	 */
	for (u32 n = 0; n < BALEEN_ICP_MAX_FEEDERS && !err; n++)
		if ((s64)stats->feeder[n].lost < 0)
			stats->feeder[n].lost = 0;
	return err;
}

u64 baleen_icp_entries(const struct baleen_icp *icp, u32 n, const struct baleen_icp_stats *stats)
{
	s64 base = __atomic_load_n(&icp->state->base[n], __ATOMIC_RELAXED);
	s64 entries = base + (s64)(stats->sibling[n].inserted - stats->sibling[n].deleted);

	return entries > 0 ? entries : 0;
}

/* --- freshness ------------------------------------------------------------- */

u64 baleen_icp_now_ns(void)
{
	return baleen_clock_ns(CLOCK_MONOTONIC);
}

void baleen_icp_synced(const struct baleen_icp *icp, u32 n, u64 n_entries,
		       const struct baleen_icp_stats *stats)
{
	const struct baleen_icp_sibling_stats *counted = &stats->sibling[n];
	struct baleen_icp_state *state = icp->state;

	__atomic_store_n(&state->base[n], (s64)(n_entries - (counted->inserted - counted->deleted)),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&state->synced_wall_ns[n], baleen_clock_ns(CLOCK_REALTIME),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&state->synced_ns[n], baleen_clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
}

static bool is_recent(u64 then_ns, u64 now_ns, u64 stale_ns)
{
	return then_ns && (then_ns > now_ns || now_ns - then_ns < stale_ns);
}

bool baleen_icp_is_fresh(const struct baleen_icp *icp, u32 n)
{
	const struct baleen_icp_config *config = &icp->now.config;
	const struct baleen_icp_state *state = icp->state;
	u32 feeders = config->sibling[n].feeders;
	u64 now_ns = baleen_icp_now_ns();
	bool is_heard = feeders;

	if (!config->stale_ns || is_recent(__atomic_load_n(&state->synced_ns[n], __ATOMIC_RELAXED),
					   now_ns, config->stale_ns))
		return true;
	for (u32 i = 0; i < config->n_feeders; i++)
		if (feeders & 1u << i)
			is_heard &=
				is_recent(__atomic_load_n(&state->heard[i].at_ns, __ATOMIC_RELAXED),
					  now_ns, config->stale_ns);
	return is_heard;
}
