// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Votes on generations of sets: written, replaced, taken back, counted. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state/votes.h"

static const struct baleen_set_head head = { .generation = 7,
					     .digest = { 1, 2, 3, 4, 5, 6, 7, 8 } };

static struct baleen_vote vote_of(const char *host, bool is_veto, const char *reason)
{
	struct baleen_vote vote = { .is_veto = is_veto,
				    .generation = 7,
				    .digest = baleen_vote_digest(&head),
				    .set = "bans",
				    .made_s = 1 };

	snprintf(vote.host, sizeof(vote.host), "%s", host);
	snprintf(vote.reason, sizeof(vote.reason), "%s", reason);
	return vote;
}

static void assert_count(u32 n_ok, u32 n_vetoes)
{
	struct baleen_votes_count count;

	baleen_votes_count("bans", &head, &count);
	assert_int_equal(count.n_ok, n_ok);
	assert_int_equal(count.n_vetoes, n_vetoes);
}

static void test_refused(void **state)
{
	struct baleen_error error;
	struct baleen_vote vote = vote_of("web 1", true, "");

	assert_int_equal(baleen_votes_put(&vote, &error), -EINVAL);
	vote = vote_of("", true, "");
	assert_int_equal(baleen_votes_put(&vote, &error), -EINVAL);
	vote = vote_of("web1", true, "");
	vote.generation = 0;
	assert_int_equal(baleen_votes_put(&vote, &error), -EINVAL);
	vote = vote_of("web1", true, "");
	strcpy(vote.set, "a/b");
	assert_int_equal(baleen_votes_put(&vote, &error), -EINVAL);
	assert_count(0, 0);
}

static void test_count(void **state)
{
	struct baleen_vote vote = vote_of("web1", false, "");
	struct baleen_votes_count count;

	assert_int_equal(baleen_votes_put(&vote, NULL), 1);
	assert_int_equal(baleen_votes_put(&vote, NULL), 0);
	assert_count(1, 0);
	vote = vote_of("web2", true, "cuts\noff peers");
	assert_int_equal(baleen_votes_put(&vote, NULL), 1);
	assert_count(1, 1);
	baleen_votes_count("bans", &head, &count);
	assert_string_equal(count.veto.host, "web2");
	assert_string_equal(count.veto.reason, "cuts off peers");
	/* A host has one vote on a generation. */
	vote = vote_of("web1", true, "after all");
	assert_int_equal(baleen_votes_put(&vote, NULL), 1);
	assert_count(0, 2);
	/* Another set, generation or digest is another matter. */
	vote.digest++;
	assert_int_equal(baleen_votes_put(&vote, NULL), 1);
	vote = vote_of("web1", false, "");
	strcpy(vote.set, "other");
	assert_int_equal(baleen_votes_put(&vote, NULL), 1);
	vote = vote_of("web1", false, "");
	vote.generation = 8;
	assert_int_equal(baleen_votes_put(&vote, NULL), 1);
	assert_count(0, 2);
}

static void test_taken_back(void **state)
{
	struct baleen_vote vote = vote_of("web1", false, "");

	vote.is_taken_back = true;
	assert_int_equal(baleen_votes_put(&vote, NULL), 1);
	assert_count(0, 1);
	assert_int_equal(baleen_votes_put(&vote, NULL), 0);
	vote = vote_of("web2", false, "");
	vote.is_taken_back = true;
	vote.is_own = true;
	assert_int_equal(baleen_votes_put(&vote, NULL), 0);
	assert_count(0, 1);
	vote.is_own = false;
	assert_int_equal(baleen_votes_put(&vote, NULL), 1);
	assert_count(0, 0);
}

static void test_many(void **state)
{
	struct baleen_vote vote;
	char host[16];

	for (u32 i = 0; i < 20; i++) {
		snprintf(host, sizeof(host), "host%u", i);
		vote = vote_of(host, false, "");
		assert_int_equal(baleen_votes_put(&vote, NULL), 1);
	}
	assert_count(20, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_taken_back),
		cmocka_unit_test(test_many),
	};
	char directory[] = "/tmp/baleen-votes.XXXXXX", command[64];
	int failed;

	if (!mkdtemp(directory) || setenv("BALEEN_STATE_DIR", directory, 1))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command) ? 1 : failed;
}
