// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Edits since a configuration was applied. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/conf_edits.h"
#include "deploy/conf_find.h"

/* Named texts of a state. */
#define CONF "conf"
#define CONF_PATH "conf-path"

/* --- the same ------------------------------------------------------------------ */

static int compare_feeds(const void *a, const void *b)
{
	const struct baleen_conf_feed *one = a, *other = b;
	int order = (one->rule > other->rule) - (one->rule < other->rule);

	if (!order)
		order = strcmp(one->wanted.source, other->wanted.source);
	if (!order)
		order = strcmp(one->wanted.column, other->wanted.column);
	return order ?: strcmp(one->wanted.where, other->wanted.where);
}

char *baleen_conf_format_ordered(const struct baleen_conf *conf, bool shows_secrets)
{
	struct baleen_conf sorted = *conf;
	char *text;

	sorted.feed = calloc(conf->n_feeds + 1, sizeof(*sorted.feed));
	if (!sorted.feed)
		return NULL;
	if (conf->n_feeds)
		memcpy(sorted.feed, conf->feed, conf->n_feeds * sizeof(*sorted.feed));
	qsort(sorted.feed, sorted.n_feeds, sizeof(*sorted.feed), compare_feeds);
	text = baleen_conf_format(&sorted, shows_secrets);
	free(sorted.feed);
	return text;
}

bool baleen_conf_is_same(const struct baleen_conf *a, const struct baleen_conf *b)
{
	char *one = baleen_conf_format_ordered(a, true);
	char *other = baleen_conf_format_ordered(b, true);
	bool is_same = one && other && !strcmp(one, other);

	free(one);
	free(other);
	return is_same;
}

/* --- what was edited ------------------------------------------------------------- */

int baleen_conf_applied(const struct baleen_rule_store *state, struct baleen_conf *conf)
{
	char *text = NULL;
	int err = baleen_rule_store_get_text(state, CONF, &text);

	if (!err)
		err = text ? baleen_conf_parse(text, strlen(text), state->device, conf, NULL) :
			     -ENOENT;
	free(text);
	return err;
}

static void read_path(const struct baleen_rule_store *state, char *path)
{
	char *text = NULL;

	if (!baleen_rule_store_get_text(state, CONF_PATH, &text) && text)
		snprintf(path, BALEEN_RULE_STORE_PATH_BYTES, "%s", text);
	free(text);
}

/* Whoever edits the device and then the file has nothing left to apply. */
static void compare_file(struct baleen_conf_edits *edits, const struct baleen_conf *applied,
			 const struct baleen_conf *now)
{
	struct baleen_conf file;
	int err = baleen_conf_read(edits->path, &file, NULL);

	if (err) {
		edits->file = err == -ENOENT ? BALEEN_CONF_FILE_GONE : BALEEN_CONF_FILE_BROKEN;
		return;
	}
	if (baleen_conf_is_same(&file, now))
		edits->by_hand = false;
	else if (!baleen_conf_is_same(&file, applied))
		edits->file = BALEEN_CONF_FILE_EDITED;
	baleen_conf_free(&file);
}

void baleen_conf_edits(const struct baleen_rule_store *state, struct baleen_conf_edits *edits)
{
	struct baleen_conf applied, now;

	*edits = (struct baleen_conf_edits){ .was_applied = false };
	if (baleen_conf_applied(state, &applied))
		return;
	if (!baleen_conf_from_state(state, &now, NULL)) {
		edits->was_applied = true;
		edits->by_hand = !baleen_conf_is_same(&now, &applied);
		read_path(state, edits->path);
		if (*edits->path)
			compare_file(edits, &applied, &now);
		baleen_conf_free(&now);
	}
	baleen_conf_free(&applied);
}

/* --- what was applied --------------------------------------------------------------- */

int baleen_conf_put_applied(const struct baleen_conf_goal *goal, struct baleen_rule_store *state,
			    struct baleen_error *error)
{
	int err;

	/* A restore is an edit of what was applied. */
	if (!goal->path)
		return 0;
	err = baleen_rule_store_set_text(state, CONF, goal->conf->text, error);
	return err ? err :
		     baleen_rule_store_set_text(state, CONF_PATH, *goal->path ? goal->path : NULL,
						error);
}

static bool is_remembered(const struct baleen_conf_goal *goal,
			  const struct baleen_rule_store *state)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES] = "";
	struct baleen_conf applied;
	bool is_same;

	read_path(state, path);
	if (strcmp(path, goal->path) || baleen_conf_applied(state, &applied))
		return false;
	is_same = baleen_conf_is_same(&applied, goal->conf);
	baleen_conf_free(&applied);
	return is_same;
}

void baleen_conf_remember(const struct baleen_conf_goal *goal, u64 timeout_ms)
{
	struct baleen_rule_store state;
	int err = baleen_rule_store_open(&state, goal->device, 0, NULL);

	if (err)
		return;
	if (is_remembered(goal, &state)) {
		baleen_rule_store_close(&state);
		return;
	}
	/* Closed when it cannot be had. */
	if (baleen_rule_store_write(&state, timeout_ms, NULL))
		return;
	err = baleen_rule_store_begin(&state, NULL);
	if (!err)
		err = baleen_conf_put_applied(goal, &state, NULL);
	if (!err)
		err = baleen_rule_store_commit(&state, NULL);
	if (err)
		baleen_rule_store_rollback(&state);
	baleen_rule_store_close(&state);
}

/* --- words ------------------------------------------------------------------------ */

struct baleen_conf_edits_text baleen_conf_edits_text(const struct baleen_conf_edits *edits)
{
	const char *path = *edits->path ? edits->path : "its configuration";
	struct baleen_conf_edits_text text = { "" };
	const char *and = edits->by_hand ? ", and the device, too" : "";

	switch (edits->file) {
	case BALEEN_CONF_FILE_SAME:
		if (edits->by_hand)
			snprintf(text.text, sizeof(text.text), "edited since %s was applied", path);
		break;
	case BALEEN_CONF_FILE_EDITED:
		snprintf(text.text, sizeof(text.text), "%s was edited since it was applied%s", path,
			 and);
		break;
	case BALEEN_CONF_FILE_BROKEN:
		snprintf(text.text, sizeof(text.text), "%s cannot be applied any more as it is%s",
			 path, edits->by_hand ? ", and the device was edited" : "");
		break;
	case BALEEN_CONF_FILE_GONE:
		snprintf(text.text, sizeof(text.text), "%s, which was applied, is gone%s", path,
			 edits->by_hand ? ", and the device was edited" : "");
		break;
	}
	return text;
}

struct baleen_conf_edits_text baleen_conf_edits_command(const struct baleen_conf_edits *edits,
							const char *device)
{
	const struct baleen_shell_word word = baleen_shell_word(device);
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	struct baleen_conf_edits_text text;
	bool is_default;

	if (edits->file == BALEEN_CONF_FILE_GONE)
		snprintf(text.text, sizeof(text.text), "baleen config %s", word.text);
	else if (!*edits->path ||
		 (!baleen_conf_find(device, path, sizeof(path), &is_default, NULL) &&
		  !strcmp(path, edits->path)))
		snprintf(text.text, sizeof(text.text), "baleen apply --diff %s", word.text);
	else
		snprintf(text.text, sizeof(text.text), "baleen apply --diff -c %s %s",
			 baleen_shell_word(edits->path).text, word.text);
	return text;
}

const char *baleen_conf_file_text(enum baleen_conf_file file)
{
	static const char *const text[] = {
		[BALEEN_CONF_FILE_SAME] = "same",
		[BALEEN_CONF_FILE_EDITED] = "edited",
		[BALEEN_CONF_FILE_BROKEN] = "broken",
		[BALEEN_CONF_FILE_GONE] = "gone",
	};

	return text[file];
}
