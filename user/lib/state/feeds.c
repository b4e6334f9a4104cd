// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The feeds of a rule, and the last good copy of each. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "state/draft_copies.h"
#include "state/entries.h"
#include "state/feeds.h"
#include "state/route_feed.h"
#include "state/rule_store_path.h"
#include "state/set_feed.h"
#include "state/sql.h"
#include "util/input.h"
#include "util/output.h"
#include "util/url.h"
#include "util/write_file.h"

#define COLUMNS                                                                           \
	"source, key_column, key_where, delimiter, skip_bad, every_s, timeout_s, file, "  \
	"format, etag, last_modified, n_entries, n_ip4, n_bytes, n_special, checked_ms, " \
	"received_ms, confirmed_ms, n_failures, failure"

#define N_COLUMNS 20

struct baleen_feed_name baleen_feed_public_name(const char *source)
{
	const char *url = source;
	struct baleen_feed_name name;

	if (baleen_feed_set_is(source))
		url += sizeof(BALEEN_FEED_SET) - 1;
	snprintf(name.text, sizeof(name.text), "%s",
		 baleen_url_is(url) ? baleen_url_name(source).text : source);
	return name;
}

struct baleen_feed_name baleen_feed_source_name(const struct baleen_feed_source *wanted)
{
	return baleen_feed_public_name(wanted->source);
}

struct baleen_feed_name baleen_feed_name(const struct baleen_feed *feed)
{
	struct baleen_feed_name name;

	/* Other copies of a set have names of ours. */
	if (!*feed->file || *feed->file == *BALEEN_COPY_OTHERS)
		return baleen_feed_source_name(&feed->wanted);
	snprintf(name.text, sizeof(name.text), "%s", feed->file);
	return name;
}

u64 baleen_feed_due_ms(const struct baleen_feed *feed, u64 now_ms)
{
	u64 wait_ms = feed->wanted.every_s * 1000ull, due_ms = 0;

	if (baleen_feed_copy_is(feed->wanted.source))
		return 0;
	if (feed->n_failures && wait_ms > BALEEN_FEED_RETRY_MS)
		wait_ms = BALEEN_FEED_RETRY_MS;
	if (wait_ms)
		due_ms = feed->checked_ms > now_ms ? now_ms : feed->checked_ms + wait_ms;
	/* A table that was refused is asked again by who follows it; a set that is watched is
	 * looked at whether its server answers or not.
	 */
	if (feed->next_ms && (!feed->n_failures || baleen_feed_set_is(feed->wanted.source)) &&
	    (!due_ms || feed->next_ms < due_ms))
		due_ms = feed->next_ms;
	return due_ms;
}

/* --- rows --- */

/* Behind the name of the rule and the number of the feed. */
static bool read_texts(sqlite3_stmt *row, struct baleen_feed *feed)
{
	const struct {
		int column;
		char *text;
		size_t n_bytes;
	} texts[] = {
		{ 0, feed->rule, sizeof(feed->rule) },
		{ 2, feed->wanted.source, sizeof(feed->wanted.source) },
		{ 3, feed->wanted.column, sizeof(feed->wanted.column) },
		{ 4, feed->wanted.where, sizeof(feed->wanted.where) },
		{ 9, feed->file, sizeof(feed->file) },
		{ 11, feed->etag, sizeof(feed->etag) },
		{ 12, feed->last_modified, sizeof(feed->last_modified) },
		{ 21, feed->failure, sizeof(feed->failure) },
		{ 22, feed->wanted.access, sizeof(feed->wanted.access) },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!baleen_sql_column(row, texts[i].column, texts[i].text, texts[i].n_bytes))
			return false;
	return true;
}

static bool read_feed(sqlite3_stmt *row, struct baleen_feed *feed)
{
	u64 format = sqlite3_column_int64(row, 10);

	memset(feed, 0, sizeof(*feed));
	if (!read_texts(row, feed) || format > BALEEN_FEED_IMAGE)
		return false;
	feed->id = sqlite3_column_int64(row, 1);
	feed->wanted.delimiter = sqlite3_column_int(row, 5);
	feed->wanted.skip_bad = sqlite3_column_int(row, 6);
	feed->wanted.every_s = sqlite3_column_int64(row, 7);
	feed->wanted.timeout_s = sqlite3_column_int64(row, 8);
	feed->format = format;
	feed->n_entries = sqlite3_column_int64(row, 13);
	feed->n_ip4 = sqlite3_column_int64(row, 14);
	feed->n_bytes = sqlite3_column_int64(row, 15);
	feed->n_special = sqlite3_column_int64(row, 16);
	feed->checked_ms = sqlite3_column_int64(row, 17);
	feed->received_ms = sqlite3_column_int64(row, 18);
	feed->confirmed_ms = sqlite3_column_int64(row, 19);
	feed->n_failures = sqlite3_column_int64(row, 20);
	feed->wanted.may_be_private = sqlite3_column_int(row, 25);
	return true;
}

static bool is_route(const struct baleen_feed *feed)
{
	return baleen_route_feed_is(feed->wanted.source);
}

/* "HOLD N NEXT" of a table of routes. */
static bool read_hold(sqlite3_stmt *row, struct baleen_feed *feed)
{
	unsigned long long n_held, next_ms;
	char text[64];

	if (!is_route(feed))
		return true;
	if (!baleen_sql_column(row, 23, text, sizeof(text)) ||
	    sscanf(text, "%u %llu %llu", &feed->wanted.hold_s, &n_held, &next_ms) != 3)
		return false;
	feed->n_held = n_held;
	feed->next_ms = next_ms;
	return true;
}

/* "GENERATION FALLBACKS KEY" of a signed set, with "RING NEXT" before the key where either is
 * not 0: a key is a whole path.
 */
static bool read_set(sqlite3_stmt *row, struct baleen_feed *feed)
{
	unsigned long long generation, n_fallbacks, next_ms;
	char text[128 + BALEEN_FEED_OPTION_BYTES];
	int used = 0, more = 0;
	u32 ring;

	if (!baleen_feed_set_is(feed->wanted.source))
		return true;
	if (!baleen_sql_column(row, 24, text, sizeof(text)) ||
	    sscanf(text, "%llu %llu %n", &generation, &n_fallbacks, &used) != 2 || !used)
		return false;
	if (sscanf(text + used, "%u %llu %n", &ring, &next_ms, &more) == 2) {
		feed->wanted.ring = ring;
		feed->next_ms = next_ms;
		used += more;
	}
	if (strlen(text + used) >= sizeof(feed->wanted.key))
		return false;
	feed->generation = generation;
	feed->n_fallbacks = n_fallbacks;
	strcpy(feed->wanted.key, text + used);
	return true;
}

/* Sorted first, so @visit may change them. */
static int visit_each(const struct baleen_rule_store *state, const char *rule, bool are_others,
		      int (*visit)(const struct baleen_feed *feed, void *data), void *data,
		      struct baleen_error *error)
{
	static const char sql[] =
		"SELECT rule.name, feed.id, " COLUMNS ","
		" (SELECT value FROM text WHERE text.name = 'access ' || feed.id),"
		" (SELECT value FROM text WHERE text.name = 'hold ' || feed.id),"
		" (SELECT value FROM text WHERE text.name = 'signed ' || feed.id),"
		" (SELECT value FROM text WHERE text.name = 'private ' || feed.id)"
		" FROM feed JOIN rule ON rule.id = feed.rule"
		" WHERE (?1 IS NULL OR rule.name = ?1)"
		" AND (feed.file GLOB '" BALEEN_COPY_OTHERS "') = ?2"
		" ORDER BY rule.place, feed.id";
	struct baleen_sql_rows rows =
		baleen_sql_ask(state, sql, error,
			       BALEEN_SQL_VALUES(baleen_sql_text(rule),
						 baleen_sql_number(are_others)));
	struct baleen_feed feed;

	while (baleen_sql_next(&rows))
		rows.ret = read_feed(rows.row, &feed) && read_hold(rows.row, &feed) &&
					   read_set(rows.row, &feed) ?
				   visit(&feed, data) :
				   baleen_sql_damaged(state, "a feed that cannot be", error);
	return baleen_sql_end(&rows);
}

int baleen_feeds_each(const struct baleen_rule_store *state, const char *rule,
		      int (*visit)(const struct baleen_feed *feed, void *data), void *data,
		      struct baleen_error *error)
{
	return visit_each(state, rule, false, visit, data, error);
}

int baleen_feed_copies_each(const struct baleen_rule_store *state, const char *rule,
			    int (*visit)(const struct baleen_feed *feed, void *data), void *data,
			    struct baleen_error *error)
{
	return visit_each(state, rule, true, visit, data, error);
}

static int sum_feed(const struct baleen_feed *feed, void *n)
{
	*(u64 *)n += feed->n_entries;
	return 0;
}

u64 baleen_rule_written(const struct baleen_rule_store *state, const char *rule)
{
	static const char sql[] = "SELECT is_any FROM rule WHERE name = ?";
	u64 n, is_any = 0;

	baleen_sql_do(state, sql, &is_any, NULL, BALEEN_SQL_VALUES(baleen_sql_text(rule)));
	if (is_any)
		return BALEEN_WRITTEN_ANY;
	n = baleen_rule_entries_count(state, rule, NULL);
	baleen_feeds_each(state, rule, sum_feed, &n, NULL);
	return n;
}

static void feed_values(const struct baleen_feed *feed, struct baleen_sql_value *value)
{
	const struct baleen_feed_source *wanted = &feed->wanted;
	const struct baleen_sql_value values[N_COLUMNS] = {
		baleen_sql_text(wanted->source),      baleen_sql_text(wanted->column),
		baleen_sql_text(wanted->where),	      baleen_sql_number((u8)wanted->delimiter),
		baleen_sql_number(wanted->skip_bad),  baleen_sql_number(wanted->every_s),
		baleen_sql_number(wanted->timeout_s), baleen_sql_text(feed->file),
		baleen_sql_number(feed->format),      baleen_sql_text(feed->etag),
		baleen_sql_text(feed->last_modified), baleen_sql_number(feed->n_entries),
		baleen_sql_number(feed->n_ip4),	      baleen_sql_number(feed->n_bytes),
		baleen_sql_number(feed->n_special),   baleen_sql_number(feed->checked_ms),
		baleen_sql_number(feed->received_ms), baleen_sql_number(feed->confirmed_ms),
		baleen_sql_number(feed->n_failures),  baleen_sql_text(feed->failure),
	};

	memcpy(value, values, sizeof(values));
}

static int no_such_feed(u64 id, struct baleen_error *error)
{
	return baleen_fail(error, ENOENT, "there is no feed %llu", (unsigned long long)id);
}

static int add_feed(struct baleen_rule_store *state, struct baleen_feed *feed,
		    struct baleen_error *error)
{
	static const char sql[] = "INSERT INTO feed (rule, " COLUMNS ")"
				  " SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
				  " ?, ?, ? FROM rule WHERE name = ?";
	struct baleen_sql_value value[N_COLUMNS + 1];
	int err;

	feed_values(feed, value);
	value[N_COLUMNS] = baleen_sql_text(feed->rule);
	err = baleen_sql_do(state, sql, NULL, error, value, N_COLUMNS + 1);
	if (!err && !sqlite3_changes(state->db))
		err = baleen_fail(error, ENOENT, "there is no rule '%.31s'", feed->rule);
	if (!err)
		feed->id = sqlite3_last_insert_rowid(state->db);
	return err;
}

/* A text and no column: see write_text_of() of rule_store_rules.c. */
static int put_text(struct baleen_rule_store *state, const char *what, u64 id, const char *text,
		    struct baleen_error *error)
{
	char name[32];

	snprintf(name, sizeof(name), "%s %llu", what, (unsigned long long)id);
	return baleen_rule_store_set_text(state, name, *text ? text : NULL, error);
}

static int put_texts(struct baleen_rule_store *state, const struct baleen_feed *feed,
		     struct baleen_error *error)
{
	char hold[64] = "", set[128 + BALEEN_FEED_OPTION_BYTES] = "", ring[64] = "";
	int err = put_text(state, "access", feed->id, feed->wanted.access, error);

	if (is_route(feed))
		snprintf(hold, sizeof(hold), "%u %llu %llu", feed->wanted.hold_s,
			 (unsigned long long)feed->n_held, (unsigned long long)feed->next_ms);
	if (feed->wanted.ring || feed->next_ms)
		snprintf(ring, sizeof(ring), "%u %llu ", feed->wanted.ring,
			 (unsigned long long)feed->next_ms);
	if (baleen_feed_set_is(feed->wanted.source))
		snprintf(set, sizeof(set), "%llu %llu %s%s", (unsigned long long)feed->generation,
			 (unsigned long long)feed->n_fallbacks, ring, feed->wanted.key);
	if (!err)
		err = put_text(state, "private", feed->id, feed->wanted.may_be_private ? "1" : "",
			       error);
	if (!err)
		err = put_text(state, "hold", feed->id, hold, error);
	return err ? err : put_text(state, "signed", feed->id, set, error);
}

static int put_row(struct baleen_rule_store *state, struct baleen_feed *feed,
		   struct baleen_error *error)
{
	static const char sql[] = "UPDATE feed SET (" COLUMNS ") = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
				  " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?";
	struct baleen_sql_value value[N_COLUMNS + 1];
	int err;

	if (!feed->id)
		return add_feed(state, feed, error);
	feed_values(feed, value);
	value[N_COLUMNS] = baleen_sql_number(feed->id);
	err = baleen_sql_do(state, sql, NULL, error, value, N_COLUMNS + 1);
	if (!err && !sqlite3_changes(state->db))
		err = no_such_feed(feed->id, error);
	return err;
}

int baleen_feeds_put(struct baleen_rule_store *state, struct baleen_feed *feed,
		     struct baleen_error *error)
{
	int err = put_row(state, feed, error);

	return err ? err : put_texts(state, feed, error);
}

int baleen_feeds_remove(struct baleen_rule_store *state, u64 id, struct baleen_error *error)
{
	/* With the copies of it that are not in force. */
	static const char others[] =
		"DELETE FROM feed WHERE file GLOB '" BALEEN_COPY_OTHERS "' AND (rule, source) ="
		" (SELECT rule, source FROM feed WHERE id = ? AND file NOT GLOB '" BALEEN_COPY_OTHERS
		"')";
	int err =
		baleen_sql_do(state, others, NULL, error, BALEEN_SQL_VALUES(baleen_sql_number(id)));

	state->drops_copies = true;
	if (!err)
		err = baleen_sql_do(state, "DELETE FROM feed WHERE id = ?", NULL, error,
				    BALEEN_SQL_VALUES(baleen_sql_number(id)));

	if (!err)
		err = put_text(state, "access", id, "", error);
	if (!err)
		err = put_text(state, "hold", id, "", error);
	if (!err)
		err = put_text(state, "private", id, "", error);
	if (!err)
		err = put_text(state, "rollout", id, "", error);
	if (!err)
		err = put_text(state, "manifest", id, "", error);
	return err ? err : put_text(state, "signed", id, "", error);
}

/* --- copies --- */

struct copy_name {
	char path[BALEEN_RULE_STORE_PATH_BYTES + 64];
};

static struct copy_name name_copy(const struct baleen_rule_store *state, u64 id, u64 generation)
{
	struct copy_name name;

	snprintf(name.path, sizeof(name.path), "%s/" BALEEN_RULE_STORE_FEEDS "/%llu.%llu",
		 state->path, (unsigned long long)id, (unsigned long long)generation);
	return name;
}

/* The name of the file is on disk before the row that speaks of it. */
static int sync_copy(const struct baleen_rule_store *state, int fd)
{
	int directory, err;

	if (!state->is_kept)
		return 0;
	directory =
		openat(state->lock_fd, BALEEN_RULE_STORE_FEEDS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return -errno;
	if (fsync(fd))
		err = -errno;
	else
		err = baleen_sync_dir(directory);
	close(directory);
	return err;
}

/* Unlinks the file that an undone transaction may have left under this name. It does not
 * write over it: a copy of the state may have a hard link to the same file.
 */
static int write_copy(const struct baleen_rule_store *state, const char *path, int from,
		      u64 *n_bytes)
{
	int fd, err;

	if (unlink(path) && errno != ENOENT)
		return -errno;
	fd = baleen_output_make(AT_FDCWD, path, 0600);
	if (fd < 0)
		return fd;
	err = baleen_rule_store_copy_bytes(from, fd, n_bytes);
	if (!err)
		err = sync_copy(state, fd);
	close(fd);
	if (err)
		unlink(path);
	return err;
}

int baleen_feed_accept(struct baleen_rule_store *state, struct baleen_feed *feed, int fd,
		       struct baleen_error *error)
{
	static const char next[] = "SELECT generation + 1 FROM feed WHERE id = ?";
	static const char set[] = "UPDATE feed SET generation = ?, n_bytes = ? WHERE id = ?";
	u64 generation, n_bytes = 0;
	struct copy_name name;
	int ret = baleen_sql_do(state, next, &generation, error,
				BALEEN_SQL_VALUES(baleen_sql_number(feed->id)));

	if (ret <= 0)
		return ret ? ret : no_such_feed(feed->id, error);
	name = name_copy(state, feed->id, generation);
	state->drops_copies = true;
	ret = state->is_draft ? baleen_draft_keep_copy(state, feed->id, generation, fd, &n_bytes) :
				write_copy(state, name.path, fd, &n_bytes);
	if (ret)
		return baleen_fail(error, -ret, "%s: %s", name.path, strerror(-ret));
	ret = baleen_sql_do(state, set, NULL, error,
			    BALEEN_SQL_VALUES(baleen_sql_number(generation),
					      baleen_sql_number(n_bytes),
					      baleen_sql_number(feed->id)));
	if (!ret)
		feed->n_bytes = n_bytes;
	return ret;
}

/* The oldest copy after one that is gone; 0 when there is none. */
static u64 next_generation(const struct baleen_rule_store *state, u64 id, u64 gone)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	u64 next = 0, feed, generation;
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/" BALEEN_RULE_STORE_FEEDS, state->path);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		if (baleen_rule_store_is_feed_name(entry->d_name, &feed, &generation) &&
		    feed == id && generation > gone && (!next || generation < next))
			next = generation;
	if (directory)
		closedir(directory);
	return next;
}

/* A reader sees rows of one moment, and a writer may have removed the copy that they
 * speak of since. The oldest of the newer ones is of a commit, too: what a transaction
 * has written comes behind it.
 */
int baleen_feed_open(const struct baleen_rule_store *state, const struct baleen_feed *feed,
		     struct baleen_error *error)
{
	static const char sql[] = "SELECT generation FROM feed WHERE id = ?";
	struct copy_name name;
	u64 generation;
	int fd, ret = baleen_sql_do(state, sql, &generation, error,
				    BALEEN_SQL_VALUES(baleen_sql_number(feed->id)));

	if (ret <= 0)
		return ret ? ret : no_such_feed(feed->id, error);
	if (!generation)
		return baleen_fail(error, ENOENT, "%s: was never received",
				   baleen_feed_name(feed).text);
	while (generation) {
		fd = baleen_draft_open_copy(state, feed->id, generation);
		if (fd >= 0)
			return fd;
		name = name_copy(state, feed->id, generation);
		fd = baleen_input_open(name.path, BALEEN_INPUT_OWN, error);
		if (fd != -ENOENT)
			return fd;
		generation = state->lock_fd < 0 ? next_generation(state, feed->id, generation) : 0;
	}
	return baleen_fail(error, EINVAL, "%s: is missing", name.path);
}
