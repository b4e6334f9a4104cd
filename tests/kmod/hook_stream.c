// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sends bytes over TCP from one network namespace to another, in large pieces.
 *
 *	hook_stream SERVER CLIENT ADDRESS PORT N
 *
 * SERVER and CLIENT are paths (/run/netns/NAME), ADDRESS is the server's. Prints how
 * many of the N bytes arrived; exit 0 when all did, as they were sent.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE_BYTES (1 << 20)

static unsigned char piece[PIECE_BYTES];

/* The byte at a place of the stream; the period is no power of two. */
static unsigned char byte_at(size_t at)
{
	return at % 251;
}

union address {
	struct sockaddr any;
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;
};

static union address address_of(const char *text, const char *port)
{
	union address address = { .ip4.sin_family = AF_INET };

	/* The port is at the same place in both. */
	if (inet_pton(AF_INET6, text, &address.ip6.sin6_addr) == 1)
		address.any.sa_family = AF_INET6;
	else if (inet_pton(AF_INET, text, &address.ip4.sin_addr) != 1)
		errx(2, "'%s' is no address", text);
	address.ip4.sin_port = htons(strtoul(port, NULL, 10));
	return address;
}

static int enter(const char *path, int family)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
	fd = socket(family, SOCK_STREAM, 0);
	if (fd < 0)
		err(1, "socket");
	return fd;
}

static int send_all(int fd, size_t n)
{
	for (size_t done = 0; done < n;) {
		size_t n_piece = n - done < PIECE_BYTES ? n - done : PIECE_BYTES;
		ssize_t sent;

		for (size_t i = 0; i < n_piece; i++)
			piece[i] = byte_at(done + i);
		sent = send(fd, piece, n_piece, 0);
		if (sent <= 0)
			err(1, "send");
		done += sent;
	}
	return 0;
}

static size_t receive_all(int fd)
{
	size_t done = 0;
	ssize_t n;

	while ((n = recv(fd, piece, sizeof(piece), 0)) > 0)
		for (ssize_t i = 0; i < n; i++, done++)
			if (piece[i] != byte_at(done))
				errx(1, "byte %zu is another", done);
	if (n < 0)
		err(1, "receive");
	return done;
}

int main(int argc, char **argv)
{
	union address to;
	size_t n, received;
	int server, status, connection;
	pid_t child;

	if (argc != 6)
		errx(2, "usage: hook_stream SERVER CLIENT ADDRESS PORT N");
	to = address_of(argv[3], argv[4]);
	n = strtoul(argv[5], NULL, 0);
	server = enter(argv[1], to.any.sa_family);
	if (bind(server, &to.any, sizeof(to)) || listen(server, 1))
		err(1, "listen");
	child = fork();
	if (!child) {
		int client = enter(argv[2], to.any.sa_family);

		if (connect(client, &to.any, sizeof(to)))
			err(1, "connect");
		return send_all(client, n);
	}
	connection = accept(server, NULL, NULL);
	if (connection < 0)
		err(1, "accept");
	received = receive_all(connection);
	printf("%zu\n", received);
	return waitpid(child, &status, 0) != child || status || received != n;
}
