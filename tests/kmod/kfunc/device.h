/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device and the results, for the programs that test bpf_baleen_test().
 */
#ifndef BALEEN_TESTS_KFUNC_DEVICE_H
#define BALEEN_TESTS_KFUNC_DEVICE_H

#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/baleen.h>

static int n_results;
static int n_failed;

static inline void check(bool good, const char *name)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++n_results, name);
	n_failed += !good;
}

/* Return: for main(). */
static inline int results_end(void)
{
	printf("1..%d\n", n_results);
	return n_failed != 0;
}

static inline int device_open(void)
{
	int fd = open("/dev/baleen", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		err(2, "/dev/baleen");
	return fd;
}

static inline struct baleen_dev_target target_of(const char *name)
{
	struct baleen_dev_target target = { .ifindex = 0 };

	memcpy(target.name, name, strnlen(name, sizeof(target.name) - 1));
	return target;
}

struct file {
	void *bytes;
	size_t n_bytes;
};

static inline struct file file_read(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct file file;
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat))
		err(2, "%s", path);
	file.n_bytes = stat.st_size;
	file.bytes = malloc(file.n_bytes);
	if (!file.bytes || read(fd, file.bytes, file.n_bytes) != stat.st_size)
		err(2, "%s", path);
	close(fd);
	return file;
}

/* BALEEN_DEV_CREATE or _SWAP */
static inline int image_give(int fd, unsigned long command, const char *name, struct file file)
{
	struct baleen_dev_image arg = {
		.target = target_of(name),
		.image = (uintptr_t)file.bytes,
		.n_bytes = file.n_bytes,
	};

	return ioctl(fd, command, &arg);
}

static inline struct baleen_dev_counters counters_get(int fd, const char *name)
{
	struct baleen_dev_count arg = { .target = target_of(name) };

	if (ioctl(fd, BALEEN_DEV_COUNTERS, &arg))
		err(2, "BALEEN_DEV_COUNTERS");
	return arg.counters;
}

static inline uint64_t be64(const uint8_t *byte)
{
	uint64_t number = 0;

	for (int i = 0; i < 8; i++)
		number = number << 8 | byte[i];
	return number;
}

static inline bool key_of(const char *text, struct baleen_dev_key *key)
{
	uint8_t address[16];

	memset(key, 0, sizeof(*key));
	if (inet_pton(AF_INET, text, address) == 1) {
		key->ip4 = be64(address) >> 32;
		return true;
	}
	if (inet_pton(AF_INET6, text, address) != 1)
		return false;
	key->domain = 1;
	key->hi = be64(address);
	key->lo = be64(address + 8);
	return true;
}

struct keys {
	struct baleen_dev_key *key;
	uint32_t n;
};

/* A file with an address in each line. */
static inline struct keys keys_read(const char *path)
{
	struct keys keys = { NULL, 0 };
	FILE *in = fopen(path, "r");
	char line[64];

	if (!in)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = 0;
		keys.key = realloc(keys.key, (keys.n + 1) * sizeof(*keys.key));
		if (!keys.key || !key_of(line, &keys.key[keys.n++]))
			errx(2, "%s: '%s'", path, line);
	}
	fclose(in);
	return keys;
}

#endif /* BALEEN_TESTS_KFUNC_DEVICE_H */
