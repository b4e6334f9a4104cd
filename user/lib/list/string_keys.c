// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Strings as keys: any bytes, such as URLs, passwords or words. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#include "list/string_keys.h"
#include "util/array.h"

#define MAX_LENGTH_BYTES 10

/* A message shows so much of a string. */
#define SHOWN_BYTES 64

/* Strings whose place is computed, and its line asked for, ahead of the search. */
#define AHEAD 16

/* --- one behind the other -------------------------------------------------- */

static u8 *put_length(u8 *p, size_t length)
{
	for (; length > 127; length >>= 7)
		*p++ = length | 128;
	*p++ = length;
	return p;
}

int baleen_strings_add(struct baleen_strings *strings, const void *bytes, size_t n_bytes)
{
	u8 *p;

	if (n_bytes > PTRDIFF_MAX / 2 ||
	    baleen_array_reserve(&strings->bytes, &strings->room,
				 strings->n_bytes + n_bytes + MAX_LENGTH_BYTES))
		return -ENOMEM;
	p = put_length(strings->bytes + strings->n_bytes, n_bytes);
	memcpy(p, bytes, n_bytes);
	strings->n_bytes = p + n_bytes - strings->bytes;
	strings->n++;
	return 0;
}

static struct baleen_string string_at(const struct baleen_strings *strings, size_t at)
{
	const u8 *p = strings->bytes + at;
	size_t length = 0;
	u32 shift = 0;

	do
		length |= (size_t)(*p & 127) << shift;
	while (shift += 7, *p++ & 128);
	return (struct baleen_string){ p, length };
}

bool baleen_strings_next(const struct baleen_strings *strings, size_t *at,
			 struct baleen_string *string)
{
	if (*at == strings->n_bytes)
		return false;
	*string = string_at(strings, *at);
	*at = string->bytes + string->n_bytes - strings->bytes;
	return true;
}

void baleen_strings_free(struct baleen_strings *strings)
{
	free(strings->bytes);
	*strings = (struct baleen_strings){ 0 };
}

/* --- each only once -------------------------------------------------------- */

/*
 * A hash table with linear probing, three quarters full at the most: where the
 * string begins, plus one, in the lower bits, and bits of its hash above them.
 */
#define PLACE_BITS 40
#define PLACE_MASK ((1ull << PLACE_BITS) - 1)

struct seen {
	u64 *slot;
	u64 n_slots;
	u64 k0, k1;
};

/* A string on its way into the table. */
struct coming {
	struct baleen_string string;
	u64 hash;
	u64 slot;
};

static void look_ahead(const struct seen *seen, struct coming *coming)
{
	coming->hash = baleen_siphash(seen->k0, seen->k1, coming->string.bytes,
				      coming->string.n_bytes, 1, 3);
	coming->slot = (unsigned __int128)coming->hash * seen->n_slots >> 64;
	__builtin_prefetch(&seen->slot[coming->slot]);
}

static bool is_same(struct baleen_string a, struct baleen_string b)
{
	return a.n_bytes == b.n_bytes && !memcmp(a.bytes, b.bytes, a.n_bytes);
}

/* Was it there? Else it is put there, as the string at @place. */
static bool see(const struct seen *seen, const struct baleen_strings *strings,
		const struct coming *coming, u64 place)
{
	/* The table goes by the upper bits of the hash, this by the lower. */
	u64 mark = coming->hash << PLACE_BITS, slot = coming->slot;

	while (seen->slot[slot]) {
		u64 other = seen->slot[slot];

		if (!((other ^ mark) & ~PLACE_MASK) &&
		    is_same(string_at(strings, (other & PLACE_MASK) - 1), coming->string))
			return true;
		slot = slot + 1 == seen->n_slots ? 0 : slot + 1;
	}
	seen->slot[slot] = mark | (place + 1);
	return false;
}

/* Strings that are kept move down over those that are not, never past one that
 * has not been seen.
 */
static void keep_first(struct baleen_strings *strings, const struct seen *seen)
{
	struct baleen_strings kept = { .bytes = strings->bytes, .room = strings->room };
	struct coming ring[AHEAD];
	size_t at = 0;

	for (u64 i = 0; i < strings->n + AHEAD; i++) {
		struct coming *coming = &ring[i % AHEAD];

		if (i >= AHEAD && !see(seen, strings, coming, kept.n_bytes)) {
			u8 *p = put_length(kept.bytes + kept.n_bytes, coming->string.n_bytes);

			memmove(p, coming->string.bytes, coming->string.n_bytes);
			kept.n_bytes = p + coming->string.n_bytes - kept.bytes;
			kept.n++;
		}
		if (i < strings->n) {
			baleen_strings_next(strings, &at, &coming->string);
			look_ahead(seen, coming);
		}
	}
	*strings = kept;
}

int baleen_strings_unique(struct baleen_strings *strings)
{
	struct seen seen = { .n_slots = strings->n + strings->n / 3 + 1 };
	u64 key[2];

	if (!strings->n)
		return 0;
	/* Else who writes lists could make all of them one long search. */
	if (getrandom(key, sizeof(key), 0) != sizeof(key) || strings->n_bytes >= PLACE_MASK)
		return -ENOMEM;
	seen.k0 = key[0];
	seen.k1 = key[1];
	seen.slot = calloc(seen.n_slots, sizeof(*seen.slot));
	if (!seen.slot)
		return -ENOMEM;
	keep_first(strings, &seen);
	free(seen.slot);
	return 0;
}

/* --- keys ------------------------------------------------------------------ */

struct baleen_string baleen_key_string(const struct baleen_key *key)
{
	return (struct baleen_string){ (const u8 *)(uintptr_t)key->lo, key->dst_hi };
}

void baleen_string_show(struct baleen_string string, char *text)
{
	size_t n = string.n_bytes < SHOWN_BYTES ? string.n_bytes : SHOWN_BYTES;

	*text++ = '\'';
	for (size_t i = 0; i < n; i++)
		*text++ = string.bytes[i] >= ' ' && string.bytes[i] <= '~' ? string.bytes[i] : '?';
	strcpy(text, n < string.n_bytes ? "...'" : "'");
}
