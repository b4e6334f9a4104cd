// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Images of lists with prefixes, exceptions, hosts and keys of several fields
 * in every world (see ask.h).
 *
 * What is listed is looked up in the finished list itself by binary search. A
 * million keys for each list: half are members, the others differ from a
 * member in one bit or are random.
 */
#include "ask.h"
#include "key/key_text.h"
#include "ops/build.h"

#define SEED 0x6c697374ull
#define N_KEYS 1000000

/* How a list is made: of 8 prefixes @n_nested_of_8 are inside another, and every
 * fourth of those is an exception.
 */
struct shape {
	const char *name;
	u32 key_spec;
	u32 kind;
	double fpp;
	struct {
		u32 n_hosts;
		u32 n_prefixes;
		u32 shortest;
		u32 longest;
		u32 n_nested_of_8;
	} family[2];
	u32 n_keys;	 /* of several fields */
	u32 has_domains; /* one bit per table that must come out of it */
};

#define SRC BALEEN_KEY_SRC
#define CUCKOO BALEEN_KIND_CUCKOO
#define BLOOM BALEEN_KIND_BLOOM
#define HAS(domain) (1u << BALEEN_##domain)
#define HAS_STEMS (HAS(IP6_STEMS) | HAS(IP6_ENTRIES))

static const struct shape shapes[] = {
	{ "IPv4 /12 to /24", SRC, CUCKOO, 0, { { 0, 30000, 12, 24, 0 } }, 0, HAS(IP4_GROUPS) },
	{ "IPv4 /25 to /31",
	  SRC,
	  CUCKOO,
	  0,
	  { { 0, 200000, 25, 31, 0 } },
	  0,
	  HAS(IP4_GROUPS) | HAS(IP4) },
	{ "IPv4 of all lengths with exceptions, and hosts",
	  SRC,
	  CUCKOO,
	  0,
	  { { 200000, 50000, 10, 32, 4 } },
	  0,
	  HAS(IP4_GROUPS) | HAS(IP4) },
	{ "IPv4 of all lengths, and hosts in a Bloom table",
	  SRC,
	  BLOOM,
	  0.001,
	  { { 200000, 50000, 10, 32, 4 } },
	  0,
	  HAS(IP4_GROUPS) | HAS(IP4) },
	{ "half of all IPv4 addresses", SRC, CUCKOO, 0, { { 0, 1, 1, 1, 0 } }, 0, HAS(IP4_GROUPS) },
	{ "IPv6 hosts", SRC, CUCKOO, 0, { { 0 }, { 200000, 0, 0, 0, 0 } }, 0, HAS(IP6) },
	{ "IPv6 up to /32", SRC, CUCKOO, 0, { { 0 }, { 0, 20000, 16, 32, 4 } }, 0, HAS_STEMS },
	{ "IPv6 /48", SRC, CUCKOO, 0, { { 0 }, { 0, 100000, 48, 48, 0 } }, 0, HAS_STEMS },
	{ "IPv6 up to /64 with exceptions",
	  SRC,
	  CUCKOO,
	  0,
	  { { 0 }, { 0, 100000, 20, 64, 3 } },
	  0,
	  HAS_STEMS },
	{ "IPv6 of all lengths with exceptions, and hosts",
	  SRC,
	  CUCKOO,
	  0,
	  { { 0 }, { 50000, 50000, 20, 128, 5 } },
	  0,
	  HAS_STEMS },
	{ "both families",
	  SRC,
	  CUCKOO,
	  0,
	  { { 100000, 20000, 12, 32, 3 }, { 20000, 50000, 24, 128, 3 } },
	  0,
	  HAS(IP4_GROUPS) | HAS(IP4) | HAS_STEMS },
	{ "both families, hosts in Bloom tables",
	  SRC,
	  BLOOM,
	  0.001,
	  { { 100000, 20000, 12, 32, 3 }, { 20000, 50000, 24, 128, 3 } },
	  0,
	  HAS(IP4_GROUPS) | HAS(IP4) | HAS_STEMS },
	{ "keys of src,dport",
	  SRC | BALEEN_KEY_DPORT,
	  CUCKOO,
	  0,
	  { { 0 } },
	  500000,
	  HAS(WORD) | HAS(TUPLE) },
	{ "keys of flows in a Bloom table",
	  BALEEN_KEY_FLOW,
	  BLOOM,
	  0.001,
	  { { 0 } },
	  500000,
	  HAS(TUPLE) },
};

/* --- the list ------------------------------------------------------------- */

struct address {
	u64 hi;
	u64 lo;
};

static void *allocate(size_t n, size_t n_bytes)
{
	void *memory = calloc(n ? n : 1, n_bytes);

	if (!memory)
		err(1, "list");
	return memory;
}

static u64 mask_64(u32 n_kept)
{
	return n_kept ? ~0ull << (64 - n_kept) : 0;
}

static u64 below(u64 *state, u64 n)
{
	return next_random(state) % n;
}

/* Half of them in a few corners, where prefixes meet. */
static u32 random_ip4(u64 *state)
{
	u32 address = next_random(state);

	return below(state, 2) ? address : (address & 0x0707ffff) | 0x0a000000;
}

static struct address random_ip6(u64 *state)
{
	struct address address = { next_random(state), next_random(state) };

	/* 2000::/3, half of them in a few stems. */
	address.hi = (address.hi & 0x1fffffffffffffffull) | 0x2000000000000000ull;
	if (below(state, 2))
		address.hi &= 0x203f000fffffffffull;
	return address;
}

static void make_ip4(const struct shape *shape, struct baleen_list *list, u64 *state)
{
	u32 n_hosts = shape->family[0].n_hosts, n_prefixes = shape->family[0].n_prefixes;
	u32 shortest = shape->family[0].shortest, longest = shape->family[0].longest;

	list->ip4 = allocate(n_hosts, sizeof(*list->ip4));
	list->prefix4 = allocate(n_prefixes, sizeof(*list->prefix4));
	list->n_ip4 = list->room_ip4 = n_hosts;
	list->n_prefix4 = list->room_prefix4 = n_prefixes;
	for (u32 i = 0; i < n_hosts; i++)
		list->ip4[i] = random_ip4(state);
	for (u32 i = 0; i < n_prefixes; i++) {
		struct baleen_prefix4 *prefix = &list->prefix4[i], *outer;

		prefix->address = random_ip4(state);
		prefix->length = shortest + below(state, longest - shortest + 1);
		outer = &list->prefix4[i ? below(state, i) : 0];
		if (i && outer->length < longest &&
		    below(state, 8) < shape->family[0].n_nested_of_8) {
			u32 kept = mask_64(outer->length) >> 32;

			prefix->address = (outer->address & kept) | (prefix->address & ~kept);
			prefix->length = outer->length + 1 + below(state, longest - outer->length);
			prefix->is_exception = !below(state, 4);
		}
		prefix->address &= mask_64(prefix->length) >> 32;
	}
}

static void cut(u64 *hi, u64 *lo, u32 length)
{
	*hi &= mask_64(length < 64 ? length : 64);
	*lo &= mask_64(length > 64 ? length - 64 : 0);
}

/* Any address of a prefix. */
static struct address inside(u64 hi, u64 lo, u32 length, u64 *state)
{
	struct address any = { next_random(state), next_random(state) }, front = any;

	cut(&front.hi, &front.lo, length);
	return (struct address){ hi | (any.hi ^ front.hi), lo | (any.lo ^ front.lo) };
}

static void make_ip6(const struct shape *shape, struct baleen_list *list, u64 *state)
{
	u32 n_hosts = shape->family[1].n_hosts, n_prefixes = shape->family[1].n_prefixes;
	u32 shortest = shape->family[1].shortest, longest = shape->family[1].longest;

	list->ip6 = allocate(n_hosts, sizeof(*list->ip6));
	list->prefix6 = allocate(n_prefixes + n_hosts, sizeof(*list->prefix6));
	list->n_ip6 = list->room_ip6 = n_hosts;
	list->n_prefix6 = n_prefixes;
	list->room_prefix6 = n_prefixes + n_hosts;
	for (u32 i = 0; i < n_hosts; i++) {
		struct address address = random_ip6(state);

		list->ip6[i] = (struct baleen_ip6){ address.hi, address.lo };
	}
	for (u32 i = 0; i < n_prefixes; i++) {
		struct baleen_prefix6 *prefix = &list->prefix6[i], *outer;
		struct address address = random_ip6(state);

		prefix->length = shortest + below(state, longest - shortest + 1);
		outer = &list->prefix6[i ? below(state, i) : 0];
		if (i && outer->length < longest &&
		    below(state, 8) < shape->family[1].n_nested_of_8) {
			address = inside(outer->hi, outer->lo, outer->length, state);
			prefix->length = outer->length + 1 + below(state, longest - outer->length);
			prefix->is_exception = !below(state, 4);
		}
		cut(&address.hi, &address.lo, prefix->length);
		prefix->hi = address.hi;
		prefix->lo = address.lo;
	}
}

static struct baleen_fields random_fields(u64 *state)
{
	struct baleen_fields fields = { .is_ip6 = below(state, 2) };
	struct address src = random_ip6(state), dst = random_ip6(state);

	fields.src_hi = fields.is_ip6 ? src.hi : 0;
	fields.src_lo = fields.is_ip6 ? src.lo : (u32)src.lo;
	fields.dst_hi = fields.is_ip6 ? dst.hi : 0;
	fields.dst_lo = fields.is_ip6 ? dst.lo : (u32)dst.lo;
	fields.sport = next_random(state);
	fields.dport = below(state, 2) ? 443 : next_random(state);
	fields.proto = below(state, 2) ? BALEEN_PROTO_TCP : BALEEN_PROTO_UDP;
	return fields;
}

/* Number @i of the keys that are listed, before the list is sorted. */
static struct baleen_fields listed_fields(u32 i)
{
	u64 state = SEED ^ (u64)i << 32;

	return random_fields(&state);
}

static void make_list(const struct shape *shape, struct baleen_list *list)
{
	u64 state = SEED;

	*list = (struct baleen_list){ .key_spec = shape->key_spec };
	make_ip4(shape, list, &state);
	make_ip6(shape, list, &state);
	list->key = allocate(shape->n_keys, sizeof(*list->key));
	list->n_key = list->room_key = shape->n_keys;
	for (u32 i = 0; i < shape->n_keys; i++) {
		struct baleen_fields fields = listed_fields(i);

		list->key[i] = baleen_key_fields(shape->key_spec, &fields);
	}
	list->n_listed =
		list->n_ip4 + list->n_prefix4 + list->n_ip6 + list->n_prefix6 + list->n_key;
	if (baleen_list_finish(list))
		errx(1, "%s: cannot finish the list", shape->name);
}

/* --- what is in it -------------------------------------------------------- */

static int compare_ip4(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static int compare_net4(const void *a, const void *b)
{
	const u32 *address = a;
	const struct baleen_net4 *net = b;

	return *address < net->first ? -1 : *address > net->last;
}

static int compare_ip6(const void *a, const void *b)
{
	const struct baleen_ip6 *x = a, *y = b;

	if (x->hi != y->hi)
		return x->hi < y->hi ? -1 : 1;
	return (x->lo > y->lo) - (x->lo < y->lo);
}

static int compare_prefix6(const void *a, const void *b)
{
	const struct baleen_prefix6 *x = a, *y = b;
	const struct baleen_ip6 left = { x->hi, x->lo }, right = { y->hi, y->lo };
	int order = compare_ip6(&left, &right);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int compare_keys(const void *a, const void *b)
{
	return baleen_key_compare(a, b);
}

static bool holds_ip4(const struct baleen_list *list, u32 ip4)
{
	return bsearch(&ip4, list->ip4, list->n_ip4, sizeof(*list->ip4), compare_ip4) ||
	       bsearch(&ip4, list->net4, list->n_net4, sizeof(*list->net4), compare_net4);
}

/* Each length from the longest on. */
static bool holds_ip6(const struct baleen_list *list, u64 hi, u64 lo)
{
	struct baleen_ip6 host = { hi, lo };

	if (!list->n_prefix6)
		return bsearch(&host, list->ip6, list->n_ip6, sizeof(host), compare_ip6);
	for (u32 i = 0; i <= 128; i++) {
		struct baleen_prefix6 want = { hi, lo, 128 - i, 0 }, *found;

		cut(&want.hi, &want.lo, want.length);
		found = bsearch(&want, list->prefix6, list->n_prefix6, sizeof(want),
				compare_prefix6);
		if (found)
			return !found->is_exception;
	}
	return false;
}

static bool holds(const struct baleen_list *list, const struct baleen_fields *fields)
{
	struct baleen_key key = baleen_key_fields(list->key_spec, fields);

	switch (key.domain) {
	case BALEEN_IP4: return holds_ip4(list, key.ip4);
	case BALEEN_IP6: return holds_ip6(list, key.hi, key.lo);
	default: return bsearch(&key, list->key, list->n_key, sizeof(key), compare_keys);
	}
}

/* --- the questions -------------------------------------------------------- */

/* A host or prefix of the list, and any address in it. */
static u32 member_ip4(const struct baleen_list *list, u64 *state)
{
	u64 i = below(state, list->n_ip4 + list->n_net4);
	const struct baleen_net4 *net;

	if (i < list->n_ip4)
		return list->ip4[i];
	net = &list->net4[i - list->n_ip4];
	return net->first + below(state, (u64)net->last - net->first + 1);
}

static struct address member_ip6(const struct baleen_list *list, u64 *state)
{
	u64 i = below(state, list->n_ip6 + list->n_prefix6);
	const struct baleen_prefix6 *prefix;

	if (i < list->n_ip6)
		return (struct address){ list->ip6[i].hi, list->ip6[i].lo };
	prefix = &list->prefix6[i - list->n_ip6];
	return inside(prefix->hi, prefix->lo, prefix->length, state);
}

static void ask_ip4(const struct baleen_list *list, u64 *state, u32 i, struct baleen_fields *fields)
{
	fields->src_lo = i % 4 == 1 ? (u32)next_random(state) : member_ip4(list, state);
	if (i % 4 == 3)
		fields->src_lo ^= 1u << below(state, 32);
}

static void ask_ip6(const struct baleen_list *list, u64 *state, u32 i, struct baleen_fields *fields)
{
	struct address address = i % 4 == 1 ? random_ip6(state) : member_ip6(list, state);
	u64 bit = below(state, 128);

	fields->is_ip6 = true;
	fields->src_hi = address.hi ^ (i % 4 == 3 && bit >= 64 ? 1ull << (bit - 64) : 0);
	fields->src_lo = address.lo ^ (i % 4 == 3 && bit < 64 ? 1ull << bit : 0);
}

static void question_at(const void *data, u32 i, struct question *question)
{
	const struct baleen_list *list = data;
	struct baleen_fields *fields = &question->fields;
	u64 state = SEED + (u64)i * 0x632be59bd9b4e019ull;

	*fields = (struct baleen_fields){ .is_ip6 = false };
	if (list->n_key)
		*fields = i % 2 ? random_fields(&state) : listed_fields(below(&state, list->n_key));
	else if (list->n_ip6 + list->n_prefix6 && (i / 4 % 2 || !(list->n_ip4 + list->n_net4)))
		ask_ip6(list, &state, i, fields);
	else
		ask_ip4(list, &state, i, fields);
	question->is_listed = holds(list, fields);
}

static void try_shape(const struct shape *shape)
{
	const struct baleen_build_options options = {
		.name = "list",
		.key_spec = shape->key_spec,
		.kind = shape->kind,
		.fpp = shape->fpp,
	};
	struct questions questions = { N_KEYS, question_at, NULL };
	struct baleen_filter filter;
	struct baleen_error error;
	struct baleen_list list;
	u32 domains = 0;

	make_list(shape, &list);
	questions.data = &list;
	if (baleen_build(&list, &options, &filter, &error))
		errx(1, "%s: %s", shape->name, error.text);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		domains |= (u32) !!filter.image.table[domain].kind << domain;
	printf("# %s: tables %#x, groups of %u and %u bits, %u leaves of IPv4 and %u of IPv6\n",
	       shape->name, domains, filter.image.table[BALEEN_IP4_GROUPS].group_bits,
	       filter.image.table[BALEEN_IP6_STEMS].group_bits,
	       filter.image.table[BALEEN_IP4_GROUPS].n_buckets,
	       filter.image.table[BALEEN_IP6_STEMS].n_buckets);
	result((domains & shape->has_domains) == shape->has_domains, shape->name,
	       "the image has the tables that are to be asked");
	ask(shape->name, &filter, &questions, 1, shape->fpp);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

int main(void)
{
	printf("# seed 0x%llx\n", SEED);
	for (u32 i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		try_shape(&shapes[i]);
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}
