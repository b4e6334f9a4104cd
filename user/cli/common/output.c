// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages, numbers for people, numbers from people. */
#include <baleen/key.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/progress.h"
#include "key/key_spec.h"
#include "util/duration.h"
#include "util/foreign.h"
#include "util/number.h"

int say(const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = baleen_foreign_vprint(stdout, format, args);
	va_end(args);
	return n;
}

int say_to(FILE *stream, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = baleen_foreign_vprint(stream, format, args);
	va_end(args);
	return n;
}

int complain(const char *format, ...)
{
	va_list args;

	progress_hide();
	fputs("baleen: ", stderr);
	va_start(args, format);
	baleen_foreign_vprint(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

int complain_usage(const struct command *command, const char *format, ...)
{
	va_list args;

	say_to(stderr, "baleen: %s: ", command->name);
	va_start(args, format);
	baleen_foreign_vprint(stderr, format, args);
	va_end(args);
	say_to(stderr, " (see 'baleen help %s')\n", command->name);
	return EXIT_USAGE;
}

int finish_output(int exit_code)
{
	if (fflush(stdout) || ferror(stdout)) {
		/* A reader that has seen enough, as in `| head`, is no news. */
		if (errno != EPIPE)
			complain("cannot write the output: %m");
		return EXIT_FAILED;
	}
	return exit_code;
}

json_t *json_text(const char *text)
{
	return json_bytes(text, strlen(text));
}

json_t *json_bytes(const char *text, size_t n_bytes)
{
	json_t *json = json_stringn(text, n_bytes);
	char *shown = json ? NULL : malloc(4 * n_bytes + 1);
	size_t n_shown = 0;
	u32 character;

	if (!shown)
		return json;
	for (size_t n; n_bytes; text += n, n_bytes -= n) {
		n = baleen_foreign_character(text, n_bytes, &character);
		memcpy(shown + n_shown, text, n);
		n_shown += n ? n : (size_t)sprintf(shown + n_shown, "\\x%02x", (u8)*text);
		n = n ? n : 1;
	}
	json = json_stringn(shown, n_shown);
	free(shown);
	return json;
}

/* Returns 0, or -ENOMEM. */
static int dump_json(json_t *json, size_t flags)
{
	char *text = json_dumps(json, flags | JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY);

	json_decref(json);
	if (text)
		baleen_foreign_json(stdout, text);
	free(text);
	return text ? 0 : -ENOMEM;
}

void print_json_line(json_t *json, size_t flags)
{
	dump_json(json, flags);
}

int print_json(json_t *json)
{
	int err = dump_json(json, JSON_INDENT(2));

	putchar('\n');
	return finish_output(err ? EXIT_FAILED : EXIT_DONE);
}

int finish_collected(json_t *all, int exit_code)
{
	if (!all)
		return finish_output(exit_code);
	return print_json(all) ? EXIT_FAILED : exit_code;
}

const char *format_count(u64 n, char *text)
{
	char digits[NUMBER_TEXT];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *out = text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return text;
}

const char *format_span(u64 ms, char *text)
{
	return baleen_duration_format(ms < 1000 ? ms : (ms + 500) / 1000 * 1000, text);
}

const char *format_bytes(u64 n, char *text)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB" };
	double scaled = n;
	u32 i = 0;

	while (scaled >= 999.5 && i < 4) {
		scaled /= 1000;
		i++;
	}
	snprintf(text, NUMBER_TEXT, i && scaled < 99.95 ? "%.1f %s" : "%.0f %s", scaled, unit[i]);
	return text;
}

int parse_rate(const char *text, double *rate)
{
	return baleen_rate_parse(text, rate);
}

int parse_count(const char *text, u64 *count)
{
	return baleen_count_parse(text, count);
}

const char *key_spec_text(u32 key_spec)
{
	static char text[2 * BALEEN_KEY_FINGERPRINT][BALEEN_KEY_SPEC_TEXT];

	return baleen_key_spec_text(key_spec, text[key_spec & (2 * BALEEN_KEY_FINGERPRINT - 1)]);
}
