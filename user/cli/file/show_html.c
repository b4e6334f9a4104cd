// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables of a filter as a page, with each step by which keys are looked up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/page.h"
#include "cli/file/show.h"

/* One table of the filter, and the keys as it is asked for them. */
struct shown_table {
	struct picture picture;
	struct picture_key *keys;
};

static int add_table(struct page *page, struct shown_table *shown, const struct picture *picture,
		     u32 domain)
{
	size_t n_bytes = picture->n_keys * sizeof(*shown->keys);

	shown->keys = malloc(n_bytes + 1);
	if (!shown->keys)
		return -ENOMEM;
	memcpy(shown->keys, picture->keys, n_bytes);
	shown->picture = *picture;
	shown->picture.keys = shown->keys;
	picture_turn_to(&shown->picture, domain);
	page_add_table(page, &shown->picture, NULL);
	return 0;
}

static void look_up_keys(struct page *page, const struct shown_table *tables, u32 n_keys)
{
	page_step(page, true, "the filter", NULL, 0, NULL);
	for (u32 i = 0; i < n_keys; i++)
		for (u32 k = 0; k < page->n_tables; k++)
			if (tables[k].keys[i].is_asked)
				page_look_up(page, k, &tables[k].picture, &tables[k].keys[i]);
}

int show_html(const struct picture *picture, const char *title, json_t *description)
{
	struct shown_table tables[BALEEN_N_DOMAINS] = { 0 };
	struct page page;
	int err = 0;

	page_init(&page);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS && !err; domain++)
		if (picture->filter->image.table[domain].kind != BALEEN_KIND_NONE)
			err = add_table(&page, &tables[page.n_tables], picture, domain);
	if (err) {
		json_decref(description);
		err = complain("%s", strerror(-err));
	} else {
		look_up_keys(&page, tables, picture->n_keys);
		err = page_print(&page, title, json_pack("{s[o]}", "show", description));
	}
	page_free(&page);
	for (u32 i = 0; i < BALEEN_N_DOMAINS; i++)
		free(tables[i].keys);
	return err;
}
