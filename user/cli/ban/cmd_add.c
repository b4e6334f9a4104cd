// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen add, baleen del: keys of an image, a live rule or a filter of the module. */
#include <errno.h>
#include <string.h>

#include "cli/ban/ban.h"
#include "cli/ban/parked_entries.h"
#include "cli/common/trace.h"
#include "cli/open/filter_name.h"
#include "cli/open/filter_ref.h"
#include "cli/open/guard.h"
#include "cli/open/list_file.h"
#include "filter/filter_strings.h"
#include "list/list_entry.h"
#include "net/device.h"
#include "ops/change.h"

/**
 * struct change - one run of add or del
 * @command: which of them
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 * @argument: the filter to change
 * @file: list of further keys, or NULL
 * @exist: what changes nothing is fine
 * @atomic: build it aside
 * @fixed: do not grow
 * @force: also when this host would cut itself off, and what is too wide
 * @narrow: without what must not be dropped
 * @dry_run: change nothing, say what would change
 * @json: report as JSON
 * @accept_fpp: a false positive rate that a live filter may come to
 * @wait_ms: for other writers
 * @entry: origin, reason and end of single entries
 * @lists: how to read @file
 * @list: the keys
 * @n_changed: keys that changed in place
 * @in_place: nothing was built aside
 * @refusal: why it cannot be changed in place; 0 when that was not tried
 */
struct change {
	const struct command *command;
	enum baleen_set_op op;
	const char *argument;
	const char *file;
	bool exist, atomic, fixed, force, narrow, dry_run, json;
	double accept_fpp;
	u64 wait_ms;
	struct entry_options entry;
	struct list_options lists;
	struct baleen_list list;
	struct trace trace;
	u64 n_changed;
	bool in_place;
	int refusal;
};

/* --- keys ------------------------------------------------------------------ */

/* One key as it was typed; of a long one or of several lines the start is shown. */
static int add_argument(struct change *change, const char *argument)
{
	bool is_long = strlen(argument) >= BALEEN_ENTRY_ROOM || strchr(argument, '\n');
	const char *reason = "not a key";
	int err = is_long && change->list.key_spec != BALEEN_KEY_STRING ?
			  -EINVAL :
			  baleen_list_add(&change->list, argument, &reason);

	if (!err && *argument == '!' && baleen_spec_is_address(change->list.key_spec)) {
		reason = change->op == BALEEN_SET_UNION ?
				 "an exception cannot be added: 'baleen del' it" :
				 "an exception cannot be deleted: 'baleen add' the key";
		err = -EINVAL;
	}
	if (err == -EINVAL)
		complain("'%.*s%s': %s", is_long ? 40 : BALEEN_ENTRY_ROOM, argument,
			 is_long ? "..." : "", reason);
	else if (err)
		complain("%s", strerror(-err));
	return err ? EXIT_FAILED : 0;
}

static int read_keys(struct change *change, char **arguments, int n)
{
	int err = 0;

	for (int i = 0; i < n && !err; i++)
		err = add_argument(change, arguments[i]);
	if (!err && change->file)
		err = list_file_read(&change->list, change->file, &change->lists);
	if (!err && baleen_list_has_exceptions(&change->list))
		err = complain("%s: has exceptions, which can be neither added nor deleted",
			       change->file);
	if (!err && baleen_list_finish(&change->list))
		err = complain("%s", strerror(ENOMEM));
	return err;
}

/* --- the change ------------------------------------------------------------ */

/* A file is replaced as a whole anyway. */
static bool is_aside(const struct change *change, const struct filter_ref *ref)
{
	return filter_ref_is_live(ref) && (change->atomic || change->file);
}

static int complain_noop(const struct change *change, const struct baleen_noop_keys *noop)
{
	return complain("%s: %s %s: nothing changed (--exist takes it)", change->argument,
			noop->text,
			change->op == BALEEN_SET_UNION ? "is in it already" : "is not in it");
}

/* Says whether there is anything to do. */
static int check_noop(struct change *change, const struct filter_ref *ref, bool *is_noop)
{
	struct baleen_noop_keys noop;
	struct baleen_error error;

	if (baleen_change_find_noop(&ref->filter, &change->list, change->op, &noop, &error))
		return complain("%s: %s", ref->argument, error.text);
	if (noop.n && !change->exist)
		return complain_noop(change, &noop);
	*is_noop = noop.n == noop.n_entries;
	change->n_changed = noop.n_entries - noop.n;
	return 0;
}

static int check_host(const struct change *change, const struct filter_ref *ref)
{
	const struct baleen_build_options options = { .key_spec = change->list.key_spec,
						      .kind = BALEEN_KIND_CUCKOO };
	struct baleen_filter delta;
	struct baleen_error error;
	int err;

	if (!filter_ref_is_live(ref))
		return 0;
	if (baleen_build(&change->list, &options, &delta, &error))
		return complain("%s", error.text);
	err = filter_ref_guard_keys(ref, &delta, change->op, change->force);
	baleen_filter_free(&delta);
	return err;
}

/* The rate that a Bloom filter in a file would come to is told; what is live asks whether it may.
 */
static int check_rate(const struct change *change, struct filter_ref *ref)
{
	struct baleen_filter after;
	struct baleen_error error;

	if (change->op != BALEEN_SET_UNION)
		return 0;
	if (filter_ref_is_live(ref))
		return filter_ref_guard_added(ref, &change->list, change->accept_fpp);
	if (!baleen_filter_has_bloom(&ref->filter))
		return 0;
	if (baleen_filter_edit(&ref->filter, &change->list, change->op, 0, &after, &error))
		return complain("%s: %s", ref->argument, error.text);
	complain("%s: false positive rate %.3g, before %.3g", ref->argument,
		 baleen_filter_worst_fpp(&after), baleen_filter_worst_fpp(&ref->filter));
	baleen_filter_free(&after);
	return 0;
}

static int build_aside(struct change *change, struct filter_ref *ref, bool is_full)
{
	struct baleen_filter built;
	struct baleen_error error;
	int err;

	if (filter_ref_copy(ref))
		return EXIT_FAILED;
	if (baleen_change_aside(&ref->filter, &change->list, change->op, is_full, change->fixed,
				&built, &error))
		return complain("%s: %s", ref->argument, error.text);
	err = filter_ref_guard_raise(ref, &built, change->accept_fpp);
	if (!err)
		err = filter_ref_put(ref, &built);
	if (!err)
		err = trace_change(&change->trace, &change->list, change->op, &built);
	baleen_filter_free(&built);
	return err;
}

/* 0 when the change was made in place; @refusal is set when it cannot be. */
static int change_in_place(struct change *change, struct filter_ref *ref)
{
	struct baleen_noop_keys noop;
	int err = filter_ref_change_in_place(ref, &change->list, change->op, change->exist, &noop,
					     &change->n_changed);

	change->in_place = !err;
	change->refusal = err == -ENOSPC || err == -EOPNOTSUPP ? err : 0;
	if (err == -EALREADY)
		return complain_noop(change, &noop);
	return err ? EXIT_FAILED : 0;
}

static int make_change(struct change *change, struct filter_ref *ref)
{
	if (!change->refusal && !is_aside(change, ref)) {
		int err = change_in_place(change, ref);

		if (!change->refusal)
			return err ? err :
				     trace_change(&change->trace, &change->list, change->op,
						  &ref->filter);
	}
	return build_aside(change, ref, change->refusal == -ENOSPC);
}

/* The keys as they are in this filter. */
static int fit_keys(struct change *change, const struct filter_ref *ref)
{
	struct baleen_error error;

	if (ref->filter.image.key_spec != change->list.key_spec)
		return complain("%s: its keys are other ones by now", ref->argument);
	if (baleen_strings_check(&change->list.strings, &ref->filter.image, &error))
		return complain("%s: %s", ref->argument, error.text);
	if (baleen_list_resolve(&change->list, &ref->filter))
		return complain("%s: %s", ref->argument, strerror(ENOMEM));
	return 0;
}

static int change_loaded(struct change *change, struct filter_ref *ref)
{
	bool is_noop;

	if (fit_keys(change, ref) || check_noop(change, ref, &is_noop))
		return EXIT_FAILED;
	if (is_noop) {
		change->in_place = true;
		/* Then the page is of the filter as it is. */
		return change->trace.is_html ? trace_begin(&change->trace, ref->argument,
							   &ref->filter, change->op, change->json) :
					       0;
	}
	if (check_rate(change, ref) || check_host(change, ref) ||
	    trace_begin(&change->trace, ref->argument, &ref->filter, change->op, change->json))
		return EXIT_FAILED;
	if (change->dry_run)
		return trace_change(&change->trace, &change->list, change->op, NULL);
	return make_change(change, ref);
}

/* The kernel changes a filter of the module without its body being read, but for what that
 * does to its rate.
 */
static bool needs_body(const struct change *change, const struct filter_ref *ref)
{
	return ref->filter.bytes || is_aside(change, ref) || change->dry_run ||
	       (change->op == BALEEN_SET_UNION &&
		baleen_filter_may_exceed(&ref->filter.image, change->accept_fpp));
}

static int change_target(struct filter_ref *ref, void *data)
{
	struct change *change = data;
	int err;

	change->n_changed = 0;
	change->in_place = false;
	change->refusal = 0;
	if (fit_keys(change, ref) ||
	    (change->op == BALEEN_SET_UNION && filter_ref_leave_nobody(ref, &change->list)))
		return EXIT_FAILED;
	if (!needs_body(change, ref)) {
		if (check_host(change, ref))
			return EXIT_FAILED;
		err = change_in_place(change, ref);
		if (!change->refusal)
			return err;
	}
	return filter_ref_load(ref) ? EXIT_FAILED : change_loaded(change, ref);
}

/* --- command --------------------------------------------------------------- */

static int report(struct change *change)
{
	char n[NUMBER_TEXT];
	const char *what = change->op == BALEEN_SET_UNION ? "added" : "deleted";

	if (change->json || change->trace.is_html) {
		json_t *json = json_object();

		json_object_set_new(json, "target", json_text(change->argument));
		json_object_set_new(json, "dry_run", json_boolean(change->dry_run));
		json_object_set_new(json, "in_place",
				    change->dry_run ? json_null() : json_boolean(change->in_place));
		if (change->in_place || change->dry_run)
			json_object_set_new(json, what, json_integer(change->n_changed));
		return trace_report(&change->trace, change->command->name, change->argument, json);
	}
	if (change->dry_run)
		say("%s: %s would be %s\n", change->argument, format_count(change->n_changed, n),
		    what);
	else if (change->in_place)
		say("%s: %s %s in place\n", change->argument, format_count(change->n_changed, n),
		    what);
	else
		say("%s: %s, built anew\n", change->argument, what);
	return finish_output(EXIT_DONE);
}

static int parse(struct change *change, int *argc, char ***argv)
{
	int err = options_parse(change->command, change, argc, argv);

	if (err)
		return err;
	if (!*argc)
		return complain_usage(change->command, "no IMAGE, DEV:RULE or kmod:NAME given");
	if (*argc == 1 && !change->file)
		return complain_usage(change->command, "no KEY given");
	change->argument = **argv;
	if (change->trace.is_wanted && is_live_name(change->argument))
		return complain_usage(change->command, "--trace is for image files");
	return trace_check(&change->trace, change->command, change->json);
}

/* Changes a rule that has a state. */
static int change_state(const struct change *change, const char *device,
			const struct baleen_stored_rule *rule, char **keys, int n_keys)
{
	const struct entry_change entries = {
		.command = change->command,
		.op = change->op,
		.target = change->argument,
		.device = device,
		.rule = rule,
		.key = keys,
		.n_keys = n_keys,
		.file = change->file,
		.skip_bad = change->lists.skip_bad,
		.exist = change->exist,
		.atomic = change->atomic || change->file,
		.force = change->force,
		.narrow = change->narrow,
		.dry_run = change->dry_run,
		.json = change->json,
		.wait_ms = change->wait_ms,
		.options = change->entry,
	};

	if (change->fixed || change->accept_fpp != BALEEN_ACCEPT_FPP)
		return complain(
			"%s: is derived from its entries: --fixed and --accept-fpp are for images "
			"and rules without a state",
			change->argument);
	return change_entries(&entries);
}

static int check_stateless(const struct change *change, struct baleen_image *head)
{
	bool is_of_entries = change->entry.is_given || change->narrow;
	int err = filter_ref_head(change->argument, head);

	if (err || !is_of_entries)
		return err;
	return complain(
		"%s: remembers no entries, only keys: %s for rules with a state, not for images or "
		"'attach --no-state'",
		change->argument,
		change->entry.is_given ? "--ttl, --origin and --reason are" : "--narrow is");
}

static int run(struct change *change, int argc, char **argv)
{
	struct baleen_stored_rule rule;
	char device[BALEEN_POINT_BYTES];
	struct baleen_image head;
	int err;

	list_options_init(&change->lists);
	err = parse(change, &argc, &argv);
	if (err)
		return err;
	if (change->op == BALEEN_SET_DIFFERENCE && !change->file && !change->dry_run) {
		err = del_parked(change->argument, argv + 1, argc - 1, &change->entry,
				 change->exist, change->json);
		if (err != -ENOENT)
			return err;
	}
	err = entries_find(change->argument, device, &rule);
	if (!err)
		return change_state(change, device, &rule, argv + 1, argc - 1);
	if (err == -ENOENT)
		err = check_stateless(change, &head);
	if (!err) {
		change->list.key_spec = head.key_spec;
		change->list.keeps_copies = head.flags & BALEEN_FLAG_COPIES;
	}
	/* The keys are read before the lock is taken: reading may wait. */
	if (!err)
		err = read_keys(change, argv + 1, argc - 1);
	if (!err)
		err = filter_ref_change(change->argument, change->wait_ms, change_target, change);
	baleen_list_free(&change->list);
	err = err ? err : report(change);
	trace_free(&change->trace);
	return err;
}

static int run_add(int argc, char **argv)
{
	struct change change = { .command = &add_command,
				 .op = BALEEN_SET_UNION,
				 .accept_fpp = BALEEN_ACCEPT_FPP,
				 .wait_ms = BALEEN_LOCK_TIMEOUT_MS };

	return run(&change, argc, argv);
}

static int run_del(int argc, char **argv)
{
	struct change change = { .command = &del_command,
				 .op = BALEEN_SET_DIFFERENCE,
				 .accept_fpp = BALEEN_ACCEPT_FPP,
				 .wait_ms = BALEEN_LOCK_TIMEOUT_MS };

	return run(&change, argc, argv);
}

#define CHANGE_HELP                                                                               \
	"KEY is what a line of a list can be: an address, prefix, range A-B, or a key of\n"       \
	"several fields. An image file is replaced as a whole. In a live rule, and in a filter\n" \
	"of the kernel module (kmod:NAME), hosts and keys\n"                                      \
	"change in place, one after the other, and so do prefixes in an exact live rule that\n"   \
	"remembers its entries; what finds no room is built aside and put on in one step.\n"      \
	"A live rule remembers who listed a key, unless attached with --no-state: lists\n"        \
	"stay as they are, and beside them are single entries, one for each key and origin.\n"    \
	"There !KEY is an exception: what it holds is taken out of the lists.\n"

/* Those of both; the help of each begins with its own --exist. */
static const struct option_spec common_options[] = {
	FLAG("atomic", 0, change, atomic, "all keys in one step: build the live rule aside"),
	VALUE("file", 'f', "FILE", option_text, change, file,
	      "more keys from a list, in one step; '-' is stdin"),
	FLAG("skip-bad", 0, change, lists.skip_bad,
	     "pass over bad lines of FILE; otherwise they refuse it"),
	FLAG("null", '0', change, lists.ends_with_nul,
	     "strings of FILE end with a NUL byte, not with the line"),
	WAIT_OPTION(change, wait_ms),
	FLAG("dry-run", 0, change, dry_run, "say what would change, and change nothing"),
	TRACE_OPTIONS(change, trace, TRACE_STEPS),
	FLAG("json", 'j', change, json, "report as JSON"),
	{ .help = "Of a rule that remembers its entries:\n" },
	{ 0 },
};

static const struct option_spec add_options[] = {
	FLAG("exist", 0, change, exist,
	     "a key that is there already is fine; else nothing changes, save in a Bloom filter, "
	     "which cannot tell"),
	VALUE("accept-fpp", 0, "P", option_rate, change, accept_fpp,
	      "let a live filter come to a false positive rate of P (1e-9)"),
	WIDE_OPTION(change, force),
	NARROW_OPTION(change, narrow),
	FLAG("fixed", 0, change, fixed, "refuse what finds no room, instead of growing"),
	{ .table = common_options },
	{ .table = entry_option_table, .at = offsetof(struct change, entry) },
	{ 0 },
};

#define ADDED_ONLY "--ttl and --reason are for what is added"

static const struct option_spec del_options[] = {
	FLAG("exist", 0, change, exist, "a key that is not there is fine; else nothing changes"),
	FORCE_OPTION(change, force),
	{ .table = common_options },
	{ "narrow", 0, NULL, option_absent, .words = "--narrow: deletions ban nobody" },
	{ "fixed", 0, NULL, option_absent, .words = "--fixed: what shrinks does not grow" },
	{ "accept-fpp", 0, "P", option_absent, .words = "--accept-fpp: deletions do not raise it" },
	{ "ttl", 0, "TIME", option_absent, .words = ADDED_ONLY },
	{ "reason", 0, "TEXT", option_absent, .words = ADDED_ONLY },
	{ "origin", 0, "NAME", entry_origin, offsetof(struct change, entry),
	  .help = "the entries of NAME; without it those of manual. What lists and other origins hold stays in force, and is named" },
	{ 0 },
};

const struct command add_command = {
	.name = "add",
	.synopsis = "[OPTION...] [-f FILE] IMAGE|DEV:RULE|kmod:NAME [KEY...]",
	.help = "Adds keys to an image or a live rule. A prefix is added whole, whatever of it was\n"
		"there.\n" CHANGE_HELP,
	.options = add_options,
	.run = run_add,
};

const struct command del_command = {
	.name = "del",
	.synopsis = "[OPTION...] [-f FILE] IMAGE|DEV:RULE|kmod:NAME [KEY...]",
	.help = "Deletes keys from an image or a live rule without a state: nothing of them is left,\n"
		"also of what wider prefixes hold. Of a rule with one the entries of these keys.\n" CHANGE_HELP,
	.options = del_options,
	.run = run_del,
};
