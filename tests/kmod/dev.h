/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs share that try /dev/baleen: results as TAP, the device, images
 * and the memory around them.
 */
#ifndef BALEEN_TESTS_DEV_H
#define BALEEN_TESTS_DEV_H

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <baleen/image_check.h>
#include <baleen/probe.h>
#include <linux/baleen.h>

#define DEVICE "/dev/baleen"
#define POISON 0xa5
#define PAGE 4096u
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* --- results -------------------------------------------------------------- */

static unsigned int tap_n, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static bool check(bool right, const char *format, ...)
{
	va_list args;

	printf("%sok %u - ", right ? "" : "not ", ++tap_n);
	tap_failed += !right;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	return right;
}

/* Numbers that should be equal. */
static inline bool check_is(const char *name, long long got, long long want)
{
	bool right = check(got == want, "%s", name);

	if (!right)
		printf("# got %lld, want %lld\n", got, want);
	return right;
}

/* The status of main(). */
static inline int tap_end(void)
{
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}

/* --- numbers and memory --------------------------------------------------- */

/* SplitMix64 (Steele, Lea and Flood 2014). */
static inline u64 next_random(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* An address as the structs of the device have it. */
static inline u64 address(const void *p)
{
	return (uintptr_t)p;
}

static inline void poison(void *p, size_t n_bytes)
{
	memset(p, POISON, n_bytes);
}

static inline bool is_poison(const void *p, size_t n_bytes)
{
	const u8 *byte = p;

	for (size_t i = 0; i < n_bytes; i++)
		if (byte[i] != POISON)
			return false;
	return true;
}

static inline void *need(void *p)
{
	if (!p)
		err(1, "no memory");
	return p;
}

/**
 * struct edge - memory that ends where the next page is not the caller's
 * @start: of the first page
 * @n_bytes: that may be used
 * @end: behind the last of them
 */
struct edge {
	u8 *start;
	size_t n_bytes;
	u8 *end;
};

/* Full of poison. */
static inline struct edge edge_make(size_t n_bytes)
{
	size_t n = (n_bytes + PAGE - 1) / PAGE * PAGE;
	u8 *start =
		mmap(NULL, n + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED || mprotect(start + n, PAGE, PROT_NONE))
		err(1, "mmap");
	poison(start, n);
	return (struct edge){ start, n, start + n };
}

static inline void edge_free(struct edge *edge)
{
	munmap(edge->start, edge->n_bytes + PAGE);
}

/* --- images --------------------------------------------------------------- */

/**
 * struct file - an image in memory
 * @path: where it came from
 * @bytes: aligned to a block
 * @n_bytes: of it
 * @image: its decoded header
 */
struct file {
	const char *path;
	u8 *bytes;
	size_t n_bytes;
	struct baleen_image image;
};

/* What userspace says about these bytes: NULL when it takes them. */
static inline const char *refusal(const void *bytes, u64 n_bytes, struct baleen_image *image)
{
	const char *reason = NULL;

	baleen_image_check(bytes, n_bytes, image, &reason);
	return reason;
}

static inline struct file file_read(const char *path)
{
	struct file file = { .path = path };
	int fd = open(path, O_RDONLY);
	struct stat stat;
	const char *reason;

	if (fd < 0 || fstat(fd, &stat))
		err(1, "%s", path);
	file.n_bytes = stat.st_size;
	file.bytes = need(aligned_alloc(BALEEN_BLOCK_BYTES, file.n_bytes));
	for (size_t done = 0; done < file.n_bytes;) {
		ssize_t n = read(fd, file.bytes + done, file.n_bytes - done);

		if (n <= 0)
			err(1, "%s", path);
		done += n;
	}
	close(fd);
	reason = refusal(file.bytes, file.n_bytes, &file.image);
	if (reason)
		errx(1, "%s: %s", path, reason);
	return file;
}

/* Makes the checksum of a header right again. */
static inline void repair_header(void *bytes)
{
	struct baleen_image_header *header = bytes;

	header->header_crc_le = 0;
	header->header_crc_le = baleen_le32(baleen_crc32c(0, bytes, BALEEN_HEADER_BYTES));
}

static inline void repair_body(void *bytes, size_t n_bytes)
{
	struct baleen_image_header *header = bytes;
	u32 crc =
		baleen_crc32c(0, (u8 *)bytes + BALEEN_HEADER_BYTES, n_bytes - BALEEN_HEADER_BYTES);

	header->body_crc_le = baleen_le32(crc);
	repair_header(bytes);
}

static inline void rename_image(void *bytes, const char *name)
{
	struct baleen_image_header *header = bytes;

	memset(header->name, 0, sizeof(header->name));
	memcpy(header->name, name, strnlen(name, sizeof(header->name) - 1));
	repair_header(bytes);
}

/* --- the device ----------------------------------------------------------- */

static inline int device_open(int flags)
{
	int fd = open(DEVICE, flags | O_CLOEXEC);

	if (fd < 0)
		err(1, "%s", DEVICE);
	return fd;
}

/* 0 or a negative errno. */
static inline int command(int fd, unsigned long number, void *arg)
{
	errno = 0;
	return ioctl(fd, number, arg) < 0 ? -errno : 0;
}

static inline struct baleen_dev_target target_of(const char *name)
{
	struct baleen_dev_target target = { 0 };

	memcpy(target.name, name, strnlen(name, sizeof(target.name)));
	return target;
}

static inline int device_create(int fd, const char *name, const void *bytes, size_t n_bytes)
{
	struct baleen_dev_image arg = { .target = target_of(name),
					.image = address(bytes),
					.n_bytes = n_bytes };

	return command(fd, BALEEN_DEV_CREATE, &arg);
}

static inline int device_swap(int fd, const char *name, const void *bytes, size_t n_bytes,
			      u64 version)
{
	struct baleen_dev_image arg = { .target = target_of(name),
					.image = address(bytes),
					.n_bytes = n_bytes,
					.version = version };

	return command(fd, BALEEN_DEV_SWAP, &arg);
}

static inline int device_destroy(int fd, const char *name)
{
	struct baleen_dev_target arg = target_of(name);

	return command(fd, BALEEN_DEV_DESTROY, &arg);
}

static inline int device_info(int fd, const char *name, struct baleen_dev_info *info)
{
	struct baleen_dev_get arg = { .target = target_of(name) };
	int err = command(fd, BALEEN_DEV_GET, &arg);

	if (!err)
		*info = arg.info;
	return err;
}

static inline int device_export(int fd, const char *name, void *bytes, u64 n_bytes, u64 *version)
{
	struct baleen_dev_image arg = { .target = target_of(name),
					.image = address(bytes),
					.n_bytes = n_bytes };
	int err = command(fd, BALEEN_DEV_EXPORT, &arg);

	if (!err && version)
		*version = arg.version;
	return err;
}

/* One command: @n_done may be below @n. */
static inline int device_keys(int fd, const char *name, unsigned long number, const void *keys,
			      u32 n, u8 *answers, u32 *n_done)
{
	struct baleen_dev_keys arg = { .target = target_of(name),
				       .keys = address(keys),
				       .answers = address(answers),
				       .n = n,
				       .key_bytes = sizeof(struct baleen_dev_key) };
	int err = command(fd, number, &arg);

	if (!err)
		*n_done = arg.n_done;
	return err;
}

/* How many filters with a name there are; -errno. */
static inline long device_n(int fd)
{
	struct baleen_dev_list arg = { 0 };
	int err = command(fd, BALEEN_DEV_LIST, &arg);

	return err ? err : (long)arg.n;
}

/* As the device has it: the same bytes. */
static inline struct baleen_dev_key dev_key(const struct baleen_key *key)
{
	struct baleen_dev_key out;

	_Static_assert(sizeof(out) == 48, "layout");
	_Static_assert(offsetof(struct baleen_dev_key, rest) == 40, "layout");
	out = (struct baleen_dev_key){ key->domain, key->ip4,	 key->hi,  key->lo,
				       key->dst_hi, key->dst_lo, key->rest };
	return out;
}

static inline struct baleen_key key_of(const struct baleen_dev_key *key)
{
	return (struct baleen_key){ key->domain, key->ip4,    key->hi,	key->lo,
				    key->dst_hi, key->dst_lo, key->rest };
}

#endif /* BALEEN_TESTS_DEV_H */
