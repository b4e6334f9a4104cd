// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The single entries of what is saved. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/bans.h"
#include "deploy/saved_entries.h"
#include "list/import_formats.h"
#include "state/book.h"
#include "state/entry_import.h"
#include "state/entry_json.h"
#include "state/scope.h"
#include "util/array.h"

/* --- collected ----------------------------------------------------------------- */

/**
 * struct collecting - lines on their way to a text
 * @stream: the text
 * @scope: whose they are
 * @now_ms: the time
 * @n: how many
 */
struct collecting {
	FILE *stream;
	struct baleen_scope scope;
	u64 now_ms;
	u64 n;
};

static int write_line(const struct baleen_rule_entry *entry, void *data)
{
	struct collecting *collecting = data;

	if (entry->expires_ms && entry->expires_ms <= collecting->now_ms)
		return 0;
	collecting->n++;
	return baleen_entry_json_write(collecting->stream, entry, collecting->scope.name);
}

static int collect(struct collecting *collecting, const struct baleen_rule_store *state,
		   const struct baleen_stored_rules *rules, struct baleen_error *error)
{
	const struct baleen_rule_store own = baleen_book_of(state);
	bool takes_bans = false;
	int err = 0;

	for (u32 i = 0; i < rules->n_rules && !err; i++) {
		const struct baleen_stored_rule *rule = &rules->rule[i];

		if (rule->is_any)
			continue;
		takes_bans |= rule->takes_bans;
		collecting->scope = baleen_scope_of(&own, rule->name);
		err = baleen_rule_entries_each(&own, rule->name, NULL, write_line, collecting,
					       error);
	}
	collecting->scope = baleen_scope_of(&own, NULL);
	if (!err && takes_bans)
		err = baleen_rule_entries_each(&own, NULL, NULL, write_line, collecting, error);
	return err == -ENOMEM ? baleen_no_memory(error) : err;
}

int baleen_saved_entries_collect(struct baleen_saved *saved, const struct baleen_rule_store *state,
				 struct baleen_error *error)
{
	struct collecting collecting = { .now_ms = baleen_now_ms() };
	char *text = NULL;
	size_t n_bytes;
	int err;

	collecting.stream = open_memstream(&text, &n_bytes);
	if (!collecting.stream)
		return baleen_no_memory(error);
	err = collect(&collecting, state, &saved->conf.rules, error);
	if (fclose(collecting.stream) && !err)
		err = baleen_no_memory(error);
	if (err || !collecting.n) {
		free(text);
		return err;
	}
	saved->entries = text;
	saved->n_entries = collecting.n;
	return 0;
}

/* --- put back -------------------------------------------------------------------- */

/**
 * struct lines - entries of one rule, or bans
 * @rule: name of the rule; NULL for bans
 * @key_spec: its keys
 * @change: they
 * @n: how many
 */
struct lines {
	const char *rule;
	u32 key_spec;
	struct baleen_rule_entry_change *change;
	size_t n;
};

/**
 * struct putting - on the way back
 * @saved: what was saved
 * @counts: the caller's
 * @now_ms: the time
 * @of: of each rule of @saved, and bans at the end
 */
struct putting {
	const struct baleen_saved *saved;
	struct baleen_saved_counts *counts;
	u64 now_ms;
	struct lines of[BALEEN_MAX_RULES + 1];
};

/* A rule may be called bans, too; which device it was of does not matter here. */
static struct lines *lines_of(struct putting *putting, const char *scope)
{
	const char *colon = scope ? strrchr(scope, ':') : NULL;
	const struct baleen_stored_rules *rules = &putting->saved->conf.rules;

	if (scope && !strcmp(scope, BALEEN_SCOPE_BANS))
		return &putting->of[rules->n_rules];
	for (u32 i = 0; i < rules->n_rules && colon; i++)
		if (!strcmp(rules->rule[i].name, colon + 1))
			return &putting->of[i];
	return NULL;
}

static int read_line(void *data, const struct baleen_import_entry *from, struct baleen_error *error)
{
	struct putting *putting = data;
	struct lines *lines = lines_of(putting, from->rule);
	struct baleen_entry_importing as = { .origin = BALEEN_ORIGIN_MANUAL,
					     .keeps_origins = true,
					     .width = BALEEN_BAN_WIDTH,
					     .now_ms = putting->now_ms };
	struct baleen_rule_entry_change change = { .op = BALEEN_RULE_ENTRY_PUT };
	bool has_ended;
	int err;

	if (!lines)
		return baleen_fail(error, EINVAL, "line %llu: of no rule that was saved",
				   (unsigned long long)from->line);
	as.key_spec = lines->key_spec;
	err = baleen_entry_import(&as, from, &change.entry, &has_ended, error);
	if (err)
		return err;
	putting->counts->n_ended += has_ended;
	/* A prefix that bans have made comes by them. */
	if (has_ended || baleen_origin_is_reserved(change.entry.origin))
		return 0;
	if (baleen_array_add(&lines->change, lines->n))
		return baleen_no_memory(error);
	lines->change[lines->n++] = change;
	return 0;
}

static int is_of_origin(const struct baleen_rule_entry *there, void *data)
{
	const struct baleen_rule_entry *saved = data;

	return !strcmp(there->origin, saved->origin);
}

/* Those that are there are as somebody has left them since. */
static int leave_out_there(struct putting *putting, struct lines *lines,
			   const struct baleen_rule_store *book, struct baleen_error *error)
{
	size_t n = 0;

	for (size_t i = 0; i < lines->n; i++) {
		struct baleen_rule_entry *entry = &lines->change[i].entry;
		int ret = baleen_rule_entries_of_key(book, lines->rule, entry, is_of_origin, entry,
						     error);

		if (ret < 0)
			return ret;
		putting->counts->n_there += ret;
		if (!ret)
			lines->change[n++] = lines->change[i];
	}
	lines->n = n;
	return 0;
}

static void count(struct putting *putting, const struct lines *lines)
{
	struct baleen_saved_counts *counts = putting->counts;

	for (size_t i = 0; i < lines->n; i++) {
		const struct baleen_rule_entry_change *change = &lines->change[i];

		counts->n_put += change->result != -EPERM;
		if (change->result == -EPERM && !counts->n_refused++)
			strcpy(counts->refused, baleen_rule_entry_text(&change->entry).text);
	}
}

/* As a program's: what is protected here is taken out, and no reason to lose the rest. */
static struct baleen_batch batch_of(const struct lines *lines)
{
	return (struct baleen_batch){ .rule = lines->rule,
				      .change = lines->change,
				      .n = lines->n,
				      .asker = BALEEN_ASKER_FED,
				      .atomic = true };
}

static int put_rules(struct putting *putting, const char *device, struct baleen_error *error)
{
	struct baleen_deploy deploy;
	struct baleen_rule_store own;
	int err = baleen_deploy_open(&deploy, device, BALEEN_LOCK_TIMEOUT_MS, error);

	if (err)
		return err;
	own = baleen_book_of(&deploy.state);
	for (u32 i = 0; i < putting->saved->conf.rules.n_rules && !err; i++) {
		struct baleen_batch batch;

		err = leave_out_there(putting, &putting->of[i], &own, error);
		batch = batch_of(&putting->of[i]);
		if (!err && batch.n)
			err = baleen_deploy_batch(&deploy, &batch, error);
		if (!err)
			count(putting, &putting->of[i]);
	}
	baleen_deploy_close(&deploy);
	return err;
}

static int put_bans(struct putting *putting, struct baleen_error *error)
{
	struct lines *lines = &putting->of[putting->saved->conf.rules.n_rules];
	struct baleen_batch batch;
	struct baleen_bans bans;
	int err;

	if (!lines->n)
		return 0;
	err = baleen_bans_open(&bans, BALEEN_SCOPE_BANS, error);
	if (!err)
		err = leave_out_there(putting, lines, &bans.book, error);
	batch = batch_of(lines);
	if (!err && batch.n)
		err = baleen_bans_put(&bans, &batch, BALEEN_LOCK_TIMEOUT_MS, NULL, error);
	if (!err)
		count(putting, lines);
	baleen_bans_close(&bans);
	return err;
}

static int read_lines(struct putting *putting, struct baleen_error *error)
{
	struct baleen_importer importer = { .format = BALEEN_IMPORT_JSON,
					    .on_entry = read_line,
					    .data = putting };
	struct baleen_import_text text = { .name = BALEEN_SAVED_ENTRIES,
					   .bytes = strdup(putting->saved->entries),
					   .n_bytes = strlen(putting->saved->entries) };
	int err;

	if (!text.bytes)
		return baleen_no_memory(error);
	err = baleen_import_json(&importer, &text, error);
	free(text.bytes);
	return err;
}

static void begin(struct putting *putting)
{
	const struct baleen_stored_rules *rules = &putting->saved->conf.rules;

	for (u32 i = 0; i < rules->n_rules; i++)
		putting->of[i] = (struct lines){ .rule = rules->rule[i].name,
						 .key_spec = rules->rule[i].key_spec };
	putting->of[rules->n_rules].key_spec = BALEEN_KEY_SRC;
}

static void end(struct putting *putting)
{
	for (u32 i = 0; i <= putting->saved->conf.rules.n_rules; i++)
		free(putting->of[i].change);
}

static u64 count_lines(const char *text)
{
	u64 n = 0;

	while ((text = strchr(text, '\n'))) {
		n++;
		text++;
	}
	return n;
}

int baleen_saved_entries_check(const struct baleen_saved *saved, const char *path,
			       struct baleen_error *error)
{
	struct baleen_saved_counts counts = { .n_put = 0 };
	struct putting putting = { .saved = saved, .counts = &counts, .now_ms = baleen_now_ms() };
	struct baleen_error why;
	int err;

	if (count_lines(saved->entries) != saved->n_entries)
		return baleen_fail(error, EINVAL, "%s/%s: has not as many lines as were saved",
				   path, BALEEN_SAVED_ENTRIES);
	begin(&putting);
	err = read_lines(&putting, &why);
	end(&putting);
	return err ? baleen_fail(error, -err, "%.300s/%.900s", path, why.text) : 0;
}

int baleen_saved_entries_put(const struct baleen_saved *saved, const char *device,
			     struct baleen_saved_counts *counts, struct baleen_error *error)
{
	struct putting putting = { .saved = saved, .counts = counts, .now_ms = baleen_now_ms() };
	int err;

	*counts = (struct baleen_saved_counts){ .n_put = 0 };
	if (!saved->n_entries)
		return 0;
	begin(&putting);
	err = read_lines(&putting, error);
	if (!err)
		err = put_rules(&putting, device, error);
	if (!err)
		err = put_bans(&putting, error);
	end(&putting);
	return err;
}
