// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen flush: forget all single entries of an origin. */

#include "cli/ban/feed_target.h"
#include "cli/ban/parked_entries.h"
#include "cli/open/filter_name.h"
#include "net/device.h"
#include "state/bans_around.h"
#include "state/book.h"
#include "state/parked.h"
#include "util/number.h"
#include "util/shell.h"

struct flush {
	const char *target;
	const char *origin; /* NULL for all */
	bool all;
	bool json;
	u64 wait_ms;
};

static int parse(struct flush *flush, int argc, char **argv)
{
	int err = options_parse(&flush_command, flush, &argc, &argv);

	if (err)
		return err;
	if (!flush->origin == !flush->all)
		return complain_usage(&flush_command, "whose entries? --origin NAME or --all");
	flush->target = *argv;
	return 0;
}

static int report(const struct flush *flush, const struct baleen_batch *batch)
{
	char n[NUMBER_TEXT];

	if (flush->json)
		return print_json(json_pack("{s:o, s:I}", "target", json_text(flush->target),
					    "deleted", (json_int_t)batch->n_flushed));
	say("%s: %s deleted%s\n", flush->target, format_count(batch->n_flushed, n),
	    batch->in_place ? "" : ", built anew");
	return finish_output(EXIT_DONE);
}

static void tell_of_bans(const struct baleen_rule_store *state,
			 const struct baleen_stored_rule *rule, const char *origin)
{
	const struct baleen_rule_store own = baleen_book_of(state);
	u64 n_bans = rule->takes_bans ? baleen_rule_entries_count(state, NULL, origin) : 0;
	u64 n_of_fleet = baleen_rule_entries_count(state, rule->name, origin) -
			 baleen_rule_entries_count(&own, rule->name, origin) - n_bans;
	char n[NUMBER_TEXT];

	if (n_bans)
		complain("%s %s of all rules stay%s: 'baleen flush bans %s%s' deletes %s",
			 format_count(n_bans, n), baleen_plural(n_bans, "ban", "bans"),
			 n_bans == 1 ? "s" : "", origin ? "--origin " : "--all",
			 origin ? baleen_shell_word(origin).text : "", n_bans == 1 ? "it" : "them");
	if (n_of_fleet)
		complain("%s %s of a fleet stay%s", format_count(n_of_fleet, n),
			 baleen_plural(n_of_fleet, "ban", "bans"), n_of_fleet == 1 ? "s" : "");
}

static int flush_rule(const struct flush *flush, const char *device,
		      const struct baleen_stored_rule *found)
{
	const char *origin = flush->all ? NULL : flush->origin;
	struct baleen_batch batch = { .rule = found->name,
				      .flush_of = flush->all ? "" : flush->origin };
	struct baleen_error error;
	struct baleen_device_session session;
	int err = session_open_state(&session, device, flush->wait_ms);

	if (err)
		return err;
	if (baleen_deploy_batch(&session.deploy, &batch, &error))
		err = complain("%s", error.text);
	else
		err = report(flush, &batch);
	if (!err)
		tell_of_bans(&session.deploy.state, found, origin);
	if (!err)
		err = session_kept(&session.deploy.state);
	baleen_device_session_close(&session);
	return err;
}

/* Rules come and go while it is found out whether one takes bans. */
#define MAX_TRIES 8

static int flush_book(struct baleen_rule_store *book, const char *rule, const char *origin, u64 *n,
		      struct baleen_error *error)
{
	struct baleen_takers takers = { 0 };
	int err = baleen_book_begin(book, error);

	if (err)
		return err;
	/* A rule that is committed from here on follows when we are done. */
	if (!rule)
		err = baleen_scope_takers(BALEEN_SCOPE_BANS, &takers, error);
	if (!err && takers.n)
		err = baleen_fail(error, EAGAIN, "a rule has just begun to take bans");
	if (!err)
		err = baleen_rule_entries_flush(book, rule, origin, n, error);
	if (!err && !rule)
		err = baleen_bans_forget_stray(book, baleen_now_ms(), error);
	return baleen_book_end(book, err, error);
}

/* 0 when they are parked, and go; -ENOENT when they are not. */
static int flush_parked(const struct flush *flush)
{
	struct baleen_batch batch = { .in_place = true };
	struct baleen_rule_store book;
	struct baleen_error error;
	const char *rule;
	int err = open_parked(flush->target, &book, &rule);

	if (err <= 0)
		return err ? EXIT_FAILED : -ENOENT;
	err = flush_book(&book, rule, flush->origin, &batch.n_flushed, &error);
	baleen_book_close(&book);
	return err ? complain("%s", error.text) : report(flush, &batch);
}

/* No rule takes them. */
static int flush_parked_bans(const struct flush *flush, u64 *n, struct baleen_error *error)
{
	struct baleen_rule_store book;
	int err = baleen_book_open(&book, error);

	if (err)
		return err;
	err = flush_book(&book, NULL, flush->origin, n, error);
	baleen_book_close(&book);
	return err;
}

static int flush_bans(const struct flush *flush)
{
	struct feed_target bans = { .name = flush->target, .wait_ms = flush->wait_ms };
	struct baleen_batch batch = { .in_place = true,
				      .flush_of = flush->all ? "" : flush->origin };
	struct baleen_error error;
	int err = feed_target_find(&bans);

	if (err)
		return err;
	err = -EAGAIN;
	for (u32 i = 0; i < MAX_TRIES && err == -EAGAIN; i++) {
		err = feed_target_put(&bans, &batch, &error);
		feed_target_release(&bans);
		if (err == -ENOENT)
			err = flush_parked_bans(flush, &batch.n_flushed, &error);
	}
	if (err)
		return complain("%s", error.text);
	err = report(flush, &batch);
	if (!err && bans.behind.text[0])
		return complain("behind: %s", bans.behind.text), EXIT_BEHIND;
	if (!err && bans.unkept)
		return complain("in force, but not kept: %s", bans.unkept), EXIT_UNKEPT;
	return err;
}

static int run(int argc, char **argv)
{
	struct flush flush = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS };
	struct baleen_stored_rule found;
	char device[BALEEN_POINT_BYTES];
	struct baleen_error error;
	const char *rule;
	int err = parse(&flush, argc, argv);

	if (err)
		return err;
	if (!strcmp(flush.target, BALEEN_SCOPE_BANS))
		return flush_bans(&flush);
	if (!split_live(flush.target, device, sizeof(device), &rule))
		return complain_usage(&flush_command, "'%s' is neither DEV:RULE nor bans",
				      flush.target);
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	err = flush_parked(&flush);
	if (err != -ENOENT)
		return err;
	if (entries_rule(device, rule, &found))
		return EXIT_FAILED;
	return flush_rule(&flush, device, &found);
}

static const struct option_spec options[] = {
	VALUE("origin", 0, "NAME", option_text, flush, origin, "whose entries, such as fail2ban"),
	FLAG("all", 0, flush, all, "those of every origin"),
	WAIT_OPTION(flush, wait_ms),
	FLAG("json", 'j', flush, json, "report as JSON"),
	{ 0 },
};

const struct command flush_command = {
	.name = "flush",
	.synopsis = "DEV:RULE|bans --origin NAME|--all [--wait SECONDS] [-j]",
	.help = "Deletes all single entries of an origin from a rule, or from all rules that take bans,\n"
		"of each in one step. What lists and other origins hold stays in force. Of DEV:RULE they\n"
		"are also deleted where the rule is not there.\n",
	.options = options,
	.asks = { 1, 1, "one DEV:RULE, or bans, is asked for" },
	.run = run,
};
