/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The instance that answers ICP queries on one device: opened, read, taken off. What
 * puts one on is in icp_attach.h, what replaces a filter of it in icp_next.h.
 *
 *      /sys/fs/bpf/baleen-icp/                  0700
 *        ns<cookie>-if<ifindex>/                the lock of its writers
 *          link                                 of the program that answers
 *          behind                               or the map by which a filter hands on to it
 *          feed                                 of the one on another device, if any
 *          clsact                               a directory: the clsact is ours
 *          <program id>/                        one generation, by the answering program
 *            prog feed egress apply config stats state askers log times
 *            sibling0 ... sibling15
 *
 * In force is the generation whose program the link has. Where a command was killed
 * after it switched the feed and before it switched the answer, the next one that opens
 * for writing finishes that; a generation that neither link has is removed.
 */
#ifndef BALEEN_LIB_ICP_H
#define BALEEN_LIB_ICP_H

#include <net/if.h>

#include "icp/icp_load.h"
#include "xdp/instance.h"
#include "xdp/stale_pins.h"

#define BALEEN_ICP_PINS "baleen-icp"

/* Share of the slots that the capacity of a fed cuckoo table fills: the program that
 * inserts moves two keys for a third at the most, see bpf/icp_change.h.
 */
#define BALEEN_ICP_CUCKOO_LOAD 0.75

/**
 * struct baleen_icp - the instance of one device, as found
 * @pins: its directory
 * @device: the device's name now; the name at attach when it is gone
 * @attach_status: whether it is still attached
 * @there: the XDP program on the device now, whosever it is
 * @feed_device: where the feed comes in, when that is another device; else empty
 * @is_fed: the feed comes in, where there is to be one
 * @is_switching: the feed changes filters that are not in force yet: another command is
 *                at it, or was killed
 * @is_observing: the program on the way out is there, where there is to be one
 * @now: the generation in force
 * @state: mapped: what programs change and userspace may, see baleen_icp_state; programs
 *         write to it meanwhile
 * @attachment: attachment of the answering program
 * @feed_link_fd: descriptor of the link of the program on another device; -1: none
 * @behind_fd: the map by which the filter of the device hands on to it; -1: it has a link
 */
struct baleen_icp {
	struct baleen_pins pins;
	char device[IF_NAMESIZE];
	enum baleen_attach_status attach_status;
	struct baleen_program there;
	char feed_device[IF_NAMESIZE];
	bool is_fed;
	bool is_switching;
	bool is_observing;
	struct baleen_icp_loaded now;
	struct baleen_icp_state *state;
	struct baleen_attachment attachment;
	int feed_link_fd;
	int behind_fd;
};

/**
 * baleen_icp_open() - the instance of a device
 * @icp: filled in; close with baleen_icp_close()
 * @device: its name now, or at attach
 * @for_writing: become the only writer, and finish what a killed one began: recording of
 *               events is off then
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when there is none; -EPROTO when another version of Baleen made
 * it; -ETIMEDOUT when another writer held on; a negative errno.
 */
int baleen_icp_open(struct baleen_icp *icp, const char *device, bool for_writing,
		    struct baleen_error *error);

/**
 * baleen_icp_open_pins() - the instance of these pins, to be read
 * @icp: filled in; close with baleen_icp_close()
 * @pins: from baleen_icp_each(), or locked; now owned by @icp
 * @error: filled in on failure
 *
 * Return: as baleen_icp_open().
 */
int baleen_icp_open_pins(struct baleen_icp *icp, const struct baleen_pins *pins,
			 struct baleen_error *error);

/**
 * baleen_icp_close() - let go
 * @icp: opened
 */
void baleen_icp_close(struct baleen_icp *icp);

/**
 * baleen_icp_is_enforced() - does this instance answer, and do its feeders reach it?
 * @icp: opened
 *
 * Return: true when all parts are in force.
 */
bool baleen_icp_is_enforced(const struct baleen_icp *icp);

/**
 * baleen_icp_is_there() - does a device have an instance?
 * @device: its name now, or at attach
 *
 * Return: true when there is one that can be opened.
 */
bool baleen_icp_is_there(const char *device);

/**
 * baleen_icp_each() - visit the devices of this namespace that have an instance
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_icp_each(int (*visit)(const struct baleen_pins *pins, void *data), void *data,
		    struct baleen_error *error);

/**
 * baleen_icp_sibling() - the sibling of a name
 * @icp: opened
 * @name: as given at attach
 *
 * Return: its number, or -ENOENT.
 */
int baleen_icp_sibling(const struct baleen_icp *icp, const char *name);

/**
 * baleen_icp_check() - can a sibling have such a filter?
 * @image: its checked header
 * @feeders: bit n: feeder n tells what the sibling has
 * @error: says why not; may be NULL
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int baleen_icp_check(const struct baleen_image *image, u32 feeders, struct baleen_error *error);

/**
 * baleen_icp_filter() - the live filter of a sibling
 * @icp: opened
 * @n: the sibling
 * @filter: a read-only view of the map, to be freed by the caller
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when the map holds no valid image; a negative errno.
 */
int baleen_icp_filter(const struct baleen_icp *icp, u32 n, struct baleen_filter *filter,
		      struct baleen_error *error);

/**
 * baleen_icp_stats() - the counters, summed over the CPUs
 * @icp: opened
 * @stats: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_icp_stats(const struct baleen_icp *icp, struct baleen_icp_stats *stats,
		     struct baleen_error *error);

/**
 * baleen_icp_entries() - objects of a sibling, as its filter has them
 * @icp: opened
 * @n: the sibling
 * @stats: from baleen_icp_stats()
 *
 * Return: how many; 0 also when more went than came.
 */
u64 baleen_icp_entries(const struct baleen_icp *icp, u32 n, const struct baleen_icp_stats *stats);

/**
 * baleen_icp_synced() - a sibling's filter is what it has, from now on
 * @icp: opened for writing
 * @n: the sibling
 * @n_entries: objects in its filter
 * @stats: read when it had these: what is inserted and deleted from then on counts
 */
void baleen_icp_synced(const struct baleen_icp *icp, u32 n, u64 n_entries,
		       const struct baleen_icp_stats *stats);

/**
 * baleen_icp_now_ns() - the clock of synced_ns and of heard
 *
 * Return: CLOCK_MONOTONIC.
 */
u64 baleen_icp_now_ns(void);

/**
 * baleen_icp_is_fresh() - is a sibling answered for at this moment?
 * @icp: opened
 * @n: the sibling
 *
 * Return: true when it is, by the rule that the program goes by.
 */
bool baleen_icp_is_fresh(const struct baleen_icp *icp, u32 n);

/**
 * baleen_icp_enter_feed() - let the feed change the filters of the next generation
 * @icp: opened for writing
 * @next: from baleen_icp_next()
 * @error: filled in on failure
 *
 * When this returns no program of the generation before changes its filters any more
 * and all its events are in the log, unless the feed comes in by the device that
 * answers.
 *
 * Return: 0; a negative errno, and the feed changes the old filters.
 */
int baleen_icp_enter_feed(struct baleen_icp *icp, const struct baleen_icp_loaded *next,
			  struct baleen_error *error);

/**
 * baleen_icp_enter_answer() - answer by the next generation
 * @icp: opened for writing; is of the next generation afterwards
 * @next: from baleen_icp_next(), the feed switched; is owned by @icp afterwards
 * @error: filled in on failure
 *
 * Return: 0; a negative errno, and the old one answers.
 */
int baleen_icp_enter_answer(struct baleen_icp *icp, struct baleen_icp_loaded *next,
			    struct baleen_error *error);

/**
 * baleen_icp_empty() - take everything off that these pins hold
 * @pins: locked, and it stays so
 */
void baleen_icp_empty(const struct baleen_pins *pins);

/**
 * baleen_icp_detach() - take the instance off a device and forget it
 * @device: its name now, or at attach
 * @error: filled in on failure
 *
 * Also removes the pins that killed commands left.
 *
 * Return: 0; -ENOENT when there is none; a negative errno.
 */
int baleen_icp_detach(const char *device, struct baleen_error *error);

/**
 * baleen_icp_forget_stale() - remove the pins of every instance that has no device
 * @on_stale: called with each after it was forgotten
 * @data: passed to @on_stale
 * @error: filled in on failure
 *
 * Return: as baleen_stale_pins_forget().
 */
int baleen_icp_forget_stale(void (*on_stale)(const struct baleen_stale_pins *gone, void *data),
			    void *data, struct baleen_error *error);

#endif /* BALEEN_LIB_ICP_H */
