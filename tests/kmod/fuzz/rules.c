// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules on devices that may go at any moment, and frames for them. */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <sys/socket.h>

#include "fuzz.h"

#define MAX_FRAME 3000

static u32 any_device(struct fuzz *fuzz)
{
	return if_nametoindex(devices[below(fuzz, 4)]);
}

/* Of one of the names, of its own, or what the rule has. */
static void fill_rule(struct fuzz *fuzz, u32 i, struct baleen_dev_rule *rule, bool *spoiled)
{
	struct place at;
	size_t n_bytes;
	u8 *bytes;

	snprintf((char *)rule->name, sizeof(rule->name), "rule-%u", one_in(fuzz, 16) ? 0 : i);
	rule->action = below(fuzz, 3);
	if (one_in(fuzz, 3)) {
		rule->qualifiers.has_proto = 1;
		rule->qualifiers.proto = below(fuzz, 2) ? 17 : 6;
		rule->qualifiers.n_dports = below(fuzz, 3);
		for (u32 k = 0; k < rule->qualifiers.n_dports; k++)
			rule->qualifiers.dport[k].last = 1 + below(fuzz, 65535);
	}
	switch (below(fuzz, 4)) {
	case 0:
		bytes = make_image(fuzz, rule->name, &n_bytes);
		if (n_bytes < SLOT_BYTES / 2 - fuzz->n_used - (64u << 10)) {
			at = place(fuzz, n_bytes);
			memcpy(at.at, bytes, n_bytes);
			rule->image = address_of(fuzz, &at, spoiled);
			rule->n_bytes = n_bytes;
		}
		free(bytes);
		break;
	case 1: break;
	default: name_of(below(fuzz, N_NAMES), rule->filter);
	}
}

void op_bind(struct fuzz *fuzz)
{
	u32 n_rules = 1 + below(fuzz, one_in(fuzz, 4) ? BALEEN_DEV_MAX_RULES : 2);
	u32 rule_bytes = size_of(fuzz, sizeof(struct baleen_dev_rule));
	struct place at = place(fuzz, n_rules * rule_bytes);
	struct baleen_dev_bind arg = {
		.ifindex = any_device(fuzz),
		.flags = below(fuzz, 8),
		.n_rules = n_rules,
		.rule_bytes = rule_bytes,
		.priority = one_in(fuzz, 4) ? (int)below(fuzz, 100) - 50 : 0,
	};
	bool spoiled = false;

	memset(at.at, 0, at.n_bytes);
	for (u32 i = 0; i < n_rules; i++)
		fill_rule(fuzz, i, (void *)(at.at + i * rule_bytes), &spoiled);
	if (one_in(fuzz, 8))
		at.at[below(fuzz, at.n_bytes)] = next_random(&fuzz->random);
	arg.rules = address_of(fuzz, &at, &spoiled);
	call(fuzz, BALEEN_DEV_BIND, &arg, sizeof(arg), &spoiled);
}

void op_unbind(struct fuzz *fuzz)
{
	struct baleen_dev_unbind arg = { .ifindex = any_device(fuzz) };
	bool spoiled = false;

	call(fuzz, BALEEN_DEV_UNBIND, &arg, sizeof(arg), &spoiled);
}

void op_binding(struct fuzz *fuzz)
{
	u32 room = below(fuzz, BALEEN_DEV_MAX_RULES + 2);
	u32 rule_bytes = size_of(fuzz, sizeof(struct baleen_dev_bound_rule));
	struct place rules = place(fuzz, room * rule_bytes);
	struct place indexes = place(fuzz, room * sizeof(u32));
	struct baleen_dev_binding arg = { .ifindex = any_device(fuzz),
					  .room = room,
					  .rule_bytes = rule_bytes };
	struct baleen_dev_bindings all = { .room = room };
	bool spoiled = false;

	arg.rules = address_of(fuzz, &rules, &spoiled);
	call(fuzz, BALEEN_DEV_BINDING, &arg, sizeof(arg), &spoiled);
	all.ifindexes = address_of(fuzz, &indexes, &spoiled);
	call(fuzz, BALEEN_DEV_BINDINGS, &all, sizeof(all), &spoiled);
}

/* Tags, then IPv4 or IPv6 of the keys that filters hold, then anything. */
static size_t make_frame(struct fuzz *fuzz, u8 *frame)
{
	static const u16 tags[] = { 0x8100, 0x88a8, 0x8864, 0x8847 };
	size_t n = 12, n_bytes = 60 + below(fuzz, one_in(fuzz, 4) ? MAX_FRAME - 60 : 40);
	u32 key = htonl(0x0a000000 | below(fuzz, 512));
	u16 type;

	for (size_t i = 0; i < n_bytes; i++)
		frame[i] = next_random(&fuzz->random);
	frame[0] &= 0xfe;
	for (u32 i = below(fuzz, 3) * below(fuzz, 3); i; i--, n += 4) {
		type = htons(tags[below(fuzz, 4)]);
		memcpy(frame + n, &type, 2);
	}
	type = htons(one_in(fuzz, 2) ? 0x0800 : 0x86dd);
	memcpy(frame + n, &type, 2);
	n += 2;
	frame[n] = type == htons(0x0800) ? 0x40 | (one_in(fuzz, 2) ? 5 : below(fuzz, 16)) : 0x60;
	if (type == htons(0x0800)) {
		frame[n + 9] = below(fuzz, 2) ? 17 : 6;
		memcpy(frame + n + 12, &key, 4);
	} else {
		static const u8 next[] = { 0, 6, 17, 43, 44, 51, 58, 60, 135 };

		frame[n + 6] = next[below(fuzz, sizeof(next))];
		frame[n + 40] = next[below(fuzz, sizeof(next))];
		frame[n + 41] = below(fuzz, 8);
	}
	return one_in(fuzz, 8) ? 14 + below(fuzz, n_bytes - 14) : n_bytes;
}

/* A burst, some of them with a header that makes them merged packets. */
void op_send(struct fuzz *fuzz)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_ifindex = any_device(fuzz),
		.sll_halen = 6,
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), one = 1;
	bool merged = one_in(fuzz, 3);
	struct {
		struct virtio_net_hdr head;
		u8 frame[MAX_FRAME];
	} __attribute__((packed)) bytes;

	if (fd < 0)
		return;
	if (merged)
		setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one));
	for (u32 i = 0; i < 8; i++) {
		size_t n_bytes = make_frame(fuzz, bytes.frame);

		memset(&bytes.head, 0, sizeof(bytes.head));
		bytes.head.hdr_len = 14 + below(fuzz, 60);
		/* A frame that its device refuses is no finding. */
		if (sendto(fd, merged ? (u8 *)&bytes : bytes.frame,
			   n_bytes + (merged ? sizeof(bytes.head) : 0), MSG_DONTWAIT,
			   (struct sockaddr *)&to, sizeof(to)) < 0)
			errno = 0;
	}
	close(fd);
}
