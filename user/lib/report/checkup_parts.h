/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device under checkup, and how its parts add findings.
 */
#ifndef BALEEN_CHECKUP_PARTS_H
#define BALEEN_CHECKUP_PARTS_H

#include "deploy/conf_edits.h"
#include "net/ethtool.h"
#include "net/links.h"
#include "report/finding.h"
#include "state/rule_store.h"
#include "util/shell.h"
#include "xdp/xdp.h"

/**
 * struct baleen_patient - the device that is looked at
 * @checkup: where findings go
 * @links: all devices
 * @link: this one
 * @word: its name for a shell
 * @may_load: this process has the capabilities to load programs
 * @has_xdp: baleen has been attached to it, and @xdp is opened
 * @why: has not, or why that cannot be told
 * @why_code: its negative errno; -ENOENT when it has not
 * @xdp: the attached filter
 * @state_code: 0 when it has a state; -ENOENT when it has none; else why that
 *              cannot be told
 * @state_error: in words
 * @state_path: path of the directory of the state, or of the book that is not kept
 * @is_kept: the state is put on again at boot
 * @unkept: why its last changes are not on the disk; NULL when they are
 * @is_marked: a change of the live rules was interrupted
 * @is_behind: the book has more than the live rules
 * @edits: of rules or configuration, since that was applied
 * @rules: rules of the state; none without
 * @n_single_entries: single entries of the state
 * @has_ends: some of them have an end
 * @limits_ban: a rule bans who is over its limit
 * @there: the XDP program on it, whosever it is
 * @has_features: the kernel tells @features
 * @features: BALEEN_XDP_BASIC and others
 * @driver: name of its driver; may be empty
 * @again: command line that attaches the filter anew; empty when there is none.
 *         It was in force before, so it cuts nobody off
 */
struct baleen_patient {
	struct baleen_checkup *checkup;
	struct baleen_links links;
	const struct baleen_link *link;
	struct baleen_shell_word word;
	bool may_load;
	bool has_xdp;
	struct baleen_error why;
	int why_code;
	struct baleen_xdp xdp;
	int state_code;
	struct baleen_error state_error;
	char state_path[BALEEN_RULE_STORE_PATH_BYTES];
	bool is_kept;
	const char *unkept;
	bool is_marked;
	bool is_behind;
	struct baleen_conf_edits edits;
	struct baleen_stored_rules rules;
	u64 n_single_entries;
	bool has_ends;
	bool limits_ban;
	struct baleen_program there;
	bool has_features;
	u64 features;
	char driver[BALEEN_DRIVER_BYTES];
	char again[4 * BALEEN_SHELL_WORD_BYTES];
};

/**
 * baleen_checkup_add() - add a finding
 * @patient: where
 * @level: how bad it is
 * @check: a constant word
 * @format: printf format of the text
 *
 * Return: the finding, to which a command may be added.
 */
struct baleen_finding *baleen_checkup_add(struct baleen_patient *patient, enum baleen_level level,
					  const char *check, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * baleen_checkup_add_unknown() - add a note that only root can tell
 * @patient: where; without privileges
 * @check: a constant word
 * @what: such as "whose filter this is"
 *
 * A guess would be a finding that is not there, with a command that does harm.
 */
void baleen_checkup_add_unknown(struct baleen_patient *patient, const char *check,
				const char *what);

/**
 * baleen_finding_mend() - say what mends it
 * @finding: added
 * @format: printf format of the command
 */
void baleen_finding_mend(struct baleen_finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * baleen_finding_mend_again() - say that attaching anew mends it
 * @patient: attached
 * @finding: added; its text is added to where entries would lose what is known of
 *           them
 * @first: what has to be done before: a command; may be empty
 */
void baleen_finding_mend_again(const struct baleen_patient *patient, struct baleen_finding *finding,
			       const char *first);

/**
 * baleen_checkup_kernel() - versions, JIT, statistics, bpffs, capabilities
 * @patient: opened
 */
void baleen_checkup_kernel(struct baleen_patient *patient);

/**
 * baleen_checkup_versions() - kernel, libraries, and the compiler of the programs
 * @patient: opened
 */
void baleen_checkup_versions(struct baleen_patient *patient);

/**
 * baleen_checkup_filter() - the filter, its mode, and programs beside it
 * @patient: opened
 */
void baleen_checkup_filter(struct baleen_patient *patient);

/**
 * baleen_checkup_device() - what driver and stack do to packets before the filter
 * @patient: opened
 */
void baleen_checkup_device(struct baleen_patient *patient);

/**
 * baleen_checkup_icp() - caches that the device answers for
 * @patient: opened
 */
void baleen_checkup_icp(struct baleen_patient *patient);

/**
 * baleen_checkup_host() - state, disk, daemon and clock
 * @patient: opened
 */
void baleen_checkup_host(struct baleen_patient *patient);

/**
 * baleen_checkup_fleet() - the fleet that the host is in
 * @patient: opened
 */
void baleen_checkup_fleet(struct baleen_patient *patient);

#endif /* BALEEN_CHECKUP_PARTS_H */
