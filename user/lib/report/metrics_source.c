// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics of the devices as they are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "filter/kind.h"
#include "filter/plan.h"
#include "kmod/kmod_rules.h"
#include "net/device.h"
#include "ops/image_file.h"
#include "release.h"
#include "report/metrics_source.h"
#include "report/metrics_fleet.h"
#include "report/metrics_icp.h"
#include "report/metrics_state.h"
#include "state/rule_store.h"
#include "state/rule_store_each.h"
#include "util/clock.h"
#include "util/output.h"
#include "xdp/limits.h"
#include "xdp/ruleset.h"

#define NS_PER_S 1000000000ull

/**
 * struct collection - devices on their way into a source
 * @source: gets them
 * @counts: as for baleen_metrics_collect()
 * @in_force: of this walk: devices whose filter is in force, or the others
 */
struct collection {
	struct baleen_metrics_source *source;
	struct baleen_metrics_counts *counts;
	bool in_force;
};

/* --- programs -------------------------------------------------------------- */

/* The time of the load, in seconds since 1970. */
static u64 loaded_s(const struct baleen_xdp *xdp)
{
	u64 loaded_ns = baleen_pins_loaded_ns(&xdp->pins, xdp->program_id);
	u64 ago_ns = baleen_clock_ns(CLOCK_BOOTTIME) - loaded_ns;

	return loaded_ns ? (baleen_clock_ns(CLOCK_REALTIME) - ago_ns) / NS_PER_S :
			   BALEEN_METRICS_UNKNOWN;
}

static bool is_in_force(const struct baleen_xdp *xdp)
{
	return xdp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED ||
	       xdp->attach_status == BALEEN_ATTACH_STATUS_MOVED;
}

static void set_program(struct baleen_metrics_device *row, const struct baleen_xdp *xdp)
{
	row->attached = is_in_force(xdp);
	/* The first of enum baleen_metrics_state are those of enum baleen_attach_status. */
	row->state = xdp->attach_status;
	if (xdp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED)
		row->mode = xdp->there.mode;
	row->dry_run = xdp->config.dry_run != 0;
	row->default_drop = xdp->config.default_drop != 0;
	row->has_program = 1;
	row->loaded_s = loaded_s(xdp);
	snprintf(row->program_id, sizeof(row->program_id), "%u", xdp->program_id);
	snprintf(row->place, sizeof(row->place), "%s",
		 baleen_attach_type_text(xdp->attachment.attach_type));
}

/* --- rules ----------------------------------------------------------------- */

static int add_tables(struct collection *to, const struct baleen_xdp *xdp,
		      const struct baleen_image *image, const struct baleen_metrics_count *count)
{
	static const char *const names[] = { "ipv4", "ipv6", "short", "long" };

	for (u32 domain = 0; domain < sizeof(names) / sizeof(names[0]); domain++) {
		const struct baleen_table *table = &image->table[domain];
		struct baleen_metrics_table *row;

		if (!baleen_kind_has_keys(table->kind) || !baleen_kind_ops(table->kind)->used)
			continue;
		row = baleen_metrics_add_table(to->source, xdp->device, image->name, names[domain]);
		if (!row)
			return -ENOMEM;
		row->used = count->used[domain];
		row->capacity = baleen_table_capacity(table);
	}
	return 0;
}

/* A damaged map leaves the counters, and says so. */
static int add_image(struct collection *to, const struct baleen_xdp *xdp, u32 index,
		     struct baleen_metrics_rule *row)
{
	const struct baleen_image *image = &xdp->config.rule[index].image;
	struct baleen_metrics_count count;

	baleen_metrics_count(to->counts, xdp, index, &count);
	row->sound = count.is_sound;
	if (!count.is_sound)
		return 0;
	row->entries = row->stored = count.n_entries;
	row->image_bytes = (u64)image->n_blocks * BALEEN_BLOCK_BYTES;
	row->fpp = count.fpp;
	return add_tables(to, xdp, image, &count);
}

/* A table that cannot be read leaves the others. */
static void set_limit(struct baleen_metrics_rule *row, const struct baleen_xdp *xdp, u32 index)
{
	struct baleen_limit_status status;

	if (!xdp->config.limit[index].interval_ns || baleen_limit_look(xdp, index, &status, NULL))
		return;
	row->limit_slots = status.n_slots;
	row->limit_tracked = status.n_tracked;
	row->limit_over = status.n_over;
	row->limit_overruns = status.counts.overruns;
	row->limit_forgotten = status.counts.forgotten;
}

static int add_rule(struct collection *to, const struct baleen_xdp *xdp, u32 index,
		    const struct baleen_stats *stats)
{
	const struct baleen_rule *rule = &xdp->config.rule[index];
	struct baleen_metrics_rule *row =
		baleen_metrics_add_rule(to->source, xdp->device, rule->image.name,
					baleen_action_text(rule->action));

	if (!row)
		return -ENOMEM;
	if (stats) {
		struct baleen_rule_stats counted = baleen_xdp_rule_stats(xdp, index, stats);

		row->packets = counted.packets;
		row->bytes = counted.bytes;
	}
	set_limit(row, xdp, index);
	return add_image(to, xdp, index, row);
}

/* --- devices --------------------------------------------------------------- */

static int add_xdp(struct collection *to, const struct baleen_xdp *xdp)
{
	struct baleen_metrics_device *row = baleen_metrics_add_device(to->source, xdp->device);
	struct baleen_stats stats;
	bool has_stats;
	int err = 0;

	/* One that is gone may have had the name of another. */
	if (!row)
		return 0;
	set_program(row, xdp);
	has_stats = !baleen_xdp_stats(xdp, &stats, NULL);
	if (has_stats)
		row->stats = stats;
	for (u32 i = 0; i < xdp->config.n_rules && !err; i++)
		err = add_rule(to, xdp, i, has_stats ? &stats : NULL);
	return err;
}

static int add_kmod_rule(struct collection *to, const struct baleen_kmod_rules *rules, u32 index)
{
	const struct baleen_dev_bound_rule *rule = &rules->rule[index];
	struct baleen_metrics_rule *row =
		baleen_metrics_add_rule(to->source, rules->device, (const char *)rule->name,
					baleen_action_text(rule->action));

	if (!row)
		return -ENOMEM;
	row->packets = rule->packets;
	row->bytes = rule->bytes;
	row->sound = 1;
	row->image_bytes = rule->info.n_bytes;
	if (rule->info.flags & BALEEN_DEV_COUNT_KNOWN)
		row->entries = row->stored = rule->info.n_entries;
	return 0;
}

/* Rules of the kernel module: without a program, and no filter is read. */
static int add_kmod(struct baleen_kmod_rules *rules, void *data)
{
	struct collection *to = data;
	struct baleen_metrics_device *row = baleen_metrics_add_device(to->source, rules->device);
	int err = 0;

	if (!row)
		return 0;
	row->attached = 1;
	row->state = BALEEN_METRICS_ATTACHED;
	row->dry_run = rules->dry_run;
	row->default_drop = rules->default_drop;
	snprintf(row->place, sizeof(row->place), "netfilter");
	row->stats = rules->stats;
	for (u32 i = 0; i < rules->n_rules && !err; i++)
		err = add_kmod_rule(to, rules, i);
	return err;
}

static void add_missing(struct collection *to, const char *device, enum baleen_metrics_state state)
{
	struct baleen_metrics_device *row = baleen_metrics_add_device(to->source, device);

	if (!row)
		return;
	row->attached = 0;
	row->state = state;
}

/* Unreadable pins do not tell the name at attach. */
static void add_unreadable(struct collection *to, const struct baleen_pins *pins)
{
	char name[BALEEN_POINT_BYTES];

	if (!baleen_device_name(pins->ifindex, name))
		snprintf(name, sizeof(name), "if%d", pins->ifindex);
	add_missing(to, name, BALEEN_METRICS_UNREADABLE);
}

/* Two walks: what is in force comes first, since it owns its name. */
static int visit_pins(const struct baleen_pins *pins, void *data)
{
	struct collection *to = data;
	struct baleen_xdp xdp;
	int err = baleen_xdp_open_pins(&xdp, pins, NULL);

	/* An attach that was killed left this behind. */
	if (err == -ENOENT)
		return 0;
	if (err) {
		if (!to->in_force)
			add_unreadable(to, pins);
		return 0;
	}
	if (is_in_force(&xdp) == to->in_force)
		err = add_xdp(to, &xdp);
	baleen_xdp_close(&xdp);
	return err;
}

/* Rules are kept, but the kernel has none of them. */
static int visit_state(struct baleen_rule_store_found *found, void *data)
{
	if (found->is_kept)
		add_missing(data, found->device, BALEEN_METRICS_ABSENT);
	return 0;
}

static int collect_all(struct collection *to, struct baleen_error *error)
{
	int err;

	to->in_force = true;
	err = baleen_pins_each(visit_pins, to, error);
	to->in_force = false;
	if (!err)
		err = baleen_pins_each(visit_pins, to, error);
	/* Without the right to ask the module, XDP is still reported. */
	if (!err && baleen_kmod_rules_each(add_kmod, to, NULL) == -ENOMEM)
		err = -ENOMEM;
	if (!err)
		baleen_rule_store_each(visit_state, to, NULL);
	return err;
}

static int collect_kmod(struct collection *to, const char *device)
{
	struct baleen_kmod_rules rules;
	int err = baleen_kmod_rules_open(&rules, device, false, NULL);

	if (err)
		return err;
	err = add_kmod(&rules, to);
	baleen_kmod_rules_close(&rules);
	return err;
}

static int collect_one(struct collection *to, const char *device)
{
	struct baleen_xdp xdp;
	int err = baleen_xdp_open(&xdp, device, false, NULL);

	if (err == -ENOENT && !collect_kmod(to, device))
		return 0;
	if (err) {
		add_missing(to, device,
			    err == -ENOENT || err == -ENODEV ? BALEEN_METRICS_ABSENT :
							       BALEEN_METRICS_UNREADABLE);
		return 0;
	}
	err = add_xdp(to, &xdp);
	baleen_xdp_close(&xdp);
	return err;
}

int baleen_metrics_collect(struct baleen_metrics_source *source, char *const *devices,
			   size_t n_devices, struct baleen_metrics_counts *counts,
			   struct baleen_error *error)
{
	static const struct baleen_metrics_release release = { BALEEN_RELEASE, 1 };
	struct collection to = { .source = source, .counts = counts };
	int err = 0;

	source->release = &release;
	for (size_t i = 0; i < n_devices && !err; i++)
		err = collect_one(&to, devices[i]);
	if (!n_devices)
		err = collect_all(&to, error);
	for (size_t i = 0; i < source->n_devices && !err; i++)
		err = baleen_metrics_add_state(source, source->device[i].name, counts);
	if (!err)
		err = baleen_metrics_add_icp(source, devices, n_devices);
	if (!n_devices)
		baleen_metrics_add_fleet(source);
	if (counts)
		baleen_metrics_counts_forget(counts);
	return err == -ENOMEM ? baleen_fail(error, ENOMEM, "no memory for metrics") : err;
}

/* --- files ----------------------------------------------------------------- */

int baleen_metrics_write(const struct baleen_metrics_source *source,
			 enum baleen_metrics_format format, const char *path,
			 enum baleen_output_kind kind, struct baleen_error *error)
{
	char *text;
	size_t n_bytes;
	int err = baleen_metrics_format(source, format, &text, &n_bytes, error);

	if (err)
		return err;
	err = baleen_output_write(path, kind, 0644, text, n_bytes, error);
	free(text);
	return err;
}
