// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which feeds and entries caused the sampled drops of a device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "list/list_entry.h"
#include "ops/image_file.h"
#include "deploy/derive.h"
#include "report/drop_causes.h"
#include "state/entries.h"
#include "util/array.h"
#include "xdp/pins.h"

/**
 * struct hit - the entry of a feed or origin that decides of a source
 * @length: length of the prefix that covers it; -1: no entry does
 * @is_exception: it takes the source out
 * @text: the entry
 */
struct hit {
	int length;
	bool is_exception;
	char text[BALEEN_RULE_ENTRY_TEXT];
};

/**
 * struct source - a source that a rule dropped
 * @key: its address
 * @number: the same as a number, by which sources are sorted
 * @n_drops: sampled drops
 * @decision: what the single entries say of it
 * @n_holders: feeds and origins that hold it
 * @holder: the last of them
 */
struct source {
	struct baleen_key key;
	struct baleen_ip6 number;
	u64 n_drops;
	enum baleen_decision decision;
	u32 n_holders;
	size_t holder;
};

/**
 * struct asking - a rule and the sources that it dropped
 * @state: state of the device
 * @rule: the rule
 * @causes: grows by its feeds and origins
 * @source: the sources; sorted once all are there
 * @n: how many
 * @hit: by source, of the feed or origin that is being asked
 * @now: the source whose single entries are read
 * @now_ms: single entries that have ended by then hold nothing
 * @error: the caller's
 */
struct asking {
	const struct baleen_rule_store *state;
	const struct baleen_stored_rule *rule;
	struct baleen_drop_causes *causes;
	struct source *source;
	size_t n;
	struct hit *hit;
	struct source *now;
	u64 now_ms;
	struct baleen_error *error;
};

static int no_memory(const struct asking *asking)
{
	return baleen_fail(asking->error, ENOMEM, "no memory for %zu sources", asking->n);
}

static struct baleen_drop_cause *add_cause(struct asking *asking, const char *name)
{
	struct baleen_drop_causes *causes = asking->causes;
	struct baleen_drop_cause *cause;

	if (baleen_array_add(&causes->cause, causes->n))
		return NULL;
	cause = &causes->cause[causes->n++];
	*cause = (struct baleen_drop_cause){ 0 };
	snprintf(cause->rule, sizeof(cause->rule), "%s", asking->rule->name);
	snprintf(cause->name, sizeof(cause->name), "%s", name);
	return cause;
}

static void forget_hits(struct asking *asking)
{
	for (size_t i = 0; i < asking->n; i++)
		asking->hit[i].length = -1;
}

/* --- what a feed or origin has met ---------------------------------------- */

struct met {
	const char *text;
	u64 n_drops;
};

static int compare_met(const void *a, const void *b)
{
	return strcmp(((const struct met *)a)->text, ((const struct met *)b)->text);
}

/* The entries that decided, each once, and the one with the most drops. */
static void count_met(struct baleen_drop_cause *cause, struct met *met, size_t n)
{
	u64 n_drops = 0;

	qsort(met, n, sizeof(*met), compare_met);
	for (size_t i = 0; i < n; i++) {
		n_drops += met[i].n_drops;
		if (i + 1 < n && !compare_met(&met[i], &met[i + 1]))
			continue;
		cause->n_met++;
		if (n_drops > cause->top_drops) {
			cause->top_drops = n_drops;
			strcpy(cause->top_entry, met[i].text);
		}
		n_drops = 0;
	}
}

/* An exception of bans takes it out of entries, but of no feed. */
static bool is_excepted(const struct source *source, const struct baleen_drop_cause *cause)
{
	return source->decision == BALEEN_DECIDED_OUT ||
	       (source->decision == BALEEN_LEFT_TO_FEEDS && !cause->feed_id);
}

/* Adds up the sources that the last cause holds, by the hits on it. */
static int sum_up(struct asking *asking)
{
	size_t at = asking->causes->n - 1, n = 0;
	struct baleen_drop_cause *cause = &asking->causes->cause[at];
	struct met *met = reallocarray(NULL, asking->n + 1, sizeof(*met));

	if (!met)
		return no_memory(asking);
	for (size_t i = 0; i < asking->n; i++) {
		struct source *source = &asking->source[i];
		const struct hit *hit = &asking->hit[i];

		if (hit->length < 0 || hit->is_exception || is_excepted(source, cause))
			continue;
		cause->n_sources++;
		cause->n_drops += source->n_drops;
		source->n_holders++;
		source->holder = at;
		met[n++] = (struct met){ hit->text, source->n_drops };
	}
	if (cause->n_met != BALEEN_MET_UNKNOWN)
		count_met(cause, met, n);
	free(met);
	return 0;
}

/* --- feeds ----------------------------------------------------------------- */

/* The first source that is not before an address. */
static size_t find_source(const struct asking *asking, struct baleen_ip6 number)
{
	size_t low = 0, high = asking->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (baleen_ip6_compare(asking->source[middle].number, number) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The longest prefix decides; of two of a length the exception; then the first. */
static int ask_line(const struct baleen_entry *entry, u64 line, void *data)
{
	struct asking *asking = data;

	if (entry->kind != BALEEN_ENTRY_SPAN)
		return 0;
	asking->causes->cause[asking->causes->n - 1].n_entries += !entry->is_exception;
	for (size_t i = find_source(asking, entry->span.first);
	     i < asking->n && baleen_ip6_compare(asking->source[i].number, entry->span.last) <= 0;
	     i++) {
		int length = baleen_entry_covers(entry, &asking->source[i].key);
		struct hit *hit = &asking->hit[i];

		if (length < 0 || length < hit->length ||
		    (length == hit->length && entry->is_exception <= hit->is_exception))
			continue;
		hit->length = length;
		hit->is_exception = entry->is_exception;
		baleen_entry_format(entry, hit->text, sizeof(hit->text));
	}
	return 0;
}

static int ask_list(struct asking *asking, const struct baleen_feed *feed)
{
	int fd = baleen_feed_open_lines(asking->state, feed, asking->error), err;

	if (fd < 0)
		return fd;
	err = baleen_list_scan(fd, BALEEN_KEY_SRC, ask_line, asking);
	close(fd);
	return err ? baleen_fail(asking->error, -err, "%.600s: %s", baleen_feed_name(feed).text,
				 strerror(-err)) :
		     0;
}

static int ask_image(struct asking *asking, const struct baleen_feed *feed)
{
	int fd = baleen_feed_open(asking->state, feed, asking->error), err;
	struct baleen_filter image;

	if (fd < 0)
		return fd;
	err = baleen_image_file_read(fd, baleen_feed_name(feed).text, &image, asking->error);
	close(fd);
	if (err)
		return err;
	for (size_t i = 0; i < asking->n; i++)
		if (baleen_filter_test(&image, &asking->source[i].key))
			asking->hit[i] = (struct hit){ .length = 0 };
	baleen_filter_free(&image);
	return 0;
}

static int ask_feed(const struct baleen_feed *feed, void *data)
{
	struct asking *asking = data;
	bool is_image = feed->format == BALEEN_FEED_IMAGE;
	struct baleen_drop_cause *cause = add_cause(asking, baleen_feed_name(feed).text);
	int err;

	if (!cause)
		return no_memory(asking);
	cause->feed_id = feed->id;
	cause->n_entries = is_image ? feed->n_entries : 0;
	cause->n_met = is_image ? BALEEN_MET_UNKNOWN : 0;
	forget_hits(asking);
	err = is_image ? ask_image(asking, feed) : ask_list(asking, feed);
	/* There is no copy yet. */
	if (err == -ENOENT)
		return 0;
	return err ? err : sum_up(asking);
}

/* --- single entries ---------------------------------------------------------- */

/* The longest comes first, and decides for what is shorter. */
static int see_exception(const struct baleen_rule_entry *entry, void *data)
{
	struct asking *asking = data;

	asking->now->decision = baleen_decision_with(asking->now->decision, entry);
	return asking->now->decision != BALEEN_LEFT_TO_FEEDS;
}

static int see_entry(const struct baleen_rule_entry *entry, void *data)
{
	struct asking *asking = data;
	struct hit *hit = &asking->hit[asking->now - asking->source];
	const char *origin = asking->causes->cause[asking->causes->n - 1].name;

	if (entry->is_exception || strcmp(entry->origin, origin))
		return 0;
	hit->length = 0;
	hit->is_exception = false;
	strcpy(hit->text, baleen_entry_key_text(&entry->key).text);
	return 1;
}

static int each_source(struct asking *asking,
		       int (*visit)(const struct baleen_rule_entry *entry, void *data))
{
	int err = 0;

	for (size_t i = 0; i < asking->n && err >= 0; i++) {
		asking->now = &asking->source[i];
		err = baleen_rule_entries_find(asking->state, asking->rule->name, &asking->now->key,
					       asking->now_ms, visit, asking, asking->error);
	}
	return err < 0 ? err : 0;
}

static int ask_origin(const char *origin, u64 n, void *data)
{
	struct asking *asking = data;
	struct baleen_drop_cause *cause = add_cause(asking, origin);
	int err;

	if (!cause)
		return no_memory(asking);
	cause->n_entries = n;
	forget_hits(asking);
	err = each_source(asking, see_entry);
	return err ? err : sum_up(asking);
}

/* --- rules ------------------------------------------------------------------- */

static int compare_sources(const void *a, const void *b)
{
	return baleen_ip6_compare(((const struct source *)a)->number,
				  ((const struct source *)b)->number);
}

static bool tells_entries(const struct baleen_stored_rule *rule, u32 key_spec)
{
	return rule->key_spec == key_spec && !rule->is_any;
}

static void sum_up_rule(struct asking *asking)
{
	for (size_t i = 0; i < asking->n; i++) {
		const struct source *source = &asking->source[i];

		if (!source->n_holders)
			asking->causes->n_gone += source->n_drops;
		else if (source->n_holders == 1)
			asking->causes->cause[source->holder].n_alone += source->n_drops;
	}
}

/* Also of a rule that dropped nothing: its feeds have met nothing. */
static int ask_rule(struct asking *asking)
{
	int err;

	asking->hit = reallocarray(NULL, asking->n + 1, sizeof(*asking->hit));
	if (!asking->hit)
		return no_memory(asking);
	if (asking->n)
		qsort(asking->source, asking->n, sizeof(*asking->source), compare_sources);
	err = each_source(asking, see_exception);
	if (!err)
		err = baleen_feeds_each(asking->state, asking->rule->name, ask_feed, asking,
					asking->error);
	if (!err)
		err = baleen_rule_entries_origins(asking->state, asking->rule->name, ask_origin,
						  asking, asking->error);
	if (!err)
		sum_up_rule(asking);
	free(asking->hit);
	return err;
}

/**
 * struct collecting - sampled drops, sorted to the rules of a state
 * @rules: the rules
 * @key_spec: which address drops are kept by
 * @of_rule: by rule
 * @causes: counts what is sampled
 */
struct collecting {
	const struct baleen_stored_rules *rules;
	u32 key_spec;
	struct asking of_rule[BALEEN_MAX_RULES];
	struct baleen_drop_causes *causes;
};

static int collect(const struct baleen_key *key, const struct baleen_drop *drop, void *data)
{
	struct collecting *collecting = data;
	int rule = baleen_rule_store_find_rule(collecting->rules, drop->rule);
	struct asking *asking;

	collecting->causes->n_sources++;
	collecting->causes->n_drops += drop->n;
	if (rule < 0 || !tells_entries(&collecting->rules->rule[rule], collecting->key_spec)) {
		collecting->causes->n_other += drop->n;
		return 0;
	}
	asking = &collecting->of_rule[rule];
	if (baleen_array_add(&asking->source, asking->n))
		return -ENOMEM;
	asking->source[asking->n++] = (struct source){ .key = *key,
						       .number = baleen_ip6_of_key(key),
						       .n_drops = drop->n };
	return 0;
}

static int read_drops(struct collecting *collecting, int ifindex, struct baleen_error *error)
{
	struct baleen_pins pins;
	sqlite3 *drops;
	int err = baleen_pins_name(&pins, ifindex, error);

	if (!err)
		err = baleen_drops_open(&drops, false, error);
	if (err)
		return err;
	err = baleen_drops_each(drops, pins.netns_cookie, ifindex, collect, collecting);
	baleen_drops_close(drops);
	return err ? baleen_fail(error, -err, "sampled drops: %s", strerror(-err)) : 0;
}

static int ask_rules(struct collecting *collecting, const struct baleen_rule_store *state,
		     struct baleen_error *error)
{
	u64 now_ms = baleen_now_ms();
	int err = 0;

	for (u32 i = 0; i < collecting->rules->n_rules && !err; i++) {
		struct asking *asking = &collecting->of_rule[i];

		asking->state = state;
		asking->rule = &collecting->rules->rule[i];
		asking->causes = collecting->causes;
		asking->now_ms = now_ms;
		asking->error = error;
		if (tells_entries(asking->rule, collecting->key_spec))
			err = ask_rule(asking);
	}
	return err;
}

int baleen_drop_causes_find(const struct baleen_rule_store *state, int ifindex,
			    struct baleen_drop_causes *causes, struct baleen_error *error)
{
	struct baleen_drop_causes found = { 0 };
	struct baleen_stored_rules rules;
	struct collecting collecting = { .rules = &rules,
					 .key_spec = baleen_drops_key_spec(ifindex),
					 .causes = &found };
	int err = baleen_rule_store_get_rules(state, &rules, error);

	if (!err)
		err = read_drops(&collecting, ifindex, error);
	if (!err)
		err = ask_rules(&collecting, state, error);
	for (u32 i = 0; i < BALEEN_MAX_RULES; i++)
		free(collecting.of_rule[i].source);
	if (err)
		baleen_drop_causes_free(&found);
	else
		*causes = found;
	return err;
}

void baleen_drop_causes_free(struct baleen_drop_causes *causes)
{
	free(causes->cause);
	*causes = (struct baleen_drop_causes){ 0 };
}
