// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A cache digest over HTTP, as Squid fetches it. */
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/icp/icp_serve.h"
#include "daemon/digest_server.h"
#include "daemon/http_listen.h"
#include "net/listen_address.h"
#include "util/clock.h"

#define BUFFER_BYTES 65536

/* A digest of a million entries needs 20 kbit/s. */
#define DEADLINE_MS 300000

static const struct http_limits limits = {
	.n_clients = 256,
	.n_of_address = 16,
	.silence_s = 30,
	.deadline_ms = DEADLINE_MS,
};

/* Room for a date of RFC 7231. */
#define DATE_TEXT 32

/**
 * struct transfer - a digest that is sent to a client
 * @server: the server
 * @connection: to the client
 * @document: the digest
 * @has_paused: the pause has begun
 * @is_suspended: the pause has not ended
 * @resume_at_ms: end of the pause
 * @next: the next transfer
 * @before: the pointer to this transfer
 */
struct transfer {
	struct server *server;
	struct MHD_Connection *connection;
	struct digest_document *document;
	bool has_paused;
	bool is_suspended;
	u64 resume_at_ms;
	struct transfer *next;
	struct transfer **before;
};

/**
 * struct server - the server while it runs
 * @how: the options
 * @http: what listens
 * @transfers: the open ones
 * @is_ending: no more pauses
 */
struct server {
	const struct digest_server *how;
	struct http_server http;
	struct transfer *transfers;
	bool is_ending;
};

static void complain_listen(const struct digest_server *server, int err)
{
	char text[BALEEN_LISTEN_TEXT];

	complain("cannot listen on %s: %s%s",
		 baleen_listen_format(&server->address, baleen_listen_port(&server->address), text),
		 strerror(err),
		 err == EACCES ? ": a port below 1024 takes root or CAP_NET_BIND_SERVICE" : "");
}

/* --- the body --------------------------------------------------------------------- */

/* Sends what the library or the kernel holds back: TCP_NODELAY sends waiting data, corked or
 * not (tcp(7)).
 */
static void flush(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	int on = 1;

	if (info)
		setsockopt(info->connect_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static ssize_t next_piece(void *data, uint64_t at, char *buffer, size_t room)
{
	struct transfer *transfer = data;
	const struct digest_document *document = transfer->document;
	u64 end = at < BALEEN_DIGEST_HEAD_BYTES ? BALEEN_DIGEST_HEAD_BYTES : document->n_bytes;
	size_t n = end - at < room ? end - at : room;

	if (at >= BALEEN_DIGEST_HEAD_BYTES && !transfer->has_paused &&
	    !transfer->server->is_ending) {
		flush(transfer->connection);
		transfer->has_paused = transfer->is_suspended = true;
		transfer->resume_at_ms = baleen_monotonic_ms() + transfer->server->how->pause_ms;
		MHD_suspend_connection(transfer->connection);
		return 0;
	}
	memcpy(buffer, (const char *)document->bytes + at, n);
	return n;
}

static void free_transfer(void *data)
{
	struct transfer *transfer = data;

	*transfer->before = transfer->next;
	if (transfer->next)
		transfer->next->before = transfer->before;
	digest_document_put(transfer->document);
	free(transfer);
}

static struct MHD_Response *transfer_of(struct server *server, struct MHD_Connection *connection,
					struct digest_document *document)
{
	struct transfer *transfer = calloc(1, sizeof(*transfer));
	struct MHD_Response *response = NULL;

	if (transfer)
		response = MHD_create_response_from_callback(document->n_bytes, BUFFER_BYTES,
							     next_piece, transfer, free_transfer);
	if (!response) {
		digest_document_put(document);
		free(transfer);
		return NULL;
	}
	*transfer = (struct transfer){
		.server = server,
		.connection = connection,
		.document = document,
		.has_paused = !server->how->pause_ms,
		.next = server->transfers,
		.before = &server->transfers,
	};
	if (transfer->next)
		transfer->next->before = &transfer->next;
	server->transfers = transfer;
	return response;
}

/* --- requests ---------------------------------------------------------------------- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned int status,
				   const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);

	if (response) {
		MHD_add_response_header(response, "Content-Type", "text/plain");
		if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
			MHD_add_response_header(response, "Allow", "GET, HEAD");
	}
	return answer(connection, status, response);
}

/* Writes a date of HTTP, which has English names in every locale. */
static void format_date(time_t when, char *text)
{
	struct tm parts;

	gmtime_r(&when, &parts);
	strftime(text, DATE_TEXT, "%a, %d %b %Y %H:%M:%S GMT", &parts);
}

static bool is_unmodified(struct MHD_Connection *connection, time_t modified_s)
{
	const char *since =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-Modified-Since");
	struct tm parts = { 0 };
	const char *end;

	if (!since)
		return false;
	end = strptime(since, "%a, %d %b %Y %H:%M:%S GMT", &parts);
	return end && !*end && timegm(&parts) >= modified_s;
}

static enum MHD_Result answer_digest(struct server *server, struct MHD_Connection *connection)
{
	struct digest_document *document = digest_maker_collect(server->how->maker);
	struct MHD_Response *response;
	u32 status = MHD_HTTP_OK;
	char date[DATE_TEXT];
	time_t modified_s;

	if (!document)
		return answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				   "the filter cannot be read\n");
	modified_s = document->modified_s;
	if (is_unmodified(connection, modified_s)) {
		digest_document_put(document);
		status = MHD_HTTP_NOT_MODIFIED;
		response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	} else {
		response = transfer_of(server, connection, document);
	}
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", "application/cache-digest");
	format_date(modified_s, date);
	MHD_add_response_header(response, "Last-Modified", date);
	format_date(time(NULL) + server->how->max_age_s, date);
	MHD_add_response_header(response, "Expires", date);
	return answer(connection, status, response);
}

static bool is_digest(const char *url)
{
	const char *name = strrchr(DIGEST_PATH, '/');
	size_t n_url = strlen(url), n_name = strlen(name);

	return n_url >= n_name && !strcmp(url + n_url - n_name, name);
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_bytes, void **context)
{
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
	if (!is_digest(url))
		return answer_text(connection, MHD_HTTP_NOT_FOUND,
				   "the digest is at " DIGEST_PATH "\n");
	return answer_digest(data, connection);
}

/* --- the loop ---------------------------------------------------------------------- */

/* Resumes transfers whose pause is over, or all; returns the time to the next one, or -1. */
static int resume(struct server *server, bool all)
{
	u64 now_ms = baleen_monotonic_ms(), wait_ms = UINT64_MAX;

	for (struct transfer *transfer = server->transfers; transfer; transfer = transfer->next) {
		if (!transfer->is_suspended)
			continue;
		if (all || transfer->resume_at_ms <= now_ms) {
			transfer->is_suspended = false;
			MHD_resume_connection(transfer->connection);
			wait_ms = 0;
		} else if (transfer->resume_at_ms - now_ms < wait_ms) {
			wait_ms = transfer->resume_at_ms - now_ms;
		}
	}
	return wait_ms == UINT64_MAX ? -1 : (int)wait_ms;
}

static int loop(struct server *server, int epoll_fd, int signal_fd)
{
	struct pollfd polled[] = {
		{ .fd = epoll_fd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
	};

	while (!polled[1].revents) {
		int http_ms = http_run(&server->http), wait_ms = resume(server, false);

		if (http_ms >= 0 && (wait_ms < 0 || http_ms < wait_ms))
			wait_ms = http_ms;
		if (poll(polled, 2, wait_ms) < 0 && errno != EINTR) {
			complain("cannot wait for clients: %m");
			return EXIT_FAILED;
		}
	}
	return 0;
}

static int open_signals(void)
{
	sigset_t blocked;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	return signalfd(-1, &blocked, SFD_CLOEXEC);
}

static int run(struct server *server,
	       void (*on_ready)(const struct digest_server *server, u32 port))
{
	const union MHD_DaemonInfo *epoll =
		MHD_get_daemon_info(server->http.http, MHD_DAEMON_INFO_EPOLL_FD);
	const union MHD_DaemonInfo *port =
		MHD_get_daemon_info(server->http.http, MHD_DAEMON_INFO_BIND_PORT);
	int signal_fd = open_signals(), err;

	if (!epoll || !port || signal_fd < 0) {
		complain("cannot wait for clients: %m");
		return EXIT_FAILED;
	}
	on_ready(server->how, port->port);
	err = loop(server, epoll->epoll_fd, signal_fd);
	close(signal_fd);
	/* The library does not stop while connections are suspended. */
	server->is_ending = true;
	resume(server, true);
	MHD_run(server->http.http);
	return err;
}

int digest_serve(const struct digest_server *how,
		 void (*on_ready)(const struct digest_server *server, u32 port))
{
	struct server server = { .how = how };
	struct http_limits with_pause = limits;
	int err;

	with_pause.deadline_ms += how->pause_ms;
	err = http_listen(&server.http, &how->address, &with_pause, MHD_ALLOW_SUSPEND_RESUME,
			  on_request, &server);
	if (err) {
		complain_listen(how, -err);
		return EXIT_FAILED;
	}
	err = run(&server, on_ready);
	http_end(&server.http);
	return err;
}
