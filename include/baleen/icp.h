/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ICP, by which caches ask each other for objects, and what the program that answers
 * for them is told and counts.
 *
 * A message (RFC 2186 section 3), all fields big-endian:
 *
 *      0 opcode u8 | 1 version u8, 2 | 2 length u16, of the whole message
 *      4 request number u32 | 8 options u32 | 12 option data u32 | 16 sender host u32
 *      20 query: requester host u32, then the URL and a zero byte
 *      20 answer: the URL and a zero byte: four bytes less than the query
 *
 * Squid takes an answer from the address and port that it asked, by its request number,
 * and does not look at the URL in it.
 *
 *        asker                     XDP: baleen_icp              sibling
 *        query ------------------> hit, miss: back again
 *                                  anything else -------------> its Squid
 *        store.log over UDP                baleen_icp_feed <--- its Squid
 *                                          inserts, deletes
 *
 * Sources: RFC 2186; Squid 5.7, src/ICP.h, icp_v2.cc; Fan, Cao, Almeida and Broder,
 * "Summary Cache: A Scalable Wide-Area Web Cache Sharing Protocol" (SIGCOMM 1998).
 */
#ifndef BALEEN_ICP_H
#define BALEEN_ICP_H

#include <baleen/image.h>
#include <baleen/squid.h>

#define BALEEN_ICP_PORT 3130
#define BALEEN_ICP_VERSION 2
#define BALEEN_ICP_HEADER_BYTES 20

/* A query has the requester's address more. */
#define BALEEN_ICP_QUERY_BYTES 24

/* The longest URL that is hashed, without its zero byte: with the method byte and the
 * padding of MD5 that is 23 blocks. A datagram of an MTU of 1,500 has room for 1,447.
 */
#define BALEEN_ICP_MAX_URL 1462

enum baleen_icp_opcode {
	BALEEN_ICP_QUERY = 1,
	BALEEN_ICP_HIT = 2,
	BALEEN_ICP_MISS = 3,
	BALEEN_ICP_ERR = 4,
	BALEEN_ICP_MISS_NOFETCH = 21,
	BALEEN_ICP_DENIED = 22,
};

#define BALEEN_ICP_MAX_SIBLINGS 16
#define BALEEN_ICP_MAX_FEEDERS 16
#define BALEEN_ICP_NAME_BYTES 32

/**
 * enum baleen_icp_mode - what is done with queries to a sibling
 * @BALEEN_ICP_ANSWER: misses are answered, and hits while the sibling confirms some itself
 * @BALEEN_ICP_CONFIRM: misses are answered, hits are left to the sibling: no false hit
 * @BALEEN_ICP_OBSERVE: nothing is answered, and the sibling's answers are compared
 * @BALEEN_ICP_N_MODES: how many
 */
enum baleen_icp_mode {
	BALEEN_ICP_ANSWER = 0,
	BALEEN_ICP_CONFIRM = 1,
	BALEEN_ICP_OBSERVE = 2,
	BALEEN_ICP_N_MODES = 3,
};

/**
 * struct baleen_icp_sibling - a cache that is answered for
 * @image: geometry and seed of its filter, of BALEEN_KEY_SQUID
 * @address_hi: its address as the queries have it, bits 127..64; 0 for IPv4
 * @address_lo: bits 63..0; IPv4 is mapped (RFC 4291 section 2.5.5.2)
 * @other_hi: its address of the other family, in the same way; both are 0 of one that has none
 * @other_lo: bits 63..0
 * @mode: enum baleen_icp_mode
 * @feeders: bit n: feeder n tells what it has
 * @has_times: it is known until when its objects are fresh, and others are no hits
 * @reserved: zero
 * @name: for people
 */
struct baleen_icp_sibling {
	struct baleen_image image;
	u64 address_hi;
	u64 address_lo;
	u64 other_hi;
	u64 other_lo;
	u32 mode;
	u32 feeders;
	u32 has_times;
	u32 reserved;
	char name[BALEEN_ICP_NAME_BYTES];
};

/**
 * baleen_icp_has_address() - is a sibling asked there?
 * @sibling: the sibling
 * @hi: bits 127..64 of an address
 * @lo: bits 63..0; never 0
 *
 * Context: any.
 * Return: true or false.
 */
baleen_inline bool baleen_icp_has_address(const struct baleen_icp_sibling *sibling, u64 hi, u64 lo)
{
	return (lo == sibling->address_lo && hi == sibling->address_hi) ||
	       (sibling->other_lo && lo == sibling->other_lo && hi == sibling->other_hi);
}

/**
 * baleen_icp_siblings_meet() - do two siblings have an address in common?
 * @a: one
 * @b: the other
 *
 * Context: any, BPF-safe.
 * Return: true or false.
 */
baleen_inline bool baleen_icp_siblings_meet(const struct baleen_icp_sibling *a,
					    const struct baleen_icp_sibling *b)
{
	return baleen_icp_has_address(a, b->address_hi, b->address_lo) ||
	       (b->other_lo && baleen_icp_has_address(a, b->other_hi, b->other_lo));
}

/**
 * struct baleen_icp_feeder - who may send lines of store.log
 * @address_hi: the source of its datagrams, bits 127..64
 * @address_lo: bits 63..0; IPv4 is mapped
 * @siblings: bit n: what it tells is of sibling n; a parent's summary has several
 *            feeders, its children
 * @reserved: zero
 */
struct baleen_icp_feeder {
	u64 address_hi;
	u64 address_lo;
	u32 siblings;
	u32 reserved;
};

#define BALEEN_ICP_CONFIG_VERSION 4

/**
 * struct baleen_icp_config - constants of one load
 * @version: BALEEN_ICP_CONFIG_VERSION
 * @generation: counted up by each replacement; of the events that it records
 * @stale_ns: silence of a sibling after which its queries pass; 0: never
 * @confirm_ns: mode answer: hits are answered for so long after the sibling itself said
 *              hit; 0: always
 * @n_siblings: how many
 * @n_feeders: how many
 * @n_times: blocks of times, of all siblings
 * @reserved: zero
 * @statements: hash of the statements of a configuration that it came from; 0: by hand
 * @port: UDP port of queries
 * @feed_port: UDP port of lines of store.log; 0: none
 * @frags: the program takes multi-buffer frames
 * @device: at attach, for people
 * @feed_device: where the feed comes in, when that is another one; else empty
 * @sibling: the first @n_siblings are set
 * @feeder: the first @n_feeders are set
 */
struct baleen_icp_config {
	u32 version;
	u32 generation;
	u64 stale_ns;
	u64 confirm_ns;
	u32 n_siblings;
	u32 n_feeders;
	u32 n_times;
	u32 reserved;
	u64 statements;
	u16 port;
	u16 feed_port;
	u32 frags;
	char device[16];
	char feed_device[16];
	struct baleen_icp_sibling sibling[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_icp_feeder feeder[BALEEN_ICP_MAX_FEEDERS];
};

/**
 * struct baleen_icp_sibling_stats - what became of datagrams for one sibling
 * @hits: answered: hit
 * @misses: answered: miss
 * @confirmed: hits left to the sibling: all of mode confirm, some of mode answer
 * @expired: hits left to it: stale, or soon, or nobody knows
 * @observed: queries left to it, mode observe
 * @stale: passed: nothing was heard of it for too long
 * @strangers: passed: the asker is not on the list
 * @fragments: passed: a fragment, or IP options
 * @too_long: passed: URL above BALEEN_ICP_MAX_URL
 * @malformed: passed: lengths that disagree, another version, no zero byte at the end
 * @other_opcodes: passed: no query
 * @with_options: passed: ICP options that are for the sibling to answer
 * @odd_urls: passed: a URL that Squid may answer with an error
 * @failed: passed: the frame could not be changed
 * @agreed_hits: modes observe and answer: the sibling said hit, and so would we
 * @agreed_misses: both miss
 * @false_hits: we would have said hit, it said miss
 * @false_misses: we would have said miss, it said hit
 * @inserted: objects that came, by its feeders
 * @deleted: objects that went
 * @again: inserted, but there already: a delete was lost, or it came twice
 * @absent: deleted, but not there: an insert was lost
 * @no_room: not inserted, for lack of room: misses until a resync with more
 *
 * A datagram to a sibling's ICP port counts in exactly one of the first fourteen.
 */
struct baleen_icp_sibling_stats {
	u64 hits;
	u64 misses;
	u64 confirmed;
	u64 expired;
	u64 observed;
	u64 stale;
	u64 strangers;
	u64 fragments;
	u64 too_long;
	u64 malformed;
	u64 other_opcodes;
	u64 with_options;
	u64 odd_urls;
	u64 failed;
	u64 agreed_hits;
	u64 agreed_misses;
	u64 false_hits;
	u64 false_misses;
	u64 inserted;
	u64 deleted;
	u64 again;
	u64 absent;
	u64 no_room;
};

/**
 * struct baleen_icp_feeder_stats - datagrams of one feeder
 * @inserts: lines that insert
 * @deletes: lines that delete
 * @others: lines of store.log that change nothing
 * @malformed: no line of store.log: dropped, and no sign of life
 * @lost: datagrams that never came: gaps in the numbers that Linux gives to the IPv4
 *        datagrams of a connected socket; 0 for IPv6, which has none
 * @reordered: datagrams that came late; they are not lost
 */
struct baleen_icp_feeder_stats {
	u64 inserts;
	u64 deletes;
	u64 others;
	u64 malformed;
	u64 lost;
	u64 reordered;
};

/**
 * struct baleen_icp_stats - counters, per CPU: one map entry
 * @others: frames that are for nobody here: passed
 * @feed_strangers: datagrams to the feed port from elsewhere: passed
 * @sibling: of each
 * @feeder: of each
 */
struct baleen_icp_stats {
	u64 others;
	u64 feed_strangers;
	struct baleen_icp_sibling_stats sibling[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_icp_feeder_stats feeder[BALEEN_ICP_MAX_FEEDERS];
};

/**
 * struct baleen_icp_heard - a feeder, as last heard
 * @at_ns: CLOCK_MONOTONIC; 0: never
 * @last_id: of its last IPv4 datagram
 * @last_port: source port of that; 0: there was none
 */
struct baleen_icp_heard {
	u64 at_ns;
	u32 last_id;
	u32 last_port;
};

/**
 * struct baleen_icp_state - what changes while programs run: one entry, mapped
 * @synced_ns: when a sibling was last seeded, CLOCK_MONOTONIC; 0: never
 * @synced_wall_ns: the same, CLOCK_REALTIME
 * @base: objects that were there before inserted and deleted began to count, less
 *        what these said then: entries now are base + inserted - deleted
 * @confirmed_ns: when a sibling last said hit where its filter does, CLOCK_MONOTONIC; 0:
 *                never, or it said miss since then
 * @heard: feeders, as last heard
 * @is_recording: events go into the log, for who builds a filter meanwhile
 * @reserved: zero
 * @n_unrecorded: events that found no room there
 */
struct baleen_icp_state {
	u64 synced_ns[BALEEN_ICP_MAX_SIBLINGS];
	u64 synced_wall_ns[BALEEN_ICP_MAX_SIBLINGS];
	s64 base[BALEEN_ICP_MAX_SIBLINGS];
	u64 confirmed_ns[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_icp_heard heard[BALEEN_ICP_MAX_FEEDERS];
	u32 is_recording;
	u32 reserved;
	u64 n_unrecorded;
};

/* --- times --- */

#define BALEEN_ICP_TIMES 8

/**
 * struct baleen_icp_times - until when some objects are fresh: bpf/icp_times.h
 * @slot_le: low 32 bits of the first half of a key, and second of CLOCK_MONOTONIC
 */
struct baleen_icp_times {
	u64 slot_le[BALEEN_ICP_TIMES];
};

/**
 * baleen_icp_times_at() - where the time of an object is
 * @n: its sibling
 * @lo: second half of its key, of MD5
 * @n_times: blocks
 *
 * Context: any, BPF-safe.
 * Return: number of the block.
 */
baleen_inline u32 baleen_icp_times_at(u32 n, u64 lo, u32 n_times)
{
	return (u64)((u32)lo ^ n * 0x9e3779b9u) * n_times >> 32;
}

/* Positions of a key in a counting table that is fed. */
#define BALEEN_ICP_MAX_HASHES 16

/**
 * baleen_icp_may_feed() - can the packet program change the keys of this image?
 * @image: a checked header, of BALEEN_KEY_SQUID
 *
 * Counting tables of up to BALEEN_ICP_MAX_HASHES positions, and cuckoo tables of four
 * slots of 64 bits a bucket, without a stash: of narrower slots two keys may share
 * one, and to delete one would hide the other.
 *
 * Context: any, BPF-safe.
 * Return: true or false.
 */
baleen_inline bool baleen_icp_may_feed(const struct baleen_image *image)
{
	const struct baleen_table *table = &image->table[BALEEN_TUPLE];

	if (image->flags & BALEEN_FLAG_COPIES)
		return false;
	if (table->kind == BALEEN_KIND_COUNTING)
		return table->n_hashes <= BALEEN_ICP_MAX_HASHES &&
		       (table->hash <= BALEEN_HASH_KEYED || table->hash == BALEEN_HASH_SQUID);
	return table->kind == BALEEN_KIND_CUCKOO && table->slot_bits == 64 && !table->shape &&
	       !table->extra;
}

/**
 * struct baleen_icp_event - one change of a filter, as recorded
 * @key_hi: see squid.h
 * @key_lo: see squid.h
 * @siblings: bit n: of filter n
 * @changed: bit n: filter n changed: the key was not there before, or was; a filter
 *           that counts also changes by a key that was there
 * @generation: generation of the program that made the change, and so of its filters
 * @event: BALEEN_STORE_INSERT or BALEEN_STORE_DELETE
 * @feeder: who told; two children of a parent may have the same object
 *
 * Recorded behind the change and its counters, in the order of each feeder. What
 * baleen_icp_apply changes is neither recorded nor counted as inserted or deleted: who
 * calls it knows, and corrects what the feed did.
 */
struct baleen_icp_event {
	u64 key_hi;
	u64 key_lo;
	u32 siblings;
	u32 changed;
	u32 generation;
	u16 event;
	u16 feeder;
};

/* Changes in one call of the program baleen_icp_apply. */
#define BALEEN_ICP_BATCH 64

/**
 * struct baleen_icp_batch - changes that userspace makes: the context of a program of
 * type syscall, so that a filter has writers of one sort only
 * @siblings: bit n: of filter n
 * @n: changes, up to BALEEN_ICP_BATCH
 * @event: BALEEN_STORE_INSERT or BALEEN_STORE_DELETE, of each; on return
 *         BALEEN_STORE_OTHER where nothing changed
 * @key: two words each, hi and lo
 */
struct baleen_icp_batch {
	u32 siblings;
	u32 n;
	u32 event[BALEEN_ICP_BATCH];
	u64 key[BALEEN_ICP_BATCH][2];
};

/**
 * struct baleen_icp_asker - key of the map of askers, a trie of prefixes
 * @length: bits of @address that count; an IPv4 /24 is 96 + 24
 * @address: in network order; IPv4 is mapped
 *
 * The value is a u32: bit n: may ask sibling n.
 */
struct baleen_icp_asker {
	u32 length;
	u8 address[16];
};

#endif /* BALEEN_ICP_H */
