// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a Squid tells of itself: refused first, then objects against a slow set. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "icp/squid_source.h"
#include "list/list.h"
#include "random.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

#define KEY_A "271B10FA47F72704CF53F2C5EACD81B0"
#define KEY_B "BC803772231122E1307B152D75DB1774"
#define HI_A 0x271b10fa47f72704ull
#define LO_A 0xcf53f2c5eacd81b0ull
#define HI_B 0xbc803772231122e1ull

#define OUT(key) \
	"1700000000.123 SWAPOUT 00 00000000 " key "  200 1 1 1 text/plain 5/5 GET http://h/\n"
#define GONE(key) \
	"1700000000.123 RELEASE 00 00000000 " key "  200 1 1 1 text/plain 5/5 GET http://h/\n"
#define MEMORY(key) \
	"1700000000.123 RELEASE -1 FFFFFFFF " key "  200 1 1 1 text/plain 5/5 GET http://h/\n"

#define ENTRY(key, swap, flags, place)                                                      \
	"KEY " key "\n\tSTORE_OK      IN_MEMORY     " swap " PING_NONE   \n\t" flags        \
	"\n\tLV:1 LU:1 LM:1 EX:-1        \n\t0 locks, 0 clients, 1 refs\n\tSwap Dir " place \
	"\n\tGET http://h/SWAPOUT_NONE\n\tinmem_lo: 0\n\n"
#define ON_DISK(key) ENTRY(key, "SWAPOUT_DONE", "DISPATCHED,VALIDATED", "0, File 0X00003B")

static int file_of(const char *text, size_t n_bytes, char *path)
{
	int fd = memfd_create("source", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n_bytes), n_bytes);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static int read_bytes(const char *text, size_t n_bytes, enum baleen_squid_from from,
		      struct baleen_squid_source *source, struct baleen_error *error)
{
	struct baleen_squid_read read = { .from = from };
	char path[64];
	int fd = file_of(text, n_bytes, path);
	int err = baleen_squid_source_read(path, &read, source, error);

	close(fd);
	return err;
}

/* --- refused ------------------------------------------------------------------- */

static const struct refusal {
	enum baleen_squid_from from;
	const char *text;
	const char *reason;
} refusals[] = {
	{ BALEEN_SQUID_FROM_ANY, "", "empty" },
	{ BALEEN_SQUID_FROM_ANY, "<html>\n", "nor a cache digest" },
	{ BALEEN_SQUID_FROM_ANY, "http://h/\n", "nor a cache digest" },
	{ BALEEN_SQUID_FROM_ANY, "KE", "nor a cache digest" },
	{ BALEEN_SQUID_FROM_ANY, "KEY x\n", ":1: no line of Squid's list" },
	{ BALEEN_SQUID_FROM_DIGEST, "", "shorter than the head" },
	{ BALEEN_SQUID_FROM_DIGEST, OUT(KEY_A) OUT(KEY_B), "newer version" },
	{ BALEEN_SQUID_FROM_LOG, "one\ntwo\n", ":1: no line of store.log" },
	{ BALEEN_SQUID_FROM_LOG, ON_DISK(KEY_A), ":1: no line of store.log" },
	{ BALEEN_SQUID_FROM_OBJECTS, "", "no entry at all" },
	{ BALEEN_SQUID_FROM_OBJECTS, "\n\n", "no entry at all" },
	{ BALEEN_SQUID_FROM_OBJECTS, OUT(KEY_A), ":1: no line of Squid's list" },
	{ BALEEN_SQUID_FROM_OBJECTS, "KEY " KEY_A, ":1: cut off in the middle" },
	{ BALEEN_SQUID_FROM_OBJECTS, "KEY " KEY_A "0\n", ":1: no line of Squid's list" },
	{ BALEEN_SQUID_FROM_OBJECTS, "KEY G71B10FA47F72704CF53F2C5EACD81B0\n", ":1: no line" },
	{ BALEEN_SQUID_FROM_OBJECTS, "KEY " KEY_A "\n\n", ":2: an entry that is not whole" },
	{ BALEEN_SQUID_FROM_OBJECTS, "KEY " KEY_A "\nKEY " KEY_B "\n", ":2: an entry that" },
	{ BALEEN_SQUID_FROM_OBJECTS, "KEY " KEY_A "\n\tSWAP\n", ":2: no state" },
	{ BALEEN_SQUID_FROM_OBJECTS,
	  "KEY " KEY_A "\n\tSTORE_OK SWAPOUT_DONE\n\tA\n\tLV\n\t0 locks\n\tSwap x\n\n",
	  ":6: no swap directory" },
	{ BALEEN_SQUID_FROM_OBJECTS, "by kid1 {\n" ON_DISK(KEY_A), "what a worker has" },
	{ BALEEN_SQUID_FROM_OBJECTS, "by kid1 {\n" ON_DISK(KEY_A) "} by kid2\n", ":11: no line" },
	{ BALEEN_SQUID_FROM_OBJECTS, ON_DISK(KEY_A) "} by kid1\n", ":10: no line" },
};

static void refuse(const char *text, size_t n_bytes, enum baleen_squid_from from,
		   const char *reason)
{
	struct baleen_squid_source source, poison;
	struct baleen_error error = { "" };

	memset(&poison, 0xa5, sizeof(poison));
	source = poison;
	assert_int_equal(read_bytes(text, n_bytes, from, &source, &error), -EINVAL);
	if (!strstr(error.text, reason))
		fail_msg("'%s' is not in '%s'", reason, error.text);
	assert_memory_equal(&source, &poison, sizeof(source));
}

static void test_refused(void **state)
{
	for (size_t i = 0; i < N_OF(refusals); i++)
		refuse(refusals[i].text, strlen(refusals[i].text), refusals[i].from,
		       refusals[i].reason);
}

static void test_refused_names(void **state)
{
	struct baleen_squid_source source;
	struct baleen_error error;

	assert_int_equal(baleen_squid_source_read("/nowhere/at/all", NULL, &source, &error),
			 -ENOENT);
	assert_int_equal(baleen_squid_source_read("/", NULL, &source, &error), -EISDIR);
	assert_int_equal(baleen_squid_source_read("http://127.0.0.1:9", NULL, &source, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "a URL without a path"));
}

/* Wherever it is cut but between two entries, a list is not taken for the whole. */
static void test_cut_objects(void **state)
{
	static const char text[] = ON_DISK(KEY_A) ON_DISK(KEY_B);
	size_t n = sizeof(text) - 1, first = sizeof(ON_DISK(KEY_A)) - 1;

	for (size_t i = 0; i <= n; i++) {
		struct baleen_squid_source source;
		int err = read_bytes(text, i, BALEEN_SQUID_FROM_OBJECTS, &source, NULL);
		bool is_whole = i == first || i == n;

		assert_int_equal(err, is_whole ? 0 : -EINVAL);
		if (!err) {
			assert_int_equal(source.set.n, i == n ? 2 : 1);
			baleen_squid_source_free(&source);
		}
	}
}

/* --- swap.state ------------------------------------------------------------------ */

#define SWAP_BYTES 72

static const u8 bytes_a[16] = { 0x27, 0x1b, 0x10, 0xfa, 0x47, 0xf7, 0x27, 0x04,
				0xcf, 0x53, 0xf2, 0xc5, 0xea, 0xcd, 0x81, 0xb0 };
static const u8 bytes_b[16] = { 0xbc, 0x80, 0x37, 0x72, 0x23, 0x11, 0x22, 0xe1,
				0x30, 0x7b, 0x15, 0x2d, 0x75, 0xdb, 0x17, 0x74 };

/* The sum of 24 bits with end-around carry, one bit at a time. */
static void put_sum(u8 *at, u64 a, u64 b, u64 c)
{
	const u64 words[] = { a, b, c };
	u32 sum = 0;

	for (u32 i = 0; i < 3; i++)
		for (u32 bit = 0; bit < 32; bit++)
			if (words[i] >> bit & 1) {
				sum += 1u << bit % 24;
				sum = (sum & 0xffffff) + (sum >> 24);
			}
	for (u32 i = 0; i < 3; i++)
		at[i] = ~sum >> 8 * i;
}

static u8 *put_header(u8 *at, u32 version, u32 record_bytes)
{
	memset(at, 0, SWAP_BYTES);
	at[0] = 3;
	put_sum(at + 1, version, record_bytes, 0);
	memcpy(at + 4, &version, 4);
	memcpy(at + 8, &record_bytes, 4);
	return at + SWAP_BYTES;
}

static u8 *put_swap(u8 *at, u8 op, u32 file, u64 n_bytes, u16 flags, const u8 *key)
{
	memset(at, 0xff, SWAP_BYTES);
	at[0] = op;
	put_sum(at + 1, file, n_bytes >> 32, n_bytes & 0xffffffff);
	memcpy(at + 4, &file, 4);
	memcpy(at + 40, &n_bytes, 8);
	memcpy(at + 50, &flags, 2);
	memcpy(at + 52, key, 16);
	return at + SWAP_BYTES;
}

static void refuse_swap(const u8 *bytes, const u8 *end, const char *reason)
{
	refuse((const char *)bytes, end - bytes, BALEEN_SQUID_FROM_SWAP, reason);
}

static struct baleen_squid_source read_swap(const u8 *bytes, const u8 *end)
{
	struct baleen_squid_source source;

	assert_int_equal(read_bytes((const char *)bytes, end - bytes, BALEEN_SQUID_FROM_ANY,
				    &source, NULL),
			 0);
	assert_int_equal(source.from, BALEEN_SQUID_FROM_SWAP);
	return source;
}

static void test_refused_swap(void **state)
{
	u8 bytes[4 * SWAP_BYTES], *end, *last;

	end = put_header(bytes, 2, SWAP_BYTES);
	refuse_swap(bytes, bytes, "record 0: shorter than its header");
	refuse_swap(bytes, end - 1, "record 0: shorter than its header");
	bytes[1]++;
	refuse_swap(bytes, end, "record 0: no swap.state");
	put_header(bytes, 3, SWAP_BYTES);
	refuse_swap(bytes, end, "record 0: a swap.state of another version");
	put_header(bytes, 2, 64);
	refuse_swap(bytes, end, "record 0: a swap.state of another version");
	/* Of a machine of the other byte order. */
	put_header(bytes, 0x02000000, 0x48000000);
	refuse_swap(bytes, end, "record 0: a swap.state of another version");
	put_header(bytes, 2, SWAP_BYTES);
	last = put_swap(end, 1, 7, 353, 0x440, bytes_a);
	end = put_swap(last, 1, 8, 353, 0x440, bytes_b);
	for (u32 i = 1; i < 8; i++) {
		last[i] ^= 0x10;
		refuse_swap(bytes, end, "record 2: a damaged record");
		last[i] ^= 0x10;
	}
	for (u32 op = 0; op < 256; op++) {
		last[0] = op;
		if (op != 1 && op != 2)
			refuse_swap(bytes, end, "record 2: a damaged record");
	}
}

/* As Squid 5.7 writes it: the first records of a lab. */
static void test_real_swap(void **state)
{
	static const u8 header[] = { 3, 0xb5, 0xff, 0xff, 2, 0, 0, 0, 0x48, 0, 0, 0 };
	static const u8 first[] = { 1, 0x9e, 0xfe, 0xff };
	u8 bytes[2 * SWAP_BYTES], *end = put_header(bytes, 2, SWAP_BYTES);

	assert_memory_equal(bytes, header, sizeof(header));
	put_swap(end, 1, 0, 353, 0x440, bytes_a);
	assert_memory_equal(end, first, sizeof(first));
}

static void test_swap(void **state)
{
	u8 bytes[8 * SWAP_BYTES], *end = put_header(bytes, 2, SWAP_BYTES);
	struct baleen_squid_source source;
	char text[BALEEN_SQUID_SOURCE_TEXT];

	end = put_swap(end, 1, 0, 353, 0x440, bytes_a);
	end = put_swap(end, 2, 0, 353, 0x440, bytes_a);
	end = put_swap(end, 1, 0xfffffe, 0x123456789abcdefull, 0x440, bytes_b);
	end = put_swap(end, 1, 1, 353, 0x448, bytes_a);
	end = put_swap(end, 1, 2, 353, 0x4c0, bytes_a);
	for (u32 cut = 0; cut < SWAP_BYTES; cut++) {
		source = read_swap(bytes, end - cut);
		assert_int_equal(source.set.n, 1);
		assert_true(source.set.object[0].hi == HI_B);
		assert_int_equal(source.swap.n_added, 2);
		assert_int_equal(source.swap.n_deleted, 1);
		assert_int_equal(source.swap.n_others, cut ? 1 : 2);
		assert_int_equal(source.swap.is_torn, cut != 0);
		baleen_squid_source_free(&source);
	}
	end = put_swap(end, 1, 3, 353, 0x440, bytes_a);
	source = read_swap(bytes, end - 1);
	assert_string_equal(baleen_squid_source_text(&source, text),
			    "1 object of swap.state, 2 in, 1 out; its last record is cut off");
	baleen_squid_source_free(&source);
}

/* More records than are read at a time. */
static void test_long_swap(void **state)
{
	u32 n = 10000;
	u8 *bytes = malloc((n + 1) * SWAP_BYTES), *end = put_header(bytes, 2, SWAP_BYTES);
	struct baleen_squid_source source;
	u8 key[16] = { 1 };

	for (u32 i = 0; i < n; i++) {
		memcpy(key + 8, &i, 4);
		end = put_swap(end, 1, i, i + 1, 0x440, key);
	}
	source = read_swap(bytes, end);
	assert_int_equal(source.set.n, n);
	assert_int_equal(source.swap.n_added, n);
	baleen_squid_source_free(&source);
	bytes[9000 * SWAP_BYTES + 1]++;
	refuse_swap(bytes, end, "record 9000: a damaged record");
	free(bytes);
}

/* --- what is in ------------------------------------------------------------------ */

static struct baleen_squid_source read_text(const char *text, enum baleen_squid_from expected)
{
	struct baleen_squid_source source;

	assert_int_equal(read_bytes(text, strlen(text), BALEEN_SQUID_FROM_ANY, &source, NULL), 0);
	assert_int_equal(source.from, expected);
	return source;
}

static void test_objects(void **state)
{
	struct baleen_squid_source source = read_text(
		ENTRY("00000000000000000000000000000001", "SWAPOUT_NONE", "SPECIAL,VALIDATED",
		      "-1, File 0XFFFFFFFF")
			ENTRY("00000000000000000000000000000002", "SWAPOUT_DONE",
			      "RELEASE_REQUEST,VALIDATED", "0, File 0X000001")
				ENTRY("00000000000000000000000000000003", "SWAPOUT_DONE", "PRIVATE",
				      "0, File 0X000001") ENTRY("00000000000000000000000000000004",
								"SWAPOUT_WRITING", "VALIDATED",
								"0, File 0X000001")
					ENTRY("00000000000000000000000000000005", "SWAPOUT_DONE",
					      "VALIDATED", "-1, File 0XFFFFFFFF") ON_DISK(KEY_B)
						ON_DISK(KEY_A) ON_DISK(KEY_A),
		BALEEN_SQUID_FROM_OBJECTS);

	assert_int_equal(source.objects.n_entries, 8);
	assert_int_equal(source.objects.n_on_disk, 3);
	assert_int_equal(source.set.n, 2);
	assert_true(source.set.object[0].hi == HI_A && source.set.object[0].lo == LO_A);
	assert_true(source.set.object[1].hi == HI_B);
	baleen_squid_source_free(&source);
	source = read_text("by kid1 {\n" ON_DISK(KEY_A) "} by kid1\n\nby kid2 {\r\n" ON_DISK(
				   KEY_B) "} by kid2\r\n\r\n",
			   BALEEN_SQUID_FROM_OBJECTS);
	assert_int_equal(source.set.n, 2);
	baleen_squid_source_free(&source);
}

static void check_log(const char *text, u64 n_objects, u64 n_bad, u64 first_bad, bool is_torn)
{
	struct baleen_squid_source source = read_text(text, BALEEN_SQUID_FROM_LOG);

	assert_int_equal(source.set.n, n_objects);
	assert_int_equal(source.log.n_bad, n_bad);
	assert_int_equal(source.log.first_bad, first_bad);
	assert_int_equal(source.log.is_torn, is_torn);
	baleen_squid_source_free(&source);
}

static void test_log(void **state)
{
	struct baleen_squid_source source;

	check_log(OUT(KEY_A) OUT(KEY_B), 2, 0, 0, false);
	check_log(OUT(KEY_A) OUT(KEY_A), 1, 0, 0, false);
	check_log(OUT(KEY_A) GONE(KEY_A), 0, 0, 0, false);
	check_log(GONE(KEY_A) OUT(KEY_A), 1, 0, 0, false);
	check_log(OUT(KEY_A) GONE(KEY_A) OUT(KEY_A), 1, 0, 0, false);
	check_log(OUT(KEY_A) MEMORY(KEY_A), 1, 0, 0, false);
	check_log(GONE(KEY_B) OUT(KEY_A), 1, 0, 0, false);
	check_log("rubbish\n" OUT(KEY_A) "\n\r\nmore\n" OUT(KEY_B), 2, 2, 1, false);
	check_log(OUT(KEY_A) "1700000000.123 SWAPOUT 00 0000", 1, 1, 2, true);
	check_log(OUT(KEY_A) "1700000000.123 SWAPOUT 00 00000000 " KEY_B, 2, 0, 0, false);
	check_log("1700000000.123 SWAPOUT 00 00000000 " KEY_A "\r\n", 1, 0, 0, false);
	/* An empty cache has an empty log, when it is said to be one. */
	assert_int_equal(read_bytes("", 0, BALEEN_SQUID_FROM_LOG, &source, NULL), 0);
	assert_int_equal(source.set.n, 0);
	baleen_squid_source_free(&source);
}

static void test_text(void **state)
{
	char text[BALEEN_SQUID_SOURCE_TEXT];
	struct baleen_squid_source source =
		read_text(OUT(KEY_A) "rubbish\n1700000000.1", BALEEN_SQUID_FROM_LOG);

	assert_string_equal(baleen_squid_source_text(&source, text),
			    "1 object of store.log, 1 in, 0 out; 2 lines skipped, the first is "
			    "line 2, the last one is cut off");
	baleen_squid_source_free(&source);
}

/* --- the set ---------------------------------------------------------------------- */

#define N_KEYS 5000
#define N_EVENTS 400000

/* Few keys and many events, so that it is sorted on the way again and again. */
static void test_set(void **state)
{
	static bool is_in[N_KEYS];
	struct random random = random_from(7);
	struct baleen_squid_set set = { 0 }, copy = { 0 };
	struct baleen_list list;
	size_t n = 0;

	for (u32 i = 0; i < N_EVENTS; i++) {
		u64 key = random_below(&random, N_KEYS), what = random_below(&random, 8);
		enum baleen_store_event event = what < 4 ? BALEEN_STORE_INSERT :
						what < 7 ? BALEEN_STORE_DELETE :
							   BALEEN_STORE_OTHER;

		assert_int_equal(baleen_squid_set_put(&set, key % 3, key, event, 0), 0);
		if (event != BALEEN_STORE_OTHER)
			is_in[key] = event == BALEEN_STORE_INSERT;
	}
	assert_true(set.room < N_EVENTS);
	assert_int_equal(baleen_squid_set_finish(&set), 0);
	for (u32 i = 0; i < N_KEYS; i++)
		n += is_in[i];
	assert_int_equal(set.n, n);
	for (size_t i = 0; i < set.n; i++) {
		assert_true(is_in[set.object[i].lo] && set.object[i].hi == set.object[i].lo % 3);
		if (i)
			assert_true(set.object[i - 1].hi < set.object[i].hi ||
				    (set.object[i - 1].hi == set.object[i].hi &&
				     set.object[i - 1].lo < set.object[i].lo));
	}
	assert_int_equal(baleen_squid_set_add(&copy, &set), 0);
	assert_int_equal(baleen_squid_set_add(&copy, &set), 0);
	assert_int_equal(baleen_squid_set_finish(&copy), 0);
	assert_int_equal(copy.n, set.n);
	assert_memory_equal(copy.object, set.object, set.n * sizeof(*set.object));
	assert_int_equal(baleen_squid_set_to_list(&set, &list), 0);
	assert_int_equal(list.n_key, n);
	baleen_list_free(&list);
	baleen_squid_set_free(&copy);
	baleen_squid_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	     cmocka_unit_test(test_refused_names),
		cmocka_unit_test(test_cut_objects),  cmocka_unit_test(test_objects),
		cmocka_unit_test(test_refused_swap), cmocka_unit_test(test_real_swap),
		cmocka_unit_test(test_swap),	     cmocka_unit_test(test_long_swap),
		cmocka_unit_test(test_log),	     cmocka_unit_test(test_text),
		cmocka_unit_test(test_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
