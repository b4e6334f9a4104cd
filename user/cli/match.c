// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen match: which of these keys are in the set? */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"

/**
 * struct matching - one run of match
 * @input: the set
 * @inverted: print what is not a member
 * @count_only: print how many
 * @json: an array of the keys, or the count
 * @found: the keys, when @json
 * @n_matched: keys that were, or would have been, printed
 * @n_bad: keys that could not be read
 */
struct matching {
	struct input input;
	bool inverted;
	bool count_only;
	bool json;
	json_t *found;
	u64 n_matched;
	u64 n_bad;
};

/* Control characters of a file are nothing to send to a terminal. */
static void complain_of_key(const char *text, size_t length, const char *file, u64 line,
			    const char *reason)
{
	char shown[81];
	size_t n = length < sizeof(shown) ? length : sizeof(shown) - 1;

	for (size_t i = 0; i < n; i++)
		shown[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	shown[n] = '\0';
	if (file)
		complain("%s:%llu: '%s': %s", file, (unsigned long long)line, shown, reason);
	else
		complain("'%s': %s", shown, reason);
}

static void match_key(struct matching *matching, const char *text, size_t length, const char *file,
		      u64 line)
{
	struct baleen_key key;
	const char *reason;

	if (baleen_key_parse(text, length, matching->input.filter.image.key_spec, &key, &reason)) {
		matching->n_bad++;
		complain_of_key(text, length, file, line, reason);
		return;
	}
	if (!!baleen_filter_test(&matching->input.filter, &key) == matching->inverted)
		return;
	matching->n_matched++;
	if (matching->count_only)
		return;
	if (matching->json)
		json_array_append_new(matching->found, json_stringn(text, length));
	else
		printf("%.*s\n", (int)length, text);
}

/* One key a line; blank lines and what follows the key are passed over. */
static int match_file(struct matching *matching, const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	const char *name = strcmp(path, "-") ? path : "stdin";
	char *line = NULL;
	size_t room = 0;
	u64 number = 0;
	ssize_t n;
	int err = 0;

	if (!file) {
		complain("%s: %m", path);
		return EXIT_FAILED;
	}
	while ((n = getline(&line, &room, file)) >= 0 && !ferror(stdout)) {
		char *start = line + strspn(line, " \t");
		size_t length = strcspn(start, " \t\r\n#;");

		/* A NUL is damage, not the end of a line. */
		if (start + length < line + n && !start[length])
			length = line + n - start;

		number++;
		if (length)
			match_key(matching, start, length, name, number);
	}
	if (ferror(file)) {
		complain("%s: %m", name);
		err = EXIT_FAILED;
	}
	free(line);
	if (file != stdin)
		fclose(file);
	return err;
}

static int finish(struct matching *matching)
{
	int result = matching->n_matched && !matching->n_bad ? EXIT_DONE : EXIT_FAILED;

	if (matching->json && matching->count_only) {
		printf("%llu\n", (unsigned long long)matching->n_matched);
	} else if (matching->json) {
		if (print_json(json_incref(matching->found)))
			return EXIT_FAILED;
	} else if (matching->count_only) {
		printf("%llu\n", (unsigned long long)matching->n_matched);
	}
	return finish_output(result);
}

static int run(int argc, char **argv)
{
	static const struct option long_options[] = {
		LIST_OPTIONS,
		{ "json", no_argument, NULL, 'j' },
		{ "invert", no_argument, NULL, 'v' },
		{ "count", no_argument, NULL, 'c' },
		{ "file", required_argument, NULL, 'f' },
		{ 0 },
	};
	struct matching matching = { 0 };
	struct list_options options;
	const char *file = NULL;
	int option, err = 0;

	list_options_init(&options);
	options.looks_at_live = true;
	while ((option = getopt_long(argc, argv, "jvcf:", long_options, NULL)) != -1) {
		switch (option) {
		case 'j': matching.json = true; break;
		case 'v': matching.inverted = true; break;
		case 'c': matching.count_only = true; break;
		case 'f': file = optarg; break;
		default: err = list_option_take(&match_command, &options, option, optarg);
		}
		if (err)
			return err;
	}
	if (optind == argc)
		return complain_usage(&match_command, "no IMAGE given");
	err = list_options_check(&match_command, &options);
	if (err)
		return err;
	if (input_open(&matching.input, argv[optind], &options))
		return EXIT_FAILED;
	matching.found = json_array();
	for (int i = optind + 1; i < argc; i++)
		match_key(&matching, argv[i], strlen(argv[i]), NULL, 0);
	if (file || optind + 1 == argc)
		err = match_file(&matching, file ? file : "-");
	if (!err)
		err = finish(&matching);
	json_decref(matching.found);
	input_close(&matching.input);
	return err;
}

const struct command match_command = {
	.name = "match",
	.synopsis = "[-vcj] [-f FILE] IMAGE [KEY...]",
	.help = "Prints the keys that are in the set: grep for sets. Without KEY and -f it reads\n"
		"standard input. On a live rule (DEV:RULE) it reads the live map.\n"
		"Exit: 0 when a key was printed, 1 when none was or a key could not be read.\n\n" LIST_OPTIONS_HELP
		"  -v, --invert     print the keys that are not in the set\n"
		"  -c, --count      print how many, not which\n"
		"  -f, --file FILE  keys from a file, one a line\n"
		"  -j, --json       an array of the keys; with -c the count\n",
	.run = run,
};
