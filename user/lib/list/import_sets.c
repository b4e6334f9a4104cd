// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sets that a file to be imported has, for the choice of one. */
#include <errno.h>
#include <stdio.h>

#include "list/import_sets.h"

void baleen_import_sets_add(struct baleen_import_sets *sets, const char *name, bool is_named)
{
	size_t room = sizeof(sets->names) - sets->used;

	sets->n_named += is_named;
	if (sets->used < sizeof(sets->names))
		sets->used +=
			snprintf(sets->names + sets->used, room, "%s%s", sets->n ? ", " : "", name);
	sets->n++;
}

int baleen_import_sets_choose(const struct baleen_import_sets *sets, const char *wanted,
			      const char *file, struct baleen_error *error)
{
	const char *more = sets->used < sizeof(sets->names) ? "" : "...";

	if (!sets->n)
		return baleen_fail(error, ENOENT, "%s: no set in it", file);
	if (!sets->n_named)
		return baleen_fail(error, ENOENT, "%s: no set '%s': there are %s%s", file, wanted,
				   sets->names, more);
	if (sets->n_named > 1)
		return baleen_fail(error, EINVAL, "%s: %u sets%s%s%s: choose one of %s%s", file,
				   sets->n_named, wanted ? " '" : "", wanted ?: "",
				   wanted ? "'" : "", sets->names, more);
	return 0;
}
