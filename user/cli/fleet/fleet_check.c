// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet check: what another policy would make of what there is. */
#include <stdlib.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "fleet/fleet_receive.h"
#include "fleet/fleet_view.h"
#include "state/entries.h"
#include "util/array.h"
#include "util/small_file.h"

/**
 * struct check - a dry run
 * @conf: fleet.conf
 * @store: the database, with a transaction that is undone
 * @policy: that is tried
 * @now_ms: broker's time
 * @name: publishers of other hosts
 * @n: how many
 * @n_worse: those of which something would no longer count
 * @n_changed: those of which anything would be otherwise
 */
struct check {
	struct baleen_fleet_conf conf;
	struct baleen_fleet_store store;
	struct baleen_fleet_policy policy;
	u64 now_ms;
	char (*name)[BALEEN_FLEET_PUBLISHER_BYTES];
	size_t n;
	u64 n_worse, n_changed;
};

static int read_policy(struct check *check, const char *path)
{
	struct baleen_error error;
	char *text;
	size_t n;
	int err;

	if (baleen_small_file_read(path, BALEEN_INPUT_TYPED, BALEEN_FLEET_POLICY_MAX, &text, &n,
				   NULL, &error))
		return complain("%s", error.text);
	err = baleen_fleet_policy_parse(text, n, path, &check->policy, &error);
	free(text);
	if (err)
		return complain("%s", error.text);
	if (strcmp(check->policy.fleet, check->conf.fleet))
		return complain("%s: is of the fleet '%s', and this host is in '%s'", path,
				check->policy.fleet, check->conf.fleet);
	return 0;
}

static int keep_name(const struct baleen_fleet_publisher *publisher, void *data)
{
	struct check *check = data;

	if (publisher->is_own)
		return 0;
	if (baleen_array_add(&check->name, check->n))
		return -ENOMEM;
	strcpy(check->name[check->n++], publisher->name);
	return 0;
}

static u64 sum(const u64 *n)
{
	u64 all = 0;

	for (u32 i = 0; i < BALEEN_FLEET_N_HOLDS; i++)
		all += n[i];
	return all;
}

/* "prefix 2, never 1": the holds of which there are more. */
static void print_causes(const u64 *before, const u64 *after)
{
	const char *comma = "";

	for (u32 i = BALEEN_FLEET_IN_FORCE + 1; i < BALEEN_FLEET_HOLD_ENDED; i++) {
		if (after[i] <= before[i])
			continue;
		say("%s%s %llu", comma, baleen_fleet_hold_name(i),
		    (unsigned long long)(after[i] - before[i]));
		comma = ", ";
	}
}

static void tell_change(struct check *check, const char *name, const u64 *before, const u64 *after)
{
	u64 counted = before[BALEEN_FLEET_IN_FORCE], counts = after[BALEEN_FLEET_IN_FORCE];

	if (!memcmp(before, after, BALEEN_FLEET_N_HOLDS * sizeof(*before)))
		return;
	check->n_changed++;
	check->n_worse += counts < counted;
	if (!sum(after)) {
		say("%s: would be unknown: all its %llu entries would be forgotten\n", name,
		    (unsigned long long)sum(before));
		return;
	}
	say("%s: %llu of %llu entries would count, not %llu", name, (unsigned long long)counts,
	    (unsigned long long)sum(after), (unsigned long long)counted);
	if (counts < counted) {
		say("; held: ");
		print_causes(before, after);
	}
	say("\n");
}

static int try_one(struct check *check, const char *name, struct baleen_error *error)
{
	const struct baleen_fleet_receiver receiver = { .store = &check->store,
							.policy = &check->policy,
							.host = check->conf.host,
							.now_ms = check->now_ms,
							.local_ms = baleen_now_ms() };
	u64 before[BALEEN_FLEET_N_HOLDS], after[BALEEN_FLEET_N_HOLDS];
	struct baleen_fleet_result result = { 0 };
	int err = baleen_fleet_view_holds(&check->store, name, check->now_ms, before, error);

	if (!err)
		err = baleen_fleet_rejudge(&receiver, name, true, &result, error);
	baleen_fleet_result_free(&result);
	if (!err)
		err = baleen_fleet_view_holds(&check->store, name, check->now_ms, after, error);
	if (!err)
		tell_change(check, name, before, after);
	return err;
}

static int try_all(struct check *check)
{
	struct baleen_error error;
	int err = baleen_fleet_store_open(&check->store, NULL, true, &error);

	if (err)
		return complain("%s", error.text);
	check->now_ms = baleen_now_ms() + baleen_fleet_store_offset(&check->store);
	err = baleen_fleet_store_begin(&check->store, &error);
	if (!err)
		err = baleen_fleet_store_each(&check->store, keep_name, check, &error);
	for (size_t i = 0; i < check->n && !err; i++)
		err = try_one(check, check->name[i], &error);
	baleen_fleet_store_rollback(&check->store);
	baleen_fleet_store_close(&check->store);
	return err ? complain("%s", error.text) : 0;
}

static int run(int argc, char **argv)
{
	struct check check = { .n = 0 };
	struct baleen_error error;
	int err = options_parse(&fleet_check_command, &check, &argc, &argv);

	if (err)
		return err;
	if (baleen_fleet_conf_read(&check.conf, &error))
		return complain("%s", error.text);
	err = read_policy(&check, *argv);
	if (!err)
		err = try_all(&check);
	if (!err && !check.n_changed)
		say("%s: nothing that is there would be otherwise on this host\n", *argv);
	baleen_fleet_policy_free(&check.policy);
	free(check.name);
	return err ? err : finish_output(check.n_worse ? EXIT_FAILED : EXIT_DONE);
}

static const struct option_spec options[] = {
	{ 0 },
};

const struct command fleet_check_command = {
	.name = "fleet check",
	.synopsis = "POLICY",
	.help = "What a policy, which need not be signed yet, would make of what other hosts publish\n"
		"now: whose entries would be held, and why, and who would be unknown. Nothing is\n"
		"changed. Fails when something that counts would count no longer.\n",
	.options = options,
	.asks = { 1, 1, "the file of a policy is asked for" },
	.run = run,
};
