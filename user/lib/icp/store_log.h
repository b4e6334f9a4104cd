/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of a cache, from its store.log: objects that were swapped out and not
 * released since.
 *
 * Lines: see <baleen/squid.h>. The log has to go back to the first object of the cache.
 */
#ifndef BALEEN_STORE_LOG_H
#define BALEEN_STORE_LOG_H

#include "icp/squid_set.h"

/**
 * struct baleen_store_log - what was in a log
 * @n_lines: lines, blank ones too
 * @n_inserts: that insert
 * @n_deletes: that delete
 * @n_others: of store.log, that change nothing for others
 * @n_bad: that are none of store.log, the torn last one too
 * @first_bad: number of the first of these, from 1; 0: there is none
 * @is_torn: the last line has no end: Squid was writing it, or the disk was full
 */
struct baleen_store_log {
	u64 n_lines;
	u64 n_inserts;
	u64 n_deletes;
	u64 n_others;
	u64 n_bad;
	u64 first_bad;
	bool is_torn;
};

/**
 * baleen_store_log_read() - append the events of a log
 * @fd: open for reading; read from where it is to its end
 * @set: appended to, also before a failure
 * @log: filled in; untouched on failure
 *
 * Return: 0, -ENOMEM, or the negative errno of a failed read.
 */
int baleen_store_log_read(int fd, struct baleen_squid_set *set, struct baleen_store_log *log);

#endif /* BALEEN_STORE_LOG_H */
