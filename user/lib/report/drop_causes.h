/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which feeds and entries caused the sampled drops of a device: which list earns its place.
 *
 * Each source that baleend has seen dropped (state/drops.h) is looked up in what the rule
 * is made of now. In a feed the longest prefix decides; of single entries the origin counts.
 * A source may be held by several feeds and origins: each of them gets its drops, and
 * those that no other holds are counted apart.
 *
 * Only rules that look at the source alone are asked: of others a sampled source does not
 * tell which entry it met.
 */
#ifndef BALEEN_DROP_CAUSES_H
#define BALEEN_DROP_CAUSES_H

#include <stdint.h>

#include "state/drops.h"
#include "state/entry_key.h"
#include "state/feeds.h"

/* Entries met by sampled drops, where that is not known: of an image. */
#define BALEEN_MET_UNKNOWN UINT64_MAX

/**
 * struct baleen_drop_cause - a feed of a rule, or an origin of its single entries
 * @rule: name of the rule
 * @feed_id: id of the feed in the state; 0 of an origin
 * @name: of the feed, as shown, or the origin
 * @n_entries: entries of it: the lines of a list that are no exceptions
 * @n_met: those that hold a sampled source, and decide in their feed; or
 *         BALEEN_MET_UNKNOWN
 * @n_sources: sampled sources that it holds
 * @n_drops: sampled drops of these
 * @n_alone: sampled drops of sources that nothing else in the rule holds
 * @top_entry: the entry with the most sampled drops; empty when there is none
 * @top_drops: how many
 */
struct baleen_drop_cause {
	char rule[BALEEN_NAME_BYTES];
	u64 feed_id;
	char name[BALEEN_SOURCE_BYTES];
	u64 n_entries;
	u64 n_met;
	u64 n_sources;
	u64 n_drops;
	u64 n_alone;
	char top_entry[BALEEN_RULE_ENTRY_TEXT];
	u64 top_drops;
};

/**
 * struct baleen_drop_causes - what caused the sampled drops of a device
 * @cause: by rule: first its feeds, then the origins of its single entries
 * @n: how many
 * @n_sources: sampled sources, each counted in each rule that dropped it
 * @n_drops: sampled drops
 * @n_gone: of these, drops of sources that nothing in the rule holds any more
 * @n_other: of these, drops by the default verdict, by a rule for any source, by one that
 *           looks at more than the source, or by one that the state does not know
 */
struct baleen_drop_causes {
	struct baleen_drop_cause *cause;
	size_t n;
	u64 n_sources;
	u64 n_drops;
	u64 n_gone;
	u64 n_other;
};

/**
 * baleen_drop_causes_find() - what caused the sampled drops of a device
 * @state: state of the device, opened
 * @ifindex: the device, in this network namespace
 * @causes: filled in; free with baleen_drop_causes_free()
 * @error: filled in on failure
 *
 * Reads each feed once: 0.2 s for a million lines.
 *
 * Return: 0; -ENOENT when nobody has written sampled drops; -ENOMEM; a negative errno.
 */
int baleen_drop_causes_find(const struct baleen_rule_store *state, int ifindex,
			    struct baleen_drop_causes *causes, struct baleen_error *error);

/**
 * baleen_drop_causes_free() - free them
 * @causes: found, or all zeros; empty afterwards
 */
void baleen_drop_causes_free(struct baleen_drop_causes *causes);

#endif /* BALEEN_DROP_CAUSES_H */
