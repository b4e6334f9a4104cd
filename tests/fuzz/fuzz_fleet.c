// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a message of a fleet, as its policy, and as a signature: there is one way to
 * write each message, so the same bytes come out again; each limit of a policy is within its
 * range; nobody is believed who did not sign.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_batch.h"
#include "fleet/fleet_policy.h"
#include "util/minisign.h"
#include "target.h"

#define MAX_BYTES 4096

/* So that it gets beyond the first word without knowing any. */
static const char *const words[] = {
	"fleet a\n", "serial 7\n", "host h ", "publisher ",
	"w*/o\n",    "sets ",	   "bans ",   "rate ",
	"9/s\n",     "entries ",   "100\n",   "shortest-prefix ",
	"24 48\n",   "coverage ",  "1M\n",    "max-ttl ",
	"24h\n",     "may ",	   "pardon ", "suspend ",
	"signal ",   "# ",	   "\n",      "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

/* --- messages -------------------------------------------------------------- */

static void put32(u8 *at, u32 number)
{
	for (u32 i = 0; i < 4; i++)
		at[i] = number >> 8 * i;
}

/* The header is right where it can be without knowing what follows. */
static void wrap(u8 *bytes, size_t n_bytes)
{
	if (n_bytes < BALEEN_FLEET_HEADER_BYTES)
		return;
	memcpy(bytes, BALEEN_FLEET_MAGIC, 4);
	bytes[4] = BALEEN_FLEET_VERSION;
	bytes[5] = 1 + bytes[5] % 4;
	bytes[6] = bytes[7] = 0;
	put32(bytes + 8, n_bytes);
	memset(bytes + 13, 0, 3);
	memset(bytes + 33, 0, 7);
	memset(bytes + 41, 0, 7);
	bytes[55] = 0;
	bytes[56] = 1;
	bytes[57] = 3;
	memset(bytes + 58, 0, 6);
	if (n_bytes >= BALEEN_FLEET_HEADER_BYTES + 4)
		memcpy(bytes + BALEEN_FLEET_HEADER_BYTES, "fh/o", 4);
}

/* Entries that are right, of 20 bytes each, behind a header that goes with them. */
static size_t make_entries(const u8 *bytes, size_t n_bytes, u8 *message)
{
	u8 *at = message + BALEEN_FLEET_HEADER_BYTES + 4;
	u32 n = 0;

	for (; n_bytes >= 20 && n < 64; n++, bytes += 20, n_bytes -= 20) {
		struct baleen_fleet_entry entry = { .set = "s", .made_ms = bytes[0] };
		u32 bits = bytes[1] & 1 ? 128 : 32;

		entry.key.family = bytes[1] & 1 ? 6 : 4;
		entry.key.length = bytes[2] % (bits + 1);
		memcpy(entry.key.address, bytes + 4, bits / 8);
		for (u32 i = entry.key.length; i < bits; i++)
			entry.key.address[i / 8] &= ~(0x80 >> i % 8);
		entry.end_ms = entry.made_ms + 1 + bytes[3];
		memset(entry.reason, 'r', bytes[3] % 8);
		at += baleen_fleet_entry_encode(&entry,
						message[5] == BALEEN_FLEET_BATCH && bytes[1] & 2,
						at);
	}
	message[12] = n;
	message[40] = message[5] == BALEEN_FLEET_BATCH ? message[32] + n - 1 : message[32];
	memset(at, 0, BALEEN_FLEET_SIGNATURE_BYTES);
	n_bytes = at + BALEEN_FLEET_SIGNATURE_BYTES - message;
	put32(message + 8, n_bytes);
	return n_bytes;
}

static void try_message(const u8 *bytes, size_t n_bytes)
{
	static const u8 secret_key[BALEEN_FLEET_SECRET_BYTES],
		public_key[BALEEN_FLEET_PUBLIC_BYTES];
	struct baleen_fleet_message message;
	struct baleen_fleet_change change;
	struct baleen_fleet_writer writer;
	const char *why = NULL;
	size_t at = 0;
	u32 n = 0;

	if (baleen_fleet_decode(bytes, n_bytes, &message, &why)) {
		check(why);
		return;
	}
	check(!baleen_fleet_verify(bytes, n_bytes, public_key));
	check(!baleen_fleet_writer_start(&writer, &message));
	if (message.type == BALEEN_FLEET_BATCH || message.type == BALEEN_FLEET_SNAPSHOT)
		for (; baleen_fleet_next(&message, &at, &change); n++)
			check(!baleen_fleet_writer_add(&writer, &change));
	check(n == message.n_entries || message.type == BALEEN_FLEET_HEAD);
	check(!baleen_fleet_writer_sign(&writer, secret_key));
	check(writer.n_bytes == n_bytes);
	check(!memcmp(writer.bytes, bytes, n_bytes - BALEEN_FLEET_SIGNATURE_BYTES));
	baleen_fleet_writer_free(&writer);
}

/* --- policies -------------------------------------------------------------- */

static void try_policy(const uint8_t *bytes, size_t n_bytes)
{
	static char text[MAX_BYTES * 64];
	struct baleen_error error = { "" };
	struct baleen_fleet_policy policy;
	size_t n = 0;

	for (size_t i = 0; i < n_bytes; i++) {
		if (bytes[i] < 128)
			text[n++] = bytes[i];
		else
			n += strlen(strcpy(text + n, words[bytes[i] % N_WORDS]));
	}
	if (baleen_fleet_policy_parse(text, n, "fuzz", &policy, &error)) {
		check(!strncmp(error.text, "fuzz:", 5));
		return;
	}
	check(policy.serial && baleen_fleet_name_is(policy.fleet));
	for (size_t i = 0; i < policy.n_grants; i++) {
		const struct baleen_fleet_grant *grant = &policy.grant[i];

		check(grant->n_sets && grant->n_sets <= BALEEN_FLEET_MAX_SETS);
		for (u32 k = 0; k < grant->n_sets; k++)
			check(baleen_fleet_name_is(grant->set[k]));
		check(grant->rate && grant->rate_ms && grant->coverage);
		check(grant->entries && grant->entries <= BALEEN_FLEET_LIVE_MAX);
		check(grant->shortest_ip4 <= 32 && grant->shortest_ip6 <= 128);
		check(grant->max_ttl_ms >= 1000 && grant->max_ttl_ms <= BALEEN_FLEET_MAX_TTL_MS);
	}
	baleen_fleet_policy_free(&policy);
}

static void try_signature(const uint8_t *bytes, size_t n_bytes)
{
	static const struct baleen_minisign_public public_key = { .key = { 7 } };
	const char *why = NULL;

	check(baleen_minisign_verify("x", 1, (const char *)bytes, n_bytes, &public_key, NULL,
				     &why) < 0 &&
	      why);
}

/* A batch or a snapshot with one byte that is another one, or with none. */
static void try_entries(const uint8_t *bytes, size_t n_bytes)
{
	static u8 message[MAX_BYTES * 4];
	size_t n, at;

	if (n_bytes < BALEEN_FLEET_HEADER_BYTES + 4)
		return;
	memcpy(message, bytes, BALEEN_FLEET_HEADER_BYTES + 4);
	wrap(message, BALEEN_FLEET_HEADER_BYTES + 4);
	message[5] = message[5] & 1 ? BALEEN_FLEET_BATCH : BALEEN_FLEET_SNAPSHOT;
	message[32] = 1 + message[32] % 16;
	n = make_entries(bytes + BALEEN_FLEET_HEADER_BYTES + 4,
			 n_bytes - BALEEN_FLEET_HEADER_BYTES - 4, message);
	at = (bytes[6] | bytes[7] << 8) % n;
	message[at] ^= bytes[58];
	try_message(message, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static u8 copy[MAX_BYTES];

	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	switch (bytes[0] % 5) {
	case 0: try_policy(bytes + 1, n_bytes - 1); break;
	case 1: try_signature(bytes + 1, n_bytes - 1); break;
	case 2: try_message(bytes + 1, n_bytes - 1); break;
	case 3: try_entries(bytes + 1, n_bytes - 1); break;
	default:
		memcpy(copy, bytes + 1, n_bytes - 1);
		wrap(copy, n_bytes - 1);
		try_message(copy, n_bytes - 1);
	}
	return 0;
}
