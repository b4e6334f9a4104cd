/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters of a configuration, or of a state, put on nothing.
 *
 * They are derived of a draft of the state (rule_store_draft.h), as apply derives them: of the
 * feeds as received, the entries of the book, without what is protected. Nothing is changed.
 */
#ifndef BALEEN_CONF_DERIVE_H
#define BALEEN_CONF_DERIVE_H

#include "deploy/conf_plan.h"

/**
 * struct baleen_conf_derived - what came of it
 * @plan: its rules
 * @step: the ruleset and its filters
 */
struct baleen_conf_derived {
	struct baleen_deploy_plan plan;
	struct baleen_deploy_step step;
};

/**
 * baleen_conf_derive() - the filters of a configuration
 * @goal: the configuration; NULL for what the state says
 * @device: name of the device, which need not be there
 * @derived: filled in; free with baleen_conf_derived_free()
 * @error: filled in on failure
 *
 * Without the device it is not known which addresses are this host's: those that its state knows
 * are protected.
 *
 * Return: 0; -EPERM for a filter that errs more often than its rule accepts; a negative errno.
 */
int baleen_conf_derive(const struct baleen_conf_goal *goal, const char *device,
		       struct baleen_conf_derived *derived, struct baleen_error *error);

/**
 * baleen_conf_derived_free() - free the filters
 * @derived: derived, or all zeros
 */
void baleen_conf_derived_free(struct baleen_conf_derived *derived);

#endif /* BALEEN_CONF_DERIVE_H */
