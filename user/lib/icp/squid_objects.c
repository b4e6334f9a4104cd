// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the content of a cache from the list of objects of its cache manager. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "icp/squid_objects.h"
#include "util/lines.h"

#define KEY_DIGITS 32

/* Lines of an entry behind its key: states, flags, times, locks and place. */
enum { OUTSIDE, STATES, FLAGS, TIMES, LOCKS, PLACE, MORE };

/**
 * struct report - a report on the way
 * @set: objects go there
 * @read: counts so far
 * @expects: the line that is to come
 * @hi: high half of the key of the entry at hand
 * @lo: low half of the key
 * @until: when it is no longer fresh; 0: not known
 * @is_there: nothing so far says that others cannot have it
 * @kid: the worker whose part it is; 0: none
 */
struct report {
	struct baleen_squid_set *set;
	struct baleen_squid_objects read;
	u32 expects;
	u64 hi;
	u64 lo;
	s64 until;
	bool is_there;
	u32 kid;
};

static bool starts_with(const char *line, const char *start)
{
	return !strncmp(line, start, strlen(start));
}

/* Is it one of the words of a line, with white space or commas between? */
static bool has_word(const char *line, const char *word)
{
	size_t length = strlen(word);

	while (*line) {
		size_t n = strcspn(line, ", \t");

		if (n == length && !memcmp(line, word, n))
			return true;
		line += n;
		line += strspn(line, ", \t");
	}
	return false;
}

static bool parse_half(const char *digits, u64 *half)
{
	u64 value = 0;

	for (u32 i = 0; i < KEY_DIGITS / 2; i++) {
		u32 c = (u8)digits[i];

		if (!isxdigit(c))
			return false;
		value = value << 4 | (isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	*half = value;
	return true;
}

/* Parses a line between two entries. */
static const char *parse_outside(struct report *report, const char *line)
{
	u32 kid;
	int end = 0;

	if (!*line)
		return NULL;
	if (starts_with(line, "KEY ") && strlen(line) == 4 + KEY_DIGITS &&
	    parse_half(line + 4, &report->hi) &&
	    parse_half(line + 4 + KEY_DIGITS / 2, &report->lo)) {
		report->read.n_entries++;
		report->is_there = true;
		report->expects = STATES;
		return NULL;
	}
	if (!report->kid && sscanf(line, "by kid%u {%n", &kid, &end) == 1 && kid && end &&
	    !line[end]) {
		report->kid = kid;
		return NULL;
	}
	if (report->kid && sscanf(line, "} by kid%u%n", &kid, &end) == 1 && kid == report->kid &&
	    end && !line[end]) {
		report->kid = 0;
		return NULL;
	}
	return "no line of Squid's list of objects";
}

/* A line without all of them says nothing. */
static s64 parse_times(const char *line)
{
	long long date, used, modified, expires;

	if (sscanf(line, "LV:%lld LU:%lld LM:%lld EX:%lld", &date, &used, &modified, &expires) != 4)
		return 0;
	return baleen_squid_fresh_until(date, modified, expires);
}

static const char *parse_place(struct report *report, const char *line)
{
	int directory, end = 0;

	if (sscanf(line, "Swap Dir %d, File 0%n", &directory, &end) != 1 || !end)
		return "no swap directory where it should be";
	report->is_there = report->is_there && directory >= 0;
	return NULL;
}

/* A line that begins with a tab, behind that. */
static const char *parse_inside(struct report *report, const char *line)
{
	const char *reason = NULL;

	switch (report->expects) {
	case STATES:
		if (!starts_with(line, "STORE_"))
			return "no state of the entry where it should be";
		report->is_there = has_word(line, "SWAPOUT_DONE");
		break;
	case FLAGS:
		if (has_word(line, "RELEASE_REQUEST") || has_word(line, "PRIVATE"))
			report->is_there = false;
		break;
	case TIMES: report->until = report->is_there ? parse_times(line) : 0; break;
	case PLACE: reason = parse_place(report, line); break;
	}
	report->expects += report->expects < MORE;
	return reason;
}

static int parse_line(struct report *report, char *line, size_t n_bytes, const char **reason)
{
	const char *wrong = NULL;
	int err = 0;

	if (n_bytes && line[n_bytes - 1] == '\r')
		n_bytes--;
	line[n_bytes] = '\0';
	if (report->expects == OUTSIDE) {
		wrong = parse_outside(report, line);
	} else if (*line == '\t') {
		wrong = parse_inside(report, line + 1);
	} else if (*line || report->expects != MORE) {
		wrong = "an entry that is not whole";
	} else {
		report->expects = OUTSIDE;
		report->read.n_on_disk += report->is_there;
		if (report->is_there)
			err = baleen_squid_set_put(report->set, report->hi, report->lo,
						   BALEEN_STORE_INSERT, report->until);
	}
	if (wrong)
		*reason = wrong;
	return wrong ? -EINVAL : err;
}

/* A store always has an entry: that of the report itself. */
static const char *find_missing(const struct report *report)
{
	if (report->expects != OUTSIDE)
		return "cut off in the middle of an entry";
	if (report->kid)
		return "cut off before the end of what a worker has";
	if (!report->read.n_entries)
		return "no entry at all, and Squid's list of objects has at least one";
	return NULL;
}

int baleen_squid_objects_read(int fd, struct baleen_squid_set *set,
			      struct baleen_squid_objects *objects, const char **reason, u64 *line)
{
	struct report report = { .set = set };
	struct baleen_lines lines = { 0 };
	int err = baleen_lines_start(&lines, fd, '\n');
	const char *missing = NULL;
	u64 n_lines = 0;
	size_t n_bytes;
	char *text;

	if (err)
		return err;
	while (!err && (err = baleen_lines_fill(&lines)) > 0)
		for (err = 0; !err && (text = baleen_lines_next(&lines, &n_bytes)); n_lines++)
			err = parse_line(&report, text, n_bytes, reason);
	baleen_lines_stop(&lines);
	if (!err)
		missing = find_missing(&report);
	if (missing) {
		*reason = missing;
		err = -EINVAL;
	}
	if (!err)
		*objects = report.read;
	else
		*line = n_lines;
	return err;
}
