/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A signed message of a fleet: a batch of changes, a head, a snapshot, or a control message.
 *
 *      0   4  "BLNF"
 *      4   1  version, 2
 *      5   1  type, enum baleen_fleet_type
 *      6   2  0
 *      8   4  bytes of the message, the signature included
 *      12  4  batch, snapshot: entries that follow; head: entries of the live set; control: 0
 *      16  16 incarnation of the publisher, random
 *      32  8  batch: number of the first change; else that of the last
 *      40  8  number of the last change; 0 of a control message
 *      48  8  when it was signed: broker's time, milliseconds since the epoch
 *      56  1  bytes of the name of the fleet, 1 to 31
 *      57  1  bytes of the name of the publisher, 3 to 57
 *      58  6  0
 *      64     name of the fleet, name of the publisher, body
 *      -64 64 Ed25519 signature of all bytes before it (RFC 8032)
 *
 * Numbers are little-endian. Body of a batch and of a snapshot: entries,
 *
 *      0   1  1 puts, 2 takes back
 *      1   1  family, 4 or 6; 1: the name of a publisher
 *      2   1  prefix length; bytes of the name
 *      3   1  bytes of the name of the set, 1 to 31
 *      4      address, 4 or 16 bytes, network byte order, or the name; name of the set
 *             and of one that is put:
 *          8  when it was made    8  when it ends    1  bytes of the reason    the reason
 *
 * Those of a snapshot are all put, and are in order: by set, family, address, length. Body of a
 * head: the digest, high half first. Body of a control message:
 *
 *      0   1  enum baleen_fleet_control    1  bytes of the reason, 0 to 255    the reason
 *             ask: family, prefix length, bytes of the name of the set, address, name
 *             signal, answer: 1 value, 8 number, 8 digest, 1 bytes of the topic, 1 of the subject,
 * both
 *
 * The signature binds fleet, publisher, incarnation, numbers and time, so nobody can put a
 * message in another place than the one that it was signed for. Whoever reads one checks all of
 * it first: nothing is taken from a message with a byte too many.
 */
#ifndef BALEEN_FLEET_BATCH_H
#define BALEEN_FLEET_BATCH_H

#include "fleet/fleet_entry.h"

#define BALEEN_FLEET_MAGIC "BLNF"
#define BALEEN_FLEET_VERSION 2
#define BALEEN_FLEET_HEADER_BYTES 64
#define BALEEN_FLEET_INCARNATION_BYTES 16
#define BALEEN_FLEET_SIGNATURE_BYTES 64
#define BALEEN_FLEET_PUBLIC_BYTES 32
#define BALEEN_FLEET_SECRET_BYTES 64

/* With the NUL byte: 1 to 63 of ASCII without blanks and control characters. */
#define BALEEN_FLEET_SUBJECT_BYTES 64

/* Changes of one batch; entries of one publisher, and so of a snapshot. */
#define BALEEN_FLEET_BATCH_MAX 512
#define BALEEN_FLEET_LIVE_MAX 262144

/**
 * enum baleen_fleet_type - sort of a message
 * @BALEEN_FLEET_BATCH: changes of a publisher, in order
 * @BALEEN_FLEET_HEAD: where a publisher is
 * @BALEEN_FLEET_SNAPSHOT: all entries of a publisher
 * @BALEEN_FLEET_CONTROL: a question, an answer, or what a host says to others
 */
enum baleen_fleet_type {
	BALEEN_FLEET_BATCH = 1,
	BALEEN_FLEET_HEAD = 2,
	BALEEN_FLEET_SNAPSHOT = 3,
	BALEEN_FLEET_CONTROL = 4,
};

/**
 * enum baleen_fleet_control - what is said outside of the logs of publishers
 * @BALEEN_FLEET_ASK: has a host banned this key? Its incarnation tells it from others
 * @BALEEN_FLEET_SIGNAL: a host says something to others: see fleet_signal.h
 * @BALEEN_FLEET_ANSWER: to a question: about is the first 8 bytes of its incarnation
 */
enum baleen_fleet_control {
	BALEEN_FLEET_ASK = 1,
	BALEEN_FLEET_SIGNAL = 2,
	BALEEN_FLEET_ANSWER = 3,
};

/**
 * struct baleen_fleet_change - one change of a publisher
 * @is_del: it takes @entry back, of which set and key count
 * @entry: the entry
 */
struct baleen_fleet_change {
	bool is_del;
	struct baleen_fleet_entry entry;
};

/**
 * struct baleen_fleet_message - a message
 * @type: enum baleen_fleet_type
 * @fleet: name of the fleet
 * @publisher: HOST/ORIGIN
 * @incarnation: of the publisher
 * @first: number of the first change of a batch; else @last
 * @last: number of the last change that it tells of
 * @made_ms: when it was signed, broker's time
 * @n_entries: of a batch, snapshot or head
 * @digest: of a head
 * @control: enum baleen_fleet_control of a control message
 * @set: of a question
 * @key: likewise
 * @topic: of a signal or an answer: who is to understand it; a name like that of a set
 * @subject: of a signal: what it is about
 * @number: of a signal, such as a generation
 * @about: of a signal: first 8 bytes of a digest, 0 for none
 * @value: of a signal, 0 to 255
 * @reason: of a control message
 * @body: entries of a batch or snapshot, inside the bytes that were decoded
 * @n_body: bytes of @body
 */
struct baleen_fleet_message {
	u32 type;
	char fleet[BALEEN_FLEET_NAME_BYTES];
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	u8 incarnation[BALEEN_FLEET_INCARNATION_BYTES];
	u64 first;
	u64 last;
	u64 made_ms;
	u32 n_entries;
	struct baleen_fleet_digest digest;
	u32 control;
	char set[BALEEN_FLEET_NAME_BYTES];
	struct baleen_fleet_key key;
	char topic[BALEEN_FLEET_NAME_BYTES];
	char subject[BALEEN_FLEET_SUBJECT_BYTES];
	u64 number;
	u64 about;
	u32 value;
	char reason[BALEEN_FLEET_REASON_BYTES];
	const u8 *body;
	size_t n_body;
};

/**
 * baleen_fleet_decode() - read a message
 * @bytes: from elsewhere
 * @n_bytes: how many
 * @message: filled in; points into @bytes; untouched on failure
 * @why: why not, a constant string; untouched on success
 *
 * All of it is checked but the signature, which is baleen_fleet_verify()'s.
 *
 * Return: 0 or -EINVAL.
 */
int baleen_fleet_decode(const void *bytes, size_t n_bytes, struct baleen_fleet_message *message,
			const char **why);

/* The header and the longest names. */
#define BALEEN_FLEET_PEEK_BYTES \
	(BALEEN_FLEET_HEADER_BYTES + BALEEN_FLEET_NAME_BYTES + BALEEN_FLEET_PUBLISHER_BYTES - 2)

/**
 * baleen_fleet_peek() - read the header of a message
 * @bytes: its first bytes, BALEEN_FLEET_PEEK_BYTES are enough
 * @n_bytes: how many
 * @message: filled in: type, names, incarnation, numbers, time, n_entries; untouched on failure
 *
 * Nobody vouches for it: it tells whether the rest is worth having.
 *
 * Return: 0 or -EINVAL.
 */
int baleen_fleet_peek(const void *bytes, size_t n_bytes, struct baleen_fleet_message *message);

/**
 * baleen_fleet_next() - the next entry of a message
 * @message: decoded, a batch or a snapshot
 * @at: 0 for the first; moved on
 * @change: filled in
 *
 * Return: false when there are no more.
 */
bool baleen_fleet_next(const struct baleen_fleet_message *message, size_t *at,
		       struct baleen_fleet_change *change);

/**
 * baleen_fleet_verify() - did the owner of a key sign these bytes?
 * @bytes: of a message that baleen_fleet_decode() took
 * @n_bytes: how many
 * @public_key: BALEEN_FLEET_PUBLIC_BYTES bytes
 *
 * Return: true or false.
 */
bool baleen_fleet_verify(const void *bytes, size_t n_bytes, const u8 *public_key);

/**
 * baleen_fleet_subject_is() - may it be the subject of a signal?
 * @text: any text
 *
 * Return: true or false.
 */
bool baleen_fleet_subject_is(const char *text);

/**
 * struct baleen_fleet_writer - a message that is being made
 * @bytes: the message; the caller frees it
 * @n_bytes: how many so far; after baleen_fleet_writer_sign() all of it
 * @room: bytes that @bytes has room for
 * @n_entries: entries so far
 */
struct baleen_fleet_writer {
	u8 *bytes;
	size_t n_bytes;
	size_t room;
	u32 n_entries;
};

/**
 * baleen_fleet_writer_start() - begin a message
 * @writer: filled in; to be freed with baleen_fleet_writer_free(), also after a failure
 * @message: all of it but entries; n_entries counts for a head alone, first of a batch;
 *           last is set by baleen_fleet_writer_sign() for a batch
 *
 * Return: 0; -EINVAL for a name or number that no message can have; -ENOMEM.
 */
int baleen_fleet_writer_start(struct baleen_fleet_writer *writer,
			      const struct baleen_fleet_message *message);

/**
 * baleen_fleet_writer_add() - add an entry to a batch or snapshot
 * @writer: started
 * @change: the entry; those of a snapshot in order
 *
 * Return: 0; -ENOSPC when a batch or snapshot has as many as it may; -EINVAL; -ENOMEM.
 */
int baleen_fleet_writer_add(struct baleen_fleet_writer *writer,
			    const struct baleen_fleet_change *change);

/**
 * baleen_fleet_writer_sign() - end a message
 * @writer: with all its entries
 * @secret_key: BALEEN_FLEET_SECRET_BYTES bytes, of libsodium
 *
 * Return: 0; -EINVAL for a batch without changes; -ENOMEM.
 */
int baleen_fleet_writer_sign(struct baleen_fleet_writer *writer, const u8 *secret_key);

/**
 * baleen_fleet_writer_free() - free a message
 * @writer: started, or all zeros
 */
void baleen_fleet_writer_free(struct baleen_fleet_writer *writer);

#endif /* BALEEN_FLEET_BATCH_H */
