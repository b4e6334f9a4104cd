/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the packet path counts, and what it is told: shared by the XDP
 * program and everybody who loads it or reads its counters.
 */
#ifndef BALEEN_STATS_H
#define BALEEN_STATS_H

#include <baleen/image.h>
#include <baleen/packet.h>

#define BALEEN_MAX_RULES 16

/**
 * struct baleen_rule_stats - what one rule decided
 * @packets: frames whose verdict came from this rule
 * @bytes: their length on the wire as XDP sees it, without the FCS
 */
struct baleen_rule_stats {
	u64 packets;
	u64 bytes;
};

/**
 * struct baleen_stats - the counters of one device, per CPU
 * @passed: IP frames that no rule matched
 * @pass_not_ip: fail-open: another protocol than IP
 * @pass_mpls: fail-open: MPLS-labelled
 * @pass_tags: fail-open: more than four VLAN tags
 * @pass_version: fail-open: IP version contradicts the EtherType
 * @pass_short: fail-open: ends before its headers do
 * @pass_no_filter: fail-open: the program was loaded without rules
 * @rule: one per rule, in order
 *
 * Each frame is counted in exactly one packet counter. One map entry holds
 * the whole struct, so that bpftool prints it with these names.
 */
struct baleen_stats {
	u64 passed;
	u64 pass_not_ip;
	u64 pass_mpls;
	u64 pass_tags;
	u64 pass_version;
	u64 pass_short;
	u64 pass_no_filter;
	struct baleen_rule_stats rule[BALEEN_MAX_RULES];
};

/**
 * enum baleen_action - what happens to a frame that a rule matches
 * @BALEEN_ACTION_DROP: it is dropped
 * @BALEEN_ACTION_ALLOW: it passes, later rules are not asked
 */
enum baleen_action {
	BALEEN_ACTION_DROP = 0,
	BALEEN_ACTION_ALLOW = 1,
};

/**
 * struct baleen_rule - one rule of a device
 * @action: enum baleen_action
 * @key_offset: where the key stands in an IPv4 and in an IPv6 header; see
 *              baleen_packet_key_offset()
 * @reserved: zero
 * @image: the checked header of the rule's filter; its name is the rule's
 */
struct baleen_rule {
	u32 action;
	u32 key_offset[2];
	u32 reserved;
	struct baleen_image image;
};

/**
 * baleen_rule_set() - what the packet path has to know of a rule
 * @rule: filled in
 * @action: enum baleen_action
 * @name: below BALEEN_NAME_BYTES
 * @image: the checked header of the rule's filter
 *
 * Context: userspace.
 */
baleen_inline void baleen_rule_set(struct baleen_rule *rule, u32 action, const char *name,
				   const struct baleen_image *image)
{
	*rule = (struct baleen_rule){ .action = action, .image = *image };
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_IP6; domain++)
		rule->key_offset[domain] = baleen_packet_key_offset(image->key_spec, domain);
	for (u32 i = 0, ended = 0; i < BALEEN_NAME_BYTES; i++) {
		ended |= i == BALEEN_NAME_BYTES - 1 || !name[i];
		rule->image.name[i] = ended ? '\0' : name[i];
	}
}

#define BALEEN_CONFIG_VERSION 1
#define BALEEN_DEVICE_BYTES 16

/**
 * struct baleen_config - constants of one load of the XDP program
 * @version: BALEEN_CONFIG_VERSION; first, so that a later release can tell
 * @n_rules: 1 to BALEEN_MAX_RULES; 0, the value of an object that nobody
 *           configured, passes everything and counts it
 * @frags: the program may see multi-buffer frames, whose length takes a call
 * @mode: how the attach was asked for, for status; enum baleen_mode
 * @device: name of the device at attach, for status after it was renamed
 * @rule: the rules in order of evaluation, first match wins
 */
struct baleen_config {
	u32 version;
	u32 n_rules;
	u32 frags;
	u32 mode;
	char device[BALEEN_DEVICE_BYTES];
	struct baleen_rule rule[BALEEN_MAX_RULES];
};

#endif /* BALEEN_STATS_H */
