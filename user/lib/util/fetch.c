// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A document from a web server, whole or not at all. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/fetch.h"
#include "util/helper.h"
#include "util/url.h"

/* The helper keeps the time itself; what does not is ended so much later. */
#define GRACE_MS 5000

struct baleen_fetch_request baleen_fetch_defaults(const char *url, int fd)
{
	return (struct baleen_fetch_request){
		.url = url,
		.fd = fd,
		.connect_timeout_ms = 10000,
		.timeout_ms = 120000,
		.stall_s = 20,
		.max_bytes = BALEEN_FETCH_MAX_BYTES,
		.n_retries = 3,
		.pause_ms = 1000,
	};
}

static bool copy_text(char *to, size_t room, const char *text)
{
	return (size_t)snprintf(to, room, "%s", text ?: "") < room;
}

static int write_order(const struct baleen_fetch_request *request, struct baleen_fetch_order *order,
		       struct baleen_error *error)
{
	*order = (struct baleen_fetch_order){
		.verb = BALEEN_FETCH_DOCUMENT,
		.connect_timeout_ms = request->connect_timeout_ms,
		.timeout_ms = request->timeout_ms,
		.stall_s = request->stall_s,
		.n_retries = request->n_retries,
		.pause_ms = request->pause_ms,
		.may_be_private = request->may_be_private,
		.max_bytes = request->max_bytes,
	};
	if (!copy_text(order->url, sizeof(order->url), request->url))
		return baleen_fail(error, ENAMETOOLONG, "%.64s...: more than %zu bytes",
				   baleen_url_name(request->url).text, sizeof(order->url) - 1);
	/* Without them all of the document comes again, which is right, too. */
	if (!copy_text(order->etag, sizeof(order->etag), request->etag))
		order->etag[0] = '\0';
	if (!copy_text(order->last_modified, sizeof(order->last_modified), request->last_modified))
		order->last_modified[0] = '\0';
	if (request->access) {
		strcpy(order->headers, request->access->headers);
		strcpy(order->user, request->access->user);
	}
	return 0;
}

/* Says what happened; takes the word of the helper for nothing that can be looked at. */
static int judge(const struct baleen_fetch_request *request,
		 const struct baleen_fetch_report *report, const char *name,
		 struct baleen_fetch_result *result, struct baleen_error *error)
{
	struct stat body;

	if (report->err)
		return baleen_fail(error, report->err < 0 ? -report->err : EIO, "%s: %s", name,
				   report->text);
	if (fstat(request->fd, &body))
		return baleen_fail(error, errno, "%s: %m", name);
	if (!report->is_unchanged && (u64)body.st_size != report->n_bytes)
		return baleen_fail(error, EIO, "%s: baleen-fetch stored %llu bytes, not %llu", name,
				   (unsigned long long)body.st_size,
				   (unsigned long long)report->n_bytes);
	*result = (struct baleen_fetch_result){
		.is_unchanged = report->is_unchanged,
		.n_bytes = report->n_bytes,
		.n_attempts = report->n_attempts,
	};
	copy_text(result->etag, sizeof(result->etag), report->etag);
	copy_text(result->last_modified, sizeof(result->last_modified), report->last_modified);
	return 0;
}

int baleen_fetch(const struct baleen_fetch_request *request, struct baleen_fetch_result *result,
		 struct baleen_error *error)
{
	const struct baleen_url_name name = baleen_url_name(request->url);
	struct baleen_fetch_report report;
	struct baleen_fetch_order order;
	struct baleen_helper_use use = { .order = &order,
					 .name = name.text,
					 .body = request->fd,
					 .packed = -1,
					 .time_limit_ms = request->timeout_ms + GRACE_MS,
					 .ends_by_signal = true,
					 .on_progress = request->on_progress,
					 .data = request->data };
	int err;

	if (!baleen_url_is(request->url))
		return baleen_fail(error, EINVAL, "'%.64s': neither http:// nor https://",
				   request->url);
	err = write_order(request, &order, error);
	if (!err)
		err = baleen_helper_run(&use, &report, error);
	explicit_bzero(&order, sizeof(order));
	return err ? err : judge(request, &report, name.text, result, error);
}
