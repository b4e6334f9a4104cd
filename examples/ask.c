// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asks a set for addresses, as a server would that turns peers away itself.
 *
 *	ask IMAGE KEY...		an image file
 *	ask DEV:RULE KEY...		the live filter of a rule; as root
 *	ask -b LIST IMAGE KEY...	builds the image first
 *
 * Prints each key and whether it is listed. Exit: 0 when one is, 1 when none
 * is, 2 on failure.
 */
#include <baleen/libbaleen.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(void)
{
	fprintf(stderr, "ask: %s\n", baleen_error_text());
	exit(2);
}

static struct baleen_set *build(const char *list, const char *image)
{
	const struct baleen_set_options options = { .size = sizeof(options), .name = "example" };
	struct baleen_keys *keys;
	struct baleen_set *set;

	if (baleen_keys_new("src", &keys) || baleen_keys_read(keys, list) ||
	    baleen_set_build(keys, &options, &set) || baleen_set_save(set, image, 0600))
		die();
	baleen_keys_free(keys);
	return set;
}

/* A path has a slash or no colon. */
static struct baleen_set *look(const char *name)
{
	int is_rule = strchr(name, ':') && !strchr(name, '/');
	struct baleen_set *set;

	if (is_rule ? baleen_set_open_rule(name, &set) : baleen_set_open(name, &set))
		die();
	return set;
}

static void describe(const struct baleen_set *set)
{
	struct baleen_set_info info = { .size = sizeof(info) };

	if (baleen_set_info(set, &info))
		die();
	printf("%" PRIu64 " entries, %s%s\n", info.n_entries, info.kind,
	       info.is_exact ? ", exact" : "");
}

int main(int argc, char **argv)
{
	int builds = argc > 1 && !strcmp(argv[1], "-b"), n_found = 0;
	struct baleen_set *set;

	if (argc < (builds ? 4 : 2)) {
		fputs("usage: ask [-b LIST] IMAGE|DEV:RULE KEY...\n", stderr);
		return 2;
	}
	set = builds ? build(argv[2], argv[3]) : look(argv[1]);
	describe(set);
	for (int i = builds ? 4 : 2; i < argc; i++) {
		int found = baleen_set_test(set, argv[i]);

		if (found < 0)
			die();
		printf("%s %s\n", argv[i], found ? "listed" : "not listed");
		n_found += found;
	}
	baleen_set_close(set);
	return n_found ? 0 : 1;
}
