// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A change that is taken back unless it is confirmed in time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "deploy/confirm.h"
#include "deploy/deploy.h"
#include "deploy/icp_follow.h"
#include "ops/image_file.h"
#include "state/rule_store_path.h"
#include "state/sql.h"
#include "util/clock.h"
#include "util/input.h"
#include "util/output.h"

/* With a name in front they are longer than that of a device, so no state is
 * called so.
 */
#define RECORD ".baleen-confirm"
#define PREVIOUS ".baleen-previous"
#define FORMAT "1"

/**
 * enum previous - what comes back
 * @NOTHING: the device had no state: it is detached
 * @BY_HAND: what was attached by hand, unless that ended with its boot
 * @KEPT: a kept state
 */
enum previous {
	NOTHING,
	BY_HAND,
	KEPT,
	N_PREVIOUS,
};

static const char *const previous_text[N_PREVIOUS] = { "nothing", "by-hand", "kept" };

/**
 * struct window - an open window
 * @owner: the device when it was opened
 * @deadline_ms: its end, in time since boot
 * @previous: kind of the state that comes back
 */
struct window {
	struct baleen_rule_store_owner owner;
	u64 deadline_ms;
	enum previous previous;
};

/* Goes on while the machine sleeps, and is set by nobody. */
static u64 boot_ms(void)
{
	return baleen_clock_ns(CLOCK_BOOTTIME) / 1000000;
}

static int name_file(const char *device, const char *suffix, char *path, struct baleen_error *error)
{
	char state[BALEEN_RULE_STORE_PATH_BYTES];
	int err = baleen_rule_store_name(device, true, state, error);

	if (!err)
		snprintf(path, BALEEN_RULE_STORE_NAME_BYTES, "%s%s", state, suffix);
	return err;
}

/* --- the mark ----------------------------------------------------------------- */

/* A container that starts again has the boot id of its host, but an empty /run. */
static int name_mark(const char *device, const struct window *window, char *path,
		     struct baleen_error *error)
{
	if (snprintf(path, BALEEN_RULE_STORE_NAME_BYTES, "%s/on-trial.ns%llu.%s",
		     baleen_rule_store_root(false), (unsigned long long)window->owner.netns_cookie,
		     device) >= BALEEN_RULE_STORE_NAME_BYTES)
		return baleen_fail(error, ENAMETOOLONG, "%s: name too long", device);
	return 0;
}

static int write_mark(const char *device, const struct window *window, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	int fd, err = name_mark(device, window, path, error);

	if (!err)
		err = baleen_rule_store_make_root(false, error);
	if (err)
		return err;
	fd = baleen_output_own(path, error);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static bool is_of_this_boot(const char *device, const struct window *window)
{
	struct baleen_rule_store_owner is;
	char path[BALEEN_RULE_STORE_NAME_BYTES];

	return !baleen_rule_store_owner("lo", &is, NULL) && !strcmp(is.boot, window->owner.boot) &&
	       !name_mark(device, window, path, NULL) && !access(path, F_OK);
}

/* --- the record ------------------------------------------------------------- */

static int write_window(const char *device, const struct window *window, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES], text[256];
	int n, err = name_file(device, RECORD, path, error);

	if (!err)
		err = write_mark(device, window, error);
	if (err)
		return err;
	n = snprintf(text, sizeof(text), FORMAT " %s %llu %llu %s\n", window->owner.boot,
		     (unsigned long long)window->owner.netns_cookie,
		     (unsigned long long)window->deadline_ms, previous_text[window->previous]);
	err = baleen_output_write(path, BALEEN_OUTPUT_NAMED, 0600, text, n, error);
	if (!err && baleen_rule_store_sync_parent(path))
		err = baleen_fail(error, EIO, "%s: cannot be synced", path);
	return err;
}

static int parse_window(FILE *file, struct window *window)
{
	unsigned long long cookie, deadline_ms;
	char previous[16];

	*window = (struct window){ 0 };
	if (fscanf(file, FORMAT " %63s %llu %llu %15s", window->owner.boot, &cookie, &deadline_ms,
		   previous) != 4)
		return -EINVAL;
	window->owner.netns_cookie = cookie;
	window->deadline_ms = deadline_ms;
	for (u32 i = 0; i < N_PREVIOUS; i++) {
		if (!strcmp(previous, previous_text[i])) {
			window->previous = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Return: -ENOENT also for that of a device in another network namespace. */
static int read_window(const char *device, struct window *window, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	struct baleen_rule_store_owner is;
	FILE *file;
	int err = name_file(device, RECORD, path, error);

	if (err)
		return err;
	file = baleen_input_stream(path, BALEEN_INPUT_OWN, error);
	if (!file)
		return -errno;
	err = parse_window(file, window);
	fclose(file);
	if (err)
		return baleen_fail(error, EINVAL, "%s: damaged", path);
	err = baleen_rule_store_owner(device, &is, error);
	if (!err && baleen_rule_store_is_foreign(&window->owner, &is))
		err = baleen_fail(error, ENOENT, "%s: of another network namespace", path);
	return err;
}

/* The record first, for it goes as a whole: half of a copy cannot be taken back. A
 * copy without a record means nothing, and the next window makes its own.
 */
static void forget_window(const char *device)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES], mark[BALEEN_RULE_STORE_NAME_BYTES];
	struct window window;
	bool has_mark =
		!read_window(device, &window, NULL) && !name_mark(device, &window, mark, NULL);

	if (!name_file(device, RECORD, path, NULL)) {
		unlink(path);
		baleen_rule_store_sync_parent(path);
	}
	if (has_mark)
		unlink(mark);
	if (!name_file(device, PREVIOUS, path, NULL))
		baleen_rule_store_remove_tree(path);
}

static bool is_due(const char *device, const struct window *window)
{
	return !is_of_this_boot(device, window) || boot_ms() >= window->deadline_ms;
}

static u64 deadline_of_day(const struct window *window)
{
	return baleen_now_ms() + window->deadline_ms - boot_ms();
}

/* --- begin and end ------------------------------------------------------------ */

int baleen_confirm_begin(const struct baleen_rule_store *state, const char *device, bool was_kept,
			 u64 window_ms, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	struct window window;
	int err = read_window(device, &window, error);
	bool is_open = !err && !is_due(device, &window);

	if (err && err != -ENOENT)
		return err;
	if (!err && !is_open)
		return baleen_fail(error, EAGAIN,
				   "%s: was not confirmed in time, and is being taken back",
				   device);
	err = baleen_rule_store_owner(device, &window.owner, error);
	if (!err)
		err = baleen_rule_store_make_root(true, error);
	if (err)
		return err;
	if (!is_open) {
		forget_window(device);
		window.previous = !state ? NOTHING : was_kept ? KEPT : BY_HAND;
	}
	if (!is_open && state) {
		err = name_file(device, PREVIOUS, path, error);
		if (!err)
			err = baleen_rule_store_copy(state, path, error);
	}
	window.deadline_ms = boot_ms() + window_ms;
	return err ? err : write_window(device, &window, error);
}

void baleen_confirm_cancel(const char *device)
{
	forget_window(device);
}

static int end_window(const char *device, struct baleen_error *error)
{
	struct window window;
	int err = read_window(device, &window, error);

	if (err == -ENOENT)
		return baleen_fail(error, ENOENT, "%s: nothing waits to be confirmed", device);
	if (err)
		return err;
	if (is_due(device, &window))
		return baleen_fail(error, ETIME, "%s: too late: it is being taken back", device);
	forget_window(device);
	return 0;
}

static int hasten_window(const char *device, struct baleen_error *error)
{
	struct window window;
	int err = read_window(device, &window, error);

	if (err)
		return err == -ENOENT ? 0 : err;
	if (is_due(device, &window))
		return 0;
	window.deadline_ms = boot_ms();
	return write_window(device, &window, error);
}

/* @change: behind the lock of the state, where there is one */
static int change_window(const char *device,
			 int (*change)(const char *device, struct baleen_error *error),
			 struct baleen_error *error)
{
	struct baleen_rule_store state;
	int err = baleen_rule_store_open(&state, device, BALEEN_LOCK_TIMEOUT_MS, error);

	if (err && err != -ENOENT)
		return err;
	if (err)
		return change(device, error);
	err = change(device, error);
	baleen_rule_store_close(&state);
	return err;
}

int baleen_confirm_end(const char *device, struct baleen_error *error)
{
	return change_window(device, end_window, error);
}

int baleen_confirm_hasten(const char *device, struct baleen_error *error)
{
	return change_window(device, hasten_window, error);
}

u64 baleen_confirm_deadline(const char *device)
{
	struct window window;

	if (read_window(device, &window, NULL))
		return 0;
	return is_due(device, &window) ? baleen_now_ms() : deadline_of_day(&window);
}

/* Under the lock: whoever had it before may have confirmed, or begun anew. */
static bool is_still_due(const char *device)
{
	struct window window;

	return !read_window(device, &window, NULL) && is_due(device, &window);
}

/* --- take back: to nothing ----------------------------------------------------- */

/* Under the lock of the state, so that nobody puts it on again meanwhile. */
static int detach(const char *device, struct baleen_error *error)
{
	int err;

	if (!baleen_device_index(device))
		return 0;
	err = baleen_xdp_detach(device, error);
	return err == -ENOENT ? 0 : err;
}

static int roll_back_to_nothing(const char *device, u64 timeout_ms, struct baleen_error *error)
{
	struct baleen_rule_store state;
	int err = baleen_rule_store_open(&state, device, timeout_ms, error);
	bool is_due;

	if (err)
		return err == -ENOENT ? detach(device, error) : err;
	is_due = is_still_due(device);
	if (is_due)
		err = detach(device, error);
	if (!is_due || err)
		baleen_rule_store_close(&state);
	else
		baleen_rule_store_remove(&state);
	return err;
}

/* --- take back: to a state ------------------------------------------------------ */

static int put_on(struct baleen_deploy *deploy, struct baleen_error *error)
{
	struct baleen_deploy_plan plan = { 0 };
	int err = baleen_rule_store_get_rules(&deploy->state, &plan.rules, error);

	/* Where no filter is, whoever attaches derives one of the state. */
	if (err || !deploy->has_xdp || !plan.rules.n_rules)
		return err;
	memset(plan.rebuild, true, sizeof(plan.rebuild));
	err = baleen_rule_store_begin(&deploy->state, error);
	return err ? err : baleen_deploy_put(deploy, &plan, NULL, NULL, NULL, error);
}

static int replace(struct baleen_deploy *deploy, const char *device, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	int err = name_file(device, PREVIOUS, path, error);

	/* A directory that is no copy is the old state: a killed command exchanged them. */
	if (!err && baleen_rule_store_is_copy(path)) {
		/* A writer killed after this leaves a filter that differs from the state. */
		err = baleen_rule_store_mark(&deploy->state, error);
		if (!err)
			err = baleen_rule_store_replace(&deploy->state, path, error);
	}
	return err ? err : put_on(deploy, error);
}

/* A filter attached by hand ends with this boot again; closes the state. */
static int make_volatile(struct baleen_deploy *deploy, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	int err = baleen_rule_store_name(deploy->state.device, false, path, error);

	if (!err)
		err = baleen_rule_store_make_root(false, error);
	if (!err)
		err = baleen_rule_store_copy(&deploy->state, path, error);
	if (err) {
		baleen_deploy_close(deploy);
		return err;
	}
	if (deploy->has_xdp)
		baleen_xdp_close(&deploy->xdp);
	baleen_rule_store_remove(&deploy->state);
	return 0;
}

static int roll_back_to_state(const char *device, const struct window *window, u64 timeout_ms,
			      struct baleen_error *error)
{
	struct baleen_deploy deploy;
	int err = baleen_deploy_open(&deploy, device, timeout_ms, error);

	/* Somebody detached it and forgot its state: that is the last word. */
	if (err)
		return err == -ENOENT ? 0 : err;
	if (is_still_due(device)) {
		err = replace(&deploy, device, error);
		if (!err && window->previous == BY_HAND)
			return make_volatile(&deploy, error);
	}
	baleen_deploy_close(&deploy);
	return err;
}

/* --- check ----------------------------------------------------------------------- */

static int roll_back(const char *device, const struct window *window, u64 timeout_ms,
		     struct baleen_error *error)
{
	bool ended_with_boot = window->previous == BY_HAND && !is_of_this_boot(device, window);
	struct baleen_icp_followed followed;
	int err;

	if (window->previous == NOTHING || ended_with_boot)
		err = roll_back_to_nothing(device, timeout_ms, error);
	else
		err = roll_back_to_state(device, window, timeout_ms, error);
	if (err)
		return err;
	/* A failure here is no reason to take back anew: baleend tries again. */
	baleen_icp_follow(device, &followed, NULL);
	/* Extended at the last moment: nothing was taken back. */
	if (!is_still_due(device))
		return 0;
	forget_window(device);
	return 1;
}

int baleen_confirm_check(const char *device, u64 timeout_ms, u64 *deadline_ms,
			 struct baleen_error *error)
{
	struct window window;
	int err = read_window(device, &window, error);

	*deadline_ms = 0;
	if (err)
		return err == -ENOENT ? 0 : err;
	if (is_due(device, &window))
		return roll_back(device, &window, timeout_ms, error);
	*deadline_ms = deadline_of_day(&window);
	return 0;
}
