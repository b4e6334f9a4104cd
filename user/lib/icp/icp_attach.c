// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Putting an instance that answers ICP queries on a device. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "icp/icp_attach.h"
#include "icp/icp_behind.h"
#include "icp/icp_links.h"
#include "icp/icp_times.h"
#include "net/links.h"
#include "util/fd.h"
#include "util/libbpf_log.h"
#include "util/shell.h"
#include "util/signals.h"
#include "xdp/load.h"
#include "xdp/update.h"

/* --- what is there --------------------------------------------------------- */

/**
 * struct owner - whose instance a program is of
 * @program_id: id of the program
 * @device: that answers; empty when it is of none whose pins are seen here
 */
struct owner {
	u32 program_id;
	char device[IF_NAMESIZE];
};

static int match_program(const struct baleen_pins *pins, void *data)
{
	struct owner *owner = data;
	struct baleen_icp icp;

	if (baleen_icp_open_pins(&icp, pins, NULL))
		return 0;
	if (icp.now.program_id == owner->program_id || icp.now.feed_id == owner->program_id)
		memcpy(owner->device, icp.device, sizeof(owner->device));
	baleen_icp_close(&icp);
	return 0;
}

/* Names the command that takes a program off, if it is known here: the feed of an instance
 * goes with the device that answers; rules without pins are an object of `baleen compile`.
 */
static void name_remedy(const char *device, int ifindex, const struct baleen_program *there,
			char *remedy, size_t bytes)
{
	struct owner owner = { .program_id = there->id };
	struct baleen_pins rules;

	snprintf(remedy, bytes, "detach it first");
	if (baleen_load_is_ours(there->name) && !baleen_pins_name(&rules, ifindex, NULL) &&
	    !access(rules.path, F_OK))
		snprintf(remedy, bytes, "'baleen detach %s' takes it off",
			 baleen_shell_word(device).text);
	if (strncmp(there->name, "baleen_icp", strlen("baleen_icp")))
		return;
	baleen_icp_each(match_program, &owner, NULL);
	if (owner.device[0])
		snprintf(remedy, bytes, "'baleen icp detach %s' takes it off",
			 baleen_shell_word(owner.device).text);
}

static int refuse_occupied(const char *device, int ifindex, struct baleen_error *error)
{
	struct baleen_program there;
	char remedy[BALEEN_SHELL_WORD_BYTES + 64];
	int err = baleen_device_program(ifindex, &there);

	if (err)
		return baleen_fail(error, -err, "%s: %s", device, strerror(-err));
	if (!there.id)
		return 0;
	name_remedy(device, ifindex, &there, remedy, sizeof(remedy));
	return baleen_fail(error, EBUSY,
			   "%s runs the XDP program '%s' (id %u, %s) already, and there is room "
			   "for one: %s",
			   device, there.name[0] ? there.name : "?", there.id,
			   baleen_mode_text(there.mode), remedy);
}

/* Empties the pins for the new instance. */
static int clear(const struct baleen_icp_plan *plan, const struct baleen_pins *pins,
		 int feed_ifindex, bool has_filter, struct baleen_error *error)
{
	struct baleen_attachment attachment;
	int err = baleen_icp_find(pins, &attachment);
	bool is_there = !err && attachment.is_taken;

	baleen_attachment_close(&attachment);
	if (is_there)
		return baleen_fail(error, EBUSY,
				   "%s answers ICP already: 'baleen icp detach %s' takes it off, "
				   "'baleen icp resync' changes a filter",
				   plan->device, baleen_shell_word(plan->device).text);
	baleen_icp_empty(pins);
	err = has_filter ? 0 : refuse_occupied(plan->device, pins->ifindex, error);
	if (!err && feed_ifindex)
		err = refuse_occupied(plan->feed_device, feed_ifindex, error);
	return err;
}

static bool is_veth(int ifindex)
{
	const struct baleen_link *link;
	struct baleen_links links;
	bool found = false;

	if (baleen_links_read(&links, NULL))
		return false;
	link = baleen_links_find(&links, ifindex);
	found = link && !strcmp(link->kind, "veth");
	baleen_links_free(&links);
	return found;
}

/* --- maps ------------------------------------------------------------------ */

/* Until the last step nothing is in force, so a signal may end the attach. */
static int check_signals(struct baleen_error *error)
{
	return baleen_signals_came() ? baleen_fail(error, EINTR, "interrupted") : 0;
}

static int make_filters(const struct baleen_icp_plan *plan, struct baleen_icp_loaded *loaded,
			struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < plan->config.n_siblings && !err; i++) {
		err = check_signals(error);
		if (err)
			break;
		loaded->config.sibling[i].image = plan->filter[i]->image;
		err = baleen_load_copy(plan->config.sibling[i].name, plan->filter[i],
				       &loaded->sibling_fd[i], error);
	}
	return err;
}

/* Before the program is on the device: nobody is refused in between. */
static int let_ask(const struct baleen_icp_plan *plan, const struct baleen_icp_loaded *loaded,
		   struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < plan->n_askers && !err; i++) {
		struct baleen_icp_grant grant = plan->asker[i];
		u32 before = 0;

		/* The longest prefix is the one that is asked. */
		bpf_map_lookup_elem(loaded->askers_fd, &grant.prefix, &before);
		grant.siblings |= before;
		err = bpf_map_update_elem(loaded->askers_fd, &grant.prefix, &grant.siblings,
					  BPF_ANY);
	}
	return err ? baleen_fail(error, -err, "cannot let %u prefixes ask: %s", plan->n_askers,
				 strerror(-err)) :
		     0;
}

static int set_synced(const struct baleen_icp_plan *plan, const struct baleen_icp_loaded *loaded,
		      struct baleen_error *error)
{
	const struct baleen_icp_stats none = { 0 };
	struct baleen_icp icp = { .now = *loaded };

	icp.state = mmap(NULL, sizeof(*icp.state), PROT_READ | PROT_WRITE, MAP_SHARED,
			 loaded->state_fd, 0);
	if (icp.state == MAP_FAILED)
		return baleen_fail(error, errno, "cannot map the state: %m");
	for (u32 i = 0; i < plan->config.n_siblings; i++)
		if (plan->has_content & 1u << i)
			baleen_icp_synced(&icp, i, plan->filter[i]->image.n_entries, &none);
	munmap(icp.state, sizeof(*icp.state));
	return 0;
}

/* --- attach ---------------------------------------------------------------- */

/**
 * struct attach_links - the links of an attach, before they are pinned
 * @pins: pins of the device
 * @filter: the filter of the device, opened for writing, which hands on; NULL: there is none
 * @feed_ifindex: the other device; 0: none
 * @link_fd: descriptor of the link of the program that answers
 * @feed_fd: descriptor of the other
 */
struct attach_links {
	const struct baleen_pins *pins;
	struct baleen_xdp *filter;
	int feed_ifindex;
	int link_fd;
	int feed_fd;
};

static int link_feed(const struct baleen_icp_plan *plan, struct attach_links *links, int program_fd,
		     struct baleen_icp_report *report, struct baleen_error *error)
{
	struct baleen_error why;
	int err = -EINVAL;

	for (enum baleen_mode mode = BALEEN_MODE_NATIVE; mode <= BALEEN_MODE_GENERIC && err;
	     mode++) {
		if (plan->mode != BALEEN_MODE_AUTO && plan->mode != mode)
			continue;
		err = baleen_attachment_link(links->feed_ifindex, program_fd, mode, &links->feed_fd,
					     &why);
	}
	return err ? baleen_fail(error, -err, "%s: %s", plan->feed_device, why.text) : 0;
}

/* The pin alone is no instance: the slot is empty. */
static int put_behind(const struct attach_links *links, const struct baleen_icp_loaded *loaded,
		      struct baleen_error *error)
{
	int err = baleen_pins_add(links->pins->path, BALEEN_ICP_BEHIND, links->filter->next_fd,
				  error);

	return err ? err : baleen_icp_behind_put(links->filter->next_fd, loaded->answer_fd, error);
}

static int attach_programs(const struct baleen_icp_plan *plan, struct attach_links *links,
			   const struct baleen_icp_loaded *loaded, enum baleen_mode mode,
			   struct baleen_icp_report *report, struct baleen_error *error)
{
	int err = 0;

	if (!links->filter)
		err = baleen_attachment_link(links->pins->ifindex, loaded->answer_fd, mode,
					     &links->link_fd, error);
	if (!err && links->feed_ifindex)
		err = link_feed(plan, links, loaded->feed_fd, report, error);
	if (!err && loaded->egress_fd >= 0)
		err = baleen_clsact_put(&baleen_icp_egress, links->pins, loaded->egress_fd, error);
	if (!err && links->feed_ifindex)
		err = baleen_pins_add(links->pins->path, "feed", links->feed_fd, error);
	/* Last: with it the instance is there, and without it nothing outlives this process
	 * but what the next one removes.
	 */
	if (!err && links->filter)
		return put_behind(links, loaded, error);
	return err ? err : baleen_pins_add(links->pins->path, "link", links->link_fd, error);
}

struct attempt_data {
	const struct baleen_icp_plan *plan;
	struct attach_links *links;
	struct baleen_icp_loaded *loaded;
	struct baleen_icp_report *report;
};

/* The pins come first: what is on the device is always known. */
static int try_attach(const struct baleen_attempt *attempt, void *data, struct baleen_error *error)
{
	const struct attempt_data *attach = data;
	const struct baleen_icp_plan *plan = attach->plan;
	struct baleen_icp_loaded *loaded = attach->loaded;
	struct attach_links *links = attach->links;
	int err = baleen_icp_load(loaded, attempt->frags, error);

	if (!err)
		err = baleen_icp_loaded_pin(loaded, links->pins, error);
	if (!err)
		err = let_ask(plan, loaded, error);
	if (!err)
		err = set_synced(plan, loaded, error);
	if (!err)
		err = check_signals(error);
	if (!err)
		err = attach_programs(plan, links, loaded, attempt->mode, attach->report, error);
	baleen_close_fd(&links->link_fd);
	baleen_close_fd(&links->feed_fd);
	if (err) {
		baleen_icp_loaded_close_programs(loaded);
		baleen_icp_empty(links->pins);
	}
	return err;
}

/* A feed tells how long its objects are fresh; an image does not. */
static void set_times(const struct baleen_icp_plan *plan, struct baleen_icp_config *config)
{
	config->n_times = plan->n_objects ? baleen_icp_times_blocks(plan->n_objects) : 0;
	for (u32 i = 0; i < config->n_siblings; i++)
		config->sibling[i].has_times = config->n_times && config->sibling[i].feeders &&
					       config->sibling[i].mode != BALEEN_ICP_CONFIRM;
}

/* As the filter is: programs of one map take multi-buffer frames, or none does. */
static int attach_behind(struct attempt_data *attempt, struct baleen_error *error)
{
	struct baleen_xdp *filter = attempt->links->filter;
	const struct baleen_attempt one = { "behind the filter", filter->there.mode,
					    filter->config.frags };
	struct baleen_attempts *attempts = &attempt->report->attempts;
	enum baleen_mode asked = attempt->plan->mode;
	struct baleen_error why;
	int err;

	if (asked != BALEEN_MODE_AUTO && asked != filter->there.mode)
		return baleen_fail(
			error, EBUSY,
			"%s: its filter is attached %s, and mode %s is asked for: what is "
			"behind it has its mode",
			filter->device, baleen_mode_text(filter->there.mode),
			baleen_mode_text(asked));
	err = baleen_xdp_hand_on(filter, error);
	if (err)
		return err;
	err = try_attach(&one, attempt, &why);
	if (err)
		return baleen_fail(error, -err, "cannot answer behind the filter of %s: %s",
				   filter->device, why.text);
	attempts->mode = one.mode;
	attempts->frags = one.frags;
	return 0;
}

static int attach(const struct baleen_icp_plan *plan, struct attach_links *links,
		  struct baleen_icp_report *report, struct baleen_error *error)
{
	struct baleen_icp_loaded loaded;
	struct attempt_data attempt = { plan, links, &loaded, report };
	enum baleen_mode mode = plan->mode;
	int err;

	baleen_icp_loaded_init(&loaded);
	loaded.config = plan->config;
	snprintf(loaded.config.device, sizeof(loaded.config.device), "%s", plan->device);
	if (links->feed_ifindex)
		snprintf(loaded.config.feed_device, sizeof(loaded.config.feed_device), "%s",
			 plan->feed_device);
	report->is_behind = links->filter;
	report->is_veth = (links->filter ? links->filter->there.mode == BALEEN_MODE_NATIVE :
					   mode == BALEEN_MODE_AUTO) &&
			  is_veth(links->pins->ifindex);
	if (report->is_veth)
		mode = BALEEN_MODE_GENERIC;
	set_times(plan, &loaded.config);
	err = make_filters(plan, &loaded, error);
	if (!err && links->filter)
		err = attach_behind(&attempt, error);
	else if (!err)
		err = baleen_attempts_make(&report->attempts, plan->device, mode, try_attach,
					   &attempt, error);
	baleen_icp_loaded_close(&loaded);
	return err;
}

/* The same device, named twice, is one device. */
static int find_feed(const struct baleen_icp_plan *plan, int ifindex, int *feed_ifindex,
		     struct baleen_error *error)
{
	int err = 0;

	*feed_ifindex = 0;
	if (plan->feed_device)
		err = baleen_device_ifindex(plan->feed_device, feed_ifindex, error);
	if (*feed_ifindex == ifindex)
		*feed_ifindex = 0;
	return err;
}

/* A filter of a device that is attached to it and not in a chain: there ICP is a program like
 * others, for which there is no room.
 */
static int find_filter(const char *device, struct baleen_xdp *xdp, bool *has_filter,
		       struct baleen_error *error)
{
	int err = baleen_xdp_open(xdp, device, true, error);

	*has_filter = false;
	if (err)
		return err == -ENOENT ? 0 : err;
	*has_filter = xdp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
	if (!*has_filter)
		baleen_xdp_close(xdp);
	return 0;
}

int baleen_icp_attach(const struct baleen_icp_plan *plan, struct baleen_icp_report *report,
		      struct baleen_error *error)
{
	struct baleen_pins pins = { .lock_fd = -1 };
	struct attach_links links = { .pins = &pins, .link_fd = -1, .feed_fd = -1 };
	struct baleen_xdp filter;
	bool has_filter = false;
	int ifindex = 0, err;

	memset(report, 0, sizeof(*report));
	err = baleen_icp_plan_check(plan, error);
	if (!err)
		err = baleen_device_ifindex(plan->device, &ifindex, error);
	if (!err && ifindex < 0)
		err = baleen_fail(error, EINVAL, "%s: queries come in: say the device",
				  plan->device);
	if (!err)
		err = find_feed(plan, ifindex, &links.feed_ifindex, error);
	if (!err)
		err = baleen_pins_name_in(BALEEN_ICP_PINS, &pins, ifindex, error);
	/* The filter's lock comes before that of the instance. */
	if (!err)
		err = find_filter(plan->device, &filter, &has_filter, error);
	if (has_filter)
		links.filter = &filter;
	if (!err)
		err = baleen_pins_lock(&pins, BALEEN_LOCK_TIMEOUT_MS, error);
	if (err)
		goto no_lock;
	err = clear(plan, &pins, links.feed_ifindex, has_filter, error);
	if (!err)
		err = attach(plan, &links, report, error);
	baleen_pins_unlock(&pins);
no_lock:
	if (has_filter)
		baleen_xdp_close(&filter);
	return err;
}
