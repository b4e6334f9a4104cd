/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A server of HTTP that slow clients cannot keep shut.
 *
 * A request, from its first byte to the last one of its answer, has a deadline. A client that
 * comes when there are as many as are let in, or as many of its address, takes the place of
 * the one that has been at its request for longest. So somebody who asks and reads gets an
 * answer, whoever else holds connections open. All of 127.0.0.0/8 is one address, and so is a
 * /64 of IPv6: a client has many of these.
 */
#ifndef BALEEN_DAEMON_HTTP_LISTEN_H
#define BALEEN_DAEMON_HTTP_LISTEN_H

#include <microhttpd.h>
#include <stdbool.h>
#include <sys/socket.h>

#include <baleen/port.h>

/**
 * struct http_limits - what clients may take
 * @n_clients: connections at the same time
 * @n_of_address: those of an address
 * @silence_s: a connection is closed after so many seconds of silence
 * @deadline_ms: a request is ended after so long
 */
struct http_limits {
	u32 n_clients;
	u32 n_of_address;
	u32 silence_s;
	u64 deadline_ms;
};

/**
 * struct http_server - a server that listens
 * @http: the handle of libmicrohttpd; NULL: none
 * @limits: what clients may take
 * @clients: the open connections, the last one first
 */
struct http_server {
	struct MHD_Daemon *http;
	struct http_limits limits;
	struct http_client *clients;
};

/**
 * http_listen() - start a server whose epoll descriptor the caller waits for
 * @server: filled in, and not moved until http_end(); untouched on failure but for @limits
 * @address: where it listens
 * @limits: what clients may take
 * @flags: of MHD_start_daemon(), beside MHD_USE_EPOLL
 * @on_request: answers, with @data
 * @data: handed to @on_request
 *
 * Return: 0 or a negative errno, such as -EADDRINUSE.
 */
int http_listen(struct http_server *server, const struct sockaddr_storage *address,
		const struct http_limits *limits, unsigned int flags,
		MHD_AccessHandlerCallback on_request, void *data);

/**
 * http_run() - do what there is to do
 * @server: listens
 *
 * Call it when the epoll descriptor is ready, and when the time that it returns is over.
 *
 * Return: milliseconds until it is to be called again, whatever comes; -1: none.
 */
int http_run(struct http_server *server);

/**
 * http_end() - close all
 * @server: listens, or all zeros
 */
void http_end(struct http_server *server);

#endif /* BALEEN_DAEMON_HTTP_LISTEN_H */
