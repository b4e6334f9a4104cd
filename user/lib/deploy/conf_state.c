// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A state as a configuration. */
#include <errno.h>
#include <stdio.h>

#include "deploy/conf_plan.h"
#include "net/device.h"
#include "util/array.h"

const char *baleen_conf_change_text(enum baleen_conf_change_kind kind)
{
	static const char *const text[] = {
		[BALEEN_CONF_ATTACH] = "attach",
		[BALEEN_CONF_KEEP] = "keep",
		[BALEEN_CONF_LIVE] = "live",
		[BALEEN_CONF_NEVER] = "policy",
		[BALEEN_CONF_POLICY] = "policy",
		[BALEEN_CONF_RULE_ADDED] = "rule-added",
		[BALEEN_CONF_RULE_REMOVED] = "rule-removed",
		[BALEEN_CONF_RULE_MOVED] = "rule-moved",
		[BALEEN_CONF_RULE_CHANGED] = "rule-changed",
		[BALEEN_CONF_FEED_ADDED] = "feed-added",
		[BALEEN_CONF_FEED_REMOVED] = "feed-removed",
		[BALEEN_CONF_FEED_CHANGED] = "feed-changed",
		[BALEEN_CONF_FEED_READ] = "feed-read",
	};

	return text[kind];
}

struct baleen_conf_health baleen_conf_health_text(const char *health)
{
	struct baleen_conf_health text;

	snprintf(text.text, sizeof(text.text), "%s", health);
	for (char *at = text.text; *at; at++)
		if (*at == '\n')
			*at = ' ';
	return text;
}

struct baleen_conf_number baleen_conf_number_text(u64 number)
{
	struct baleen_conf_number text = { "as usual" };

	if (number)
		snprintf(text.text, sizeof(text.text), "%llu", (unsigned long long)number);
	return text;
}

/* Nobody asked for a rule of a trial. */
static void remove_trials(struct baleen_stored_rules *rules)
{
	u32 n = 0;

	for (u32 i = 0; i < rules->n_rules; i++)
		if (!rules->rule[i].trial_of)
			rules->rule[n++] = rules->rule[i];
	rules->n_rules = n;
}

const struct baleen_conf_feed *baleen_conf_find_source(const struct baleen_conf *conf,
						       const char *rule,
						       const struct baleen_feed_source *wanted)
{
	struct baleen_feed feed = { .wanted = *wanted };

	snprintf(feed.rule, sizeof(feed.rule), "%s", rule);
	for (size_t i = 0; i < conf->n_feeds; i++)
		if (baleen_feed_is_of(&feed, conf->rules.rule[conf->feed[i].rule].name,
				      &conf->feed[i].wanted))
			return &conf->feed[i];
	return NULL;
}

static int add_source(const struct baleen_feed *feed, void *data)
{
	struct baleen_conf *conf = data;
	int rule = baleen_rule_store_find_rule(&conf->rules, feed->rule);

	/* The files of a directory are one source. */
	if (rule < 0 || baleen_conf_find_source(conf, feed->rule, &feed->wanted))
		return 0;
	if (baleen_array_add(&conf->feed, conf->n_feeds))
		return -ENOMEM;
	conf->feed[conf->n_feeds++] =
		(struct baleen_conf_feed){ .rule = rule, .wanted = feed->wanted };
	return 0;
}

int baleen_conf_from_state(const struct baleen_rule_store *state, struct baleen_conf *conf,
			   struct baleen_error *error)
{
	struct baleen_conf made = { .is_egress = baleen_device_is_egress(state->device) };
	int err = baleen_rule_store_get_rules(state, &made.rules, error);

	remove_trials(&made.rules);
	if (!err) {
		err = baleen_feeds_each(state, NULL, add_source, &made, error);
		if (err == -ENOMEM)
			baleen_fail(error, ENOMEM, "no memory for feeds");
	}
	if (err)
		baleen_conf_free(&made);
	else
		*conf = made;
	return err;
}
