// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Metrics of a state: its feeds, single entries and times; a state that is not
 * there, or damaged, takes nothing away.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <state/feeds.h>
#include <report/metrics_state.h>
#include <state/entries.h>

#include "states.h"

static struct baleen_error error;

static void put_feed(struct baleen_rule_store *state, const char *source, u64 received_ms,
		     u64 confirmed_ms, u32 n_failures)
{
	struct baleen_feed feed = { .n_entries = 7,
				    .checked_ms = 9000,
				    .received_ms = received_ms,
				    .confirmed_ms = confirmed_ms,
				    .n_failures = n_failures };

	snprintf(feed.rule, sizeof(feed.rule), "bad");
	snprintf(feed.wanted.source, sizeof(feed.wanted.source), "%s", source);
	feed.wanted.every_s = received_ms ? 3600 : 0;
	assert_int_equal(baleen_feeds_put(state, &feed, &error), 0);
}

static void put_single(struct baleen_rule_store *state, const char *key, const char *origin)
{
	struct baleen_rule_entry entry = { .added_ms = 1 };
	bool is_new;

	assert_int_equal(baleen_rule_entry_parse(key, BALEEN_KEY_SRC, BALEEN_AS_WRITTEN, &entry,
						 &error),
			 0);
	snprintf(entry.origin, sizeof(entry.origin), "%s", origin);
	assert_int_equal(baleen_rule_entries_put(state, "bad", &entry, &is_new, &error), 0);
}

static void make_state(void)
{
	struct baleen_stored_rules rules = { .n_rules = 2 };
	struct baleen_rule_store state;

	rules.rule[0] = state_rule("bad");
	rules.rule[1] = state_rule("other");
	assert_int_equal(baleen_rule_store_create(&state, DEVICE, true, 1, &error), 0);
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
	assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
	put_feed(&state, "https://u:secret@example.net/a?k=secret", 5000, 8000, 0);
	put_feed(&state, "https://example.net/b", 5000, 0, 4);
	put_feed(&state, "/never", 0, 0, 1);
	assert_int_equal(baleen_book_begin(&state, &error), 0);
	put_single(&state, "192.0.2.1", "fail2ban");
	put_single(&state, "192.0.2.2", "fail2ban");
	put_single(&state, "192.0.2.2", "manual");
	assert_int_equal(baleen_book_commit(&state, &error), 0);
	assert_int_equal(baleen_rule_store_set_text(&state, "applied", "1700000000", &error), 0);
	assert_int_equal(baleen_rule_store_set_text(&state, "confirm", "soon", &error), 0);
	assert_int_equal(baleen_rule_store_set_text(&state, "image_time bad", "1700000001", &error),
			 0);
	assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
	baleen_rule_store_close(&state);
}

static void make_source(struct baleen_metrics_source *source)
{
	assert_non_null(baleen_metrics_add_device(source, DEVICE));
	assert_non_null(baleen_metrics_add_rule(source, DEVICE, "bad", "drop"));
	assert_non_null(baleen_metrics_add_rule(source, DEVICE, "other", "drop"));
	assert_non_null(baleen_metrics_add_rule(source, "other", "bad", "drop"));
}

static void told(void **unused)
{
	struct baleen_metrics_source source = { 0 };
	const struct baleen_metrics_feed *feed;

	make_state();
	make_source(&source);
	assert_int_equal(baleen_metrics_add_state(&source, DEVICE, NULL), 0);
	assert_int_equal(source.device[0].applied_s, 1700000000);
	assert_int_equal(source.device[0].confirm_s, BALEEN_METRICS_UNKNOWN);
	assert_int_equal(source.rule[0].changed_s, 1700000001);
	assert_int_equal(source.rule[1].changed_s, BALEEN_METRICS_UNKNOWN);
	assert_int_equal(source.rule[2].changed_s, BALEEN_METRICS_UNKNOWN);
	assert_int_equal(source.n_feeds, 3);
	feed = source.feed;
	assert_string_equal(feed[0].feed, "https://example.net/a");
	assert_int_equal(feed[0].entries, 7);
	assert_int_equal(feed[0].interval_s, 3600);
	assert_int_equal(feed[0].succeeded_s, 8);
	assert_int_equal(feed[0].failed_s, BALEEN_METRICS_UNKNOWN);
	assert_int_equal(feed[0].changed_s, 5);
	assert_int_equal(feed[0].n_errors, 0);
	assert_int_equal(feed[1].succeeded_s, 5);
	assert_int_equal(feed[1].failed_s, 9);
	assert_int_equal(feed[1].n_errors, 4);
	assert_int_equal(feed[2].entries, BALEEN_METRICS_UNKNOWN);
	assert_int_equal(feed[2].interval_s, BALEEN_METRICS_UNKNOWN);
	assert_int_equal(feed[2].succeeded_s, BALEEN_METRICS_UNKNOWN);
	assert_int_equal(feed[2].changed_s, BALEEN_METRICS_UNKNOWN);
	assert_int_equal(feed[2].n_errors, 1);
	assert_int_equal(source.n_origins, 2);
	assert_string_equal(source.origin[0].origin, "fail2ban");
	assert_int_equal(source.origin[0].n, 2);
	assert_string_equal(source.origin[1].origin, "manual");
	assert_int_equal(source.origin[1].n, 1);
	baleen_metrics_free(&source);
}

/* Many entries are counted now and then, few each time. */
static void remembered(void **unused)
{
	struct baleen_metrics_counts counts = { 0 };
	struct baleen_stored_rules rules = { .n_rules = 1 };
	struct baleen_metrics_source source;
	struct baleen_rule_store state;
	char key[32];

	rules.rule[0] = state_rule("bad");
	assert_int_equal(baleen_rule_store_create(&state, DEVICE, true, 1, &error), 0);
	assert_int_equal(baleen_rule_store_begin(&state, &error), 0);
	assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
	assert_int_equal(baleen_rule_store_commit(&state, &error), 0);
	assert_int_equal(baleen_book_begin(&state, &error), 0);
	for (u32 n = 1; n <= BALEEN_METRICS_MANY_ENTRIES + 1; n++) {
		snprintf(key, sizeof(key), "11.0.%u.%u", n / 256, n % 256);
		put_single(&state, key, "some");
		if (n < BALEEN_METRICS_MANY_ENTRIES - 1)
			continue;
		assert_int_equal(baleen_book_commit(&state, &error), 0);
		source = (struct baleen_metrics_source){ 0 };
		assert_int_equal(baleen_metrics_add_state(&source, DEVICE, &counts), 0);
		assert_int_equal(source.n_origins, 1);
		assert_string_equal(source.origin[0].origin, "some");
		assert_int_equal(source.origin[0].n, n <= BALEEN_METRICS_MANY_ENTRIES ?
							     n :
							     BALEEN_METRICS_MANY_ENTRIES);
		baleen_metrics_free(&source);
		baleen_metrics_counts_forget(&counts);
		assert_int_equal(baleen_book_begin(&state, &error), 0);
	}
	/* What is old is counted again. */
	counts.origins[0].counted_s -= BALEEN_METRICS_COUNT_S;
	source = (struct baleen_metrics_source){ 0 };
	assert_int_equal(baleen_metrics_add_state(&source, DEVICE, &counts), 0);
	assert_int_equal(source.origin[0].n, BALEEN_METRICS_MANY_ENTRIES + 1);
	assert_int_equal(counts.n_origins, 1);
	counts.origins[0].counted_s -= BALEEN_METRICS_COUNT_S;
	baleen_metrics_counts_forget(&counts);
	assert_int_equal(counts.n_origins, 0);
	baleen_metrics_free(&source);
	baleen_metrics_counts_free(&counts);
	baleen_rule_store_close(&state);
}

static void none(void **unused)
{
	struct baleen_metrics_source source = { 0 };

	make_source(&source);
	assert_int_equal(baleen_metrics_add_state(&source, DEVICE, NULL), 0);
	assert_int_equal(source.n_feeds + source.n_origins, 0);
	assert_int_equal(source.n_rules, 3);
	baleen_metrics_free(&source);
}

/* What can still be read of it is told. */
static void damaged(void **unused)
{
	struct baleen_metrics_source source = { 0 };
	FILE *stream;

	make_state();
	ask_file(BALEEN_BOOK_DIRECTORY "/" BALEEN_BOOK_DB, "DROP TABLE single");
	make_source(&source);
	assert_int_equal(baleen_metrics_add_state(&source, DEVICE, NULL), 0);
	assert_int_equal(source.n_feeds, 3);
	assert_int_equal(source.n_origins, 0);
	baleen_metrics_free(&source);

	stream = fopen(in_root(DEVICE "/" BALEEN_RULE_STORE_DB), "r+");
	assert_non_null(stream);
	assert_int_equal(fwrite("no database, by any means", 1, 25, stream), 25);
	assert_int_equal(fclose(stream), 0);
	make_source(&source);
	assert_int_equal(baleen_metrics_add_state(&source, DEVICE, NULL), 0);
	assert_int_equal(source.n_rules, 3);
	baleen_metrics_free(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(told, clean_root),
		cmocka_unit_test_teardown(remembered, clean_root),
		cmocka_unit_test_teardown(none, clean_root),
		cmocka_unit_test_teardown(damaged, clean_root),
	};

	return cmocka_run_group_tests(tests, make_roots, remove_roots);
}
