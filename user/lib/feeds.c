// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The feeds of a rule, in the database and beside it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "csv_table.h"
#include "feeds.h"
#include "state_sql.h"
#include "unpack.h"

/* feeds/<id>.<generation> */
#define COPY_BYTES 64

const char *baleen_feed_name(const struct baleen_feed *feed)
{
	return *feed->file ? feed->file : feed->wanted.source;
}

/* --- rows ------------------------------------------------------------------ */

#define COLUMNS                                                                            \
	"feed.id, rule.name, source, key_column, key_where, delimiter, skip_bad, every_s, " \
	"timeout_s, file, format, etag, last_modified, n_entries, n_ip4, n_bytes, "         \
	"n_special, checked_ms, received_ms, confirmed_ms, n_failures, failure"

static bool take_texts(sqlite3_stmt *row, struct baleen_feed *feed)
{
	struct baleen_feed_source *wanted = &feed->wanted;

	return baleen_sql_column(row, 1, feed->rule, sizeof(feed->rule)) &&
	       baleen_sql_column(row, 2, wanted->source, sizeof(wanted->source)) &&
	       baleen_sql_column(row, 3, wanted->column, sizeof(wanted->column)) &&
	       baleen_sql_column(row, 4, wanted->where, sizeof(wanted->where)) &&
	       baleen_sql_column(row, 9, feed->file, sizeof(feed->file)) &&
	       baleen_sql_column(row, 11, feed->etag, sizeof(feed->etag)) &&
	       baleen_sql_column(row, 12, feed->last_modified, sizeof(feed->last_modified)) &&
	       baleen_sql_column(row, 21, feed->failure, sizeof(feed->failure));
}

static bool take_row(sqlite3_stmt *row, struct baleen_feed *feed)
{
	memset(feed, 0, sizeof(*feed));
	feed->id = sqlite3_column_int64(row, 0);
	feed->wanted.delimiter = sqlite3_column_int(row, 5);
	feed->wanted.skip_bad = sqlite3_column_int(row, 6);
	feed->wanted.every_s = sqlite3_column_int64(row, 7);
	feed->wanted.timeout_s = sqlite3_column_int64(row, 8);
	feed->format = sqlite3_column_int(row, 10);
	feed->n_entries = sqlite3_column_int64(row, 13);
	feed->n_ip4 = sqlite3_column_int64(row, 14);
	feed->n_bytes = sqlite3_column_int64(row, 15);
	feed->n_special = sqlite3_column_int64(row, 16);
	feed->checked_ms = sqlite3_column_int64(row, 17);
	feed->received_ms = sqlite3_column_int64(row, 18);
	feed->confirmed_ms = sqlite3_column_int64(row, 19);
	feed->n_failures = sqlite3_column_int64(row, 20);
	return take_texts(row, feed) && feed->format <= BALEEN_FEED_IMAGE;
}

static int visit_rows(const struct baleen_state *state, const char *sql,
		      int (*visit)(const struct baleen_feed *feed, void *data), void *data,
		      struct baleen_error *error, const struct baleen_sql_value *value,
		      size_t n_values)
{
	struct baleen_feed feed;
	sqlite3_stmt *rows;
	int ret = baleen_sql_take(state, sql, &rows, error, value, n_values);

	if (ret)
		return ret;
	while ((ret = baleen_sql_step(state, rows, error)) > 0) {
		ret = take_row(rows, &feed) ? visit(&feed, data) :
					      baleen_sql_damaged(state, "feed", error);
		if (ret)
			break;
	}
	baleen_sql_give(state, sql, rows);
	return ret;
}

int baleen_feeds_each(const struct baleen_state *state, const char *rule,
		      int (*visit)(const struct baleen_feed *feed, void *data), void *data,
		      struct baleen_error *error)
{
	static const char of_all[] = "SELECT " COLUMNS " FROM feed JOIN rule ON rule.id = feed.rule "
				     "ORDER BY rule.place, feed.id";
	static const char of_rule[] = "SELECT " COLUMNS " FROM feed JOIN rule ON rule.id = feed.rule "
				      "WHERE rule.name = ? ORDER BY feed.id";

	if (!rule)
		return visit_rows(state, of_all, visit, data, error, NULL, 0);
	return visit_rows(state, of_rule, visit, data, error,
			  BALEEN_SQL_VALUES(baleen_sql_text(rule)));
}

static int insert(struct baleen_state *state, struct baleen_feed *feed, struct baleen_error *error)
{
	int err = baleen_sql_do(state,
				"INSERT INTO feed SELECT NULL, id, 0, '', '', '', 0, 0, 0, 0, '', "
				"0, '', '', 0, 0, 0, 0, 0, 0, 0, 0, '' FROM rule WHERE name = ?",
				NULL, error, BALEEN_SQL_VALUES(baleen_sql_text(feed->rule)));

	if (err < 0)
		return err;
	if (!sqlite3_changes(state->db))
		return baleen_fail(error, ENOENT, "%s has no rule '%s'", state->device,
				   feed->rule);
	feed->id = sqlite3_last_insert_rowid(state->db);
	return 0;
}

static int update(struct baleen_state *state, const struct baleen_feed *feed,
		  struct baleen_error *error)
{
	const struct baleen_feed_source *wanted = &feed->wanted;
	int err = baleen_sql_do(
		state,
		"UPDATE feed SET source = ?2, key_column = ?3, key_where = ?4, delimiter = ?5, "
		"skip_bad = ?6, every_s = ?7, timeout_s = ?8, file = ?9, format = ?10, etag = ?11, "
		"last_modified = ?12, n_entries = ?13, n_ip4 = ?14, n_bytes = ?15, "
		"n_special = ?16, checked_ms = ?17, received_ms = ?18, confirmed_ms = ?19, "
		"n_failures = ?20, failure = ?21 WHERE id = ?1",
		NULL, error,
		BALEEN_SQL_VALUES(
			baleen_sql_number(feed->id), baleen_sql_text(wanted->source),
			baleen_sql_text(wanted->column), baleen_sql_text(wanted->where),
			baleen_sql_number(wanted->delimiter), baleen_sql_number(wanted->skip_bad),
			baleen_sql_number(wanted->every_s), baleen_sql_number(wanted->timeout_s),
			baleen_sql_text(feed->file), baleen_sql_number(feed->format),
			baleen_sql_text(feed->etag), baleen_sql_text(feed->last_modified),
			baleen_sql_number(feed->n_entries), baleen_sql_number(feed->n_ip4),
			baleen_sql_number(feed->n_bytes), baleen_sql_number(feed->n_special),
			baleen_sql_number(feed->checked_ms), baleen_sql_number(feed->received_ms),
			baleen_sql_number(feed->confirmed_ms), baleen_sql_number(feed->n_failures),
			baleen_sql_text(feed->failure)));

	if (err >= 0 && !sqlite3_changes(state->db))
		return baleen_fail(error, ENOENT, "%s: no such feed", baleen_feed_name(feed));
	return err < 0 ? err : 0;
}

int baleen_feeds_put(struct baleen_state *state, struct baleen_feed *feed,
		     struct baleen_error *error)
{
	int err = feed->id ? 0 : insert(state, feed, error);

	return err ? err : update(state, feed, error);
}

int baleen_feeds_remove(struct baleen_state *state, u64 id, struct baleen_error *error)
{
	int err = baleen_sql_do(state, "DELETE FROM feed WHERE id = ?", NULL, error,
				BALEEN_SQL_VALUES(baleen_sql_number(id)));

	return err < 0 ? err : 0;
}

/* --- copies ---------------------------------------------------------------- */

static void name_copy(u64 id, u64 generation, char *name)
{
	snprintf(name, COPY_BYTES, BALEEN_STATE_FEEDS "/%llu.%llu", (unsigned long long)id,
		 (unsigned long long)generation);
}

static int get_generation(const struct baleen_state *state, u64 id, u64 *generation,
			  struct baleen_error *error)
{
	int ret = baleen_sql_do(state, "SELECT generation FROM feed WHERE id = ?", generation,
				error, BALEEN_SQL_VALUES(baleen_sql_number(id)));

	return ret < 0 ? ret : ret ? 0 : baleen_fail(error, ENOENT, "no such feed");
}

static int write_whole(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		bytes += done > 0 ? done : 0;
		n -= done > 0 ? done : 0;
	}
	return 0;
}

/* Read by its position, so the caller's stays where it is. */
static int copy_bytes(int from, int to)
{
	char chunk[65536];
	off_t at = 0;
	ssize_t n;
	int err = 0;

	while (!err && (n = pread(from, chunk, sizeof(chunk), at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		err = n < 0 ? -errno : write_whole(to, chunk, n);
		at += n;
	}
	return err;
}

/* No row speaks of it before the commit, so it may stand there half. */
static int write_copy(const struct baleen_state *state, const char *name, int from,
		      struct baleen_error *error)
{
	int directory = open(state->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int to = -1, err = 0;

	if (directory >= 0)
		to = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			    0600);
	if (to < 0)
		err = -errno;
	if (!err)
		err = copy_bytes(from, to);
	/* What is volatile ends with the boot anyway. */
	if (!err && state->is_kept && fsync(to))
		err = -errno;
	if (to >= 0 && close(to) && !err)
		err = -errno;
	if (err && to >= 0)
		unlinkat(directory, name, 0);
	if (directory >= 0)
		close(directory);
	return err ? baleen_fail(error, -err, "%s/%s: %s", state->path, name, strerror(-err)) : 0;
}

static int sync_copies(const struct baleen_state *state, struct baleen_error *error)
{
	char path[BALEEN_STATE_PATH_BYTES + COPY_BYTES];
	int fd, err;

	if (!state->is_kept)
		return 0;
	snprintf(path, sizeof(path), "%s/" BALEEN_STATE_FEEDS, state->path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = fd < 0 || fsync(fd) ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return err ? baleen_fail(error, -err, "%s: %s", path, strerror(-err)) : 0;
}

int baleen_feed_take(struct baleen_state *state, struct baleen_feed *feed, int fd,
		     struct baleen_error *error)
{
	char name[COPY_BYTES];
	struct stat stat;
	u64 generation;
	int err = get_generation(state, feed->id, &generation, error);

	if (err)
		return err;
	name_copy(feed->id, generation + 1, name);
	err = write_copy(state, name, fd, error);
	if (!err)
		err = sync_copies(state, error);
	if (err)
		return err;
	if (!fstat(fd, &stat))
		feed->n_bytes = stat.st_size;
	err = baleen_sql_do(state, "UPDATE feed SET generation = ?2, n_bytes = ?3 WHERE id = ?1",
			    NULL, error,
			    BALEEN_SQL_VALUES(baleen_sql_number(feed->id),
					      baleen_sql_number(generation + 1),
					      baleen_sql_number(feed->n_bytes)));
	return err < 0 ? err : 0;
}

/* Between the look at the row and the open a writer may have put another there. */
#define MAX_LOOKS 10

int baleen_feed_open(const struct baleen_state *state, const struct baleen_feed *feed,
		     struct baleen_error *error)
{
	char name[COPY_BYTES], path[BALEEN_STATE_PATH_BYTES + COPY_BYTES];
	u64 generation;

	for (u32 i = 0; i < MAX_LOOKS; i++) {
		int fd, err = get_generation(state, feed->id, &generation, error);

		if (err)
			return err;
		if (!generation)
			return baleen_fail(error, ENOENT, "%s: there is no good copy yet",
					   baleen_feed_name(feed));
		name_copy(feed->id, generation, name);
		snprintf(path, sizeof(path), "%s/%s", state->path, name);
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno != ENOENT)
			return baleen_fail(error, errno, "%s: %m", path);
	}
	return baleen_fail(error, EINVAL, "%s: the copy of %s is gone", path,
			   baleen_feed_name(feed));
}

/* --- lines ----------------------------------------------------------------- */

/* The conditions stand in @where with newlines between, which become ends. */
static int take_options(const struct baleen_feed_source *wanted, char *where,
			struct baleen_csv_options *csv, struct baleen_error *error)
{
	char *line, *rest = strcpy(where, wanted->where);

	*csv = (struct baleen_csv_options){ .delimiter = wanted->delimiter };
	if (*wanted->column)
		csv->column = wanted->column;
	while ((line = strsep(&rest, "\n")))
		if (*line && baleen_csv_take_where(csv, line, error))
			return -EINVAL;
	return 0;
}

static int open_lines(int fd, const char *name, const struct baleen_feed_source *wanted, int *lines,
		      struct baleen_error *error)
{
	char where[BALEEN_FEED_OPTION_BYTES];
	struct baleen_csv_options csv;
	int unpacked, err;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return baleen_fail(error, errno, "%s: %m", name);
	err = baleen_unpack(fd, name, BALEEN_UNPACK_MAX_BYTES, &unpacked, error);
	if (err)
		return err;
	err = take_options(wanted, where, &csv, error);
	if (!err && !baleen_csv_is_wanted(&csv)) {
		*lines = unpacked;
		return 0;
	}
	if (!err)
		err = baleen_csv_read(unpacked, name, &csv, NULL, lines, error);
	close(unpacked);
	return err;
}

int baleen_feed_open_lines(const struct baleen_state *state, const struct baleen_feed *feed,
			   struct baleen_error *error)
{
	int fd = baleen_feed_open(state, feed, error), lines, err;

	if (fd < 0)
		return fd;
	err = open_lines(fd, baleen_feed_name(feed), &feed->wanted, &lines, error);
	close(fd);
	return err ? err : lines;
}

/**
 * struct first_bad - the first bad line, kept for the error
 * @reader: of the caller, or NULL
 * @text: what is wrong
 */
struct first_bad {
	const struct baleen_list_reader *reader;
	char text[512];
};

static void keep_bad(void *data, const struct baleen_list_problem *problem)
{
	struct first_bad *first = data;

	if (!*first->text)
		snprintf(first->text, sizeof(first->text), "%s:%llu: '%s': %s", problem->file,
			 (unsigned long long)problem->line, problem->text, problem->reason);
	if (first->reader && first->reader->on_bad)
		first->reader->on_bad(first->reader->data, problem);
}

static int read_lines(int lines, const char *name, const struct baleen_feed_source *wanted,
		      const struct baleen_list_reader *reader, struct baleen_list *list,
		      struct baleen_error *error)
{
	struct first_bad first = { .reader = reader };
	const struct baleen_list_reader keeper = { .on_bad = keep_bad, .data = &first };
	int err = baleen_list_read(list, lines, name, &keeper, error);

	if (err)
		return err;
	if (list->n_bad && !wanted->skip_bad)
		return baleen_fail(error, EINVAL, "%s; %llu bad line%s of %llu", first.text,
				   (unsigned long long)list->n_bad, list->n_bad == 1 ? "" : "s",
				   (unsigned long long)list->n_lines);
	if (baleen_list_finish(list))
		return baleen_fail(error, ENOMEM, "%s: no memory", name);
	return 0;
}

int baleen_feed_read(int fd, const char *name, const struct baleen_feed_source *wanted,
		     u32 key_spec, const struct baleen_list_reader *reader,
		     struct baleen_list *list, struct baleen_error *error)
{
	struct baleen_list read = { .key_spec = key_spec };
	const char *reason = NULL;
	int lines, err = open_lines(fd, name, wanted, &lines, error);

	if (err)
		return err;
	reason = baleen_unpack_refuse(lines);
	if (reason)
		err = baleen_fail(error, EINVAL, "%s: %s", name, reason);
	else
		err = read_lines(lines, name, wanted, reader, &read, error);
	close(lines);
	if (err)
		baleen_list_free(&read);
	else
		*list = read;
	return err;
}
