// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The key of a host: made, kept and read. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_keys.h"
#include "util/little_endian.h"
#include "util/small_file.h"

#define FIRST_LINE "baleen-fleet-key 1\n"
/* A seed as text: base64 of 32 bytes, and the NUL byte. */
#define SEED_TEXT 45
#define FILE_MAX 256

int baleen_fleet_keys_make(const char *path, struct baleen_fleet_keys *keys,
			   struct baleen_error *error)
{
	char text[sizeof(FIRST_LINE) + SEED_TEXT + 1], seed_text[SEED_TEXT];
	u8 seed[crypto_sign_SEEDBYTES];
	int err;

	if (sodium_init() < 0)
		return baleen_fail(error, EIO, "libsodium finds no random numbers");
	randombytes_buf(seed, sizeof(seed));
	sodium_bin2base64(seed_text, sizeof(seed_text), seed, sizeof(seed),
			  sodium_base64_VARIANT_ORIGINAL);
	snprintf(text, sizeof(text), FIRST_LINE "%s\n", seed_text);
	err = baleen_small_file_make(path, 0600, text, strlen(text), error);
	if (!err)
		crypto_sign_seed_keypair(keys->public_key, keys->secret_key, seed);
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(seed_text, sizeof(seed_text));
	sodium_memzero(text, sizeof(text));
	return err;
}

/* From text of exactly as many bytes. */
static bool from_base64(const char *text, size_t length, u8 *bytes, size_t n_bytes)
{
	size_t n;

	return !sodium_base642bin(bytes, n_bytes, text, length, NULL, &n, NULL,
				  sodium_base64_VARIANT_ORIGINAL) &&
	       n == n_bytes;
}

static bool read_seed(const char *text, size_t n, u8 *seed)
{
	const size_t n_first = sizeof(FIRST_LINE) - 1;

	if (n < n_first || memcmp(text, FIRST_LINE, n_first))
		return false;
	n -= n_first;
	if (n && text[n_first + n - 1] == '\n')
		n--;
	return from_base64(text + n_first, n, seed, crypto_sign_SEEDBYTES);
}

int baleen_fleet_keys_load(const char *path, struct baleen_fleet_keys *keys,
			   struct baleen_error *error)
{
	u8 seed[crypto_sign_SEEDBYTES];
	char *text;
	size_t n;
	u32 mode;
	int err;

	if (sodium_init() < 0)
		return baleen_fail(error, EIO, "libsodium cannot be used");
	err = baleen_small_file_read(path, BALEEN_INPUT_NAMED, FILE_MAX, &text, &n, &mode, error);
	if (err)
		return err;
	if (mode & 077)
		err = baleen_fail(error, EPERM, "%s: others may read the key: chmod 0600 %s", path,
				  path);
	else if (!read_seed(text, n, seed))
		err = baleen_fail(error, EINVAL, "%s: not the key of a host", path);
	else
		crypto_sign_seed_keypair(keys->public_key, keys->secret_key, seed);
	sodium_memzero(seed, sizeof(seed));
	sodium_memzero(text, n);
	free(text);
	return err;
}

void baleen_fleet_keys_wipe(struct baleen_fleet_keys *keys)
{
	sodium_memzero(keys, sizeof(*keys));
}

const char *baleen_fleet_public_format(const u8 *public_key, char *text)
{
	return sodium_bin2base64(text, BALEEN_FLEET_PUBLIC_TEXT, public_key,
				 BALEEN_FLEET_PUBLIC_BYTES, sodium_base64_VARIANT_ORIGINAL);
}

int baleen_fleet_public_parse(const char *text, u8 *public_key)
{
	u8 read[BALEEN_FLEET_PUBLIC_BYTES];

	if (!from_base64(text, strlen(text), read, sizeof(read)))
		return -EINVAL;
	memcpy(public_key, read, sizeof(read));
	return 0;
}

int baleen_fleet_random(u8 *bytes)
{
	if (sodium_init() < 0)
		return -EIO;
	randombytes_buf(bytes, BALEEN_FLEET_INCARNATION_BYTES);
	return 0;
}

int baleen_fleet_incarnation_next(u8 *incarnation, u64 now_ms)
{
	u64 number = baleen_get_le64(incarnation) + 1;
	u8 bytes[BALEEN_FLEET_INCARNATION_BYTES];
	int err = baleen_fleet_random(bytes);

	if (err)
		return err;
	baleen_put_le64(bytes, number > now_ms ? number : now_ms);
	memcpy(incarnation, bytes, sizeof(bytes));
	return 0;
}

int baleen_fleet_incarnation_compare(const u8 *a, const u8 *b)
{
	u64 x = baleen_get_le64(a), y = baleen_get_le64(b);

	if (x != y)
		return x < y ? -1 : 1;
	return memcmp(a, b, BALEEN_FLEET_INCARNATION_BYTES);
}
