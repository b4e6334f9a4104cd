// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the content of a cache from its store.log. */

#include "icp/store_log.h"
#include "util/lines.h"

static enum baleen_store_event parse(const char *line, size_t n_bytes, u64 *hi, u64 *lo)
{
	return n_bytes < BALEEN_STORE_LINE_BYTES ? BALEEN_STORE_BAD :
						   baleen_store_parse((const u8 *)line, hi, lo);
}

static s64 fresh_until(const char *line, size_t n_bytes)
{
	const u8 *bytes = (const u8 *)line;
	u32 fresh_s = n_bytes < BALEEN_STORE_TIMES_END ? 0 : baleen_store_fresh_s(bytes);

	return fresh_s ? baleen_store_date(bytes) + fresh_s : 0;
}

static int parse_line(struct baleen_squid_set *set, struct baleen_store_log *log, const char *line,
		      size_t n_bytes)
{
	u64 hi = 0, lo = 0;
	enum baleen_store_event event;

	log->n_lines++;
	log->is_torn = false;
	if (!n_bytes || (n_bytes == 1 && *line == '\r'))
		return 0;
	event = parse(line, n_bytes, &hi, &lo);
	switch (event) {
	case BALEEN_STORE_INSERT: log->n_inserts++; break;
	case BALEEN_STORE_DELETE: log->n_deletes++; break;
	case BALEEN_STORE_OTHER: log->n_others++; break;
	default:
		if (!log->n_bad++)
			log->first_bad = log->n_lines;
		log->is_torn = n_bytes < BALEEN_STORE_LINE_BYTES;
	}
	return baleen_squid_set_put(set, hi, lo, event, fresh_until(line, n_bytes));
}

int baleen_store_log_read(int fd, struct baleen_squid_set *set, struct baleen_store_log *log)
{
	struct baleen_store_log read = { 0 };
	struct baleen_lines lines = { 0 };
	int err = baleen_lines_start(&lines, fd, '\n');
	size_t n_bytes;
	char *line;

	if (err)
		return err;
	while (!err && (err = baleen_lines_fill(&lines)) > 0)
		for (err = 0; !err && (line = baleen_lines_next(&lines, &n_bytes));)
			err = parse_line(set, &read, line, n_bytes);
	baleen_lines_stop(&lines);
	if (!err)
		*log = read;
	return err;
}
