// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A server of HTTP that listens. */
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <unistd.h>

#include "daemon/http_listen.h"

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

/* The library can open the socket, too, but from version 1.0 on loses why it could not. */
int http_listen(const struct sockaddr_storage *address, unsigned int flags,
		MHD_AccessHandlerCallback on_request, void *data, unsigned int max_clients,
		unsigned int timeout_s, struct MHD_Daemon **server)
{
	struct MHD_Daemon *started;
	int fd = listen_at(address);

	if (fd < 0)
		return fd;
	started = MHD_start_daemon(flags | MHD_USE_EPOLL, 0, NULL, NULL, on_request, data,
				   MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				   max_clients, MHD_OPTION_CONNECTION_TIMEOUT, timeout_s,
				   MHD_OPTION_END);
	if (!started) {
		close(fd);
		return -ENOMEM;
	}
	*server = started;
	return 0;
}
