// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signatures in the format of minisign, held to Debian's minisign. */
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

#include "util/minisign.h"
#include "util/small_file.h"

static const char text[] = "serial 7\nhost web1 ...\n";

/* In a directory of its own, in which the tests stand. */
static int start(void **state)
{
	static char directory[] = "/tmp/baleen-minisign-XXXXXX";

	*state = directory;
	return !mkdtemp(directory) || chdir(directory);
}

static int stop(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", (const char *)*state);
	return chdir("/") || system(command);
}

static void run(const char *command)
{
	if (system(command))
		fail_msg("%s", command);
}

static void write_text(const char *path)
{
	unlink(path);
	assert_int_equal(baleen_small_file_make(path, 0644, text, strlen(text), NULL), 0);
}

static char *read_text(const char *path, size_t *n)
{
	struct baleen_error error;
	char *bytes;

	if (baleen_small_file_read(path, BALEEN_INPUT_TYPED_FILE, 65536, &bytes, n, NULL, &error))
		fail_msg("%s", error.text);
	return bytes;
}

static struct baleen_minisign_public read_public(const char *path)
{
	struct baleen_minisign_public public_key;
	size_t n;
	char *bytes = read_text(path, &n);

	assert_int_equal(baleen_minisign_public_parse(bytes, &public_key), 0);
	free(bytes);
	return public_key;
}

/* --- theirs ------------------------------------------------------------------------ */

static void theirs(const char *option)
{
	struct baleen_minisign_public public_key, other = { 0 };
	char command[256], comment[BALEEN_MINISIGN_COMMENT_BYTES], changed[sizeof(text)];
	const char *why = NULL;
	size_t n;
	char *signature, *at;

	write_text("policy");
	snprintf(command, sizeof(command),
		 "minisign -G -f -W -p their.pub -s their.key >/dev/null && "
		 "minisign -S %s -s their.key -m policy -t 'of November' >/dev/null",
		 option);
	run(command);
	public_key = read_public("their.pub");
	signature = read_text("policy.minisig", &n);

	assert_int_equal(baleen_minisign_verify(text, strlen(text), signature, n, &public_key,
						comment, &why),
			 0);
	assert_string_equal(comment, "of November");
	assert_null(why);

	strcpy(changed, text);
	for (size_t i = 0; i < strlen(text); i++) {
		changed[i] ^= 1;
		assert_int_equal(baleen_minisign_verify(changed, strlen(text), signature, n,
							&public_key, NULL, &why),
				 -EKEYREJECTED);
		changed[i] ^= 1;
	}
	assert_string_equal(why, "the signature is of another file");
	assert_int_equal(baleen_minisign_verify(text, strlen(text) - 1, signature, n, &public_key,
						NULL, &why),
			 -EKEYREJECTED);
	assert_int_equal(baleen_minisign_verify(text, strlen(text), signature, n, &other, NULL,
						&why),
			 -EKEYREJECTED);
	assert_string_equal(why, "another key signed it");
	/* The number of a key is no secret: the key itself has to be another one, too. */
	memcpy(other.id, public_key.id, sizeof(other.id));
	assert_int_equal(baleen_minisign_verify(text, strlen(text), signature, n, &other, NULL,
						&why),
			 -EKEYREJECTED);

	at = strstr(signature, "of November");
	*at = 'O';
	assert_int_equal(baleen_minisign_verify(text, strlen(text), signature, n, &public_key,
						comment, &why),
			 -EKEYREJECTED);
	assert_string_equal(why, "the trusted comment was changed");
	assert_string_equal(comment, "of November");
	*at = 'o';
	for (size_t cut = 0; cut < n - 1; cut++)
		assert_true(baleen_minisign_verify(text, strlen(text), signature, cut, &public_key,
						   NULL, &why) < 0);
	free(signature);
}

static void test_theirs_hashed(void **state)
{
	theirs("-H");
}

static void test_theirs_legacy(void **state)
{
	theirs("-l");
}

/* --- ours -------------------------------------------------------------------------- */

static void test_ours(void **state)
{
	struct baleen_minisign_public made, read;
	struct baleen_error error;
	struct stat file;
	char *signature;

	write_text("policy");
	assert_int_equal(baleen_minisign_make("our.key", "our.pub", &made, &error), 0);
	assert_int_equal(stat("our.key", &file), 0);
	assert_int_equal(file.st_mode & 07777, 0600);
	read = read_public("our.pub");
	assert_memory_equal(&made, &read, sizeof(made));

	assert_int_equal(baleen_minisign_make("our.key", "new.pub", &read, &error), -EEXIST);
	assert_int_equal(access("new.pub", F_OK), -1);
	assert_int_equal(baleen_minisign_make("new.key", "our.pub", &read, &error), -EEXIST);
	assert_int_equal(access("new.key", F_OK), -1);
	assert_memory_equal(&made, &read, sizeof(made));

	assert_int_equal(baleen_minisign_sign("our.key", text, strlen(text), "serial 7", &signature,
					      &error),
			 0);
	unlink("policy.minisig");
	assert_int_equal(baleen_small_file_make("policy.minisig", 0644, signature,
						strlen(signature), NULL),
			 0);
	free(signature);
	run("[ \"$(minisign -V -q -p our.pub -m policy -Q)\" = 'serial 7' ]");
	run("minisign -S -s our.key -m policy >/dev/null && minisign -V -q -p our.pub -m policy");
	run("printf x >>policy; ! minisign -V -q -p our.pub -m policy 2>/dev/null");
}

static void refuses(const char *command, int err, const char *part)
{
	struct baleen_error error;
	char *signature = NULL;

	run(command);
	assert_int_equal(baleen_minisign_sign("bad.key", text, strlen(text), "", &signature,
					      &error),
			 err);
	assert_null(signature);
	if (!strstr(error.text, part))
		fail_msg("%s", error.text);
}

static void test_secret_keys_refused(void **state)
{
	struct baleen_error error;
	char *signature = NULL;

	run("minisign -G -f -W -p their.pub -s their.key >/dev/null");
	refuses("rm -f bad.key", -ENOENT, "bad.key");
	refuses("cp their.key bad.key && chmod 0640 bad.key", -EPERM, "others may read it");
	run("chmod 0600 bad.key");
	refuses("cp their.pub bad.key", -EINVAL, "a public key: the secret one signs");
	refuses(": >bad.key", -EINVAL, "not a secret key");
	/* The line ends with the checksum, which minisign leaves zero without a password. */
	refuses("sed '2s/.\\{8\\}=$/AABAAAAA=/' their.key >bad.key", -EINVAL, "checksum");
	assert_int_equal(baleen_minisign_sign("their.key", text, strlen(text), "theirs", &signature,
					      &error),
			 0);
	free(signature);
	signature = NULL;
	refuses("sed '2s/^RWQAAE/RWRTY0/' their.key >bad.key", -EPERM, "password");
	assert_int_equal(baleen_minisign_sign("their.key", text, 1, "two\nlines", &signature,
					      &error),
			 -EINVAL);
	assert_null(signature);
}

static void test_public_keys_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"RWQ",
		"untrusted comment: nothing behind it\n",
		/* 56 characters are right; 55, 57 and another algorithm are not. */
		"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO",
		"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO33",
		"ZWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",
		"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\nmore\n",
	};
	/* The key that minisign's own site shows. */
	static const char good[] = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
	struct baleen_minisign_public public_key, before;
	char text_of[BALEEN_MINISIGN_PUBLIC_TEXT];

	memset(&public_key, 0xa5, sizeof(public_key));
	before = public_key;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (baleen_minisign_public_parse(bad[i], &public_key) != -EINVAL)
			fail_msg("'%s' is taken", bad[i]);
	assert_memory_equal(&public_key, &before, sizeof(before));
	assert_int_equal(baleen_minisign_public_parse(good, &public_key), 0);
	assert_string_equal(baleen_minisign_public_format(&public_key, text_of), good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_public_keys_refused),
		cmocka_unit_test(test_secret_keys_refused),
		cmocka_unit_test(test_theirs_hashed),
		cmocka_unit_test(test_theirs_legacy),
		cmocka_unit_test(test_ours),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
