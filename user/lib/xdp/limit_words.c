// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The limit of a rule as words. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/duration.h"
#include "xdp/limit_words.h"

#define MAX_RATE 1000000
#define MAX_BURST 1000000
#define MAX_CAP 1000000
#define MAX_BAN_MS (366 * 86400000ull)
/* Shorter prefixes are of more people than one limit is meant for. */
#define MIN_SRC_BITS 8
#define MIN_SRC6_BITS 16

static const struct {
	char name;
	u32 seconds;
} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 } };

#define N_UNITS (sizeof(units) / sizeof(units[0]))

/* Digits only, up to @end; NULL when there is no number from @min to @max. */
static const char *scan(const char *text, u32 min, u32 max, u32 *number)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9')
		return NULL;
	value = strtoul(text, &end, 10);
	if (value < min || value > max)
		return NULL;
	*number = value;
	return end;
}

static u32 unit_seconds(const char *text)
{
	for (size_t i = 0; i < N_UNITS; i++)
		if (text[0] == '/' && text[1] == units[i].name && !text[2])
			return units[i].seconds;
	return 0;
}

static int add_rate(struct baleen_rate_limit *limit, const char *value, struct baleen_error *error)
{
	u32 rate = 0;
	const char *end = scan(value, 1, MAX_RATE, &rate);
	u32 seconds = end ? unit_seconds(end) : 0;

	if (!seconds)
		return baleen_fail(error, EINVAL,
				   "limit '%s': not packets a second, minute or hour, such as "
				   "50/s, 10/m or 5/h, %d at most",
				   value, MAX_RATE);
	if (limit->rate)
		return baleen_fail(error, EEXIST, "limit is given twice");
	limit->rate = rate;
	limit->unit_s = seconds;
	return 0;
}

static int add_number(u32 *to, const char *word, const char *value, u32 max,
		      struct baleen_error *error)
{
	u32 number = 0;
	const char *end = scan(value, 1, max, &number);

	if (!end || *end)
		return baleen_fail(error, EINVAL, "%s '%s': not a number from 1 to %u", word, value,
				   max);
	if (*to)
		return baleen_fail(error, EEXIST, "%s is given twice", word);
	*to = number;
	return 0;
}

static int add_ban(struct baleen_rate_limit *limit, const char *value, struct baleen_error *error)
{
	u64 ms = 0;

	if (baleen_duration_parse(value, &ms) || ms < 1000 || ms > MAX_BAN_MS)
		return baleen_fail(error, EINVAL,
				   "ban '%s': not a time from 1s to 366d, such as 10m", value);
	if (limit->ban_ms)
		return baleen_fail(error, EEXIST, "ban is given twice");
	limit->ban_ms = ms;
	return 0;
}

/* src, src/N or src6/N, up to a comma; NULL when it is none of these. */
static const char *parse_prefix(const char *text, struct baleen_rate_limit *limit)
{
	u32 bits = 0;
	const char *end;

	if (!strncmp(text, "src6/", 5) && !limit->src6_bits) {
		end = scan(text + 5, MIN_SRC6_BITS, 64, &bits);
		limit->src6_bits = bits;
		return end;
	}
	if (!strncmp(text, "src/", 4) && !limit->src_bits) {
		end = scan(text + 4, MIN_SRC_BITS, 32, &bits);
		limit->src_bits = bits;
		return end;
	}
	return strncmp(text, "src", 3) ? NULL : text + 3;
}

static int add_per(struct baleen_rate_limit *limit, const char *value, struct baleen_error *error)
{
	struct baleen_rate_limit added = *limit;
	const char *at = value;

	if (limit->has_per)
		return baleen_fail(error, EEXIST, "per is given twice: say per src/24,src6/48");
	do {
		at = parse_prefix(at, &added);
	} while (at && *at == ',' && at++);
	if (!at || *at)
		return baleen_fail(error, EINVAL,
				   "per '%s': not src, src/%d to src/32 or src6/%d to src6/64, "
				   "nor one of each such as src/24,src6/48",
				   value, MIN_SRC_BITS, MIN_SRC6_BITS);
	added.has_per = 1;
	*limit = added;
	return 0;
}

static int add_unverified(struct baleen_rate_limit *limit, struct baleen_error *error)
{
	if (limit->unverified)
		return baleen_fail(error, EEXIST, "unverified is given twice");
	limit->unverified = 1;
	return 0;
}

int baleen_is_limit_word(const char *word)
{
	static const char *const words[] = { "limit", "burst", "per", "ban", "cap" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return 1;
	return strcmp(word, "unverified") ? -ENOENT : 0;
}

int baleen_limit_word_add(struct baleen_rate_limit *limit, const char *word, const char *value,
			  struct baleen_error *error)
{
	if (!strcmp(word, "limit"))
		return add_rate(limit, value, error);
	if (!strcmp(word, "burst"))
		return add_number(&limit->burst, word, value, MAX_BURST, error);
	if (!strcmp(word, "per"))
		return add_per(limit, value, error);
	if (!strcmp(word, "ban"))
		return add_ban(limit, value, error);
	if (!strcmp(word, "cap"))
		return add_number(&limit->cap, word, value, MAX_CAP, error);
	return add_unverified(limit, error);
}

int baleen_limit_words_check(const struct baleen_rate_limit *limit, struct baleen_error *error)
{
	static const struct baleen_rate_limit none;

	if (!memcmp(limit, &none, sizeof(none)))
		return 0;
	if (!limit->rate)
		return baleen_fail(
			error, EINVAL,
			"burst, per, ban, cap and unverified are words of a limit, which "
			"is missing: limit 50/s");
	if (!limit->ban_ms)
		return baleen_fail(error, EINVAL,
				   "limit: how long it bans is missing, such as ban 10m");
	if (limit->rate > MAX_RATE || limit->burst > MAX_BURST || limit->cap > MAX_CAP ||
	    limit->ban_ms > MAX_BAN_MS || limit->src_bits > 32 || limit->src6_bits > 64 ||
	    (limit->unit_s != 1 && limit->unit_s != 60 && limit->unit_s != 3600))
		return baleen_fail(error, EINVAL, "limit: a number out of range");
	return 0;
}

const char *baleen_limit_rate_format(const struct baleen_rate_limit *limit, char *text)
{
	size_t i = 0;

	while (i < N_UNITS - 1 && units[i].seconds != limit->unit_s)
		i++;
	snprintf(text, BALEEN_LIMIT_RATE_TEXT, "%u/%c", limit->rate, units[i].name);
	return text;
}

const char *baleen_limit_words_format(const struct baleen_rate_limit *limit, char *text)
{
	char rate[BALEEN_LIMIT_RATE_TEXT], ban[BALEEN_DURATION_TEXT], burst[24] = "", cap[24] = "";
	char per[32] = "";

	if (limit->burst)
		snprintf(burst, sizeof(burst), " burst %u", limit->burst);
	if (limit->cap)
		snprintf(cap, sizeof(cap), " cap %u", limit->cap);
	if (limit->src_bits && limit->src6_bits)
		snprintf(per, sizeof(per), " per src/%u,src6/%u", limit->src_bits,
			 limit->src6_bits);
	else if (limit->src_bits)
		snprintf(per, sizeof(per), " per src/%u", limit->src_bits);
	else if (limit->src6_bits)
		snprintf(per, sizeof(per), " per src6/%u", limit->src6_bits);
	else if (limit->has_per)
		strcpy(per, " per src");
	snprintf(text, BALEEN_LIMIT_WORDS_TEXT, "limit %s%s%s ban %s%s%s",
		 baleen_limit_rate_format(limit, rate), burst, per,
		 baleen_duration_format_exact(limit->ban_ms, ban), cap,
		 limit->unverified ? " unverified" : "");
	return text;
}
