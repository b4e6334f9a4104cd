/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The verbs of `baleen set`.
 */
#ifndef BALEEN_CLI_SET_VERBS_H
#define BALEEN_CLI_SET_VERBS_H

#include "cli/common/cli.h"
#include "set/set_manifest.h"

/* Their names are "set publish" and so on. */
extern const struct command set_keygen_command;
extern const struct command set_publish_command;
extern const struct command set_verify_command;
extern const struct command set_show_command;
extern const struct command set_diff_command;
extern const struct command set_status_command;
extern const struct command set_hold_command;
extern const struct command set_release_command;
extern const struct command set_rollback_command;

/* A digest in hexadecimal digits. */
struct digest_text {
	char text[2 * BALEEN_CANON_DIGEST + 1];
};

struct digest_text digest_text(const u8 *digest);

/* Name, generation, entries, times, digest. */
json_t *describe_generation(const char *name, const struct baleen_set_head *head);

/* An array of its rings. */
json_t *describe_rings(const struct baleen_set_rollout *rollout);

#endif /* BALEEN_CLI_SET_VERBS_H */
