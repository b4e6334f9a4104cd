// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints one value of a JSON text: json FILE [PATH]
 *
 * PATH is as in `.tables[0].kind`; without it the whole text is the value.
 * FILE may be `-`. A string is printed without its quotes, an array or object
 * on one line. Exit: 0 printed, 1 not JSON or no such value, 2 bad usage.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* One step of @path from @json; NULL when there is no such value. */
static json_t *step(json_t *json, char **path)
{
	char *p = *path + 1, *end;

	if (**path == '[') {
		size_t index = strtoul(p, &end, 10);

		if (end == p || *end != ']')
			errx(2, "'%s': no index", *path);
		*path = end + 1;
		return json_array_get(json, index);
	}
	if (**path != '.')
		errx(2, "'%s': neither .NAME nor [INDEX]", *path);
	end = p + strcspn(p, ".[");
	*path = end;
	return json_object_getn(json, p, end - p);
}

static void print(const json_t *json)
{
	if (json_is_string(json))
		fputs(json_string_value(json), stdout);
	else if (json_dumpf(json, stdout, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)))
		errx(1, "cannot print");
	putchar('\n');
}

int main(int argc, char **argv)
{
	FILE *file = stdin;
	json_error_t error;
	json_t *json, *value;
	char *path;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: json FILE [PATH]\n");
		return 2;
	}
	if (strcmp(argv[1], "-"))
		file = fopen(argv[1], "r");
	if (!file)
		err(1, "%s", argv[1]);
	json = json_loadf(file, JSON_DECODE_ANY, &error);
	if (!json)
		errx(1, "%s:%d: %s", argv[1], error.line, error.text);
	value = json;
	for (path = argc > 2 ? argv[2] : ""; value && *path;)
		value = step(value, &path);
	if (!value)
		errx(1, "%s: no %s", argv[1], argv[2]);
	print(value);
	json_decref(json);
	return fflush(stdout) ? 1 : 0;
}
