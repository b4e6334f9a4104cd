// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages that are refused are counted. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "fleet/fleet_refusal.h"

/* Messages that are known to have been refused. */
#define REFUSED_MAX 4096

int baleen_fleet_refusal_count(struct baleen_fleet_work *work, const char *publisher, u32 cause,
			       u64 n)
{
	return baleen_sql_do(&work->receiver->store->db,
			     "INSERT INTO refusal VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE"
			     " SET n = n + ?3, last_ms = ?4",
			     NULL, work->error,
			     BALEEN_SQL_VALUES(baleen_sql_text(publisher), baleen_sql_number(cause),
					       baleen_sql_number(n),
					       baleen_sql_number(work->receiver->now_ms)));
}

/* Brokers keep what they have, and it is read again and again: the same bytes count once. */
static int is_counted(struct baleen_fleet_work *work, u32 cause)
{
	struct baleen_fleet_store *store = work->receiver->store;
	u8 hash[16];
	bool is_new;
	int err;

	crypto_generichash(hash, sizeof(hash), work->bytes, work->n_bytes, NULL, 0);
	hash[0] ^= cause;
	err = baleen_sql_do(&store->db, "INSERT OR IGNORE INTO refused (hash) VALUES (?)", NULL,
			    work->error, BALEEN_SQL_VALUES(baleen_sql_blob(hash, sizeof(hash))));
	is_new = !err && sqlite3_changes(store->db.db);
	if (is_new)
		err = baleen_sql_do(
			&store->db,
			"DELETE FROM refused WHERE id <= (SELECT MAX(id) FROM refused) - ?", NULL,
			work->error, BALEEN_SQL_VALUES(baleen_sql_number(REFUSED_MAX)));
	return err ? err : !is_new;
}

/* Names that nobody has vouched for are told, but not kept: anybody can make up any number, and who
 * has the key of a host any number of its names. So there are as many as hosts and publishers.
 */
static const char *name_of(const struct baleen_fleet_work *work, char *name)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_publisher known;

	if (!message || !baleen_fleet_policy_key(work->receiver->policy, message->publisher))
		return "";
	if (baleen_fleet_store_find(work->receiver->store, message->publisher, &known, NULL) > 0)
		return message->publisher;
	snprintf(name, BALEEN_FLEET_PUBLISHER_BYTES, "%.*s/*",
		 (int)strcspn(message->publisher, "/"), message->publisher);
	return name;
}

int baleen_fleet_refuse(struct baleen_fleet_work *work, u32 cause, const char *format, ...)
{
	struct baleen_fleet_result *result = work->result;
	char name[BALEEN_FLEET_PUBLISHER_BYTES];
	va_list args;
	int ret;

	va_start(args, format);
	vsnprintf(result->why, sizeof(result->why), format, args);
	va_end(args);
	result->verdict = BALEEN_FLEET_REFUSED;
	result->cause = cause;
	ret = is_counted(work, cause);
	if (ret)
		return ret < 0 ? ret : 0;
	return baleen_fleet_refusal_count(work, name_of(work, name), cause, 1);
}
