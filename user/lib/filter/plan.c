// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a count and an error rate to the geometry of a table, and back. */
#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "filter/kind.h"
#include "filter/plan.h"

int baleen_plan_too_many(u64 n, struct baleen_error *error)
{
	return baleen_fail(error, E2BIG, "%llu keys are too many for one filter",
			   (unsigned long long)n);
}

/* Texts are hashed without a secret where a seed or a form of the hash is asked for, and in
 * kinds that otherwise have a hash of their own.
 */
static int find_form(u32 key_spec, u32 kind, struct baleen_shape *shape, struct baleen_error *error)
{
	bool is_plane = kind == BALEEN_KIND_CLASSIC || kind == BALEEN_KIND_COUNTING;
	bool is_murmur =
		shape->hash == BALEEN_HASH_MURMUR3 || shape->hash == BALEEN_HASH_MURMUR3_FNV1A;
	bool is_bip37 = shape->hash == BALEEN_HASH_BIP37;
	bool is_xor = shape->form & BALEEN_FORM_XOR;
	bool has_form = shape->form || shape->has_hash_seed;

	if (key_spec == BALEEN_KEY_FINGERPRINT) {
		if (kind != BALEEN_KIND_QUOTIENT || shape->hash || has_form)
			return baleen_fail(error, EINVAL,
					   "fingerprints are keys of --kind quotient, and their "
					   "own hash");
		shape->form = BALEEN_FORM_PUBLIC;
		return 0;
	}
	if (!has_form && !is_bip37 && (is_plane || !shape->hash))
		return 0;
	if (key_spec != BALEEN_KEY_STRING)
		return baleen_fail(error, EINVAL,
				   "a hash with a form or a seed, and that of BIP 37, are for "
				   "strings: --key string");
	if (is_xor && kind == BALEEN_KIND_CUCKOO && !shape->hash)
		shape->hash = BALEEN_HASH_MURMUR3;
	if (is_plane ?
		    !is_murmur && !is_bip37 :
		    shape->hash != BALEEN_HASH_MURMUR3 || (kind != BALEEN_KIND_QUOTIENT &&
							   kind != BALEEN_KIND_COMPACT && !is_xor))
		return baleen_fail(error, EINVAL,
				   "a table of kind %s has no such hash: --hash murmur3",
				   baleen_kind_name(kind));
	if (is_bip37 && shape->form & BALEEN_FORM_QUOTED)
		return baleen_fail(error, EINVAL, "BIP 37 has no quotes");
	if (shape->form & BALEEN_FORM_QUOTED && shape->form & BALEEN_FORM_HEX)
		return baleen_fail(error, EINVAL, "a text is quoted or hexadecimal, not both");
	shape->form |= BALEEN_FORM_PUBLIC | (is_bip37 || is_xor ? BALEEN_FORM_UNSIGNED : 0);
	return 0;
}

int baleen_shape_for_keys(u32 key_spec, u32 kind, struct baleen_shape *shape,
			  struct baleen_error *error)
{
	bool is_squid = key_spec == BALEEN_KEY_SQUID;
	bool has_hash = kind == BALEEN_KIND_CLASSIC || kind == BALEEN_KIND_COUNTING;

	if (shape->hash == BALEEN_HASH_SQUID && !is_squid)
		return baleen_fail(error, EINVAL,
				   "the hash squid is for keys of Squid: --key squid");
	if (is_squid && shape->hash > BALEEN_HASH_KEYED && shape->hash != BALEEN_HASH_SQUID)
		return baleen_fail(error, EINVAL,
				   "murmur3 hashes addresses and strings, not keys of Squid");
	if (shape->is_blocked && kind == BALEEN_KIND_CLASSIC)
		return baleen_fail(error, EINVAL,
				   "a classic filter is not blocked: --kind bloom is");
	if (is_squid && has_hash && !shape->hash && !shape->is_blocked)
		shape->hash = BALEEN_HASH_SQUID;
	return find_form(key_spec, kind, shape, error);
}

double baleen_hash_rate(u32 domain, u32 kind, u64 n, const struct baleen_shape *shape)
{
	bool is_plane = kind == BALEEN_KIND_CLASSIC || kind == BALEEN_KIND_COUNTING;
	u32 bits = shape->form ? BALEEN_FORM_BITS : 64;

	if ((domain != BALEEN_IP6 && domain != BALEEN_TUPLE) ||
	    (is_plane && shape->hash > BALEEN_HASH_KEYED))
		return 0;
	return -expm1(-ldexp(n, -(int)bits));
}

static int check_rate(u32 domain, u64 n, double fpp, const struct baleen_table *table,
		      struct baleen_error *error)
{
	struct baleen_image image = { 0 };
	double rate;

	image.table[domain] = *table;
	rate = baleen_table_fpp(&image, domain, n);
	/* Next to it, where sums of the same come out otherwise. */
	if (!fpp || rate <= fpp * (1 + 1e-6))
		return 0;
	return baleen_fail(error, EINVAL,
			   "in this shape the false positive rate is %.2g, more than %g", rate,
			   fpp);
}

int baleen_plan_shaped(u32 domain, u32 kind, u64 n, double fpp, const struct baleen_shape *shape,
		       struct baleen_table *table, struct baleen_error *error)
{
	static const struct baleen_shape any;
	const struct baleen_kind_ops *ops = baleen_kind_ops(kind);
	struct baleen_table planned;
	double most;
	int err;

	if (!ops->plan)
		return baleen_fail(error, EINVAL, "no plan is made of tables of kind %s",
				   baleen_kind_name(kind));
	if (!(fpp >= 0 && fpp < 1))
		return baleen_fail(error, EINVAL, "a false positive rate is 0 or more, below 1");
	/* Far above what any geometry holds, so that nothing below overflows. */
	if (n > (u64)BALEEN_MAX_BLOCKS * BALEEN_BLOCK_BYTES)
		return baleen_plan_too_many(n, error);
	if (!shape)
		shape = &any;
	most = fpp ? fpp : shape->most_fpp;
	if (most && baleen_hash_rate(domain, kind, n, shape) > most)
		return baleen_fail(error, EINVAL,
				   "%g is out of reach: hashes of %d bits err at %.2g", most,
				   shape->form ? BALEEN_FORM_BITS : 64,
				   baleen_hash_rate(domain, kind, n, shape));
	err = ops->plan(domain, n, fpp, shape, &planned, error);
	if (!err)
		err = check_rate(domain, n, most, &planned, error);
	if (!err)
		*table = planned;
	return err;
}

int baleen_plan_table(u32 domain, u32 kind, u64 n, double fpp, struct baleen_table *table,
		      struct baleen_error *error)
{
	return baleen_plan_shaped(domain, kind, n, fpp, NULL, table, error);
}

int baleen_tables_place(struct baleen_image *image, struct baleen_error *error)
{
	u64 next = BALEEN_HEADER_BLOCKS;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		struct baleen_table *table = &image->table[domain];

		if (table->kind == BALEEN_KIND_NONE)
			continue;
		if (table->n_blocks > BALEEN_MAX_BLOCKS - next)
			return baleen_fail(error, E2BIG, "too many keys for one filter");
		table->first_block = next;
		if (baleen_table_has_groups(table))
			table->leaf_block = baleen_table_leaf_block(table);
		next += table->n_blocks;
	}
	image->n_blocks = next;
	return 0;
}

u64 baleen_table_capacity(const struct baleen_table *table)
{
	const struct baleen_kind_ops *ops = baleen_kind_ops(table->kind);

	return ops->capacity ? ops->capacity(table) : UINT64_MAX;
}

bool baleen_table_is_exact(const struct baleen_image *image, u32 domain)
{
	const struct baleen_table *table = &image->table[domain];
	const struct baleen_kind_ops *ops = baleen_kind_ops(table->kind);

	if (table->kind == BALEEN_KIND_NONE)
		return false;
	if (table->kind == BALEEN_KIND_PREFIXES)
		return !image->prefix_lengths[1];
	return !ops->fpp || (ops->is_exact && ops->is_exact(table, domain));
}

bool baleen_image_is_exact(const struct baleen_image *image)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (image->table[domain].kind != BALEEN_KIND_NONE &&
		    !baleen_table_is_exact(image, domain))
			return false;
	return true;
}

double baleen_table_fpp(const struct baleen_image *image, u32 domain, u64 n)
{
	const struct baleen_table *table = &image->table[domain];
	struct baleen_shape shape = { .form = table->form, .hash = table->hash };

	if (table->kind == BALEEN_KIND_NONE || baleen_table_is_exact(image, domain))
		return 0;
	return fmax(baleen_kind_ops(table->kind)->fpp(table, domain, n),
		    baleen_hash_rate(domain, table->kind, n, &shape));
}

double baleen_image_fpp(const struct baleen_image *image)
{
	double worst = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *table = &image->table[domain];
		u64 n = table->kind == BALEEN_KIND_PREFIXES ?
				(u64)table->n_buckets * BALEEN_BUCKET_SLOTS :
				table->n_entries;

		worst = fmax(worst, baleen_table_fpp(image, domain, n));
	}
	return worst;
}
