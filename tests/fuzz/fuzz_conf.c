// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a configuration, those above 127 as words of one: what is refused is refused with a
 * line, and what is read is the same after it was written as text and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/conf.h"
#include "xdp/qualifiers.h"
#include "target.h"

#define MAX_BYTES 1024

/* So that it gets beyond the first word without knowing any. */
static const char *const words[] = {
	"default ",	 "drop ",
	"pass ",	 "dry-run\n",
	"mode ",	 "generic ",
	"no-link ",	 "chain ",
	"sample ",	 "1/s ",
	"never ",	 "none ",
	"rule ",	 "rule a ",
	"allow ",	 "count ",
	"feed ",	 "feed /",
	"http://",	 "column ",
	"where ",	 "a=b ",
	"delimiter ",	 "tab ",
	"skip-bad ",	 "every ",
	"1h ",		 "timeout ",
	"key ",		 "src ",
	"kind ",	 "bloom ",
	"fpp ",		 "1e-3 ",
	"capacity ",	 "1M ",
	"min-entries ",	 "max-shrink ",
	"max-coverage ", "max-growth ",
	"max-entries ",	 "max-memory ",
	"50% ",		 "special ",
	"keep ",	 "any\n",
	"proto tcp ",	 "dport 22 ",
	"tcp-syn ",	 "vlan 7 ",
	"established ",	 "access ",
	"/b ",		 "\" ",
	"route:7 ",	 "name:h ",
	"hold ",	 "none ",
	"match ",	 "!e* ",
	"bans\n",	 "ban-width ",
	"64 ",		 "widen ",
	"8 in /24 ",	 "limit 9/s ",
	"burst 9 ",	 "ban 1m ",
	"per src/24 ",	 "cap 9 ",
	"unverified ",	 "egress\n",
	"remove ",	 "never-name h\n",
	"fleet:s ",	 "max-ttl ",
	"conntrack ",	 "private ",
	"json ",	 ".[].ip,.b ",
	"format ",	 "aws ",
	"copy:x ",	 "accept-fpp ",
	"protect ",	 "host ",
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

static void check_rule(const struct baleen_stored_rule *rule)
{
	check(!baleen_rule_name_check(rule->name));
	check(rule->fpp >= 0 && rule->fpp < 1);
	check(rule->limits.max_shrink >= 0 && rule->limits.max_shrink <= 1);
	check(rule->limits.max_coverage >= 0 && rule->limits.max_coverage <= 1);
	check(rule->limits.max_growth >= 0 && rule->limits.max_growth <= 1);
	check(!baleen_qualifiers_check(&rule->qualifiers, &rule->rate_limit, NULL));
}

static void check_feed(const struct baleen_conf *conf, const struct baleen_conf_feed *feed)
{
	check(feed->rule < conf->rules.n_rules && feed->line);
	check(memchr(feed->wanted.source, '\0', sizeof(feed->wanted.source)));
	check(feed->wanted.source[0] == '/' || strstr(feed->wanted.source, "://") ||
	      !strncmp(feed->wanted.source, "route:", 6) ||
	      !strncmp(feed->wanted.source, "name:", 5) ||
	      !strncmp(feed->wanted.source, "copy:", 5));
}

static void check_again(const struct baleen_conf *conf)
{
	char *text = baleen_conf_format(conf, true), *same;
	struct baleen_conf again;

	check(text && !baleen_conf_parse(text, strlen(text), "again", &again, NULL));
	check(again.rules.n_rules == conf->rules.n_rules);
	check(again.n_feeds == conf->n_feeds);
	for (size_t i = 0; i < conf->n_feeds; i++)
		check(!memcmp(&again.feed[i].wanted, &conf->feed[i].wanted,
			      sizeof(conf->feed[i].wanted)));
	same = baleen_conf_format(&again, true);
	check(same && !strcmp(same, text));
	free(same);
	free(text);
	baleen_conf_free(&again);
}

static size_t make_text(const uint8_t *bytes, size_t n_bytes, char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < n_bytes; i++) {
		if (bytes[i] < 128)
			text[n++] = bytes[i];
		else
			n += strlen(strcpy(text + n, words[(bytes[i] - 128) % N_WORDS]));
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static char text[MAX_BYTES * 16];
	struct baleen_error error = { "" };
	struct baleen_conf conf;

	if (n_bytes > MAX_BYTES)
		return 0;
	n_bytes = make_text(bytes, n_bytes, text);
	if (baleen_conf_parse(text, n_bytes, "fuzz", &conf, &error)) {
		check(!strncmp(error.text, "fuzz:", 5));
		return 0;
	}
	check(conf.rules.n_rules >= 1 && conf.rules.n_rules <= BALEEN_MAX_RULES);
	for (u32 i = 0; i < conf.rules.n_rules; i++)
		check_rule(&conf.rules.rule[i]);
	for (size_t i = 0; i < conf.n_feeds; i++)
		check_feed(&conf, &conf.feed[i]);
	check_again(&conf);
	baleen_conf_free(&conf);
	return 0;
}
