// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The filter that a command changes: a live rule, an image file or one of the module. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/describe.h"
#include "cli/open/filter_target.h"
#include "cli/open/kmod_device.h"
#include "ops/image_file.h"
#include "util/clock.h"
#include "util/lock.h"

#define MAX_WAIT_S 86400

int take_wait(const struct command *command, const char *argument, u64 *wait_ms)
{
	char *end;
	unsigned long seconds = strtoul(argument, &end, 10);

	if (*argument < '0' || *argument > '9' || *end || seconds > MAX_WAIT_S)
		return complain_usage(command, "--wait '%s': not a number of seconds up to 86400",
				      argument);
	*wait_ms = seconds * 1000ull;
	return 0;
}

/* Who looks at a terminal wants to know why nothing happens. */
static void say_waiting(const char *argument)
{
	if (isatty(STDERR_FILENO))
		complain("%s: waiting for another command that changes it", argument);
}

/* --- files ----------------------------------------------------------------- */

static int lock_file(struct target *target, u64 wait_ms)
{
	int err = baleen_lock_within(target->fd, 0);

	if (err == -ETIMEDOUT && wait_ms) {
		say_waiting(target->argument);
		err = baleen_lock_within(target->fd, wait_ms);
	}
	if (err == -ETIMEDOUT)
		complain("%s: another command has been changing this file for %llu s",
			 target->argument, (unsigned long long)wait_ms / 1000);
	else if (err)
		complain("%s: %s", target->argument, strerror(-err));
	return err ? EXIT_FAILED : 0;
}

/* A writer replaces the file: who waited may hold what was there before. */
static bool is_still_there(const struct target *target)
{
	struct stat opened, named;

	return !fstat(target->fd, &opened) && !stat(target->argument, &named) &&
	       opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

static int open_locked(struct target *target, u64 wait_ms)
{
	for (;;) {
		target->fd = open(target->argument, O_RDONLY | O_CLOEXEC);
		if (target->fd < 0) {
			complain("%s: %m", target->argument);
			return EXIT_FAILED;
		}
		if (lock_file(target, wait_ms))
			return EXIT_FAILED;
		if (is_still_there(target))
			return 0;
		close(target->fd);
	}
}

static int open_image(struct target *target, u64 wait_ms)
{
	struct baleen_error error;
	struct stat stat;

	if (open_locked(target, wait_ms))
		return EXIT_FAILED;
	if (fstat(target->fd, &stat) || !S_ISREG(stat.st_mode) ||
	    !baleen_image_file_is(target->fd)) {
		complain("%s: is not an image", target->argument);
		return EXIT_FAILED;
	}
	target->mode = stat.st_mode & 0777;
	if (baleen_image_file_read(target->fd, target->argument, &target->filter, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return 0;
}

/* --- live rules ------------------------------------------------------------ */

static int open_device(struct target *target, const char *device, u64 wait_ms)
{
	int err = session_open(&target->session, device, wait_ms);

	target->xdp = &target->session.deploy.xdp;
	return err == -ENOENT ? complain_not_attached(device) : err;
}

static int find_rule(struct target *target, const char *device, const char *rule)
{
	int index = baleen_xdp_rule_index(target->xdp, rule);
	struct baleen_error error;

	if (index < 0) {
		complain("%s has no rule '%s': see 'baleen status %s'", device, rule, device);
		return EXIT_FAILED;
	}
	if (target->xdp->state != BALEEN_XDP_ATTACHED) {
		complain("%s: the filter is not in force here (%s)", device,
			 baleen_xdp_state_text(target->xdp->state));
		return EXIT_FAILED;
	}
	target->index = index;
	if (baleen_xdp_map_rule_writable(target->xdp, index, &target->filter, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return 0;
}

static int open_live(struct target *target, const char *device, const char *rule, u64 wait_ms)
{
	struct baleen_error error;

	if (baleen_device_privileges(&error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	if (open_device(target, device, wait_ms))
		return EXIT_FAILED;
	target->is_live = true;
	/* Who changes nothing but the map would leave what killed commands left. */
	baleen_attachment_tidy(&target->xdp->attachment, &target->xdp->pins);
	return find_rule(target, device, rule);
}

/* --- filters of the module --------------------------------------------------- */

static int open_kmod(struct target *target, const char *name)
{
	int err = kmod_open(&target->kmod, target->argument, name, true);

	if (err)
		return err;
	target->is_kmod = true;
	return kmod_head(&target->kmod, &target->filter.image, NULL);
}

/* Rules of the module have a filter of it each. */
static int open_kmod_rule(struct target *target, const char *device, const char *rule)
{
	int err = kmod_rule_open(&target->kmod, target->argument, device, rule, true);

	if (err)
		return err;
	target->is_kmod = true;
	return kmod_head(&target->kmod, &target->filter.image, NULL);
}

static void complain_overtaken(const char *argument, u64 wait_ms)
{
	complain("%s: other commands have been changing it for %llu s", argument,
		 (unsigned long long)wait_ms / 1000);
}

/* Who makes an image aside waits for the others that do, or all but one of them would
 * have made theirs for nothing. Others, who change the filter in place or write an image,
 * do not wait, and are noticed by the version.
 */
static int take_turn(const struct target *target)
{
	int err = baleen_lock_within(target->kmod.fd, 0);

	if (err == -ETIMEDOUT && target->wait_ms) {
		say_waiting(target->argument);
		err = baleen_lock_within(target->kmod.fd, target->wait_ms);
	}
	if (err == -ETIMEDOUT)
		complain_overtaken(target->argument, target->wait_ms);
	else if (err)
		complain("%s: %s", target->argument, strerror(-err));
	return err ? EXIT_FAILED : 0;
}

int target_load(struct target *target)
{
	if (!target->is_kmod || target->filter.bytes)
		return 0;
	return take_turn(target) ? EXIT_FAILED : kmod_read(&target->kmod, &target->filter);
}

/* --- all ------------------------------------------------------------------- */

int target_key_spec(const char *argument, u32 *key_spec)
{
	struct list_options none;
	struct baleen_list list = { 0 };
	struct input input;
	int err;

	list_options_init(&none);
	none.allow_empty = true;
	none.skip_bad = true;
	none.looks_at_live = true;
	err = input_open_set(&input, &list, argument, &none);
	if (!err && input.is_list) {
		complain("%s: is a list, not an image: edit it, or build an image of it", argument);
		err = EXIT_FAILED;
	}
	if (!err)
		*key_spec = input.filter.image.key_spec;
	input_close(&input);
	baleen_list_free(&list);
	return err;
}

int target_open(struct target *target, const char *argument, u64 wait_ms)
{
	char device[IF_NAMESIZE];
	const char *rule;
	int err;

	*target = (struct target){ .argument = argument, .fd = -1, .wait_ms = wait_ms };
	if (split_kmod(argument, &rule))
		err = open_kmod(target, rule);
	else if (split_live(argument, device, sizeof(device), &rule))
		err = is_kmod_device(device) ? open_kmod_rule(target, device, rule) :
					       open_live(target, device, rule, wait_ms);
	else
		err = open_image(target, wait_ms);
	if (err)
		target_close(target);
	return err;
}

int target_change(const char *argument, u64 wait_ms,
		  int (*change)(struct target *target, void *data), void *data)
{
	u64 until_ms = baleen_monotonic_ms() + wait_ms;
	struct target target;
	int err;

	do {
		err = target_open(&target, argument, wait_ms);
		if (err)
			return err;
		err = change(&target, data);
		target_close(&target);
	} while (err == -ESTALE && baleen_monotonic_ms() < until_ms);
	if (err == -ESTALE)
		complain_overtaken(argument, wait_ms);
	return err == -ESTALE ? EXIT_FAILED : err;
}

struct baleen_stored_rule *target_state_rule(struct target *target)
{
	struct baleen_stored_rules *rules = &target->session.plan.rules;
	const char *name;

	if (!target->is_live || !target->session.has_state)
		return NULL;
	name = target->xdp->config.rule[target->index].image.name;
	for (u32 i = 0; i < rules->n_rules; i++)
		if (!strcmp(rules->rule[i].name, name))
			return &rules->rule[i];
	return NULL;
}

static int put_derived(struct target *target, const struct baleen_stored_rule *rule)
{
	struct device_session *session = &target->session;
	struct baleen_error error;

	session->plan.rebuild[rule - session->plan.rules.rule] = true;
	if (baleen_rule_store_set_rules(&session->deploy.state, &session->plan.rules, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return session_put_plan(session);
}

static int put_live(struct target *target, const struct baleen_filter *filter)
{
	const struct baleen_stored_rule *rule = target_state_rule(target);
	struct baleen_ruleset ruleset;

	if (rule)
		return put_derived(target, rule);
	baleen_ruleset_from_config(&target->xdp->config, &ruleset);
	ruleset.rule[target->index].filter = filter;
	return session_put(&target->session, &ruleset, NULL, NULL);
}

int target_put(struct target *target, const struct baleen_filter *filter)
{
	if (target->is_kmod)
		return kmod_swap(&target->kmod, filter);
	return target->is_live ? put_live(target, filter) :
				 output_write(target->argument, filter, target->mode);
}

void target_close(struct target *target)
{
	baleen_filter_free(&target->filter);
	if (target->is_live)
		session_close(&target->session);
	if (target->fd >= 0)
		close(target->fd);
	kmod_close(&target->kmod);
	target->is_live = false;
	target->is_kmod = false;
	target->fd = -1;
}

/* --- -o -------------------------------------------------------------------- */

/* That it cannot be written is known before a list is read. */
static int check_kmod(const struct command *command, const char *path, const char *filter_name,
		      char *name)
{
	const char *reason = baleen_kmod_name_check(filter_name);
	struct kmod_filter kmod;
	int err;

	if (reason)
		return complain_usage(command, "-o '%s': %s", path, reason);
	err = kmod_open(&kmod, path, filter_name, true);
	if (err)
		return err;
	kmod_close(&kmod);
	strcpy(name, filter_name);
	return 0;
}

int output_check(const struct command *command, const char *path, char *name)
{
	const char *reason, *filter_name;

	if (split_kmod(path, &filter_name))
		return check_kmod(command, path, filter_name, name);
	reason = rule_name_from_path(path, name);
	if (!strcmp(path, "-"))
		return complain_usage(command, "-o -: for standard output say /dev/stdout");
	if (*path && path[strlen(path) - 1] == '/')
		reason = "is a directory";
	if (reason)
		return complain_usage(command, "-o '%s': %s", path, reason);
	if (!baleen_file_may_replace(path, BALEEN_MAGIC, sizeof(BALEEN_MAGIC) - 1)) {
		complain("%s: exists and is not an image: not overwritten", path);
		return EXIT_FAILED;
	}
	return 0;
}

int output_write(const char *path, const struct baleen_filter *filter, unsigned int mode)
{
	struct baleen_error error;
	const char *name;

	if (split_kmod(path, &name))
		return kmod_write(path, name, filter);
	if (baleen_file_write(path, filter->bytes, filter->n_bytes, mode, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return 0;
}
