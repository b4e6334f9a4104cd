/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From rules to a loaded XDP program and the maps it uses.
 */
#ifndef BALEEN_LOAD_H
#define BALEEN_LOAD_H

#include <stdbool.h>
#include <string.h>

#include <baleen/stats.h>

#include "filter/filter.h"

/* How the names of its programs of what comes in begin. */
#define BALEEN_XDP_PROGRAM "baleen_xdp"

struct bpf_object;
struct baleen_ruleset;
struct xdp_program;

/**
 * enum baleen_limit_map - maps of the limits of rules: rate_limit.h
 * @BALEEN_LIMIT_TABLE: their buckets
 * @BALEEN_LIMIT_RING: sources that went over a limit
 * @BALEEN_LIMIT_COUNTS: by the slot of the rule
 * @BALEEN_N_LIMIT_MAPS: how many
 *
 * They go from one program of a device to the next as long as its limits are the same.
 */
enum baleen_limit_map {
	BALEEN_LIMIT_TABLE,
	BALEEN_LIMIT_RING,
	BALEEN_LIMIT_COUNTS,
	BALEEN_N_LIMIT_MAPS,
};

/* The names of their pins. */
extern const char *const baleen_limit_pins[BALEEN_N_LIMIT_MAPS];

/**
 * struct baleen_loaded - a program in the kernel, not yet attached
 * @program_fd: the program
 * @config_fd: the frozen map of its constants
 * @stats_fd: its counters
 * @events_fd: its sampled events; -1 when it samples nothing
 * @sampler_fd: when the next event may be; -1 when it samples nothing
 * @limit_fd: of its limits; -1 when no rule has one
 * @prefilter_fd: what is asked before them; -1 when it has no prefilter
 * @next_fd: the program that has what it lets pass; -1 when it hands nothing on
 * @rule_fd: the filters of its rules; -1 from n_rules on
 * @program_id: the kernel's number of the program
 * @component: what libxdp wants of a program for a chain; NULL of another
 * @object: what @component stands on
 */
struct baleen_loaded {
	int program_fd;
	int config_fd;
	int stats_fd;
	int events_fd;
	int sampler_fd;
	int limit_fd[BALEEN_N_LIMIT_MAPS];
	int prefilter_fd;
	int next_fd;
	int rule_fd[BALEEN_MAX_RULES];
	u32 program_id;
	struct xdp_program *component;
	struct bpf_object *object;
};

/**
 * baleen_load_is_ours() - is a program of what comes in one of ours, by its name?
 * @name: its name
 *
 * Return: true or false.
 */
static inline bool baleen_load_is_ours(const char *name)
{
	return !strncmp(name, BALEEN_XDP_PROGRAM, strlen(BALEEN_XDP_PROGRAM));
}

/**
 * baleen_load_check() - can packets be looked up in a filter?
 * @image: its checked header
 * @error: says why not
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int baleen_load_check(const struct baleen_image *image, struct baleen_error *error);

/**
 * baleen_load_map() - a live map that holds a filter
 * @name: name of the rule; becomes part of the map's name
 * @filter: the filter
 * @fd: the map, with room for recent changes behind the image: baleen_recent_buckets()
 * @error: filled in on failure
 *
 * Return: 0; -EOPNOTSUPP as baleen_load_check(); a negative errno.
 */
int baleen_load_map(const char *name, const struct baleen_filter *filter, int *fd,
		    struct baleen_error *error);

/**
 * baleen_load_twin() - a copy of a live map, with its recent changes
 * @name: name of the rule
 * @live: a view of the map, that nobody changes meanwhile
 * @fd: the copy
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_load_twin(const char *name, const struct baleen_filter *live, int *fd,
		     struct baleen_error *error);

/**
 * baleen_load_copy() - the same of a filter that packets are not looked up in
 * @name: becomes part of the map's name
 * @filter: the filter, whatever its keys
 * @fd: the map
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_load_copy(const char *name, const struct baleen_filter *filter, int *fd,
		     struct baleen_error *error);

/**
 * baleen_load_view() - the filter in a live map
 * @fd: the map
 * @image: its checked header, by the constants of the program
 * @n_recent: buckets of recent changes behind it
 * @protection: PROT_READ, PROT_WRITE
 * @filter: filled in; free with baleen_filter_free()
 *
 * Return: 0 or a negative errno.
 */
int baleen_load_view(int fd, const struct baleen_image *image, u32 n_recent, int protection,
		     struct baleen_filter *filter);

/**
 * baleen_load_prefilter_map() - the same of a prefilter
 * @prefilter: from baleen_prefilter_build()
 * @is_disabled: from the start
 * @fd: the map
 *
 * Return: 0 or a negative errno.
 */
int baleen_load_prefilter_map(const struct baleen_filter *prefilter, bool is_disabled, int *fd);

/**
 * baleen_load_maps() - a live map for each rule that has a filter
 * @ruleset: the rules
 * @loaded: rule_fd is filled in; what is there on failure is for
 *          baleen_loaded_close()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_load_maps(const struct baleen_ruleset *ruleset, struct baleen_loaded *loaded,
		     struct baleen_error *error);

/**
 * baleen_load_check_rules() - can there be a program with such rules here?
 * @config: its rules, their limits and is_egress
 * @error: says why not
 *
 * Return: 0; -EOPNOTSUPP when the direction does not go with a qualifier, or this kernel
 * lacks what one of them needs; another negative errno.
 */
int baleen_load_check_rules(const struct baleen_config *config, struct baleen_error *error);

/**
 * baleen_load_program() - load the program over existing maps
 * @config: constants; what follows from its rules and this release is filled in here.
 *          Its attach_type decides what kind of program it becomes; limits that are
 *          BALEEN_LIMITS_PEEK stay so
 * @loaded: in: rule_fd, prefilter_fd where the constants have a prefilter, and stats_fd,
 *          events_fd, sampler_fd, limit_fd and next_fd or -1 for new ones; out: the rest
 * @error: filled in on failure
 *
 * On failure the descriptors passed in stay open and nothing else does.
 *
 * Return: 0 or a negative errno.
 */
int baleen_load_program(const struct baleen_config *config, struct baleen_loaded *loaded,
			struct baleen_error *error);

/**
 * baleen_loaded_init() - no descriptors
 * @loaded: filled with -1
 */
void baleen_loaded_init(struct baleen_loaded *loaded);

/**
 * baleen_loaded_drop_program() - close the program and keep the maps
 * @loaded: a program that is not to be attached
 */
void baleen_loaded_drop_program(struct baleen_loaded *loaded);

/**
 * baleen_loaded_close() - close every descriptor
 * @loaded: the program stays in the kernel while it is attached or pinned
 */
void baleen_loaded_close(struct baleen_loaded *loaded);

/**
 * baleen_loaded_is_compiled() - does the kernel run it as machine code?
 * @loaded: the program
 *
 * Return: false when it is interpreted, or the kernel does not say.
 */
bool baleen_loaded_is_compiled(const struct baleen_loaded *loaded);

/**
 * baleen_loaded_pin() - pin program and maps as one directory
 * @loaded: a loaded program
 * @path: path of the device's directory; the program's id is appended
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno; on failure what was pinned stays for
 * baleen_pins_clean().
 */
int baleen_loaded_pin(const struct baleen_loaded *loaded, const char *path,
		      struct baleen_error *error);

#endif /* BALEEN_LOAD_H */
