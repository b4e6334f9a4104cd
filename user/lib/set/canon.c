// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The canonical set of a list of addresses. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "list/list_sort.h"
#include "set/canon.h"

#define LAST_IP4 (BALEEN_CANON_IP4_GROUPS - 1)
#define LAST_IP6 (BALEEN_CANON_GROUPS - 1)

void baleen_canon_start(struct baleen_canon *canon)
{
	memset(canon, 0, sizeof(*canon));
	for (u32 i = BALEEN_CANON_IP4_GROUPS; i < BALEEN_CANON_GROUPS; i++)
		canon->group[i].is_wide = true;
}

void baleen_canon_free(struct baleen_canon *canon)
{
	for (u32 i = 0; i < BALEEN_CANON_GROUPS; i++)
		baleen_numbers_free(&canon->group[i]);
}

u64 baleen_canon_n(const struct baleen_canon *canon)
{
	u64 n = 0;

	for (u32 i = 0; i < BALEEN_CANON_GROUPS; i++)
		n += canon->group[i].n;
	return n;
}

/* --- from a list --- */

/* Entries come in order, equal ones side by side. */
static int append(struct baleen_numbers *group, baleen_u128 number)
{
	if (group->n && baleen_numbers_at(group, group->n - 1) == number)
		return 0;
	if (baleen_numbers_reserve(group, group->n + 1))
		return -ENOMEM;
	baleen_numbers_put(group, number);
	return 0;
}

/* A host at the end of a range was read as a prefix. */
static int move_hosts(struct baleen_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n_prefix4; i++) {
		struct baleen_prefix4 prefix = list->prefix4[i];

		if (prefix.length < 32)
			list->prefix4[kept++] = prefix;
		else if (baleen_list_add_ip4(list, prefix.address))
			return -ENOMEM;
	}
	list->n_prefix4 = kept;
	return 0;
}

static int append_ip4(const struct baleen_list *list, struct baleen_canon *canon)
{
	int err = baleen_numbers_reserve(&canon->group[LAST_IP4], list->n_ip4);

	for (size_t i = 0; i < list->n_ip4 && !err; i++)
		err = append(&canon->group[LAST_IP4], list->ip4[i]);
	for (size_t i = 0; i < list->n_prefix4 && !err; i++) {
		u32 length = list->prefix4[i].length;

		err = append(&canon->group[length],
			     length ? list->prefix4[i].address >> (32 - length) : 0);
	}
	return err;
}

static int append_ip6(const struct baleen_list *list, struct baleen_canon *canon)
{
	int err = baleen_numbers_reserve(&canon->group[LAST_IP6], list->n_ip6);

	for (size_t i = 0; i < list->n_ip6 && !err; i++)
		err = append(&canon->group[LAST_IP6],
			     (baleen_u128)list->ip6[i].hi << 64 | list->ip6[i].lo);
	for (size_t i = 0; i < list->n_prefix6 && !err; i++) {
		const struct baleen_prefix6 *prefix = &list->prefix6[i];
		baleen_u128 address = (baleen_u128)prefix->hi << 64 | prefix->lo;

		err = append(&canon->group[BALEEN_CANON_IP4_GROUPS + prefix->length],
			     prefix->length ? address >> (128 - prefix->length) : 0);
	}
	return err;
}

int baleen_canon_of_list(struct baleen_list *list, struct baleen_canon *canon,
			 struct baleen_error *error)
{
	struct baleen_canon made;
	int err;

	if (list->n_key || list->strings.n)
		return baleen_fail(error, EINVAL,
				   "a set has addresses and prefixes, no other keys");
	if (baleen_list_has_exceptions(list))
		return baleen_fail(error, EINVAL,
				   "a set has no exceptions: write the prefixes that remain");
	if (list->n_ip4 + list->n_prefix4 + list->n_ip6 + list->n_prefix6 > BALEEN_CANON_MAX)
		return baleen_fail(error, E2BIG, "more than %llu entries", BALEEN_CANON_MAX);
	baleen_canon_start(&made);
	err = move_hosts(list);
	if (!err) {
		baleen_list_sort(list);
		err = append_ip4(list, &made);
	}
	if (!err)
		err = append_ip6(list, &made);
	if (err) {
		baleen_canon_free(&made);
		return baleen_no_memory(error);
	}
	*canon = made;
	return 0;
}

/* --- to a list --- */

static baleen_u128 address_of(u32 group, baleen_u128 number)
{
	u32 length = baleen_canon_length(group), all = baleen_canon_is_ip6(group) ? 128 : 32;

	return length ? number << (all - length) : 0;
}

static int add_entry(struct baleen_list *list, u32 group, baleen_u128 address)
{
	struct baleen_ip6 ip6 = { .hi = address >> 64, .lo = address };

	if (group == LAST_IP4)
		return baleen_list_add_ip4(list, address);
	if (group < LAST_IP4)
		return baleen_list_add_prefix4(list, address, group, false);
	if (group == LAST_IP6)
		return baleen_list_add_ip6(list, ip6);
	return baleen_list_add_prefix6(list, ip6, baleen_canon_length(group), false);
}

int baleen_canon_to_list(const struct baleen_canon *canon, struct baleen_list *list)
{
	for (u32 g = 0; g < BALEEN_CANON_GROUPS; g++) {
		const struct baleen_numbers *group = &canon->group[g];

		for (size_t i = 0; i < group->n; i++)
			if (add_entry(list, g, address_of(g, baleen_numbers_at(group, i))))
				return -ENOMEM;
		list->n_listed += group->n;
	}
	return 0;
}

const char *baleen_canon_text(const struct baleen_canon *canon, u32 group, size_t i, char *text)
{
	bool is_ip6 = baleen_canon_is_ip6(group);
	baleen_u128 address = address_of(group, baleen_numbers_at(&canon->group[group], i));
	struct baleen_key key = { .domain = is_ip6 ? BALEEN_IP6 : BALEEN_IP4 };
	u32 length = baleen_canon_length(group);

	if (is_ip6) {
		key.hi = address >> 64;
		key.lo = address;
	} else {
		key.ip4 = address;
	}
	baleen_key_format(&key, BALEEN_KEY_SRC, text);
	if (group != LAST_IP4 && group != LAST_IP6) {
		size_t used = strlen(text);

		snprintf(text + used, BALEEN_KEY_TEXT - used, "/%u", length);
	}
	return text;
}

/* --- the digest --- */

#define CHUNK_ENTRIES 1024

static void digest_group(crypto_generichash_state *hash, const struct baleen_numbers *group, u32 g)
{
	u8 bytes[16 * CHUNK_ENTRIES],
		head[10] = { baleen_canon_is_ip6(g) ? 6 : 4, baleen_canon_length(g) };
	u32 n_bytes = baleen_canon_is_ip6(g) ? 16 : 4;
	u64 n = baleen_le64((u64)group->n);
	size_t used = 0;

	memcpy(head + 2, &n, 8);
	crypto_generichash_update(hash, head, sizeof(head));
	for (size_t i = 0; i < group->n; i++) {
		baleen_u128 address = address_of(g, baleen_numbers_at(group, i));

		if (n_bytes == 4) {
			u32 ip4 = baleen_be32((u32)address);

			memcpy(bytes + used, &ip4, 4);
		} else {
			u64 half[2] = { baleen_be64((u64)(address >> 64)),
					baleen_be64((u64)address) };

			memcpy(bytes + used, half, 16);
		}
		used += n_bytes;
		if (used == n_bytes * CHUNK_ENTRIES || i + 1 == group->n) {
			crypto_generichash_update(hash, bytes, used);
			used = 0;
		}
	}
}

void baleen_canon_digest(const struct baleen_canon *canon, u8 *digest)
{
	crypto_generichash_state hash;
	/* Else it is slow: nobody has looked at the processor yet. */
	int is_slow = sodium_init();

	(void)is_slow;
	crypto_generichash_init(&hash, NULL, 0, BALEEN_CANON_DIGEST);
	for (u32 g = 0; g < BALEEN_CANON_GROUPS; g++)
		if (canon->group[g].n)
			digest_group(&hash, &canon->group[g], g);
	crypto_generichash_final(&hash, digest, BALEEN_CANON_DIGEST);
}
