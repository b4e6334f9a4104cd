// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One key after the other, by code that was chosen for the filter and the CPU. */
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "filter/asker.h"
#include "filter/lanes.h"

typedef u64 wide __attribute__((vector_size(8 * sizeof(u64)), aligned(8), may_alias));

/* All that a filter can be, and live ones. */
static int test_any(const struct baleen_asker *asker, u64 number)
{
	struct baleen_key key = { .domain = asker->domain };

	if (asker->domain == BALEEN_IP4)
		key.ip4 = number;
	else
		key.lo = number;
	return baleen_filter_test(asker->filter, &key);
}

baleen_inline u64 permute64(const struct baleen_asker *asker, u64 number)
{
	return baleen_mix64((asker->seed[0] ^ number) * (asker->seed[1] | 1));
}

/* The bits that a key misses, as in baleen_bloom_test(): all eight at once. */
baleen_inline void bloom_lacks(const struct baleen_asker *asker, u64 number, wide *missing)
{
	const wide one = { 1, 1, 1, 1, 1, 1, 1, 1 };
	u64 hash = permute64(asker, number), g = hash * 0x9e3779b97f4a7c15ull, a, b;
	const u64 *word = (const u64 *)asker->start +
			  ((hash >> 32) * asker->table.n_buckets >> 32) * BALEEN_BLOCK_WORDS;

	g ^= g >> 32;
	a = baleen_le64(word[g & 7]);
	b = baleen_le64(word[(g & 7) ^ (1 + ((g >> 3 & 255) * 7 >> 8))]);
	*missing = one << ((wide){ g, g, g, g, g, g, g, g } << *(const wide *)asker->shift >> 58);
	*missing &= ~(wide){ a, a, a, a, b, b, b, b };
}

static int test_bloom_any(const struct baleen_asker *asker, u64 number)
{
	struct baleen_key key = { .domain = BALEEN_WORD, .lo = number };

	return baleen_bloom_test(&asker->table, &asker->filter->image.seed, asker->filter->bytes,
				 &key);
}

/* As baleen_cuckoo_test(), of buckets that one load holds. Numbers that are constants are not
 * loaded, and the most frequent table has them.
 */
baleen_inline int test_place(const struct baleen_asker *asker, bool is_4x16,
			     struct baleen_cuckoo_place place)
{
	u64 ones = is_4x16 ? baleen_lane_ones(16) : asker->ones, lanes = place.slot * ones;
	u64 tops = is_4x16 ? ones << 15 : asker->tops, n_bits = is_4x16 ? 64 : asker->n_bits;
	u64 unit = is_4x16 ? 63 : asker->unit;
	u64 home = baleen_lanes_load(asker->start, place.home * n_bits, unit);
	/* Home before other in a live map: see baleen_cuckoo_test_slots(). */
	const u8 *start = (const u8 *)baleen_after(asker->start, home);
	u64 other = baleen_lanes_load(start, place.other * n_bits, unit);
	u64 differ = baleen_lanes_differ(home, lanes, ones);

	/* A tag does not reach the side bit. */
	differ &= baleen_lanes_differ(other, lanes | asker->sides, ones);
	return (differ & tops) != tops;
}

baleen_inline int test_hash(const struct baleen_asker *asker, u64 number, bool is_4x16)
{
	return test_place(asker, is_4x16,
			  baleen_cuckoo_locate_hash(&asker->table, permute64(asker, number), 16));
}

baleen_inline int test_print(const struct baleen_asker *asker, u64 number, bool is_4x16)
{
	return test_place(asker, is_4x16,
			  baleen_cuckoo_locate_print(&asker->table, permute64(asker, number),
						     asker->table.slot_bits));
}

baleen_inline int test_ip4(const struct baleen_asker *asker, u64 number, bool is_4x16)
{
	u32 permuted = baleen_permute32(&asker->filter->image.seed, number);

	return test_place(asker, is_4x16,
			  baleen_cuckoo_locate_permuted(&asker->table, permuted, 16));
}

/* Each for every CPU, and for those of which this compiler knows more instructions. */
#define ASKER(world, name, is_4x16, ...)                                           \
	__VA_ARGS__ static int world(const struct baleen_asker *asker, u64 number) \
	{                                                                          \
		return name(asker, number, is_4x16);                               \
	}

ASKER(test_hash_any, test_hash, false)
ASKER(test_print_any, test_print, false)
ASKER(test_ip4_any, test_ip4, false)

#ifdef __x86_64__
#define BMI2 __attribute__((target("bmi,bmi2")))

ASKER(test_hash_bmi2, test_hash, false, BMI2)
ASKER(test_hash_4x16_bmi2, test_hash, true, BMI2)
ASKER(test_print_bmi2, test_print, false, BMI2)
ASKER(test_ip4_bmi2, test_ip4, false, BMI2)
ASKER(test_ip4_4x16_bmi2, test_ip4, true, BMI2)

__attribute__((target("avx2,bmi,bmi2"))) static int
test_bloom_avx2(const struct baleen_asker *asker, u64 number)
{
	wide missing;
	__m256i both;

	bloom_lacks(asker, number, &missing);
	both = ((const __m256i *)&missing)[0] | ((const __m256i *)&missing)[1];
	return _mm256_testz_si256(both, both);
}

__attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512vl,avx512dq"))) static int
test_bloom_avx512(const struct baleen_asker *asker, u64 number)
{
	wide missing;

	bloom_lacks(asker, number, &missing);
	return !_mm512_test_epi64_mask((__m512i)missing, (__m512i)missing);
}

static void choose_bloom(struct baleen_asker *asker, enum baleen_lanes_width width)
{
	asker->test = width == BALEEN_LANES_AVX512 ? test_bloom_avx512 :
		      width == BALEEN_LANES_AVX2   ? test_bloom_avx2 :
						     test_bloom_any;
}

static void choose_cuckoo(struct baleen_asker *asker, enum baleen_lanes_width width, bool is_ip4,
			  bool has_prints)
{
	bool is_4x16 = asker->n_bits == 64;

	if (width == BALEEN_LANES_ANY)
		asker->test = is_ip4 ? test_ip4_any : has_prints ? test_print_any : test_hash_any;
	else if (is_ip4)
		asker->test = is_4x16 ? test_ip4_4x16_bmi2 : test_ip4_bmi2;
	else if (has_prints)
		asker->test = test_print_bmi2;
	else
		asker->test = is_4x16 ? test_hash_4x16_bmi2 : test_hash_bmi2;
}
#else
static void choose_bloom(struct baleen_asker *asker, enum baleen_lanes_width width)
{
	asker->test = test_bloom_any;
}

static void choose_cuckoo(struct baleen_asker *asker, enum baleen_lanes_width width, bool is_ip4,
			  bool has_prints)
{
	asker->test = is_ip4 ? test_ip4_any : has_prints ? test_print_any : test_hash_any;
}
#endif

static void init_bloom(struct baleen_asker *asker, enum baleen_lanes_width width)
{
	for (u32 i = 0; i < 8; i++) {
		u32 nth = i % 4 < asker->table.n_hashes / 2 ? i % 4 : 0;

		asker->shift[i] = 58 - 11 - 24 * (i / 4) - 6 * nth;
	}
	choose_bloom(asker, width);
}

static void init_cuckoo(struct baleen_asker *asker, enum baleen_lanes_width width)
{
	const struct baleen_table *table = &asker->table;
	bool is_ip4 = baleen_lanes_of(table, asker->domain) == BALEEN_LANES_IP4;

	asker->ones = baleen_lanes_ones(table);
	asker->tops = asker->ones << (table->slot_bits - 1);
	asker->sides = baleen_table_side(table) * asker->ones;
	asker->unit = baleen_lanes_unit(table);
	asker->n_bits = baleen_bucket_bits(table);
	choose_cuckoo(asker, width, is_ip4, baleen_table_has_fingerprints(table));
}

void baleen_asker_init(struct baleen_asker *asker, const struct baleen_filter *filter, u32 domain,
		       enum baleen_lanes_width width)
{
	const struct baleen_table *table = &filter->image.table[domain];

	*asker = (struct baleen_asker){
		.test = test_any,
		.filter = filter,
		.domain = domain,
		.seed = { filter->image.seed.word[0], filter->image.seed.word[1] },
		.start =
			(const u8 *)filter->bytes + (size_t)table->first_block * BALEEN_BLOCK_BYTES,
		.table = *table,
	};
	if (filter->n_recent || filter->image.key_spec == BALEEN_KEY_STRING ||
	    baleen_image_has_prefixes(&filter->image, domain) || !baleen_lanes_know(table))
		return;
	if (table->n_hashes)
		init_bloom(asker, width);
	else
		init_cuckoo(asker, width);
}
