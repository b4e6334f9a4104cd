// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The filter on a device: read, detached. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter/compat.h"
#include "filter/prefilter.h"
#include "net/device.h"
#include "net/kmod_hook.h"
#include "util/announce.h"
#include "util/fd.h"
#include "xdp/bpf_objects.h"
#include "xdp/config.h"
#include "xdp/dispatcher.h"
#include "xdp/load.h"
#include "xdp/xdp.h"

static int open_rule(const struct baleen_pins *pins, u32 program_id, u32 index)
{
	char name[16];

	snprintf(name, sizeof(name), "rule%u", index);
	return baleen_pins_open(pins, program_id, name);
}

static void close_all(void *data)
{
	struct baleen_xdp *xdp = data;

	baleen_attachment_close(&xdp->attachment);
	baleen_close_fd(&xdp->stats_fd);
	baleen_close_fd(&xdp->events_fd);
	baleen_close_fd(&xdp->sampler_fd);
	baleen_close_fd(&xdp->prefilter_fd);
	baleen_close_fd(&xdp->next_fd);
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS; i++)
		baleen_close_fd(&xdp->limit_fd[i]);
	for (u32 i = 0; i < BALEEN_MAX_RULES; i++)
		baleen_close_fd(&xdp->rule_fd[i]);
	baleen_filter_free(&xdp->live);
}

/* The values of each CPU must have the size of the buffer. */
static int open_stats(struct baleen_xdp *xdp, u32 program_id)
{
	struct bpf_map_info info = { 0 };
	u32 bytes = sizeof(info);
	int err;

	xdp->stats_fd = baleen_pins_open(&xdp->pins, program_id, "stats");
	if (xdp->stats_fd < 0)
		return xdp->stats_fd;
	err = bpf_obj_get_info_by_fd(xdp->stats_fd, &info, &bytes);
	if (err)
		return err;
	return info.type == BPF_MAP_TYPE_PERCPU_ARRAY &&
			       info.value_size == sizeof(struct baleen_stats) ?
		       0 :
		       -EPROTO;
}

/* Only a program that samples, or one after it, has these. */
static int open_sampling(struct baleen_xdp *xdp, u32 program_id)
{
	xdp->events_fd = baleen_pins_open(&xdp->pins, program_id, "events");
	xdp->sampler_fd = baleen_pins_open(&xdp->pins, program_id, "sampler");
	if (!xdp->config.sample_interval_ns)
		return 0;
	return xdp->events_fd < 0 ? xdp->events_fd : xdp->sampler_fd < 0 ? xdp->sampler_fd : 0;
}

static int open_limits(struct baleen_xdp *xdp, u32 program_id)
{
	bool has_one = false;

	for (u32 i = 0; i < xdp->config.n_rules; i++)
		has_one |= xdp->config.limit[i].interval_ns != 0;
	for (u32 i = 0; i < BALEEN_N_LIMIT_MAPS && has_one; i++) {
		xdp->limit_fd[i] = baleen_pins_open(&xdp->pins, program_id, baleen_limit_pins[i]);
		if (xdp->limit_fd[i] < 0)
			return xdp->limit_fd[i];
	}
	return 0;
}

/* Opens all that is read later, so that no swap can take it away. */
static int open_program(struct baleen_xdp *xdp, u32 program_id)
{
	int err;

	xdp->program_id = program_id;
	err = baleen_config_read(&xdp->pins, program_id, &xdp->config);
	if (err)
		return err;
	err = open_stats(xdp, program_id);
	if (!err)
		err = open_sampling(xdp, program_id);
	if (!err)
		err = open_limits(xdp, program_id);
	if (!err && xdp->config.prefilter_rules) {
		xdp->prefilter_fd = baleen_pins_open(&xdp->pins, program_id, "prefilter");
		err = xdp->prefilter_fd < 0 ? xdp->prefilter_fd : 0;
	}
	if (!err && xdp->config.hands_on) {
		xdp->next_fd = baleen_pins_open(&xdp->pins, program_id, "next");
		err = xdp->next_fd < 0 ? xdp->next_fd : 0;
	}
	if (err)
		return err;
	for (u32 i = 0; i < xdp->config.n_rules; i++) {
		xdp->rule_fd[i] = open_rule(&xdp->pins, program_id, i);
		if (xdp->rule_fd[i] < 0)
			return xdp->rule_fd[i];
	}
	return 0;
}

const char *baleen_xdp_old_name(const struct baleen_xdp *xdp, char *name)
{
	snprintf(name, BALEEN_POINT_BYTES, "%.15s%s", xdp->config.device,
		 xdp->pins.ifindex < 0 ? BALEEN_EGRESS : "");
	return name;
}

static int open_found(void *data)
{
	struct baleen_xdp *xdp = data;
	char old_name[BALEEN_POINT_BYTES];
	int err = open_program(xdp, xdp->attachment.program_id);

	if (!err)
		err = baleen_attach_status_find(&xdp->attachment, &xdp->pins,
						baleen_xdp_old_name(xdp, old_name), xdp->device,
						&xdp->there, &xdp->attach_status);
	return err;
}

int baleen_xdp_open_pins(struct baleen_xdp *xdp, const struct baleen_pins *pins,
			 struct baleen_error *error)
{
	memset(xdp, 0, sizeof(*xdp));
	xdp->pins = *pins;
	baleen_attachment_init(&xdp->attachment);
	xdp->stats_fd = xdp->events_fd = xdp->sampler_fd = xdp->prefilter_fd = xdp->next_fd = -1;
	memset(xdp->limit_fd, -1, sizeof(xdp->limit_fd));
	memset(xdp->rule_fd, -1, sizeof(xdp->rule_fd));
	return baleen_instance_open(&baleen_xdp_instances, pins, &xdp->attachment, xdp, error);
}

static int identify(const struct baleen_pins *pins, char *device, enum baleen_attach_status *status)
{
	struct baleen_xdp xdp;
	int err = baleen_xdp_open_pins(&xdp, pins, NULL);

	if (err)
		return err;
	baleen_xdp_old_name(&xdp, device);
	*status = xdp.attach_status;
	close_all(&xdp);
	return 0;
}

static void forget(const struct baleen_pins *pins)
{
	baleen_dispatcher_forget(pins);
	baleen_pins_empty(pins);
}

/* The kernel module may filter the device: its rules have fewer commands. */
static int not_attached(const char *device, struct baleen_error *error)
{
	if (baleen_kmod_has_rules(baleen_device_index(device)))
		return baleen_fail(error, ENOENT,
				   "the rules of %s are the kernel module's, which only have keys "
				   "and counters: this is for rules of XDP",
				   device);
	return baleen_fail(error, ENOENT, "baleen is not attached to %s", device);
}

const struct baleen_instance_type baleen_xdp_instances = {
	.purpose = BALEEN_PINS,
	.find = baleen_attachment_find,
	.open = open_found,
	.close = close_all,
	.identify = identify,
	.forget = forget,
	.fail_absent = not_attached,
};

/* @ifindex: of the device; 0 to ask for it */
static int open_device(struct baleen_xdp *xdp, const char *device, int ifindex, bool for_writing,
		       u64 timeout_ms, struct baleen_error *error)
{
	struct baleen_pins pins;
	int err = ifindex ? baleen_instance_find_at(&baleen_xdp_instances, device, ifindex, &pins,
						    error) :
			    baleen_instance_find(&baleen_xdp_instances, device, &pins, error);

	if (!err && for_writing)
		err = baleen_pins_lock(&pins, timeout_ms, error);
	if (err)
		return err;
	err = baleen_xdp_open_pins(xdp, &pins, error);
	if (err == -ENOENT)
		err = not_attached(device, error);
	if (err)
		baleen_pins_unlock(&pins);
	return err;
}

int baleen_xdp_open(struct baleen_xdp *xdp, const char *device, bool for_writing,
		    struct baleen_error *error)
{
	return open_device(xdp, device, 0, for_writing, BALEEN_LOCK_TIMEOUT_MS, error);
}

int baleen_xdp_open_within(struct baleen_xdp *xdp, const char *device, u64 timeout_ms,
			   struct baleen_error *error)
{
	return open_device(xdp, device, 0, true, timeout_ms, error);
}

int baleen_xdp_open_at(struct baleen_xdp *xdp, const char *device, int ifindex, u64 timeout_ms,
		       struct baleen_error *error)
{
	return open_device(xdp, device, ifindex, true, timeout_ms, error);
}

void baleen_xdp_close(struct baleen_xdp *xdp)
{
	close_all(xdp);
	baleen_pins_unlock(&xdp->pins);
}

int baleen_xdp_rule_index(const struct baleen_xdp *xdp, const char *name)
{
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		if (!strcmp(xdp->config.rule[i].image.name, name))
			return i;
	return -ENOENT;
}

static bool same_header(const struct baleen_image *a, const struct baleen_image *b)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (!baleen_same_geometry(&a->table[domain], &b->table[domain]))
			return false;
	return a->n_blocks == b->n_blocks && a->key_spec == b->key_spec;
}

/* @image is what the program has of it, @name for messages. The packet path goes by the constants
 * of its load, so do we.
 */
static int map_filter(const char *device, const char *name, int fd,
		      const struct baleen_image *image, u32 n_recent, int protection,
		      struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_filter mapped;
	struct baleen_image found;
	const char *reason;
	int err = baleen_load_view(fd, image, n_recent, protection, &mapped);

	if (err)
		return baleen_fail(error, -err, "%s:%s: %s", device, name, strerror(-err));
	if (baleen_image_check(mapped.bytes, mapped.n_bytes, &found, &reason)) {
		err = baleen_fail(error, EINVAL, "%s:%s: %s", device, name, reason);
	} else if (memcmp(&found.seed, &image->seed, sizeof(found.seed)) ||
		   !same_header(&found, image)) {
		err = baleen_fail(error, EINVAL, "%s:%s: header and program disagree", device,
				  name);
	}
	if (err)
		baleen_filter_free(&mapped);
	else
		*filter = mapped;
	return err;
}

static int map_rule(const struct baleen_xdp *xdp, u32 index, int protection,
		    struct baleen_filter *filter, struct baleen_error *error)
{
	const struct baleen_image *image = &xdp->config.rule[index].image;

	return map_filter(xdp->device, image->name, xdp->rule_fd[index], image,
			  xdp->config.recent_buckets[index], protection, filter, error);
}

/* Whoever changes the rule has to change it, too. */
static int map_prefilter(const struct baleen_xdp *xdp, struct baleen_filter *filter,
			 struct baleen_error *error)
{
	struct baleen_filter *prefilter = calloc(1, sizeof(*prefilter));
	int err;

	if (!prefilter)
		return baleen_no_memory(error);
	err = map_filter(xdp->device, "prefilter", xdp->prefilter_fd, &xdp->config.prefilter,
			 BALEEN_PREFILTER_RECENT, PROT_READ | PROT_WRITE, prefilter, error);
	if (err)
		free(prefilter);
	else
		filter->prefilter = prefilter;
	return err;
}

u32 baleen_xdp_rule_map_id(const struct baleen_xdp *xdp, u32 index)
{
	struct bpf_map_info info = { 0 };
	u32 bytes = sizeof(info);

	return bpf_obj_get_info_by_fd(xdp->rule_fd[index], &info, &bytes) ? 0 : info.id;
}

int baleen_xdp_map_rule(const struct baleen_xdp *xdp, u32 index, struct baleen_filter *filter,
			struct baleen_error *error)
{
	return map_rule(xdp, index, PROT_READ, filter, error);
}

static int map_rule_writable(const struct baleen_xdp *xdp, u32 index, struct baleen_filter *filter,
			     struct baleen_error *error)
{
	struct baleen_filter mapped;
	int err = map_rule(xdp, index, PROT_READ | PROT_WRITE, &mapped, error);

	if (err)
		return err;
	if (xdp->config.prefilter_rules >> index & 1)
		err = map_prefilter(xdp, &mapped, error);
	if (err)
		baleen_filter_free(&mapped);
	else
		*filter = mapped;
	return err;
}

/* To map millions of keys costs more than to change one. */
int baleen_xdp_live_rule(struct baleen_xdp *xdp, u32 index, struct baleen_filter **filter,
			 struct baleen_error *error)
{
	int err = 0;

	if (!xdp->live.bytes || xdp->live_index != index) {
		baleen_filter_free(&xdp->live);
		err = map_rule_writable(xdp, index, &xdp->live, error);
	}
	if (err)
		return err;
	xdp->live_index = index;
	xdp->live.image = xdp->config.rule[index].image;
	*filter = &xdp->live;
	return 0;
}

int baleen_xdp_sum_counters(int map_fd, const char *device, void *counters, size_t n_bytes,
			    struct baleen_error *error)
{
	size_t n_counters = n_bytes / sizeof(u64);
	int n_cpus = libbpf_num_possible_cpus();
	u64 *per_cpu;
	u32 zero = 0;
	int err;

	if (n_cpus < 0)
		return baleen_fail(error, -n_cpus, "cannot count the CPUs: %s", strerror(-n_cpus));
	per_cpu = calloc(n_cpus, n_bytes);
	if (!per_cpu)
		return baleen_fail(error, ENOMEM, "no memory for counters");
	err = bpf_map_lookup_elem(map_fd, &zero, per_cpu);
	if (!err) {
		memset(counters, 0, n_bytes);
		for (size_t i = 0; i < n_cpus * n_counters; i++)
			((u64 *)counters)[i % n_counters] += per_cpu[i];
	}
	free(per_cpu);
	return err ? baleen_fail(error, -err, "%s: cannot read the counters: %s", device,
				 strerror(-err)) :
		     0;
}

int baleen_xdp_stats(const struct baleen_xdp *xdp, struct baleen_stats *stats,
		     struct baleen_error *error)
{
	return baleen_xdp_sum_counters(xdp->stats_fd, xdp->device, stats, sizeof(*stats), error);
}

struct baleen_rule_stats baleen_xdp_rule_stats(const struct baleen_xdp *xdp, u32 index,
					       const struct baleen_stats *stats)
{
	const struct baleen_rule *rule = &xdp->config.rule[index];

	return (struct baleen_rule_stats){
		.packets = stats->rule[rule->slot].packets - rule->base.packets,
		.bytes = stats->rule[rule->slot].bytes - rule->base.bytes,
	};
}

bool baleen_xdp_is_current(const struct baleen_xdp *xdp)
{
	return xdp->config.code == baleen_bpf_objects_code();
}

/* --- detach ---------------------------------------------------------------- */

int baleen_xdp_detach(const char *device, struct baleen_error *error)
{
	struct baleen_attachment attachment;
	struct baleen_pins pins;
	int err;

	err = baleen_instance_find(&baleen_xdp_instances, device, &pins, error);
	if (err)
		return err;
	err = baleen_pins_lock(&pins, BALEEN_LOCK_TIMEOUT_MS, error);
	if (err)
		return err;
	err = baleen_attachment_find(&pins, &attachment);
	if (err && err != -ENOENT) {
		baleen_attachment_fail(&pins, err, error);
		goto unlock;
	}
	if (err)
		not_attached(device, error);
	baleen_attachment_tidy(&attachment, &pins);
	if (!err)
		err = baleen_attachment_leave(&attachment, &pins, error);
	baleen_attachment_close(&attachment);
	/* Remove the pins when the program has left, or was not there. */
	if (!err || err == -ENOENT)
		baleen_pins_empty(&pins);
	if (!err)
		baleen_announce();
unlock:
	baleen_pins_unlock(&pins);
	return err;
}
