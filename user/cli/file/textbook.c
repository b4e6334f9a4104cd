// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen help textbook: the commands of baleen-textbook(7). */
#include <ctype.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/file/textbook.h"

/**
 * struct section - a section of the page that has commands
 * @title: its title
 * @commands: they, a line each, behind those of the sections that it needs
 */
struct section {
	const char *title;
	const char *commands;
};

/* Made by user/cli/file/textbook.awk of the page. */
static const struct section sections[] = {
#include "textbook.inc"
};

#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))
#define WANTED_TEXT 128

/* The number 1 is not in "Algorithm 10", nor in "Algorithm 1.2". */
static bool has_title(const struct section *section, const char *wanted)
{
	size_t length = strlen(wanted);

	for (const char *at = section->title; length && (at = strcasestr(at, wanted)); at++) {
		bool is_part = isalnum((u8)at[length]) ||
			       (at[length] == '.' && isdigit((u8)at[length + 1]));

		if (!is_part)
			return true;
	}
	return false;
}

static void join(char **words, char *text)
{
	size_t used = snprintf(text, WANTED_TEXT, "%s", isdigit((u8) * *words) ? "Algorithm" : "");

	for (; *words && used < WANTED_TEXT; words++)
		used += snprintf(text + used, WANTED_TEXT - used, "%s%s", used ? " " : "", *words);
}

static void print_lines(const char *text)
{
	for (size_t length; *text; text += length + 1) {
		length = strcspn(text, "\n");
		say("%.*s\n", (int)length, text);
	}
}

int print_textbook(char **words)
{
	char wanted[WANTED_TEXT];
	size_t n = 0;

	if (!*words) {
		say("The algorithms and examples of three texts, which baleen-textbook(7) works through.\n"
		    "'baleen help textbook 9' prints the commands of Algorithm 9, to be run in an empty\n"
		    "directory.\n\n");
		for (size_t i = 0; i < N_SECTIONS; i++)
			say("  %s\n", sections[i].title);
		return finish_output(EXIT_DONE);
	}
	join(words, wanted);
	for (size_t i = 0; i < N_SECTIONS; i++) {
		if (!has_title(&sections[i], wanted))
			continue;
		if (n++)
			putchar('\n');
		say("# %s\n", sections[i].title);
		print_lines(sections[i].commands);
	}
	if (!n) {
		complain("no '%s' in the textbooks: see 'baleen help textbook'", wanted);
		return EXIT_USAGE;
	}
	return finish_output(EXIT_DONE);
}
