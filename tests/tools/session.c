// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs a command while a TCP session is open between two network namespaces:
 * session SERVER CLIENT ADDRESS COMMAND...
 *
 * SERVER and CLIENT are paths (/run/netns/NAME), ADDRESS is one of the server
 * as the client sees it. The command runs in the namespace of the client; the
 * session ends with it, at once and without a trace.
 */
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void check(int result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	exit(1);
}

static void enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	check(fd, path);
	check(setns(fd, CLONE_NEWNET), path);
	close(fd);
}

/* Closing resets the session, so no state of it is left. */
static void reset_on_close(int fd)
{
	struct linger linger = { .l_onoff = 1 };

	check(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), "SO_LINGER");
}

/* Takes IPv4 as well, and sees it as mapped addresses. */
static int listen_any(struct sockaddr_in6 *bound)
{
	socklen_t length = sizeof(*bound);
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	*bound = (struct sockaddr_in6){ .sin6_family = AF_INET6 };
	check(fd, "socket");
	reset_on_close(fd); /* and what it accepts */
	check(bind(fd, (struct sockaddr *)bound, sizeof(*bound)), "bind");
	check(listen(fd, 1), "listen");
	check(getsockname(fd, (struct sockaddr *)bound, &length), "getsockname");
	return fd;
}

static void connect_to(const char *address, in_port_t port_be)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *info;
	char port[8];
	int fd;

	snprintf(port, sizeof(port), "%u", ntohs(port_be));
	if (getaddrinfo(address, port, &hints, &info)) {
		fprintf(stderr, "session: '%s' is no address\n", address);
		exit(2);
	}
	fd = socket(info->ai_family, SOCK_STREAM, 0);
	check(fd, "socket");
	reset_on_close(fd);
	check(connect(fd, info->ai_addr, info->ai_addrlen), "connect");
	freeaddrinfo(info);
}

int main(int argc, char **argv)
{
	struct sockaddr_in6 bound;
	int listener;

	if (argc < 5) {
		fprintf(stderr, "usage: session SERVER CLIENT ADDRESS COMMAND...\n");
		return 2;
	}
	alarm(60);
	enter(argv[1]);
	listener = listen_any(&bound);
	enter(argv[2]);
	connect_to(argv[3], bound.sin6_port);
	check(accept(listener, NULL, NULL), "accept");
	execvp(argv[4], &argv[4]);
	perror(argv[4]);
	return 1;
}
