/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Ed25519 key of a host, which signs what the host publishes (RFC 8032, by libsodium).
 *
 * Its file has two lines, and is readable by its owner alone:
 *
 *      baleen-fleet-key 1
 *      SEED            32 bytes in base64
 *
 * A public key is shown and read as 44 characters of base64.
 */
#ifndef BALEEN_FLEET_KEYS_H
#define BALEEN_FLEET_KEYS_H

#include "fleet/fleet_batch.h"

/* 44 characters and the NUL byte. */
#define BALEEN_FLEET_PUBLIC_TEXT 45

/**
 * struct baleen_fleet_keys - a pair of keys
 * @secret_key: signs
 * @public_key: verifies
 */
struct baleen_fleet_keys {
	u8 secret_key[BALEEN_FLEET_SECRET_BYTES];
	u8 public_key[BALEEN_FLEET_PUBLIC_BYTES];
};

/**
 * baleen_fleet_keys_make() - make the key of a host
 * @path: of a file that is not there
 * @keys: filled in
 * @error: filled in on failure
 *
 * The file is on disk, with mode 0600, when it returns.
 *
 * Return: 0; -EEXIST; a negative errno.
 */
int baleen_fleet_keys_make(const char *path, struct baleen_fleet_keys *keys,
			   struct baleen_error *error);

/**
 * baleen_fleet_keys_load() - read the key of a host
 * @path: of its file
 * @keys: filled in; to be wiped with baleen_fleet_keys_wipe()
 * @error: filled in on failure
 *
 * Return: 0; -EPERM when others may read the file; -EINVAL; a negative errno.
 */
int baleen_fleet_keys_load(const char *path, struct baleen_fleet_keys *keys,
			   struct baleen_error *error);

/**
 * baleen_fleet_keys_wipe() - forget a key
 * @keys: all zeros afterwards
 */
void baleen_fleet_keys_wipe(struct baleen_fleet_keys *keys);

/**
 * baleen_fleet_public_format() - a public key as text
 * @public_key: BALEEN_FLEET_PUBLIC_BYTES bytes
 * @text: BALEEN_FLEET_PUBLIC_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_fleet_public_format(const u8 *public_key, char *text);

/**
 * baleen_fleet_public_parse() - a public key from text
 * @text: 44 characters of base64
 * @public_key: filled in; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_fleet_public_parse(const char *text, u8 *public_key);

/**
 * baleen_fleet_random() - a number of a question
 * @bytes: BALEEN_FLEET_INCARNATION_BYTES random bytes, filled in
 *
 * Return: 0 or -EIO.
 */
int baleen_fleet_random(u8 *bytes);

/**
 * baleen_fleet_incarnation_next() - a later incarnation
 * @incarnation: the one before, all zeros for none; filled in
 * @now_ms: broker's time
 *
 * Its first 8 bytes are a number, little-endian: @now_ms, or one more than before, whichever is
 * larger. So a later one is later though a clock was set back. The others are random.
 *
 * Return: 0 or -EIO.
 */
int baleen_fleet_incarnation_next(u8 *incarnation, u64 now_ms);

/**
 * baleen_fleet_incarnation_compare() - which one is later?
 * @a: an incarnation
 * @b: another one
 *
 * Return: below, at or above 0: by number, then by the other bytes.
 */
int baleen_fleet_incarnation_compare(const u8 *a, const u8 *b);

#endif /* BALEEN_FLEET_KEYS_H */
