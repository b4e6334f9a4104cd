// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of store.log: every byte of every column against a regular expression. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include <baleen/squid.h>

#define SWAPOUT "1700000000.123 SWAPOUT 00 00000000 271B10FA47F72704CF53F2C5EACD81B0"
#define RELEASE "1700000000.123 RELEASE 3F 0000001A 271b10fa47f72704cf53f2c5eacd81b0"

static const char *const lines[] = {
	SWAPOUT,
	"1700000000.123 RELEASE 63 0000001A 271b10fa47f72704cf53f2c5eacd81b0",
	"1700000000.123 RELEASE -1 FFFFFFFF 271B10FA47F72704CF53F2C5EACD81B0",
	"0000000000.000 CREATE  07 00000000 00000000000000000000000000000001",
	"9999999999.999 SWAPIN  10 FFFFFFFF FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
	"1700000000.123 SO_FAIL -1 FFFFFFFF 00000000000000000000000000000000",
};

static const char shape[] = "^[0-9]{10}\\.[0-9]{3} (CREATE |SWAPIN |SWAPOUT|RELEASE|SO_FAIL) "
			    "([0-9]{2}|-1) [0-9A-Fa-f]{8} [0-9A-Fa-f]{32}$";

static enum baleen_store_event slow_parse(const regex_t *regex, const char *line)
{
	regmatch_t part[3];
	bool is_on_disk;

	if (regexec(regex, line, 3, part, 0))
		return BALEEN_STORE_BAD;
	is_on_disk = strncmp(line + part[2].rm_so, "-1", 2);
	if (!is_on_disk || strspn(line + BALEEN_STORE_KEY_AT, "0") == 32)
		return BALEEN_STORE_OTHER;
	if (!strncmp(line + part[1].rm_so, "SWAPOUT", 7))
		return BALEEN_STORE_INSERT;
	if (!strncmp(line + part[1].rm_so, "RELEASE", 7))
		return BALEEN_STORE_DELETE;
	return BALEEN_STORE_OTHER;
}

static void compare(const regex_t *regex, const char *line)
{
	unsigned long long want_hi = 77, want_lo = 88;
	enum baleen_store_event want = slow_parse(regex, line), got;
	u64 hi = 77, lo = 88;

	got = baleen_store_parse((const u8 *)line, &hi, &lo);
	if (want != BALEEN_STORE_BAD)
		assert_int_equal(sscanf(line + BALEEN_STORE_KEY_AT, "%16llx%16llx", &want_hi,
					&want_lo),
				 2);
	if (got != want || hi != want_hi || lo != want_lo)
		fail_msg("'%s': %d, not %d; %llx %llx", line, got, want, (unsigned long long)hi,
			 (unsigned long long)lo);
}

static void every_byte_of_every_column(void **state)
{
	char line[BALEEN_STORE_LINE_BYTES + 1];
	regex_t regex;

	assert_int_equal(regcomp(&regex, shape, REG_EXTENDED), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(strlen(lines[i]), BALEEN_STORE_LINE_BYTES);
		for (u32 column = 0; column < BALEEN_STORE_LINE_BYTES; column++) {
			for (u32 byte = 0; byte < 256; byte++) {
				strcpy(line, lines[i]);
				line[column] = byte;
				compare(&regex, line);
			}
		}
	}
	regfree(&regex);
}

static void events_are_told_apart(void **state)
{
	static const enum baleen_store_event want[] = { BALEEN_STORE_INSERT, BALEEN_STORE_DELETE,
							BALEEN_STORE_OTHER,  BALEEN_STORE_OTHER,
							BALEEN_STORE_OTHER,  BALEEN_STORE_OTHER };
	u64 hi, lo;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(baleen_store_parse((const u8 *)lines[i], &hi, &lo), want[i]);
	assert_int_equal(baleen_store_parse((const u8 *)SWAPOUT, &hi, &lo), BALEEN_STORE_INSERT);
	assert_true(hi == 0x271b10fa47f72704 && lo == 0xcf53f2c5eacd81b0);
	/* A directory is a number of two decimal digits. */
	assert_int_equal(baleen_store_parse((const u8 *)RELEASE, &hi, &lo), BALEEN_STORE_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_of_every_column),
		cmocka_unit_test(events_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
