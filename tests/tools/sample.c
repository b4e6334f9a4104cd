// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Draws addresses from inside and from outside of lists of prefixes:
 *
 *      sample SEED N N6 INSIDE OUTSIDE LIST...
 *
 * writes N IPv4 and N6 IPv6 addresses that the lists hold to the file INSIDE,
 * as many that they do not hold to OUTSIDE. It shares no code with the filter:
 * inet_pton() reads a line (`!` is an exception, text behind white space or #
 * is passed over), and the longest of the prefixes that cover an address
 * decides, looked up length by length; of two alike the exception.
 *
 * Every second address is in an entry, its first or last one or beside it.
 * Exit: 0, 1 a file failed or there are no such addresses, 2 bad usage.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DRAWS 100000000
#define MAX_LINE 512

typedef unsigned __int128 u128;

/* IPv4 addresses are in the highest bits, so that a length means the same. */
struct entry {
	u128 address;
	int length;
	bool is_exception;
};

struct family {
	struct entry *entry;
	size_t n, room;
	int bits;
};

static u128 mask(int length)
{
	return length ? ~(u128)0 << (128 - length) : 0;
}

static int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* --- lists ---------------------------------------------------------------- */

static void family_add(struct family *family, const struct entry *entry)
{
	if (family->n == family->room) {
		family->room = family->room ? 2 * family->room : 1024;
		family->entry = reallocarray(family->entry, family->room, sizeof(*entry));
		if (!family->entry)
			err(1, "entries");
	}
	family->entry[family->n++] = *entry;
}

static void add_line(struct family *families, const char *name, const char *line)
{
	struct entry entry = { .is_exception = *line == '!' };
	char text[MAX_LINE], *slash;
	uint8_t bytes[16] = {};
	bool is_ip6 = strchr(line, ':');

	if (sscanf(line + entry.is_exception, " %511[^# \t\r\n]", text) != 1)
		return;
	slash = strchr(text, '/');
	if (slash)
		*slash = '\0';
	if (inet_pton(is_ip6 ? AF_INET6 : AF_INET, text, bytes) != 1)
		errx(1, "%s: '%s' is no address", name, text);
	for (int i = 0; i < 16; i++)
		entry.address = entry.address << 8 | bytes[i];
	entry.length = slash ? atoi(slash + 1) : families[is_ip6].bits;
	entry.address &= mask(entry.length);
	family_add(&families[is_ip6], &entry);
}

static void read_list(struct family *families, const char *name)
{
	FILE *file = fopen(name, "r");
	char line[MAX_LINE];

	if (!file)
		err(1, "%s", name);
	while (fgets(line, sizeof(line), file))
		add_line(families, name, line);
	if (ferror(file))
		err(1, "%s", name);
	fclose(file);
}

/* Of two alike only one stays, which is an exception when one of them is. */
static void family_sort(struct family *family)
{
	size_t n = 0;

	qsort(family->entry, family->n, sizeof(*family->entry), entry_compare);
	for (size_t i = 0; i < family->n; i++) {
		if (n && !entry_compare(&family->entry[n - 1], &family->entry[i]))
			family->entry[n - 1].is_exception |= family->entry[i].is_exception;
		else
			family->entry[n++] = family->entry[i];
	}
	family->n = n;
}

static bool family_holds(const struct family *family, u128 address)
{
	for (int length = family->bits; length >= 0; length--) {
		struct entry want = { .address = address & mask(length), .length = length };
		const struct entry *found =
			bsearch(&want, family->entry, family->n, sizeof(want), entry_compare);

		if (found)
			return !found->is_exception;
	}
	return false;
}

/* --- addresses ------------------------------------------------------------ */

static uint64_t state;

/* SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t random_next(void)
{
	uint64_t x = state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static u128 draw(const struct family *family)
{
	u128 step = (u128)1 << (128 - family->bits), any, first, last;
	const struct entry *entry;

	any = (u128)random_next() << 64 | random_next();
	/* Of IPv6 what is in use, 2000::/3; of the IPv4 address what it has. */
	if (family->bits == 128)
		any = any >> 3 | (u128)1 << 125;
	any &= mask(family->bits);
	if (!family->n || random_next() % 2)
		return any;
	entry = &family->entry[random_next() % family->n];
	first = entry->address;
	last = first | (~mask(entry->length) & mask(family->bits));
	switch (random_next() % 8) {
	case 0: return first;
	case 1: return last;
	case 2: return first - step;
	case 3: return last + step;
	default: return first | (any & ~mask(entry->length));
	}
}

static void print(FILE *file, const struct family *family, u128 address)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t bytes[16];

	for (int i = 0; i < 16; i++)
		bytes[i] = address >> (120 - 8 * i);
	inet_ntop(family->bits == 128 ? AF_INET6 : AF_INET, bytes, text, sizeof(text));
	fprintf(file, "%s\n", text);
}

static void sample(const struct family *family, uint64_t n, FILE *inside, FILE *outside)
{
	uint64_t n_inside = 0, n_outside = 0;

	for (uint64_t i = 0; n_inside < n || n_outside < n; i++) {
		u128 address = draw(family);

		if (i == MAX_DRAWS)
			errx(1, "%" PRIu64 " inside, %" PRIu64 " outside are all there are",
			     n_inside, n_outside);
		if (family_holds(family, address)) {
			if (n_inside++ < n)
				print(inside, family, address);
		} else if (n_outside++ < n) {
			print(outside, family, address);
		}
	}
}

static FILE *create(const char *name)
{
	FILE *file = fopen(name, "w");

	if (!file)
		err(1, "%s", name);
	return file;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end)
		errx(2, "'%s' is not a number", text);
	return value;
}

int main(int argc, char **argv)
{
	struct family families[] = { { .bits = 32 }, { .bits = 128 } };
	FILE *inside, *outside;

	if (argc < 7) {
		fprintf(stderr, "usage: sample SEED N N6 INSIDE OUTSIDE LIST...\n");
		return 2;
	}
	state = number(argv[1]);
	for (int i = 6; i < argc; i++)
		read_list(families, argv[i]);
	inside = create(argv[4]);
	outside = create(argv[5]);
	for (int i = 0; i < 2; i++) {
		family_sort(&families[i]);
		sample(&families[i], number(argv[2 + i]), inside, outside);
		free(families[i].entry);
	}
	if (fclose(inside) || fclose(outside))
		err(1, "write");
	return 0;
}
