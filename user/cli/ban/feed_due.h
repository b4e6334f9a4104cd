/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is a feed due?
 */
#ifndef BALEEN_CLI_FEED_DUE_H
#define BALEEN_CLI_FEED_DUE_H

#include "state/feeds.h"

/* A feed that was never asked for is due when it has an interval. */
bool feed_is_due(const struct baleen_rule_store *state, const char *rule,
		 const struct baleen_feed_source *wanted);

#endif /* BALEEN_CLI_FEED_DUE_H */
