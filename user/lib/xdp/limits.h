/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The limits of a device's rules: how full their tables are, and who went over them.
 */
#ifndef BALEEN_LIMITS_H
#define BALEEN_LIMITS_H

#include "xdp/xdp.h"

/**
 * struct baleen_limit_status - the limit of a rule
 * @n_slots: sources that its table has room for
 * @n_bytes: of the table
 * @n_tracked: sources that are not all idle: tokens of theirs are gone
 * @n_over: of these, those that are over the limit, or would be by their next packet
 * @counts: since the limits of the device are as they are
 * @is_unreadable: nothing counts: see BALEEN_PROOF_UNREADABLE
 */
struct baleen_limit_status {
	u64 n_slots;
	u64 n_bytes;
	u64 n_tracked;
	u64 n_over;
	struct baleen_limit_counts counts;
	bool is_unreadable;
};

/**
 * enum baleen_limit_proof - why a limit counts a packet, or does not
 * @BALEEN_PROOF_NOT_ASKED: it counts, though anybody may have made up its source (`unverified`)
 * @BALEEN_PROOF_NUMBERS: it counts when the numbers of TCP in it show that its source hears what
 *                        this host says, so not where this host only forwards it
 * @BALEEN_PROOF_NONE: it does not count: nothing in such a packet shows that
 * @BALEEN_PROOF_UNREADABLE: it does not count: the kernel does not show the numbers that a
 *                           connection expects
 */
enum baleen_limit_proof {
	BALEEN_PROOF_NOT_ASKED,
	BALEEN_PROOF_NUMBERS,
	BALEEN_PROOF_NONE,
	BALEEN_PROOF_UNREADABLE,
};

/**
 * baleen_limit_proof() - does the limit of a rule count a packet?
 * @config: constants of the program
 * @index: the rule, which has a limit
 * @proto: protocol of the packet
 * @opens: of TCP, it opens a connection
 *
 * Return: as far as that is known without the connection of the packet.
 */
enum baleen_limit_proof baleen_limit_proof(const struct baleen_config *config, u32 index, u8 proto,
					   bool opens);

/**
 * baleen_limit_look() - look at the limit of a rule
 * @xdp: opened
 * @index: the rule, which has a limit
 * @status: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_limit_look(const struct baleen_xdp *xdp, u32 index, struct baleen_limit_status *status,
		      struct baleen_error *error);

/**
 * baleen_limit_ask() - is a source over the limit of a rule now?
 * @xdp: opened
 * @index: the rule, which has a limit
 * @fields: a packet of the source
 * @source: filled in; 0 for one that is never counted
 * @is_over: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_limit_ask(const struct baleen_xdp *xdp, u32 index, const struct baleen_fields *fields,
		     u64 *source, bool *is_over, struct baleen_error *error);

/**
 * baleen_overruns_id() - the ring buffer that tells of sources over a limit
 * @xdp: opened, with a limit
 *
 * Return: the kernel's number of it; 0 when it is not known.
 */
u32 baleen_overruns_id(const struct baleen_xdp *xdp);

/**
 * baleen_overruns_read() - take sources that went over a limit out of the ring buffer
 * @xdp: opened, with a limit; nobody else reads
 * @overrun: filled in
 * @room: how many fit
 * @n: how many there were
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_overruns_read(const struct baleen_xdp *xdp, struct baleen_overrun *overrun, size_t room,
			 size_t *n, struct baleen_error *error);

/**
 * baleen_limit_of_slot() - the rule whose limit a source went over
 * @config: constants of the program
 * @slot: of struct baleen_overrun
 *
 * Return: its index or -ENOENT.
 */
int baleen_limit_of_slot(const struct baleen_config *config, u32 slot);

/* An IPv6 prefix with its NUL byte. */
#define BALEEN_LIMIT_SOURCE_TEXT 64

/**
 * baleen_limit_source_format() - a source as text
 * @limit: typed
 * @source: baleen_limit_source()
 * @text: at least BALEEN_LIMIT_SOURCE_TEXT bytes
 *
 * Return: @text, such as 192.0.2.1/32 or 2001:db8::/64.
 */
const char *baleen_limit_source_format(const struct baleen_rate_limit *limit, u64 source,
				       char *text);

#endif /* BALEEN_LIMITS_H */
