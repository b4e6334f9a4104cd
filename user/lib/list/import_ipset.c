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
#include "list/ipset_set.h"
#include "util/array.h"

#define MAX_SETS 1024

/**
 * struct reader - a file that is read
 * @importer: the set to read
 * @text: the file, its lines and words ended by NUL bytes
 * @error: for the first failure
 * @line: number of the line at hand
 * @words: words of the line at hand
 * @sets: all of them so far
 * @n_sets: how many
 * @hands_on: all has been understood, and one set is meant
 */
struct reader {
	const struct baleen_importer *importer;
	const struct baleen_import_text *text;
	struct baleen_error *error;
	u64 line;
	struct baleen_ipset_line words;
	struct baleen_ipset_set *sets;
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

static int fail_problem(const struct reader *reader, const struct baleen_ipset_problem *problem)
{
	if (!problem->word)
		return fail_line(reader, "%s", problem->reason);
	return fail_line(reader, "'%s': %s", problem->word, problem->reason);
}

/* --- create --- */

static struct baleen_ipset_set *find_set(const struct reader *reader, const char *name)
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

static int add_set(struct reader *reader, const struct baleen_ipset_set *set)
{
	if (reader->n_sets == MAX_SETS)
		return fail_line(reader, "more than %d sets", MAX_SETS);
	if (baleen_array_add(&reader->sets, reader->n_sets))
		return baleen_fail(reader->error, ENOMEM, "%s: no memory", reader->text->name);
	reader->sets[reader->n_sets++] = *set;
	return 0;
}

static int parse_create(struct reader *reader)
{
	struct baleen_ipset_problem problem;
	struct baleen_ipset_set set = { 0 };
	const char *name;

	if (reader->words.n < 3)
		return fail_line(reader, "create without a name and a type");
	name = reader->words.word[1];
	if (find_set(reader, name))
		return fail_line(reader, "set '%s' is created twice", name);
	if (!is_wanted(reader, name)) {
		snprintf(set.name, sizeof(set.name), "%s", name);
		return add_set(reader, &set);
	}
	if (baleen_ipset_create(&reader->words, &set, &problem))
		return fail_problem(reader, &problem);
	if (!set.is_address && strcmp(reader->words.word[2], "hash:ip,port"))
		return fail_line(reader,
				 "set '%s' is of type %s, whose keys Baleen does not support", name,
				 reader->words.word[2]);
	return add_set(reader, &set);
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
	const struct baleen_ipset_line *words = &reader->words;
	struct baleen_ipset_problem problem;
	const char *word = words->word[*i];
	int takes_value = baleen_ipset_takes_value(word, strlen(word));

	if (takes_value < 0)
		return fail_line(reader, "'%s' is no option of an entry", word);
	entry->is_exception |= !strcmp(word, "nomatch");
	if (!takes_value)
		return 0;
	if (++*i == words->n)
		return fail_line(reader, "'%s': without its value", word);
	if (!strcmp(word, "timeout") &&
	    baleen_ipset_seconds(words->word[*i], &entry->expires_s, &problem))
		return fail_problem(reader, &problem);
	if (!strcmp(word, "comment"))
		entry->comment = unquote(words->word[*i]);
	return 0;
}

static int check_key(const struct reader *reader, const struct baleen_ipset_set *set,
		     const char *key)
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
static int make_key(const struct reader *reader, const struct baleen_ipset_set *set,
		    const char *word, char *key, size_t bytes)
{
	char netmask[16] = "";

	if (set->netmask && !strpbrk(word, "/-"))
		snprintf(netmask, sizeof(netmask), "/%u", set->netmask);
	if (*word == '!' || *word == '"' ||
	    snprintf(key, bytes, "%s%s", word, netmask) >= (int)bytes)
		return fail_line(reader, "'%s': not an address", word);
	return check_key(reader, set, key);
}

static int parse_add(struct reader *reader)
{
	const struct baleen_ipset_line *words = &reader->words;
	struct baleen_ipset_set unknown = { 0 };
	const struct baleen_ipset_set *set;
	char key[256];
	struct baleen_import_entry entry = { .key = key, .comment = "", .line = reader->line };
	int err = 0;

	if (words->n < 3)
		return fail_line(reader, "add without a set and a key");
	if (strlen(words->word[1]) >= sizeof(unknown.name))
		return fail_line(reader, "'%s': a name of more than 31 bytes", words->word[1]);
	set = find_set(reader, words->word[1]);
	if (!set) {
		strcpy(unknown.name, words->word[1]);
		err = add_set(reader, &unknown);
		set = &unknown;
	}
	if (!is_wanted(reader, set->name))
		return err;
	entry.expires_s = set->timeout_s;
	if (!err)
		err = make_key(reader, set, words->word[2], key, sizeof(key));
	for (u32 i = 3; i < words->n && !err; i++)
		err = parse_add_option(reader, &entry, &i);
	if (err || !reader->hands_on)
		return err;
	return reader->importer->on_entry(reader->importer->data, &entry, reader->error);
}

/* --- lines --- */

/* The second time what is created is known. */
static int parse_line(struct reader *reader, char *line)
{
	struct baleen_ipset_line *words = &reader->words;
	struct baleen_ipset_problem problem;

	if (baleen_ipset_split(line, words, &problem))
		return fail_problem(reader, &problem);
	if (!words->n || *words->word[0] == '#')
		return 0;
	if (!strcmp(words->word[0], "create"))
		return reader->hands_on ? 0 : parse_create(reader);
	if (!strcmp(words->word[0], "add"))
		return parse_add(reader);
	return fail_line(reader, "'%s' is neither create nor add", words->word[0]);
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
