// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Routes of a kernel table as a feed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key/key_text.h"
#include "net/route_names.h"
#include "net/routes.h"
#include "state/route_feed.h"
#include "state/rule_store_path.h"
#include "util/array.h"

#define HEAD "# routes of table %u, boot %s\n"
#define N_PROTOCOLS 256

/**
 * struct row - a line of a copy
 * @route: its prefix, and who made it
 * @gone_ms: when it went; 0 when it is in the table
 * @was_held: in the last copy it had gone, and was in the set
 * @is_entry: in the set
 */
struct row {
	struct baleen_route route;
	u64 gone_ms;
	bool was_held;
	bool is_entry;
};

/**
 * struct merge - the last copy and the table
 * @ask: what is asked for
 * @table: number of the table
 * @boot: boot of now
 * @is_rebooted: the last copy is of another boot
 * @row: of the last copy, sorted; those that are gone are marked as they are found
 * @n: how many
 * @now: routes of the table
 * @is_changed: the copy is to be written anew
 * @result: filled in
 */
struct merge {
	const struct baleen_route_feed_ask *ask;
	u32 table;
	char boot[BALEEN_BOOT_ID];
	bool is_rebooted;
	struct row *row;
	size_t n;
	struct baleen_routes now;
	bool is_changed;
	struct baleen_route_feed_result *result;
};

/* --- the last copy --------------------------------------------------------- */

static bool parse_prefix(char *text, struct baleen_route *route)
{
	char *slash = strchr(text, '/');
	unsigned long length, most;
	const char *reason;

	if (slash)
		*slash = '\0';
	if (baleen_address_parse(text, &route->key, &reason))
		return false;
	most = route->key.domain == BALEEN_IP4 ? 32 : 128;
	length = slash ? strtoul(slash + 1, NULL, 10) : most;
	route->length = length;
	return length <= most;
}

/* Return: false for what is no line of a route. */
static bool parse_row(const char *line, struct row *row)
{
	char prefix[BALEEN_KEY_TEXT];
	unsigned long long gone_ms = 0;
	unsigned int protocol;
	bool is_entry = *line != '#';

	if (sscanf(line + (is_entry ? 0 : 2), "%127s # %u %llu", prefix, &protocol, &gone_ms) < 2 ||
	    protocol >= N_PROTOCOLS || (!is_entry && !gone_ms))
		return false;
	*row = (struct row){ .gone_ms = gone_ms,
			     .was_held = is_entry && gone_ms,
			     .is_entry = is_entry };
	row->route.protocol = protocol;
	return parse_prefix(prefix, &row->route);
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return baleen_route_compare(&x->route, &y->route);
}

static int read_lines(struct merge *merge, FILE *file)
{
	char line[BALEEN_KEY_TEXT + 64], boot[BALEEN_BOOT_ID] = "";
	struct row row;
	u32 table;

	while (fgets(line, sizeof(line), file)) {
		if (!merge->n && sscanf(line, "# routes of table %u, boot %36s", &table, boot) == 2)
			continue;
		if (!parse_row(line, &row))
			continue;
		if (baleen_array_add(&merge->row, merge->n))
			return -ENOMEM;
		merge->row[merge->n++] = row;
	}
	merge->is_rebooted = strcmp(boot, merge->boot);
	return ferror(file) ? -EIO : 0;
}

static int read_last(struct merge *merge, struct baleen_error *error)
{
	int fd, err;
	FILE *file;

	if (merge->ask->last < 0)
		return 0;
	fd = dup(merge->ask->last);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		err = -errno;
		if (fd >= 0)
			close(fd);
	} else {
		err = read_lines(merge, file);
		fclose(file);
	}
	if (err)
		return baleen_fail(error, -err, "%s: cannot read its last copy: %s",
				   merge->ask->source, strerror(-err));
	if (merge->n)
		qsort(merge->row, merge->n, sizeof(*merge->row), compare);
	return 0;
}

/* --- what is gone ---------------------------------------------------------- */

static bool is_lately(const struct merge *merge, const struct row *row)
{
	return row->gone_ms && row->gone_ms + BALEEN_ROUTE_WINDOW_MS > merge->ask->now_ms;
}

/* Walks the table and the last copy side by side. */
static void find_gone(struct merge *merge)
{
	size_t at = 0;

	for (size_t i = 0; i < merge->n; i++) {
		struct row *row = &merge->row[i];
		const struct baleen_route *now = merge->now.route;

		while (at < merge->now.n && baleen_route_compare(&now[at], &row->route) < 0)
			at++;
		if (at < merge->now.n && !baleen_route_compare(&now[at], &row->route)) {
			merge->is_changed |=
				row->gone_ms || now[at].protocol != row->route.protocol;
			row->gone_ms = 0;
			row->is_entry = true;
		} else if (!row->gone_ms) {
			row->gone_ms = merge->ask->now_ms;
			merge->is_changed = true;
		} else if (row->gone_ms > merge->ask->now_ms) {
			/* The clock was set back. */
			row->gone_ms = merge->ask->now_ms;
		}
	}
}

/* By protocol: do those that went lately go with many others? */
static void find_mass(const struct merge *merge, bool *is_mass)
{
	u64 n_gone[N_PROTOCOLS] = { 0 }, n_had[N_PROTOCOLS] = { 0 };

	for (size_t i = 0; i < merge->n; i++) {
		const struct row *row = &merge->row[i];
		bool is_gone = is_lately(merge, row);

		n_gone[row->route.protocol] += is_gone;
		n_had[row->route.protocol] += is_gone || !row->gone_ms;
	}
	for (u32 i = 0; i < N_PROTOCOLS; i++)
		is_mass[i] = n_gone[i] >= BALEEN_ROUTE_MASS_LEAST &&
			     (n_gone[i] >= BALEEN_ROUTE_MASS_MANY ||
			      n_gone[i] * BALEEN_ROUTE_MASS_SHARE >= n_had[i]);
}

static void hold(struct merge *merge, struct row *row)
{
	u64 until_ms = row->gone_ms + merge->ask->hold_s * 1000ull;

	if (merge->ask->lets_go || until_ms <= merge->ask->now_ms) {
		merge->is_changed |= row->is_entry;
		row->is_entry = false;
		return;
	}
	merge->is_changed |= !row->is_entry;
	row->is_entry = true;
	merge->result->n_held++;
	if (!merge->result->next_ms || until_ms < merge->result->next_ms)
		merge->result->next_ms = until_ms;
}

/* Those that are no entries any more are here to be counted with others that go. */
static void decide(struct merge *merge)
{
	bool is_mass[N_PROTOCOLS];

	find_mass(merge, is_mass);
	for (size_t i = 0; i < merge->n; i++) {
		struct row *row = &merge->row[i];

		if (!row->gone_ms)
			continue;
		if (row->was_held || (row->is_entry && merge->is_rebooted) ||
		    (is_mass[row->route.protocol] && is_lately(merge, row)))
			hold(merge, row);
		else
			row->is_entry = false;
	}
}

/* --- the new copy ---------------------------------------------------------- */

static void put_row(FILE *out, const struct baleen_route *route, u64 gone_ms, bool is_entry)
{
	char key[BALEEN_KEY_TEXT];

	baleen_key_format(&route->key, BALEEN_KEY_SRC, key);
	fprintf(out, "%s%s", is_entry ? "" : "# ", key);
	if (route->length != (route->key.domain == BALEEN_IP4 ? 32 : 128))
		fprintf(out, "/%u", route->length);
	fprintf(out, " # %u", route->protocol);
	if (gone_ms)
		fprintf(out, " %llu", (unsigned long long)gone_ms);
	fputc('\n', out);
}

static void put_all(const struct merge *merge, FILE *out)
{
	size_t at = 0;

	fprintf(out, HEAD, merge->table, merge->boot);
	for (size_t i = 0; i <= merge->n; i++) {
		const struct row *row = i < merge->n ? &merge->row[i] : NULL;

		if (row && !row->gone_ms)
			continue;
		while (at < merge->now.n &&
		       (!row || baleen_route_compare(&merge->now.route[at], &row->route) < 0))
			put_row(out, &merge->now.route[at++], 0, true);
		if (row && (row->is_entry || is_lately(merge, row)))
			put_row(out, &row->route, row->gone_ms, row->is_entry);
	}
}

static int write_new(const struct merge *merge, struct baleen_error *error)
{
	int fd = dup(merge->ask->fd);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool is_bad;

	if (!out) {
		if (fd >= 0)
			close(fd);
		return baleen_fail(error, ENOMEM, "%s: no memory", merge->ask->source);
	}
	put_all(merge, out);
	is_bad = ferror(out);
	if (fclose(out) || is_bad)
		return baleen_fail(error, EIO, "%s: cannot keep its routes", merge->ask->source);
	return 0;
}

/* The last copy has as many routes in the table as there are when none has come or gone. */
static bool has_other_number(const struct merge *merge)
{
	size_t n = 0;

	for (size_t i = 0; i < merge->n; i++)
		n += !merge->row[i].gone_ms;
	return n != merge->now.n;
}

int baleen_route_feed_make(const struct baleen_route_feed_ask *ask,
			   struct baleen_route_feed_result *result, struct baleen_error *error)
{
	struct baleen_route_feed_result made = { 0 };
	struct merge merge = { .ask = ask, .result = &made };
	struct baleen_error why;
	int err = baleen_route_table_find(ask->source + sizeof(BALEEN_ROUTE_FEED) - 1, &merge.table,
					  &why);

	if (!err)
		err = baleen_routes_read(merge.table, false, &merge.now, &why);
	if (err)
		return baleen_fail(error, -err, "%s: %s", ask->source, why.text);
	err = baleen_boot_id(merge.boot, error);
	if (!err)
		err = read_last(&merge, error);
	if (!err) {
		find_gone(&merge);
		decide(&merge);
		made.is_same = ask->last >= 0 && !merge.is_changed && !merge.is_rebooted &&
			       !has_other_number(&merge);
		err = made.is_same ? 0 : write_new(&merge, error);
	}
	baleen_routes_free(&merge.now);
	free(merge.row);
	if (!err)
		*result = made;
	return err;
}

/* --- one entry ------------------------------------------------------------- */

int baleen_route_feed_note(int fd, u64 number, struct baleen_route_note *note)
{
	char line[BALEEN_KEY_TEXT + 64] = "#";
	struct row row;
	FILE *file;
	int copy = dup(fd);

	file = copy < 0 || lseek(copy, 0, SEEK_SET) ? NULL : fdopen(copy, "r");
	if (!file) {
		if (copy >= 0)
			close(copy);
		return -ENOMEM;
	}
	while (number && fgets(line, sizeof(line), file))
		number--;
	fclose(file);
	if (number || !parse_row(line, &row) || !row.is_entry)
		return -ENOENT;
	*note = (struct baleen_route_note){ .withdrawn_ms = row.gone_ms };
	baleen_route_protocol_text(row.route.protocol, note->protocol);
	return 0;
}
