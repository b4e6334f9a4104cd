// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Roll-outs of signed sets in a state, and the copies that are not in force. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state/feed_rollout.h"

/* --- texts ----------------------------------------------------------------------- */

#define NAME_BYTES 40

static const char *name_text(const char *what, u64 feed, char *name)
{
	snprintf(name, NAME_BYTES, "%s %llu", what, (unsigned long long)feed);
	return name;
}

/* Numbers, and behind them why. */
static bool parse(const char *text, struct baleen_feed_rollout *rollout)
{
	unsigned long long available, created_s, due_s, generation, until_ms, base[3], released;
	unsigned long long vetoed;
	struct baleen_feed_rollout read = { .available = 0 };
	u32 is_held;
	int used = 0;

	if (sscanf(text, "%llu %llu %u %u %llu %u %u %u %u %llu %llu %llu %llu %llu %u %llu %llu%n",
		   &available, &created_s, &read.ring, &read.n_rings, &due_s, &read.step,
		   &read.n_ok, &read.n_canaries, &read.phase, &generation, &until_ms, &base[0],
		   &base[1], &base[2], &is_held, &released, &vetoed, &used) != 17 ||
	    read.phase >= BALEEN_N_PHASES || read.step > BALEEN_ROLLOUT_HELD)
		return false;
	read.available = available;
	read.created_s = created_s;
	read.due_s = due_s;
	read.generation = generation;
	read.until_ms = until_ms;
	for (u32 i = 0; i < 3; i++)
		read.base[i] = base[i];
	read.is_held = is_held;
	read.released = released;
	read.vetoed = vetoed;
	if (text[used] == ' ')
		snprintf(read.why, sizeof(read.why), "%s", text + used + 1);
	*rollout = read;
	return true;
}

void baleen_feed_rollout_get(const struct baleen_rule_store *state, u64 feed,
			     struct baleen_feed_rollout *rollout)
{
	char name[NAME_BYTES], *text = NULL;

	*rollout = (struct baleen_feed_rollout){ .available = 0 };
	if (!baleen_rule_store_get_text(state, name_text("rollout", feed, name), &text) && text)
		parse(text, rollout);
	free(text);
}

int baleen_feed_rollout_put(struct baleen_rule_store *state, u64 feed,
			    const struct baleen_feed_rollout *rollout, struct baleen_error *error)
{
	char name[NAME_BYTES], text[512 + BALEEN_ROLLOUT_WHY_BYTES];

	snprintf(text, sizeof(text),
		 "%llu %llu %u %u %llu %u %u %u %u %llu %llu %llu %llu %llu %u %llu %llu%s%s",
		 (unsigned long long)rollout->available, (unsigned long long)rollout->created_s,
		 rollout->ring, rollout->n_rings, (unsigned long long)rollout->due_s, rollout->step,
		 rollout->n_ok, rollout->n_canaries, rollout->phase,
		 (unsigned long long)rollout->generation, (unsigned long long)rollout->until_ms,
		 (unsigned long long)rollout->base[0], (unsigned long long)rollout->base[1],
		 (unsigned long long)rollout->base[2], rollout->is_held,
		 (unsigned long long)rollout->released, (unsigned long long)rollout->vetoed,
		 *rollout->why ? " " : "", rollout->why);
	return baleen_rule_store_set_text(state, name_text("rollout", feed, name), text, error);
}

bool baleen_feed_manifest_get(const struct baleen_rule_store *state, u64 feed,
			      struct baleen_set_manifest *manifest)
{
	char name[NAME_BYTES], *text = NULL;
	bool is_there;

	is_there = !baleen_rule_store_get_text(state, name_text("manifest", feed, name), &text) &&
		   text && !baleen_set_manifest_parse(text, strlen(text), manifest);
	free(text);
	return is_there;
}

int baleen_feed_manifest_put(struct baleen_rule_store *state, u64 feed,
			     const struct baleen_set_manifest *manifest, struct baleen_error *error)
{
	char name[NAME_BYTES], text[BALEEN_SET_MANIFEST_BYTES];

	baleen_set_manifest_format(manifest, text);
	return baleen_rule_store_set_text(state, name_text("manifest", feed, name), text, error);
}

/* --- other copies ---------------------------------------------------------------- */

struct search {
	const struct baleen_feed *feed;
	const char *which;
	struct baleen_feed found;
};

static int find(const struct baleen_feed *feed, void *data)
{
	struct search *search = data;

	if (strcmp(feed->file, search->which) ||
	    strcmp(feed->wanted.source, search->feed->wanted.source))
		return 0;
	search->found = *feed;
	return 1;
}

bool baleen_feed_other(const struct baleen_rule_store *state, const struct baleen_feed *feed,
		       const char *which, struct baleen_feed *other)
{
	struct search search = { .feed = feed, .which = which };

	if (baleen_feed_copies_each(state, feed->rule, find, &search, NULL) != 1)
		return false;
	*other = search.found;
	return true;
}

int baleen_feed_other_forget(struct baleen_rule_store *state, const struct baleen_feed *feed,
			     const char *which, struct baleen_error *error)
{
	struct baleen_feed other;

	return baleen_feed_other(state, feed, which, &other) ?
		       baleen_feeds_remove(state, other.id, error) :
		       0;
}

int baleen_feed_other_put(struct baleen_rule_store *state, const struct baleen_feed *feed,
			  const char *which, int fd, struct baleen_error *error)
{
	struct baleen_feed other = *feed;
	int err = baleen_feed_other_forget(state, feed, which, error);

	other.id = 0;
	other.next_ms = 0;
	snprintf(other.file, sizeof(other.file), "%s", which);
	if (!err)
		err = baleen_feeds_put(state, &other, error);
	return err ? err : baleen_feed_accept(state, &other, fd, error);
}

static int put_copy(struct baleen_rule_store *state, const struct baleen_feed *feed,
		    const struct baleen_feed *from, const char *which, struct baleen_error *error)
{
	struct baleen_feed named = *from;
	int fd = baleen_feed_open(state, from, error), err;

	if (fd < 0)
		return fd;
	snprintf(named.rule, sizeof(named.rule), "%s", feed->rule);
	err = baleen_feed_other_put(state, &named, which, fd, error);
	close(fd);
	return err;
}

int baleen_feed_keep_previous(struct baleen_rule_store *state, const struct baleen_feed *feed,
			      struct baleen_error *error)
{
	struct baleen_error why;
	int err = baleen_feed_has_copy(feed) ?
			  put_copy(state, feed, feed, BALEEN_COPY_PREVIOUS, &why) :
			  0;

	/* One that cannot be read is none to go back to. */
	if (err == -EINVAL || err == -ENOENT)
		return baleen_feed_other_forget(state, feed, BALEEN_COPY_PREVIOUS, error);
	if (err && error)
		*error = why;
	return err;
}

/* The copy of @from comes into force as one of @feed. */
static int take_over(struct baleen_rule_store *state, struct baleen_feed *feed,
		     const struct baleen_feed *from, struct baleen_error *error)
{
	int fd = baleen_feed_open(state, from, error), err;

	if (fd < 0)
		return fd;
	feed->format = from->format;
	feed->n_entries = from->n_entries;
	feed->n_ip4 = from->n_ip4;
	feed->n_bytes = from->n_bytes;
	feed->n_special = from->n_special;
	feed->generation = from->generation;
	feed->received_ms = from->received_ms;
	err = baleen_feeds_put(state, feed, error);
	if (!err)
		err = baleen_feed_accept(state, feed, fd, error);
	close(fd);
	return err;
}

int baleen_feed_advance(struct baleen_rule_store *state, struct baleen_feed *feed,
			struct baleen_error *error)
{
	struct baleen_feed next;
	int err;

	if (!baleen_feed_other(state, feed, BALEEN_COPY_NEXT, &next))
		return baleen_fail(error, ENOENT, "there is no next generation");
	err = baleen_feed_keep_previous(state, feed, error);
	if (!err)
		err = take_over(state, feed, &next, error);
	return err ? err : baleen_feeds_remove(state, next.id, error);
}

int baleen_feed_go_back(struct baleen_rule_store *state, struct baleen_feed *feed,
			struct baleen_error *error)
{
	struct baleen_feed previous;
	int err;

	if (!baleen_feed_other(state, feed, BALEEN_COPY_PREVIOUS, &previous))
		return baleen_fail(error, ENOENT, "there is no previous generation to go back to");
	err = take_over(state, feed, &previous, error);
	return err ? err : baleen_feeds_remove(state, previous.id, error);
}
