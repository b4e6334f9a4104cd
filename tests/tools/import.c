// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the entries of a set: import ipset|nft FILE [SET]
 *
 * A line each: the key, with '!' before an exception; the seconds left; the
 * comment. FILE may be `-`. Exit: 0; 1 after a message on stderr; 2 bad usage.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "list/import.h"

static int print_entry(void *data, const struct baleen_import_entry *entry,
		       struct baleen_error *error)
{
	printf("%s%s %llu %s\n", entry->is_exception ? "!" : "", entry->key,
	       (unsigned long long)entry->expires_s, entry->comment);
	return 0;
}

int main(int argc, char **argv)
{
	struct baleen_importer importer = { .on_entry = print_entry };
	struct baleen_error error;
	int fd = 0;

	if (argc < 3 || argc > 4 || baleen_import_format_parse(argv[1], &importer.format)) {
		fprintf(stderr, "usage: import ipset|nft FILE [SET]\n");
		return 2;
	}
	importer.set = argv[3];
	if (strcmp(argv[2], "-"))
		fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", argv[2]);
	if (baleen_import(&importer, fd, argv[2], &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	return 0;
}
