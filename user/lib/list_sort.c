// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The last step of reading a list: its keys sorted and distinct. */
#include "list.h"

/*
 * American flag sort (McIlroy, Bostic, McIlroy, "Engineering Radix Sort",
 * 1993): by the highest byte swap every key into the bucket of its byte, then
 * sort each bucket by the next byte. In place, unlike glibc's qsort().
 *
 * The functions are inlined into sort_ip4() and sort_ip6(), where @key_bytes
 * is a constant.
 */
#define SMALL 32

typedef void sort_fn(void *keys, size_t n, u32 depth);

baleen_inline u32 key_digit(const void *key, size_t key_bytes, u32 depth)
{
	struct baleen_ip6 ip6;
	u32 ip4;

	if (key_bytes == sizeof(ip4)) {
		memcpy(&ip4, key, sizeof(ip4));
		return ip4 >> (24 - 8 * depth) & 255;
	}
	memcpy(&ip6, key, sizeof(ip6));
	return (depth < 8 ? ip6.hi : ip6.lo) >> (56 - 8 * (depth & 7)) & 255;
}

baleen_inline bool key_less(const void *a, const void *b, size_t key_bytes)
{
	struct baleen_ip6 x, y;
	u32 p, q;

	if (key_bytes == sizeof(u32)) {
		memcpy(&p, a, sizeof(p));
		memcpy(&q, b, sizeof(q));
		return p < q;
	}
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x.hi != y.hi ? x.hi < y.hi : x.lo < y.lo;
}

baleen_inline void insertion_sort(char *keys, size_t n, size_t key_bytes)
{
	struct baleen_ip6 key;

	for (size_t i = 1; i < n; i++) {
		char *hole = keys + i * key_bytes;

		memcpy(&key, hole, key_bytes);
		for (; hole > keys && key_less(&key, hole - key_bytes, key_bytes);
		     hole -= key_bytes)
			memcpy(hole, hole - key_bytes, key_bytes);
		memcpy(hole, &key, key_bytes);
	}
}

/* Swaps keys until each of the buckets start[b]..start[b + 1] is pure. */
baleen_inline void flag_permute(char *keys, const size_t *start, size_t key_bytes, u32 depth)
{
	struct baleen_ip6 key, other;
	size_t next[256];

	memcpy(next, start, sizeof(next));
	for (u32 bucket = 0; bucket < 256; bucket++) {
		while (next[bucket] < start[bucket + 1]) {
			char *here = keys + next[bucket]++ * key_bytes;
			u32 digit;

			memcpy(&key, here, key_bytes);
			while ((digit = key_digit(&key, key_bytes, depth)) != bucket) {
				char *there = keys + next[digit]++ * key_bytes;

				memcpy(&other, there, key_bytes);
				memcpy(there, &key, key_bytes);
				memcpy(&key, &other, key_bytes);
			}
			memcpy(here, &key, key_bytes);
		}
	}
}

baleen_inline void flag_sort(char *keys, size_t n, size_t key_bytes, u32 depth, sort_fn *deeper)
{
	size_t start[257];

	if (n <= SMALL) {
		insertion_sort(keys, n, key_bytes);
		return;
	}
	memset(start, 0, sizeof(start));
	for (size_t i = 0; i < n; i++)
		start[key_digit(keys + i * key_bytes, key_bytes, depth) + 1]++;
	for (u32 bucket = 0; bucket < 256; bucket++)
		start[bucket + 1] += start[bucket];
	flag_permute(keys, start, key_bytes, depth);
	if (depth + 1 == key_bytes)
		return;
	for (u32 bucket = 0; bucket < 256; bucket++)
		deeper(keys + start[bucket] * key_bytes, start[bucket + 1] - start[bucket],
		       depth + 1);
}

static void sort_ip4(void *keys, size_t n, u32 depth)
{
	flag_sort(keys, n, sizeof(u32), depth, sort_ip4);
}

static void sort_ip6(void *keys, size_t n, u32 depth)
{
	flag_sort(keys, n, sizeof(struct baleen_ip6), depth, sort_ip6);
}

/* Return: how many of the sorted keys are distinct; they are moved to the front. */
baleen_inline size_t drop_duplicates(char *keys, size_t n, size_t key_bytes)
{
	size_t kept = n > 0;

	for (size_t i = 1; i < n; i++) {
		char *key = keys + i * key_bytes;

		if (key_less(keys + (kept - 1) * key_bytes, key, key_bytes))
			memmove(keys + kept++ * key_bytes, key, key_bytes);
	}
	return kept;
}

void baleen_list_finish(struct baleen_list *list)
{
	size_t n = list->n_ip4 + list->n_ip6;

	sort_ip4(list->ip4, list->n_ip4, 0);
	sort_ip6(list->ip6, list->n_ip6, 0);
	list->n_ip4 = drop_duplicates((char *)list->ip4, list->n_ip4, sizeof(*list->ip4));
	list->n_ip6 = drop_duplicates((char *)list->ip6, list->n_ip6, sizeof(*list->ip6));
	list->n_duplicates += n - list->n_ip4 - list->n_ip6;
}
