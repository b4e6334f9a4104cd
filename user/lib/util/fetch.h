/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A document from a web server, whole or not at all.
 *
 * http and https only, also where a server redirects to (five times at most),
 * and from https never back to http. Certificates are verified. Proxies are
 * those of the environment (http_proxy, https_proxy, no_proxy). Neither
 * ~/.netrc nor cookies are used. A name or a redirection leads to public addresses
 * only, and to private networks where the request says so; the URL itself may name any
 * address, and so may a proxy (fetch/addresses.h).
 *
 * The program baleen-fetch does it (util/helper.h); nothing that a server sends is
 * looked at here.
 *
 * A body compressed by gzip (Content-Encoding) is unpacked on the way. A
 * body that is shorter than its Content-Length, lacks its last chunk or the end
 * of its gzip stream is a failure. So is every status but 200 and 304.
 */
#ifndef BALEEN_FETCH_H
#define BALEEN_FETCH_H

#include <baleen/port.h>

#include "util/error.h"
#include "util/fetch_access.h"

#define BALEEN_FETCH_MAX_BYTES (256ull << 20)

/**
 * struct baleen_fetch_request - the document to fetch, and how patiently
 * @url: http:// or https://
 * @fd: descriptor of a file open for writing, where the body goes: it is cut to 0 bytes
 *      before each attempt, so it is not to be the last good copy; left at its
 *      end
 * @etag: ETag of the copy at hand, or NULL
 * @last_modified: date of the copy at hand as the server put it, or NULL
 * @access: secrets for the host of @url, or NULL
 * @may_be_private: names and redirections may lead to private networks
 * @connect_timeout_ms: time limit of an attempt until the connection stands, TLS included
 * @timeout_ms: time limit of all attempts and the pauses between them
 * @stall_s: seconds without data after which an attempt is given up
 * @max_bytes: limit of the body, unpacked
 * @n_retries: further attempts after errors of transport, status 429 and 5xx
 * @pause_ms: before the first retry, doubled before each further one; of it
 *            between a half and all is taken at random. A server that asks for
 *            more (Retry-After) gets up to 60 s
 * @on_progress: called about once a second and as data comes in, with the bytes
 *               received and how many there are to be, or 0 when unknown; may
 *               be NULL
 * @data: passed to @on_progress
 */
struct baleen_fetch_request {
	const char *url;
	int fd;
	const char *etag;
	const char *last_modified;
	const struct baleen_fetch_access *access;
	bool may_be_private;
	u32 connect_timeout_ms;
	u32 timeout_ms;
	u32 stall_s;
	u64 max_bytes;
	u32 n_retries;
	u32 pause_ms;
	void (*on_progress)(void *data, u64 n_received, u64 n_total);
	void *data;
};

/**
 * struct baleen_fetch_result - the outcome of a fetch
 * @is_unchanged: the copy at hand is current; nothing was written
 * @n_bytes: length of the body as written
 * @n_attempts: 1 or more
 * @etag: to be sent next time, or ""
 * @last_modified: likewise
 *
 * When nothing changed, the validators are those of the request unless the
 * server sent newer ones.
 */
struct baleen_fetch_result {
	bool is_unchanged;
	u64 n_bytes;
	u32 n_attempts;
	char etag[BALEEN_FETCH_VALIDATOR];
	char last_modified[BALEEN_FETCH_VALIDATOR];
};

/**
 * baleen_fetch_defaults() - a request with the usual limits
 * @url: becomes its url
 * @fd: becomes its fd
 *
 * 10 s to connect, 120 s in all, 20 s without data, 256 MB, three retries after
 * pauses from 1 s.
 *
 * Return: the request.
 */
struct baleen_fetch_request baleen_fetch_defaults(const char *url, int fd);

/**
 * baleen_fetch() - fetch a document, or learn that it has not changed
 * @request: the request
 * @result: filled in; untouched on failure
 * @error: filled in on failure: names the server's document and the cause
 *
 * Ends early when a signal is pending that the caller blocked. After a failure
 * the file holds anything.
 *
 * Return: 0; -EINVAL for a URL or a redirection that is refused; -E2BIG above
 * @request->max_bytes; -ETIMEDOUT; -EINTR; -ENOMEM; -ENOENT without
 * baleen-fetch; the negative errno of a failed write; -EIO for all else.
 */
int baleen_fetch(const struct baleen_fetch_request *request, struct baleen_fetch_result *result,
		 struct baleen_error *error);

#endif /* BALEEN_FETCH_H */
