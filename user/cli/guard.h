/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is checked before a set of rules goes live.
 */
#ifndef BALEEN_CLI_GUARD_H
#define BALEEN_CLI_GUARD_H

#include "input.h"

/* Exact images and 64-bit slots pass, anything else has to be asked for. */
#define DEFAULT_ACCEPT_FPP 1e-9

#define ACCEPT_FPP_HELP \
	"  --accept-fpp P   accept a rule whose false positive rate is up to P (1e-9)\n"

/**
 * struct guarded_rule - one rule of a set about to go live
 * @name: the rule's
 * @action: enum baleen_action
 * @filter: its filter
 * @input: where it came from, to name the line; NULL for a rule that stays
 */
struct guarded_rule {
	const char *name;
	u32 action;
	const struct baleen_filter *filter;
	const struct input *input;
};

/* Takes the argument of --accept-fpp; 0, or EXIT_USAGE after a message. */
int take_accept_fpp(const struct command *command, const char *argument, double *accept_fpp);

/* 0, or EXIT_FAILED after saying how many innocents the filter would hit. */
int guard_rate(const char *name, u32 action, const struct baleen_filter *filter, double accept_fpp);

/* 0, or EXIT_FAILED after naming each address of the host that the rules
 * would drop, with its entry and line.
 */
int guard_host(const char *device, const struct guarded_rule *rules, u32 n_rules);

#endif /* BALEEN_CLI_GUARD_H */
