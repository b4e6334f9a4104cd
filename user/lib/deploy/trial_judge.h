/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is the generation of a set that is on trial, or watched, any good?
 */
#ifndef BALEEN_TRIAL_JUDGE_H
#define BALEEN_TRIAL_JUDGE_H

#include "deploy/deploy_step.h"
#include "state/feed_rollout.h"

/* The health command has so long. */
#define BALEEN_TRIAL_HEALTH_MS 10000ull

/**
 * baleen_trial_counters() - all packets, those of the rule, those of the trial's rule
 * @deploy: opened
 * @rule: name of the rule
 * @trial: name of the rule of the trial
 * @counter: filled in: as base of struct baleen_feed_rollout
 *
 * Return: true; false when the device has not both rules.
 */
bool baleen_trial_counters(const struct baleen_deploy *deploy, const char *rule, const char *trial,
			   u64 counter[3]);

/**
 * baleen_trial_judge() - is it any good?
 * @deploy: opened
 * @rule: name of the rule
 * @trial: name of the rule of the trial
 * @rollout: its phase counts; its base is set when the counters began anew
 * @health: the health command, words with newlines between; empty for none
 * @why: BALEEN_ROLLOUT_WHY_BYTES, filled in when it is not
 *
 * What cannot be looked at is no reason.
 *
 * Return: true; false when it is bad.
 */
bool baleen_trial_judge(const struct baleen_deploy *deploy, const char *rule, const char *trial,
			struct baleen_feed_rollout *rollout, const char *health, char *why);

#endif /* BALEEN_TRIAL_JUDGE_H */
