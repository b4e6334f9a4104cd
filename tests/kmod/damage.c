// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Damaged images: the module takes what userspace's checks take, and gives the same
 * answers of it, and refuses all else.
 *
 *	damage IMAGE...     small ones, of all kinds
 */
#include "dev.h"

#define NAME "damaged"
#define N_KEYS 32
#define SEED 0x6b6d6f64ull

/* As tables in the report. */
struct tally {
	unsigned int taken;
	unsigned int refused;
	unsigned int unsupported;
	unsigned int wrong;
};

static int device;
static struct baleen_dev_key keys[4 * N_KEYS];

/* Keys of each domain; small numbers are as likely as others. */
static void make_keys(void)
{
	u64 state = SEED;

	for (u32 i = 0; i < N_OF(keys); i++) {
		struct baleen_dev_key *key = &keys[i];
		u64 any = next_random(&state);

		*key = (struct baleen_dev_key){ .domain = i % 4 };
		switch (key->domain) {
		case BALEEN_IP4: key->ip4 = i % 8 ? any : i; break;
		case BALEEN_TUPLE:
			key->dst_hi = any;
			key->dst_lo = next_random(&state);
			key->rest = i << 16;
			/* fallthrough */
		case BALEEN_IP6: key->hi = any; /* fallthrough */
		default: key->lo = i % 8 ? next_random(&state) : i;
		}
	}
}

/* What the module has to say: to the header first, and to the body when it has that. */
static int verdict(const void *bytes, size_t n_bytes)
{
	struct baleen_image image;
	const char *reason;

	if (baleen_header_check(bytes, n_bytes, &image, &reason))
		return -EBADMSG;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *table = &image.table[domain];

		if (baleen_needs_string(table, domain) ||
		    (table->kind == BALEEN_KIND_QUOTIENT && !baleen_quotient_fits_packets(table)))
			return -EOPNOTSUPP;
	}
	return refusal(bytes, n_bytes, &image) ? -EBADMSG : 0;
}

/* Answers and the image itself are what userspace has. */
static bool agrees(const char *name, const void *bytes, size_t n_bytes)
{
	u8 answers[N_OF(keys)], *out = need(malloc(n_bytes));
	struct baleen_image image;
	u32 n_done = 0;
	bool same;

	refusal(bytes, n_bytes, &image);
	same = !device_keys(device, name, BALEEN_DEV_QUERY, keys, N_OF(keys), answers, &n_done) &&
	       n_done == N_OF(keys);
	for (u32 i = 0; i < N_OF(keys); i++) {
		struct baleen_key key = key_of(&keys[i]);

		same &= answers[i] == baleen_image_test(&image, bytes, &key);
	}
	same &= !device_export(device, name, out, n_bytes, NULL) && !memcmp(out, bytes, n_bytes);
	free(out);
	return same;
}

/* Changes do no harm, whatever they find. */
static void change(const char *name)
{
	u32 n_done;

	device_keys(device, name, BALEEN_DEV_INSERT, keys, N_OF(keys), NULL, &n_done);
	device_keys(device, name, BALEEN_DEV_DELETE, keys, N_OF(keys), NULL, &n_done);
}

static void count(struct tally *tally, int got, int want, bool agreed, const char *what, size_t at)
{
	tally->taken += !got;
	tally->refused += got == -EBADMSG;
	tally->unsupported += got == -EOPNOTSUPP;
	if (got == want && agreed)
		return;
	tally->wrong++;
	printf("# %s at %zu: got %d, want %d%s\n", what, at, got, want,
	       agreed ? "" : ", and it is another filter");
}

static void try_bytes(struct tally *tally, const void *bytes, size_t n_bytes, const char *what,
		      size_t at)
{
	int want = verdict(bytes, n_bytes), got = device_create(device, NAME, bytes, n_bytes);
	bool agreed = got || want || agrees(NAME, bytes, n_bytes);

	count(tally, got, want, agreed, what, at);
	if (!got) {
		change(NAME);
		tally->wrong += !!device_destroy(device, NAME);
	}
}

/* By a write: a name of its own, which the header may have lost. */
static void try_write(struct tally *tally, const void *bytes, size_t n_bytes, size_t at)
{
	int fd = device_open(O_WRONLY), want = verdict(bytes, n_bytes), got;
	struct baleen_image image;
	bool agreed = true;

	if (!want && refusal(bytes, n_bytes, &image))
		errx(1, "a verdict that does not last");
	if (!want && !image.name[0])
		want = -EINVAL;
	got = write(fd, bytes, n_bytes) == (ssize_t)n_bytes ? 0 : -errno;
	if (!got && !want) {
		agreed = agrees(image.name, bytes, n_bytes);
		tally->wrong += !!device_destroy(device, image.name);
	}
	count(tally, got, want, agreed, "written", at);
	close(fd);
}

static void report(const struct tally *tally, const char *path, const char *what)
{
	const char *slash = strrchr(path, '/');

	check(!tally->wrong, "%s: %s: %u refused, %u not supported, %u taken",
	      slash ? slash + 1 : path, what, tally->refused, tally->unsupported, tally->taken);
}

static void test_header(const struct file *file, bool repair)
{
	static const u8 flips[] = { 0x01, 0x80, 0xff, 0x02 };
	/* Of a large one each byte once: it is copied each time. */
	size_t n_flips = file->n_bytes < 65536 ? 2 : 1;
	struct tally tally = { 0 }, written = { 0 };
	u8 *bytes = need(aligned_alloc(BALEEN_BLOCK_BYTES, file->n_bytes));

	for (size_t at = 0; at < BALEEN_HEADER_BYTES; at++)
		for (size_t i = 0; i < n_flips; i++) {
			memcpy(bytes, file->bytes, file->n_bytes);
			bytes[at] ^= flips[(at + i) % N_OF(flips)];
			if (repair)
				repair_header(bytes);
			try_bytes(&tally, bytes, file->n_bytes, "created", at);
			if (i == 0)
				try_write(&written, bytes, file->n_bytes, at);
		}
	report(&tally, file->path,
	       repair ? "each byte of the header, checksum repaired" : "each byte of the header");
	report(&written, file->path,
	       repair ? "written: header, checksum repaired" : "written: header");
	free(bytes);
}

/* Every length but its own is refused. */
static void test_length(const struct file *file)
{
	struct tally tally = { 0 };
	u8 *bytes = need(aligned_alloc(BALEEN_BLOCK_BYTES, file->n_bytes + 4096));
	size_t step = file->n_bytes / 64 / BALEEN_BLOCK_BYTES * BALEEN_BLOCK_BYTES + 64;

	memset(bytes, 0, file->n_bytes + 4096);
	memcpy(bytes, file->bytes, file->n_bytes);
	for (size_t n = BALEEN_HEADER_BYTES; n <= file->n_bytes + 4096; n += step)
		if (n != file->n_bytes)
			try_bytes(&tally, bytes, n, "length", n);
	try_bytes(&tally, bytes, file->n_bytes - 64, "length", file->n_bytes - 64);
	try_bytes(&tally, bytes, file->n_bytes + 64, "length", file->n_bytes + 64);
	report(&tally, file->path, "other lengths");
	check_is("none of them is taken", tally.taken, 0);
	free(bytes);
}

/* A body of @n damages; with its checksums made right it is an image like any other. */
static void damage(u8 *bytes, const struct file *file, u64 *state)
{
	u32 n = 1 + next_random(state) % 64;
	size_t room = file->n_bytes - BALEEN_HEADER_BYTES;

	memcpy(bytes, file->bytes, file->n_bytes);
	for (u32 i = 0; i < n; i++) {
		size_t at = next_random(state) % room, end = at + next_random(state) % 64;
		u8 with = next_random(state);

		for (; at <= end && at < room; at++)
			bytes[BALEEN_HEADER_BYTES + at] ^= with | 1;
	}
}

static void test_body(const struct file *file, bool repair)
{
	struct tally tally = { 0 };
	u8 *bytes = need(aligned_alloc(BALEEN_BLOCK_BYTES, file->n_bytes));
	u64 state = SEED;

	for (u32 round = 0; round < 100; round++) {
		damage(bytes, file, &state);
		if (repair)
			repair_body(bytes, file->n_bytes);
		try_bytes(&tally, bytes, file->n_bytes, "body of round", round);
	}
	report(&tally, file->path,
	       repair ? "damaged bodies, checksums repaired" : "damaged bodies");
	if (!repair)
		check_is("none of them is taken", tally.taken, 0);
	free(bytes);
}

/* As it is it is taken, or refused for what it is. */
static void test_whole(const struct file *file)
{
	struct tally tally = { 0 };

	try_bytes(&tally, file->bytes, file->n_bytes, "whole", 0);
	try_write(&tally, file->bytes, file->n_bytes, 0);
	report(&tally, file->path, "as it is");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		errx(2, "usage: damage IMAGE...");
	printf("# seed %#llx\n", SEED);
	device = device_open(O_RDWR);
	make_keys();
	for (int i = 1; i < argc; i++) {
		struct file file = file_read(argv[i]);

		test_whole(&file);
		test_header(&file, false);
		test_header(&file, true);
		test_length(&file);
		test_body(&file, false);
		test_body(&file, true);
		free(file.bytes);
	}
	check_is("none is left", device_n(device), 0);
	return tap_end();
}
