/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signatures of files in the format of minisign (https://jedisct1.github.io/minisign/).
 *
 *      untrusted comment: TEXT
 *      BASE64          "Ed" or "ED", 8 bytes key id, 64 bytes signature of the file ("Ed") or of
 *                      its BLAKE2b-512 ("ED")
 *      trusted comment: TEXT
 *      BASE64          64 bytes signature of the signature and the trusted comment
 *
 * A public key is "Ed", 8 bytes key id and 32 bytes, in base64, with a comment line before it or
 * without. A secret key is made and read without a password, as `minisign -G -W` makes it.
 */
#ifndef BALEEN_MINISIGN_H
#define BALEEN_MINISIGN_H

#include <baleen/port.h>

#include "util/error.h"

/* A key is one of Ed25519. */
#define BALEEN_MINISIGN_KEY_BYTES 32
#define BALEEN_MINISIGN_ID_BYTES 8
/* 56 characters and the NUL byte. */
#define BALEEN_MINISIGN_PUBLIC_TEXT 57
#define BALEEN_MINISIGN_COMMENT_BYTES 1024

/**
 * struct baleen_minisign_public - a public key
 * @id: its number, random
 * @key: the key
 */
struct baleen_minisign_public {
	u8 id[BALEEN_MINISIGN_ID_BYTES];
	u8 key[BALEEN_MINISIGN_KEY_BYTES];
};

/**
 * baleen_minisign_public_parse() - a public key from text
 * @text: its line of base64, with the line of its comment before or without
 * @public_key: filled in; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_minisign_public_parse(const char *text, struct baleen_minisign_public *public_key);

/**
 * baleen_minisign_public_format() - a public key as its line of base64
 * @public_key: the key
 * @text: BALEEN_MINISIGN_PUBLIC_TEXT bytes
 *
 * Return: @text.
 */
const char *baleen_minisign_public_format(const struct baleen_minisign_public *public_key,
					  char *text);

/**
 * baleen_minisign_verify() - did the owner of a key sign a file?
 * @file: bytes of the file
 * @n_file: how many
 * @signature: text of the signature file
 * @n_signature: bytes of it
 * @public_key: of who shall have signed
 * @comment: trusted comment, BALEEN_MINISIGN_COMMENT_BYTES bytes, filled in; may be NULL
 * @why: why not, a constant string; untouched on success
 *
 * Return: 0; -EINVAL for what is no signature; -EKEYREJECTED for one of another key or file.
 */
int baleen_minisign_verify(const void *file, size_t n_file, const char *signature,
			   size_t n_signature, const struct baleen_minisign_public *public_key,
			   char *comment, const char **why);

/**
 * baleen_minisign_make() - make a pair of keys
 * @secret_path: file of the secret key, which is not there
 * @public_path: file of the public key, which is not there
 * @public_key: filled in
 * @error: filled in on failure
 *
 * Return: 0; -EEXIST; a negative errno.
 */
int baleen_minisign_make(const char *secret_path, const char *public_path,
			 struct baleen_minisign_public *public_key, struct baleen_error *error);

/**
 * baleen_minisign_sign() - sign a file ("ED")
 * @secret_path: file of a secret key without a password
 * @file: bytes of the file
 * @n_file: how many
 * @comment: trusted comment, below BALEEN_MINISIGN_COMMENT_BYTES bytes, one line
 * @signature: text of the signature file, to be freed by the caller
 * @error: filled in on failure
 *
 * Return: 0; -EPERM for a secret key that others may read, or that has a password; -EINVAL; a
 * negative errno.
 */
int baleen_minisign_sign(const char *secret_path, const void *file, size_t n_file,
			 const char *comment, char **signature, struct baleen_error *error);

#endif /* BALEEN_MINISIGN_H */
