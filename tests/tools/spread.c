// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Measures, with packets, how long a ban takes to hold on other hosts:
 *
 *      spread COUNT SEND:DEVICE,RECEIVE:DEVICE... -- COMMAND...
 *
 * SEND and RECEIVE are paths of network namespaces. The command is a `baleen feed`, which gets
 * a line for each of COUNT new sources, one after the other. Through each pair of devices go
 * frames from that source, until none of 40 ms arrives. The time is from the `ok` of the feed
 * to the first frame that does not arrive. Prints of each pair median, p99 and longest, in
 * milliseconds, and fails when a frame of a source that is not banned yet was lost.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

#define MAX_PATHS 4
#define FIRST_SOURCE 0x2d000001u /* 45.0.0.1 */
#define STEP_US 200
#define QUIET_NS 40000000ull
#define LIMIT_NS 20000000000ull
#define BEFORE 5

struct probe {
	struct ether_header ether;
	struct iphdr ip;
	struct udphdr udp;
	u64 magic;
	u64 source;
	u64 sent_ns;
	u64 number;
} __attribute__((packed));

#define MAGIC 0x64616572707362ull

/* The first frame that did not arrive is the next one after the last that did. */
struct path {
	const char *name;
	int send, receive;
	u64 n_sent, n_arrived;
	u64 last_arrived; /* number of it */
	u64 *sent_ns;
	double *took_ms;
};

static int feed_in, feed_out;
static pid_t feed;

static void enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(1, "%s", path);
	close(fd);
}

static int open_device(char *where)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	char *device = strrchr(where, ':');
	int fd, size = 4 << 20;

	if (!device)
		errx(2, "'%s': not NAMESPACE:DEVICE", where);
	*device++ = '\0';
	enter(where);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_IP));
	address.sll_ifindex = if_nametoindex(device);
	if (fd < 0 || !address.sll_ifindex || bind(fd, (void *)&address, sizeof(address)))
		err(1, "%s", device);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return fd;
}

static void open_path(struct path *path, char *text, size_t count)
{
	char *comma = strchr(text, ',');

	if (!comma)
		errx(2, "'%s': not FROM,TO", text);
	*comma = '\0';
	path->name = comma + 1;
	path->send = open_device(text);
	path->receive = open_device(comma + 1);
	path->took_ms = calloc(count, sizeof(*path->took_ms));
	path->sent_ns = calloc(LIMIT_NS / 1000 / STEP_US + 1000, sizeof(*path->sent_ns));
	if (!path->took_ms || !path->sent_ns)
		errx(1, "no memory");
}

static void start_feed(char **argv)
{
	int in[2], out[2];

	if (pipe(in) || pipe(out))
		err(1, "pipe");
	feed = fork();
	if (!feed) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		close(out[0]);
		execvp(argv[0], argv);
		err(1, "%s", argv[0]);
	}
	close(in[0]);
	close(out[1]);
	feed_in = in[1];
	feed_out = out[0];
}

static void send_probe(struct path *path, u32 source)
{
	struct probe probe = {
		.ether.ether_type = htons(ETHERTYPE_IP),
		.ip = { .version = 4,
			.ihl = 5,
			.ttl = 64,
			.protocol = IPPROTO_UDP,
			.saddr = htonl(source),
			.daddr = htonl(0x0a420001),
			.tot_len = htons(sizeof(probe) - sizeof(probe.ether)) },
		.udp.len = htons(sizeof(probe) - sizeof(probe.ether) - sizeof(probe.ip)),
		.magic = MAGIC,
		.source = source,
		.number = path->n_sent,
	};

	memset(probe.ether.ether_dhost, 0xff, ETH_ALEN);
	path->sent_ns[path->n_sent] = probe.sent_ns = baleen_clock_ns(CLOCK_MONOTONIC);
	if (send(path->send, &probe, sizeof(probe), 0) != sizeof(probe))
		err(1, "send");
	path->n_sent++;
}

static void drain(struct path *path, u32 source)
{
	struct probe probe;
	ssize_t n;

	while ((n = recv(path->receive, &probe, sizeof(probe), 0)) > 0) {
		if (n != sizeof(probe) || probe.magic != MAGIC || probe.source != source)
			continue;
		path->n_arrived++;
		path->last_arrived = probe.number;
	}
}

/* True when it said ok. */
static bool hear_feed(void)
{
	struct pollfd poll_of = { .fd = feed_out, .events = POLLIN };
	char line[256];
	ssize_t n;

	if (poll(&poll_of, 1, 0) <= 0)
		return false;
	n = read(feed_out, line, sizeof(line) - 1);
	if (n <= 0 || strncmp(line, "ok", 2))
		errx(1, "the feed says: %.*s", (int)(n > 0 ? n : 0), line);
	return true;
}

static bool is_quiet(const struct path *path, u64 now_ns)
{
	u64 next = path->last_arrived + 1;

	return path->n_sent > next && now_ns > path->sent_ns[next] + QUIET_NS;
}

static void ban(u32 source)
{
	char line[64];
	u8 b[4] = { source >> 24, source >> 16, source >> 8, source };
	int n = snprintf(line, sizeof(line), "add %u.%u.%u.%u ttl=1h\n", b[0], b[1], b[2], b[3]);

	if (write(feed_in, line, n) != n)
		err(1, "the feed is gone");
}

static void probe_all(struct path *path, u32 n_paths, u32 source)
{
	for (u32 i = 0; i < n_paths; i++)
		send_probe(&path[i], source);
	usleep(STEP_US);
	for (u32 i = 0; i < n_paths; i++)
		drain(&path[i], source);
}

static void measure(struct path *path, u32 n_paths, u32 source, size_t index)
{
	u64 ok_ns = 0, begun_ns = baleen_clock_ns(CLOCK_MONOTONIC), now_ns;
	bool is_done = false;

	for (u32 i = 0; i < n_paths; i++)
		path[i].n_sent = path[i].n_arrived = path[i].last_arrived = 0;
	for (u32 i = 0; i < BEFORE; i++)
		probe_all(path, n_paths, source);
	for (u32 i = 0; i < n_paths; i++)
		if (path[i].n_arrived != BEFORE)
			errx(1, "%s: %llu of %d frames of a source that is not banned arrived",
			     path[i].name, (unsigned long long)path[i].n_arrived, BEFORE);
	ban(source);
	while (!is_done) {
		probe_all(path, n_paths, source);
		now_ns = baleen_clock_ns(CLOCK_MONOTONIC);
		if (!ok_ns && hear_feed())
			ok_ns = now_ns;
		if (now_ns > begun_ns + LIMIT_NS)
			errx(1, "the ban of %#x does not hold after %llu s", source,
			     LIMIT_NS / 1000000000);
		is_done = ok_ns;
		for (u32 i = 0; i < n_paths; i++)
			is_done &= is_quiet(&path[i], now_ns);
	}
	for (u32 i = 0; i < n_paths; i++) {
		u64 lost_ns = path[i].sent_ns[path[i].last_arrived + 1];

		path[i].took_ms[index] = lost_ns > ok_ns ? (lost_ns - ok_ns) / 1e6 : 0;
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	struct path path[MAX_PATHS] = { 0 };
	u32 n_paths = 0;
	int at = 2, home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	for (; at < argc && strcmp(argv[at], "--") && n_paths < MAX_PATHS; at++)
		open_path(&path[n_paths++], argv[at], count);
	if (!count || !n_paths || at + 1 >= argc)
		errx(2, "spread COUNT SEND:DEVICE,RECEIVE:DEVICE... -- COMMAND...");
	if (home < 0 || setns(home, CLONE_NEWNET))
		err(1, "/proc/self/ns/net");
	start_feed(argv + at + 1);
	for (size_t i = 0; i < count; i++)
		measure(path, n_paths, FIRST_SOURCE + i, i);
	for (u32 i = 0; i < n_paths; i++) {
		qsort(path[i].took_ms, count, sizeof(double), compare);
		printf("%s: %zu bans, median %.1f ms, p99 %.1f ms, longest %.1f ms\n", path[i].name,
		       count, path[i].took_ms[count / 2], path[i].took_ms[count * 99 / 100],
		       path[i].took_ms[count - 1]);
	}
	close(feed_in);
	waitpid(feed, NULL, 0);
	return 0;
}
