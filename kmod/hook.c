// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The verdict on a packet at the ingress hook.
 *
 * The parser of <baleen/packet.h> wants the frame as it was on the wire, in one
 * piece. So it is where the packet is linear and has no VLAN tag beside it, which the
 * stack takes off every frame. Else its beginning is copied, with the tag put back:
 *
 *      12 zeros | tag, if any | EtherType | data of the packet ...
 *
 * The addresses of Ethernet stay away since the parser does not look at them.
 *
 * The whole frame can be read, so a packet has the same verdict as its frame in one
 * piece: the parser looks at FIRST_BYTES of a frame at the most, unless it walks
 * along the extension headers of IPv6, which may be MAX_BYTES, and are copied when
 * there are any and a rule has to know what follows them.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>

#include "binding.h"

#define LINK_BYTES (BALEEN_ETHER_BYTES + BALEEN_MAX_TAGS * BALEEN_TAG_BYTES + BALEEN_PPPOE_BYTES)
#define FLAGS_BYTES (BALEEN_TCP_FLAGS_AT + 1) /* the ports are before them */
#define IP4_OPTIONS_BYTES 40
#define EXTENSION_BYTES (256 * 8) /* RFC 8200 section 4.2: its length has one byte */
#define FIRST_BYTES (LINK_BYTES + BALEEN_IP4_BYTES + IP4_OPTIONS_BYTES + FLAGS_BYTES)
#define MAX_BYTES \
	(LINK_BYTES + BALEEN_IP6_BYTES + BALEEN_MAX_EXTENSIONS * EXTENSION_BYTES + FLAGS_BYTES)

static_assert(FIRST_BYTES >= LINK_BYTES + BALEEN_IP6_BYTES + FLAGS_BYTES);

/* Copies of packets, MAX_BYTES for each CPU: it has one packet at a time. */
static u8 __percpu *scratch;

/**
 * struct frame - a packet on its way to a verdict
 * @skb: the packet
 * @rules: rules of its device
 * @stats: the counters of this CPU
 * @n_bytes: size of the whole frame as on the wire
 * @start: its first byte, in the packet or in a copy
 * @end: one past the last byte that may be read
 * @packet: the parsed headers
 * @transport: set when a rule needs it
 * @fields: set with it
 */
struct frame {
	const struct sk_buff *skb;
	const struct baleen_hook_rules *rules;
	struct baleen_stats *stats;
	u32 n_bytes;
	const u8 *start;
	const u8 *end;
	struct baleen_packet packet;
	struct baleen_transport transport;
	struct baleen_fields fields;
};

/* A packet that was redirected from a device of another kind may have none. */
static bool has_ethernet(const struct sk_buff *skb)
{
	return skb_mac_header_was_set(skb) && skb->data - skb_mac_header(skb) == ETH_HLEN;
}

static u8 *put16(u8 *p, __be16 value_be)
{
	memcpy(p, &value_be, sizeof(value_be));
	return p + sizeof(value_be);
}

/* Sets start and end to a copy of the frame's first @max bytes. */
static void copy_frame(struct frame *frame, u32 max)
{
	const struct sk_buff *skb = frame->skb;
	u8 *copy = this_cpu_ptr(scratch);
	u8 *p = copy + 2 * ETH_ALEN;
	u32 n_data;

	memset(copy, 0, 2 * ETH_ALEN);
	if (skb_vlan_tag_present(skb)) {
		p = put16(p, skb->vlan_proto);
		p = put16(p, cpu_to_be16(skb_vlan_tag_get(skb)));
	}
	p = put16(p, has_ethernet(skb) ? eth_hdr(skb)->h_proto : skb->protocol);
	n_data = min_t(u32, skb->len, max - (p - copy));
	/* The copy fails when a part of the packet is memory of a device (since 6.12).
	 * Headers are never in such memory.
	 */
	if (skb_copy_bits(skb, 0, p, n_data)) {
		n_data = min(n_data, skb_headlen(skb));
		skb_copy_from_linear_data(skb, p, n_data);
	}
	frame->start = copy;
	frame->end = p + n_data;
}

static void look(struct frame *frame)
{
	const struct sk_buff *skb = frame->skb;

	if (skb_is_nonlinear(skb) || skb_vlan_tag_present(skb) || !has_ethernet(skb)) {
		copy_frame(frame, FIRST_BYTES);
		return;
	}
	frame->start = skb_mac_header(skb);
	frame->end = skb_tail_pointer(skb);
}

/* Fills in the details, for rules that need them. */
static void look_closer(struct frame *frame, bool is_ip6)
{
	struct baleen_packet *packet = &frame->packet;

	if (is_ip6 && frame->end - frame->start < frame->n_bytes &&
	    baleen_is_extension(packet->ip[6])) {
		ptrdiff_t ip_offset = packet->ip - frame->start;

		copy_frame(frame, MAX_BYTES);
		packet->ip = frame->start + ip_offset;
	}
	baleen_packet_details(packet->ip, frame->end, is_ip6, &frame->transport, &frame->fields);
}

static bool rule_matches(const struct baleen_hook_rule *asking, const struct frame *frame,
			 bool is_ip6)
{
	const struct baleen_rule *rule = &asking->rule;
	u32 domain = is_ip6 ? BALEEN_IP6 : BALEEN_IP4, key_spec = rule->image.key_spec;
	struct baleen_key key;
	int hit;

	if (rule->is_qualified && !baleen_qualifies(&rule->qualifiers, rule->action,
						    frame->packet.vlan, &frame->transport, 0))
		return false;
	if (baleen_spec_is_address(key_spec))
		key = baleen_packet_key(frame->packet.ip, rule->key_offset[domain], domain);
	else if (baleen_packet_has_key(&frame->transport, key_spec))
		key = baleen_key_fields(key_spec, &frame->fields);
	else
		return baleen_takes_hidden(rule->action) &&
		       baleen_packet_hides_key(&frame->transport, key_spec);
	hit = baleen_kfilter_test(asking->filter, &key);
	baleen_kfilter_count(asking->filter, frame->n_bytes, hit);
	return hit;
}

static unsigned int drop(const struct frame *frame)
{
	return frame->rules->flags & BALEEN_DEV_DRY_RUN ? NF_ACCEPT : NF_DROP;
}

static bool is_vital(const struct frame *frame, enum baleen_parse parse)
{
	return baleen_packet_is_vital(frame->start, frame->end, parse, &frame->packet,
				      &frame->transport);
}

/* No rule decided. */
static unsigned int judge_unmatched(struct frame *frame, bool is_ip6)
{
	if (!(frame->rules->flags & BALEEN_DEV_DEFAULT_DROP)) {
		frame->stats->unmatched++;
		return NF_ACCEPT;
	}
	if (is_ip6 && !frame->rules->needs_transport)
		look_closer(frame, true);
	if (is_ip6 && is_vital(frame, BALEEN_PARSE_IP6)) {
		frame->stats->vital++;
		return NF_ACCEPT;
	}
	frame->stats->unmatched++;
	return drop(frame);
}

static unsigned int judge_unparsed(struct frame *frame, enum baleen_parse parse)
{
	bool default_drop = frame->rules->flags & BALEEN_DEV_DEFAULT_DROP;

	if (default_drop && is_vital(frame, parse)) {
		frame->stats->vital++;
		return NF_ACCEPT;
	}
	baleen_count_unparsed(frame->stats, parse);
	return default_drop ? drop(frame) : NF_ACCEPT;
}

static unsigned int judge(struct frame *frame, bool is_ip6)
{
	if (frame->rules->needs_transport)
		look_closer(frame, is_ip6);
	for (u32 i = 0; i < frame->rules->n; i++) {
		const struct baleen_hook_rule *asking = &frame->rules->rule[i];

		if (!rule_matches(asking, frame, is_ip6))
			continue;
		this_cpu_inc(asking->stats->packets);
		this_cpu_add(asking->stats->bytes, frame->n_bytes);
		if (asking->rule.action == BALEEN_ACTION_COUNT)
			continue;
		return asking->rule.action == BALEEN_ACTION_ALLOW ? NF_ACCEPT : drop(frame);
	}
	return judge_unmatched(frame, is_ip6);
}

unsigned int baleen_hook_packet(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct baleen_binding *binding = priv;
	struct frame frame = {
		.skb = skb,
		.rules = rcu_dereference(binding->rules),
		.stats = this_cpu_ptr(binding->stats),
		.n_bytes = skb->len + ETH_HLEN + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0),
	};
	enum baleen_parse parse;

	look(&frame);
	parse = baleen_packet_parse(frame.start, frame.end, &frame.packet);
	if (parse == BALEEN_PARSE_IP4)
		return judge(&frame, false);
	if (parse == BALEEN_PARSE_IP6)
		return judge(&frame, true);
	return judge_unparsed(&frame, parse);
}

int baleen_hook_packets_init(void)
{
	scratch = __alloc_percpu(MAX_BYTES, SMP_CACHE_BYTES);
	return scratch ? 0 : -ENOMEM;
}

void baleen_hook_packets_exit(void)
{
	free_percpu(scratch);
}
