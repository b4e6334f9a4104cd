// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The geometry of a table of keys in words and in JSON. */
#include "cli/common/describe_table.h"
#include "filter/bloom_math.h"
#include "filter/estimate.h"
#include "filter/plan.h"
#include "filter/slots.h"
#include "util/number.h"

static u64 slots_of(const struct baleen_table *table)
{
	if (table->kind == BALEEN_KIND_QUOTIENT)
		return table->n_buckets;
	return (u64)table->n_buckets * baleen_bucket_slots(table);
}

static double table_fill(const struct baleen_filter *filter, u32 domain)
{
	return (double)baleen_filter_used(filter, domain) / slots_of(&filter->image.table[domain]);
}

bool is_uncounted_table(const struct baleen_filter *filter, u32 domain)
{
	return filter->is_mapped && baleen_table_is_bit_array(&filter->image.table[domain]);
}

static bool has_copies(const struct baleen_filter *filter)
{
	return filter->image.flags & BALEEN_FLAG_COPIES;
}

/* Keys in the stash of a cuckoo table. */
static u32 count_stashed(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	u32 n = 0;

	for (u32 i = 0; i < slots.table->n_stash; i++)
		n += baleen_slots_stash(&slots)[i] != 0;
	return n;
}

/* Chance that a counter comes to its end, with the keys that there are. */
static double overflow_of(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	return baleen_counting_overflow(baleen_table_bits(table), table->n_hashes,
					is_uncounted_table(filter, domain) ?
						baleen_estimate_keys(filter, domain) :
						table->n_entries);
}

/* The form of a hash of texts as --hash-form takes it; "" for none. */
static const char *form_words(u32 form)
{
	static const char *const words[2][3] = {
		{ "", "quoted", "hex" }, { "unsigned", "unsigned,quoted", "unsigned,hex" }
	};

	return words[!!(form & BALEEN_FORM_UNSIGNED)][form & BALEEN_FORM_QUOTED ? 1 :
						      form & BALEEN_FORM_HEX	? 2 :
										  0];
}

/* --- JSON ------------------------------------------------------------------ */

static void describe_slots(json_t *json, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	json_object_set_new(json, "buckets", json_integer(table->n_buckets));
	json_object_set_new(json, "slots_per_bucket", json_integer(baleen_bucket_slots(table)));
	json_object_set_new(json, "slot_bits", json_integer(table->slot_bits));
	json_object_set_new(json, "fill", json_real(table_fill(filter, domain)));
	if (table->kind == BALEEN_KIND_PREFIXES)
		return;
	json_object_set_new(json, "packed", json_boolean(baleen_table_is_packed(table)));
	json_object_set_new(json, "semi_sorted", json_boolean(baleen_table_is_semi_sorted(table)));
	json_object_set_new(json, "stash", json_integer(table->n_stash));
	json_object_set_new(json, "stashed", json_integer(count_stashed(filter, domain)));
	json_object_set_new(json, "copies", json_boolean(has_copies(filter)));
	if (table->form & BALEEN_FORM_XOR)
		json_object_set_new(json, "loses_keys",
				    json_boolean(baleen_table_loses_keys(table)));
	json_object_set_new(json, "capacity", json_integer(baleen_table_capacity(table)));
}

static void describe_quotient(json_t *json, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	json_object_set_new(json, "slots", json_integer(table->n_buckets));
	json_object_set_new(json, "quotient_bits", json_integer(table->log2_buckets));
	json_object_set_new(json, "remainder_bits", json_integer(table->slot_bits));
	json_object_set_new(json, "fill", json_real(table_fill(filter, domain)));
	json_object_set_new(json, "longest_cluster", json_integer(table->longest_cluster));
	json_object_set_new(json, "copies", json_boolean(has_copies(filter)));
	json_object_set_new(json, "capacity", json_integer(baleen_table_capacity(table)));
}

static void describe_plane(json_t *json, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	u64 n_bits = baleen_table_bits(table);

	json_object_set_new(json, "blocks", json_integer(table->n_buckets));
	json_object_set_new(json, "hashes", json_integer(table->n_hashes));
	json_object_set_new(json, "positions", json_integer(n_bits));
	json_object_set_new(json, "fill",
			    json_real((double)baleen_bits_count(filter, domain) / n_bits));
	json_object_set_new(json, "estimated_entries",
			    json_real(baleen_estimate_keys(filter, domain)));
	if (table->hash)
		json_object_set_new(json, "hash", json_string(baleen_hash_name(table->hash)));
	if (!is_uncounted_table(filter, domain))
		json_object_set_new(json, "expected_fpp",
				    json_real(baleen_table_fpp(&filter->image, domain,
							       table->n_entries)));
	if (table->kind != BALEEN_KIND_COUNTING)
		return;
	json_object_set_new(json, "counter_bits", json_integer(BALEEN_COUNTER_BITS));
	json_object_set_new(json, "copies", json_boolean(has_copies(filter)));
	json_object_set_new(json, "stuck", json_integer(baleen_counters_stuck(filter, domain)));
	json_object_set_new(json, "overflow", json_real(overflow_of(filter, domain)));
}

static void describe_form(json_t *json, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	if (!table->form || domain != BALEEN_TUPLE)
		return;
	if (!baleen_table_is_bit_array(table))
		json_object_set_new(json, "hash", json_string("murmur3"));
	json_object_set_new(json, "hash_seed", json_integer(filter->image.seed.word[0]));
	json_object_set_new(json, "hash_form", json_string(form_words(table->form)));
}

static void describe_chains(json_t *json, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	json_object_set_new(json, "buckets", json_integer(table->n_buckets));
	json_object_set_new(json, "value_bits", json_integer(table->slot_bits));
	json_object_set_new(json, "copies", json_boolean(has_copies(filter)));
	json_object_set_new(json, "capacity", json_integer(baleen_table_capacity(table)));
}

void describe_geometry(json_t *json, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	describe_form(json, filter, domain);
	if (table->kind == BALEEN_KIND_QUOTIENT)
		describe_quotient(json, filter, domain);
	else if (baleen_kind_has_chains(table->kind))
		describe_chains(json, filter, domain);
	else if (baleen_table_is_bit_array(table))
		describe_plane(json, filter, domain);
	else
		describe_slots(json, filter, domain);
}

/* --- text ------------------------------------------------------------------ */

static void print_slots(FILE *stream, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	char buckets[NUMBER_TEXT];

	say_to(stream, "%s buckets of %u slot%s of %u bits, %s%.1f %% full, ",
	       format_count(table->n_buckets, buckets), baleen_bucket_slots(table),
	       baleen_bucket_slots(table) == 1 ? "" : "s", table->slot_bits,
	       baleen_table_is_semi_sorted(table) ? "semi-sorted, " :
	       baleen_table_is_packed(table)	  ? "packed, " :
						    "",
	       100 * table_fill(filter, domain));
	if (table->n_stash)
		say_to(stream, "%u of %u in the stash, ", count_stashed(filter, domain),
		       table->n_stash);
}

static void print_quotient(FILE *stream, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	say_to(stream, "2^%u slots, remainders of %u bits, %.1f %% full, longest cluster %u, ",
	       table->log2_buckets, table->slot_bits, 100 * table_fill(filter, domain),
	       table->longest_cluster);
}

static void print_counters(FILE *stream, const struct baleen_filter *filter, u32 domain)
{
	u64 n_stuck = baleen_counters_stuck(filter, domain);
	char count[NUMBER_TEXT];

	say_to(stream, "counters of %d bits (", BALEEN_COUNTER_BITS);
	if (n_stuck)
		say_to(stream, "%s stuck at %d: their bits stay), ", format_count(n_stuck, count),
		       BALEEN_COUNTER_MAX);
	else
		say_to(stream, "overflow %.2g at most), ", overflow_of(filter, domain));
}

/* How many keys the bits tell of: four cases, see estimate.h. */
static void print_estimate(FILE *stream, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	u64 n_set = baleen_bits_count(filter, domain), n_bits = baleen_table_bits(table);
	double n = baleen_estimate_table(table, n_set);
	char count[NUMBER_TEXT];

	say_to(stream, "%s set: ", format_count(n_set, count));
	if (n_set >= n_bits)
		say_to(stream, "all, %.4g keys or more, ", n);
	else if (n_set <= table->n_hashes && table->hash)
		say_to(stream, "%.0f %s, ", n, baleen_plural(n, "key", "keys"));
	else if (n < 100)
		say_to(stream, "about %.1f keys, ", n);
	else
		say_to(stream, "about %s keys, ", format_count(n + 0.5, count));
}

static void print_plane(FILE *stream, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	char count[NUMBER_TEXT];

	if (table->hash)
		say_to(stream, "%s bits, %u positions per key (%s), ",
		       format_count(baleen_table_bits(table), count), table->n_hashes,
		       baleen_hash_name(table->hash));
	else
		say_to(stream, "%s blocks of 64 bytes, %u bits set per key, ",
		       format_count(table->n_buckets, count), table->n_hashes);
	if (table->kind == BALEEN_KIND_COUNTING)
		print_counters(stream, filter, domain);
	if (is_uncounted_table(filter, domain)) {
		u64 n = baleen_estimate_keys(filter, domain) + 0.5;

		say_to(stream, "about %s %s, ", format_count(n, count),
		       baleen_plural(n, "entry", "entries"));
	}
}

static void print_form(FILE *stream, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	const char *words = form_words(table->form);

	if (!table->form || domain != BALEEN_TUPLE)
		return;
	say_to(stream, "%sseed %u%s%s, no secret, ",
	       baleen_table_is_bit_array(table) ? "" : "hash murmur3, ",
	       (u32)filter->image.seed.word[0], *words ? ", " : "", words);
	if (baleen_table_loses_keys(table))
		fputs("keys may be lost: partners by XOR, and the buckets are no power of two, ",
		      stream);
	else if (table->form & BALEEN_FORM_XOR)
		fputs("partners by XOR, ", stream);
}

static void print_chains(FILE *stream, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	char buckets[NUMBER_TEXT], room[NUMBER_TEXT];

	say_to(stream, "%s %s with chains of values of %u bits, room for %s, ",
	       format_count(table->n_buckets, buckets),
	       baleen_plural(table->n_buckets, "bucket", "buckets"), table->slot_bits,
	       format_count(table->n_room, room));
}

void print_geometry(FILE *stream, const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	if (table->kind == BALEEN_KIND_QUOTIENT)
		print_quotient(stream, filter, domain);
	else if (baleen_kind_has_chains(table->kind))
		print_chains(stream, filter, domain);
	else if (baleen_table_is_bit_array(table))
		print_plane(stream, filter, domain);
	else
		print_slots(stream, filter, domain);
	print_form(stream, filter, domain);
	if (baleen_table_is_bit_array(table) && !is_uncounted_table(filter, domain))
		print_estimate(stream, filter, domain);
	if (has_copies(filter))
		fputs("copies count, ", stream);
}
