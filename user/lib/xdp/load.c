// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From rules to a loaded XDP program and the maps it uses.
 *
 * Above 500 lines: one thing after the other, until it is loaded.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "filter/prefilter.h"
#include "filter/recent.h"
#include "key/key_spec.h"
#include "util/fd.h"
#include "util/libbpf_log.h"
#include "xdp/bpf_objects.h"
#include "xdp/dispatcher.h"
#include "xdp/kernel_conntrack.h"
#include "xdp/kernel_sock.h"
#include "xdp/load.h"
#include "xdp/object_maps.h"
#include "xdp/pins.h"
#include "xdp/ruleset.h"

const char *const baleen_limit_pins[BALEEN_N_LIMIT_MAPS] = {
	[BALEEN_LIMIT_TABLE] = "limits",
	[BALEEN_LIMIT_RING] = "overruns",
	[BALEEN_LIMIT_COUNTS] = "limited",
};

static const char *const limit_maps[BALEEN_N_LIMIT_MAPS] = {
	[BALEEN_LIMIT_TABLE] = "baleen_limits",
	[BALEEN_LIMIT_RING] = "baleen_overruns",
	[BALEEN_LIMIT_COUNTS] = "baleen_limited",
};

void baleen_loaded_init(struct baleen_loaded *loaded)
{
	loaded->program_fd = loaded->config_fd = loaded->stats_fd = -1;
	loaded->events_fd = loaded->sampler_fd = loaded->prefilter_fd = loaded->next_fd = -1;
	memset(loaded->limit_fd, -1, sizeof(loaded->limit_fd));
	for (u32 i = 0; i < BALEEN_MAX_RULES; i++)
		loaded->rule_fd[i] = -1;
	loaded->program_id = 0;
	loaded->component = NULL;
	loaded->object = NULL;
}

bool baleen_loaded_is_compiled(const struct baleen_loaded *loaded)
{
	struct bpf_prog_info info = { 0 };
	u32 bytes = sizeof(info);

	return !bpf_obj_get_info_by_fd(loaded->program_fd, &info, &bytes) && info.jited_prog_len;
}

void baleen_loaded_drop_program(struct baleen_loaded *loaded)
{
	baleen_close_fd(&loaded->program_fd);
	baleen_close_fd(&loaded->config_fd);
	xdp_program__close(loaded->component);
	bpf_object__close(loaded->object);
	loaded->component = NULL;
	loaded->object = NULL;
}

void baleen_loaded_close(struct baleen_loaded *loaded)
{
	baleen_loaded_drop_program(loaded);
	baleen_close_fd(&loaded->stats_fd);
	baleen_close_fd(&loaded->events_fd);
	baleen_close_fd(&loaded->sampler_fd);
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS; i++)
		baleen_close_fd(&loaded->limit_fd[i]);
	baleen_close_fd(&loaded->prefilter_fd);
	baleen_close_fd(&loaded->next_fd);
	for (u32 i = 0; i < BALEEN_MAX_RULES; i++)
		baleen_close_fd(&loaded->rule_fd[i]);
}

/* A map may be called [A-Za-z0-9_.]{0,15}. */
static void map_name(const char *rule, char *name, size_t bytes)
{
	snprintf(name, bytes, "bln_%s", rule);
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '.')
			*name = '_';
}

int baleen_load_check(const struct baleen_image *image, struct baleen_error *error)
{
	const char *reason = baleen_key_spec_refuse(image->key_spec);

	if (reason)
		return baleen_fail(error, EOPNOTSUPP, "%s", reason);
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++) {
		const struct baleen_table *table = &image->table[domain];

		if (baleen_kind_has_chains(table->kind))
			return baleen_fail(error, EOPNOTSUPP,
					   "only userspace asks a table of kind %s: packets have "
					   "cuckoo, bloom, classic, counting and quotient",
					   baleen_kind_name(table->kind));
		if (table->kind == BALEEN_KIND_QUOTIENT && !baleen_quotient_fits_packets(table))
			return baleen_fail(error, EOPNOTSUPP,
					   "it has a cluster of %u slots, and packets are looked "
					   "up in %d at most: resize it to more room",
					   table->longest_cluster, BALEEN_QUOTIENT_SCAN);
	}
	return 0;
}

/* @n_kept: bytes of @filter that are copied, from its start on */
static int make_map(const char *name, const struct baleen_filter *filter, u32 n_recent,
		    size_t n_kept, int *fd, struct baleen_error *error)
{
	u32 n_blocks = filter->image.n_blocks + baleen_recent_bytes(n_recent) / BALEEN_BLOCK_BYTES;
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	char short_name[BPF_OBJ_NAME_LEN];
	void *bytes;
	int map_fd;

	map_name(name, short_name, sizeof(short_name));
	map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, short_name, sizeof(u32),
				sizeof(struct baleen_block), n_blocks, &options);
	if (map_fd < 0)
		return baleen_fail(error, -map_fd, "%s: cannot create a map of %zu bytes: %s", name,
				   n_kept, strerror(-map_fd));
	bytes = mmap(NULL, n_kept, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (bytes == MAP_FAILED) {
		close(map_fd);
		return baleen_fail(error, errno, "%s: cannot map %zu bytes: %m", name, n_kept);
	}
	memcpy((u8 *)bytes + BALEEN_HEADER_BYTES, (u8 *)filter->bytes + BALEEN_HEADER_BYTES,
	       n_kept - BALEEN_HEADER_BYTES);
	baleen_header_write_live(&filter->image, bytes);
	munmap(bytes, n_kept);
	*fd = map_fd;
	return 0;
}

int baleen_load_view(int fd, const struct baleen_image *image, u32 n_recent, int protection,
		     struct baleen_filter *filter)
{
	struct baleen_filter view = { .image = *image,
				      .n_bytes = (size_t)image->n_blocks * BALEEN_BLOCK_BYTES,
				      .is_mapped = true,
				      .n_recent = n_recent };

	view.bytes = mmap(NULL, view.n_bytes + baleen_recent_bytes(n_recent), protection,
			  MAP_SHARED, fd, 0);
	if (view.bytes == MAP_FAILED)
		return -errno;
	*filter = view;
	return 0;
}

int baleen_load_map(const char *name, const struct baleen_filter *filter, int *fd,
		    struct baleen_error *error)
{
	struct baleen_error why;

	if (baleen_load_check(&filter->image, &why))
		return baleen_fail(error, EOPNOTSUPP, "%s: %s", name, why.text);
	return make_map(name, filter, baleen_recent_buckets(&filter->image), filter->n_bytes, fd,
			error);
}

int baleen_load_copy(const char *name, const struct baleen_filter *filter, int *fd,
		     struct baleen_error *error)
{
	return make_map(name, filter, 0, filter->n_bytes, fd, error);
}

int baleen_load_twin(const char *name, const struct baleen_filter *live, int *fd,
		     struct baleen_error *error)
{
	return make_map(name, live, live->n_recent,
			live->n_bytes + baleen_recent_bytes(live->n_recent), fd, error);
}

int baleen_load_prefilter_map(const struct baleen_filter *prefilter, bool is_disabled, int *fd)
{
	u32 first = prefilter->image.n_blocks;
	const struct baleen_block disabled = { .word = { 1 } };
	int err = make_map("prefilter", prefilter, BALEEN_PREFILTER_RECENT, prefilter->n_bytes, fd,
			   NULL);

	if (!err && is_disabled)
		err = bpf_map_update_elem(*fd, &first, &disabled, BPF_ANY);
	if (err)
		baleen_close_fd(fd);
	return err;
}

int baleen_load_maps(const struct baleen_ruleset *ruleset, struct baleen_loaded *loaded,
		     struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < ruleset->n_rules && !err; i++)
		if (ruleset->rule[i].filter)
			err = baleen_load_map(ruleset->rule[i].name, ruleset->rule[i].filter,
					      &loaded->rule_fd[i], error);
	return err;
}

static u32 count_limits(const struct baleen_config *config)
{
	u32 n = 0;

	for (u32 i = 0; i < config->n_rules; i++)
		n += config->limit[i].interval_ns != 0;
	return n;
}

/* Does a limit count only those who show that they are there? */
static bool verifies_sources(const struct baleen_config *config)
{
	bool verifies = false;

	for (u32 i = 0; i < config->n_rules; i++)
		verifies |= config->limit[i].interval_ns && !config->limit[i].typed.unverified;
	return verifies;
}

/* Also who only peeks has all: the instructions of a shadow program are those of its twin. */
static int use_limit_maps(struct bpf_object *object, const struct baleen_config *config,
			  const struct baleen_loaded *loaded)
{
	const struct bpf_map *table = bpf_object__find_map_by_name(object, "baleen_limits");
	u32 n = count_limits(config);
	int err = 0;

	/* The program of what goes out has none. */
	if (config->is_egress)
		return 0;
	if (n && loaded->limit_fd[BALEEN_LIMIT_TABLE] < 0)
		err = bpf_map__set_max_entries((struct bpf_map *)table, n * BALEEN_LIMIT_SETS);
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS && !err; i++)
		err = baleen_object_use_map(object, limit_maps[i], n ? loaded->limit_fd[i] : -1, n);
	return err;
}

/* Gives every map its descriptor; what the program does not use is not created. */
static int use_maps(struct bpf_object *object, u32 n_rules, const struct baleen_config *config,
		    const struct baleen_loaded *loaded)
{
	const bool samples = config->sample_interval_ns;
	char name[sizeof("baleen_rule_15")];
	int err = 0;

	for (u32 i = 0; i < n_rules && !err; i++) {
		snprintf(name, sizeof(name), "baleen_rule_%u", i % BALEEN_MAX_RULES);
		err = baleen_object_use_map(object, name,
					    i < config->n_rules ? loaded->rule_fd[i] : -1, false);
	}
	if (!err)
		err = baleen_object_use_map(object, "baleen_prefilter",
					    config->prefilter_rules ? loaded->prefilter_fd : -1,
					    false);
	if (!err)
		err = baleen_object_use_map(object, "baleen_stats", loaded->stats_fd, true);
	/* Without events the code is the same, whether there were any before or not. */
	if (!err)
		err = baleen_object_use_map(object, "baleen_events",
					    samples ? loaded->events_fd : -1, samples);
	if (!err)
		err = baleen_object_use_map(object, "baleen_sampler",
					    samples ? loaded->sampler_fd : -1, samples);
	if (!err && !config->is_egress)
		err = baleen_object_use_map(object, "baleen_next",
					    config->hands_on ? loaded->next_fd : -1,
					    config->hands_on);
	return err ? err : use_limit_maps(object, config, loaded);
}

/* Closes what is new, when not all could be kept. */
static void drop_new(const struct baleen_loaded *before, struct baleen_loaded *loaded)
{
	baleen_close_fd(&loaded->program_fd);
	baleen_close_fd(&loaded->config_fd);
	if (before->stats_fd < 0)
		baleen_close_fd(&loaded->stats_fd);
	if (before->events_fd < 0)
		baleen_close_fd(&loaded->events_fd);
	if (before->sampler_fd < 0)
		baleen_close_fd(&loaded->sampler_fd);
	if (before->next_fd < 0)
		baleen_close_fd(&loaded->next_fd);
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS; i++)
		if (before->limit_fd[i] < 0)
			baleen_close_fd(&loaded->limit_fd[i]);
}

/* The object closes its descriptors: keep copies. */
static int keep(const struct bpf_object *object, const struct bpf_program *program,
		struct baleen_loaded *loaded)
{
	const struct baleen_loaded before = *loaded;
	struct bpf_prog_info info = { 0 };
	u32 bytes = sizeof(info);
	/* libxdp has loaded a component for itself: the object does not know. */
	int program_fd =
		loaded->component ? xdp_program__fd(loaded->component) : bpf_program__fd(program);
	int err = bpf_obj_get_info_by_fd(program_fd, &info, &bytes);

	if (!err)
		err = baleen_keep_fd(program_fd, &loaded->program_fd);
	if (!err)
		err = baleen_object_keep_map(object, ".rodata.config", &loaded->config_fd);
	if (!err)
		err = baleen_object_keep_map(object, "baleen_stats", &loaded->stats_fd);
	if (!err)
		err = baleen_object_keep_map(object, "baleen_events", &loaded->events_fd);
	if (!err)
		err = baleen_object_keep_map(object, "baleen_sampler", &loaded->sampler_fd);
	if (!err)
		err = baleen_object_keep_map(object, "baleen_next", &loaded->next_fd);
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS && !err; i++)
		err = baleen_object_keep_map(object, limit_maps[i], &loaded->limit_fd[i]);
	if (err)
		drop_new(&before, loaded);
	else
		loaded->program_id = info.id;
	return err;
}

/* The constants, with what follows from the rules and from this release. */
static struct baleen_config complete(const struct baleen_config *config)
{
	struct baleen_config whole = *config;

	whole.version = BALEEN_CONFIG_VERSION;
	whole.code = baleen_bpf_objects_code();
	whole.loads_stay = baleen_loads_stay();
	whole.needs_transport = whole.established = 0;
	for (u32 i = 0; i < whole.n_rules; i++) {
		whole.needs_transport |= whole.rule[i].needs_transport;
		whole.established |= whole.rule[i].qualifiers.established;
	}
	for (u32 i = 0; i < whole.n_rules; i++)
		if (whole.limit[i].interval_ns)
			whole.rule[i].slot |= BALEEN_SLOT_LIMITED;
	if (!count_limits(&whole))
		whole.limits = BALEEN_LIMITS_NONE;
	else if (whole.limits != BALEEN_LIMITS_PEEK)
		whole.limits = BALEEN_LIMITS_COUNT;
	whole.needs_transport |= whole.limits != BALEEN_LIMITS_NONE;
	/* These take some 100 ms to find. */
	whole.port_lock_bit =
		whole.established & BALEEN_ESTABLISHED_SOCKET ? baleen_kernel_port_lock_bit() : 0;
	whole.tcp = verifies_sources(&whole) ? baleen_kernel_tcp_fields() :
					       (struct baleen_tcp_fields){ 0 };
	return whole;
}

static int load_alone(struct bpf_object *object, struct bpf_program *program, bool frags,
		      struct baleen_error *error)
{
	int err;

	if (frags && bpf_program__type(program) == BPF_PROG_TYPE_XDP)
		bpf_program__set_flags(program, BPF_F_XDP_HAS_FRAGS);
	err = bpf_object__load(object);
	if (err)
		return baleen_fail(error, -err, "the kernel refused the program: %s",
				   baleen_log_reason(err));
	return 0;
}

static int load_component(struct bpf_object *object, struct bpf_program *program, bool frags,
			  struct baleen_loaded *loaded, struct baleen_error *error)
{
	struct baleen_error why;
	int err = baleen_dispatcher_load(object, program, frags, &loaded->component, &why);

	if (err)
		return baleen_fail(error, -err,
				   "the kernel refused the XDP program for a chain (freplace): %s",
				   why.text);
	return 0;
}

/* The smallest object that has room for the rules, with their constants. */
static struct bpf_object *open_object(const struct baleen_config *config, u32 *n_rules)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "baleen_bpf");
	const struct baleen_config constants = complete(config);
	const struct baleen_bpf_object *program =
		baleen_bpf_object_find(config->is_egress,
				       constants.established & BALEEN_ESTABLISHED_CONNTRACK,
				       config->n_rules);
	struct bpf_object *object;
	size_t n_bytes;
	void *bytes;
	int err;

	err = baleen_bpf_object_inflate(program, &bytes, &n_bytes);
	if (err) {
		errno = -err;
		return NULL;
	}
	object = bpf_object__open_mem(bytes, n_bytes, &options);
	free(bytes);
	if (!object)
		return NULL;
	err = baleen_object_set_constants(object, &constants, sizeof(constants));
	if (err) {
		bpf_object__close(object);
		errno = -err;
		return NULL;
	}
	*n_rules = program->n_rules;
	return object;
}

int baleen_load_check_rules(const struct baleen_config *config, struct baleen_error *error)
{
	u32 established = 0;

	for (u32 i = 0; i < config->n_rules; i++)
		established |= config->rule[i].qualifiers.established;
	if (config->is_egress && established & BALEEN_ESTABLISHED_SOCKET)
		return baleen_fail(error, EOPNOTSUPP,
				   "established asks about what comes in: no rule of what goes out "
				   "can have it");
	if (config->is_egress && count_limits(config))
		return baleen_fail(
			error, EOPNOTSUPP,
			"a limit is of sources that come in: no rule of what goes out can "
			"have it");
	return established & BALEEN_ESTABLISHED_CONNTRACK ?
		       baleen_kernel_has_conntrack(config->is_egress, error) :
		       0;
}

/* The others of the object are not loaded. */
static struct bpf_program *choose_program(struct bpf_object *object,
					  const struct baleen_config *config)
{
	const char *name = config->is_egress ? "baleen_egress" :
			   config->hands_on  ? BALEEN_XDP_PROGRAM "_next" :
					       BALEEN_XDP_PROGRAM;
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	return bpf_object__find_program_by_name(object, name);
}

int baleen_load_program(const struct baleen_config *config, struct baleen_loaded *loaded,
			struct baleen_error *error)
{
	struct bpf_program *program;
	struct bpf_object *object;
	u32 n_rules;
	int err = baleen_load_check_rules(config, error);

	if (err)
		return err;
	baleen_log_start();
	object = open_object(config, &n_rules);
	if (!object)
		return baleen_fail(error, errno, "cannot open the XDP program: %m");
	program = choose_program(object, config);
	err = use_maps(object, n_rules, config, loaded);
	if (err)
		err = baleen_fail(error, -err, "cannot use the maps: %s", baleen_log_reason(err));
	else if (config->attach_type == BALEEN_ATTACH_TYPE_CHAIN)
		err = load_component(object, program, config->frags, loaded, error);
	else
		err = load_alone(object, program, config->frags, error);
	if (!err) {
		err = keep(object, program, loaded);
		if (err)
			baleen_fail(error, -err, "cannot keep the XDP program: %s", strerror(-err));
	}
	if (!err && loaded->component) {
		/* libxdp still needs it. */
		loaded->object = object;
		return 0;
	}
	xdp_program__close(loaded->component);
	loaded->component = NULL;
	bpf_object__close(object);
	return err;
}

int baleen_loaded_pin(const struct baleen_loaded *loaded, const char *path,
		      struct baleen_error *error)
{
	char directory[BALEEN_PIN_BYTES + 16], name[16];
	int err;

	snprintf(directory, sizeof(directory), "%s/%u", path, loaded->program_id);
	if (mkdir(directory, 0700))
		return baleen_fail(error, errno, "%s: %m", directory);
	err = baleen_pins_add(directory, "prog", loaded->program_fd, error);
	if (!err)
		err = baleen_pins_add(directory, "stats", loaded->stats_fd, error);
	if (!err)
		err = baleen_pins_add(directory, "events", loaded->events_fd, error);
	if (!err)
		err = baleen_pins_add(directory, "sampler", loaded->sampler_fd, error);
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS && !err; i++)
		err = baleen_pins_add(directory, baleen_limit_pins[i], loaded->limit_fd[i], error);
	if (!err)
		err = baleen_pins_add(directory, "prefilter", loaded->prefilter_fd, error);
	if (!err)
		err = baleen_pins_add(directory, "next", loaded->next_fd, error);
	for (u32 i = 0; i < BALEEN_MAX_RULES && !err && loaded->rule_fd[i] >= 0; i++) {
		snprintf(name, sizeof(name), "rule%u", i);
		err = baleen_pins_add(directory, name, loaded->rule_fd[i], error);
	}
	/* Last: a reader that finds it finds the others. */
	if (!err)
		err = baleen_pins_add(directory, "config", loaded->config_fd, error);
	return err;
}
