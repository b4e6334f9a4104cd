// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Foreign text on its way to somebody's eyes. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/foreign.h"

/* --- characters ------------------------------------------------------------ */

/* Controls; Default_Ignorable_Code_Point, which has no width or turns the line round; and the
 * separators and annotations of lines. Source: Unicode 15, DerivedCoreProperties.txt.
 */
static const u32 hidden[][2] = {
	{ 0x0, 0x1f },	    { 0x7f, 0x9f },	  { 0xad, 0xad },	{ 0x34f, 0x34f },
	{ 0x61c, 0x61c },   { 0x115f, 0x1160 },	  { 0x17b4, 0x17b5 },	{ 0x180b, 0x180f },
	{ 0x200b, 0x200f }, { 0x2028, 0x202e },	  { 0x2060, 0x206f },	{ 0x3164, 0x3164 },
	{ 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },	  { 0xffa0, 0xffa0 },	{ 0xfff0, 0xfffb },
	{ 0xfffe, 0xffff }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

static bool is_hidden(u32 character)
{
	if (character >= ' ' && character <= '~')
		return false;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (character >= hidden[i][0] && character <= hidden[i][1])
			return true;
	return false;
}

size_t baleen_foreign_character(const char *text, size_t n_bytes, u32 *character)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const u8 *byte = (const u8 *)text;
	size_t n = *byte < 0x80 ? 1 : *byte >> 5 == 6 ? 2 : *byte >> 4 == 14 ? 3 : 4;
	u32 got = n == 1 ? *byte : *byte & (0x7f >> n);

	if (n > n_bytes || (n == 4 && *byte >> 3 != 30))
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (byte[i] >> 6 != 2)
			return 0;
		got = got << 6 | (byte[i] & 0x3f);
	}
	if (got < least[n] || got > 0x10ffff || got >> 11 == 0xd800 >> 11)
		return 0;
	*character = got;
	return n;
}

/* --- where it goes --------------------------------------------------------- */

/**
 * struct sink - a stream, or memory
 * @stream: the stream, locked, or NULL
 * @out: the memory
 * @room: bytes that are left in it, without the NUL; 0 once something had no room
 * @n: bytes written
 */
struct sink {
	FILE *stream;
	char *out;
	size_t room;
	size_t n;
};

static void put(struct sink *sink, const char *bytes, size_t n)
{
	if (sink->stream) {
		fwrite_unlocked(bytes, 1, n, sink->stream);
	} else if (n > sink->room) {
		sink->room = 0;
		return;
	} else {
		memcpy(sink->out + sink->n, bytes, n);
		sink->room -= n;
	}
	sink->n += n;
}

/* ASCII may be cut anywhere. */
static void put_ascii(struct sink *sink, const char *text, size_t n)
{
	size_t fits = sink->stream || n < sink->room ? n : sink->room;

	put(sink, text, fits);
	if (fits < n)
		sink->room = 0;
}

static void put_pad(struct sink *sink, size_t n)
{
	while (n--)
		put(sink, " ", 1);
}

/* --- texts ----------------------------------------------------------------- */

#define SHOWN_BYTES sizeof("\\u{10ffff}")

/* One character, or one byte that begins none. Returns how many bytes of @text it was. */
static size_t show_one(const char *text, size_t n_bytes, char *shown, size_t *n_shown)
{
	u32 character = *(const u8 *)text;
	size_t n = baleen_foreign_character(text, n_bytes, &character);

	if (n && !is_hidden(character)) {
		memcpy(shown, text, n);
		*n_shown = n;
		return n;
	}
	*n_shown = snprintf(shown, SHOWN_BYTES, n > 1 ? "\\u{%x}" : "\\x%02x", character);
	return n ? n : 1;
}

/* Most texts are plain ASCII, and go in one piece. */
static size_t plain_bytes(const char *text, size_t n_bytes)
{
	size_t n = 0;

	while (n < n_bytes && text[n] >= ' ' && text[n] <= '~')
		n++;
	return n;
}

static void put_text(struct sink *sink, const char *text, size_t n_bytes)
{
	char shown[SHOWN_BYTES];
	size_t n, n_shown;

	for (; n_bytes; text += n, n_bytes -= n) {
		n = plain_bytes(text, n_bytes);
		if (n) {
			put_ascii(sink, text, n);
			continue;
		}
		n = show_one(text, n_bytes, shown, &n_shown);
		put(sink, shown, n_shown);
	}
}

static size_t shown_bytes(const char *text, size_t n_bytes)
{
	char shown[SHOWN_BYTES];
	size_t all = 0, n_shown;

	for (size_t n; n_bytes; text += n, n_bytes -= n, all += n_shown) {
		n = n_shown = plain_bytes(text, n_bytes);
		if (!n)
			n = show_one(text, n_bytes, shown, &n_shown);
	}
	return all;
}

/* A precision may cut a character: that is left out. */
static size_t without_cut_character(const char *text, size_t n_bytes)
{
	size_t n = n_bytes;

	while (n && n_bytes - n < 3 && (u8)text[n - 1] >> 6 == 2)
		n--;
	if (n && (u8)text[n - 1] >= 0xc2 && (u8)text[n - 1] <= 0xf4) {
		size_t whole = (u8)text[n - 1] < 0xe0 ? 2 : (u8)text[n - 1] < 0xf0 ? 3 : 4;

		if (n - 1 + whole > n_bytes)
			return n - 1;
	}
	return n_bytes;
}

/* --- formats --------------------------------------------------------------- */

/**
 * struct arguments - those of a format; a va_list that a function takes cannot be passed on by
 * address
 * @list: the list
 */
struct arguments {
	va_list list;
};

/**
 * struct conversion - one of a format
 * @spec: as typed, with width and precision as numbers, for snprintf()
 * @is_left: flag `-`
 * @width: 0 for none
 * @precision: -1 for none
 * @size: 'H' for hh, 'h', 'l', 'L' for ll, 'z', 'j', 't', or 0
 * @type: its letter
 */
struct conversion {
	char spec[64];
	bool is_left;
	int width;
	int precision;
	char size;
	char type;
};

static int read_number(const char **at, struct arguments *args)
{
	int n = 0;

	if (**at == '*') {
		(*at)++;
		return va_arg(args->list, int);
	}
	while (**at >= '0' && **at <= '9')
		n = n * 10 + *(*at)++ - '0';
	return n;
}

/* @at is behind the `%`. Returns what is behind the conversion. */
static const char *read_conversion(const char *at, struct arguments *args,
				   struct conversion *conversion)
{
	char flags[8] = "", precision[16] = "", width[16] = "";
	const char *size;
	size_t n = strspn(at, "-+ #0'");

	memcpy(flags, at, n < sizeof(flags) - 1 ? n : sizeof(flags) - 1);
	at += n;
	*conversion = (struct conversion){ .precision = -1 };
	conversion->width = read_number(&at, args);
	conversion->is_left = strchr(flags, '-') || conversion->width < 0;
	if (conversion->width)
		snprintf(width, sizeof(width), "%d", conversion->width);
	conversion->width = abs(conversion->width);
	if (*at == '.') {
		at++;
		conversion->precision = read_number(&at, args);
		if (conversion->precision >= 0)
			snprintf(precision, sizeof(precision), ".%d", conversion->precision);
	}
	size = at;
	at += strspn(at, "hlzjt");
	conversion->size = at == size ? 0 : at - size == 1 ? *size : *size == 'h' ? 'H' : 'L';
	conversion->type = *at;
	/* A negative width is written as "-5", which is the flag and the width. */
	snprintf(conversion->spec, sizeof(conversion->spec), "%%%s%s%s%.*s", flags, width,
		 precision, (int)(at + 1 - size), size);
	return at + 1;
}

static void put_string(struct sink *sink, const struct conversion *conversion, const char *text)
{
	size_t n, shown, pad;

	if (!text)
		text = "(null)";
	if (conversion->precision < 0) {
		n = strlen(text);
	} else {
		n = strnlen(text, conversion->precision);
		if (n == (size_t)conversion->precision)
			n = without_cut_character(text, n);
	}
	shown = conversion->width ? shown_bytes(text, n) : 0;
	pad = (size_t)conversion->width > shown ? conversion->width - shown : 0;
	put_pad(sink, conversion->is_left ? 0 : pad);
	put_text(sink, text, n);
	put_pad(sink, conversion->is_left ? pad : 0);
}

static void put_number(struct sink *sink, const struct conversion *conversion,
		       struct arguments *args)
{
	const char *spec = conversion->spec;
	char text[512];

	if (strchr("eEfFgG", conversion->type))
		snprintf(text, sizeof(text), spec, va_arg(args->list, double));
	else if (conversion->type == 'p')
		snprintf(text, sizeof(text), spec, va_arg(args->list, void *));
	else if (conversion->size == 'L')
		snprintf(text, sizeof(text), spec, va_arg(args->list, long long));
	else if (conversion->size == 'j')
		snprintf(text, sizeof(text), spec, va_arg(args->list, intmax_t));
	else if (conversion->size == 'l' || conversion->size == 'z' || conversion->size == 't')
		snprintf(text, sizeof(text), spec, va_arg(args->list, long));
	else
		snprintf(text, sizeof(text), spec, va_arg(args->list, int));
	put_ascii(sink, text, strlen(text));
}

static void put_conversion(struct sink *sink, const struct conversion *conversion,
			   struct arguments *args, int err)
{
	char letter[2] = "";

	switch (conversion->type) {
	case 's': put_string(sink, conversion, va_arg(args->list, const char *)); break;
	case 'm': put_string(sink, conversion, strerror(err)); break;
	case 'c':
		letter[0] = va_arg(args->list, int);
		put_string(sink, conversion, letter);
		break;
	case '%': put_ascii(sink, "%", 1); break;
	default: put_number(sink, conversion, args); break;
	}
}

static void put_format(struct sink *sink, const char *format, va_list list)
{
	struct arguments args;
	struct conversion conversion;
	int err = errno;

	va_copy(args.list, list);
	while (*format) {
		size_t n = strcspn(format, "%");

		put_ascii(sink, format, n);
		format += n;
		if (*format == '%') {
			format = read_conversion(format + 1, &args, &conversion);
			put_conversion(sink, &conversion, &args, err);
		}
	}
	va_end(args.list);
}

size_t baleen_foreign_vformat(char *out, size_t n_bytes, const char *format, va_list args)
{
	struct sink sink = { .out = out, .room = n_bytes - 1 };

	put_format(&sink, format, args);
	out[sink.n] = '\0';
	return sink.n;
}

size_t baleen_foreign_format(char *out, size_t n_bytes, const char *format, ...)
{
	va_list args;
	size_t n;

	va_start(args, format);
	n = baleen_foreign_vformat(out, n_bytes, format, args);
	va_end(args);
	return n;
}

size_t baleen_foreign_vprint(FILE *stream, const char *format, va_list args)
{
	struct sink sink = { .stream = stream };

	/* Once for all pieces: `dump` prints millions of lines. */
	flockfile(stream);
	put_format(&sink, format, args);
	funlockfile(stream);
	return sink.n;
}

size_t baleen_foreign_text(char *out, size_t n_bytes, const char *text, size_t n_text)
{
	struct sink sink = { .out = out, .room = n_bytes - 1 };

	put_text(&sink, text, n_text);
	out[sink.n] = '\0';
	return sink.n;
}

bool baleen_foreign_is_plain(const char *text)
{
	size_t n = strlen(text);

	return shown_bytes(text, n) == n;
}

/* --- pages and documents --------------------------------------------------- */

static void write_json(FILE *stream, const char *json, size_t left)
{
	for (size_t n; left; json += n, left -= n) {
		u32 character = 0;

		n = plain_bytes(json, left);
		if (!n)
			n = baleen_foreign_character(json, left, &character) ?: 1;
		if (character < 0x7f || !is_hidden(character))
			fwrite(json, 1, n, stream);
		else if (character < 0x10000)
			fprintf(stream, "\\u%04x", character);
		else
			fprintf(stream, "\\u%04x\\u%04x", 0xd800 + ((character - 0x10000) >> 10),
				0xdc00 + (character & 0x3ff));
	}
}

void baleen_foreign_json(FILE *stream, const char *json)
{
	write_json(stream, json, strlen(json));
}

void baleen_foreign_script(FILE *stream, const char *json)
{
	for (const char *end; *json; json = end + (*end != '\0')) {
		end = strchrnul(json, '<');
		write_json(stream, json, end - json);
		if (*end)
			fputs("\\u003c", stream);
	}
}

/* Writes @text with what @escape returns in place of a byte, unless that is NULL. */
static void write_escaped(FILE *stream, const char *text, const char *(*escape)(char byte))
{
	char shown[SHOWN_BYTES];
	size_t n_shown;

	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		n = show_one(text, left, shown, &n_shown);
		for (size_t i = 0; i < n_shown; i++) {
			const char *escaped = escape(shown[i]);

			if (escaped)
				fputs(escaped, stream);
			else
				fputc(shown[i], stream);
		}
	}
}

static const char *xml_escape(char byte)
{
	switch (byte) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

void baleen_foreign_xml(FILE *stream, const char *text)
{
	write_escaped(stream, text, xml_escape);
}

static const char *label_escape(char byte)
{
	return byte == '\\' ? "\\\\" : byte == '"' ? "\\\"" : NULL;
}

void baleen_foreign_label(FILE *stream, const char *text)
{
	write_escaped(stream, text, label_escape);
}
