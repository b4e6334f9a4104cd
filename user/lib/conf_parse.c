// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A configuration from text. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "csv_table.h"
#include "duration.h"
#include "fetch.h"
#include "key_spec.h"
#include "number.h"
#include "qualifiers.h"

#define MAX_LINE 8192
#define MAX_WORDS 64

/* Seconds in a u32, and a thousand downloads a second are nobody's wish. */
#define MAX_PERIOD_MS 31536000000ull

/**
 * struct parser - where the reading has come to
 * @name: of the file
 * @line: number of the line
 * @conf: what was read
 * @room_feeds: allocated
 * @rule: the rule that statements are of; NULL before the first
 * @rule_line: where each rule stands
 * @given: statements that were given, by index; those of rules since the last rule
 * @text: the line
 * @buffer: its words
 * @word: them
 * @n_words: how many
 * @error: filled in on failure
 */
struct parser {
	const char *name;
	u64 line;
	struct baleen_conf *conf;
	size_t room_feeds;
	struct baleen_state_rule *rule;
	u64 rule_line[BALEEN_MAX_RULES];
	u32 given;
	char text[MAX_LINE + 1];
	char buffer[MAX_LINE + 1];
	char *word[MAX_WORDS + 1];
	u32 n_words;
	struct baleen_error *error;
};

static int refuse(struct parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse(struct parser *parser, const char *format, ...)
{
	char why[sizeof(parser->error->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return baleen_fail(parser->error, EINVAL, "%s:%llu: %s", parser->name,
			   (unsigned long long)parser->line, why);
}

/* --- words ---------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A quoted word; @at is behind its quote. Returns what is behind it, or NULL. */
static const char *take_quoted(const char *at, char **out)
{
	for (; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1] != '"' && at[1] != '\\')
			return NULL;
		if (*at == '\\')
			at++;
		*(*out)++ = *at;
	}
	return *at && (!at[1] || is_blank(at[1])) ? at + 1 : NULL;
}

static const char *take_bare(const char *at, char **out)
{
	for (; *at && !is_blank(*at); at++) {
		if (*at == '"')
			return NULL;
		*(*out)++ = *at;
	}
	return at;
}

static int split(struct parser *parser)
{
	const char *at = parser->text;
	char *out = parser->buffer;

	for (parser->n_words = 0;; parser->n_words++) {
		while (is_blank(*at))
			at++;
		if (!*at || *at == '#')
			break;
		if (parser->n_words == MAX_WORDS)
			return refuse(parser, "more than %d words", MAX_WORDS);
		parser->word[parser->n_words] = out;
		at = *at == '"' ? take_quoted(at + 1, &out) : take_bare(at, &out);
		if (!at)
			return refuse(parser, "a quoted word is \"...\" with blanks around it, and "
					      "\\\" or \\\\ inside");
		*out++ = '\0';
	}
	parser->word[parser->n_words] = NULL;
	return 0;
}

/* --- statements of the device ----------------------------------------------- */

/* The place of @word among @words; refuses it with all of them if there is none. */
static int choose(struct parser *parser, const char *word, const char *const *words, u32 n,
		  u32 *choice)
{
	char all[128] = "";

	for (u32 i = 0; i < n; i++) {
		if (!strcmp(word, words[i])) {
			*choice = i;
			return 0;
		}
		strcat(strcat(all, !i ? "" : i + 1 < n ? ", " : " or "), words[i]);
	}
	return refuse(parser, "%s '%s': not %s", parser->word[0], word, all);
}

static int take_default(struct parser *parser)
{
	static const char *const words[] = { "pass", "drop" };
	u32 choice = 0;
	int err = choose(parser, parser->word[1], words, 2, &choice);

	if (!err)
		parser->conf->rules.default_drop = choice;
	return err;
}

static int take_dry_run(struct parser *parser)
{
	parser->conf->rules.dry_run = true;
	return 0;
}

static int take_mode(struct parser *parser)
{
	static const char *const words[] = { "auto", "native", "generic" };

	return choose(parser, parser->word[1], words, 3, &parser->conf->rules.mode);
}

static int take_place(struct parser *parser)
{
	bool is_chain = !strcmp(parser->word[0], "chain");

	if (parser->conf->rules.place != BALEEN_PLACE_LINK)
		return refuse(parser, "no-link and chain exclude each other");
	parser->conf->rules.place = is_chain ? BALEEN_PLACE_CHAIN : BALEEN_PLACE_NETLINK;
	return 0;
}

static int take_sample(struct parser *parser)
{
	const char *word = parser->word[1];

	if (baleen_interval_parse(word, &parser->conf->rules.sample_interval_ns))
		return refuse(parser, "sample '%s': not a rate such as 100/s, 6/m or 1/h", word);
	return 0;
}

static int check_path(struct parser *parser, const char *path, size_t room)
{
	if (*path != '/')
		return refuse(parser, "%s '%s': not a whole path, from / on", parser->word[0],
			      path);
	if (strlen(path) >= room)
		return refuse(parser, "%s: a path of %zu bytes or more", parser->word[0], room);
	return 0;
}

static int take_never(struct parser *parser)
{
	struct baleen_state_rules *rules = &parser->conf->rules;
	const char *path = strcmp(parser->word[1], "none") ? parser->word[1] : "";

	if (*path && check_path(parser, path, sizeof(rules->never_path)))
		return -EINVAL;
	strcpy(rules->never_path, path);
	return 0;
}

/* --- statements of a rule ----------------------------------------------------- */

static int take_qualifiers(struct parser *parser, struct baleen_state_rule *rule)
{
	struct baleen_error why;

	for (u32 i = 3; i < parser->n_words; i++) {
		const char *word = parser->word[i];

		if (baleen_qualifier_takes(word) > 0)
			i++;
		if (baleen_qualifier_add(&rule->qualifiers, word,
					 i < parser->n_words ? parser->word[i] : NULL, &why))
			return refuse(parser, "rule %s: %s", rule->name, why.text);
	}
	if (baleen_qualifiers_check(&rule->qualifiers, &why))
		return refuse(parser, "rule %s: %s", rule->name, why.text);
	return 0;
}

static int take_rule(struct parser *parser)
{
	static const char *const words[] = { "drop", "allow", "count" };
	static const u32 actions[] = { BALEEN_ACTION_DROP, BALEEN_ACTION_ALLOW,
				       BALEEN_ACTION_COUNT };
	struct baleen_state_rule rule = { .key_spec = BALEEN_KEY_SRC,
					  .kind = BALEEN_KIND_CUCKOO,
					  .limits = baleen_feed_limits_default(),
					  .guards_feeds = true };
	struct baleen_state_rules *rules = &parser->conf->rules;
	const char *reason = baleen_rule_name_check(parser->word[1]);
	u32 choice = 0;

	if (reason)
		return refuse(parser, "rule '%s': %s", parser->word[1], reason);
	if (choose(parser, parser->word[2], words, 3, &choice))
		return -EINVAL;
	for (u32 i = 0; i < rules->n_rules; i++)
		if (!strcmp(rules->rule[i].name, parser->word[1]))
			return refuse(parser, "rule '%s' is in line %llu already", parser->word[1],
				      (unsigned long long)parser->rule_line[i]);
	if (rules->n_rules == BALEEN_MAX_RULES)
		return refuse(parser, "more than %d rules", BALEEN_MAX_RULES);
	strcpy(rule.name, parser->word[1]);
	rule.action = actions[choice];
	if (take_qualifiers(parser, &rule))
		return -EINVAL;
	parser->rule_line[rules->n_rules] = parser->line;
	parser->rule = &rules->rule[rules->n_rules++];
	*parser->rule = rule;
	return 0;
}

static int take_key(struct parser *parser)
{
	struct baleen_error why;

	if (baleen_key_spec_parse(parser->word[1], &parser->rule->key_spec, &why))
		return refuse(parser, "key: %s", why.text);
	return 0;
}

static int take_kind(struct parser *parser)
{
	static const char *const words[] = { "cuckoo", "bloom" };
	static const u32 kinds[] = { BALEEN_KIND_CUCKOO, BALEEN_KIND_BLOOM };
	u32 choice = 0;
	int err = choose(parser, parser->word[1], words, 2, &choice);

	if (!err)
		parser->rule->kind = kinds[choice];
	return err;
}

static int take_fpp(struct parser *parser)
{
	if (baleen_rate_parse(parser->word[1], &parser->rule->fpp))
		return refuse(parser, "fpp '%s': not a rate from 0 to below 1", parser->word[1]);
	return 0;
}

static int take_capacity(struct parser *parser)
{
	if (baleen_count_parse(parser->word[1], &parser->rule->capacity))
		return refuse(parser, "capacity '%s': not a count from 1 to 2^40", parser->word[1]);
	return 0;
}

static int take_min_entries(struct parser *parser)
{
	u64 *min = &parser->rule->limits.min_entries;

	if (!strcmp(parser->word[1], "0"))
		*min = 0;
	else if (baleen_count_parse(parser->word[1], min))
		return refuse(parser, "min-entries '%s': not a count", parser->word[1]);
	return 0;
}

static int take_share(struct parser *parser, double *share)
{
	if (baleen_percent_parse(parser->word[1], share))
		return refuse(parser, "%s '%s': not a share from 0%% to 100%%", parser->word[0],
			      parser->word[1]);
	return 0;
}

static int take_max_shrink(struct parser *parser)
{
	return take_share(parser, &parser->rule->limits.max_shrink);
}

static int take_max_coverage(struct parser *parser)
{
	return take_share(parser, &parser->rule->limits.max_coverage);
}

static int take_special(struct parser *parser)
{
	static const char *const words[] = { "remove", "keep" };
	u32 choice = 0;
	int err = choose(parser, parser->word[1], words, 2, &choice);

	if (!err)
		parser->rule->limits.keep_special = choice;
	return err;
}

static int take_any(struct parser *parser)
{
	parser->rule->is_any = true;
	return 0;
}

/* --- feeds -------------------------------------------------------------------- */

static int take_period(struct parser *parser, const char *word, const char *value, u32 *seconds)
{
	u64 ms;

	if (baleen_duration_parse(value, &ms) || ms < 1000 || ms > MAX_PERIOD_MS)
		return refuse(parser, "%s '%s': not a time from 1s to 365d such as 30s, 5m, 1h30m",
			      word, value);
	*seconds = ms / 1000;
	return 0;
}

/* Conditions are kept as one text, a line each. */
static int add_where(struct parser *parser, struct baleen_feed_source *wanted, const char *value)
{
	size_t length = strlen(wanted->where);

	if (length + 1 + strlen(value) >= sizeof(wanted->where))
		return refuse(parser, "where: more than %zu bytes", sizeof(wanted->where) - 2);
	if (length)
		wanted->where[length++] = '\n';
	strcpy(wanted->where + length, value);
	return 0;
}

static int take_table_option(struct parser *parser, struct baleen_csv_options *table,
			     struct baleen_feed_source *wanted, const char *word, const char *value)
{
	struct baleen_error why;

	if (!strcmp(word, "column")) {
		if (baleen_csv_take_column(table, value, &why))
			return refuse(parser, "%s", why.text);
		if (strlen(value) >= sizeof(wanted->column))
			return refuse(parser, "column: %zu bytes or more", sizeof(wanted->column));
		strcpy(wanted->column, value);
	} else if (!strcmp(word, "where")) {
		if (baleen_csv_take_where(table, value, &why))
			return refuse(parser, "%s", why.text);
		return add_where(parser, wanted, value);
	} else {
		if (baleen_csv_take_delimiter(table, value, &why))
			return refuse(parser, "%s", why.text);
		wanted->delimiter = table->delimiter;
	}
	return 0;
}

enum feed_word { COLUMN, WHERE, DELIMITER, SKIP_BAD, EVERY, TIMEOUT, N_FEED_WORDS };

static const char *const feed_words[] = { "column",   "where", "delimiter",
					  "skip-bad", "every", "timeout" };

/* One option at word @i; returns how many words it took, or a negative errno. */
static int take_feed_option(struct parser *parser, struct baleen_csv_options *table,
			    struct baleen_feed_source *wanted, u32 i, u32 *given)
{
	const char *word = parser->word[i], *value = parser->word[i + 1];
	u32 option = 0;
	int err;

	while (option < N_FEED_WORDS && strcmp(word, feed_words[option]))
		option++;
	if (option == N_FEED_WORDS)
		return refuse(parser,
			      "'%s': not an option of a feed: column, where, delimiter, "
			      "skip-bad, every or timeout",
			      word);
	if (*given & 1u << option && option != WHERE)
		return refuse(parser, "%s is given twice", word);
	*given |= 1u << option;
	if (option == SKIP_BAD) {
		wanted->skip_bad = true;
		return 1;
	}
	if (!value)
		return refuse(parser, "%s: its value is missing", word);
	switch (option) {
	case EVERY: err = take_period(parser, word, value, &wanted->every_s); break;
	case TIMEOUT: err = take_period(parser, word, value, &wanted->timeout_s); break;
	default: err = take_table_option(parser, table, wanted, word, value);
	}
	return err ? err : 2;
}

static int check_source(struct parser *parser, const char *source, u32 given)
{
	bool is_url = baleen_fetch_is_url(source);

	if (is_url && strlen(source) >= BALEEN_SOURCE_BYTES)
		return refuse(parser, "feed: a URL of %d bytes or more", BALEEN_SOURCE_BYTES);
	if (!is_url && strstr(source, "://"))
		return refuse(parser, "feed '%s': only http:// and https:// are fetched", source);
	if (strchr(source, '\t'))
		return refuse(parser, "feed: a tab in its name");
	if (!is_url && check_path(parser, source, BALEEN_SOURCE_BYTES))
		return -EINVAL;
	if (!is_url && given & 1u << TIMEOUT)
		return refuse(parser, "timeout is for what is fetched from a URL");
	return 0;
}

static bool is_same_source(const struct baleen_feed_source *a, const struct baleen_feed_source *b)
{
	return !strcmp(a->source, b->source) && !strcmp(a->column, b->column) &&
	       !strcmp(a->where, b->where);
}

static int add_feed(struct parser *parser, const struct baleen_feed_source *wanted)
{
	struct baleen_conf *conf = parser->conf;
	struct baleen_conf_feed feed = { .rule = conf->rules.n_rules - 1,
					 .wanted = *wanted,
					 .line = parser->line };

	for (size_t i = 0; i < conf->n_feeds; i++)
		if (conf->feed[i].rule == feed.rule &&
		    is_same_source(&conf->feed[i].wanted, wanted))
			return refuse(parser, "feed '%s' is in line %llu already", wanted->source,
				      (unsigned long long)conf->feed[i].line);
	if (conf->n_feeds == BALEEN_CONF_MAX_FEEDS)
		return refuse(parser, "more than %d feeds", BALEEN_CONF_MAX_FEEDS);
	if (conf->n_feeds == parser->room_feeds) {
		size_t room = parser->room_feeds ? 2 * parser->room_feeds : 8;
		void *feeds = realloc(conf->feed, room * sizeof(*conf->feed));

		if (!feeds)
			return baleen_fail(parser->error, ENOMEM, "%s: no memory", parser->name);
		conf->feed = feeds;
		parser->room_feeds = room;
	}
	conf->feed[conf->n_feeds++] = feed;
	return 0;
}

static int take_feed(struct parser *parser)
{
	struct baleen_feed_source wanted = { 0 };
	struct baleen_csv_options table = { 0 };
	u32 given = 0, i = 2;

	while (i < parser->n_words) {
		int n = take_feed_option(parser, &table, &wanted, i, &given);

		if (n < 0)
			return n;
		i += n;
	}
	if (check_source(parser, parser->word[1], given))
		return -EINVAL;
	strcpy(wanted.source, parser->word[1]);
	return add_feed(parser, &wanted);
}

/* --- the table ------------------------------------------------------------------ */

enum { OF_DEVICE, OF_RULE, BEGINS_RULE };

#define MANY MAX_WORDS

/**
 * struct statement - a word that begins a line
 * @word: the word
 * @of: what it speaks of
 * @min_words: at least, itself included
 * @max_words: at most
 * @repeats: it may stand more than once
 * @missing: what is missing when there are fewer words
 * @take: takes the words of the line
 */
static const struct statement {
	const char *word;
	int of;
	u32 min_words, max_words;
	bool repeats;
	const char *missing;
	int (*take)(struct parser *parser);
} statements[] = {
	{ "default", OF_DEVICE, 2, 2, false, "pass or drop", take_default },
	{ "dry-run", OF_DEVICE, 1, 1, false, NULL, take_dry_run },
	{ "mode", OF_DEVICE, 2, 2, false, "auto, native or generic", take_mode },
	{ "no-link", OF_DEVICE, 1, 1, false, NULL, take_place },
	{ "chain", OF_DEVICE, 1, 1, false, NULL, take_place },
	{ "sample", OF_DEVICE, 2, 2, false, "a rate such as 100/s", take_sample },
	{ "never", OF_DEVICE, 2, 2, false, "a path, or none", take_never },
	{ "rule", BEGINS_RULE, 3, MANY, true, "a name, then drop, allow or count", take_rule },
	{ "feed", OF_RULE, 2, MANY, true, "a path or a URL", take_feed },
	{ "key", OF_RULE, 2, 2, false, "fields such as src,dport", take_key },
	{ "kind", OF_RULE, 2, 2, false, "cuckoo or bloom", take_kind },
	{ "fpp", OF_RULE, 2, 2, false, "a rate such as 1e-6", take_fpp },
	{ "capacity", OF_RULE, 2, 2, false, "a count", take_capacity },
	{ "min-entries", OF_RULE, 2, 2, false, "a count", take_min_entries },
	{ "max-shrink", OF_RULE, 2, 2, false, "a share such as 50%", take_max_shrink },
	{ "max-coverage", OF_RULE, 2, 2, false, "a share such as 25%", take_max_coverage },
	{ "special", OF_RULE, 2, 2, false, "keep or remove", take_special },
	{ "any", OF_RULE, 1, 1, false, NULL, take_any },
};

#define N_STATEMENTS (sizeof(statements) / sizeof(statements[0]))

static int find_statement(struct parser *parser, u32 *index)
{
	for (*index = 0; *index < N_STATEMENTS; (*index)++)
		if (!strcmp(parser->word[0], statements[*index].word))
			return 0;
	return refuse(parser, "'%s': no statement begins so", parser->word[0]);
}

static int check_words(struct parser *parser, const struct statement *statement)
{
	if (parser->n_words < statement->min_words)
		return refuse(parser, "%s: %s is missing", statement->word, statement->missing);
	if (parser->n_words > statement->max_words)
		return refuse(parser, "%s: '%s' is a word too many", statement->word,
			      parser->word[statement->max_words]);
	return 0;
}

/* Where it stands, and how often. */
static int check_place(struct parser *parser, u32 index)
{
	const struct statement *statement = &statements[index];

	if (statement->of == OF_DEVICE && parser->rule)
		return refuse(parser, "%s is of the device: it stands before the first rule",
			      statement->word);
	if (statement->of == OF_RULE && !parser->rule)
		return refuse(parser, "%s is of a rule: it stands behind one", statement->word);
	if (parser->given & 1u << index && !statement->repeats)
		return refuse(parser, "%s is given twice", statement->word);
	if (statement->of == BEGINS_RULE)
		parser->given = 0;
	parser->given |= 1u << index;
	return 0;
}

static int take_line(struct parser *parser)
{
	u32 index;
	int err = split(parser);

	if (err || !parser->n_words)
		return err;
	if (find_statement(parser, &index) || check_words(parser, &statements[index]) ||
	    check_place(parser, index))
		return -EINVAL;
	return statements[index].take(parser);
}

/* --- the whole -------------------------------------------------------------------- */

static bool has_feed(const struct baleen_conf *conf, u32 rule)
{
	for (size_t i = 0; i < conf->n_feeds; i++)
		if (conf->feed[i].rule == rule)
			return true;
	return false;
}

/* What can be said of a rule when all its lines are read. */
static int check_rule(struct parser *parser, u32 index)
{
	const struct baleen_state_rule *rule = &parser->conf->rules.rule[index];

	parser->line = parser->rule_line[index];
	if (rule->kind == BALEEN_KIND_BLOOM && rule->fpp <= 0)
		return refuse(parser, "rule %s: kind bloom needs a rate: fpp", rule->name);
	if (!rule->is_any)
		return 0;
	if (has_feed(parser->conf, index))
		return refuse(parser, "rule %s: any and feeds exclude each other", rule->name);
	if (!baleen_spec_is_address(rule->key_spec))
		return refuse(parser, "rule %s: any is for keys of one address", rule->name);
	return 0;
}

static int check(struct parser *parser)
{
	int err = 0;

	if (!parser->conf->rules.n_rules)
		return baleen_fail(parser->error, EINVAL, "%s: has no rule", parser->name);
	for (u32 i = 0; i < parser->conf->rules.n_rules && !err; i++)
		err = check_rule(parser, i);
	return err;
}

static bool has_control(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
			return true;
	return false;
}

/* Lines end with a newline, or with a carriage return and a newline. */
static int take_lines(struct parser *parser, const char *text, size_t n_bytes)
{
	const char *end = text + n_bytes;
	int err = 0;

	while (text < end && !err) {
		const char *newline = memchr(text, '\n', end - text);
		size_t length = (newline ? newline : end) - text;

		parser->line++;
		if (length && newline && text[length - 1] == '\r')
			length--;
		if (length > MAX_LINE)
			return refuse(parser, "a line of more than %d bytes", MAX_LINE);
		if (has_control(text, length))
			return refuse(parser, "a control character");
		memcpy(parser->text, text, length);
		parser->text[length] = '\0';
		err = take_line(parser);
		text = newline ? newline + 1 : end;
	}
	return err;
}

int baleen_conf_parse(const char *text, size_t n_bytes, const char *name, struct baleen_conf *conf,
		      struct baleen_error *error)
{
	struct baleen_conf parsed = { .text = strndup(text, n_bytes) };
	struct baleen_error unused;
	struct parser parser = { .name = name, .conf = &parsed, .error = error ? error : &unused };
	int err;

	if (!parsed.text)
		return baleen_fail(error, ENOMEM, "%s: no memory", name);
	if (snprintf(parsed.rules.never_path, sizeof(parsed.rules.never_path), "%s/%s",
		     baleen_conf_dir(), BALEEN_NEVER_FILE) >= (int)sizeof(parsed.rules.never_path))
		parsed.rules.never_path[0] = '\0';
	err = take_lines(&parser, text, n_bytes);
	if (!err)
		err = check(&parser);
	if (err)
		baleen_conf_free(&parsed);
	else
		*conf = parsed;
	return err;
}
