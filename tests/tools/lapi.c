// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The part of CrowdSec's local API that bouncers ask: lapi DIR KEY
 *
 *      GET /v1/decisions/stream?startup=true     the file DIR/startup
 *      GET /v1/decisions/stream                  the file DIR/next, until an answer with
 *                                                it went out whole; then nothing new
 *
 * Listens on 127.0.0.1 and prints its port, then a line for each request; ends when
 * its input does. The files are as https://docs.crowdsec.net/docs/local_api/bouncers/
 * and CrowdSec's own API have it: {"new": [DECISION...], "deleted": [DECISION...]}.
 */
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <microhttpd.h>

static const char *directory, *key;

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      struct MHD_Response *response)
{
	enum MHD_Result result;

	MHD_add_response_header(response, "Content-Type", "application/json");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned int status,
				   const char *text)
{
	return answer(connection, status,
		      MHD_create_response_from_buffer(strlen(text), (void *)text,
						      MHD_RESPMEM_PERSISTENT));
}

/* Takes DIR/next away, unless the test has put another one there meanwhile. */
static void on_completed(void *data, struct MHD_Connection *connection, void **context,
			 enum MHD_RequestTerminationCode how)
{
	char path[4096];
	struct stat now;

	snprintf(path, sizeof(path), "%s/next", directory);
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK && *context && !stat(path, &now) &&
	    now.st_ino == (ino_t)(uintptr_t)*context)
		unlink(path);
}

static enum MHD_Result answer_file(struct MHD_Connection *connection, const char *name,
				   void **context)
{
	char path[4096], *text;
	struct stat file;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &file))
		return answer_text(connection, MHD_HTTP_OK, "{\"new\": null, \"deleted\": null}");
	text = malloc(file.st_size + 1);
	if (!text || read(fd, text, file.st_size) != file.st_size)
		err(1, "%s", path);
	close(fd);
	*context = (void *)(uintptr_t)file.st_ino;
	return answer(connection, MHD_HTTP_OK,
		      MHD_create_response_from_buffer(file.st_size, text, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_bytes, void **context)
{
	const char *given = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "X-Api-Key");
	const char *startup =
		MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "startup");
	bool is_start = startup && !strcmp(startup, "true");
	void *none;

	if (strcmp(method, "GET") || strcmp(url, "/v1/decisions/stream"))
		return answer_text(connection, MHD_HTTP_NOT_FOUND, "{}");
	if (!given || strcmp(given, key))
		return answer_text(connection, MHD_HTTP_FORBIDDEN,
				   "{\"message\": \"access forbidden\"}");
	printf("%s\n", is_start ? "startup" : "stream");
	fflush(stdout);
	return is_start ? answer_file(connection, "startup", &none) :
			  answer_file(connection, "next", context);
}

int main(int argc, char **argv)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const union MHD_DaemonInfo *info;
	struct MHD_Daemon *server;

	if (argc != 3)
		errx(2, "usage: lapi DIR KEY");
	directory = argv[1];
	key = argv[2];
	server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, on_request, NULL,
				  MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED,
				  on_completed, NULL, MHD_OPTION_END);
	info = server ? MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT) : NULL;
	if (!info)
		errx(1, "cannot listen");
	printf("%u\n", info->port);
	fflush(stdout);
	while (getchar() != EOF)
		;
	MHD_stop_daemon(server);
	return 0;
}
