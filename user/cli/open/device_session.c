// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The device that a command changes, with the state of its rules. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/open/device_session.h"
#include "util/write_file.h"

int complain_not_attached(const char *device)
{
	struct baleen_error error;
	struct baleen_xdp xdp;

	if (baleen_xdp_open(&xdp, device, false, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	complain("%s: the filter is not in force here (%s)", device,
		 baleen_attach_status_text(xdp.attach_status));
	baleen_xdp_close(&xdp);
	return EXIT_FAILED;
}

/* --- opening --------------------------------------------------------------- */

/* Long enough to take a lock that nobody has. */
#define AT_ONCE_MS 1

/* With its state, or, if there is none, without. */
static int open_device(struct device_session *session, const char *device, u64 wait_ms,
		       struct baleen_error *error)
{
	int err = baleen_deploy_open(&session->deploy, device, wait_ms, error);

	session->has_state = !err;
	if (err != -ENOENT)
		return err;
	err = baleen_xdp_open_within(&session->deploy.xdp, device, wait_ms, error);
	session->deploy.has_xdp = !err;
	return err;
}

static int read_plan(struct device_session *session)
{
	struct baleen_error error;

	if (baleen_rule_store_begin(&session->deploy.state, &error) ||
	    baleen_rule_store_get_rules(&session->deploy.state, &session->plan.rules, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return 0;
}

/* On a terminal, say why nothing happens. */
static int open_waiting(struct device_session *session, const char *device, u64 wait_ms)
{
	struct baleen_error error;
	int err = open_device(session, device, AT_ONCE_MS, &error);

	if (err == -ETIMEDOUT && wait_ms) {
		if (isatty(STDERR_FILENO))
			complain("%s: waiting for another command that changes it", device);
		err = open_device(session, device, wait_ms, &error);
	}
	if (!err || err == -ENOENT)
		return err;
	complain("%s", error.text);
	return EXIT_FAILED;
}

int session_open_state(struct device_session *session, const char *device, u64 wait_ms)
{
	int err;

	*session = (struct device_session){ 0 };
	err = open_waiting(session, device, wait_ms);
	if (err || session->has_state)
		return err;
	session_close(session);
	return -ENOENT;
}

int session_open(struct device_session *session, const char *device, u64 wait_ms)
{
	int err;

	*session = (struct device_session){ 0 };
	err = open_waiting(session, device, wait_ms);
	if (err)
		return err;
	if (!session->deploy.has_xdp)
		err = -ENOENT;
	else if (session->has_state)
		err = read_plan(session);
	if (err)
		session_close(session);
	return err;
}

void session_close(struct device_session *session)
{
	if (session->has_state)
		baleen_deploy_close(&session->deploy);
	else if (session->deploy.has_xdp)
		baleen_xdp_close(&session->deploy.xdp);
	*session = (struct device_session){ 0 };
}

/* --- feeds ----------------------------------------------------------------- */

/* A path that means the same from every directory. */
static int name_source(const char *path, char *source)
{
	char real[PATH_MAX];
	const char *name = strcmp(path, "-") && realpath(path, real) ? real : path;

	if (strlen(name) >= BALEEN_SOURCE_BYTES) {
		complain("%.40s...: the path is too long to be remembered", name);
		return EXIT_FAILED;
	}
	strcpy(source, name);
	return 0;
}

/* The image itself, for what was no list or is built like another image. */
static int image_fd(const struct filter_ref *ref)
{
	const struct baleen_filter *filter = &ref->filter;
	int fd = memfd_create("baleen-image", MFD_CLOEXEC);
	int err = fd < 0 ? -errno : baleen_write_all(fd, filter->bytes, filter->n_bytes);

	if (!err)
		return fd;
	complain("%s: cannot keep the image: %s", ref->argument, strerror(-err));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Appends to a text of so many bytes, with a newline between. */
static bool append_line(char *text, size_t bytes, const char *line)
{
	size_t used = strlen(text);
	int n = snprintf(text + used, bytes - used, "%s%s", used ? "\n" : "", line);

	return n >= 0 && (size_t)n < bytes - used;
}

static int describe_table(struct baleen_feed *feed, const struct baleen_csv_options *csv)
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
	complain("%s: --column and --where are too long to be remembered", wanted->source);
	return EXIT_FAILED;
}

static int describe_feed(struct baleen_feed *feed, const char *rule, const struct filter_ref *ref,
			 const struct list_options *lists, bool is_image)
{
	*feed = (struct baleen_feed){ .format = is_image ? BALEEN_FEED_IMAGE : BALEEN_FEED_LIST,
				      .received_ms = baleen_now_ms(),
				      .n_bytes = is_image ? ref->filter.n_bytes : 0,
				      .n_entries = is_image ? ref->filter.image.n_entries :
							      ref->n_listed };
	feed->checked_ms = feed->confirmed_ms = feed->received_ms;
	snprintf(feed->rule, sizeof(feed->rule), "%s", rule);
	if (name_source(ref->argument, feed->wanted.source))
		return EXIT_FAILED;
	feed->wanted.skip_bad = lists->skip_bad;
	if (is_image || !baleen_csv_is_wanted(&ref->csv))
		return 0;
	return describe_table(feed, &ref->csv);
}

int session_add_feed(struct device_session *session, const char *rule, const struct filter_ref *ref,
		     const struct list_options *lists)
{
	bool is_image = !ref->is_list || lists->build.like;
	/* An image file is copied from where it is, not by way of memory. */
	bool is_made = is_image && (ref->is_list || !ref->fd);
	struct baleen_error error;
	struct baleen_feed feed;
	int fd, err;

	if (!session->has_state)
		return 0;
	if (describe_feed(&feed, rule, ref, lists, is_image))
		return EXIT_FAILED;
	fd = is_made ? image_fd(ref) : ref->fd;
	if (fd < 0)
		return EXIT_FAILED;
	err = baleen_feeds_put(&session->deploy.state, &feed, &error);
	if (!err)
		err = baleen_feed_take(&session->deploy.state, &feed, fd, &error);
	if (err)
		complain("%s", error.text);
	if (is_made)
		close(fd);
	return err ? EXIT_FAILED : 0;
}

static int forget_feed(const struct baleen_feed *feed, void *state)
{
	return baleen_feeds_remove(state, feed->id, NULL);
}

/* --- rules ----------------------------------------------------------------- */

static void shape_rule(struct baleen_stored_rule *rule, const struct rule_argument *argument,
		       const struct list_options *lists)
{
	const struct baleen_image *image = &argument->ref.filter.image;

	rule->key_spec = image->key_spec;
	rule->kind = lists->build.kind;
	rule->fpp = lists->build.fpp;
	rule->capacity = lists->build.capacity;
	rule->is_any = is_any_argument(argument);
	rule->limits = baleen_feed_limits_default();
}

/* The rules of the ruleset, in its order, as the state shall have them. */
static void plan_rules(struct device_session *session, const struct baleen_ruleset *ruleset,
		       const struct rules *rules, const struct list_options *lists)
{
	struct baleen_stored_rules before = session->plan.rules;
	struct baleen_stored_rules *after = &session->plan.rules;

	after->n_rules = ruleset->n_rules;
	after->default_drop = ruleset->default_drop;
	after->dry_run = ruleset->dry_run;
	after->sample_interval_ns = ruleset->sample_interval_ns;
	for (u32 i = 0; i < ruleset->n_rules; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];
		const struct rule_argument *argument = rules ? rules_find(rules, rule) : NULL;
		struct baleen_stored_rule *new = &after->rule[i];
		int old = baleen_rule_store_find_rule(&before, rule->name);

		*new = old >= 0 ? before.rule[old] : (struct baleen_stored_rule){ 0 };
		memcpy(new->name, rule->name, sizeof(new->name));
		new->action = rule->action;
		new->qualifiers = rule->qualifiers;
		if (argument)
			shape_rule(new, argument, lists);
		session->plan.rebuild[i] = argument;
	}
}

/* The typed images replace the feeds of a rule; its entries stay. */
static int replace_feeds(struct device_session *session, const struct baleen_ruleset *ruleset,
			 const struct rules *rules, const struct list_options *lists)
{
	struct baleen_rule_store *state = &session->deploy.state;
	struct baleen_error error;

	for (u32 i = 0; rules && i < ruleset->n_rules; i++) {
		const struct rule_argument *argument = rules_find(rules, &ruleset->rule[i]);
		const char *name = ruleset->rule[i].name;

		if (!argument)
			continue;
		if (baleen_feeds_each(state, name, forget_feed, state, &error)) {
			complain("%s", error.text);
			return EXIT_FAILED;
		}
		if (!is_any_argument(argument) &&
		    session_add_feed(session, name, &argument->ref, lists))
			return EXIT_FAILED;
	}
	return 0;
}

/* A rule that is kept is built again of its lists, and the state has no shapes. */
static int refuse_shape(const struct device_session *session, const struct rules *rules,
			const struct list_options *lists)
{
	bool has_shape = rules && lists->seed_text;

	for (u32 i = 0; rules && i < N_SHAPE_OPTIONS; i++)
		has_shape |= lists->shape_text[i] != NULL;
	for (u32 i = 0; has_shape && session->has_state && i < rules->n; i++) {
		if (!rules->rule[i].ref.is_list)
			continue;
		complain("%s: of a rule that is kept only --kind, --fpp, --key and --capacity are: "
			 "build an image with --%s and name that",
			 rules->rule[i].ref.argument, lists->shaped_by);
		return EXIT_FAILED;
	}
	return 0;
}

static int set_rules(struct device_session *session, const struct baleen_ruleset *ruleset,
		     const struct rules *rules, const struct list_options *lists)
{
	struct baleen_error error;

	if (refuse_shape(session, rules, lists))
		return EXIT_FAILED;
	plan_rules(session, ruleset, rules, lists);
	if (baleen_rule_store_set_rules(&session->deploy.state, &session->plan.rules, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return replace_feeds(session, ruleset, rules, lists);
}

int session_put_plan(struct device_session *session)
{
	struct baleen_error error;

	if (baleen_deploy_put(&session->deploy, &session->plan, NULL, NULL, NULL, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return 0;
}

/* A rule that goes on keeps what its entries and counters are about. */
static int check_keys(const struct device_session *session, const struct baleen_ruleset *ruleset)
{
	const struct baleen_xdp *xdp = &session->deploy.xdp;

	for (u32 i = 0; i < ruleset->n_rules; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];
		u32 before, after;

		if (rule->live == BALEEN_RULE_NEW || !rule->filter)
			continue;
		before = xdp->config.rule[rule->live].image.key_spec;
		after = rule->filter->image.key_spec;
		if (before == after)
			continue;
		complain("%s:%s is keyed by %s, the new image by %s", xdp->device, rule->name,
			 key_spec_text(before), key_spec_text(after));
		return EXIT_FAILED;
	}
	return 0;
}

int session_put(struct device_session *session, const struct baleen_ruleset *ruleset,
		const struct rules *rules, const struct list_options *lists)
{
	struct baleen_error error;

	if (session->has_state)
		return check_keys(session, ruleset) || set_rules(session, ruleset, rules, lists) ?
			       EXIT_FAILED :
			       session_put_plan(session);
	if (baleen_xdp_update(&session->deploy.xdp, ruleset, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return 0;
}

/* --- attach ---------------------------------------------------------------- */

int session_remove_old(const char *device, struct baleen_error *error)
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
			device, old.path, device, device);
		baleen_rule_store_close(&old);
		return err;
	}
	baleen_rule_store_remove(&old);
	return 0;
}

static int is_attached(const char *device)
{
	struct baleen_xdp xdp;

	if (baleen_xdp_open(&xdp, device, false, NULL))
		return false;
	baleen_xdp_close(&xdp);
	return xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
}

/* When two attach at once, one creates the state and the other finds it. */
#define MAX_CREATIONS 3

/* Return: -EBUSY when a filter is there: the attach will say so. */
static int create_state(struct baleen_rule_store *state, const char *device,
			struct baleen_error *error)
{
	int err = -EEXIST;

	for (u32 i = 0; i < MAX_CREATIONS && err == -EEXIST; i++) {
		if (is_attached(device))
			return -EBUSY;
		err = session_remove_old(device, error);
		if (!err)
			err = baleen_rule_store_create(state, device, false, BALEEN_LOCK_TIMEOUT_MS,
						       error);
		else if (err == -EEXIST)
			return -EPERM;
	}
	return err;
}

int session_create(struct device_session *session, const char *device,
		   const struct baleen_ruleset *ruleset, enum baleen_mode mode,
		   enum baleen_attach_type attach_type, const struct rules *rules,
		   const struct list_options *lists)
{
	struct baleen_rule_store *state = &session->deploy.state;
	struct baleen_error error;
	int err;

	*session = (struct device_session){ 0 };
	err = create_state(state, device, &error);
	if (err == -EBUSY)
		return 0;
	if (err) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	session->has_state = true;
	session->plan.rules.mode = mode;
	session->plan.rules.attach_type = attach_type;
	if (baleen_rule_store_begin(state, &error)) {
		complain("%s", error.text);
	} else if (!set_rules(session, ruleset, rules, lists)) {
		if (!baleen_rule_store_commit(state, &error))
			return 0;
		complain("%s", error.text);
	}
	session_undo(session);
	return EXIT_FAILED;
}

void session_undo(struct device_session *session)
{
	if (session->has_state)
		baleen_rule_store_remove(&session->deploy.state);
	*session = (struct device_session){ 0 };
}
