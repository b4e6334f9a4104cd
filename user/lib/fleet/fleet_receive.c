// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of others: verified, and applied in order. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fleet/fleet_apply.h"
#include "fleet/fleet_clone.h"
#include "fleet/fleet_kept.h"
#include "fleet/fleet_keys.h"
#include "fleet/fleet_receive.h"
#include "fleet/fleet_refusal.h"
#include "fleet/fleet_signal.h"

/* --- who may say so -------------------------------------------------------- */

static int check(struct baleen_fleet_work *work, const void *bytes, size_t n_bytes)
{
	const struct baleen_fleet_policy *policy = work->receiver->policy;
	const struct baleen_fleet_message *message = work->message;
	const u8 *key = baleen_fleet_policy_key(policy, message->publisher);

	work->grant = baleen_fleet_policy_grant(policy, message->publisher);
	if (strcmp(message->fleet, policy->fleet))
		return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_FLEET,
					   "%s: it is of the fleet %s, not %s", message->publisher,
					   message->fleet, policy->fleet);
	if (!key || !work->grant)
		return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_PUBLISHER, "%s: %s",
					   message->publisher,
					   key ? "no publisher of the policy has this name" :
						 "its host has no key in the policy");
	if (!baleen_fleet_verify(bytes, n_bytes, key))
		return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_SIGNATURE,
					   "%s: the key of its host did not sign it",
					   message->publisher);
	if (message->made_ms > work->receiver->now_ms + BALEEN_FLEET_AHEAD_MS)
		return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_TIME,
					   "%s: it was signed in the future", message->publisher);
	return 0;
}

static bool is_mine(const struct baleen_fleet_work *work)
{
	const char *publisher = work->message->publisher, *host = work->receiver->host;
	size_t n_host = strcspn(publisher, "/");

	return strlen(host) == n_host && !memcmp(host, publisher, n_host);
}

/* --- where it belongs ------------------------------------------------------ */

static bool is_blank(const struct baleen_fleet_publisher *publisher)
{
	static const u8 none[BALEEN_FLEET_INCARNATION_BYTES];

	return !memcmp(publisher->incarnation, none, sizeof(none));
}

static bool is_other(const struct baleen_fleet_work *work)
{
	return memcmp(work->account.publisher.incarnation, work->message->incarnation,
		      BALEEN_FLEET_INCARNATION_BYTES);
}

/* Is it of an incarnation that is not later than the one that was applied? */
static bool is_over(const struct baleen_fleet_work *work)
{
	return baleen_fleet_incarnation_compare(work->message->incarnation,
						work->account.publisher.incarnation) < 0;
}

static int save(struct baleen_fleet_work *work)
{
	return baleen_fleet_account_save(work->receiver->store, &work->account, work->error);
}

static int tell_gap(struct baleen_fleet_work *work)
{
	struct baleen_fleet_publisher *publisher = &work->account.publisher;

	work->result->verdict = BALEEN_FLEET_GAP;
	if (work->message->last > publisher->lacks)
		publisher->lacks = work->message->last;
	/* Another incarnation may have smaller numbers, and all of it is missing. */
	if (publisher->lacks <= publisher->sequence)
		publisher->lacks = publisher->sequence + 1;
	return save(work);
}

static int refuse_clone(struct baleen_fleet_work *work, u64 number)
{
	struct baleen_fleet_publisher *publisher = &work->account.publisher;
	int err;

	publisher->is_cloned = true;
	err = save(work);
	return err ? err :
		     baleen_fleet_refuse(
			     work, BALEEN_FLEET_CAUSE_CLONE,
			     "%s: two hosts publish under this name: change %llu differs",
			     publisher->name, (unsigned long long)number);
}

static int finish(struct baleen_fleet_work *work, u64 n_held_before)
{
	struct baleen_fleet_publisher *publisher = &work->account.publisher;
	struct baleen_fleet_result *result = work->result;
	int err = 0;

	if (work->message->made_ms > publisher->signed_ms)
		publisher->signed_ms = work->message->made_ms;
	if (publisher->lacks <= publisher->sequence)
		publisher->lacks = publisher->sequence;
	result->is_alarm = result->n_held && !n_held_before;
	if (result->n_held)
		err = baleen_fleet_refusal_count(work, publisher->name, BALEEN_FLEET_CAUSE_HELD,
						 result->n_held);
	return err ? err : save(work);
}

/* More would fill the disks of all hosts. */
static bool is_full(const struct baleen_fleet_work *work, u64 n)
{
	return n + work->account.usage.others.n_stored > baleen_fleet_stored_max(work->grant);
}

static int refuse_full(struct baleen_fleet_work *work)
{
	return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_FULL,
				   "%s: its host has more than %llu entries",
				   work->message->publisher,
				   (unsigned long long)baleen_fleet_stored_max(work->grant));
}

static int take_batch(struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_publisher *publisher = &work->account.publisher;
	u64 n_held = publisher->n_held;
	int err;

	if (is_blank(publisher) && message->first == 1)
		memcpy(publisher->incarnation, message->incarnation,
		       sizeof(publisher->incarnation));
	if (is_over(work))
		return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_REPLAY,
					   "%s: it is of an incarnation that is over",
					   publisher->name);
	if (is_other(work) || message->first > publisher->sequence + 1)
		return tell_gap(work);
	if (message->first <= publisher->sequence) {
		u64 number;
		int ret = baleen_fleet_clone_find(work, &number);

		if (ret)
			return ret < 0 ? ret : refuse_clone(work, number);
	}
	if (message->last <= publisher->sequence) {
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
		return 0;
	}
	if (is_full(work, publisher->n + message->n_entries))
		return refuse_full(work);
	/* Rows name its id. */
	err = publisher->id ? 0 : save(work);
	if (!err)
		err = baleen_fleet_apply_batch(work);
	if (!err)
		err = baleen_fleet_clone_remember(work);
	return err ? err : finish(work, n_held);
}

static int take_snapshot(struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_publisher *publisher = &work->account.publisher;
	struct baleen_fleet_digest digest;
	u64 n_held = publisher->n_held;
	int err;

	if (is_over(work))
		return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_REPLAY,
					   "%s: it is of an incarnation that is over",
					   publisher->name);
	if (!is_other(work) && message->last < publisher->sequence) {
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
		return 0;
	}
	if (!is_other(work) && message->last == publisher->sequence) {
		digest = baleen_fleet_digest_of(message);
		if (!baleen_fleet_digest_is(&digest, &publisher->digest))
			return refuse_clone(work, message->last);
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
		return 0;
	}
	if (is_full(work, message->n_entries))
		return refuse_full(work);
	/* Its clock may have been set back. */
	if (is_other(work)) {
		publisher->signed_ms = publisher->agreed_ms = publisher->head_ms = 0;
		publisher->heard_ms = work->receiver->local_ms;
	}
	err = publisher->id ? baleen_fleet_clone_forget(work) : save(work);
	work->result->is_whole = true;
	publisher->is_cloned = false;
	publisher->lacks = 0;
	if (!err)
		err = baleen_fleet_apply_snapshot(work);
	return err ? err : finish(work, n_held);
}

/* It says that its publisher is alive, whatever else. */
static void hear(struct baleen_fleet_work *work)
{
	struct baleen_fleet_publisher *publisher = &work->account.publisher;

	if (work->message->made_ms <= publisher->head_ms)
		return;
	publisher->head_ms = work->message->made_ms;
	publisher->heard_ms = work->receiver->local_ms;
}

/* A publisher never signs a smaller number later. */
static bool goes_back(const struct baleen_fleet_work *work)
{
	const struct baleen_fleet_publisher *publisher = &work->account.publisher;
	u64 made_ms = work->message->made_ms;

	return work->message->last < publisher->sequence && made_ms > publisher->head_ms &&
	       made_ms > publisher->signed_ms;
}

static int take_head(struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_publisher *publisher = &work->account.publisher;
	bool is_clone = !is_other(work) && goes_back(work);

	if (!is_over(work))
		hear(work);
	if (is_other(work)) {
		/* Nothing was ever published: there is nothing to fetch. */
		if (is_blank(publisher) && !message->last)
			return 0;
		if (!is_over(work))
			return tell_gap(work);
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
		return 0;
	}
	if (message->last > publisher->sequence)
		return tell_gap(work);
	if (is_clone)
		return refuse_clone(work, message->last);
	if (message->last < publisher->sequence) {
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
		return save(work);
	}
	if (message->n_entries != publisher->n ||
	    !baleen_fleet_digest_is(&message->digest, &publisher->digest))
		return refuse_clone(work, message->last);
	publisher->agreed_ms = message->made_ms;
	publisher->lacks = publisher->sequence;
	publisher->is_cloned = false;
	return save(work);
}

static bool is_of_long_ago(const struct baleen_fleet_work *work)
{
	return work->message->made_ms + BALEEN_FLEET_MAX_TTL_MS < work->receiver->now_ms;
}

static int refuse_signal(struct baleen_fleet_work *work)
{
	return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_FULL,
				   "%s: it has said something on %d subjects",
				   work->message->publisher, BALEEN_FLEET_MAX_SIGNALS);
}

static int take_signal(struct baleen_fleet_work *work)
{
	struct baleen_fleet_store *store = work->receiver->store;
	bool is_new = false;
	int ret = baleen_fleet_signal_has_room(store, work->message, work->receiver->now_ms,
					       work->error);

	if (ret <= 0)
		return ret ? ret : refuse_signal(work);
	ret = baleen_fleet_signal_put(store, work->message, &is_new, work->error);
	if (!ret && !is_new)
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
	return ret ? ret :
		     baleen_fleet_kept_put(store, work->message, work->bytes, work->n_bytes,
					   work->error);
}

static int refuse_right(struct baleen_fleet_work *work, const char *what)
{
	return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_RIGHT, "%s: it may not %s",
				   work->message->publisher, what);
}

static int take_control(struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;

	/* One that is in the stream is of no use to anybody. */
	if (message->control == BALEEN_FLEET_ANSWER) {
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
		return 0;
	}
	if (!baleen_fleet_grant_may(work->grant, message->control))
		return refuse_right(work, baleen_fleet_right_name(message->control));
	if (is_of_long_ago(work))
		return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_REPLAY,
					   "%s: it was signed long ago", message->publisher);
	return message->control == BALEEN_FLEET_SIGNAL ? take_signal(work) : 0;
}

/* --- messages -------------------------------------------------------------- */

static int take(struct baleen_fleet_work *work)
{
	int ret;

	if (work->message->type == BALEEN_FLEET_CONTROL)
		return take_control(work);
	if (is_mine(work)) {
		work->result->verdict = BALEEN_FLEET_MINE;
		return 0;
	}
	/* Nothing of it would ever count. */
	if (baleen_fleet_is_control(work->message->publisher) && !work->grant->may_pardon &&
	    !work->grant->may_suspend)
		return refuse_right(work, "pardon, nor suspend");
	ret = baleen_fleet_account_find(work->receiver->store, work->message->publisher,
					&work->account, work->error);
	if (ret < 0)
		return ret;
	ret = baleen_fleet_account_share(work->receiver->store, work->receiver->policy,
					 &work->account,
					 work->message->type == BALEEN_FLEET_SNAPSHOT, work->error);
	if (ret < 0)
		return ret;
	if (!work->account.publisher.id && ret >= BALEEN_FLEET_MAX_NAMES)
		return baleen_fleet_refuse(work, BALEEN_FLEET_CAUSE_FULL,
					   "%s: its host has %d publishers",
					   work->message->publisher, BALEEN_FLEET_MAX_NAMES);
	baleen_fleet_usage_hold(&work->account.usage, work->receiver->now_ms);
	switch (work->message->type) {
	case BALEEN_FLEET_BATCH: return take_batch(work);
	case BALEEN_FLEET_SNAPSHOT: return take_snapshot(work);
	default: return take_head(work);
	}
}

/* A head that is known to agree need not be verified each time that it is read: 1 or 0. */
static int is_known_head(const struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_publisher known;
	int ret;

	if (message->type != BALEEN_FLEET_HEAD)
		return 0;
	ret = baleen_fleet_store_find(work->receiver->store, message->publisher, &known,
				      work->error);
	if (ret <= 0)
		return ret;
	return !known.is_own && known.agreed_ms == message->made_ms &&
	       known.sequence == message->last && known.n == message->n_entries &&
	       known.lacks <= known.sequence && !known.is_cloned &&
	       baleen_fleet_digest_is(&known.digest, &message->digest) &&
	       !memcmp(known.incarnation, message->incarnation, sizeof(known.incarnation));
}

int baleen_fleet_receive(const struct baleen_fleet_receiver *receiver, const void *bytes,
			 size_t n_bytes, struct baleen_fleet_result *result,
			 struct baleen_error *error)
{
	struct baleen_fleet_pardons pardons = { .ret = 0 };
	struct baleen_fleet_work work = { .receiver = receiver,
					  .bytes = bytes,
					  .n_bytes = n_bytes,
					  .pardons = &pardons,
					  .result = result,
					  .error = error };
	struct baleen_fleet_message message;
	const char *why;
	int err;

	memset(result, 0, sizeof(*result));
	if (baleen_fleet_decode(bytes, n_bytes, &message, &why))
		return baleen_fleet_refuse(&work, BALEEN_FLEET_CAUSE_FORM,
					   "a message that cannot be read: %s", why);
	work.message = &message;
	result->message = message;
	result->message.body = NULL;
	result->message.n_body = 0;
	strcpy(result->about, message.publisher);
	err = is_known_head(&work);
	if (err)
		return err < 0 ? err : 0;
	err = check(&work, bytes, n_bytes);
	if (err || result->verdict == BALEEN_FLEET_REFUSED)
		return err;
	if (message.type == BALEEN_FLEET_BATCH || message.type == BALEEN_FLEET_SNAPSHOT)
		err = baleen_fleet_pardons_open(receiver->store, receiver->now_ms, &pardons, error);
	if (!err)
		err = take(&work);
	return err ? err : pardons.ret;
}

int baleen_fleet_refusals_each(const struct baleen_fleet_store *store,
			       int (*visit)(const struct baleen_fleet_refusal *refusal, void *data),
			       void *data, struct baleen_error *error)
{
	struct baleen_sql_rows rows =
		baleen_sql_ask(&store->db,
			       "SELECT name, cause, n, last_ms FROM refusal ORDER BY name, cause",
			       error, NULL, 0);
	struct baleen_fleet_refusal refusal;

	while (baleen_sql_next(&rows)) {
		memset(&refusal, 0, sizeof(refusal));
		if (!baleen_sql_column(rows.row, 0, refusal.publisher, sizeof(refusal.publisher))) {
			rows.ret = baleen_sql_damaged(&store->db, "a refusal", error);
			continue;
		}
		refusal.cause = sqlite3_column_int(rows.row, 1);
		refusal.n = sqlite3_column_int64(rows.row, 2);
		refusal.last_ms = sqlite3_column_int64(rows.row, 3);
		rows.ret = visit(&refusal, data);
	}
	return baleen_sql_end(&rows);
}
