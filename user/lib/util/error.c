// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How the library says what went wrong. */
#include <errno.h>
#include <stdarg.h>

#include "util/error.h"
#include "util/foreign.h"

int baleen_fail(struct baleen_error *error, int code, const char *format, ...)
{
	va_list args;

	if (error) {
		va_start(args, format);
		baleen_foreign_vformat(error->text, sizeof(error->text), format, args);
		va_end(args);
	}
	return -code;
}

int baleen_no_memory(struct baleen_error *error)
{
	return baleen_fail(error, ENOMEM, "not enough memory");
}
