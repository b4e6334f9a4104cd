// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whole planes of bits: what can be done with Bloom filters without their keys. */
#include <errno.h>
#include <math.h>

#include "filter/bloom_bits.h"
#include "filter/estimate.h"
#include "filter/kind.h"
#include "filter/plan.h"

/* The lower nibble of each byte. */
#define NIBBLES 0x0f0f0f0f0f0f0f0full
#define BYTES 0x0101010101010101ull

static u64 *counters_of(const struct baleen_filter *filter, u32 domain)
{
	return baleen_plane(filter, domain) + baleen_plane_words(filter, domain);
}

/* 0 where the table does not count. */
static u64 counter_words(const struct baleen_filter *filter, u32 domain)
{
	bool is_counting = filter->image.table[domain].kind == BALEEN_KIND_COUNTING;

	return is_counting ? baleen_plane_words(filter, domain) * BALEEN_COUNTER_BITS : 0;
}

/* --- union and intersection ----------------------------------------------------- */

/* Eight counters of each, one in a byte. */
static u64 add_bytes(u64 a, u64 b)
{
	u64 sum = a + b;

	return (sum | (sum >> 4 & BYTES) * BALEEN_COUNTER_MAX) & NIBBLES;
}

static u64 lower_bytes(u64 a, u64 b)
{
	u64 is_lower = ~((a | BYTES << 7) - b) >> 7 & BYTES;

	return b ^ ((a ^ b) & is_lower * BALEEN_COUNTER_MAX);
}

/* The lower of each two counters, or their sum up to BALEEN_COUNTER_MAX. */
static u64 combine_counters(u64 a, u64 b, bool is_sum)
{
	u64 (*combine)(u64, u64) = is_sum ? add_bytes : lower_bytes;

	return combine(a & NIBBLES, b & NIBBLES) | combine(a >> 4 & NIBBLES, b >> 4 & NIBBLES) << 4;
}

static void combine_all_counters(struct baleen_filter *filter, const struct baleen_filter *other,
				 u32 domain, bool is_sum)
{
	u64 *x = counters_of(filter, domain), n_words = counter_words(filter, domain);
	const u64 *y = counters_of(other, domain);

	/* The order of bytes is that of the image, and each has two counters. */
	for (u64 i = 0; i < n_words; i++)
		__atomic_store_n(&x[i], combine_counters(x[i], y[i], is_sum), __ATOMIC_RELEASE);
}

void baleen_bits_unite(struct baleen_filter *filter, const struct baleen_filter *other, u32 domain)
{
	u64 *x = baleen_plane(filter, domain), n_words = baleen_plane_words(filter, domain);
	struct baleen_table *table = &filter->image.table[domain];
	const u64 *y = baleen_plane(other, domain);
	struct baleen_overlap overlap;

	baleen_estimate_overlap(filter, other, domain, &overlap);
	/* A killed writer leaves counters that are too high, not too low. */
	combine_all_counters(filter, other, domain, true);
	for (u64 i = 0; i < n_words; i++)
		__atomic_store_n(&x[i], x[i] | y[i], __ATOMIC_RELEASE);
	/* A key of both was inserted twice, and takes two deletions. */
	if (table->kind == BALEEN_KIND_COUNTING && table->n_entries &&
	    other->image.table[domain].n_entries)
		table->n_entries += other->image.table[domain].n_entries;
	else
		table->n_entries = llround(overlap.either);
}

void baleen_bits_intersect(struct baleen_filter *filter, const struct baleen_filter *other,
			   u32 domain)
{
	u64 *x = baleen_plane(filter, domain), n_words = baleen_plane_words(filter, domain);
	const u64 *y = baleen_plane(other, domain);
	struct baleen_overlap overlap;

	baleen_estimate_overlap(filter, other, domain, &overlap);
	for (u64 i = 0; i < n_words; i++)
		__atomic_store_n(&x[i], x[i] & y[i], __ATOMIC_RELEASE);
	combine_all_counters(filter, other, domain, false);
	filter->image.table[domain].n_entries = llround(overlap.both);
}

/* --- folding -------------------------------------------------------------------- */

static int halve_table(struct baleen_table *table, struct baleen_error *error)
{
	bool is_blocked = table->hash == BALEEN_HASH_BLOCKED;
	u64 n_bits = baleen_table_bits(table) / 2;

	if (!baleen_table_is_bit_array(table))
		return baleen_fail(error, EOPNOTSUPP, "a table of kind %s is not folded in half",
				   baleen_kind_name(table->kind));
	if (is_blocked ? table->n_buckets % 2 : baleen_table_bits(table) % 2)
		return baleen_fail(error, EOPNOTSUPP,
				   "a Bloom filter of %llu %s, an odd number, cannot be folded in "
				   "half: build it again from its lists",
				   is_blocked ? table->n_buckets : baleen_table_bits(table),
				   is_blocked ? "blocks" : "bits");
	if (table->hash == BALEEN_HASH_SQUID && n_bits % 8)
		return baleen_fail(error, EOPNOTSUPP,
				   "half of a digest of %llu bits is not of whole bytes: build it "
				   "again from its lists",
				   (unsigned long long)n_bits * 2);
	table->n_buckets = (n_bits - 1) / (BALEEN_BLOCK_BYTES * 8) + 1;
	table->n_spare_bits = ((u64)table->n_buckets << 9) - n_bits;
	table->n_blocks = baleen_table_blocks(table);
	return 0;
}

static int halve_image(const struct baleen_image *image, struct baleen_image *half,
		       struct baleen_error *error)
{
	int err = 0;

	*half = *image;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS && !err; domain++)
		if (baleen_kind_has_keys(half->table[domain].kind))
			err = halve_table(&half->table[domain], error);
	return err ? err : baleen_tables_place(half, error);
}

/* Where a bit comes to in half the filter, which has @n_bits. */
static u64 half_position(u32 hash, u64 n_bits, u64 position)
{
	if (hash == BALEEN_HASH_BLOCKED)
		return position >> 10 << 9 | (position & 511);
	if (hash == BALEEN_HASH_KEYED)
		return position / 2;
	return position < n_bits ? position : position - n_bits;
}

u64 baleen_bits_folded(const struct baleen_table *table, const struct baleen_table *folded,
		       u64 position)
{
	u64 n_bits = baleen_table_bits(table) / 2;

	for (; n_bits >= baleen_table_bits(folded); n_bits /= 2)
		position = half_position(table->hash, n_bits, position);
	return position;
}

static void fold_bits(const struct baleen_filter *filter, struct baleen_filter *half, u32 domain)
{
	u64 n_bits = baleen_table_bits(&filter->image.table[domain]);
	const u64 *from = baleen_plane(filter, domain);
	u64 *to = baleen_plane(half, domain), n_words = baleen_plane_words(filter, domain);

	for (u64 i = 0; i < n_words; i++) {
		for (u64 word = baleen_le64(from[i]); word; word &= word - 1) {
			u64 bit = i * 64 + __builtin_ctzll(word), at;

			/* Behind the last one a file may have anything. */
			if (bit >= n_bits)
				return;
			at = half_position(half->image.table[domain].hash,
					   baleen_table_bits(&half->image.table[domain]), bit);
			to[at / 64] |= baleen_le64(1ull << at % 64);
		}
	}
}

/* Counters of bits that come to be the same one add up. */
static void fold_counters(const struct baleen_filter *filter, struct baleen_filter *half,
			  u32 domain)
{
	const struct baleen_table *table = &half->image.table[domain];
	u64 n_bits = baleen_table_bits(&filter->image.table[domain]);
	const u64 *from = counters_of(filter, domain);
	u64 *to = counters_of(half, domain), n_words = counter_words(filter, domain);

	for (u64 i = 0; i < n_words; i++) {
		for (u64 word = baleen_le64(from[i]); word;) {
			u32 shift = __builtin_ctzll(word) & ~(BALEEN_COUNTER_BITS - 1);
			u64 count = word & (u64)BALEEN_COUNTER_MAX << shift;
			u64 bit = (i * 64 + shift) / BALEEN_COUNTER_BITS, at, *sum;

			if (bit >= n_bits)
				return;
			at = half_position(table->hash, baleen_table_bits(table), bit);
			sum = &to[at / BALEEN_WORD_COUNTERS];
			word ^= count;
			count = (count >> shift) << at % BALEEN_WORD_COUNTERS * BALEEN_COUNTER_BITS;
			*sum = combine_counters(*sum, baleen_le64(count), true);
		}
	}
}

static void fill_half(const struct baleen_filter *filter, struct baleen_filter *half, u32 domain)
{
	const struct baleen_table *from = &filter->image.table[domain];
	struct baleen_table *to = &half->image.table[domain];

	if (!baleen_table_is_bit_array(to)) {
		memcpy(baleen_plane(half, domain), baleen_plane(filter, domain),
		       (size_t)to->n_blocks * BALEEN_BLOCK_BYTES);
		to->n_entries = baleen_filter_count(filter, domain);
		return;
	}
	fold_bits(filter, half, domain);
	fold_counters(filter, half, domain);
	to->n_entries = from->n_entries;
	/* Nobody knows how many there are in a live filter. */
	if (!to->n_entries)
		to->n_entries = llround(baleen_estimate_keys(filter, domain));
}

int baleen_filter_halve(const struct baleen_filter *filter, struct baleen_filter *half,
			struct baleen_error *error)
{
	struct baleen_image image;
	int err = halve_image(&filter->image, &image, error);

	if (!err)
		err = baleen_filter_alloc(half, &image, error);
	if (err)
		return err;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (half->image.table[domain].kind != BALEEN_KIND_NONE)
			fill_half(filter, half, domain);
	baleen_filter_seal(half);
	return 0;
}
