// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Putting rules on a device that has no XDP program. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "load.h"
#include "pins.h"

struct attempt {
	const char *what;
	enum baleen_mode mode;
	u32 flags;
	bool frags;
};

static const struct attempt attempts_to_make[BALEEN_MAX_ATTEMPTS] = {
	{ "native with multi-buffer frames", BALEEN_MODE_NATIVE, XDP_FLAGS_DRV_MODE, true },
	{ "native", BALEEN_MODE_NATIVE, XDP_FLAGS_DRV_MODE, false },
	{ "generic", BALEEN_MODE_GENERIC, XDP_FLAGS_SKB_MODE, true },
};

/* A link attach returns a bare error number; the netlink attach of the same
 * program fails the same way and carries the driver's words. Should it
 * succeed, the obstacle has just gone: take it off and link again.
 */
static int link_program(int ifindex, int program_fd, u32 flags, int *link_fd)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags);
	LIBBPF_OPTS(bpf_xdp_attach_opts, mine, .old_prog_fd = program_fd);
	int fd, err;

	for (int i = 0; i < 2; i++) {
		fd = bpf_link_create(program_fd, ifindex, BPF_XDP, &options);
		if (fd >= 0) {
			*link_fd = fd;
			return 0;
		}
		baleen_log_start();
		err = bpf_xdp_attach(ifindex, program_fd, flags | XDP_FLAGS_UPDATE_IF_NOEXIST,
				     NULL);
		if (err)
			return err;
		bpf_xdp_detach(ifindex, flags, &mine);
	}
	return fd;
}

static int try_attach(const struct baleen_pins *pins, const struct attempt *attempt,
		      struct baleen_config *config, struct baleen_loaded *loaded, int *link_fd,
		      struct baleen_attempts *attempts, struct baleen_error *error)
{
	u32 n = attempts->n_failed;
	int err;

	config->frags = attempt->frags;
	err = baleen_load_program(config, loaded, error);
	if (err) {
		snprintf(attempts->failed[n].reason, sizeof(attempts->failed[n].reason), "%.200s",
			 error->text);
	} else {
		err = link_program(pins->ifindex, loaded->program_fd, attempt->flags, link_fd);
		if (err) {
			snprintf(attempts->failed[n].reason, sizeof(attempts->failed[n].reason),
				 "%.200s", baleen_log_reason(err));
			close(loaded->program_fd);
			close(loaded->config_fd);
			loaded->program_fd = loaded->config_fd = -1;
		}
	}
	if (err) {
		attempts->failed[n].what = attempt->what;
		attempts->n_failed++;
		return err;
	}
	attempts->mode = attempt->mode;
	attempts->frags = attempt->frags;
	return 0;
}

static int attach_some_way(const struct baleen_pins *pins, enum baleen_mode mode,
			   struct baleen_config *config, struct baleen_loaded *loaded, int *link_fd,
			   struct baleen_attempts *attempts, struct baleen_error *error)
{
	int err = -EINVAL;

	for (u32 i = 0; i < BALEEN_MAX_ATTEMPTS && err; i++) {
		const struct attempt *attempt = &attempts_to_make[i];

		if (mode != BALEEN_MODE_AUTO && mode != attempt->mode)
			continue;
		err = try_attach(pins, attempt, config, loaded, link_fd, attempts, error);
		if (err == -ENOMEM || err == -EPERM)
			break;
	}
	if (err)
		return baleen_fail(error, -err, "cannot attach to %s: %s", config->device,
				   attempts->failed[attempts->n_failed - 1].reason);
	return 0;
}

/* An object of `baleen compile`, or a filter attached where other pins are seen:
 * `ip netns exec` hides those of its caller.
 */
static const char ours_elsewhere[] =
	", as an object with 'ip link set ... xdp off', else with baleen where the pins in " BALEEN_BPFFS
	" are seen";

static int refuse_occupied(const struct baleen_pins *pins, const char *device,
			   struct baleen_error *error)
{
	struct baleen_program program;
	struct bpf_link_info info;
	int err, fd;

	err = baleen_device_program(pins->ifindex, &program);
	if (err)
		return baleen_fail(error, -err, "%s: %s", device, baleen_log_reason(err));
	fd = baleen_pins_open_link(pins, &info);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && info.xdp.ifindex && info.prog_id == program.id)
		return baleen_fail(error, EBUSY,
				   "baleen is attached to %s already: 'baleen swap' "
				   "changes a rule, 'baleen detach %s' takes it off",
				   device, device);
	if (fd >= 0 && info.xdp.ifindex)
		return baleen_fail(error, EBUSY,
				   "%s has the number of a device that took its filter to another "
				   "network namespace: 'baleen detach %s' takes that off",
				   device, device);
	if (program.id)
		return baleen_fail(error, EBUSY,
				   "%s runs the XDP program '%s' (id %u, %s) already: detach it "
				   "first%s",
				   device, program.name[0] ? program.name : "?", program.id,
				   baleen_mode_text(program.mode),
				   strcmp(program.name, "baleen_xdp") ? "" : ours_elsewhere);
	return 0;
}

static int make_maps(const struct baleen_ruleset *ruleset, struct baleen_loaded *loaded,
		     struct baleen_error *error)
{
	int err = 0;

	for (u32 i = 0; i < ruleset->n_rules && !err; i++)
		err = baleen_load_map(ruleset->rule[i].name, ruleset->rule[i].filter,
				      &loaded->rule_fd[i], error);
	return err;
}

static int check(const struct baleen_ruleset *ruleset, struct baleen_error *error)
{
	int err = baleen_ruleset_check(ruleset, error);

	for (u32 i = 0; i < ruleset->n_rules && !err; i++)
		if (ruleset->rule[i].live != BALEEN_RULE_NEW || !ruleset->rule[i].filter)
			err = baleen_fail(error, EINVAL, "rule '%s' continues another",
					  ruleset->rule[i].name);
	return err;
}

static void configure(struct baleen_config *config, const char *device,
		      const struct baleen_ruleset *ruleset, enum baleen_mode mode)
{
	memset(config, 0, sizeof(*config));
	config->mode = mode;
	snprintf(config->device, sizeof(config->device), "%s", device);
	baleen_ruleset_configure(ruleset, config, NULL, config);
}

static int pin_link(const struct baleen_pins *pins, int link_fd, struct baleen_error *error)
{
	char path[BALEEN_PIN_BYTES + 8];
	int err;

	snprintf(path, sizeof(path), "%s/link", pins->path);
	/* What is left here belongs to a device of this number that is gone. */
	unlink(path);
	err = bpf_obj_pin(link_fd, path);
	if (err)
		return baleen_fail(error, -err, "cannot pin %s: %s", path, strerror(-err));
	return 0;
}

int baleen_xdp_attach(const char *device, const struct baleen_ruleset *ruleset,
		      enum baleen_mode mode, struct baleen_attempts *attempts,
		      struct baleen_error *error)
{
	struct baleen_config config;
	struct baleen_loaded loaded;
	struct baleen_pins pins = { .lock_fd = -1 };
	int ifindex = 0, link_fd = -1, err;

	memset(attempts, 0, sizeof(*attempts));
	baleen_loaded_init(&loaded);
	err = check(ruleset, error);
	if (err)
		return err;
	configure(&config, device, ruleset, mode);
	err = baleen_device_ifindex(device, &ifindex, error);
	if (!err)
		err = baleen_pins_name(&pins, ifindex, error);
	if (!err)
		err = baleen_pins_lock(&pins, error);
	if (err)
		return err;
	err = refuse_occupied(&pins, device, error);
	if (err)
		goto unlock;
	baleen_pins_clean(&pins, 0);
	err = make_maps(ruleset, &loaded, error);
	if (!err)
		err = attach_some_way(&pins, mode, &config, &loaded, &link_fd, attempts, error);
	/* The link is pinned last: without it nothing outlives this process. */
	if (!err)
		err = baleen_loaded_pin(&loaded, pins.path, error);
	if (!err)
		err = pin_link(&pins, link_fd, error);
	if (link_fd >= 0)
		close(link_fd);
	baleen_loaded_close(&loaded);
	if (err)
		baleen_pins_remove(&pins);
unlock:
	baleen_pins_unlock(&pins);
	return err;
}
