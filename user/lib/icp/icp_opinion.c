// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An opinion of the program about an object, as bpf/icp_answer.h comes to it. */
#include <bpf/bpf.h>

#include "icp/icp_opinion.h"

#define NS_PER_S 1000000000ull

const char *baleen_icp_says_text(enum baleen_icp_says says)
{
	static const char *const text[] = {
		[BALEEN_ICP_SAYS_HIT] = "answered: hit",
		[BALEEN_ICP_SAYS_MISS] = "answered: miss",
		[BALEEN_ICP_SAYS_LOST] = "left to the cache: the program is not in force",
		[BALEEN_ICP_SAYS_STALE] = "left to the cache: it was not heard of lately",
		[BALEEN_ICP_SAYS_OBSERVED] = "left to the cache: mode observe answers nothing",
		[BALEEN_ICP_SAYS_EXPIRED] =
			"left to the cache: stale, or soon will be, or nobody knows",
		[BALEEN_ICP_SAYS_CONFIRM] = "left to the cache: mode confirm leaves hits to it",
		[BALEEN_ICP_SAYS_UNCONFIRMED] =
			"left to the cache: it said no hit of its own lately",
	};

	return text[says];
}

/* The longest of those with its tag: as the program, which takes any. */
static u64 fresh_until_s(const struct baleen_icp *icp, u32 n, const struct baleen_key *key)
{
	u32 at = baleen_icp_times_at(n, key->lo, icp->now.config.n_times);
	struct baleen_icp_times times;
	u64 until_s = 0;

	if (!icp->now.config.n_times || bpf_map_lookup_elem(icp->now.times_fd, &at, &times))
		return 0;
	for (u32 i = 0; i < BALEEN_ICP_TIMES; i++) {
		u64 slot = baleen_le64(times.slot_le[i]);

		if ((u32)(slot >> 32) == (u32)key->hi && (u32)slot > until_s)
			until_s = (u32)slot;
	}
	return until_s;
}

static bool is_confirmed(const struct baleen_icp *icp, u32 n, u64 now_ns)
{
	u64 confirm_ns = icp->now.config.confirm_ns, at_ns = icp->state->confirmed_ns[n];

	return !confirm_ns || (at_ns && (s64)(now_ns - at_ns) < (s64)confirm_ns);
}

static enum baleen_icp_says say_of(const struct baleen_icp *icp, u32 n,
				   const struct baleen_icp_opinion *opinion, u64 now_ns)
{
	const struct baleen_icp_sibling *sibling = &icp->now.config.sibling[n];

	if (icp->attach_status != BALEEN_ATTACH_STATUS_ATTACHED)
		return BALEEN_ICP_SAYS_LOST;
	if (!baleen_icp_is_fresh(icp, n))
		return BALEEN_ICP_SAYS_STALE;
	if (sibling->mode == BALEEN_ICP_OBSERVE)
		return BALEEN_ICP_SAYS_OBSERVED;
	if (!opinion->has)
		return BALEEN_ICP_SAYS_MISS;
	if (sibling->has_times && opinion->fresh_s <= BALEEN_SQUID_MARGIN_S)
		return BALEEN_ICP_SAYS_EXPIRED;
	if (sibling->mode == BALEEN_ICP_CONFIRM)
		return BALEEN_ICP_SAYS_CONFIRM;
	return is_confirmed(icp, n, now_ns) ? BALEEN_ICP_SAYS_HIT : BALEEN_ICP_SAYS_UNCONFIRMED;
}

int baleen_icp_opinion(const struct baleen_icp *icp, u32 n, const struct baleen_key *key,
		       struct baleen_icp_opinion *opinion, struct baleen_error *error)
{
	struct baleen_icp_opinion made = { 0 };
	u64 now_ns = baleen_icp_now_ns(), until_s = fresh_until_s(icp, n, key);
	struct baleen_filter filter;
	int err = baleen_icp_filter(icp, n, &filter, error);

	if (err)
		return err;
	made.has = baleen_image_test(&filter.image, filter.bytes, key);
	baleen_filter_free(&filter);
	if (made.has && until_s > now_ns / NS_PER_S)
		made.fresh_s = until_s - now_ns / NS_PER_S;
	made.says = say_of(icp, n, &made, now_ns);
	*opinion = made;
	return 0;
}
