// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The arrays of a list in order. */
#include <stdlib.h>

#include "list/list_sort.h"
#include "util/threads.h"

/*
 * American flag sort (McIlroy, Bostic, McIlroy, "Engineering Radix Sort",
 * 1993): by the highest byte swap every element into the bucket of its byte,
 * then sort each bucket by the next byte. In place, unlike glibc's qsort().
 *
 * The functions are inlined into one sort per array, where @what is a constant.
 */
#define SMALL 32

enum what {
	IP4,
	IP6,
	PREFIX4,
	PREFIX6,
	KEY,
};

union element {
	u32 ip4;
	struct baleen_ip6 ip6;
	struct baleen_prefix4 prefix4;
	struct baleen_prefix6 prefix6;
	struct baleen_key key;
};

typedef void sort_fn(char *elements, size_t n, u32 depth);

baleen_inline size_t element_bytes(enum what what)
{
	switch (what) {
	case IP4: return sizeof(u32);
	case IP6: return sizeof(struct baleen_ip6);
	case PREFIX4: return sizeof(struct baleen_prefix4);
	case PREFIX6: return sizeof(struct baleen_prefix6);
	default: return sizeof(struct baleen_key);
	}
}

baleen_inline u32 n_digits(enum what what)
{
	switch (what) {
	case IP4: return 4;
	case IP6: return 16;
	case PREFIX4: return 4 + 2;
	case PREFIX6: return 16 + 2;
	default: return 1 + 5 * 8;
	}
}

baleen_inline u32 byte_of(u64 word, u32 i)
{
	return word >> (56 - 8 * (i & 7)) & 255;
}

baleen_inline u32 key_digit(const struct baleen_key *key, u32 depth)
{
	const u64 word[] = { key->hi, key->lo, key->dst_hi, key->dst_lo, key->rest };

	return depth ? byte_of(word[(depth - 1) >> 3], depth - 1) : key->domain;
}

baleen_inline u32 digit_of(const union element *e, enum what what, u32 depth)
{
	switch (what) {
	case IP4: return e->ip4 >> (24 - 8 * depth) & 255;
	case IP6: return byte_of(depth < 8 ? e->ip6.hi : e->ip6.lo, depth);
	case PREFIX4:
		if (depth < 4)
			return e->prefix4.address >> (24 - 8 * depth) & 255;
		return depth == 4 ? e->prefix4.length : !e->prefix4.is_exception;
	case PREFIX6:
		if (depth < 16)
			return byte_of(depth < 8 ? e->prefix6.hi : e->prefix6.lo, depth);
		return depth == 16 ? e->prefix6.length : !e->prefix6.is_exception;
	default: return key_digit(&e->key, depth);
	}
}

/* The address, length and sort of an IPv4 prefix in one number. */
baleen_inline u64 prefix4_rank(const struct baleen_prefix4 *prefix)
{
	return (u64)prefix->address << 16 | prefix->length << 8 | !prefix->is_exception;
}

baleen_inline bool is_less(const union element *a, const union element *b, enum what what)
{
	switch (what) {
	case IP4: return a->ip4 < b->ip4;
	case IP6: return baleen_ip6_compare(a->ip6, b->ip6) < 0;
	case PREFIX4: return prefix4_rank(&a->prefix4) < prefix4_rank(&b->prefix4);
	case PREFIX6: return baleen_prefix6_compare(&a->prefix6, &b->prefix6) < 0;
	default: return baleen_key_compare(&a->key, &b->key) < 0;
	}
}

baleen_inline void insertion_sort(char *elements, size_t n, enum what what)
{
	const size_t bytes = element_bytes(what);
	union element element, before;

	for (size_t i = 1; i < n; i++) {
		char *hole = elements + i * bytes;

		memcpy(&element, hole, bytes);
		for (; hole > elements; hole -= bytes) {
			memcpy(&before, hole - bytes, bytes);
			if (!is_less(&element, &before, what))
				break;
			memcpy(hole, &before, bytes);
		}
		memcpy(hole, &element, bytes);
	}
}

/* Swaps elements until each of the buckets start[b]..start[b + 1] is pure. */
baleen_inline void flag_permute(char *elements, const size_t *start, enum what what, u32 depth)
{
	const size_t bytes = element_bytes(what);
	union element element, other;
	size_t next[256];

	memcpy(next, start, sizeof(next));
	for (u32 bucket = 0; bucket < 256; bucket++) {
		while (next[bucket] < start[bucket + 1]) {
			char *here = elements + next[bucket]++ * bytes;
			u32 digit;

			memcpy(&element, here, bytes);
			while ((digit = digit_of(&element, what, depth)) != bucket) {
				char *there = elements + next[digit]++ * bytes;

				memcpy(&other, there, bytes);
				memcpy(there, &element, bytes);
				memcpy(&element, &other, bytes);
			}
			memcpy(here, &element, bytes);
		}
	}
}

baleen_inline void flag_sort(char *elements, size_t n, enum what what, u32 depth, sort_fn *deeper)
{
	const size_t bytes = element_bytes(what);
	union element element;
	size_t start[257];

	if (n <= SMALL) {
		insertion_sort(elements, n, what);
		return;
	}
	memset(start, 0, sizeof(start));
	for (size_t i = 0; i < n; i++) {
		memcpy(&element, elements + i * bytes, bytes);
		start[digit_of(&element, what, depth) + 1]++;
	}
	for (u32 bucket = 0; bucket < 256; bucket++)
		start[bucket + 1] += start[bucket];
	flag_permute(elements, start, what, depth);
	if (depth + 1 == n_digits(what))
		return;
	for (u32 bucket = 0; bucket < 256; bucket++)
		deeper(elements + start[bucket] * bytes, start[bucket + 1] - start[bucket],
		       depth + 1);
}

static void sort_ip4(char *elements, size_t n, u32 depth)
{
	flag_sort(elements, n, IP4, depth, sort_ip4);
}

static void sort_ip6(char *elements, size_t n, u32 depth)
{
	flag_sort(elements, n, IP6, depth, sort_ip6);
}

static void sort_prefix4(char *elements, size_t n, u32 depth)
{
	flag_sort(elements, n, PREFIX4, depth, sort_prefix4);
}

static void sort_prefix6(char *elements, size_t n, u32 depth)
{
	flag_sort(elements, n, PREFIX6, depth, sort_prefix6);
}

static void sort_key(char *elements, size_t n, u32 depth)
{
	flag_sort(elements, n, KEY, depth, sort_key);
}

/* --- with a scratch, by threads --------------------------------------------- */

/* Fewer are sorted sooner than threads are made. */
#define MANY (1u << 16)

/* IPv4 addresses: fewer than that, and tables of 256 digits take longer than they save. */
#define ENOUGH 512

/**
 * struct sorting - elements that threads sort
 * @elements: the array
 * @scratch: as large
 * @n: how many
 * @what: what they are
 * @depth: of the digit that tells the bucket
 * @is_counted: the elements are to be moved, not counted
 * @n_slices: parts of the array, each counted and moved by one thread
 * @next: of each slice and digit how many elements there are, then where the next one goes
 * @start: of each bucket
 * @n_alone: a bucket of more elements is sorted by all threads together
 */
struct sorting {
	char *elements;
	char *scratch;
	size_t n;
	enum what what;
	u32 depth;
	bool is_counted;
	u32 n_slices;
	size_t (*next)[256];
	size_t start[257];
	size_t n_alone;
};

baleen_inline void pass_slice(const struct sorting *sorting, u32 slice, enum what what)
{
	const size_t bytes = element_bytes(what);
	size_t end = sorting->n * (slice + 1) / sorting->n_slices;
	size_t *next = sorting->next[slice];
	bool is_counted = sorting->is_counted;
	union element element;

	for (size_t i = sorting->n * slice / sorting->n_slices; i < end; i++) {
		size_t at;

		memcpy(&element, sorting->elements + i * bytes, bytes);
		at = next[digit_of(&element, what, sorting->depth)]++;
		if (is_counted)
			memcpy(sorting->scratch + at * bytes, &element, bytes);
	}
}

static void pass(void *data, u32 slice, u32 thread)
{
	const struct sorting *sorting = data;

	switch (sorting->what) {
	case IP4: pass_slice(sorting, slice, IP4); break;
	case IP6: pass_slice(sorting, slice, IP6); break;
	case PREFIX4: pass_slice(sorting, slice, PREFIX4); break;
	case PREFIX6: pass_slice(sorting, slice, PREFIX6); break;
	default: pass_slice(sorting, slice, KEY); break;
	}
}

/* From counts to places. */
static void place_buckets(struct sorting *sorting)
{
	size_t at = 0;

	for (u32 bucket = 0; bucket < 256; bucket++) {
		sorting->start[bucket] = at;
		for (u32 slice = 0; slice < sorting->n_slices; slice++) {
			size_t n = sorting->next[slice][bucket];

			sorting->next[slice][bucket] = at;
			at += n;
		}
	}
	sorting->start[256] = at;
	sorting->is_counted = true;
}

static void sort_alone(enum what what, char *elements, size_t n, u32 depth)
{
	switch (what) {
	case IP4: sort_ip4(elements, n, depth); break;
	case IP6: sort_ip6(elements, n, depth); break;
	case PREFIX4: sort_prefix4(elements, n, depth); break;
	case PREFIX6: sort_prefix6(elements, n, depth); break;
	default: sort_key(elements, n, depth); break;
	}
}

static void move_by_digit(u32 *to, const u32 *from, size_t n, u32 shift)
{
	size_t next[256] = { 0 }, at = 0, n_here;

	for (size_t i = 0; i < n; i++)
		next[from[i] >> shift & 255]++;
	for (u32 digit = 0; digit < 256; digit++) {
		n_here = next[digit];
		next[digit] = at;
		at += n_here;
	}
	for (size_t i = 0; i < n; i++)
		to[next[from[i] >> shift & 255]++] = from[i];
}

/* From the lowest byte up to the one below @depth: no comparison, so none is mispredicted.
 * In: @scratch; out: @elements.
 */
static void sort_ip4_upwards(u32 *elements, u32 *scratch, size_t n, u32 depth)
{
	u32 *from = scratch, *to = elements, *last;

	/* With an even number of moves they begin where they end. */
	if (depth & 1) {
		memcpy(elements, scratch, n * sizeof(*elements));
		from = elements;
		to = scratch;
	}
	for (u32 digit = 3; digit > depth; digit--) {
		move_by_digit(to, from, n, 24 - 8 * digit);
		last = to;
		to = from;
		from = last;
	}
}

static void sort_bucket(void *data, u32 bucket, u32 thread)
{
	const struct sorting *sorting = data;
	const size_t bytes = element_bytes(sorting->what);
	size_t start = sorting->start[bucket], n = sorting->start[bucket + 1] - start;
	char *elements = sorting->elements + start * bytes;

	if (sorting->what == IP4 && n >= ENOUGH && n <= sorting->n_alone) {
		sort_ip4_upwards((u32 *)elements, (u32 *)sorting->scratch + start, n,
				 sorting->depth);
		return;
	}
	memcpy(elements, sorting->scratch + start * bytes, n * bytes);
	if (n <= sorting->n_alone && sorting->depth + 1 < n_digits(sorting->what))
		sort_alone(sorting->what, elements, n, sorting->depth + 1);
}

/* By one digit all threads together, then bucket by bucket; a bucket that holds most of what
 * there is, as where all addresses begin alike, in the same way again.
 */
static void sort_together(const struct sorting *whole, size_t at, size_t n, u32 depth)
{
	const size_t bytes = element_bytes(whole->what);
	struct sorting sorting = *whole;

	if (depth == n_digits(whole->what))
		return;
	sorting.elements += at * bytes;
	sorting.scratch += at * bytes;
	sorting.n = n;
	sorting.depth = depth;
	memset(sorting.next, 0, sorting.n_slices * sizeof(*sorting.next));
	baleen_threads_run(sorting.n_slices, pass, &sorting);
	place_buckets(&sorting);
	baleen_threads_run(sorting.n_slices, pass, &sorting);
	baleen_threads_run(256, sort_bucket, &sorting);
	for (u32 bucket = 0; bucket < 256; bucket++) {
		size_t start = sorting.start[bucket], n_here = sorting.start[bucket + 1] - start;

		if (n_here > sorting.n_alone)
			sort_together(whole, at + start, n_here, depth + 1);
	}
}

static void sort(enum what what, void *elements, size_t n)
{
	struct sorting sorting = { .elements = elements, .n = n, .what = what };

	/* One thread is enough where the scratch is worth it by itself. */
	if (n >= MANY && (baleen_threads() > 1 || what == IP4)) {
		sorting.n_slices = baleen_threads();
		sorting.n_alone = n / sorting.n_slices / 2;
		sorting.scratch = malloc(n * element_bytes(what));
		sorting.next = calloc(sorting.n_slices, sizeof(*sorting.next));
	}
	if (sorting.scratch && sorting.next)
		sort_together(&sorting, 0, n, 0);
	else
		sort_alone(what, elements, n, 0);
	free(sorting.scratch);
	free(sorting.next);
}

void baleen_list_sort(struct baleen_list *list)
{
	sort(IP4, list->ip4, list->n_ip4);
	sort(IP6, list->ip6, list->n_ip6);
	sort(PREFIX4, list->prefix4, list->n_prefix4);
	sort(PREFIX6, list->prefix6, list->n_prefix6);
	sort(KEY, list->key, list->n_key);
}
