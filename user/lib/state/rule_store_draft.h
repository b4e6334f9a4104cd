/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A draft: a state that is changed in memory alone, to see what would come of a change.
 *
 * It begins as the state of the device, or as none. It is changed as any other, and derived of;
 * nothing of it comes to the disk, and no lock is held meanwhile. Closed, it is gone.
 */
#ifndef BALEEN_RULE_STORE_DRAFT_H
#define BALEEN_RULE_STORE_DRAFT_H

#include "state/rule_store.h"

/**
 * baleen_rule_store_draft() - draft a change of a state
 * @state: filled in, without a transaction; close with baleen_rule_store_close()
 * @device: name of the device, which need not be there
 * @error: filled in on failure
 *
 * Return: 0; as baleen_rule_store_open() of a state that cannot be read.
 */
int baleen_rule_store_draft(struct baleen_rule_store *state, const char *device,
			    struct baleen_error *error);

#endif /* BALEEN_RULE_STORE_DRAFT_H */
