/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A line of store.log from a feeder, applied to the filters of its siblings.
 *
 * Squid sends one datagram per line (logfile_mod_udp.cc, without a buffer for
 * store.log), from a socket that it has connected, so Linux counts the identification
 * of its IPv4 datagrams up by one: a gap is what was lost. Another source port is
 * another socket: of a Squid that was started anew, whose first number is random, or of
 * another of its workers. Then counting begins again.
 */
#ifndef BALEEN_BPF_ICP_FEED_H
#define BALEEN_BPF_ICP_FEED_H

#include "icp_parse.h"
#include "icp_times.h"

/* A datagram that is farther behind than this is not late: more than 2^15 were lost, or
 * another socket got the same port.
 */
#define ICP_LATE 1024

/* --- the filters ----------------------------------------------------------------- */

baleen_inline void icp_count_change(struct baleen_icp_sibling_stats *stats, u32 event, int result)
{
	bool is_insert = event == BALEEN_STORE_INSERT;

	if (result < 0)
		stats->no_room++;
	else if (result)
		is_insert ? stats->inserted++ : stats->deleted++;
	else
		is_insert ? stats->again++ : stats->absent++;
}

/**
 * struct icp_change - an object that came or went
 * @hi: first half of its key
 * @lo: second half
 * @event: BALEEN_STORE_INSERT or BALEEN_STORE_DELETE
 * @siblings: bit n: change filter n
 * @changed: bit n: filter n changed
 * @is_reported: by a feeder, so it counts
 */
struct icp_change {
	u64 hi;
	u64 lo;
	u32 event;
	u32 siblings;
	u32 changed;
	u32 is_reported;
};

/* For bpf_loop(): one sibling. */
static long icp_change_one(u32 n, struct icp_change *change)
{
	struct baleen_icp_stats *stats = icp_stats();
	int result;

	n &= BALEEN_ICP_MAX_SIBLINGS - 1;
	if (!stats || !(change->siblings >> n & 1))
		return 0;
	result = sibling_change(n, change->hi, change->lo, change->event);
	if (change->is_reported)
		icp_count_change(&stats->sibling[n], change->event, result);
	if (result > 0)
		change->changed |= 1u << n;
	return 0;
}

/* Changes the filters of some siblings, and says which did change. */
__attribute__((minsize)) __noinline u32 icp_change_siblings(u32 siblings, u64 hi, u64 lo, u32 event,
							    u32 is_reported)
{
	struct icp_change change = {
		.hi = hi,
		.lo = lo,
		.event = event,
		.siblings = siblings,
		.is_reported = is_reported,
	};

	/* Kernel 6.12 stumbles over a loop that is sure to have no round ("verifier bug. No
	 * program starts at insn"), as before the constants are set.
	 */
	bpf_loop(config.n_siblings ? config.n_siblings : 1, icp_change_one, &change, 0);
	return change.changed;
}

/* Out of line, so that the event is off the stack when filters change; not static, so that R0 has
 * its result although nobody takes it: see icp_locate().
 */
__noinline int icp_record(u64 hi, u64 lo, u32 changed, u32 event, u32 feeder)
{
	struct baleen_icp_state *state = icp_state();
	struct baleen_icp_event record = {
		.key_hi = hi,
		.key_lo = lo,
		.siblings = config.feeder[feeder & (BALEEN_ICP_MAX_FEEDERS - 1)].siblings,
		.changed = changed,
		.generation = config.generation,
		.event = event,
		.feeder = feeder,
	};

	if (state && state->is_recording &&
	    bpf_ringbuf_output(&baleen_icp_log, &record, sizeof(record), 0))
		__sync_fetch_and_add(&state->n_unrecorded, 1);
	return 0;
}

/* --- signs of life ---------------------------------------------------------------- */

/* By the number of an IPv4 datagram, how many were lost before it. */
baleen_inline void icp_count_lost(struct baleen_icp_heard *heard,
				  struct baleen_icp_feeder_stats *stats, u32 sport, u32 id)
{
	u32 ahead = (id - heard->last_id) & 0xffff, behind = (heard->last_id - id) & 0xffff;
	bool is_known = heard->last_port == sport;

	if (is_known && behind && behind <= ICP_LATE) {
		stats->reordered++;
		stats->lost--;
		return;
	}
	heard->last_port = sport;
	heard->last_id = id;
	if (is_known && ahead && ahead < 0x8000)
		stats->lost += ahead - 1;
}

baleen_inline void icp_hear(struct baleen_icp_state *state, struct baleen_icp_feeder_stats *stats,
			    u32 feeder, const struct icp_datagram *datagram)
{
	struct baleen_icp_heard *heard = &state->heard[feeder];

	heard->at_ns = bpf_ktime_get_coarse_ns();
	if (!datagram->is_ip6)
		icp_count_lost(heard, stats, datagram->sport, datagram->ip_id);
}

/* --- lines ------------------------------------------------------------------------- */

/* The feeder that has the address, or BALEEN_ICP_MAX_FEEDERS. */
baleen_inline u32 icp_feeder_of(u64 hi, u64 lo)
{
	u32 found = BALEEN_ICP_MAX_FEEDERS;

	BALEEN_LOOP
	for (u32 i = 0; i < BALEEN_ICP_MAX_FEEDERS; i++)
		if (i < config.n_feeders && config.feeder[i].address_hi == hi &&
		    config.feeder[i].address_lo == lo)
			found = i;
	return found;
}

/* enum baleen_store_event. Out of line, so that the line is off the stack again when
 * filters change.
 */
static __noinline u32 icp_read_line(struct xdp_md *ctx, u32 at, u64 *hi, u64 *lo)
{
	u8 line[BALEEN_STORE_LINE_BYTES];

	if (bpf_xdp_load_bytes(ctx, at, line, sizeof(line)))
		return BALEEN_STORE_BAD;
	return baleen_store_parse(line, hi, lo);
}

baleen_inline void icp_record_line(struct baleen_icp_feeder_stats *stats, u32 feeder, u64 hi,
				   u64 lo, u32 event, u32 fresh_s)
{
	u32 changed;

	if (event == BALEEN_STORE_OTHER) {
		stats->others++;
		return;
	}
	event == BALEEN_STORE_INSERT ? stats->inserts++ : stats->deletes++;
	/* In front of the filter: what is a hit has its time. */
	if (config.n_times && event == BALEEN_STORE_INSERT)
		icp_date_siblings(config.feeder[feeder].siblings, hi, lo, fresh_s);
	changed = icp_change_siblings(config.feeder[feeder].siblings, hi, lo, event, true);
	icp_record(hi, lo, changed, event, feeder);
}

/* A datagram to config.feed_port, from anybody. */
baleen_inline int icp_feed(struct xdp_md *ctx, const struct icp_datagram *datagram)
{
	u32 feeder = icp_feeder_of(datagram->source_hi, datagram->source_lo);
	struct baleen_icp_state *state = icp_state();
	struct baleen_icp_stats *stats = icp_stats();
	u32 event = BALEEN_STORE_BAD, fresh_s = 0;
	u64 hi = 0, lo = 0;

	if (!state || !stats)
		return XDP_PASS;
	if (feeder >= BALEEN_ICP_MAX_FEEDERS) {
		stats->feed_strangers++;
		return XDP_PASS;
	}
	if (datagram->payload_bytes >= BALEEN_STORE_LINE_BYTES)
		event = icp_read_line(ctx, datagram->payload_at, &hi, &lo);
	if (config.n_times && event == BALEEN_STORE_INSERT &&
	    datagram->payload_bytes >= BALEEN_STORE_TIMES_END)
		fresh_s = icp_read_times(ctx, datagram->payload_at);
	if (event == BALEEN_STORE_BAD) {
		stats->feeder[feeder].malformed++;
		return XDP_DROP;
	}
	icp_hear(state, &stats->feeder[feeder], feeder, datagram);
	icp_record_line(&stats->feeder[feeder], feeder, hi, lo, event, fresh_s);
	return XDP_DROP;
}

/* --- changes by userspace ----------------------------------------------------------- */

/* The context can be reached at constant offsets only, hence the loop is unrolled. */
baleen_inline int icp_apply(struct baleen_icp_batch *batch)
{
	u32 n = batch->n, siblings = batch->siblings;

	if (n > BALEEN_ICP_BATCH || siblings >> BALEEN_ICP_MAX_SIBLINGS)
		return -EINVAL;
	BALEEN_UNROLL
	for (u32 i = 0; i < BALEEN_ICP_BATCH; i++) {
		u32 event = batch->event[i];

		if (i < n && (event > BALEEN_STORE_DELETE ||
			      !icp_change_siblings(siblings, batch->key[i][0], batch->key[i][1],
						   event, false)))
			batch->event[i] = BALEEN_STORE_OTHER;
	}
	return 0;
}

#endif /* BALEEN_BPF_ICP_FEED_H */
