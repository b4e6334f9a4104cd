// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A server of HTTP that slow clients cannot keep shut. */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/http_listen.h"
#include "util/clock.h"

/* The library does not listen while it is full, and a client that was cut is there until its
 * next round.
 */
#define ROOM 2

/* Full all the same, it starts to listen again in the round after a client left. */
#define FULL_TICK_MS 1000

static int listen_at(const struct sockaddr_storage *address)
{
	const bool is_ip6 = address->ss_family == AF_INET6;
	const int on = 1;
	socklen_t n_bytes = is_ip6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (is_ip6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)address, n_bytes) || listen(fd, SOMAXCONN)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* --- clients ---------------------------------------------------------------------- */

/**
 * struct http_client - a connection
 * @server: its server
 * @fd: its socket
 * @address: whom it counts for
 * @began_ms: when its request began, or the one before ended
 * @is_cut: nothing more is sent or read; the library has not closed it yet
 * @next: the next older one
 * @before: the pointer to this one
 */
struct http_client {
	struct http_server *server;
	int fd;
	u64 address[2];
	u64 began_ms;
	bool is_cut;
	struct http_client *next;
	struct http_client **before;
};

static void reduce_address(const struct sockaddr *from, u64 *address)
{
	const struct sockaddr_in6 *ip6 = (const void *)from;
	const struct sockaddr_in *ip4 = (const void *)from;
	u32 host;

	address[0] = from->sa_family;
	if (from->sa_family == AF_INET6) {
		memcpy(&address[1], &ip6->sin6_addr, sizeof(address[1]));
		return;
	}
	host = ntohl(ip4->sin_addr.s_addr);
	address[1] = host >> 24 == IN_LOOPBACKNET ? IN_LOOPBACKNET : host;
}

/* The library sees the end of the stream, and closes it. */
static void cut(struct http_client *client)
{
	shutdown(client->fd, SHUT_RDWR);
	client->is_cut = true;
}

static bool is_same_address(const struct http_client *a, const struct http_client *b)
{
	return a->address[0] == b->address[0] && a->address[1] == b->address[1];
}

/* Cuts the one that is at its request for longest when there are too many. */
static void make_room(const struct http_server *server, const struct http_client *come)
{
	struct http_client *oldest = NULL, *oldest_same = NULL;
	u32 n = 0, n_same = 0;

	for (struct http_client *at = server->clients; at; at = at->next) {
		bool is_same = is_same_address(at, come);

		if (at->is_cut)
			continue;
		n++;
		n_same += is_same;
		if (at == come)
			continue;
		if (!oldest || at->began_ms <= oldest->began_ms)
			oldest = at;
		if (is_same && (!oldest_same || at->began_ms <= oldest_same->began_ms))
			oldest_same = at;
	}
	if (n_same > server->limits.n_of_address)
		cut(oldest_same);
	else if (n > server->limits.n_clients)
		cut(oldest);
}

static void begin_client(struct http_server *server, struct MHD_Connection *connection,
			 void **context)
{
	struct http_client *client = calloc(1, sizeof(*client));
	const union MHD_ConnectionInfo *info = NULL;

	/* From version 1.0 on each answer of the library takes the place of the one before. */
	if (client)
		info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	if (info) {
		reduce_address(info->client_addr, client->address);
		info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	}
	if (!info) {
		/* It ends after its silence. */
		free(client);
		*context = NULL;
		return;
	}
	*context = client;
	client->server = server;
	client->fd = info->connect_fd;
	client->began_ms = baleen_monotonic_ms();
	client->next = server->clients;
	client->before = &server->clients;
	if (client->next)
		client->next->before = &client->next;
	server->clients = client;
	make_room(server, client);
}

static void end_client(struct http_client *client)
{
	if (!client)
		return;
	*client->before = client->next;
	if (client->next)
		client->next->before = client->before;
	free(client);
}

static void on_connection(void *data, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		begin_client(data, connection, context);
	} else {
		end_client(*context);
		*context = NULL;
	}
}

static void on_completed(void *data, struct MHD_Connection *connection, void **request,
			 enum MHD_RequestTerminationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_client *client = info ? info->socket_context : NULL;

	if (client)
		client->began_ms = baleen_monotonic_ms();
}

/* Return: milliseconds to the next deadline, or -1. */
static int end_overdue(struct http_server *server)
{
	u64 now_ms = baleen_monotonic_ms(), next_ms = UINT64_MAX;

	for (struct http_client *at = server->clients; at; at = at->next) {
		u64 end_ms = at->began_ms + server->limits.deadline_ms;

		if (at->is_cut)
			continue;
		if (end_ms <= now_ms)
			cut(at);
		else if (end_ms - now_ms < next_ms)
			next_ms = end_ms - now_ms;
	}
	return next_ms < INT_MAX ? (int)next_ms : -1;
}

/* --- the server ---------------------------------------------------------------------- */

/* The library can open the socket, too, but from version 1.0 on loses why it could not. */
int http_listen(struct http_server *server, const struct sockaddr_storage *address,
		const struct http_limits *limits, unsigned int flags,
		MHD_AccessHandlerCallback on_request, void *data)
{
	struct MHD_Daemon *started;
	int fd = listen_at(address);

	if (fd < 0)
		return fd;
	server->limits = *limits;
	started = MHD_start_daemon(flags | MHD_USE_EPOLL, 0, NULL, NULL, on_request, data,
				   MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				   limits->n_clients * ROOM, MHD_OPTION_CONNECTION_TIMEOUT,
				   limits->silence_s, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
				   server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
				   MHD_OPTION_END);
	if (!started) {
		close(fd);
		return -ENOMEM;
	}
	server->http = started;
	return 0;
}

static bool is_full(const struct http_server *server)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->http, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info && info->num_connections >= server->limits.n_clients * ROOM;
}

int http_run(struct http_server *server)
{
	MHD_UNSIGNED_LONG_LONG silence_ms;
	int wait_ms;

	MHD_run(server->http);
	wait_ms = end_overdue(server);
	if (MHD_get_timeout(server->http, &silence_ms) == MHD_YES &&
	    (wait_ms < 0 || silence_ms < (u64)wait_ms))
		wait_ms = silence_ms;
	if (is_full(server) && (wait_ms < 0 || wait_ms > FULL_TICK_MS))
		wait_ms = FULL_TICK_MS;
	return wait_ms;
}

void http_end(struct http_server *server)
{
	if (server->http)
		MHD_stop_daemon(server->http);
	server->http = NULL;
}
