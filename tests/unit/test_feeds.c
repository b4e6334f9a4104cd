// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Feeds of a state: rows, copies that come and go with commits, and what is read
 * of them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include <state/feeds.h>
#include <state/entries.h>

#include "states.h"

static struct baleen_error error;
static struct baleen_rule_store state;

/* Opened, with the rules "drop" and "other". */
static int open_state(void **unused)
{
	struct baleen_stored_rules rules = { .n_rules = 2 };

	rules.rule[0] = state_rule("drop");
	rules.rule[1] = state_rule("other");
	if (baleen_rule_store_create(&state, DEVICE, true, 1, &error) ||
	    baleen_rule_store_begin(&state, &error) ||
	    baleen_rule_store_set_rules(&state, &rules, &error))
		return -1;
	return baleen_rule_store_commit(&state, &error);
}

static int close_state(void **unused)
{
	baleen_rule_store_remove(&state);
	return clean_root(unused);
}

static int bytes_fd(const void *bytes, size_t n)
{
	int fd = memfd_create("feed", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, n), n);
	return fd;
}

static int text_fd(const char *text)
{
	return bytes_fd(text, strlen(text));
}

static int gzip_fd(const char *text)
{
	int fd = memfd_create("feed", MFD_CLOEXEC);
	gzFile file = gzdopen(dup(fd), "wb");

	assert_int_equal(gzwrite(file, text, strlen(text)), strlen(text));
	assert_int_equal(gzclose(file), Z_OK);
	return fd;
}

static struct baleen_feed added(const char *rule, const char *source)
{
	struct baleen_feed feed = { .id = 0 };

	strcpy(feed.rule, rule);
	strcpy(feed.wanted.source, source);
	assert_int_equal(baleen_feeds_put(&state, &feed, &error), 0);
	assert_true(feed.id > 0);
	return feed;
}

static void begin(void)
{
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
}

static void commit(void)
{
	assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
}

static void take(struct baleen_feed *feed, const char *text)
{
	int fd = text_fd(text);

	assert_int_equal(baleen_feed_accept(&state, feed, fd, &error), 0);
	assert_int_equal(feed->n_bytes, strlen(text));
	close(fd);
}

static void assert_copy(const struct baleen_rule_store *of, const struct baleen_feed *feed,
			const char *want)
{
	int fd = baleen_feed_open(of, feed, &error);
	char text[256] = "";

	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) >= 0);
	assert_string_equal(text, want);
	close(fd);
}

static u32 n_copies(void)
{
	return n_files(in_root(DEVICE "/feeds"));
}

static char seen[8192];

static int note(const struct baleen_feed *feed, void *data)
{
	sprintf(seen + strlen(seen), "%s=%s ", feed->rule, baleen_feed_name(feed).text);
	return !strcmp(feed->wanted.source, "stop") ? 77 : 0;
}

static void assert_feeds(const char *rule, const char *want)
{
	seen[0] = '\0';
	assert_int_equal(baleen_feeds_each(&state, rule, note, NULL, &error), 0);
	assert_string_equal(seen, want);
}

/* --- rows --- */

static void refused(void **unused)
{
	struct baleen_feed feed = { .id = 0 };
	int fd = text_fd("x");

	begin();
	strcpy(feed.rule, "none");
	assert_int_equal(baleen_feeds_put(&state, &feed, &error), -ENOENT);
	assert_int_equal(feed.id, 0);
	feed.id = 99;
	assert_int_equal(baleen_feeds_put(&state, &feed, &error), -ENOENT);
	assert_int_equal(baleen_feed_accept(&state, &feed, fd, &error), -ENOENT);
	assert_int_equal(baleen_feed_open(&state, &feed, &error), -ENOENT);
	assert_int_equal(baleen_feeds_remove(&state, 99, &error), 0);
	feed = added("drop", "a");
	assert_int_equal(baleen_feed_open(&state, &feed, &error), -ENOENT);
	assert_string_equal(error.text, "a: was never received");
	commit();
	assert_int_equal(n_copies(), 0);
	close(fd);
}

static int copy(const struct baleen_feed *feed, void *data)
{
	*(struct baleen_feed *)data = *feed;
	return 0;
}

static void all_fields(void **unused)
{
	struct baleen_feed feed = { .id = 0 }, back;

	strcpy(feed.rule, "drop");
	begin();
	memset(feed.wanted.source, 's', sizeof(feed.wanted.source) - 1);
	memset(feed.wanted.column, 'c', sizeof(feed.wanted.column) - 1);
	memset(feed.wanted.where, 'w', sizeof(feed.wanted.where) - 1);
	memset(feed.file, 'f', sizeof(feed.file) - 1);
	memset(feed.etag, 'e', sizeof(feed.etag) - 1);
	memset(feed.last_modified, 'l', sizeof(feed.last_modified) - 1);
	memset(feed.failure, 'x', sizeof(feed.failure) - 1);
	feed.wanted.delimiter = '\t';
	feed.wanted.skip_bad = true;
	feed.wanted.every_s = ~0u;
	feed.wanted.timeout_s = 2;
	memset(feed.wanted.access, 'a', sizeof(feed.wanted.access) - 1);
	feed.format = BALEEN_FEED_IMAGE;
	feed.n_entries = 1ull << 40;
	feed.n_ip4 = 4;
	feed.n_bytes = 5;
	feed.n_special = 6;
	feed.checked_ms = 7;
	feed.received_ms = 8;
	feed.confirmed_ms = 9;
	feed.n_failures = ~0u;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(baleen_feeds_put(&state, &feed, &error), 0);
		assert_int_equal(baleen_feeds_each(&state, NULL, copy, &back, &error), 0);
		assert_memory_equal(&back, &feed, sizeof(feed));
		/* Now the same once more, changed. */
		feed.n_entries++;
		feed.failure[0] = '\0';
		memset(feed.failure, 0, sizeof(feed.failure));
	}
	commit();
}

static void order_and_names(void **unused)
{
	struct baleen_feed feed;

	begin();
	added("other", "z");
	added("drop", "y");
	feed = added("drop", "directory");
	strcpy(feed.file, "directory/a");
	assert_int_equal(baleen_feeds_put(&state, &feed, &error), 0);
	assert_feeds(NULL, "drop=y drop=directory/a other=z ");
	assert_feeds("drop", "drop=y drop=directory/a ");
	assert_feeds("none", "");
	added("drop", "stop");
	added("drop", "behind");
	seen[0] = '\0';
	assert_int_equal(baleen_feeds_each(&state, "drop", note, NULL, &error), 77);
	assert_string_equal(seen, "drop=y drop=directory/a drop=stop ");
	commit();
}

static int rename_it(const struct baleen_feed *feed, void *data)
{
	struct baleen_feed changed = *feed;

	strcat(changed.wanted.source, "+");
	++*(u32 *)data;
	assert_int_equal(baleen_feeds_put(&state, &changed, &error), 0);
	added("drop", "new");
	return 0;
}

static void changed_on_the_way(void **unused)
{
	u32 n = 0;

	begin();
	added("drop", "a");
	added("drop", "b");
	assert_int_equal(baleen_feeds_each(&state, "drop", rename_it, &n, &error), 0);
	assert_int_equal(n, 2);
	assert_feeds("drop", "drop=a+ drop=b+ drop=new drop=new ");
	commit();
}

static void damaged_rows(void **unused)
{
	static const char *const damage[] = {
		"UPDATE feed SET format = 3",
		"UPDATE feed SET format = -1",
		"UPDATE feed SET source = printf('%.*c', 5000, 'x')",
		"UPDATE feed SET etag = printf('%.*c', 5000, 'x')",
		"UPDATE feed SET file = CAST(x'610062' AS TEXT)",
	};

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		begin();
		added("drop", "a");
		assert_int_equal(sqlite3_exec(state.db, damage[i], NULL, NULL, NULL), SQLITE_OK);
		if (baleen_feeds_each(&state, NULL, note, NULL, &error) != -EINVAL)
			fail_msg("accepted: %s", damage[i]);
		baleen_rule_store_rollback(&state);
	}
}

/* --- copies --- */

static void taken_and_superseded(void **unused)
{
	struct baleen_rule_store reader;
	struct baleen_feed feed;

	begin();
	feed = added("drop", "a");
	take(&feed, "first");
	commit();
	assert_int_equal(n_copies(), 1);
	assert_int_equal(baleen_rule_store_open(&reader, DEVICE, 0, &error), 0);
	begin();
	take(&feed, "second");
	take(&feed, "third");
	assert_copy(&state, &feed, "third");
	assert_copy(&reader, &feed, "first");
	commit();
	assert_int_equal(n_copies(), 1);
	assert_copy(&state, &feed, "third");
	assert_copy(&reader, &feed, "third");
	/* What is known of it changes, and its copy does not. */
	begin();
	strcpy(feed.etag, "x");
	assert_int_equal(baleen_feeds_put(&state, &feed, &error), 0);
	commit();
	assert_copy(&reader, &feed, "third");
	baleen_rule_store_close(&reader);
}

static void undone(void **unused)
{
	struct baleen_feed feed;

	begin();
	feed = added("drop", "a");
	take(&feed, "good");
	commit();
	begin();
	take(&feed, "bad");
	baleen_rule_store_rollback(&state);
	assert_copy(&state, &feed, "good");
	/* The next one gets the name of the one that was undone. */
	begin();
	take(&feed, "better");
	commit();
	assert_copy(&state, &feed, "better");
	assert_int_equal(n_copies(), 1);
	/* A killed writer leaves a copy to the next one. */
	begin();
	take(&feed, "bad");
	baleen_rule_store_close(&state);
	assert_int_equal(n_copies(), 2);
	assert_int_equal(baleen_rule_store_open(&state, DEVICE, 1, &error), 0);
	assert_int_equal(n_copies(), 1);
	assert_copy(&state, &feed, "better");
}

static void removed(void **unused)
{
	struct baleen_stored_rules rules;
	struct baleen_feed feed, other;

	begin();
	feed = added("drop", "a");
	take(&feed, "a");
	other = added("other", "b");
	take(&other, "b");
	commit();
	begin();
	assert_int_equal(baleen_feeds_remove(&state, feed.id, &error), 0);
	assert_int_equal(n_copies(), 2);
	commit();
	assert_int_equal(n_copies(), 1);
	/* Numbers are not given twice. */
	begin();
	assert_true(added("drop", "c").id > other.id);
	commit();
	assert_int_equal(baleen_rule_store_get_rules(&state, &rules, &error), 0);
	rules.n_rules = 1;
	begin();
	assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
	commit();
	assert_feeds(NULL, "drop=c ");
	assert_int_equal(n_copies(), 0);
}

static void missing_copy(void **unused)
{
	struct baleen_feed feed;

	begin();
	feed = added("drop", "a");
	take(&feed, "a");
	commit();
	assert_int_equal(unlink(in_root(DEVICE "/feeds/1.1")), 0);
	assert_int_equal(baleen_feed_open(&state, &feed, &error), -EINVAL);
	assert_non_null(strstr(error.text, DEVICE "/feeds/1.1: is missing"));
}

static void no_room(void **unused)
{
	struct rlimit limit, small;
	struct baleen_feed feed;
	char *text = calloc(1, 1 << 20);
	int fd, ret;

	begin();
	feed = added("drop", "a");
	take(&feed, "good");
	commit();
	memset(text, 'x', 1 << 20);
	fd = bytes_fd(text, 1 << 20);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){ 1 << 19, limit.rlim_max };
	begin();
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	ret = baleen_feed_accept(&state, &feed, fd, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(ret, -EFBIG);
	assert_non_null(strstr(error.text, DEVICE "/feeds/1.2: File too large"));
	assert_int_equal(feed.n_bytes, 4);
	assert_int_equal(n_copies(), 1);
	commit();
	assert_copy(&state, &feed, "good");
	free(text);
	close(fd);
}

/* --- sets --- */

static int read_feed(int fd, const struct baleen_feed_source *wanted, struct baleen_list *list)
{
	int ret = baleen_feed_read(fd, "name", wanted, BALEEN_KEY_SRC, NULL, list, &error);

	close(fd);
	return ret;
}

/* A list of somebody's is told by its place alone, unless its reader may see it. */
static void private_lists(void **unused)
{
	static const struct baleen_list_reader seen = { .is_private = false };
	const struct baleen_feed_source lines = { .every_s = 0 };
	const struct baleen_feed_source table = { .column = "network" };
	static const struct {
		const char *bytes;
		bool is_table;
		const char *hidden, *shown;
	} cases[] = {
		{ "SECRET:$y$j9T\n", false, "name:1: not an address; 1 bad line of 1",
		  "name:1: 'SECRET:$y$j9T': not an address; 1 bad line of 1" },
		{ "SECRET,other\n", true, "name:1: no column 'network' of 2",
		  "name:1: no column 'network': there are SECRET, other" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct baleen_feed_source *wanted = cases[i].is_table ? &table : &lines;
		struct baleen_list list = { 0 };
		int fd = text_fd(cases[i].bytes);

		assert_int_equal(baleen_feed_read(fd, "name", wanted, BALEEN_KEY_SRC, &seen, &list,
						  &error),
				 -EINVAL);
		assert_string_equal(error.text, cases[i].shown);
		close(fd);
		assert_int_equal(read_feed(text_fd(cases[i].bytes), wanted, &list), -EINVAL);
		assert_string_equal(error.text, cases[i].hidden);
	}
}

static void no_lists(void **unused)
{
	struct baleen_feed_source wanted = { .every_s = 0 }, table = { .column = "network" };
	struct baleen_list list = { .n_ip4 = 77 };

	assert_int_equal(read_feed(text_fd("192.0.2.1\nbad\nworse\n"), &wanted, &list), -EINVAL);
	assert_string_equal(error.text, "name:2: a host name, not an address; 2 bad lines of 3");
	assert_int_equal(read_feed(text_fd("<!DOCTYPE html><html>\n"), &wanted, &list), -EINVAL);
	assert_int_equal(read_feed(bytes_fd("\x1f\x8b\x08", 3), &wanted, &list), -EINVAL);
	assert_int_equal(read_feed(text_fd("a,b\n192.0.2.1,x\n"), &table, &list), -EINVAL);
	strcpy(table.where, "no condition");
	assert_int_equal(read_feed(text_fd("network\n192.0.2.1\n"), &table, &list), -EINVAL);
	assert_int_equal(list.n_ip4, 77);
}

static void sets(void **unused)
{
	struct baleen_feed_source wanted = { .skip_bad = true };
	struct baleen_feed_source table = {
		.column = "network",
		.where = "country=BR\nname=x",
	};
	struct baleen_list list;

	assert_int_equal(read_feed(text_fd("192.0.2.1\nbad\n"), &wanted, &list), 0);
	assert_int_equal(list.n_ip4, 1);
	assert_int_equal(list.n_bad, 1);
	baleen_list_free(&list);
	assert_int_equal(read_feed(gzip_fd("192.0.2.0/24\n!192.0.2.0\n"), &wanted, &list), 0);
	assert_int_equal(list.n_net4, 1);
	assert_int_equal(list.net4[0].first, 0xc0000201);
	baleen_list_free(&list);
	assert_int_equal(read_feed(gzip_fd("network,country,name\n192.0.2.1,BR,x\n192.0.2.2,DE,x\n"
					   "192.0.2.3,BR,y\n"),
				   &table, &list),
			 0);
	assert_int_equal(list.n_ip4, 1);
	assert_int_equal(list.ip4[0], 0xc0000201);
	baleen_list_free(&list);
}

static void lines(void **unused)
{
	struct baleen_feed feed;
	char text[256] = "";
	int fd;

	begin();
	feed = added("drop", "a.csv");
	strcpy(feed.wanted.column, "network");
	assert_int_equal(baleen_feeds_put(&state, &feed, &error), 0);
	take(&feed, "network,x\n192.0.2.1,a\n192.0.2.2,b\n");
	commit();
	fd = baleen_feed_open_lines(&state, &feed, &error);
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "\n192.0.2.1\n192.0.2.2\n");
	close(fd);
}

/* --- put aside and taken back --- */

static void copied(void **unused)
{
	char path[256];
	struct baleen_rule_store of;
	struct baleen_feed feed;

	begin();
	feed = added("drop", "a");
	take(&feed, "old");
	commit();
	/* Twice: the second takes the place of the first. */
	strcpy(path, in_root(DEVICE ".baleen-previous"));
	assert_int_equal(baleen_rule_store_copy(&state, path, &error), 0);
	assert_int_equal(baleen_rule_store_copy(&state, path, &error), 0);
	begin();
	take(&feed, "new");
	assert_int_equal(baleen_rule_store_set_text(&state, "conf", "new", &error), 0);
	added("drop", "b");
	commit();
	assert_int_equal(n_files(root), 2);
	assert_int_equal(baleen_rule_store_replace(&state, path, &error), 0);
	assert_int_equal(n_files(root), 1);
	assert_feeds(NULL, "drop=a ");
	assert_copy(&state, &feed, "old");
	/* Still its writer. */
	assert_int_equal(baleen_rule_store_open(&of, DEVICE, 1, &error), -ETIMEDOUT);
	begin();
	take(&feed, "newer");
	commit();
	assert_int_equal(baleen_rule_store_open(&of, DEVICE, 0, &error), 0);
	assert_copy(&of, &feed, "newer");
	baleen_rule_store_close(&of);
	assert_int_equal(baleen_rule_store_replace(&state, path, &error), -ENOENT);
	assert_feeds(NULL, "drop=a ");
}

/* A copy under the name of a state is a state, and can not be taken back. */
static void copied_to_a_state(void **unused)
{
	struct baleen_rule_store other;
	struct baleen_feed feed;
	char path[256];

	begin();
	feed = added("drop", "a");
	take(&feed, "old");
	commit();
	strcpy(path, in_root("other"));
	assert_int_equal(baleen_rule_store_copy(&state, path, &error), 0);
	assert_int_equal(baleen_rule_store_open(&other, "other", 1, &error), 0);
	assert_copy(&other, &feed, "old");
	assert_int_equal(baleen_rule_store_replace(&state, path, &error), -ENOENT);
	baleen_rule_store_remove(&other);
	assert_copy(&state, &feed, "old");
}

/* By a reader, to another file system if there is one, while readers look. */
static void copied_by_a_reader(void **unused)
{
	char directory[] = "/dev/shm/baleen-copy.XXXXXX", path[64], command[512];
	struct baleen_rule_store reader;
	struct baleen_feed feed;

	begin();
	feed = added("drop", "a");
	take(&feed, "old");
	commit();
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/copy", directory);
	assert_int_equal(baleen_rule_store_open(&reader, DEVICE, 0, &error), 0);
	assert_int_equal(baleen_rule_store_copy(&reader, path, &error), 0);
	baleen_rule_store_close(&reader);
	snprintf(command, sizeof(command), "cmp %s/feeds/1.1 %s", path,
		 in_root(DEVICE "/feeds/1.1"));
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	assert_int_equal(system(command), 0);
}

static int take_twice(const struct baleen_feed *feed, void *reader)
{
	struct baleen_feed changed = *feed;

	begin();
	take(&changed, "new");
	commit();
	assert_copy(reader, feed, "new");
	begin();
	take(&changed, "newer");
	commit();
	begin();
	take(&changed, "never");
	assert_copy(reader, feed, "newer");
	baleen_rule_store_rollback(&state);
	return 0;
}

/* The rows of a reader stay as they were when it began to read them. */
static void overtaken_reader(void **unused)
{
	struct baleen_rule_store reader;
	struct baleen_feed feed;

	begin();
	feed = added("drop", "a");
	take(&feed, "old");
	commit();
	assert_int_equal(baleen_rule_store_open(&reader, DEVICE, 0, &error), 0);
	assert_int_equal(baleen_feeds_each(&reader, "drop", take_twice, &reader, &error), 0);
	baleen_rule_store_close(&reader);
}

static void no_copies(void **unused)
{
	char path[1024];

	memset(path, 'x', sizeof(path));
	path[600] = '\0';
	assert_int_equal(baleen_rule_store_copy(&state, path, &error), -ENAMETOOLONG);
	assert_int_equal(baleen_rule_store_copy(&state, "/nonexistent/copy", &error), -ENOENT);
	assert_int_equal(baleen_rule_store_replace(&state, "/nonexistent", &error), -ENOENT);
	assert_int_equal(baleen_rule_store_replace(&state, root, &error), -ENOENT);
	assert_feeds(NULL, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_state, close_state)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refused),
		TEST(all_fields),
		TEST(order_and_names),
		TEST(changed_on_the_way),
		TEST(damaged_rows),
		TEST(taken_and_superseded),
		TEST(undone),
		TEST(removed),
		TEST(missing_copy),
		TEST(no_room),
		cmocka_unit_test(private_lists),
		cmocka_unit_test(no_lists),
		cmocka_unit_test(sets),
		TEST(lines),
		TEST(copied),
		TEST(copied_to_a_state),
		TEST(copied_by_a_reader),
		TEST(overtaken_reader),
		TEST(no_copies),
	};

	return cmocka_run_group_tests(tests, make_roots, remove_roots);
}
