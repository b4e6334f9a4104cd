// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keys asked for side by side.
 *
 * Each step is a loop over all lanes without branches, which the compiler turns into
 * instructions that work on several lanes. One source: it is compiled for each set of
 * instructions, and the CPU decides which is run.
 */
#include "filter/lanes.h"

/* Bits of a bucket that one load of 64 bits from any byte on holds. */
#define MAX_LOAD_BITS 57

/* Lanes that one instruction works on, where the CPU has such; elsewhere more of them do. */
#define WIDE 8

typedef u64 wide __attribute__((vector_size(WIDE * sizeof(u64)), may_alias));

/* As baleen_bloom_mask(): up to four bits of 6 bits each, which @shift moves to the upper
 * end. Bits that a key does not have are others of it again. gcc makes no vector of 1 << x
 * by itself.
 */
baleen_inline void bloom_mask(const u64 *g, const u32 *shift, u64 *mask)
{
	const wide one = { 1, 1, 1, 1, 1, 1, 1, 1 }, bits = *(const wide *)g;

	*(wide *)mask = one << (bits << shift[0] >> 58) | one << (bits << shift[1] >> 58) |
			one << (bits << shift[2] >> 58) | one << (bits << shift[3] >> 58);
}

/* Where an instruction shifts lanes by different numbers, each step is one of lanes. */
baleen_inline void test_bloom(const struct baleen_lanes *lanes, bool has_shifts, u8 *found)
{
	const struct baleen_table table = *lanes->table;
	const u64 *word =
		(const u64 *)lanes->filter->bytes + (u64)table.first_block * BALEEN_BLOCK_WORDS;
	const u32 shift[] = { 58, table.n_hashes > 2 ? 52 : 58, table.n_hashes > 4 ? 46 : 58,
			      table.n_hashes > 6 ? 40 : 58 };
	u64 at[2][BALEEN_LANES];
	wide mask[2][BALEEN_LANES / WIDE];
	u64 *first = (u64 *)mask[0], *second = (u64 *)mask[1];

	for (u32 i = 0; i < BALEEN_LANES; i++) {
		u64 hash = lanes->lane[i], g = hash * 0x9e3779b97f4a7c15ull;
		u64 block = ((hash >> 32) * table.n_buckets >> 32) * BALEEN_BLOCK_WORDS;

		g ^= g >> 32;
		at[0][i] = block + (g & 7);
		at[1][i] = block + ((g & 7) ^ (1 + ((g >> 3 & 255) * 7 >> 8)));
		first[i] = g >> 11;
		second[i] = g >> 35;
	}
	for (u32 i = 0; i < BALEEN_LANES && !has_shifts; i++) {
		first[i] = baleen_bloom_mask(first[i], table.n_hashes / 2);
		second[i] = baleen_bloom_mask(second[i], table.n_hashes / 2);
	}
	for (u32 i = 0; i < BALEEN_LANES && has_shifts; i += WIDE) {
		bloom_mask(&first[i], shift, &first[i]);
		bloom_mask(&second[i], shift, &second[i]);
	}
	for (u32 i = 0; i < BALEEN_LANES; i++)
		__builtin_prefetch(&word[at[0][i]]);
	for (u32 i = 0; i < BALEEN_LANES; i++)
		found[i] = !((~baleen_le64(word[at[0][i]]) & first[i]) |
			     (~baleen_le64(word[at[1][i]]) & second[i]));
}

/* Where the keys of the lanes belong, in bits of the table. */
struct places {
	u64 home[BALEEN_LANES];
	u64 other[BALEEN_LANES];
	u64 slot[BALEEN_LANES];
};

baleen_inline void locate(const struct baleen_table *table, const struct baleen_lanes *lanes,
			  bool is_ip4, bool has_prints, struct places *places)
{
	u64 n_bits = baleen_bucket_bits(table);

	for (u32 i = 0; i < BALEEN_LANES; i++) {
		struct baleen_cuckoo_place place;

		if (is_ip4)
			place = baleen_cuckoo_locate_permuted(table, lanes->lane[i], 16);
		else if (has_prints)
			place = baleen_cuckoo_locate_print(table, lanes->lane[i], table->slot_bits);
		else
			place = baleen_cuckoo_locate_hash(table, lanes->lane[i], 16);
		places->home[i] = place.home * n_bits;
		places->other[i] = place.other * n_bits;
		places->slot[i] = place.slot;
	}
}

baleen_inline void test_cuckoo(const struct baleen_lanes *lanes, bool is_ip4, bool has_prints,
			       u8 *found)
{
	const struct baleen_table table = *lanes->table;
	const u8 *start =
		(const u8 *)lanes->filter->bytes + (size_t)table.first_block * BALEEN_BLOCK_BYTES;
	u64 side = baleen_table_side(&table), ones = baleen_lanes_ones(&table);
	u64 tops = ones << (table.slot_bits - 1), unit = baleen_lanes_unit(&table);
	u64 home[BALEEN_LANES], other[BALEEN_LANES];
	struct places places;

	locate(&table, lanes, is_ip4, has_prints, &places);
	for (u32 i = 0; i < BALEEN_LANES; i++) {
		__builtin_prefetch(start + (places.home[i] >> 3));
		__builtin_prefetch(start + (places.other[i] >> 3));
	}
	/* The order home, other holds for the keys of a live map here, too: once for all lanes. */
	for (u32 i = 0; i < BALEEN_LANES; i++)
		home[i] = baleen_lanes_load(start, places.home[i], unit);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (u32 i = 0; i < BALEEN_LANES; i++)
		other[i] = baleen_lanes_load(start, places.other[i], unit);
	for (u32 i = 0; i < BALEEN_LANES; i++) {
		u64 differ = baleen_lanes_differ(home[i], places.slot[i] * ones, ones) &
			     baleen_lanes_differ(other[i], (places.slot[i] | side) * ones, ones);

		found[i] = (differ & tops) != tops;
	}
}

baleen_inline void permute(struct baleen_lanes *lanes)
{
	const struct baleen_seed *seed = &lanes->filter->image.seed;

	if (lanes->of == BALEEN_LANES_WORD)
		for (u32 i = 0; i < BALEEN_LANES; i++)
			lanes->lane[i] = baleen_permute64(seed, lanes->lane[i]);
	else if (lanes->of == BALEEN_LANES_IP4)
		for (u32 i = 0; i < BALEEN_LANES; i++)
			lanes->lane[i] = baleen_permute32(seed, lanes->lane[i]);
}

baleen_inline void test(struct baleen_lanes *lanes, bool has_shifts, u8 *found)
{
	permute(lanes);
	if (lanes->table->n_hashes)
		test_bloom(lanes, has_shifts, found);
	else if (lanes->of == BALEEN_LANES_IP4)
		test_cuckoo(lanes, true, false, found);
	else if (baleen_table_has_fingerprints(lanes->table))
		test_cuckoo(lanes, false, true, found);
	else
		test_cuckoo(lanes, false, false, found);
}

static void test_any(struct baleen_lanes *lanes, u8 *found)
{
	test(lanes, false, found);
}

#ifdef __x86_64__
__attribute__((target("avx2,bmi,bmi2"))) static void test_avx2(struct baleen_lanes *lanes,
							       u8 *found)
{
	test(lanes, true, found);
}

__attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512vl,avx512dq"))) static void
test_avx512(struct baleen_lanes *lanes, u8 *found)
{
	test(lanes, true, found);
}

enum baleen_lanes_width baleen_lanes_width(void)
{
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
	    !__builtin_cpu_supports("bmi2"))
		return BALEEN_LANES_ANY;
	if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
	    !__builtin_cpu_supports("avx512vl"))
		return BALEEN_LANES_AVX2;
	return BALEEN_LANES_AVX512;
}

void baleen_lanes_test(struct baleen_lanes *lanes, enum baleen_lanes_width width, u8 *found)
{
	switch (width) {
	case BALEEN_LANES_AVX512: test_avx512(lanes, found); break;
	case BALEEN_LANES_AVX2: test_avx2(lanes, found); break;
	default: test_any(lanes, found); break;
	}
}
#else
enum baleen_lanes_width baleen_lanes_width(void)
{
	return BALEEN_LANES_ANY;
}

void baleen_lanes_test(struct baleen_lanes *lanes, enum baleen_lanes_width width, u8 *found)
{
	test_any(lanes, found);
}
#endif

bool baleen_lanes_know(const struct baleen_table *table)
{
	u32 n_bits;

	if (table->form)
		return false;
	if (table->kind == BALEEN_KIND_BLOOM)
		return true;
	if (table->kind == BALEEN_KIND_COUNTING)
		return table->hash == BALEEN_HASH_BLOCKED;
	if (table->kind != BALEEN_KIND_CUCKOO || table->n_stash ||
	    baleen_table_is_semi_sorted(table))
		return false;
	n_bits = baleen_bucket_bits(table);
	if (baleen_table_is_packed(table))
		return n_bits <= MAX_LOAD_BITS;
	return table->slot_bits == 16 || table->slot_bits == 8;
}
