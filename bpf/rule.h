/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does a frame match a rule?
 */
#ifndef BALEEN_BPF_RULE_H
#define BALEEN_BPF_RULE_H

#include <baleen/probe.h>
#include <baleen/recent.h>

#include "verdict.h"

/*
 * Global functions hold the long code that few rules need: the verifier looks
 * at each once, for any arguments, instead of once for every path that leads
 * there (16 rules with ports were past its million instructions), and clang
 * keeps neither copies nor registers for it. They take no pointers to packets,
 * maps and constants, so each rule has its own.
 */

/* Where size counts clang begins a loop with its head. Elsewhere it may put the end
 * of the body before that, without a jump, and kernel 6.1 takes no other way back.
 */
#define HAS_LOOPS __attribute__((minsize)) __noinline

__noinline int find_details(struct context *ctx, u32 ip_offset, u32 is_ip6, struct details *details)
{
	const u8 *end = (const u8 *)(long)ctx->data_end;
	const u8 *ip = (const u8 *)(long)ctx->data + (ip_offset & 0xff);

	if (!details || ip + (is_ip6 ? BALEEN_IP6_BYTES : BALEEN_IP4_BYTES) > end)
		return 0;
	details->ip_offset = ip_offset & 0xff;
	if (is_ip6)
		baleen_packet_details(ip, end, true, &details->transport, &details->fields);
	else
		baleen_packet_details(ip, end, false, &details->transport, &details->fields);
	return 1;
}

/* Each object defines these for each of its rules; @n is a constant of the call. */
baleen_inline int rule_qualifies(u32 n, u32 vlan, const struct details *details);
baleen_inline int rule_fields_match(u32 n, const struct details *details);
baleen_inline int rule_stem_test(u32 n, u64 hi, u64 lo, u32 stem);
baleen_inline int rule_other_test(u32 n, u64 hi, u64 lo, u32 is_ip6);
baleen_inline u32 rule_recent_buckets(u32 n);
baleen_inline u32 rule_recent_test(u32 n, u64 hi, u64 lo, u32 is_ip6);

/* The table of the key's domain, when it is not plain. Each branch has a pointer
 * of its own, so that the verifier knows the table's constants behind it; clang
 * would multiply the domain.
 */
baleen_inline const struct baleen_table *other_table(const struct baleen_image *image, u32 domain)
{
	const struct baleen_table *table = NULL;

#pragma clang loop unroll(full)
	for (u32 i = BALEEN_IP4; i <= BALEEN_TUPLE; i++) {
		if (domain == i && !baleen_table_is_fast_path(&image->table[i])) {
			table = &image->table[i];
			asm volatile("" : "+r"(table));
		}
	}
	return table;
}

baleen_inline int other_test(const struct baleen_image *image, const void *store,
			     const struct baleen_key *key)
{
	const struct baleen_table *table = other_table(image, key->domain);

	return table ? baleen_table_test_other(table, &image->seed, store, key) : 0;
}

/* A key of several fields; a WORD and a TUPLE have their own tables. Of a key that cannot be
 * read, nobody knows whether it is there.
 */
baleen_inline int fields_match(const struct baleen_image *image, const void *store, u32 action,
			       const struct details *details)
{
	const struct baleen_table *word = &image->table[BALEEN_WORD];
	const struct baleen_table *tuple = &image->table[BALEEN_TUPLE];
	struct baleen_key key;

	if (!baleen_packet_has_key(&details->transport, image->key_spec))
		return baleen_takes_hidden(action) &&
		       baleen_packet_hides_key(&details->transport, image->key_spec);
	key = baleen_key_fields(image->key_spec, &details->fields);
	if (key.domain == BALEEN_WORD && baleen_table_is_fast_path(word))
		return baleen_table_test_fast_path(word, &image->seed, store, &key);
	if (key.domain == BALEEN_TUPLE && baleen_table_is_fast_path(tuple))
		return baleen_table_test_fast_path(tuple, &image->seed, store, &key);
	return other_test(image, store, &key);
}

/* An address in a table that the packet path is not tuned for: out of line. */
baleen_inline int other_address_test(const struct baleen_image *image, const void *store, u64 hi,
				     u64 lo, u32 is_ip6)
{
	struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = lo };

	if (is_ip6)
		key = (struct baleen_key){ .domain = BALEEN_IP6, .hi = hi, .lo = lo };
	return other_test(image, store, &key);
}

baleen_inline int rule_address_matches(u32 n, const struct baleen_rule *rule, const void *store,
				       const u8 *ip, bool is_ip6)
{
	u32 domain = is_ip6 ? BALEEN_IP6 : BALEEN_IP4, group, stem, recent;
	struct baleen_key key = baleen_packet_key(ip, rule->key_offset[domain], domain);
	const struct baleen_image *image = &rule->image;

	if (rule_recent_buckets(n) && baleen_recent_has(store, image->n_blocks, is_ip6)) {
		recent = rule_recent_test(n, is_ip6 ? key.hi : (u64)key.ip4 << 32,
					  is_ip6 ? key.lo : 0, is_ip6);
		if (recent)
			return recent & 1;
	}
	if (!is_ip6 && image->table[BALEEN_IP4_GROUPS].kind) {
		group = baleen_directory_get(&image->table[BALEEN_IP4_GROUPS], store, key.ip4, 1);
		if (group != BALEEN_GROUP_HOSTS)
			return group;
	}
	if (!is_ip6 || !image->table[BALEEN_IP6_STEMS].kind)
		return baleen_table_is_fast_path(&image->table[domain]) ?
			       baleen_table_test_fast_path(&image->table[domain], &image->seed,
							   store, &key) :
			       rule_other_test(n, key.hi, is_ip6 ? key.lo : key.ip4, is_ip6);
	stem = baleen_stem_get(image, store, &key);
	if (baleen_stem_decides(image, stem))
		return stem & 1;
	return rule_stem_test(n, key.hi, key.lo, stem);
}

baleen_inline bool rule_matches(u32 n, const struct baleen_rule *rule, const void *store,
				const struct frame *frame, bool is_ip6)
{
	if (rule->is_qualified && !rule_qualifies(n, frame->packet.vlan, frame->details))
		return false;
	if (!baleen_spec_is_address(rule->image.key_spec))
		return rule_fields_match(n, frame->details);
	return rule_address_matches(n, rule, store, frame->packet.ip, is_ip6);
}

/* Fills in the details, for rules that need them. */
baleen_inline void look_closer(const struct frame *frame, bool is_ip6)
{
	find_details(frame->ctx, frame->packet.ip - frame->start, is_ip6, frame->details);
}

#endif /* BALEEN_BPF_RULE_H */
