// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signatures and keys in the format of minisign. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/minisign.h"
#include "util/small_file.h"

#define UNTRUSTED "untrusted comment: "
#define TRUSTED "trusted comment: "
#define FILE_MAX 65536
#define HASHED_BYTES 64
#define SIGNATURE_BYTES 64
#define SECRET_BYTES 64

/* The lines of base64, as bytes. Numbers are little-endian. */
struct public_line {
	u8 algorithm[2];
	u8 id[BALEEN_MINISIGN_ID_BYTES];
	u8 key[BALEEN_MINISIGN_KEY_BYTES];
};

struct signature_line {
	u8 algorithm[2];
	u8 id[BALEEN_MINISIGN_ID_BYTES];
	u8 signature[SIGNATURE_BYTES];
};

struct secret_line {
	u8 algorithm[2];
	u8 kdf[2];
	u8 checksum[2];
	u8 salt[32];
	u8 limits[16];
	u8 id[BALEEN_MINISIGN_ID_BYTES];
	u8 key[SECRET_BYTES];
	u8 hash[32];
};

/* --- lines ----------------------------------------------------------------- */

/**
 * struct line - a line without its end
 * @text: where it begins
 * @length: its bytes
 */
struct line {
	const char *text;
	size_t length;
};

/* One line, and on to the next; a carriage return is part of its end. */
static bool next_line(const char **text, const char *end, struct line *line)
{
	const char *stop;

	if (*text >= end)
		return false;
	stop = memchr(*text, '\n', end - *text);
	line->text = *text;
	line->length = (stop ? stop : end) - *text;
	*text = stop ? stop + 1 : end;
	if (line->length && line->text[line->length - 1] == '\r')
		line->length--;
	return true;
}

static bool begins(const struct line *line, const char *with)
{
	return line->length >= strlen(with) && !memcmp(line->text, with, strlen(with));
}

static bool take_base64(const struct line *line, void *bytes, size_t n_bytes)
{
	size_t n;

	return !sodium_base642bin(bytes, n_bytes, line->text, line->length, NULL, &n, NULL,
				  sodium_base64_VARIANT_ORIGINAL) &&
	       n == n_bytes;
}

/* --- public keys ----------------------------------------------------------- */

int baleen_minisign_public_parse(const char *text, struct baleen_minisign_public *public_key)
{
	const char *end = text + strlen(text);
	struct public_line read;
	struct line line, rest;

	if (!next_line(&text, end, &line))
		return -EINVAL;
	if (begins(&line, UNTRUSTED) && !next_line(&text, end, &line))
		return -EINVAL;
	if (next_line(&text, end, &rest) || !take_base64(&line, &read, sizeof(read)) ||
	    memcmp(read.algorithm, "Ed", 2))
		return -EINVAL;
	memcpy(public_key->id, read.id, sizeof(read.id));
	memcpy(public_key->key, read.key, sizeof(read.key));
	return 0;
}

const char *baleen_minisign_public_format(const struct baleen_minisign_public *public_key,
					  char *text)
{
	struct public_line line = { .algorithm = "Ed" };

	memcpy(line.id, public_key->id, sizeof(line.id));
	memcpy(line.key, public_key->key, sizeof(line.key));
	return sodium_bin2base64(text, BALEEN_MINISIGN_PUBLIC_TEXT, (u8 *)&line, sizeof(line),
				 sodium_base64_VARIANT_ORIGINAL);
}

/* --- verify ---------------------------------------------------------------- */

/**
 * struct signature_file - a signature that was read
 * @line: of the file
 * @comment: trusted comment
 * @global: signature of @line and @comment
 */
struct signature_file {
	struct signature_line line;
	struct line comment;
	u8 global[SIGNATURE_BYTES];
};

static bool read_signature(const char *text, size_t n, struct signature_file *file)
{
	const char *end = text + n;
	struct line line;

	if (!next_line(&text, end, &line) || !begins(&line, UNTRUSTED))
		return false;
	if (!next_line(&text, end, &line) || !take_base64(&line, &file->line, sizeof(file->line)))
		return false;
	if (!next_line(&text, end, &line) || !begins(&line, TRUSTED))
		return false;
	file->comment.text = line.text + strlen(TRUSTED);
	file->comment.length = line.length - strlen(TRUSTED);
	if (file->comment.length >= BALEEN_MINISIGN_COMMENT_BYTES ||
	    memchr(file->comment.text, '\0', file->comment.length))
		return false;
	return next_line(&text, end, &line) &&
	       take_base64(&line, file->global, sizeof(file->global)) && text == end;
}

static bool is_signed(const void *file, size_t n_file, const struct signature_line *line,
		      const u8 *key)
{
	u8 hashed[HASHED_BYTES];

	if (!memcmp(line->algorithm, "Ed", 2))
		return !crypto_sign_verify_detached(line->signature, file, n_file, key);
	crypto_generichash(hashed, sizeof(hashed), file, n_file, NULL, 0);
	return !crypto_sign_verify_detached(line->signature, hashed, sizeof(hashed), key);
}

/* Signature and comment, side by side as they are signed. */
static size_t join(const u8 *signature, const char *comment, size_t n_comment, u8 *joined)
{
	memcpy(joined, signature, SIGNATURE_BYTES);
	memcpy(joined + SIGNATURE_BYTES, comment, n_comment);
	return SIGNATURE_BYTES + n_comment;
}

static int reject(const char *because, int code, const char **why)
{
	*why = because;
	return -code;
}

int baleen_minisign_verify(const void *file, size_t n_file, const char *signature,
			   size_t n_signature, const struct baleen_minisign_public *public_key,
			   char *comment, const char **why)
{
	u8 joined[SIGNATURE_BYTES + BALEEN_MINISIGN_COMMENT_BYTES];
	struct signature_file read;
	size_t n;

	if (sodium_init() < 0)
		return reject("libsodium cannot be used", EIO, why);
	if (!read_signature(signature, n_signature, &read) ||
	    (memcmp(read.line.algorithm, "Ed", 2) && memcmp(read.line.algorithm, "ED", 2)))
		return reject("not a signature of minisign", EINVAL, why);
	if (memcmp(read.line.id, public_key->id, sizeof(public_key->id)))
		return reject("another key signed it", EKEYREJECTED, why);
	if (!is_signed(file, n_file, &read.line, public_key->key))
		return reject("the signature is of another file", EKEYREJECTED, why);
	n = join(read.line.signature, read.comment.text, read.comment.length, joined);
	if (crypto_sign_verify_detached(read.global, joined, n, public_key->key))
		return reject("the trusted comment was changed", EKEYREJECTED, why);
	if (comment) {
		memcpy(comment, read.comment.text, read.comment.length);
		comment[read.comment.length] = '\0';
	}
	return 0;
}

/* --- make and sign --------------------------------------------------------- */

static void hash_secret(const struct secret_line *line, u8 *hash)
{
	u8 bytes[sizeof(line->algorithm) + sizeof(line->id) + sizeof(line->key)], *at = bytes;

	at = mempcpy(at, line->algorithm, sizeof(line->algorithm));
	at = mempcpy(at, line->id, sizeof(line->id));
	memcpy(at, line->key, sizeof(line->key));
	crypto_generichash(hash, sizeof(line->hash), bytes, sizeof(bytes), NULL, 0);
	sodium_memzero(bytes, sizeof(bytes));
}

static int write_secret(const char *path, const struct secret_line *line,
			struct baleen_error *error)
{
	char base64[sodium_base64_ENCODED_LEN(sizeof(*line), sodium_base64_VARIANT_ORIGINAL)];
	char text[sizeof(base64) + 128];
	int n, err;

	sodium_bin2base64(base64, sizeof(base64), (const u8 *)line, sizeof(*line),
			  sodium_base64_VARIANT_ORIGINAL);
	n = snprintf(text, sizeof(text), UNTRUSTED "minisign secret key\n%s\n", base64);
	err = baleen_small_file_make(path, 0600, text, n, error);
	sodium_memzero(base64, sizeof(base64));
	sodium_memzero(text, sizeof(text));
	return err;
}

int baleen_minisign_make(const char *secret_path, const char *public_path,
			 struct baleen_minisign_public *public_key, struct baleen_error *error)
{
	struct secret_line line = { .algorithm = "Ed", .checksum = "B2" };
	char base64[BALEEN_MINISIGN_PUBLIC_TEXT], text[BALEEN_MINISIGN_PUBLIC_TEXT + 64];
	struct baleen_minisign_public made;
	int n, err;

	if (sodium_init() < 0)
		return baleen_fail(error, EIO, "libsodium finds no random numbers");
	randombytes_buf(line.id, sizeof(line.id));
	crypto_sign_keypair(made.key, line.key);
	memcpy(made.id, line.id, sizeof(made.id));
	hash_secret(&line, line.hash);
	n = snprintf(text, sizeof(text), UNTRUSTED "minisign public key\n%s\n",
		     baleen_minisign_public_format(&made, base64));
	err = write_secret(secret_path, &line, error);
	if (!err) {
		err = baleen_small_file_make(public_path, 0644, text, n, error);
		if (err)
			unlink(secret_path);
	}
	sodium_memzero(&line, sizeof(line));
	if (!err)
		*public_key = made;
	return err;
}

static int read_secret(const char *path, struct secret_line *secret, struct baleen_error *error)
{
	struct line line;
	struct baleen_minisign_public public;
	const char *at;
	u8 hash[32];
	char *text;
	u32 mode;
	size_t n;
	int err = baleen_small_file_read(path, BALEEN_INPUT_TYPED_FILE, FILE_MAX, &text, &n, &mode,
					 error);

	if (err)
		return err;
	at = text;
	if (!baleen_minisign_public_parse(text, &public))
		err = baleen_fail(error, EINVAL, "%s: a public key: the secret one signs", path);
	else if (mode & 077)
		err = baleen_fail(error, EPERM, "%s: others may read it: chmod 0600 %s", path,
				  path);
	else if (!next_line(&at, text + n, &line) || !begins(&line, UNTRUSTED) ||
		 !next_line(&at, text + n, &line) || !take_base64(&line, secret, sizeof(*secret)) ||
		 memcmp(secret->algorithm, "Ed", 2) || memcmp(secret->checksum, "B2", 2))
		err = baleen_fail(error, EINVAL, "%s: not a secret key of minisign", path);
	else if (secret->kdf[0] || secret->kdf[1])
		err = baleen_fail(error, EPERM, "%s: it has a password: sign by minisign", path);
	if (!err) {
		hash_secret(secret, hash);
		/* minisign writes none of a key without a password. */
		if (!sodium_is_zero(secret->hash, sizeof(secret->hash)) &&
		    memcmp(hash, secret->hash, sizeof(hash)))
			err = baleen_fail(error, EINVAL, "%s: damaged: its checksum is wrong",
					  path);
	}
	sodium_memzero(text, n);
	free(text);
	return err;
}

static int format_signature(const struct signature_line *line, const u8 *global,
			    const char *comment, char **text)
{
	char of_file[sodium_base64_ENCODED_LEN(sizeof(*line), sodium_base64_VARIANT_ORIGINAL)];
	char of_all[sodium_base64_ENCODED_LEN(SIGNATURE_BYTES, sodium_base64_VARIANT_ORIGINAL)];

	sodium_bin2base64(of_file, sizeof(of_file), (const u8 *)line, sizeof(*line),
			  sodium_base64_VARIANT_ORIGINAL);
	sodium_bin2base64(of_all, sizeof(of_all), global, SIGNATURE_BYTES,
			  sodium_base64_VARIANT_ORIGINAL);
	return asprintf(text, UNTRUSTED "signature by baleen\n%s\n" TRUSTED "%s\n%s\n", of_file,
			comment, of_all) < 0 ?
		       -ENOMEM :
		       0;
}

int baleen_minisign_sign(const char *secret_path, const void *file, size_t n_file,
			 const char *comment, char **signature, struct baleen_error *error)
{
	u8 joined[SIGNATURE_BYTES + BALEEN_MINISIGN_COMMENT_BYTES];
	u8 hashed[HASHED_BYTES], global[SIGNATURE_BYTES];
	struct signature_line line = { .algorithm = "ED" };
	struct secret_line secret = { 0 };
	int err;

	if (strlen(comment) >= BALEEN_MINISIGN_COMMENT_BYTES || strpbrk(comment, "\r\n"))
		return baleen_fail(error, EINVAL, "a trusted comment is one line, below %d bytes",
				   BALEEN_MINISIGN_COMMENT_BYTES);
	if (sodium_init() < 0)
		return baleen_fail(error, EIO, "libsodium cannot be used");
	err = read_secret(secret_path, &secret, error);
	if (!err) {
		memcpy(line.id, secret.id, sizeof(line.id));
		crypto_generichash(hashed, sizeof(hashed), file, n_file, NULL, 0);
		crypto_sign_detached(line.signature, NULL, hashed, sizeof(hashed), secret.key);
		crypto_sign_detached(global, NULL, joined,
				     join(line.signature, comment, strlen(comment), joined),
				     secret.key);
		err = format_signature(&line, global, comment, signature);
		if (err)
			baleen_no_memory(error);
	}
	sodium_memzero(&secret, sizeof(secret));
	return err;
}
