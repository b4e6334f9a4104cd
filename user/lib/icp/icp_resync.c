// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Another filter for a live sibling, while the feed goes on. */
#include <errno.h>
#include <string.h>

#include "filter/compat.h"
#include "icp/icp_feeders.h"
#include "icp/icp_next.h"
#include "icp/icp_rebuild.h"
#include "icp/icp_recorder.h"
#include "icp/icp_resync.h"
#include "icp/icp_times.h"
#include "util/clock.h"
#include "util/signals.h"

/* Times that a resync is begun before it gives up on the log. */
#define MAX_ATTEMPTS 3

/* Rounds of corrections. A key needs another one when it changes again between two
 * system calls.
 */
#define MAX_ROUNDS 32

/* Looks for a moment in which no event comes, to read the counters. */
#define MAX_LOOKS 1000

/* Keys looked for in the old filter at a time. */
#define CHUNK 512

/**
 * struct work - one attempt
 * @resync: the request
 * @report: the report so far
 * @icp: the instance, opened for writing
 * @n: the sibling's number
 * @sibling: its constants, as they were when it began
 * @journal: what it has
 * @recorder: without feeders all zeros
 * @old: view of its old filter; all zeros where there is none to see
 * @n_old: entries that its counters say it had when the feed left it
 * @filter: the new one
 * @next: the new generation
 * @is_loaded: @next is there
 */
struct work {
	const struct baleen_icp_resync *resync;
	struct baleen_icp_resync_report report;
	struct baleen_icp icp;
	u32 n;
	struct baleen_icp_sibling sibling;
	struct baleen_icp_journal journal;
	struct baleen_icp_recorder recorder;
	struct baleen_filter old;
	u64 n_old;
	struct baleen_filter filter;
	struct baleen_icp_loaded next;
	bool is_loaded;
};

static int fail(const struct work *work, int err, const char *why, struct baleen_error *error)
{
	return baleen_fail(error, -err, "%s:%s: %s", work->resync->device, work->resync->sibling,
			   why);
}

static int check_signals(const struct work *work, struct baleen_error *error)
{
	return baleen_signals_came() ? fail(work, -EINTR, "interrupted", error) : 0;
}

/* The journal, with what every program made that ran until now. */
static int catch_up(struct work *work, struct baleen_error *error)
{
	int err = baleen_icp_recorder_catch_up(&work->recorder);

	if (err == -EAGAIN)
		return fail(work, err, "events come faster than they can be recorded", error);
	return err ? fail(work, err, strerror(-err), error) : 0;
}

/* --- sources -------------------------------------------------------------------- */

static int add_digest(struct work *work, struct baleen_squid_source *source,
		      struct baleen_error *error)
{
	if (work->sibling.feeders)
		return fail(work, -EOPNOTSUPP,
			    "its filter is fed, which one of a digest cannot be: give its objects "
			    "or its store.log",
			    error);
	if (work->resync->n_sources > 1)
		return fail(work, -EINVAL,
			    "a digest can only be the one source: merge images of them, or give "
			    "objects",
			    error);
	if (work->resync->capacity)
		return fail(work, -EINVAL,
			    "a digest has the room that its Squid gave it: give objects or its "
			    "store.log where a capacity is asked for",
			    error);
	work->filter = source->filter;
	source->filter = (struct baleen_filter){ 0 };
	work->report.has_grown = !baleen_same_geometry(&work->filter.image.table[BALEEN_TUPLE],
						       &work->sibling.image.table[BALEEN_TUPLE]);
	work->report.n_entries = source->digest.count;
	return 0;
}

static int add_objects(struct work *work, const struct baleen_squid_set *set, u32 feeder,
		       struct baleen_error *error)
{
	struct baleen_error why;
	int err = baleen_icp_times_put(&work->icp.now, work->n, set, &why);

	if (err)
		return fail(work, err, why.text, error);
	baleen_icp_recorder_lock(&work->recorder);
	for (size_t i = 0; i < set->n && !err; i++)
		err = baleen_icp_journal_object(&work->journal, set->object[i].hi,
						set->object[i].lo, feeder);
	baleen_icp_recorder_unlock(&work->recorder);
	work->report.is_compared = true;
	return err ? fail(work, err, strerror(-err), error) : 0;
}

static int read_source(struct work *work, u32 i, u32 feeder, struct baleen_error *error)
{
	struct baleen_squid_source source;
	int err = baleen_squid_source_read(work->resync->source[i], &work->resync->read, &source,
					   error);

	if (err)
		return err;
	work->report.from = source.from;
	baleen_squid_source_text(&source, work->report.text);
	if (source.from == BALEEN_SQUID_FROM_DIGEST)
		err = add_digest(work, &source, error);
	else
		err = add_objects(work, &source.set, feeder, error);
	baleen_squid_source_free(&source);
	return err ? err : check_signals(work, error);
}

static int read_sources(struct work *work, struct baleen_error *error)
{
	const struct baleen_icp_resync *resync = work->resync;
	u32 feeder[BALEEN_ICP_MAX_FEEDERS];
	struct baleen_error why;
	int err;

	if (resync->n_sources > BALEEN_ICP_MAX_FEEDERS)
		return fail(work, -EINVAL, "more than 16 sources", error);
	err = baleen_icp_feeders_match(&work->icp.now.config, work->n, resync->source,
				       resync->n_sources, feeder, &why);
	if (err)
		return fail(work, err, why.text, error);
	for (u32 i = 0; i < resync->n_sources && !err; i++)
		err = read_source(work, i, feeder[i], error);
	return err;
}

/* --- the new filter --------------------------------------------------------------- */

/* Events that come from here on are corrected in the new filter. */
static int build(struct work *work, struct baleen_error *error)
{
	struct baleen_error why;
	int err;

	if (!work->report.is_compared)
		return 0;
	baleen_icp_recorder_lock(&work->recorder);
	err = catch_up(work, error);
	if (!err) {
		err = baleen_icp_rebuild(&work->journal, &work->sibling.image,
					 work->resync->capacity, &work->filter,
					 &work->report.has_grown, &why);
		if (err)
			fail(work, err, why.text, error);
		else
			baleen_icp_journal_built(&work->journal,
						 work->icp.now.config.generation + 1);
	}
	baleen_icp_recorder_unlock(&work->recorder);
	return err;
}

static int load(struct work *work, struct baleen_error *error)
{
	int err = check_signals(work, error);

	if (!err)
		err = baleen_icp_next(&work->icp, work->n, &work->filter, work->report.is_compared,
				      &work->next, error);
	if (err)
		return err;
	work->is_loaded = true;
	work->report.n_bytes = work->filter.n_bytes;
	baleen_filter_free(&work->filter);
	work->filter = (struct baleen_filter){ 0 };
	/* Beyond this point it takes milliseconds. */
	return check_signals(work, error);
}

/* --- corrections -------------------------------------------------------------------- */

static int correct(struct work *work, const struct baleen_icp_loaded *loaded, u64 *n_corrected,
		   struct baleen_error *error)
{
	struct baleen_icp_batch batch;
	int err = 0;

	*n_corrected = 0;
	baleen_icp_journal_round(&work->journal);
	while (!err && baleen_icp_journal_next(&work->journal, &batch)) {
		*n_corrected += batch.n;
		err = baleen_icp_apply(loaded, &batch, error);
		if (!err)
			baleen_icp_journal_applied(&work->journal, &batch);
	}
	return err;
}

/* Until the filter that the feed changes is what the journal wants. */
static int settle(struct work *work, const struct baleen_icp_loaded *loaded,
		  struct baleen_error *error)
{
	u64 n = 0;
	int err = 0;

	if (!work->sibling.feeders)
		return 0;
	baleen_icp_recorder_lock(&work->recorder);
	for (u32 i = 0; i < MAX_ROUNDS && !err; i++) {
		err = catch_up(work, error);
		if (!err)
			err = correct(work, loaded, &n, error);
		work->report.n_corrected += n;
		if (!n)
			break;
	}
	work->report.n_unsettled = n;
	baleen_icp_recorder_unlock(&work->recorder);
	return err;
}

/* --- the switch ----------------------------------------------------------------------- */

static int enter(struct work *work, struct baleen_error *error)
{
	int err = baleen_icp_enter_feed(&work->icp, &work->next, error);

	if (!err && work->icp.feed_link_fd >= 0)
		err = settle(work, &work->next, error);
	if (!err)
		err = baleen_icp_enter_answer(&work->icp, &work->next, error);
	if (err)
		return err;
	work->is_loaded = false;
	return settle(work, &work->icp.now, error);
}

/* The counters of a moment at which the journal has all events: none came while they
 * were read. A feed that leaves no such moment makes them a few events off.
 */
static int set_synced(struct work *work, struct baleen_error *error)
{
	struct baleen_icp_stats stats;
	int err = 0;

	baleen_icp_recorder_lock(&work->recorder);
	for (u32 i = 0; i < MAX_LOOKS && !err; i++) {
		baleen_icp_recorder_read(&work->recorder);
		if (work->report.is_compared)
			work->report.n_entries = baleen_icp_journal_entries(&work->journal);
		err = baleen_icp_stats(&work->icp, &stats, error);
		if (!baleen_icp_recorder_read(&work->recorder))
			break;
	}
	if (!err)
		work->n_old = baleen_icp_entries(&work->icp, work->n, &stats) - work->journal.n_new;
	if (!err)
		baleen_icp_synced(&work->icp, work->n, work->report.n_entries, &stats);
	work->report.n_events = work->recorder.n_events;
	baleen_icp_recorder_unlock(&work->recorder);
	return err;
}

/* --- what was wrong --------------------------------------------------------------------- */

/* Entries of the old filter, which nothing changes any more. */
static u64 count_old(const struct work *work)
{
	if (work->old.image.table[BALEEN_TUPLE].kind == BALEEN_KIND_CUCKOO)
		return baleen_filter_count(&work->old, BALEEN_TUPLE);
	return work->n_old;
}

static void compare_chunk(struct work *work, const struct baleen_key *keys, size_t n, u64 *n_there)
{
	u8 found[CHUNK];
	size_t n_found = baleen_filter_test_many(&work->old, keys, n, found);

	*n_there += n_found;
	work->report.n_missing += n - n_found;
}

/* The old filter with what the journal had when the feed left it. */
static void compare(struct work *work)
{
	struct baleen_key keys[CHUNK];
	u64 n_there = 0, n_copies = 0, n_old;
	size_t n = 0;

	if (!work->report.is_compared || !work->old.bytes)
		return;
	baleen_icp_recorder_lock(&work->recorder);
	for (size_t i = 0; i < work->journal.n_keys; i++) {
		struct baleen_icp_journal_key key = work->journal.key[i];
		u32 wanted;

		if (key.is_new)
			key.present = key.before;
		wanted = baleen_icp_journal_wanted(&work->journal, &key);
		if (!wanted)
			continue;
		n_copies += wanted - 1;
		keys[n++] = baleen_squid_key(key.hi, key.lo);
		if (n == CHUNK) {
			compare_chunk(work, keys, n, &n_there);
			n = 0;
		}
	}
	baleen_icp_recorder_unlock(&work->recorder);
	compare_chunk(work, keys, n, &n_there);
	n_old = count_old(work);
	work->report.is_estimate = work->old.image.table[BALEEN_TUPLE].kind != BALEEN_KIND_CUCKOO;
	work->report.n_gone = n_old > n_there + n_copies ? n_old - n_there - n_copies : 0;
}

/* --- all of it --------------------------------------------------------------------------- */

static int find_sibling(struct work *work, struct baleen_error *error)
{
	int n = baleen_icp_sibling(&work->icp, work->resync->sibling);
	struct baleen_error why;
	u32 kind;

	if (n < 0)
		return baleen_fail(error, -n, "%s: no sibling '%s' there", work->resync->device,
				   work->resync->sibling);
	work->n = n;
	work->sibling = work->icp.now.config.sibling[n];
	kind = work->sibling.image.table[BALEEN_TUPLE].kind;
	baleen_icp_journal_init(&work->journal, n, kind == BALEEN_KIND_COUNTING);
	/* One that is damaged can be replaced, but not compared. */
	baleen_icp_filter(&work->icp, n, &work->old, &why);
	return 0;
}

static int start(struct work *work, struct baleen_error *error)
{
	struct baleen_error why;
	int err;

	if (!work->sibling.feeders)
		return 0;
	err = baleen_icp_recorder_start(&work->recorder, work->icp.now.log_fd, work->icp.state,
					&work->journal, &why);
	return err ? fail(work, err, why.text, error) : 0;
}

static int attempt(struct work *work, struct baleen_error *error)
{
	u64 begun_ns = baleen_clock_ns(CLOCK_MONOTONIC);
	int err = find_sibling(work, error);

	if (!err)
		err = start(work, error);
	if (!err)
		err = read_sources(work, error);
	if (!err)
		err = build(work, error);
	if (!err)
		err = load(work, error);
	if (!err)
		err = enter(work, error);
	if (!err)
		err = set_synced(work, error);
	if (work->is_loaded)
		baleen_icp_abandon(&work->icp, &work->next);
	if (!err)
		compare(work);
	work->report.took_ns = baleen_clock_ns(CLOCK_MONOTONIC) - begun_ns;
	baleen_icp_recorder_stop(&work->recorder);
	baleen_icp_journal_free(&work->journal);
	baleen_filter_free(&work->old);
	baleen_filter_free(&work->filter);
	return err;
}

int baleen_icp_resync(const struct baleen_icp_resync *resync,
		      struct baleen_icp_resync_report *report, struct baleen_error *error)
{
	struct baleen_icp icp;
	struct work work;
	u32 n_attempts = 0;
	int err = baleen_icp_open(&icp, resync->device, true, error);

	if (err)
		return err;
	do {
		work = (struct work){ .resync = resync, .icp = icp };
		err = attempt(&work, error);
		icp = work.icp;
		n_attempts++;
	} while (err == -EAGAIN && n_attempts < MAX_ATTEMPTS);
	baleen_icp_close(&icp);
	if (err)
		return err;
	work.report.n_attempts = n_attempts;
	*report = work.report;
	return 0;
}
