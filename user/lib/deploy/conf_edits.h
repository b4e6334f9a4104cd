/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Edits since a configuration was applied: of what the device enforces, by hand, and of the file.
 *
 *      applied     the text that the state keeps
 *      now         what the state says
 *      file        what the file says by now
 *
 * Where now is what the file says there are none, however it came so. Bans and other single
 * entries are no edits, nor is what only another way of writing or order of feeds makes differ.
 */
#ifndef BALEEN_CONF_EDITS_H
#define BALEEN_CONF_EDITS_H

#include "deploy/conf_plan.h"
#include "util/shell.h"

/**
 * enum baleen_conf_file - what became of the file that was applied
 * @BALEEN_CONF_FILE_SAME: it says what was applied, or what the device enforces
 * @BALEEN_CONF_FILE_EDITED: it says something else
 * @BALEEN_CONF_FILE_BROKEN: it cannot be applied as it is
 * @BALEEN_CONF_FILE_GONE: it is not there
 */
enum baleen_conf_file {
	BALEEN_CONF_FILE_SAME,
	BALEEN_CONF_FILE_EDITED,
	BALEEN_CONF_FILE_BROKEN,
	BALEEN_CONF_FILE_GONE,
};

/**
 * struct baleen_conf_edits - what was edited
 * @was_applied: a configuration was; without one nothing is known
 * @path: path of its file; empty when that is not known, and so what became of it
 * @by_hand: the device enforces something else than was applied
 * @file: what became of the file
 */
struct baleen_conf_edits {
	bool was_applied;
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	bool by_hand;
	enum baleen_conf_file file;
};

/**
 * baleen_conf_applied() - the configuration that was applied last
 * @state: opened
 * @conf: filled in, to be freed with baleen_conf_free()
 *
 * Return: 0; -ENOENT when none was; -EINVAL when it cannot be read any more; a negative errno.
 */
int baleen_conf_applied(const struct baleen_rule_store *state, struct baleen_conf *conf);

/**
 * baleen_conf_format_ordered() - baleen_conf_format() with feeds in an order of their own
 * @conf: as there
 * @shows_secrets: as there
 *
 * The feeds of a state are in the order in which they came, which means nothing.
 *
 * Return: as there.
 */
char *baleen_conf_format_ordered(const struct baleen_conf *conf, bool shows_secrets);

/**
 * baleen_conf_is_same() - do two configurations say the same of a device?
 * @a: a configuration of any origin
 * @b: another one
 *
 * Return: false also without memory.
 */
bool baleen_conf_is_same(const struct baleen_conf *a, const struct baleen_conf *b);

/**
 * baleen_conf_edits() - what was edited since
 * @state: opened
 * @edits: filled in
 */
void baleen_conf_edits(const struct baleen_rule_store *state, struct baleen_conf_edits *edits);

/**
 * baleen_conf_remember() - keep what was applied, where that changed nothing else
 * @goal: the configuration, which is what its device enforces
 * @timeout_ms: how long to wait for other writers
 *
 * Nothing is written when the state has it so. Where it cannot be written what was applied before
 * stays, and edits are told as of that.
 */
void baleen_conf_remember(const struct baleen_conf_goal *goal, u64 timeout_ms);

/**
 * baleen_conf_put_applied() - the same, in a transaction
 * @goal: the configuration
 * @state: with a transaction
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_conf_put_applied(const struct baleen_conf_goal *goal, struct baleen_rule_store *state,
			    struct baleen_error *error);

/* A sentence without its end. */
struct baleen_conf_edits_text {
	char text[2 * BALEEN_SHELL_WORD_BYTES + BALEEN_RULE_STORE_PATH_BYTES + 160];
};

/**
 * baleen_conf_edits_text() - the same in words
 * @edits: from baleen_conf_edits()
 *
 * Return: such as "edited since /etc/baleen/eth0.conf was applied"; empty for nothing.
 */
struct baleen_conf_edits_text baleen_conf_edits_text(const struct baleen_conf_edits *edits);

/**
 * baleen_conf_edits_command() - the command that shows them
 * @edits: which are not nothing
 * @device: name of the device
 *
 * Return: such as "baleen apply --diff eth0".
 */
struct baleen_conf_edits_text baleen_conf_edits_command(const struct baleen_conf_edits *edits,
							const char *device);

/**
 * baleen_conf_file_text() - what became of the file, as a word
 * @file: which
 *
 * Return: such as "edited".
 */
const char *baleen_conf_file_text(enum baleen_conf_file file);

#endif /* BALEEN_CONF_EDITS_H */
