// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How often a key is in a filter of which copies count. */
#include <errno.h>

#include <baleen/counting.h>
#include <baleen/image_check.h>

#include "filter/copies.h"
#include "filter/kind.h"
#include "filter/plan.h"

static int check_table(const struct baleen_image *image, u32 domain, struct baleen_error *error)
{
	u32 kind = image->table[domain].kind;

	if (kind == BALEEN_KIND_NONE || kind == BALEEN_KIND_COUNTING)
		return 0;
	if (!baleen_kind_has_keys(kind))
		return baleen_fail(error, EOPNOTSUPP,
				   "it has prefixes, of which copies do not count");
	if (!baleen_kind_ops(kind)->copies)
		return baleen_fail(error, EOPNOTSUPP,
				   "kind %s does not know how often a key is in it: counting does, "
				   "and cuckoo and quotient with --copies",
				   baleen_kind_name(kind));
	if (!(image->flags & BALEEN_FLAG_COPIES))
		return baleen_fail(error, EOPNOTSUPP,
				   "each key is in it once: build it with --copies");
	return 0;
}

int baleen_copies_check(const struct baleen_image *image, struct baleen_error *error)
{
	int err = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS && !err; domain++)
		err = check_table(image, domain, error);
	return err;
}

enum baleen_copies_bound baleen_copies_of(const struct baleen_filter *filter,
					  const struct baleen_key *key, u64 *n)
{
	u32 kind = filter->image.table[key->domain].kind;

	*n = kind == BALEEN_KIND_NONE ? 0 : baleen_kind_ops(kind)->copies(filter, key);
	if (kind == BALEEN_KIND_COUNTING && *n == BALEEN_COUNTER_MAX)
		return BALEEN_COPIES_AT_LEAST;
	return kind == BALEEN_KIND_NONE || baleen_table_is_exact(&filter->image, key->domain) ?
		       BALEEN_COPIES_EXACT :
		       BALEEN_COPIES_AT_MOST;
}
