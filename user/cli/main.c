// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of commands, in the groups and the order of baleen(8). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/options.h"
#include "cli/file/textbook.h"
#include "release.h"
#include "state/journal.h"
#include "util/nearest.h"
#include "util/number.h"
#include "util/signals.h"
#include "util/threads.h"

/* A line each, so that two who add one do not collide. */
/* clang-format off */
static const struct group {
	const char *title;
	const struct command *command[16];
} groups[] = {
	{ "What is enforced",
	  {
		  &apply_command,
		  &confirm_command,
		  &config_command,
		  &attach_command,
		  &detach_command,
		  &rule_command,
		  &policy_command,
		  &swap_command,
		  &status_command,
		  &save_command,
		  &restore_command,
		  &refresh_command,
	  } },
	{ "Entries, bans and feeds",
	  {
		  &ban_command,
		  &unban_command,
		  &add_command,
		  &del_command,
		  &list_command,
		  &log_command,
		  &flush_command,
		  &feed_command,
		  &import_command,
		  &export_command,
		  &update_command,
		  &route_command,
	  } },
	{ "Looking",
	  {
		  &why_command,
		  &doctor_command,
		  &watch_command,
		  &top_command,
		  &metrics_command,
		  &replay_command,
	  } },
	{ "Lists for many hosts",
	  {
		  &set_command,
	  } },
	{ "Many hosts",
	  {
		  &fleet_command,
	  } },
	{ "Caches that ask each other",
	  {
		  &icp_command,
	  } },
	{ "Sets as files",
	  {
		  &build_command,
		  &plan_command,
		  &info_command,
		  &show_command,
		  &match_command,
		  &dump_command,
		  &merge_command,
		  &intersect_command,
		  &subtract_command,
		  &compare_command,
		  &resize_command,
		  &compile_command,
	  } },
};
/* clang-format on */

#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < N_GROUPS; i++)
		for (size_t j = 0; groups[i].command[j]; j++)
			if (!strcmp(groups[i].command[j]->name, name))
				return groups[i].command[j];
	return NULL;
}

static int complain_no_command(const char *name)
{
	struct baleen_nearest nearest = { .typed = name };
	char text[BALEEN_NEAREST_TEXT];

	for (size_t i = 0; i < N_GROUPS; i++)
		for (size_t j = 0; groups[i].command[j]; j++)
			baleen_nearest_offer(&nearest, groups[i].command[j]->name);
	complain("no command '%s'%s: see 'baleen help'", name, baleen_nearest_text(&nearest, text));
	return EXIT_USAGE;
}

static void print_group(FILE *stream, const struct group *group)
{
	fprintf(stream, "%s:\n", group->title);
	for (size_t i = 0; group->command[i]; i++)
		fprintf(stream, "  baleen %s %s\n", group->command[i]->name,
			group->command[i]->synopsis);
	fputc('\n', stream);
}

static void print_overview(FILE *stream)
{
	fputs("usage: baleen COMMAND ...\n\n"
	      "Drops (or lets pass) packets whose address is in a set, in XDP.\n\n",
	      stream);
	for (size_t i = 0; i < N_GROUPS; i++)
		print_group(stream, &groups[i]);
	fputs("A list file works wherever an IMAGE is asked for; DEV:RULE is the live filter of\n"
	      "a rule; a leading ./ or / always means a file. 'baleen help COMMAND' says more,\n"
	      "'baleen help textbook' leads through the algorithms of textbooks, step by step.\n"
	      "Exit: 0 done, 1 failed or no match, 2 bad usage.\n",
	      stream);
}

/* COMMAND [VERB], or textbook [WORD...]; "--words" before it is for the completion. */
static int help(int argc, char **argv)
{
	bool is_words = argc > 1 && !strcmp(argv[1], "--words");
	char **name = argv + 1 + is_words;
	const struct command *command = *name ? find(*name) : NULL;

	if (*name && !strcmp(*name, "textbook"))
		return print_textbook(name + 1);
	if (*name && !command)
		return complain_no_command(*name);
	if (*name && name[1] && command->verbs) {
		command = find_verb(command, name[1]);
		if (!command) {
			complain("no '%s' in %s: see 'baleen help %s'", name[1], *name, *name);
			return EXIT_USAGE;
		}
	}
	if (command && is_words)
		print_words(command);
	else if (command)
		print_usage(stdout, command);
	else
		print_overview(stdout);
	return finish_output(EXIT_DONE);
}

/* A standard stream that was closed must not become the number of a file that
 * is opened later. Opened the wrong way round, its use still fails.
 */
static void hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* As many as there are processors, unless the user says how many. 0, or EXIT_USAGE after a
 * message.
 */
static int set_threads(void)
{
	const char *text = getenv("BALEEN_THREADS");
	u64 n = 0;

	if (text && baleen_count_parse(text, &n)) {
		complain("BALEEN_THREADS=%s: not a number of threads", text);
		return EXIT_USAGE;
	}
	baleen_threads_set(n < BALEEN_MAX_THREADS ? n : BALEEN_MAX_THREADS);
	return 0;
}

int main(int argc, char **argv)
{
	const struct command *command;

	hold_standard_streams();
	if (set_threads())
		return EXIT_USAGE;
	baleen_signals_to_errors();
	if (argc < 2) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("baleen " BALEEN_RELEASE);
		return finish_output(EXIT_DONE);
	}
	command = find(argv[1]);
	if (!command)
		return complain_no_command(argv[1]);
	if (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		print_usage(stdout, command);
		return finish_output(EXIT_DONE);
	}
	/* getopt_long() starts its messages with it. */
	argv[1] = "baleen";
	baleen_journal_by(command->name);
	return command->run(argc - 1, argv + 1);
}
