// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen import --format list: the keys of a list, a table or JSON, as single entries. */
#include <string.h>
#include <unistd.h>

#include "cli/ban/import_list.h"
#include "cli/common/list_options.h"
#include "cli/open/list_file.h"
#include "list/list_entry.h"
#include "util/unpack.h"

#define MAX_NAMED 20

/**
 * struct reading - a list on its way
 * @name: of the file, in messages
 * @key_spec: fields of its keys
 * @options: what is said of each entry
 * @entries: appended to
 * @n_bad: bad lines so far
 */
struct reading {
	const char *name;
	u32 key_spec;
	const struct entry_options *options;
	struct entries *entries;
	u64 n_bad;
};

static void complain_bad(struct reading *reading, u64 line, const char *text, const char *reason)
{
	const struct baleen_list_problem problem = {
		.file = reading->name, .line = line, .text = text, .reason = reason
	};
	struct baleen_error error;

	if (reading->n_bad++ >= MAX_NAMED)
		return;
	baleen_list_problem_fail(&problem, &error);
	complain("%s", error.text);
}

static int take_line(const struct baleen_entry *line, u64 number, void *data)
{
	struct reading *reading = data;
	char text[BALEEN_RULE_ENTRY_TEXT + 2];
	struct baleen_rule_entry entry;
	struct baleen_error error;

	if (line->kind == BALEEN_ENTRY_NONE)
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)line->length, line->text);
	if (line->kind == BALEEN_ENTRY_BAD) {
		complain_bad(reading, number, text, line->reason);
		return 0;
	}
	if (line->is_ipset) {
		complain_bad(reading, number, text,
			     "a line of ipset save: --format ipset reads it, with its end");
		return 0;
	}
	baleen_entry_format(line, text, sizeof(text));
	if (entry_make(text, reading->key_spec, BALEEN_AS_WRITTEN, reading->options, &entry, NULL,
		       &error))
		return complain("%s:%llu: %s", reading->name, (unsigned long long)number,
				error.text);
	return entries_append(reading->entries, BALEEN_RULE_ENTRY_PUT, &entry);
}

static int read_lines(struct reading *reading, int fd, const struct baleen_csv_options *csv)
{
	const char *reason = baleen_unpack_refuse(fd, baleen_csv_is_json(csv));
	int lines, err;

	if (reason)
		return complain("%s: %s", reading->name, reason);
	lines = list_file_lines(fd, reading->name, csv);
	if (lines < 0)
		return EXIT_FAILED;
	err = baleen_list_scan(lines, reading->key_spec, take_line, reading);
	if (lines != fd)
		close(lines);
	if (err < 0)
		return complain("%s: %s", reading->name, strerror(-err));
	if (!err && reading->n_bad)
		err = complain("%s: %llu bad line%s: nothing imported", reading->name,
			       (unsigned long long)reading->n_bad, reading->n_bad == 1 ? "" : "s");
	if (!err && !reading->entries->n)
		err = complain("%s: not a single key", reading->name);
	return err;
}

int import_list(const char *path, const struct baleen_csv_options *csv, u32 key_spec,
		const struct entry_options *options, struct entries *entries)
{
	struct reading reading = { .name = strcmp(path, "-") ? path : "stdin",
				   .key_spec = key_spec,
				   .options = options,
				   .entries = entries };
	int fd = list_file_open(path, BALEEN_INPUT_TYPED), err;

	if (fd < 0)
		return EXIT_FAILED;
	err = read_lines(&reading, fd, csv);
	close(fd);
	return err;
}
