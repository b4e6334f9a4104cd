/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prefixes and exceptions, and what they say when each of them is asked.
 */
#ifndef BALEEN_TESTS_SLOW_PREFIXES_H
#define BALEEN_TESTS_SLOW_PREFIXES_H

#include <stdlib.h>

#include "ops/build.h"
#include "random.h"

/* IPv4 entries have their address in the highest bits of hi, as prefixes of up
 * to 32 bits: the walk does not care.
 */
struct entries {
	bool is_ip6;
	struct baleen_prefix6 *entry;
	size_t n;
};

static inline bool entry_covers(const struct baleen_prefix6 *entry, u64 hi, u64 lo)
{
	u64 hi_mask = entry->length >= 64 ? ~0ull :
		      entry->length	  ? ~0ull << (64 - entry->length) :
					    0;
	u64 lo_mask = entry->length <= 64  ? 0 :
		      entry->length == 128 ? ~0ull :
					     ~0ull << (128 - entry->length);

	return (entry->hi & hi_mask) == (hi & hi_mask) && (entry->lo & lo_mask) == (lo & lo_mask);
}

/* The longest prefix decides, of two of one length the exception. */
static inline bool entries_hold(const struct entries *entries, u64 hi, u64 lo)
{
	int longest = -1;
	bool held = false;

	for (size_t i = 0; i < entries->n; i++) {
		const struct baleen_prefix6 *entry = &entries->entry[i];

		if (entry->length < longest || !entry_covers(entry, hi, lo))
			continue;
		held = !entry->is_exception && (entry->length > longest || held);
		longest = entry->length;
	}
	return held;
}

static inline void entry_mask(struct baleen_prefix6 *entry)
{
	if (entry->length < 64)
		entry->hi &= entry->length ? ~0ull << (64 - entry->length) : 0;
	if (entry->length <= 64)
		entry->lo = 0;
	else if (entry->length < 128)
		entry->lo &= ~0ull << (128 - entry->length);
}

/* The last address that the entry covers. */
static inline void entry_last(const struct baleen_prefix6 *entry, u64 *hi, u64 *lo)
{
	*hi = entry->hi;
	*lo = entry->lo;
	if (entry->length < 64)
		*hi |= ~0ull >> entry->length;
	if (entry->length <= 64)
		*lo = ~0ull;
	else if (entry->length < 128)
		*lo |= ~0ull >> (entry->length - 64);
}

/* The finished list of the entries; hosts that are no exceptions as hosts. */
static inline struct baleen_list entries_list(const struct entries *entries)
{
	struct baleen_list list = { .key_spec = BALEEN_KEY_SRC };
	size_t n = entries->n + 1;

	list.ip4 = malloc(n * sizeof(*list.ip4));
	list.ip6 = malloc(n * sizeof(*list.ip6));
	list.prefix4 = malloc(n * sizeof(*list.prefix4));
	list.prefix6 = malloc(n * sizeof(*list.prefix6));
	list.room_ip4 = list.room_ip6 = list.room_prefix4 = list.room_prefix6 = n;
	for (size_t i = 0; i < entries->n; i++) {
		const struct baleen_prefix6 *entry = &entries->entry[i];

		if (entries->is_ip6 && (entry->length < 128 || entry->is_exception))
			list.prefix6[list.n_prefix6++] = *entry;
		else if (entries->is_ip6)
			list.ip6[list.n_ip6++] = (struct baleen_ip6){ entry->hi, entry->lo };
		else if (entry->length < 32 || entry->is_exception)
			list.prefix4[list.n_prefix4++] = (struct baleen_prefix4){
				.address = entry->hi >> 32,
				.length = entry->length,
				.is_exception = entry->is_exception,
			};
		else
			list.ip4[list.n_ip4++] = entry->hi >> 32;
	}
	list.n_listed = entries->n;
	assert_int_equal(baleen_list_finish(&list), 0);
	return list;
}

static inline struct baleen_filter filter_of(const struct baleen_list *list,
					     const struct baleen_build_options *options)
{
	struct baleen_filter filter;
	struct baleen_image out;
	struct baleen_error error;
	const char *reason;

	if (baleen_build(list, options, &filter, &error))
		fail_msg("%s", error.text);
	if (baleen_image_check(filter.bytes, filter.n_bytes, &out, &reason))
		fail_msg("%s", reason);
	assert_memory_equal(&out, &filter.image, sizeof(out));
	return filter;
}

static inline bool filter_holds(const struct baleen_filter *filter, bool is_ip6, u64 hi, u64 lo)
{
	struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = hi >> 32 };

	if (is_ip6)
		key = (struct baleen_key){ .domain = BALEEN_IP6, .hi = hi, .lo = lo };
	return baleen_filter_test(filter, &key);
}

static inline void assert_same(const struct baleen_filter *filter, const struct entries *entries,
			       u64 hi, u64 lo)
{
	if (filter_holds(filter, entries->is_ip6, hi, lo) != entries_hold(entries, hi, lo))
		fail_msg("%#llx %#llx: the entries say %d of %zu, %u groups bits",
			 (unsigned long long)hi, (unsigned long long)lo,
			 entries_hold(entries, hi, lo), entries->n,
			 filter->image.table[entries->is_ip6 ? BALEEN_IP6_STEMS : BALEEN_IP4_GROUPS]
				 .group_bits);
}

/* Where an entry begins and ends, and one beside it. */
static inline void assert_same_around(const struct baleen_filter *filter,
				      const struct entries *entries)
{
	u64 step_hi = entries->is_ip6 ? 0 : 1ull << 32, step_lo = entries->is_ip6;

	for (size_t i = 0; i < entries->n; i++) {
		const struct baleen_prefix6 *entry = &entries->entry[i];
		u64 hi, lo;

		entry_last(entry, &hi, &lo);
		assert_same(filter, entries, entry->hi, entry->lo);
		assert_same(filter, entries, hi, lo);
		assert_same(filter, entries, entry->hi - step_hi - (step_lo && !entry->lo),
			    entry->lo - step_lo);
		assert_same(filter, entries, hi + step_hi + (step_lo && lo == ~0ull), lo + step_lo);
	}
}

/* Random addresses, half of them below a random entry. */
static inline void assert_same_random(const struct baleen_filter *filter,
				      const struct entries *entries, u32 n, struct random *random)
{
	for (u32 i = 0; i < n; i++) {
		u64 hi = random_next(random), lo = random_next(random);

		if (i % 2 && entries->n) {
			const struct baleen_prefix6 *entry =
				&entries->entry[random_below(random, entries->n)];
			u64 last_hi, last_lo;

			entry_last(entry, &last_hi, &last_lo);
			hi = entry->hi | (hi & (entry->hi ^ last_hi));
			lo = entry->lo | (lo & (entry->lo ^ last_lo));
		}
		assert_same(filter, entries, hi, lo);
	}
}

#endif /* BALEEN_TESTS_SLOW_PREFIXES_H */
