/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The verbs of `baleen fleet`, and what they share.
 */
#ifndef BALEEN_CLI_FLEET_VERBS_H
#define BALEEN_CLI_FLEET_VERBS_H

#include "cli/common/cli.h"
#include "fleet/fleet_keys.h"
#include "fleet/fleet_site.h"
#include "fleet/fleet_store.h"

/* Their names are "fleet init" and so on. */
extern const struct command fleet_init_command;
extern const struct command fleet_join_command;
extern const struct command fleet_admit_command;
extern const struct command fleet_status_command;
extern const struct command fleet_who_command;
extern const struct command fleet_why_command;
extern const struct command fleet_ban_command;
extern const struct command fleet_pardon_command;
extern const struct command fleet_suspend_command;
extern const struct command fleet_resume_command;
extern const struct command fleet_rotate_command;
extern const struct command fleet_check_command;
extern const struct command fleet_log_command;
extern const struct command fleet_demo_command;

/* The origin of `baleen fleet ban`. */
#define FLEET_OPERATOR "operator"

/**
 * struct fleet_place - the fleet that this host is in
 * @conf: fleet.conf
 * @store: its database, opened for reading
 */
struct fleet_place {
	struct baleen_fleet_conf conf;
	struct baleen_fleet_store store;
};

/* Reads fleet.conf and opens the database; an exit code. */
int fleet_place_open(struct fleet_place *place);
void fleet_place_close(struct fleet_place *place);

/* The broker's time, in milliseconds. */
u64 fleet_now_ms(const struct fleet_place *place);

/* Runs baleen-fleetd for one order: its stderr is ours, and its stdout, unless @output is to have
 * it, to be freed; an exit code.
 */
int fleet_run_order(const char *option, const char *name, const void *input, size_t n_input,
		    char **output);

/**
 * struct fleet_asking - how all hosts are asked
 * @wait_ms: so long for answers
 * @least: asked again, within UNTIL_MS, until so many say that it is in force; 0: once
 * @is_json: report as JSON
 */
struct fleet_asking {
	u64 wait_ms;
	u64 least;
	bool is_json;
};

/* Asks all hosts about a key, and prints what they say; an exit code: failed when fewer than
 * @least, or none.
 */
int fleet_ask(const struct fleet_place *place, const struct baleen_fleet_key *key,
	      const struct fleet_asking *asking);

#endif /* BALEEN_CLI_FLEET_VERBS_H */
