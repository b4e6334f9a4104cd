// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The lines of a configuration as words, and messages about them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "deploy/conf_words.h"

int baleen_conf_refuse(struct baleen_conf_parser *parser, const char *format, ...)
{
	char why[sizeof(parser->error->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return baleen_fail(parser->error, EINVAL, "%s:%llu: %s", parser->name,
			   (unsigned long long)parser->line, why);
}

int baleen_conf_check_path(struct baleen_conf_parser *parser, const char *path, size_t room)
{
	if (*path != '/')
		return baleen_conf_refuse(parser, "%s '%s': not a whole path, from / on",
					  parser->word[0], path);
	if (strlen(path) >= room)
		return baleen_conf_refuse(parser, "%s: a path of %zu bytes or more",
					  parser->word[0], room);
	return 0;
}

/* --- lines ---------------------------------------------------------------- */

static bool has_control(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
			return true;
	return false;
}

int baleen_conf_next_line(struct baleen_conf_parser *parser, const char **text, const char *end)
{
	const char *newline = memchr(*text, '\n', end - *text);
	size_t length = (newline ? newline : end) - *text;

	parser->line++;
	if (length && newline && (*text)[length - 1] == '\r')
		length--;
	if (length > BALEEN_CONF_MAX_LINE)
		return baleen_conf_refuse(parser, "a line of more than %d bytes",
					  BALEEN_CONF_MAX_LINE);
	if (has_control(*text, length))
		return baleen_conf_refuse(parser, "a control character");
	memcpy(parser->text, *text, length);
	parser->text[length] = '\0';
	*text = newline ? newline + 1 : end;
	return 0;
}

/* --- words ---------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A quoted word; @at is behind its quote. Returns what is behind it, or NULL. */
static const char *parse_quoted(const char *at, char **out)
{
	for (; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1] != '"' && at[1] != '\\')
			return NULL;
		if (*at == '\\')
			at++;
		*(*out)++ = *at;
	}
	return *at && (!at[1] || is_blank(at[1])) ? at + 1 : NULL;
}

static const char *parse_bare(const char *at, char **out)
{
	for (; *at && !is_blank(*at); at++) {
		if (*at == '"')
			return NULL;
		*(*out)++ = *at;
	}
	return at;
}

int baleen_conf_split(struct baleen_conf_parser *parser)
{
	const char *at = parser->text;
	char *out = parser->buffer;

	for (parser->n_words = 0;; parser->n_words++) {
		while (is_blank(*at))
			at++;
		if (!*at || *at == '#')
			break;
		if (parser->n_words == BALEEN_CONF_MAX_WORDS)
			return baleen_conf_refuse(parser, "more than %d words",
						  BALEEN_CONF_MAX_WORDS);
		parser->word[parser->n_words] = out;
		at = *at == '"' ? parse_quoted(at + 1, &out) : parse_bare(at, &out);
		if (!at)
			return baleen_conf_refuse(
				parser, "a quoted word is \"...\" with blanks around it, and "
					"\\\" or \\\\ inside");
		*out++ = '\0';
	}
	parser->word[parser->n_words] = NULL;
	return 0;
}

int baleen_conf_refuse_statement(struct baleen_conf_parser *parser,
				 const struct baleen_nearest *nearest)
{
	char text[BALEEN_NEAREST_TEXT];

	return baleen_conf_refuse(parser, "'%s': no statement begins so%s", nearest->typed,
				  baleen_nearest_text(nearest, text));
}
