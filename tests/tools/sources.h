/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The source addresses of test traffic: read from a file, or drawn at random.
 */
#ifndef BALEEN_TESTS_SOURCES_H
#define BALEEN_TESTS_SOURCES_H

#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <baleen/port.h>

enum { EXIT_UNEXPECTED = 1, EXIT_USAGE = 2, EXIT_UNSOUND = 3 };

struct source {
	u8 addr[16]; /* in network order; IPv4 in the first four, the rest zero */
	bool is_ip6;
	bool is_listed;
};

struct sources {
	struct source *at;
	size_t n, room;
};

static void sources_add(struct sources *list, const struct source *source)
{
	if (list->n == list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->at = reallocarray(list->at, list->room, sizeof(*list->at));
		if (!list->at)
			err(EXIT_UNSOUND, "sources");
	}
	list->at[list->n++] = *source;
}

static bool source_parse(const char *text, struct source *source)
{
	source->is_ip6 = strchr(text, ':') != NULL;
	return inet_pton(source->is_ip6 ? AF_INET6 : AF_INET, text, source->addr) == 1;
}

/* Not the library's reader: what it misreads must not be missing here, too. */
static void sources_read(struct sources *list, const char *name, bool is_listed)
{
	char line[512], text[64];
	FILE *file = fopen(name, "r");

	if (!file)
		err(EXIT_USAGE, "%s", name);
	for (u64 n = 1; fgets(line, sizeof(line), file); n++) {
		struct source source = { .is_listed = is_listed };

		if (sscanf(line, " %63[^# \t\r\n]", text) != 1)
			continue;
		if (!source_parse(text, &source))
			errx(EXIT_USAGE, "%s:%llu: '%s': no address", name, n, text);
		sources_add(list, &source);
	}
	if (ferror(file))
		err(EXIT_UNSOUND, "%s", name);
	fclose(file);
}

/* Unicast, and in none of the special-purpose blocks of RFC 6890. */
static bool ip4_is_public(u32 ip4)
{
	static const struct {
		u32 ip4;
		int bits;
	} special[] = {
		{ 0x00000000, 8 },  { 0x0a000000, 8 },	{ 0x64400000, 10 }, { 0x7f000000, 8 },
		{ 0xa9fe0000, 16 }, { 0xac100000, 12 }, { 0xc0000000, 24 }, { 0xc0000200, 24 },
		{ 0xc0586300, 24 }, { 0xc0a80000, 16 }, { 0xc6120000, 15 }, { 0xc6336400, 24 },
		{ 0xcb007100, 24 }, { 0xe0000000, 3 },
	};

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (!((ip4 ^ special[i].ip4) >> (32 - special[i].bits)))
			return false;
	return true;
}

/* Bijections (the finalizers of MurmurHash3 and SplitMix64), so counting
 * upwards gives addresses that never repeat.
 */
static u32 mix32(u32 x)
{
	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	return x ^ x >> 16;
}

static u64 mix64(u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static bool source_random4(struct source *source, u64 seed, u64 n)
{
	u32 ip4 = mix32((u32)n ^ (u32)mix64(seed));
	u32 ip4_be = baleen_be32(ip4);

	memcpy(source->addr, &ip4_be, sizeof(ip4_be));
	return ip4_is_public(ip4);
}

/* Global unicast, 2000::/3. */
static bool source_random6(struct source *source, u64 seed, u64 n)
{
	u64 lo = mix64(n ^ mix64(seed));
	u64 half_be[2] = { baleen_be64(mix64(~lo) >> 3 | 1ull << 61), baleen_be64(lo) };

	memcpy(source->addr, half_be, sizeof(half_be));
	source->is_ip6 = true;
	return true;
}

static int source_compare(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	if (x->is_ip6 != y->is_ip6)
		return x->is_ip6 ? 1 : -1;
	return memcmp(x->addr, y->addr, sizeof(x->addr));
}

/* @avoid is sorted. */
static void sources_random(struct sources *list, const struct sources *avoid, size_t n, u64 seed,
			   bool (*draw)(struct source *source, u64 seed, u64 n))
{
	for (u64 i = 0; n; i++) {
		struct source source = {};

		if (i >> 32)
			errx(EXIT_USAGE, "no more addresses to choose from");
		if (!draw(&source, seed, i))
			continue;
		if (avoid->n &&
		    bsearch(&source, avoid->at, avoid->n, sizeof(source), source_compare))
			continue;
		sources_add(list, &source);
		n--;
	}
}

/* Listed and unlisted in turns, so that every batch has both. */
static void sources_merge(struct sources *out, const struct sources *a, const struct sources *b)
{
	for (size_t i = 0; i < a->n || i < b->n; i++) {
		if (i < a->n)
			sources_add(out, &a->at[i]);
		if (i < b->n)
			sources_add(out, &b->at[i]);
	}
}

static void source_print(FILE *file, const struct source *source)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(source->is_ip6 ? AF_INET6 : AF_INET, source->addr, text, sizeof(text));
	fprintf(file, "%s\n", text);
}

#endif /* BALEEN_TESTS_SOURCES_H */
