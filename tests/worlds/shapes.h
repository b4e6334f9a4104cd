/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The worlds of tables that are not plain.
 */
#ifndef BALEEN_TESTS_SHAPES_H
#define BALEEN_TESTS_SHAPES_H

#include "world.h"

/* The bits are no multiple of anything, unless a block's worth is asked for. */
#define CLASSIC(how, k, bits, n)                                                         \
	{                                                                                \
		.kind = BALEEN_KIND_CLASSIC, .hash = how, .n_hashes = k, .n_entries = n, \
		.n_buckets = ((bits) + 511) / 512, .n_spare_bits = (0u - (bits)) & 511,  \
	}
#define COUNTING(how, k, bits, n)                                                         \
	{                                                                                 \
		.kind = BALEEN_KIND_COUNTING, .hash = how, .n_hashes = k, .n_entries = n, \
		.n_buckets = ((bits) + 511) / 512, .n_spare_bits = (0u - (bits)) & 511,   \
	}
/* With a stash it is filled until that is full, and n are more than go in. */
#define SLOTS(b, bits, stash, buckets, n)                                                 \
	{                                                                                 \
		.kind = BALEEN_KIND_CUCKOO, .slot_bits = bits, .n_stash = stash,          \
		.bucket_slots = (b) == 4 && (bits) >= 16 ? 0 : (b), .n_buckets = buckets, \
		.n_entries = n,                                                           \
	}
/* Packed; every width is made of them by worlds.c. */
#define PACKED(b, bits, stash, buckets, n)                                                 \
	{                                                                                  \
		.kind = BALEEN_KIND_CUCKOO, .slot_bits = bits, .n_stash = stash,           \
		.bucket_slots = (b) | BALEEN_PACKED, .n_buckets = buckets, .n_entries = n, \
	}
/* Semi-sorted, of the same bytes as PACKED(4, bits - 1). */
#define SEMI_SORTED(bits, stash, buckets, n)                                                  \
	{                                                                                     \
		.kind = BALEEN_KIND_CUCKOO, .slot_bits = bits, .n_stash = stash,              \
		.bucket_slots = 4 | BALEEN_PACKED | BALEEN_SEMI_SORTED, .n_buckets = buckets, \
		.n_entries = n,                                                               \
	}
#define QUOTIENT(q, r, n)                                                                    \
	{                                                                                    \
		.kind = BALEEN_KIND_QUOTIENT, .shape = BALEEN_QUOTIENT_META, .slot_bits = r, \
		.n_buckets = 1u << (q), .n_entries = n,                                      \
	}
#define STASH BALEEN_STASH_SLOTS

static const struct world shape_worlds[] = {
	{ "classic, keyed", { CLASSIC(1, 7, 5000011, 500000) }, BALEEN_KEY_SRC },
	{ "classic, keyed, both families",
	  { CLASSIC(1, 1, 1 << 20, 60000), CLASSIC(1, 32, 5000001, 60000) },
	  BALEEN_KEY_SRC },
	{ "classic, keyed, src,dst",
	  { [BALEEN_WORD] = CLASSIC(1, 5, 1000003, 60000),
	    [BALEEN_TUPLE] = CLASSIC(1, 11, 1 << 20, 60000) },
	  BALEEN_KEY_SRC | BALEEN_KEY_DST },
	{ "classic, MurmurHash3",
	  { CLASSIC(2, 6, 4000003, 500000), CLASSIC(2, 6, 1 << 20, 60000) },
	  BALEEN_KEY_SRC },
	{ "classic, MurmurHash3 and FNV-1a",
	  { CLASSIC(3, 2, 1000003, 60000), CLASSIC(3, 2, 1 << 20, 60000) },
	  BALEEN_KEY_SRC },
	{ "counting, blocked",
	  { COUNTING(0, 8, 8000000, 500000), COUNTING(0, 2, 1 << 20, 60000) },
	  BALEEN_KEY_SRC },
	{ "counting, blocked, src,dst",
	  { [BALEEN_WORD] = COUNTING(0, 4, 1 << 20, 60000),
	    [BALEEN_TUPLE] = COUNTING(0, 6, 1 << 20, 60000) },
	  BALEEN_KEY_SRC | BALEEN_KEY_DST },
	{ "counting, keyed",
	  { COUNTING(1, 7, 1000003, 60000), COUNTING(1, 4, 1000003, 60000) },
	  BALEEN_KEY_SRC },
	{ "counting, MurmurHash3",
	  { COUNTING(2, 7, 1000003, 60000), COUNTING(2, 4, 1 << 20, 60000) },
	  BALEEN_KEY_SRC },
	{ "digest of Squid",
	  { [BALEEN_TUPLE] = CLASSIC(4, 4, 4000008, 500000) },
	  BALEEN_KEY_SQUID },
	{ "counting, digest of Squid",
	  { [BALEEN_TUPLE] = COUNTING(4, 4, 1 << 20, 60000) },
	  BALEEN_KEY_SQUID },
	{ "counting, keyed, of Squid",
	  { [BALEEN_TUPLE] = COUNTING(1, 7, 1000003, 60000) },
	  BALEEN_KEY_SQUID },
	{ "cuckoo of Squid",
	  { [BALEEN_TUPLE] = SLOTS(4, 64, 0, 66001, 245000) },
	  BALEEN_KEY_SQUID },
	{ "cuckoo 4 x 16, a stash", { SLOTS(4, 16, STASH, 1 << 18, 1048576) }, BALEEN_KEY_SRC },
	{ "cuckoo 1 x 8",
	  { SLOTS(1, 8, 0, 133337, 60000), SLOTS(1, 8, STASH, 99991, 60000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 1 x 12",
	  { SLOTS(1, 12, STASH, 99991, 60000), SLOTS(1, 12, 0, 133337, 60000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 1 x 16",
	  { SLOTS(1, 16, 0, 1 << 18, 60000), SLOTS(1, 16, STASH, 99991, 60000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 1 x 32",
	  { SLOTS(1, 32, STASH, 99991, 60000), SLOTS(1, 32, 0, 133337, 60000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 1 x 64",
	  { [BALEEN_WORD] = SLOTS(1, 64, 0, 133337, 60000),
	    [BALEEN_TUPLE] = SLOTS(1, 64, STASH, 99991, 60000) },
	  BALEEN_KEY_SRC | BALEEN_KEY_DST },
	{ "cuckoo 2 x 8",
	  { SLOTS(2, 8, STASH, 33333, 66666), SLOTS(2, 8, 0, 37777, 60000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 2 x 12",
	  { [BALEEN_WORD] = SLOTS(2, 12, 0, 37777, 60000),
	    [BALEEN_TUPLE] = SLOTS(2, 12, STASH, 33333, 66666) },
	  BALEEN_KEY_SRC | BALEEN_KEY_DST },
	{ "cuckoo 2 x 16",
	  { SLOTS(2, 16, 0, 1 << 18, 60000), SLOTS(2, 16, STASH, 33333, 66666) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 2 x 32",
	  { SLOTS(2, 32, STASH, 33333, 66666), SLOTS(2, 32, 0, 37777, 60000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 2 x 64", { [BALEEN_IP6] = SLOTS(2, 64, STASH, 33333, 66666) }, BALEEN_KEY_SRC },
	{ "cuckoo 4 x 8",
	  { SLOTS(4, 8, 0, 16411, 60000), SLOTS(4, 8, STASH, 16411, 66666) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 4 x 12",
	  { SLOTS(4, 12, STASH, 16411, 66666), SLOTS(4, 12, 0, 16411, 60000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 4 x 32, a stash",
	  { SLOTS(4, 32, STASH, 16411, 66666), SLOTS(4, 32, STASH, 16411, 66666) },
	  BALEEN_KEY_SRC },
	{ "cuckoo 4 x 64, a stash",
	  { [BALEEN_WORD] = SLOTS(4, 64, STASH, 16411, 66666),
	    [BALEEN_TUPLE] = SLOTS(4, 64, STASH, 16411, 66666) },
	  BALEEN_KEY_SRC | BALEEN_KEY_DST },
	{ "quotient, exact", { QUOTIENT(20, 12, 780000) }, BALEEN_KEY_SRC },
	{ "quotient, lossy", { QUOTIENT(17, 9, 98000), QUOTIENT(17, 1, 98000) }, BALEEN_KEY_SRC },
	{ "quotient, src,dst",
	  { [BALEEN_WORD] = QUOTIENT(16, 48, 49000), [BALEEN_TUPLE] = QUOTIENT(16, 13, 49000) },
	  BALEEN_KEY_SRC | BALEEN_KEY_DST },
	{ "quotient, flow", { [BALEEN_TUPLE] = QUOTIENT(16, 47, 49000) }, BALEEN_KEY_FLOW },
};

#endif /* BALEEN_TESTS_SHAPES_H */
