// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What baleen_list_finish() makes of entries, against a slow reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lists.h"
#include "random.h"

#define SEED 0x6b72696c6cull

typedef unsigned __int128 u128;

/* --- tables --- */

struct made {
	const char *list;
	const char *want;
	u32 n_listed;
	u32 n_covered;
};

static void check_made(u32 key_spec, const struct made *made)
{
	struct baleen_list list = {.key_spec = key_spec};
	int fd = open_bytes(made->list, strlen(made->list));

	assert_int_equal(baleen_list_read(&list, fd, "list", NULL, NULL), 0);
	close(fd);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(baleen_list_finish(&list), 0);
	assert_keys(&list, made->want);
	if (list.n_listed != made->n_listed || list.n_covered != made->n_covered)
		fail_msg("'%s': %llu listed, %llu covered", made->list,
			 (unsigned long long)list.n_listed, (unsigned long long)list.n_covered);
	assert_int_equal(list.n_prefix4, 0);
	baleen_list_free(&list);
	assert_null(list.ip4);
	assert_int_equal(list.n_lines, 0);
}

static void test_made4(void **state)
{
	static const struct made made[] = {
		{"", "", 0, 0},
		{"10.0.0.2\n10.0.0.1\n10.0.0.2", "10.0.0.1 10.0.0.2", 3, 1},
		{"0.0.0.0/0", "0.0.0.0-255.255.255.255", 1, 0},
		{"0.0.0.0-255.255.255.255", "0.0.0.0-255.255.255.255", 1, 0},
		{"0.0.0.0/0\n!0.0.0.0\n!255.255.255.255", "0.0.0.1-255.255.255.254", 3, 0},
		{"0.0.0.0/0\n!0.0.0.0/0", "", 2, 2},
		{"0.0.0.0/0\n!0.0.0.0/1\n!128.0.0.0/1", "", 3, 0},
		/* touching intervals are one, hosts beside them stay hosts */
		{"10.0.0.0/25\n10.0.0.128/25", "10.0.0.0-10.0.0.255", 2, 0},
		{"0.0.0.0/1\n128.0.0.0/1", "0.0.0.0-255.255.255.255", 2, 0},
		{"10.0.0.0/25\n10.0.0.128\n10.0.0.129", "10.0.0.128 10.0.0.129 10.0.0.0-10.0.0.127",
		 3, 0},
		{"10.0.0.1-10.0.0.3\n10.0.0.4", "10.0.0.4 10.0.0.1-10.0.0.3", 3, 0},
		{"10.0.0.0-10.0.0.2\n10.0.0.3-10.0.0.3", "10.0.0.3 10.0.0.0-10.0.0.2", 3, 0},
		/* a range of two prefixes, both hosts */
		{"10.0.0.1-10.0.0.2", "10.0.0.1-10.0.0.2", 2, 0},
		{"10.0.0.1-10.0.0.2\n!10.0.0.2", "10.0.0.1", 3, 2},
		/* what exceptions leave over */
		{"10.0.0.0/31\n!10.0.0.0", "10.0.0.1", 2, 0},
		{"10.0.0.0/29\n!10.0.0.1\n!10.0.0.3\n10.0.0.9\n9.0.0.0",
		 "9.0.0.0 10.0.0.0 10.0.0.2 10.0.0.9 10.0.0.4-10.0.0.7", 5, 0},
		{"10.0.0.0/24\n!10.0.0.0/24", "", 2, 2},
		{"!10.0.0.0/24\n10.0.0.0/24\n!10.0.0.0/24", "", 3, 3},
		{"10.0.0.1\n!10.0.0.1", "", 2, 2},
		{"10.0.0.0/8\n10.0.0.1\n!10.0.0.1", "10.0.0.0 10.0.0.2-10.255.255.255", 3, 1},
		{"!10.0.0.0/8", "", 1, 1},
		{"!10.0.0.0/8\n10.0.0.1", "10.0.0.1", 2, 1},
		{"10.0.0.0/8\n!10.1.0.0/16\n10.1.2.0/24\n!10.1.2.3\n10.1.0.1",
		 "10.1.0.1 10.0.0.0-10.0.255.255 10.1.2.0-10.1.2.2 10.1.2.4-10.1.2.255 "
		 "10.2.0.0-10.255.255.255",
		 5, 0},
		/* covered: the next wider one says so already */
		{"10.0.0.0/8\n10.1.0.0/16\n10.1.2.3", "10.0.0.0-10.255.255.255", 3, 2},
		{"10.0.0.0/8\n!10.1.0.0/16\n!10.1.2.0/24\n!10.1.2.3",
		 "10.0.0.0-10.0.255.255 10.2.0.0-10.255.255.255", 4, 2},
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		check_made(BALEEN_KEY_SRC, &made[i]);
}

static void test_made6(void **state)
{
	static const struct made made[] = {
		{"2001:db8::2\n2001:db8::1\n2001:db8::1", "2001:db8::1 2001:db8::2", 3, 1},
		{"::/0", "::/0", 1, 0},
		{"::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::/0", 1, 0},
		{"::/0\n!::/0", "", 2, 2},
		{"::/0\n!::/1\n!8000::/1", "", 3, 0},
		{"::/1\n8000::/1", "::/0", 2, 0},
		{"::/1\n8000::/2\nc000::/3\ne000::/3", "::/0", 4, 0},
		/* with a prefix in the list hosts join, too */
		{"2001:db8::/127\n2001:db8::2\n2001:db8::3", "2001:db8::/126", 3, 0},
		{"2001:db8::\n2001:db8::1", "2001:db8:: 2001:db8::1", 2, 0},
		{"2001:db8::1\n!fe80::/16", "2001:db8::1", 2, 1},
		{"2001:db8::1\n!2001:db8::1", "", 2, 2},
		{"2001:db8::1-2001:db8::2", "2001:db8::1 2001:db8::2", 2, 0},
		{"!2001:db8::/32\n2001:db8::1\n2001:db8::3", "2001:db8::1 2001:db8::3", 3, 1},
		{"2001:db8::/32\n2001:db8:1::/48\n2001:db8:1::1", "2001:db8::/32", 3, 2},
		{"2001:db8::/32\n!2001:db8:1::/48\n2001:db8:1::1\n!2001:db8:1::1:0/112",
		 "2001:db8::/32 !2001:db8:1::/48 2001:db8:1::1/128", 4, 1},
		/* halves that contradict the prefix around them, which goes with them */
		{"2001:db8::/32\n!2001:db8::/33\n!2001:db8:8000::/33\n2001:db8:8000::1",
		 "2001:db8:8000::1", 4, 0},
		{"2001:db8::/32\n!2001:db8::/33\n2001:db8::/34\n2001:db8:4000::/34",
		 "2001:db8::/32", 4, 0},
		{"2001:db8::/32\n!2001:db8::/33\n2001:db8::/34\n2001:db8:4000::/34\n"
		 "2001:db9::/32\n!2001:db9::1",
		 "2001:db8::/31 !2001:db9::1/128", 6, 0},
		/* across the two words */
		{"2001:db8:0:2::/64\n2001:db8:0:3::/65\n2001:db8:0:3:8000::/65",
		 "2001:db8:0:2::/63", 3, 0},
		{"10.0.0.1\n::ffff:10.0.0.1\n::/0\n!::ffff:10.0.0.1", "::/0", 4, 3},
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		check_made(BALEEN_KEY_DST, &made[i]);
}

static void test_made_keys(void **state)
{
	const struct made pairs = {
		"192.0.2.1,443\n2001:db8::1,443\n192.0.2.1,80\n2001:db8::1,443\n::ffff:192.0.2.1,80",
		"192.0.2.1,80 192.0.2.1,443 2001:db8::1,443",
		5,
		2,
	};
	const struct made ports = {"443\n80\n443", "80 443", 3, 1};

	check_made(BALEEN_KEY_SRC | BALEEN_KEY_DPORT, &pairs);
	check_made(BALEEN_KEY_DPORT, &ports);
}

/* More than are sorted by insertion, all alike but for the last digit. */
static void test_made_alike(void **state)
{
	struct made made = {.want = "", .n_listed = 200, .n_covered = 200};
	char text[200 * 32], *p = text;

	for (u32 i = 0; i < 100; i++)
		p += sprintf(p, "%s10.0.0.0/24\n%s2001:db8::/32\n", i == 50 ? "!" : "",
			     i == 60 ? "!" : "");
	made.list = text;
	check_made(BALEEN_KEY_SRC, &made);

	p = text;
	for (u32 i = 0; i < 100; i++)
		p += sprintf(p, "2001:db8::1,%u\n", i * 37 % 100 / 25);
	made = (struct made){
		.list = text,
		.want = "2001:db8::1,0 2001:db8::1,1 2001:db8::1,2 2001:db8::1,3",
		.n_listed = 100,
		.n_covered = 96,
	};
	check_made(BALEEN_KEY_SRC | BALEEN_KEY_DPORT, &made);
}

/* --- the reference: for every address walk all entries, the longest wins --- */

struct entry {
	u128 address;
	int length;
	bool is_exception;
};

struct reference {
	int width; /* 32 or 128 */
	size_t n;
	struct entry entry[4096];
};

static u128 low_mask(int n_bits)
{
	return n_bits == 128 ? ~(u128)0 : ((u128)1 << n_bits) - 1;
}

static bool holds(const struct reference *reference, const struct entry *entry, u128 address)
{
	return !((address ^ entry->address) & ~low_mask(reference->width - entry->length));
}

/* What the longest prefix below @limit says; 0: out. */
static bool slow_test(const struct reference *reference, u128 address, int limit)
{
	int length = -1;
	bool is_in = false;

	for (size_t i = 0; i < reference->n; i++) {
		const struct entry *entry = &reference->entry[i];

		if (entry->length >= limit || entry->length < length ||
		    !holds(reference, entry, address))
			continue;
		is_in = !entry->is_exception && (is_in || entry->length > length);
		length = entry->length;
	}
	return is_in;
}

static bool is_same(const struct entry *a, const struct entry *b)
{
	return a->address == b->address && a->length == b->length;
}

static bool slow_is_covered(const struct reference *reference, size_t i)
{
	const struct entry *entry = &reference->entry[i];

	for (size_t j = 0; j < reference->n; j++) {
		const struct entry *other = &reference->entry[j];

		if (is_same(entry, other) &&
		    ((!entry->is_exception && other->is_exception) ||
		     (entry->is_exception == other->is_exception && j < i)))
			return true;
	}
	return slow_test(reference, entry->address, entry->length) == !entry->is_exception;
}

static void add_entry(struct reference *reference, u128 address, int length, bool is_exception)
{
	struct entry *entry = &reference->entry[reference->n++];

	assert_true(reference->n <= sizeof(reference->entry) / sizeof(reference->entry[0]));
	*entry = (struct entry){
		.address = address & ~low_mask(reference->width - length),
		.length = length,
		.is_exception = is_exception,
	};
}

/* The prefixes below @address / @length that make up @low to @high. */
static void add_range(struct reference *reference, u128 address, int length, u128 low, u128 high,
		      bool is_exception)
{
	u128 mask = low_mask(reference->width - length);

	if (address > high || (address | mask) < low)
		return;
	if (low <= address && (address | mask) <= high) {
		add_entry(reference, address, length, is_exception);
		return;
	}
	add_range(reference, address, length + 1, low, high, is_exception);
	add_range(reference, address | (mask ^ mask >> 1), length + 1, low, high, is_exception);
}

/* --- is the address in the set that was made? --- */

static bool made_test4(const struct baleen_list *list, u32 address)
{
	for (size_t i = 0; i < list->n_ip4; i++)
		if (list->ip4[i] == address)
			return true;
	for (size_t i = 0; i < list->n_net4; i++)
		if (list->net4[i].first <= address && address <= list->net4[i].last)
			return true;
	return false;
}

static void prefix6_reference(const struct baleen_list *list, struct reference *made)
{
	made->width = 128;
	made->n = 0;
	for (size_t i = 0; i < list->n_prefix6; i++)
		add_entry(made, (u128)list->prefix6[i].hi << 64 | list->prefix6[i].lo,
			  list->prefix6[i].length, list->prefix6[i].is_exception);
	for (size_t i = 0; i < list->n_ip6; i++)
		add_entry(made, (u128)list->ip6[i].hi << 64 | list->ip6[i].lo, 128, false);
}

/* --- is it of the form that list.h promises? --- */

static void assert_form4(const struct baleen_list *list)
{
	size_t net = 0;

	assert_int_equal(list->n_prefix4, 0);
	for (size_t i = 0; i < list->n_net4; i++) {
		assert_true(list->net4[i].first < list->net4[i].last);
		assert_true(!i || list->net4[i - 1].last + 1ull < list->net4[i].first);
	}
	for (size_t i = 0; i < list->n_ip4; i++) {
		assert_true(!i || list->ip4[i - 1] < list->ip4[i]);
		while (net < list->n_net4 && list->net4[net].last < list->ip4[i])
			net++;
		assert_true(net == list->n_net4 || list->ip4[i] < list->net4[net].first);
	}
}

static void assert_form6(const struct baleen_list *list, const struct reference *made)
{
	bool only_hosts = true;

	assert_true(!list->n_ip6 || !list->n_prefix6);
	for (size_t i = 0; i < made->n; i++) {
		const struct entry *entry = &made->entry[i], *before = entry - 1;
		u128 half = entry->length ? (u128)1 << (128 - entry->length) : 0;

		assert_true(!i || before->address < entry->address ||
			    (before->address == entry->address && before->length < entry->length));
		only_hosts &= entry->length == 128 && !entry->is_exception;
		assert_false(slow_is_covered(made, i));
		for (size_t j = 0; j < list->n_prefix6; j++) {
			const struct entry *other = &made->entry[j];

			assert_false(entry->length && other->length == entry->length &&
				     other->address == (entry->address ^ half) &&
				     other->is_exception == entry->is_exception);
		}
	}
	assert_true(!list->n_prefix6 || !only_hosts);
}

/* --- random lists --- */

/*
 * Addresses that differ in @bits bits from @shift on, so that random prefixes
 * meet.
 */
struct universe {
	int width;
	int bits;
	int shift;
	u128 base;
};

static struct random random_state;

static u128 random_address(const struct universe *universe)
{
	u128 v = random_below(&random_state, 1ull << universe->bits);

	return universe->base | v << universe->shift;
}

/* Below a bit of the universe: zeros, ones, or anything. */
static u128 random_tail(const struct universe *universe)
{
	u128 mask = low_mask(universe->shift);

	switch (random_below(&random_state, 3)) {
	case 0: return 0;
	case 1: return mask;
	default:
		return ((u128)random_next(&random_state) << 64 | random_next(&random_state)) & mask;
	}
}

static int random_length(const struct universe *universe)
{
	int least = universe->width - universe->shift - universe->bits;

	switch (random_below(&random_state, 8)) {
	case 0: return random_below(&random_state, universe->width + 1);
	case 1: return universe->width;
	default: return least + random_below(&random_state, universe->bits + 1);
	}
}

static char *address_text(const struct universe *universe, u128 address, char *text)
{
	if (universe->width == 32)
		ip4_text(address, text);
	else
		ip6_text(address >> 64, address, text);
	return text;
}

/* Writes a line, and notes in the reference what it says. */
static int random_line(const struct universe *universe, struct reference *reference, char *line)
{
	u128 first = random_address(universe) | random_tail(universe);
	u128 last = random_address(universe) | random_tail(universe);
	char first_text[BALEEN_KEY_TEXT], last_text[BALEEN_KEY_TEXT];
	bool is_exception = random_below(&random_state, 3) == 0;
	const char *mark = is_exception ? "!" : "";
	int length = random_length(universe);

	address_text(universe, first, first_text);
	switch (random_below(&random_state, 8)) {
	case 0:
		if (first > last)
			return 0;
		add_range(reference, 0, 0, first, last, is_exception);
		return sprintf(line, "%s%s-%s\n", mark, first_text,
			       address_text(universe, last, last_text));
	case 1:
	case 2:
		add_entry(reference, first, universe->width, is_exception);
		return sprintf(line, "%s%s\n", mark, first_text);
	default:
		add_entry(reference, first, length, is_exception);
		return sprintf(line, "%s%s/%d\n", mark, first_text, length);
	}
}

static u64 n_in, n_out;

static void check_address(const struct baleen_list *list, const struct reference *reference,
			  const struct reference *made, u128 address)
{
	bool want = slow_test(reference, address, 129);
	bool got =
		reference->width == 32 ? made_test4(list, address) : slow_test(made, address, 129);

	if (got != want)
		fail_msg("%016llx%016llx is %s the set", (unsigned long long)(address >> 64),
			 (unsigned long long)address, got ? "in" : "not in");
	n_in += want;
	n_out += !want;
}

static void check_list(const struct universe *universe, const struct baleen_list *list,
		       const struct reference *reference)
{
	static struct reference made;
	u64 n_covered = 0;

	for (size_t i = 0; i < reference->n; i++)
		n_covered += slow_is_covered(reference, i);
	assert_int_equal(list->n_listed, reference->n);
	assert_int_equal(list->n_covered, n_covered);
	if (universe->width == 32) {
		assert_form4(list);
	} else {
		prefix6_reference(list, &made);
		assert_form6(list, &made);
	}
	for (u32 v = 0; v < 1u << universe->bits; v++) {
		u128 address = universe->base | (u128)v << universe->shift;

		check_address(list, reference, &made, address);
		check_address(list, reference, &made, address | low_mask(universe->shift));
		check_address(list, reference, &made, address | random_tail(universe));
	}
	check_address(list, reference, &made, 0);
	check_address(list, reference, &made, low_mask(universe->width));
	check_address(list, reference, &made, universe->base - !!universe->base);
}

static void check_universe(const struct universe *universe, u32 n_lines)
{
	static struct reference reference;
	struct baleen_list list = {0};
	char *text = malloc(n_lines * 100 + 1), *p = text;
	int fd;

	assert_non_null(text);
	reference.width = universe->width;
	reference.n = 0;
	for (u32 i = 0; i < n_lines; i++)
		p += random_line(universe, &reference, p);
	fd = open_bytes(text, p - text);
	assert_int_equal(baleen_list_read(&list, fd, "list", NULL, NULL), 0);
	close(fd);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(baleen_list_finish(&list), 0);
	check_list(universe, &list, &reference);
	baleen_list_free(&list);
	free(text);
}

static u128 random_base(int width, int bits, int shift)
{
	u128 any = (u128)random_next(&random_state) << 64 | random_next(&random_state);

	return any & low_mask(width) & ~low_mask(shift + bits);
}

/* Few lines in many places, then many lines, which are sorted another way. */
static void check_width(int width)
{
	static const u32 n_lines[] = {1, 2, 3, 5, 8, 13, 21, 34};

	random_state = random_from(SEED + width);
	n_in = n_out = 0;
	for (int shift = 0; shift + 4 <= width; shift++)
		for (u32 i = 0; i < 6 * sizeof(n_lines) / sizeof(n_lines[0]); i++) {
			struct universe universe = {width, 4, shift, random_base(width, 4, shift)};

			check_universe(&universe, n_lines[i % 8]);
		}
	for (u32 i = 0; i < 12; i++) {
		int shift = random_below(&random_state, width - 8 + 1);
		struct universe universe = {width, 8, shift, random_base(width, 8, shift)};

		check_universe(&universe, 200);
	}
	assert_true(n_in > 10000 && n_out > 10000);
}

static void test_random4(void **state)
{
	check_width(32);
}

static void test_random6(void **state)
{
	check_width(128);
}

/* --- size --- */

#define N_MANY 1000000u

/* 0.0.0.0/0 and ::/0 with a million hosts taken out of each. */
static void test_many_exceptions(void **state)
{
	struct baleen_list list = {.key_spec = BALEEN_KEY_SRC};

	list.n_prefix4 = list.room_prefix4 = list.n_prefix6 = list.room_prefix6 = N_MANY + 1;
	list.prefix4 = calloc(N_MANY + 1, sizeof(*list.prefix4));
	list.prefix6 = calloc(N_MANY + 1, sizeof(*list.prefix6));
	assert_true(list.prefix4 && list.prefix6);
	for (u32 i = 0; i < N_MANY; i++) {
		u32 at = (u64)i * 7919 % N_MANY;

		list.prefix4[i] = (struct baleen_prefix4){2 * at + 1, 32, true};
		list.prefix6[i] = (struct baleen_prefix6){0, 2 * at + 1, 128, true};
	}
	assert_int_equal(baleen_list_finish(&list), 0);
	assert_int_equal(list.n_ip4, N_MANY);
	for (u32 i = 0; i < N_MANY; i++)
		assert_int_equal(list.ip4[i], 2 * i);
	assert_int_equal(list.n_net4, 1);
	assert_int_equal(list.net4[0].first, 2 * N_MANY);
	assert_int_equal(list.net4[0].last, 0xffffffff);
	assert_int_equal(list.n_prefix6, N_MANY + 1);
	assert_int_equal(list.n_covered, 0);
	baleen_list_free(&list);
}

/* 2^20 hosts of one /108 fold up, level by level. */
static void test_many_halves(void **state)
{
	const u32 n = 1u << 20;
	struct baleen_list list = {.key_spec = BALEEN_KEY_SRC, .n_ip6 = n, .room_ip6 = n};

	list.ip6 = calloc(n, sizeof(*list.ip6));
	list.prefix6 = calloc(1, sizeof(*list.prefix6));
	assert_true(list.ip6 && list.prefix6);
	for (u32 i = 0; i < n; i++)
		list.ip6[i].lo = i;
	list.prefix6[0] = (struct baleen_prefix6){0, n, 108, false};
	list.n_prefix6 = list.room_prefix6 = 1;
	assert_int_equal(baleen_list_finish(&list), 0);
	assert_keys(&list, "::/107");
	baleen_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made4),
		cmocka_unit_test(test_made6),
		cmocka_unit_test(test_made_keys),
		cmocka_unit_test(test_made_alike),
		cmocka_unit_test(test_random4),
		cmocka_unit_test(test_random6),
		cmocka_unit_test(test_many_exceptions),
		cmocka_unit_test(test_many_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
