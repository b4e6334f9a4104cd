// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The lines in which what a device enforces and its configuration differ, in words and in JSON. */
#include <stdlib.h>
#include <string.h>

#include "cli/ban/apply.h"
#include "deploy/conf_edits.h"

/* --- texts ------------------------------------------------------------------- */

/**
 * struct line - a line of a configuration
 * @text: the line
 * @rule: the line of the rule that it is in; NULL of the device
 */
struct line {
	const char *text;
	const char *rule;
};

/* A text cut into lines. */
struct lines {
	char *text;
	struct line *line;
	size_t n;
};

static bool is_rule(const char *line)
{
	return !strncmp(line, "rule ", 5);
}

/* All zeros for a configuration that is none. */
static int cut(struct lines *lines, const struct baleen_conf *conf)
{
	const char *rule = NULL;
	char *rest;

	if (!conf->rules.n_rules)
		return 0;
	lines->text = baleen_conf_format_ordered(conf, false);
	if (!lines->text)
		return EXIT_FAILED;
	for (rest = lines->text; *rest; rest++)
		lines->n += *rest == '\n';
	lines->line = calloc(lines->n + 1, sizeof(*lines->line));
	if (!lines->line)
		return EXIT_FAILED;
	rest = lines->text;
	for (size_t i = 0; i < lines->n; i++) {
		const char *text = strsep(&rest, "\n");

		rule = is_rule(text) ? text : rule;
		lines->line[i] = (struct line){ .text = text, .rule = rule };
	}
	return 0;
}

static void free_lines(struct lines *lines)
{
	free(lines->line);
	free(lines->text);
}

/* The length of "rule NAME". */
static size_t name_length(const char *rule)
{
	return 5 + strcspn(rule + 5, " ");
}

static bool is_of_same(const char *rule, const char *other)
{
	return !rule || !other ? rule == other :
				 name_length(rule) == name_length(other) &&
					 !strncmp(rule, other, name_length(rule));
}

static bool has_line(const struct lines *lines, const struct line *line)
{
	for (size_t i = 0; i < lines->n; i++)
		if (!strcmp(lines->line[i].text, line->text) &&
		    is_of_same(lines->line[i].rule, line->rule))
			return true;
	return false;
}

/* --- edits -------------------------------------------------------------------- */

/**
 * struct diff - what is compared
 * @device: name of the device
 * @now: what it enforces
 * @file: what is asked for
 * @applied: what was applied last
 * @is_reordered: the device has rules in another order than was applied
 * @json: an array that gets the lines; NULL to print them
 */
struct diff {
	const char *device;
	struct lines now;
	struct lines file;
	struct lines applied;
	bool is_reordered;
	json_t *json;
};

/* The next rule of @lines, from @at on, that @other has, too. */
static const char *next_rule(const struct lines *lines, const struct lines *other, size_t *at)
{
	while (*at < lines->n) {
		const char *text = lines->line[(*at)++].text;

		if (!is_rule(text))
			continue;
		for (size_t i = 0; i < other->n; i++)
			if (is_rule(other->line[i].text) && is_of_same(other->line[i].text, text))
				return text;
	}
	return NULL;
}

static bool is_reordered(const struct lines *now, const struct lines *applied)
{
	size_t i = 0, j = 0;

	for (;;) {
		const char *one = next_rule(now, applied, &i);
		const char *other = next_rule(applied, now, &j);

		if (!one || !other || !is_of_same(one, other))
			return one || other;
	}
}

/* The edit by hand that a line which goes or comes takes back; empty where it is the file that
 * was edited.
 */
static const char *edit_of(const struct diff *diff, bool goes, const struct line *line)
{
	bool is_moved = has_line(goes ? &diff->file : &diff->now, line);
	bool was_applied = has_line(&diff->applied, line);

	if (is_moved)
		return diff->is_reordered ? "moved by hand" : "";
	if (goes)
		return was_applied ? "" : "added by hand";
	return was_applied ? "removed by hand" : "";
}

/* --- the difference ------------------------------------------------------------- */

/* Lines that both have, in order, of what is left from @i and @j on: the longest
 * common subsequence.
 */
static u32 *count_common(const struct lines *a, const struct lines *b)
{
	size_t width = b->n + 1;
	u32 *common = calloc((a->n + 1) * width, sizeof(*common));

	for (size_t i = a->n; common && i-- > 0;) {
		for (size_t j = b->n; j-- > 0;) {
			u32 down = common[(i + 1) * width + j], right = common[i * width + j + 1];

			common[i * width + j] = !strcmp(a->line[i].text, b->line[j].text) ?
							common[(i + 1) * width + j + 1] + 1 :
						down > right ? down :
							       right;
		}
	}
	return common;
}

/**
 * struct side - how far one of the two texts is printed
 * @lines: the text
 * @at: its next line
 * @rule: first line of the rule that it is in, unless that was printed; else NULL
 */
struct side {
	const struct lines *lines;
	size_t at;
	const char *rule;
};

static void describe_line(json_t *all, char sign, const struct line *line, const char *edit)
{
	json_t *rule = json_null();

	if (line->rule)
		rule = json_stringn(line->rule + 5, name_length(line->rule) - 5);
	json_array_append_new(all,
			      json_pack("{s:s#, s:o, s:o, s:s?}", "sign", &sign, 1, "rule", rule,
					"line", json_text(line->text + (*line->text == '\t')),
					"edit", *edit ? edit : NULL));
}

/* Prints a line that only @side has. Before a statement of a rule stands the line that says
 * of which, also if that is the same on both sides.
 */
static void put_line(const struct diff *diff, char sign, struct side *side, struct side *other)
{
	const struct line *line = &side->lines->line[side->at++];
	const char *edit = edit_of(diff, sign == '-', line);

	if (diff->json) {
		describe_line(diff->json, sign, line, edit);
		return;
	}
	if (!is_rule(line->text) && side->rule) {
		say("%s:  %s\n", diff->device, side->rule);
		if (other->rule && !strcmp(side->rule, other->rule))
			other->rule = NULL;
	}
	side->rule = NULL;
	/* A tab before it is ours. */
	say(*line->text == '\t' ? "%s: %c\t%s%s%s\n" : "%s: %c%s%s%s\n", diff->device, sign,
	    line->text + (*line->text == '\t'), *edit ? "    # " : "", edit);
}

static void skip_line(struct side *side)
{
	const char *line = side->lines->line[side->at++].text;

	if (is_rule(line))
		side->rule = line;
}

static void put_diff(const struct diff *diff, const u32 *common)
{
	const struct lines *a = &diff->now, *b = &diff->file;
	struct side old = { .lines = a }, new = { .lines = b };
	size_t width = b->n + 1;

	while (old.at < a->n || new.at < b->n) {
		size_t i = old.at, j = new.at;

		if (i < a->n && j < b->n && !strcmp(a->line[i].text, b->line[j].text)) {
			skip_line(&old);
			skip_line(&new);
		} else if (j == b->n ||
			   (i < a->n && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
			put_line(diff, '-', &old, &new);
		} else {
			put_line(diff, '+', &new, &old);
		}
	}
}

int put_conf_diff(const struct conf_goal *goal, json_t *json)
{
	struct diff diff = { .device = goal->device, .json = json };
	u32 *common = NULL;

	if (!cut(&diff.now, &goal->before) && !cut(&diff.file, &goal->conf) &&
	    !cut(&diff.applied, &goal->applied))
		common = count_common(&diff.now, &diff.file);
	diff.is_reordered = is_reordered(&diff.now, &diff.applied);
	if (common)
		put_diff(&diff, common);
	else
		complain("%s: no memory for the difference", goal->device);
	free_lines(&diff.now);
	free_lines(&diff.file);
	free_lines(&diff.applied);
	free(common);
	return common ? 0 : EXIT_FAILED;
}
