// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A configuration, with its feeds as received. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/feed_progress.h"
#include "cli/open/conf_goal.h"
#include "cli/open/never_names.h"
#include "cli/open/rollout_site.h"
#include "deploy/conf_edits.h"
#include "state/feed_set.h"
#include "state/set_feed.h"
#include "util/url.h"

/* A URL that was fetched so lately for another device is not fetched again. */
#define SHARE_MS 600000ull

/* --- feeds ------------------------------------------------------------------------ */

/**
 * struct copies - which source has a good copy already
 * @rule: name of its rule
 * @wanted: the source
 * @has_copy: it has
 */
struct copies {
	const char *rule;
	const struct baleen_feed_source *wanted;
	bool has_copy;
};

static int find_copy(const struct baleen_feed *feed, void *data)
{
	struct copies *copies = data;

	if (!baleen_feed_is_of(feed, copies->rule, copies->wanted))
		return 0;
	copies->has_copy = feed->received_ms;
	return 1;
}

/* A URL is asked by 'baleen update', or when there is nothing to go on with. */
static bool needs_version(const struct baleen_rule_store *state, const char *rule,
			  const struct baleen_feed_source *wanted)
{
	struct copies copies = { .rule = rule, .wanted = wanted };

	if (!state || (!baleen_url_is(wanted->source) && !baleen_feed_set_is(wanted->source) &&
		       !baleen_feed_copy_is(wanted->source)))
		return true;
	baleen_feeds_each(state, rule, find_copy, &copies, NULL);
	return !copies.has_copy;
}

static int complain_of_failures(const char *path, const struct baleen_conf_feed *feed,
				const struct baleen_feed_versions *versions, size_t first)
{
	for (size_t i = first; i < versions->n; i++) {
		if (versions->version[i].outcome != BALEEN_FEED_FAILED)
			continue;
		return complain("%s:%llu: %s", path, (unsigned long long)feed->line,
				versions->version[i].error.text);
	}
	return 0;
}

/* A set whose copy is at hand is not asked for, so a wrong name would show only later. */
static int check_key(const char *path, const struct baleen_conf_feed *feed)
{
	struct baleen_error error;

	if (!*feed->wanted.key || !baleen_feed_set_check_key(&feed->wanted, &error))
		return 0;
	return complain("%s:%llu: %s", path, (unsigned long long)feed->line, error.text);
}

static int receive(struct conf_goal *goal, const struct baleen_rule_store *state)
{
	struct baleen_feed_versions *versions = &goal->versions;
	const struct baleen_conf *conf = &goal->conf;
	struct baleen_rollout_site site = { .has_fleet = false };
	struct baleen_error error;

	rollout_site_read_for(conf, !goal->looks, &site);
	for (size_t i = 0; i < conf->n_feeds; i++) {
		const struct baleen_conf_feed *feed = &conf->feed[i];
		const struct baleen_stored_rule *rule = &conf->rules.rule[feed->rule];
		struct baleen_feed_ask ask = { .state = state,
					       .rule = rule,
					       .wanted = &feed->wanted,
					       .ignores_limits = goal->ignores_limits,
					       .share_ms = goal->is_offline ? UINT64_MAX : SHARE_MS,
					       .is_offline = goal->is_offline,
					       .site = &site,
					       .on_progress = feed_progress,
					       .data = (void *)feed->wanted.source };
		size_t first = versions->n;
		int err;

		if (!goal->is_offline && check_key(goal->path, feed))
			return EXIT_FAILED;
		if (!needs_version(state, rule->name, &feed->wanted))
			continue;
		err = baleen_feed_receive(&ask, versions, &error);
		feed_progress_end();
		if (err)
			return complain("%s", error.text);
		if (complain_of_failures(goal->path, feed, versions, first))
			return EXIT_FAILED;
	}
	return 0;
}

/* --- the rest --------------------------------------------------------------------- */

bool conf_goal_device_of(const char *path, char *device, size_t n_bytes, bool *is_default)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *suffix = strrchr(base, '.');

	*is_default = !strcmp(base, BALEEN_CONF_DEFAULT BALEEN_CONF_SUFFIX);
	if (*is_default || !suffix || suffix == base || strcmp(suffix, BALEEN_CONF_SUFFIX) ||
	    (size_t)(suffix - base) >= n_bytes)
		return false;
	snprintf(device, n_bytes, "%.*s", (int)(suffix - base), base);
	return true;
}

/* A name without an answer is no reason to leave the device without a filter. */
static int ask_names(struct conf_goal *goal, const struct baleen_rule_store *state)
{
	struct baleen_error error;

	if (goal->is_offline)
		return 0;
	if (baleen_never_names_ask(goal->conf.rules.never_names, state, false, &goal->answers,
				   &error))
		return complain("%s: %s", goal->device, error.text);
	never_names_complain(goal->device, &goal->answers);
	return 0;
}

/* The state remembers it, for commands that run elsewhere. Standard input is of this one alone. */
static int name_whole(struct conf_goal *goal, struct baleen_error *error)
{
	char here[BALEEN_RULE_STORE_PATH_BYTES] = "";
	int n;

	if (!strncmp(goal->path, "/dev/", 5) || !strncmp(goal->path, "/proc/", 6))
		return 0;
	if (*goal->path != '/' && !getcwd(here, sizeof(here)))
		return baleen_fail(error, errno, "%s: %m", goal->path);
	n = snprintf(goal->whole_path, sizeof(goal->whole_path), "%s%s%s", here, *here ? "/" : "",
		     goal->path);
	return n >= (int)sizeof(goal->whole_path) ?
		       baleen_fail(error, ENAMETOOLONG, "%s: name too long", goal->path) :
		       0;
}

/* @state: of the device */
static int read_before(struct conf_goal *goal, const struct baleen_rule_store *state,
		       struct baleen_error *error)
{
	int err = baleen_conf_from_state(state, &goal->before, error);

	if (err || baleen_conf_applied(state, &goal->applied))
		return err;
	goal->was_edited = !baleen_conf_is_same(&goal->before, &goal->applied) &&
			   !baleen_conf_is_same(&goal->before, &goal->conf);
	return 0;
}

int conf_goal_read(struct conf_goal *goal)
{
	struct baleen_error error;
	struct baleen_rule_store state;
	int err = name_whole(goal, &error);
	bool has_state = false;

	if (!err)
		err = baleen_conf_read(goal->path, &goal->conf, &error);
	if (!err)
		err = baleen_conf_is_of(&goal->conf, goal->device, goal->path, &error);
	if (!err && *goal->conf.match && !goal->is_default)
		err = baleen_fail(&error, EINVAL, "%s: match belongs into default.conf",
				  goal->path);
	if (!err) {
		err = baleen_rule_store_open(&state, goal->device, 0, &error);
		has_state = !err;
		if (err == -ENOENT)
			err = 0;
		else if (!err)
			err = read_before(goal, &state, &error);
	}
	if (err)
		err = complain("%s", error.text);
	else
		err = receive(goal, has_state ? &state : NULL);
	if (!err)
		err = ask_names(goal, has_state ? &state : NULL);
	if (has_state)
		baleen_rule_store_close(&state);
	return err;
}

struct baleen_conf_goal conf_goal_of(const struct conf_goal *goal)
{
	return (struct baleen_conf_goal){ .device = goal->device,
					  .path = goal->whole_path,
					  .conf = &goal->conf,
					  .versions = &goal->versions,
					  .answers = &goal->answers };
}

void conf_goal_free(struct conf_goal *goal)
{
	baleen_feed_versions_free(&goal->versions);
	baleen_never_answers_free(&goal->answers);
	baleen_conf_free(&goal->before);
	baleen_conf_free(&goal->applied);
	baleen_conf_free(&goal->conf);
}
