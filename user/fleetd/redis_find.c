// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which server of a fleet is the master, and which one to read from. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "fleetd/redis.h"

/* A master says something to its replicas every 10 seconds, unless it is set otherwise. */
#define LAST_IO_S 30

/* 1 or 0; a negative errno. */
static int is_role(struct redis *redis, const char *role, struct baleen_error *error)
{
	redisReply *reply = NULL;
	int ret = redis_call(redis, &reply, error, "ROLE");

	if (ret)
		return ret;
	ret = reply->type == REDIS_REPLY_ARRAY && reply->elements &&
	      reply->element[0]->type == REDIS_REPLY_STRING &&
	      !strcmp(reply->element[0]->str, role);
	freeReplyObject(reply);
	return ret;
}

static int try_master(struct redis *redis, const struct baleen_fleet_conf *conf,
		      const struct baleen_fleet_server *server, struct baleen_error *error)
{
	int ret = redis_connect(redis, conf, server, error);

	if (ret)
		return ret;
	ret = is_role(redis, "master", error);
	if (ret > 0)
		return 0;
	redis_close(redis);
	return ret ? ret :
		     baleen_fail(error, EAGAIN, "%s:%s: it is no master", server->host,
				 server->port);
}

/* --- Sentinel ------------------------------------------------------------------- */

static int read_address(const redisReply *reply, struct baleen_fleet_server *server)
{
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
	    reply->element[0]->type != REDIS_REPLY_STRING ||
	    reply->element[1]->type != REDIS_REPLY_STRING ||
	    reply->element[0]->len >= sizeof(server->host) ||
	    reply->element[1]->len >= sizeof(server->port))
		return -ENOENT;
	strcpy(server->host, reply->element[0]->str);
	strcpy(server->port, reply->element[1]->str);
	return 0;
}

static int ask_sentinel(const struct baleen_fleet_conf *conf,
			const struct baleen_fleet_server *sentinel,
			struct baleen_fleet_server *master, struct baleen_error *error)
{
	struct baleen_fleet_conf unnamed = *conf;
	struct redis redis = REDIS_CLOSED;
	redisReply *reply = NULL;
	int err = redis_connect(&redis, conf, sentinel, error);

	/* A Sentinel often has no users. */
	unnamed.user[0] = '\0';
	if (err == -EREMOTE)
		err = redis_connect(&redis, &unnamed, sentinel, error);
	if (!err)
		err = redis_call(&redis, &reply, error, "SENTINEL get-master-addr-by-name %s",
				 conf->master);
	if (!err) {
		err = read_address(reply, master);
		if (err)
			baleen_fail(error, -err, "%s:%s: knows no master '%s'", sentinel->host,
				    sentinel->port, conf->master);
		freeReplyObject(reply);
	}
	redis_close(&redis);
	return err;
}

static int ask_sentinels(const struct baleen_fleet_conf *conf, struct baleen_fleet_server *master,
			 struct baleen_error *error)
{
	int err = -ENOENT;

	for (u32 i = 0; i < conf->sentinels.n && err; i++)
		err = ask_sentinel(conf, &conf->sentinels.server[i], master, error);
	return err;
}

bool redis_is_master_still(struct redis *redis, const struct baleen_fleet_conf *conf)
{
	struct baleen_fleet_server master;

	if (is_role(redis, "master", NULL) <= 0)
		return false;
	if (!conf->sentinels.n || ask_sentinels(conf, &master, NULL))
		return true;
	return !strcmp(master.host, redis->server.host) && !strcmp(master.port, redis->server.port);
}

/* --- find ----------------------------------------------------------------------- */

static int find_master(struct redis *redis, const struct baleen_fleet_conf *conf,
		       struct baleen_error *error)
{
	struct baleen_fleet_server master;
	int err = -ENOENT;

	if (conf->sentinels.n) {
		err = ask_sentinels(conf, &master, error);
		return err ? err : try_master(redis, conf, &master, error);
	}
	for (u32 i = 0; i < conf->servers.n && err; i++)
		err = try_master(redis, conf, &conf->servers.server[i], error);
	return err;
}

/* The link to a master that stands still is up until it times out. */
bool redis_has_news(const char *info)
{
	static const char name[] = "master_last_io_seconds_ago:";
	const char *at = strstr(info, name);

	if (strstr(info, "role:master"))
		return true;
	return strstr(info, "master_link_status:up") && at && at[strlen(name)] != '-' &&
	       strtoull(at + strlen(name), NULL, 10) < LAST_IO_S;
}

/* Hosts begin with different ones, so that each replica gets its share of them. A replica
 * that lost its master would show the past for as long as that takes, so another is taken.
 */
static int find_replica(struct redis *redis, const struct baleen_fleet_conf *conf,
			struct baleen_error *error)
{
	const struct baleen_fleet_servers *replicas = &conf->replicas;
	u32 first = 0;

	if (getrandom(&first, sizeof(first), 0) != sizeof(first))
		first = 0;
	for (u32 i = 0; i < replicas->n; i++) {
		u32 at = (first % replicas->n + i) % replicas->n;
		redisReply *reply = NULL;
		bool is_good;

		if (redis_connect(redis, conf, &replicas->server[at], error))
			continue;
		if (redis_call(redis, &reply, error, "INFO replication")) {
			redis_close(redis);
			continue;
		}
		is_good = reply->type == REDIS_REPLY_STRING && redis_has_news(reply->str);
		freeReplyObject(reply);
		if (is_good)
			return 0;
		redis_close(redis);
	}
	return -ENOENT;
}

int redis_find(struct redis *redis, const struct baleen_fleet_conf *conf, enum redis_role role,
	       struct baleen_error *error)
{
	if (role == REDIS_REPLICA && conf->replicas.n && !find_replica(redis, conf, error))
		return 0;
	return find_master(redis, conf, error);
}
