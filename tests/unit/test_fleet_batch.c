// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of a fleet: what is refused, their bytes, and their signatures. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#include "fleet/fleet_keys.h"

#define MADE 1764028800000ull

static struct baleen_fleet_keys keys;
static struct baleen_error error;

static int start(void **state)
{
	u8 seed[crypto_sign_SEEDBYTES];

	for (u32 i = 0; i < sizeof(seed); i++)
		seed[i] = i;
	return sodium_init() < 0 ||
	       crypto_sign_seed_keypair(keys.public_key, keys.secret_key, seed);
}

static struct baleen_fleet_change ban(const char *key, const char *reason)
{
	struct baleen_fleet_change change = {
		.entry = { .set = "bans", .made_ms = MADE, .end_ms = MADE + 3600000 }
	};

	assert_int_equal(baleen_fleet_key_parse(key, &change.entry.key), 0);
	strcpy(change.entry.reason, reason);
	return change;
}

static struct baleen_fleet_change del(const char *key)
{
	struct baleen_fleet_change change = ban(key, "");

	change.is_del = true;
	return change;
}

static struct baleen_fleet_message header(u32 type)
{
	struct baleen_fleet_message message = { .type = type,
						.fleet = "example",
						.publisher = "web3/fail2ban",
						.first = 7,
						.last = 7,
						.made_ms = MADE + 50 };

	for (u32 i = 0; i < sizeof(message.incarnation); i++)
		message.incarnation[i] = 0xa0 + i;
	return message;
}

/* A signed message; NULL ends the changes. */
static struct baleen_fleet_writer write_all(const struct baleen_fleet_message *message,
					    const struct baleen_fleet_change *const *change)
{
	struct baleen_fleet_writer writer;

	assert_int_equal(baleen_fleet_writer_start(&writer, message), 0);
	for (; *change; change++)
		assert_int_equal(baleen_fleet_writer_add(&writer, *change), 0);
	assert_int_equal(baleen_fleet_writer_sign(&writer, keys.secret_key), 0);
	return writer;
}

static const struct baleen_fleet_change *const none[] = { NULL };

/* A batch of two changes, as the documentation shows it. */
static struct baleen_fleet_writer example(void)
{
	struct baleen_fleet_message message = header(BALEEN_FLEET_BATCH);
	struct baleen_fleet_change put = ban("192.0.2.7", "sshd"), take = del("2001:db8:1::/48");
	const struct baleen_fleet_change *const changes[] = { &put, &take, NULL };

	return write_all(&message, changes);
}

/* What was written is read. */
static struct baleen_fleet_message reads(const struct baleen_fleet_writer *writer)
{
	struct baleen_fleet_message message;
	const char *why;

	assert_int_equal(baleen_fleet_decode(writer->bytes, writer->n_bytes, &message, &why), 0);
	return message;
}

/* --- keys and names -------------------------------------------------------- */

static void test_keys_of_entries(void **state)
{
	static const char *const bad[] = {
		"", "192.0.2.256", "192.0.2.0/33", "192.0.2.1-192.0.2.3", "2001:db8::/129", "name"
	};
	static const char *const same[] = { "192.0.2.7",     "192.0.2.0/24", "0.0.0.0/0",
					    "2001:db8::/32", "2001:db8::1",  "::/0" };
	struct baleen_fleet_key key, wide;
	char text[BALEEN_FLEET_KEY_TEXT];

	memset(&key, 0xa5, sizeof(key));
	for (u32 i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (baleen_fleet_key_parse(bad[i], &key) != -EINVAL)
			fail_msg("'%s' is taken", bad[i]);
	assert_int_equal(key.family, 0xa5);
	for (u32 i = 0; i < sizeof(same) / sizeof(*same); i++) {
		assert_int_equal(baleen_fleet_key_parse(same[i], &key), 0);
		assert_string_equal(baleen_fleet_key_format(&key, text), same[i]);
	}
	assert_int_equal(baleen_fleet_key_parse("192.0.2.99/24", &key), 0);
	assert_string_equal(baleen_fleet_key_format(&key, text), "192.0.2.0/24");
	assert_int_equal(baleen_fleet_key_parse("192.0.2.0-192.0.2.255", &key), 0);
	assert_string_equal(baleen_fleet_key_format(&key, text), "192.0.2.0/24");
	assert_int_equal(baleen_fleet_key_parse("::ffff:192.0.2.7", &key), 0);
	assert_string_equal(baleen_fleet_key_format(&key, text), "192.0.2.7");
	key.length = 24;
	assert_false(baleen_fleet_key_check(&key));

	assert_int_equal(baleen_fleet_key_parse("192.0.2.64/26", &wide), 0);
	assert_int_equal(baleen_fleet_key_parse("192.0.2.127", &key), 0);
	assert_true(baleen_fleet_key_covers(&wide, &key));
	assert_false(baleen_fleet_key_covers(&key, &wide));
	assert_int_equal(baleen_fleet_key_parse("192.0.2.128", &key), 0);
	assert_false(baleen_fleet_key_covers(&wide, &key));
	assert_int_equal(baleen_fleet_key_parse("::/0", &wide), 0);
	assert_false(baleen_fleet_key_covers(&wide, &key));
}

static void test_names(void **state)
{
	assert_true(baleen_fleet_name_is("bans"));
	assert_true(baleen_fleet_name_is("a234567890123456789012345678901"));
	assert_false(baleen_fleet_name_is("a2345678901234567890123456789012"));
	assert_false(baleen_fleet_name_is(""));
	assert_false(baleen_fleet_name_is("Bans"));
	assert_false(baleen_fleet_name_is("a/b"));
	assert_true(baleen_fleet_publisher_is("web3/fail2ban"));
	assert_true(baleen_fleet_publisher_is("Web-3.example/a:b"));
	assert_false(baleen_fleet_publisher_is("web3"));
	assert_false(baleen_fleet_publisher_is("/fail2ban"));
	assert_false(baleen_fleet_publisher_is("web3/"));
	assert_false(baleen_fleet_publisher_is("web3/a/b"));
	assert_false(baleen_fleet_publisher_is("web*/fail2ban"));
	assert_false(baleen_fleet_publisher_is(
		"web3/5678901234567890123456789012345678901234567890123456789"));
}

/* --- digests --------------------------------------------------------------- */

static void test_digest(void **state)
{
	struct baleen_fleet_change one = ban("192.0.2.7", "sshd"), two = ban("192.0.2.8", "sshd");
	struct baleen_fleet_digest a = { 0 }, b = { 0 }, none = { 0 };

	baleen_fleet_digest_add(&a, &one.entry);
	baleen_fleet_digest_add(&a, &two.entry);
	baleen_fleet_digest_add(&b, &two.entry);
	assert_false(baleen_fleet_digest_is(&a, &b));
	baleen_fleet_digest_add(&b, &one.entry);
	assert_true(baleen_fleet_digest_is(&a, &b));
	/* Each part of an entry counts. */
	two.entry.end_ms++;
	baleen_fleet_digest_take(&a, &two.entry);
	two.entry.end_ms--;
	baleen_fleet_digest_take(&b, &two.entry);
	assert_false(baleen_fleet_digest_is(&a, &b));
	baleen_fleet_digest_take(&b, &one.entry);
	assert_true(baleen_fleet_digest_is(&b, &none));
}

/* Carries go from the low half to the high one, and back. */
static void test_digest_carries(void **state)
{
	struct baleen_fleet_digest sum = { .hi = 5, .lo = UINT64_MAX };
	struct baleen_fleet_change one = ban("192.0.2.7", "");
	struct baleen_fleet_digest alone = { 0 };

	baleen_fleet_digest_add(&alone, &one.entry);
	baleen_fleet_digest_add(&sum, &one.entry);
	assert_int_equal(sum.lo, alone.lo - 1);
	assert_int_equal(sum.hi, alone.hi + 6);
	baleen_fleet_digest_take(&sum, &one.entry);
	assert_int_equal(sum.lo, UINT64_MAX);
	assert_int_equal(sum.hi, 5);
}

/* --- bytes ----------------------------------------------------------------- */

/* docs/fleet.md shows the same bytes. */
static const char *const example_hex[] = {
	"424c4e46",
	"02",
	"01",
	"0000", /* BLNF, version, batch */
	"cd000000",
	"02000000",			    /* 205 bytes, 2 changes */
	"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf", /* incarnation */
	"0700000000000000",
	"0800000000000000", /* changes 7 and 8 */
	"325c4fb89a010000", /* signed 2025-11-25 00:00:00.050 */
	"07",
	"0d",
	"000000000000", /* lengths of names */
	"6578616d706c65",
	"776562332f6661696c3262616e", /* example, web3/fail2ban */
	"01",
	"04",
	"20",
	"04",
	"c0000207",
	"62616e73", /* put 192.0.2.7/32 into bans */
	"005c4fb89a010000",
	"804a86b89a010000",
	"04",
	"73736864", /* made, ends, sshd */
	"02",
	"06",
	"30",
	"04",
	"20010db8000100000000000000000000",
	"62616e73",
};

static void test_example(void **state)
{
	struct baleen_fleet_writer writer = example();
	struct baleen_fleet_message message;
	struct baleen_fleet_change change;
	char want[1024] = "", got[1024];
	const char *why = NULL;
	size_t n, at = 0;

	for (u32 i = 0; i < sizeof(example_hex) / sizeof(*example_hex); i++)
		strcat(want, example_hex[i]);
	n = strlen(want) / 2;
	assert_int_equal(writer.n_bytes, n + BALEEN_FLEET_SIGNATURE_BYTES);
	sodium_bin2hex(got, sizeof(got), writer.bytes, n);
	assert_string_equal(got, want);
	assert_true(baleen_fleet_verify(writer.bytes, writer.n_bytes, keys.public_key));

	assert_int_equal(baleen_fleet_decode(writer.bytes, writer.n_bytes, &message, &why), 0);
	assert_null(why);
	assert_int_equal(message.type, BALEEN_FLEET_BATCH);
	assert_string_equal(message.fleet, "example");
	assert_string_equal(message.publisher, "web3/fail2ban");
	assert_int_equal(message.first, 7);
	assert_int_equal(message.last, 8);
	assert_int_equal(message.n_entries, 2);
	assert_int_equal(message.made_ms, MADE + 50);
	assert_true(baleen_fleet_next(&message, &at, &change));
	assert_false(change.is_del);
	assert_string_equal(change.entry.reason, "sshd");
	assert_int_equal(change.entry.end_ms, MADE + 3600000);
	assert_true(baleen_fleet_next(&message, &at, &change));
	assert_true(change.is_del);
	assert_int_equal(change.entry.key.length, 48);
	assert_false(baleen_fleet_next(&message, &at, &change));
	baleen_fleet_writer_free(&writer);
}

/* Whatever bit is another one, somebody refuses: who reads, or who verifies. */
static void test_each_bit_is_signed(void **state)
{
	struct baleen_fleet_writer writer = example();
	struct baleen_fleet_message message;
	const char *why;

	for (size_t i = 0; i < 8 * writer.n_bytes; i++) {
		writer.bytes[i / 8] ^= 1 << i % 8;
		if (!baleen_fleet_decode(writer.bytes, writer.n_bytes, &message, &why) &&
		    baleen_fleet_verify(writer.bytes, writer.n_bytes, keys.public_key))
			fail_msg("bit %zu", i);
		writer.bytes[i / 8] ^= 1 << i % 8;
	}
	baleen_fleet_writer_free(&writer);
}

static void refuses(const u8 *bytes, size_t n_bytes, const char *part)
{
	struct baleen_fleet_message message, before;
	u8 *copy = malloc(n_bytes + !n_bytes);
	const char *why = "";

	memset(&message, 0xa5, sizeof(message));
	before = message;
	/* Of its own size, so that ASan sees a byte too many. */
	memcpy(copy, bytes, n_bytes);
	assert_int_equal(baleen_fleet_decode(copy, n_bytes, &message, &why), -EINVAL);
	assert_memory_equal(&message, &before, sizeof(before));
	if (!strstr(why, part))
		fail_msg("'%s' and not '%s'", why, part);
	free(copy);
}

static void test_cut_off(void **state)
{
	struct baleen_fleet_writer writer = example();
	u8 longer[1024];

	for (size_t n = 0; n < writer.n_bytes; n++)
		refuses(writer.bytes, n, "");
	memcpy(longer, writer.bytes, writer.n_bytes);
	longer[writer.n_bytes] = 0;
	refuses(longer, writer.n_bytes + 1, "longer or shorter");
	/* It says so, but its entries do not fill it. */
	longer[8]++;
	refuses(longer, writer.n_bytes + 1, "behind the last entry");
	baleen_fleet_writer_free(&writer);
}

/* @at: an offset in the example of a batch; @value: the byte there. */
static void refuses_byte(size_t at, u8 value, const char *part)
{
	struct baleen_fleet_writer writer = example();

	writer.bytes[at] = value;
	refuses(writer.bytes, writer.n_bytes, part);
	baleen_fleet_writer_free(&writer);
}

static void test_malformed(void **state)
{
	const size_t entry = 64 + 7 + 13;

	refuses_byte(0, 'b', "version");
	refuses_byte(4, 1, "version");
	refuses_byte(4, 3, "version");
	refuses_byte(5, 0, "type");
	refuses_byte(5, 5, "type");
	refuses_byte(6, 1, "zero");
	refuses_byte(63, 1, "zero");
	refuses_byte(12, 1, "numbers");
	refuses_byte(12, 3, "numbers");
	refuses_byte(40, 9, "numbers");
	refuses_byte(40, 6, "numbers");
	refuses_byte(47, 0x80, "numbers");
	refuses_byte(56, 0, "fleet");
	refuses_byte(56, 32, "fleet");
	refuses_byte(57, 58, "publisher");
	refuses_byte(64, 'E', "fleet");
	refuses_byte(64, 0, "fleet");
	refuses_byte(64 + 7, '/', "publisher");
	refuses_byte(entry, 3, "sort");
	refuses_byte(entry + 1, 5, "sort");
	refuses_byte(entry + 2, 33, "address");
	refuses_byte(entry + 2, 24, "address");
	refuses_byte(entry + 3, 0, "");
	refuses_byte(entry + 3, 255, "cut off");
	refuses_byte(entry + 8, 'B', "set");
	/* It ends before it was made; it ends after years. */
	refuses_byte(entry + 12 + 8 + 5, 0, "before it was made");
	refuses_byte(entry + 12 + 8 + 4, 0xff, "30 days");
	refuses_byte(entry + 12 + 16, 255, "cut off");
	refuses_byte(entry + 12 + 17, '\n', "reason");
	refuses_byte(entry + 12 + 17, 0xff, "reason");
	refuses_byte(entry + 12 + 17, 0, "");
}

/* A word on a publisher: its key is a name, and its set says which word. */
static void test_words(void **state)
{
	struct baleen_fleet_entry entry = { .set = BALEEN_FLEET_SUSPENDS,
					    .key = baleen_fleet_key_name("web3/*"),
					    .made_ms = MADE,
					    .end_ms = BALEEN_FLEET_NEVER_MS,
					    .reason = "floods" },
				  read;
	u8 bytes[BALEEN_FLEET_ENTRY_MAX], other[BALEEN_FLEET_ENTRY_MAX];
	char text[BALEEN_FLEET_KEY_TEXT];
	const char *why;
	bool is_del = true;
	size_t n = baleen_fleet_entry_encode(&entry, false, bytes);

	assert_int_equal(baleen_fleet_entry_decode(bytes, n, &read, &is_del, &why), n);
	assert_false(is_del);
	assert_int_equal(baleen_fleet_entry_compare(&entry, &read), 0);
	assert_string_equal(baleen_fleet_key_format(&read.key, text), "web3/*");
	for (size_t i = 0; i < n; i++)
		assert_int_equal(baleen_fleet_entry_decode(bytes, i, &read, &is_del, &why), 0);
	/* A length above that of names; no name; another set; a NUL byte inside. */
	for (u32 i = 0; i < 4; i++) {
		static const struct {
			size_t at;
			u8 value;
		} wrong[] = { { 2, 58 }, { 4, '/' }, { 4 + 6, 'S' }, { 5, 0 } };

		memcpy(other, bytes, n);
		other[wrong[i].at] = wrong[i].value;
		assert_int_equal(baleen_fleet_entry_decode(other, n, &read, &is_del, &why), 0);
	}
	assert_int_equal(baleen_fleet_key_name("a-name-that-is-longer-than-any-publisher-may-have/"
					       "in-all-its-parts")
				 .length,
			 0);
	assert_true(baleen_fleet_is_control("web3/control"));
	assert_false(baleen_fleet_is_control("web3/controls"));
	assert_false(baleen_fleet_is_control("control/web3"));
}

static void test_snapshot_order(void **state)
{
	struct baleen_fleet_message message = header(BALEEN_FLEET_SNAPSHOT), read;
	struct baleen_fleet_change lower = ban("192.0.2.7", ""), upper = ban("192.0.2.8", "");
	struct baleen_fleet_change wide = ban("192.0.2.0/24", ""), ip6 = ban("2001:db8::/64", "");
	const struct baleen_fleet_change *const orders[][4] = { { &upper, &lower, &ip6, NULL },
								{ &lower, &lower, &ip6, NULL },
								{ &lower, &ip6, &upper, NULL } };
	const struct baleen_fleet_change *const right[] = { &wide, &lower, &upper, &ip6, NULL };
	struct baleen_fleet_change taken = del("192.0.2.7");
	struct baleen_fleet_writer writer;

	for (u32 i = 0; i < 3; i++) {
		writer = write_all(&message, orders[i]);
		refuses(writer.bytes, writer.n_bytes, "order");
		baleen_fleet_writer_free(&writer);
	}
	assert_int_equal(baleen_fleet_writer_start(&writer, &message), 0);
	assert_int_equal(baleen_fleet_writer_add(&writer, &taken), -EINVAL);
	baleen_fleet_writer_free(&writer);
	writer = write_all(&message, right);
	read = reads(&writer);
	assert_int_equal(read.n_entries, 4);
	assert_int_equal(read.last, 7);
	/* A change that takes back, put in its place: the first byte of the first entry. */
	writer.bytes[64 + 7 + 13] = 2;
	refuses(writer.bytes, writer.n_bytes, "");
	baleen_fleet_writer_free(&writer);
}

static void test_batch_is_full(void **state)
{
	struct baleen_fleet_message message = header(BALEEN_FLEET_BATCH), read;
	struct baleen_fleet_change change = ban("192.0.2.7", "");
	struct baleen_fleet_writer writer;

	assert_int_equal(baleen_fleet_writer_start(&writer, &message), 0);
	assert_int_equal(baleen_fleet_writer_sign(&writer, keys.secret_key), -EINVAL);
	for (u32 i = 0; i < BALEEN_FLEET_BATCH_MAX; i++)
		assert_int_equal(baleen_fleet_writer_add(&writer, &change), 0);
	assert_int_equal(baleen_fleet_writer_add(&writer, &change), -ENOSPC);
	assert_int_equal(baleen_fleet_writer_sign(&writer, keys.secret_key), 0);
	read = reads(&writer);
	assert_int_equal(read.last, 7 + BALEEN_FLEET_BATCH_MAX - 1);
	baleen_fleet_writer_free(&writer);
}

static void test_head(void **state)
{
	struct baleen_fleet_message message = header(BALEEN_FLEET_HEAD), read;
	struct baleen_fleet_writer writer;

	message.n_entries = 3;
	message.digest = (struct baleen_fleet_digest){ 0x1122334455667788, 0x99aabbccddeeff00 };
	writer = write_all(&message, none);
	read = reads(&writer);
	assert_int_equal(read.n_entries, 3);
	assert_true(baleen_fleet_digest_is(&read.digest, &message.digest));
	for (size_t n = 0; n < writer.n_bytes; n++)
		refuses(writer.bytes, n, "");
	writer.bytes[15] = 1;
	refuses(writer.bytes, writer.n_bytes, "head");
	baleen_fleet_writer_free(&writer);
}

static void test_control(void **state)
{
	struct baleen_fleet_message message = header(BALEEN_FLEET_CONTROL), read;
	struct baleen_fleet_change change = ban("2001:db8::/32", "");
	struct baleen_fleet_writer writer;

	for (u32 control = BALEEN_FLEET_ASK; control <= BALEEN_FLEET_ANSWER; control++) {
		bool is_signal = control >= BALEEN_FLEET_SIGNAL;

		message.control = control;
		strcpy(message.reason, "by mistake");
		strcpy(message.set, is_signal ? "" : "bans");
		strcpy(message.topic, is_signal ? "rollout" : "");
		strcpy(message.subject, is_signal ? "Spamhaus:drop" : "");
		message.number = is_signal ? (1ull << 62) - 1 : 0;
		message.about = is_signal ? ~7ull : 0;
		message.value = is_signal ? 255 : 0;
		message.key = change.entry.key;
		writer = write_all(&message, none);
		read = reads(&writer);
		assert_int_equal(read.control, control);
		assert_string_equal(read.reason, "by mistake");
		assert_string_equal(read.set, message.set);
		assert_string_equal(read.topic, message.topic);
		assert_string_equal(read.subject, message.subject);
		assert_int_equal(read.number, message.number);
		assert_int_equal(read.about, message.about);
		assert_int_equal(read.value, message.value);
		if (!is_signal)
			assert_memory_equal(&read.key, &message.key, sizeof(read.key));
		for (size_t n = 0; n < writer.n_bytes; n++)
			refuses(writer.bytes, n, "");
		writer.bytes[64 + 7 + 13] = is_signal ? 1 : 7;
		refuses(writer.bytes, writer.n_bytes, "control");
		baleen_fleet_writer_free(&writer);
	}
}

/* --- keys of hosts --------------------------------------------------------- */

static void test_key_of_a_host(void **state)
{
	char directory[] = "/tmp/baleen-fleet-XXXXXX", path[64], text[BALEEN_FLEET_PUBLIC_TEXT];
	struct baleen_fleet_keys made, read, before;
	u8 public_key[BALEEN_FLEET_PUBLIC_BYTES], incarnation[2][BALEEN_FLEET_INCARNATION_BYTES];
	struct stat file;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/host.key", directory);
	memset(&read, 0xa5, sizeof(read));
	before = read;
	assert_int_equal(baleen_fleet_keys_load(path, &read, &error), -ENOENT);
	assert_int_equal(baleen_fleet_keys_make(path, &made, &error), 0);
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(file.st_mode & 07777, 0600);
	assert_int_equal(baleen_fleet_keys_make(path, &read, &error), -EEXIST);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(baleen_fleet_keys_load(path, &read, &error), -EPERM);
	assert_memory_equal(&read, &before, sizeof(read));
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(baleen_fleet_keys_load(path, &read, &error), 0);
	assert_memory_equal(&read, &made, sizeof(made));
	assert_int_equal(truncate(path, file.st_size - 2), 0);
	assert_int_equal(baleen_fleet_keys_load(path, &before, &error), -EINVAL);

	baleen_fleet_public_format(made.public_key, text);
	assert_int_equal(strlen(text), BALEEN_FLEET_PUBLIC_TEXT - 1);
	assert_int_equal(baleen_fleet_public_parse(text, public_key), 0);
	assert_memory_equal(public_key, made.public_key, sizeof(public_key));
	text[43] = '\0';
	assert_int_equal(baleen_fleet_public_parse(text, public_key), -EINVAL);
	baleen_fleet_keys_wipe(&read);
	memset(&before, 0, sizeof(before));
	assert_memory_equal(&read, &before, sizeof(read));

	assert_int_equal(baleen_fleet_random(incarnation[0]), 0);
	assert_int_equal(baleen_fleet_random(incarnation[1]), 0);
	assert_memory_not_equal(incarnation[0], incarnation[1], sizeof(*incarnation));
	unlink(path);
	rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_of_entries),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_digest),
		cmocka_unit_test(test_digest_carries),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_snapshot_order),
		cmocka_unit_test(test_batch_is_full),
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_each_bit_is_signed),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_key_of_a_host),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
