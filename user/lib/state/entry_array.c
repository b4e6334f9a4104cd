// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entries that wait for something. */
#include <errno.h>

#include "state/entry_array.h"
#include "util/array.h"

int baleen_entry_array_keep(const struct baleen_rule_entry *entry, void *array)
{
	struct baleen_entry_array *to = array;

	if (baleen_array_add(&to->entry, to->n))
		return -ENOMEM;
	to->entry[to->n++] = *entry;
	return 0;
}
