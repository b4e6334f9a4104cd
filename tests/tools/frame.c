// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sends hand-made frames and waits until each has come through: frame FROM TO HEX...
 *
 * FROM and TO are NAMESPACE:DEVICE, HEX is a frame from its EtherType on. The
 * addresses before it are those of the two devices. Exit: 0 all came through,
 * 1 one did not within ten seconds, 2 bad usage.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_MS 10000
#define MAX_FRAME 1514
#define MACS_BYTES (2 * ETH_ALEN)
#define TAG_BYTES 4

struct frame {
	unsigned char bytes[MAX_FRAME];
	size_t n;
};

static int socket_open(const char *where, int protocol, unsigned char *mac)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(protocol) };
	const char *device = strchr(where, ':');
	struct ifreq request = { 0 };
	char path[256];
	int fd, one = 1;

	if (!device || strlen(device + 1) >= sizeof(request.ifr_name))
		errx(2, "'%s' is not NAMESPACE:DEVICE", where);
	snprintf(path, sizeof(path), "/run/netns/%.*s", (int)(device - where), where);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
	strcpy(request.ifr_name, device + 1);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &request))
		err(1, "%s", where);
	memcpy(mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	if (ioctl(fd, SIOCGIFINDEX, &request))
		err(1, "%s", where);
	address.sll_ifindex = request.ifr_ifindex;
	if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "%s", where);
	return fd;
}

static void append_hex(struct frame *frame, const char *hex)
{
	for (const char *p = hex; *p; p += 2) {
		char digits[3] = { p[0], p[1] }, *end;

		if (frame->n == MAX_FRAME)
			errx(2, "'%s' is too long", hex);
		frame->bytes[frame->n++] = strtoul(digits, &end, 16);
		if (end != digits + 2)
			errx(2, "'%s' is not HEX", hex);
	}
}

/* The kernel takes the outermost tag off before a packet socket sees the frame. */
static int is_frame(const struct frame *frame, const unsigned char *bytes, size_t n)
{
	size_t gone = frame->n - n;

	if (n > frame->n || (gone && gone != TAG_BYTES) ||
	    memcmp(bytes, frame->bytes, MACS_BYTES))
		return 0;
	return !memcmp(bytes + MACS_BYTES, frame->bytes + MACS_BYTES + gone, n - MACS_BYTES);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int wait_for(int fd, const struct frame *frame)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	long deadline = now_ms() + TIMEOUT_MS;
	unsigned char bytes[2 * MAX_FRAME];

	while (poll(&readable, 1, 100) >= 0 && now_ms() < deadline) {
		ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (n >= MACS_BYTES && is_frame(frame, bytes, n))
			return 1;
		if (n < 0 && errno != EAGAIN)
			err(1, "receive");
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct frame frame;
	int from, to;

	if (argc < 4) {
		fprintf(stderr, "usage: frame FROM TO HEX...\n");
		return 2;
	}
	from = socket_open(argv[1], 0, frame.bytes + ETH_ALEN);
	to = socket_open(argv[2], ETH_P_ALL, frame.bytes);
	for (int i = 3; i < argc; i++) {
		frame.n = MACS_BYTES;
		append_hex(&frame, argv[i]);
		if (send(from, frame.bytes, frame.n, 0) != (ssize_t)frame.n)
			err(1, "send '%s'", argv[i]);
		if (!wait_for(to, &frame))
			errx(1, "'%s' did not come through", argv[i]);
	}
	return 0;
}
