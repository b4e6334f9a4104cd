// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a list: the keys come out sorted and distinct, each one's text
 * is read back as itself, and each one is found in a line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "list.h"

/* More keys than this are sampled: a line can stand for 65536 of them. */
#define N_CHECKED 16

/* A line of 7 bytes can stand for a megabyte of keys. */
#define MAX_BYTES 1024

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void check(bool right)
{
	if (!right)
		abort();
}

static void check_key(int fd, const struct baleen_key *key, u64 n_lines)
{
	char text[BALEEN_KEY_TEXT], entry[64];
	struct baleen_key again;
	const char *reason;
	u64 line = 0;

	baleen_key_format(key, BALEEN_KEY_SRC, text);
	check(!baleen_key_parse(text, strlen(text), BALEEN_KEY_SRC, &again, &reason));
	check(!baleen_key_compare(key, &again));
	check(!lseek(fd, 0, SEEK_SET));
	check(!baleen_list_find(fd, BALEEN_KEY_SRC, key, &line, entry, sizeof(entry)));
	check(line >= 1 && line <= n_lines);
}

static void check_problem(void *data, const struct baleen_list_problem *problem)
{
	u64 *last_line = data;

	check(problem->line > *last_line && *problem->reason);
	for (const char *p = problem->text; *p; p++)
		check(*p >= ' ' && *p <= '~');
	*last_line = problem->line;
}

static void check_order(const struct baleen_list *list)
{
	for (size_t i = 1; i < list->n_ip4; i++)
		check(list->ip4[i - 1] < list->ip4[i]);
	for (size_t i = 1; i < list->n_ip6; i++) {
		const struct baleen_ip6 *a = &list->ip6[i - 1], *b = &list->ip6[i];

		check(a->hi < b->hi || (a->hi == b->hi && a->lo < b->lo));
	}
}

static void check_keys(int fd, const struct baleen_list *list)
{
	for (size_t i = 0; i < list->n_ip4; i += 1 + list->n_ip4 / N_CHECKED) {
		struct baleen_key key = {.domain = BALEEN_IP4, .ip4 = list->ip4[i]};

		check_key(fd, &key, list->n_lines);
	}
	for (size_t i = 0; i < list->n_ip6; i += 1 + list->n_ip6 / N_CHECKED) {
		struct baleen_key key = {
			.domain = BALEEN_IP6,
			.hi = list->ip6[i].hi,
			.lo = list->ip6[i].lo,
		};

		check_key(fd, &key, list->n_lines);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	u64 last_line = 0;
	const struct baleen_list_reader reader = {.on_bad = check_problem, .data = &last_line};
	struct baleen_list list = {0};
	int fd;

	if (n_bytes > MAX_BYTES)
		return 0;
	fd = memfd_create("list", MFD_CLOEXEC);
	check(fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes);
	check(!lseek(fd, 0, SEEK_SET));
	check(!baleen_list_read(&list, fd, "fuzz", &reader, NULL));
	check(list.n_bad <= list.n_lines && list.n_lines <= n_bytes);
	check(last_line <= list.n_lines);
	check(!baleen_list_finish(&list));
	check_order(&list);
	check_keys(fd, &list);
	baleen_list_free(&list);
	close(fd);
	return 0;
}
