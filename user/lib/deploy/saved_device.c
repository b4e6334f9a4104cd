// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A device as it is to be saved, and what was saved as new versions of feeds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "deploy/conf_plan.h"
#include "deploy/gate_live.h"
#include "deploy/saved.h"
#include "deploy/saved_entries.h"
#include "filter/kind.h"
#include "ops/edit.h"
#include "state/feed_update.h"
#include "util/array.h"
#include "util/fd.h"
#include "util/write_file.h"

/* Takes the descriptor. */
static int add_copy(struct baleen_saved *saved, const char *rule, u32 place,
		    const struct baleen_feed *feed, int fd, struct baleen_error *error)
{
	struct baleen_saved_copy *copy;

	if (baleen_array_add(&saved->copy, saved->n_copies)) {
		close(fd);
		return baleen_no_memory(error);
	}
	copy = &saved->copy[saved->n_copies++];
	*copy = (struct baleen_saved_copy){ .place = place, .fd = fd };
	if (feed)
		copy->feed = *feed;
	snprintf(copy->rule, sizeof(copy->rule), "%s", rule);
	snprintf(copy->name, sizeof(copy->name), "%.*s.%zu", BALEEN_NAME_BYTES - 1, rule,
		 saved->n_copies);
	return 0;
}

/* --- of a state ------------------------------------------------------------------ */

/* The place of a feed among those of its rule. */
static u32 place_of(const struct baleen_conf *conf, const struct baleen_conf_feed *feed)
{
	u32 place = 0;

	for (const struct baleen_conf_feed *before = conf->feed; before < feed; before++)
		place += before->rule == feed->rule;
	return place;
}

const struct baleen_conf_feed *baleen_saved_feed_of(const struct baleen_saved *saved,
						    const struct baleen_saved_copy *copy)
{
	const struct baleen_conf *conf = &saved->conf;
	u32 place = 0;

	for (size_t i = 0; i < conf->n_feeds; i++)
		if (!strcmp(conf->rules.rule[conf->feed[i].rule].name, copy->rule) &&
		    place++ == copy->place)
			return &conf->feed[i];
	return NULL;
}

/**
 * struct collecting - copies on their way
 * @saved: they go there
 * @state: they come from there
 * @error: filled in on failure
 */
struct collecting {
	struct baleen_saved *saved;
	const struct baleen_rule_store *state;
	struct baleen_error *error;
};

static int collect_copy(const struct baleen_feed *feed, void *data)
{
	struct collecting *collecting = data;
	struct baleen_saved *saved = collecting->saved;
	const struct baleen_conf_feed *of =
		baleen_conf_find_source(&saved->conf, feed->rule, &feed->wanted);
	int fd;

	if (!of || !baleen_feed_has_copy(feed))
		return 0;
	fd = baleen_feed_open(collecting->state, feed, collecting->error);
	return fd < 0 ? fd :
			add_copy(saved, feed->rule, place_of(&saved->conf, of), feed, fd,
				 collecting->error);
}

/* A filter of it holds them as never dropped, whether the name is asked there or not. */
static int collect_answer(const struct baleen_never_name *name, void *data)
{
	struct baleen_never_answers *answers = data;
	struct baleen_never_answer answer = { .asked_ms = name->answered_ms };

	if (!name->answered_ms)
		return 0;
	snprintf(answer.name, sizeof(answer.name), "%s", name->name);
	answer.addresses = strdup(name->addresses);
	if (!answer.addresses || baleen_array_add(&answers->answer, answers->n)) {
		free(answer.addresses);
		return -ENOMEM;
	}
	answers->answer[answers->n++] = answer;
	return 0;
}

static int collect_state(struct baleen_saved *saved, const struct baleen_rule_store *state,
			 struct baleen_error *error)
{
	struct collecting collecting = { .saved = saved, .state = state, .error = error };
	int err = baleen_conf_from_state(state, &saved->conf, error);

	saved->is_kept = state->is_kept;
	if (!err)
		err = baleen_feeds_each(state, NULL, collect_copy, &collecting, error);
	if (!err)
		err = baleen_never_names_each(state, collect_answer, &saved->answers, error);
	return err ? err : baleen_saved_entries_collect(saved, state, error);
}

/* --- of live maps ---------------------------------------------------------------- */

static int collect_image(const struct baleen_xdp *xdp, u32 i, struct baleen_saved *saved,
			 struct baleen_error *error)
{
	struct baleen_stored_rule *rule = &saved->conf.rules.rule[i];
	struct baleen_filter live, image;
	double fpp;
	int err = baleen_xdp_map_rule(xdp, i, &live, error), fd;

	if (err)
		return err;
	err = baleen_filter_snapshot(&live, &image, error);
	baleen_filter_free(&live);
	if (err)
		return err;
	/* Nobody has said more than that it is good enough. */
	fpp = baleen_filter_worst_fpp(&image);
	rule->accept_fpp = fpp > BALEEN_ACCEPT_FPP ? fpp : 0;
	rule->key_spec = image.image.key_spec;
	fd = memfd_create("baleen-image", MFD_CLOEXEC);
	err = fd < 0 ? -errno : baleen_write_all(fd, image.bytes, image.n_bytes);
	baleen_filter_free(&image);
	if (!err)
		return add_copy(saved, rule->name, 0, NULL, fd, error);
	baleen_close_fd(&fd);
	return baleen_fail(error, -err, "cannot keep the image of rule '%s': %s", rule->name,
			   strerror(-err));
}

static int collect_live(const struct baleen_xdp *xdp, struct baleen_saved *saved,
			struct baleen_error *error)
{
	struct baleen_conf *conf = &saved->conf;
	struct baleen_ruleset ruleset;
	int err = 0;

	baleen_ruleset_from_config(&xdp->config, &ruleset);
	conf->is_egress = baleen_device_is_egress(xdp->device);
	conf->rules = (struct baleen_stored_rules){
		.n_rules = ruleset.n_rules,
		.default_drop = ruleset.default_drop,
		.dry_run = ruleset.dry_run,
		.sample_interval_ns = ruleset.sample_interval_ns,
		.mode = xdp->config.mode,
		.attach_type = xdp->config.attach_type,
	};
	baleen_conf_never_path(conf->rules.never_path, sizeof(conf->rules.never_path));
	for (u32 i = 0; i < ruleset.n_rules && !err; i++) {
		struct baleen_stored_rule *rule = &conf->rules.rule[i];
		struct baleen_conf_feed *feed;

		*rule = (struct baleen_stored_rule){ .action = ruleset.rule[i].action,
						     .qualifiers = ruleset.rule[i].qualifiers,
						     .rate_limit = ruleset.rule[i].rate_limit,
						     .kind = BALEEN_KIND_CUCKOO,
						     .limits = baleen_feed_limits_default() };
		rule->limits.keep_special = true;
		snprintf(rule->name, sizeof(rule->name), "%s", ruleset.rule[i].name);
		if (baleen_array_add(&conf->feed, conf->n_feeds))
			return baleen_no_memory(error);
		feed = &conf->feed[conf->n_feeds++];
		*feed = (struct baleen_conf_feed){ .rule = i };
		snprintf(feed->wanted.source, sizeof(feed->wanted.source), "%s%s", BALEEN_FEED_COPY,
			 rule->name);
		err = collect_image(xdp, i, saved, error);
	}
	return err;
}

/* --- both ------------------------------------------------------------------------- */

static int collect(const struct baleen_xdp *xdp, struct baleen_saved *saved,
		   struct baleen_error *error)
{
	struct baleen_rule_store state;
	int err = baleen_rule_store_open(&state, xdp->device, 0, error);

	/* A state that cannot be read is no reason to save less than it has. */
	if (err)
		return err == -ENOENT ? collect_live(xdp, saved, error) : err;
	err = collect_state(saved, &state, error);
	baleen_rule_store_close(&state);
	return err;
}

/* So that it can be read when it is needed. */
static int make_text(struct baleen_saved *saved, struct baleen_error *error)
{
	struct baleen_conf again = { 0 };
	int err;

	saved->conf.text = baleen_conf_format(&saved->conf, true);
	if (!saved->conf.text)
		return baleen_no_memory(error);
	err = baleen_conf_parse(saved->conf.text, strlen(saved->conf.text), saved->device, &again,
				error);
	baleen_conf_free(&again);
	return err;
}

int baleen_saved_from_xdp(const struct baleen_xdp *xdp, struct baleen_saved *saved,
			  struct baleen_error *error)
{
	int err;

	memset(saved, 0, sizeof(*saved));
	snprintf(saved->device, sizeof(saved->device), "%s", xdp->device);
	err = collect(xdp, saved, error);
	if (!err)
		err = make_text(saved, error);
	if (err)
		baleen_saved_free(saved);
	return err;
}

/* --- back --------------------------------------------------------------------------- */

static int receive(const struct baleen_saved *saved, size_t index,
		   const struct baleen_rule_store *state, struct baleen_feed_versions *versions,
		   struct baleen_error *error)
{
	const struct baleen_conf_feed *feed = &saved->conf.feed[index];
	const struct baleen_stored_rule *rule = &saved->conf.rules.rule[feed->rule];
	struct baleen_feed_offer *offer = calloc(saved->n_copies + 1, sizeof(*offer));
	struct baleen_feed_ask ask = { .state = state,
				       .rule = rule,
				       .wanted = &feed->wanted,
				       .ignores_limits = true,
				       .offer = offer };
	int err = offer ? 0 : baleen_no_memory(error);

	for (size_t i = 0; i < saved->n_copies && !err; i++) {
		const struct baleen_saved_copy *copy = &saved->copy[i];

		if (baleen_saved_feed_of(saved, copy) == feed)
			offer[ask.n_offers++] =
				(struct baleen_feed_offer){ .feed = &copy->feed, .fd = copy->fd };
	}
	if (!err)
		err = baleen_feed_receive(&ask, versions, error);
	free(offer);
	return err;
}

int baleen_saved_receive(const struct baleen_saved *saved, const struct baleen_rule_store *state,
			 struct baleen_feed_versions *versions, struct baleen_error *error)
{
	size_t first;
	int err = 0;

	for (size_t i = 0; i < saved->conf.n_feeds && !err; i++) {
		first = versions->n;
		err = receive(saved, i, state, versions, error);
		for (size_t j = first; j < versions->n && !err; j++)
			if (versions->version[j].outcome == BALEEN_FEED_FAILED)
				err = baleen_fail(error, EINVAL, "%s",
						  versions->version[j].error.text);
	}
	return err;
}
