/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Another ruleset for a device that has one, as a single step.
 */
#ifndef BALEEN_UPDATE_H
#define BALEEN_UPDATE_H

#include "xdp/ruleset.h"
#include "xdp/xdp.h"

/**
 * baleen_xdp_update() - put a ruleset on an attached device, atomically
 * @xdp: opened for writing; afterwards it is what the device has now
 * @ruleset: from baleen_ruleset_from_config() of @xdp, and edited
 * @error: filled in on failure
 *
 * One replacement: each packet sees the old rules or the new ones; in a chain,
 * or both. Rules that
 * continue one of the device keep its counters, those without a filter its
 * map, too. Mode and attach type stay. A rule without a map of its own that holds a
 * valid image is refused, and so is another key for a rule that goes on.
 *
 * Return: 0; -EINVAL for a ruleset that cannot be or whose kept maps are
 * damaged; -ENOLINK when the device is gone; -ENOMEM; a negative errno. On
 * failure the old program goes on.
 */
int baleen_xdp_update(struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset,
		      struct baleen_error *error);

/**
 * baleen_xdp_hand_on() - let what passes go on to another program
 * @xdp: opened for writing; afterwards its next_fd is the map whose slot 0 that program has
 * @error: filled in on failure
 *
 * Later rulesets of the device keep the map, and who is in it.
 *
 * Return: 0; -EOPNOTSUPP of a chain; as baleen_xdp_update().
 */
int baleen_xdp_hand_on(struct baleen_xdp *xdp, struct baleen_error *error);

#endif /* BALEEN_UPDATE_H */
