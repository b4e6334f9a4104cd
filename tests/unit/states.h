/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* States for tests, in directories of their own: of the loopback device. */
#include <sqlite3.h>
#include <state/book.h>
#include <state/rule_store.h>

#define DEVICE "lo"

static char root[] = "/tmp/baleen-state.XXXXXX";
static char run[] = "/tmp/baleen-run.XXXXXX";

static inline const char *in_root(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

/* Without what each commit touches. */
static inline u32 n_files(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	u32 n = 0;

	while (directory && (entry = readdir(directory)))
		n += entry->d_name[0] != '.' && strcmp(entry->d_name, "changed");
	if (directory)
		closedir(directory);
	return n;
}

static int make_roots(void **unused)
{
	if (!mkdtemp(root) || !mkdtemp(run))
		return -1;
	return setenv("BALEEN_STATE_DIR", root, 1) || setenv("BALEEN_RUN_DIR", run, 1);
}

static inline int clean_root(void **unused)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s/* %s/*", root, run);
	return system(command);
}

static int remove_roots(void **unused)
{
	return clean_root(unused) || rmdir(root) || rmdir(run);
}

/* Changes a database behind everybody's back. */
static inline void ask_file(const char *name, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(in_root(name), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* That of a kept state. */
static inline void ask(const char *device, const char *sql)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/" BALEEN_RULE_STORE_DB, device);
	ask_file(name, sql);
}

static inline struct baleen_stored_rule state_rule(const char *name)
{
	struct baleen_stored_rule rule = {
		.action = BALEEN_ACTION_DROP,
		.key_spec = BALEEN_KEY_SRC,
		.kind = BALEEN_KIND_CUCKOO,
		.fpp = 0,
	};

	snprintf(rule.name, sizeof(rule.name), "%s", name);
	return rule;
}
