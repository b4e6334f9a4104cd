// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tables of every kind and width in every world (see ask.h).
 *
 * Half of a million or more distinct keys are listed. All worlds must answer
 * alike, no listed key may be missed, and what is exact must equal the set.
 */
#include "ask.h"
#include "shapes.h"

#define SEED 0x62616c65656eull

/* Loads are near 95 %, where buckets are full and keys are away from home. */
#define CUCKOO(bits, buckets, n)                                                     \
	{                                                                            \
		.kind = BALEEN_KIND_CUCKOO, .slot_bits = bits, .n_buckets = buckets, \
		.n_entries = n                                                       \
	}
#define BLOOM(k, blocks, n)                                                                   \
	{                                                                                     \
		.kind = BALEEN_KIND_BLOOM, .n_hashes = k, .n_buckets = blocks, .n_entries = n \
	}

static const struct world worlds[] = {
	{ "cuckoo IPv4, 16-bit slots", { CUCKOO(16, 1 << 18, 990000) }, BALEEN_KEY_SRC },
	{ "cuckoo IPv4, 16-bit slots, 270,003 buckets",
	  { CUCKOO(16, 270003, 1020000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo IPv4, 32-bit slots", { CUCKOO(32, 1 << 17, 500000) }, BALEEN_KEY_SRC },
	{ "cuckoo IPv4, 32-bit slots, 132,001 buckets",
	  { CUCKOO(32, 132001, 500000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo IPv6, 64-bit slots",
	  { [BALEEN_IP6] = CUCKOO(64, 1 << 17, 500000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo IPv6, 64-bit slots, 132,001 buckets",
	  { [BALEEN_IP6] = CUCKOO(64, 132001, 500000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo IPv6, 16-bit slots",
	  { [BALEEN_IP6] = CUCKOO(16, 1 << 17, 500000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo IPv6, 16-bit slots, 132,001 buckets",
	  { [BALEEN_IP6] = CUCKOO(16, 132001, 500000) },
	  BALEEN_KEY_SRC },
	{ "Bloom IPv4, k = 2", { BLOOM(2, 15625, 500000) }, BALEEN_KEY_SRC },
	{ "Bloom IPv4, k = 4", { BLOOM(4, 15625, 500000) }, BALEEN_KEY_SRC },
	{ "Bloom IPv4, k = 6", { BLOOM(6, 15625, 500000) }, BALEEN_KEY_SRC },
	{ "Bloom IPv4, k = 8", { BLOOM(8, 15625, 500000) }, BALEEN_KEY_SRC },
	{ "Bloom IPv6, k = 2", { [BALEEN_IP6] = BLOOM(2, 15625, 500000) }, BALEEN_KEY_SRC },
	{ "Bloom IPv6, k = 4", { [BALEEN_IP6] = BLOOM(4, 15625, 500000) }, BALEEN_KEY_SRC },
	{ "Bloom IPv6, k = 6", { [BALEEN_IP6] = BLOOM(6, 15625, 500000) }, BALEEN_KEY_SRC },
	{ "Bloom IPv6, k = 8", { [BALEEN_IP6] = BLOOM(8, 15625, 500000) }, BALEEN_KEY_SRC },
	{ "cuckoo IPv4 and IPv6 in one image",
	  { CUCKOO(16, 262151, 990000), CUCKOO(64, 65537, 245000) },
	  BALEEN_KEY_SRC },
	{ "Bloom IPv4 and IPv6 in one image",
	  { BLOOM(8, 15625, 500000), BLOOM(2, 7813, 250000) },
	  BALEEN_KEY_SRC },
	{ "cuckoo src,dst: words and tuples",
	  { [BALEEN_WORD] = CUCKOO(64, 1 << 16, 245000),
	    [BALEEN_TUPLE] = CUCKOO(64, 66001, 245000) },
	  BALEEN_KEY_SRC | BALEEN_KEY_DST },
	{ "cuckoo src,dst, 16-bit slots",
	  { [BALEEN_WORD] = CUCKOO(16, 1 << 16, 245000),
	    [BALEEN_TUPLE] = CUCKOO(16, 66001, 245000) },
	  BALEEN_KEY_SRC | BALEEN_KEY_DST },
	{ "cuckoo flow", { [BALEEN_TUPLE] = CUCKOO(64, 1 << 17, 500000) }, BALEEN_KEY_FLOW },
	{ "Bloom src,dst: words and tuples",
	  { [BALEEN_WORD] = BLOOM(4, 7813, 250000), [BALEEN_TUPLE] = BLOOM(6, 7813, 250000) },
	  BALEEN_KEY_SRC | BALEEN_KEY_DST },
	{ "Bloom flow", { [BALEEN_TUPLE] = BLOOM(8, 15625, 500000) }, BALEEN_KEY_FLOW },
};

/* --- the set -------------------------------------------------------------- */

/* The keys of one table: of the first 2 * n_listed every other one is listed. */
struct keys {
	u32 key_spec;
	u32 domain;
	u32 n_listed;
};

/* A tuple of a flow is of either family by turns. */
static bool is_ip6(const struct keys *keys, u32 i)
{
	bool ip4_has_it = baleen_spec_domain(keys->key_spec, false) == keys->domain;
	bool ip6_has_it = baleen_spec_domain(keys->key_spec, true) == keys->domain;

	return ip4_has_it && ip6_has_it ? i / 2 % 2 : ip6_has_it;
}

/* Number i of the keys: different i, different source. Even ones are listed.
 * IPv6 sources come eight to a /64 as one host's do, side by side.
 */
static void fields_at(const struct keys *keys, u32 i, struct baleen_fields *fields)
{
	u64 state = i / 8, other = i;
	u32 ip4 = i * 0x9e3779b1u;

	*fields = (struct baleen_fields){ .is_ip6 = is_ip6(keys, i) };
	if (fields->is_ip6) {
		fields->src_hi = next_random(&state);
		fields->src_lo = next_random(&state) + i % 8;
		fields->dst_hi = next_random(&other);
		fields->dst_lo = next_random(&other);
	} else {
		ip4 ^= ip4 >> 15;
		fields->src_lo = ip4 * 0x85ebca6bu;
		fields->dst_lo = next_random(&other) >> 32;
	}
	fields->sport = next_random(&other);
	fields->dport = i % 3 ? 443 : 53;
	fields->proto = i % 3 ? BALEEN_PROTO_TCP : BALEEN_PROTO_UDP;
}

static void question_at(const void *data, u32 i, struct question *question)
{
	const struct keys *keys = data;

	fields_at(keys, i, &question->fields);
	question->is_listed = i % 2 == 0 && i / 2 < keys->n_listed;
}

/* --- the filter ----------------------------------------------------------- */

static void make_image(const struct world *world, struct baleen_image *image)
{
	u64 state = SEED;

	memset(image, 0, sizeof(*image));
	image->key_spec = world->key_spec;
	image->n_blocks = BALEEN_HEADER_BLOCKS;
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		image->seed.word[i] = next_random(&state);
	baleen_seed_expand(&image->seed);
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		struct baleen_table *table = &image->table[domain];

		*table = world->table[domain];
		if (table->kind == BALEEN_KIND_NONE)
			continue;
		table->n_blocks = baleen_table_blocks(table);
		if (table->slot_bits)
			table->log2_buckets = baleen_log2(table->n_buckets);
		table->first_block = image->n_blocks;
		image->n_blocks += table->n_blocks;
	}
}

/* Lists as many as the world says, or as a table with a stash has room for. */
static void insert_keys(const struct world *world, struct baleen_filter *filter, struct keys *keys)
{
	const struct baleen_table *table = &world->table[keys->domain];
	struct baleen_fields fields;
	struct baleen_key key;
	size_t done;

	for (keys->n_listed = 0; keys->n_listed < table->n_entries; keys->n_listed++) {
		fields_at(keys, 2 * keys->n_listed, &fields);
		key = question_key(keys->key_spec, &fields);
		if (baleen_filter_insert(filter, &key, 1, &done))
			break;
	}
	if (table->kind == BALEEN_KIND_CUCKOO &&
	    (keys->n_listed == table->n_entries) == !!table->n_stash)
		errx(1, "%s: room for %u keys", world->name, keys->n_listed);
}

static void make_filter(const struct world *world, struct baleen_filter *filter, struct keys *keys)
{
	struct baleen_image image, checked;
	struct baleen_error error;
	const char *reason;

	make_image(world, &image);
	if (baleen_filter_alloc(filter, &image, &error))
		errx(1, "%s", error.text);
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		keys[domain] = (struct keys){ image.key_spec, domain, 0 };
		insert_keys(world, filter, &keys[domain]);
	}
	baleen_filter_seal(filter);
	if (baleen_image_check(filter->bytes, filter->n_bytes, &checked, &reason))
		errx(1, "%s: %s", world->name, reason);
}

static void try_world(const struct world *world)
{
	struct questions questions[BALEEN_TUPLE + 1];
	struct keys keys[BALEEN_TUPLE + 1];
	struct baleen_filter filter;
	u32 n = 0;

	make_filter(world, &filter, keys);
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (keys[domain].n_listed)
			questions[n++] = (struct questions){ 2 * keys[domain].n_listed, question_at,
							     &keys[domain] };
	ask(world->name, &filter, questions, n, baleen_image_fpp(&filter.image));
	baleen_filter_free(&filter);
}

/* Packed slots of every width, with buckets of one number of slots each; TEST_ALL: of each.
 * One family without a stash, so that the body ends where the last bucket does.
 */
static void try_packed(u32 slot_bits, u32 slots)
{
	static const u32 n_buckets[] = { 19997, 9973, 6661, 4999 };
	static const double loads[] = { 0.4, 0.8, 0.9, 0.93 };
	u32 n = n_buckets[slots - 1] * slots * loads[slots - 1];
	char name[40];
	struct world world = {
		.name = name,
		.table = { PACKED(slots, slot_bits, 0, n_buckets[slots - 1], n),
			   PACKED(slots, slot_bits, STASH, n_buckets[slots - 1],
				  n_buckets[slots - 1] * slots * 5 / 4) },
		.key_spec = BALEEN_KEY_SRC,
	};

	/* Few fingerprints share slots, so that no number of keys is too many. */
	if (slot_bits < 12)
		world.table[1] =
			(struct baleen_table)PACKED(slots, slot_bits, 0, n_buckets[slots - 1], n);
	snprintf(name, sizeof(name), "cuckoo %u x %u, packed", slots, slot_bits);
	try_world(&world);
}

/* The same of semi-sorted slots. */
static void try_semi_sorted(u32 slot_bits)
{
	u32 n_buckets = 4999, n = n_buckets * 4 * 0.93;
	char name[40];
	struct world world = {
		.name = name,
		.table = { SEMI_SORTED(slot_bits, 0, n_buckets, n),
			   SEMI_SORTED(slot_bits, STASH, n_buckets, n_buckets * 5) },
		.key_spec = BALEEN_KEY_SRC,
	};

	/* As of packed slots. */
	if (slot_bits < 12)
		world.table[1] = (struct baleen_table)SEMI_SORTED(slot_bits, 0, n_buckets, n);
	snprintf(name, sizeof(name), "cuckoo 4 x %u, semi-sorted", slot_bits);
	try_world(&world);
}

int main(void)
{
	bool is_all = getenv("TEST_ALL");

	printf("# seed 0x%llx\n", SEED);
	for (u32 i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++)
		try_world(&worlds[i]);
	for (u32 i = 0; i < sizeof(shape_worlds) / sizeof(shape_worlds[0]); i++)
		try_world(&shape_worlds[i]);
	for (u32 bits = BALEEN_MIN_PACKED_BITS; bits <= BALEEN_MAX_PACKED_BITS; bits++)
		for (u32 slots = 1; slots <= 4; slots++)
			if (is_all || slots == 1 + (bits + bits / 4) % 4)
				try_packed(bits, slots);
	for (u32 bits = BALEEN_MIN_PACKED_BITS + 1; bits <= BALEEN_MAX_PACKED_BITS; bits++)
		if (is_all || bits % 4 == 1)
			try_semi_sorted(bits);
	printf("1..%u\n", tap_n);
	return !!tap_failed;
}
