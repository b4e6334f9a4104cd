// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One key of a rule: shall it be in the set, and why? */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "derive.h"
#include "image_file.h"
#include "special.h"

/* --- single entries -------------------------------------------------------- */

static int take_first(const struct baleen_single *single, void *data)
{
	enum baleen_decision *decision = data;

	*decision = single->is_exception ? BALEEN_DECIDED_OUT : BALEEN_DECIDED_IN;
	return 1;
}

int baleen_derive_decides(const struct baleen_state *state, const struct baleen_state_rule *rule,
			  const struct baleen_key *key, u64 now_ms, enum baleen_decision *decision,
			  struct baleen_error *error)
{
	enum baleen_decision found = BALEEN_UNDECIDED;
	int err = 0;

	if (rule->is_any)
		found = BALEEN_DECIDED_IN;
	else
		err = baleen_singles_find(state, rule->name, key, now_ms, take_first, &found,
					  error);
	if (err < 0)
		return err;
	*decision = found;
	return 0;
}

/* --- what is withheld ------------------------------------------------------ */

static bool is_of(const struct baleen_withheld_set *set, enum baleen_withheld_role role,
		  const struct baleen_key *key, struct baleen_withheld *withheld)
{
	if (!baleen_list_has(&set->set[role], key))
		return false;
	baleen_key_format(key, BALEEN_KEY_SRC, withheld->key);
	baleen_withheld_describe(set, role, key, withheld);
	return true;
}

static bool is_special(const struct baleen_state_rule *rule, const struct baleen_key *key,
		       struct baleen_withheld *withheld)
{
	const struct baleen_special *special = baleen_special_find(key);

	if (rule->limits.keep_special || !special)
		return false;
	withheld->role = BALEEN_WITHHELD_SPECIAL;
	snprintf(withheld->what, sizeof(withheld->what), "%s", special->name);
	snprintf(withheld->key, sizeof(withheld->key), "%s", special->prefix);
	return true;
}

/* @of_feeds: also what is taken out of feeds alone */
static bool is_withheld(const struct baleen_state_rule *rule, const struct baleen_withheld_set *set,
			const struct baleen_key *key, bool of_feeds,
			struct baleen_withheld *withheld)
{
	if (is_of(set, BALEEN_WITHHELD_NEVER, key, withheld) ||
	    is_of(set, BALEEN_WITHHELD_HOST, key, withheld))
		return true;
	return of_feeds &&
	       (is_of(set, BALEEN_WITHHELD_PEER, key, withheld) || is_special(rule, key, withheld));
}

/* Return: 1 or 0, or a negative errno. */
static int find_withheld(const struct baleen_state *state, const struct baleen_state_rule *rule,
			 const struct baleen_key *key, bool of_feeds,
			 struct baleen_withheld *withheld, struct baleen_error *error)
{
	struct baleen_withheld_set set;
	int found;

	if (!baleen_withheld_applies(rule))
		return 0;
	found = baleen_withheld_load(state, &set, error);
	if (found)
		return found;
	found = is_withheld(rule, &set, key, of_feeds, withheld);
	baleen_withheld_free(&set);
	return found;
}

int baleen_withheld_find(const struct baleen_state *state, const struct baleen_state_rule *rule,
			 const struct baleen_key *key, struct baleen_withheld *withheld)
{
	enum baleen_decision decision;
	struct baleen_withheld found;
	struct baleen_error ignored;
	int err = baleen_derive_decides(state, rule, key, baleen_now_ms(), &decision, &ignored);

	if (!err)
		err = find_withheld(state, rule, key, decision == BALEEN_UNDECIDED, &found,
				    &ignored);
	if (err == 1)
		*withheld = found;
	return err;
}

/* --- feeds ----------------------------------------------------------------- */

/**
 * struct asking - a key looked for in feeds
 * @state: of the device
 * @rule: of the feeds
 * @key: what is looked for
 * @visit: called with each entry that holds it
 * @data: passed to @visit
 * @error: of the caller
 */
struct asking {
	const struct baleen_state *state;
	const struct baleen_state_rule *rule;
	const struct baleen_key *key;
	int (*visit)(const struct baleen_reason *reason, void *data);
	void *data;
	struct baleen_error *error;
};

static int fail_feed(const struct asking *asking, const struct baleen_feed *feed, int err)
{
	return baleen_fail(asking->error, -err, "%.600s: %s", baleen_feed_name(feed),
			   strerror(-err));
}

static int ask_image(const struct asking *asking, struct baleen_reason *reason)
{
	const struct baleen_feed *feed = &reason->feed;
	int fd = baleen_feed_open(asking->state, feed, asking->error), err;
	struct baleen_filter image;

	if (fd < 0)
		return fd;
	err = baleen_image_file_read(fd, baleen_feed_name(feed), &image, asking->error);
	close(fd);
	if (err)
		return err;
	if (image.image.key_spec != asking->rule->key_spec ||
	    !baleen_filter_test(&image, asking->key))
		err = -ENOENT;
	baleen_filter_free(&image);
	return err;
}

static int ask_list(const struct asking *asking, struct baleen_reason *reason)
{
	int fd = baleen_feed_open_lines(asking->state, &reason->feed, asking->error), err;

	if (fd < 0)
		return fd;
	err = baleen_list_find(fd, asking->rule->key_spec, asking->key, &reason->line, reason->text,
			       sizeof(reason->text));
	close(fd);
	return err && err != -ENOENT ? fail_feed(asking, &reason->feed, err) : err;
}

/* -ENOENT goes on: there is no copy yet, or the key is not in it. */
static int ask_feed(const struct baleen_feed *feed, void *data)
{
	struct asking *asking = data;
	struct baleen_reason reason = { .is_feed = true, .feed = *feed };
	int err = feed->format == BALEEN_FEED_IMAGE ? ask_image(asking, &reason) :
						      ask_list(asking, &reason);

	if (err == -ENOENT)
		return 0;
	return err ? err : asking->visit(&reason, asking->data);
}

static int ask_feeds(struct asking *asking)
{
	return baleen_feeds_each(asking->state, asking->rule->name, ask_feed, asking,
				 asking->error);
}

/* --- questions ------------------------------------------------------------- */

static int stop(const struct baleen_reason *reason, void *data)
{
	return 1;
}

/* Return: 1 or 0, or a negative errno. */
static int feeds_hold(const struct baleen_state *state, const struct baleen_state_rule *rule,
		      const struct baleen_key *key, struct baleen_error *error)
{
	struct asking asking = {
		.state = state, .rule = rule, .key = key, .visit = stop, .error = error
	};

	return ask_feeds(&asking);
}

int baleen_derive_holds(const struct baleen_state *state, const struct baleen_state_rule *rule,
			const struct baleen_key *key, u64 now_ms, bool *holds,
			struct baleen_error *error)
{
	enum baleen_decision decision;
	struct baleen_withheld ignored;
	int err = baleen_derive_decides(state, rule, key, now_ms, &decision, error);
	int found = 0;

	if (err)
		return err;
	if (decision != BALEEN_DECIDED_OUT)
		err = find_withheld(state, rule, key, decision == BALEEN_UNDECIDED, &ignored,
				    error);
	/* Neither taken out by an exception, nor withheld. */
	if (!err && decision == BALEEN_DECIDED_IN)
		found = 1;
	else if (!err && decision == BALEEN_UNDECIDED)
		found = feeds_hold(state, rule, key, error);
	if (err < 0 || found < 0)
		return err < 0 ? err : found;
	*holds = found;
	return 0;
}

static int tell_single(const struct baleen_single *single, void *data)
{
	const struct asking *asking = data;
	const struct baleen_reason reason = { .single = *single };

	return asking->visit(&reason, asking->data);
}

int baleen_derive_reasons(const struct baleen_state *state, const struct baleen_state_rule *rule,
			  const struct baleen_key *key, u64 now_ms,
			  int (*visit)(const struct baleen_reason *reason, void *data), void *data,
			  struct baleen_error *error)
{
	struct asking asking = { .state = state,
				 .rule = rule,
				 .key = key,
				 .visit = visit,
				 .data = data,
				 .error = error };
	int err;

	if (rule->is_any)
		return 0;
	err = baleen_singles_find(state, rule->name, key, now_ms, tell_single, &asking, error);
	return err ? err : ask_feeds(&asking);
}
