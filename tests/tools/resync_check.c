// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Compares the live filter of a sibling with a list of keys: resync_check DEV NAME [FILE]...
 *
 * A FILE has a key in hexadecimal digits a line; what is there twice counts twice. Prints
 * what it found as one line:
 *
 *      generation 3 recording 0 heard 9120 lost 0 keys 4471 missing 0 entries 4471 counted 4471
 * same
 *
 * heard are the events of its feeders, and lost those that never came; entries is by its counters,
 * counted by looking at its slots (cuckoo). A counting filter is "same" when it is, bit for bit,
 * what the keys make of an empty one; a set when it has all of them and no more; else "other".
 * Exit: 0 it is, 1 it is not, 2 no idea.
 *
 * resync_check --unrecorded DEV plays a log that was full, once.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/live.h"
#include "icp/icp.h"
#include "key/squid_key.h"

struct found {
	u64 n_keys, n_missing;
};

static void look_for(const struct baleen_filter *live, struct baleen_filter *model, FILE *file,
		     struct found *found)
{
	char line[256];
	bool changed;

	while (fgets(line, sizeof(line), file)) {
		struct baleen_key key;

		if (baleen_squid_key_hex(line, strcspn(line, "\n"), &key))
			errx(2, "no key: %s", line);
		found->n_keys++;
		found->n_missing += !baleen_filter_test(live, &key);
		if (baleen_live_add(model, &key, &changed))
			errx(2, "the keys do not fit");
	}
}

static bool same_body(const struct baleen_filter *a, const struct baleen_filter *b)
{
	size_t head = BALEEN_HEADER_BLOCKS * BALEEN_BLOCK_BYTES;

	return a->n_bytes == b->n_bytes &&
	       !memcmp((char *)a->bytes + head, (char *)b->bytes + head, a->n_bytes - head);
}

static void look_through(const struct baleen_filter *live, struct baleen_filter *model, char **path,
			 struct found *found)
{
	for (; *path; path++) {
		FILE *file = fopen(*path, "r");

		if (!file)
			err(2, "%s", *path);
		look_for(live, model, file, found);
		fclose(file);
	}
}

static int play_full_log(const char *device)
{
	struct baleen_error error;
	struct baleen_icp icp;

	if (baleen_icp_open(&icp, device, false, &error))
		errx(2, "%s", error.text);
	__atomic_add_fetch(&icp.state->n_unrecorded, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static void print_feed(const struct baleen_icp *icp, u32 n, const struct baleen_icp_stats *stats)
{
	u64 n_heard = 0, n_lost = 0;

	for (u32 i = 0; i < icp->now.config.n_feeders; i++) {
		if (!(icp->now.config.feeder[i].siblings >> n & 1))
			continue;
		n_heard += stats->feeder[i].inserts + stats->feeder[i].deletes;
		n_lost += stats->feeder[i].lost;
	}
	printf("generation %u recording %u heard %llu lost %llu ", icp->now.config.generation,
	       icp->state->is_recording, (unsigned long long)n_heard, (unsigned long long)n_lost);
}

int main(int argc, char **argv)
{
	struct baleen_filter live, model;
	struct baleen_icp_stats stats;
	struct baleen_error error;
	struct found found = { 0 };
	struct baleen_icp icp;
	u64 n_counted;
	bool is_same;
	int n;

	if (argc == 3 && !strcmp(argv[1], "--unrecorded"))
		return play_full_log(argv[2]);
	if (argc < 3)
		errx(2, "usage: resync_check DEV NAME [FILE]...");
	if (baleen_icp_open(&icp, argv[1], false, &error))
		errx(2, "%s", error.text);
	n = baleen_icp_sibling(&icp, argv[2]);
	if (n < 0)
		errx(2, "no sibling %s", argv[2]);
	if (baleen_icp_filter(&icp, n, &live, &error) || baleen_icp_stats(&icp, &stats, &error) ||
	    baleen_filter_alloc(&model, &live.image, &error))
		errx(2, "%s", error.text);
	look_through(&live, &model, argv + 3, &found);
	n_counted = baleen_filter_count(&live, BALEEN_TUPLE);
	if (live.image.table[BALEEN_TUPLE].kind == BALEEN_KIND_CUCKOO)
		is_same = !found.n_missing && n_counted == found.n_keys;
	else
		is_same = same_body(&live, &model);
	print_feed(&icp, n, &stats);
	printf("keys %llu missing %llu entries %llu counted %llu %s\n",
	       (unsigned long long)found.n_keys, (unsigned long long)found.n_missing,
	       (unsigned long long)baleen_icp_entries(&icp, n, &stats),
	       (unsigned long long)n_counted, is_same ? "same" : "other");
	return !is_same;
}
