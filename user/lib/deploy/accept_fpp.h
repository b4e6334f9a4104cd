/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * May rules hit unlisted packets at the rates that their filters have?
 */
#ifndef BALEEN_ACCEPT_FPP_H
#define BALEEN_ACCEPT_FPP_H

#include "state/rule_store.h"
#include "xdp/ruleset.h"

/* Exact images and 64-bit slots pass, anything else has to be asked for. */
#define BALEEN_ACCEPT_FPP 1e-9

/**
 * baleen_accept_fpp() - a filter that is to be asked by a rule
 * @name: name of the rule, or of the filter
 * @action: enum baleen_action
 * @filter: the filter
 * @accept_fpp: false positive rate that is accepted
 * @error: filled in on refusal: how many innocents it would hit
 *
 * Return: 0 or -EPERM.
 */
int baleen_accept_fpp(const char *name, u32 action, const struct baleen_filter *filter,
		      double accept_fpp, struct baleen_error *error);

/**
 * baleen_accept_fpp_raise() - a filter in place of another
 * @name: name of the filter
 * @before: the other
 * @after: the filter; one that is no worse than @before is accepted, too
 * @accept_fpp: false positive rate that is accepted
 * @error: filled in on refusal
 *
 * Return: 0 or -EPERM.
 */
int baleen_accept_fpp_raise(const char *name, const struct baleen_filter *before,
			    const struct baleen_filter *after, double accept_fpp,
			    struct baleen_error *error);

/**
 * baleen_accept_fpp_stored() - rules that were derived from a state
 * @device: name of the device
 * @rules: rules of the state; the fpp of each is accepted
 * @ruleset: made of them; a rule without a filter stays, and was checked when it came
 * @error: filled in on refusal
 *
 * Return: 0 or -EPERM.
 */
int baleen_accept_fpp_stored(const char *device, const struct baleen_stored_rules *rules,
			     const struct baleen_ruleset *ruleset, struct baleen_error *error);

#endif /* BALEEN_ACCEPT_FPP_H */
