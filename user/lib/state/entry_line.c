// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changes of single entries, line by line. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "state/entry_line.h"
#include "util/duration.h"

/* --- a line ---------------------------------------------------------------- */

/* The word at the start, cut off; the rest begins at the next one. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t");

	*rest = word + strcspn(word, " \t");
	if (**rest)
		*(*rest)++ = '\0';
	*rest += strspn(*rest, " \t");
	return word;
}

/* The reason is the rest of the line, with or without quotes around it. */
static const char *unquote(char *text)
{
	size_t n = strlen(text);

	if (n < 2 || *text != '"' || text[n - 1] != '"')
		return text;
	text[n - 1] = '\0';
	return text + 1;
}

/* ttl=, origin= and, as the last one, reason=. */
static int parse_values(struct baleen_entry_line *line, char *rest, struct baleen_error *error)
{
	while (*rest) {
		char *word;

		if (!strncmp(rest, "reason=", 7)) {
			line->reason = unquote(rest + 7);
			return 0;
		}
		word = next_word(&rest);
		if (!strncmp(word, "origin=", 7))
			line->origin = word + 7;
		else if (strncmp(word, "ttl=", 4))
			return baleen_fail(error, EINVAL, "not ttl=, origin= or reason=");
		else if (baleen_duration_parse(word + 4, &line->ttl_ms))
			return baleen_fail(error, EINVAL,
					   "ttl= is not a time such as 30s, 1h or 2d");
	}
	return 0;
}

static int parse_change(struct baleen_entry_line *line, char *rest, struct baleen_error *error)
{
	line->key = next_word(&rest);
	return *line->key ? parse_values(line, rest, error) : baleen_fail(error, EINVAL, "no key");
}

/* A value that changes nothing was meant to. */
static int check_values(const struct baleen_entry_line *line, struct baleen_error *error)
{
	if (line->verb == BALEEN_ENTRY_UNBAN && (line->origin || line->reason || line->ttl_ms))
		return baleen_fail(error, EINVAL, "unban is of every origin: KEY alone");
	if (line->verb == BALEEN_ENTRY_FLUSH && (line->reason || line->ttl_ms))
		return baleen_fail(error, EINVAL, "flush takes origin= alone");
	return 0;
}

static enum baleen_entry_verb verb_of(const char *word)
{
	static const struct {
		const char *word;
		enum baleen_entry_verb verb;
	} verbs[] = {
		{ "add", BALEEN_ENTRY_ADD },	 { "ban", BALEEN_ENTRY_ADD },
		{ "del", BALEEN_ENTRY_DEL },	 { "unban", BALEEN_ENTRY_UNBAN },
		{ "flush", BALEEN_ENTRY_FLUSH }, { "begin", BALEEN_ENTRY_BEGIN },
		{ "commit", BALEEN_ENTRY_COMMIT },
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(word, verbs[i].word))
			return verbs[i].verb;
	return BALEEN_ENTRY_NOTHING;
}

int baleen_entry_line_parse(char *text, struct baleen_entry_line *line, struct baleen_error *error)
{
	struct baleen_entry_line parsed = { 0 };
	size_t n = strlen(text);
	char *word;
	int err = 0;

	if (n && text[n - 1] == '\r')
		text[n - 1] = '\0';
	word = next_word(&text);
	if (*word && *word != '#') {
		parsed.verb = verb_of(word);
		if (!parsed.verb)
			return baleen_fail(error, EINVAL,
					   "not add, ban, del, unban, flush, begin or commit: %s",
					   word);
	}
	if (parsed.verb == BALEEN_ENTRY_FLUSH)
		err = parse_values(&parsed, text, error);
	else if (parsed.verb && parsed.verb < BALEEN_ENTRY_BEGIN)
		err = parse_change(&parsed, text, error);
	if (!err)
		err = check_values(&parsed, error);
	if (!err)
		*line = parsed;
	return err;
}

/* --- lines ----------------------------------------------------------------- */

ssize_t baleen_entry_lines_read(struct baleen_entry_lines *lines, int fd)
{
	ssize_t n;

	lines->n -= lines->next;
	memmove(lines->text, lines->text + lines->next, lines->n);
	lines->next = 0;
	if (lines->n == sizeof(lines->text)) {
		lines->is_skipping = true;
		lines->n = 0;
	}
	n = read(fd, lines->text + lines->n, sizeof(lines->text) - lines->n);
	if (n > 0)
		lines->n += n;
	return n;
}

int baleen_entry_lines_next(struct baleen_entry_lines *lines, char **line)
{
	char *start = lines->text + lines->next;
	char *newline = memchr(start, '\n', lines->n - lines->next);
	bool is_bad;

	if (!newline)
		return 0;
	is_bad = lines->is_skipping || newline - start >= BALEEN_ENTRY_LINE_BYTES ||
		 memchr(start, '\0', newline - start);
	lines->is_skipping = false;
	lines->next = newline + 1 - lines->text;
	*newline = '\0';
	if (is_bad)
		return -EINVAL;
	*line = start;
	return 1;
}

bool baleen_entry_lines_is_cut(const struct baleen_entry_lines *lines)
{
	return lines->n > lines->next || lines->is_skipping;
}
