// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A document from a web server: the attempts, the redirections, the end. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "fetch/request.h"
#include "fetch/transfer.h"
#include "fetch/unpacker.h"
#include "util/clock.h"

#define MAX_RETRY_AFTER_S 60
#define MAX_DOUBLED 10

/**
 * struct transfer - a fetch under way
 * @order: the order
 * @fd: where the body goes
 * @on_progress: who is told
 * @report: the last report
 * @request: the request
 * @deadline_ms: when all attempts must be over
 * @n_attempts: so far
 * @can_retry: the last failure may pass by itself
 * @retry_after_s: how long the server asked to wait
 * @has_body: the first byte of the body has come
 * @is_packed: the body is gzip
 * @unpacker: where the body goes
 * @resume_at: the bytes of the last attempts that the next goes on behind; 0 to begin anew
 * @etag: of the document that they are of
 * @n_whole: its length, once the rest comes
 * @body_err: error of the body, a negative errno
 * @body_reason: the same for a person
 * @curl_text: curl's message
 */
struct transfer {
	const struct baleen_fetch_order *order;
	int fd;
	bool (*on_progress)(u64 n_received, u64 n_total);
	struct baleen_fetch_report *report;
	struct request request;
	u64 deadline_ms;
	u32 n_attempts;
	bool can_retry;
	u64 retry_after_s;
	bool has_body;
	bool is_packed;
	struct baleen_unpacker unpacker;
	u64 resume_at;
	char etag[BALEEN_FETCH_VALIDATOR];
	u64 n_whole;
	int body_err;
	const char *body_reason;
	char curl_text[CURL_ERROR_SIZE];
};

static u64 left_ms(const struct transfer *transfer)
{
	u64 now = baleen_monotonic_ms();

	return now < transfer->deadline_ms ? transfer->deadline_ms - now : 0;
}

__attribute__((format(printf, 3, 4))) static int fail(struct transfer *transfer, int code,
						      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(transfer->report->text, sizeof(transfer->report->text), format, arguments);
	va_end(arguments);
	return -code;
}

/* --- the body as it comes --- */

static long status_of(const struct transfer *transfer)
{
	long status = 0;

	curl_easy_getinfo(transfer->request.curl, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* This answer is of another document than what the last attempts left, or may be. */
static int begin_anew(struct transfer *transfer)
{
	transfer->resume_at = transfer->unpacker.n_bytes = 0;
	return ftruncate(transfer->fd, 0) || lseek(transfer->fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

/* All that is missing, of the same document. */
static bool is_rest(const struct transfer *transfer, u64 *n_whole)
{
	const struct request *request = &transfer->request;
	unsigned long long from, to, n = 0;
	bool is_it = transfer->resume_at && !request->n_redirections &&
		     !strcmp(request_header(request, "ETag"), transfer->etag) &&
		     !*request_header(request, "Content-Encoding") &&
		     sscanf(request_header(request, "Content-Range"), "bytes %llu-%llu/%llu", &from,
			    &to, &n) == 3 &&
		     from == transfer->resume_at && to >= from && to == n - 1;

	*n_whole = n;
	return is_it;
}

static int start_rest(struct transfer *transfer)
{
	transfer->has_body = true;
	if (is_rest(transfer, &transfer->n_whole))
		return 0;
	transfer->body_reason = "is continued with another part than was asked for";
	return -EIO;
}

/* Whether it is packed is said once. */
static int start_body(struct transfer *transfer)
{
	const char *encoding = request_header(&transfer->request, "Content-Encoding");
	int err;

	if (status_of(transfer) == 206)
		return start_rest(transfer);
	err = begin_anew(transfer);
	if (err) {
		transfer->body_reason = "cannot be stored";
		return err;
	}
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
	long status = status_of(transfer);
	int err = 0;

	/* The page that comes with a redirection is nobody's. */
	if (status / 100 == 3)
		return n;
	if (status != 200 && (status != 206 || !transfer->resume_at))
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

	return !transfer->on_progress(n_received, n_total);
}

/* --- how it ended --- */

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
	case CURLE_URL_MALFORMAT: return EINVAL;
	case CURLE_OPERATION_TIMEDOUT: return ETIMEDOUT;
	case CURLE_ABORTED_BY_CALLBACK: return EINTR;
	case CURLE_OUT_OF_MEMORY: return ENOMEM;
	default: return EIO;
	}
}

static int fail_curl(struct transfer *transfer, CURLcode code)
{
	transfer->can_retry = is_passing(code);
	if (code == CURLE_FILESIZE_EXCEEDED)
		return fail(transfer, E2BIG, "is larger than the limit of %llu bytes",
			    (unsigned long long)transfer->order->max_bytes);
	if (code == CURLE_TOO_MANY_REDIRECTS)
		return fail(transfer, EINVAL, "Maximum (5) redirects followed");
	return fail(transfer, errno_of(code), "%s",
		    *transfer->curl_text ? transfer->curl_text : curl_easy_strerror(code));
}

/* Another attempt would end the same way. */
static int fail_refused(struct transfer *transfer)
{
	static const char *const allowed_by[] = {
		[ADDRESS_PRIVATE] =
			"is not public: the word 'private' behind the feed's URL allows it",
		[ADDRESS_THIS_HOST] = "is this host: only a URL with an address of it leads there",
		[ADDRESS_LINK_LOCAL] = "is link-local, or what a cloud tells its instances: only a "
				       "URL with this address leads there",
	};
	const struct request *request = &transfer->request;

	return fail(transfer, EACCES, "refused: its name or a redirection leads to %s, which %s",
		    request->refused_address, allowed_by[request->refused]);
}

static int fail_status(struct transfer *transfer, long status)
{
	curl_off_t wait_s = 0;

	curl_easy_getinfo(transfer->request.curl, CURLINFO_RETRY_AFTER, &wait_s);
	transfer->retry_after_s = wait_s > 0 ? wait_s : 0;
	transfer->can_retry =
		(status >= 500 || status == 429) && transfer->retry_after_s <= MAX_RETRY_AFTER_S;
	if (transfer->retry_after_s > MAX_RETRY_AFTER_S)
		return fail(transfer, EIO, "HTTP status %ld: asks to come back in %llu s", status,
			    (unsigned long long)transfer->retry_after_s);
	return fail(transfer, EIO, "HTTP status %ld", status);
}

static int fail_body(struct transfer *transfer)
{
	int err = transfer->body_err;

	if (err == -E2BIG)
		return fail(transfer, E2BIG, "%s of %llu bytes", transfer->body_reason,
			    (unsigned long long)transfer->order->max_bytes);
	/* The body of the server is bad, not the request. */
	if (err == -EINVAL || err == -EIO)
		return fail(transfer, EIO, "%s", transfer->body_reason);
	return fail(transfer, -err, "%s: %s", transfer->body_reason, strerror(-err));
}

/* Without validators there is no copy that could be unchanged. */
static bool is_conditional(const struct baleen_fetch_order *order)
{
	return *order->etag || *order->last_modified;
}

/* A rest without a length of its own may end early. */
static int judge_rest(struct transfer *transfer)
{
	if (transfer->unpacker.n_bytes == transfer->n_whole)
		return 0;
	transfer->can_retry = true;
	return fail(transfer, EIO, "has %llu bytes, not %llu",
		    (unsigned long long)transfer->unpacker.n_bytes,
		    (unsigned long long)transfer->n_whole);
}

/* @is_cut: a packed body that did not come to its end */
static int judge(struct transfer *transfer, CURLcode code, bool is_cut)
{
	long status = status_of(transfer);

	if (transfer->body_err)
		return fail_body(transfer);
	if (code && transfer->request.refused)
		return fail_refused(transfer);
	if (code == CURLE_HTTP_RETURNED_ERROR || (code == CURLE_WRITE_ERROR && status != 200))
		return fail_status(transfer, status);
	if (code)
		return fail_curl(transfer, code);
	if (status == 206 && transfer->has_body)
		return judge_rest(transfer);
	if (status != 200 && (status != 304 || !is_conditional(transfer->order)))
		return fail_status(transfer, status);
	if (is_cut) {
		transfer->can_retry = true;
		return fail(transfer, EIO, "gzip cut short");
	}
	return 0;
}

/* --- attempts --- */

/* Keeps only text that can be sent back as a header. */
static void keep_validator(char *kept, const char *sent, const char *had)
{
	const char *end;

	if (!*sent)
		sent = had;
	for (end = sent; *end >= ' ' && *end <= '~'; end++)
		continue;
	snprintf(kept, BALEEN_FETCH_VALIDATOR, "%s",
		 *end || strlen(sent) >= BALEEN_FETCH_VALIDATOR ? "" : sent);
}

/* A weak ETag may be that of other bytes, and behind a redirection is another server each time. */
static bool is_resumable(const struct transfer *transfer)
{
	return *transfer->etag == '"' && !transfer->is_packed && !transfer->request.n_redirections;
}

/* A part that did not suit, or that the server does not have: all of it is asked for once more. A
 * failure without a body leaves what there is.
 */
static void find_resume(struct transfer *transfer)
{
	long status = status_of(transfer);

	if (transfer->resume_at &&
	    (status == 416 ||
	     (status == 206 && transfer->unpacker.n_bytes == transfer->resume_at))) {
		transfer->can_retry = true;
		transfer->resume_at = 0;
	} else if (transfer->has_body) {
		keep_validator(transfer->etag, request_header(&transfer->request, "ETag"), "");
		transfer->resume_at = is_resumable(transfer) ? transfer->unpacker.n_bytes : 0;
	}
}

static int start_attempt(struct transfer *transfer)
{
	int err;

	if (request_from(&transfer->request, transfer->resume_at, transfer->etag))
		return -ENOMEM;
	transfer->n_attempts++;
	transfer->can_retry = false;
	transfer->retry_after_s = 0;
	transfer->has_body = false;
	transfer->is_packed = false;
	transfer->body_err = 0;
	transfer->curl_text[0] = '\0';
	/* 0 would be no limit. */
	curl_easy_setopt(transfer->request.curl, CURLOPT_TIMEOUT_MS, (long)left_ms(transfer) + 1);
	err = baleen_unpacker_start(&transfer->unpacker, transfer->fd, transfer->order->max_bytes);
	if (err || !transfer->resume_at)
		return err ? err : begin_anew(transfer);
	transfer->unpacker.n_bytes = transfer->resume_at;
	return 0;
}

static int attempt(struct transfer *transfer)
{
	int err = start_attempt(transfer), cut;
	CURLcode code;

	if (err)
		return fail(transfer, -err, "cannot be stored: %s", strerror(-err));
	code = request_ask(&transfer->request);
	cut = baleen_unpacker_end(&transfer->unpacker);
	err = judge(transfer, code, transfer->is_packed && cut);
	if (err)
		find_resume(transfer);
	else if (!transfer->has_body && begin_anew(transfer))
		err = fail(transfer, errno, "cannot be stored: %m");
	return err;
}

/* Half of it is chance, so that those who failed together do not come back so. */
static u64 pause_before_retry(const struct transfer *transfer)
{
	u32 n_doubled =
		transfer->n_attempts - 1 < MAX_DOUBLED ? transfer->n_attempts - 1 : MAX_DOUBLED;
	u64 pause = (u64)transfer->order->pause_ms << n_doubled;
	u64 asked = transfer->retry_after_s * 1000;

	pause = pause / 2 + arc4random_uniform(pause / 2 + 1);
	return pause > asked ? pause : asked;
}

static void pause_for(u64 ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static int attempt_all(struct transfer *transfer)
{
	u32 max_attempts = transfer->order->n_retries + 1;
	int err = attempt(transfer);

	while (err && transfer->can_retry && transfer->n_attempts < max_attempts) {
		u64 pause = pause_before_retry(transfer);

		if (pause >= left_ms(transfer))
			break;
		pause_for(pause);
		err = attempt(transfer);
	}
	return err;
}

/* --- the report --- */

static void report(struct transfer *transfer)
{
	struct baleen_fetch_report *report = transfer->report;
	bool kept = status_of(transfer) == 304;

	report->is_unchanged = kept;
	report->n_bytes = transfer->unpacker.n_bytes;
	keep_validator(report->etag, request_header(&transfer->request, "ETag"),
		       kept ? transfer->order->etag : "");
	keep_validator(report->last_modified, request_header(&transfer->request, "Last-Modified"),
		       kept ? transfer->order->last_modified : "");
}

static void set_callbacks(struct transfer *transfer)
{
	CURL *curl = transfer->request.curl;

	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->curl_text);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, transfer);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

void transfer_document(const struct baleen_fetch_order *order, int body,
		       bool (*on_progress)(u64 n_received, u64 n_total),
		       struct baleen_fetch_report *to)
{
	struct transfer transfer = {
		.order = order,
		.fd = body,
		.on_progress = on_progress,
		.report = to,
		.deadline_ms = baleen_monotonic_ms() + order->timeout_ms,
	};

	*to = (struct baleen_fetch_report){ .is_last = true };
	to->err = curl_global_init(CURL_GLOBAL_DEFAULT) || request_start(&transfer.request, order) ?
			  fail(&transfer, ENOMEM, "no memory to fetch it") :
			  0;
	if (!to->err) {
		set_callbacks(&transfer);
		to->err = attempt_all(&transfer);
	}
	to->n_attempts = transfer.n_attempts;
	if (!to->err)
		report(&transfer);
	request_end(&transfer.request);
	curl_global_cleanup();
}
