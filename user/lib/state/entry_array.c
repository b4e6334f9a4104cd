// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entries that wait for something. */
#include <errno.h>

#include "state/entries.h"
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

int baleen_entry_array_meant(struct baleen_entry_array *array,
			     const struct baleen_rule_store *state, const char *rule,
			     const struct baleen_rule_entry *entry, struct baleen_error *error)
{
	const char *origin = entry->origin[0] ? entry->origin : NULL;
	int err = baleen_entry_array_keep(entry, array);

	if (!err)
		err = baleen_rule_entries_lone(state, rule, entry, origin, baleen_entry_array_keep,
					       array, error);
	return err == -ENOMEM ? baleen_no_memory(error) : err;
}
