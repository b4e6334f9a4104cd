// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics over HTTP on loopback, and as a file for node_exporter. */
#include <errno.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/epoll.h>
#include <syslog.h>

#include "daemon.h"
#include "daemon/http_listen.h"
#include "net/listen_address.h"
#include "release.h"

#define TEXTFILE_US 15000000ull

/* Prometheus waits for 10 seconds, unless it is told otherwise. */
static const struct http_limits limits = {
	.n_clients = 32,
	.n_of_address = 8,
	.silence_s = 5,
	.deadline_ms = 10000,
};

static const struct baleen_metrics_release release = { .version = BALEEN_RELEASE, .is_set = 1 };

static int collect(struct daemon *daemon, struct baleen_metrics_source *source,
		   struct baleen_error *error)
{
	*source = (struct baleen_metrics_source){ .release = &release, .daemon = &daemon->me };
	return baleen_metrics_collect(source, NULL, 0, &daemon->counts, error);
}

/* --- file ------------------------------------------------------------------ */

static int write_file(sd_event_source *timer, uint64_t usec, void *data)
{
	struct daemon *daemon = data;
	struct baleen_metrics_source source;
	struct baleen_error error;
	int err = collect(daemon, &source, &error);

	if (!err)
		err = baleen_metrics_write(&source, BALEEN_METRICS_PROMETHEUS,
					   daemon->options.textfile, BALEEN_OUTPUT_NAMED, &error);
	if (err)
		notify(daemon, LOG_ERR, NULL, "%s", error.text);
	baleen_metrics_free(&source);
	timer_set(timer, TEXTFILE_US);
	return 0;
}

/* --- HTTP ------------------------------------------------------------------ */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      const char *type, char *text, size_t n_bytes,
			      enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(n_bytes, text, mode);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", type);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_metrics(struct daemon *daemon, struct MHD_Connection *connection)
{
	enum baleen_metrics_format format = baleen_metrics_accepted(
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept"));
	struct baleen_metrics_source source;
	struct baleen_error error;
	size_t n_bytes = 0;
	char *text = NULL;
	int err = collect(daemon, &source, &error);

	if (!err)
		err = baleen_metrics_format(&source, format, &text, &n_bytes, &error);
	baleen_metrics_free(&source);
	if (!err)
		return answer(connection, MHD_HTTP_OK, baleen_metrics_content_type(format), text,
			      n_bytes, MHD_RESPMEM_MUST_FREE);
	notify(daemon, LOG_ERR, NULL, "%s", error.text);
	return answer(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "text/plain", error.text,
		      strlen(error.text), MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_bytes, void **context)
{
	static char where[] = "metrics are at /metrics\n", how[] = "GET only\n";

	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", how,
			      sizeof(how) - 1, MHD_RESPMEM_PERSISTENT);
	if (strcmp(url, "/metrics"))
		return answer(connection, strcmp(url, "/") ? MHD_HTTP_NOT_FOUND : MHD_HTTP_OK,
			      "text/plain", where, sizeof(where) - 1, MHD_RESPMEM_PERSISTENT);
	return answer_metrics(data, connection);
}

/* The timer closes slow connections in time, even without other traffic. Without a client
 * there is nothing to wait for.
 */
static void serve(struct daemon *daemon)
{
	int wait_ms = http_run(&daemon->http);

	if (wait_ms >= 0)
		timer_set(daemon->http_timer, wait_ms * 1000ull);
	else
		sd_event_source_set_enabled(daemon->http_timer, SD_EVENT_OFF);
}

static int on_traffic(sd_event_source *source, int fd, uint32_t events, void *data)
{
	serve(data);
	return 0;
}

static int on_silence(sd_event_source *timer, uint64_t usec, void *data)
{
	serve(data);
	return 0;
}

static int listen_http(struct daemon *daemon)
{
	const char *where = daemon->options.listen;
	const union MHD_DaemonInfo *info;
	struct sockaddr_storage address;
	int err;

	if (!baleen_listen_parse(where, NULL, &address)) {
		notify(daemon, LOG_ERR, NULL, "--listen '%s': not ADDRESS:PORT or off", where);
		return -EINVAL;
	}
	err = http_listen(&daemon->http, &address, &limits, 0, on_request, daemon);
	if (err) {
		/* Go on without metrics: bans must still expire. */
		errno = -err;
		notify(daemon, LOG_ERR, NULL, "cannot serve metrics at %s: %m", where);
		return 0;
	}
	info = MHD_get_daemon_info(daemon->http.http, MHD_DAEMON_INFO_EPOLL_FD);
	err = timer_make(daemon, &daemon->http_timer, 0, on_silence);
	if (err >= 0)
		err = sd_event_add_io(daemon->event, NULL, info->epoll_fd, EPOLLIN, on_traffic,
				      daemon);
	return err < 0 ? err : 0;
}

int http_start(struct daemon *daemon)
{
	sd_event_source *timer = NULL;
	int err = 0;

	if (daemon->options.textfile)
		err = timer_make(daemon, &timer, 0, write_file);
	if (err >= 0 && daemon->options.listen)
		err = listen_http(daemon);
	return err < 0 ? err : 0;
}

void http_stop(struct daemon *daemon)
{
	http_end(&daemon->http);
}
