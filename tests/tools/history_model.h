/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a rule shall hold after a random history, the slow and obvious way: a table
 * of all keys that occur, what each origin and feed says of them, and a walk over
 * all of it for each address.
 *
 * The keys are hosts, prefixes and ranges of few bits, so that they meet.
 */
#ifndef BALEEN_TESTS_HISTORY_MODEL_H
#define BALEEN_TESTS_HISTORY_MODEL_H

#include <err.h>
#include <stdio.h>
#include <string.h>

#include <state/entries.h>

#define N_HOSTS 200
#define N_PREFIXES 60
#define N_RANGES 40
#define N_KEYS (N_HOSTS + N_PREFIXES + N_RANGES)
#define N_ORIGINS 3
#define N_FEEDS 2

/* Beside and at both ends of each key. */
#define N_EDGES (4 * N_KEYS)

/**
 * struct entry - one of the keys that entries are made of
 * @text: in its shortest form
 * @span: its addresses
 */
struct entry {
	char text[BALEEN_RULE_ENTRY_TEXT];
	struct baleen_span span;
};

/**
 * struct place - is there a single entry?
 * @is_there: there is
 * @ends: step at whose expiry it ends; 0 for never
 */
struct place {
	bool is_there;
	u64 ends;
};

static struct entry entry[N_KEYS], never;
static struct place place[N_KEYS][2][N_ORIGINS];
static bool in_feed[N_FEEDS][N_KEYS][2];
static struct baleen_key edge[N_EDGES];
static u32 n_edges;
static u64 random_state;

/* SplitMix64 (Steele, Lea and Flood 2014). */
static u64 any(u64 n)
{
	u64 x = random_state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (x ^ x >> 31) % n;
}

/* --- the keys --------------------------------------------------------------- */

/* None of them special. */
static struct baleen_key any_address(bool is_ip6)
{
	if (!is_ip6)
		return (struct baleen_key){ .domain = BALEEN_IP4,
					    .ip4 = 20u << 24 | any(2) << 16 | any(128) };
	return (struct baleen_key){ .domain = BALEEN_IP6,
				    .hi = 0x2400ull << 48 | any(2) << 16 | any(4),
				    .lo = any(16) };
}

static void any_text(char *text, u32 n)
{
	static const u32 lengths[2][5] = { { 15, 25, 27, 29, 31 }, { 47, 48, 62, 64, 126 } };
	bool is_ip6 = !any(3);
	struct baleen_key first = any_address(is_ip6), last = any_address(is_ip6), swap = first;

	if (baleen_key_compare(&first, &last) > 0) {
		first = last;
		last = swap;
	}
	baleen_key_format(&first, BALEEN_KEY_SRC, text);
	text += strlen(text);
	if (n >= N_HOSTS + N_PREFIXES) {
		*text = '-';
		baleen_key_format(&last, BALEEN_KEY_SRC, text + 1);
	} else if (n >= N_HOSTS) {
		sprintf(text, "/%u", lengths[is_ip6][any(5)]);
	}
}

static void make_entry(struct entry *made, u32 n)
{
	struct baleen_rule_entry row;
	struct baleen_error error;
	char text[BALEEN_RULE_ENTRY_TEXT];
	const char *reason;

	any_text(text, n);
	if (baleen_rule_entry_parse(text, BALEEN_KEY_SRC, BALEEN_AS_WRITTEN, &row, &error))
		errx(1, "%s", error.text);
	strcpy(made->text, baleen_rule_entry_text(&row).text);
	if (baleen_span_parse(text, strlen(text), &made->span, &reason))
		errx(1, "%s: %s", text, reason);
}

static bool is_known(u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (!strcmp(entry[i].text, entry[n].text))
			return true;
	return false;
}

static struct baleen_key key_of(const struct baleen_span *span, struct baleen_ip6 address)
{
	if (span->is_ip6)
		return (struct baleen_key){ .domain = BALEEN_IP6,
					    .hi = address.hi,
					    .lo = address.lo };
	return (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = address.lo };
}

/* No key begins or ends where half an address does. */
static void make_edges(const struct baleen_span *span)
{
	const struct baleen_ip6 before = { span->first.hi - !span->first.lo, span->first.lo - 1 };
	const struct baleen_ip6 behind = { span->last.hi + !(span->last.lo + 1),
					   span->last.lo + 1 };

	edge[n_edges++] = key_of(span, before);
	edge[n_edges++] = key_of(span, span->first);
	edge[n_edges++] = key_of(span, span->last);
	edge[n_edges++] = key_of(span, behind);
}

static void make_entries(void)
{
	for (u32 i = 0; i < N_KEYS; i++) {
		do
			make_entry(&entry[i], i);
		while (is_known(i));
		make_edges(&entry[i].span);
	}
	make_entry(&never, N_HOSTS);
}

/* --- what each entry says --------------------------------------------------- */

/* Length of the widest prefix that holds the key and is all in the span: a range
 * counts as the prefixes that make it up. -1 when it does not hold it.
 */
static int length_at(const struct baleen_span *span, const struct baleen_key *key)
{
	u32 n_bits = key->domain == BALEEN_IP6 ? 128 : 32;
	struct baleen_span prefix;
	char text[BALEEN_RULE_ENTRY_TEXT];
	const char *reason;

	if (!baleen_span_holds(span, key))
		return -1;
	/* For all but a few the address is alone in it, or the span is a prefix. */
	for (u32 length = 0; length <= n_bits; length++) {
		baleen_key_format(key, BALEEN_KEY_SRC, text);
		sprintf(text + strlen(text), "/%u", length);
		baleen_span_parse(text, strlen(text), &prefix, &reason);
		if (baleen_ip6_compare(span->first, prefix.first) <= 0 &&
		    baleen_ip6_compare(prefix.last, span->last) <= 0)
			return length;
	}
	errx(1, "%s: in no prefix", text);
}

/* Asked for so often that it is found out once. */
static int edge_length[N_EDGES][N_KEYS];

static void measure_edges(void)
{
	for (u32 i = 0; i < n_edges; i++)
		for (u32 j = 0; j < N_KEYS; j++)
			edge_length[i][j] = length_at(&entry[j].span, &edge[i]);
}

static bool is_single(u32 i, bool is_exception)
{
	for (u32 origin = 0; origin < N_ORIGINS; origin++)
		if (place[i][is_exception][origin].is_there)
			return true;
	return false;
}

/* 1 in, 0 out, -1 not held; feed N_FEEDS is the single entries */
static int decides(u32 feed, u32 at)
{
	int longest = -1, in = -1;

	for (u32 i = 0; i < N_KEYS; i++) {
		int length = edge_length[at][i];
		bool plain, exception;

		if (length < 0 || length < longest)
			continue;
		plain = feed == N_FEEDS ? is_single(i, false) : in_feed[feed][i][false];
		exception = feed == N_FEEDS ? is_single(i, true) : in_feed[feed][i][true];
		if (!plain && !exception)
			continue;
		/* Of two of one length the exception decides. */
		in = !exception && (length > longest || in != 0);
		longest = length;
	}
	return in;
}

/* Shall the rule hold edge[@at]? */
static bool is_in(u32 at)
{
	int decision = decides(N_FEEDS, at);

	if (baleen_span_holds(&never.span, &edge[at]))
		return false;
	for (u32 feed = 0; feed < N_FEEDS && decision < 0; feed++)
		if (decides(feed, at) == 1)
			return true;
	return decision == 1;
}

/* What is withheld is not added. */
static bool is_refused(u32 i)
{
	const struct baleen_span *span = &entry[i].span;

	return span->is_ip6 == never.span.is_ip6 &&
	       baleen_ip6_compare(span->first, never.span.last) <= 0 &&
	       baleen_ip6_compare(never.span.first, span->last) <= 0;
}

#endif /* BALEEN_TESTS_HISTORY_MODEL_H */
