/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two hosts of a fleet for tests: web3 publishes, web1 receives; ops is an operator.
 */
#ifndef FLEETS_H
#define FLEETS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#include "fleet/fleet_own.h"
#include "fleet/fleet_receive.h"
#include "fleet/fleet_view.h"
#include "fleet/fleet_word.h"
#include "state/sql.h"

#define NOW 1764028800000ull
#define HOUR 3600000ull
#define PUBLISHER "web3/fail2ban"

static struct baleen_error error;
/* web3, web1, ops */
static char fleet_dir[3][64];
static struct baleen_fleet_store here, there, office;
static struct baleen_fleet_keys web3, ops;
static struct baleen_fleet_policy fleet_policy;
static struct baleen_fleet_result result;
/* Broker's time of all that is done. */
static u64 fleet_now;
/* The receiver's, when that is another one. */
static u64 fleet_local;

#define OK(call)                                    \
	do {                                        \
		if (call)                           \
			fail_msg("%s", error.text); \
	} while (0)

static inline void fleet_key(u8 number, struct baleen_fleet_keys *keys)
{
	u8 seed[crypto_sign_SEEDBYTES] = { number };

	crypto_sign_seed_keypair(keys->public_key, keys->secret_key, seed);
}

/* @limits: statements of the publisher. */
static inline void fleet_set_policy(const char *limits)
{
	char text[2048], of_web3[BALEEN_FLEET_PUBLIC_TEXT], of_ops[BALEEN_FLEET_PUBLIC_TEXT];
	int n;

	baleen_fleet_policy_free(&fleet_policy);
	baleen_fleet_public_format(web3.public_key, of_web3);
	baleen_fleet_public_format(ops.public_key, of_ops);
	n = snprintf(
		text, sizeof(text),
		"fleet example\nserial 7\nhost web3 %s\nhost ops %s\nhost web1 %s\nhost web4 %s\n"
		"publisher ops/control\nsets bans scans\nshortest-prefix 0 0\ncoverage 900G\nmay pardon suspend\n"
		"publisher web*/*\n%s\n",
		of_web3, of_ops, of_ops, of_ops, limits);
	OK(baleen_fleet_policy_parse(text, n, "policy", &fleet_policy, &error));
}

static inline int fleets_start(void **state)
{
	if (sodium_init() < 0)
		return -1;
	fleet_key(3, &web3);
	fleet_key(9, &ops);
	fleet_set_policy("");
	fleet_now = NOW;
	fleet_local = 0;
	for (u32 i = 0; i < 3; i++) {
		struct baleen_fleet_store *const store[] = { &here, &there, &office };

		strcpy(fleet_dir[i], "/tmp/baleen-fleet-XXXXXX");
		if (!mkdtemp(fleet_dir[i]))
			return -1;
		OK(baleen_fleet_store_open(store[i], fleet_dir[i], true, &error));
	}
	return 0;
}

static inline int fleets_stop(void **state)
{
	char command[256];

	baleen_fleet_result_free(&result);
	baleen_fleet_policy_free(&fleet_policy);
	baleen_fleet_store_close(&here);
	baleen_fleet_store_close(&there);
	baleen_fleet_store_close(&office);
	snprintf(command, sizeof(command), "rm -rf %s* %s %s", fleet_dir[0], fleet_dir[1],
		 fleet_dir[2]);
	return system(command);
}

/* --- publish --------------------------------------------------------------- */

static inline struct baleen_fleet_local local_ban(const char *key, u64 end_ms, const char *reason)
{
	struct baleen_fleet_local local = { .set = BALEEN_FLEET_SET, .end_ms = end_ms };

	snprintf(local.key, sizeof(local.key), "%s", key);
	snprintf(local.reason, sizeof(local.reason), "%s", reason);
	return local;
}

/* Publishes just these keys, for two hours from NOW: names with blanks between. */
static inline struct baleen_fleet_sync publish(const char *keys)
{
	struct baleen_fleet_local local[64];
	struct baleen_fleet_sync sync;
	char copy[1024], *save;
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", keys);
	for (char *key = strtok_r(copy, " ", &save); key; key = strtok_r(NULL, " ", &save))
		local[n++] = local_ban(key, NOW + 2 * HOUR, "sshd");
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, n, fleet_now, &sync, &error));
	return sync;
}

static inline struct baleen_fleet_signer signer(void)
{
	return (struct baleen_fleet_signer){ .fleet = "example",
					     .keys = &web3,
					     .now_ms = fleet_now };
}

static inline struct baleen_fleet_writer head(void)
{
	const struct baleen_fleet_signer by = signer();
	struct baleen_fleet_writer writer;

	OK(baleen_fleet_own_head(&here, PUBLISHER, &by, &writer, &error));
	return writer;
}

static inline struct baleen_fleet_writer snapshot(void)
{
	const struct baleen_fleet_signer by = signer();
	struct baleen_fleet_writer writer;

	OK(baleen_fleet_own_snapshot(&here, PUBLISHER, &by, &writer, &error));
	return writer;
}

/* The changes behind @after. */
static inline struct baleen_fleet_writer batch(u64 after)
{
	const struct baleen_fleet_signer by = signer();
	struct baleen_fleet_writer writer;
	u64 last;

	assert_int_equal(baleen_fleet_own_batch(&here, PUBLISHER, &by, after, &writer, &last,
						&error),
			 1);
	return writer;
}

static inline struct baleen_fleet_publisher publisher_of(struct baleen_fleet_store *store)
{
	struct baleen_fleet_publisher publisher;

	assert_int_equal(baleen_fleet_store_find(store, PUBLISHER, &publisher, &error), 1);
	return publisher;
}

/* --- a copy of the machine ------------------------------------------------- */

/* With the same incarnation, numbers and key. */
static inline void clone_here(void)
{
	char command[256];

	baleen_fleet_store_close(&here);
	snprintf(command, sizeof(command), "cp -r %s %s.clone", fleet_dir[0], fleet_dir[0]);
	assert_int_equal(system(command), 0);
	OK(baleen_fleet_store_open(&here, fleet_dir[0], true, &error));
}

/* The other one goes on. */
static inline void swap_here(void)
{
	char from[96], other[96];

	baleen_fleet_store_close(&here);
	snprintf(from, sizeof(from), "%s.clone", fleet_dir[0]);
	snprintf(other, sizeof(other), "%s.other", fleet_dir[0]);
	assert_int_equal(rename(fleet_dir[0], other) | rename(from, fleet_dir[0]) |
				 rename(other, from),
			 0);
	OK(baleen_fleet_store_open(&here, fleet_dir[0], true, &error));
}

/* --- operators ------------------------------------------------------------- */

/* What operators say. */
enum { ASKS = BALEEN_FLEET_ASK, PARDON = 101, SUSPEND, RESUME };

static inline struct baleen_fleet_writer asks_about(const char *about, const char *by)
{
	const struct baleen_fleet_signer signer = { .fleet = "example",
						    .keys = &ops,
						    .now_ms = fleet_now };
	struct baleen_fleet_message message = { .control = BALEEN_FLEET_ASK,
						.set = BALEEN_FLEET_SET };
	struct baleen_fleet_writer writer;

	strcpy(message.publisher, by);
	assert_int_equal(baleen_fleet_key_parse(about, &message.key), 0);
	OK(baleen_fleet_own_control(&signer, &message, &writer, &error));
	return writer;
}

static inline struct baleen_fleet_entry word_on(u32 kind, const char *about, u64 made_ms)
{
	struct baleen_fleet_entry entry = { .made_ms = made_ms, .reason = "by mistake" };

	strcpy(entry.set, kind == PARDON  ? BALEEN_FLEET_SET :
			  kind == SUSPEND ? BALEEN_FLEET_SUSPENDS :
					    BALEEN_FLEET_RESUMES);
	if (kind == PARDON)
		assert_int_equal(baleen_fleet_key_parse(about, &entry.key), 0);
	else
		entry.key = baleen_fleet_key_name(about);
	return entry;
}

/* Takes what was posted at a host; its result is that of the test. */
static inline int take_words(struct baleen_fleet_store *store, const char *host)
{
	const struct baleen_fleet_receiver by = { .store = store,
						  .policy = &fleet_policy,
						  .host = host,
						  .now_ms = fleet_now,
						  .local_ms = fleet_now };
	int ret;

	baleen_fleet_result_free(&result);
	OK(baleen_fleet_store_begin(store, &error));
	ret = baleen_fleet_words_take(&by, &result, &error);
	OK(ret < 0);
	OK(baleen_fleet_store_commit(store, &error));
	return ret;
}

/* The batch that says it, and nothing else. */
static inline struct baleen_fleet_writer
operator_says(struct baleen_fleet_store *store, const char *host, u32 kind, const char *about)
{
	const struct baleen_fleet_signer signer = { .fleet = "example",
						    .keys = &ops,
						    .now_ms = fleet_now };
	struct baleen_fleet_publisher before = { .sequence = 0 };
	struct baleen_fleet_writer writer;
	struct baleen_fleet_entry entry;
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	u64 made_ms, last;

	snprintf(publisher, sizeof(publisher), "%s/control", host);
	baleen_fleet_store_find(store, publisher, &before, &error);
	OK(baleen_fleet_word_time(store, fleet_now, &made_ms, &error));
	entry = word_on(kind, about, made_ms);
	OK(baleen_fleet_word_post(store, &entry, &error));
	assert_int_equal(take_words(store, host), 1);
	assert_int_equal(baleen_fleet_own_batch(store, publisher, &signer, before.sequence, &writer,
						&last, &error),
			 1);
	return writer;
}

static inline struct baleen_fleet_writer operator_asks(u32 kind, const char *about)
{
	return kind == ASKS ? asks_about(about, "ops/control") :
			      operator_says(&office, "ops", kind, about);
}

/* --- receive --------------------------------------------------------------- */

static inline struct baleen_fleet_receiver receiver(void)
{
	return (struct baleen_fleet_receiver){ .store = &there,
					       .policy = &fleet_policy,
					       .host = "web1",
					       .now_ms = fleet_now,
					       .local_ms = fleet_local ? fleet_local : fleet_now };
}

static inline void receive_bytes(const u8 *bytes, size_t n_bytes)
{
	const struct baleen_fleet_receiver by = receiver();

	baleen_fleet_result_free(&result);
	OK(baleen_fleet_store_begin(&there, &error));
	OK(baleen_fleet_receive(&by, bytes, n_bytes, &result, &error));
	OK(baleen_fleet_store_commit(&there, &error));
}

/* The same at another host, which keeps the message. */
static inline void hears_at(struct baleen_fleet_store *store, const char *host,
			    struct baleen_fleet_writer writer)
{
	const struct baleen_fleet_receiver by = { .store = store,
						  .policy = &fleet_policy,
						  .host = host,
						  .now_ms = fleet_now,
						  .local_ms = fleet_now };

	baleen_fleet_result_free(&result);
	OK(baleen_fleet_store_begin(store, &error));
	OK(baleen_fleet_receive(&by, writer.bytes, writer.n_bytes, &result, &error));
	OK(baleen_fleet_store_commit(store, &error));
	assert_int_equal(result.verdict, BALEEN_FLEET_APPLIED);
}

/* Receives a message, and frees it; checks what became of it. */
static inline void receives(struct baleen_fleet_writer writer, u32 verdict)
{
	receive_bytes(writer.bytes, writer.n_bytes);
	baleen_fleet_writer_free(&writer);
	if (result.verdict != verdict)
		fail_msg("verdict %u: %s", result.verdict, result.why);
}

static inline void refused(struct baleen_fleet_writer writer, u32 cause)
{
	receives(writer, BALEEN_FLEET_REFUSED);
	if (result.cause != cause)
		fail_msg("%s: %s", baleen_fleet_cause_name(result.cause), result.why);
}

static inline int add_key(const struct baleen_fleet_effect *effect, void *data)
{
	char text[BALEEN_FLEET_KEY_TEXT];

	assert_true(effect->is_in_force);
	sprintf(strchr(data, '\0'), "%s%s", *(char *)data ? " " : "",
		baleen_fleet_key_format(&effect->entry.key, text));
	return 0;
}

/* Checks the keys in force, in order, with blanks between. */
static inline void in_force(const char *want)
{
	char keys[8192] = "";

	OK(baleen_fleet_view_each(&there, NULL, fleet_now, add_key, keys, &error));
	assert_string_equal(keys, want);
}

/* Checks the effects that were told: + or - and the key. */
static inline void told(const char *want)
{
	char text[BALEEN_FLEET_KEY_TEXT], got[4096] = "";

	for (size_t i = 0; i < result.n_effects; i++)
		sprintf(strchr(got, '\0'), "%s%c%s", i ? " " : "",
			result.effect[i].is_in_force ? '+' : '-',
			baleen_fleet_key_format(&result.effect[i].entry.key, text));
	assert_string_equal(got, want);
}

static inline u64 n_refused(const char *publisher, u32 cause)
{
	u64 n = 0;

	baleen_sql_do(&there.db, "SELECT n FROM refusal WHERE name = ? AND cause = ?", &n, NULL,
		      BALEEN_SQL_VALUES(baleen_sql_text(publisher), baleen_sql_number(cause)));
	return n;
}

#endif /* FLEETS_H */
