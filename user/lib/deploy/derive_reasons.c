// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One key of a rule: which entries cover it? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deploy/derive.h"
#include "deploy/rule_feeds.h"
#include "deploy/derive_image.h"
#include "util/array.h"

/**
 * struct line - a line of a feed that covers the key
 * @feed: number of the feed in the rule, from 0
 * @feed_holds: the feed holds the key
 * @length: length of the prefix that covers it
 * @reason: what is told of it
 */
struct line {
	u32 feed;
	bool feed_holds;
	u32 length;
	struct baleen_reason reason;
};

/**
 * struct asking - the key that is looked for, and what was found
 * @state: state of the device
 * @rule: rule of the feeds
 * @key: the key to find
 * @visit: called with single entries
 * @data: passed to @visit
 * @error: the caller's
 * @feed: that is being read
 * @n_feeds: that have been begun
 * @line: that were found
 * @n: how many
 */
struct asking {
	const struct baleen_rule_store *state;
	const struct baleen_stored_rule *rule;
	const struct baleen_key *key;
	int (*visit)(const struct baleen_reason *reason, void *data);
	void *data;
	struct baleen_error *error;
	const struct baleen_feed *feed;
	u32 n_feeds;
	struct line *line;
	size_t n;
};

static int add_entry_reason(const struct baleen_rule_entry *entry, void *data)
{
	const struct asking *asking = data;
	const struct baleen_reason reason = { .is_exception = entry->is_exception,
					      .entry = *entry };

	return asking->visit(&reason, asking->data);
}

/* --- lines ----------------------------------------------------------------- */

static struct line *add_line(struct asking *asking)
{
	struct line *line;

	if (baleen_array_add(&asking->line, asking->n))
		return NULL;
	line = &asking->line[asking->n++];
	*line = (struct line){ .feed = asking->n_feeds,
			       .reason = { .is_feed = true, .feed = *asking->feed } };
	return line;
}

static int add_reason(const struct baleen_list_line *found, void *data)
{
	struct line *line = add_line(data);

	if (!line)
		return -ENOMEM;
	line->length = found->length;
	line->reason.is_exception = found->is_exception;
	line->reason.line = found->number;
	strcpy(line->reason.text, found->text);
	return 0;
}

/* The longest decides; of two of a length the exception; then the first. */
static int compare_lines(const struct line *a, const struct line *b)
{
	if (a->length != b->length)
		return a->length < b->length ? 1 : -1;
	if (a->reason.is_exception != b->reason.is_exception)
		return a->reason.is_exception ? -1 : 1;
	return a->reason.line < b->reason.line ? -1 : a->reason.line > b->reason.line;
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->feed_holds != y->feed_holds)
		return x->feed_holds ? -1 : 1;
	if (x->feed != y->feed)
		return x->feed < y->feed ? -1 : 1;
	return compare_lines(x, y);
}

/* --- feeds ----------------------------------------------------------------- */

static int ask_image(struct asking *asking)
{
	int ret = baleen_derive_image_holds(asking->state, asking->feed, asking->rule->key_spec,
					    asking->key, asking->error);
	struct line *line;

	if (ret <= 0)
		return ret;
	line = add_line(asking);
	if (!line)
		return baleen_fail(asking->error, ENOMEM, "no memory for what was found");
	line->feed_holds = true;
	return 0;
}

/* Without a note the line is told as any other. */
static void note_routes(struct asking *asking, size_t first)
{
	int fd = -1;

	if (baleen_route_feed_is(asking->feed->wanted.source))
		fd = baleen_feed_open(asking->state, asking->feed, NULL);
	if (fd < 0)
		return;
	for (size_t i = first; i < asking->n; i++)
		baleen_route_feed_note(fd, asking->line[i].reason.line,
				       &asking->line[i].reason.route);
	close(fd);
}

static int ask_list(struct asking *asking)
{
	int fd = baleen_feed_open_lines(asking->state, asking->feed, asking->error), err;
	size_t first = asking->n, decides = first;

	if (fd < 0)
		return fd;
	err = baleen_list_find_each(fd, asking->rule->key_spec, asking->key, add_reason, asking);
	if (!err)
		note_routes(asking, first);
	close(fd);
	if (err)
		return baleen_fail(asking->error, -err, "%.600s: %s",
				   baleen_feed_name(asking->feed).text, strerror(-err));
	for (size_t i = first; i < asking->n; i++)
		if (compare_lines(&asking->line[i], &asking->line[decides]) < 0)
			decides = i;
	for (size_t i = first; i < asking->n; i++)
		asking->line[i].feed_holds = !asking->line[decides].reason.is_exception;
	return 0;
}

/* -ENOENT goes on: there is no copy yet. */
static int ask_feed(const struct baleen_feed *feed, void *data)
{
	struct asking *asking = data;
	int err;

	asking->feed = feed;
	err = feed->format == BALEEN_FEED_IMAGE ? ask_image(asking) : ask_list(asking);
	asking->n_feeds++;
	return err == -ENOENT ? 0 : err;
}

int baleen_derive_reasons(const struct baleen_rule_store *state,
			  const struct baleen_stored_rule *rule, const struct baleen_key *key,
			  u64 now_ms, int (*visit)(const struct baleen_reason *reason, void *data),
			  void *data, struct baleen_error *error)
{
	struct asking asking = { .state = state,
				 .rule = rule,
				 .key = key,
				 .visit = visit,
				 .data = data,
				 .error = error };
	int ret;

	if (rule->is_any)
		return 0;
	ret = baleen_rule_entries_find(state, rule->name, key, now_ms, add_entry_reason, &asking,
				       error);
	if (!ret)
		ret = baleen_rule_feeds_each(state, rule, ask_feed, &asking, error);
	if (!ret && asking.n)
		qsort(asking.line, asking.n, sizeof(*asking.line), compare);
	for (size_t i = 0; i < asking.n && !ret; i++)
		ret = visit(&asking.line[i].reason, data);
	free(asking.line);
	return ret;
}
