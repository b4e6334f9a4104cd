// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The set of an exact filter, back as a list. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "prefix_table.h"
#include "slots.h"

static bool slot_to_key(const struct baleen_filter *filter, u32 domain, u32 bucket, u64 slot,
			struct baleen_key *key)
{
	u64 hash;

	if (!baleen_slot_hash(&filter->image.table[domain], bucket, slot, &hash))
		return false;
	*key = (struct baleen_key){ .domain = domain };
	if (domain == BALEEN_IP4)
		key->ip4 = baleen_unpermute32(&filter->image.seed, hash);
	else
		key->lo = baleen_unpermute64(&filter->image.seed, hash);
	return true;
}

static int no_memory(struct baleen_error *error)
{
	return baleen_fail(error, ENOMEM, "no memory for the list");
}

/* --- cuckoo tables -------------------------------------------------------- */

static int alloc_keys(struct baleen_list *list, u32 domain, u64 n, struct baleen_error *error)
{
	if (domain == BALEEN_IP4) {
		list->ip4 = malloc(n * sizeof(*list->ip4));
		list->room_ip4 = n;
		return list->ip4 ? 0 : no_memory(error);
	}
	list->key = malloc(n * sizeof(*list->key));
	list->room_key = n;
	return list->key ? 0 : no_memory(error);
}

/* With a directory only those count that it sends the probe to. */
static bool is_reached(const struct baleen_filter *filter, const struct baleen_key *key)
{
	const struct baleen_table *groups = &filter->image.table[BALEEN_IP4_GROUPS];

	return key->domain != BALEEN_IP4 || groups->kind == BALEEN_KIND_NONE ||
	       baleen_directory_get(groups, filter->bytes, key->ip4, 1) == BALEEN_GROUP_HOSTS;
}

static int list_slots(const struct baleen_filter *filter, u32 domain, struct baleen_list *list,
		      struct baleen_error *error)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	u64 room = baleen_filter_count(filter, domain) + 1, n = 0;
	int err = alloc_keys(list, domain, room, error);

	for (u32 bucket = 0; bucket < slots.table->n_buckets && !err; bucket++) {
		for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++) {
			u64 slot = baleen_slots_get(&slots, bucket, i);
			struct baleen_key key;

			/* A live map may have gained a key since the count. */
			if (!slot || n == room)
				continue;
			if (!slot_to_key(filter, domain, bucket, slot, &key))
				return baleen_fail(error, EINVAL,
						   "bucket %u holds a slot that no key makes: "
						   "damaged",
						   bucket);
			if (!is_reached(filter, &key))
				continue;
			if (domain == BALEEN_IP4)
				list->ip4[list->n_ip4++] = key.ip4;
			else
				list->key[list->n_key++] = key;
			n++;
		}
	}
	return err;
}

/* --- directory ------------------------------------------------------------ */

/**
 * struct both - the hosts and what the directory lists, in ascending order
 * @filter: has the directory
 * @ip4: hosts, sorted
 * @n_ip4: how many
 * @i: the next of them
 * @number: the directory has been read up to here
 * @net: what it listed last and was not taken yet
 * @has_net: there is such a thing
 */
struct both {
	const struct baleen_filter *filter;
	const u32 *ip4;
	size_t n_ip4;
	size_t i;
	u64 number;
	struct baleen_net4 net;
	bool has_net;
};

static bool next_of_both(struct both *both, struct baleen_net4 *net)
{
	if (!both->has_net)
		both->has_net = baleen_directory_next(both->filter, &both->number, &both->net);
	if (both->i < both->n_ip4 && (!both->has_net || both->ip4[both->i] < both->net.first)) {
		*net = (struct baleen_net4){ both->ip4[both->i], both->ip4[both->i] };
		both->i++;
		return true;
	}
	if (!both->has_net)
		return false;
	*net = both->net;
	both->has_net = false;
	return true;
}

static int add_net(struct baleen_list *list, const struct baleen_net4 *net)
{
	bool is_host = net->first == net->last;
	size_t *n = is_host ? &list->n_ip4 : &list->n_net4;
	size_t *room = is_host ? &list->room_ip4 : &list->room_net4;
	size_t bytes = is_host ? sizeof(*list->ip4) : sizeof(*list->net4);
	void **array = is_host ? (void **)&list->ip4 : (void **)&list->net4;

	if (*n == *room) {
		size_t larger = *room ? *room * 2 : 1024;
		void *grown = realloc(*array, larger * bytes);

		if (!grown)
			return -ENOMEM;
		*array = grown;
		*room = larger;
	}
	if (is_host)
		list->ip4[list->n_ip4++] = net->first;
	else
		list->net4[list->n_net4++] = *net;
	return 0;
}

/* What touches becomes one interval. */
static int list_groups(const struct baleen_filter *filter, struct baleen_list *list,
		       struct baleen_error *error)
{
	struct both both = { .filter = filter, .ip4 = list->ip4, .n_ip4 = list->n_ip4 };
	struct baleen_net4 joined, net;
	u32 *hosts = list->ip4;
	bool any;
	int err = 0;

	list->ip4 = NULL;
	list->n_ip4 = 0;
	list->room_ip4 = 0;
	any = next_of_both(&both, &joined);
	while (!err && next_of_both(&both, &net)) {
		if (net.first == joined.last + 1ull) {
			joined.last = net.last;
			continue;
		}
		err = add_net(list, &joined);
		joined = net;
	}
	if (any && !err)
		err = add_net(list, &joined);
	free(hosts);
	return err ? no_memory(error) : 0;
}

/* --- entries -------------------------------------------------------------- */

static int list_entries(const struct baleen_filter *filter, struct baleen_list *list,
			struct baleen_error *error)
{
	size_t n = filter->image.table[BALEEN_IP6_ENTRIES].n_buckets;

	list->prefix6 = malloc(n * sizeof(*list->prefix6));
	if (!list->prefix6)
		return no_memory(error);
	list->n_prefix6 = n;
	list->room_prefix6 = n;
	if (baleen_entries_read(filter, list->prefix6))
		return baleen_fail(error, EINVAL, "IPv6 entries that no list makes: damaged");
	return 0;
}

/* --- all ------------------------------------------------------------------ */

static const char *why_not(const struct baleen_image *image)
{
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++)
		if (image->table[domain].kind == BALEEN_KIND_BLOOM)
			return "Bloom table";
	if (image->table[BALEEN_IP6].kind)
		return "IPv6 table";
	if (image->table[BALEEN_TUPLE].kind)
		return "table of keys longer than 64 bits";
	if (image->table[BALEEN_WORD].kind && image->table[BALEEN_WORD].slot_bits != 64)
		return "table of 16-bit slots";
	return NULL;
}

int baleen_filter_to_list(const struct baleen_filter *filter, struct baleen_list *out,
			  struct baleen_error *error)
{
	const struct baleen_image *image = &filter->image;
	struct baleen_list list = { .key_spec = image->key_spec };
	const char *reason = why_not(image);
	int err = 0;

	if (reason)
		return baleen_fail(error, EOPNOTSUPP,
				   "keys stored as hashes cannot be listed back (%s)", reason);
	if (image->table[BALEEN_IP4].kind)
		err = list_slots(filter, BALEEN_IP4, &list, error);
	if (!err && image->table[BALEEN_WORD].kind)
		err = list_slots(filter, BALEEN_WORD, &list, error);
	/* Sorts, and drops what a killed writer left in two places. */
	if (!err && baleen_list_finish(&list))
		err = no_memory(error);
	if (!err && image->table[BALEEN_IP4_GROUPS].kind)
		err = list_groups(filter, &list, error);
	if (!err && image->table[BALEEN_IP6_ENTRIES].kind)
		err = list_entries(filter, &list, error);
	if (err) {
		baleen_list_free(&list);
		return err;
	}
	list.n_listed = image->n_listed;
	list.n_covered = image->n_covered;
	*out = list;
	return 0;
}
