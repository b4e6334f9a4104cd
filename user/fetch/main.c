// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * baleen-fetch: fetches or unpacks one document, or asks for the addresses of one name, with
 * as few rights as can be.
 *
 * Nobody types this command: baleen starts it with an order (util/fetch_wire.h) on
 * descriptor 0 and the file for the document on 1.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "fetch/confine.h"
#include "fetch/resolver.h"
#include "fetch/transfer.h"
#include "fetch/unpacker.h"
#include "util/clock.h"

/* Progress is for people. */
#define PROGRESS_MS 100

#define UNPACK_S 120

/* False when nobody is there any more. */
static bool send_report(const struct baleen_fetch_report *report)
{
	return send(BALEEN_HELPER_SOCKET, report, sizeof(*report), MSG_NOSIGNAL) == sizeof(*report);
}

static bool report_progress(u64 n_received, u64 n_total)
{
	const struct baleen_fetch_report report = { .n_received = n_received, .n_total = n_total };
	static u64 reported_ms;
	u64 now_ms = baleen_monotonic_ms();

	if (now_ms < reported_ms + PROGRESS_MS)
		return true;
	reported_ms = now_ms;
	return send_report(&report);
}

static void unpack(const struct baleen_fetch_order *order, struct baleen_fetch_report *report)
{
	const char *reason = "";

	*report = (struct baleen_fetch_report){ .is_last = true, .n_attempts = 1 };
	report->err = baleen_unpacker_file(BALEEN_HELPER_PACKED, BALEEN_HELPER_BODY,
					   order->max_bytes, &reason);
	if (report->err == -E2BIG)
		snprintf(report->text, sizeof(report->text), "%s of %llu bytes when unpacked",
			 reason, (unsigned long long)order->max_bytes);
	else if (report->err == -EINVAL)
		snprintf(report->text, sizeof(report->text), "%s", reason);
	else if (report->err)
		snprintf(report->text, sizeof(report->text), "%s: %s", reason,
			 strerror(-report->err));
}

static bool ends(const char *text, size_t n_bytes)
{
	return memchr(text, '\0', n_bytes);
}

static bool is_order(const struct baleen_fetch_order *order, ssize_t n_bytes)
{
	return n_bytes == sizeof(*order) && ends(order->url, sizeof(order->url)) &&
	       ends(order->etag, sizeof(order->etag)) &&
	       ends(order->last_modified, sizeof(order->last_modified)) &&
	       ends(order->headers, sizeof(order->headers)) &&
	       ends(order->user, sizeof(order->user)) &&
	       order->verb >= BALEEN_FETCH_DOCUMENT && order->verb <= BALEEN_FETCH_RESOLVE;
}

static int complain(const char *what)
{
	fprintf(stderr, "baleen-fetch: %s\n", what);
	return 1;
}

int main(void)
{
	static struct baleen_fetch_order order;
	struct baleen_fetch_report report;
	const char *reason;
	int err = confine_process(&reason);

	if (err) {
		fprintf(stderr, "baleen-fetch: %s: %s\n", reason, strerror(-err));
		return 1;
	}
	if (!is_order(&order, recv(BALEEN_HELPER_SOCKET, &order, sizeof(order), MSG_TRUNC)))
		return complain("no order of this release of baleen, which starts this program");
	if (confine_work(order.max_bytes, order.verb == BALEEN_FETCH_UNPACK ?
						  UNPACK_S :
						  order.timeout_ms / 1000 + 2))
		return complain("cannot bound what it writes");
	if (order.verb == BALEEN_FETCH_UNPACK)
		unpack(&order, &report);
	else if (order.verb == BALEEN_FETCH_RESOLVE)
		resolve_name(&order, BALEEN_HELPER_BODY, &report);
	else
		transfer_document(&order, BALEEN_HELPER_BODY, report_progress, &report);
	return !send_report(&report);
}
