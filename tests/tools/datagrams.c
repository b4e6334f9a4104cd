// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plays systemd to a daemon: datagrams PATH...
 *
 * Binds a datagram socket to each path and prints what comes, one line each: line
 * ends within are tabs, what is not printable is '?'. Before the first it prints
 * "ready"; ends when its input does.
 */
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_SOCKETS 4

static int bound(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		errx(2, "%s: too long", path);
	strcpy(address.sun_path, path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "%s", path);
	return fd;
}

static void print(int fd)
{
	char text[65536];
	ssize_t n = recv(fd, text, sizeof(text), 0);

	for (ssize_t i = 0; i < n; i++) {
		char c = text[i] == '\n' ? '\t' : text[i];

		putchar(c == '\t' || (c >= ' ' && c <= '~') ? c : '?');
	}
	putchar('\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct pollfd fds[MAX_SOCKETS + 1] = { { .fd = STDIN_FILENO, .events = POLLIN } };

	if (argc < 2 || argc > MAX_SOCKETS + 1)
		errx(2, "usage: datagrams PATH...");
	for (int i = 1; i < argc; i++)
		fds[i] = (struct pollfd){ .fd = bound(argv[i]), .events = POLLIN };
	puts("ready");
	fflush(stdout);
	while (poll(fds, argc, -1) > 0 && !fds[0].revents)
		for (int i = 1; i < argc; i++)
			if (fds[i].revents)
				print(fds[i].fd);
	return 0;
}
