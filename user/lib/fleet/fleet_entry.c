// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One ban of a fleet: its bytes, and the digest of a set of them. */
#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "fleet/fleet_entry.h"
#include "state/entries.h"
#include "util/little_endian.h"

#define OP_PUT 1
#define OP_DEL 2
/* Op, family, prefix length, length of the name of the set. */
#define FIXED_BYTES 4
/* Made, end, length of the reason. */
#define PUT_BYTES 17
#define HASH_BYTES 16

/* Times stay exact in JSON and in SQLite. */
#define MAX_MS (1ull << 53)

/* --- names ----------------------------------------------------------------- */

static bool has_only(const char *text, size_t length, const char *others, bool upper)
{
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
				(upper && c >= 'A' && c <= 'Z');

		if (!is_plain && (!c || !strchr(others, c)))
			return false;
	}
	return length;
}

bool baleen_fleet_name_is(const char *name)
{
	size_t length = strlen(name);

	return length < BALEEN_FLEET_NAME_BYTES && has_only(name, length, "._-", false);
}

bool baleen_fleet_publisher_is(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && strlen(name) < BALEEN_FLEET_PUBLISHER_BYTES &&
	       has_only(name, slash - name, "._-", true) &&
	       has_only(slash + 1, strlen(slash + 1), "._-:", true);
}

bool baleen_fleet_is_control(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash && !strcmp(slash + 1, BALEEN_FLEET_CONTROL_ORIGIN);
}

bool baleen_fleet_target_is(const char *name)
{
	char one[BALEEN_FLEET_PUBLISHER_BYTES];
	size_t n = strlen(name);

	if (n < 2 || n >= sizeof(one) || strcmp(name + n - 2, "/*"))
		return baleen_fleet_publisher_is(name);
	strcpy(one, name);
	one[n - 1] = 'x';
	return baleen_fleet_publisher_is(one);
}

/* --- keys ------------------------------------------------------------------ */

static u32 most_bits(const struct baleen_fleet_key *key)
{
	return key->family == 4 ? 32 : 128;
}

static void address_of(bool is_ip6, struct baleen_ip6 address, u8 *bytes)
{
	u64 hi_be = baleen_be64(address.hi), lo_be = baleen_be64(address.lo);

	if (!is_ip6) {
		memcpy(bytes, (u8 *)&lo_be + 4, 4);
		return;
	}
	memcpy(bytes, &hi_be, 8);
	memcpy(bytes + 8, &lo_be, 8);
}

static struct baleen_ip6 number_of(const struct baleen_fleet_key *key)
{
	u64 hi_be, lo_be;
	u32 ip4_be;

	if (key->family == 4) {
		memcpy(&ip4_be, key->address, 4);
		return baleen_span_of_ip4(baleen_be32(ip4_be)).first;
	}
	memcpy(&hi_be, key->address, 8);
	memcpy(&lo_be, key->address + 8, 8);
	return (struct baleen_ip6){ baleen_be64(hi_be), baleen_be64(lo_be) };
}

int baleen_fleet_key_parse(const char *text, struct baleen_fleet_key *key)
{
	struct baleen_span span, prefix;
	struct baleen_fleet_key made = { 0 };
	struct baleen_ip6 last;
	const char *why;

	if (strlen(text) >= BALEEN_FLEET_KEY_TEXT ||
	    baleen_span_parse(text, strlen(text), &span, &why))
		return -EINVAL;
	last = span.last;
	made.family = span.is_ip6 ? 6 : 4;
	made.length = baleen_span_split(&span, &prefix);
	if (baleen_ip6_compare(prefix.last, last))
		return -EINVAL;
	address_of(span.is_ip6, prefix.first, made.address);
	if (!baleen_fleet_key_check(&made))
		return -EINVAL;
	*key = made;
	return 0;
}

struct baleen_entry_key baleen_fleet_key_entry(const struct baleen_fleet_key *key)
{
	struct baleen_entry_key entry = { .span.is_ip6 = key->family == 6 };

	entry.span.first = entry.span.last = number_of(key);
	if (key->length < most_bits(key))
		entry.span = baleen_span_prefix(&entry.span, key->length);
	return entry;
}

struct baleen_fleet_key baleen_fleet_key_name(const char *name)
{
	struct baleen_fleet_key key = { .family = BALEEN_FLEET_FAMILY_NAME };

	if (strlen(name) >= sizeof(key.address))
		return key;
	key.length = strlen(name);
	memcpy(key.address, name, key.length);
	return key;
}

const char *baleen_fleet_key_format(const struct baleen_fleet_key *key, char *text)
{
	const struct baleen_entry_key entry = baleen_fleet_key_entry(key);

	if (key->family == BALEEN_FLEET_FAMILY_NAME)
		return strcpy(text, (const char *)key->address);
	snprintf(text, BALEEN_FLEET_KEY_TEXT, "%.*s", BALEEN_FLEET_KEY_TEXT - 1,
		 baleen_entry_key_text(&entry).text);
	return text;
}

/* A mapped address is an IPv4 address, so it is none of IPv6. */
static bool is_mapped(const struct baleen_fleet_key *key)
{
	struct baleen_ip6 address = number_of(key);

	return key->family == 6 && key->length == 128 && !address.hi && address.lo >> 32 == 0xffff;
}

static bool bit(const struct baleen_fleet_key *key, u32 i)
{
	return key->address[i / 8] >> (7 - i % 8) & 1;
}

static bool has_zeros(const struct baleen_fleet_key *key, size_t from)
{
	while (from < sizeof(key->address) && !key->address[from])
		from++;
	return from == sizeof(key->address);
}

bool baleen_fleet_key_check(const struct baleen_fleet_key *key)
{
	if (key->family == BALEEN_FLEET_FAMILY_NAME)
		return key->length < sizeof(key->address) && has_zeros(key, key->length) &&
		       strlen((const char *)key->address) == key->length &&
		       baleen_fleet_target_is((const char *)key->address);
	if ((key->family != 4 && key->family != 6) || key->length > most_bits(key))
		return false;
	for (u32 i = key->length; i < most_bits(key); i++)
		if (bit(key, i))
			return false;
	return has_zeros(key, baleen_fleet_key_bytes(key)) && !is_mapped(key);
}

struct baleen_fleet_key baleen_fleet_key_widen(const struct baleen_fleet_key *key, u32 length)
{
	struct baleen_fleet_key wide = *key;

	wide.length = length;
	for (u32 i = 0; i < baleen_fleet_key_bytes(key); i++) {
		if (length >= 8 * (i + 1))
			continue;
		wide.address[i] &= length > 8 * i ? 0xff << (8 - (length - 8 * i)) : 0;
	}
	return wide;
}

bool baleen_fleet_key_covers(const struct baleen_fleet_key *wide,
			     const struct baleen_fleet_key *key)
{
	u32 whole = wide->length / 8, rest = wide->length % 8;

	if (wide->family != key->family || wide->length > key->length ||
	    memcmp(wide->address, key->address, whole))
		return false;
	return !rest || (wide->address[whole] ^ key->address[whole]) >> (8 - rest) == 0;
}

/* --- entries --------------------------------------------------------------- */

const char *baleen_fleet_entry_check(const struct baleen_fleet_entry *entry)
{
	if (!baleen_fleet_name_is(entry->set))
		return "not the name of a set";
	if (!baleen_fleet_key_check(&entry->key))
		return "not an address, prefix or name";
	if (baleen_fleet_is_word(entry) && strcmp(entry->set, BALEEN_FLEET_SUSPENDS) &&
	    strcmp(entry->set, BALEEN_FLEET_RESUMES))
		return "not a word on a publisher";
	if (entry->made_ms >= MAX_MS || entry->end_ms <= entry->made_ms || entry->end_ms >= MAX_MS)
		return "it ends before it was made";
	if (!baleen_fleet_is_word(entry) &&
	    entry->end_ms - entry->made_ms > BALEEN_FLEET_MAX_TTL_MS)
		return "it ends more than 30 days after it was made";
	if (baleen_rule_entry_check(BALEEN_ORIGIN_MANUAL, entry->reason, NULL))
		return "a reason that is not UTF-8, or has control characters";
	return NULL;
}

size_t baleen_fleet_entry_encode(const struct baleen_fleet_entry *entry, bool is_del, u8 *bytes)
{
	size_t n_address = baleen_fleet_key_bytes(&entry->key), n_set = strlen(entry->set);
	size_t n_reason = strlen(entry->reason);
	u8 *at = bytes;

	*at++ = is_del ? OP_DEL : OP_PUT;
	*at++ = entry->key.family;
	*at++ = entry->key.length;
	*at++ = n_set;
	at = mempcpy(at, entry->key.address, n_address);
	at = mempcpy(at, entry->set, n_set);
	if (is_del)
		return at - bytes;
	baleen_put_le64(at, entry->made_ms);
	baleen_put_le64(at + 8, entry->end_ms);
	at += 16;
	*at++ = n_reason;
	at = mempcpy(at, entry->reason, n_reason);
	return at - bytes;
}

/* Texts with a NUL byte inside would be other texts. */
static bool take_text(const u8 *bytes, size_t n_bytes, char *text, size_t room)
{
	if (n_bytes >= room || memchr(bytes, '\0', n_bytes))
		return false;
	memcpy(text, bytes, n_bytes);
	text[n_bytes] = '\0';
	return true;
}

static size_t decode_put(const u8 *at, size_t n_bytes, struct baleen_fleet_entry *entry)
{
	if (n_bytes < PUT_BYTES || n_bytes - PUT_BYTES < at[PUT_BYTES - 1])
		return 0;
	entry->made_ms = baleen_get_le64(at);
	entry->end_ms = baleen_get_le64(at + 8);
	if (!take_text(at + PUT_BYTES, at[PUT_BYTES - 1], entry->reason, sizeof(entry->reason)))
		return 0;
	return PUT_BYTES + at[PUT_BYTES - 1];
}

size_t baleen_fleet_entry_decode(const u8 *bytes, size_t n_bytes, struct baleen_fleet_entry *entry,
				 bool *is_del, const char **why)
{
	struct baleen_fleet_entry read = { 0 };
	size_t n_address, n_set, at = FIXED_BYTES, n_put;
	const char *bad;

	*why = "an entry that is cut off, or of no known sort";
	if (n_bytes < FIXED_BYTES || (bytes[0] != OP_PUT && bytes[0] != OP_DEL) ||
	    (bytes[1] != 4 && bytes[1] != 6 && bytes[1] != BALEEN_FLEET_FAMILY_NAME))
		return 0;
	read.key.family = bytes[1];
	read.key.length = bytes[2];
	n_set = bytes[3];
	n_address = baleen_fleet_key_bytes(&read.key);
	if (n_address >= sizeof(read.key.address) || n_bytes - at < n_address + n_set)
		return 0;
	memcpy(read.key.address, bytes + at, n_address);
	at += n_address;
	if (!take_text(bytes + at, n_set, read.set, sizeof(read.set)))
		return 0;
	at += n_set;
	if (bytes[0] == OP_PUT) {
		n_put = decode_put(bytes + at, n_bytes - at, &read);
		if (!n_put)
			return 0;
		at += n_put;
		bad = baleen_fleet_entry_check(&read);
	} else {
		bad = !baleen_fleet_name_is(read.set) || !baleen_fleet_key_check(&read.key) ?
			      "not a key of a set" :
			      NULL;
	}
	if (bad) {
		*why = bad;
		return 0;
	}
	*entry = read;
	*is_del = bytes[0] == OP_DEL;
	return at;
}

int baleen_fleet_entry_compare(const struct baleen_fleet_entry *a,
			       const struct baleen_fleet_entry *b)
{
	int order = strcmp(a->set, b->set);

	if (!order)
		order = a->key.family - b->key.family;
	if (!order)
		order = memcmp(a->key.address, b->key.address, sizeof(a->key.address));
	return order ? order : a->key.length - b->key.length;
}

/* --- digests --------------------------------------------------------------- */

static struct baleen_fleet_digest hash(const struct baleen_fleet_entry *entry)
{
	u8 bytes[BALEEN_FLEET_ENTRY_MAX], out[HASH_BYTES];

	crypto_generichash(out, sizeof(out), bytes, baleen_fleet_entry_encode(entry, false, bytes),
			   NULL, 0);
	return (struct baleen_fleet_digest){ .hi = baleen_get_le64(out),
					     .lo = baleen_get_le64(out + 8) };
}

void baleen_fleet_digest_add(struct baleen_fleet_digest *digest,
			     const struct baleen_fleet_entry *entry)
{
	struct baleen_fleet_digest one = hash(entry);

	digest->hi += one.hi + __builtin_add_overflow(digest->lo, one.lo, &digest->lo);
}

void baleen_fleet_digest_take(struct baleen_fleet_digest *digest,
			      const struct baleen_fleet_entry *entry)
{
	struct baleen_fleet_digest one = hash(entry);

	digest->hi -= one.hi + __builtin_sub_overflow(digest->lo, one.lo, &digest->lo);
}
