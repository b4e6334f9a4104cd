/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules in another order: which of them have moved?
 */
#ifndef BALEEN_RULE_ORDER_H
#define BALEEN_RULE_ORDER_H

#include <baleen/port.h>

/**
 * baleen_rule_order_stays() - the most rules that may stay where they are
 * @place: place of each rule in the old order, or negative for a new one
 * @n: how many, BALEEN_MAX_RULES at most
 * @stays: filled in
 *
 * The longest increasing subsequence: all others are told as moved.
 */
void baleen_rule_order_stays(const int *place, u32 n, bool *stays);

#endif /* BALEEN_RULE_ORDER_H */
