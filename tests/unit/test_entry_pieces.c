// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Entries as elements of sets: each address is in the set now, and until then, as the entries say;
 * found address by address, without a tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "state/entry_pieces.h"

#define N_ADDRESSES 32
#define NOW 1000
#define MAX_ENTRIES 12

/* Of each address until when it is in the set, as spans said; 1 for not at all. */
struct seen {
	u64 base;
	u64 until[N_ADDRESSES];
	u64 last;
	bool is_first;
};

static bool lasts(const struct baleen_rule_entry *entry, u64 at)
{
	return !entry->expires_ms || entry->expires_ms > at;
}

/* Entries are of whole prefixes here, so the narrowest span is the longest prefix. */
static const struct baleen_rule_entry *decider(const struct baleen_rule_entry *entry, size_t n,
					       u64 address, u64 at)
{
	const struct baleen_rule_entry *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct baleen_span *span = &entry[i].key.span;
		u64 size = span->last.lo - span->first.lo;
		u64 best_size = best ? best->key.span.last.lo - best->key.span.first.lo : ~0ull;

		if (address < span->first.lo || address > span->last.lo || !lasts(&entry[i], at))
			continue;
		if (size < best_size || (size == best_size && entry[i].is_exception))
			best = &entry[i];
	}
	return best;
}

/* 0: for ever; 1: not in it now */
static u64 until_when(const struct baleen_rule_entry *entry, size_t n, u64 address)
{
	u64 at = NOW;

	for (;;) {
		const struct baleen_rule_entry *one = decider(entry, n, address, at);

		if (!one || one->is_exception)
			return at == NOW ? 1 : at;
		if (!one->expires_ms)
			return 0;
		at = one->expires_ms;
	}
}

static int see(const struct baleen_entry_piece *span, void *data)
{
	struct seen *seen = data;

	assert_false(span->is_exception);
	assert_true(seen->is_first || span->span.first.lo > seen->last);
	seen->is_first = false;
	seen->last = span->span.last.lo;
	for (u64 address = span->span.first.lo;; address++) {
		assert_true(address - seen->base < N_ADDRESSES);
		seen->until[address - seen->base] = span->expires_ms;
		if (address == span->span.last.lo)
			return 0;
	}
}

static size_t make_entries(struct random *random, u64 base, struct baleen_rule_entry *entry)
{
	size_t n = 1 + random_below(random, MAX_ENTRIES);

	for (size_t i = 0; i < n; i++) {
		u64 size = 1ull << random_below(random, 6);
		u64 first = base + random_below(random, N_ADDRESSES / size) * size;

		entry[i] = (struct baleen_rule_entry){
			.key.span = { .first.lo = first, .last.lo = first + size - 1 },
			.is_exception = random_below(random, 3) == 0,
			.expires_ms =
				random_below(random, 2) ? NOW + 1 + random_below(random, 5) : 0,
			.reason = "why",
		};
	}
	return n;
}

/* An entry that was left out beside an exception of its prefix is counted as lost: then an end may
 * be early, and is never late. @base: of the addresses, the last ones of IPv4 among them
 */
static void hold_to_entries(u64 base, u64 seed)
{
	u32 n_exact = 0;
	struct baleen_rule_entry entry[MAX_ENTRIES];
	struct random random = random_from(seed);

	for (u32 round = 0; round < 5000; round++) {
		struct seen seen = { .base = base, .is_first = true };
		size_t n = make_entries(&random, base, entry);
		struct baleen_entry_pieces pieces;

		for (u32 i = 0; i < N_ADDRESSES; i++)
			seen.until[i] = 1;
		assert_int_equal(baleen_entry_pieces_make(entry, n, &pieces), 0);
		assert_true(pieces.n <= n);
		assert_int_equal(baleen_entry_pieces_spans(&pieces, false, NOW, see, &seen), 0);
		n_exact += !pieces.n_lost;
		for (u32 i = 0; i < N_ADDRESSES; i++) {
			u64 want = until_when(entry, n, base + i), got = seen.until[i];
			bool is_early = want != 1 && got > NOW && (!want || got < want);

			if (got != want && !(pieces.n_lost && is_early))
				fail_msg("round %u: address %u until %llu, not %llu", round, i,
					 (unsigned long long)got, (unsigned long long)want);
		}
		baleen_entry_pieces_free(&pieces);
	}
	assert_true(n_exact > 1000);
}

static void spans_are_the_entries(void **state)
{
	hold_to_entries(0xcb007100, 1);
	hold_to_entries(0, 2);
	hold_to_entries(0xffffffe0, 3);
}

/* Ranges fall into prefixes; of one prefix the entry that stays longest is left. */
static void pieces_are_prefixes(void **state)
{
	const struct baleen_rule_entry entry[] = {
		{ .key.span = { .first.lo = 1, .last.lo = 6 }, .expires_ms = 5, .reason = "range" },
		{ .key.span = { .first.lo = 4, .last.lo = 5 }, .reason = "for ever" },
		{ .key.span = { .first.lo = 4, .last.lo = 5 }, .expires_ms = 9, .reason = "not" },
		{ .key.span = { .is_ip6 = true, .first.lo = 4, .last.lo = 4 },
		  .is_exception = true,
		  .reason = "other family" },
	};
	static const struct {
		u64 first, last, expires_ms;
		const char *reason;
	} want[] = {
		{ 1, 1, 5, "range" }, { 2, 3, 5, "range" },	   { 4, 5, 0, "for ever" },
		{ 6, 6, 5, "range" }, { 4, 4, 0, "other family" },
	};
	struct baleen_entry_pieces pieces;

	assert_int_equal(baleen_entry_pieces_make(entry, 4, &pieces), 0);
	assert_int_equal(pieces.n, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < pieces.n; i++) {
		assert_int_equal(pieces.piece[i].span.first.lo, want[i].first);
		assert_int_equal(pieces.piece[i].span.last.lo, want[i].last);
		assert_int_equal(pieces.piece[i].expires_ms, want[i].expires_ms);
		assert_string_equal(pieces.piece[i].reason, want[i].reason);
	}
	assert_int_equal(pieces.n_lost, 0);
	baleen_entry_pieces_free(&pieces);
}

/* An entry that outlasts the exception in it comes back later: that has no such form. */
static void what_comes_back_is_counted(void **state)
{
	const struct baleen_rule_entry entry[] = {
		{ .key.span = { .first.lo = 0, .last.lo = 7 }, .reason = "" },
		{ .key.span = { .first.lo = 4, .last.lo = 5 },
		  .is_exception = true,
		  .expires_ms = NOW + 5,
		  .reason = "" },
	};
	struct seen seen = { .is_first = true };
	struct baleen_entry_pieces pieces;

	assert_int_equal(baleen_entry_pieces_make(entry, 2, &pieces), 0);
	assert_int_equal(baleen_entry_pieces_spans(&pieces, false, NOW, see, &seen), 0);
	assert_int_equal(pieces.n_lost, 1);
	baleen_entry_pieces_free(&pieces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_the_entries),
		cmocka_unit_test(pieces_are_prefixes),
		cmocka_unit_test(what_comes_back_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
