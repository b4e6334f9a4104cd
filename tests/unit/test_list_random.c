// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of random lines against a slow parser, random keys against qsort(). */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "lists.h"
#include "random.h"

#define SEED 0x62616c65656eull

static struct random random_state;

static u64 random_bits(void)
{
	return random_next(&random_state);
}

static u32 random_to(u32 limit)
{
	return random_below(&random_state, limit);
}

static int random_start(void **state)
{
	random_state = random_from(SEED);
	return 0;
}

/* --- a slow, obvious parser --- */

/* Of the family that it is written in. */
static bool slow_address(const char *text, struct baleen_key *key)
{
	u8 bytes[16];

	if (inet_pton(AF_INET, text, bytes) == 1) {
		*key = baleen_key_ip4(bytes);
		return true;
	}
	if (inet_pton(AF_INET6, text, bytes) != 1)
		return false;
	*key = baleen_key_ip6(bytes);
	return true;
}

static unsigned __int128 slow_number(const struct baleen_key *key)
{
	return key->domain == BALEEN_IP4 ? key->ip4 : (unsigned __int128)key->hi << 64 | key->lo;
}

static void slow_append(struct baleen_list *list, u32 domain, unsigned __int128 number, int length,
			bool is_exception, bool is_range)
{
	if (domain == BALEEN_IP6 && length == 128 && !is_exception)
		list->ip6[list->n_ip6++] = (struct baleen_ip6){number >> 64, number};
	else if (domain == BALEEN_IP6)
		list->prefix6[list->n_prefix6++] =
			(struct baleen_prefix6){number >> 64, number, length, is_exception};
	else if (length == 32 && !is_exception && !is_range)
		list->ip4[list->n_ip4++] = number;
	else
		list->prefix4[list->n_prefix4++] =
			(struct baleen_prefix4){number, length, is_exception};
	list->n_listed++;
	assert_true(list->n_ip4 <= list->room_ip4 && list->n_ip6 <= list->room_ip6 &&
		    list->n_prefix4 <= list->room_prefix4 && list->n_prefix6 <= list->room_prefix6);
}

/* Appends the prefixes below @number / @length that make up @low to @high. */
static void slow_split(struct baleen_list *list, u32 domain, unsigned __int128 number, int length,
		       unsigned __int128 low, unsigned __int128 high, bool is_exception)
{
	int n_bits = (domain == BALEEN_IP4 ? 32 : 128) - length;
	unsigned __int128 mask =
		n_bits == 128 ? ~(unsigned __int128)0 : ((unsigned __int128)1 << n_bits) - 1;

	if (number > high || (number | mask) < low)
		return;
	if (low <= number && (number | mask) <= high) {
		slow_append(list, domain, number, length, is_exception, low < high);
		return;
	}
	slow_split(list, domain, number, length + 1, low, high, is_exception);
	slow_split(list, domain, number | (unsigned __int128)1 << (n_bits - 1), length + 1, low,
		   high, is_exception);
}

static bool slow_prefix_length(const char *text, int max, int *length)
{
	char again[16];

	*length = atoi(text);
	snprintf(again, sizeof(again), "%d", *length);
	return !strcmp(again, text) && *length >= 0 && *length <= max;
}

/* Its first and last address, of the family of @domain; false: it is bad. */
static bool slow_span(char *text, u32 *domain, unsigned __int128 *first_number,
		      unsigned __int128 *last_number)
{
	char *dash = strchr(text, '-'), *slash = strchr(text, '/');
	unsigned __int128 low, high, mask;
	struct baleen_key first, last;
	int length, max;

	if (dash)
		*dash = '\0';
	else if (slash)
		*slash = '\0';
	if (!slow_address(text, &first))
		return false;
	last = first;
	if (dash && (!slow_address(dash + 1, &last) || last.domain != first.domain))
		return false;
	low = slow_number(&first);
	high = slow_number(&last);
	if (!dash && slash) {
		max = strchr(text, ':') ? 128 : 32;
		if (!slow_prefix_length(slash + 1, max, &length))
			return false;
		mask = max == length ? 0 : ~(unsigned __int128)0 >> (128 - (max - length));
		low &= ~mask;
		high = low | mask;
	}
	if (low > high)
		return false;
	/* One IPv4-mapped address that is no range is the IPv4 address. */
	if (!dash && low == high && low >> 32 == 0xffff) {
		first.domain = BALEEN_IP4;
		low = high = (u32)low;
	}
	*domain = first.domain;
	*first_number = low;
	*last_number = high;
	return true;
}

/* Appends the keys of the entry; false: it is bad. */
static bool slow_entry(struct baleen_list *list, char *text)
{
	bool is_exception = *text == '!';
	unsigned __int128 low, high;
	u32 domain;

	if (!slow_span(text + is_exception, &domain, &low, &high))
		return false;
	slow_split(list, domain, 0, 0, low, high, is_exception);
	return true;
}

static bool slow_is_key(const char *word)
{
	unsigned __int128 low, high;
	char copy[256];
	u32 domain;

	snprintf(copy, sizeof(copy), "%s", word);
	return strcmp(word, "::") && strpbrk(word, ".:") && *word != '-' &&
	       slow_span(copy, &domain, &low, &high);
}

/* 0.0.0.0 and a name with a dot */
static bool slow_is_hosts_line(const char *key, const char *word)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char others[] = "0123456789.-_", all[128];

	snprintf(all, sizeof(all), "%s%s", name, others);
	return (!strcmp(key, "0.0.0.0") || !strcmp(key, "127.0.0.1") || !strcmp(key, "::") ||
		!strcmp(key, "::1")) &&
	       strpbrk(word, name) && strchr(word, '.') && !word[strspn(word, all)];
}

/* /24, or a slash and the number behind white space */
static bool slow_is_length(const char *word, const char *rest)
{
	static const char digits[] = "0123456789";

	if (*word != '/')
		return false;
	if (word[1])
		return strchr(digits, word[1]);
	rest += strspn(rest, " \t");
	return strspn(rest, digits) && strspn(rest, digits) == strcspn(rest, " \t,;#|");
}

/* Does what stands behind a key make it another entry? */
static bool slow_is_other(const char *key, const char *rest)
{
	bool is_first = true, is_hosts = *rest == ' ' || *rest == '\t';
	char word[256], *p;

	while (*rest && *rest != '#') {
		bool is_last = *rest == ';';
		size_t length;

		rest += is_last;
		rest += strspn(rest, " \t");
		length = strcspn(rest, " \t,;#|");
		snprintf(word, sizeof(word), "%.*s", (int)length, rest);
		rest += length;
		if (is_last)
			return slow_is_key(word);
		p = word + (*word == '!');
		if (is_first && slow_is_length(p, rest))
			return true;
		p += *p == '-';
		if (slow_is_key(p) || (is_first && is_hosts && slow_is_hosts_line(key, p)))
			return true;
		is_first &= !*p;
		rest += *rest && strchr(",|", *rest);
	}
	return false;
}

static bool slow_line(struct baleen_list *list, const char *line)
{
	char copy[256], key[256], *text = copy;
	size_t length;

	snprintf(copy, sizeof(copy), "%s", line);
	for (length = strlen(copy); length && strchr(" \t\r", copy[length - 1]); length--)
		copy[length - 1] = '\0';
	if (strchr(copy, '\r'))
		return false;
	text += strspn(text, " \t");
	length = strcspn(text, " \t#;");
	if (!length)
		return true;
	snprintf(key, sizeof(key), "%.*s", (int)length, text);
	if (slow_is_other(key + (*key == '!'), text + length))
		return false;
	return slow_entry(list, key);
}

static int random_ip4(char *text)
{
	return sprintf(text, "%u.%u.%u.%u", random_to(256), random_to(256), random_to(12),
		       random_to(256));
}

static int random_ip6(char *text)
{
	char canonical[INET6_ADDRSTRLEN];
	u8 bytes[16] = {0};

	for (u32 i = 0; i < 16; i++)
		bytes[i] = random_to(3) ? 0 : random_to(256);
	if (!random_to(4)) {
		memset(bytes, 0, 10);
		memset(bytes + 10, 0xff, 2);
	}
	inet_ntop(AF_INET6, bytes, canonical, sizeof(canonical));
	if (random_to(2))
		return sprintf(text, "%s", canonical);
	for (u32 i = 0; i < 16; i += 2)
		sprintf(text + i / 2 * 5, "%02X%02x%s", bytes[i], bytes[i + 1], i < 14 ? ":" : "");
	return strlen(text);
}

/* The second end of a range lies near the first, most often behind it. */
static int random_last(char *text, const char *first_text)
{
	struct baleen_key key;

	slow_address(first_text, &key);
	key.ip4 += random_to(600) - 50;
	key.lo += random_to(600) - 50;
	if (random_to(4) == 0)
		key.ip4 ^= key.hi ^= random_bits() >> random_to(64);
	baleen_key_format(&key, BALEEN_KEY_SRC, text);
	return strlen(text);
}

/* Less than 200 bytes. */
static void random_line(char *line)
{
	static const char *const before[] = {"", "", "!", " ", "\t !"};
	static const char *const after[] = {"",	   "",	 "",	"",	  "",	       "\t10",
					    "",	   "",	 "",	"",	  "",	       "",
					    " # x", "#x", ";",	"\r",	  " \r",	       " -1",
					    " a.b", " /8", ";::1", " x ::2,", "\t10.0.0.0/8", " - 1.1.1.1"};
	static const char alphabet[] = "0123456789abcdef.:/-,#; \t!%xG\r";
	char address[64], *p = line;
	bool ip6 = random_to(3) == 0;

	p += sprintf(p, "%s", before[random_to(5)]);
	p += sprintf(p, "%.*s", ip6 ? random_ip6(address) : random_ip4(address), address);
	if (random_to(4) == 0)
		p += sprintf(p, "/%u", random_to(ip6 ? 130 : 34));
	else if (random_to(4) == 0)
		p += sprintf(p, "-") + random_last(p + 1, address);
	sprintf(p, "%s", after[random_to(sizeof(after) / sizeof(after[0]))]);
	for (u32 n = random_to(2) ? random_to(4) : 0; n; n--) {
		size_t length = strlen(line), at = random_to(length + 1);
		char c = alphabet[random_to(sizeof(alphabet) - 1)];

		if (at < length && random_to(2)) {
			line[at] = c;
			continue;
		}
		memmove(line + at + 1, line + at, length + 1 - at);
		line[at] = c;
	}
	if (*line && random_to(16) == 0)
		line[random_to(strlen(line))] = '\0';
}

struct bad_lines {
	size_t n;
	u64 *line;
};

static void note_line(void *data, const struct baleen_list_problem *problem)
{
	struct bad_lines *bad = data;

	bad->line[bad->n++] = problem->line;
}

static void assert_same_entries(const struct baleen_list *list, const struct baleen_list *slow)
{
	assert_int_equal(list->n_listed, slow->n_listed);
	assert_int_equal(list->n_ip4, slow->n_ip4);
	assert_memory_equal(list->ip4, slow->ip4, list->n_ip4 * sizeof(u32));
	assert_int_equal(list->n_ip6, slow->n_ip6);
	assert_memory_equal(list->ip6, slow->ip6, list->n_ip6 * sizeof(struct baleen_ip6));
	assert_int_equal(list->n_prefix4, slow->n_prefix4);
	for (size_t i = 0; i < list->n_prefix4; i++) {
		assert_int_equal(list->prefix4[i].address, slow->prefix4[i].address);
		assert_int_equal(list->prefix4[i].length, slow->prefix4[i].length);
		assert_int_equal(list->prefix4[i].is_exception, slow->prefix4[i].is_exception);
	}
	assert_int_equal(list->n_prefix6, slow->n_prefix6);
	for (size_t i = 0; i < list->n_prefix6; i++) {
		assert_int_equal(list->prefix6[i].hi, slow->prefix6[i].hi);
		assert_int_equal(list->prefix6[i].lo, slow->prefix6[i].lo);
		assert_int_equal(list->prefix6[i].length, slow->prefix6[i].length);
		assert_int_equal(list->prefix6[i].is_exception, slow->prefix6[i].is_exception);
	}
}

/* 40,000 lines are four buffers, so lines lie across the ends of buffers. */
static void test_random_lines(void **state)
{
	const size_t n_lines = 40000, room = 1024 * 1024;
	struct bad_lines want = {.line = calloc(n_lines, sizeof(u64))};
	struct bad_lines got = {.line = calloc(n_lines, sizeof(u64))};
	const struct baleen_list_reader reader = {.on_bad = note_line, .data = &got};
	struct baleen_list slow = {
		.ip4 = malloc(room * sizeof(u32)),
		.room_ip4 = room,
		.ip6 = malloc(room * sizeof(struct baleen_ip6)),
		.room_ip6 = room,
		.prefix4 = calloc(room, sizeof(struct baleen_prefix4)),
		.room_prefix4 = room,
		.prefix6 = calloc(room, sizeof(struct baleen_prefix6)),
		.room_prefix6 = room,
	};
	struct baleen_list list = {0};
	char *file = malloc(n_lines * 200), *p = file;
	int fd;

	assert_true(want.line && got.line && slow.ip4 && slow.ip6 && slow.prefix4 && slow.prefix6 &&
		    file);
	for (u64 line = 1; line <= n_lines; line++) {
		random_line(p);
		if (!slow_line(&slow, p))
			want.line[want.n++] = line;
		p += strlen(p);
		*p++ = '\n';
	}
	fd = open_bytes(file, p - file);
	assert_int_equal(baleen_list_read(&list, fd, "some.txt", &reader, NULL), 0);
	close(fd);
	assert_in_range(want.n, n_lines / 8, n_lines / 2);
	assert_memory_equal(got.line, want.line, n_lines * sizeof(u64));
	assert_int_equal(list.n_lines, n_lines);
	assert_int_equal(list.n_bad, want.n);
	assert_same_entries(&list, &slow);
	baleen_list_free(&list);
	baleen_list_free(&slow);
	free(want.line);
	free(got.line);
	free(file);
}

/* --- sorted and distinct --- */

static int compare_ip4(const void *a, const void *b)
{
	const u32 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int compare_ip6(const void *a, const void *b)
{
	const struct baleen_ip6 *x = a, *y = b;

	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void *copy_of(const void *bytes, size_t n_bytes)
{
	void *copy = malloc(n_bytes);

	assert_non_null(copy);
	return memcpy(copy, bytes, n_bytes);
}

/* Keys have @bits random bits, from bit @shift on. */
static void check_sorted(size_t n, u32 bits, u32 shift)
{
	struct baleen_list list = {.n_ip4 = n, .room_ip4 = n, .n_ip6 = n, .room_ip6 = n};
	size_t kept = 0, bytes4 = n * sizeof(u32), bytes6 = n * sizeof(struct baleen_ip6);
	u64 mask = (1ull << bits) - 1;
	struct baleen_ip6 *want6;
	u32 *want4;

	list.ip4 = malloc(bytes4);
	list.ip6 = malloc(bytes6);
	assert_true(list.ip4 && list.ip6);
	for (size_t i = 0; i < n; i++) {
		list.ip4[i] = (random_bits() & mask) << shift % 32;
		list.ip6[i].hi = shift < 64 ? 0 : (random_bits() & mask) << (shift - 64);
		list.ip6[i].lo = (random_bits() & mask) << shift % 64;
	}
	want4 = copy_of(list.ip4, bytes4);
	want6 = copy_of(list.ip6, bytes6);
	qsort(want4, n, sizeof(u32), compare_ip4);
	qsort(want6, n, sizeof(struct baleen_ip6), compare_ip6);
	assert_int_equal(baleen_list_finish(&list), 0);
	for (size_t i = 0; i < n; i++)
		if (!i || want4[i] != want4[i - 1])
			assert_int_equal(list.ip4[kept++], want4[i]);
	assert_int_equal(list.n_ip4, kept);
	kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!i || compare_ip6(&want6[i], &want6[i - 1]))
			assert_memory_equal(&list.ip6[kept++], &want6[i], sizeof(*want6));
	assert_int_equal(list.n_ip6, kept);
	assert_int_equal(list.n_covered, 2 * n - list.n_ip4 - list.n_ip6);
	baleen_list_free(&list);
	free(want4);
	free(want6);
}

static void test_sorted(void **state)
{
	static const size_t n[] = {1, 2, 31, 32, 33, 1000, 30000};

	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
		check_sorted(n[i], 32, 0);
		check_sorted(n[i], 32, 96);
		check_sorted(n[i], 1, 0);
		check_sorted(n[i], 4, 28);
		check_sorted(n[i], 10, 11);
		check_sorted(n[i], 3, 125);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_random_lines, random_start),
		cmocka_unit_test_setup(test_sorted, random_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
