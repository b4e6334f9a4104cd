// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Union, intersection and difference of two lists as sets. */
#include <math.h>
#include <stdlib.h>

#include "list/list_combine.h"
#include "list/list_set.h"
#include "list/list_sort.h"

#define ALL_IP4 (1ull << 32)
#define MAX_DEPTH 129

/* --- sorted arrays: hosts, keys ------------------------------------------- */

typedef int compare_fn(const void *a, const void *b);

static int compare_ip4(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static int compare_ip6(const void *a, const void *b)
{
	const struct baleen_ip6 *x = a, *y = b;

	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	return (x->lo > y->lo) - (x->lo < y->lo);
}

static int compare_key(const void *a, const void *b)
{
	return baleen_key_compare(a, b);
}

/* Merges two arrays without duplicates into *out, allocated here. */
static int combine_arrays(const void *a, size_t n_a, const void *b, size_t n_b, size_t bytes,
			  compare_fn *compare, enum baleen_set_op op, void **out, size_t *n_out)
{
	const char *p = a, *q = b, *p_end = p + n_a * bytes, *q_end = q + n_b * bytes;
	char *kept = NULL;
	size_t n = 0;

	if (n_a + n_b) {
		kept = reallocarray(NULL, n_a + n_b, bytes);
		if (!kept)
			return -ENOMEM;
	}
	while (p < p_end || q < q_end) {
		int order = p == p_end ? 1 : q == q_end ? -1 : compare(p, q);

		if (baleen_set_keeps(op, order <= 0, order >= 0))
			memcpy(kept + n++ * bytes, order <= 0 ? p : q, bytes);
		p += order <= 0 ? bytes : 0;
		q += order >= 0 ? bytes : 0;
	}
	*out = kept;
	*n_out = n;
	return 0;
}

/* --- IPv4 ----------------------------------------------------------------- */

/* The intervals of a list in ascending order, hosts among them. */
struct stream4 {
	const struct baleen_list *list;
	size_t net;
	size_t host;
	u64 first; /* of the interval at hand; ALL_IP4 behind the last */
	u64 end;   /* behind its last address */
};

static void stream4_next(struct stream4 *stream)
{
	const struct baleen_list *list = stream->list;
	u64 net = stream->net < list->n_net4 ? list->net4[stream->net].first : ALL_IP4;
	u64 host = stream->host < list->n_ip4 ? list->ip4[stream->host] : ALL_IP4;

	if (net < host) {
		stream->first = net;
		stream->end = list->net4[stream->net++].last + 1ull;
	} else {
		stream->first = host;
		stream->end = host + 1;
		stream->host++;
	}
}

/* The next address, from @at on, where this list begins or ends an interval. */
static u64 stream4_edge(struct stream4 *stream, u64 at)
{
	while (stream->end <= at && stream->first < ALL_IP4)
		stream4_next(stream);
	return stream->first > at ? stream->first : stream->end;
}

static void append4(struct baleen_list *out, u64 first, u64 end)
{
	struct baleen_net4 *last = out->n_net4 ? &out->net4[out->n_net4 - 1] : NULL;

	if (last && last->last + 1ull == first)
		last->last = end - 1;
	else
		out->net4[out->n_net4++] = (struct baleen_net4){ first, end - 1 };
}

/* Intervals of one address are hosts. */
static int split_hosts(struct baleen_list *out)
{
	size_t n_hosts = 0, kept = 0;

	for (size_t i = 0; i < out->n_net4; i++)
		n_hosts += out->net4[i].first == out->net4[i].last;
	if (!n_hosts)
		return 0;
	out->ip4 = reallocarray(NULL, n_hosts, sizeof(*out->ip4));
	if (!out->ip4)
		return -ENOMEM;
	out->room_ip4 = n_hosts;
	for (size_t i = 0; i < out->n_net4; i++) {
		struct baleen_net4 net = out->net4[i];

		if (net.first == net.last)
			out->ip4[out->n_ip4++] = net.first;
		else
			out->net4[kept++] = net;
	}
	out->n_net4 = kept;
	return 0;
}

static int combine_ip4(const struct baleen_list *a, const struct baleen_list *b,
		       enum baleen_set_op op, struct baleen_list *out)
{
	struct stream4 in_a = { .list = a }, in_b = { .list = b };
	/* An interval of the result begins where one of a list begins or ends. */
	size_t room = 2 * (a->n_net4 + a->n_ip4 + b->n_net4 + b->n_ip4);

	if (!a->n_net4 && !b->n_net4)
		return combine_arrays(a->ip4, a->n_ip4, b->ip4, b->n_ip4, sizeof(u32), compare_ip4,
				      op, (void **)&out->ip4, &out->n_ip4);
	out->net4 = reallocarray(NULL, room, sizeof(*out->net4));
	if (!out->net4)
		return -ENOMEM;
	out->room_net4 = room;
	for (u64 at = 0, next; at < ALL_IP4; at = next) {
		u64 edge_a = stream4_edge(&in_a, at), edge_b = stream4_edge(&in_b, at);

		next = edge_a < edge_b ? edge_a : edge_b;
		if (next > ALL_IP4)
			next = ALL_IP4;
		if (baleen_set_keeps(op, in_a.first <= at, in_b.first <= at))
			append4(out, at, next);
	}
	return split_hosts(out);
}

/* --- IPv6 ----------------------------------------------------------------- */

/* The entries of a list in order, hosts as /128, and those around the place
 * that has been reached.
 */
struct stream6 {
	const struct baleen_list *list;
	size_t next;
	u32 depth;
	struct baleen_prefix6 around[MAX_DEPTH];
};

static bool stream6_peek(const struct stream6 *stream, struct baleen_prefix6 *prefix)
{
	const struct baleen_list *list = stream->list;

	if (stream->next < list->n_prefix6)
		*prefix = list->prefix6[stream->next];
	else if (stream->next < list->n_ip6)
		*prefix = (struct baleen_prefix6){ .hi = list->ip6[stream->next].hi,
						   .lo = list->ip6[stream->next].lo,
						   .length = 128 };
	else
		return false;
	return true;
}

/* Does the list hold @prefix as a whole, longer prefixes aside? */
static bool stream6_has(struct stream6 *stream, const struct baleen_prefix6 *prefix)
{
	struct baleen_prefix6 mine;

	while (stream->depth &&
	       !baleen_prefix6_is_around(&stream->around[stream->depth - 1], prefix))
		stream->depth--;
	if (stream6_peek(stream, &mine) && mine.hi == prefix->hi && mine.lo == prefix->lo &&
	    mine.length == prefix->length) {
		stream->around[stream->depth++] = mine;
		stream->next++;
	}
	return stream->depth && !stream->around[stream->depth - 1].is_exception;
}

static int compare_place(const struct baleen_prefix6 *a, const struct baleen_prefix6 *b)
{
	struct baleen_prefix6 x = *a, y = *b;

	x.is_exception = y.is_exception = 0;
	return baleen_prefix6_compare(&x, &y);
}

/* The longest entry of either list that covers an address is the longest of
 * one, and of the other the longest is that or a wider one. So of each entry
 * it is enough to know what both say of it as a whole.
 */
static void combine_entries(struct stream6 *a, struct stream6 *b, enum baleen_set_op op,
			    struct baleen_list *out)
{
	struct baleen_prefix6 of_a, of_b;

	for (;;) {
		bool more_a = stream6_peek(a, &of_a), more_b = stream6_peek(b, &of_b);
		struct baleen_prefix6 prefix;
		bool in_a, in_b;

		if (!more_a && !more_b)
			return;
		prefix = more_a && (!more_b || compare_place(&of_a, &of_b) <= 0) ? of_a : of_b;
		in_a = stream6_has(a, &prefix);
		in_b = stream6_has(b, &prefix);
		prefix.is_exception = !baleen_set_keeps(op, in_a, in_b);
		out->prefix6[out->n_prefix6++] = prefix;
	}
}

static int combine_ip6(const struct baleen_list *a, const struct baleen_list *b,
		       enum baleen_set_op op, struct baleen_list *out)
{
	struct stream6 in_a = { .list = a }, in_b = { .list = b };
	size_t room = a->n_prefix6 + a->n_ip6 + b->n_prefix6 + b->n_ip6;

	if (!a->n_prefix6 && !b->n_prefix6)
		return combine_arrays(a->ip6, a->n_ip6, b->ip6, b->n_ip6, sizeof(*a->ip6),
				      compare_ip6, op, (void **)&out->ip6, &out->n_ip6);
	out->prefix6 = reallocarray(NULL, room, sizeof(*out->prefix6));
	/* Should nothing but hosts be left, they go there. */
	out->ip6 = reallocarray(NULL, room, sizeof(*out->ip6));
	if (!out->prefix6 || !out->ip6)
		return -ENOMEM;
	out->room_prefix6 = out->room_ip6 = room;
	combine_entries(&in_a, &in_b, op, out);
	baleen_set6_make(out);
	return 0;
}

int baleen_list_combine(const struct baleen_list *a, const struct baleen_list *b,
			enum baleen_set_op op, struct baleen_list *out)
{
	struct baleen_list made = { .key_spec = a->key_spec };
	int err;

	if (a->key_spec != b->key_spec)
		return -EINVAL;
	err = combine_ip4(a, b, op, &made);
	if (!err)
		err = combine_ip6(a, b, op, &made);
	if (!err)
		err = combine_arrays(a->key, a->n_key, b->key, b->n_key, sizeof(*a->key),
				     compare_key, op, (void **)&made.key, &made.n_key);
	if (err) {
		baleen_list_free(&made);
		return err;
	}
	made.room_ip4 = made.room_ip4 ? made.room_ip4 : made.n_ip4;
	made.room_ip6 = made.room_ip6 ? made.room_ip6 : made.n_ip6;
	made.room_key = made.n_key;
	made.n_covered = 0;
	*out = made;
	return 0;
}

/* An entry says the opposite of the next wider one. */
double baleen_list_size(const struct baleen_list *list)
{
	double n = list->n_ip4 + list->n_ip6 + list->n_key;

	for (size_t i = 0; i < list->n_net4; i++)
		n += list->net4[i].last - list->net4[i].first + 1.;
	for (size_t i = 0; i < list->n_prefix6; i++)
		n += ldexp(list->prefix6[i].is_exception ? -1 : 1, 128 - list->prefix6[i].length);
	return n;
}
