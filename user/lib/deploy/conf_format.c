// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A configuration as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/conf.h"
#include "filter/kind.h"
#include "key/key_spec.h"
#include "net/device.h"
#include "state/route_feed.h"
#include "util/duration.h"
#include "util/number.h"
#include "xdp/qualifiers.h"

/* Quoted where a bare word would be read otherwise. */
static void put_word(FILE *out, const char *word)
{
	if (*word && *word != '#' && !strpbrk(word, " \t\"")) {
		fputs(word, out);
		return;
	}
	fputc('"', out);
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			fputc('\\', out);
		fputc(*word, out);
	}
	fputc('"', out);
}

/* @words: newlines between */
static void put_words(FILE *out, const char *statement, const char *words)
{
	char *copy = strdup(words), *rest = NULL;

	if (copy && *copy) {
		fputs(statement, out);
		for (char *word = strtok_r(copy, "\n", &rest); word;
		     word = strtok_r(NULL, "\n", &rest)) {
			fputc(' ', out);
			put_word(out, word);
		}
		fputc('\n', out);
	}
	free(copy);
}

/* A statement a line, with tabs between words. */
static void put_icp(FILE *out, const char *statements)
{
	char *copy = strdup(statements), *rest = copy, *line;

	while (copy && *copy && (line = strsep(&rest, "\n"))) {
		for (char *at = line; *at; at++)
			if (*at == '\t')
				*at = '\n';
		put_words(out, "icp", line);
	}
	free(copy);
}

static void put_device(FILE *out, const struct baleen_conf *conf)
{
	const struct baleen_stored_rules *rules = &conf->rules;
	char rate[BALEEN_INTERVAL_TEXT], usual[BALEEN_RULE_STORE_PATH_BYTES];

	if (conf->is_egress)
		fputs("egress\n", out);
	fprintf(out, "default %s\n", rules->default_drop ? "drop" : "pass");
	if (rules->dry_run)
		fputs("dry-run\n", out);
	if (rules->mode != BALEEN_MODE_AUTO)
		fprintf(out, "mode %s\n", baleen_mode_text(rules->mode));
	if (rules->attach_type != BALEEN_ATTACH_TYPE_LINK)
		fputs(rules->attach_type == BALEEN_ATTACH_TYPE_CHAIN ? "chain\n" : "no-link\n",
		      out);
	if (rules->sample_interval_ns)
		fprintf(out, "sample %s\n",
			baleen_interval_format(rules->sample_interval_ns, rate));
	baleen_conf_never_path(usual, sizeof(usual));
	if (strcmp(rules->never_path, usual)) {
		fputs("never ", out);
		put_word(out, rules->never_path[0] ? rules->never_path : "none");
		fputc('\n', out);
	}
	for (const char *name = rules->never_names; *name;) {
		size_t length = strcspn(name, " ");

		fprintf(out, "never-name %.*s\n", (int)length, name);
		name += length + (name[length] == ' ');
	}
	if (rules->guard_sessions)
		fprintf(out, "guard-sessions %s\n", baleen_session_guards[rules->guard_sessions]);
	if (rules->max_bytes)
		fprintf(out, "max-memory %llu\n", (unsigned long long)rules->max_bytes);
	put_words(out, "health", rules->health);
	put_icp(out, rules->icp);
}

static void put_where(FILE *out, const char *where)
{
	while (*where) {
		size_t length = strcspn(where, "\n");
		char *one = strndup(where, length);

		fputs(" where ", out);
		put_word(out, one ? one : "");
		free(one);
		where += length + (where[length] == '\n');
	}
}

static void put_seconds(FILE *out, const char *word, u32 seconds)
{
	char text[BALEEN_DURATION_TEXT];

	if (seconds)
		fprintf(out, " %s %s", word, baleen_duration_format_exact(seconds * 1000ull, text));
}

static void put_hold(FILE *out, const struct baleen_feed_source *wanted)
{
	if (!baleen_route_feed_is(wanted->source) || wanted->hold_s == BALEEN_ROUTE_HOLD_S)
		return;
	if (!wanted->hold_s)
		fputs(" hold none", out);
	put_seconds(out, "hold", wanted->hold_s);
}

/* A path and a format have words of their own. */
static void put_column(FILE *out, const char *column)
{
	bool is_format = *column == '@';

	fputs(is_format ? " format " : *column == '.' ? " json " : " column ", out);
	put_word(out, column + is_format);
}

static void put_feed(FILE *out, const struct baleen_feed_source *wanted, bool shows_secrets)
{
	fputs("\tfeed ", out);
	put_word(out, shows_secrets ? wanted->source : baleen_feed_source_name(wanted).text);
	if (wanted->column[0])
		put_column(out, wanted->column);
	put_where(out, wanted->where);
	if (wanted->delimiter == '\t')
		fputs(" delimiter tab", out);
	else if (wanted->delimiter)
		fprintf(out, " delimiter %c", wanted->delimiter);
	if (wanted->skip_bad)
		fputs(" skip-bad", out);
	put_seconds(out, "every", wanted->every_s);
	put_seconds(out, "timeout", wanted->timeout_s);
	if (wanted->access[0]) {
		fputs(" access ", out);
		put_word(out, wanted->access);
	}
	if (wanted->may_be_private)
		fputs(" private", out);
	if (wanted->key[0]) {
		fputs(" key ", out);
		put_word(out, wanted->key);
	}
	if (wanted->ring)
		fprintf(out, " ring %u", wanted->ring);
	put_hold(out, wanted);
	fputc('\n', out);
}

static void put_limits(FILE *out, const struct baleen_feed_limits *limits)
{
	const struct baleen_feed_limits usual = baleen_feed_limits_default();

	if (limits->min_entries != usual.min_entries)
		fprintf(out, "\tmin-entries %llu\n", (unsigned long long)limits->min_entries);
	if (limits->max_entries)
		fprintf(out, "\tmax-entries %llu\n", (unsigned long long)limits->max_entries);
	if (limits->max_shrink != usual.max_shrink)
		fprintf(out, "\tmax-shrink %.15g%%\n", limits->max_shrink * 100);
	if (limits->max_coverage != usual.max_coverage)
		fprintf(out, "\tmax-coverage %.15g%%\n", limits->max_coverage * 100);
	if (limits->max_growth != usual.max_growth)
		fprintf(out, "\tmax-growth %.15g%%\n", limits->max_growth * 100);
	if (limits->keep_special != usual.keep_special)
		fprintf(out, "\tspecial %s\n", limits->keep_special ? "keep" : "remove");
}

/* As short as it reads back the same. */
static void put_rate(FILE *out, const char *word, double rate)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", rate);
	fprintf(out, strtod(text, NULL) == rate ? "\t%s %.15g\n" : "\t%s %.17g\n", word, rate);
}

static void put_rule(FILE *out, const struct baleen_conf *conf, u32 index, bool shows_secrets)
{
	const struct baleen_stored_rule *rule = &conf->rules.rule[index];
	char qualifiers[BALEEN_QUALIFIERS_TEXT], spec[BALEEN_KEY_SPEC_TEXT];
	char widen[BALEEN_WIDEN_TEXT], fleet[BALEEN_RULE_FLEET_TEXT];

	baleen_qualifiers_format(&rule->qualifiers, &rule->rate_limit, qualifiers);
	fprintf(out, "rule %s %s%s%s\n", rule->name, baleen_action_text(rule->action),
		*qualifiers ? " " : "", qualifiers);
	for (size_t i = 0; i < conf->n_feeds; i++)
		if (conf->feed[i].rule == index)
			put_feed(out, &conf->feed[i].wanted, shows_secrets);
	if (*baleen_rule_fleet_format(&rule->fleet, fleet))
		fprintf(out, "\tfeed %s\n", fleet);
	if (rule->key_spec != baleen_conf_key(conf))
		fprintf(out, "\tkey %s\n", baleen_key_spec_text(rule->key_spec, spec));
	if (rule->kind != BALEEN_KIND_CUCKOO)
		fprintf(out, "\tkind %s\n", baleen_kind_name(rule->kind));
	if (rule->fpp > 0)
		put_rate(out, "fpp", rule->fpp);
	if (rule->accept_fpp > 0)
		put_rate(out, "accept-fpp", rule->accept_fpp);
	if (rule->capacity)
		fprintf(out, "\tcapacity %llu\n", (unsigned long long)rule->capacity);
	put_limits(out, &rule->limits);
	if (!rule->guards_feeds)
		fputs("\tprotect none\n", out);
	if (rule->is_any)
		fputs("\tany\n", out);
	if (rule->takes_bans)
		fputs("\tbans\n", out);
	if (rule->ban_width)
		fprintf(out, "\tban-width %u\n", rule->ban_width);
	if (*baleen_widen_format(rule->widen, widen))
		fprintf(out, "\twiden %s\n", widen);
}

char *baleen_conf_format(const struct baleen_conf *conf, bool shows_secrets)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);
	int err;

	if (!out)
		return NULL;
	put_device(out, conf);
	for (u32 i = 0; i < conf->rules.n_rules; i++)
		put_rule(out, conf, i, shows_secrets);
	err = ferror(out);
	if (fclose(out) || err) {
		free(text);
		return NULL;
	}
	return text;
}
