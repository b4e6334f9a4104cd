// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sends hand-made frames: frame [-v] [-n] FROM TO HEX...
 *
 * FROM and TO are NAMESPACE:DEVICE, HEX is a frame from its EtherType on. The
 * addresses before it are those of the two devices. Waits until each has come
 * through; with -v prints a letter for each, P when it came through and D when
 * an LLDP frame sent behind it did without it: under any policy that passes,
 * and one queue keeps the order. With -n a frame is padded with zeros to
 * PADDED_BYTES, and all behind its Ethernet header is in other pages: a socket
 * buffer that is not linear. Exit: 0 all came through, or have their letter; 1 one
 * did not within ten seconds; 2 bad usage.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_MS 10000
#define MAX_FRAME (ETH_HLEN + 65535)
#define PADDED_BYTES 4200 /* the kernel splits what does not fit into a page */
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

	if (n > frame->n || (gone && gone != TAG_BYTES) || memcmp(bytes, frame->bytes, MACS_BYTES))
		return 0;
	return !memcmp(bytes + MACS_BYTES, frame->bytes + MACS_BYTES + gone, n - MACS_BYTES);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Which of two frames comes first: 1 or 2; 0 when none does. @second may be NULL. */
static int wait_for(int fd, const struct frame *first, const struct frame *second)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	long deadline = now_ms() + TIMEOUT_MS;
	unsigned char bytes[2 * MAX_FRAME];

	while (poll(&readable, 1, 100) >= 0 && now_ms() < deadline) {
		ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN)
			err(1, "receive");
		if (n < MACS_BYTES)
			continue;
		if (is_frame(first, bytes, n))
			return 1;
		if (second && is_frame(second, bytes, n))
			return 2;
	}
	return 0;
}

/* Between two CPUs the backlog of a veth without NAPI keeps no order. */
static void pin_to_this_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
}

/* A marker as no other: its number is that of the frame before it. */
static void make_marker(struct frame *marker, const struct frame *frame, int number)
{
	char hex[64];

	memcpy(marker->bytes, frame->bytes, MACS_BYTES);
	marker->n = MACS_BYTES;
	snprintf(hex, sizeof(hex), "88cc%08x%08x", (unsigned int)getpid(), number);
	append_hex(marker, hex);
	memset(marker->bytes + marker->n, 0, ETH_ZLEN - marker->n);
	marker->n = ETH_ZLEN;
}

static int splits;

static void send_frame(int fd, const struct frame *frame, const char *name)
{
	struct virtio_net_hdr split = { .hdr_len = ETH_HLEN };
	struct iovec parts[] = { { &split, splits ? sizeof(split) : 0 },
				 { (void *)frame->bytes, frame->n } };

	/* Who sends what is dropped at the egress is told so: the marker behind it says more. */
	if (writev(fd, parts, 2) != (ssize_t)(parts[0].iov_len + frame->n) && errno != ENOBUFS)
		err(1, "send '%s'", name);
}

static void set_split(int fd)
{
	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &splits, sizeof(splits)))
		err(1, "PACKET_VNET_HDR");
}

static void pad(struct frame *frame)
{
	if (frame->n >= PADDED_BYTES)
		return;
	memset(frame->bytes + frame->n, 0, PADDED_BYTES - frame->n);
	frame->n = PADDED_BYTES;
}

static char verdict(int from, int to, const struct frame *frame, const char *name, int number)
{
	struct frame marker;
	int came;

	make_marker(&marker, frame, number);
	send_frame(from, &marker, name);
	came = wait_for(to, frame, &marker);
	if (came == 1)
		came = wait_for(to, &marker, NULL);
	else if (came == 2)
		return 'D';
	if (!came)
		errx(1, "the marker behind '%s' did not come through", name);
	return 'P';
}

int main(int argc, char **argv)
{
	struct frame frame;
	int from, to, option, asks = 0;

	while ((option = getopt(argc, argv, "+vn")) != -1) {
		if (option == '?')
			return 2;
		asks |= option == 'v';
		splits |= option == 'n';
	}
	argc -= optind - 1;
	argv += optind - 1;
	if (argc < 4) {
		fprintf(stderr, "usage: frame [-v] [-n] FROM TO HEX...\n");
		return 2;
	}
	pin_to_this_cpu();
	from = socket_open(argv[1], 0, frame.bytes + ETH_ALEN);
	to = socket_open(argv[2], ETH_P_ALL, frame.bytes);
	if (splits)
		set_split(from);
	for (int i = 3; i < argc; i++) {
		frame.n = MACS_BYTES;
		append_hex(&frame, argv[i]);
		if (splits)
			pad(&frame);
		send_frame(from, &frame, argv[i]);
		if (asks)
			putchar(verdict(from, to, &frame, argv[i], i));
		else if (!wait_for(to, &frame, NULL))
			errx(1, "'%s' did not come through", argv[i]);
	}
	if (asks)
		putchar('\n');
	return 0;
}
