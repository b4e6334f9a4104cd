// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of sources that went over a limit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/limit_bans.h"
#include "util/clock.h"
#include "xdp/limit_words.h"
#include "xdp/limits.h"

/**
 * struct work - overruns on their way to entries
 * @deploy: the device
 * @overrun: the overruns
 * @n: how many
 * @change: an entry for each that is to be banned; room for all
 * @n_changes: how many
 * @bans: the caller's
 * @error: the caller's
 */
struct work {
	struct baleen_deploy *deploy;
	const struct baleen_overrun *overrun;
	size_t n;
	struct baleen_rule_entry_change *change;
	size_t n_changes;
	struct baleen_limit_bans *bans;
	struct baleen_error *error;
};

static u64 time_of_day_ms(u64 monotonic_ns)
{
	u64 now_ns = baleen_clock_ns(CLOCK_MONOTONIC);

	return baleen_now_ms() - (now_ns > monotonic_ns ? (now_ns - monotonic_ns) / 1000000 : 0);
}

static int make_entry(const struct baleen_deploy *deploy, const struct baleen_limit *limit,
		      const struct baleen_overrun *overrun, const char *rule,
		      struct baleen_rule_entry *entry, struct baleen_error *error)
{
	char source[BALEEN_LIMIT_SOURCE_TEXT], rate[BALEEN_LIMIT_RATE_TEXT];

	*entry = (struct baleen_rule_entry){ .origin = BALEEN_ORIGIN_LIMIT };
	entry->added_ms = time_of_day_ms(overrun->time_ns);
	entry->expires_ms = entry->added_ms + limit->typed.ban_ms;
	snprintf(entry->reason, sizeof(entry->reason), "over %s of %.15s:%.31s",
		 baleen_limit_rate_format(&limit->typed, rate), deploy->state.device, rule);
	baleen_limit_source_format(&limit->typed, overrun->source, source);
	return baleen_rule_entry_parse(source, BALEEN_KEY_SRC, BALEEN_BAN_WIDTH_MAX, entry, NULL,
				       error);
}

static bool is_repeated(const struct work *work, const struct baleen_rule_entry *entry)
{
	for (size_t i = 0; i < work->n_changes; i++)
		if (!baleen_entry_key_compare(&work->change[i].entry.key, &entry->key))
			return true;
	return false;
}

static int is_limit(const struct baleen_rule_entry *there, void *data)
{
	return !strcmp(there->origin, BALEEN_ORIGIN_LIMIT);
}

/* One that is banned is renewed whatever the cap. */
static int add_one(struct work *work, const char *rule, u64 n_there,
		   const struct baleen_overrun *overrun)
{
	int index = baleen_limit_of_slot(&work->deploy->xdp.config, overrun->slot), err;
	const struct baleen_config *config = &work->deploy->xdp.config;
	struct baleen_rule_entry entry;
	const struct baleen_limit *limit;
	u32 cap;

	if (index < 0)
		return 0;
	limit = &config->limit[index];
	cap = limit->typed.cap ? limit->typed.cap : BALEEN_LIMIT_CAP;
	err = make_entry(work->deploy, limit, overrun, config->rule[index].image.name, &entry,
			 work->error);
	if (err || entry.expires_ms <= baleen_now_ms() || is_repeated(work, &entry))
		return err;
	if (n_there + work->n_changes >= cap) {
		err = baleen_rule_entries_of_key(&work->deploy->state, rule, &entry, is_limit, NULL,
						 work->error);
		work->bans->n_capped += !err;
		if (err <= 0)
			return err;
	}
	work->change[work->n_changes++] =
		(struct baleen_rule_entry_change){ .op = BALEEN_RULE_ENTRY_PUT, .entry = entry };
	return 0;
}

static void count_results(struct work *work)
{
	struct baleen_limit_bans *bans = work->bans;

	for (size_t i = 0; i < work->n_changes; i++) {
		const struct baleen_rule_entry_change *change = &work->change[i];

		bans->n_added += !change->result;
		bans->n_renewed += change->result == -EEXIST;
		bans->n_narrowed += change->answer == BALEEN_GATE_NARROWED;
		if (change->result != -EPERM)
			continue;
		if (!bans->n_refused++) {
			strcpy(bans->refused, baleen_entry_key_text(&change->entry.key).text);
			bans->answer = change->answer;
			bans->protected = change->protected;
		}
	}
}

/* Guarded sessions stay: nobody is here who could say --force. */
static int put_in_rule(struct work *work, const char *rule)
{
	u64 n_there = baleen_rule_entries_count(&work->deploy->state, rule, BALEEN_ORIGIN_LIMIT);
	struct baleen_batch batch = { .rule = rule,
				      .change = work->change,
				      .asker = BALEEN_ASKER_LIMIT };
	int err = 0;

	work->n_changes = 0;
	for (size_t i = 0; i < work->n && !err; i++)
		err = add_one(work, rule, n_there, &work->overrun[i]);
	batch.n = work->n_changes;
	if (!err && batch.n)
		err = baleen_deploy_batch(work->deploy, &batch, work->error);
	if (!err)
		count_results(work);
	return err;
}

static int put(struct work *work)
{
	struct baleen_stored_rules rules;
	int err = baleen_rule_store_get_rules(&work->deploy->state, &rules, work->error);

	for (u32 i = 0; !err && i < rules.n_rules; i++)
		if (rules.rule[i].takes_bans)
			err = put_in_rule(work, rules.rule[i].name);
	return err;
}

int baleen_limit_bans_put(const char *device, const struct baleen_overrun *overrun, size_t n,
			  u64 timeout_ms, struct baleen_limit_bans *bans,
			  struct baleen_error *error)
{
	struct baleen_limit_bans done = { 0 };
	struct baleen_deploy deploy;
	struct work work = {
		.deploy = &deploy, .overrun = overrun, .n = n, .bans = &done, .error = error
	};
	int err = baleen_deploy_open(&deploy, device, timeout_ms, error);

	if (err)
		return err;
	work.change = calloc(n + 1, sizeof(*work.change));
	if (!work.change)
		err = baleen_no_memory(error);
	else if (!deploy.has_xdp)
		err = baleen_fail(error, ENOENT, "%s has no filter", device);
	else
		err = put(&work);
	free(work.change);
	baleen_deploy_close(&deploy);
	if (!err)
		*bans = done;
	return err;
}
