/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs of bpf/icp.bpf.c in the kernel and the maps they use: one generation.
 */
#ifndef BALEEN_ICP_LOAD_H
#define BALEEN_ICP_LOAD_H

#include <baleen/icp.h>

#include "util/error.h"
#include "xdp/pins.h"

/**
 * struct baleen_icp_loaded - one generation of programs and maps
 * @config: its constants
 * @program_id: id of the program that answers; the name of its directory of pins
 * @feed_id: id of the program on another device; 0: none
 * @egress_id: id of the program that compares the siblings' answers; 0: none
 * @answer_fd: the program that answers
 * @feed_fd: the program on another device that is fed by; -1: none
 * @egress_fd: the program that compares the siblings' answers; -1: none
 * @apply_fd: the program by which userspace changes filters; -1 without feeders
 * @config_fd: the frozen map of @config
 * @stats_fd: the counters, shared by generations
 * @state_fd: struct baleen_icp_state, shared
 * @askers_fd: descriptor of the map of prefixes that may ask, shared
 * @log_fd: a ring of struct baleen_icp_event, shared
 * @times_fd: until when objects are fresh, shared
 * @sibling_fd: the filters; -1 from n_siblings on
 */
struct baleen_icp_loaded {
	struct baleen_icp_config config;
	u32 program_id;
	u32 feed_id;
	u32 egress_id;
	int answer_fd;
	int feed_fd;
	int egress_fd;
	int apply_fd;
	int config_fd;
	int stats_fd;
	int state_fd;
	int askers_fd;
	int log_fd;
	int times_fd;
	int sibling_fd[BALEEN_ICP_MAX_SIBLINGS];
};

/**
 * baleen_icp_loaded_init() - no descriptors
 * @loaded: filled with -1
 */
void baleen_icp_loaded_init(struct baleen_icp_loaded *loaded);

/**
 * baleen_icp_loaded_close() - close every descriptor
 * @loaded: what is attached or pinned stays in the kernel
 */
void baleen_icp_loaded_close(struct baleen_icp_loaded *loaded);

/**
 * baleen_icp_loaded_close_programs() - close the programs and keep the maps
 * @loaded: programs that are not to be attached
 */
void baleen_icp_loaded_close_programs(struct baleen_icp_loaded *loaded);

/**
 * baleen_icp_load() - load the programs over maps
 * @loaded: in: config, sibling_fd of each sibling, and stats_fd, state_fd,
 *          askers_fd, log_fd and times_fd or -1 for new ones; out: the rest
 * @frags: the program that answers takes multi-buffer frames
 * @error: filled in on failure: the reason and no more
 *
 * On failure the descriptors passed in stay open and nothing else does.
 *
 * Return: 0 or a negative errno.
 */
int baleen_icp_load(struct baleen_icp_loaded *loaded, bool frags, struct baleen_error *error);

/**
 * baleen_icp_loaded_pin() - pin programs and maps as one directory
 * @loaded: loaded
 * @pins: pins of the device, locked
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno; on failure what was pinned stays for
 * baleen_pins_clean().
 */
int baleen_icp_loaded_pin(const struct baleen_icp_loaded *loaded, const struct baleen_pins *pins,
			  struct baleen_error *error);

/**
 * baleen_icp_loaded_open() - open a pinned generation
 * @loaded: filled in; close with baleen_icp_loaded_close()
 * @pins: pins of the device
 * @program_id: id of the program that answers
 *
 * Return: 0; -ENOENT when a pin is missing; -EPROTO when another version of Baleen
 * made it; a negative errno.
 */
int baleen_icp_loaded_open(struct baleen_icp_loaded *loaded, const struct baleen_pins *pins,
			   u32 program_id);

/**
 * baleen_icp_apply() - change live filters
 * @loaded: the generation whose filters are changed
 * @batch: the changes; on return as described there
 * @error: filled in on failure
 *
 * The only way for userspace to change a live filter: its other writers are programs
 * on any CPU, and the ways of all of them have to agree.
 *
 * Return: 0; -EOPNOTSUPP of an instance without feeders; a negative errno.
 */
int baleen_icp_apply(const struct baleen_icp_loaded *loaded, struct baleen_icp_batch *batch,
		     struct baleen_error *error);

#endif /* BALEEN_ICP_LOAD_H */
