// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Options by their tables: parsed, and printed as help. */
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/options.h"
#include "util/foreign.h"
#include "util/nearest.h"

/* Options of one command, including those of the tables in its table. */
#define MAX_OPTIONS 64

/* Columns of the help: the names, and where a line ends. */
#define HELP_INDENT 19
#define HELP_WIDTH 88

#define MAX_WAIT_S 86400

/* Codes of long options for getopt_long(), above every letter. */
#define FIRST_CODE 0x100

/**
 * struct row - a row of a table and of those in it
 * @spec: the row
 * @base: where the structure of its table begins in that of the command
 * @is_hidden: the help has another text in its place
 */
struct row {
	const struct option_spec *spec;
	size_t base;
	bool is_hidden;
};

static bool is_end(const struct option_spec *spec)
{
	return !spec->name && !spec->help && !spec->table;
}

/* Appends the rows from @n on; returns how many there are then. */
static int flatten(const struct option_spec *spec, size_t base, bool is_hidden, struct row *rows,
		   int n)
{
	for (; spec && !is_end(spec) && n < MAX_OPTIONS; spec++) {
		if (!spec->table || spec->help)
			rows[n++] = (struct row){ spec, base,
						  is_hidden || (spec->name && !spec->help) };
		if (spec->table)
			n = flatten(spec->table, base + spec->at, is_hidden || spec->help, rows, n);
	}
	return n;
}

/* --- parse ----------------------------------------------------------------- */

static void fill_getopt(const struct row *rows, int n, bool in_order, struct option *longs,
			char *shorts)
{
	/* The dash: words in their place among the options. */
	if (in_order)
		*shorts++ = '-';
	for (int i = 0; i < n; i++) {
		const struct option_spec *spec = rows[i].spec;

		if (!spec->name)
			continue;
		*longs++ =
			(struct option){ spec->name, spec->argument != NULL, NULL, FIRST_CODE + i };
		if (!spec->letter)
			continue;
		*shorts++ = spec->letter;
		if (spec->argument)
			*shorts++ = ':';
	}
	*longs = (struct option){ 0 };
	*shorts = '\0';
}

static const struct row *find_row(const struct row *rows, int n, int code)
{
	if (code >= FIRST_CODE)
		return &rows[code - FIRST_CODE];
	for (int i = 0; i < n; i++)
		if (rows[i].spec->name && rows[i].spec->letter == code)
			return &rows[i];
	return NULL;
}

static int parse_word(const struct command *command, void *data, const char *word)
{
	return command->word(&(struct option_use){ command, NULL, word, data });
}

/* The option that is meant by a word with dashes before it and maybe a value behind it; NULL where
 * none is, or more than one begins so.
 */
static const char *nearest_option(const struct row *rows, int n, const char *word)
{
	char name[32];
	struct baleen_nearest nearest = { .typed = name };
	size_t length;

	word += strspn(word, "-");
	length = strcspn(word, "=");
	if (length >= sizeof(name))
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	for (int i = 0; i < n; i++) {
		if (!rows[i].spec->name)
			continue;
		if (!strncmp(rows[i].spec->name, name, length))
			return NULL;
		if (rows[i].spec->help)
			baleen_nearest_offer(&nearest, rows[i].spec->name);
	}
	return nearest.word;
}

/* getopt_long() has said what is wrong, if it may. @word: where it has stopped */
static int complain_of_option(const struct command *command, const struct row *rows, int n,
			      const char *word)
{
	/* It names a letter, and an option that lacks its argument. */
	const char *meant = !optopt && *word == '-' ? nearest_option(rows, n, word) : NULL;

	if (!opterr)
		complain("an option that cannot be read");
	if (meant)
		complain("did you mean '--%s'? See 'baleen help %s'", meant, command->name);
	else
		complain("see 'baleen help %s'", command->name);
	return EXIT_USAGE;
}

static int parse_option(const struct command *command, void *data, const struct row *row)
{
	return row->spec->parse(&(struct option_use){ command, row->spec, optarg,
						      (char *)data + row->base + row->spec->at });
}

int options_parse(const struct command *command, void *data, int *argc, char ***argv)
{
	struct option longs[MAX_OPTIONS + 1];
	char shorts[2 * MAX_OPTIONS + 2];
	struct row rows[MAX_OPTIONS];
	int n = flatten(command->options, 0, false, rows, 0), code, err = 0;

	fill_getopt(rows, n, command->word, longs, shorts);
	/* It would print them as they are; a shell makes options of files that are called so. */
	for (int i = 1; i < *argc; i++)
		opterr &= *(*argv)[i] != '-' || baleen_foreign_is_plain((*argv)[i]);
	while (!err && (code = getopt_long(*argc, *argv, shorts, longs, NULL)) != -1) {
		const struct row *row = code == 1 ? NULL : find_row(rows, n, code);

		if (code == 1)
			err = parse_word(command, data, optarg);
		else if (row)
			err = parse_option(command, data, row);
		else
			err = complain_of_option(command, rows, n, (*argv)[optind - 1]);
	}
	for (; !err && command->word && optind < *argc; optind++)
		err = parse_word(command, data, (*argv)[optind]);
	*argc -= optind;
	*argv += optind;
	if (!err && command->asks.text &&
	    (*argc < command->asks.least || *argc > command->asks.most))
		err = complain_usage(command, "%s", command->asks.text);
	return err;
}

/* --- one argument ---------------------------------------------------------- */

int option_refuse(const struct option_use *use, const char *format, ...)
{
	char reason[512];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	return complain_usage(use->command, "--%s '%s': %s", use->spec->name, use->argument,
			      reason);
}

/* "not A, B or C" */
static int refuse_word(const struct option_use *use)
{
	const char *word = use->spec->words, *before = "";
	char list[256] = "";
	size_t n = 0;

	while (*word) {
		int length = strcspn(word, " ");
		bool is_last = !word[length];

		n += snprintf(list + n, sizeof(list) - n, "%s%.*s",
			      is_last && *before ? " or " : before, length, word);
		before = ", ";
		word += length + !is_last;
	}
	return option_refuse(use, "not %s", list);
}

int option_word(const struct option_use *use)
{
	const char *word = use->spec->words;
	size_t length = strlen(use->argument);

	for (int i = 0; *word; i++) {
		size_t n = strcspn(word, " ");

		if (n == length && !strncmp(word, use->argument, n))
			return i;
		word += n + !!word[n];
	}
	refuse_word(use);
	return -1;
}

int option_flag(const struct option_use *use)
{
	*(bool *)use->to = true;
	return 0;
}

int option_text(const struct option_use *use)
{
	*(const char **)use->to = use->argument;
	return 0;
}

int option_json(const struct option_use *use)
{
	json_t **array = use->to;

	if (!*array)
		*array = json_array();
	return 0;
}

int option_rate(const struct option_use *use)
{
	return parse_rate(use->argument, use->to) ?
		       option_refuse(use, "not a rate from 0 to below 1") :
		       0;
}

int option_keys(const struct option_use *use)
{
	return parse_count(use->argument, use->to) ? option_refuse(use, "not a number of keys") : 0;
}

int option_base(const struct option_use *use)
{
	int i = option_word(use);

	if (i < 0)
		return EXIT_USAGE;
	*(u32 *)use->to = (const u32[]){ 2, 10, 16 }[i];
	return 0;
}

int option_wait(const struct option_use *use)
{
	char *end;
	unsigned long seconds = strtoul(use->argument, &end, 10);

	if (*use->argument < '0' || *use->argument > '9' || *end || seconds > MAX_WAIT_S)
		return option_refuse(use, "not a number of seconds up to %d", MAX_WAIT_S);
	*(u64 *)use->to = seconds * 1000ull;
	return 0;
}

int option_ifindex(const struct option_use *use)
{
	u64 ifindex;

	if (parse_count(use->argument, &ifindex) || !ifindex || ifindex > INT_MAX)
		return option_refuse(use, "not the number of a device");
	*(u32 *)use->to = ifindex;
	return 0;
}

int option_absent(const struct option_use *use)
{
	return complain_usage(use->command, "%s", use->spec->words);
}

int option_choice(const struct option_use *use)
{
	int i = option_word(use);

	if (i < 0)
		return EXIT_USAGE;
	*(u32 *)use->to = i;
	return 0;
}

/* --- help ------------------------------------------------------------------ */

/* Fills the lines from @column on with the words of a paragraph. */
static void print_filled(FILE *stream, int column, const char *text)
{
	for (; *text; text += strspn(text, " ")) {
		int length = strcspn(text, " ");

		if (column + 1 + length > HELP_WIDTH)
			column = fprintf(stream, "\n%*s", HELP_INDENT - 1, "") - 1;
		column += fprintf(stream, " %.*s", length, text);
		text += length;
	}
	fputc('\n', stream);
}

static void print_option(FILE *stream, const struct option_spec *spec)
{
	int column = fprintf(stream, "  ");

	if (spec->letter)
		column += fprintf(stream, "-%c, ", spec->letter);
	column += fprintf(stream, "--%s", spec->name);
	if (spec->argument)
		column += fprintf(stream, " %s", spec->argument);
	column +=
		fprintf(stream, "%*s", column < HELP_INDENT - 2 ? HELP_INDENT - 1 - column : 1, "");
	print_filled(stream, column, spec->help);
}

static void print_help(FILE *stream, const struct command *command)
{
	struct row rows[MAX_OPTIONS];
	int n = flatten(command->options, 0, false, rows, 0);

	fputs(command->help, stream);
	if (n && rows[0].spec->name)
		fputc('\n', stream);
	for (int i = 0; i < n; i++) {
		if (rows[i].is_hidden)
			continue;
		if (rows[i].spec->name)
			print_option(stream, rows[i].spec);
		else
			fputs(rows[i].spec->help, stream);
	}
}

static void print_synopsis(FILE *stream, const struct command *command)
{
	const struct command *const *verb = command->verbs;
	const char *usage = "usage:";

	if (!verb)
		fprintf(stream, "usage: baleen %s %s\n", command->name, command->synopsis);
	for (; verb && *verb; verb++, usage = "      ")
		fprintf(stream, "%s baleen %s %s\n", usage, (*verb)->name, (*verb)->synopsis);
	fputc('\n', stream);
}

void print_usage(FILE *stream, const struct command *command)
{
	const struct command *const *verb = command->verbs;

	print_synopsis(stream, command);
	print_help(stream, command);
	for (; verb && *verb; verb++) {
		fprintf(stream, "\nbaleen %s\n", (*verb)->name);
		print_help(stream, *verb);
	}
}

static void print_option_words(const struct command *command)
{
	struct row rows[MAX_OPTIONS];
	int n = flatten(command->options, 0, false, rows, 0);

	for (int i = 0; i < n; i++) {
		const struct option_spec *spec = rows[i].spec;
		const char *argument = spec->argument ? spec->argument : "-";
		const char *words = spec->words ? spec->words : "";

		if (!spec->name || !spec->help)
			continue;
		if (spec->letter)
			say("-%c %s %s\n", spec->letter, argument, words);
		say("--%s %s %s\n", spec->name, argument, words);
	}
}

void print_words(const struct command *command)
{
	const struct command *const *verb = command->verbs;

	print_synopsis(stdout, command);
	print_option_words(command);
	for (; verb && *verb; verb++)
		print_option_words(*verb);
}

const struct command *find_verb(const struct command *command, const char *name)
{
	size_t prefix = strlen(command->name) + 1;

	for (size_t i = 0; command->verbs && command->verbs[i]; i++)
		if (!strcmp(command->verbs[i]->name + prefix, name))
			return command->verbs[i];
	return NULL;
}

static int complain_no_verb(const struct command *command, const char *name)
{
	struct baleen_nearest nearest = { .typed = name };
	char text[BALEEN_NEAREST_TEXT];

	for (size_t i = 0; command->verbs && command->verbs[i]; i++)
		baleen_nearest_offer(&nearest, command->verbs[i]->name + strlen(command->name) + 1);
	if (!nearest.word)
		return complain_usage(command, "no '%s'", name);
	complain("%s: no '%s'%s: see 'baleen help %s'", command->name, name,
		 baleen_nearest_text(&nearest, text), command->name);
	return EXIT_USAGE;
}

int run_verb(const struct command *command, int argc, char **argv)
{
	const struct command *verb;

	if (argc < 2) {
		print_usage(stderr, command);
		return EXIT_USAGE;
	}
	verb = find_verb(command, argv[1]);
	if (!verb)
		return complain_no_verb(command, argv[1]);
	if (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		print_usage(stdout, verb);
		return finish_output(EXIT_DONE);
	}
	/* getopt_long() starts its messages with it. */
	argv[1] = argv[0];
	return verb->run(argc - 1, argv + 1);
}
