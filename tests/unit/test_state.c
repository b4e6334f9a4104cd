// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The state of a device: made, opened, refused, committed, undone and removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <state/rule_store.h>

#include "states.h"
#include "state/rule_store_each.h"

static struct baleen_error error;

static void count(struct baleen_stored_rules *rules, const char *name)
{
	struct baleen_stored_rule *rule = &rules->rule[rules->n_rules++];

	*rule = state_rule(name);
}

/* What a test finds there: one rule "drop", committed. */
static void make(bool is_kept)
{
	struct baleen_stored_rules rules = { .n_rules = 0 };
	struct baleen_rule_store state;

	count(&rules, "drop");
	assert_int_equal(baleen_rule_store_create(&state, DEVICE, is_kept, 1, &error), 0);
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
	assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
	assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
	baleen_rule_store_close(&state);
}

static u32 n_rules(void)
{
	struct baleen_stored_rules rules;
	struct baleen_rule_store state;

	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 0, &error), 0);
	assert_int_equal(baleen_rule_store_get_rules(&state, &rules, &error), 0);
	baleen_rule_store_close(&state);
	return rules.n_rules;
}

static void assert_not_opened(int code)
{
	struct baleen_rule_store state, poison;

	memset(&poison, 0x5a, sizeof(poison));
	for (u64 timeout_ms = 0; timeout_ms < 2; timeout_ms++) {
		state = poison;
		error.text[0] = '\0';
		assert_int_equal(baleen_rule_store_open(&state, DEVICE, timeout_ms, &error), code);
		assert_memory_equal(&state, &poison, sizeof(state));
		assert_string_not_equal(error.text, "");
	}
}

/* --- refused --- */

static void none(void **unused)
{
	assert_not_opened(-ENOENT);
	assert_int_equal(n_files(root), 0);
}

static void bad_names(void **unused)
{
	static const char *const names[] = { "",    ".",   "..",   "a/b",
					     "a:b", "a b", "../x", "0123456789abcdef" };
	struct baleen_rule_store state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(baleen_rule_store_create(&state, names[i], true, 1, &error),
				 -EINVAL);
		assert_int_equal(baleen_rule_store_open(&state, names[i], 1, &error), -EINVAL);
	}
	assert_int_equal(n_files(root), 0);
}

static void volatile_without_device(void **unused)
{
	struct baleen_rule_store state;

	assert_int_equal(baleen_rule_store_create(&state, "nosuchdevice", false, 1, &error),
			 -ENODEV);
}

static void twice(void **unused)
{
	struct baleen_rule_store state;

	make(true);
	assert_int_equal(baleen_rule_store_create(&state, DEVICE, true, 1, &error), -EEXIST);
	assert_int_equal(n_rules(), 1);
	/* The other kind is another. */
	assert_int_equal(baleen_rule_store_create(&state, DEVICE, false, 1, &error), 0);
	baleen_rule_store_close(&state);
}

static void newer(void **unused)
{
	make(true);
	ask(DEVICE, "PRAGMA user_version = 99");
	assert_not_opened(-EPROTO);
	assert_non_null(strstr(error.text, "newer release"));
}

static void older(void **unused)
{
	make(true);
	ask(DEVICE, "PRAGMA user_version = 1");
	assert_not_opened(-EINVAL);
	assert_non_null(strstr(error.text, "older Baleen"));
}

static void empty_database(void **unused)
{
	make(true);
	assert_int_equal(truncate(in_root(DEVICE "/state.db"), 0), 0);
	assert_not_opened(-EINVAL);
	assert_non_null(strstr(error.text, DEVICE "/state.db: damaged"));
}

static void missing_database(void **unused)
{
	make(true);
	assert_int_equal(unlink(in_root(DEVICE "/state.db")), 0);
	assert_not_opened(-EINVAL);
	assert_non_null(strstr(error.text, DEVICE "/state.db: is missing"));
}

static void no_database_at_all(void **unused)
{
	FILE *file;

	make(true);
	file = fopen(in_root(DEVICE "/state.db"), "w");
	for (int i = 0; i < 1000; i++)
		fputs("0123456789", file);
	fclose(file);
	assert_not_opened(-EINVAL);
	assert_non_null(strstr(error.text, DEVICE "/state.db: damaged"));
}

/* Wherever a page is overwritten: an error or what was there, never a crash and
 * never other rules.
 */
static void damaged_pages(void **unused)
{
	struct baleen_stored_rules rules;
	struct baleen_rule_store state;
	struct stat stat;
	u32 n_refused = 0;
	char page[512];
	int fd, ret;

	make(true);
	fd = open(in_root(DEVICE "/state.db"), O_RDWR);
	assert_int_equal(fstat(fd, &stat), 0);
	for (off_t at = 0; at < stat.st_size; at += sizeof(page)) {
		char wrong[sizeof(page)];

		memset(wrong, 0xa5, sizeof(wrong));
		assert_int_equal(pread(fd, page, sizeof(page), at), sizeof(page));
		assert_int_equal(pwrite(fd, wrong, sizeof(wrong), at), sizeof(wrong));
		ret = baleen_rule_store_open(&state, DEVICE, 0, &error);
		if (!ret) {
			ret = baleen_rule_store_get_rules(&state, &rules, &error);
			baleen_rule_store_close(&state);
		}
		n_refused += ret == -EINVAL;
		assert_true(ret == -EINVAL ||
			    (!ret && rules.n_rules == 1 && !strcmp(rules.rule[0].name, "drop")));
		assert_int_equal(pwrite(fd, page, sizeof(page), at), sizeof(page));
	}
	close(fd);
	assert_true(n_refused > 2);
	assert_int_equal(n_rules(), 1);
}

static void rows_that_cannot_be(void **unused)
{
	static const char *const damage[] = {
		"UPDATE rule SET name = 'a/b'",
		"UPDATE rule SET name = printf('%.*c', 300, 'x')",
		"UPDATE rule SET name = CAST(x'610062' AS TEXT)",
		"UPDATE rule SET action = 9",
		"UPDATE rule SET action = 4294967296",
		"UPDATE rule SET qualifiers = 'proto'",
		"UPDATE rule SET key_spec = 'everything'",
		"UPDATE rule SET kind = 77",
		"UPDATE rule SET fpp = -1",
		"UPDATE rule SET max_shrink = 2",
		"INSERT OR REPLACE INTO text VALUES ('max-growth drop', '2')",
		"UPDATE policy SET mode = 77",
		"UPDATE policy SET place = -1",
		"UPDATE policy SET never_path = printf('%.*c', 5000, 'x')",
	};
	struct baleen_stored_rules rules;
	struct baleen_rule_store state;

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		make(true);
		ask(DEVICE, damage[i]);
		rules.n_rules = 77;
		assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
		if (baleen_rule_store_get_rules(&state, &rules, &error) != -EINVAL)
			fail_msg("accepted: %s", damage[i]);
		assert_int_equal(rules.n_rules, 77);
		baleen_rule_store_remove(&state);
	}
}

static void rules_that_cannot_be(void **unused)
{
	struct baleen_stored_rules good = { .n_rules = 0 }, bad[7];
	struct baleen_rule_store state;

	count(&good, "a");
	count(&good, "b");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		bad[i] = good;
	bad[0].n_rules = BALEEN_MAX_RULES + 1;
	strcpy(bad[1].rule[1].name, "a");
	strcpy(bad[2].rule[1].name, "-b");
	bad[3].rule[0].action = 3;
	bad[4].rule[0].key_spec = 0;
	bad[5].rule[1].fpp = 1.5;
	bad[6].mode = BALEEN_MODE_OFFLOAD;
	make(true);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
		assert_true(baleen_rule_store_set_rules(&state, &bad[i], &error) < 0);
		assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
	}
	baleen_rule_store_close(&state);
	assert_int_equal(n_rules(), 1);
}

/* --- full --- */

static void full_disk(void **unused)
{
	struct baleen_rule_store state;
	char *text = calloc(1, 1 << 20);

	memset(text, 'x', (1 << 20) - 1);
	make(true);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	assert_int_equal(sqlite3_exec(state.db, "PRAGMA max_page_count = 40", NULL, NULL, NULL), 0);
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
	assert_int_equal(baleen_rule_store_set_text(&state, "conf", text, &error), -ENOSPC);
	assert_non_null(strstr(error.text, DEVICE "/state.db: "));
	baleen_rule_store_rollback(&state);
	/* With what fits it goes on. */
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
	assert_int_equal(baleen_rule_store_set_text(&state, "conf", "x", &error), 0);
	assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
	baleen_rule_store_close(&state);
	assert_int_equal(n_rules(), 1);
	free(text);
}

/* --- made and removed --- */

static void modes_of_files(void **unused)
{
	struct baleen_rule_store state;
	struct dirent *entry;
	struct stat stat;
	DIR *directory;

	umask(0);
	make(true);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	directory = opendir(in_root(DEVICE));
	assert_int_equal(fstat(dirfd(directory), &stat), 0);
	assert_int_equal(stat.st_mode & 07777, 0700);
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		assert_int_equal(fstatat(dirfd(directory), entry->d_name, &stat, 0), 0);
		assert_int_equal(stat.st_mode & 07777, S_ISDIR(stat.st_mode) ? 0700 : 0600);
	}
	closedir(directory);
	baleen_rule_store_close(&state);
}

static void never_committed(void **unused)
{
	struct baleen_rule_store state, reader;

	assert_int_equal(baleen_rule_store_create(&state, DEVICE, true, 1, &error), 0);
	assert_true(state.is_kept);
	assert_string_equal(state.path, in_root(DEVICE));
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
	assert_int_equal(baleen_rule_store_set_text(&state, "conf", "x", &error), 0);
	assert_int_equal(baleen_rule_store_open(&reader, DEVICE, 0, &error), -ENOENT);
	baleen_rule_store_rollback(&state);
	baleen_rule_store_close(&state);
	assert_not_opened(-ENOENT);
	assert_int_equal(n_files(root), 0);
}

/* Killed before the first commit, whatever there was by then. */
static void never_finished(void **unused)
{
	static const char *const left[] = { "", "unfinished", "state.db", "state.db-wal" };

	for (size_t n = 1; n <= sizeof(left) / sizeof(left[0]); n++) {
		assert_int_equal(mkdir(in_root(DEVICE), 0700), 0);
		if (n > 1)
			assert_int_equal(mkdir(in_root(DEVICE "/feeds"), 0700), 0);
		for (size_t i = 1; i < n; i++) {
			char name[64];

			snprintf(name, sizeof(name), DEVICE "/%s", left[i]);
			assert_int_equal(close(creat(in_root(name), 0600)), 0);
		}
		assert_not_opened(-ENOENT);
		make(true);
		assert_int_equal(n_rules(), 1);
		clean_root(unused);
	}
}

/* Killed behind the first commit: it counts. */
static void just_finished(void **unused)
{
	struct baleen_rule_store state;

	make(true);
	assert_int_equal(close(creat(in_root(DEVICE "/unfinished"), 0600)), 0);
	assert_int_equal(n_rules(), 1);
	assert_int_equal(baleen_rule_store_create(&state, DEVICE, true, 1, &error), -EEXIST);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	baleen_rule_store_close(&state);
	assert_int_equal(access(in_root(DEVICE "/unfinished"), F_OK), -1);
	assert_int_equal(n_rules(), 1);
}

static void removed(void **unused)
{
	struct baleen_rule_store state;

	make(true);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	assert_int_equal(close(creat(in_root(DEVICE "/feeds/1.1"), 0600)), 0);
	baleen_rule_store_remove(&state);
	assert_not_opened(-ENOENT);
	assert_int_equal(n_files(root), 0);
	make(true);
	assert_int_equal(n_rules(), 1);
}

static void kept_before_volatile(void **unused)
{
	struct baleen_rule_store state;

	make(false);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	assert_false(state.is_kept);
	assert_string_equal(state.device, DEVICE);
	baleen_rule_store_close(&state);
	make(true);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	assert_true(state.is_kept);
	baleen_rule_store_remove(&state);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	assert_false(state.is_kept);
	baleen_rule_store_remove(&state);
	assert_int_equal(n_files(root), 0);
	assert_int_equal(n_files(run), 0);
}

static int note(struct baleen_rule_store_found *found, void *data)
{
	char *seen = data;

	sprintf(seen + strlen(seen), "%s:%d%s ", found->device, found->is_kept,
		found->err ? ":damaged" : "");
	return !strcmp(found->device, "stop") ? 77 : 0;
}

static void each(void **unused)
{
	struct baleen_rule_store state;
	char seen[256] = "";

	assert_int_equal(baleen_rule_store_each(note, seen, &error), 0);
	assert_string_equal(seen, "");
	make(false);
	assert_int_equal(baleen_rule_store_each(note, seen, &error), 0);
	assert_string_equal(seen, DEVICE ":0 ");
	/* Both: it is opened as the kept one. Nothing else in there is one. */
	make(true);
	assert_int_equal(mkdir(in_root("empty"), 0700), 0);
	assert_int_equal(mkdir(in_root(DEVICE ".baleen-state-aside"), 0700), 0);
	assert_int_equal(close(creat(in_root("file"), 0600)), 0);
	seen[0] = '\0';
	assert_int_equal(baleen_rule_store_each(note, seen, &error), 0);
	assert_string_equal(seen, DEVICE ":1 ");
	/* A damaged one is one. */
	assert_int_equal(truncate(in_root(DEVICE "/state.db"), 0), 0);
	seen[0] = '\0';
	assert_int_equal(baleen_rule_store_each(note, seen, &error), 0);
	assert_string_equal(seen, DEVICE ":1:damaged ");
	assert_int_equal(baleen_rule_store_create(&state, "stop", true, 1, &error), 0);
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
	assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
	baleen_rule_store_close(&state);
	assert_int_equal(baleen_rule_store_each(note, seen, &error), 77);
}

/* Whatever order their directory has: what a command prints of them is the same everywhere. */
static void each_by_name(void **unused)
{
	static const char *const devices[] = { "c", "f", "a", "e", "B", "d" };
	struct baleen_rule_store state;
	char seen[256] = "";

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		assert_int_equal(baleen_rule_store_create(&state, devices[i], true, 1, &error), 0);
		assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
		assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
		baleen_rule_store_close(&state);
	}
	assert_int_equal(baleen_rule_store_each(note, seen, &error), 0);
	assert_string_equal(seen, "B:1 a:1 c:1 d:1 e:1 f:1 ");
}

static void set_text(struct baleen_rule_store *state, const char *name, const char *text)
{
	assert_int_equal(baleen_rule_store_begin(state, &error), 0);
	assert_int_equal(baleen_rule_store_set_text(state, name, text, &error), 0);
	assert_int_equal(baleen_rule_store_commit(state, &error), 0);
}

static int take(struct baleen_rule_store_found *found, void *data)
{
	found->is_taken = true;
	*(struct baleen_rule_store *)data = found->state;
	return 0;
}

/* A reader becomes the writer of what is there by then. */
static void reader_writes(void **unused)
{
	struct baleen_rule_store reader, other;
	char *text = NULL;

	make(true);
	assert_int_equal(baleen_rule_store_each(take, &reader, &error), 0);
	assert_int_equal(baleen_rule_store_open(&other, DEVICE, 1, &error), 0);
	assert_int_equal(baleen_rule_store_write(&reader, 1, &error), -ETIMEDOUT);
	assert_int_equal(baleen_rule_store_each(take, &reader, &error), 0);
	set_text(&other, "conf", "another");
	baleen_rule_store_close(&other);
	assert_int_equal(baleen_rule_store_write(&reader, 1, &error), 0);
	assert_int_equal(baleen_rule_store_get_text(&reader, "conf", &text), 0);
	assert_string_equal(text, "another");
	free(text);
	set_text(&reader, "conf", "mine");
	baleen_rule_store_close(&reader);
	/* Another state of this name. */
	assert_int_equal(baleen_rule_store_each(take, &reader, &error), 0);
	assert_int_equal(baleen_rule_store_open(&other, DEVICE, 1, &error), 0);
	baleen_rule_store_remove(&other);
	make(true);
	assert_int_equal(baleen_rule_store_write(&reader, 1, &error), 0);
	text = NULL;
	assert_int_equal(baleen_rule_store_get_text(&reader, "conf", &text), 0);
	assert_null(text);
	baleen_rule_store_remove(&reader);
	/* Of none. */
	make(true);
	assert_int_equal(baleen_rule_store_each(take, &reader, &error), 0);
	assert_int_equal(baleen_rule_store_open(&other, DEVICE, 1, &error), 0);
	baleen_rule_store_remove(&other);
	assert_int_equal(baleen_rule_store_write(&reader, 1, &error), -ENOENT);
}

/* --- one writer, any readers --- */

static void one_writer(void **unused)
{
	struct baleen_rule_store writer, other, reader;

	make(true);
	assert_int_equal(baleen_rule_store_open(&writer, DEVICE, 1, &error), 0);
	assert_int_equal(baleen_rule_store_open(&other, DEVICE, 1, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.text, "another command"));
	assert_int_equal(baleen_rule_store_begin(&writer, &error), 0);
	assert_int_equal(baleen_rule_store_set_text(&writer, "conf", "new", &error), 0);
	assert_int_equal(baleen_rule_store_open(&reader, DEVICE, 0, &error), 0);
	baleen_rule_store_close(&reader);
	assert_int_equal(baleen_rule_store_commit(&writer, &error), 0);
	baleen_rule_store_close(&writer);
	assert_int_equal(baleen_rule_store_open(&other, DEVICE, 1, &error), 0);
	baleen_rule_store_close(&other);
}

static void assert_text(const struct baleen_rule_store *state, const char *name, const char *want)
{
	char *text = (void *)1;

	assert_int_equal(baleen_rule_store_get_text(state, name, &text), 0);
	if (want)
		assert_string_equal(text, want);
	else
		assert_null(text);
	free(text);
}

/* A reader that looks at one moment does not hold a writer up. */
static void a_moment(void **unused)
{
	struct baleen_rule_store writer, reader;

	make(true);
	assert_int_equal(baleen_rule_store_open(&writer, DEVICE, 1, &error), 0);
	set_text(&writer, "conf", "old");
	assert_int_equal(baleen_rule_store_open(&reader, DEVICE, 0, &error), 0);
	assert_int_equal(baleen_rule_store_begin(&reader, &error), 0);
	assert_text(&reader, "conf", "old");
	set_text(&writer, "conf", "new");
	assert_text(&reader, "conf", "old");
	assert_int_equal(baleen_rule_store_commit(&reader, &error), 0);
	assert_text(&reader, "conf", "old");
	baleen_rule_store_close(&reader);
	assert_int_equal(baleen_rule_store_open(&reader, DEVICE, 0, &error), 0);
	assert_text(&reader, "conf", "new");
	baleen_rule_store_close(&writer);
	assert_text(&reader, "conf", "new");
	baleen_rule_store_close(&reader);
}

static void readers_do_not_write(void **unused)
{
	struct baleen_rule_store reader;

	make(true);
	assert_int_equal(baleen_rule_store_open(&reader, DEVICE, 0, &error), 0);
	assert_int_equal(baleen_rule_store_set_text(&reader, "conf", "x", &error), -EROFS);
	baleen_rule_store_close(&reader);
}

/* --- rules and texts --- */

static void undone(void **unused)
{
	struct baleen_stored_rules rules = { .n_rules = 0 };
	struct baleen_rule_store state;

	make(true);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
	assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
	baleen_rule_store_rollback(&state);
	baleen_rule_store_rollback(&state);
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
	assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
	baleen_rule_store_close(&state);
	assert_int_equal(n_rules(), 1);
}

static void texts(void **unused)
{
	struct baleen_rule_store state;

	make(true);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	assert_text(&state, "conf", NULL);
	set_text(&state, "conf", "default drop\nrule a drop\n");
	set_text(&state, "applied", "");
	assert_text(&state, "conf", "default drop\nrule a drop\n");
	assert_text(&state, "applied", "");
	set_text(&state, "conf", "other");
	assert_text(&state, "conf", "other");
	set_text(&state, "conf", NULL);
	assert_text(&state, "conf", NULL);
	baleen_rule_store_close(&state);
}

/* Every field of rules and policy, in another order than they are made. */
static void all_fields(void **unused)
{
	struct baleen_stored_rules rules, back;
	struct baleen_rule_store state;

	memset(&rules, 0, sizeof(rules));
	memset(&back, 0, sizeof(back));
	count(&rules, "z");
	count(&rules, "a.b_c-d");
	rules.rule[1].action = BALEEN_ACTION_COUNT;
	rules.rule[1].qualifiers.tcp_syn = 1;
	rules.rule[1].qualifiers.n_dports = 1;
	rules.rule[1].qualifiers.dport[0] = (struct baleen_port_range){ 1, 65535 };
	rules.rule[1].key_spec = BALEEN_KEY_FLOW;
	rules.rule[1].kind = BALEEN_KIND_BLOOM;
	rules.rule[1].fpp = 0x1p-44;
	rules.rule[1].accept_fpp = 0.1;
	rules.rule[1].capacity = 1ull << 40;
	rules.rule[1].is_any = true;
	rules.rule[1].guards_feeds = true;
	rules.rule[1].limits = (struct baleen_feed_limits){ 7, 0.5, 0.25, 0.125, true, 1ull << 40 };
	rules.rule[0].limits = baleen_feed_limits_default();
	rules.max_bytes = 1ull << 40;
	rules.rule[0].action = BALEEN_ACTION_DROP;
	rules.rule[0].takes_bans = true;
	rules.default_drop = true;
	rules.dry_run = true;
	rules.sample_interval_ns = ~0ull >> 1;
	rules.mode = BALEEN_MODE_GENERIC;
	rules.attach_type = BALEEN_ATTACH_TYPE_CHAIN;
	strcpy(rules.never_path, "/etc/baleen/never list");
	rules.guard_sessions = BALEEN_GUARD_NONE;
	rules.rule[1].ban_width = 48;
	rules.rule[0].widen[1] = (struct baleen_widen){ 1000, 127 };
	rules.rule[0].fleet = (struct baleen_rule_fleet){ "bans", 86400 };
	make(true);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
		assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
		assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
	}
	assert_int_equal(baleen_rule_store_get_rules(&state, &back, &error), 0);
	assert_int_equal(back.n_rules, 2);
	assert_memory_equal(&back.rule[0].qualifiers, &rules.rule[0].qualifiers,
			    sizeof(back.rule[0].qualifiers));
	assert_memory_equal(&back.rule[1].qualifiers, &rules.rule[1].qualifiers,
			    sizeof(back.rule[1].qualifiers));
	for (int i = 0; i < 2; i++) {
		assert_string_equal(back.rule[i].name, rules.rule[i].name);
		assert_int_equal(back.rule[i].action, rules.rule[i].action);
		assert_int_equal(back.rule[i].key_spec, rules.rule[i].key_spec);
		assert_int_equal(back.rule[i].kind, rules.rule[i].kind);
		assert_true(back.rule[i].fpp == rules.rule[i].fpp);
		assert_true(back.rule[i].accept_fpp == rules.rule[i].accept_fpp);
		assert_int_equal(back.rule[i].capacity, rules.rule[i].capacity);
		assert_int_equal(back.rule[i].is_any, rules.rule[i].is_any);
		assert_int_equal(back.rule[i].guards_feeds, rules.rule[i].guards_feeds);
		assert_int_equal(back.rule[i].takes_bans, rules.rule[i].takes_bans);
		assert_int_equal(back.rule[i].limits.min_entries, rules.rule[i].limits.min_entries);
		assert_true(back.rule[i].limits.max_shrink == rules.rule[i].limits.max_shrink);
		assert_true(back.rule[i].limits.max_coverage == rules.rule[i].limits.max_coverage);
		assert_true(back.rule[i].limits.max_growth == rules.rule[i].limits.max_growth);
		assert_int_equal(back.rule[i].limits.max_entries, rules.rule[i].limits.max_entries);
		assert_int_equal(back.rule[i].limits.keep_special,
				 rules.rule[i].limits.keep_special);
	}
	assert_true(back.default_drop && back.dry_run);
	assert_int_equal(back.sample_interval_ns, rules.sample_interval_ns);
	assert_int_equal(back.mode, rules.mode);
	assert_int_equal(back.max_bytes, rules.max_bytes);
	assert_int_equal(back.attach_type, rules.attach_type);
	assert_string_equal(back.never_path, rules.never_path);
	assert_int_equal(back.guard_sessions, rules.guard_sessions);
	assert_int_equal(back.rule[0].ban_width, 0);
	assert_int_equal(back.rule[1].ban_width, 48);
	assert_memory_equal(back.rule[0].widen, rules.rule[0].widen, sizeof(back.rule[0].widen));
	assert_string_equal(back.rule[0].fleet.set, "bans");
	assert_int_equal(back.rule[0].fleet.max_ttl_s, 86400);
	assert_string_equal(back.rule[1].fleet.set, "");
	baleen_rule_store_close(&state);
}

/* Older releases wrote 0 of every rule that had no word for it. */
static void special_by_default(void **unused)
{
	struct baleen_stored_rules rules, back;
	struct baleen_rule_store state;

	make(true);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	assert_int_equal(baleen_rule_store_get_rules(&state, &rules, &error), 0);
	for (int i = 0; i < 4; i++) {
		rules.rule[0].guards_feeds = i & 1;
		rules.rule[0].limits.keep_special = i & 2;
		assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
		assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
		assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
		assert_int_equal(baleen_rule_store_get_rules(&state, &back, &error), 0);
		assert_int_equal(back.rule[0].limits.keep_special,
				 rules.rule[0].limits.keep_special);
		assert_int_equal(sqlite3_exec(state.db, "UPDATE rule SET keep_special = 0", NULL,
					      NULL, NULL),
				 0);
		assert_int_equal(baleen_rule_store_get_rules(&state, &back, &error), 0);
		assert_int_equal(back.rule[0].limits.keep_special, !rules.rule[0].guards_feeds);
	}
	baleen_rule_store_close(&state);
}

/* --- marks --- */

static void marks(void **unused)
{
	for (int is_kept = 0; is_kept < 2; is_kept++) {
		struct baleen_rule_store state, reader;

		make(is_kept);
		assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
		assert_int_equal(baleen_rule_store_open(&reader, DEVICE, 0, &error), 0);
		assert_false(baleen_rule_store_is_marked(&state));
		assert_int_equal(baleen_rule_store_mark(&state, &error), 0);
		assert_int_equal(baleen_rule_store_mark(&state, &error), 0);
		assert_true(baleen_rule_store_is_marked(&reader));
		assert_true(n_files(run) > 0);
		baleen_rule_store_unmark(&state);
		baleen_rule_store_unmark(&state);
		assert_false(baleen_rule_store_is_marked(&reader));
		assert_int_equal(baleen_rule_store_mark(&state, &error), 0);
		baleen_rule_store_close(&reader);
		baleen_rule_store_remove(&state);
		assert_int_equal(n_files(run), 0);
	}
}

/* Without a device there is no map. */
static void no_mark(void **unused)
{
	struct baleen_rule_store state;

	assert_int_equal(baleen_rule_store_create(&state, "nosuchdevice", true, 1, &error), 0);
	assert_int_equal(baleen_rule_store_mark(&state, &error), 0);
	assert_false(baleen_rule_store_is_marked(&state));
	baleen_rule_store_close(&state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(none, clean_root),
		cmocka_unit_test_teardown(bad_names, clean_root),
		cmocka_unit_test_teardown(volatile_without_device, clean_root),
		cmocka_unit_test_teardown(twice, clean_root),
		cmocka_unit_test_teardown(newer, clean_root),
		cmocka_unit_test_teardown(older, clean_root),
		cmocka_unit_test_teardown(empty_database, clean_root),
		cmocka_unit_test_teardown(missing_database, clean_root),
		cmocka_unit_test_teardown(no_database_at_all, clean_root),
		cmocka_unit_test_teardown(damaged_pages, clean_root),
		cmocka_unit_test_teardown(rows_that_cannot_be, clean_root),
		cmocka_unit_test_teardown(rules_that_cannot_be, clean_root),
		cmocka_unit_test_teardown(full_disk, clean_root),
		cmocka_unit_test_teardown(modes_of_files, clean_root),
		cmocka_unit_test_teardown(never_committed, clean_root),
		cmocka_unit_test_teardown(never_finished, clean_root),
		cmocka_unit_test_teardown(just_finished, clean_root),
		cmocka_unit_test_teardown(removed, clean_root),
		cmocka_unit_test_teardown(kept_before_volatile, clean_root),
		cmocka_unit_test_teardown(each, clean_root),
		cmocka_unit_test_teardown(each_by_name, clean_root),
		cmocka_unit_test_teardown(reader_writes, clean_root),
		cmocka_unit_test_teardown(one_writer, clean_root),
		cmocka_unit_test_teardown(a_moment, clean_root),
		cmocka_unit_test_teardown(readers_do_not_write, clean_root),
		cmocka_unit_test_teardown(undone, clean_root),
		cmocka_unit_test_teardown(texts, clean_root),
		cmocka_unit_test_teardown(all_fields, clean_root),
		cmocka_unit_test_teardown(special_by_default, clean_root),
		cmocka_unit_test_teardown(marks, clean_root),
		cmocka_unit_test_teardown(no_mark, clean_root),
	};

	return cmocka_run_group_tests(tests, make_roots, remove_roots);
}
