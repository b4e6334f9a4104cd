// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The reasons that libbpf prints and does not return. */
#include <bpf/libbpf.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/libbpf_log.h"

#define EXTACK "Kernel error message: "
#define LOAD_LOG "-- BEGIN PROG LOAD LOG --"

static char log_text[512];

/* A verifier says this behind its reason. */
static bool is_statistics(const char *line)
{
	return !*line || !strncmp(line, "processed ", 10) || !strncmp(line, "verification ", 13) ||
	       !strncmp(line, "stack depth ", 12) || !strncmp(line, "-- END ", 7);
}

/* Behind "BPF program load failed: Invalid argument", which libbpf prints first: the last line of
 * the log of the verifier that is no statistics.
 */
static void add_verifier_reason(char *log)
{
	size_t n = strlen(log_text);
	char *line, *rest, *reason = NULL;

	for (line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!is_statistics(line))
			reason = line;
	if (reason && n < sizeof(log_text))
		snprintf(log_text + n, sizeof(log_text) - n, "%s%s", n ? ": " : "", reason);
}

static void keep_line(const char *line)
{
	char *end;

	snprintf(log_text, sizeof(log_text), "%s", line);
	end = log_text + strlen(log_text);
	while (end > log_text && isspace((unsigned char)end[-1]))
		*--end = '\0';
}

/* libbpf prints the kernel's extended error of a netlink attach, and nothing
 * else returns it. Any other warning is kept when there is no such line.
 */
static int log_collect(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text, *extack, *log;

	if (level != LIBBPF_WARN || vasprintf(&text, format, args) < 0)
		return 0;
	extack = strstr(text, EXTACK);
	log = strstr(text, LOAD_LOG);
	if (extack)
		keep_line(extack + strlen(EXTACK));
	else if (log)
		add_verifier_reason(log + strlen(LOAD_LOG));
	else if (!log_text[0])
		keep_line(text);
	free(text);
	return 0;
}

void baleen_log_start(void)
{
	log_text[0] = '\0';
	libbpf_set_print(log_collect);
}

const char *baleen_log_reason(int err)
{
	if (!log_text[0])
		snprintf(log_text, sizeof(log_text), "%s", strerror(-err));
	return log_text;
}
