// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a set, the first of them as its format: either nothing is handed
 * on, or all of it, twice the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "list/import.h"
#include "target.h"

#define MAX_BYTES 4096

/* What was handed on: how much, and a sum of it. */
struct heard {
	u64 n;
	u64 sum;
};

static int hear(void *data, const struct baleen_import_entry *entry, struct baleen_error *error)
{
	struct heard *heard = data;

	check(*entry->key && *entry->key != '!' && !strpbrk(entry->key, " \t\n"));
	check(!strchr(entry->comment, '\n') || !entry->line);
	heard->n++;
	for (const char *c = entry->key; *c; c++)
		heard->sum = 31 * heard->sum + (u8)*c;
	heard->sum += entry->expires_s + entry->is_exception;
	return 0;
}

static struct heard import(const uint8_t *bytes, size_t n_bytes)
{
	struct heard heard = { 0 };
	struct baleen_importer importer = {
		.format = *bytes & 1,
		.set = *bytes & 2 ? "a" : NULL,
		.on_entry = hear,
		.data = &heard,
	};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct baleen_error error;

	check(fd >= 0 && write(fd, bytes + 1, n_bytes - 1) == (ssize_t)n_bytes - 1);
	lseek(fd, 0, SEEK_SET);
	if (baleen_import(&importer, fd, "set", &error))
		check(!heard.n && *error.text);
	close(fd);
	return heard;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	struct heard first, second;

	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	first = import(bytes, n_bytes);
	second = import(bytes, n_bytes);
	check(first.n == second.n && first.sum == second.sum);
	return 0;
}
