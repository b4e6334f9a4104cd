/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One ban of a fleet: a prefix in a set, since when, until when, why.
 *
 * Nothing here knows of a network or of a database. The digest of a set of entries is the sum,
 * modulo 2^128, of the hash of each: whoever adds or takes out one entry adds or subtracts one
 * hash, and the order does not matter.
 */
#ifndef BALEEN_FLEET_ENTRY_H
#define BALEEN_FLEET_ENTRY_H

#include <baleen/port.h>

#include "key/span.h"
#include "util/error.h"

/* With the NUL byte. */
#define BALEEN_FLEET_NAME_BYTES 32
/* HOST/ORIGIN, with the NUL byte; behind "fleet:" it is the origin of a single entry. */
#define BALEEN_FLEET_PUBLISHER_BYTES 58
#define BALEEN_FLEET_REASON_BYTES 256
#define BALEEN_FLEET_KEY_TEXT 64
/* Bytes of the longest entry in a message. */
#define BALEEN_FLEET_ENTRY_MAX (4 + 57 + 31 + 8 + 8 + 1 + 255)

/* The set that bans go to. */
#define BALEEN_FLEET_SET "bans"

/* The origin of what an operator says: its entries ban nobody. One of an address or prefix is a
 * pardon; one of a name is a word on a publisher, and its set is the word.
 */
#define BALEEN_FLEET_CONTROL_ORIGIN "control"
#define BALEEN_FLEET_SUSPENDS "suspend"
#define BALEEN_FLEET_RESUMES "resume"

/* A key that is the name of a publisher, or HOST/ and a star. */
#define BALEEN_FLEET_FAMILY_NAME 1

/* When a word on a publisher ends: a newer one says otherwise before. */
#define BALEEN_FLEET_NEVER_MS ((1ull << 53) - 1)

/* Bans of a fleet end: an entry that says nothing ends after a day, and none stays longer than
 * 30 days after it was made.
 */
#define BALEEN_FLEET_TTL_MS 86400000ull
#define BALEEN_FLEET_MAX_TTL_MS (30 * 86400000ull)

/**
 * struct baleen_fleet_key - an address or prefix, or the name of a publisher
 * @family: 4 or 6; BALEEN_FLEET_FAMILY_NAME
 * @length: prefix length, 0 to 32 or to 128; bytes of a name
 * @address: network byte order, 4 or 16 bytes of it, or the name; the bits behind @length and the
 *           bytes behind the address are zero
 */
struct baleen_fleet_key {
	u8 family;
	u8 length;
	u8 address[BALEEN_FLEET_PUBLISHER_BYTES];
};

/**
 * struct baleen_fleet_entry - a ban
 * @set: name of the set
 * @key: the address or prefix
 * @made_ms: when it was made; broker's time, milliseconds since the epoch
 * @end_ms: when it ends, after @made_ms; broker's time
 * @reason: UTF-8 without control characters; may be empty
 */
struct baleen_fleet_entry {
	char set[BALEEN_FLEET_NAME_BYTES];
	struct baleen_fleet_key key;
	u64 made_ms;
	u64 end_ms;
	char reason[BALEEN_FLEET_REASON_BYTES];
};

/**
 * struct baleen_fleet_digest - sum of the hashes of the entries of a set
 * @hi: bits 127..64
 * @lo: bits 63..0
 */
struct baleen_fleet_digest {
	u64 hi;
	u64 lo;
};

/**
 * baleen_fleet_name_is() - may a fleet or a set have this name?
 * @name: the name
 *
 * Return: true of 1 to BALEEN_FLEET_NAME_BYTES - 1 bytes of a-z, 0-9, '.', '_' and '-'.
 */
bool baleen_fleet_name_is(const char *name);

/**
 * baleen_fleet_publisher_is() - is it the name of a publisher?
 * @name: HOST/ORIGIN
 *
 * Return: true of a HOST of letters, digits, '.', '_' and '-', one slash, and an ORIGIN of
 * the same and ':', BALEEN_FLEET_PUBLISHER_BYTES - 1 bytes at most in all.
 */
bool baleen_fleet_publisher_is(const char *name);

/**
 * baleen_fleet_is_control() - is a publisher that of what an operator says?
 * @name: HOST/ORIGIN
 *
 * Return: true when its origin is BALEEN_FLEET_CONTROL_ORIGIN.
 */
bool baleen_fleet_is_control(const char *name);

/**
 * baleen_fleet_target_is() - may a publisher of this name be suspended?
 * @name: HOST/ORIGIN, or HOST and a star for all of a host
 *
 * Return: true or false.
 */
bool baleen_fleet_target_is(const char *name);

/**
 * baleen_fleet_key_parse() - a key from text
 * @text: ADDR or ADDR/LEN; bits behind the length are masked
 * @key: filled in; untouched on failure
 *
 * Return: 0; -EINVAL, also for a range that is no prefix.
 */
int baleen_fleet_key_parse(const char *text, struct baleen_fleet_key *key);

/**
 * baleen_fleet_key_format() - a key as text
 * @key: the key
 * @text: BALEEN_FLEET_KEY_TEXT bytes: in its shortest form, as single entries have it
 *
 * Return: @text.
 */
const char *baleen_fleet_key_format(const struct baleen_fleet_key *key, char *text);

/**
 * baleen_fleet_key_entry() - a key as that of a single entry
 * @key: the key
 *
 * Return: the same addresses.
 */
struct baleen_entry_key baleen_fleet_key_entry(const struct baleen_fleet_key *key);

/**
 * baleen_fleet_key_check() - is it a key?
 * @key: from elsewhere
 *
 * Return: false for an unknown family, a length that is too long, and for bits behind it.
 */
bool baleen_fleet_key_check(const struct baleen_fleet_key *key);

/**
 * baleen_fleet_key_widen() - the prefix of a length that a key is in
 * @key: the key
 * @length: its length at the most
 *
 * Return: the prefix.
 */
struct baleen_fleet_key baleen_fleet_key_widen(const struct baleen_fleet_key *key, u32 length);

/**
 * baleen_fleet_key_covers() - is a key inside another one?
 * @wide: the wider one
 * @key: the one inside, or the same
 *
 * Return: true or false.
 */
bool baleen_fleet_key_covers(const struct baleen_fleet_key *wide,
			     const struct baleen_fleet_key *key);

/* Bytes of the address of a key. */
static inline size_t baleen_fleet_key_bytes(const struct baleen_fleet_key *key)
{
	return key->family == 4 ? 4 : key->family == 6 ? 16 : key->length;
}

/* Is it a word on a publisher? Else it is of an address or prefix. */
static inline bool baleen_fleet_is_word(const struct baleen_fleet_entry *entry)
{
	return entry->key.family == BALEEN_FLEET_FAMILY_NAME;
}

/**
 * baleen_fleet_key_name() - the name of a publisher as a key
 * @name: HOST/ORIGIN, or HOST/ and a star
 *
 * Return: the key; one that baleen_fleet_key_check() refuses when it is no name.
 */
struct baleen_fleet_key baleen_fleet_key_name(const char *name);

/**
 * baleen_fleet_entry_check() - may it be an entry?
 * @entry: from elsewhere, its texts with a NUL byte
 *
 * Return: NULL; why not, a constant string.
 */
const char *baleen_fleet_entry_check(const struct baleen_fleet_entry *entry);

/**
 * baleen_fleet_entry_encode() - an entry as bytes of a message
 * @entry: that baleen_fleet_entry_check() lets
 * @is_del: it is taken back
 * @bytes: BALEEN_FLEET_ENTRY_MAX bytes; see fleet_batch.h
 *
 * Return: how many bytes.
 */
size_t baleen_fleet_entry_encode(const struct baleen_fleet_entry *entry, bool is_del, u8 *bytes);

/**
 * baleen_fleet_entry_decode() - an entry from bytes of a message
 * @bytes: from elsewhere
 * @n_bytes: how many there are, of this entry and behind it
 * @entry: filled in, checked; untouched on failure
 * @is_del: filled in: it is taken back
 * @why: why not, a constant string; of no meaning on success
 *
 * Return: bytes of the entry; 0 when it is none.
 */
size_t baleen_fleet_entry_decode(const u8 *bytes, size_t n_bytes, struct baleen_fleet_entry *entry,
				 bool *is_del, const char **why);

/**
 * baleen_fleet_entry_compare() - the order of entries in a snapshot
 * @a: one entry
 * @b: the other
 *
 * Return: below, at or above 0: by set, family, address, length.
 */
int baleen_fleet_entry_compare(const struct baleen_fleet_entry *a,
			       const struct baleen_fleet_entry *b);

/**
 * baleen_fleet_digest_add() - the digest with one more entry
 * @digest: changed
 * @entry: the entry
 */
void baleen_fleet_digest_add(struct baleen_fleet_digest *digest,
			     const struct baleen_fleet_entry *entry);

/**
 * baleen_fleet_digest_take() - the digest with one entry fewer
 * @digest: changed
 * @entry: the entry, as it was added
 */
void baleen_fleet_digest_take(struct baleen_fleet_digest *digest,
			      const struct baleen_fleet_entry *entry);

static inline bool baleen_fleet_digest_is(const struct baleen_fleet_digest *a,
					  const struct baleen_fleet_digest *b)
{
	return a->hi == b->hi && a->lo == b->lo;
}

#endif /* BALEEN_FLEET_ENTRY_H */
