// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages, numbers for people, numbers from people. */
#include <baleen/key.h>
#include <stdarg.h>

#include "cli/common/cli.h"
#include "cli/common/progress.h"
#include "key/key_spec.h"
#include "util/duration.h"
#include "util/number.h"

int complain(const char *format, ...)
{
	va_list args;

	progress_hide();
	fputs("baleen: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

int complain_usage(const struct command *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "baleen: %s: ", command->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (see 'baleen help %s')\n", command->name);
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
	json_t *json = json_string(text);
	char shown[256];

	if (json)
		return json;
	snprintf(shown, sizeof(shown), "%s", text);
	for (char *c = shown; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return json_string(shown);
}

int print_json(json_t *json)
{
	int err = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));

	json_decref(json);
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
