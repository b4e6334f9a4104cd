// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The device that a command changes, with messages. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/open/session.h"
#include "deploy/mend.h"
#include "net/daemon_lock.h"
#include "state/book.h"
#include "state/book_mend.h"
#include "state/entries.h"
#include "state/scope.h"
#include "util/number.h"
#include "util/shell.h"

static int finish(int err, const struct baleen_error *error)
{
	return err ? complain("%s", error->text) : 0;
}

/* --- opening --------------------------------------------------------------- */

/* Long enough to take a lock that nobody has. */
#define AT_ONCE_MS 1

typedef int (*open_function)(struct baleen_device_session *session, const char *device, u64 wait_ms,
			     struct baleen_error *error);

void suggest_mend(const char *device)
{
	char command[BALEEN_MEND_BYTES];

	if (baleen_mend_command(device, command))
		complain("%s: '%s' sets its damaged state aside and makes another", device,
			 command);
}

void session_warn_never(const struct baleen_deploy *deploy)
{
	if (deploy->never_error.text[0])
		complain("warning: %s: the never-drop list is what it was before",
			 deploy->never_error.text);
}

/* A program that feeds thousands of lines has one line of it in its log. */
void session_warn_ends(const char *devices)
{
	static bool is_said;

	if (is_said || baleen_daemon_is_running())
		return;
	is_said = true;
	complain("warning: baleend is not running: the end is kept by the next command that "
		 "changes %s",
		 devices);
}

static int open_waiting(open_function open, struct baleen_device_session *session,
			const char *device, u64 wait_ms, struct baleen_error *error)
{
	int err = open(session, device, AT_ONCE_MS, error);

	if (err != -ETIMEDOUT || !wait_ms)
		return err;
	if (isatty(STDERR_FILENO))
		complain("%s: waiting for another command that changes it", device);
	return open(session, device, wait_ms, error);
}

static int finish_open(int err, const struct baleen_device_session *session,
		       const struct baleen_error *error)
{
	if (!err && session->has_state)
		session_warn_never(&session->deploy);
	return finish(err, error);
}

int session_open(struct baleen_device_session *session, const char *device, u64 wait_ms)
{
	struct baleen_error error;
	int err = open_waiting(baleen_device_session_open, session, device, wait_ms, &error);

	return finish_open(err, session, &error);
}

int session_open_state(struct baleen_device_session *session, const char *device, u64 wait_ms)
{
	struct baleen_error error;
	int err = open_waiting(baleen_device_session_open_state, session, device, wait_ms, &error);

	return finish_open(err, session, &error);
}

/* --- changes --------------------------------------------------------------- */

int session_kept(const struct baleen_rule_store *state)
{
	const char *why = baleen_book_unkept_why(state);

	if (!why)
		return EXIT_DONE;
	complain(
		"%s: in force, but not kept: %s: %s; a reboot undoes it, unless there is room before",
		*state->device ? state->device : BALEEN_SCOPE_BANS, why, state->book->path);
	return EXIT_UNKEPT;
}

bool session_warn_behind(const struct baleen_bans *bans)
{
	bool any = false;

	for (u32 i = 0; i < bans->n_devices; i++) {
		const struct baleen_ban_device *device = &bans->device[i];

		if (!device->is_behind)
			continue;
		any = true;
		complain("%s: is behind: %s; it follows with baleend, or the next command that "
			 "changes it",
			 device->name, device->why.text);
		suggest_mend(device->name);
	}
	return any;
}

struct baleen_rule_source rule_source(const struct filter_ref *ref,
				      const struct list_options *lists)
{
	return (struct baleen_rule_source){ .path = ref->argument,
					    .filter = &ref->filter,
					    .is_list = ref->is_list,
					    .fd = ref->fd,
					    .csv = &ref->csv,
					    .skips_bad = lists->skip_bad,
					    .allows_empty = lists->allow_empty,
					    .accept_fpp = lists->accept_fpp,
					    .mend = "--accept-fpp",
					    .build = &lists->build };
}

static void list_sources(const struct rules *rules, const struct list_options *lists,
			 struct baleen_rule_sources *sources)
{
	sources->n = rules ? rules->n : 0;
	for (u32 i = 0; i < sources->n; i++) {
		sources->source[i] = rule_source(&rules->rule[i].ref, lists);
		sources->source[i].is_any = is_any_argument(&rules->rule[i]);
		sources->source[i].bans = rules->rule[i].bans;
		sources->source[i].removes_special = rules->rule[i].special == SPECIAL_REMOVE;
	}
}

/* A rule that is kept is built again of its lists, and the state has no shapes. */
static int refuse_shape(const struct rules *rules, const struct list_options *lists)
{
	bool has_shape = rules && lists->seed_text;

	for (u32 i = 0; rules && i < N_SHAPE_OPTIONS; i++)
		has_shape |= lists->shape_text[i] != NULL;
	for (u32 i = 0; has_shape && i < rules->n; i++) {
		if (!rules->rule[i].ref.is_list)
			continue;
		return complain(
			"%s: of a rule that is kept only --kind, --fpp, --key and --capacity are: "
			"build an image with --%s and name that",
			rules->rule[i].ref.argument, lists->shaped_by);
	}
	return 0;
}

/* Says what waits for a rule of the name of one that goes. */
static void warn_singles(const struct baleen_device_session *session,
			 const struct baleen_ruleset *ruleset)
{
	const struct baleen_rule_store *state = &session->deploy.state;
	const struct baleen_rule_store own = baleen_book_of(state);
	struct baleen_stored_rules before;
	char n[NUMBER_TEXT];

	if (baleen_rule_store_get_rules(state, &before, NULL))
		return;
	for (u32 i = 0; i < before.n_rules; i++) {
		const char *name = before.rule[i].name;
		u64 n_singles = baleen_rule_entries_count(&own, name, NULL);
		bool stays = !n_singles;

		for (u32 j = 0; j < ruleset->n_rules; j++)
			stays |= !strcmp(ruleset->rule[j].name, name);
		if (!stays)
			complain("%s: %s single %s of rule %s %s parked until there is a rule of "
				 "this name",
				 state->device, format_count(n_singles, n),
				 baleen_plural(n_singles, "entry", "entries"), name,
				 baleen_plural(n_singles, "is", "are"));
	}
}

int session_put(struct baleen_device_session *session, const struct baleen_ruleset *ruleset,
		const struct rules *rules, const struct list_options *lists)
{
	struct baleen_rule_sources sources;
	struct baleen_error error;

	if (session->has_state && refuse_shape(rules, lists))
		return EXIT_FAILED;
	if (session->has_state)
		warn_singles(session, ruleset);
	list_sources(rules, lists, &sources);
	if (baleen_device_session_put(session, ruleset, &sources, &error))
		return complain("%s", error.text);
	if (session->has_state)
		session_kept(&session->deploy.state);
	return 0;
}

int session_attach(struct baleen_device_attach *attach, const struct rules *rules,
		   const struct list_options *lists, struct baleen_attempts *attempts)
{
	struct baleen_rule_sources sources;
	struct baleen_error error;
	char n[NUMBER_TEXT];
	int err;

	if (!attach->is_forgetful && refuse_shape(rules, lists))
		return EXIT_FAILED;
	list_sources(rules, lists, &sources);
	attach->sources = &sources;
	err = baleen_device_session_attach(attach, attempts, &error);
	attach->sources = NULL;
	for (u32 i = 0; i < attempts->n_failed; i++)
		complain("%s: %s failed: %s", attach->device, attempts->failed[i].what,
			 attempts->failed[i].reason);
	if (!err && attach->n_entries)
		complain("%s: %s single %s of before %s in force again: 'baleen list %s'",
			 attach->device, format_count(attach->n_entries, n),
			 baleen_plural(attach->n_entries, "entry", "entries"),
			 baleen_plural(attach->n_entries, "is", "are"),
			 baleen_shell_word(attach->device).text);
	if (!err && attach->behind.text[0])
		return complain("%s: attached, but not yet with these entries: %s", attach->device,
				attach->behind.text);
	return finish(err, &error);
}

int mend_book(bool looks)
{
	char text[BALEEN_BOOK_ASIDE_TEXT];
	struct baleen_book_aside aside;
	struct baleen_error error;
	int did;

	if (!baleen_book_is_damaged())
		return 0;
	if (looks)
		return complain("the book of single entries is damaged: 'baleen apply' sets it "
				"aside");
	did = baleen_book_set_aside(&aside, &error);
	if (did < 0)
		return complain("%s", error.text);
	if (did)
		complain("%s", baleen_book_aside_text(&aside, text));
	return 0;
}
