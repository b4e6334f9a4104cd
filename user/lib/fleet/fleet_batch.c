// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signed messages of a fleet: to bytes and back. */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_batch.h"
#include "state/entries.h"
#include "util/little_endian.h"

/* Where the fields of the header are. */
enum {
	AT_VERSION = 4,
	AT_TYPE = 5,
	AT_ZERO = 6,
	AT_BYTES = 8,
	AT_ENTRIES = 12,
	AT_INCARNATION = 16,
	AT_FIRST = 32,
	AT_LAST = 40,
	AT_MADE = 48,
	AT_FLEET = 56,
	AT_PUBLISHER = 57,
	AT_ZERO_2 = 58,
};

#define DIGEST_BYTES 16
/* Those of a signal, before its texts. */
#define SIGNAL_BYTES 19
#define FIRST_ROOM 512
/* Numbers of changes stay exact in SQLite. */
#define MAX_NUMBER (1ull << 62)

/* --- read ------------------------------------------------------------------ */

/**
 * struct reader - bytes that are being read
 * @at: where
 * @left: how many there are
 */
struct reader {
	const u8 *at;
	size_t left;
};

static const u8 *take(struct reader *reader, size_t n)
{
	const u8 *at = reader->at;

	if (reader->left < n)
		return NULL;
	reader->at += n;
	reader->left -= n;
	return at;
}

static bool take_text(struct reader *reader, size_t n, char *text, size_t room)
{
	const u8 *at = take(reader, n);

	if (!at || n >= room || memchr(at, '\0', n))
		return false;
	memcpy(text, at, n);
	text[n] = '\0';
	return true;
}

/* All but the length, which the first bytes of a message do not have. */
static const char *read_fields(struct reader *reader, struct baleen_fleet_message *message)
{
	const u8 *header = take(reader, BALEEN_FLEET_HEADER_BYTES);

	if (!header)
		return "it is cut off";
	if (memcmp(header, BALEEN_FLEET_MAGIC, 4) || header[AT_VERSION] != BALEEN_FLEET_VERSION)
		return "not a message of this version";
	if (header[AT_ZERO] | header[AT_ZERO + 1] | baleen_get_le32(header + AT_ZERO_2) |
	    header[AT_ZERO_2 + 4] | header[AT_ZERO_2 + 5])
		return "a byte that is to be zero is not";
	message->type = header[AT_TYPE];
	message->n_entries = baleen_get_le32(header + AT_ENTRIES);
	memcpy(message->incarnation, header + AT_INCARNATION, BALEEN_FLEET_INCARNATION_BYTES);
	message->first = baleen_get_le64(header + AT_FIRST);
	message->last = baleen_get_le64(header + AT_LAST);
	message->made_ms = baleen_get_le64(header + AT_MADE);
	if (message->first > message->last || message->last >= MAX_NUMBER ||
	    message->made_ms >= MAX_NUMBER)
		return "numbers out of range";
	if (!take_text(reader, header[AT_FLEET], message->fleet, sizeof(message->fleet)) ||
	    !baleen_fleet_name_is(message->fleet))
		return "not the name of a fleet";
	if (!take_text(reader, header[AT_PUBLISHER], message->publisher,
		       sizeof(message->publisher)) ||
	    !baleen_fleet_publisher_is(message->publisher))
		return "not the name of a publisher";
	return NULL;
}

static const char *read_header(struct reader *reader, size_t n_bytes,
			       struct baleen_fleet_message *message)
{
	if (n_bytes < BALEEN_FLEET_HEADER_BYTES + BALEEN_FLEET_SIGNATURE_BYTES)
		return "it is cut off";
	if (!memcmp(reader->at, BALEEN_FLEET_MAGIC, 4) &&
	    baleen_get_le32(reader->at + AT_BYTES) != n_bytes)
		return "it is longer or shorter than it says";
	reader->left -= BALEEN_FLEET_SIGNATURE_BYTES;
	return read_fields(reader, message);
}

int baleen_fleet_peek(const void *bytes, size_t n_bytes, struct baleen_fleet_message *message)
{
	struct reader reader = { .at = bytes, .left = n_bytes };
	struct baleen_fleet_message read = { 0 };

	if (read_fields(&reader, &read))
		return -EINVAL;
	*message = read;
	return 0;
}

static const char *read_entries(const struct baleen_fleet_message *message)
{
	bool is_batch = message->type == BALEEN_FLEET_BATCH, is_del;
	struct baleen_fleet_entry entry[2];
	const char *why;
	size_t at = 0;

	for (u32 i = 0; i < message->n_entries; i++) {
		struct baleen_fleet_entry *one = &entry[i & 1];
		size_t n = baleen_fleet_entry_decode(message->body + at, message->n_body - at, one,
						     &is_del, &why);

		if (!n)
			return why;
		at += n;
		if (is_batch)
			continue;
		if (is_del)
			return "a snapshot that takes an entry back";
		if (i && baleen_fleet_entry_compare(&entry[~i & 1], one) >= 0)
			return "a snapshot whose entries are not in order";
	}
	return at == message->n_body ? NULL : "bytes behind the last entry";
}

static const char *read_batch(const struct baleen_fleet_message *message)
{
	if (!message->first || message->n_entries > BALEEN_FLEET_BATCH_MAX ||
	    message->last - message->first + 1 != message->n_entries)
		return "numbers that do not go with its changes";
	return read_entries(message);
}

static const char *read_snapshot(const struct baleen_fleet_message *message)
{
	if (message->first != message->last || message->n_entries > BALEEN_FLEET_LIVE_MAX)
		return "numbers that do not go with a snapshot";
	return read_entries(message);
}

static const char *read_head(struct reader *reader, struct baleen_fleet_message *message)
{
	const u8 *digest = take(reader, DIGEST_BYTES);

	if (!digest || reader->left || message->first != message->last ||
	    message->n_entries > BALEEN_FLEET_LIVE_MAX)
		return "not a head";
	message->digest.hi = baleen_get_le64(digest);
	message->digest.lo = baleen_get_le64(digest + 8);
	return NULL;
}

static bool read_question(struct reader *reader, struct baleen_fleet_message *message)
{
	const u8 *fixed = take(reader, 3), *address;

	if (!fixed || (fixed[0] != 4 && fixed[0] != 6))
		return false;
	message->key.family = fixed[0];
	message->key.length = fixed[1];
	address = take(reader, baleen_fleet_key_bytes(&message->key));
	if (!address)
		return false;
	memcpy(message->key.address, address, baleen_fleet_key_bytes(&message->key));
	return take_text(reader, fixed[2], message->set, sizeof(message->set)) &&
	       baleen_fleet_name_is(message->set) && baleen_fleet_key_check(&message->key);
}

bool baleen_fleet_subject_is(const char *text)
{
	size_t n = strlen(text);

	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at > '~')
			return false;
	return n && n < BALEEN_FLEET_SUBJECT_BYTES;
}

static bool read_signal(struct reader *reader, struct baleen_fleet_message *message)
{
	const u8 *fixed = take(reader, SIGNAL_BYTES);

	if (!fixed)
		return false;
	message->value = fixed[0];
	message->number = baleen_get_le64(fixed + 1);
	message->about = baleen_get_le64(fixed + 9);
	return message->number < MAX_NUMBER &&
	       take_text(reader, fixed[17], message->topic, sizeof(message->topic)) &&
	       take_text(reader, fixed[18], message->subject, sizeof(message->subject)) &&
	       baleen_fleet_name_is(message->topic) && baleen_fleet_subject_is(message->subject);
}

static const char *read_control(struct reader *reader, struct baleen_fleet_message *message)
{
	const u8 *fixed = take(reader, 2);
	bool is_read;

	if (!fixed || message->first || message->last || message->n_entries)
		return "not a control message";
	message->control = fixed[0];
	if (!take_text(reader, fixed[1], message->reason, sizeof(message->reason)) ||
	    baleen_rule_entry_check(BALEEN_ORIGIN_MANUAL, message->reason, NULL))
		return "a reason that is not UTF-8, or has control characters";
	switch (message->control) {
	case BALEEN_FLEET_ASK: is_read = read_question(reader, message); break;
	case BALEEN_FLEET_SIGNAL:
	case BALEEN_FLEET_ANSWER: is_read = read_signal(reader, message); break;
	default: is_read = false;
	}
	return is_read && !reader->left ? NULL : "not a control message";
}

int baleen_fleet_decode(const void *bytes, size_t n_bytes, struct baleen_fleet_message *message,
			const char **why)
{
	struct reader reader = { .at = bytes, .left = n_bytes };
	struct baleen_fleet_message read = { 0 };
	const char *bad = read_header(&reader, n_bytes, &read);

	if (!bad) {
		read.body = reader.at;
		read.n_body = reader.left;
		switch (read.type) {
		case BALEEN_FLEET_BATCH: bad = read_batch(&read); break;
		case BALEEN_FLEET_SNAPSHOT: bad = read_snapshot(&read); break;
		case BALEEN_FLEET_HEAD: bad = read_head(&reader, &read); break;
		case BALEEN_FLEET_CONTROL: bad = read_control(&reader, &read); break;
		default: bad = "not a known type of message";
		}
	}
	if (bad) {
		*why = bad;
		return -EINVAL;
	}
	*message = read;
	return 0;
}

bool baleen_fleet_next(const struct baleen_fleet_message *message, size_t *at,
		       struct baleen_fleet_change *change)
{
	const char *why;
	size_t n;

	if (*at >= message->n_body)
		return false;
	n = baleen_fleet_entry_decode(message->body + *at, message->n_body - *at, &change->entry,
				      &change->is_del, &why);
	*at += n;
	return n;
}

bool baleen_fleet_verify(const void *bytes, size_t n_bytes, const u8 *public_key)
{
	const u8 *signature = (const u8 *)bytes + n_bytes - BALEEN_FLEET_SIGNATURE_BYTES;

	return sodium_init() >= 0 &&
	       !crypto_sign_verify_detached(signature, bytes,
					    n_bytes - BALEEN_FLEET_SIGNATURE_BYTES, public_key);
}

/* --- write ----------------------------------------------------------------- */

static u8 *more(struct baleen_fleet_writer *writer, size_t n)
{
	size_t room = writer->room ? writer->room : FIRST_ROOM;
	u8 *at;

	while (room - writer->n_bytes < n)
		room *= 2;
	if (room != writer->room) {
		u8 *larger = realloc(writer->bytes, room);

		if (!larger)
			return NULL;
		writer->bytes = larger;
		writer->room = room;
	}
	at = writer->bytes + writer->n_bytes;
	writer->n_bytes += n;
	return at;
}

static int add_text(struct baleen_fleet_writer *writer, const char *text)
{
	u8 *at = more(writer, strlen(text));

	if (!at)
		return -ENOMEM;
	memcpy(at, text, strlen(text));
	return 0;
}

static int add_head(struct baleen_fleet_writer *writer, const struct baleen_fleet_message *message)
{
	u8 *at = more(writer, DIGEST_BYTES);

	if (!at)
		return -ENOMEM;
	baleen_put_le64(at, message->digest.hi);
	baleen_put_le64(at + 8, message->digest.lo);
	return 0;
}

static int add_question(struct baleen_fleet_writer *writer,
			const struct baleen_fleet_message *message)
{
	size_t n_address = baleen_fleet_key_bytes(&message->key);
	u8 *at = more(writer, 3 + n_address);

	if (!at)
		return -ENOMEM;
	at[0] = message->key.family;
	at[1] = message->key.length;
	at[2] = strlen(message->set);
	memcpy(at + 3, message->key.address, n_address);
	return add_text(writer, message->set);
}

static int add_signal(struct baleen_fleet_writer *writer,
		      const struct baleen_fleet_message *message)
{
	u8 *at = more(writer, SIGNAL_BYTES);
	int err;

	if (!at)
		return -ENOMEM;
	at[0] = message->value;
	baleen_put_le64(at + 1, message->number);
	baleen_put_le64(at + 9, message->about);
	at[17] = strlen(message->topic);
	at[18] = strlen(message->subject);
	err = add_text(writer, message->topic);
	return err ? err : add_text(writer, message->subject);
}

static int add_control(struct baleen_fleet_writer *writer,
		       const struct baleen_fleet_message *message)
{
	u8 *at = more(writer, 2);
	int err;

	if (!at)
		return -ENOMEM;
	at[0] = message->control;
	at[1] = strlen(message->reason);
	err = add_text(writer, message->reason);
	if (err)
		return err;
	return message->control == BALEEN_FLEET_ASK ? add_question(writer, message) :
						      add_signal(writer, message);
}

int baleen_fleet_writer_start(struct baleen_fleet_writer *writer,
			      const struct baleen_fleet_message *message)
{
	bool is_control = message->type == BALEEN_FLEET_CONTROL;
	bool is_batch = message->type == BALEEN_FLEET_BATCH;
	u8 *header;
	int err;

	memset(writer, 0, sizeof(*writer));
	if (!baleen_fleet_name_is(message->fleet) || !baleen_fleet_publisher_is(message->publisher))
		return -EINVAL;
	header = more(writer, BALEEN_FLEET_HEADER_BYTES);
	if (!header)
		return -ENOMEM;
	memset(header, 0, BALEEN_FLEET_HEADER_BYTES);
	memcpy(header, BALEEN_FLEET_MAGIC, 4);
	header[AT_VERSION] = BALEEN_FLEET_VERSION;
	header[AT_TYPE] = message->type;
	baleen_put_le32(header + AT_ENTRIES,
			message->type == BALEEN_FLEET_HEAD ? message->n_entries : 0);
	memcpy(header + AT_INCARNATION, message->incarnation, BALEEN_FLEET_INCARNATION_BYTES);
	if (!is_control) {
		baleen_put_le64(header + AT_FIRST, is_batch ? message->first : message->last);
		baleen_put_le64(header + AT_LAST, message->last);
	}
	baleen_put_le64(header + AT_MADE, message->made_ms);
	header[AT_FLEET] = strlen(message->fleet);
	header[AT_PUBLISHER] = strlen(message->publisher);
	err = add_text(writer, message->fleet);
	if (!err)
		err = add_text(writer, message->publisher);
	if (!err && message->type == BALEEN_FLEET_HEAD)
		err = add_head(writer, message);
	if (!err && is_control)
		err = add_control(writer, message);
	return err;
}

int baleen_fleet_writer_add(struct baleen_fleet_writer *writer,
			    const struct baleen_fleet_change *change)
{
	u32 type = writer->bytes[AT_TYPE], most;
	u8 bytes[BALEEN_FLEET_ENTRY_MAX], *at;
	size_t n;

	if (type != BALEEN_FLEET_BATCH && (type != BALEEN_FLEET_SNAPSHOT || change->is_del))
		return -EINVAL;
	if (!baleen_fleet_key_check(&change->entry.key) ||
	    !baleen_fleet_name_is(change->entry.set) ||
	    (!change->is_del && baleen_fleet_entry_check(&change->entry)))
		return -EINVAL;
	most = type == BALEEN_FLEET_BATCH ? BALEEN_FLEET_BATCH_MAX : BALEEN_FLEET_LIVE_MAX;
	if (writer->n_entries == most)
		return -ENOSPC;
	n = baleen_fleet_entry_encode(&change->entry, change->is_del, bytes);
	at = more(writer, n);
	if (!at)
		return -ENOMEM;
	memcpy(at, bytes, n);
	writer->n_entries++;
	return 0;
}

int baleen_fleet_writer_sign(struct baleen_fleet_writer *writer, const u8 *secret_key)
{
	bool is_batch = writer->bytes[AT_TYPE] == BALEEN_FLEET_BATCH;
	u64 first = baleen_get_le64(writer->bytes + AT_FIRST);
	u8 *signature;

	if (is_batch && !writer->n_entries)
		return -EINVAL;
	signature = more(writer, BALEEN_FLEET_SIGNATURE_BYTES);
	if (!signature || sodium_init() < 0)
		return -ENOMEM;
	baleen_put_le32(writer->bytes + AT_BYTES, writer->n_bytes);
	if (is_batch)
		baleen_put_le64(writer->bytes + AT_LAST, first + writer->n_entries - 1);
	if (is_batch || writer->bytes[AT_TYPE] == BALEEN_FLEET_SNAPSHOT)
		baleen_put_le32(writer->bytes + AT_ENTRIES, writer->n_entries);
	crypto_sign_detached(signature, NULL, writer->bytes,
			     writer->n_bytes - BALEEN_FLEET_SIGNATURE_BYTES, secret_key);
	return 0;
}

void baleen_fleet_writer_free(struct baleen_fleet_writer *writer)
{
	free(writer->bytes);
	memset(writer, 0, sizeof(*writer));
}
