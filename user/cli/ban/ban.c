// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* add and del of a rule that remembers what it is made of. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/ban.h"
#include "cli/ban/describe_entry.h"
#include "cli/open/guard.h"
#include "cli/open/session.h"
#include "list/list_entry.h"
#include "ops/build.h"
#include "util/duration.h"
#include "util/input.h"

/* For up to so many keys the output names the other entries that hold them. */
#define MAX_EXPLAINED 20

bool change_is_add(const struct entry_change *change)
{
	return change->op == BALEEN_SET_UNION;
}

/* --- keys ------------------------------------------------------------------ */

static int parse_key(const struct entry_change *change, const char *text, u32 key_spec, u32 width,
		     struct entries *entries, struct baleen_error *error)
{
	struct baleen_rule_entry entry;
	bool is_widened;
	int err;

	err = entry_make(text, key_spec, width, &change->options, &entry, &is_widened, error);
	if (err)
		return err;
	entries->n_widened += is_widened;
	entries->n_masked += baleen_span_has_host_bits(text + (*text == '!'));
	return entries_append(entries,
			      change_is_add(change) ? BALEEN_RULE_ENTRY_PUT :
						      BALEEN_RULE_ENTRY_REMOVE,
			      &entry);
}

static int parse_arguments(const struct entry_change *change, const struct baleen_stored_rule *rule,
			   struct entries *entries)
{
	struct baleen_error error;

	for (int i = 0; i < change->n_keys; i++) {
		u64 n_widened = entries->n_widened;
		int err = parse_key(change, change->key[i], rule->key_spec,
				    baleen_rule_ban_width(rule), entries, &error);

		if (err < 0)
			complain("%s", error.text);
		if (!err && !change->json && i < MAX_EXPLAINED)
			say_stands_for(change->target, change->key[i],
				       &entries->change[entries->n - 1].entry,
				       change_is_add(change) && entries->n_widened > n_widened);
		if (err)
			return EXIT_FAILED;
	}
	return 0;
}

/* The key of a line of a list, with `!` when it is an exception; NULL when there is none,
 * with an error when it is a bad one.
 */
static char *cut_key(char *line, size_t n_bytes, u32 key_spec, struct baleen_error *error)
{
	struct baleen_entry entry;
	char *key;

	baleen_entry_parse(&entry, key_spec, line,
			   line + n_bytes - (n_bytes && line[n_bytes - 1] == '\n'));
	/* Its timeout would be lost, and the ban would never end. */
	if (entry.is_ipset) {
		baleen_fail(error, EINVAL, "a line of 'ipset save': 'baleen import' takes it");
		return NULL;
	}
	if (entry.kind == BALEEN_ENTRY_NONE)
		return NULL;
	key = line + (entry.text - line);
	key[entry.length] = '\0';
	if (entry.kind == BALEEN_ENTRY_BAD) {
		baleen_fail(error, EINVAL, "'%.80s': %s", key, entry.reason);
		return NULL;
	}
	return key;
}

/* The lines of a file are meant as they stand, as in any list. */
static int parse_lines(const struct entry_change *change, FILE *stream, u32 key_spec,
		       struct entries *entries)
{
	const char *name = strcmp(change->file, "-") ? change->file : "stdin";
	u64 n_bad = 0, n_masked = entries->n_masked, number = 0;
	char *line = NULL, *key;
	size_t room = 0;
	ssize_t n_bytes;
	int err = 0;

	while (err <= 0 && (n_bytes = getline(&line, &room, stream)) >= 0) {
		struct baleen_error error = { 0 };

		number++;
		key = cut_key(line, n_bytes, key_spec, &error);
		if (key)
			err = parse_key(change, key, key_spec, BALEEN_AS_WRITTEN, entries, &error);
		else
			err = error.text[0] ? -EINVAL : 0;
		if (err < 0 && !change->skip_bad)
			complain("%s:%llu: %s", name, (unsigned long long)number, error.text);
		n_bad += err < 0;
	}
	free(line);
	if (err > 0)
		return EXIT_FAILED;
	if (n_bad && !change->skip_bad)
		return EXIT_FAILED;
	if (n_bad)
		complain("%s: skipped %llu bad lines", name, (unsigned long long)n_bad);
	n_masked = entries->n_masked - n_masked;
	if (n_masked && !change->json)
		complain("%s: %llu prefix%s bits below %s length, which do not count", name,
			 (unsigned long long)n_masked, n_masked == 1 ? " has" : "es have",
			 n_masked == 1 ? "its" : "their");
	return 0;
}

static int parse_file(const struct entry_change *change, u32 key_spec, struct entries *entries)
{
	bool is_stdin = !strcmp(change->file, "-");
	struct baleen_error error;
	FILE *stream =
		is_stdin ? stdin : baleen_input_stream(change->file, BALEEN_INPUT_TYPED, &error);
	int err;

	if (!stream)
		return complain("%s", error.text);
	err = parse_lines(change, stream, key_spec, entries);
	if (!is_stdin)
		fclose(stream);
	return err;
}

/* --- the host -------------------------------------------------------------- */

static int add_key(const struct baleen_rule_entry *entry, u32 width, struct baleen_list *list)
{
	struct baleen_entry_key key = entry->key;

	baleen_entry_key_fit(&key, width);
	return baleen_entry_key_add(&key, false, list);
}

static int list_keys(const struct entries *entries, u32 width, struct baleen_list *list)
{
	int err = 0;

	for (size_t i = 0; i < entries->n && !err; i++)
		if (!entries->change[i].entry.is_exception)
			err = add_key(&entries->change[i].entry, width, list);
	return err ? err : baleen_list_finish(list);
}

/* Asks nothing about entries that the state refuses even with --force: the offer would be
 * untrue.
 */
int guard_entries(const struct baleen_deploy *deploy, const struct baleen_stored_rule *rule,
		  enum baleen_set_op op, const struct entries *entries, struct baleen_host *host,
		  bool is_forced)
{
	const struct baleen_build_options options = { .key_spec = rule->key_spec,
						      .kind = BALEEN_KIND_CUCKOO };
	struct baleen_list list = { .key_spec = rule->key_spec };
	struct baleen_ruleset ruleset;
	struct baleen_filter delta;
	struct baleen_lockout_check check = {
		.device = deploy->state.now,
		.ruleset = &ruleset,
		.xdp = &deploy->xdp,
		.delta = &delta,
		.op = op,
		.host = host,
		.sessions = baleen_rule_store_guard_sessions(&deploy->state),
		.only_peers = op == BALEEN_SET_UNION &&
			      baleen_protected_of_feeds(rule, BALEEN_PROTECTED_HOST),
	};
	int index = deploy->has_xdp ? baleen_xdp_rule_index(&deploy->xdp, rule->name) : -ENOENT;
	struct baleen_error error;
	int err;

	if (index < 0 || deploy->xdp.attach_status != BALEEN_ATTACH_STATUS_ATTACHED)
		return 0;
	check.changed = index;
	baleen_ruleset_from_config(&deploy->xdp.config, &ruleset);
	err = list_keys(entries, baleen_rule_ban_width(rule), &list);
	if (err)
		err = complain("cannot keep the keys: %s", strerror(-err));
	else if (baleen_build(&list, &options, &delta, &error))
		err = complain("%s", error.text);
	else {
		err = guard_host(&check, NULL, is_forced);
		baleen_filter_free(&delta);
	}
	baleen_list_free(&list);
	return err;
}

/* --- the change ------------------------------------------------------------ */

struct outcome {
	u64 n_changed, n_renewed, n_refused, n_narrowed;
	bool in_place;
	char prefix[BALEEN_RULE_ENTRY_TEXT];
	int exit_code;
};

static void count_results(const struct entry_change *change, const struct entries *entries,
			  struct outcome *outcome)
{
	char why[ENTRY_REFUSAL];

	for (size_t i = 0; i < entries->n; i++) {
		const struct baleen_rule_entry_change *one = &entries->change[i];

		outcome->n_changed += !one->result;
		outcome->n_renewed += one->result == -EEXIST;
		if (one->answer == BALEEN_GATE_NARROWED && outcome->n_narrowed++ < MAX_EXPLAINED &&
		    !change->json)
			complain("%s: '%s' narrowed: %s", change->target,
				 baleen_rule_entry_asked_text(&one->entry).text,
				 entry_refusal(one, why));
		if (one->result != -EPERM)
			continue;
		if (outcome->n_refused++ >= MAX_EXPLAINED)
			continue;
		complain("%s: '%s' not added: %s", change->target,
			 baleen_rule_entry_asked_text(&one->entry).text, entry_refusal(one, why));
		suggest_word(one, change->command->name, change->target);
	}
}

/* The guard and the batch share one survey of the host. */
static int put_guarded(const struct entry_change *change, struct baleen_deploy *deploy,
		       const struct baleen_stored_rule *rule, const struct entries *entries,
		       struct baleen_batch *batch)
{
	struct baleen_host host = { 0 };
	struct baleen_error error;
	int err = change->narrow ?
			  0 :
			  guard_entries(deploy, rule, change->op, entries, &host, change->force);

	if (err && change_is_add(change))
		suggest_narrow(entries, change->command->name, change->target);
	batch->host = &host;
	if (!err && baleen_deploy_batch(deploy, batch, &error))
		err = complain("%s", error.text);
	batch->host = NULL;
	baleen_host_free(&host);
	return err;
}

static int make_change(const struct entry_change *change, struct baleen_device_session *session,
		       const struct baleen_stored_rule *rule, struct entries *entries,
		       struct outcome *outcome)
{
	struct baleen_batch batch = { .rule = rule->name,
				      .change = entries->change,
				      .n = entries->n,
				      .atomic = change->atomic,
				      .is_trial = change->dry_run,
				      .cuts_sessions = !change->narrow,
				      .forces = change->force,
				      .narrows = change->narrow };

	if (check_there(change, &session->deploy.state, rule, entries) ||
	    put_guarded(change, &session->deploy, rule, entries, &batch))
		return EXIT_FAILED;
	if (!session->deploy.has_xdp)
		complain(
			"warning: %s: nothing is attached: in force when 'baleen apply' puts it on",
			change->device);
	outcome->in_place = batch.in_place;
	strcpy(outcome->prefix, batch.widened);
	count_results(change, entries, outcome);
	for (size_t i = 0; !change_is_add(change) && !change->dry_run && !change->json &&
			   entries->n <= MAX_EXPLAINED && i < entries->n;
	     i++)
		explain_entry(change->target, &session->deploy.state, rule,
			      &entries->change[i].entry);
	if (change->dry_run)
		return 0;
	entries_warn_ends(entries, &session->deploy);
	outcome->exit_code = session_kept(&session->deploy.state);
	return 0;
}

static int report(const struct entry_change *change, const struct entries *entries,
		  const struct outcome *outcome)
{
	const char *what = change_is_add(change) ? "added" : "deleted";
	bool has_end = change_is_add(change) && outcome->n_changed + outcome->n_renewed;
	u64 expires = has_end ? entries->change[0].entry.expires_ms : 0;
	char n[NUMBER_TEXT], end[BALEEN_DURATION_TEXT + 8];
	json_t *json;
	int err;

	if (!change->json) {
		say("%s: %s %s%s", change->target, format_count(outcome->n_changed, n),
		    change->dry_run ? "would be " : "", what);
		if (outcome->n_renewed)
			say(", %s renewed", format_count(outcome->n_renewed, n));
		say("%s%s%s%s\n", expires ? ", ends " : "",
		    expires ? format_expiry(expires, end) : "",
		    outcome->in_place ? "" : ", built anew",
		    outcome->n_refused ? ", others refused" : "");
		print_widened(change->target, outcome->prefix, change->dry_run);
		err = finish_output(EXIT_DONE);
	} else {
		json = json_object();
		json_object_set_new(json, "target", json_text(change->target));
		json_object_set_new(json, "dry_run", json_boolean(change->dry_run));
		json_object_set_new(json, "in_place",
				    change->dry_run ? json_null() :
						      json_boolean(outcome->in_place));
		json_object_set_new(json, what, json_integer(outcome->n_changed));
		if (change_is_add(change))
			json_object_set_new(json, "renewed", json_integer(outcome->n_renewed));
		json_object_set_new(json, "refused", json_integer(outcome->n_refused));
		if (change_is_add(change))
			json_object_set_new(json, "narrowed", json_integer(outcome->n_narrowed));
		json_object_set_new(json, "widened", json_integer(entries->n_widened));
		json_object_set_new(json, "prefix_banned",
				    *outcome->prefix ? json_text(outcome->prefix) : json_null());
		err = print_json(json);
	}
	if (!err)
		err = outcome->exit_code;
	return outcome->n_refused ? EXIT_FAILED : err;
}

static int put(const struct entry_change *change, const struct baleen_stored_rule *rule,
	       struct entries *entries, struct outcome *outcome)
{
	struct baleen_device_session session;
	int err = session_open_state(&session, change->device, change->wait_ms);

	if (err)
		return err;
	err = make_change(change, &session, rule, entries, outcome);
	baleen_device_session_close(&session);
	return err;
}

int change_entries(const struct entry_change *change)
{
	struct outcome outcome = { 0 };
	struct entries entries = { 0 };
	int err = parse_arguments(change, change->rule, &entries);

	/* The keys are read before the lock is taken: reading may wait. */
	if (!err && change->file)
		err = parse_file(change, change->rule->key_spec, &entries);
	if (!err)
		err = put(change, change->rule, &entries, &outcome);
	if (!err)
		err = report(change, &entries, &outcome);
	entries_free(&entries);
	return err;
}
