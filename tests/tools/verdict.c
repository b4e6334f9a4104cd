// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asks the XDP program on a device about source addresses, by BPF_PROG_TEST_RUN.
 *
 *      verdict DEVICE ADDRESS...
 *
 * Prints a letter for each address, D when its frame is dropped and P when it
 * passes, or `none` when the device has no program. For tests that ask a
 * thousand times; that real frames fare the same is for others to show.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

struct frame {
	struct ether_header ether;
	union {
		struct iphdr ip4;
		struct ip6_hdr ip6;
	};
	char rest[16];
} __attribute__((packed));

static void frame_make(struct frame *frame, const char *source)
{
	struct in6_addr address;

	memset(frame, 0, sizeof(*frame));
	if (inet_pton(AF_INET6, source, &address) == 1) {
		frame->ether.ether_type = htons(ETHERTYPE_IPV6);
		frame->ip6.ip6_vfc = 6 << 4;
		/* Known to be no TCP; extension headers of zeros would hide what is behind them. */
		frame->ip6.ip6_nxt = IPPROTO_NONE;
		memcpy(&frame->ip6.ip6_src, &address, 16);
	} else if (inet_pton(AF_INET, source, &address) == 1) {
		frame->ether.ether_type = htons(ETHERTYPE_IP);
		frame->ip4.version = 4;
		frame->ip4.ihl = sizeof(frame->ip4) / 4;
		memcpy(&frame->ip4.saddr, &address, 4);
	} else {
		errx(2, "'%s': no address", source);
	}
}

static char ask(int program_fd, const char *source)
{
	struct frame frame;
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = &frame, .data_size_in = sizeof(frame),
		    .repeat = 1);

	frame_make(&frame, source);
	if (bpf_prog_test_run_opts(program_fd, &options))
		err(3, "BPF_PROG_TEST_RUN");
	switch (options.retval) {
	case XDP_DROP: return 'D';
	case XDP_PASS: return 'P';
	default: errx(3, "verdict %u", options.retval);
	}
}

int main(int argc, char **argv)
{
	unsigned int ifindex;
	u_int32_t id;
	int fd;

	if (argc < 3)
		errx(2, "usage: verdict DEVICE ADDRESS...");
	ifindex = if_nametoindex(argv[1]);
	if (!ifindex || bpf_xdp_query_id(ifindex, 0, &id))
		err(3, "%s", argv[1]);
	if (!id) {
		puts("none");
		return 0;
	}
	fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		err(3, "program %u", id);
	for (int i = 2; i < argc; i++)
		putchar(ask(fd, argv[i]));
	putchar('\n');
	return 0;
}
