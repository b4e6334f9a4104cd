// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A set as the lines of ipset save create it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "list/ipset_set.h"

static int fail(struct baleen_ipset_problem *problem, const char *word, const char *reason)
{
	*problem = (struct baleen_ipset_problem){ word, reason };
	return -EINVAL;
}

/* --- words --- */

/* A word in quotes may have blanks in it; ipset has no way to escape a quote. */
static char *end_of_word(char *p)
{
	if (*p == '"') {
		p = strchr(p + 1, '"');
		return p ? p + 1 : NULL;
	}
	return p + strcspn(p, " \t");
}

int baleen_ipset_split(char *p, struct baleen_ipset_line *line,
		       struct baleen_ipset_problem *problem)
{
	line->n = 0;
	for (p += strspn(p, " \t"); *p; p += strspn(p, " \t")) {
		char *word = p;

		p = end_of_word(p);
		if (!p)
			return fail(problem, NULL, "quote without its end");
		if (*p && *p != ' ' && *p != '\t')
			return fail(problem, NULL, "text right behind a quote");
		if (*p)
			*p++ = '\0';
		if (!strcmp(word, "-exist") || !strcmp(word, "-!"))
			continue;
		if (line->n == BALEEN_IPSET_MAX_WORDS)
			return fail(problem, NULL, "more than 32 words");
		line->word[line->n++] = word;
	}
	return 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words))
		words++;
	return *words;
}

int baleen_ipset_seconds(const char *text, u64 *seconds, struct baleen_ipset_problem *problem)
{
	if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 10)
		return fail(problem, text, "not a number of seconds");
	*seconds = strtoull(text, NULL, 10);
	return 0;
}

/* --- create --- */

static int parse_netmask(struct baleen_ipset_set *set, const char *text,
			 struct baleen_ipset_problem *problem)
{
	if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 3)
		return fail(problem, text, "not a length of a netmask");
	set->netmask = strtoul(text, NULL, 10);
	return set->netmask && set->netmask <= 128 ?
		       0 :
		       fail(problem, text, "not a length of a netmask");
}

static int parse_family(struct baleen_ipset_set *set, const char *text,
			struct baleen_ipset_problem *problem)
{
	if (!strcmp(text, "inet6"))
		set->is_ip6 = true;
	else if (strcmp(text, "inet"))
		return fail(problem, text, "a family that is neither inet nor inet6");
	return 0;
}

static int parse_option(const struct baleen_ipset_line *line, u32 *i, struct baleen_ipset_set *set,
			struct baleen_ipset_problem *problem)
{
	static const char *const with_value[] = { "hashsize", "maxelem", "bucketsize", "initval",
						  "size",     "range",	 NULL };
	static const char *const alone[] = { "counters", "comment", "skbinfo", "forceadd", NULL };
	const char *word = line->word[*i], *value;

	if (is_one_of(word, alone))
		return 0;
	if (++*i == line->n)
		return fail(problem, word, "without its value");
	value = line->word[*i];
	if (!strcmp(word, "family"))
		return parse_family(set, value, problem);
	if (!strcmp(word, "timeout"))
		return baleen_ipset_seconds(value, &set->timeout_s, problem);
	if (!strcmp(word, "netmask") && set->is_address)
		return parse_netmask(set, value, problem);
	return is_one_of(word, with_value) ?
		       0 :
		       fail(problem, word, "an option of a set that Baleen does not support");
}

int baleen_ipset_create(const struct baleen_ipset_line *line, struct baleen_ipset_set *set,
			struct baleen_ipset_problem *problem)
{
	static const char *const addresses[] = { "hash:ip", "hash:net", "bitmap:ip", NULL };
	struct baleen_ipset_set made = { 0 };
	int err = 0;

	if (line->n < 3)
		return fail(problem, NULL, "create without a name and a type");
	if (strlen(line->word[1]) >= sizeof(made.name))
		return fail(problem, line->word[1], "a name of more than 31 bytes");
	strcpy(made.name, line->word[1]);
	made.is_address = is_one_of(line->word[2], addresses);
	for (u32 i = 3; i < line->n && !err; i++)
		err = parse_option(line, &i, &made, problem);
	if (!err && !made.is_ip6 && made.netmask > 32)
		err = fail(problem, NULL, "netmask longer than an address");
	if (!err)
		*set = made;
	return err;
}

/* --- add --- */

int baleen_ipset_takes_value(const char *text, size_t length)
{
	static const char *const options[] = { "timeout", "comment", "packets",	 "bytes",
					       "skbmark", "skbprio", "skbqueue", "nomatch" };
	const u32 n = sizeof(options) / sizeof(options[0]);

	for (u32 i = 0; i < n; i++)
		if (length == strlen(options[i]) && !memcmp(text, options[i], length))
			return i + 1 < n;
	return -ENOENT;
}
