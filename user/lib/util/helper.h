/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The helper program baleen-fetch: started for one order, and gone with it.
 *
 * It speaks to web servers and unpacks what they sent, as a user without rights, with
 * little memory and little time: user/fetch/. It is in ../libexec/baleen or libexec/baleen
 * of the directory that the running program is in, or in /usr/libexec/baleen. So is
 * baleen-fleetd, which baleend starts.
 */
#ifndef BALEEN_HELPER_H
#define BALEEN_HELPER_H

#include "util/error.h"
#include "util/fetch_wire.h"

/**
 * baleen_helper_find() - where a program is that others start
 * @name: its name
 * @path: filled in, PATH_MAX bytes
 */
void baleen_helper_find(const char *name, char *path);

/**
 * struct baleen_helper_use - what the helper works on
 * @order: the order
 * @name: what it is about, in messages
 * @body: descriptor of a file open for writing, from its start
 * @packed: descriptor of a file to unpack; -1 for none
 * @time_limit_ms: time after which the helper is ended
 * @ends_by_signal: a signal that the caller blocked, and that is pending, ends it
 * @on_progress: called with the bytes received and how many there are to be; may be NULL
 * @data: passed to @on_progress
 */
struct baleen_helper_use {
	const struct baleen_fetch_order *order;
	const char *name;
	int body;
	int packed;
	u64 time_limit_ms;
	bool ends_by_signal;
	void (*on_progress)(void *data, u64 n_received, u64 n_total);
	void *data;
};

/**
 * baleen_helper_run() - have the helper carry out an order
 * @use: the order
 * @report: the last report: its texts end and are printable; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0, also when the report tells of a failure; -EINTR; -ETIMEDOUT; -ENOENT when the
 * program is missing; -EIO when it ended without a report; -EACCES when it was ended for a
 * system call that it may not make; another negative errno.
 */
int baleen_helper_run(const struct baleen_helper_use *use, struct baleen_fetch_report *report,
		      struct baleen_error *error);

#endif /* BALEEN_HELPER_H */
