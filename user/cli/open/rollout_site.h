/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Roll-outs of signed sets: who this host is, and what became of them.
 */
#ifndef BALEEN_CLI_ROLLOUT_SITE_H
#define BALEEN_CLI_ROLLOUT_SITE_H

#include "cli/common/cli.h"
#include "deploy/conf.h"
#include "deploy/trial.h"

/* The name of this host in its fleet, or else its host name; what other hosts say is written down.
 */
void rollout_site_read(struct baleen_rollout_site *site);

/* The same, where a configuration has a signed set, and once: the site begins as zeros. @hears:
 * what other hosts say is written down
 */
void rollout_site_read_for(const struct baleen_conf *conf, bool hears,
			   struct baleen_rollout_site *site);

/* Writes the votes of a step down, or complains. */
void rollout_votes_put(const struct baleen_trial *trial);

/* Prints what became of roll-outs, or appends it to a JSON array; the exit code so far or, when
 * something came into force or out of it, EXIT_CHANGED in place of EXIT_DONE.
 */
int rollout_notes_report(const char *device, const struct baleen_trial *trial, json_t *json,
			 int result);

#endif /* BALEEN_CLI_ROLLOUT_SITE_H */
