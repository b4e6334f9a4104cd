// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The set of an exact filter, back as a list. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter/hashes.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "filter/directory_table.h"
#include "filter/prefix_table.h"
#include "filter/recent.h"
#include "util/array.h"

/* --- tables that keep whole hashes ------------------------------------------ */

/* With a directory only those count that it sends the probe to. */
static bool is_reached(const struct baleen_filter *filter, const struct baleen_key *key)
{
	const struct baleen_table *groups = &filter->image.table[BALEEN_IP4_GROUPS];

	return key->domain != BALEEN_IP4 || groups->kind == BALEEN_KIND_NONE ||
	       baleen_directory_get(groups, filter->bytes, key->ip4, 1) == BALEEN_GROUP_HOSTS;
}

static void list_ip4(const struct baleen_filter *filter, const struct baleen_hashes *hashes,
		     struct baleen_list *list)
{
	for (size_t i = 0; i < hashes->n; i++) {
		struct baleen_key key = {
			.domain = BALEEN_IP4,
			.ip4 = baleen_unpermute32(&filter->image.seed, hashes->hash[i]),
		};

		if (is_reached(filter, &key))
			list->ip4[list->n_ip4++] = key.ip4;
	}
}

static void list_words(const struct baleen_filter *filter, const struct baleen_hashes *hashes,
		       struct baleen_list *list)
{
	for (size_t i = 0; i < hashes->n; i++)
		list->key[list->n_key++] = (struct baleen_key){
			.domain = BALEEN_WORD,
			.lo = baleen_unpermute64(&filter->image.seed, hashes->hash[i]),
		};
}

static int list_hashes(const struct baleen_filter *filter, u32 domain, struct baleen_list *list,
		       struct baleen_error *error)
{
	struct baleen_hashes hashes;
	int err = baleen_hashes_read(filter, domain, &hashes, error);

	if (err)
		return err;
	if (domain == BALEEN_IP4) {
		list->room_ip4 = hashes.n + 1;
		list->ip4 = malloc(list->room_ip4 * sizeof(*list->ip4));
	} else {
		list->room_key = hashes.n + 1;
		list->key = malloc(list->room_key * sizeof(*list->key));
	}
	if (domain == BALEEN_IP4 && list->ip4)
		list_ip4(filter, &hashes, list);
	else if (domain == BALEEN_WORD && list->key)
		list_words(filter, &hashes, list);
	else
		err = baleen_no_memory(error);
	free(hashes.hash);
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
	if (net->first == net->last)
		return baleen_list_add_ip4(list, net->first);
	if (baleen_array_reserve(&list->net4, &list->room_net4, list->n_net4 + 1))
		return -ENOMEM;
	list->net4[list->n_net4++] = *net;
	return 0;
}

/* Intervals that touch become one. */
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
	return err ? baleen_no_memory(error) : 0;
}

/* --- entries -------------------------------------------------------------- */

static int list_entries(const struct baleen_filter *filter, struct baleen_list *list,
			struct baleen_error *error)
{
	size_t n = filter->image.table[BALEEN_IP6_ENTRIES].n_buckets;

	list->prefix6 = malloc(n * sizeof(*list->prefix6));
	if (!list->prefix6)
		return baleen_no_memory(error);
	list->n_prefix6 = n;
	list->room_prefix6 = n;
	if (baleen_entries_read(filter, list->prefix6))
		return baleen_fail(error, EINVAL, "IPv6 entries that no list makes: damaged");
	return 0;
}

/* --- all ------------------------------------------------------------------ */

/* The first table that does not keep whole keys; BALEEN_N_DOMAINS: none. */
static u32 find_lossy(const struct baleen_image *image)
{
	static const u32 exact[] = { BALEEN_IP4, BALEEN_WORD };

	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++)
		if (image->table[domain].kind &&
		    !baleen_kind_ops(image->table[domain].kind)->hashes)
			return domain;
	if (image->table[BALEEN_IP6].kind)
		return BALEEN_IP6;
	if (image->table[BALEEN_TUPLE].kind)
		return BALEEN_TUPLE;
	for (u32 i = 0; i < 2; i++)
		if (image->table[exact[i]].kind && !baleen_table_is_exact(image, exact[i]))
			return exact[i];
	return BALEEN_N_DOMAINS;
}

static int fail_lossy(const struct baleen_image *image, u32 domain, struct baleen_error *error)
{
	const struct baleen_table *table = &image->table[domain];
	const char *what = "IPv6 table";
	char text[64];

	if (!baleen_kind_ops(table->kind)->hashes) {
		what = "Bloom table";
	} else if (domain == BALEEN_TUPLE) {
		what = "table of keys longer than 64 bits";
	} else if (domain != BALEEN_IP6) {
		snprintf(text, sizeof(text), "table of %u-bit %s", table->slot_bits,
			 table->kind == BALEEN_KIND_CUCKOO ? "slots" : "remainders");
		what = text;
	}
	return baleen_fail(error, EOPNOTSUPP, "keys stored as hashes cannot be listed back (%s)",
			   what);
}

int baleen_filter_to_list(const struct baleen_filter *filter, struct baleen_list *out,
			  struct baleen_error *error)
{
	const struct baleen_image *image = &filter->image;
	struct baleen_list list = { .key_spec = image->key_spec };
	u32 lossy = find_lossy(image);
	int err = 0;

	if (lossy < BALEEN_N_DOMAINS)
		return fail_lossy(image, lossy, error);
	if (image->table[BALEEN_IP4].kind)
		err = list_hashes(filter, BALEEN_IP4, &list, error);
	if (!err && image->table[BALEEN_WORD].kind)
		err = list_hashes(filter, BALEEN_WORD, &list, error);
	/* Sorts, and drops copies and what a killed writer left in two places. */
	if (!err && baleen_list_finish(&list))
		err = baleen_no_memory(error);
	if (!err && image->table[BALEEN_IP4_GROUPS].kind)
		err = list_groups(filter, &list, error);
	if (!err && image->table[BALEEN_IP6_ENTRIES].kind)
		err = list_entries(filter, &list, error);
	if (!err && baleen_recent_apply(filter, &list))
		err = baleen_no_memory(error);
	if (err) {
		baleen_list_free(&list);
		return err;
	}
	list.n_listed = image->n_listed;
	list.n_covered = image->n_covered;
	*out = list;
	return 0;
}
