// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The changes to a configured device, in words and in JSON. */
#include <stdlib.h>
#include <string.h>

#include "cli/ban/apply.h"
#include "util/number.h"

/* --- changes ---------------------------------------------------------------- */

static char sign_of(enum baleen_conf_change_kind kind)
{
	switch (kind) {
	case BALEEN_CONF_ATTACH:
	case BALEEN_CONF_KEEP:
	case BALEEN_CONF_RULE_ADDED:
	case BALEEN_CONF_FEED_ADDED: return '+';
	case BALEEN_CONF_RULE_REMOVED:
	case BALEEN_CONF_FEED_REMOVED: return '-';
	default: return '~';
	}
}

static bool is_of_feed(const struct baleen_conf_change *change)
{
	return change->kind >= BALEEN_CONF_FEED_ADDED;
}

static void print_counts(const struct baleen_conf_change *change)
{
	char added[NUMBER_TEXT], removed[NUMBER_TEXT];

	if (change->kind == BALEEN_CONF_FEED_READ)
		fputs(": read otherwise, or at other times", stdout);
	else if (change->kind == BALEEN_CONF_FEED_REMOVED)
		say(": -%s", format_count(change->n_removed, removed));
	else if (change->n_removed)
		say(": +%s -%s", format_count(change->n_added, added),
		    format_count(change->n_removed, removed));
	else
		say(": +%s", format_count(change->n_added, added));
	/* Whoever tries it out with addresses of examples is told the first time. */
	if (change->n_special)
		say(", without %s special-purpose%s", format_count(change->n_special, added),
		    change->kind == BALEEN_CONF_FEED_ADDED ? SPECIAL_HINT : "");
	if (change->n_ends)
		say(", without %s %s", format_count(change->n_ends, added),
		    baleen_plural(change->n_ends, "timeout", "timeouts"));
}

static void print_change(const char *device, const struct baleen_conf_change *change)
{
	static const char *const prefix[] = {
		[BALEEN_CONF_ATTACH] = "attach: ",
		[BALEEN_CONF_KEEP] = "keep: ",
		[BALEEN_CONF_LIVE] = "live: ",
	};
	char singles[NUMBER_TEXT];

	say("%s: %c ", device, sign_of(change->kind));
	if (change->rule[0])
		say("rule %s: ", change->rule);
	else if (change->kind <= BALEEN_CONF_LIVE)
		say("%s", prefix[change->kind]);
	say("%s%s", is_of_feed(change) ? "feed " : "", change->what);
	if (is_of_feed(change))
		print_counts(change);
	if (change->n_singles)
		say(", %s single %s %s", format_count(change->n_singles, singles),
		    baleen_plural(change->n_singles, "entry", "entries"),
		    change->kind == BALEEN_CONF_RULE_ADDED ? "in force again" : "parked");
	putchar('\n');
}

void print_changes(const char *device, const struct baleen_conf_plan *plan)
{
	for (size_t i = 0; i < plan->n_changes; i++)
		print_change(device, &plan->change[i]);
}

json_t *describe_changes(const struct baleen_conf_plan *plan)
{
	json_t *all = json_array();

	for (size_t i = 0; i < plan->n_changes; i++) {
		const struct baleen_conf_change *change = &plan->change[i];
		json_t *one = json_object();

		json_object_set_new(one, "change",
				    json_string(baleen_conf_change_text(change->kind)));
		json_object_set_new(one, "rule",
				    change->rule[0] ? json_string(change->rule) : json_null());
		json_object_set_new(one, "what", json_text(change->what));
		if (change->n_singles)
			json_object_set_new(one, "single_entries", json_integer(change->n_singles));
		if (is_of_feed(change)) {
			json_object_set_new(one, "added", json_integer(change->n_added));
			json_object_set_new(one, "removed", json_integer(change->n_removed));
			json_object_set_new(one, "special", json_integer(change->n_special));
			json_object_set_new(one, "timeouts", json_integer(change->n_ends));
		}
		json_array_append_new(all, one);
	}
	return all;
}

/* --- lines ------------------------------------------------------------------- */

/* A text cut into lines. */
struct lines {
	char *text;
	char **line;
	size_t n;
};

static int cut(struct lines *lines, const struct baleen_conf *conf)
{
	char *rest;

	lines->text = baleen_conf_format(conf, false);
	if (!lines->text)
		return EXIT_FAILED;
	for (rest = lines->text; *rest; rest++)
		lines->n += *rest == '\n';
	lines->line = calloc(lines->n + 1, sizeof(*lines->line));
	if (!lines->line)
		return EXIT_FAILED;
	rest = lines->text;
	for (size_t i = 0; i < lines->n; i++)
		lines->line[i] = strsep(&rest, "\n");
	return 0;
}

static void free_lines(struct lines *lines)
{
	free(lines->line);
	free(lines->text);
}

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

			common[i * width + j] = !strcmp(a->line[i], b->line[j]) ?
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

static bool is_rule(const char *line)
{
	return !strncmp(line, "rule ", 5);
}

/* Prints a line that only @side has. Before a statement of a rule stands the line that says
 * of which, also if that is the same on both sides.
 */
static void print_line(const char *device, char sign, struct side *side, struct side *other)
{
	const char *line = side->lines->line[side->at++];

	if (!is_rule(line) && side->rule) {
		say("%s:  %s\n", device, side->rule);
		if (other->rule && !strcmp(side->rule, other->rule))
			other->rule = NULL;
	}
	side->rule = NULL;
	/* A tab before it is ours. */
	say(*line == '\t' ? "%s: %c\t%s\n" : "%s: %c%s\n", device, sign, line + (*line == '\t'));
}

static void skip_line(struct side *side)
{
	const char *line = side->lines->line[side->at++];

	if (is_rule(line))
		side->rule = line;
}

static void print_diff(const char *device, const struct lines *a, const struct lines *b,
		       const u32 *common)
{
	struct side old = { .lines = a }, new = { .lines = b };
	size_t width = b->n + 1;

	while (old.at < a->n || new.at < b->n) {
		size_t i = old.at, j = new.at;

		if (i < a->n && j < b->n && !strcmp(a->line[i], b->line[j])) {
			skip_line(&old);
			skip_line(&new);
		} else if (j == b->n ||
			   (i < a->n && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
			print_line(device, '-', &old, &new);
		} else {
			print_line(device, '+', &new, &old);
		}
	}
}

int print_conf_diff(const char *device, const struct baleen_conf *before,
		    const struct baleen_conf *after)
{
	struct lines a = { 0 }, b = { 0 };
	u32 *common = NULL;

	if (!(before->rules.n_rules && cut(&a, before)) && !cut(&b, after))
		common = count_common(&a, &b);
	if (common)
		print_diff(device, &a, &b, common);
	else
		complain("%s: no memory for the difference", device);
	free_lines(&a);
	free_lines(&b);
	free(common);
	return common ? 0 : EXIT_FAILED;
}
