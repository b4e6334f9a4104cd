// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The version of the library, and how it says what went wrong. */
#include "api.h"
#include "release.h"

static _Thread_local struct baleen_error last_error;

struct baleen_error *api_error(void)
{
	return &last_error;
}

const char *baleen_error_text(void)
{
	return last_error.text;
}

const char *baleen_version(void)
{
	return BALEEN_RELEASE;
}
