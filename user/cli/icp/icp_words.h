/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Siblings, askers and where the feed comes in, as they are typed.
 */
#ifndef BALEEN_CLI_ICP_WORDS_H
#define BALEEN_CLI_ICP_WORDS_H

#include "cli/common/options.h"
#include "icp/icp_attach.h"

#define MAX_ASKERS 256

/**
 * struct icp_words - what was typed of an instance
 * @config: names, addresses, modes and feeders
 * @image: of each sibling: what holds its objects; NULL: none was given
 * @asker: prefixes that may ask
 * @n_askers: how many
 * @feed_device: where the feed comes in; empty: where queries do
 */
struct icp_words {
	struct baleen_icp_config config;
	char *image[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_icp_grant asker[MAX_ASKERS];
	u32 n_askers;
	char feed_device[IF_NAMESIZE];
};

/* Take --sibling NAME=ADDRESS[,PART]..., --asker PREFIX[,PREFIX]..., --feed [DEV:]PORT and
 * --port PORT, of a struct icp_words.
 */
int icp_words_sibling(const struct option_use *use);
int icp_words_asker(const struct option_use *use);
int icp_words_feed(const struct option_use *use);
int icp_words_port(const struct option_use *use);

/* Checks the words together; 0, or EXIT_USAGE after a message. */
int icp_words_check(const struct command *command, struct icp_words *words);

void icp_words_free(struct icp_words *words);

/* An address of the configuration as text, into at least BALEEN_KEY_TEXT bytes; returns
 * @text.
 */
const char *icp_address_text(u64 hi, u64 lo, char *text);

/* "answer", "confirm" or "observe". */
const char *icp_mode_text(u32 mode);

#endif /* BALEEN_CLI_ICP_WORDS_H */
