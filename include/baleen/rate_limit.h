/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits by source: token buckets in a table that never grows.
 *
 * A bucket holds at most `burst` tokens and gets one each interval. A packet takes one;
 * where there is none the source is over its limit. The whole bucket is one number, the
 * time at which it will be full again (the generic cell rate algorithm of ITU-T I.371, annex
 * A, "virtual scheduling"), so one compare-and-swap changes it and no lock is held:
 *
 *               now             full_ns          now + window
 *      ----------+-----------------+------------------+--------> time
 *                |<- tokens gone ->|<- tokens left -->|          window = burst * interval
 *
 * Who is over stays over for BALEEN_LIMIT_HOLD_NS: full_ns goes that far behind the window.
 * So a source is told of once in that time, and its ban is there before it is let in again.
 * Example: limit 50/s burst 200: interval 20 ms, window 4 s. 201 packets at once: the last
 * finds full_ns = now + 4 s, and is over.
 *
 * A set is one cache line of four slots. The tag of a slot is the whole source (an IPv4
 * address, an IPv6 prefix of up to 64 bits), so two sources never share a bucket:
 *
 *      byte  0          8          16         24         32       40       48       56
 *            source[0]  source[1]  source[2]  source[3]  full[0]  full[1]  full[2]  full[3]
 *
 * A source that has no slot takes that of its set which is full, or will be first. Bans need
 * a bucket that is empty, whose time is the last, so a flood of sources takes slots from
 * each other, not from who is over; and whoever loses a slot begins anew with all tokens. A
 * full table forgets, and counts no packet for another source (but for one race, below).
 *
 * Two processors at once: of two that take a token, one swaps full_ns first and the other
 * tries again. A slot changes hands in three steps: a swap makes it busy, for one processor
 * alone; full_ns is written; the new source is. Who takes a token reads full_ns, then the
 * source: if that is still his, the time is, and if the slot changes hands behind that look,
 * his swap fails or is written over, for the new time is another. Only where both are equal to
 * the nanosecond does the swap pass, and costs the new owner one token: 1e-8 of the packets of
 * a full set whose sources all share their times, 1e-17 with times of a second. Who loses such
 * a race is forgotten. Where a machine does not keep loads and stores in order, the place of each
 * load is made of the one before, and the last store of a change of hands is a swap, which is a
 * full barrier (tests/litmus/limit-after.litmus; limit-source-only.litmus is without it).
 */
#ifndef BALEEN_RATE_LIMIT_H
#define BALEEN_RATE_LIMIT_H

#include <baleen/hash.h>

#define BALEEN_LIMIT_SLOTS 4

/* Sets of one limit: 65,536 sources, 1 MiB. */
#define BALEEN_LIMIT_SETS 16384

#define BALEEN_LIMIT_HOLD_NS 1000000000ull

/* A packet that finds others at its bucket each time is let go. */
#define BALEEN_LIMIT_TRIES 4

/**
 * struct baleen_rate_limit - a limit as it was typed
 * @ban_ms: how long who is over is banned
 * @rate: packets in @unit_s seconds; 0 for no limit
 * @unit_s: 1, 60 or 3600
 * @burst: packets at once; 0 for @rate
 * @cap: bans at the same time; 0 for BALEEN_LIMIT_CAP
 * @has_per: @src_bits and @src6_bits were typed
 * @src_bits: length of the IPv4 prefix that is one source; 0 for 32
 * @src6_bits: of the IPv6 prefix; 0 for 64
 * @unverified: packets count that do not prove who sent them
 * @reserved: zero
 */
struct baleen_rate_limit {
	u64 ban_ms;
	u32 rate;
	u32 unit_s;
	u32 burst;
	u32 cap;
	u8 has_per;
	u8 src_bits;
	u8 src6_bits;
	u8 unverified;
	u32 reserved;
};

#define BALEEN_LIMIT_CAP 1000

/**
 * struct baleen_limit - a limit as packets meet it
 * @interval_ns: a token comes each; 0 for no limit
 * @window_ns: all tokens of a bucket
 * @seed: decides which source is in which set; secret
 * @src6_mask: of the upper half of an IPv6 address
 * @src_mask: of an IPv4 address
 * @first_set: where its sets begin in the table of all limits
 * @typed: as typed
 */
struct baleen_limit {
	u64 interval_ns;
	u64 window_ns;
	u64 seed;
	u64 src6_mask;
	u32 src_mask;
	u32 first_set;
	struct baleen_rate_limit typed;
};

/**
 * struct baleen_limit_set - a set of buckets
 * @source: whose a slot is, baleen_limit_source(); 0 for nobody's, BALEEN_LIMIT_BUSY while
 *          it changes hands
 * @full_ns: when its bucket is full again
 */
struct baleen_limit_set {
	u64 source[BALEEN_LIMIT_SLOTS];
	u64 full_ns[BALEEN_LIMIT_SLOTS];
} __attribute__((aligned(BALEEN_BLOCK_BYTES)));

/**
 * enum baleen_limit_answer - what a limit says of a packet
 * @BALEEN_LIMIT_WITHIN: it took a token
 * @BALEEN_LIMIT_FORGETS: so it did, and another source lost its bucket, which was not full
 * @BALEEN_LIMIT_OVER: its source is over the limit, and has been told of
 * @BALEEN_LIMIT_OVERRUN: its source is over the limit from now on
 */
enum baleen_limit_answer {
	BALEEN_LIMIT_WITHIN,
	BALEEN_LIMIT_FORGETS,
	BALEEN_LIMIT_OVER,
	BALEEN_LIMIT_OVERRUN,
};

/**
 * struct baleen_overrun - a source that is over a limit, as it stands in the ring buffer
 * @time_ns: of CLOCK_MONOTONIC
 * @source: baleen_limit_source()
 * @slot: slot of the rule with the limit
 * @reserved: zero
 */
struct baleen_overrun {
	u64 time_ns;
	u64 source;
	u32 slot;
	u32 reserved;
};

/**
 * struct baleen_limit_counts - what the limit of one rule has counted, per CPU
 * @overruns: sources that went over it
 * @lost: of these, told to nobody, since the ring buffer was full
 * @forgotten: buckets that were not full and were given to another source
 */
struct baleen_limit_counts {
	u64 overruns;
	u64 lost;
	u64 forgotten;
};

/* IPv4 among the sources: where IPv6 has multicast, which no packet comes from. */
#define BALEEN_LIMIT_IP4 0xff00000000000000ull
/* No source. */
#define BALEEN_LIMIT_BUSY 0xffffffffffffffffull

/**
 * baleen_limit_set_up() - a limit as packets meet it
 * @typed: checked
 * @seed: secret
 * @first_set: where its sets begin
 *
 * Context: any but BPF.
 * Return: all zero when nothing is limited.
 */
baleen_inline struct baleen_limit baleen_limit_set_up(const struct baleen_rate_limit *typed,
						      u64 seed, u32 first_set)
{
	struct baleen_limit limit = { .seed = seed, .first_set = first_set, .typed = *typed };
	u32 bits = typed->src_bits ? typed->src_bits : 32;
	u32 bits6 = typed->src6_bits ? typed->src6_bits : 64;

	if (!typed->rate)
		return (struct baleen_limit){ 0 };
	limit.interval_ns = typed->unit_s * 1000000000ull / typed->rate;
	limit.window_ns = limit.interval_ns * (typed->burst ? typed->burst : typed->rate);
	limit.src_mask = ~0u << (32 - bits);
	limit.src6_mask = ~0ull << (64 - bits6);
	return limit;
}

/**
 * baleen_limit_source() - the source of a packet
 * @limit: the limit
 * @is_ip6: the family
 * @src_hi: the upper half of an IPv6 address
 * @src_lo: an IPv4 address
 *
 * Context: any, BPF-safe.
 * Return: 0 for none that is limited: the IPv6 prefix ::, and multicast, which the kernel
 * drops.
 */
baleen_inline u64 baleen_limit_source(const struct baleen_limit *limit, bool is_ip6, u64 src_hi,
				      u64 src_lo)
{
	if (!is_ip6)
		return BALEEN_LIMIT_IP4 | (src_lo & limit->src_mask);
	return src_hi >> 56 == BALEEN_LIMIT_IP4 >> 56 ? 0 : src_hi & limit->src6_mask;
}

/**
 * baleen_limit_set_of() - where the bucket of a source is
 * @limit: the limit
 * @source: baleen_limit_source()
 *
 * Context: any, BPF-safe.
 * Return: the number of the set.
 */
baleen_inline u32 baleen_limit_set_of(const struct baleen_limit *limit, u64 source)
{
	return limit->first_set + (u32)(baleen_mix64(source ^ limit->seed) % BALEEN_LIMIT_SETS);
}

/**
 * baleen_bucket_spend() - take a token
 * @full_ns: when the bucket is full again
 * @interval_ns: of the limit
 * @window_ns: of the limit
 * @now_ns: the time, which does not run backwards
 * @answer: what the limit says
 *
 * Context: any, BPF-safe.
 * Return: when the bucket is full again from now on; unchanged when @answer is
 * BALEEN_LIMIT_OVER.
 */
baleen_inline u64 baleen_bucket_spend(u64 full_ns, u64 interval_ns, u64 window_ns, u64 now_ns,
				      enum baleen_limit_answer *answer)
{
	u64 from_ns = full_ns > now_ns ? full_ns : now_ns;

	*answer = BALEEN_LIMIT_OVER;
	if (from_ns - now_ns > window_ns)
		return full_ns;
	*answer = BALEEN_LIMIT_WITHIN;
	if (from_ns - now_ns + interval_ns <= window_ns)
		return from_ns + interval_ns;
	*answer = BALEEN_LIMIT_OVERRUN;
	return now_ns + window_ns + BALEEN_LIMIT_HOLD_NS;
}

/**
 * baleen_limit_find() - the slot of a source
 * @set: its set
 * @source: the source
 *
 * Context: any, BPF-safe.
 * Return: the slot; BALEEN_LIMIT_SLOTS when it has none.
 */
baleen_inline u32 baleen_limit_find(const struct baleen_limit_set *set, u64 source)
{
	u32 slot = BALEEN_LIMIT_SLOTS;

	BALEEN_UNROLL
	for (u32 i = 0; i < BALEEN_LIMIT_SLOTS; i++)
		if (*(const volatile u64 *)&set->source[i] == source)
			slot = i;
	return slot;
}

/* The slot whose bucket is full, or will be first. */
baleen_inline u32 baleen_limit_oldest(const struct baleen_limit_set *set)
{
	u64 first_ns = ~0ull;
	u32 slot = 0;

	BALEEN_UNROLL
	for (u32 i = 0; i < BALEEN_LIMIT_SLOTS; i++) {
		u64 full_ns = *(const volatile u64 *)&set->full_ns[i];

		if (full_ns < first_ns) {
			first_ns = full_ns;
			slot = i;
		}
	}
	return slot;
}

/* A source that comes while the slot is busy begins anew with its next packet. */
baleen_inline enum baleen_limit_answer baleen_limit_claim(struct baleen_limit_set *set, u64 source,
							  u64 interval_ns, u64 now_ns)
{
	u32 slot = baleen_limit_oldest(set) & (BALEEN_LIMIT_SLOTS - 1);
	u64 owner = *(volatile u64 *)&set->source[slot], old_ns;

	if (owner == BALEEN_LIMIT_BUSY ||
	    __sync_val_compare_and_swap(&set->source[slot], owner, BALEEN_LIMIT_BUSY) != owner)
		return BALEEN_LIMIT_WITHIN;
	old_ns = *(volatile u64 *)&set->full_ns[slot];
	*(volatile u64 *)&set->full_ns[slot] = now_ns + interval_ns;
	if (baleen_loads_stay())
		*(volatile u64 *)&set->source[slot] = source;
	else
		__atomic_exchange_n(&set->source[slot], source, __ATOMIC_SEQ_CST);
	return old_ns > now_ns ? BALEEN_LIMIT_FORGETS : BALEEN_LIMIT_WITHIN;
}

/* The time of a slot, when it is the source's in front of it and behind. */
baleen_inline bool baleen_limit_read(const struct baleen_limit_set *set, u32 slot, u64 source,
				     u64 *full_ns)
{
	u64 owner = *(const volatile u64 *)&set->source[slot], time_ns, then;

	time_ns = *(const volatile u64 *)baleen_after(&set->full_ns[slot], owner);
	then = *(const volatile u64 *)baleen_after(&set->source[slot], time_ns);
	*full_ns = time_ns;
	return owner == source && then == source;
}

/**
 * baleen_limit_charge() - take a token of the bucket of a source
 * @set: its set
 * @source: the source, not 0
 * @interval_ns: of the limit
 * @window_ns: of the limit, an interval at least
 * @now_ns: the time
 *
 * Context: any, BPF-safe; on several processors at once.
 * Return: what the limit says.
 */
baleen_inline enum baleen_limit_answer baleen_limit_charge(struct baleen_limit_set *set, u64 source,
							   u64 interval_ns, u64 window_ns,
							   u64 now_ns)
{
	enum baleen_limit_answer answer = BALEEN_LIMIT_WITHIN;
	u32 slot = baleen_limit_find(set, source);

	if (slot >= BALEEN_LIMIT_SLOTS)
		return baleen_limit_claim(set, source, interval_ns, now_ns);
	slot &= BALEEN_LIMIT_SLOTS - 1;
	BALEEN_UNROLL
	for (u32 tries = 0; tries < BALEEN_LIMIT_TRIES; tries++) {
		u64 old_ns, new_ns;

		if (!baleen_limit_read(set, slot, source, &old_ns))
			return BALEEN_LIMIT_WITHIN;
		new_ns = baleen_bucket_spend(old_ns, interval_ns, window_ns, now_ns, &answer);
		if (answer == BALEEN_LIMIT_OVER ||
		    __sync_val_compare_and_swap(&set->full_ns[slot], old_ns, new_ns) == old_ns)
			return answer;
	}
	return BALEEN_LIMIT_WITHIN;
}

/* Would the next packet be over the limit? */
baleen_inline bool baleen_bucket_is_empty(u64 full_ns, u64 interval_ns, u64 window_ns, u64 now_ns)
{
	return full_ns > now_ns && full_ns - now_ns + interval_ns > window_ns;
}

/**
 * baleen_limit_is_over() - is a source over its limit, or would be by its next packet?
 * @set: its set, which stays as it is
 * @source: the source
 * @interval_ns: of the limit
 * @window_ns: of the limit
 * @now_ns: the time
 *
 * Context: any, BPF-safe.
 * Return: true or false.
 */
baleen_inline bool baleen_limit_is_over(const struct baleen_limit_set *set, u64 source,
					u64 interval_ns, u64 window_ns, u64 now_ns)
{
	u32 slot = baleen_limit_find(set, source);
	u64 full_ns;

	return slot < BALEEN_LIMIT_SLOTS &&
	       baleen_limit_read(set, slot & (BALEEN_LIMIT_SLOTS - 1), source, &full_ns) &&
	       baleen_bucket_is_empty(full_ns, interval_ns, window_ns, now_ns);
}

#endif /* BALEEN_RATE_LIMIT_H */
