// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Says by which command what was refused, or stays, can be had. */
#include <stdio.h>

#include "cli/ban/ban.h"
#include "util/shell.h"

/* Prefixes that are named at the most. */
#define MAX_SUGGESTED 20

int suggest_exception(const char *target, const char *key)
{
	char exception[1 + BALEEN_RULE_ENTRY_TEXT];

	snprintf(exception, sizeof(exception), "!%s", key);
	return complain("%s: \"baleen add %s %s\" takes out what lists and shorter prefixes hold",
			target, baleen_shell_word(target).text, baleen_shell_word(exception).text);
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
			baleen_shell_word(baleen_entry_key_text(&change->entry.key).text).text,
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
