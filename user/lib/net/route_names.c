// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of routing tables and of the protocols that make routes, as iproute2 has them. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/route_names.h"
#include "util/input.h"

#define ROOT "/etc/iproute2"
/* Where a newer iproute2 has what nobody has changed. */
#define USUAL_ROOT "/usr/share/iproute2"

/**
 * struct search - a line that is looked for
 * @name: its name, or NULL to look by number
 * @number: its number
 * @text: the name that was found, when looked for by number
 */
struct search {
	const char *name;
	unsigned long long number;
	char text[BALEEN_ROUTE_NAME];
};

/* Lines of a number, decimal or hexadecimal, and a name. */
static bool search_file(const char *path, struct search *search)
{
	FILE *file = baleen_input_stream(path, BALEEN_INPUT_SYSTEM, NULL);
	char line[512], name[BALEEN_ROUTE_NAME];
	bool is_found = false;

	while (file && !is_found && fgets(line, sizeof(line), file)) {
		char *end;
		unsigned long long number = strtoull(line, &end, 0);

		if (end == line || sscanf(end, " %63s", name) != 1 || name[0] == '#')
			continue;
		is_found = search->name ? !strcmp(search->name, name) : search->number == number;
		search->number = is_found ? number : search->number;
	}
	if (is_found)
		strcpy(search->text, name);
	if (file)
		fclose(file);
	return is_found;
}

static int is_conf(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       !strcmp(entry->d_name + length - 5, ".conf");
}

static bool search_directory(const char *directory, struct search *search)
{
	struct dirent **entry;
	int n = scandir(directory, &entry, is_conf, alphasort);
	bool is_found = false;
	char path[512];

	for (int i = 0; i < n; i++) {
		if (!is_found && snprintf(path, sizeof(path), "%s/%s", directory,
					  entry[i]->d_name) < (int)sizeof(path))
			is_found = search_file(path, search);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return is_found;
}

static bool search_all(const char *what, struct search *search)
{
	char path[64];

	snprintf(path, sizeof(path), ROOT "/%s", what);
	if (search_file(path, search))
		return true;
	snprintf(path, sizeof(path), ROOT "/%s.d", what);
	if (search_directory(path, search))
		return true;
	snprintf(path, sizeof(path), USUAL_ROOT "/%s", what);
	return search_file(path, search);
}

bool baleen_route_table_is_name(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789-_.");

	return length && !text[length] && length < BALEEN_ROUTE_NAME;
}

int baleen_route_table_find(const char *text, u32 *table, struct baleen_error *error)
{
	struct search search = { .name = text };
	unsigned long long number;
	char *end;

	if (!baleen_route_table_is_name(text))
		return baleen_fail(error, EINVAL, "'%.64s' is no routing table", text);
	/* A number that is too large becomes the largest number, which is no table either. */
	number = strtoull(text, &end, 10);
	if (*end) {
		if (!search_all("rt_tables", &search))
			return baleen_fail(error, ENOENT,
					   "routing table '%s' is neither a number nor in " ROOT
					   "/rt_tables",
					   text);
		number = search.number;
	}
	if (!number || number > UINT32_MAX)
		return baleen_fail(error, EINVAL, "'%s' is no routing table: 1 to %u", text,
				   UINT32_MAX);
	*table = number;
	return 0;
}

const char *baleen_route_protocol_text(u8 protocol, char *text)
{
	struct search search = { .number = protocol };

	if (protocol == BALEEN_ROUTE_PROTOCOL)
		strcpy(text, "baleen");
	else if (search_all("rt_protos", &search))
		strcpy(text, search.text);
	else
		sprintf(text, "%u", protocol);
	return text;
}
