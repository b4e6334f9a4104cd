// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The addresses of a name, by the resolver of the system. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/helper.h"
#include "util/resolve.h"

/* The helper keeps the time itself; what does not is ended so much later. */
#define GRACE_MS 5000
#define MAX_NAME 253

bool baleen_resolve_is_name(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789-_.");

	/* A name whose last label is a number is an address. */
	return length && !text[length] && length <= MAX_NAME && text[0] != '-' && text[0] != '.' &&
	       strspn(text, "0123456789.") != length && !strstr(text, "..");
}

int baleen_resolve(const char *name, u32 timeout_s, int fd, struct baleen_error *error)
{
	struct baleen_fetch_order *order = calloc(1, sizeof(*order));
	struct baleen_fetch_report report;
	struct baleen_helper_use use = { .order = order,
					 .name = "resolver",
					 .body = fd,
					 .packed = -1,
					 .time_limit_ms = timeout_s * 1000ull + GRACE_MS,
					 .ends_by_signal = true };
	int err;

	if (!order)
		return baleen_no_memory(error);
	order->verb = BALEEN_FETCH_RESOLVE;
	order->timeout_ms = timeout_s * 1000;
	order->max_bytes = BALEEN_RESOLVE_MAX * 64;
	strncpy(order->url, name, sizeof(order->url) - 1);
	err = baleen_helper_run(&use, &report, error);
	free(order);
	if (err || !report.err)
		return err;
	return baleen_fail(error, report.err < 0 ? -report.err : EIO, "%s", report.text);
}
