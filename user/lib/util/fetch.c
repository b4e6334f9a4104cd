// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A document from a web server, whole or not at all. Above 500 lines: one transfer, with
 * its limits, timeouts and retries, from the URL to the checked file.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "late.h"
#include "release.h"
#include "util/clock.h"
#include "util/curl_calls.h"
#include "util/fetch.h"
#include "util/late_library.h"
#include "util/signals.h"
#include "util/unpack.h"
#include "util/url.h"

#define MAX_REDIRECTS 5L
#define MAX_RETRY_AFTER_S 60
#define MAX_DOUBLED 10
#define STALL_BYTES_PER_S 10L

/**
 * struct transfer - a fetch under way
 * @request: the request
 * @name: its name in messages
 * @curl: the handle
 * @headers: headers of the request
 * @deadline_ms: when all attempts must be over
 * @n_attempts: so far
 * @can_retry: the last failure may pass by itself
 * @retry_after_s: how long the server asked to wait
 * @has_body: the first byte of the body has come
 * @is_packed: the body is gzip
 * @unpacker: where the body goes
 * @body_err: error of the body, a negative errno
 * @body_reason: the same for a person
 * @curl_text: curl's message
 */
struct transfer {
	const struct baleen_fetch_request *request;
	struct baleen_url_name name;
	CURL *curl;
	struct curl_slist *headers;
	u64 deadline_ms;
	u32 n_attempts;
	bool can_retry;
	u64 retry_after_s;
	bool has_body;
	bool is_packed;
	struct baleen_unpacker unpacker;
	int body_err;
	const char *body_reason;
	char curl_text[CURL_ERROR_SIZE];
};

static struct {
	CURL_CALLS(BALEEN_LATE_POINTER)
} lib;

static int load_curl(struct baleen_error *error)
{
	static const char *const names[] = { CURL_CALLS(BALEEN_LATE_NAME) NULL };

	return baleen_late_load(BALEEN_LIBCURL, names, &lib, error);
}

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

/* --- time and signals --- */

static u64 left_ms(const struct transfer *transfer)
{
	u64 now = baleen_monotonic_ms();

	return now < transfer->deadline_ms ? transfer->deadline_ms - now : 0;
}

/* Waits until the time is over or a blocked signal is pending; the signal stays pending. */
static void pause_for(u64 ms)
{
	struct pollfd signals = { .events = POLLIN };
	sigset_t blocked;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	signals.fd = signalfd(-1, &blocked, SFD_CLOEXEC);
	poll(&signals, 1, ms < INT_MAX ? (int)ms : INT_MAX);
	if (signals.fd >= 0)
		close(signals.fd);
}

/* --- the body as it comes --- */

static const char *header_of(CURL *curl, const char *name)
{
	struct curl_header *header;

	return lib.curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header) ? "" : header->value;
}

/* Whether it is packed is said once. */
static int start_body(struct transfer *transfer)
{
	const char *encoding = header_of(transfer->curl, "Content-Encoding");

	transfer->has_body = true;
	transfer->is_packed = !strcasecmp(encoding, "gzip") || !strcasecmp(encoding, "x-gzip");
	if (!*encoding || !strcasecmp(encoding, "identity") || transfer->is_packed)
		return 0;
	transfer->body_reason = "comes in an encoding that was not asked for";
	return -EIO;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *data)
{
	struct transfer *transfer = data;
	long status = 0;
	int err = 0;

	lib.curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200)
		return 0;
	if (!transfer->has_body)
		err = start_body(transfer);
	if (!err)
		err = (transfer->is_packed ? baleen_unpacker_receive :
					     baleen_unpacker_copy)(&transfer->unpacker, bytes, n,
								   &transfer->body_reason);
	transfer->body_err = err;
	return err ? 0 : n;
}

/* curl asks often while data comes, and about once a second otherwise. */
static int on_progress(void *data, curl_off_t n_total, curl_off_t n_received, curl_off_t n_to_send,
		       curl_off_t n_sent)
{
	struct transfer *transfer = data;

	if (baleen_signals_came())
		return 1;
	if (transfer->request->on_progress)
		transfer->request->on_progress(transfer->request->data, n_received, n_total);
	return 0;
}

/* --- an attempt --- */

/* A value that a server sent is sent back to it: it may hold no line end. */
static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return !*text;
}

static int add_header(struct transfer *transfer, const char *name, const char *value)
{
	char header[BALEEN_FETCH_VALIDATOR + 32];
	struct curl_slist *longer;

	if (!value || !*value || !is_plain(value))
		return 0;
	if (snprintf(header, sizeof(header), "%s: %s", name, value) >= (int)sizeof(header))
		return 0;
	longer = lib.curl_slist_append(transfer->headers, header);
	if (!longer)
		return -ENOMEM;
	transfer->headers = longer;
	return 0;
}

static int set_up(struct transfer *transfer)
{
	const struct baleen_fetch_request *request = transfer->request;
	CURL *curl = transfer->curl = lib.curl_easy_init();
	/* From a safe connection a redirection leads to another. */
	const char *protocols = baleen_url_is_https(request->url) ? "https" : "http,https";

	/* Unpacked here: curl does not notice a gzip stream without its end. */
	if (!curl || add_header(transfer, "Accept-Encoding", "gzip") ||
	    add_header(transfer, "If-None-Match", request->etag) ||
	    add_header(transfer, "If-Modified-Since", request->last_modified))
		return -ENOMEM;
	lib.curl_easy_setopt(curl, CURLOPT_HTTP_CONTENT_DECODING, 0L);
	lib.curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->headers);
	lib.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
	lib.curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
	lib.curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
	lib.curl_easy_setopt(curl, CURLOPT_MAXREDIRS, MAX_REDIRECTS);
	lib.curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
	lib.curl_easy_setopt(curl, CURLOPT_USERAGENT, "baleen/" BALEEN_RELEASE);
	lib.curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_timeout_ms);
	lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, STALL_BYTES_PER_S);
	lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)request->stall_s);
	lib.curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)request->max_bytes);
	lib.curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->curl_text);
	lib.curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	lib.curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	lib.curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	lib.curl_easy_setopt(curl, CURLOPT_XFERINFODATA, transfer);
	lib.curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	/* Neither signals for time limits, nor waiting for a resolver that is
	 * beyond them.
	 */
	lib.curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	lib.curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	return lib.curl_easy_setopt(curl, CURLOPT_URL, request->url) ? -ENOMEM : 0;
}

static bool is_passing(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_PARTIAL_FILE:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM: return true;
	default: return false;
	}
}

static int errno_of(CURLcode code)
{
	switch (code) {
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_TOO_MANY_REDIRECTS: return EINVAL;
	case CURLE_OPERATION_TIMEDOUT: return ETIMEDOUT;
	case CURLE_FILESIZE_EXCEEDED: return E2BIG;
	case CURLE_ABORTED_BY_CALLBACK: return EINTR;
	case CURLE_OUT_OF_MEMORY: return ENOMEM;
	default: return EIO;
	}
}

static int fail_curl(struct transfer *transfer, CURLcode code, struct baleen_error *error)
{
	char *text = transfer->curl_text;

	transfer->can_retry = is_passing(code);
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return baleen_fail(error, EINTR, "%s: interrupted", transfer->name.text);
	if (code == CURLE_FILESIZE_EXCEEDED)
		return baleen_fail(error, E2BIG, "%s: is larger than the limit of %llu bytes",
				   transfer->name.text,
				   (unsigned long long)transfer->request->max_bytes);
	/* A server's words may be in it. */
	for (; *text; text++)
		*text = isprint((u8)*text) ? *text : ' ';
	return baleen_fail(error, errno_of(code), "%s: %s", transfer->name.text,
			   *transfer->curl_text ? transfer->curl_text :
						  lib.curl_easy_strerror(code));
}

static int fail_status(struct transfer *transfer, long status, struct baleen_error *error)
{
	curl_off_t wait_s = 0;

	lib.curl_easy_getinfo(transfer->curl, CURLINFO_RETRY_AFTER, &wait_s);
	transfer->retry_after_s = wait_s > 0 ? wait_s : 0;
	transfer->can_retry =
		(status >= 500 || status == 429) && transfer->retry_after_s <= MAX_RETRY_AFTER_S;
	if (transfer->retry_after_s > MAX_RETRY_AFTER_S)
		return baleen_fail(error, EIO, "%s: HTTP status %ld: asks to come back in %llu s",
				   transfer->name.text, status,
				   (unsigned long long)transfer->retry_after_s);
	return baleen_fail(error, EIO, "%s: HTTP status %ld", transfer->name.text, status);
}

static int fail_body(const struct transfer *transfer, struct baleen_error *error)
{
	int err = transfer->body_err;

	if (err == -E2BIG)
		return baleen_fail(error, E2BIG, "%s: %s of %llu bytes", transfer->name.text,
				   transfer->body_reason,
				   (unsigned long long)transfer->request->max_bytes);
	/* The body of the server is bad, not the request. */
	if (err == -EINVAL || err == -EIO)
		return baleen_fail(error, EIO, "%s: %s", transfer->name.text,
				   transfer->body_reason);
	return baleen_fail(error, -err, "%s: %s: %s", transfer->name.text, transfer->body_reason,
			   strerror(-err));
}

/* Without validators there is no copy that could be unchanged. */
static bool is_conditional(const struct baleen_fetch_request *request)
{
	return (request->etag && *request->etag) ||
	       (request->last_modified && *request->last_modified);
}

/* @is_cut: a packed body that did not come to its end */
static int judge(struct transfer *transfer, CURLcode code, bool is_cut, struct baleen_error *error)
{
	long status = 0;

	lib.curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	if (transfer->body_err)
		return fail_body(transfer, error);
	if (code == CURLE_HTTP_RETURNED_ERROR || (code == CURLE_WRITE_ERROR && status != 200))
		return fail_status(transfer, status, error);
	if (code)
		return fail_curl(transfer, code, error);
	if (status != 200 && (status != 304 || !is_conditional(transfer->request)))
		return fail_status(transfer, status, error);
	if (is_cut) {
		transfer->can_retry = true;
		return baleen_fail(error, EIO, "%s: gzip cut short", transfer->name.text);
	}
	return 0;
}

static int start_attempt(struct transfer *transfer)
{
	const struct baleen_fetch_request *request = transfer->request;

	if (ftruncate(request->fd, 0) || lseek(request->fd, 0, SEEK_SET) < 0)
		return -errno;
	transfer->n_attempts++;
	transfer->can_retry = false;
	transfer->retry_after_s = 0;
	transfer->has_body = false;
	transfer->is_packed = false;
	transfer->body_err = 0;
	transfer->curl_text[0] = '\0';
	/* 0 would be no limit. */
	lib.curl_easy_setopt(transfer->curl, CURLOPT_TIMEOUT_MS, (long)left_ms(transfer) + 1);
	return baleen_unpacker_start(&transfer->unpacker, request->fd, request->max_bytes);
}

static int attempt(struct transfer *transfer, struct baleen_error *error)
{
	int err = start_attempt(transfer), cut;
	CURLcode code;

	if (err)
		return baleen_fail(error, -err, "%s: cannot be stored: %s", transfer->name.text,
				   strerror(-err));
	code = lib.curl_easy_perform(transfer->curl);
	cut = baleen_unpacker_end(&transfer->unpacker);
	return judge(transfer, code, transfer->is_packed && cut, error);
}

/* --- all attempts --- */

/* Half of it is chance, so that those who failed together do not come back so. */
static u64 pause_before_retry(const struct transfer *transfer)
{
	u32 n_doubled =
		transfer->n_attempts - 1 < MAX_DOUBLED ? transfer->n_attempts - 1 : MAX_DOUBLED;
	u64 pause = (u64)transfer->request->pause_ms << n_doubled;
	u64 asked = transfer->retry_after_s * 1000;

	pause = pause / 2 + arc4random_uniform(pause / 2 + 1);
	return pause > asked ? pause : asked;
}

static int attempt_all(struct transfer *transfer, struct baleen_error *error)
{
	u32 max_attempts = transfer->request->n_retries + 1;
	int err = attempt(transfer, error);

	while (err && transfer->can_retry && transfer->n_attempts < max_attempts) {
		u64 pause = pause_before_retry(transfer);

		if (pause >= left_ms(transfer))
			break;
		pause_for(pause);
		if (baleen_signals_came())
			return baleen_fail(error, EINTR, "%s: interrupted", transfer->name.text);
		err = attempt(transfer, error);
	}
	return err;
}

static void keep_validator(char *kept, const char *sent, const char *had)
{
	if (!*sent && had)
		sent = had;
	snprintf(kept, BALEEN_FETCH_VALIDATOR, "%s",
		 strlen(sent) < BALEEN_FETCH_VALIDATOR && is_plain(sent) ? sent : "");
}

static void report(const struct transfer *transfer, struct baleen_fetch_result *result)
{
	const struct baleen_fetch_request *request = transfer->request;
	long status = 0;
	bool kept;

	lib.curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	kept = status == 304;
	*result = (struct baleen_fetch_result){
		.is_unchanged = kept,
		.n_bytes = transfer->unpacker.n_bytes,
		.n_attempts = transfer->n_attempts,
	};
	keep_validator(result->etag, header_of(transfer->curl, "ETag"),
		       kept ? request->etag : NULL);
	keep_validator(result->last_modified, header_of(transfer->curl, "Last-Modified"),
		       kept ? request->last_modified : NULL);
}

int baleen_fetch(const struct baleen_fetch_request *request, struct baleen_fetch_result *result,
		 struct baleen_error *error)
{
	struct transfer transfer = {
		.request = request,
		.deadline_ms = baleen_monotonic_ms() + request->timeout_ms,
	};
	int err;

	if (!baleen_url_is(request->url))
		return baleen_fail(error, EINVAL, "'%.64s': neither http:// nor https://",
				   request->url);
	err = load_curl(error);
	if (err)
		return err;
	if (lib.curl_global_init(CURL_GLOBAL_DEFAULT))
		return baleen_fail(error, ENOMEM, "no memory to fetch anything");
	transfer.name = baleen_url_name(request->url);
	err = set_up(&transfer);
	if (err)
		err = baleen_fail(error, -err, "%s: no memory to fetch it", transfer.name.text);
	else
		err = attempt_all(&transfer, error);
	if (!err)
		report(&transfer, result);
	lib.curl_easy_cleanup(transfer.curl);
	lib.curl_slist_free_all(transfer.headers);
	lib.curl_global_cleanup();
	return err;
}
