// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Says by which command what was refused, or stays, can be had. */
#include <stdio.h>

#include "cli/ban/ban.h"
#include "util/shell.h"

/* Prefixes that are named at the most. */
#define MAX_SUGGESTED 20

int suggest_exception(const char *target, const struct baleen_rule_entry *entry)
{
	struct baleen_rule_entry exception = { .key = entry->key, .is_exception = true };

	baleen_entry_key_fit(&exception.key, 128);
	return complain("%s: \"baleen add %s %s\" takes out what lists and shorter prefixes hold",
			target, baleen_shell_word(target).text,
			baleen_shell_word(baleen_rule_entry_text(&exception).text).text);
}

int suggest_word(const struct baleen_rule_entry_change *change, const char *command,
		 const char *target)
{
	const char *word = change->answer == BALEEN_GATE_COVERS ? "--narrow" :
			   change->answer == BALEEN_GATE_WIDE ||
					   change->answer == BALEEN_GATE_COVERAGE ||
					   change->answer == BALEEN_GATE_FULL ?
								  "--force" :
								  NULL;

	if (!word)
		return EXIT_FAILED;
	return complain("'baleen %s %s%s%s %s' %s", command, word, target ? " " : "",
			target ? baleen_shell_word(target).text : "",
			baleen_shell_word(baleen_rule_entry_asked_text(&change->entry).text).text,
			change->answer == BALEEN_GATE_COVERS ? "leaves that out" : "takes it");
}

int suggest_narrow(const struct entries *entries, const char *command, const char *target)
{
	size_t n = 0;

	for (size_t i = 0; i < entries->n && n < MAX_SUGGESTED; i++) {
		struct baleen_rule_entry_change wide = entries->change[i];

		wide.answer = BALEEN_GATE_COVERS;
		if (!wide.entry.is_exception && !baleen_entry_key_is_alone(&wide.entry.key) && ++n)
			suggest_word(&wide, command, target);
	}
	return EXIT_FAILED;
}
