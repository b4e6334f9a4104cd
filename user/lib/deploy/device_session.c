// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A device that is changed by hand, with the state of its rules. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "deploy/conf.h"
#include "deploy/device_session.h"
#include "deploy/gate_live.h"
#include "deploy/protect.h"
#include "state/feed_judge.h"
#include "util/fd.h"
#include "util/shell.h"
#include "util/write_file.h"

/* --- opening --------------------------------------------------------------- */

/* Says why a device is not attached; returns -ENOENT. */
static int explain_absence(const char *device, struct baleen_error *error)
{
	struct baleen_xdp xdp;

	if (baleen_xdp_open(&xdp, device, false, error))
		return -ENOENT;
	baleen_xdp_close(&xdp);
	return baleen_fail(error, ENOENT, "%s: the filter is not in force here (%s)", device,
			   baleen_attach_status_text(xdp.attach_status));
}

int baleen_device_session_open_state(struct baleen_device_session *session, const char *device,
				     u64 wait_ms, struct baleen_error *error)
{
	int err;

	*session = (struct baleen_device_session){ 0 };
	err = baleen_deploy_open(&session->deploy, device, wait_ms, error);
	session->has_state = !err;
	return err == -ENOENT ? explain_absence(device, error) : err;
}

static int read_plan(struct baleen_device_session *session, struct baleen_error *error)
{
	int err = baleen_rule_store_begin(&session->deploy.state, error);

	return err ? err :
		     baleen_rule_store_get_rules(&session->deploy.state, &session->plan.rules,
						 error);
}

int baleen_device_session_open(struct baleen_device_session *session, const char *device,
			       u64 wait_ms, struct baleen_error *error)
{
	int err;

	*session = (struct baleen_device_session){ 0 };
	err = baleen_deploy_open(&session->deploy, device, wait_ms, error);
	session->has_state = !err;
	if (err == -ENOENT) {
		err = baleen_xdp_open_within(&session->deploy.xdp, device, wait_ms, error);
		session->deploy.has_xdp = !err;
	} else if (!err && !session->deploy.has_xdp) {
		err = explain_absence(device, error);
	} else if (!err) {
		err = read_plan(session, error);
	}
	if (err)
		baleen_device_session_close(session);
	return err;
}

void baleen_device_session_close(struct baleen_device_session *session)
{
	if (session->has_state)
		baleen_deploy_close(&session->deploy);
	else if (session->deploy.has_xdp)
		baleen_xdp_close(&session->deploy.xdp);
	*session = (struct baleen_device_session){ 0 };
}

/* --- feeds ----------------------------------------------------------------- */

static bool is_kept_as_image(const struct baleen_rule_source *source)
{
	return !source->is_list || source->build->like;
}

/* A path that means the same from every directory. */
static int name_source(const char *path, char *name, struct baleen_error *error)
{
	char real[PATH_MAX];

	if (strcmp(path, "-") && realpath(path, real))
		path = real;
	if (strlen(path) >= BALEEN_SOURCE_BYTES)
		return baleen_fail(error, ENAMETOOLONG,
				   "%.40s...: the path is too long to be remembered", path);
	strcpy(name, path);
	return 0;
}

/* The image itself, for what was no list or is built like another image. */
static int image_fd(const struct baleen_rule_source *source, struct baleen_error *error)
{
	int fd = memfd_create("baleen-image", MFD_CLOEXEC);
	int err = fd < 0 ? -errno :
			   baleen_write_all(fd, source->filter->bytes, source->filter->n_bytes);

	if (!err)
		return fd;
	baleen_close_fd(&fd);
	return baleen_fail(error, -err, "%s: cannot keep the image: %s", source->path,
			   strerror(-err));
}

/* Appends to a text of so many bytes, with a newline between. */
static bool append_line(char *text, size_t bytes, const char *line)
{
	size_t used = strlen(text);
	int n = snprintf(text + used, bytes - used, "%s%s", used ? "\n" : "", line);

	return n >= 0 && (size_t)n < bytes - used;
}

static int describe_table(struct baleen_feed *feed, const struct baleen_csv_options *csv,
			  struct baleen_error *error)
{
	struct baleen_feed_source *wanted = &feed->wanted;
	bool fits =
		append_line(wanted->column, sizeof(wanted->column), csv->column ? csv->column : "");

	for (u32 i = 0; i < csv->n_where; i++)
		fits &= append_line(wanted->where, sizeof(wanted->where), csv->where[i]);
	feed->format = BALEEN_FEED_CSV;
	wanted->delimiter = csv->delimiter;
	if (fits)
		return 0;
	return baleen_fail(error, ENAMETOOLONG,
			   "%s: --column and --where are too long to be remembered",
			   wanted->source);
}

static int describe_feed(struct baleen_feed *feed, const char *rule,
			 const struct baleen_rule_source *source, struct baleen_error *error)
{
	const struct baleen_image *image = &source->filter->image;
	/* An image from elsewhere may not tell. */
	u64 n_written = image->n_listed - image->n_covered;
	bool is_image = is_kept_as_image(source);
	int err;

	*feed = (struct baleen_feed){ .format = is_image ? BALEEN_FEED_IMAGE : BALEEN_FEED_LIST,
				      .received_ms = baleen_now_ms(),
				      .n_bytes = is_image ? source->filter->n_bytes : 0,
				      .n_entries = n_written ?: image->n_entries };
	feed->checked_ms = feed->confirmed_ms = feed->received_ms;
	snprintf(feed->rule, sizeof(feed->rule), "%s", rule);
	err = name_source(source->path, feed->wanted.source, error);
	if (err)
		return err;
	feed->wanted.skip_bad = source->skips_bad;
	if (is_image || !baleen_csv_is_wanted(source->csv))
		return 0;
	return describe_table(feed, source->csv, error);
}

/* Entries of a list that the rule takes out as protected. */
static int count_protected(struct baleen_device_session *session, const struct baleen_feed *feed,
			   int fd, const struct baleen_stored_rule *rule,
			   struct baleen_error *error)
{
	struct baleen_protected_set set = { 0 };
	struct baleen_list list = { 0 };
	/* The user has named it. */
	const struct baleen_list_reader reader = { .is_private = false };
	int err = baleen_feed_read(fd, feed->wanted.source, &feed->wanted, rule->key_spec, &reader,
				   &list, error);

	if (!err)
		err = baleen_protected_load(&session->deploy.state, &set, error);
	for (u32 role = 0; role < BALEEN_N_WITHHELD && !err; role++) {
		struct baleen_protected first;
		u64 n = 0;

		if (baleen_protected_of_feeds(rule, role) &&
		    baleen_protected_meets(&set, role, &list, &n, &first))
			err = baleen_no_memory(error);
		if (!err && n && !session->n_protected)
			session->first_protected = first;
		session->n_protected += n;
	}
	baleen_protected_free(&set);
	baleen_list_free(&list);
	return err;
}

/* Says how many entries the rule takes out, and refuses a source of which nothing is left,
 * unless it is what is left of the rule itself.
 */
static int count_removed(struct baleen_device_session *session, struct baleen_feed *feed, int fd,
			 const struct baleen_rule_source *source, struct baleen_error *error)
{
	int index = baleen_rule_store_find_rule(&session->plan.rules, feed->rule);
	const struct baleen_stored_rule *rule = &session->plan.rules.rule[index < 0 ? 0 : index];
	struct baleen_feed_version version = { .feed = *feed, .fd = fd, .is_public = true };
	bool is_of_rule = !source->is_list && !source->fd;
	int err;

	if (is_of_rule || index < 0)
		return 0;
	err = source->is_list && baleen_protected_applies(rule) ?
		      count_protected(session, feed, fd, rule, error) :
		      0;
	if (err || !baleen_rule_removes_special(rule))
		return err;
	err = baleen_feed_judge(&session->deploy.state, rule, NULL, false, &version, error);
	if (err)
		return err;
	if (version.feed.n_special && !version.now.n_entries && !source->allows_empty)
		return baleen_fail(
			error, ENODATA,
			"%.600s: not a single key outside of special-purpose ranges, which rule "
			"'%s' takes out: refused (--allow-empty takes it, 'special keep' %s keeps "
			"them)",
			source->path, feed->rule,
			rule->guards_feeds ? "in the configuration" : "behind a rule");
	session->n_special += version.feed.n_special;
	*feed = version.feed;
	return 0;
}

int baleen_device_session_add_feed(struct baleen_device_session *session, const char *rule,
				   const struct baleen_rule_source *source,
				   struct baleen_error *error)
{
	/* An image file is copied from where it is, not by way of memory. */
	bool is_made = is_kept_as_image(source) && (source->is_list || !source->fd);
	struct baleen_feed feed;
	int fd, err;

	if (!session->has_state)
		return 0;
	err = describe_feed(&feed, rule, source, error);
	if (err)
		return err;
	fd = is_made ? image_fd(source, error) : source->fd;
	if (fd < 0)
		return fd;
	err = count_removed(session, &feed, fd, source, error);
	if (!err)
		err = baleen_feeds_put(&session->deploy.state, &feed, error);
	if (!err)
		err = baleen_feed_accept(&session->deploy.state, &feed, fd, error);
	if (is_made)
		close(fd);
	return err;
}

static int forget_feed(const struct baleen_feed *feed, void *state)
{
	return baleen_feeds_remove(state, feed->id, NULL);
}

/* --- rules ----------------------------------------------------------------- */

/* The new source of a rule; NULL for a rule that stays. */
static const struct baleen_rule_source *find_source(const struct baleen_rule_sources *sources,
						    const struct baleen_ruleset_rule *rule)
{
	for (u32 i = 0; sources && i < sources->n; i++)
		if (rule->filter == sources->source[i].filter)
			return &sources->source[i];
	return NULL;
}

static void shape_rule(struct baleen_stored_rule *rule, const struct baleen_rule_source *source)
{
	rule->key_spec = source->filter->image.key_spec;
	rule->kind = source->build->kind;
	/* A rate that the list was to be built with is no consent to it. */
	rule->fpp = fmin(source->build->fpp, fmax(source->accept_fpp, BALEEN_ACCEPT_FPP));
	rule->accept_fpp = source->accept_fpp > BALEEN_ACCEPT_FPP ? source->accept_fpp : 0;
	rule->capacity = source->build->capacity;
	rule->is_any = source->is_any;
	baleen_rule_bans_set(rule, &source->bans);
	rule->limits.keep_special &= !source->removes_special;
	rule->limits.keep_special |= source->keeps_special;
}

/* A typed list is meant as it is written; a configured one comes from others. */
static struct baleen_stored_rule new_rule(void)
{
	struct baleen_stored_rule rule = { .limits = baleen_feed_limits_default() };

	rule.limits.keep_special = true;
	return rule;
}

/* The rules of the ruleset, in its order, as the state shall have them. */
static void plan_rules(struct baleen_device_session *session, const struct baleen_ruleset *ruleset,
		       const struct baleen_rule_sources *sources)
{
	struct baleen_stored_rules before = session->plan.rules;
	struct baleen_stored_rules *after = &session->plan.rules;

	after->n_rules = ruleset->n_rules;
	after->default_drop = ruleset->default_drop;
	after->dry_run = ruleset->dry_run;
	after->sample_interval_ns = ruleset->sample_interval_ns;
	for (u32 i = 0; i < ruleset->n_rules; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];
		const struct baleen_rule_source *source = find_source(sources, rule);
		struct baleen_stored_rule *new = &after->rule[i];
		int old = baleen_rule_store_find_rule(&before, rule->name);

		*new = old >= 0 ? before.rule[old] : new_rule();
		memcpy(new->name, rule->name, sizeof(new->name));
		new->action = rule->action;
		new->qualifiers = rule->qualifiers;
		new->rate_limit = rule->rate_limit;
		if (source)
			shape_rule(new, source);
		session->plan.rebuild[i] = source;
	}
}

static int replace_feeds(struct baleen_device_session *session,
			 const struct baleen_ruleset *ruleset,
			 const struct baleen_rule_sources *sources, struct baleen_error *error)
{
	struct baleen_rule_store *state = &session->deploy.state;
	int err = 0;

	for (u32 i = 0; i < ruleset->n_rules && !err; i++) {
		const struct baleen_rule_source *source = find_source(sources, &ruleset->rule[i]);
		const char *name = ruleset->rule[i].name;

		if (!source)
			continue;
		err = baleen_feeds_each(state, name, forget_feed, state, error);
		if (!err && !source->is_any)
			err = baleen_device_session_add_feed(session, name, source, error);
	}
	return err;
}

/* A list is judged by what is to be protected now. */
static int protect(struct baleen_device_session *session, struct baleen_error *error)
{
	for (u32 i = 0; i < session->plan.rules.n_rules; i++)
		if (session->plan.rebuild[i] &&
		    baleen_protected_applies(&session->plan.rules.rule[i]))
			return baleen_protect(&session->deploy.state, &session->plan, NULL, error);
	return 0;
}

static int set_rules(struct baleen_device_session *session, const struct baleen_ruleset *ruleset,
		     const struct baleen_rule_sources *sources, struct baleen_error *error)
{
	int err;

	plan_rules(session, ruleset, sources);
	err = baleen_rule_store_set_rules(&session->deploy.state, &session->plan.rules, error);
	if (!err)
		err = protect(session, error);
	return err ? err : replace_feeds(session, ruleset, sources, error);
}

#define TRIED 1

static int refuse_trial(void *data, const struct baleen_ruleset *ruleset)
{
	return TRIED;
}

/* A trial derives all that would go live, and then takes it back. */
static int put_plan(struct baleen_device_session *session, struct baleen_error *error)
{
	int err = baleen_deploy_put(&session->deploy, &session->plan, NULL,
				    session->is_trial ? refuse_trial : NULL, NULL, error);

	return err == TRIED ? 0 : err;
}

int baleen_device_session_put(struct baleen_device_session *session,
			      const struct baleen_ruleset *ruleset,
			      const struct baleen_rule_sources *sources, struct baleen_error *error)
{
	struct baleen_xdp *xdp = &session->deploy.xdp;
	u32 key_spec[BALEEN_MAX_RULES];
	int err;

	if (!session->has_state)
		return session->is_trial ? baleen_ruleset_check(ruleset, error) :
					   baleen_xdp_update(xdp, ruleset, error);
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		key_spec[i] = xdp->config.rule[i].image.key_spec;
	err = baleen_ruleset_keeps_keys(ruleset, xdp->device, key_spec, error);
	if (!err)
		err = set_rules(session, ruleset, sources, error);
	return err ? err : put_plan(session, error);
}

/* --- attach ---------------------------------------------------------------- */

int baleen_device_session_forget(const char *device, struct baleen_error *error)
{
	struct baleen_rule_store old;
	int err = baleen_rule_store_open(&old, device, BALEEN_LOCK_TIMEOUT_MS, error);

	if (err)
		return err == -ENOENT ? 0 : err;
	if (old.is_kept) {
		err = baleen_fail(
			error, EEXIST,
			"%s has an applied configuration in %s: 'baleen apply %s' puts it "
			"on again, 'baleen detach --forget %s' forgets it",
			device, old.path, baleen_shell_word(device).text,
			baleen_shell_word(device).text);
		baleen_rule_store_close(&old);
		return err;
	}
	baleen_rule_store_remove(&old);
	return 0;
}

/* A device that cannot be asked may have a filter: its state must not go. */
static int look_for_filter(const char *device, bool *is_there, struct baleen_error *error)
{
	struct baleen_xdp xdp;
	int err = baleen_xdp_open(&xdp, device, false, error);

	*is_there = !err && xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
	if (!err)
		baleen_xdp_close(&xdp);
	return err == -ENOENT || err == -ENODEV ? 0 : err;
}

/* When two attach at once, one creates the state and the other finds it. */
#define MAX_CREATIONS 3

/* None is created when a filter is there. */
static int create_state(struct baleen_rule_store *state, const char *device, bool *is_there,
			struct baleen_error *error)
{
	int err = -EEXIST;

	for (u32 i = 0; i < MAX_CREATIONS && err == -EEXIST; i++) {
		err = look_for_filter(device, is_there, error);
		if (err || *is_there)
			return err;
		err = baleen_device_session_forget(device, error);
		if (!err)
			err = baleen_rule_store_create(state, device, false, BALEEN_LOCK_TIMEOUT_MS,
						       error);
		else if (err == -EEXIST)
			return -EPERM;
	}
	return err;
}

int baleen_device_session_create(struct baleen_device_session *session, const char *device,
				 const struct baleen_ruleset *ruleset, enum baleen_mode mode,
				 enum baleen_attach_type attach_type,
				 const struct baleen_rule_sources *sources,
				 struct baleen_error *error)
{
	struct baleen_rule_store *state = &session->deploy.state;
	bool is_there = false;
	int err;

	*session = (struct baleen_device_session){ 0 };
	err = create_state(state, device, &is_there, error);
	if (err || is_there)
		return err;
	session->has_state = true;
	session->plan.rules.mode = mode;
	session->plan.rules.attach_type = attach_type;
	baleen_conf_never_path(session->plan.rules.never_path,
			       sizeof(session->plan.rules.never_path));
	err = baleen_rule_store_begin(state, error);
	if (!err)
		err = set_rules(session, ruleset, sources, error);
	if (!err)
		err = baleen_rule_store_commit(state, error);
	if (err)
		baleen_device_session_undo(session);
	return err;
}

void baleen_device_session_undo(struct baleen_device_session *session)
{
	if (session->has_state)
		baleen_rule_store_remove(&session->deploy.state);
	*session = (struct baleen_device_session){ 0 };
}
