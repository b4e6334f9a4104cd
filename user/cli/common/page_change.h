/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes of a filter, key by key, as the steps of a page.
 *
 * The page shows a copy of the filter that is one step behind the other: each step is made in it,
 * and drawn. Of a large table it draws the rows that some key is about.
 */
#ifndef BALEEN_CLI_PAGE_CHANGE_H
#define BALEEN_CLI_PAGE_CHANGE_H

#include "cli/common/page.h"
#include "filter/steps.h"

/**
 * struct page_change - a page of changes; all members are its own
 */
struct page_change {
	struct page page;
	enum baleen_set_op op;
	struct baleen_filter shown;
	struct baleen_filter before;
	struct picture picture[BALEEN_N_DOMAINS];
	struct picture_key key;
	u32 table[BALEEN_N_DOMAINS];
	bool *is_wanted[BALEEN_N_DOMAINS];
	bool *is_before;
	bool is_begun;
};

/* A page that begins with @start. @base: of the numbers in slots, see struct picture. 0, or
 * -ENOMEM; page_change_free() is due in any case. */
int page_change_init(struct page_change *change, const struct baleen_filter *start,
		     enum baleen_set_op op, u32 base);

/* Rows of these steps of a key are to be drawn; before the first page_change_key(). */
void page_change_want(struct page_change *change, const struct picture_key *key,
		      const struct baleen_steps *steps);

/* The steps of a key, which have led to @after. @key->where is from before. */
void page_change_key(struct page_change *change, const struct picture_key *key,
		     const struct baleen_steps *steps, const struct baleen_filter *after);

/* Prints the page, as page_print(). */
int page_change_print(struct page_change *change, const char *title, json_t *data);

void page_change_free(struct page_change *change);

#endif /* BALEEN_CLI_PAGE_CHANGE_H */
