// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The last step of reading a list: its entries become a set. */
#include <stdlib.h>

#include "list/list_set.h"
#include "list/list_sort.h"

static int strings_finish(struct baleen_list *list)
{
	u64 n = list->strings.n;
	int err = baleen_strings_unique(&list->strings);

	list->n_covered += n - list->strings.n;
	return err;
}

static void keys_finish(struct baleen_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n_key; i++)
		if (!kept || baleen_key_compare(&list->key[kept - 1], &list->key[i]))
			list->key[kept++] = list->key[i];
	list->n_covered += list->n_key - kept;
	list->n_key = kept;
}

int baleen_list_finish(struct baleen_list *list)
{
	struct baleen_set4 set4;
	int err;

	if (list->keeps_copies && !list->n_prefix4 && !list->n_prefix6) {
		baleen_list_sort(list);
		return 0;
	}
	if (list->strings.n)
		return strings_finish(list);
	baleen_list_sort(list);
	err = baleen_set4_make(list, &set4);
	if (err)
		return err;
	err = baleen_set6_reserve(list);
	if (err) {
		free(set4.net4);
		return err;
	}
	baleen_set4_commit(list, &set4);
	baleen_set6_make(list);
	keys_finish(list);
	return 0;
}
