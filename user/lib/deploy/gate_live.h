/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The door that filters go through before packets ask them.
 *
 * A filter that is derived of a state is derived without what is never dropped; one that was
 * typed, an image or a list, is looked at here. Its false positive rate is looked at whatever it
 * was made of.
 */
#ifndef BALEEN_GATE_LIVE_H
#define BALEEN_GATE_LIVE_H

#include "deploy/lockout.h"
#include "state/rule_store.h"

/* Exact images and 64-bit slots pass, anything else has to be asked for. */
#define BALEEN_ACCEPT_FPP 1e-9

/**
 * baleen_gate_never() - would a rule drop what the never-drop list has?
 * @check: the rules; those that keep their live filter are not asked, but about what is added
 *         to them. A dry run drops nobody
 * @error: filled in on refusal, naming device, rule and address
 *
 * Prefixes of the list are passed over where an image cannot be listed.
 *
 * Return: 0; -EPERM; a negative errno.
 */
int baleen_gate_never(const struct baleen_lockout_check *check, struct baleen_error *error);

/**
 * baleen_gate_accepts() - the false positive rate that a rule accepts
 * @rule: rule of a state
 *
 * Return: the rate.
 */
double baleen_gate_accepts(const struct baleen_stored_rule *rule);

/**
 * baleen_gate_rate() - a filter that is to be asked by a rule
 * @name: name of the rule, or of the filter
 * @action: enum baleen_action
 * @filter: the filter
 * @accept_fpp: false positive rate that is accepted
 * @mend: option or command that accepts more
 * @error: filled in on refusal: how many innocents it would hit
 *
 * Return: 0 or -EPERM.
 */
int baleen_gate_rate(const char *name, u32 action, const struct baleen_filter *filter,
		     double accept_fpp, const char *mend, struct baleen_error *error);

/**
 * baleen_gate_raise() - a filter in place of another, of a rule without a state
 * @name: name of the filter
 * @before: the other
 * @after: the filter; one that is no worse than @before is accepted, too
 * @accept_fpp: false positive rate that is accepted
 * @error: filled in on refusal
 *
 * Return: 0 or -EPERM.
 */
int baleen_gate_raise(const char *name, const struct baleen_filter *before,
		      const struct baleen_filter *after, double accept_fpp,
		      struct baleen_error *error);

/**
 * baleen_gate_derived() - a filter that was derived of a state
 * @device: name of the device
 * @rule: its rule
 * @filter: the filter
 * @error: filled in on refusal
 *
 * Return: 0; -EPERM when it errs more often than the rule accepts.
 */
int baleen_gate_derived(const char *device, const struct baleen_stored_rule *rule,
			const struct baleen_filter *filter, struct baleen_error *error);

#endif /* BALEEN_GATE_LIVE_H */
