// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy of a fleet: which entries of a publisher may be in force? */
#include <stdint.h>
#include <string.h>

#include "fleet/fleet_policy.h"

const char *baleen_fleet_hold_name(u32 hold)
{
	static const char *const names[] = { "in-force", "set",	  "prefix", "entries", "coverage",
					     "rate",	 "right", "never",  "ended" };

	return hold < BALEEN_FLEET_N_HOLDS ? names[hold] : "unknown";
}

/* More than there are addresses counts as all. */
static u64 covers_ip4(const struct baleen_fleet_key *key)
{
	return key->family == 4 ? 1ull << (32 - key->length) : 0;
}

static u64 covers_ip6(const struct baleen_fleet_key *key)
{
	if (key->family != 6)
		return 0;
	if (!key->length)
		return UINT64_MAX >> 1;
	return key->length >= 64 ? 1 : 1ull << (64 - key->length);
}

static bool may_go_to(const struct baleen_fleet_grant *grant, const char *set)
{
	for (u32 i = 0; i < grant->n_sets; i++)
		if (!strcmp(grant->set[i], set))
			return true;
	return false;
}

static bool is_too_short(const struct baleen_fleet_grant *grant, const struct baleen_fleet_key *key)
{
	return key->length < (key->family == 4 ? grant->shortest_ip4 : grant->shortest_ip6);
}

/* Tokens come with the time; a clock that goes back brings none. */
static void refill(const struct baleen_fleet_grant *grant, struct baleen_fleet_usage *usage,
		   u64 at_ms)
{
	if (!usage->tokens_ms) {
		usage->tokens = grant->rate;
	} else if (at_ms > usage->tokens_ms) {
		usage->tokens += (double)(at_ms - usage->tokens_ms) * grant->rate / grant->rate_ms;
		if (usage->tokens > grant->rate)
			usage->tokens = grant->rate;
	}
	if (at_ms > usage->tokens_ms)
		usage->tokens_ms = at_ms;
}

static bool is_over(u64 used, u64 more, u64 most)
{
	return more > most || used > most - more;
}

/* An operator pardons and suspends; others ban. */
static bool has_right(const struct baleen_fleet_grant *grant,
		      const struct baleen_fleet_usage *usage,
		      const struct baleen_fleet_entry *entry)
{
	if (baleen_fleet_is_word(entry))
		return usage->is_control && grant->may_suspend;
	return !usage->is_control || grant->may_pardon;
}

static u32 judge_key(const struct baleen_fleet_grant *grant, const struct baleen_fleet_entry *entry)
{
	if (baleen_fleet_is_word(entry))
		return BALEEN_FLEET_IN_FORCE;
	if (!may_go_to(grant, entry->set))
		return BALEEN_FLEET_HOLD_SET;
	return is_too_short(grant, &entry->key) ? BALEEN_FLEET_HOLD_PREFIX : BALEEN_FLEET_IN_FORCE;
}

u32 baleen_fleet_judge(const struct baleen_fleet_grant *grant, struct baleen_fleet_usage *usage,
		       const struct baleen_fleet_entry *entry, u64 at_ms)
{
	u64 n_ip4 = covers_ip4(&entry->key), n_ip6 = covers_ip6(&entry->key);
	u32 hold;

	if (!grant)
		return BALEEN_FLEET_HOLD_SET;
	if (!has_right(grant, usage, entry))
		return BALEEN_FLEET_HOLD_RIGHT;
	hold = judge_key(grant, entry);
	if (hold)
		return hold;
	if (is_over(usage->n + usage->others.n, 1, grant->entries))
		return BALEEN_FLEET_HOLD_ENTRIES;
	if (is_over(usage->n_ip4 + usage->others.n_ip4, n_ip4, grant->coverage) ||
	    is_over(usage->n_ip6 + usage->others.n_ip6, n_ip6, grant->coverage))
		return BALEEN_FLEET_HOLD_COVERAGE;
	if (at_ms && !usage->is_control) {
		refill(grant, usage, at_ms);
		if (usage->tokens < 1)
			return BALEEN_FLEET_HOLD_RATE;
		usage->tokens--;
	}
	usage->n++;
	usage->n_ip4 += n_ip4;
	usage->n_ip6 += n_ip6;
	return BALEEN_FLEET_IN_FORCE;
}

u64 baleen_fleet_stored_max(const struct baleen_fleet_grant *grant)
{
	u64 most = 8 * grant->entries + 1024;

	return most < BALEEN_FLEET_LIVE_MAX ? most : BALEEN_FLEET_LIVE_MAX;
}

void baleen_fleet_usage_hold(struct baleen_fleet_usage *usage, u64 now_ms)
{
	if (usage->tokens_ms > now_ms)
		usage->tokens_ms = now_ms;
}

void baleen_fleet_usage_take(struct baleen_fleet_usage *usage, const struct baleen_fleet_key *key)
{
	usage->n--;
	usage->n_ip4 -= covers_ip4(key);
	usage->n_ip6 -= covers_ip6(key);
}
