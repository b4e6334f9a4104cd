// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A state that is changed in memory alone. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "state/rule_store_draft.h"
#include "state/rule_store_schema.h"
#include "state/sql.h"

/* Its path is in no message: what a device without a state has is all in memory. */
static int make_empty(struct baleen_rule_store *state, const char *device,
		      struct baleen_error *error)
{
	int err;

	*state = (struct baleen_rule_store){ .is_kept = true, .lock_fd = -1 };
	snprintf(state->path, sizeof(state->path), "%s", device);
	snprintf(state->device, sizeof(state->device), "%s", device);
	strcpy(state->now, state->device);
	strcpy(state->scope, state->device);
	err = baleen_rule_store_owner(device, &state->is, error);
	if (!err)
		err = baleen_sql_open_memory(state, error);
	if (err)
		return err;
	if (sqlite3_exec(state->db, BALEEN_RULE_STORE_TABLES, NULL, NULL, NULL)) {
		err = baleen_sql_fail(state, error);
		baleen_sql_close(state);
	}
	return err;
}

int baleen_rule_store_draft(struct baleen_rule_store *state, const char *device,
			    struct baleen_error *error)
{
	struct baleen_rule_store opened;
	int err = baleen_rule_store_open(&opened, device, 0, error);

	if (err == -ENOENT)
		err = make_empty(&opened, device, error);
	if (err)
		return err;
	/* The database of a reader is in memory, and of no file. */
	err = baleen_sql_do(&opened, "PRAGMA query_only = OFF", NULL, error, NULL, 0);
	opened.is_draft = true;
	if (err)
		baleen_rule_store_close(&opened);
	else
		*state = opened;
	return err;
}
