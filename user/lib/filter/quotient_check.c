// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks of a quotient table: that its body makes sense, and what may be deleted. */
#include <errno.h>

#include "filter/quotient_stream.h"
#include "filter/quotient_table.h"
#include "key/key_text.h"

/**
 * struct tally - what the slots have of each
 * @n_runs: occupied bits
 * @n_continued: continued bits
 * @n_shifted: shifted bits
 * @n_used: slots with any of them
 */
struct tally {
	u64 n_runs;
	u64 n_continued;
	u64 n_shifted;
	u64 n_used;
};

static bool count_bits(const struct baleen_quotient *quotient, struct tally *tally)
{
	u64 outside = 0;

	*tally = (struct tally){ 0 };
	for (u32 group = 0; group < baleen_quotient_groups(quotient->table); group++) {
		const u64 *word = baleen_quotient_group(quotient, group);

		for (u32 plane = 0; plane < BALEEN_QUOTIENT_META; plane++)
			outside |= baleen_le64(word[plane]) & ~baleen_quotient_all(quotient->table);
		tally->n_runs += baleen_popcount64(word[BALEEN_QUOTIENT_OCCUPIED]);
		tally->n_continued += baleen_popcount64(word[BALEEN_QUOTIENT_CONTINUED]);
		tally->n_shifted += baleen_popcount64(word[BALEEN_QUOTIENT_SHIFTED]);
		tally->n_used += baleen_popcount64(baleen_quotient_used(quotient, group));
	}
	return !outside;
}

/* In a run remainders ascend, and stand side by side only where copies count. */
static bool is_in_order(u64 last, u64 value, bool has_copies)
{
	return value > last || (value == last && has_copies);
}

/* Every fingerprint stands where it belongs, and there is nothing beside them. */
static bool is_sound(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_quotient_reader reader = baleen_quotient_reader(filter, domain);
	const struct baleen_quotient *quotient = &reader.quotient;
	u64 n = quotient->table->n_buckets, first = reader.at, home = reader.home, last = 0;
	struct tally tally, read = { 0 };
	bool has_copies = filter->image.flags & BALEEN_FLAG_COPIES, in_run = false;

	if (!count_bits(quotient, &tally) ||
	    baleen_quotient_longest(filter, domain) > quotient->table->longest_cluster)
		return false;
	while (baleen_quotient_read(&reader)) {
		u64 at = reader.at - 1;

		if ((in_run && !is_in_order(last, reader.value, has_copies)) ||
		    at - reader.home >= n ||
		    baleen_quotient_bit(quotient, at, BALEEN_QUOTIENT_CONTINUED) != in_run ||
		    baleen_quotient_bit(quotient, at, BALEEN_QUOTIENT_SHIFTED) !=
			    (at != reader.home))
			return false;
		read.n_runs += !in_run;
		read.n_continued += in_run;
		read.n_shifted += at != reader.home;
		read.n_used++;
		last = reader.value;
		in_run = reader.in_run;
	}
	/* Slots before the first one continue from the last slot. */
	if (read.n_used && reader.at > n + home ? first != reader.at - n : first != home)
		return false;
	return !in_run && tally.n_runs == read.n_runs && tally.n_continued == read.n_continued &&
	       tally.n_shifted == read.n_shifted && tally.n_used == read.n_used;
}

int baleen_quotient_check_body(const struct baleen_filter *filter, u32 domain,
			       struct baleen_error *error)
{
	if (is_sound(filter, domain))
		return 0;
	return baleen_fail(error, EINVAL, "a quotient table that no keys make: damaged");
}

int baleen_quotient_check_del(const struct baleen_filter *filter, u32 domain,
			      const struct baleen_list *change, struct baleen_error *error)
{
	const struct baleen_table *table = &filter->image.table[domain];
	u32 n_bits = table->log2_buckets + table->slot_bits;

	if (baleen_table_tells_apart(table, domain) || filter->image.flags & BALEEN_FLAG_COPIES)
		return 0;
	if (filter->image.key_spec != BALEEN_KEY_FINGERPRINT)
		return baleen_fail(error, EOPNOTSUPP,
				   "a fingerprint of %u bits may be that of two keys, and deleting "
				   "one would lose the other: build it again from its lists, or "
				   "with --copies",
				   n_bits);
	for (size_t i = 0; i < change->n_key; i++) {
		u32 n_digits = baleen_fingerprint_digits(&change->key[i]);

		if (n_digits != n_bits)
			return baleen_fail(error, EOPNOTSUPP,
					   "of a fingerprint of %u digits it keeps %u bits: delete "
					   "one of %u digits",
					   n_digits, n_bits, n_bits);
	}
	return 0;
}
