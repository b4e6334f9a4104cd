// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The head and the snapshot of a publisher of this host, as Redis has them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "fleet/fleet_health.h"
#include "fleetd/publisher.h"
#include "util/clock.h"

/* Another host with this name would have signed its head again meanwhile. */
#define OTHER_MS 60000
/* A snapshot is renewed when so many parts of its entries have changed, ... */
#define CHANGED_PARTS 8
/* ... when it is so old, or when somebody needs it. */
#define SNAPSHOT_MS 600000

/* A later incarnation than that of a head at Redis. */
static int renew(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		 const struct baleen_fleet_message *head, struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	struct baleen_fleet_publisher renewed;
	int err;

	say(fleet, LOG_ALERT,
	    "%s: somebody has published other bans under this name: this host is a copy of another "
	    "one, was installed anew, or went back in time; it takes a new incarnation",
	    own->name);
	err = baleen_fleet_own_renew(&fleet->store, own->name, head->incarnation, broker_ms(fleet),
				     error);
	if (!err)
		err = baleen_fleet_store_find(&fleet->store, own->name, &renewed, error);
	return err > 0 ? publish_anew(publisher, &renewed, error) : err;
}

/* A head that this host has not signed is replaced. */
static bool read_head(const struct fleet *fleet, const redisReply *reply,
		      const struct baleen_fleet_publisher *own, struct baleen_fleet_message *head)
{
	const char *why;

	return reply->type == REDIS_REPLY_STRING &&
	       !baleen_fleet_decode(reply->str, reply->len, head, &why) &&
	       head->type == BALEEN_FLEET_HEAD && !strcmp(head->publisher, own->name) &&
	       !strcmp(head->fleet, fleet->conf.fleet) &&
	       baleen_fleet_verify(reply->str, reply->len, fleet->keys.public_key);
}

/* A head of another incarnation that nobody changes is of this host before it was installed
 * anew.
 */
static bool is_at_rest(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		       const struct baleen_fleet_message *head)
{
	struct sent *sent = find_sent(publisher, own->name);
	u64 now_ms = baleen_monotonic_ms();

	if (!sent)
		return false;
	if (!sent->other_since_ms || sent->other_made_ms != head->made_ms)
		sent->other_since_ms = now_ms;
	sent->other_made_ms = head->made_ms;
	return now_ms > sent->other_since_ms + OTHER_MS ||
	       broker_ms(publisher->fleet) > head->made_ms + OTHER_MS;
}

/* One of the future is of before the broker's clock was set. */
static bool is_old(const struct fleet *fleet, const struct baleen_fleet_message *head)
{
	u64 now_ms = broker_ms(fleet);

	return now_ms < head->made_ms || now_ms - head->made_ms >= BALEEN_FLEET_HEAD_MS;
}

/* A log under this name, signed by this key, is of this host before it lost its
 * disk: it goes on from there. Its bans are banned here again, so that they stay on other hosts.
 */
static int inherit(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		   const struct baleen_fleet_message *head, struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	struct sent *sent = find_sent(publisher, own->name);
	redisReply *reply = NULL;
	u64 n = 0;
	int err = redis_call(&publisher->redis, &reply, error, "GET {%s}:snap:%s",
			     fleet->conf.fleet, own->name);

	if (err)
		return err;
	if (reply->type == REDIS_REPLY_STRING)
		err = local_inherit(fleet, own, reply->str, reply->len, &n, error);
	freeReplyObject(reply);
	/* Others keep what they have of it until a rule here can have it. */
	if (err == -ENOENT) {
		sent->waits = true;
		say(fleet, LOG_ALERT, "%s", error->text);
		return 0;
	}
	if (!err)
		say(fleet, LOG_ALERT,
		    "%s: this host was installed anew, or has lost its disk: it goes on with %llu "
		    "entries that it had published before",
		    own->name, (unsigned long long)n);
	if (!err)
		err = local_sync(fleet, error);
	if (!err)
		err = baleen_fleet_own_known(&fleet->store, own->name, broker_ms(fleet), error);
	return err ? err : renew(publisher, own, head, error);
}

/* Nothing of it was sent yet: is it this host, or another one with its key? */
static int compare_fresh(struct publisher *publisher, const struct baleen_fleet_publisher *own,
			 const redisReply *reply, struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	struct sent *sent = find_sent(publisher, own->name);
	struct baleen_fleet_message head;

	if (!sent)
		return baleen_no_memory(error);
	if (!read_head(fleet, reply, own, &head) ||
	    !memcmp(head.incarnation, own->incarnation, sizeof(own->incarnation)))
		return baleen_fleet_own_known(&fleet->store, own->name, broker_ms(fleet), error);
	sent->waits = !is_at_rest(publisher, own, &head);
	if (!sent->waits)
		return inherit(publisher, own, &head, error);
	say(fleet, LOG_ALERT,
	    "%s: another host publishes under this name: this one waits until it stops", own->name);
	return 0;
}

static int compare_head(struct publisher *publisher, const struct baleen_fleet_publisher *own,
			const redisReply *reply, struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	struct sent *sent = find_sent(publisher, own->name);
	struct baleen_fleet_message head;
	u32 standing = BALEEN_FLEET_BEHIND;
	int err = 0;

	if (!sent)
		return baleen_no_memory(error);
	sent->waits = false;
	if (read_head(fleet, reply, own, &head)) {
		err = baleen_fleet_own_compare(&fleet->store, &head, &standing, error);
		/* The outbox comes behind it. */
		if (!err && standing == BALEEN_FLEET_BEHIND && head.last == own->acknowledged &&
		    own->acknowledged < own->sequence &&
		    !memcmp(head.incarnation, own->incarnation, sizeof(head.incarnation)))
			return 0;
	}
	if (err)
		return err;
	if (standing == BALEEN_FLEET_CLONE)
		return renew(publisher, own, &head, error);
	if (standing == BALEEN_FLEET_OTHER && is_at_rest(publisher, own, &head))
		return renew(publisher, own, &head, error);
	sent->waits = standing == BALEEN_FLEET_OTHER;
	if (sent->waits)
		say(fleet, LOG_ALERT,
		    "%s: another host publishes under this name: this one waits until it stops",
		    own->name);
	if (standing == BALEEN_FLEET_BEHIND)
		return publish_anew(publisher, own, error);
	return standing == BALEEN_FLEET_SAME && is_old(fleet, &head) ?
		       send_head(publisher, own, error) :
		       0;
}

static int fetch_and_compare(struct publisher *publisher, const struct baleen_fleet_publisher *own,
			     struct baleen_error *error)
{
	redisReply *reply = NULL;
	int err = redis_call(&publisher->redis, &reply, error, "HGET {%s}:heads %s",
			     publisher->fleet->conf.fleet, own->name);

	if (err)
		return err;
	err = own->head_ms ? compare_head(publisher, own, reply, error) :
			     compare_fresh(publisher, own, reply, error);
	freeReplyObject(reply);
	return err;
}

/* --- the snapshot ------------------------------------------------------------------------ */

/* One that is there need not be sent again because the connection is a new one. */
static int find_snapshot(struct publisher *publisher, const struct baleen_fleet_publisher *own,
			 struct sent *sent, struct baleen_error *error)
{
	struct baleen_fleet_message message;
	redisReply *reply = NULL;
	int err =
		snapshot_peek(&publisher->redis, &publisher->fleet->conf, own->name, &reply, error);

	if (err)
		return err;
	if (snapshot_is(reply, &publisher->fleet->conf, own->name, &message) &&
	    message.last <= own->sequence) {
		sent->is_known = true;
		sent->sequence = message.last;
		sent->made_ms = message.made_ms;
		memcpy(sent->incarnation, message.incarnation, sizeof(sent->incarnation));
	}
	if (reply)
		freeReplyObject(reply);
	return 0;
}

/* Does a host that has missed something ask for one? 1 or 0; a negative errno. */
static int is_wanted(struct publisher *publisher, const char *name, struct baleen_error *error)
{
	const char *fleet = publisher->fleet->conf.fleet;
	redisReply *reply = NULL;
	int ret = redis_call(&publisher->redis, &reply, error, "HGET {%s}:wanted %s", fleet, name);

	if (ret)
		return ret;
	ret = reply->type == REDIS_REPLY_STRING;
	freeReplyObject(reply);
	if (!ret)
		return 0;
	ret = redis_call(&publisher->redis, &reply, error, "HDEL {%s}:wanted %s", fleet, name);
	if (ret)
		return ret;
	freeReplyObject(reply);
	return 1;
}

/* A whole snapshot for each change would cost more than all else: in a storm it is left as it is,
 * as long as the stream has what came since.
 */
static bool is_stale(const struct publisher *publisher, const struct baleen_fleet_publisher *own,
		     const struct sent *sent)
{
	u64 now_ms = broker_ms(publisher->fleet), n_changes;

	if (!sent->is_known ||
	    memcmp(sent->incarnation, own->incarnation, sizeof(sent->incarnation)))
		return true;
	n_changes = own->sequence - sent->sequence;
	return n_changes && (n_changes * CHANGED_PARTS >= own->n || now_ms < sent->made_ms ||
			     now_ms - sent->made_ms >= SNAPSHOT_MS);
}

/* Changes that are not sent yet tell of the snapshot themselves. */
static int answer(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		  struct baleen_error *error)
{
	int ret = is_wanted(publisher, own->name, error);

	if (ret <= 0)
		return ret;
	return own->acknowledged == own->sequence ? publish_anew(publisher, own, error) :
						    send_snapshot(publisher, own, error);
}

int compare_with_redis(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		       struct baleen_error *error)
{
	struct sent *sent = find_sent(publisher, own->name);
	int err = sent ? fetch_and_compare(publisher, own, error) : baleen_no_memory(error);

	if (err || sent->waits)
		return err;
	if (!sent->is_known)
		err = find_snapshot(publisher, own, sent, error);
	if (err)
		return err;
	return is_stale(publisher, own, sent) ? send_snapshot(publisher, own, error) :
						answer(publisher, own, error);
}
