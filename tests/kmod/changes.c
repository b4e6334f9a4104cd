// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The same additions and deletions in the module and in userspace: the same answers,
 * the same errors, and at the end the same bytes.
 *
 *	changes DIRECTORY IMAGE...     leaves the filters as they are then, and in
 *	                               DIRECTORY lists of the IPv4 addresses in them
 *	changes --destroy NAME...      takes them away
 */
#include <baleen/inplace.h>

#include "keys.h"

#define SEED 0x6368616e6765ull
#define ROUNDS 60
#define N_BATCH 300
#define N_NUMBERS 16000

typedef __s64 s64;

/* Userspace's own. */
static struct file mine;
static struct baleen_search search;
/* Its name in the module: that of its file, up to the dot. */
static char current[BALEEN_DEV_NAME_BYTES];
static int device;

struct tally {
	u64 state;
	u32 n_batches;
	u32 n_changed;
	u32 n_refused;
	u32 wrong;
	s64 entries;
	bool in_set[N_NUMBERS]; /* IPv4 keys by their numbers */
};

static int change_mine(unsigned long number, const struct baleen_key *key, bool *changed)
{
	if (number == BALEEN_DEV_INSERT)
		return baleen_image_add(&mine.image, mine.bytes, &search, key, changed);
	return baleen_image_del(&mine.image, mine.bytes, key, changed);
}

/* What the module should do with the batch: how many, the answers, and why no more. */
static u32 expect(unsigned long number, const struct baleen_key *keys, u32 n, u8 *answers, int *err)
{
	bool changed;

	*err = 0;
	for (u32 i = 0; i < n; i++) {
		*err = change_mine(number, &keys[i], &changed);
		if (*err)
			return i;
		answers[i] = changed;
	}
	return n;
}

static void note(struct tally *tally, unsigned long number, const u32 *numbers, const bool *is_ip6,
		 const u8 *answers, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (!is_ip6[i])
			tally->in_set[numbers[i]] = number == BALEEN_DEV_INSERT;
		tally->n_changed += answers[i];
		tally->entries += number == BALEEN_DEV_INSERT ? answers[i] : -(s64)answers[i];
	}
}

/* One batch, and the rest behind each key that is refused. */
static void try_batch(struct tally *tally, unsigned long number, const struct baleen_key *keys,
		      const u32 *numbers, const bool *is_ip6, u32 n)
{
	u8 want[N_BATCH], got[N_BATCH];
	u32 first = 0;

	while (first < n) {
		u32 n_done = 0, n_want;
		int err, err_want;

		poison(want, sizeof(want));
		poison(got, sizeof(got));
		n_want = expect(number, keys + first, n - first, want, &err_want);
		err = device_keys(device, current, number, keys + first, n - first, got, &n_done);
		tally->n_batches++;
		if (err != (n_want ? 0 : err_want) || n_done != n_want ||
		    memcmp(want, got, sizeof(got))) {
			tally->wrong++;
			return;
		}
		note(tally, number, numbers + first, is_ip6 + first, got, n_done);
		tally->n_refused += n_done < n - first;
		/* The one that was refused is left out when the rest is tried. */
		first += n_done;
		if (first < n && n_done == 0)
			first++;
	}
}

static void try_random(struct tally *tally)
{
	static struct baleen_key keys[N_BATCH];
	bool is_ip6[N_BATCH];
	u32 numbers[N_BATCH];
	bool has4 = has_family(&mine.image, false), has6 = has_family(&mine.image, true);
	/* More come than go, so that it fills up. */
	unsigned long number =
		next_random(&tally->state) % 3 ? BALEEN_DEV_INSERT : BALEEN_DEV_DELETE;
	u32 n = 1 + next_random(&tally->state) % N_BATCH;

	for (u32 i = 0; i < n; i++) {
		is_ip6[i] = has4 && has6 ? next_random(&tally->state) & 1 : has6;
		numbers[i] = next_random(&tally->state) % N_NUMBERS;
		keys[i] = numbered_key(mine.image.key_spec, is_ip6[i], numbers[i]);
	}
	try_batch(tally, number, keys, numbers, is_ip6, n);
}

/* --- what comes out ------------------------------------------------------- */

/* Bytes as userspace has them, under a header that says live. */
static bool same_image(const u8 *out, bool changed)
{
	struct baleen_image image;

	if (refusal(out, mine.n_bytes, &image) ||
	    memcmp(out + BALEEN_HEADER_BYTES, mine.bytes + BALEEN_HEADER_BYTES,
		   mine.n_bytes - BALEEN_HEADER_BYTES))
		return false;
	if (!changed)
		return !memcmp(out, mine.bytes, BALEEN_HEADER_BYTES);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (image.table[domain].n_entries)
			return false;
	return image.flags == (mine.image.flags | BALEEN_FLAG_LIVE) && !image.body_crc &&
	       !image.n_entries && !memcmp(&image.seed, &mine.image.seed, sizeof(image.seed)) &&
	       image.key_spec == mine.image.key_spec && !strcmp(image.name, mine.image.name);
}

/* The list that `baleen dump` should print, sorted otherwise. */
static void save_list(const char *directory, const struct tally *tally)
{
	char path[4096], text[INET6_ADDRSTRLEN];
	FILE *list;

	snprintf(path, sizeof(path), "%s/%s", directory, current);
	list = fopen(path, "w");
	if (!list)
		err(1, "%s", path);
	for (u32 i = 0; i < N_NUMBERS; i++)
		if (tally->in_set[i])
			fprintf(list, "%s\n",
				print_address(false, 0, fields_at(false, i).src_lo, text));
	if (fclose(list))
		err(1, "%s", path);
}

static void test_export(const char *name, const struct tally *tally, const char *directory,
			u64 version)
{
	struct baleen_dev_get get = { .target = target_of(current) };
	u8 *out = need(malloc(mine.n_bytes));
	u64 exported = 0;

	check(!device_export(device, current, out, mine.n_bytes, &exported) &&
		      same_image(out, tally->n_changed),
	      "%s: after %u changes it has the bytes that userspace has", name, tally->n_changed);
	check(!command(device, BALEEN_DEV_GET, &get) && !memcmp(get.header, out, 512) &&
		      get.info.version == exported && (exported != version) == !!tally->n_changed,
	      "%s: header and version are told alike", name);
	if (mine.image.flags & BALEEN_FLAG_LIVE)
		check(!(get.info.flags & BALEEN_DEV_COUNT_KNOWN), "%s: no count is told", name);
	else
		check(get.info.flags == BALEEN_DEV_COUNT_KNOWN &&
			      (s64)get.info.n_entries == (s64)mine.image.n_entries + tally->entries,
		      "%s: the changes are counted", name);
	if (baleen_spec_is_address(mine.image.key_spec) && !has_family(&mine.image, true) &&
	    !mine.image.table[BALEEN_IP4_GROUPS].kind)
		save_list(directory, tally);
	free(out);
}

/* With the version that was exported an image goes in, with an older one it does not. */
static void test_swap(const char *name, u64 first_version)
{
	struct baleen_dev_info before, after;
	u8 *out = need(malloc(mine.n_bytes));
	u64 version = 0;

	device_info(device, current, &before);
	device_export(device, current, out, mine.n_bytes, &version);
	if (before.version != first_version)
		check_is("a version from before the changes",
			 device_swap(device, current, out, mine.n_bytes, first_version), -ESTALE);
	check_is("a version that never was",
		 device_swap(device, current, out, mine.n_bytes, before.version + 1000000),
		 -ESTALE);
	device_info(device, current, &after);
	check(!memcmp(&before, &after, sizeof(before)), "%s: nothing has changed", name);
	check_is("the exported one under its version",
		 device_swap(device, current, out, mine.n_bytes, version), 0);
	check_is("and not again", device_swap(device, current, out, mine.n_bytes, version),
		 -ESTALE);
	check_is("but under any", device_swap(device, current, out, mine.n_bytes, 0), 0);
	device_info(device, current, &after);
	check(after.version != before.version && after.version != version,
	      "%s: a swap is another version", name);
	free(out);
}

static void try_file(const char *path, const char *directory)
{
	static struct tally tally;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct baleen_dev_info info = { 0 };

	memset(current, 0, sizeof(current));
	memcpy(current, name, strcspn(name, "."));
	mine = file_read(path);
	memset(&tally, 0, sizeof(tally));
	tally.state = SEED;
	for (u32 i = 0; i < mine.image.n_listed && 2 * i < N_NUMBERS; i++)
		tally.in_set[2 * i] = true;
	check(!device_create(device, current, mine.bytes, mine.n_bytes) &&
		      !device_info(device, current, &info) && info.version &&
		      info.n_bytes == mine.n_bytes && info.n_entries == mine.image.n_entries,
	      "%s: it is there", name);
	for (u32 round = 0; round < ROUNDS && !tally.wrong; round++)
		try_random(&tally);
	check(!tally.wrong && tally.n_batches >= ROUNDS, "%s: %u batches, %u of them cut off", name,
	      tally.n_batches, tally.n_refused);
	test_export(name, &tally, directory, info.version);
	test_swap(name, info.version);
	free(mine.bytes);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: changes DIRECTORY IMAGE... | --destroy NAME...");
	device = device_open(O_RDWR);
	if (!strcmp(argv[1], "--destroy")) {
		for (int i = 2; i < argc; i++)
			check(!device_destroy(device, argv[i]), "%s goes", argv[i]);
		return tap_end();
	}
	printf("# seed %#llx\n", SEED);
	for (int i = 2; i < argc; i++)
		try_file(argv[i], argv[1]);
	return tap_end();
}
