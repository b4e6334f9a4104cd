// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How a host gets on with its fleet. */
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_health.h"
#include "fleet/fleet_receive.h"
#include "state/sql.h"

/**
 * struct looking - the publishers are counted
 * @health: gets them
 * @now_ms: broker's time
 * @local_ms: of this host
 */
struct looking {
	struct baleen_fleet_health *health;
	u64 now_ms;
	u64 local_ms;
};

static u64 since(u64 then_ms, u64 now_ms)
{
	return now_ms > then_ms ? now_ms - then_ms : 0;
}

u64 baleen_fleet_silence(const struct baleen_fleet_publisher *publisher, u64 now_ms, u64 local_ms)
{
	u64 said_ms = publisher->head_ms > publisher->signed_ms ? publisher->head_ms :
								  publisher->signed_ms;
	u64 by_broker = since(said_ms, now_ms);
	u64 by_host = publisher->heard_ms ? since(publisher->heard_ms, local_ms) : 0;

	return by_host > by_broker ? by_host : by_broker;
}

static int look(const struct baleen_fleet_publisher *publisher, void *data)
{
	const struct looking *looking = data;
	struct baleen_fleet_health *health = looking->health;
	u64 silence;

	if (publisher->is_cloned && !health->n_cloned++)
		strcpy(health->cloned, publisher->name);
	if (publisher->is_own) {
		health->n_unsent += publisher->sequence - publisher->acknowledged;
		return 0;
	}
	health->n_publishers++;
	health->n_entries += publisher->n;
	health->n_held += publisher->n_held;
	if (publisher->lacks > publisher->sequence) {
		health->n_changes_behind += publisher->lacks - publisher->sequence;
		if (!health->n_behind++)
			strcpy(health->behind, publisher->name);
	}
	silence = baleen_fleet_silence(publisher, looking->now_ms, looking->local_ms);
	if (silence < health->silent_after_ms)
		return 0;
	health->n_silent++;
	if (silence > health->silent_ms) {
		health->silent_ms = silence;
		strcpy(health->silent, publisher->name);
	}
	return 0;
}

static int count_refusal(const struct baleen_fleet_refusal *refusal, void *data)
{
	struct baleen_fleet_health *health = data;

	if (refusal->cause < BALEEN_FLEET_N_CAUSES)
		health->refused[refusal->cause] += refusal->n;
	return 0;
}

static u64 number_of(const struct baleen_fleet_store *store, const char *name)
{
	char text[BALEEN_FLEET_TEXT_BYTES] = "";

	baleen_fleet_store_get(store, name, text, NULL);
	return strtoull(text, NULL, 10);
}

/* Each head is seen once in a sweep over all. */
static int find_silent_after(const struct baleen_fleet_store *store, u64 *after_ms,
			     struct baleen_error *error)
{
	u64 n = 0;
	int ret = baleen_sql_do(&store->db, "SELECT count(*) FROM publisher WHERE NOT is_own", &n,
				error, NULL, 0);

	*after_ms = BALEEN_FLEET_SILENT_MS + n / BALEEN_FLEET_A_LOOK * BALEEN_FLEET_LOOK_MS;
	return ret < 0 ? ret : 0;
}

int baleen_fleet_health_read(const struct baleen_fleet_store *store, u64 local_ms,
			     struct baleen_fleet_health *health, struct baleen_error *error)
{
	struct baleen_fleet_health read = { 0 };
	struct looking looking = { .health = &read,
				   .now_ms = local_ms + baleen_fleet_store_offset(store),
				   .local_ms = local_ms };
	int err;

	err = find_silent_after(store, &read.silent_after_ms, error);
	if (!err)
		err = baleen_fleet_store_each(store, look, &looking, error);

	if (!err)
		err = baleen_fleet_refusals_each(store, count_refusal, &read, error);
	if (!err)
		err = baleen_fleet_store_get(store, BALEEN_FLEET_TEXT_SENDS, read.sends, error);
	if (!err)
		err = baleen_fleet_store_get(store, BALEEN_FLEET_TEXT_RECEIVES, read.receives,
					     error);
	if (err)
		return err;
	read.expires_ms = number_of(store, BALEEN_FLEET_TEXT_EXPIRES);
	read.looked_s = number_of(store, BALEEN_FLEET_TEXT_LOOKED);
	read.agreed_s = number_of(store, BALEEN_FLEET_TEXT_AGREED);
	read.lag_ms = number_of(store, BALEEN_FLEET_TEXT_LAG);
	read.n_hosts = number_of(store, BALEEN_FLEET_TEXT_HOSTS);
	*health = read;
	return 0;
}
