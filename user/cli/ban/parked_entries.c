// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whoever unbans an address does not want it back with a rule that comes again. */
#include "cli/ban/unban_parked.h"
#include "state/parked.h"

static int unban_key(struct baleen_rule_entry *entry, bool quiet, size_t *n)
{
	struct baleen_scopes taken = { 0 };
	struct baleen_error error;

	entry->origin[0] = '\0';
	if (baleen_parked_remove(entry, &taken, &error))
		return complain("%s", error.text);
	for (size_t i = 0; i < taken.n && !quiet; i++)
		say("%s: %s deleted; it was parked: the rule is not there\n", taken.scope[i].name,
		    baleen_entry_key_text(&entry->key).text);
	*n += taken.n;
	baleen_scopes_free(&taken);
	return 0;
}

/* An address of IPv6 was banned alone, or with what its host has. */
int unban_parked(const char *address, const struct entry_options *options, bool quiet, size_t *n)
{
	static const u32 widths[] = { BALEEN_BAN_WIDTH, BALEEN_BAN_WIDTH_MAX };
	struct baleen_rule_entry entry;
	struct baleen_error error;
	bool is_widened = true;

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]) && is_widened; i++) {
		if (entry_make(address, BALEEN_KEY_SRC, widths[i], options, &entry, &is_widened,
			       &error))
			return complain("%s", error.text);
		if (unban_key(&entry, quiet, n))
			return EXIT_FAILED;
	}
	return 0;
}
