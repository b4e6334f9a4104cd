// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A state that is damaged, or of an older Baleen: set aside, so that another can be made. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "state/rule_store.h"
#include "state/rule_store_mend.h"
#include "state/rule_store_schema.h"
#include "state/salvage.h"
#include "state/sql.h"
#include "util/announce.h"
#include "util/clock.h"
#include "util/lock.h"

/* --- look ------------------------------------------------------------------ */

/**
 * enum health - how a state is
 * @SOUND: it can be used, or there is none
 * @DAMAGED: damaged, or made by an older Baleen
 * @NEWER: made by a newer Baleen
 */
enum health { SOUND, DAMAGED, NEWER };

static bool has(const struct baleen_rule_store *state, const char *name)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];

	snprintf(path, sizeof(path), "%s/%s", state->path, name);
	return !access(path, F_OK);
}

static enum health health_of_database(const struct baleen_rule_store *state)
{
	struct baleen_sql_rows rows;
	bool is_sound = false;
	u64 version;

	if (baleen_sql_do(state, "PRAGMA user_version", &version, NULL, NULL, 0) < 0)
		return DAMAGED;
	if (version != BALEEN_RULE_STORE_SCHEMA)
		return version > BALEEN_RULE_STORE_SCHEMA ? NEWER : DAMAGED;
	rows = baleen_sql_ask(state, "PRAGMA quick_check(1)", NULL, NULL, 0);
	if (baleen_sql_next(&rows))
		is_sound = !strcmp((const char *)sqlite3_column_text(rows.row, 0) ?: "", "ok");
	return baleen_sql_end(&rows) == -EINVAL || !is_sound ? DAMAGED : SOUND;
}

/* A state that was never finished is none. */
static enum health health_of(struct baleen_rule_store *state)
{
	enum health health;
	int err;

	if (has(state, BALEEN_RULE_STORE_UNFINISHED))
		return SOUND;
	if (!has(state, BALEEN_RULE_STORE_DB))
		return has(state, BALEEN_RULE_STORE_FEEDS) ? DAMAGED : SOUND;
	err = baleen_sql_open(state, NULL);
	if (err)
		return err == -EINVAL ? DAMAGED : SOUND;
	health = health_of_database(state);
	baleen_sql_close(state);
	return health;
}

/* The kept state comes first.
 *
 * Return: 0; -ENOENT when all can be used.
 */
static int find_sick(const char *device, struct baleen_rule_store *state, enum health *health)
{
	for (int is_kept = 1; is_kept >= 0; is_kept--) {
		*state = (struct baleen_rule_store){ .is_kept = is_kept, .lock_fd = -1 };
		snprintf(state->device, sizeof(state->device), "%s", device);
		if (baleen_rule_store_name(device, is_kept, state->path, NULL))
			continue;
		*health = health_of(state);
		if (*health != SOUND)
			return 0;
	}
	return -ENOENT;
}

bool baleen_rule_store_is_damaged(const char *device)
{
	struct baleen_rule_store state;
	enum health health;

	return !find_sick(device, &state, &health) && health == DAMAGED;
}

/* Becomes its only writer.
 *
 * Return: 1; 0 when it is not sick, or no longer; a negative errno.
 */
static int hold_sick(const char *device, u64 timeout_ms, struct baleen_rule_store *state,
		     enum health *health, struct baleen_error *error)
{
	int fd, err;

	if (find_sick(device, state, health))
		return 0;
	fd = open(state->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : baleen_fail(error, errno, "%s: %m", state->path);
	err = baleen_lock_within(fd, timeout_ms);
	if (err) {
		close(fd);
		return baleen_fail(error, -err, "%s: %s", state->path, strerror(-err));
	}
	*health = baleen_lock_is_of(fd, state->path) ? health_of(state) : SOUND;
	if (*health == SOUND) {
		close(fd);
		return 0;
	}
	state->lock_fd = fd;
	return 1;
}

/* --- what can still be read ------------------------------------------------ */

static void link_feeds(const struct baleen_rule_store *from, const struct baleen_rule_store *to)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	struct dirent *entry;
	DIR *directory;
	int fd;

	snprintf(path, sizeof(path), "%s/" BALEEN_RULE_STORE_FEEDS, to->path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/" BALEEN_RULE_STORE_FEEDS, from->path);
	directory = fd < 0 ? NULL : opendir(path);
	while (directory && (entry = readdir(directory)))
		linkat(dirfd(directory), entry->d_name, fd, entry->d_name, 0);
	if (directory)
		closedir(directory);
	if (fd >= 0)
		close(fd);
}

static bool is_of_now(const struct baleen_rule_store *state)
{
	u64 version;

	return baleen_sql_do(state, "PRAGMA user_version", &version, NULL, NULL, 0) > 0 &&
	       version == BALEEN_RULE_STORE_SCHEMA;
}

/* A state without rules is none: then a configuration makes one. Tables of an older Baleen may
 * mean something else.
 */
static void salvage(const char *device, bool is_kept, u64 timeout_ms,
		    struct baleen_rule_store_aside *aside)
{
	static const char *const tables[] = { "policy", "text", "rule", "feed" };
	struct baleen_rule_store from = { .lock_fd = -1 }, made;
	struct baleen_stored_rules rules;

	snprintf(from.path, sizeof(from.path), "%.*s", (int)sizeof(from.path) - 1, aside->path);
	if (baleen_sql_open(&from, NULL))
		return;
	if (is_of_now(&from) &&
	    !baleen_rule_store_create(&made, device, is_kept, timeout_ms, NULL)) {
		int err = baleen_rule_store_begin(&made, NULL);

		for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !err; i++)
			baleen_salvage(&from, &made, tables[i]);
		link_feeds(&from, &made);
		if (!err)
			err = baleen_rule_store_get_rules(&made, &rules, NULL);
		/* The live map has what could not be read: whoever opens it next derives anew. */
		if (!err)
			err = baleen_rule_store_mark(&made, NULL);
		if (!err && rules.n_rules && !baleen_rule_store_commit(&made, NULL))
			aside->has_rules = true;
		baleen_rule_store_close(&made);
	}
	baleen_sql_close(&from);
}

/* --- change ---------------------------------------------------------------- */

/* Longer than the name of a device can be, so no state is called so. */
static void name_aside(const struct baleen_rule_store *state, char *path)
{
	snprintf(path, BALEEN_RULE_STORE_NAME_BYTES, "%s.damaged-%llu", state->path,
		 baleen_clock_ns(CLOCK_REALTIME) / 1000000ull);
}

int baleen_rule_store_set_aside(const char *device, u64 timeout_ms,
				struct baleen_rule_store_aside *aside, struct baleen_error *error)
{
	struct baleen_rule_store_aside set = { .has_rules = false };
	struct baleen_rule_store state;
	enum health health;
	int ret = hold_sick(device, timeout_ms, &state, &health, error);

	if (ret <= 0)
		return ret;
	if (health == NEWER) {
		close(state.lock_fd);
		return 0;
	}
	name_aside(&state, set.path);
	if (rename(state.path, set.path)) {
		ret = baleen_fail(error, errno, "%s: %m", state.path);
	} else {
		if (state.is_kept)
			baleen_rule_store_sync_parent(state.path);
		salvage(device, state.is_kept, timeout_ms, &set);
		*aside = set;
		baleen_announce();
	}
	close(state.lock_fd);
	return ret;
}

int baleen_rule_store_discard(const char *device, u64 timeout_ms, struct baleen_error *error)
{
	struct baleen_rule_store state;
	enum health health;
	int err, ret = hold_sick(device, timeout_ms, &state, &health, error);

	if (ret <= 0)
		return ret;
	err = baleen_rule_store_remove_whole(state.path);
	if (err)
		ret = baleen_fail(error, -err, "%s: %s", state.path, strerror(-err));
	else if (state.is_kept)
		baleen_rule_store_sync_parent(state.path);
	baleen_announce();
	close(state.lock_fd);
	return ret;
}
