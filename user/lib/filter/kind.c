// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of kinds: the functions of each. */
#include <string.h>

#include <baleen/image_check.h>

#include "filter/kind.h"

static const struct baleen_kind_ops none_ops;

static const struct baleen_kind_ops *const ops_of[BALEEN_N_KINDS] = {
	[BALEEN_KIND_NONE] = &none_ops,
	[BALEEN_KIND_CUCKOO] = &baleen_cuckoo_ops,
	[BALEEN_KIND_BLOOM] = &baleen_bloom_ops,
	[BALEEN_KIND_DIRECTORY] = &baleen_directory_ops,
	[BALEEN_KIND_PREFIXES] = &baleen_prefixes_ops,
	[BALEEN_KIND_ENTRIES] = &baleen_entries_ops,
	[BALEEN_KIND_CLASSIC] = &baleen_classic_ops,
	[BALEEN_KIND_COUNTING] = &baleen_counting_ops,
	[BALEEN_KIND_QUOTIENT] = &baleen_quotient_ops,
	[BALEEN_KIND_TREE] = &baleen_directory_ops,
	[BALEEN_KIND_CHAINED] = &baleen_chained_ops,
	[BALEEN_KIND_COMPACT] = &baleen_compact_ops,
};

const struct baleen_kind_ops *baleen_kind_ops(u32 kind)
{
	return kind < BALEEN_N_KINDS ? ops_of[kind] : &none_ops;
}

u32 baleen_kind_find(const char *name)
{
	for (u32 kind = 0; kind < BALEEN_N_KINDS; kind++)
		if (baleen_kind_has_keys(kind) && !strcmp(baleen_kind_name(kind), name))
			return kind;
	return BALEEN_KIND_NONE;
}
