// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asks a cache by ICP (RFC 2186): icp_ask [OPTION]... ADDRESS < URLS
 *
 *      -p PORT     that it asks, 3130
 *      -s PORT     that it asks from, any
 *      -a ADDRESS  that it asks from, any
 *      -n N        request number of the first query, 1; the next have the next
 *      -w N        queries on the way at a time, 1
 *      -t MS       how long it waits for an answer, 5000
 *      -o OPCODE   another than that of a query, 1
 *      -f FLAGS    options of the query, in hexadecimal
 *      -i          IP options, which do nothing
 *      -q          waits for no answer, prints nothing
 *      -x          lines are whole messages in HEX; -q is understood
 *      -d DEVICE   prints the frames of the answers as they come in by DEVICE
 *
 * Prints a line per URL, in the order asked: HIT, MISS, ERR, DENIED, another opcode's number
 * or - for none, then the URL; with -d then what the UDP checksum is (ok, bad, partial,
 * none, or unseen), and the frame in HEX, in which what two hosts fill in each in its own way
 * is zero: both checksums, the IPv4 identification and the IPv6 flow label.
 * Exit: 0 all were sent, 1 something failed, 2 bad usage.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <baleen/icp.h>

#define MAX_MESSAGE 16384
#define MAX_FRAME 2048
#define UDP_HEADER_BYTES 8

struct options {
	const char *port, *from, *source, *device, *address;
	u32 first, window, timeout_ms, opcode, flags;
	bool has_ip_options, is_quiet, is_hex;
};

struct query {
	char *url;
	u64 sent_ms;
	int opcode; /* of the answer; -1: none in time */
	bool is_done;
	const char *checksum;
	u8 *frame;
	size_t n_frame;
};

struct asker {
	const struct options *options;
	struct query *at;
	size_t n, room, n_sent, n_done;
	int fd, wire_fd, family;
};

static u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

/* --- what is sent ----------------------------------------------------------- */

static void queries_read(struct asker *asker)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, stdin)) >= 0) {
		if (n && line[n - 1] == '\n')
			line[n - 1] = '\0';
		if (asker->n == asker->room) {
			asker->room = asker->room ? 2 * asker->room : 256;
			asker->at = reallocarray(asker->at, asker->room, sizeof(*asker->at));
			if (!asker->at)
				err(1, "queries");
		}
		asker->at[asker->n++] = (struct query){ .url = strdup(line), .opcode = -1 };
	}
	free(line);
}

static size_t message_of_hex(u8 *message, const char *hex)
{
	size_t n = 0;
	u32 byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2) {
		if (n == MAX_MESSAGE || !hex[1])
			errx(2, "'%s' is no message", hex);
		message[n++] = byte;
	}
	return n;
}

static size_t message_of_url(u8 *message, const struct options *options, u32 i, const char *url)
{
	size_t n_url = strlen(url) + 1, n = BALEEN_ICP_QUERY_BYTES + n_url;
	u32 number_be = htonl(options->first + i), flags_be = htonl(options->flags);
	u16 n_be = htons(n);

	if (n > MAX_MESSAGE)
		errx(2, "a URL of %zu bytes is too long", n_url - 1);
	memset(message, 0, BALEEN_ICP_QUERY_BYTES);
	message[0] = options->opcode;
	message[1] = BALEEN_ICP_VERSION;
	memcpy(message + 2, &n_be, 2);
	memcpy(message + 4, &number_be, 4);
	memcpy(message + 8, &flags_be, 4);
	memcpy(message + BALEEN_ICP_QUERY_BYTES, url, n_url);
	return n;
}

static void query_send(struct asker *asker, u32 i)
{
	u8 message[MAX_MESSAGE];
	struct query *query = &asker->at[i];
	size_t n = asker->options->is_hex ? message_of_hex(message, query->url) :
					    message_of_url(message, asker->options, i, query->url);

	query->sent_ms = now_ms();
	/* The first send may only bring what became of the one before. */
	if (send(asker->fd, message, n, 0) < 0 &&
	    (errno != ECONNREFUSED || send(asker->fd, message, n, 0) < 0))
		err(1, "%s", asker->options->address);
}

/* --- what comes back -------------------------------------------------------- */

static struct query *query_of(struct asker *asker, const u8 *message, ssize_t n)
{
	u32 number_be, i;

	if (n < BALEEN_ICP_HEADER_BYTES)
		return NULL;
	memcpy(&number_be, message + 4, 4);
	i = ntohl(number_be) - asker->options->first;
	return i < asker->n_sent ? &asker->at[i] : NULL;
}

/* The sum of RFC 1071, unfolded; all bytes but the last part are even in number. */
static u32 sum_add(u32 sum, const u8 *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum += bytes[i] << (i % 2 ? 0 : 8);
	return sum;
}

static bool sum_is_right(u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static const char *udp_checksum(const u8 *udp, size_t n, const u8 *addresses, size_t n_addresses,
				bool is_partial)
{
	u32 sum = sum_add(IPPROTO_UDP + n, addresses, n_addresses);

	if (!udp[6] && !udp[7])
		return "none";
	if (sum_is_right(sum_add(sum, udp, n)))
		return "ok";
	return is_partial ? "partial" : "bad";
}

/* Takes the frame for its query when it is an answer by UDP, without options. */
static void frame_take(struct asker *asker, u8 *frame, size_t n, bool is_partial)
{
	u8 *ip = frame + ETH_HLEN, *udp;
	bool is_ip4 = asker->family == AF_INET;
	size_t n_ip = is_ip4 ? 20 : 40, n_udp;
	struct query *query;
	const char *checksum;

	if (n < ETH_HLEN + n_ip + UDP_HEADER_BYTES || ip[is_ip4 ? 9 : 6] != IPPROTO_UDP ||
	    (is_ip4 && ip[0] != 0x45))
		return;
	udp = ip + n_ip;
	n_udp = udp[4] << 8 | udp[5];
	if (n_udp < UDP_HEADER_BYTES || n_udp > n - ETH_HLEN - n_ip ||
	    (udp[0] << 8 | udp[1]) != atoi(asker->options->port))
		return;
	query = query_of(asker, udp + UDP_HEADER_BYTES, n_udp - UDP_HEADER_BYTES);
	if (!query || query->frame)
		return;
	checksum = is_ip4 ? udp_checksum(udp, n_udp, ip + 12, 8, is_partial) :
			    udp_checksum(udp, n_udp, ip + 8, 32, is_partial);
	query->checksum = is_ip4 && !sum_is_right(sum_add(0, ip, n_ip)) ? "bad-ip" : checksum;
	if (is_ip4)
		memset(ip + 4, 0, 2), memset(ip + 10, 0, 2);
	else
		ip[1] &= 0xf0, memset(ip + 2, 0, 2);
	memset(udp + 6, 0, 2);
	query->frame = malloc(n);
	query->n_frame = n;
	memcpy(query->frame, frame, n);
}

/* All frames that are there; a socket on the wire gets them before one of UDP does. */
static void frames_take(struct asker *asker)
{
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct tpacket_auxdata about = { 0 };
	u8 frame[MAX_FRAME];
	ssize_t n;

	for (;;) {
		struct iovec iov = { frame, sizeof(frame) };
		struct msghdr message = { .msg_iov = &iov,
					  .msg_iovlen = 1,
					  .msg_control = control,
					  .msg_controllen = sizeof(control) };
		struct cmsghdr *part;

		n = recvmsg(asker->wire_fd, &message, MSG_DONTWAIT);
		if (n < 0)
			return;
		part = CMSG_FIRSTHDR(&message);
		if (part && part->cmsg_type == PACKET_AUXDATA)
			memcpy(&about, CMSG_DATA(part), sizeof(about));
		frame_take(asker, frame, n, about.tp_status & TP_STATUS_CSUMNOTREADY);
	}
}

static void answer_take(struct asker *asker)
{
	u8 message[MAX_MESSAGE];
	ssize_t n = recv(asker->fd, message, sizeof(message), MSG_DONTWAIT);
	struct query *query;

	/* A port where nobody listens is no answer, as nothing is none. */
	if (n < 0 && errno != ECONNREFUSED && errno != EAGAIN && errno != EHOSTUNREACH)
		err(1, "%s", asker->options->address);
	query = n < 0 ? NULL : query_of(asker, message, n);
	if (!query || query->is_done)
		return;
	query->opcode = message[0];
	query->is_done = true;
}

static void ask(struct asker *asker)
{
	const struct options *options = asker->options;

	while (asker->n_done < asker->n) {
		struct pollfd ready = { .fd = asker->fd, .events = POLLIN };
		struct query *oldest = &asker->at[asker->n_done];
		s64 left_ms;

		while (asker->n_sent < asker->n && asker->n_sent - asker->n_done < options->window)
			query_send(asker, asker->n_sent++);
		left_ms = (s64)(oldest->sent_ms + options->timeout_ms - now_ms());
		if (poll(&ready, 1, left_ms > 0 ? left_ms : 0) > 0)
			answer_take(asker);
		else if (left_ms <= 0)
			oldest->is_done = true;
		if (asker->wire_fd >= 0)
			frames_take(asker);
		while (asker->n_done < asker->n_sent && asker->at[asker->n_done].is_done)
			asker->n_done++;
	}
}

static void query_print(const struct asker *asker, const struct query *query)
{
	static const char *const names[] = {
		[BALEEN_ICP_HIT] = "HIT",	[BALEEN_ICP_MISS] = "MISS",
		[BALEEN_ICP_ERR] = "ERR",	[BALEEN_ICP_MISS_NOFETCH] = "MISS_NOFETCH",
		[BALEEN_ICP_DENIED] = "DENIED",
	};

	if (query->opcode < 0)
		printf("-");
	else if (query->opcode < (int)(sizeof(names) / sizeof(*names)) && names[query->opcode])
		printf("%s", names[query->opcode]);
	else
		printf("%d", query->opcode);
	printf(" %s", query->url);
	if (asker->wire_fd >= 0) {
		printf(" %s ", query->frame ? query->checksum : "unseen");
		for (size_t i = 0; i < query->n_frame; i++)
			printf("%02x", query->frame[i]);
	}
	printf("\n");
}

/* --- sockets ------------------------------------------------------------------ */

static struct addrinfo *address_of(const char *address, const char *port, int family)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				  .ai_family = family,
				  .ai_socktype = SOCK_DGRAM };
	struct addrinfo *found;
	int error = getaddrinfo(address, port, &hints, &found);

	if (error)
		errx(2, "'%s' port '%s': %s", address ? address : "any", port, gai_strerror(error));
	return found;
}

/* Options that every host skips: four of IPv4, or a header of them in IPv6. */
static void ip_options_set(int fd, int family)
{
	static const u8 nops[4] = { 1, 1, 1, 1 }, padding[8] = { 0, 0, 1, 4 };
	int error = family == AF_INET ?
			    setsockopt(fd, IPPROTO_IP, IP_OPTIONS, nops, sizeof(nops)) :
			    setsockopt(fd, IPPROTO_IPV6, IPV6_DSTOPTS, padding, sizeof(padding));

	if (error)
		err(1, "IP options");
}

static void udp_open(struct asker *asker)
{
	const struct options *options = asker->options;
	struct addrinfo *to = address_of(options->address, options->port, AF_UNSPEC);
	struct addrinfo *from = address_of(options->source, options->from, to->ai_family);
	int room = 4 << 20;

	asker->family = to->ai_family;
	asker->fd = socket(asker->family, SOCK_DGRAM, 0);
	if (asker->fd < 0 || bind(asker->fd, from->ai_addr, from->ai_addrlen) ||
	    connect(asker->fd, to->ai_addr, to->ai_addrlen))
		err(1, "%s", options->address);
	setsockopt(asker->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (options->has_ip_options)
		ip_options_set(asker->fd, asker->family);
	freeaddrinfo(to);
	freeaddrinfo(from);
}

static void wire_open(struct asker *asker)
{
	u16 protocol_be = htons(asker->family == AF_INET ? ETH_P_IP : ETH_P_IPV6);
	struct sockaddr_ll address = { .sll_family = AF_PACKET,
				       .sll_protocol = protocol_be,
				       .sll_ifindex = if_nametoindex(asker->options->device) };
	int one = 1, room = 16 << 20;

	asker->wire_fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (asker->wire_fd < 0 || !address.sll_ifindex ||
	    setsockopt(asker->wire_fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    setsockopt(asker->wire_fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)) ||
	    setsockopt(asker->wire_fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    bind(asker->wire_fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "%s", asker->options->device);
}

/* --- the command line --------------------------------------------------------- */

static u32 number(const char *text, int base)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, base);
	if (!*text || *end || errno || value > UINT32_MAX)
		errx(2, "'%s' is no number", text);
	return value;
}

static void options_parse(struct options *options, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "p:s:a:n:w:t:o:f:iqxd:")) >= 0) {
		switch (option) {
		case 'p': options->port = optarg; break;
		case 's': options->from = optarg; break;
		case 'a': options->source = optarg; break;
		case 'n': options->first = number(optarg, 10); break;
		case 'w': options->window = number(optarg, 10); break;
		case 't': options->timeout_ms = number(optarg, 10); break;
		case 'o': options->opcode = number(optarg, 10); break;
		case 'f': options->flags = number(optarg, 16); break;
		case 'i': options->has_ip_options = true; break;
		case 'q': options->is_quiet = true; break;
		case 'x': options->is_quiet = options->is_hex = true; break;
		case 'd': options->device = optarg; break;
		default: exit(2);
		}
	}
	if (argc != optind + 1 || !options->window)
		errx(2, "usage: icp_ask [OPTION]... ADDRESS");
	options->address = argv[optind];
}

int main(int argc, char **argv)
{
	struct options options = { .port = "3130",
				   .from = "0",
				   .first = 1,
				   .window = 1,
				   .timeout_ms = 5000,
				   .opcode = BALEEN_ICP_QUERY };
	struct asker asker = { .options = &options, .wire_fd = -1 };

	options_parse(&options, argc, argv);
	queries_read(&asker);
	udp_open(&asker);
	if (options.device)
		wire_open(&asker);
	if (options.is_quiet) {
		while (asker.n_sent < asker.n)
			query_send(&asker, asker.n_sent++);
		return 0;
	}
	ask(&asker);
	for (size_t i = 0; i < asker.n; i++)
		query_print(&asker, &asker.at[i]);
	return 0;
}
