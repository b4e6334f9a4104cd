// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Is the generation of a set that is on trial, or watched, any good? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/lockout.h"
#include "deploy/trial_judge.h"
#include "util/command.h"

/* One peer in so many may be an attacker who holds on to a session. */
#define PEERS_PER_HIT 20
#define TIMES 3
#define PACKETS_PER_HIT 100
#define LEAST_PACKETS 100

/* --- the share of drops --------------------------------------------------------------- */

static bool is_too_much(u64 n_new, u64 n_old, u64 n_all)
{
	u64 more = n_new > n_old ? n_new - n_old : 0;

	return n_new / TIMES >= n_old && n_new > TIMES * n_old && more >= LEAST_PACKETS &&
	       more >= n_all / PACKETS_PER_HIT;
}

static u64 count_all(const struct baleen_xdp *xdp, const struct baleen_stats *stats)
{
	u64 n = stats->unmatched + stats->vital;

	for (u32 i = 0; i < xdp->config.n_rules; i++)
		if (xdp->config.rule[i].action != BALEEN_ACTION_COUNT)
			n += baleen_xdp_rule_stats(xdp, i, stats).packets;
	return n;
}

bool baleen_trial_counters(const struct baleen_deploy *deploy, const char *rule, const char *trial,
			   u64 counter[3])
{
	const struct baleen_xdp *xdp = &deploy->xdp;
	struct baleen_stats stats;
	int a, b;

	if (!deploy->has_xdp || baleen_xdp_stats(xdp, &stats, NULL))
		return false;
	a = baleen_xdp_rule_index(xdp, rule);
	b = baleen_xdp_rule_index(xdp, trial);
	counter[0] = count_all(xdp, &stats);
	counter[1] = a < 0 ? 0 : baleen_xdp_rule_stats(xdp, a, &stats).packets;
	counter[2] = b < 0 ? 0 : baleen_xdp_rule_stats(xdp, b, &stats).packets;
	return a >= 0 && b >= 0;
}

/* A reboot, or a filter that was taken off and put on, begins to count anew. */
static void count_on(struct baleen_feed_rollout *rollout, const u64 counter[3])
{
	for (u32 i = 0; i < 3; i++)
		if (counter[i] < rollout->base[i]) {
			memcpy(rollout->base, counter, sizeof(rollout->base));
			return;
		}
}

static bool drops_too_much(const struct baleen_deploy *deploy, const char *rule, const char *trial,
			   struct baleen_feed_rollout *rollout, char *why)
{
	bool is_trial = rollout->phase == BALEEN_PHASE_TRIAL;
	u64 counter[3], n_new, n_old, n_all;

	if (!baleen_trial_counters(deploy, rule, trial, counter))
		return false;
	count_on(rollout, counter);
	n_all = counter[0] - rollout->base[0];
	n_new = counter[is_trial ? 2 : 1] - rollout->base[is_trial ? 2 : 1];
	n_old = counter[is_trial ? 1 : 2] - rollout->base[is_trial ? 1 : 2];
	if (!is_too_much(n_new, n_old, n_all))
		return false;
	snprintf(why, BALEEN_ROLLOUT_WHY_BYTES,
		 "%s %llu of %llu packets, the generation before %llu",
		 is_trial ? "would drop" : "drops", (unsigned long long)n_new,
		 (unsigned long long)n_all, (unsigned long long)n_old);
	return true;
}

/* --- whom it hits ---------------------------------------------------------------------- */

/* Sessions of one peer come one after the other. */
static u64 count_peers(const struct baleen_host *host)
{
	const struct baleen_host_address *last = NULL;
	u64 n = 0;

	for (size_t i = 0; i < host->n; i++) {
		const struct baleen_host_address *address = &host->address[i];

		if (address->role != BALEEN_HOST_PEER)
			continue;
		n += !last || baleen_key_compare(&last->key, &address->key);
		last = address;
	}
	return n;
}

static bool is_bad(const struct baleen_lockout_check *check, const struct baleen_lockouts *found,
		   char *why)
{
	char text[BALEEN_LOCKOUT_TEXT];
	u64 n_peers = count_peers(check->host);

	for (size_t i = 0; i < found->n; i++) {
		const struct baleen_lockout *lockout = &found->lockout[i];

		/* One of these is enough; of other peers it takes many. */
		if (lockout->address.role != BALEEN_HOST_PEER ||
		    baleen_host_guards(check->host, BALEEN_GUARD_OUTGOING, &lockout->address)) {
			snprintf(why, BALEEN_ROLLOUT_WHY_BYTES, "%s",
				 baleen_lockout_text(check, lockout, text));
			return true;
		}
	}
	if (!found->n || found->n * PEERS_PER_HIT <= n_peers)
		return false;
	snprintf(why, BALEEN_ROLLOUT_WHY_BYTES, "would cut off %llu of %llu peers: %.160s",
		 (unsigned long long)found->n, (unsigned long long)n_peers,
		 baleen_lockout_text(check, &found->lockout[0], text));
	return true;
}

static bool hits_peers(const struct baleen_deploy *deploy, const char *rule, const char *trial,
		       char *why)
{
	const struct baleen_xdp *xdp = &deploy->xdp;
	struct baleen_ruleset ruleset;
	struct baleen_filter next;
	struct baleen_host host = { 0 };
	struct baleen_lockouts found = { 0 };
	const struct baleen_lockout_check check = { .device = deploy->state.now,
						    .ruleset = &ruleset,
						    .xdp = xdp,
						    .is_update = true,
						    .host = &host,
						    .sessions = BALEEN_GUARD_ALL };
	bool is_hit = false;
	int a, b;

	if (!deploy->has_xdp)
		return false;
	a = baleen_xdp_rule_index(xdp, rule);
	b = baleen_xdp_rule_index(xdp, trial);
	if (a < 0 || b < 0 || baleen_xdp_map_rule(xdp, b, &next, NULL))
		return false;
	baleen_ruleset_from_config(&xdp->config, &ruleset);
	ruleset.rule[a].filter = &next;
	if (!baleen_lockout_find(&check, &found, NULL))
		is_hit = is_bad(&check, &found, why);
	free(found.lockout);
	baleen_host_free(&host);
	baleen_filter_free(&next);
	return is_hit;
}

/* --- all ------------------------------------------------------------------------------- */

bool baleen_trial_judge(const struct baleen_deploy *deploy, const char *rule, const char *trial,
			struct baleen_feed_rollout *rollout, const char *health, char *why)
{
	struct baleen_error error;

	if (drops_too_much(deploy, rule, trial, rollout, why))
		return false;
	if (rollout->phase == BALEEN_PHASE_TRIAL)
		return !hits_peers(deploy, rule, trial, why);
	if (!*health || !baleen_command_run(health, BALEEN_TRIAL_HEALTH_MS, &error))
		return true;
	snprintf(why, BALEEN_ROLLOUT_WHY_BYTES, "health command %.200s", error.text);
	return false;
}
