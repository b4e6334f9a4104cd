// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Images among the feeds of a rule: what they hold of a set, and without it. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "deploy/derive_image.h"
#include "list/list_algebra.h"
#include "ops/image_file.h"

static int no_memory(struct baleen_error *error)
{
	return baleen_fail(error, ENOMEM, "no memory for what an image holds");
}

/* The hosts of @set that an image holds. */
static int held_hosts(const struct baleen_filter *image, const struct baleen_list *set,
		      struct baleen_list *held)
{
	struct baleen_key key = { .domain = BALEEN_IP4 };

	held->ip4 = calloc(set->n_ip4 + 1, sizeof(*held->ip4));
	held->ip6 = calloc(set->n_ip6 + 1, sizeof(*held->ip6));
	held->key = calloc(set->n_key + 1, sizeof(*held->key));
	if (!held->ip4 || !held->ip6 || !held->key)
		return -ENOMEM;
	held->room_ip4 = set->n_ip4 + 1;
	held->room_ip6 = set->n_ip6 + 1;
	held->room_key = set->n_key + 1;
	for (size_t i = 0; i < set->n_ip4; i++) {
		key.ip4 = set->ip4[i];
		if (baleen_filter_test(image, &key))
			held->ip4[held->n_ip4++] = key.ip4;
	}
	key = (struct baleen_key){ .domain = BALEEN_IP6 };
	for (size_t i = 0; i < set->n_ip6; i++) {
		key.hi = set->ip6[i].hi;
		key.lo = set->ip6[i].lo;
		if (baleen_filter_test(image, &key))
			held->ip6[held->n_ip6++] = set->ip6[i];
	}
	for (size_t i = 0; i < set->n_key; i++)
		if (baleen_filter_test(image, &set->key[i]))
			held->key[held->n_key++] = set->key[i];
	return 0;
}

/* The prefixes of @set, as far as the image has them. */
static int held_prefixes(const struct baleen_filter *image, const struct baleen_list *set,
			 struct baleen_list *held, struct baleen_error *error)
{
	struct baleen_list listed = { 0 }, prefixes = *set, common = { 0 };
	int err = baleen_filter_list_exact(image, &listed, error);

	if (err)
		return err;
	listed.key_spec = set->key_spec;
	prefixes.n_ip4 = prefixes.n_ip6 = prefixes.n_key = 0;
	if (baleen_list_combine(&prefixes, &listed, BALEEN_SET_INTERSECTION, &common) ||
	    baleen_list_unite(held, &common))
		err = no_memory(error);
	baleen_list_free(&common);
	baleen_list_free(&listed);
	return err;
}

int baleen_derive_held(const struct baleen_filter *image, const struct baleen_list *set,
		       bool is_optional, struct baleen_list *held, struct baleen_error *error)
{
	int err;

	*held = (struct baleen_list){ .key_spec = set->key_spec };
	if (held_hosts(image, set, held))
		return no_memory(error);
	if (!set->n_net4 && !set->n_prefix6)
		return 0;
	err = baleen_filter_check_edit(image, set, BALEEN_SET_DIFFERENCE, error);
	if (err)
		return is_optional ? 0 : err;
	return held_prefixes(image, set, held, error);
}

int baleen_derive_edit(struct baleen_filter *image, const struct baleen_list *change,
		       enum baleen_set_op op, struct baleen_error *error)
{
	u64 n = op == BALEEN_SET_UNION ? change->n_ip4 + change->n_ip6 + change->n_key : 0;
	struct baleen_filter edited;
	int err;

	if (baleen_list_is_empty(change))
		return 0;
	err = baleen_filter_edit(image, change, op, baleen_filter_room(image) + n, &edited, error);
	if (err)
		return err;
	baleen_filter_free(image);
	*image = edited;
	return 0;
}

int baleen_derive_image_holds(const struct baleen_state *state, const struct baleen_feed *feed,
			      u32 key_spec, const struct baleen_key *key,
			      struct baleen_error *error)
{
	int fd = baleen_feed_open(state, feed, error), ret;
	struct baleen_filter image;

	if (fd < 0)
		return fd;
	ret = baleen_image_file_read(fd, baleen_feed_name(feed), &image, error);
	close(fd);
	if (ret)
		return ret;
	ret = image.image.key_spec == key_spec && baleen_filter_test(&image, key);
	baleen_filter_free(&image);
	return ret;
}
