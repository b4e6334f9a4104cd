// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys are asked, added and deleted; what a filter says of itself. */
#include <sys/wait.h>

#include "fuzz.h"

#define MAX_KEYS 300

/* A key that no list and no packet makes. */
static void spoil_key(struct fuzz *fuzz, struct baleen_dev_key *key)
{
	u8 *bytes = (u8 *)key;

	if (one_in(fuzz, 2))
		key->domain = 4 + below(fuzz, 6);
	else
		bytes[below(fuzz, sizeof(*key))] ^= 1u << below(fuzz, 8);
}

static bool is_listed(const struct known *known, const struct baleen_dev_key *dev_key)
{
	struct baleen_key key = key_of(dev_key);

	return baleen_image_test(&known->image, known->bytes, &key);
}

/* What came of keys that are all right, of a filter that is there. */
static void check_answers(struct fuzz *fuzz, unsigned long number, const struct known *known,
			  const struct baleen_dev_key *keys, const u8 *answers, u32 n, u32 n_done)
{
	for (u32 i = 0; i < n_done; i++)
		if (answers[i] > 1)
			finding(fuzz, "the answer is %u", answers[i]);
	if (!is_poison(answers + n_done, n - n_done))
		finding(fuzz, "more answers than keys done");
	if (number != BALEEN_DEV_QUERY)
		return;
	if (n_done != n)
		finding(fuzz, "%u keys of %u done", n_done, n);
	for (u32 i = 0; i < n_done && !known->loose; i++)
		if (answers[i] != is_listed(known, &keys[i]))
			finding(fuzz, "key %u: the answer is %u", i, answers[i]);
}

/* What was added is found, whatever else the image holds. */
static void check_added(struct fuzz *fuzz, u32 n, const struct baleen_dev_key *keys, u32 n_keys)
{
	const struct known *known = &fuzz->known[n];

	for (u32 i = 0; i < n_keys; i++)
		if (!is_listed(known, &keys[i]))
			finding(fuzz, "key %u was added and is not found", i);
}

/* BALEEN_DEV_QUERY, _INSERT or _DELETE. */
static void do_keys(struct fuzz *fuzz, unsigned long number)
{
	u32 n, n_keys = 1 + below(fuzz, one_in(fuzz, 4) ? MAX_KEYS : 8);
	struct place keys = place(fuzz, n_keys * sizeof(struct baleen_dev_key));
	struct place answers = place(fuzz, n_keys);
	struct baleen_dev_key *key = (void *)keys.at;
	struct baleen_dev_keys arg = { .n = n_keys, .key_bytes = sizeof(*key) };
	bool spoiled = false;
	int err;

	arg.target = any_target(fuzz, &n);
	for (u32 i = 0; i < n_keys; i++) {
		struct baleen_key right = any_key(fuzz);

		key[i] = dev_key(&right);
	}
	if (one_in(fuzz, 8)) {
		spoil_key(fuzz, &key[below(fuzz, n_keys)]);
		spoiled = true;
	}
	arg.keys = address_of(fuzz, &keys, &spoiled);
	arg.answers = address_of(fuzz, &answers, &spoiled);
	err = call(fuzz, number, &arg, sizeof(arg), &spoiled);
	if (!fuzz->alone)
		return;
	if (!spoiled && !err)
		check_answers(fuzz, number, &fuzz->known[n], key, answers.at, n_keys, arg.n_done);
	else if (!spoiled && !is_poison(answers.at, n_keys))
		finding(fuzz, "a failure answers");
	if (!spoiled && (err == -ENOENT) != !fuzz->known[n].bytes)
		finding(fuzz, "errno %d", -err);
	if (number == BALEEN_DEV_QUERY || (err && !spoiled))
		return;
	/* Keys whose answers could not be written may be done all the same. */
	learn_all(fuzz);
	if (err)
		return;
	if (!spoiled && number == BALEEN_DEV_INSERT)
		check_added(fuzz, n, key, arg.n_done);
}

void op_query(struct fuzz *fuzz)
{
	do_keys(fuzz, BALEEN_DEV_QUERY);
}

void op_insert(struct fuzz *fuzz)
{
	do_keys(fuzz, BALEEN_DEV_INSERT);
}

void op_delete(struct fuzz *fuzz)
{
	do_keys(fuzz, BALEEN_DEV_DELETE);
}

void op_get(struct fuzz *fuzz)
{
	struct baleen_dev_get arg;
	bool spoiled = false;
	struct known *known;
	int err;
	u32 n;

	poison(&arg, sizeof(arg));
	arg.target = any_target(fuzz, &n);
	known = &fuzz->known[n];
	err = call(fuzz, BALEEN_DEV_GET, &arg, sizeof(arg), &spoiled);
	if (!fuzz->alone || spoiled)
		return;
	if (err != (known->bytes ? 0 : -ENOENT))
		finding(fuzz, "errno %d", -err);
	if (err)
		return;
	if (arg.info.n_bytes != known->n_bytes || memcmp(arg.header, known->bytes, 512))
		finding(fuzz, "another header");
	for (u32 i = 0; i < 4; i++)
		if (arg.info.reserved[i])
			finding(fuzz, "reserved fields come out as something");
}

void op_counters(struct fuzz *fuzz)
{
	struct baleen_dev_count arg;
	bool spoiled = false;
	int err;
	u32 n;

	poison(&arg, sizeof(arg));
	arg.target = any_target(fuzz, &n);
	err = call(fuzz, BALEEN_DEV_COUNTERS, &arg, sizeof(arg), &spoiled);
	if (!fuzz->alone || spoiled)
		return;
	if (err != (fuzz->known[n].bytes ? 0 : -ENOENT))
		finding(fuzz, "errno %d", -err);
	if (!err && arg.counters.query_hits > arg.counters.queries)
		finding(fuzz, "more hits than queries");
}

void op_list(struct fuzz *fuzz)
{
	u32 room = one_in(fuzz, 2) ? below(fuzz, 4) : 64;
	u32 info_bytes = size_of(fuzz, sizeof(struct baleen_dev_info));
	struct place infos = place(fuzz, room * info_bytes);
	struct baleen_dev_list arg = { .room = room, .info_bytes = info_bytes };
	bool spoiled = false;
	int err;

	arg.infos = address_of(fuzz, &infos, &spoiled);
	err = call(fuzz, BALEEN_DEV_LIST, &arg, sizeof(arg), &spoiled);
	if (!fuzz->alone || spoiled)
		return;
	if (err) {
		finding(fuzz, "errno %d", -err);
		return;
	}
	if (arg.n < room && !is_poison(infos.at + arg.n * info_bytes, (room - arg.n) * info_bytes))
		finding(fuzz, "more infos than filters");
	for (u32 i = 0; i < arg.n && i < room; i++)
		for (u32 at = sizeof(struct baleen_dev_info); at < info_bytes; at++)
			if (infos.at[i * info_bytes + at])
				finding(fuzz, "info %u: byte %u is not zero", i, at);
}

/* The table, in pieces of any size, from anywhere. */
void op_read(struct fuzz *fuzz)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
	bool spoiled = false;

	for (u32 i = 0; i < 1 + below(fuzz, 6); i++) {
		size_t room = 1 + below(fuzz, one_in(fuzz, 2) ? 64 : 8192);
		struct place at = place(fuzz, room);
		void *to = (void *)(uintptr_t)address_of(fuzz, &at, &spoiled);
		ssize_t n;

		if (one_in(fuzz, 4))
			lseek(fd, odd_number(fuzz, 512) & INT64_MAX, SEEK_SET);
		n = one_in(fuzz, 4) ? pread(fd, to, room, below(fuzz, 4096)) : read(fd, to, room);
		if (n > (ssize_t)room)
			finding(fuzz, "%zd bytes are read", n);
	}
	close(fd);
}
