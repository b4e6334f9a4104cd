/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy of a fleet: who may publish, and how much of it every receiver applies.
 *
 * It is a text that is signed off-line (fleet_minisign.h). A line is a statement, `#` begins a
 * comment:
 *
 *      fleet example                   for this fleet alone; the first statement
 *      serial 7                        a host takes no policy with a smaller one
 *      expires 2027-06-30              the last day, by UTC; then it is told that it is too old
 *      never 192.0.2.0/24 2001:db8::1  no ban of it counts on any host
 *      host web1 PUBLIC-KEY            who may sign as web1/...
 *      host ops PUBLIC-KEY
 *      publisher web?/fail2ban
 *        sets bans                     sets that it may publish to
 *        rate 600/m                    bans that are applied, a second, minute or hour
 *        entries 10000                 bans in force at a time
 *        shortest-prefix 24 48         of IPv4 and of IPv6
 *        coverage 1M                   IPv4 addresses, and /64s of IPv6, that they cover
 *        max-ttl 24h                   a ban that ends later ends then
 *      publisher ops/control
 *        entries 100000                pardons, and words on publishers
 *        may pardon suspend            an operator
 *      publisher web?/operator
 *        may signal                    votes on lists
 *
 * The limits above but sets are those of a pattern that states none. A publisher that no pattern
 * fits, or whose host has no key, is refused.
 */
#ifndef BALEEN_FLEET_POLICY_H
#define BALEEN_FLEET_POLICY_H

#include "fleet/fleet_batch.h"

#define BALEEN_FLEET_MAX_SETS 8
/* A host may publish under so many names. */
#define BALEEN_FLEET_MAX_NAMES 64
#define BALEEN_FLEET_POLICY_MAX (16u << 20)

/* Limits of a pattern that states none. */
#define BALEEN_FLEET_RATE 600
#define BALEEN_FLEET_RATE_MS 60000ull
#define BALEEN_FLEET_ENTRIES 10000
#define BALEEN_FLEET_SHORTEST_IP4 24
#define BALEEN_FLEET_SHORTEST_IP6 48
#define BALEEN_FLEET_COVERAGE (1u << 20)

/**
 * struct baleen_fleet_host - a host that has a key
 * @name: the part of a publisher before the slash
 * @public_key: its key
 */
struct baleen_fleet_host {
	char name[BALEEN_FLEET_PUBLISHER_BYTES];
	u8 public_key[BALEEN_FLEET_PUBLIC_BYTES];
};

/**
 * struct baleen_fleet_grant - what publishers of a pattern may do
 * @pattern: HOST/ORIGIN; `*` stands for any text without a slash
 * @n_sets: how many sets
 * @set: names of sets
 * @rate: bans within @rate_ms that are applied
 * @rate_ms: a second, a minute or an hour
 * @entries: most bans in force
 * @shortest_ip4: shortest prefix of IPv4
 * @shortest_ip6: shortest prefix of IPv6
 * @coverage: most IPv4 addresses that bans in force cover, and most /64s of IPv6
 * @max_ttl_ms: longest time between making and end
 * @may_pardon: let keys go, as HOST/control
 * @may_suspend: suspend, resume, and ask, as HOST/control
 * @may_signal: control messages: signal
 */
struct baleen_fleet_grant {
	char pattern[BALEEN_FLEET_PUBLISHER_BYTES];
	u32 n_sets;
	char set[BALEEN_FLEET_MAX_SETS][BALEEN_FLEET_NAME_BYTES];
	u64 rate;
	u64 rate_ms;
	u64 entries;
	u32 shortest_ip4;
	u32 shortest_ip6;
	u64 coverage;
	u64 max_ttl_ms;
	bool may_pardon;
	bool may_suspend;
	bool may_signal;
};

/**
 * struct baleen_fleet_policy - the policy
 * @fleet: name of the fleet
 * @serial: its number
 * @expires_ms: when its last day ends, milliseconds since 1970; 0 for never
 * @never: addresses and prefixes that nobody bans
 * @n_never: how many
 * @host: hosts with a key
 * @n_hosts: how many
 * @grant: patterns, in order
 * @n_grants: how many
 */
struct baleen_fleet_policy {
	char fleet[BALEEN_FLEET_NAME_BYTES];
	u64 serial;
	u64 expires_ms;
	struct baleen_fleet_key *never;
	size_t n_never;
	struct baleen_fleet_host *host;
	size_t n_hosts;
	struct baleen_fleet_grant *grant;
	size_t n_grants;
};

/**
 * baleen_fleet_policy_parse() - a policy from text
 * @text: the text, with or without a newline at its end
 * @n_bytes: bytes of it
 * @name: name of the file in messages
 * @policy: filled in; to be freed with baleen_fleet_policy_free(); untouched on failure
 * @error: filled in on failure: NAME:LINE: what is wrong
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int baleen_fleet_policy_parse(const char *text, size_t n_bytes, const char *name,
			      struct baleen_fleet_policy *policy, struct baleen_error *error);

/**
 * baleen_fleet_policy_free() - free a policy
 * @policy: parsed, or all zeros
 */
void baleen_fleet_policy_free(struct baleen_fleet_policy *policy);

/**
 * baleen_fleet_policy_key() - the key that a publisher signs with
 * @policy: the policy
 * @publisher: HOST/ORIGIN
 *
 * Return: BALEEN_FLEET_PUBLIC_BYTES bytes of the policy; NULL when its host has none.
 */
const u8 *baleen_fleet_policy_key(const struct baleen_fleet_policy *policy, const char *publisher);

/**
 * baleen_fleet_policy_grant() - what a publisher may do
 * @policy: the policy
 * @publisher: HOST/ORIGIN
 *
 * Return: of the first pattern that fits; NULL when none does.
 */
const struct baleen_fleet_grant *baleen_fleet_policy_grant(const struct baleen_fleet_policy *policy,
							   const char *publisher);

/**
 * baleen_fleet_policy_never() - is nobody to ban a key?
 * @policy: the policy
 * @key: an address or prefix
 *
 * Return: true when all of it is never banned. A wider ban leaves it out.
 */
bool baleen_fleet_policy_never(const struct baleen_fleet_policy *policy,
			       const struct baleen_fleet_key *key);

/**
 * baleen_fleet_grant_may() - may its publishers send a control message?
 * @grant: the grant
 * @control: enum baleen_fleet_control
 *
 * Return: true or false.
 */
bool baleen_fleet_grant_may(const struct baleen_fleet_grant *grant, u32 control);

/**
 * baleen_fleet_right_name() - the right that a control message needs
 * @control: enum baleen_fleet_control
 *
 * Return: the word of the policy, such as "suspend".
 */
const char *baleen_fleet_right_name(u32 control);

/**
 * enum baleen_fleet_hold - why an entry is stored and not in force
 * @BALEEN_FLEET_IN_FORCE: it is in force
 * @BALEEN_FLEET_HOLD_SET: its publisher may not publish to this set
 * @BALEEN_FLEET_HOLD_PREFIX: its prefix is too short
 * @BALEEN_FLEET_HOLD_ENTRIES: its publisher has as many in force as it may
 * @BALEEN_FLEET_HOLD_COVERAGE: they cover as much as they may
 * @BALEEN_FLEET_HOLD_RATE: they came faster than they may
 * @BALEEN_FLEET_HOLD_RIGHT: its publisher may not pardon, or suspend, or say it at all
 * @BALEEN_FLEET_HOLD_NEVER: all of it is never banned
 * @BALEEN_FLEET_HOLD_ENDED: its time was over when it was judged
 * @BALEEN_FLEET_N_HOLDS: how many there are
 */
enum baleen_fleet_hold {
	BALEEN_FLEET_IN_FORCE,
	BALEEN_FLEET_HOLD_SET,
	BALEEN_FLEET_HOLD_PREFIX,
	BALEEN_FLEET_HOLD_ENTRIES,
	BALEEN_FLEET_HOLD_COVERAGE,
	BALEEN_FLEET_HOLD_RATE,
	BALEEN_FLEET_HOLD_RIGHT,
	BALEEN_FLEET_HOLD_NEVER,
	BALEEN_FLEET_HOLD_ENDED,
	BALEEN_FLEET_N_HOLDS,
};

/**
 * baleen_fleet_hold_name() - a cause as a word
 * @hold: enum baleen_fleet_hold
 *
 * Return: such as "entries".
 */
const char *baleen_fleet_hold_name(u32 hold);

/**
 * struct baleen_fleet_others - what other publishers of its host have under the same pattern
 * @n: entries in force
 * @n_ip4: IPv4 addresses that they cover
 * @n_ip6: /64s of IPv6
 * @n_stored: entries, in force or not
 */
struct baleen_fleet_others {
	u64 n;
	u64 n_ip4;
	u64 n_ip6;
	u64 n_stored;
};

/**
 * struct baleen_fleet_usage - what a publisher has in force
 * @n: entries
 * @n_ip4: IPv4 addresses that they cover
 * @n_ip6: /64s of IPv6 that they cover, longer prefixes count as one
 * @tokens: bans that may come now, 0 to the rate of the grant, and parts
 * @tokens_ms: when @tokens was right; 0 for a publisher that has had none
 * @is_control: entries are what an operator says: there is no rate, for he says it in person
 * @others: count for the limits, too
 */
struct baleen_fleet_usage {
	u64 n;
	u64 n_ip4;
	u64 n_ip6;
	double tokens;
	u64 tokens_ms;
	bool is_control;
	struct baleen_fleet_others others;
};

/**
 * baleen_fleet_judge() - may an entry be in force?
 * @grant: of its publisher; NULL when the policy does not know it
 * @usage: without the entry; with it afterwards when it may
 * @entry: the entry
 * @at_ms: the time that the rate counts; 0 when it does not: the entry was in force before
 *
 * Return: enum baleen_fleet_hold.
 */
u32 baleen_fleet_judge(const struct baleen_fleet_grant *grant, struct baleen_fleet_usage *usage,
		       const struct baleen_fleet_entry *entry, u64 at_ms);

/**
 * baleen_fleet_stored_max() - how many entries of a host are stored under a pattern
 * @grant: the pattern
 *
 * Return: eight times as many as may be in force, so that who publishes too much for a while can
 * take it back, and some more.
 */
u64 baleen_fleet_stored_max(const struct baleen_fleet_grant *grant);

/**
 * baleen_fleet_usage_hold() - the time has gone back: what was counted in the future counts now
 * @usage: its tokens are of @now_ms at the latest
 * @now_ms: broker's time
 */
void baleen_fleet_usage_hold(struct baleen_fleet_usage *usage, u64 now_ms);

/**
 * baleen_fleet_usage_take() - an entry is no longer in force
 * @usage: without it afterwards
 * @key: its key
 */
void baleen_fleet_usage_take(struct baleen_fleet_usage *usage, const struct baleen_fleet_key *key);

#endif /* BALEEN_FLEET_POLICY_H */
