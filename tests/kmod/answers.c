// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every listed key of large images, and half as many strangers: the module answers as
 * userspace does, misses no listed one, and gives back what it got.
 *
 *	answers N IMAGE...             of N listed keys each
 *	answers --list KEY FAMILY N    prints a list: KEY is src, net, dst, pair or flow,
 *	                               FAMILY 4 or 6
 */
#include "keys.h"

#define NAME "answers"
#define BATCH 65536

static int device;

/* --- lists ---------------------------------------------------------------- */

/* A prefix: lengths by turns, the rest of the address is zero. */
static void print_net(const struct baleen_fields *fields, u32 i)
{
	static const u32 lengths[] = { 48, 64, 56, 128, 40 };
	char text[INET6_ADDRSTRLEN];

	if (fields->is_ip6) {
		u32 length = lengths[i / 2 % N_OF(lengths)];
		u64 hi = length >= 64 ? fields->src_hi : fields->src_hi & ~0ull << (64 - length);

		printf("%s/%u\n", print_address(true, hi, length > 64 ? fields->src_lo : 0, text),
		       length);
	} else {
		u32 length = 32 - i / 2 % 12, mask = ~0u << (32 - length);

		printf("%s/%u\n", print_address(false, 0, fields->src_lo & mask, text), length);
	}
}

static void print_key(const char *key, const struct baleen_fields *fields, u32 i)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

	print_address(fields->is_ip6, fields->src_hi, fields->src_lo, src);
	print_address(fields->is_ip6, fields->dst_hi, fields->dst_lo, dst);
	if (!strcmp(key, "net"))
		print_net(fields, i);
	else if (!strcmp(key, "pair"))
		printf("%s,%s\n", src, dst);
	else if (!strcmp(key, "flow"))
		printf("%u,%s,%s,%u,%u\n", fields->proto, src, dst, fields->sport, fields->dport);
	else
		printf("%s\n", src);
}

static int print_list(const char *key, bool is_ip6, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct baleen_fields fields = fields_at(is_ip6, 2 * i);

		print_key(key, &fields, 2 * i);
	}
	return ferror(stdout) || fflush(stdout);
}

/* --- questions ------------------------------------------------------------ */

struct tally {
	u32 asked;
	u32 missed; /* listed, and the module says no */
	u32 differ; /* from what userspace says */
	u32 hits;
	u32 failed; /* batches */
};

static void ask(const struct file *file, const struct baleen_key *keys, const bool *listed, u32 n,
		struct tally *tally)
{
	static u8 answers[BATCH];
	u32 n_done = 0;

	poison(answers, n);
	tally->failed += device_keys(device, NAME, BALEEN_DEV_QUERY, keys, n, answers, &n_done) ||
			 n_done != n;
	for (u32 i = 0; i < n; i++) {
		int want = baleen_image_test(&file->image, file->bytes, &keys[i]);

		tally->differ += answers[i] != want;
		tally->missed += listed[i] && answers[i] != 1;
		tally->hits += answers[i] == 1;
	}
	tally->asked += n;
}

static void ask_family(const struct file *file, bool is_ip6, u32 n_listed, struct tally *tally)
{
	static struct baleen_key keys[BATCH];
	static bool listed[BATCH];
	u32 n = 0;

	_Static_assert(sizeof(keys[0]) == sizeof(struct baleen_dev_key), "the same");
	for (u32 i = 0; i < 2 * n_listed; i++) {
		if (i % 2 && i / 2 >= n_listed / 2)
			continue;
		listed[n] = i % 2 == 0;
		keys[n++] = numbered_key(file->image.key_spec, is_ip6, i);
		if (n == BATCH) {
			ask(file, keys, listed, n, tally);
			n = 0;
		}
	}
	if (n)
		ask(file, keys, listed, n, tally);
}

static void try_file(const struct file *file, u32 n_listed)
{
	struct baleen_dev_count count = { .target = target_of(NAME) };
	const char *slash = strrchr(file->path, '/');
	const char *name = slash ? slash + 1 : file->path;
	struct tally tally = { 0 };
	u8 *out = need(malloc(file->n_bytes));
	u64 version = 0;

	check(!device_create(device, NAME, file->bytes, file->n_bytes), "%s: %zu bytes", name,
	      file->n_bytes);
	for (int family = 0; family < 2; family++)
		if (has_family(&file->image, family))
			ask_family(file, family, n_listed, &tally);
	check(!tally.failed && tally.asked >= n_listed + n_listed / 2 && !tally.differ,
	      "%s: %u answers are userspace's", name, tally.asked);
	check(!tally.missed, "%s: no listed key is missed", name);
	check(!command(device, BALEEN_DEV_COUNTERS, &count) &&
		      count.counters.queries == tally.asked &&
		      count.counters.query_hits == tally.hits && !count.counters.packets &&
		      !count.counters.bytes && !count.counters.hits,
	      "%s: %u questions and %u hits are counted", name, tally.asked, tally.hits);
	check(!device_export(device, NAME, out, file->n_bytes, &version) && version &&
		      !memcmp(out, file->bytes, file->n_bytes),
	      "%s: it comes out as it went in", name);
	free(out);
	check(!device_destroy(device, NAME), "%s: it goes", name);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--list"))
		return print_list(argv[2], !strcmp(argv[3], "6"), strtoul(argv[4], NULL, 10));
	if (argc < 3)
		errx(2, "usage: answers N IMAGE... | --list KEY FAMILY N");
	device = device_open(O_RDWR);
	for (int i = 2; i < argc; i++) {
		struct file file = file_read(argv[i]);

		try_file(&file, strtoul(argv[1], NULL, 10));
		free(file.bytes);
	}
	return tap_end();
}
