/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The door that filters go through before packets ask them.
 *
 * A filter that is derived of a state is derived without what is never dropped; one that was
 * typed, an image or a list, is looked at here.
 */
#ifndef BALEEN_GATE_LIVE_H
#define BALEEN_GATE_LIVE_H

#include "deploy/lockout.h"

/**
 * baleen_gate_never() - would a rule drop what the never-drop list has?
 * @check: the rules; those that keep their live filter are not asked, but about what is added
 *         to them. A dry run drops nobody
 * @error: filled in on refusal, naming rule and address
 *
 * Prefixes of the list are passed over where an image cannot be listed.
 *
 * Return: 0; -EPERM; a negative errno.
 */
int baleen_gate_never(const struct baleen_lockout_check *check, struct baleen_error *error);

#endif /* BALEEN_GATE_LIVE_H */
