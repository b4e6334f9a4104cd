// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The entries of a set as ipset save prints it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key/span.h"
#include "list/import_formats.h"
#include "list/import_sets.h"
#include "util/array.h"

#define MAX_WORDS 32
#define MAX_SETS 1024

/**
 * struct set - a set of the file
 * @name: points into the file
 * @is_address: its keys are known to be addresses or prefixes
 * @is_ip6: of them
 * @netmask: of each key that has none, as text; NULL for none
 * @timeout_s: timeout of entries that have none; 0: they stay
 */
struct set {
	const char *name;
	bool is_address;
	bool is_ip6;
	const char *netmask;
	u64 timeout_s;
};

/**
 * struct reader - a file that is read
 * @importer: the set to read
 * @text: the file, its lines and words ended by NUL bytes
 * @error: for the first failure
 * @line: number of the line at hand
 * @n_words: number of words of the line at hand
 * @word: words of the line at hand
 * @sets: all of them so far
 * @n_sets: how many
 * @hands_on: all has been understood, and one set is meant
 */
struct reader {
	const struct baleen_importer *importer;
	const struct baleen_import_text *text;
	struct baleen_error *error;
	u64 line;
	u32 n_words;
	char *word[MAX_WORDS];
	struct set *sets;
	u32 n_sets;
	bool hands_on;
};

static int fail_line(const struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail_line(const struct reader *reader, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return baleen_fail(reader->error, EINVAL, "%s:%llu: %s", reader->text->name,
			   (unsigned long long)reader->line, text);
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

/* Splits a line, which is changed. -exist may be anywhere. */
static int split(struct reader *reader, char *p)
{
	reader->n_words = 0;
	for (p += strspn(p, " \t"); *p; p += strspn(p, " \t")) {
		char *word = p;

		p = end_of_word(p);
		if (!p)
			return fail_line(reader, "quote without its end");
		if (*p && *p != ' ' && *p != '\t')
			return fail_line(reader, "text right behind a quote");
		if (*p)
			*p++ = '\0';
		if (!strcmp(word, "-exist") || !strcmp(word, "-!"))
			continue;
		if (reader->n_words == MAX_WORDS)
			return fail_line(reader, "more than %d words", MAX_WORDS);
		reader->word[reader->n_words++] = word;
	}
	return 0;
}

/* The word behind word @i; NULL after a failure. */
static char *value_of(const struct reader *reader, u32 i)
{
	if (i + 1 < reader->n_words)
		return reader->word[i + 1];
	fail_line(reader, "'%s' without its value", reader->word[i]);
	return NULL;
}

static int parse_seconds(const struct reader *reader, const char *text, u64 *number)
{
	if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 10)
		return fail_line(reader, "'%s': not a number of seconds", text);
	*number = strtoull(text, NULL, 10);
	return 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words))
		words++;
	return *words;
}

/* --- create --- */

static struct set *find_set(const struct reader *reader, const char *name)
{
	for (u32 i = 0; i < reader->n_sets; i++)
		if (!strcmp(reader->sets[i].name, name))
			return &reader->sets[i];
	return NULL;
}

/* Lines of other sets need not be understood. */
static bool is_wanted(const struct reader *reader, const char *name)
{
	return !reader->importer->set || !strcmp(reader->importer->set, name);
}

static int add_set(struct reader *reader, const struct set *set)
{
	if (reader->n_sets == MAX_SETS)
		return fail_line(reader, "more than %d sets", MAX_SETS);
	if (baleen_array_add(&reader->sets, reader->n_sets))
		return baleen_fail(reader->error, ENOMEM, "%s: no memory", reader->text->name);
	reader->sets[reader->n_sets++] = *set;
	return 0;
}

static int parse_type(const struct reader *reader, struct set *set, const char *type)
{
	static const char *const addresses[] = { "hash:ip", "hash:net", "bitmap:ip", NULL };

	set->is_address = is_one_of(type, addresses);
	if (!set->is_address && strcmp(type, "hash:ip,port"))
		return fail_line(reader,
				 "set '%s' is of type %s, whose keys Baleen does not support",
				 set->name, type);
	return 0;
}

static int parse_family(const struct reader *reader, struct set *set, const char *family)
{
	if (!strcmp(family, "inet6"))
		set->is_ip6 = true;
	else if (strcmp(family, "inet"))
		return fail_line(reader, "family '%s': neither inet nor inet6", family);
	return 0;
}

static int parse_create_option(const struct reader *reader, struct set *set, u32 *i)
{
	static const char *const with_value[] = { "hashsize", "maxelem", "bucketsize", "initval",
						  "size",     "range",	 NULL };
	static const char *const alone[] = { "counters", "comment", "skbinfo", "forceadd", NULL };
	const char *word = reader->word[*i], *value;
	int err = 0;

	if (is_one_of(word, alone))
		return 0;
	value = value_of(reader, (*i)++);
	if (!value)
		return -EINVAL;
	if (!strcmp(word, "family"))
		err = parse_family(reader, set, value);
	else if (!strcmp(word, "timeout"))
		err = parse_seconds(reader, value, &set->timeout_s);
	else if (!strcmp(word, "netmask") && set->is_address)
		set->netmask = value;
	else if (!is_one_of(word, with_value))
		err = fail_line(reader, "set '%s' has '%s', which Baleen does not support",
				set->name, word);
	return err;
}

static int parse_create(struct reader *reader)
{
	struct set set = { 0 };
	int err;

	if (reader->n_words < 3)
		return fail_line(reader, "create without a name and a type");
	set.name = reader->word[1];
	if (find_set(reader, set.name))
		return fail_line(reader, "set '%s' is created twice", set.name);
	if (!is_wanted(reader, set.name))
		return add_set(reader, &set);
	err = parse_type(reader, &set, reader->word[2]);
	for (u32 i = 3; i < reader->n_words && !err; i++)
		err = parse_create_option(reader, &set, &i);
	return err ? err : add_set(reader, &set);
}

/* --- add --- */

static const char *unquote(char *word)
{
	if (*word != '"')
		return word;
	word[strlen(word) - 1] = '\0';
	return word + 1;
}

static int parse_add_option(const struct reader *reader, struct baleen_import_entry *entry, u32 *i)
{
	static const char *const with_value[] = { "packets", "bytes",	 "skbmark",
						  "skbprio", "skbqueue", NULL };
	const char *word = reader->word[*i];
	char *value;
	int err = 0;

	if (!strcmp(word, "nomatch")) {
		entry->is_exception = true;
		return 0;
	}
	value = value_of(reader, (*i)++);
	if (!value)
		return -EINVAL;
	if (!strcmp(word, "timeout"))
		err = parse_seconds(reader, value, &entry->expires_s);
	else if (!strcmp(word, "comment"))
		entry->comment = unquote(value);
	else if (!is_one_of(word, with_value))
		err = fail_line(reader, "'%s' is no option of an entry", word);
	return err;
}

static int check_key(const struct reader *reader, const struct set *set, const char *key)
{
	struct baleen_span span;
	const char *reason;

	if (!set->is_address)
		return 0;
	if (baleen_span_parse(key, strlen(key), &span, &reason))
		return fail_line(reader, "'%s': %s", key, reason);
	if (span.is_ip6 != set->is_ip6)
		return fail_line(reader, "'%s': not of the family of set '%s'", key, set->name);
	return 0;
}

/* Each address of a set with a netmask stands for its network. */
static int make_key(const struct reader *reader, const struct set *set, const char *word, char *key,
		    size_t bytes)
{
	bool is_masked = set->netmask && !strpbrk(word, "/-");

	if (*word == '!' || *word == '"' ||
	    snprintf(key, bytes, "%s%s%s", word, is_masked ? "/" : "",
		     is_masked ? set->netmask : "") >= (int)bytes)
		return fail_line(reader, "'%s': not an address", word);
	return check_key(reader, set, key);
}

static int parse_add(struct reader *reader)
{
	const struct set unknown = { .name = reader->word[1] }, *set;
	char key[256];
	struct baleen_import_entry entry = { .key = key, .comment = "", .line = reader->line };
	int err = 0;

	if (reader->n_words < 3)
		return fail_line(reader, "add without a set and a key");
	set = find_set(reader, unknown.name);
	if (!set) {
		err = add_set(reader, &unknown);
		set = &unknown;
	}
	if (!is_wanted(reader, set->name))
		return err;
	entry.expires_s = set->timeout_s;
	if (!err)
		err = make_key(reader, set, reader->word[2], key, sizeof(key));
	for (u32 i = 3; i < reader->n_words && !err; i++)
		err = parse_add_option(reader, &entry, &i);
	if (err || !reader->hands_on)
		return err;
	return reader->importer->on_entry(reader->importer->data, &entry, reader->error);
}

/* --- lines --- */

/* The second time what is created is known. */
static int parse_line(struct reader *reader, char *line)
{
	int err = split(reader, line);

	if (err || !reader->n_words || *reader->word[0] == '#')
		return err;
	if (!strcmp(reader->word[0], "create"))
		return reader->hands_on ? 0 : parse_create(reader);
	if (!strcmp(reader->word[0], "add"))
		return parse_add(reader);
	return fail_line(reader, "'%s' is neither create nor add", reader->word[0]);
}

static int parse_lines(struct reader *reader, char *text)
{
	int err = 0;

	reader->line = 0;
	while (!err && text && *text) {
		char *line = strsep(&text, "\n");
		size_t length = strlen(line);

		reader->line++;
		if (length && line[length - 1] == '\r')
			line[length - 1] = '\0';
		err = parse_line(reader, line);
	}
	return err;
}

static int choose(struct reader *reader)
{
	struct baleen_import_sets sets = { 0 };
	const char *name = reader->importer->set;
	int err;

	for (u32 i = 0; i < reader->n_sets; i++)
		baleen_import_sets_add(&sets, reader->sets[i].name,
				       !name || !strcmp(name, reader->sets[i].name));
	err = baleen_import_sets_choose(&sets, reader->importer->set, reader->text->name,
					reader->error);
	reader->hands_on = !err;
	return err;
}

/* Twice: nothing is handed on before all has been understood. */
int baleen_import_ipset(const struct baleen_importer *importer, struct baleen_import_text *text,
			struct baleen_error *error)
{
	struct reader reader = { .importer = importer, .text = text, .error = error };
	char *copy = malloc(text->n_bytes + 1);
	int err;

	if (!copy)
		return baleen_fail(error, ENOMEM, "%s: no memory", text->name);
	memcpy(copy, text->bytes, text->n_bytes + 1);
	err = parse_lines(&reader, copy);
	if (!err)
		err = choose(&reader);
	if (!err)
		err = parse_lines(&reader, text->bytes);
	free(reader.sets);
	free(copy);
	return err;
}
