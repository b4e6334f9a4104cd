// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of this world: what is in the set is what one of their lines covers. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lists.h"
#include "random.h"

#define SEED 0x7768616c65ull
#define FOLDER "../shared/data/lists/"
#define N_RANDOM 1000

typedef unsigned __int128 u128;

struct prefix {
	u128 first;
	u128 last;
};

struct reference {
	bool is_ip6;
	size_t n;
	struct prefix prefix[65536];
};

/* A line by inet_pton(), not by the parser under test. */
static void add_line(struct reference *reference, char *line)
{
	struct prefix *prefix = &reference->prefix[reference->n++];
	char *slash = strchr(line, '/');
	int length;
	u8 bytes[16] = {0};

	assert_non_null(slash);
	*slash = '\0';
	length = atoi(slash + 1) + (reference->is_ip6 ? 0 : 96);
	assert_int_equal(inet_pton(reference->is_ip6 ? AF_INET6 : AF_INET, line,
				   bytes + (reference->is_ip6 ? 0 : 12)),
			 1);
	for (u32 i = 0; i < 16; i++)
		prefix->first = prefix->first << 8 | bytes[i];
	prefix->last = prefix->first | ((((u128)1) << (128 - length)) - 1);
}

static void read_reference(const char *path, struct reference *reference)
{
	FILE *file = fopen(path, "r");
	char line[256];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		assert_true(reference->n < sizeof(reference->prefix) / sizeof(struct prefix));
		if (*line != '#' && *line != '\n')
			add_line(reference, line);
	}
	fclose(file);
}

static bool slow_test(const struct reference *reference, u128 address)
{
	for (size_t i = 0; i < reference->n; i++)
		if (reference->prefix[i].first <= address && address <= reference->prefix[i].last)
			return true;
	return false;
}

/* The country lists have no exceptions: any prefix that covers will do. */
static bool made_test(const struct baleen_list *list, bool is_ip6, u128 address)
{
	for (size_t i = 0; i < list->n_net4 && !is_ip6; i++)
		if (list->net4[i].first <= address && address <= list->net4[i].last)
			return true;
	for (size_t i = 0; i < list->n_ip4 && !is_ip6; i++)
		if (list->ip4[i] == address)
			return true;
	for (size_t i = 0; i < list->n_prefix6 && is_ip6; i++) {
		const struct baleen_prefix6 *prefix = &list->prefix6[i];
		u128 first = (u128)prefix->hi << 64 | prefix->lo;

		assert_false(prefix->is_exception);
		if (!((address ^ first) >> (128 - prefix->length)))
			return true;
	}
	return false;
}

static u32 n_in;

static void check(const struct baleen_list *list, const struct reference *reference, u128 address)
{
	bool want = slow_test(reference, address);

	if (made_test(list, reference->is_ip6, address) != want)
		fail_msg("%016llx%016llx", (unsigned long long)(address >> 64),
			 (unsigned long long)address);
	n_in += want;
}

static void check_all(const struct baleen_list *list, const struct reference *reference)
{
	u128 all = reference->is_ip6 ? ~(u128)0 : 0xffffffff;
	struct random random = random_from(SEED);

	n_in = 0;
	for (u32 i = 0; i < N_RANDOM; i++) {
		const struct prefix *prefix =
			&reference->prefix[random_below(&random, reference->n)];
		u128 any = (u128)random_next(&random) << 64 | random_next(&random);

		check(list, reference, prefix->first + any % (prefix->last - prefix->first + 1));
		check(list, reference, prefix->first);
		check(list, reference, prefix->last);
		check(list, reference, (prefix->first - 1) & all);
		check(list, reference, (prefix->last + 1) & all);
		check(list, reference, any & all);
	}
	assert_in_range(n_in, 3 * N_RANDOM, 6 * N_RANDOM - 100);
}

static void check_country(const char *path, bool is_ip6)
{
	static struct reference reference;
	struct baleen_list list = {.key_spec = BALEEN_KEY_SRC};
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(&reference, 0, sizeof(reference));
	reference.is_ip6 = is_ip6;
	read_reference(path, &reference);
	assert_true(fd >= 0);
	assert_int_equal(baleen_list_read(&list, fd, path, NULL, NULL), 0);
	close(fd);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(list.n_listed, reference.n);
	assert_int_equal(baleen_list_finish(&list), 0);
	check_all(&list, &reference);
	baleen_list_free(&list);
}

static void test_us4(void **state)
{
	check_country(FOLDER "country-us.ipv4.cidr", false);
}

static void test_de4(void **state)
{
	check_country(FOLDER "country-de.ipv4.cidr", false);
}

static void test_us6(void **state)
{
	check_country(FOLDER "country-us.ipv6.cidr", true);
}

static void test_br6(void **state)
{
	check_country(FOLDER "country-br.ipv6.cidr", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_us4),
		cmocka_unit_test(test_de4),
		cmocka_unit_test(test_us6),
		cmocka_unit_test(test_br6),
	};

	if (!access(FOLDER "country-us.ipv4.cidr", R_OK))
		return cmocka_run_group_tests(tests, NULL, NULL);
	/* cmocka's own skip() prints `not ok`. */
	printf("ok - test_list_real # SKIP no lists in " FOLDER "\n");
	return 0;
}
