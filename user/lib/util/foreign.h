/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Foreign text: names, reasons and lines that somebody else wrote, on their way to a terminal, a
 * log or a page. There a control character moves the cursor, a bidirectional one turns the rest
 * of the line round, and one without width hides.
 *
 * Such characters come out as `\x1b` (below U+0080) or `\u{202e}`, bytes that are no UTF-8 as
 * `\xff`, and all else as it is. A backslash stays, too: text that has been through here once
 * does not change when it comes again, as the reason of an error does in the reason of the next.
 * So this is for reading; formats that are read back have an escape of their own.
 */
#ifndef BALEEN_FOREIGN_H
#define BALEEN_FOREIGN_H

#include <baleen/port.h>
#include <stdarg.h>
#include <stdio.h>

/**
 * baleen_foreign_character() - the character that a text begins with
 * @text: not empty
 * @n_bytes: its length
 * @character: its number; untouched when there is none
 *
 * Return: its length in bytes; 0 when this is no UTF-8.
 */
size_t baleen_foreign_character(const char *text, size_t n_bytes, u32 *character);

/**
 * baleen_foreign_format() - printf into memory, each text among the arguments as foreign
 * @out: ends with a NUL; what has no room is left out from there on, whole characters and escapes
 * @n_bytes: room, at least 1
 * @format: as of printf, without `%n`, `%a`, `%ls` and numbered arguments. It is our own, and so is
 *          what it says, newlines, too. A text is only read as far as its precision.
 *
 * Context: allocates nothing. `%m` is the errno of the call.
 * Return: bytes written, without the NUL.
 */
size_t baleen_foreign_format(char *out, size_t n_bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * baleen_foreign_vformat() - the same with a list of arguments
 * @out: as of baleen_foreign_format()
 * @n_bytes: as of baleen_foreign_format()
 * @format: as of baleen_foreign_format()
 * @args: its arguments
 *
 * Return: bytes written, without the NUL.
 */
size_t baleen_foreign_vformat(char *out, size_t n_bytes, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/**
 * baleen_foreign_vprint() - the same into a stream
 * @stream: keeps its error, if there is one
 * @format: as of baleen_foreign_format()
 * @args: its arguments
 *
 * Return: bytes written.
 */
size_t baleen_foreign_vprint(FILE *stream, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/**
 * baleen_foreign_text() - bytes of anybody's as a text to be shown
 * @out: as of baleen_foreign_format()
 * @n_bytes: room, at least 1
 * @text: any bytes, NUL, too
 * @n_text: their number
 *
 * Return: bytes written, without the NUL.
 */
size_t baleen_foreign_text(char *out, size_t n_bytes, const char *text, size_t n_text);

/**
 * baleen_foreign_is_plain() - does a text come out as it is?
 * @text: the text
 *
 * Return: true or false.
 */
bool baleen_foreign_is_plain(const char *text);

/**
 * baleen_foreign_json() - write JSON so that it can be looked at, too
 * @stream: keeps its error, if there is one
 * @json: a document in UTF-8; whoever reads it gets the same strings as before
 *
 * Such characters stand in strings only, and come out as `\u202e`; white space between values
 * stays.
 */
void baleen_foreign_json(FILE *stream, const char *json);

/**
 * baleen_foreign_script() - write JSON into a script element of HTML
 * @stream: keeps its error, if there is one
 * @json: as of baleen_foreign_json()
 *
 * There `</script` ends the element, and `<!--` begins what is none, wherever they stand: each `<`
 * comes out as `\u003c`.
 */
void baleen_foreign_script(FILE *stream, const char *json);

/**
 * baleen_foreign_xml() - write a text into SVG, XML or HTML
 * @stream: keeps its error, if there is one
 * @text: comes out as by baleen_foreign_format(), with entities for `&`, `<`, `>` and quotes
 */
void baleen_foreign_xml(FILE *stream, const char *text);

/**
 * baleen_foreign_label() - write the value of a label of Prometheus or OpenMetrics
 * @stream: keeps its error, if there is one
 * @text: comes out as by baleen_foreign_format(), with a backslash before `\` and `"`
 */
void baleen_foreign_label(FILE *stream, const char *text);

#endif /* BALEEN_FOREIGN_H */
