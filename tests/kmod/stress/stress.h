/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the stress tests of the module share, besides ../dev.h: keys of known sets,
 * filters of them, threads until a deadline, and findings of any thread.
 *
 * Keys come in sets of SET_KEYS that have none in common. Set s of IPv4 are the
 * addresses of one /20, so that it can be listed as a prefix, too; of IPv6 those of
 * one /64.
 */
#ifndef BALEEN_TESTS_STRESS_H
#define BALEEN_TESTS_STRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "../dev.h"
#include "ops/build.h"

#define SET_KEYS 4096
#define SET_BITS 12

/* Times a test says what went wrong, of maybe millions. */
#define MAX_SAID 10

/* --- findings --------------------------------------------------------------- */

static atomic_int n_findings;

static inline __attribute__((format(printf, 1, 2))) void finding(const char *format, ...)
{
	va_list args;

	if (atomic_fetch_add(&n_findings, 1) >= MAX_SAID)
		return;
	va_start(args, format);
	flockfile(stdout);
	printf("# ");
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
	funlockfile(stdout);
	va_end(args);
}

/* --- time ------------------------------------------------------------------- */

static u64 deadline_ms;

static inline u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

/* Time is up, or there is something to tell. */
static inline bool is_over(void)
{
	return now_ms() >= deadline_ms || n_findings;
}

/* As is_over(), but not before something has been done, however slow the machine is. */
static inline bool is_over_after(bool done)
{
	return n_findings || (done && is_over());
}

/* --- keys and filters --------------------------------------------------------- */

static inline u32 random_below(u64 *state, u32 n)
{
	return next_random(state) % n;
}

static inline u32 ip4_of(u32 set, u32 i)
{
	return 11u << 24 | set << SET_BITS | i;
}

static inline u64 hi_of(u32 set)
{
	return 0x20010db8ull << 32 | set;
}

static inline struct baleen_key key_in(u32 set, u32 domain, u32 i)
{
	if (domain == BALEEN_IP4)
		return (struct baleen_key){ .domain = domain, .ip4 = ip4_of(set, i) };
	return (struct baleen_key){ .domain = domain, .hi = hi_of(set), .lo = i };
}

/* The keys 0 to n - 1 of a set, of both families. */
static inline void list_hosts(struct baleen_list *list, u32 set, u32 n)
{
	list->ip4 = need(reallocarray(list->ip4, list->n_ip4 + n, sizeof(*list->ip4)));
	list->ip6 = need(reallocarray(list->ip6, list->n_ip6 + n, sizeof(*list->ip6)));
	for (u32 i = 0; i < n; i++) {
		list->ip4[list->n_ip4++] = ip4_of(set, i);
		list->ip6[list->n_ip6++] = (struct baleen_ip6){ .hi = hi_of(set), .lo = i };
	}
	list->room_ip4 = list->n_ip4;
	list->room_ip6 = list->n_ip6;
	list->n_listed += 2 * n;
}

/* A whole set as prefixes. */
static inline void list_prefixes(struct baleen_list *list, u32 set)
{
	const char *reason;
	char text[64];

	snprintf(text, sizeof(text), "11.%u.%u.0/20", set >> 4, set << 4 & 0xff);
	if (baleen_list_add(list, text, &reason))
		errx(1, "%s: %s", text, reason);
	snprintf(text, sizeof(text), "2001:db8:0:%x::/64", set);
	if (baleen_list_add(list, text, &reason))
		errx(1, "%s: %s", text, reason);
}

/* Frees the list. */
static inline struct baleen_filter filter_of(struct baleen_list *list,
					     struct baleen_build_options options)
{
	struct baleen_filter filter = { 0 };
	struct baleen_error error;

	list->key_spec = options.key_spec = BALEEN_KEY_SRC;
	if (baleen_list_finish(list))
		errx(1, "no memory");
	if (baleen_build(list, &options, &filter, &error))
		errx(1, "cannot build: %s", error.text);
	baleen_list_free(list);
	return filter;
}

/* All keys, in as many commands as it takes. 0 or a negative errno. */
static inline int all_keys(int fd, unsigned long number, const char *name,
			   const struct baleen_key *keys, u32 n, u8 *answers)
{
	u32 n_done = 0;

	_Static_assert(sizeof(*keys) == sizeof(struct baleen_dev_key), "layout");
	for (u32 done = 0; done < n; done += n_done) {
		int err = device_keys(fd, name, number, keys + done, n - done, answers + done,
				      &n_done);

		if (err)
			return err;
		if (!n_done)
			errx(1, "neither done nor failed");
	}
	return 0;
}

/* --- threads ------------------------------------------------------------------ */

struct worker {
	pthread_t thread;
	u32 number;
	u64 random;
	void *data;
};

static inline void workers_start(struct worker *workers, u32 n, void *(*run)(void *), void *data)
{
	for (u32 i = 0; i < n; i++) {
		workers[i] = (struct worker){ .number = i, .random = i, .data = data };
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]))
			errx(1, "no thread");
	}
}

static inline void workers_join(struct worker *workers, u32 n)
{
	for (u32 i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
}

#endif /* BALEEN_TESTS_STRESS_H */
