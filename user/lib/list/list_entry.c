// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One line of a list, parsed. */
#include <stdio.h>

#include "list/foreign.h"
#include "list/ipset_set.h"
#include "list/list_entry.h"

#define LINE_BYTES 4096

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

struct word {
	const char *start;
	const char *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_comment(char c)
{
	return c == '#' || c == ';';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* An entry ends at white space or a comment. */
static struct word entry_word(const char *p, const char *end)
{
	struct word word = { .start = p, .end = p };

	while (word.end < end && !is_blank(*word.end) && !is_comment(*word.end))
		word.end++;
	return word;
}

/* A word of an ipset line ends at white space outside double quotes; ipset
 * has no way to escape a quote.
 */
static struct word ipset_word(const char *p, const char *end)
{
	struct word word = { .start = p, .end = p };
	bool quoted = false;

	while (word.end < end && (quoted || !is_blank(*word.end)))
		quoted ^= *word.end++ == '"';
	return word;
}

static bool has_open_quote(const char *p, const char *end)
{
	bool quoted = false;

	while (p < end)
		quoted ^= *p++ == '"';
	return quoted;
}

static bool word_is(struct word word, const char *text)
{
	size_t length = word.end - word.start;

	return length == strlen(text) && !memcmp(word.start, text, length);
}

static void entry_text(struct baleen_entry *entry, struct word word)
{
	entry->text = word.start;
	entry->length = word.end - word.start;
}

static void entry_bad(struct baleen_entry *entry, struct word word, const char *reason)
{
	entry_text(entry, word);
	entry->kind = BALEEN_ENTRY_BAD;
	entry->reason = reason;
}

/* The key starts at @start, behind the mark of an exception. */
static void entry_key(struct baleen_entry *entry, u32 key_spec, struct word word, const char *start,
		      bool is_exception)
{
	bool is_address = baleen_spec_is_address(key_spec);
	size_t length = word.end - start;
	const char *reason = "exception from keys of several fields";
	int ret = -EINVAL;

	entry->kind = is_address ? BALEEN_ENTRY_SPAN : BALEEN_ENTRY_KEY;
	entry->is_exception = is_exception;
	entry_text(entry, word);
	if (is_address)
		ret = baleen_span_parse(start, length, &entry->span, &reason);
	else if (!is_exception)
		ret = baleen_key_parse(start, length, key_spec, &entry->key, &reason);
	if (ret)
		entry_bad(entry, word, reason);
}

/* URLs have `#`, `;` and `!` in them, and nothing behind them. */
static void squid_parse(struct baleen_entry *entry, const char *p, const char *end)
{
	struct word word = { p, end };
	const char *reason;

	entry->kind = BALEEN_ENTRY_KEY;
	entry->is_exception = false;
	entry_text(entry, word);
	if (baleen_key_parse(p, end - p, BALEEN_KEY_SQUID, &entry->key, &reason))
		entry_bad(entry, word, reason);
}

/**
 * struct ipset_options - what stands behind the key of a line of ipset
 * @nomatch: it is an exception
 * @has_end: it has a timeout
 * @is_unending: which is 0
 * @wants_value: the next word is the value of the one before
 * @is_time: and that is a timeout
 * @bad: a word that is not known; no start when all are
 */
struct ipset_options {
	bool nomatch;
	bool has_end;
	bool is_unending;
	bool wants_value;
	bool is_time;
	struct word bad;
};

static void take_option(struct ipset_options *options, struct word word)
{
	int takes_value;

	if (options->wants_value) {
		options->has_end |= options->is_time && !word_is(word, "0");
		options->is_unending |= options->is_time && word_is(word, "0");
		options->wants_value = false;
		return;
	}
	takes_value = baleen_ipset_takes_value(word.start, word.end - word.start);
	options->nomatch |= word_is(word, "nomatch");
	options->wants_value = takes_value > 0;
	options->is_time = word_is(word, "timeout");
	if (takes_value < 0 && !options->bad.start)
		options->bad = word;
}

/* `create NAME TYPE ...` or `add NAME KEY [timeout N] [comment "..."] [nomatch]`,
 * with -exist or -! anywhere.
 */
static void ipset_parse(struct baleen_entry *entry, u32 key_spec, const char *p, const char *end)
{
	struct ipset_options options = { 0 };
	struct word word, key = { p, end };
	u32 n_words = 0;

	entry->is_ipset = true;
	for (p = skip_blanks(p, end); p < end && !is_comment(*p); p = skip_blanks(p, end)) {
		word = ipset_word(p, end);
		p = word.end;
		if (word_is(word, "-exist") || word_is(word, "-!"))
			continue;
		if (n_words == 0 && word_is(word, "create"))
			return;
		if (n_words == 0 && !word_is(word, "add")) {
			entry_bad(entry, word, "not an address");
			return;
		}
		if (n_words == 1)
			entry->set = word.start;
		if (n_words == 2)
			key = entry_word(word.start, word.end);
		if (n_words > 2)
			take_option(&options, word);
		n_words++;
	}
	entry->has_end = options.has_end;
	entry->is_unending = options.is_unending;
	if (n_words < 3)
		entry_bad(entry, key, "ipset line without a key");
	else if (has_open_quote(key.end, end))
		entry_bad(entry, key, "quote without its end");
	else if (options.bad.start)
		entry_bad(entry, options.bad, "no option of an entry of ipset");
	else if (options.wants_value)
		entry_bad(entry, word, "without its value");
	else
		entry_key(entry, key_spec, key, key.start, options.nomatch);
}

/* A line of a list; its columns behind the key say nothing of it, or it is a bad line. */
static void line_parse(struct baleen_entry *entry, u32 key_spec, struct word word, const char *end)
{
	const char *start = word.start + (*word.start == '!'), *reason;

	entry_key(entry, key_spec, word, start, start > word.start);
	if (entry->kind == BALEEN_ENTRY_BAD)
		return;
	reason = baleen_foreign_behind(key_spec, start, word.end, end);
	if (reason)
		entry_bad(entry, word, reason);
}

static bool is_ipset(struct word word)
{
	return word_is(word, "add") || word_is(word, "create") || word_is(word, "-exist") ||
	       word_is(word, "-!");
}

void baleen_entry_parse(struct baleen_entry *entry, u32 key_spec, const char *line, const char *end)
{
	const char *p = line;
	struct word word = { p, end };

	entry->kind = BALEEN_ENTRY_NONE;
	entry->is_ipset = entry->has_end = entry->is_unending = false;
	entry->set = NULL;
	if (end - p > LINE_BYTES && key_spec != BALEEN_KEY_SQUID) {
		entry_bad(entry, word, "line longer than " STRING(LINE_BYTES) " bytes");
		return;
	}
	while (end > p && (is_blank(end[-1]) || end[-1] == '\r'))
		word.end = --end;
	/* Also in comments: else a file with the line ends of another system,
	 * or in UTF-16, could be one long comment.
	 */
	if (memchr(p, '\0', end - p)) {
		entry_bad(entry, word, "NUL byte");
		return;
	}
	if (memchr(p, '\r', end - p)) {
		entry_bad(entry, word, "carriage return in the line");
		return;
	}
	p = skip_blanks(p, end);
	word = entry_word(p, end);
	if (p == end || is_comment(*p))
		return;
	if (key_spec == BALEEN_KEY_SQUID)
		squid_parse(entry, p, end);
	else if (is_ipset(word))
		ipset_parse(entry, key_spec, p, end);
	else
		line_parse(entry, key_spec, word, end);
	if (entry->kind == BALEEN_ENTRY_BAD && baleen_spec_is_address(key_spec))
		entry->reason =
			baleen_foreign_reason(p + (*p == '!'), word.end, end, entry->reason);
}

int baleen_entry_covers(const struct baleen_entry *entry, const struct baleen_key *key)
{
	struct baleen_span rest = entry->span, prefix;
	int length;

	if (entry->kind == BALEEN_ENTRY_KEY)
		return baleen_key_compare(&entry->key, key) ? -1 : 0;
	if (entry->kind != BALEEN_ENTRY_SPAN || !baleen_span_holds(&rest, key))
		return -1;
	do
		length = baleen_span_split(&rest, &prefix);
	while (!baleen_span_holds(&prefix, key));
	return length;
}

/* A line of `ipset save` has no `!` of its own. */
void baleen_entry_format(const struct baleen_entry *entry, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s%.*s", entry->is_exception && *entry->text != '!' ? "!" : "",
		 (int)entry->length, entry->text);
}
