// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The programs of bpf/icp.bpf.c in the kernel and the maps they use. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "icp/icp_load.h"
#include "util/fd.h"
#include "util/libbpf_log.h"
#include "xdp/bpf_objects.h"
#include "xdp/load.h"
#include "xdp/object_maps.h"

/* A program and where it goes. */
struct program {
	const char *name;
	const char *pin;
	size_t fd;
};

/* Maps that generations share. */
struct shared {
	const char *name;
	const char *pin;
	size_t fd;
	u32 type;
	u32 value_bytes;
};

#define FD_OF(member) offsetof(struct baleen_icp_loaded, member)

enum { ANSWER, FEED, EGRESS, APPLY, N_PROGRAMS };

static const struct program programs[N_PROGRAMS] = {
	[ANSWER] = { "baleen_icp", "prog", FD_OF(answer_fd) },
	[FEED] = { "baleen_icp_feed", "feed", FD_OF(feed_fd) },
	[EGRESS] = { "baleen_icp_egress", "egress", FD_OF(egress_fd) },
	[APPLY] = { "baleen_icp_apply", "apply", FD_OF(apply_fd) },
};

static const struct shared shared[] = {
	{ "baleen_icp_stats", "stats", FD_OF(stats_fd), BPF_MAP_TYPE_PERCPU_ARRAY,
	  sizeof(struct baleen_icp_stats) },
	{ "baleen_icp_state", "state", FD_OF(state_fd), BPF_MAP_TYPE_ARRAY,
	  sizeof(struct baleen_icp_state) },
	{ "baleen_icp_askers", "askers", FD_OF(askers_fd), BPF_MAP_TYPE_LPM_TRIE, sizeof(u32) },
	{ "baleen_icp_log", "log", FD_OF(log_fd), BPF_MAP_TYPE_RINGBUF, 0 },
	{ "baleen_icp_times", "times", FD_OF(times_fd), BPF_MAP_TYPE_ARRAY,
	  sizeof(struct baleen_icp_times) },
};

#define N_SHARED (sizeof(shared) / sizeof(shared[0]))

static int *fd_at(struct baleen_icp_loaded *loaded, size_t offset)
{
	return (int *)((char *)loaded + offset);
}

static int fd_of(const struct baleen_icp_loaded *loaded, size_t offset)
{
	return *(const int *)((const char *)loaded + offset);
}

void baleen_icp_loaded_init(struct baleen_icp_loaded *loaded)
{
	memset(loaded, 0, sizeof(*loaded));
	for (size_t i = 0; i < N_PROGRAMS; i++)
		*fd_at(loaded, programs[i].fd) = -1;
	for (size_t i = 0; i < N_SHARED; i++)
		*fd_at(loaded, shared[i].fd) = -1;
	for (u32 i = 0; i < BALEEN_ICP_MAX_SIBLINGS; i++)
		loaded->sibling_fd[i] = -1;
	loaded->config_fd = -1;
}

void baleen_icp_loaded_close_programs(struct baleen_icp_loaded *loaded)
{
	for (size_t i = 0; i < N_PROGRAMS; i++)
		baleen_close_fd(fd_at(loaded, programs[i].fd));
	baleen_close_fd(&loaded->config_fd);
	loaded->program_id = loaded->feed_id = loaded->egress_id = 0;
}

void baleen_icp_loaded_close(struct baleen_icp_loaded *loaded)
{
	baleen_icp_loaded_close_programs(loaded);
	for (size_t i = 0; i < N_SHARED; i++)
		baleen_close_fd(fd_at(loaded, shared[i].fd));
	for (u32 i = 0; i < BALEEN_ICP_MAX_SIBLINGS; i++)
		baleen_close_fd(&loaded->sibling_fd[i]);
}

static u32 program_id(int fd)
{
	struct bpf_prog_info info = { 0 };
	u32 bytes = sizeof(info);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &bytes) ? 0 : info.id;
}

static void find_ids(struct baleen_icp_loaded *loaded)
{
	loaded->program_id = program_id(loaded->answer_fd);
	loaded->feed_id = program_id(loaded->feed_fd);
	loaded->egress_id = program_id(loaded->egress_fd);
}

/* --- load ------------------------------------------------------------------ */

/* Is there a sibling whose own answers matter? */
static bool observes(const struct baleen_icp_config *config)
{
	for (u32 i = 0; i < config->n_siblings; i++)
		if (config->sibling[i].mode == BALEEN_ICP_OBSERVE ||
		    (config->sibling[i].mode == BALEEN_ICP_ANSWER && config->confirm_ns))
			return true;
	return false;
}

/* The kernel verifies every instruction it gets, so unused programs are not loaded. */
static bool is_needed(const struct baleen_icp_config *config, size_t program)
{
	switch (program) {
	case FEED: return config->feed_device[0];
	case EGRESS: return observes(config);
	case APPLY: return config->n_feeders;
	default: return true;
	}
}

static int use_maps(struct bpf_object *object, const struct baleen_icp_loaded *loaded)
{
	char name[sizeof("baleen_sibling_15")];
	int err = 0;

	for (u32 i = 0; i < BALEEN_ICP_MAX_SIBLINGS && !err; i++) {
		bool is_used = i < loaded->config.n_siblings;

		snprintf(name, sizeof(name), "baleen_sibling_%u", i % BALEEN_ICP_MAX_SIBLINGS);
		err = baleen_object_use_map(object, name, is_used ? loaded->sibling_fd[i] : -1,
					    false);
	}
	for (size_t i = 0; i < N_SHARED && !err; i++)
		err = baleen_object_use_map(object, shared[i].name, fd_of(loaded, shared[i].fd),
					    true);
	if (!err && loaded->times_fd < 0)
		err = bpf_map__set_max_entries(bpf_object__find_map_by_name(object,
									    "baleen_icp_times"),
					       loaded->config.n_times ?: 1);
	return err;
}

static void set_programs(struct bpf_object *object, const struct baleen_icp_config *config)
{
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(object, programs[i].name);

		bpf_program__set_autoload(program, is_needed(config, i));
		if (config->frags && (i == ANSWER || i == FEED))
			bpf_program__set_flags(program, BPF_F_XDP_HAS_FRAGS);
	}
}

/* The object closes its descriptors: keep copies. */
static int keep(const struct bpf_object *object, struct baleen_icp_loaded *loaded)
{
	int err = baleen_object_keep_map(object, ".rodata.config", &loaded->config_fd);

	for (size_t i = 0; i < N_PROGRAMS && !err; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(object, programs[i].name);

		if (is_needed(&loaded->config, i))
			err = baleen_keep_fd(bpf_program__fd(program),
					     fd_at(loaded, programs[i].fd));
	}
	for (size_t i = 0; i < N_SHARED && !err; i++)
		err = baleen_object_keep_map(object, shared[i].name, fd_at(loaded, shared[i].fd));
	find_ids(loaded);
	return err;
}

static int load_object(struct bpf_object *object, struct baleen_icp_loaded *loaded,
		       struct baleen_error *error)
{
	int err = baleen_object_set_constants(object, &loaded->config, sizeof(loaded->config));

	if (!err)
		err = use_maps(object, loaded);
	if (err)
		return baleen_fail(error, -err, "cannot use the maps: %s", baleen_log_reason(err));
	set_programs(object, &loaded->config);
	err = bpf_object__load(object);
	if (err)
		return baleen_fail(error, -err, "the kernel refused the programs: %s",
				   baleen_log_reason(err));
	err = keep(object, loaded);
	return err ? baleen_fail(error, -err, "cannot keep the programs: %s", strerror(-err)) : 0;
}

/* Descriptors that were there before stay the caller's. */
static void drop_new(const struct baleen_icp_loaded *before, struct baleen_icp_loaded *loaded)
{
	baleen_icp_loaded_close_programs(loaded);
	for (size_t i = 0; i < N_SHARED; i++)
		if (fd_of(before, shared[i].fd) < 0)
			baleen_close_fd(fd_at(loaded, shared[i].fd));
}

int baleen_icp_load(struct baleen_icp_loaded *loaded, bool frags, struct baleen_error *error)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "baleen_icp");
	const struct baleen_icp_loaded before = *loaded;
	struct bpf_object *object;
	size_t n_bytes;
	void *bytes;
	int err;

	err = baleen_bpf_object_inflate(&baleen_bpf_object_icp, &bytes, &n_bytes);
	if (err)
		return baleen_fail(error, -err, "cannot open the programs: %s", strerror(-err));
	loaded->config.version = BALEEN_ICP_CONFIG_VERSION;
	loaded->config.frags = frags;
	baleen_log_start();
	object = bpf_object__open_mem(bytes, n_bytes, &options);
	free(bytes);
	if (!object)
		return baleen_fail(error, errno, "cannot open the programs: %m");
	err = load_object(object, loaded, error);
	if (err)
		drop_new(&before, loaded);
	bpf_object__close(object);
	return err;
}

/* --- pins ------------------------------------------------------------------ */

static const char *sibling_pin(u32 n, char *name, size_t bytes)
{
	snprintf(name, bytes, "sibling%u", n);
	return name;
}

int baleen_icp_loaded_pin(const struct baleen_icp_loaded *loaded, const struct baleen_pins *pins,
			  struct baleen_error *error)
{
	char directory[BALEEN_PIN_BYTES + 16], name[24];
	int err = 0;

	snprintf(directory, sizeof(directory), "%s/%u", pins->path, loaded->program_id);
	if (mkdir(directory, 0700))
		return baleen_fail(error, errno, "%s: %m", directory);
	for (size_t i = 0; i < N_PROGRAMS && !err; i++)
		err = baleen_pins_add(directory, programs[i].pin, fd_of(loaded, programs[i].fd),
				      error);
	for (size_t i = 0; i < N_SHARED && !err; i++)
		err = baleen_pins_add(directory, shared[i].pin, fd_of(loaded, shared[i].fd), error);
	for (u32 i = 0; i < loaded->config.n_siblings && !err; i++)
		err = baleen_pins_add(directory, sibling_pin(i, name, sizeof(name)),
				      loaded->sibling_fd[i], error);
	/* Last: a reader that finds it finds the others. */
	return err ? err : baleen_pins_add(directory, "config", loaded->config_fd, error);
}

static bool is_map_of(int fd, u32 type, u32 value_bytes)
{
	struct bpf_map_info info = { 0 };
	u32 bytes = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &bytes) && info.type == type &&
	       (!value_bytes || info.value_size == value_bytes);
}

static bool is_sound(const struct baleen_icp_config *config)
{
	if (config->version != BALEEN_ICP_CONFIG_VERSION ||
	    config->n_siblings > BALEEN_ICP_MAX_SIBLINGS ||
	    config->n_feeders > BALEEN_ICP_MAX_FEEDERS)
		return false;
	for (u32 i = 0; i < config->n_siblings; i++)
		if (config->sibling[i].mode >= BALEEN_ICP_N_MODES)
			return false;
	return true;
}

/* Names end where their room does, whoever made this map. */
static void end_names(struct baleen_icp_config *config)
{
	config->device[sizeof(config->device) - 1] = '\0';
	config->feed_device[sizeof(config->feed_device) - 1] = '\0';
	for (u32 i = 0; i < config->n_siblings; i++) {
		struct baleen_icp_sibling *sibling = &config->sibling[i];

		sibling->name[sizeof(sibling->name) - 1] = '\0';
		sibling->image.name[sizeof(sibling->image.name) - 1] = '\0';
	}
}

static int read_config(struct baleen_icp_loaded *loaded)
{
	u32 zero = 0;
	int err;

	if (!is_map_of(loaded->config_fd, BPF_MAP_TYPE_ARRAY, sizeof(loaded->config)))
		return -EPROTO;
	err = bpf_map_lookup_elem(loaded->config_fd, &zero, &loaded->config);
	if (!err && !is_sound(&loaded->config))
		err = -EPROTO;
	if (!err)
		end_names(&loaded->config);
	return err;
}

static int open_pin(const struct baleen_pins *pins, u32 program_id, const char *name, int *fd)
{
	*fd = baleen_pins_open(pins, program_id, name);
	return *fd < 0 ? *fd : 0;
}

static int open_maps(struct baleen_icp_loaded *loaded, const struct baleen_pins *pins,
		     u32 program_id)
{
	char name[24];
	int err = 0;

	for (size_t i = 0; i < N_SHARED && !err; i++) {
		int *fd = fd_at(loaded, shared[i].fd);

		err = open_pin(pins, program_id, shared[i].pin, fd);
		if (!err && !is_map_of(*fd, shared[i].type, shared[i].value_bytes))
			err = -EPROTO;
	}
	for (u32 i = 0; i < loaded->config.n_siblings && !err; i++)
		err = open_pin(pins, program_id, sibling_pin(i, name, sizeof(name)),
			       &loaded->sibling_fd[i]);
	return err;
}

int baleen_icp_loaded_open(struct baleen_icp_loaded *loaded, const struct baleen_pins *pins,
			   u32 program_id)
{
	int err;

	baleen_icp_loaded_init(loaded);
	err = open_pin(pins, program_id, "config", &loaded->config_fd);
	if (!err)
		err = read_config(loaded);
	for (size_t i = 0; i < N_PROGRAMS && !err; i++)
		if (is_needed(&loaded->config, i))
			err = open_pin(pins, program_id, programs[i].pin,
				       fd_at(loaded, programs[i].fd));
	if (!err)
		err = open_maps(loaded, pins, program_id);
	find_ids(loaded);
	if (err)
		baleen_icp_loaded_close(loaded);
	return err;
}

/* --- changes --------------------------------------------------------------- */

int baleen_icp_apply(const struct baleen_icp_loaded *loaded, struct baleen_icp_batch *batch,
		     struct baleen_error *error)
{
	/* A program of this type has its context copied back by the kernel. */
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = batch, .ctx_size_in = sizeof(*batch));
	int err;

	if (loaded->apply_fd < 0)
		return baleen_fail(error, EOPNOTSUPP, "nobody feeds this filter");
	if (batch->n > BALEEN_ICP_BATCH)
		return baleen_fail(error, E2BIG, "%u changes at a time, of %d", batch->n,
				   BALEEN_ICP_BATCH);
	err = bpf_prog_test_run_opts(loaded->apply_fd, &options);
	if (!err && (int)options.retval < 0)
		err = (int)options.retval;
	return err ? baleen_fail(error, -err, "cannot change a filter: %s", strerror(-err)) : 0;
}
