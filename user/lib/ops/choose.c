// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kind of filter that fits what is needed of it. */
#include <errno.h>
#include <stdio.h>

#include "ops/choose.h"
#include "ops/layout.h"

static const char *const need_names[BALEEN_N_NEEDS] = { "delete", "merge", "resize" };

/**
 * struct candidate - a kind in one way
 * @kind: enum baleen_kind
 * @way: the way
 * @n_blocks: blocks of the filter
 * @error: why it cannot be planned; empty where the plan cannot do what is needed
 */
struct candidate {
	u32 kind;
	struct baleen_way way;
	u64 n_blocks;
	struct baleen_error error;
};

/* --- needs ------------------------------------------------------------------ */

const char *baleen_need_name(u32 i)
{
	return need_names[i];
}

static u32 need_of(const char *word, size_t length)
{
	for (u32 i = 0; i < BALEEN_N_NEEDS; i++)
		if (strlen(need_names[i]) == length && !memcmp(need_names[i], word, length))
			return 1u << i;
	return 0;
}

int baleen_needs_parse(const char *text, u32 *needs)
{
	u32 all = 0;

	for (;;) {
		size_t length = strcspn(text, ",");
		u32 one = need_of(text, length);

		if (!one)
			return -EINVAL;
		all |= one;
		if (!text[length])
			break;
		text += length + 1;
	}
	*needs = all;
	return 0;
}

u32 baleen_table_can(const struct baleen_image *image, u32 domain)
{
	const struct baleen_table *table = &image->table[domain];
	const u32 all = BALEEN_NEED_DELETE | BALEEN_NEED_MERGE | BALEEN_NEED_RESIZE;
	bool is_whole = baleen_table_tells_apart(table, domain);

	switch (table->kind) {
	case BALEEN_KIND_CUCKOO:
		/* Whole keys or whole hashes can be put elsewhere, and are of one key. */
		if (is_whole)
			return all;
		return image->flags & BALEEN_FLAG_COPIES ? BALEEN_NEED_DELETE : 0;
	case BALEEN_KIND_BLOOM:
	case BALEEN_KIND_CLASSIC: return BALEEN_NEED_MERGE;
	case BALEEN_KIND_COUNTING: return BALEEN_NEED_DELETE | BALEEN_NEED_MERGE;
	case BALEEN_KIND_QUOTIENT:
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT:
		return is_whole || image->flags & BALEEN_FLAG_COPIES ?
			       all :
			       BALEEN_NEED_MERGE | BALEEN_NEED_RESIZE;
	default: return 0;
	}
}

/* --- choice ----------------------------------------------------------------- */

static bool image_can(const struct baleen_image *image, u32 needs)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (image->table[domain].kind != BALEEN_KIND_NONE &&
		    (baleen_table_can(image, domain) & needs) != needs)
			return false;
	return true;
}

/* Plans a filter of this kind; false when it cannot be or cannot do it. */
static bool try_kind(const struct baleen_list *list, const struct baleen_build_options *options,
		     u32 needs, struct candidate *candidate)
{
	struct baleen_build_options wanted = *options;
	struct baleen_layout parts;
	struct baleen_image image;
	struct baleen_error *error = &candidate->error;
	bool fits = false;

	*error->text = '\0';
	wanted.kind = candidate->kind;
	wanted.fpp = candidate->way.fpp;
	wanted.copies = candidate->way.copies;
	wanted.shape.may_err = candidate->way.may_err;
	wanted.shape.most_fpp = options->fpp;
	/* Hosts beside prefixes stay exact: copies of prefixes do not count. */
	if (candidate->way.may_err && list->n_net4)
		return false;
	if (!baleen_layout_make(list, &wanted, &parts, error))
		fits = !baleen_layout_plan(&parts, &wanted, wanted.fpp, &image, error) &&
		       image_can(&image, needs);
	baleen_layout_free(&parts);
	if (fits)
		candidate->n_blocks = image.n_blocks;
	return fits;
}

static bool has_slots(u32 kind)
{
	return kind == BALEEN_KIND_CUCKOO || kind == BALEEN_KIND_QUOTIENT;
}

u32 baleen_ways(u32 kind, u32 needs, struct baleen_way asked, struct baleen_way *ways)
{
	ways[0] = asked;
	if (!needs || !has_slots(kind))
		return 1;
	ways[1] = (struct baleen_way){ .fpp = asked.fpp, .copies = true, .may_err = true };
	ways[2] = (struct baleen_way){ .copies = asked.copies };
	return asked.fpp ? 3 : 2;
}

/* The smallest way in which a kind can do what is needed; else the error of the first way. */
static bool try_ways(const struct baleen_list *list, const struct baleen_build_options *options,
		     u32 needs, struct candidate *best)
{
	const struct baleen_way asked = { .fpp = options->fpp, .copies = options->copies };
	struct candidate tried = { .kind = best->kind };
	struct baleen_way ways[BALEEN_MAX_WAYS];
	u32 n = baleen_ways(best->kind, needs, asked, ways);
	bool is_found = false;

	for (u32 i = 0; i < n; i++) {
		bool fits;

		tried.way = ways[i];
		fits = try_kind(list, options, needs, &tried);
		if (!i || (fits && (!is_found || tried.n_blocks < best->n_blocks)))
			*best = tried;
		is_found |= fits;
	}
	return is_found;
}

static void needs_text(u32 needs, char *text)
{
	*text = '\0';
	for (u32 i = 0; i < BALEEN_N_NEEDS; i++)
		if (needs & 1u << i)
			sprintf(text + strlen(text), "%s%s", *text ? ", " : "", need_names[i]);
}

static void note_smallest(const struct candidate *all, u32 n, const struct candidate *best,
			  u32 needs, double fpp, struct baleen_choice *choice)
{
	char can[64], rate[64] = "";
	size_t length;

	needs_text(needs, can);
	if (fpp)
		snprintf(rate, sizeof(rate), " at a false positive rate of %g", fpp);
	length = snprintf(choice->why, sizeof(choice->why),
			  "%s%s is the smallest%s%s%s:", baleen_kind_name(best->kind),
			  has_slots(best->kind) && best->way.copies ? " with copies" : "", rate,
			  needs ? " that can " : "", can);
	for (u32 i = 0; i < n && length < sizeof(choice->why); i++)
		length += snprintf(choice->why + length, sizeof(choice->why) - length,
				   "%s %s %llu bytes", i ? "," : "", baleen_kind_name(all[i].kind),
				   (unsigned long long)all[i].n_blocks * BALEEN_BLOCK_BYTES);
}

static bool is_one(u32 kinds)
{
	return !(kinds & (kinds - 1));
}

/* With the reason of the first kind that has one. */
static int refuse(u32 kinds, u32 needs, const struct candidate *first, struct baleen_error *error)
{
	const char *why = first->error.text;
	char can[64];

	needs_text(needs, can);
	return baleen_fail(error, EINVAL,
			   "%s cannot be had in this shape, at this rate%s%s%s%s%s%s",
			   is_one(kinds) ? baleen_kind_name(baleen_log2(kinds)) : "a filter",
			   needs ? ", able to " : "", can, *why && !is_one(kinds) ? ": " : "",
			   *why && !is_one(kinds) ? baleen_kind_name(first->kind) : "",
			   *why ? ": " : "", why);
}

static int choose_smallest(const struct baleen_list *list,
			   const struct baleen_build_options *options, u32 kinds, u32 needs,
			   struct baleen_choice *choice, struct baleen_error *error)
{
	struct candidate all[BALEEN_N_KINDS], first = { 0 }, *best = NULL;
	u32 n = 0;

	for (u32 kind = 0; kind < BALEEN_N_KINDS; kind++) {
		struct candidate *candidate = &all[n];

		candidate->kind = kind;
		if (!(kinds & 1u << kind))
			continue;
		if (!try_ways(list, options, needs, candidate)) {
			if (!*first.error.text)
				first = *candidate;
			continue;
		}
		n++;
		if (!best || candidate->n_blocks < best->n_blocks)
			best = candidate;
	}
	if (!best)
		return refuse(kinds, needs, &first, error);
	choice->kind = best->kind;
	choice->fpp = best->way.fpp;
	choice->copies = best->way.copies;
	choice->may_err = best->way.may_err;
	note_smallest(all, n, best, needs, options->fpp, choice);
	return 0;
}

int baleen_choose(const struct baleen_list *list, const struct baleen_build_options *options,
		  u32 kinds, u32 needs, struct baleen_choice *choice, struct baleen_error *error)
{
	const char *why = NULL;

	if (!(kinds & 1u << BALEEN_KIND_CUCKOO) || (needs && is_one(kinds)))
		return choose_smallest(list, options, kinds, needs, choice, error);
	if (is_one(kinds))
		why = "cuckoo is the kind that can do what was asked for";
	else if (!options->fpp)
		why = "cuckoo errs least, and not at all with keys of up to 64 bits and IPv4";
	else if (!needs && (list->n_ip4 || list->n_net4))
		why = "cuckoo has IPv4 addresses exactly, whatever rate is allowed";
	if (!why)
		return choose_smallest(list, options, kinds & ~(1u << BALEEN_KIND_CLASSIC), needs,
				       choice, error);
	choice->kind = BALEEN_KIND_CUCKOO;
	choice->fpp = options->fpp;
	choice->copies = options->copies;
	choice->may_err = false;
	snprintf(choice->why, sizeof(choice->why), "%s", why);
	return 0;
}
