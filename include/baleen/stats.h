/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counters and the configuration of the packet path: shared by the XDP
 * program and everybody who loads it or reads its counters.
 */
#ifndef BALEEN_STATS_H
#define BALEEN_STATS_H

#include <baleen/image.h>
#include <baleen/packet.h>
#include <baleen/rate_limit.h>

#define BALEEN_MAX_RULES 16
#define BALEEN_MAX_PORTS 8

/**
 * struct baleen_rule_stats - what one rule decided or observed
 * @packets: frames that matched it
 * @bytes: their length on the wire as XDP sees it, without the FCS
 */
struct baleen_rule_stats {
	u64 packets;
	u64 bytes;
};

/**
 * struct baleen_stats - the counters of one device, per CPU
 * @unmatched: IP frames that no rule decided; they have the default verdict
 * @vital: frames that passed under `--default drop` because no host can live
 *         without them; see baleen_packet_is_vital()
 * @not_ip: unparsed: another protocol than IP
 * @mpls: unparsed: MPLS-labelled
 * @tags: unparsed: more than four VLAN tags
 * @version: unparsed: IP version contradicts the EtherType
 * @too_short: unparsed: ends before its headers do
 * @no_filter: passed: the program was loaded without rules
 * @sampled: frames that became events; these three count in addition
 * @not_sampled: frames that would have, had the rate allowed it
 * @sample_lost: frames whose event found no room in the ring buffer
 * @rule: one per slot; see struct baleen_rule
 *
 * Each frame is counted in exactly one packet counter: that of the rule that
 * decided, or one of the first eight. Rules of BALEEN_ACTION_COUNT count in
 * addition. Unparsed frames have the default verdict. One map entry holds the
 * whole struct, so that bpftool prints it with these names.
 *
 * The map goes from one program of a device to the next, also to that of another
 * release, so its size never changes and no counter gets another meaning: more
 * counters take a map of their own.
 */
struct baleen_stats {
	u64 unmatched;
	u64 vital;
	u64 not_ip;
	u64 mpls;
	u64 tags;
	u64 version;
	u64 too_short;
	u64 no_filter;
	u64 sampled;
	u64 not_sampled;
	u64 sample_lost;
	struct baleen_rule_stats rule[BALEEN_MAX_RULES];
};

/**
 * baleen_count_unparsed() - count a frame that is not IP, or not to be read
 * @stats: counters that nobody else writes
 * @parse: what baleen_packet_parse() made of it; not BALEEN_PARSE_IP4 nor _IP6
 *
 * Context: any, BPF-safe.
 */
baleen_inline void baleen_count_unparsed(struct baleen_stats *stats, enum baleen_parse parse)
{
	switch (parse) {
	case BALEEN_PARSE_MPLS: stats->mpls++; break;
	case BALEEN_PARSE_TAGS: stats->tags++; break;
	case BALEEN_PARSE_VERSION: stats->version++; break;
	case BALEEN_PARSE_SHORT: stats->too_short++; break;
	default: stats->not_ip++; break;
	}
}

/**
 * enum baleen_action - what happens to a frame that a rule matches
 * @BALEEN_ACTION_DROP: it is dropped
 * @BALEEN_ACTION_ALLOW: it passes, later rules are not asked
 * @BALEEN_ACTION_COUNT: it is counted, and the next rule asked
 */
enum baleen_action {
	BALEEN_ACTION_DROP = 0,
	BALEEN_ACTION_ALLOW = 1,
	BALEEN_ACTION_COUNT = 2,
};

/**
 * struct baleen_port_range - ports of a qualifier
 * @first: lowest
 * @last: highest; both in host order
 */
struct baleen_port_range {
	u16 first;
	u16 last;
};

/**
 * enum baleen_established - who knows the connection that a packet belongs to
 * @BALEEN_ESTABLISHED_SOCKET: a socket of this host; see bpf/established.h
 * @BALEEN_ESTABLISHED_CONNTRACK: the kernel's conntrack; see bpf/conntrack.h
 * @BALEEN_ESTABLISHED_ALL: any of them, as a mask
 */
enum baleen_established {
	BALEEN_ESTABLISHED_SOCKET = 1,
	BALEEN_ESTABLISHED_CONNTRACK = 2,
	BALEEN_ESTABLISHED_ALL = 3,
};

/**
 * struct baleen_qualifiers - what a frame has to have besides its key
 * @has_proto: @proto is asked for
 * @proto: IANA protocol number
 * @tcp_syn: a TCP segment that opens a connection: SYN and not ACK
 * @has_vlan: @vlan is asked for
 * @vlan: number of the outermost VLAN, 1 to 4094
 * @n_dports: ranges of @dport; 0 asks for none
 * @established: where a connection is known that it has to belong to: any of
 *               enum baleen_established; 0 for none
 * @dport: destination ports, any of them
 *
 * The first that a release did not know was zero for it.
 */
struct baleen_qualifiers {
	u8 has_proto;
	u8 proto;
	u8 tcp_syn;
	u8 has_vlan;
	u16 vlan;
	u8 n_dports;
	u8 established;
	struct baleen_port_range dport[BALEEN_MAX_PORTS];
};

/**
 * baleen_takes_hidden() - does a rule match a packet that hides what the rule asks for?
 * @action: enum baleen_action of the rule
 *
 * A host may find in it what the rule asks for, and senders who have nothing to hide do not
 * send it: what drops or counts takes it for a match, what lets pass does not. This goes for
 * rules with a limit, too.
 *
 * Context: any, BPF-safe.
 * Return: true for all rules but those that allow.
 */
baleen_inline bool baleen_takes_hidden(u32 action)
{
	return action != BALEEN_ACTION_ALLOW;
}

baleen_inline bool baleen_opens_connection(const struct baleen_transport *transport, u32 action)
{
	if (transport->tcp_flags == BALEEN_TCP_HIDDEN)
		return baleen_takes_hidden(action);
	return transport->has_proto && transport->proto == BALEEN_PROTO_TCP &&
	       (transport->tcp_flags & (BALEEN_TCP_SYN | BALEEN_TCP_ACK)) == BALEEN_TCP_SYN;
}

/**
 * baleen_qualifiers_need_transport() - do they ask for what stands above IP?
 * @asked: qualifiers of a rule
 *
 * Context: any, BPF-safe.
 * Return: true when baleen_qualifies() looks at the transport.
 */
baleen_inline bool baleen_qualifiers_need_transport(const struct baleen_qualifiers *asked)
{
	return asked->has_proto || asked->tcp_syn || asked->n_dports || asked->established;
}

/**
 * baleen_qualifies() - does a packet have what a rule asks for besides its key?
 * @asked: qualifiers of the rule
 * @action: enum baleen_action of the rule
 * @vlan: of struct baleen_packet
 * @transport: of the packet; only looked at when the qualifiers need it
 * @established: enum baleen_established of all who know its connection; only the kernel
 *               can tell
 *
 * The one place that decides this, for XDP, tc, the module and userspace. Of what cannot be
 * read (enum baleen_hidden) see baleen_takes_hidden(). What is known to be something else
 * does not match, and a later fragment has no ports: its first was judged by them. The flags
 * it was judged by may be overwritten by the fragment behind, so that matches `tcp-syn`
 * whatever ports are asked for, too.
 *
 * Context: any, BPF-safe.
 * Return: 1 it does, 0 it does not.
 */
baleen_inline int baleen_qualifies(const struct baleen_qualifiers *asked, u32 action, u32 vlan,
				   const struct baleen_transport *transport, u32 established)
{
	int port_is_asked = 0;
	u32 hidden;

	if (asked->has_vlan && vlan != asked->vlan)
		return 0;
	if (!baleen_qualifiers_need_transport(asked))
		return 1;
	hidden = baleen_packet_hidden(transport);
	if (hidden & BALEEN_HIDDEN_PROTO)
		return baleen_takes_hidden(action);
	if (asked->has_proto && (!transport->has_proto || transport->proto != asked->proto))
		return 0;
	if (asked->tcp_syn && !baleen_opens_connection(transport, action))
		return 0;
	/* A connection is looked for by its ports. */
	if (asked->established && !(asked->established & established) &&
	    !(hidden & BALEEN_HIDDEN_PORTS && baleen_takes_hidden(action)))
		return 0;
	if (!asked->n_dports)
		return 1;
	if (!transport->has_ports)
		return (hidden & BALEEN_HIDDEN_PORTS || asked->tcp_syn) &&
		       baleen_takes_hidden(action);
	/* All of them, by a number that is a constant. */
	BALEEN_UNROLL
	for (u32 i = 0; i < BALEEN_MAX_PORTS; i++) {
		if (i < asked->n_dports)
			port_is_asked |= transport->dport >= asked->dport[i].first &&
					 transport->dport <= asked->dport[i].last;
	}
	return port_is_asked;
}

/**
 * struct baleen_rule - one rule of a device
 * @action: enum baleen_action
 * @slot: slot of its counters in struct baleen_stats; it keeps it when rules are
 *        added, removed and reordered. BALEEN_SLOT_LIMITED may be with it
 * @key_offset: of an address key, in an IPv4 and in an IPv6 header; see
 *              baleen_packet_key_offset()
 * @needs_transport: key or qualifiers ask for the protocol or ports
 * @is_qualified: @qualifiers ask for something
 * @base: the slot's counters when the rule was added; what it counted is what
 *        has come on top
 * @qualifiers: further conditions that a frame has to meet
 * @image: the checked header of the rule's filter; its name is the rule's
 */
struct baleen_rule {
	u32 action;
	u32 slot;
	u32 key_offset[2];
	u32 needs_transport;
	u32 is_qualified;
	struct baleen_rule_stats base;
	struct baleen_qualifiers qualifiers;
	struct baleen_image image;
};

/**
 * baleen_rule_set() - what the packet path has to know of a rule
 * @rule: filled in; slot and base are zero
 * @action: enum baleen_action
 * @name: below BALEEN_NAME_BYTES
 * @qualifiers: further conditions that a frame has to meet; NULL for none
 * @image: the checked header of the rule's filter
 *
 * Context: any but BPF.
 */
baleen_inline void baleen_rule_set(struct baleen_rule *rule, u32 action, const char *name,
				   const struct baleen_qualifiers *qualifiers,
				   const struct baleen_image *image)
{
	*rule = (struct baleen_rule){ .action = action, .image = *image };
	if (qualifiers)
		rule->qualifiers = *qualifiers;
	rule->needs_transport = baleen_qualifiers_need_transport(&rule->qualifiers);
	rule->is_qualified = rule->needs_transport || rule->qualifiers.has_vlan;
	rule->needs_transport |= !baleen_spec_is_address(image->key_spec);
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_IP6; domain++)
		rule->key_offset[domain] = baleen_packet_key_offset(image->key_spec, domain);
	for (u32 i = 0, ended = 0; i < BALEEN_NAME_BYTES; i++) {
		ended |= i == BALEEN_NAME_BYTES - 1 || !name[i];
		rule->image.name[i] = ended ? '\0' : name[i];
	}
}

/* A bit of the slot of a rule, in the constants of a program only: the rule has a limit. Packets
 * read the slot anyway, so a program without a limit has no instruction more.
 */
#define BALEEN_SLOT_LIMITED BALEEN_MAX_RULES

/**
 * enum baleen_limits - what a program does with the limits of its rules
 * @BALEEN_LIMITS_NONE: none of its rules has one
 * @BALEEN_LIMITS_COUNT: packets take tokens
 * @BALEEN_LIMITS_PEEK: asks who is over, and changes nothing: a shadow program, a replay
 */
enum baleen_limits {
	BALEEN_LIMITS_NONE = 0,
	BALEEN_LIMITS_COUNT = 1,
	BALEEN_LIMITS_PEEK = 2,
};

#define BALEEN_CONFIG_VERSION 12
#define BALEEN_CONFIG_OLDEST 2 /* that is still understood */
#define BALEEN_DEVICE_BYTES 16

/**
 * struct baleen_tcp_fields - where the numbers of a connection stand in a struct tcp_sock of the
 * kernel, in bytes from its start; all are 0 when that is not known
 * @rcv_nxt: the number that the next byte to come has
 * @rcv_wup: what it was when the peer was told of a window last
 * @rcv_wnd: that window
 * @snd_una: the first byte sent that the peer has not acknowledged
 * @snd_nxt: the number that the next byte to be sent has
 * @max_window: the largest window that the peer has told of
 */
struct baleen_tcp_fields {
	u32 rcv_nxt;
	u32 rcv_wup;
	u32 rcv_wnd;
	u32 snd_una;
	u32 snd_nxt;
	u32 max_window;
};

/**
 * struct baleen_config - constants of one load of the XDP program
 * @version: BALEEN_CONFIG_VERSION; first, so that a later release can tell
 * @n_rules: 1 to BALEEN_MAX_RULES; 0, the value of an object that nobody
 *           configured, passes everything and counts it
 * @frags: the program may see multi-buffer frames, whose length takes a call
 * @mode: how the attach was asked for, for status; enum baleen_mode
 * @default_drop: drop frames that no rule decides, except vital ones
 * @dry_run: count what would be dropped, drop nothing
 * @needs_transport: some rule does
 * @attach_type: how the program was put on the device; enum baleen_attach_type
 * @sample_interval_ns: least time between two events; 0 for no events
 * @device: name of the device at attach, for status after it was renamed
 * @rule: the rules in order of evaluation, first match wins
 * @code: of the release whose program it is; see baleen_load_code(). Version 3;
 *        0 of an earlier one. Version 4 ends where version 3 does: the tables of
 *        its images have kinds and shapes that an earlier release does not know
 * @recent_buckets: of each rule, buckets of the table of recent changes behind its image;
 *                  0 for none: see recent.h. Version 5
 * @established: of all rules, enum baleen_established. Version 6; version 9 ends where version
 *               8 does, and rules may ask conntrack, which an earlier release does not know
 * @port_lock_bit: where, in bits from the start of a struct sock of the kernel, stands
 *                 that a process chose the port of a socket itself (SOCK_BINDPORT_LOCK);
 *                 0 when that is not known. Version 6
 * @is_egress: it is the program of what goes out, of tc; else what comes in. Version 7
 * @no_ethernet: frames of the device begin with their IP header. Version 7
 * @limits: enum baleen_limits. Version 8
 * @limit: of each rule. Version 8
 * @prefilter_rules: rules that do not match an IPv4 packet whose address the prefilter does
 *                   not have, a bit each; 0 for no prefilter. Version 10
 * @prefilter_key_offset: of this address in the IPv4 header. Version 10
 * @prefilter: header of the prefilter: see user/lib/filter/prefilter.h. Version 10
 * @tcp: for limits without `unverified`, by which a segment is held to its connection. Version
 *       11; the program of an earlier one counts whatever finds a connection
 * @hands_on: what it lets pass goes on to the program in slot 0 of its map baleen_next, if there
 *            is one; never of what goes out. Version 12
 * @loads_stay: baleen_loads_stay() of this machine. Version 12
 *
 * A release manages what an earlier one attached. So what is here stays, with
 * all that is in struct baleen_rule and in the image in it. A new constant comes
 * with a new version, at the end (of the rules: as an array of its own), and
 * zero means what was done before there was one: the constants of an earlier
 * version are a prefix of those of a later one. user/lib/xdp/config.c lists where
 * each version ends. An earlier release refuses what a later one attached.
 */
struct baleen_config {
	u32 version;
	u32 n_rules;
	u32 frags;
	u32 mode;
	u32 default_drop;
	u32 dry_run;
	u32 needs_transport;
	u32 attach_type;
	u64 sample_interval_ns;
	char device[BALEEN_DEVICE_BYTES];
	struct baleen_rule rule[BALEEN_MAX_RULES];
	u64 code;
	u32 recent_buckets[BALEEN_MAX_RULES];
	u32 established;
	u32 port_lock_bit;
	u32 is_egress;
	u32 no_ethernet;
	u64 limits;
	struct baleen_limit limit[BALEEN_MAX_RULES];
	u32 prefilter_rules;
	u32 prefilter_key_offset;
	struct baleen_image prefilter;
	struct baleen_tcp_fields tcp;
	u32 hands_on;
	u32 loads_stay;
};

/**
 * enum baleen_attach_type - how a program is on a device
 * @BALEEN_ATTACH_TYPE_LINK: by a BPF link of its own
 * @BALEEN_ATTACH_TYPE_NETLINK: as other tools do it, so that they can remove it
 * @BALEEN_ATTACH_TYPE_CHAIN: in libxdp's dispatcher, beside other programs
 */
enum baleen_attach_type {
	BALEEN_ATTACH_TYPE_LINK = 0,
	BALEEN_ATTACH_TYPE_NETLINK = 1,
	BALEEN_ATTACH_TYPE_CHAIN = 2,
};

/* Rule numbers of an event that no rule made. */
#define BALEEN_EVENT_DEFAULT 0xffffffffu
#define BALEEN_EVENT_UNPARSED 0xfffffffeu

#define BALEEN_EVENT_BYTES 192

/**
 * struct baleen_event - one sampled frame, as it stands in the ring buffer
 * @time_ns: of CLOCK_MONOTONIC, as coarse as the kernel's tick
 * @slot: slot of the rule that matched; BALEEN_EVENT_DEFAULT or _UNPARSED
 * @action: enum baleen_action; what no rule matched was dropped
 * @frame_bytes: length of the frame
 * @n_captured: bytes of @frame that are set
 * @dry_run: a frame with the verdict drop has passed
 * @reserved: zero
 * @frame: its first bytes
 *
 * Readers and programs may be of different releases: as for struct baleen_stats,
 * size and meaning stay.
 *
 * Sampled are frames that are dropped (or would be, in a dry run) and frames
 * that a rule only counts.
 */
struct baleen_event {
	u64 time_ns;
	u32 slot;
	u32 action;
	u32 frame_bytes;
	u32 n_captured;
	u32 dry_run;
	u32 reserved;
	u8 frame[BALEEN_EVENT_BYTES];
};

/**
 * struct baleen_sampler - when the next event may be
 * @next_ns: of the coarse CLOCK_MONOTONIC
 * @closed_tick: the tick in which that was still to come
 */
struct baleen_sampler {
	u64 next_ns;
	u64 closed_tick;
};

#endif /* BALEEN_STATS_H */
