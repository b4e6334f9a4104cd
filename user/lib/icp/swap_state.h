/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of a cache, from swap.state: the log in a cache_dir of type ufs, aufs or diskd,
 * by which Squid knows its objects again when it starts.
 *
 * Records of 72 bytes in the byte order of the machine, the first of which is the header:
 *
 *       0 op u8, 3 | 1 checksum u24 | 4 version u32, 2 | 8 bytes of a record u32, 72 | zeros
 *
 *       0 op u8: 1 added, 2 deleted | 1 checksum u24 | 4 file u32
 *       8 timestamp s64 | 16 last reference s64 | 24 expires s64 | 32 last modified s64
 *      40 bytes u64 | 48 references u16 | 50 flags u16 | 52 key of 16 bytes | 68 unused
 *
 * The checksum is that of RFC 1071, of 24 instead of 16 bits, over the version and the bytes of
 * a record, or over the file and the two halves of its bytes.
 *
 * Squid appends a record for each object that comes or goes, so the file is the present
 * content at any time, and no longer than that: Squid writes it anew now and then.
 *
 * Source: Squid 5.7, src/StoreSwapLogData.h and .cc, swap_log_op.h, enums.h.
 */
#ifndef BALEEN_SWAP_STATE_H
#define BALEEN_SWAP_STATE_H

#include "icp/squid_set.h"

#define BALEEN_SWAP_RECORD_BYTES 72

/**
 * struct baleen_swap_state - what was in it
 * @n_added: records of objects that came
 * @n_deleted: records of objects that went
 * @n_others: of objects that others cannot have: private, or about to be released
 * @is_torn: the last record has no end: Squid was writing it
 */
struct baleen_swap_state {
	u64 n_added;
	u64 n_deleted;
	u64 n_others;
	bool is_torn;
};

/**
 * baleen_swap_state_is() - does a file begin like one?
 * @bytes: its first bytes
 * @n_bytes: how many
 *
 * Return: true when they are a header, of whatever version.
 */
bool baleen_swap_state_is(const void *bytes, size_t n_bytes);

/**
 * baleen_swap_state_read() - append the events of a swap.state
 * @fd: open for reading; read from where it is to its end
 * @set: appended to, also before a failure
 * @state: filled in; untouched on failure
 * @reason: why not, a constant string, of -EINVAL
 * @record: where, the header is 0
 *
 * Return: 0; -EINVAL for what is no such file, another version or machine, or damaged;
 * -ENOMEM, or the negative errno of a failed read.
 */
int baleen_swap_state_read(int fd, struct baleen_squid_set *set, struct baleen_swap_state *state,
			   const char **reason, u64 *record);

#endif /* BALEEN_SWAP_STATE_H */
