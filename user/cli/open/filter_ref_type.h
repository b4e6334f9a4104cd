/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The target of an IMAGE argument, and the operations of its three types: a file, an XDP
 * rule, a filter of the kernel module. Commands use them through filter_ref.h.
 */
#ifndef BALEEN_CLI_FILTER_REF_TYPE_H
#define BALEEN_CLI_FILTER_REF_TYPE_H

#include "cli/common/list_options.h"
#include "cli/open/kmod_filter.h"
#include "list/special.h"
#include "net/device.h"
#include "ops/change.h"

struct baleen_device_session;
struct filter_ref_type;

/**
 * struct filter_ref - an IMAGE argument, opened
 * @type: its operations
 * @argument: as typed; points into the arguments
 * @device: DEV of DEV:RULE; else empty
 * @rule: RULE of DEV:RULE, or the NAME of kmod:NAME
 * @filter: to read: its filter. To change: a writable view of the live map, or the image
 *          in memory. Of a filter of the module that is changed or looked at live only the
 *          header, until filter_ref_load()
 * @wait_ms: how long a change waits for other writers
 * @fd: descriptor of a file: what was read, as it was received, or the file, locked; else 0
 * @mode: permissions of a file that is changed
 * @guards_derived: what is derived is asked whether it cuts this host off
 * @is_forced: it may
 * @is_list: it was a list, built on the way
 * @csv: how it was read, if it was a table
 * @n_lines: number of lines of the list
 * @n_bad: bad lines skipped
 * @n_listed: entries of the list
 * @n_covered: of them, those that others make superfluous
 * @n_special: of them, those in special-purpose ranges, where that was looked for
 * @special: one of these that is in the list as a whole, or NULL
 * @n_nobody: 0.0.0.0, :: and 255.255.255.255 that were taken out of it
 * @session: session of an XDP rule that is changed: its device, held
 * @index: index of the rule
 * @kmod: of the module: where its filter is
 */
struct filter_ref {
	const struct filter_ref_type *type;
	const char *argument;
	char device[BALEEN_POINT_BYTES];
	const char *rule;
	struct baleen_filter filter;
	u64 wait_ms;
	int fd;
	unsigned int mode;
	bool guards_derived;
	bool is_forced;
	bool is_list;
	struct baleen_csv_options csv;
	u64 n_lines;
	u64 n_bad;
	u64 n_listed;
	u64 n_covered;
	u64 n_special;
	const struct baleen_special *special;
	u64 n_nobody;
	struct baleen_device_session *session;
	u32 index;
	struct kmod_filter kmod;
};

/**
 * struct filter_ref_type - the operations of a type; those that may be NULL say so
 * @is_live: packets are judged by it, so a change asks whether it may
 * @read: opens @filter to read, or appends to @list when it is one
 * @lock: opens @filter to change it, once nobody else does
 * @load: reads the body that @lock left in the kernel, which changes it without; NULL when
 *        @lock has it
 * @test: asks for keys, of strings @string, what is there now; NULL when @filter tells
 * @describe: adds what is known beside the image to @json, or prints it without; may be NULL
 * @guard_keys: fails after naming the addresses of this host that keys added or taken out
 *              would drop; NULL unless @is_live
 * @guard_image: the same of another image in its place
 * @change: changes it in place: 0; -ENOSPC, -EOPNOTSUPP or -ENOMEM when this must be built
 *          aside; -EALREADY when @noop tells which keys change nothing
 * @put: puts another filter in its place; -ESTALE when another has changed it since it was
 *       read. Rules with a state are derived anew from that instead
 * @replace: the same, but the lists it was made of give way to the filter; NULL when that
 *           is @put
 * @remember: adds another filter to what it is made of; NULL when that is not remembered
 * @drops: is it of a rule that drops? NULL for no
 * @is_derived: is it derived anew of what it is made of? Then @put and @replace ask whether that
 *              may go live; NULL for no
 * @accept: remembers that what is derived may err so often, if that is more than before; NULL
 *          without @is_derived
 * @reserve: remembers a capacity for when it is derived anew; may be NULL
 * @create: writes a filter to where there need not be one; NULL when it cannot be
 * @close: releases what it has beside @filter, @fd and @kmod; may be NULL
 *
 * Return: 0, or EXIT_FAILED after a message, if not said otherwise.
 */
struct filter_ref_type {
	bool is_live;
	int (*read)(struct filter_ref *ref, struct baleen_list *list, struct list_options *options);
	int (*lock)(struct filter_ref *ref);
	int (*load)(struct filter_ref *ref);
	int (*test)(struct filter_ref *ref, struct baleen_key *keys,
		    const struct baleen_string *string, u32 n, u8 *is_in);
	int (*describe)(struct filter_ref *ref, json_t *json);
	int (*guard_keys)(const struct filter_ref *ref, const struct baleen_filter *keys,
			  enum baleen_set_op op, bool is_forced);
	int (*guard_image)(const struct filter_ref *ref, const struct baleen_filter *filter,
			   bool is_forced);
	int (*change)(struct filter_ref *ref, const struct baleen_list *list, enum baleen_set_op op,
		      bool exist, struct baleen_noop_keys *noop, u64 *n_changed);
	int (*put)(struct filter_ref *ref, const struct baleen_filter *filter);
	int (*replace)(struct filter_ref *ref, const struct baleen_filter *filter,
		       const struct list_options *lists);
	int (*remember)(struct filter_ref *ref, const struct filter_ref *source,
			const struct list_options *lists);
	bool (*drops)(const struct filter_ref *ref);
	bool (*is_derived)(struct filter_ref *ref);
	void (*accept)(struct filter_ref *ref, double fpp);
	void (*reserve)(struct filter_ref *ref, u64 capacity);
	int (*create)(struct filter_ref *ref, const struct baleen_filter *filter);
	void (*close)(struct filter_ref *ref);
};

extern const struct filter_ref_type filter_ref_file, filter_ref_xdp, filter_ref_kmod;

#define BY_OTHERS "other commands have been changing it"

/* Replaces the view of a live map by an image of it; 0, or EXIT_FAILED after a message. */
int filter_ref_copy_live(struct filter_ref *ref);

/* Locks @fd once no other command has it; 0, or EXIT_FAILED after a message that says
 * by whom it is held.
 */
int filter_ref_lock_fd(const struct filter_ref *ref, int fd, const char *by);

/* Says that others have been changing it for as long as was waited. */
void complain_changed(const struct filter_ref *ref, const char *by);

#endif /* BALEEN_CLI_FILTER_REF_TYPE_H */
