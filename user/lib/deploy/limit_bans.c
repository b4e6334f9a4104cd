// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of sources that went over a limit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/bans.h"
#include "deploy/limit_bans.h"
#include "state/book.h"
#include "state/scope.h"
#include "util/clock.h"
#include "xdp/limit_words.h"
#include "xdp/limits.h"

/**
 * struct work - overruns on their way to bans
 * @xdp: the device whose limits they are of
 * @overrun: the overruns
 * @n: how many
 * @book: the book, to be read
 * @n_there: of each rule, bans by its limit, those of this batch included; 0 where the cap is far
 * @change: a ban for each that is to be banned; room for all
 * @n_changes: how many
 * @bans: the caller's
 * @error: the caller's
 */
struct work {
	const struct baleen_xdp *xdp;
	const struct baleen_overrun *overrun;
	size_t n;
	struct baleen_rule_store book;
	u64 n_there[BALEEN_MAX_RULES];
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

/* --- the cap ----------------------------------------------------------------- */

static u32 cap_of(const struct baleen_limit *limit)
{
	return limit->typed.cap ? limit->typed.cap : BALEEN_LIMIT_CAP;
}

/* The end of the reason of a ban tells whose limit it was. */
static void format_whose(const struct work *work, u32 index, char *text, size_t size)
{
	snprintf(text, size, " of %s:%s", work->xdp->device,
		 work->xdp->config.rule[index].image.name);
}

static int count_one(const struct baleen_rule_entry *entry, void *data)
{
	struct work *work = data;
	char whose[BALEEN_REASON_BYTES];

	for (u32 i = 0; i < work->xdp->config.n_rules; i++) {
		size_t length, n = strlen(entry->reason);

		format_whose(work, i, whose, sizeof(whose));
		length = strlen(whose);
		if (n >= length && !strcmp(entry->reason + n - length, whose)) {
			work->n_there[i]++;
			break;
		}
	}
	return 0;
}

/* The bans of all limits of all devices are together: one flood must not use up the caps of others.
 * While all of them are fewer than the smallest cap, they need not be told apart.
 */
static int count_there(struct work *work)
{
	const struct baleen_config *config = &work->xdp->config;
	u64 n_all = baleen_rule_entries_count(&work->book, NULL, BALEEN_ORIGIN_LIMIT);
	u32 smallest = ~0u;

	for (u32 i = 0; i < config->n_rules; i++)
		if (config->limit[i].typed.rate && cap_of(&config->limit[i]) < smallest)
			smallest = cap_of(&config->limit[i]);
	return n_all + work->n <= smallest ?
		       0 :
		       baleen_rule_entries_each(&work->book, NULL, BALEEN_ORIGIN_LIMIT, count_one,
						work, work->error);
}

/* --- bans -------------------------------------------------------------------- */

static int make_entry(const struct work *work, u32 index, const struct baleen_overrun *overrun,
		      struct baleen_rule_entry *entry)
{
	const struct baleen_limit *limit = &work->xdp->config.limit[index];
	char source[BALEEN_LIMIT_SOURCE_TEXT], rate[BALEEN_LIMIT_RATE_TEXT];
	char whose[BALEEN_REASON_BYTES];

	*entry = (struct baleen_rule_entry){ .origin = BALEEN_ORIGIN_LIMIT };
	entry->added_ms = time_of_day_ms(overrun->time_ns);
	entry->expires_ms = entry->added_ms + limit->typed.ban_ms;
	format_whose(work, index, whose, sizeof(whose));
	snprintf(entry->reason, sizeof(entry->reason), "over %s%.*s",
		 baleen_limit_rate_format(&limit->typed, rate),
		 BALEEN_REASON_BYTES - BALEEN_LIMIT_RATE_TEXT - 8, whose);
	baleen_limit_source_format(&limit->typed, overrun->source, source);
	return baleen_rule_entry_parse(source, BALEEN_KEY_SRC, BALEEN_AS_WRITTEN, entry,
				       work->error);
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
static int add_one(struct work *work, const struct baleen_overrun *overrun)
{
	int index = baleen_limit_of_slot(&work->xdp->config, overrun->slot), err;
	struct baleen_rule_entry entry;

	if (index < 0)
		return 0;
	err = make_entry(work, index, overrun, &entry);
	if (err || entry.expires_ms <= baleen_now_ms() || is_repeated(work, &entry))
		return err;
	if (work->n_there[index] >= cap_of(&work->xdp->config.limit[index])) {
		err = baleen_rule_entries_of_key(&work->book, NULL, &entry, is_limit, NULL,
						 work->error);
		work->bans->n_capped += !err;
		if (err <= 0)
			return err;
	}
	work->n_there[index]++;
	work->change[work->n_changes++] =
		(struct baleen_rule_entry_change){ .op = BALEEN_RULE_ENTRY_PUT, .entry = entry };
	return 0;
}

/* From a book that is only read: where a flood has used up the cap no device is held at all, and
 * the bans of people need not wait.
 */
static int choose(struct work *work)
{
	int err = baleen_book_open(&work->book, work->error);

	if (err)
		return err;
	err = count_there(work);
	for (size_t i = 0; i < work->n && !err; i++)
		err = add_one(work, &work->overrun[i]);
	baleen_book_close(&work->book);
	return err;
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
static int put(struct work *work, u64 timeout_ms)
{
	struct baleen_batch batch = { .change = work->change,
				      .n = work->n_changes,
				      .asker = BALEEN_ASKER_LIMIT };
	struct baleen_bans bans;
	int err = baleen_bans_open(&bans, BALEEN_SCOPE_BANS, work->error);

	if (!err)
		err = baleen_bans_put(&bans, &batch, timeout_ms, NULL, work->error);
	baleen_bans_close(&bans);
	if (!err)
		count_results(work);
	return err;
}

int baleen_limit_bans_put(const char *device, const struct baleen_overrun *overrun, size_t n,
			  u64 timeout_ms, struct baleen_limit_bans *bans,
			  struct baleen_error *error)
{
	struct baleen_limit_bans done = { 0 };
	struct baleen_xdp xdp;
	struct work work = {
		.xdp = &xdp, .overrun = overrun, .n = n, .bans = &done, .error = error
	};
	int err = baleen_xdp_open(&xdp, device, false, error);

	if (err)
		return err;
	work.change = calloc(n + 1, sizeof(*work.change));
	err = work.change ? choose(&work) : baleen_no_memory(error);
	if (!err && work.n_changes)
		err = put(&work, timeout_ms);
	free(work.change);
	baleen_xdp_close(&xdp);
	if (!err)
		*bans = done;
	return err;
}
