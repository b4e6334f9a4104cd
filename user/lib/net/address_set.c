// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A growing set of addresses, each with the role it was found in.
 */
#include <stdlib.h>
#include <string.h>

#include "key/key_text.h"
#include "net/address_set.h"
#include "util/array.h"

static int compare_sessions(const struct baleen_host_session *a,
			    const struct baleen_host_session *b)
{
	int order = baleen_key_compare(&a->own, &b->own);

	if (order)
		return order;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	return (a->peer_port > b->peer_port) - (a->peer_port < b->peer_port);
}

static int compare(const void *left, const void *right)
{
	const struct baleen_host_address *a = left, *b = right;
	int order;

	if (a->role != b->role)
		return a->role < b->role ? -1 : 1;
	order = baleen_key_compare(&a->key, &b->key);
	if (!order)
		order = compare_sessions(&a->session, &b->session);
	return order ? order : (a->ifindex > b->ifindex) - (a->ifindex < b->ifindex);
}

void baleen_address_set_sort(struct baleen_address_set *set)
{
	struct baleen_host_address *address = set->address;
	size_t n = 0;

	if (set->n)
		qsort(address, set->n, sizeof(*address), compare);
	for (size_t i = 0; i < set->n; i++)
		if (!n || compare(&address[i], &address[n - 1]))
			address[n++] = address[i];
	set->n = n;
}

/* A million routes share a few gateways: drop duplicates before growing. */
static int make_room(struct baleen_address_set *set)
{
	if (set->n < set->room)
		return 0;
	baleen_address_set_sort(set);
	if (set->n < set->room / 2)
		return 0;
	return baleen_array_reserve(&set->address, &set->room, set->room + 1);
}

bool baleen_address_key(const void *bytes, size_t n_bytes, struct baleen_key *key)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (n_bytes == 4)
		*key = baleen_key_ip4(bytes);
	else if (n_bytes == 16 && !memcmp(bytes, mapped, sizeof(mapped)))
		*key = baleen_key_ip4((const u8 *)bytes + sizeof(mapped));
	else if (n_bytes == 16)
		*key = baleen_key_ip6(bytes);
	else
		return false;
	return true;
}

/* Unspecified or loopback: no address that a frame from the wire can have. */
static bool is_nobody(const struct baleen_key *key)
{
	if (key->domain == BALEEN_IP4)
		return !key->ip4 || key->ip4 >> 24 == 127;
	return !key->hi && key->lo <= 1;
}

int baleen_address_set_add(struct baleen_address_set *set,
			   const struct baleen_host_address *address)
{
	int err;

	if (is_nobody(&address->key))
		return 0;
	err = make_room(set);
	if (!err)
		set->address[set->n++] = *address;
	return err;
}
