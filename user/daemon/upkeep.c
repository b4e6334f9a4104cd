// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entries that expire, and changes that nobody confirms. */
#include <errno.h>
#include <syslog.h>

#include "daemon.h"
#include "deploy/bans.h"
#include "deploy/confirm.h"
#include "deploy/deploy.h"
#include "state/book.h"
#include "state/book_mend.h"
#include "state/parked.h"
#include "state/rule_store_each.h"

/**
 * struct round - one look at all states
 * @daemon: the daemon
 * @now_ms: its time
 * @next_ms: when the next one is due
 */
struct round {
	struct daemon *daemon;
	u64 now_ms;
	u64 next_ms;
};

static void due(struct round *round, u64 at_ms)
{
	if (at_ms && at_ms < round->next_ms)
		round->next_ms = at_ms;
}

/* A busy lock is no error: the other writer removes expired entries, too. */
static void try_again(struct round *round, const char *device, const char *what, int err,
		      const struct baleen_error *error)
{
	bool is_busy = err == -ETIMEDOUT;

	due(round, round->now_ms + (is_busy ? DAEMON_RETRY_US : DAEMON_FAILED_US) / 1000);
	if (!is_busy)
		notify(round->daemon, LOG_ERR, device, "%s: %s", what, error->text);
}

/* To open a device that is behind is to let it follow. */
static void expire(struct round *round, const char *device)
{
	struct baleen_deploy deploy;
	struct baleen_error error;
	u64 n;
	int err = baleen_deploy_open(&deploy, device, DAEMON_LOCK_MS, &error);

	if (err == -ENOENT)
		return;
	if (!err) {
		err = baleen_deploy_expire(&deploy, baleen_now_ms(), &n, &error);
		if (!err)
			due(round, baleen_rule_entries_next_expiry(&deploy.state));
		baleen_deploy_close(&deploy);
	}
	if (err)
		try_again(round, device, "cannot follow its entries", err, &error);
}

/* Return: whether it did. */
static bool roll_back(struct round *round, const char *device)
{
	struct baleen_error error;
	u64 deadline_ms = 0;
	int did = baleen_confirm_check(device, DAEMON_LOCK_MS, &deadline_ms, &error);

	if (did > 0) {
		round->daemon->me.n_rolled_back++;
		notify(round->daemon, LOG_WARNING, device,
		       "was not confirmed: the previous state is back in force");
	} else if (did < 0) {
		try_again(round, device, "cannot put the previous state back", did, &error);
	} else {
		due(round, deadline_ms);
	}
	return did > 0;
}

static int mend_book(struct round *round, struct baleen_error *error)
{
	char text[BALEEN_BOOK_ASIDE_TEXT];
	struct baleen_book_aside aside;
	int did = baleen_book_set_aside(&aside, error);

	if (did > 0)
		notify(round->daemon, LOG_ERR, NULL, "%s", baleen_book_aside_text(&aside, text));
	return did < 0 ? did : 0;
}

/* Bans of all rules, in all of them at once. */
static void expire_bans(struct round *round, u64 next_ms)
{
	struct baleen_error error;
	int err = 0;

	if (next_ms && next_ms <= round->now_ms)
		err = baleen_bans_expire(DAEMON_LOCK_MS, &error);
	else
		due(round, next_ms);
	if (err)
		try_again(round, NULL, "cannot remove expired bans", err, &error);
	else if (next_ms && next_ms <= round->now_ms)
		due(round, round->now_ms + 1);
}

static void keep(struct round *round)
{
	struct baleen_rule_store state;
	u64 next_ban_ms = 0;
	struct baleen_error error;
	int err = baleen_book_open(&state, &error);

	if (!err) {
		err = baleen_book_keep(&state, &error);
		if (!err)
			err = baleen_parked_expire(&state, round->now_ms, &error);
		next_ban_ms = baleen_bans_next_expiry(&state);
		baleen_book_close(&state);
	}
	if ((err == -EINVAL || err == -EIO) && baleen_book_is_damaged())
		err = mend_book(round, &error);
	if (err == -ENOSPC)
		try_again(round, NULL, "the last changes of entries are in force, but not kept",
			  err, &error);
	else if (err)
		try_again(round, NULL, "cannot keep the last changes of entries", err, &error);
	expire_bans(round, next_ban_ms);
}

/* A roll-back makes what was read before it old: the next round reads it. */
static int look_at(struct baleen_rule_store_found *found, void *data)
{
	struct round *round = data;
	bool is_behind = false;
	u64 next_ms = 0;

	if (!found->err)
		is_behind = baleen_rule_store_is_behind(&found->state) ||
			    baleen_rule_store_is_marked(&found->state);
	if (found->err)
		try_again(round, found->device, "cannot read its state", found->err, &found->error);
	else
		next_ms = baleen_rule_entries_next_expiry(&found->state);
	baleen_rule_store_let_go(found);
	if (found->is_kept && roll_back(round, found->device))
		next_ms = round->now_ms + 1;
	if (is_behind || (next_ms && next_ms <= round->now_ms))
		expire(round, found->device);
	else
		due(round, next_ms);
	return 0;
}

static int look(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	struct round round = { .daemon = daemon, .now_ms = baleen_now_ms() };
	struct baleen_error error;
	u64 now_ms;

	round.next_ms = round.now_ms + DAEMON_RESCAN_US / 1000;
	if (baleen_rule_store_each(look_at, &round, &error))
		notify(daemon, LOG_ERR, NULL, "%s", error.text);
	keep(&round);
	now_ms = baleen_now_ms();
	/* If the clock was set back in between, the wait is long; setting it calls this again. */
	timer_set(daemon->upkeep, round.next_ms > now_ms ? (round.next_ms - now_ms) * 1000 : 1000);
	return 0;
}

void upkeep_now(struct daemon *daemon)
{
	/* Wait a moment, so that hundreds of bans cause one look. */
	timer_sooner(daemon, daemon->upkeep, 50000);
}

int upkeep_start(struct daemon *daemon)
{
	int err = timer_make(daemon, &daemon->upkeep, 0, look);

	return err < 0 ? err : 0;
}
