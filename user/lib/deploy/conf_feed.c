// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The statement of a configuration that names a feed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "deploy/conf_feed.h"
#include "list/csv_table.h"
#include "net/route_names.h"
#include "set/rollout.h"
#include "state/feed_host.h"
#include "state/route_feed.h"
#include "state/set_feed.h"
#include "util/array.h"
#include "util/duration.h"
#include "util/resolve.h"
#include "util/url.h"

/* None waits for a feed that comes more seldom, or for an answer that takes longer. */
#define MAX_EVERY_MS 31536000000ull
#define MAX_TIMEOUT_MS 3600000ull
#define MAX_FLEET_MS (BALEEN_RULE_FLEET_MAX_S * 1000ull)

static int parse_period(struct baleen_conf_parser *parser, const char *word, const char *value,
			u64 max_ms, u32 *seconds)
{
	char most[BALEEN_DURATION_TEXT];
	u64 ms;

	if (baleen_duration_parse(value, &ms) || ms < 1000 || ms > max_ms)
		return baleen_conf_refuse(parser,
					  "%s '%s': not a time from 1s to %s such as 30s, 5m", word,
					  value, baleen_duration_format(max_ms, most));
	*seconds = ms / 1000;
	return 0;
}

/* Conditions are kept as one text, a line each. */
static int add_where(struct baleen_conf_parser *parser, struct baleen_feed_source *wanted,
		     const char *value)
{
	size_t length = strlen(wanted->where);

	if (length + 1 + strlen(value) >= sizeof(wanted->where))
		return baleen_conf_refuse(parser, "where: more than %zu bytes",
					  sizeof(wanted->where) - 2);
	if (length)
		wanted->where[length++] = '\n';
	strcpy(wanted->where + length, value);
	return 0;
}

/* @column: BALEEN_FEED_OPTION_BYTES. `format NAME` is `column @NAME`, `json PATH` is `column PATH`.
 */
static int parse_column(struct baleen_conf_parser *parser, struct baleen_csv_options *table,
			char *column, const char *word, const char *value)
{
	const char *mark = strcmp(word, "format") ? "" : "@";
	struct baleen_error why;

	if (!strcmp(word, "json") && *value != '.')
		return baleen_conf_refuse(parser, "json '%s': not a path such as .[].ip", value);
	if (snprintf(column, BALEEN_FEED_OPTION_BYTES, "%s%s", mark, value) >=
	    BALEEN_FEED_OPTION_BYTES)
		return baleen_conf_refuse(parser, "%s: %d bytes or more", word,
					  BALEEN_FEED_OPTION_BYTES);
	if (baleen_csv_parse_column(table, column, &why))
		return baleen_conf_refuse(parser, "%s", why.text);
	return 0;
}

static int parse_table_option(struct baleen_conf_parser *parser, struct baleen_csv_options *table,
			      struct baleen_feed_source *wanted, const char *word,
			      const char *value)
{
	struct baleen_error why;

	if (!strcmp(word, "where")) {
		if (baleen_csv_parse_where(table, value, &why))
			return baleen_conf_refuse(parser, "%s", why.text);
		return add_where(parser, wanted, value);
	} else {
		if (baleen_csv_parse_delimiter(table, value, &why))
			return baleen_conf_refuse(parser, "%s", why.text);
		wanted->delimiter = table->delimiter;
	}
	return 0;
}

/* @to: BALEEN_FEED_OPTION_BYTES */
static int parse_path(struct baleen_conf_parser *parser, const char *value, char *to)
{
	int err = baleen_conf_check_path(parser, value, BALEEN_FEED_OPTION_BYTES);

	if (!err)
		strcpy(to, value);
	return err;
}

static int parse_ring(struct baleen_conf_parser *parser, const char *value, u32 *ring)
{
	if (value[0] < '1' || value[0] > '0' + BALEEN_SET_RINGS || value[1])
		return baleen_conf_refuse(parser, "ring '%s': not a number from 1 to %d", value,
					  BALEEN_SET_RINGS);
	*ring = value[0] - '0';
	return 0;
}

enum feed_word {
	COLUMN,
	JSON,
	FORMAT,
	WHERE,
	DELIMITER,
	SKIP_BAD,
	EVERY,
	TIMEOUT,
	ACCESS,
	PRIVATE,
	HOLD,
	KEY,
	RING,
	N_FEED_WORDS
};

static const char *const feed_words[] = { "column",   "json",  "format",  "where",  "delimiter",
					  "skip-bad", "every", "timeout", "access", "private",
					  "hold",     "key",   "ring" };

/* Each says where the keys are: one of them. */
#define COLUMN_WORDS (1u << COLUMN | 1u << JSON | 1u << FORMAT)

/* One option at word @i; returns how many words it took, or a negative errno. */
static int parse_feed_option(struct baleen_conf_parser *parser, struct baleen_csv_options *table,
			     struct baleen_feed_source *wanted, u32 i, u32 *given)
{
	const char *word = parser->word[i], *value = parser->word[i + 1];
	u32 option = 0;
	int err;

	while (option < N_FEED_WORDS && strcmp(word, feed_words[option]))
		option++;
	if (option == N_FEED_WORDS)
		return baleen_conf_refuse(
			parser,
			"'%s': not an option of a feed: column, json, format, where, delimiter, "
			"skip-bad, every, timeout, access, private, hold, key or ring",
			word);
	if (*given & 1u << option && option != WHERE)
		return baleen_conf_refuse(parser, "%s is given twice", word);
	if (*given & COLUMN_WORDS && 1u << option & COLUMN_WORDS)
		return baleen_conf_refuse(parser, "%s: one of column, json and format is enough",
					  word);
	*given |= 1u << option;
	if (option == SKIP_BAD || option == PRIVATE) {
		*(option == SKIP_BAD ? &wanted->skip_bad : &wanted->may_be_private) = true;
		return 1;
	}
	if (!value)
		return baleen_conf_refuse(parser, "%s: its value is missing", word);
	switch (option) {
	case EVERY: err = parse_period(parser, word, value, MAX_EVERY_MS, &wanted->every_s); break;
	case TIMEOUT:
		err = parse_period(parser, word, value, MAX_TIMEOUT_MS, &wanted->timeout_s);
		break;
	case HOLD:
		err = strcmp(value, "none") ?
			      parse_period(parser, word, value, MAX_EVERY_MS, &wanted->hold_s) :
			      0;
		break;
	case ACCESS: err = parse_path(parser, value, wanted->access); break;
	case KEY: err = parse_path(parser, value, wanted->key); break;
	case RING: err = parse_ring(parser, value, &wanted->ring); break;
	case COLUMN:
	case JSON:
	case FORMAT: err = parse_column(parser, table, wanted->column, word, value); break;
	default: err = parse_table_option(parser, table, wanted, word, value);
	}
	return err ? err : 2;
}

static int check_route(struct baleen_conf_parser *parser, const char *source, u32 given)
{
	if (!baleen_route_table_is_name(source + sizeof(BALEEN_ROUTE_FEED) - 1))
		return baleen_conf_refuse(parser,
					  "feed '%s': not the number or name of a routing table",
					  source);
	if (given & ~(1u << EVERY | 1u << HOLD))
		return baleen_conf_refuse(parser, "feed %s: only hold and every are for routes",
					  source);
	return 0;
}

static int check_host(struct baleen_conf_parser *parser, const char *source, u32 given)
{
	if (!baleen_resolve_is_name(source + sizeof(BALEEN_FEED_HOST) - 1))
		return baleen_conf_refuse(parser, "feed '%s': not the name of a host", source);
	if (given & ~(1u << EVERY | 1u << TIMEOUT))
		return baleen_conf_refuse(parser, "feed %s: only every and timeout are for names",
					  source);
	if (parser->rule->action != BALEEN_ACTION_ALLOW)
		return baleen_conf_refuse(
			parser,
			"feed %s: names are for rules that allow: whoever answers "
			"for one could have others dropped",
			source);
	return 0;
}

static int check_copy(struct baleen_conf_parser *parser, const char *source, u32 given)
{
	if (strlen(source) >= BALEEN_SOURCE_BYTES || !source[sizeof(BALEEN_FEED_COPY) - 1])
		return baleen_conf_refuse(parser, "feed %s: its name is empty, or too long",
					  BALEEN_FEED_COPY);
	if (given & ~(COLUMN_WORDS | 1u << WHERE | 1u << DELIMITER | 1u << SKIP_BAD))
		return baleen_conf_refuse(
			parser,
			"feed %s: only column, json, format, where, delimiter and skip-bad are for "
			"copies",
			source);
	return 0;
}

static int check_set(struct baleen_conf_parser *parser, const char *source, u32 given)
{
	const char *reason = strlen(source) < BALEEN_SOURCE_BYTES ? baleen_feed_set_refuse(source) :
								    "too long a URL";

	if (reason)
		return baleen_conf_refuse(parser, "feed '%s': %s",
					  baleen_feed_public_name(source).text, reason);
	if (given &
	    ~(1u << EVERY | 1u << TIMEOUT | 1u << ACCESS | 1u << PRIVATE | 1u << KEY | 1u << RING))
		return baleen_conf_refuse(
			parser,
			"feed %s: only key, ring, every, timeout, access and private are for sets",
			baleen_feed_public_name(source).text);
	if (!(given & 1u << KEY))
		return baleen_conf_refuse(
			parser, "feed %s: key FILE is missing: the public key of its publisher",
			baleen_feed_public_name(source).text);
	return 0;
}

static int check_source(struct baleen_conf_parser *parser, const char *source, u32 given)
{
	bool is_url = baleen_url_is(source);

	if (baleen_route_feed_is(source))
		return check_route(parser, source, given);
	if (baleen_feed_host_is(source) && strlen(source) < BALEEN_SOURCE_BYTES)
		return check_host(parser, source, given);
	if (baleen_feed_set_is(source))
		return check_set(parser, source, given);
	if (baleen_feed_copy_is(source))
		return check_copy(parser, source, given);
	if (given & 1u << RING)
		return baleen_conf_refuse(parser, "ring is for signed sets: feed set+https://...");
	if (given & 1u << KEY)
		return baleen_conf_refuse(parser, "key is for signed sets: feed set+https://...");
	if (given & 1u << HOLD)
		return baleen_conf_refuse(parser, "hold is for routes: feed route:TABLE");
	if (is_url && strlen(source) >= BALEEN_SOURCE_BYTES)
		return baleen_conf_refuse(parser, "feed: a URL of %d bytes or more",
					  BALEEN_SOURCE_BYTES);
	if (!strncasecmp(source, "file:", 5))
		return baleen_conf_refuse(parser,
					  "feed '%s': a file of this host is written "
					  "file:///PATH or as its path",
					  source);
	if (!is_url && strstr(source, "://"))
		return baleen_conf_refuse(parser,
					  "feed '%s': only http:// and https:// are fetched",
					  baleen_url_name(source).text);
	if (strchr(source, '\t'))
		return baleen_conf_refuse(parser, "feed: a tab in its name");
	if (!is_url && baleen_conf_check_path(parser, source, BALEEN_SOURCE_BYTES))
		return -EINVAL;
	if (!is_url && given & 1u << TIMEOUT)
		return baleen_conf_refuse(parser, "timeout is for what is fetched from a URL");
	if (!is_url && given & 1u << ACCESS)
		return baleen_conf_refuse(parser, "access is for what is fetched from a URL");
	if (!is_url && given & 1u << PRIVATE)
		return baleen_conf_refuse(parser, "private is for what is fetched from a URL");
	return 0;
}

static bool is_same_source(const struct baleen_feed_source *a, const struct baleen_feed_source *b)
{
	return !strcmp(a->source, b->source) && !strcmp(a->column, b->column) &&
	       !strcmp(a->where, b->where);
}

static int add_feed(struct baleen_conf_parser *parser, const struct baleen_feed_source *wanted)
{
	struct baleen_conf *conf = parser->conf;
	struct baleen_conf_feed feed = { .rule = conf->rules.n_rules - 1,
					 .wanted = *wanted,
					 .line = parser->line };

	for (size_t i = 0; i < conf->n_feeds; i++)
		if (conf->feed[i].rule == feed.rule &&
		    is_same_source(&conf->feed[i].wanted, wanted))
			return baleen_conf_refuse(parser, "feed '%s' is in line %llu already",
						  baleen_feed_source_name(wanted).text,
						  (unsigned long long)conf->feed[i].line);
	if (conf->n_feeds == BALEEN_CONF_MAX_FEEDS)
		return baleen_conf_refuse(parser, "more than %d feeds", BALEEN_CONF_MAX_FEEDS);
	if (baleen_array_add(&conf->feed, conf->n_feeds))
		return baleen_fail(parser->error, ENOMEM, "%s: no memory", parser->name);
	conf->feed[conf->n_feeds++] = feed;
	return 0;
}

/* Bans of other hosts come one by one, so no version of them is fetched. */
static int parse_fleet(struct baleen_conf_parser *parser, struct baleen_rule_fleet *fleet)
{
	const char *set = parser->word[1] + sizeof(BALEEN_ORIGIN_FLEET) - 1;
	struct baleen_rule_fleet read = { 0 };
	int err = 0;

	if (!baleen_rule_fleet_is_set(set))
		return baleen_conf_refuse(parser, "feed '%s': not the name of a set",
					  parser->word[1]);
	if (*fleet->set)
		return baleen_conf_refuse(parser, "a rule takes one set of a fleet: fleet:%s",
					  fleet->set);
	if (parser->n_words > 2 && strcmp(parser->word[2], "max-ttl"))
		return baleen_conf_refuse(parser, "feed %s: only max-ttl is for a fleet",
					  parser->word[1]);
	if (parser->n_words == 3)
		return baleen_conf_refuse(parser, "max-ttl: its value is missing");
	if (parser->n_words > 4)
		return baleen_conf_refuse(parser, "feed: '%s' is a word too many", parser->word[4]);
	if (parser->n_words == 4)
		err = parse_period(parser, "max-ttl", parser->word[3], MAX_FLEET_MS,
				   &read.max_ttl_s);
	if (err)
		return err;
	strcpy(read.set, set);
	*fleet = read;
	return 0;
}

static bool is_fleet(const char *source)
{
	return !strncmp(source, BALEEN_ORIGIN_FLEET, sizeof(BALEEN_ORIGIN_FLEET) - 1);
}

int baleen_conf_parse_feed(struct baleen_conf_parser *parser, void *to)
{
	struct baleen_feed_source wanted = { 0 };
	struct baleen_csv_options table = { 0 };
	const char *source = parser->word[1];
	char file[BALEEN_SOURCE_BYTES];
	u32 given = 0, i = 2;

	if (is_fleet(parser->word[1]))
		return parse_fleet(parser, &parser->rule->fleet);
	while (i < parser->n_words) {
		int n = parse_feed_option(parser, &table, &wanted, i, &given);

		if (n < 0)
			return n;
		i += n;
	}
	/* From here on it is its path: by both names it is one feed. */
	if (baleen_url_file(source, file, sizeof(file)))
		source = file;
	if (check_source(parser, source, given))
		return -EINVAL;
	if (baleen_route_feed_is(source) && !(given & 1u << HOLD))
		wanted.hold_s = BALEEN_ROUTE_HOLD_S;
	if (baleen_feed_host_is(source) && !(given & 1u << EVERY))
		wanted.every_s = BALEEN_FEED_HOST_EVERY_S;
	strcpy(wanted.source, source);
	return add_feed(parser, &wanted);
}

int baleen_conf_check_feeds(struct baleen_conf_parser *parser, u32 rule)
{
	const struct baleen_conf *conf = parser->conf;

	for (size_t i = 0; i < conf->n_feeds; i++) {
		const struct baleen_conf_feed *feed = &conf->feed[i];

		parser->line = feed->line;
		if (feed->rule == rule &&
		    (baleen_route_feed_is(feed->wanted.source) ||
		     baleen_feed_host_is(feed->wanted.source) ||
		     baleen_feed_set_is(feed->wanted.source)) &&
		    !baleen_spec_is_address(conf->rules.rule[rule].key_spec))
			return baleen_conf_refuse(
				parser,
				"feed %s: routes, names and sets are for keys of one address",
				baleen_feed_source_name(&feed->wanted).text);
	}
	return 0;
}

/* --- names that are not dropped -------------------------------------------------- */

int baleen_conf_parse_never_name(struct baleen_conf_parser *parser, void *to)
{
	const char *word = parser->word[1], *name = to;
	size_t length = strlen(word), at = strlen(to);
	u32 n = 0;

	if (!baleen_resolve_is_name(word))
		return baleen_conf_refuse(parser, "never-name '%s': not the name of a host", word);
	while (*name) {
		size_t one = strcspn(name, " ");

		if (one == length && !strncasecmp(name, word, one))
			return baleen_conf_refuse(parser, "never-name %s is given twice", word);
		name += one + (name[one] == ' ');
		n++;
	}
	if (n == BALEEN_NEVER_NAMES || at + 1 + length >= BALEEN_NEVER_NAMES_BYTES)
		return baleen_conf_refuse(parser,
					  "never-name: more than %d names, or %d bytes of them",
					  BALEEN_NEVER_NAMES, BALEEN_NEVER_NAMES_BYTES);
	sprintf((char *)to + at, "%s%s", at ? " " : "", word);
	return 0;
}

/* --- is this host well? ----------------------------------------------------------- */

/* No shell reads it: its words are those of the line. */
int baleen_conf_parse_health(struct baleen_conf_parser *parser, void *to)
{
	char *health = to;
	size_t n = 0;

	if (baleen_conf_check_path(parser, parser->word[1], BALEEN_COMMAND_BYTES))
		return -EINVAL;
	if (parser->n_words - 1 > BALEEN_COMMAND_WORDS)
		return baleen_conf_refuse(parser, "health: more than %d words",
					  BALEEN_COMMAND_WORDS);
	for (u32 i = 1; i < parser->n_words; i++) {
		const char *word = parser->word[i];

		if (!*word)
			return baleen_conf_refuse(parser, "health: an empty word");
		if (n + strlen(word) + 2 > BALEEN_COMMAND_BYTES)
			return baleen_conf_refuse(parser, "health: more than %d bytes",
						  BALEEN_COMMAND_BYTES - 1);
		n += sprintf(health + n, "%s%s", i > 1 ? "\n" : "", word);
	}
	return 0;
}
