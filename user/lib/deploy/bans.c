// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of all rules that take some: the devices, held as far as nobody else does. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/bans.h"
#include "net/device.h"
#include "state/book.h"
#include "state/parked.h"
#include "state/rule_scopes.h"
#include "state/rule_store_commit.h"
#include "util/array.h"
#include "util/clock.h"

/* Long enough to take a lock that nobody has. */
#define AT_ONCE_MS 1
/* So long others may hold devices, all of them together, before they are late: to derive a filter
 * anew takes longer.
 */
#define MOMENT_MS 50

/* --- find -------------------------------------------------------------------- */

/**
 * struct search - on the way to the devices
 * @bans: them
 * @error: the caller's
 */
struct search {
	struct baleen_bans *bans;
	struct baleen_error *error;
};

/* A device that was taken over has two states for a moment, and one name. */
static struct baleen_ban_device *find_device(struct baleen_bans *bans, const char *name)
{
	for (u32 i = 0; i < bans->n_devices; i++)
		if (!strcmp(bans->device[i].name, name))
			return &bans->device[i];
	return NULL;
}

static int look_at_device(struct baleen_rule_store_found *found, void *data)
{
	struct search *search = data;
	struct baleen_bans *bans = search->bans;
	struct baleen_stored_rules rules;
	struct baleen_ban_device *device;
	int err = baleen_rule_store_stamps_add(&bans->states, found, search->error);

	if (err)
		return err;
	err = found->err;
	if (!err)
		err = baleen_rule_store_get_rules(&found->state, &rules, &found->error);
	if ((!err && !baleen_rules_take(&rules, bans->scope)) || find_device(bans, found->device))
		return 0;
	if (baleen_array_add(&bans->device, bans->n_devices))
		return baleen_no_memory(search->error);
	device = &bans->device[bans->n_devices++];
	*device = (struct baleen_ban_device){ .has_state = !err };
	snprintf(device->name, sizeof(device->name), "%s", found->device);
	if (err) {
		device->why = found->error;
		return 0;
	}
	device->deploy.state = found->state;
	found->is_taken = true;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct baleen_ban_device *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* --- hold -------------------------------------------------------------------- */

static void let_go(struct baleen_ban_device *device)
{
	if (device->has_state)
		baleen_deploy_close(&device->deploy);
	device->has_state = device->is_held = false;
}

static void look_at(const struct baleen_bans *bans, struct baleen_ban_device *device, bool is_kept)
{
	device->deploy = (struct baleen_deploy){ .has_xdp = false };
	device->has_state =
		!baleen_rule_store_read(&device->deploy.state, device->name, is_kept, NULL);
	if (device->has_state)
		baleen_book_share(&device->deploy.state, &bans->book);
}

/* One that cannot be held is looked at still. A device that was forgotten meanwhile has no state.
 */
static void hold(struct baleen_bans *bans, struct baleen_ban_device *device, u64 timeout_ms)
{
	struct baleen_rule_store state = device->deploy.state;
	bool is_kept = state.is_kept;
	int err = baleen_deploy_open_read(&device->deploy, &state, &bans->book, timeout_ms,
					  &device->why);

	device->has_state = device->is_held = !err;
	device->is_gone = err == -ENOENT;
	device->is_attached = !err && device->deploy.has_xdp;
	if (err && !device->is_gone)
		look_at(bans, device, is_kept);
}

/* Asks again, now that the device is held: its rules may have changed since the search. */
static int add_rules(struct baleen_bans *bans, u32 index, struct baleen_error *error)
{
	struct baleen_ban_device *device = &bans->device[index];
	struct baleen_stored_rules rules;

	if (baleen_rule_store_get_rules(&device->deploy.state, &rules, &device->why)) {
		let_go(device);
		return 0;
	}
	for (u32 i = 0; i < rules.n_rules; i++) {
		if (!baleen_rule_takes(&rules.rule[i], bans->scope))
			continue;
		if (baleen_array_add(&bans->rule, bans->n_rules))
			return baleen_no_memory(error);
		bans->rule[bans->n_rules++] =
			(struct baleen_ban_rule){ .device = index, .rule = rules.rule[i] };
	}
	if (!baleen_rules_take(&rules, bans->scope)) {
		let_go(device);
		device->is_gone = true;
	}
	return 0;
}

static u64 left_of(u64 deadline_ms)
{
	u64 now_ms = baleen_monotonic_ms();

	return deadline_ms > now_ms ? deadline_ms - now_ms : AT_ONCE_MS;
}

static int hold_all(struct baleen_bans *bans, struct baleen_error *error)
{
	u64 deadline_ms = baleen_monotonic_ms() + MOMENT_MS;
	int err = 0;

	if (bans->n_devices > 1)
		qsort(bans->device, bans->n_devices, sizeof(*bans->device), compare_names);
	for (u32 i = 0; i < bans->n_devices && !err; i++) {
		if (bans->device[i].has_state)
			hold(bans, &bans->device[i], left_of(deadline_ms));
		if (bans->device[i].has_state)
			err = add_rules(bans, i, error);
	}
	return err;
}

/* A lone address stands for so much in some rule. */
static u32 widest(const struct baleen_bans *bans)
{
	u32 width = BALEEN_BAN_WIDTH_MAX;

	for (size_t i = 0; i < bans->n_rules; i++) {
		u32 of_rule = baleen_rule_ban_width(&bans->rule[i].rule);

		width = of_rule < width ? of_rule : width;
	}
	return width;
}

static int fail_without_rules(const struct baleen_bans *bans, struct baleen_error *error)
{
	for (u32 i = 0; i < bans->n_devices; i++)
		if (!bans->device[i].is_gone)
			return baleen_fail(error, EIO, "%s", bans->device[i].why.text);
	if (baleen_scope_is_of_fleet(bans->scope))
		return baleen_fail(error, ENOENT, "no rule of any device takes bans of %s",
				   bans->scope);
	return baleen_fail(error, ENOENT, "no rule of any device takes bans");
}

int baleen_bans_open(struct baleen_bans *bans, const char *scope, struct baleen_error *error)
{
	struct search search = { .bans = bans, .error = error };
	int err;

	*bans = (struct baleen_bans){ .scope = scope, .book.lock_fd = -1 };
	err = baleen_book_open(&bans->book, error);
	bans->book.shared = scope;
	if (!err)
		err = baleen_rule_store_each(look_at_device, &search, error);
	if (!err)
		err = hold_all(bans, error);
	if (err)
		return err;
	bans->book.ban_width = widest(bans);
	return bans->n_rules ? 0 : fail_without_rules(bans, error);
}

void baleen_bans_close(struct baleen_bans *bans)
{
	for (size_t i = 0; i < bans->n_rules; i++)
		free(bans->rule[i].before.entry);
	for (u32 i = 0; i < bans->n_devices; i++)
		let_go(&bans->device[i]);
	baleen_host_free(&bans->host);
	free(bans->rule);
	free(bans->device);
	free(bans->news);
	baleen_rule_store_stamps_free(&bans->states);
	baleen_book_close(&bans->book);
	*bans = (struct baleen_bans){ .book.lock_fd = -1 };
}

/* --- remember ---------------------------------------------------------------- */

/* A rule may take bans of a fleet, too: those are not of this scope. */
static int remember(const struct baleen_rule_entry *entry, void *data)
{
	return baleen_origin_is_of_fleet(entry->origin) ? 0 : baleen_entry_array_keep(entry, data);
}

struct baleen_rule_store baleen_bans_book_of(const struct baleen_bans *bans,
					     const struct baleen_rule_entry *net)
{
	int length =
		baleen_entry_key_is_addresses(&net->key) ? baleen_span_length(&net->key.span) : -1;
	struct baleen_rule_store book = bans->book;

	for (size_t i = 0; i < bans->n_rules; i++)
		if ((int)baleen_rule_ban_width(&bans->rule[i].rule) == length)
			book.ban_width = length;
	return book;
}

/* Those that a prefix takes with it. */
static int remember_lone(struct baleen_bans *bans, struct baleen_ban_rule *rule,
			 const struct baleen_rule_entry *entry, struct baleen_error *error)
{
	struct baleen_rule_store own = baleen_book_of(&bans->device[rule->device].deploy.state);
	const struct baleen_rule_store book = baleen_bans_book_of(bans, entry);
	int err;

	own.ban_width = baleen_rule_ban_width(&rule->rule);
	err = baleen_rule_entries_lone(&own, rule->rule.name, entry, NULL, remember, &rule->before,
				       error);
	return err ? err :
		     baleen_rule_entries_lone(&book, NULL, entry, NULL, remember, &rule->before,
					      error);
}

int baleen_bans_remember(struct baleen_bans *bans, const struct baleen_rule_entry *entry,
			 bool is_put, struct baleen_error *error)
{
	int err = 0;

	for (size_t i = 0; i < bans->n_rules && !err; i++) {
		struct baleen_ban_rule *rule = &bans->rule[i];

		err = baleen_rule_entries_of_key(&bans->device[rule->device].deploy.state,
						 rule->rule.name, entry, remember, &rule->before,
						 error);
		if (!err && !is_put)
			err = remember_lone(bans, rule, entry, error);
	}
	return err == -ENOMEM ? baleen_no_memory(error) : err;
}

/* --- marks ----------------------------------------------------------------------- */

static int leave_behind(const char *name, struct baleen_error *error)
{
	struct baleen_rule_store state = { .lock_fd = -1 };

	snprintf(state.now, sizeof(state.now), "%s", name);
	return baleen_rule_store_leave_behind(&state, error);
}

/* Its filter may be on a device that has another name for a while. */
static int leave_renamed_behind(const struct baleen_ban_device *device, struct baleen_error *error)
{
	struct baleen_rule_store_owner was = { .ifindex = 0 };
	char name[BALEEN_POINT_BYTES];

	if (baleen_rule_store_read_owner(&device->deploy.state, &was, NULL) ||
	    !baleen_device_name(was.ifindex, name) || !strcmp(name, device->name))
		return 0;
	return leave_behind(name, error);
}

/* Return: 1 when it takes bans, and is marked; 0; a negative errno. */
static int mark_taker(const char *scope, const char *device, struct baleen_error *error)
{
	struct baleen_stored_rules rules;
	struct baleen_rule_store state;
	int err = 0;
	bool takes;

	if (baleen_rule_store_open(&state, device, 0, NULL))
		return 0;
	takes = !baleen_rule_store_get_rules(&state, &rules, NULL) &&
		baleen_rules_take(&rules, scope);
	if (takes)
		err = baleen_rule_store_leave_behind(&state, error);
	baleen_rule_store_close(&state);
	return err ? err : takes;
}

static int mark_news(const char *name, void *data)
{
	struct search *search = data;
	struct baleen_bans *bans = search->bans;
	const struct baleen_ban_device *device = find_device(bans, name);
	int ret = device && !device->is_gone ? 0 : mark_taker(bans->scope, name, search->error);

	if (ret <= 0)
		return ret;
	if (baleen_array_add(&bans->news, bans->n_news))
		return baleen_no_memory(search->error);
	snprintf(bans->news[bans->n_news++], BALEEN_POINT_BYTES, "%s", name);
	return 0;
}

int baleen_bans_mark(struct baleen_bans *bans, struct baleen_error *error)
{
	struct search search = { .bans = bans, .error = error };
	int err = 0;

	bans->n_news = 0;
	for (u32 i = 0; i < bans->n_devices && !err; i++) {
		const struct baleen_ban_device *device = &bans->device[i];

		if (device->is_gone)
			continue;
		if (!device->is_held)
			err = leave_behind(device->has_state ? device->deploy.state.now :
							       device->name,
					   error);
		else if (device->deploy.has_xdp)
			err = baleen_rule_store_mark(&device->deploy.state, error);
		else
			err = leave_renamed_behind(device, error);
	}
	return err ? err : baleen_rule_store_each_news(&bans->states, mark_news, &search, error);
}

/* --- those that were not held --------------------------------------------------- */

void baleen_bans_stop_holding(const struct baleen_bans *bans, struct baleen_ban_device *device)
{
	bool is_kept = device->deploy.state.is_kept;

	let_go(device);
	look_at(bans, device, is_kept);
}

/* To be held is to follow: the mark is found. */
static void catch_up(struct baleen_bans *bans, struct baleen_ban_device *device, u64 deadline_ms)
{
	int err = 0;

	if (!device->has_state)
		err = baleen_rule_store_open(&device->deploy.state, device->name, 0, &device->why);
	device->is_gone = err == -ENOENT;
	if (!err)
		hold(bans, device, left_of(deadline_ms));
	device->is_behind = !device->is_held && !device->is_gone;
	if (device->is_held)
		baleen_bans_stop_holding(bans, device);
}

static bool is_late(const struct baleen_ban_device *device)
{
	return !device->is_held && !device->is_gone;
}

/* Those for which there is no memory have their mark. */
static void add_news(struct baleen_bans *bans)
{
	for (size_t i = 0; i < bans->n_news; i++) {
		struct baleen_ban_device *device;

		if (baleen_array_add(&bans->device, bans->n_devices))
			break;
		device = &bans->device[bans->n_devices++];
		*device = (struct baleen_ban_device){ .has_state = false };
		strcpy(device->name, bans->news[i]);
	}
	bans->n_news = 0;
}

void baleen_bans_catch_up(struct baleen_bans *bans, u64 timeout_ms)
{
	u64 deadline_ms = baleen_monotonic_ms() + timeout_ms;
	bool is_any_late = false;

	add_news(bans);
	for (u32 i = 0; i < bans->n_devices; i++)
		is_any_late |= is_late(&bans->device[i]);
	for (u32 i = 0; i < bans->n_devices && is_any_late; i++) {
		struct baleen_ban_device *device = &bans->device[i];

		device->is_late = is_late(device);
		if (device->is_held)
			baleen_bans_stop_holding(bans, device);
	}
	for (u32 i = 0; i < bans->n_devices; i++)
		if (bans->device[i].is_late)
			catch_up(bans, &bans->device[i], deadline_ms);
}

/* --- ended ---------------------------------------------------------------------- */

static int expire_scope(const char *scope, u64 timeout_ms, struct baleen_error *error)
{
	struct baleen_batch nothing = { .n = 0 };
	struct baleen_bans bans;
	int err = baleen_bans_open(&bans, scope, error);

	if (!err)
		err = baleen_bans_put(&bans, &nothing, timeout_ms, NULL, error);
	baleen_bans_close(&bans);
	return err == -ENOENT ? 0 : err;
}

int baleen_bans_expire(u64 timeout_ms, struct baleen_error *error)
{
	struct baleen_scopes scopes = { 0 };
	struct baleen_error ignored;
	struct baleen_rule_store book;
	u64 now_ms = baleen_now_ms(), next_ms;
	int err = baleen_book_open(&book, error);

	if (err)
		return err;
	next_ms = baleen_bans_next_expiry(&book);
	if (next_ms && next_ms <= now_ms)
		err = baleen_scopes_with_ended(&book, now_ms, &scopes, error);
	baleen_book_close(&book);
	for (size_t i = 0; i < scopes.n; i++) {
		int one = baleen_scope_is_shared(scopes.scope[i].name) ?
				  expire_scope(scopes.scope[i].name, timeout_ms,
					       error ? error : &ignored) :
				  0;

		err = err ? err : one;
	}
	baleen_scopes_free(&scopes);
	return err;
}

void baleen_bans_end_if_due(void)
{
	baleen_bans_expire(AT_ONCE_MS, NULL);
}
