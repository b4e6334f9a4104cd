// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How the library says what went wrong. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "util/error.h"

int baleen_fail(struct baleen_error *error, int code, const char *format, ...)
{
	va_list args;

	if (error) {
		va_start(args, format);
		vsnprintf(error->text, sizeof(error->text), format, args);
		va_end(args);
	}
	return -code;
}

int baleen_no_memory(struct baleen_error *error)
{
	return baleen_fail(error, ENOMEM, "not enough memory");
}
