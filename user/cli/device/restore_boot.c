// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen restore --boot: every device with a kept state, as it was. */
#include <errno.h>
#include <string.h>

#include "cli/device/restore.h"
#include "cli/open/session.h"
#include "deploy/confirm.h"
#include "deploy/deploy.h"
#include "deploy/icp_follow.h"
#include "net/device.h"
#include "net/link_wait.h"
#include "state/rule_store_each.h"
#include "util/clock.h"
#include "util/fd.h"

#define MAX_DEVICES 256

/* baleend may be putting on the same, and a busy machine takes its time; udev waits
 * three minutes.
 */
#define LOCK_MS 60000

/**
 * struct boot - the devices of this machine that are to be filtered again
 * @device: names
 * @is_done: restored, or failed
 * @n: how many
 * @result: exit code so far
 */
struct boot {
	char device[MAX_DEVICES][BALEEN_POINT_BYTES];
	bool is_done[MAX_DEVICES];
	u32 n;
	int result;
};

static int fail(struct boot *boot, u32 index, const char *why)
{
	complain("%s", why);
	suggest_mend(boot->device[index]);
	boot->is_done[index] = true;
	boot->result = EXIT_FAILED;
	return EXIT_FAILED;
}

/* --- which ---------------------------------------------------------------------- */

static void add_device(const char *device, struct boot *boot)
{
	if (boot->n == MAX_DEVICES || strlen(device) >= BALEEN_POINT_BYTES) {
		boot->result =
			complain("%s: a name too long, or more than %d devices: not restored",
				 device, MAX_DEVICES);
		return;
	}
	strcpy(boot->device[boot->n++], device);
}

static int add_found(struct baleen_rule_store_found *found, void *data)
{
	if (found->is_kept)
		add_device(found->device, data);
	return 0;
}

/* The name of a device stands for what goes out by it, too, if that has rules: a unit or a
 * rule of udev names devices. Of what goes out alone, it need have none of what comes in.
 */
static void add_both(const char *device, struct boot *boot)
{
	char egress[BALEEN_POINT_BYTES];
	bool has_egress = !baleen_device_is_egress(device) &&
			  !baleen_device_egress(device, egress) &&
			  baleen_rule_store_is_there(egress);

	if (!has_egress || baleen_rule_store_is_there(device))
		add_device(device, boot);
	if (has_egress)
		add_device(egress, boot);
}

static int find_devices(struct boot *boot, char **devices, int n)
{
	struct baleen_error error;

	/* Filters are derived of it: that it is damaged is no reason for none. */
	mend_book(false);
	for (int i = 0; i < n; i++)
		add_both(devices[i], boot);
	if (!n && baleen_rule_store_each(add_found, boot, &error))
		return complain("%s", error.text);
	return 0;
}

/* --- windows ------------------------------------------------------------------------ */

/* A change not confirmed before the reboot is taken back. */
static void undo(struct boot *boot, u32 index)
{
	const char *device = boot->device[index];
	struct baleen_error error;
	u64 deadline_ms;
	int did = baleen_confirm_check(device, LOCK_MS, &deadline_ms, &error);

	if (did < 0) {
		fail(boot, index, error.text);
	} else if (did > 0) {
		complain("%s: was not confirmed: the previous state is back", device);
		if (!baleen_rule_store_is_there(device))
			boot->is_done[index] = true;
	}
}

/* --- one device ---------------------------------------------------------------------- */

static void report(const char *device, const struct baleen_deploy *deploy, bool was_attached,
		   const struct baleen_attempts *attempts)
{
	u32 n = deploy->xdp.config.n_rules;

	for (u32 i = 0; i < attempts->n_failed; i++)
		complain("%s: %s failed: %s", device, attempts->failed[i].what,
			 attempts->failed[i].reason);
	if (was_attached)
		say("%s: is attached already\n", device);
	else
		say("%s: attached, %s, %u rule%s%s\n", device, baleen_mode_text(attempts->mode), n,
		    n == 1 ? "" : "s",
		    deploy->has_xdp && deploy->xdp.config.dry_run ? ", DRY RUN: drops nothing" :
								    "");
}

/* Its Squids may come later, so sources are baleend's. */
static void restore_icp(struct boot *boot, u32 index)
{
	struct baleen_icp_followed followed;
	struct baleen_error error;

	if (baleen_icp_follow(boot->device[index], &followed, &error))
		boot->result = complain("%s: caches are not answered for: %s", boot->device[index],
					error.text);
	else if (followed.did_attach)
		say("%s: answers for caches\n", boot->device[index]);
}

static void restore_device(struct boot *boot, u32 index)
{
	const char *device = boot->device[index];
	struct baleen_attempts attempts;
	struct baleen_deploy deploy;
	struct baleen_error error;
	bool was_attached;
	int err = baleen_deploy_open(&deploy, device, LOCK_MS, &error);

	if (err) {
		fail(boot, index, error.text);
		return;
	}
	was_attached = deploy.has_xdp;
	err = baleen_deploy_restore(&deploy, &attempts, &error);
	if (err)
		fail(boot, index, error.text);
	else
		report(device, &deploy, was_attached, &attempts);
	if (!err && deploy.book_error.text[0])
		boot->result = complain("%s: its single entries are not in force: %s", device,
					deploy.book_error.text);
	baleen_deploy_close(&deploy);
	if (!err)
		restore_icp(boot, index);
	boot->is_done[index] = true;
}

/* --- all of them ------------------------------------------------------------------------ */

/* Those that are there; returns how many are not. */
static u32 restore_present(struct boot *boot)
{
	u32 n_missing = 0;

	for (u32 i = 0; i < boot->n; i++) {
		if (boot->is_done[i])
			continue;
		if (baleen_device_index(boot->device[i]))
			restore_device(boot, i);
		else
			n_missing++;
	}
	return n_missing;
}

/* Without --wait the udev rule restores them when they appear. */
static void report_missing(struct boot *boot, bool did_wait)
{
	char why[64];

	for (u32 i = 0; i < boot->n; i++) {
		if (boot->is_done[i])
			continue;
		if (!did_wait) {
			say("%s: not there yet\n", boot->device[i]);
			continue;
		}
		snprintf(why, sizeof(why), "%s: no such device", boot->device[i]);
		fail(boot, i, why);
	}
}

int restore_boot(char **devices, int n, u64 wait_ms)
{
	struct boot boot = { 0 };
	struct baleen_error error;
	u64 deadline_ms = baleen_monotonic_ms() + wait_ms;
	/* Before the first look, so that none comes in between. */
	int fd = baleen_link_wait_open(&error);

	if (fd < 0 || baleen_device_privileges(&error)) {
		boot.result = complain("%s", error.text);
	} else if (find_devices(&boot, devices, n)) {
		boot.result = EXIT_FAILED;
	} else {
		for (u32 i = 0; i < boot.n; i++)
			undo(&boot, i);
		while (restore_present(&boot) && baleen_monotonic_ms() < deadline_ms)
			baleen_link_wait(fd, deadline_ms - baleen_monotonic_ms());
		report_missing(&boot, wait_ms);
	}
	baleen_close_fd(&fd);
	return finish_output(boot.result);
}
