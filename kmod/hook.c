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
#include "compat.h"

#define LINK_BYTES (BALEEN_ETHER_BYTES + BALEEN_MAX_TAGS * BALEEN_TAG_BYTES + BALEEN_PPPOE_BYTES)
#define FLAGS_BYTES (BALEEN_TCP_FLAGS_AT + 1) /* the ports are before them */
#define IP4_OPTIONS_BYTES 40
#define EXTENSION_BYTES (256 * 8) /* RFC 8200 section 4.2: its length has one byte */
#define FIRST_BYTES (LINK_BYTES + BALEEN_IP4_BYTES + IP4_OPTIONS_BYTES + FLAGS_BYTES)
#define MAX_BYTES \
	(LINK_BYTES + BALEEN_IP6_BYTES + BALEEN_MAX_EXTENSIONS * EXTENSION_BYTES + FLAGS_BYTES)

static_assert(FIRST_BYTES >= LINK_BYTES + BALEEN_IP6_BYTES + FLAGS_BYTES);

/**
 * struct hook_scratch - what a packet needs of its CPU
 * @lock: one packet at a time. Bottom halves that are off are enough for that, but with
 *        PREEMPT_RT, where they can be preempted by others of the CPU; it also keeps counters that
 *        are no this_cpu operations
 * @bytes: the beginning of a copy of the packet
 */
struct hook_scratch {
	local_lock_t lock;
	u8 bytes[MAX_BYTES];
};

static struct hook_scratch __percpu *scratch;

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
static bool frame_has_ethernet(const struct sk_buff *skb)
{
	return skb_mac_header_was_set(skb) && skb->data - skb_mac_header(skb) == ETH_HLEN;
}

static u8 *frame_put16(u8 *p, __be16 value_be)
{
	memcpy(p, &value_be, sizeof(value_be));
	return p + sizeof(value_be);
}

/* Sets start and end to a copy of the frame's first @max bytes. */
static void frame_copy(struct frame *frame, u32 max)
{
	const struct sk_buff *skb = frame->skb;
	u8 *copy = this_cpu_ptr(scratch)->bytes;
	u8 *p = copy + 2 * ETH_ALEN;
	u32 n_data;

	memset(copy, 0, 2 * ETH_ALEN);
	if (skb_vlan_tag_present(skb)) {
		p = frame_put16(p, skb->vlan_proto);
		p = frame_put16(p, cpu_to_be16(skb_vlan_tag_get(skb)));
	}
	p = frame_put16(p, frame_has_ethernet(skb) ? eth_hdr(skb)->h_proto : skb->protocol);
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

static void frame_look(struct frame *frame)
{
	const struct sk_buff *skb = frame->skb;

	if (skb_is_nonlinear(skb) || skb_vlan_tag_present(skb) || !frame_has_ethernet(skb)) {
		frame_copy(frame, FIRST_BYTES);
		return;
	}
	frame->start = skb_mac_header(skb);
	frame->end = skb_tail_pointer(skb);
}

/* Fills in the details, for rules that need them. */
static void frame_look_closer(struct frame *frame, bool is_ip6)
{
	struct baleen_packet *packet = &frame->packet;

	if (is_ip6 && frame->end - frame->start < frame->n_bytes &&
	    baleen_is_extension(packet->ip[6])) {
		ptrdiff_t ip_offset = packet->ip - frame->start;

		frame_copy(frame, MAX_BYTES);
		packet->ip = frame->start + ip_offset;
	}
	baleen_packet_details(packet->ip, frame->end, is_ip6, &frame->transport, &frame->fields);
}

/* A packet may have a rule that is gone, after which a swap may have changed the fields of the
 * filter's keys. So the fields and the answer are those of one body.
 */
static int hook_ask(struct baleen_filter *filter, u32 key_spec, const struct baleen_key *key,
		    u32 n_bytes)
{
	const struct baleen_body *body = rcu_dereference(filter->body);
	int hit;

	if (body->image.key_spec != key_spec)
		return 0;
	hit = baleen_image_test(&body->image, body->bytes, key);
	baleen_kfilter_count(filter, n_bytes, hit);
	return hit;
}

static bool hook_rule_matches(const struct baleen_hook_rule *asking, const struct frame *frame,
			      bool is_ip6)
{
	const struct baleen_rule *rule = &asking->rule;
	u32 domain = is_ip6 ? BALEEN_IP6 : BALEEN_IP4, key_spec = rule->image.key_spec;
	struct baleen_key key;

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
	return hook_ask(asking->filter, key_spec, &key, frame->n_bytes);
}

static unsigned int hook_drop(const struct frame *frame)
{
	return frame->rules->flags & BALEEN_DEV_DRY_RUN ? NF_ACCEPT : NF_DROP;
}

static bool frame_is_vital(const struct frame *frame, enum baleen_parse parse)
{
	return baleen_packet_is_vital(frame->start, frame->end, parse, &frame->packet,
				      &frame->transport);
}

/* No rule decided. */
static unsigned int hook_judge_unmatched(struct frame *frame, bool is_ip6)
{
	if (!(frame->rules->flags & BALEEN_DEV_DEFAULT_DROP)) {
		frame->stats->unmatched++;
		return NF_ACCEPT;
	}
	if (is_ip6 && !frame->rules->needs_transport)
		frame_look_closer(frame, true);
	if (is_ip6 && frame_is_vital(frame, BALEEN_PARSE_IP6)) {
		frame->stats->vital++;
		return NF_ACCEPT;
	}
	frame->stats->unmatched++;
	return hook_drop(frame);
}

static unsigned int hook_judge_unparsed(struct frame *frame, enum baleen_parse parse)
{
	bool default_drop = frame->rules->flags & BALEEN_DEV_DEFAULT_DROP;

	if (default_drop && frame_is_vital(frame, parse)) {
		frame->stats->vital++;
		return NF_ACCEPT;
	}
	baleen_count_unparsed(frame->stats, parse);
	return default_drop ? hook_drop(frame) : NF_ACCEPT;
}

static unsigned int hook_judge_ip(struct frame *frame, bool is_ip6)
{
	if (frame->rules->needs_transport)
		frame_look_closer(frame, is_ip6);
	for (u32 i = 0; i < frame->rules->n; i++) {
		const struct baleen_hook_rule *asking = &frame->rules->rule[i];

		if (!hook_rule_matches(asking, frame, is_ip6))
			continue;
		this_cpu_inc(asking->stats->packets);
		this_cpu_add(asking->stats->bytes, frame->n_bytes);
		if (asking->rule.action == BALEEN_ACTION_COUNT)
			continue;
		return asking->rule.action == BALEEN_ACTION_ALLOW ? NF_ACCEPT : hook_drop(frame);
	}
	return hook_judge_unmatched(frame, is_ip6);
}

static unsigned int hook_judge(struct baleen_binding *binding, const struct sk_buff *skb)
{
	struct frame frame = {
		.skb = skb,
		.rules = rcu_dereference(binding->rules),
		.stats = this_cpu_ptr(binding->stats),
		.n_bytes = skb->len + ETH_HLEN + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0),
	};
	enum baleen_parse parse;

	frame_look(&frame);
	parse = baleen_packet_parse(frame.start, frame.end, &frame.packet);
	if (parse == BALEEN_PARSE_IP4)
		return hook_judge_ip(&frame, false);
	if (parse == BALEEN_PARSE_IP6)
		return hook_judge_ip(&frame, true);
	return hook_judge_unparsed(&frame, parse);
}

unsigned int baleen_hook_packet(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	unsigned int verdict;

	local_lock_nested_bh(&scratch->lock);
	verdict = hook_judge(priv, skb);
	local_unlock_nested_bh(&scratch->lock);
	return verdict;
}

int baleen_hook_packets_init(void)
{
	int cpu;

	scratch = __alloc_percpu(sizeof(*scratch), SMP_CACHE_BYTES);
	if (!scratch)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		local_lock_init(&per_cpu_ptr(scratch, cpu)->lock);
	return 0;
}

void baleen_hook_packets_exit(void)
{
	free_percpu(scratch);
}
