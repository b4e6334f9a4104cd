// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One line of a list, parsed. */
#include <stdio.h>

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

/* Another column is ignored, but `A - B` must not be read as A alone. */
static bool is_spaced_range(u32 key_spec, const char *p, const char *end)
{
	const char *reason, *comma;
	struct baleen_key key;
	struct word word;

	p = skip_blanks(p, end);
	if (p == end || *p != '-')
		return false;
	word = entry_word(skip_blanks(p + 1, end), end);
	comma = memchr(word.start, ',', word.end - word.start);
	if (comma && baleen_spec_is_address(key_spec))
		word.end = comma;
	return !baleen_key_parse(word.start, word.end - word.start, key_spec, &key, &reason);
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

/* `create NAME TYPE ...` or `add NAME KEY [timeout N] [comment "..."] [nomatch]`,
 * with -exist or -! anywhere.
 */
static void ipset_parse(struct baleen_entry *entry, u32 key_spec, const char *p, const char *end)
{
	struct word word, key = { p, end };
	bool nomatch = false;
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
		if (n_words == 2)
			key = entry_word(word.start, word.end);
		nomatch |= n_words > 2 && word_is(word, "nomatch");
		n_words++;
	}
	if (n_words < 3)
		entry_bad(entry, key, "ipset line without a key");
	else if (has_open_quote(key.end, end))
		entry_bad(entry, key, "quote without its end");
	else
		entry_key(entry, key_spec, key, key.start, nomatch);
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
	entry->is_ipset = false;
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
	else if (is_spaced_range(key_spec, word.end, end))
		entry_bad(entry, word, "range with white space: write it A-B");
	else
		entry_key(entry, key_spec, word, p + (*p == '!'), *p == '!');
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
