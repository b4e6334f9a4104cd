/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between baleen and its helper baleen-fetch, over a socket of packets: one order,
 * then reports of progress, then the last report.
 *
 * Neither goes to a file or to another host. The helper reads what strangers send, so
 * whoever takes a report from it trusts no text and no number in it.
 */
#ifndef BALEEN_FETCH_WIRE_H
#define BALEEN_FETCH_WIRE_H

#include <baleen/port.h>

/* Room for an ETag or a date; a longer one is not kept. */
#define BALEEN_FETCH_VALIDATOR 256
#define BALEEN_FETCH_URL 4096
#define BALEEN_FETCH_HEADERS 4096
#define BALEEN_FETCH_USER 512
/* Most addresses of a name. */
#define BALEEN_RESOLVE_MAX 64

/* Descriptors of the helper: orders and reports, where the bytes go, and what is packed. */
enum {
	BALEEN_HELPER_SOCKET = 0,
	BALEEN_HELPER_BODY = 1,
	BALEEN_HELPER_PACKED = 3,
};

enum baleen_fetch_verb {
	BALEEN_FETCH_DOCUMENT = 1,
	BALEEN_FETCH_UNPACK = 2,
	BALEEN_FETCH_RESOLVE = 3,
};

/**
 * struct baleen_fetch_order - the work for the helper
 * @verb: enum baleen_fetch_verb; to unpack, of the rest only @max_bytes is asked; to resolve,
 *        only that, @timeout_ms, and @url, which is a name
 * @connect_timeout_ms: as in struct baleen_fetch_request, and so are the others of its names
 * @timeout_ms: likewise
 * @stall_s: likewise
 * @n_retries: likewise
 * @pause_ms: likewise
 * @may_be_private: likewise
 * @max_bytes: likewise
 * @url: with its secrets, which is why no order is an argument of a command
 * @etag: or ""
 * @last_modified: or ""
 * @headers: further ones, a line each, for the host of @url only
 * @user: NAME:PASSWORD for that host; ""
 */
struct baleen_fetch_order {
	u32 verb;
	u32 connect_timeout_ms;
	u32 timeout_ms;
	u32 stall_s;
	u32 n_retries;
	u32 pause_ms;
	u32 may_be_private;
	u64 max_bytes;
	char url[BALEEN_FETCH_URL];
	char etag[BALEEN_FETCH_VALIDATOR];
	char last_modified[BALEEN_FETCH_VALIDATOR];
	char headers[BALEEN_FETCH_HEADERS];
	char user[BALEEN_FETCH_USER];
};

/**
 * struct baleen_fetch_report - how far the work is, or how it ended
 * @is_last: nothing comes after it; before, only the next two are set
 * @n_received: bytes received
 * @n_total: how many there are to be; 0 when unknown
 * @err: 0 or a negative errno
 * @n_attempts: 1 or more
 * @is_unchanged: nothing was written
 * @n_bytes: length of the body as written
 * @etag: or ""
 * @last_modified: or ""
 * @text: why not; after the name of the document when a document was ordered
 */
struct baleen_fetch_report {
	u32 is_last;
	int err;
	u64 n_received;
	u64 n_total;
	u32 n_attempts;
	u32 is_unchanged;
	u64 n_bytes;
	char etag[BALEEN_FETCH_VALIDATOR];
	char last_modified[BALEEN_FETCH_VALIDATOR];
	char text[768];
};

#endif /* BALEEN_FETCH_WIRE_H */
