// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Clients of a web server, and a flood among them:
 *
 *      crowd CLIENTS SERVERS FLOOD FRAMES RATE TIMES
 *
 *      namespace CLIENTS                          namespace SERVERS
 *      +------------------------+      veth       +------------------------+
 *      | 200 TCP clients at     |                 |                        |
 *      | 50 packets/s, the flood|-----------------|-> XDP -> TCP server    |
 *      | by AF_PACKET           |                 |          AF_PACKET     |
 *      +------------------------+                 +------------------------+
 *
 * The clients are 10.66.1.1 to 10.66.1.200, the server is 10.66.0.2. FLOOD says who sends
 * FRAMES frames, RATE a second (0: at once), each source TIMES in a row:
 *      tcp      10.66.2.1, in a TCP connection that it has opened: ACKs of all it has got
 *      blind    the same with sequence and acknowledgement by chance, as one sends who only
 *               guesses that there is this connection
 *      spoof    16.0.0.0 and those after it, TCP that nobody has opened
 *      udp      the same, UDP
 *
 * Ends when all frames are sent, and all that the clients have sent is there. Prints
 * {"sent":N,"arrived":N,"ms":N,"clients":N}: frames of the flood that were sent, and that came
 * through; from the first sent to the last that came through; bytes of the clients, one a
 * packet. Exit: 0; 1 when something of the clients is not there after 20 seconds.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define N_CLIENTS 200
#define CLIENT_NS 20000000ull /* 50 a second */
#define SERVER 0x0a420002u
#define FIRST_CLIENT 0x0a420101u
#define ATTACKER 0x0a420201u
#define FIRST_SPOOFED 0x10000000u
#define PORT 80
#define END_NS 20000000000ull

enum flood {
	FLOOD_TRUE,
	FLOOD_BLIND,
	FLOOD_MADE_UP,
};

struct frame {
	struct ether_header ether;
	struct iphdr ip;
	struct tcphdr tcp;
} __attribute__((packed));

static struct {
	int listener, client[N_CLIENTS], server[N_CLIENTS], attacker, out, in;
	unsigned long long bytes_sent, bytes_arrived, sent, arrived, first_ns, last_ns;
	struct frame frame;
} crowd;

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static int check(int result, const char *what)
{
	if (result < 0)
		err(2, "%s", what);
	return result;
}

static void enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = check(open(path, O_RDONLY | O_CLOEXEC), path);
	check(setns(fd, CLONE_NEWNET), path);
	close(fd);
}

static struct sockaddr_in address_of(unsigned int address, unsigned short port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(address),
				     .sin_port = htons(port) };
}

/* A packet socket of a device, and its address. */
static int open_device(const char *device, int protocol, unsigned char *mac)
{
	struct sockaddr_ll where = { .sll_family = AF_PACKET, .sll_protocol = htons(protocol) };
	int fd = check(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "AF_PACKET");
	int room = 64 << 20;
	struct ifreq request = { 0 };

	strcpy(request.ifr_name, device);
	check(ioctl(fd, SIOCGIFHWADDR, &request), device);
	memcpy(mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	check(ioctl(fd, SIOCGIFINDEX, &request), device);
	where.sll_ifindex = request.ifr_ifindex;
	check(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)), "SO_RCVBUFFORCE");
	check(bind(fd, (struct sockaddr *)&where, sizeof(where)), device);
	return fd;
}

/* --- clients ------------------------------------------------------------------- */

static int connect_from(unsigned int address, int *server)
{
	struct sockaddr_in from = address_of(address, 0), to = address_of(SERVER, PORT);
	int fd = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"), one = 1;

	check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), "TCP_NODELAY");
	check(bind(fd, (struct sockaddr *)&from, sizeof(from)), "a client's address");
	check(connect(fd, (struct sockaddr *)&to, sizeof(to)), "connect");
	*server =
		check(accept4(crowd.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), "accept");
	return fd;
}

static void open_server(void)
{
	struct sockaddr_in here = address_of(SERVER, PORT);
	int one = 1;

	crowd.listener = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
	check(setsockopt(crowd.listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), "server");
	check(bind(crowd.listener, (struct sockaddr *)&here, sizeof(here)), "server");
	check(listen(crowd.listener, 16), "server");
}

/* Each client has a beat of its own; what it has missed it does not make up for. */
static void send_clients(unsigned long long *due_ns)
{
	unsigned long long now = now_ns();

	for (int i = 0; i < N_CLIENTS; i++) {
		if (due_ns[i] > now)
			continue;
		due_ns[i] = due_ns[i] + CLIENT_NS > now ? due_ns[i] + CLIENT_NS : now + CLIENT_NS;
		if (send(crowd.client[i], "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
			crowd.bytes_sent++;
		else if (errno != EAGAIN)
			err(1, "client %d", i);
	}
}

static void drain(void)
{
	char bytes[4096];
	ssize_t n;

	for (int i = 0; i < N_CLIENTS; i++)
		while ((n = recv(crowd.server[i], bytes, sizeof(bytes), 0)) > 0)
			crowd.bytes_arrived += n;
	while ((n = recv(crowd.in, bytes, sizeof(bytes), 0)) > 0) {
		const struct frame *frame = (const struct frame *)bytes;

		/* The mark of the flood. */
		if (n < (ssize_t)sizeof(*frame) || frame->ip.id != htons(4711))
			continue;
		crowd.arrived++;
		crowd.last_ns = now_ns();
	}
}

/* --- flood --------------------------------------------------------------------- */

/* The attacker's, from its socket. */
static unsigned int number_of(int queue)
{
	socklen_t bytes = sizeof(queue);
	unsigned int number;

	check(setsockopt(crowd.attacker, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, bytes), "queue");
	check(getsockopt(crowd.attacker, IPPROTO_TCP, TCP_QUEUE_SEQ, &number, &bytes), "number");
	return number;
}

/* linux/tcp.h, which does not go together with netinet/tcp.h */
enum {
	REPAIR_OFF_SILENTLY = -1,
	QUEUE_RECEIVED = 1,
	QUEUE_SENT = 2,
};

static void read_numbers(struct frame *frame)
{
	int on = 1, off = REPAIR_OFF_SILENTLY;

	check(setsockopt(crowd.attacker, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)), "TCP_REPAIR");
	frame->tcp.seq = htonl(number_of(QUEUE_SENT));
	frame->tcp.ack_seq = htonl(number_of(QUEUE_RECEIVED));
	check(setsockopt(crowd.attacker, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)), "TCP_REPAIR");
}

static void make_frame(const char *flood, unsigned short port)
{
	struct frame *frame = &crowd.frame;
	bool is_udp = !strcmp(flood, "udp");

	frame->ether.ether_type = htons(ETHERTYPE_IP);
	frame->ip = (struct iphdr){ .version = 4,
				    .ihl = 5,
				    .tot_len = htons(sizeof(frame->ip) + sizeof(frame->tcp)),
				    .id = htons(4711),
				    .ttl = 64,
				    .protocol = is_udp ? IPPROTO_UDP : IPPROTO_TCP,
				    .saddr = htonl(ATTACKER),
				    .daddr = htonl(SERVER) };
	frame->tcp =
		(struct tcphdr){ .source = htons(port), .dest = htons(PORT), .doff = 5, .ack = 1 };
	if (!strcmp(flood, "tcp"))
		read_numbers(frame);
}

/* xorshift64*, from a fixed seed. */
static unsigned int by_chance(void)
{
	static unsigned long long state = 1;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull >> 32;
}

static void send_frame(enum flood flood, unsigned int times)
{
	if (flood == FLOOD_MADE_UP)
		crowd.frame.ip.saddr = htonl(FIRST_SPOOFED + crowd.sent / times);
	if (flood == FLOOD_BLIND) {
		crowd.frame.tcp.seq = by_chance();
		crowd.frame.tcp.ack_seq = by_chance();
	}
	if (!crowd.sent)
		crowd.first_ns = now_ns();
	while (send(crowd.out, &crowd.frame, sizeof(crowd.frame), 0) < 0)
		if (errno != ENOBUFS && errno != EAGAIN)
			err(2, "flood");
	crowd.sent++;
}

static void run(enum flood flood, unsigned long long n, unsigned long long rate, unsigned int times)
{
	unsigned long long due_ns[N_CLIENTS], begun = now_ns(), due, burst;

	for (int i = 0; i < N_CLIENTS; i++)
		due_ns[i] = begun + i * CLIENT_NS / N_CLIENTS;
	while (crowd.sent < n) {
		/* A veth ring holds 256. */
		due = rate ? (now_ns() - begun) * rate / 1000000000 : n;
		for (burst = 0; burst < 64 && crowd.sent < n && crowd.sent < due; burst++)
			send_frame(flood, times);
		send_clients(due_ns);
		drain();
	}
	begun = now_ns();
	while (crowd.bytes_arrived < crowd.bytes_sent && now_ns() < begun + END_NS)
		drain();
}

int main(int argc, char **argv)
{
	struct sockaddr_in from = { 0 };
	socklen_t bytes = sizeof(from);
	int ignored;

	if (argc != 7 || atoi(argv[6]) < 1)
		errx(2, "usage: crowd CLIENTS SERVERS tcp|blind|spoof|udp FRAMES RATE TIMES");
	enter(argv[2]);
	open_server();
	crowd.in = open_device("veth-b", ETH_P_IP, crowd.frame.ether.ether_dhost);
	enter(argv[1]);
	crowd.out = open_device("veth-a", 0, crowd.frame.ether.ether_shost);
	for (int i = 0; i < N_CLIENTS; i++)
		crowd.client[i] = connect_from(FIRST_CLIENT + i, &crowd.server[i]);
	crowd.attacker = connect_from(ATTACKER, &ignored);
	check(getsockname(crowd.attacker, (struct sockaddr *)&from, &bytes), "attacker");
	make_frame(argv[3], ntohs(from.sin_port));
	run(!strcmp(argv[3], "tcp")   ? FLOOD_TRUE :
	    !strcmp(argv[3], "blind") ? FLOOD_BLIND :
					FLOOD_MADE_UP,
	    strtoull(argv[4], NULL, 10), strtoull(argv[5], NULL, 10), atoi(argv[6]));
	printf("{\"sent\":%llu,\"arrived\":%llu,\"ms\":%llu,\"clients\":%llu}\n", crowd.sent,
	       crowd.arrived, crowd.arrived ? (crowd.last_ns - crowd.first_ns) / 1000000 : 0,
	       crowd.bytes_arrived);
	return crowd.bytes_arrived < crowd.bytes_sent;
}
