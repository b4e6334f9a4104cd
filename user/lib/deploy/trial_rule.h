/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rule of a trial, which counts what the generation of a set that is not in force would drop.
 */
#ifndef BALEEN_TRIAL_RULE_H
#define BALEEN_TRIAL_RULE_H

#include "deploy/deploy_step.h"
#include "state/feeds.h"

/**
 * baleen_trial_rule_find() - the rule of a trial
 * @rules: rules of the state
 * @feed: id of the feed
 *
 * Return: its place; -ENOENT.
 */
int baleen_trial_rule_find(const struct baleen_stored_rules *rules, u64 feed);

/**
 * baleen_trial_rule_put() - have a rule count before the one that a feed is of
 * @plan: rules of the state; the rule is added, or marked to be derived anew
 * @feed: feed of the state
 *
 * Return: 0; -E2BIG when there is no room for a rule more; -ENOENT when its rule is gone.
 */
int baleen_trial_rule_put(struct baleen_deploy_plan *plan, const struct baleen_feed *feed);

/**
 * baleen_trial_rule_remove() - no longer
 * @plan: rules of the state
 * @feed: id of the feed
 *
 * Return: true when there was one.
 */
bool baleen_trial_rule_remove(struct baleen_deploy_plan *plan, u64 feed);

#endif /* BALEEN_TRIAL_RULE_H */
