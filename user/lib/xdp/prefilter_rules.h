/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which rules of a program a prefilter stands for, and its map; see filter/prefilter.h.
 */
#ifndef BALEEN_PREFILTER_RULES_H
#define BALEEN_PREFILTER_RULES_H

#include "xdp/load.h"

/**
 * baleen_prefilter_rules() - give a program a prefilter where that is faster
 * @config: its rules; the constants of the prefilter are filled in, of none where there is none
 * @loaded: rule_fd; prefilter_fd is filled in
 *
 * It stands for rules keyed by the same address and without IPv4 prefixes, where three of them
 * have IPv4 addresses at all and there are four others at most; actions and qualifiers may
 * differ. Without memory for it there is none, which packets tell by their time only.
 *
 * Context: the only writer of the device.
 */
void baleen_prefilter_rules(struct baleen_config *config, struct baleen_loaded *loaded);

#endif /* BALEEN_PREFILTER_RULES_H */
