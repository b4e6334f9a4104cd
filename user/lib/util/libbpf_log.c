// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The reasons that libbpf prints and does not return. */
#include <bpf/libbpf.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/libbpf_log.h"

#define EXTACK "Kernel error message: "

static char log_text[512];

/* libbpf prints the kernel's extended error of a netlink attach, and nothing
 * else returns it. Any other warning is kept when there is no such line.
 */
static int log_collect(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[sizeof(log_text)];
	char *extack, *end;

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), format, args);
	extack = strstr(line, EXTACK);
	if (!extack && log_text[0])
		return 0;
	snprintf(log_text, sizeof(log_text), "%s", extack ? extack + strlen(EXTACK) : line);
	end = log_text + strlen(log_text);
	while (end > log_text && isspace((unsigned char)end[-1]))
		*--end = '\0';
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
