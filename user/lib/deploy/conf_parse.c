// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A configuration from text.
 *
 * Above 500 lines: a line of the table and a few lines to read it, statement by statement.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/conf_feed.h"
#include "deploy/conf_icp.h"
#include "filter/kind.h"
#include "key/key_spec.h"
#include "state/rule_scopes.h"
#include "util/number.h"
#include "xdp/limit_words.h"
#include "xdp/qualifiers.h"

/* --- statements of the device ----------------------------------------------- */

/* The place of @word among @words; refuses it with all of them if there is none. */
static int choose(struct baleen_conf_parser *parser, const char *word, const char *const *words,
		  u32 n, u32 *choice)
{
	char all[128] = "";

	for (u32 i = 0; i < n; i++) {
		if (!strcmp(word, words[i])) {
			*choice = i;
			return 0;
		}
		strcat(strcat(all, !i ? "" : i + 1 < n ? ", " : " or "), words[i]);
	}
	return baleen_conf_refuse(parser, "%s '%s': not %s", parser->word[0], word, all);
}

static int parse_second(struct baleen_conf_parser *parser, const char *const *words,
			bool *is_second)
{
	u32 choice = 0;
	int err = choose(parser, parser->word[1], words, 2, &choice);

	if (!err)
		*is_second = choice;
	return err;
}

static int parse_default(struct baleen_conf_parser *parser, void *to)
{
	static const char *const words[] = { "pass", "drop" };

	return parse_second(parser, words, to);
}

static int parse_flag(struct baleen_conf_parser *parser, void *to)
{
	*(bool *)to = true;
	return 0;
}

static int parse_egress(struct baleen_conf_parser *parser, void *to)
{
	parser->conf->is_egress = true;
	return 0;
}

static int parse_mode(struct baleen_conf_parser *parser, void *to)
{
	static const char *const words[] = { "auto", "native", "generic" };

	return choose(parser, parser->word[1], words, 3, to);
}

static int parse_guard_sessions(struct baleen_conf_parser *parser, void *to)
{
	return choose(parser, parser->word[1], baleen_session_guards, BALEEN_N_GUARDS, to);
}

static int parse_place(struct baleen_conf_parser *parser, void *to)
{
	bool is_chain = !strcmp(parser->word[0], "chain");
	u32 *attach_type = to;

	if (*attach_type != BALEEN_ATTACH_TYPE_LINK)
		return baleen_conf_refuse(parser, "no-link and chain exclude each other");
	*attach_type = is_chain ? BALEEN_ATTACH_TYPE_CHAIN : BALEEN_ATTACH_TYPE_NETLINK;
	return 0;
}

static int parse_sample(struct baleen_conf_parser *parser, void *to)
{
	if (baleen_interval_parse(parser->word[1], to))
		return baleen_conf_refuse(parser,
					  "sample '%s': not a rate such as 100/s, 6/m or 1/h",
					  parser->word[1]);
	return 0;
}

static int parse_never(struct baleen_conf_parser *parser, void *to)
{
	struct baleen_stored_rules *rules = &parser->conf->rules;
	const char *path = strcmp(parser->word[1], "none") ? parser->word[1] : "";

	if (*path && baleen_conf_check_path(parser, path, sizeof(rules->never_path)))
		return -EINVAL;
	strcpy(rules->never_path, path);
	return 0;
}

static int parse_match(struct baleen_conf_parser *parser, void *to)
{
	char *match = parser->conf->match;

	for (u32 i = 1; i < parser->n_words; i++) {
		size_t at = strlen(match), length = strlen(parser->word[i]);

		if (!parser->word[i][parser->word[i][0] == '!'] || strchr(parser->word[i], ' '))
			return baleen_conf_refuse(parser, "match '%s': no name of a device",
						  parser->word[i]);
		if (at + 1 + length >= BALEEN_CONF_MATCH_BYTES)
			return baleen_conf_refuse(parser, "match: more than %d bytes of names",
						  BALEEN_CONF_MATCH_BYTES);
		sprintf(match + at, "%s%s", at ? " " : "", parser->word[i]);
	}
	return 0;
}

/* --- statements of a rule ----------------------------------------------------- */

static int parse_qualifiers(struct baleen_conf_parser *parser, struct baleen_stored_rule *rule)
{
	struct baleen_error why;

	for (u32 i = 3; i < parser->n_words; i++) {
		const char *word = parser->word[i];

		if (baleen_is_qualifier(word) > 0)
			i++;
		if (baleen_qualifier_add(&rule->qualifiers, &rule->rate_limit, word,
					 i < parser->n_words ? parser->word[i] : NULL, &why))
			return baleen_conf_refuse(parser, "rule %s: %s", rule->name, why.text);
	}
	if (baleen_qualifiers_check(&rule->qualifiers, &rule->rate_limit, &why))
		return baleen_conf_refuse(parser, "rule %s: %s", rule->name, why.text);
	return 0;
}

static int parse_rule(struct baleen_conf_parser *parser, void *to)
{
	static const char *const words[] = { "drop", "allow", "count" };
	static const u32 actions[] = { BALEEN_ACTION_DROP, BALEEN_ACTION_ALLOW,
				       BALEEN_ACTION_COUNT };
	struct baleen_stored_rule rule = { .key_spec = baleen_conf_key(parser->conf),
					   .kind = BALEEN_KIND_CUCKOO,
					   .limits = baleen_feed_limits_default(),
					   .guards_feeds = true };
	struct baleen_stored_rules *rules = &parser->conf->rules;
	const char *reason = baleen_rule_name_check(parser->word[1]);
	u32 choice = 0;

	if (reason)
		return baleen_conf_refuse(parser, "rule '%s': %s", parser->word[1], reason);
	if (choose(parser, parser->word[2], words, 3, &choice))
		return -EINVAL;
	for (u32 i = 0; i < rules->n_rules; i++)
		if (!strcmp(rules->rule[i].name, parser->word[1]))
			return baleen_conf_refuse(parser, "rule '%s' is in line %llu already",
						  parser->word[1],
						  (unsigned long long)parser->rule_line[i]);
	if (rules->n_rules == BALEEN_MAX_RULES)
		return baleen_conf_refuse(parser, "more than %d rules", BALEEN_MAX_RULES);
	strcpy(rule.name, parser->word[1]);
	rule.action = actions[choice];
	if (parse_qualifiers(parser, &rule))
		return -EINVAL;
	parser->rule_line[rules->n_rules] = parser->line;
	parser->rule = &rules->rule[rules->n_rules++];
	*parser->rule = rule;
	return 0;
}

static int parse_key(struct baleen_conf_parser *parser, void *to)
{
	struct baleen_error why;
	u32 *key_spec = to;

	if (baleen_key_spec_parse(parser->word[1], key_spec, &why))
		return baleen_conf_refuse(parser, "key: %s", why.text);
	if (*key_spec == BALEEN_KEY_STRING)
		return baleen_conf_refuse(parser, "key: a string is no field of a packet");
	if (*key_spec == BALEEN_KEY_SQUID)
		return baleen_conf_refuse(parser, "key: a key of Squid is no field of a packet");
	if (!baleen_spec_has_fields(*key_spec))
		return baleen_conf_refuse(parser, "key: a fingerprint is no field of a packet");
	return 0;
}

static int parse_kind(struct baleen_conf_parser *parser, void *to)
{
	u32 kind = baleen_kind_find(parser->word[1]);

	if (!kind || baleen_kind_has_chains(kind))
		return baleen_conf_refuse(
			parser, "kind '%s': not cuckoo, bloom, classic, counting or quotient",
			parser->word[1]);
	*(u32 *)to = kind;
	return 0;
}

static int parse_fpp(struct baleen_conf_parser *parser, void *to)
{
	if (baleen_rate_parse(parser->word[1], to))
		return baleen_conf_refuse(parser, "%s '%s': not a rate from 0 to below 1",
					  parser->word[0], parser->word[1]);
	return 0;
}

static int parse_conf_count(struct baleen_conf_parser *parser, void *to)
{
	if (baleen_count_parse(parser->word[1], to))
		return baleen_conf_refuse(parser, "%s '%s': not a count from 1 to 2^40",
					  parser->word[0], parser->word[1]);
	return 0;
}

static int parse_min_entries(struct baleen_conf_parser *parser, void *to)
{
	if (!strcmp(parser->word[1], "0"))
		*(u64 *)to = 0;
	else if (baleen_count_parse(parser->word[1], to))
		return baleen_conf_refuse(parser, "min-entries '%s': not a count", parser->word[1]);
	return 0;
}

static int parse_share(struct baleen_conf_parser *parser, void *to)
{
	if (baleen_percent_parse(parser->word[1], to))
		return baleen_conf_refuse(parser, "%s '%s': not a share from 0%% to 100%%",
					  parser->word[0], parser->word[1]);
	return 0;
}

static int parse_special(struct baleen_conf_parser *parser, void *to)
{
	static const char *const words[] = { "remove", "keep" };

	return parse_second(parser, words, to);
}

/* Nobody asks for more than there is. */
static int parse_protect(struct baleen_conf_parser *parser, void *to)
{
	static const char *const words[] = { "none", "host" };

	return parse_second(parser, words, to);
}

static int parse_widen(struct baleen_conf_parser *parser, void *to)
{
	char text[BALEEN_WIDEN_TEXT] = "";
	const char *reason = "too long";
	size_t at = 0;

	for (u32 i = 1; i < parser->n_words && at < sizeof(text); i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%s", i > 1 ? " " : "",
			       parser->word[i]);
	if (at < sizeof(text))
		reason = baleen_widen_parse(text, to);
	return reason ? baleen_conf_refuse(parser, "widen: %s", reason) : 0;
}

static int parse_ban_width(struct baleen_conf_parser *parser, void *to)
{
	char *end;
	unsigned long width = strtoul(parser->word[1], &end, 10);

	if (*end || width < BALEEN_BAN_WIDTH_MIN || width > BALEEN_BAN_WIDTH_MAX)
		return baleen_conf_refuse(parser, "ban-width '%s': not %d to %d", parser->word[1],
					  BALEEN_BAN_WIDTH_MIN, BALEEN_BAN_WIDTH_MAX);
	*(u32 *)to = width == BALEEN_BAN_WIDTH ? 0 : width;
	return 0;
}

/* --- the table ------------------------------------------------------------------ */

enum { OF_DEVICE, OF_RULE, BEGINS_RULE };

#define MANY BALEEN_CONF_MAX_WORDS
#define DEVICE_AT(field) offsetof(struct baleen_stored_rules, field)
#define RULE_AT(field) offsetof(struct baleen_stored_rule, field)

/**
 * struct statement - a word that begins a line
 * @word: the word
 * @of: what it speaks of
 * @min_words: at least, itself included
 * @max_words: at most
 * @repeats: it may stand more than once
 * @missing: what is missing when there are fewer words
 * @parse: parses the words of the line
 * @at: where in struct baleen_stored_rules or in struct baleen_stored_rule it goes, the @to of
 *      @parse
 */
static const struct statement {
	const char *word;
	int of;
	u32 min_words, max_words;
	bool repeats;
	const char *missing;
	int (*parse)(struct baleen_conf_parser *parser, void *to);
	size_t at;
} statements[] = {
	{ "default", OF_DEVICE, 2, 2, false, "pass or drop", parse_default,
	  DEVICE_AT(default_drop) },
	{ "dry-run", OF_DEVICE, 1, 1, false, NULL, parse_flag, DEVICE_AT(dry_run) },
	{ "egress", OF_DEVICE, 1, 1, false, NULL, parse_egress, 0 },
	{ "mode", OF_DEVICE, 2, 2, false, "auto, native or generic", parse_mode, DEVICE_AT(mode) },
	{ "no-link", OF_DEVICE, 1, 1, false, NULL, parse_place, DEVICE_AT(attach_type) },
	{ "chain", OF_DEVICE, 1, 1, false, NULL, parse_place, DEVICE_AT(attach_type) },
	{ "sample", OF_DEVICE, 2, 2, false, "a rate such as 100/s", parse_sample,
	  DEVICE_AT(sample_interval_ns) },
	{ "never", OF_DEVICE, 2, 2, false, "a path, or none", parse_never, 0 },
	{ "never-name", OF_DEVICE, 2, 2, true, "the name of a host", baleen_conf_parse_never_name,
	  DEVICE_AT(never_names) },
	{ "guard-sessions", OF_DEVICE, 2, 2, false, "outgoing, own, all or none",
	  parse_guard_sessions, DEVICE_AT(guard_sessions) },
	{ "max-memory", OF_DEVICE, 2, 2, false, "bytes such as 500M", parse_conf_count,
	  DEVICE_AT(max_bytes) },
	{ "health", OF_DEVICE, 2, MANY, false, "the path of a command", baleen_conf_parse_health,
	  DEVICE_AT(health) },
	{ "icp", OF_DEVICE, 2, MANY, true, "sibling, asker or another word about caches",
	  baleen_conf_parse_icp, DEVICE_AT(icp) },
	{ "match", OF_DEVICE, 2, MANY, true, "names of devices such as eth*", parse_match, 0 },
	{ "rule", BEGINS_RULE, 3, MANY, true, "a name, then drop, allow or count", parse_rule, 0 },
	{ "feed", OF_RULE, 2, MANY, true, "a path or a URL", baleen_conf_parse_feed, 0 },
	{ "key", OF_RULE, 2, 2, false, "fields such as src,dport", parse_key, RULE_AT(key_spec) },
	{ "kind", OF_RULE, 2, 2, false, "cuckoo, bloom, classic, counting or quotient", parse_kind,
	  RULE_AT(kind) },
	{ "fpp", OF_RULE, 2, 2, false, "a rate such as 1e-6", parse_fpp, RULE_AT(fpp) },
	{ "accept-fpp", OF_RULE, 2, 2, false, "a rate such as 1e-3", parse_fpp,
	  RULE_AT(accept_fpp) },
	{ "capacity", OF_RULE, 2, 2, false, "a count", parse_conf_count, RULE_AT(capacity) },
	{ "min-entries", OF_RULE, 2, 2, false, "a count", parse_min_entries,
	  RULE_AT(limits.min_entries) },
	{ "max-entries", OF_RULE, 2, 2, false, "a count", parse_conf_count,
	  RULE_AT(limits.max_entries) },
	{ "max-shrink", OF_RULE, 2, 2, false, "a share such as 50%", parse_share,
	  RULE_AT(limits.max_shrink) },
	{ "max-coverage", OF_RULE, 2, 2, false, "a share such as 25%", parse_share,
	  RULE_AT(limits.max_coverage) },
	{ "max-growth", OF_RULE, 2, 2, false, "a share such as 0.1%", parse_share,
	  RULE_AT(limits.max_growth) },
	{ "special", OF_RULE, 2, 2, false, "keep or remove", parse_special,
	  RULE_AT(limits.keep_special) },
	{ "protect", OF_RULE, 2, 2, false, "none or host", parse_protect, RULE_AT(guards_feeds) },
	{ "any", OF_RULE, 1, 1, false, NULL, parse_flag, RULE_AT(is_any) },
	{ "bans", OF_RULE, 1, 1, false, NULL, parse_flag, RULE_AT(takes_bans) },
	{ "ban-width", OF_RULE, 2, 2, false, "the length of a prefix", parse_ban_width,
	  RULE_AT(ban_width) },
	{ "widen", OF_RULE, 4, 7, false, "N in /LENGTH, such as 8 in /24", parse_widen,
	  RULE_AT(widen) },
};

#define N_STATEMENTS (sizeof(statements) / sizeof(statements[0]))

_Static_assert(N_STATEMENTS <= 64, "a bit of struct baleen_conf_parser's given each");

static int find_statement(struct baleen_conf_parser *parser, u32 *index)
{
	struct baleen_nearest nearest = { .typed = parser->word[0] };

	for (*index = 0; *index < N_STATEMENTS; (*index)++) {
		if (!strcmp(parser->word[0], statements[*index].word))
			return 0;
		baleen_nearest_offer(&nearest, statements[*index].word);
	}
	return baleen_conf_refuse_statement(parser, &nearest);
}

static int check_words(struct baleen_conf_parser *parser, const struct statement *statement)
{
	if (parser->n_words < statement->min_words)
		return baleen_conf_refuse(parser, "%s: %s is missing", statement->word,
					  statement->missing);
	if (parser->n_words > statement->max_words)
		return baleen_conf_refuse(parser, "%s: '%s' is a word too many", statement->word,
					  parser->word[statement->max_words]);
	return 0;
}

/* Where it stands, and how often. */
static int check_place(struct baleen_conf_parser *parser, u32 index)
{
	const struct statement *statement = &statements[index];

	if (statement->of == OF_DEVICE && parser->rule)
		return baleen_conf_refuse(parser,
					  "%s is of the device: it stands before the first rule",
					  statement->word);
	if (statement->of == OF_RULE && !parser->rule)
		return baleen_conf_refuse(parser, "%s is of a rule: it stands behind one",
					  statement->word);
	if (parser->given & 1ull << index && !statement->repeats)
		return baleen_conf_refuse(parser, "%s is given twice", statement->word);
	if (statement->of == BEGINS_RULE)
		parser->given = 0;
	parser->given |= 1ull << index;
	return 0;
}

static int parse_line(struct baleen_conf_parser *parser)
{
	u32 index;
	int err = baleen_conf_split(parser);
	void *base;

	if (err || !parser->n_words)
		return err;
	if (find_statement(parser, &index) || check_words(parser, &statements[index]) ||
	    check_place(parser, index))
		return -EINVAL;
	base = statements[index].of == OF_RULE ? (void *)parser->rule : &parser->conf->rules;
	return statements[index].parse(parser, (u8 *)base + statements[index].at);
}

/* --- the whole -------------------------------------------------------------------- */

static bool has_feed(const struct baleen_conf *conf, u32 rule)
{
	for (size_t i = 0; i < conf->n_feeds; i++)
		if (conf->feed[i].rule == rule)
			return true;
	return false;
}

/* Checks that need all lines of a rule. */
static int check_rule(struct baleen_conf_parser *parser, u32 index)
{
	const struct baleen_stored_rule *rule = &parser->conf->rules.rule[index];

	const char *reason = rule->takes_bans ? baleen_rule_bans_refuse(rule) : NULL;

	parser->line = parser->rule_line[index];
	if (!reason && (rule->widen[0].n || rule->widen[1].n))
		reason = baleen_rule_widen_refuse(rule);
	if (!reason && *rule->fleet.set)
		reason = baleen_rule_fleet_refuse(rule);
	if (reason)
		return baleen_conf_refuse(parser, "rule %s: %s", rule->name, reason);
	if (rule->rate_limit.rate && rule->action == BALEEN_ACTION_ALLOW)
		return baleen_conf_refuse(parser, "rule %s: %s", rule->name,
					  BALEEN_LIMIT_IS_NOT_FOR_ALLOW);
	if (rule->rate_limit.rate && !baleen_rules_take(&parser->conf->rules, BALEEN_SCOPE_BANS))
		return baleen_conf_refuse(parser,
					  "rule %s: a limit bans, and no rule takes bans: one that "
					  "drops has to be marked with 'bans'",
					  rule->name);
	if (rule->kind != BALEEN_KIND_CUCKOO && rule->kind != BALEEN_KIND_QUOTIENT &&
	    rule->fpp <= 0)
		return baleen_conf_refuse(parser, "rule %s: kind %s needs a rate: fpp", rule->name,
					  baleen_kind_name(rule->kind));
	if (!rule->is_any)
		return baleen_conf_check_feeds(parser, index);
	if (has_feed(parser->conf, index))
		return baleen_conf_refuse(parser, "rule %s: any and feeds exclude each other",
					  rule->name);
	if (!baleen_spec_is_address(rule->key_spec))
		return baleen_conf_refuse(parser, "rule %s: any is for keys of one address",
					  rule->name);
	return 0;
}

static int check(struct baleen_conf_parser *parser)
{
	int err = 0;

	if (!parser->conf->rules.n_rules)
		return baleen_fail(parser->error, EINVAL, "%s: has no rule", parser->name);
	for (u32 i = 0; i < parser->conf->rules.n_rules && !err; i++)
		err = check_rule(parser, i);
	return err ? err : baleen_conf_check_icp(parser);
}

static int parse_lines(struct baleen_conf_parser *parser, const char *text, size_t n_bytes)
{
	const char *end = text + n_bytes;
	int err = 0;

	while (text < end && !err) {
		err = baleen_conf_next_line(parser, &text, end);
		if (!err)
			err = parse_line(parser);
	}
	return err;
}

int baleen_conf_parse(const char *text, size_t n_bytes, const char *name, struct baleen_conf *conf,
		      struct baleen_error *error)
{
	struct baleen_conf parsed = { .text = strndup(text, n_bytes) };
	struct baleen_error unused;
	struct baleen_conf_parser parser = { .name = name,
					     .conf = &parsed,
					     .error = error ? error : &unused };
	int err;

	if (!parsed.text)
		return baleen_fail(error, ENOMEM, "%s: no memory", name);
	baleen_conf_never_path(parsed.rules.never_path, sizeof(parsed.rules.never_path));
	err = parse_lines(&parser, text, n_bytes);
	if (!err)
		err = check(&parser);
	baleen_conf_icp_free(parser.icp);
	if (err)
		baleen_conf_free(&parsed);
	else
		*conf = parsed;
	return err;
}
