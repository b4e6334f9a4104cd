/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A server of HTTP that listens. */
#ifndef BALEEN_DAEMON_HTTP_LISTEN_H
#define BALEEN_DAEMON_HTTP_LISTEN_H

#include <microhttpd.h>
#include <sys/socket.h>

/**
 * http_listen() - start a server whose epoll descriptor the caller waits for
 * @address: where it listens
 * @flags: of MHD_start_daemon(), beside MHD_USE_EPOLL
 * @on_request: answers, with @data
 * @max_clients: connections at the same time
 * @timeout_s: a connection is closed after so many seconds of silence
 * @server: out: the server; untouched on failure
 *
 * Return: 0 or a negative errno, such as -EADDRINUSE.
 */
int http_listen(const struct sockaddr_storage *address, unsigned int flags,
		MHD_AccessHandlerCallback on_request, void *data, unsigned int max_clients,
		unsigned int timeout_s, struct MHD_Daemon **server);

#endif /* BALEEN_DAEMON_HTTP_LISTEN_H */
