/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filter on a device: read, detached. Changes are in update.h.
 *
 * One replacement of a program (see attachment.h) changes the rules of a device, and
 * nothing else does, so a command that fails or is killed leaves the old program or
 * the new one.
 */
#ifndef BALEEN_XDP_H
#define BALEEN_XDP_H

#include <baleen/stats.h>

#include "filter/filter.h"
#include "net/device.h"
#include "xdp/attachment.h"
#include "xdp/instance.h"
#include "xdp/load.h"
#include "xdp/pins.h"

/**
 * struct baleen_xdp - the filter of one device, as found
 * @pins: its directory
 * @device: the device's name now; the name at attach when it is gone; of what goes out
 *          with @egress
 * @attach_status: whether it is still attached
 * @there: the program on the device now, whosever it is
 * @attachment: where its program is
 * @program_id: id of its program
 * @stats_fd: the counters, by slot
 * @events_fd: the sampled events; negative when there never were any
 * @sampler_fd: when the next event may be; negative as @events_fd
 * @limit_fd: of the limits of its rules; negative when it has none
 * @prefilter_fd: what is asked before them; negative when there is no prefilter
 * @next_fd: the program that has what it lets pass; negative when it hands nothing on
 * @rule_fd: the filters of the rules; -1 from n_rules on
 * @config: constants of the program: rules, names, geometry
 * @live: the filter that baleen_xdp_live_rule() mapped last
 * @live_index: its rule
 */
struct baleen_xdp {
	struct baleen_pins pins;
	char device[BALEEN_POINT_BYTES];
	enum baleen_attach_status attach_status;
	struct baleen_program there;
	struct baleen_attachment attachment;
	u32 program_id;
	int stats_fd;
	int events_fd;
	int sampler_fd;
	int limit_fd[BALEEN_N_LIMIT_MAPS];
	int prefilter_fd;
	int next_fd;
	int rule_fd[BALEEN_MAX_RULES];
	struct baleen_config config;
	struct baleen_filter live;
	u32 live_index;
};

/* Filters of XDP among the instances. */
extern const struct baleen_instance_type baleen_xdp_instances;

/**
 * baleen_xdp_open() - look at what is attached to a device
 * @xdp: filled in; close with baleen_xdp_close()
 * @device: its name now, or at attach
 * @for_writing: become the only writer; needed for an update
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when Baleen is not attached there; -EPROTO when another
 * version of Baleen is; a negative errno.
 */
int baleen_xdp_open(struct baleen_xdp *xdp, const char *device, bool for_writing,
		    struct baleen_error *error);

/**
 * baleen_xdp_open_within() - become the only writer of a device
 * @xdp: filled in; close with baleen_xdp_close()
 * @device: its name now, or at attach
 * @timeout_ms: how long to wait for another writer; baleen_xdp_open() waits
 *              BALEEN_LOCK_TIMEOUT_MS
 * @error: filled in on failure
 *
 * Return: as baleen_xdp_open(); -ETIMEDOUT when another writer held on.
 */
int baleen_xdp_open_within(struct baleen_xdp *xdp, const char *device, u64 timeout_ms,
			   struct baleen_error *error);

/**
 * baleen_xdp_open_at() - the same, of a device whose number is known
 * @xdp: as for baleen_xdp_open_within()
 * @device: its name
 * @ifindex: its number; 0 to ask for it
 * @timeout_ms: as there
 * @error: as there
 *
 * Return: as there.
 */
int baleen_xdp_open_at(struct baleen_xdp *xdp, const char *device, int ifindex, u64 timeout_ms,
		       struct baleen_error *error);

/**
 * baleen_xdp_open_pins() - look at what these pins hold
 * @xdp: filled in; close with baleen_xdp_close()
 * @pins: from baleen_pins_each(), or locked; now owned by @xdp
 * @error: filled in on failure
 *
 * Return: as baleen_xdp_open().
 */
int baleen_xdp_open_pins(struct baleen_xdp *xdp, const struct baleen_pins *pins,
			 struct baleen_error *error);

/**
 * baleen_xdp_close() - let go
 * @xdp: opened
 */
void baleen_xdp_close(struct baleen_xdp *xdp);

/**
 * baleen_xdp_old_name() - the device's name at attach
 * @xdp: opened
 * @name: filled in, of BALEEN_POINT_BYTES
 *
 * Return: @name.
 */
const char *baleen_xdp_old_name(const struct baleen_xdp *xdp, char *name);

/**
 * baleen_xdp_rule_index() - the rule of a name
 * @xdp: opened
 * @name: the rule's name
 *
 * Return: its index, or -ENOENT.
 */
int baleen_xdp_rule_index(const struct baleen_xdp *xdp, const char *name);

/**
 * baleen_xdp_rule_map_id() - the kernel's number of the map of a rule
 * @xdp: opened
 * @index: index of the rule
 *
 * Return: the number; 0, which no map has, when the kernel does not say.
 */
u32 baleen_xdp_rule_map_id(const struct baleen_xdp *xdp, u32 index);

/**
 * baleen_xdp_map_rule() - the live filter of a rule
 * @xdp: opened
 * @index: index of the rule
 * @filter: a read-only view of the map, to be freed by the caller
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when the map holds no valid image; a negative errno.
 */
int baleen_xdp_map_rule(const struct baleen_xdp *xdp, u32 index, struct baleen_filter *filter,
			struct baleen_error *error);

/**
 * baleen_xdp_live_rule() - the live filter of a rule, to be changed, again and again
 * @xdp: opened for writing
 * @index: index of the rule
 * @filter: filled in: a view of the map, see live.h for how to change it; valid until another
 *          rule is asked for, or an update, or the close
 * @error: filled in on failure
 *
 * Return: as baleen_xdp_map_rule().
 */
int baleen_xdp_live_rule(struct baleen_xdp *xdp, u32 index, struct baleen_filter **filter,
			 struct baleen_error *error);

/**
 * baleen_xdp_sum_counters() - the counters of all CPUs
 * @map_fd: a per-CPU array of one element, which holds nothing but u64
 * @device: for messages
 * @counters: filled in with the sums; untouched on failure
 * @n_bytes: size of the element
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_xdp_sum_counters(int map_fd, const char *device, void *counters, size_t n_bytes,
			    struct baleen_error *error);

/**
 * baleen_xdp_stats() - the counters, summed over the CPUs
 * @xdp: opened
 * @stats: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_xdp_stats(const struct baleen_xdp *xdp, struct baleen_stats *stats,
		     struct baleen_error *error);

/**
 * baleen_xdp_rule_stats() - what one rule has counted since it was added
 * @xdp: opened
 * @index: index of the rule
 * @stats: from baleen_xdp_stats()
 *
 * Return: its counters.
 */
struct baleen_rule_stats baleen_xdp_rule_stats(const struct baleen_xdp *xdp, u32 index,
					       const struct baleen_stats *stats);

/**
 * baleen_xdp_is_current() - is the program that of this release?
 * @xdp: opened
 *
 * Return: false when another release attached it, whose code is not the same.
 */
bool baleen_xdp_is_current(const struct baleen_xdp *xdp);

/**
 * baleen_xdp_detach() - take the filter off a device and forget it
 * @device: its name now, or at attach
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when Baleen is not attached there; a negative errno.
 */
int baleen_xdp_detach(const char *device, struct baleen_error *error);

#endif /* BALEEN_XDP_H */
