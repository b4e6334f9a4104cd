// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Can two filters be combined? */
#include <errno.h>

#include "filter/estimate.h"
#include "filter/compat.h"
#include "filter/kind.h"
#include "key/key_spec.h"

typedef unsigned long long ull;

/* With both numbers, where they differ. */
static int fit_numbers(u64 a, u64 b, const char *before, const char *behind, const char *a_name,
		       struct baleen_error *error)
{
	if (a == b)
		return 0;
	return baleen_fail(error, EOPNOTSUPP, "%s%llu %s, %s has %llu", before, (ull)b, behind,
			   a_name, (ull)a);
}

int baleen_compat_keys(const struct baleen_image *a, const struct baleen_image *b,
		       const char *a_name, struct baleen_error *error)
{
	char a_spec[BALEEN_KEY_SPEC_TEXT], b_spec[BALEEN_KEY_SPEC_TEXT];
	bool a_copies = a->flags & BALEEN_FLAG_COPIES, b_copies = b->flags & BALEEN_FLAG_COPIES;

	if (a->key_spec != b->key_spec)
		return baleen_fail(error, EINVAL, "key %s, %s has %s",
				   baleen_key_spec_text(b->key_spec, b_spec), a_name,
				   baleen_key_spec_text(a->key_spec, a_spec));
	if (a_copies != b_copies)
		return baleen_fail(error, EINVAL, "%s, %s has %s",
				   b_copies ? "copies of a key count" : "each key once", a_name,
				   a_copies ? "copies" : "each once");
	return 0;
}

int baleen_compat_seeds(const struct baleen_image *a, const struct baleen_image *b,
			const char *a_name, struct baleen_error *error)
{
	if (!memcmp(a->seed.word, b->seed.word, sizeof(a->seed.word)))
		return 0;
	return baleen_fail(error, EOPNOTSUPP,
			   "seed %016llx..., %s has %016llx...: build one --like the other",
			   (ull)b->seed.word[0], a_name, (ull)a->seed.word[0]);
}

static int fit_bits(const struct baleen_table *a, const struct baleen_table *b, const char *a_name,
		    struct baleen_error *error)
{
	int err = 0;

	if (a->hash != b->hash)
		return baleen_fail(error, EOPNOTSUPP, "hash %s, %s has %s",
				   baleen_hash_name(b->hash), a_name, baleen_hash_name(a->hash));
	err = fit_numbers(a->n_hashes, b->n_hashes, "", "hashes", a_name, error);
	return err ? err :
		     fit_numbers(baleen_table_bits(a), baleen_table_bits(b), "", "bits", a_name,
				 error);
}

static int fit_slots(const struct baleen_table *a, const struct baleen_table *b, const char *a_name,
		     struct baleen_error *error)
{
	int err = fit_numbers(a->slot_bits, b->slot_bits, "slots of ", "bits", a_name, error);

	if (!err && baleen_table_is_packed(a) != baleen_table_is_packed(b))
		return baleen_fail(error, EOPNOTSUPP, "buckets %spacked, those of %s %s",
				   baleen_table_is_packed(b) ? "" : "not ", a_name,
				   baleen_table_is_packed(a) ? "are" : "are not");
	if (!err && baleen_table_is_semi_sorted(a) != baleen_table_is_semi_sorted(b))
		return baleen_fail(error, EOPNOTSUPP, "buckets %ssemi-sorted, those of %s %s",
				   baleen_table_is_semi_sorted(b) ? "" : "not ", a_name,
				   baleen_table_is_semi_sorted(a) ? "are" : "are not");
	if (!err)
		err = fit_numbers(baleen_bucket_slots(a), baleen_bucket_slots(b), "",
				  "slots a bucket", a_name, error);
	return err ? err : fit_numbers(a->n_buckets, b->n_buckets, "", "buckets", a_name, error);
}

static bool has_seed(const struct baleen_table *table)
{
	return table->form || !baleen_table_is_bit_array(table) ||
	       table->hash == BALEEN_HASH_BLOCKED || table->hash == BALEEN_HASH_KEYED;
}

int baleen_compat_tables(const struct baleen_image *a, const struct baleen_image *b, u32 domain,
			 const char *a_name, struct baleen_error *error)
{
	const struct baleen_table *x = &a->table[domain], *y = &b->table[domain];
	int err = 0;

	if (x->kind != y->kind)
		return baleen_fail(error, EOPNOTSUPP, "kind %s, %s has %s",
				   baleen_kind_name(y->kind), a_name, baleen_kind_name(x->kind));
	if (x->form & BALEEN_FORM_XOR)
		return baleen_fail(
			error, EOPNOTSUPP,
			"%s has partners by XOR, which do not merge: build it again from "
			"the lists",
			a_name);
	if (x->form != y->form)
		return baleen_fail(error, EOPNOTSUPP, "%s hashes texts in another form", a_name);
	if (baleen_table_is_bit_array(x))
		err = fit_bits(x, y, a_name, error);
	else if (baleen_kind_has_chains(x->kind))
		err = fit_numbers(x->slot_bits, y->slot_bits, "values of ", "bits", a_name, error);
	else if (x->kind == BALEEN_KIND_QUOTIENT)
		err = fit_numbers(x->log2_buckets + x->slot_bits, y->log2_buckets + y->slot_bits,
				  "fingerprints of ", "bits", a_name, error);
	else if (!baleen_table_keeps_hashes(x, domain) || !baleen_table_keeps_hashes(y, domain))
		err = fit_slots(x, y, a_name, error);
	return err || !has_seed(x) ? err : baleen_compat_seeds(a, b, a_name, error);
}
