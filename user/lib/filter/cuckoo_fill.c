// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An empty cuckoo table filled with many keys at once, by all threads. */
#include <errno.h>
#include <stdlib.h>

#include "filter/cuckoo_fill.h"
#include "filter/slots.h"
#include "util/threads.h"

/* A region of so many bytes stays in the L2 cache; more regions than that would not let
 * their ends stay in it while keys are dealt out.
 */
#define REGION_BYTES (256 * 1024)
#define MAX_REGIONS 512

/* Keys that are hashed at a time. */
#define CHUNK 1024

/* Fewer keys on their way walk in one region, the whole table. */
#define FEW (1u << 14)

/* At 95 % of a table of 32 M keys it takes some 200 rounds, and one step a key in the mean. */
#define MAX_ROUNDS 2048
#define MAX_STEPS 16

/* Slots of which more are not filled this way: walks get long. */
#define MOST_LOAD 0.96

/**
 * struct item - a slot on its way
 * @slot: as it is to stand in @bucket
 * @bucket: where it goes
 *
 * 12 bytes, not 16: items are a tenth of the memory of a build.
 */
struct item {
	u64 slot;
	u32 bucket;
} __attribute__((packed, aligned(4)));

/* Items in one piece of memory. */
struct bin {
	struct item *item;
	size_t n;
};

/**
 * struct filling - a table that is being filled
 * @slots: the table
 * @is_wide: hashes are of 64 bits, not permuted addresses
 * @fill: the keys
 * @used: of each bucket how many slots are in use
 * @log2_region: buckets of a region
 * @n_regions: how many
 * @n_parts: parts of what is dealt out: slices of the keys, or regions
 * @next: of each part and region how many there are, then where the next one goes
 * @start: of each region where its keys or items start
 * @hash: of the keys by region; u64, or u32 unless wide
 * @bin: of each part what it has left over
 * @dealt: items by region
 * @round: from 0
 * @err: a thread failed
 */
struct filling {
	struct baleen_slots slots;
	bool is_wide;
	const struct baleen_fill *fill;
	u8 *used;
	u32 log2_region;
	u32 n_regions;
	u32 n_parts;
	size_t *next;
	size_t *start;
	void *hash;
	struct bin *bin;
	struct item *dealt;
	u32 round;
	int err;
};

/* --- dealt out ------------------------------------------------------------- */

static size_t slice_start(const struct filling *filling, u32 slice)
{
	return filling->fill->n / filling->n_parts * slice +
	       (slice == filling->n_parts ? filling->fill->n % filling->n_parts : 0);
}

baleen_inline u32 home_of(const struct filling *filling, u64 hash)
{
	return (filling->is_wide ? hash >> 32 : hash) * filling->slots.table->n_buckets >> 32;
}

baleen_inline void set_hash(const struct filling *filling, size_t i, u64 hash)
{
	if (filling->is_wide)
		((u64 *)filling->hash)[i] = hash;
	else
		((u32 *)filling->hash)[i] = hash;
}

static void count_slice(void *data, u32 slice, u32 thread)
{
	const struct filling *filling = data;
	size_t *next = &filling->next[(size_t)slice * filling->n_regions];
	size_t end = slice_start(filling, slice + 1), n;
	u64 hash[CHUNK];

	for (size_t at = slice_start(filling, slice); at < end; at += n) {
		n = end - at < CHUNK ? end - at : CHUNK;
		filling->fill->hash(filling->fill->data, at, n, hash);
		for (size_t i = 0; i < n; i++)
			next[home_of(filling, hash[i]) >> filling->log2_region]++;
	}
}

/* Hashes are made a second time: to keep them took 8 bytes more a key and no less time. */
static void deal_slice(void *data, u32 slice, u32 thread)
{
	const struct filling *filling = data;
	size_t *next = &filling->next[(size_t)slice * filling->n_regions];
	size_t end = slice_start(filling, slice + 1), n;
	u64 hash[CHUNK];

	for (size_t at = slice_start(filling, slice); at < end; at += n) {
		n = end - at < CHUNK ? end - at : CHUNK;
		filling->fill->hash(filling->fill->data, at, n, hash);
		for (size_t i = 0; i < n; i++) {
			u32 region = home_of(filling, hash[i]) >> filling->log2_region;

			set_hash(filling, next[region]++, hash[i]);
		}
	}
}

static void count_bin(void *data, u32 part, u32 thread)
{
	const struct filling *filling = data;
	size_t *next = &filling->next[(size_t)part * filling->n_regions];
	const struct bin *bin = &filling->bin[part];

	for (size_t i = 0; i < bin->n; i++)
		next[bin->item[i].bucket >> filling->log2_region]++;
}

static void deal_bin(void *data, u32 part, u32 thread)
{
	const struct filling *filling = data;
	size_t *next = &filling->next[(size_t)part * filling->n_regions];
	const struct bin *bin = &filling->bin[part];

	for (size_t i = 0; i < bin->n; i++)
		filling->dealt[next[bin->item[i].bucket >> filling->log2_region]++] = bin->item[i];
}

/* From counts to places: of a region, part after part. */
static void place_regions(struct filling *filling)
{
	size_t at = 0;

	for (u32 region = 0; region < filling->n_regions; region++) {
		filling->start[region] = at;
		for (u32 part = 0; part < filling->n_parts; part++) {
			size_t *next = &filling->next[(size_t)part * filling->n_regions + region];
			size_t n = *next;

			*next = at;
			at += n;
		}
	}
	filling->start[filling->n_regions] = at;
}

static void deal(struct filling *filling, u32 n_parts,
		 void (*count)(void *data, u32 part, u32 thread),
		 void (*move)(void *data, u32 part, u32 thread))
{
	filling->n_parts = n_parts;
	memset(filling->next, 0, (size_t)n_parts * filling->n_regions * sizeof(*filling->next));
	baleen_threads_run(n_parts, count, filling);
	place_regions(filling);
	baleen_threads_run(n_parts, move, filling);
}

/* --- put in ---------------------------------------------------------------- */

/* A slot that goes on in its other bucket. */
baleen_inline struct item go_on(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u64 tag = slot & (slots->side - 1);

	return (struct item){ slot ^ slots->side, baleen_cuckoo_other(slots->table, bucket, tag) };
}

baleen_inline bool has_slot(const struct baleen_slots *slots, u32 bucket, u64 slot, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (baleen_slots_get(slots, bucket, i) == slot)
			return true;
	return false;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Keys that look the same are all in one home bucket, or all left over in one bin. */
static void drop_same(struct bin *bin)
{
	size_t kept = 0;

	if (bin->n)
		qsort(bin->item, bin->n, sizeof(*bin->item), compare_items);
	for (size_t i = 0; i < bin->n; i++)
		if (!kept || compare_items(&bin->item[kept - 1], &bin->item[i]))
			bin->item[kept++] = bin->item[i];
	bin->n = kept;
}

/* Round 0: the keys of a region into their home buckets. What is left over is written over the
 * hashes that are done: an item is longer than a hash, but only some 18 of 100 keys are left.
 */
baleen_inline int put_home(const struct filling *filling, const struct baleen_slots *slots,
			   bool is_wide, u32 region)
{
	const size_t hash_bytes = is_wide ? sizeof(u64) : sizeof(u32);
	const struct baleen_table *table = slots->table;
	struct bin *bin = &filling->bin[region];
	size_t start = filling->start[region];

	bin->item = (void *)((char *)filling->hash + start * hash_bytes);
	for (size_t i = start; i < filling->start[region + 1]; i++) {
		struct baleen_cuckoo_place place;
		u8 *used;

		if (is_wide)
			place = baleen_cuckoo_locate_hash(table, ((const u64 *)filling->hash)[i],
							  slots->slot_bits);
		else
			place = baleen_cuckoo_locate_permuted(table,
							      ((const u32 *)filling->hash)[i],
							      slots->slot_bits);
		used = &filling->used[place.home];
		if (is_wide && has_slot(slots, place.home, place.slot, *used))
			continue;
		if (*used < slots->n_slots) {
			baleen_slots_set(slots, place.home, (*used)++, place.slot);
			continue;
		}
		if ((bin->n + 1) * sizeof(*bin->item) > (i + 1 - start) * hash_bytes)
			return -ENOSPC;
		bin->item[bin->n++] = (struct item){ place.slot | slots->side, place.other };
	}
	if (is_wide)
		drop_same(bin);
	return 0;
}

/* Later rounds: items of a region. What is left over is written over those that are done. */
baleen_inline void put_items(const struct filling *filling, const struct baleen_slots *slots,
			     struct bin *bin)
{
	struct item *left = bin->item;

	for (size_t i = 0; i < bin->n; i++) {
		struct item item = bin->item[i];
		u8 *used = &filling->used[item.bucket];
		u64 before;
		u32 at;

		if (*used < slots->n_slots) {
			baleen_slots_set(slots, item.bucket, (*used)++, item.slot);
			continue;
		}
		/* Fibonacci hashing (Knuth 6.4): another slot in each round. */
		at = (u32)(item.slot + item.bucket + filling->round) * 0x9e3779b9u >> 16;
		at = at * slots->n_slots >> 16;
		before = baleen_slots_get(slots, item.bucket, at);
		baleen_slots_set(slots, item.bucket, at, item.slot);
		*left++ = go_on(slots, item.bucket, before);
	}
	bin->n = left - bin->item;
}

baleen_inline void fill_region(struct filling *filling, u32 region, u32 slot_bits)
{
	struct baleen_slots slots = filling->slots;
	int err = 0;

	/* Constants, as in baleen_cuckoo_insert(). */
	slots.n_slots = BALEEN_BUCKET_SLOTS;
	slots.slot_bits = slot_bits;
	slots.side = baleen_cuckoo_side(slot_bits);
	slots.is_semi_sorted = false;
	if (filling->round)
		put_items(filling, &slots, &filling->bin[region]);
	else if (filling->is_wide)
		err = put_home(filling, &slots, true, region);
	else
		err = put_home(filling, &slots, false, region);
	if (err)
		__atomic_store_n(&filling->err, err, __ATOMIC_RELAXED);
}

static void fill_task(void *data, u32 region, u32 thread)
{
	struct filling *filling = data;

	switch (filling->slots.slot_bits) {
	case 16: fill_region(filling, region, 16); break;
	case 32: fill_region(filling, region, 32); break;
	default: fill_region(filling, region, 64); break;
	}
}

/* --- rounds ---------------------------------------------------------------- */

static size_t count_items(const struct filling *filling)
{
	size_t n = 0;

	for (u32 region = 0; region < filling->n_regions; region++)
		n += filling->bin[region].n;
	return n;
}

/* Afterwards the bins are pieces of @to. */
static void deal_items(struct filling *filling, struct item *to)
{
	filling->dealt = to;
	deal(filling, filling->n_regions, count_bin, deal_bin);
	for (u32 region = 0; region < filling->n_regions; region++)
		filling->bin[region] = (struct bin){
			.item = to + filling->start[region],
			.n = filling->start[region + 1] - filling->start[region],
		};
}

/* All items in one bin, in the order of the regions. */
static void gather_items(struct filling *filling, struct item *to, size_t n)
{
	size_t at = 0;

	for (u32 region = 0; region < filling->n_regions; region++) {
		memcpy(to + at, filling->bin[region].item, filling->bin[region].n * sizeof(*to));
		at += filling->bin[region].n;
	}
	filling->n_regions = 1;
	filling->bin[0] = (struct bin){ .item = to, .n = n };
}

/* The rest of round 0 goes to the front of the hashes, and the memory behind it back. */
static struct item *shrink_hashes(struct filling *filling, size_t n)
{
	struct item *item = filling->hash, *shrunk;
	size_t at = 0;

	for (u32 region = 0; region < filling->n_regions; region++) {
		struct bin *bin = &filling->bin[region];

		memmove(item + at, bin->item, bin->n * sizeof(*item));
		at += bin->n;
	}
	shrunk = realloc(item, (n + 1) * sizeof(*item));
	filling->hash = shrunk ? shrunk : item;
	at = 0;
	for (u32 region = 0; region < filling->n_regions; region++) {
		filling->bin[region].item = (struct item *)filling->hash + at;
		at += filling->bin[region].n;
	}
	return filling->hash;
}

/* Return: 0, -ENOSPC or -ENOMEM. */
static int walk(struct filling *filling)
{
	size_t n = count_items(filling), n_left = MAX_STEPS * filling->fill->n;
	struct item *other = shrink_hashes(filling, n), *item = malloc((n + 1) * sizeof(*item));
	struct item *to = item;

	if (!item)
		return -ENOMEM;
	for (; n && n <= n_left && filling->round < MAX_ROUNDS; n = count_items(filling)) {
		struct item *spare = to;

		n_left -= n;
		if (!filling->round || n > FEW)
			deal_items(filling, to);
		else if (filling->n_regions > 1)
			gather_items(filling, to, n);
		to = other;
		other = spare;
		filling->round++;
		baleen_threads_run(filling->n_regions, fill_task, filling);
	}
	free(item);
	return n ? -ENOSPC : 0;
}

static int fill_rounds(struct filling *filling)
{
	deal(filling, baleen_threads(), count_slice, deal_slice);
	baleen_threads_run(filling->n_regions, fill_task, filling);
	return filling->err ? filling->err : walk(filling);
}

/* --- fill ------------------------------------------------------------------ */

static int start(struct filling *filling)
{
	const struct baleen_table *table = filling->slots.table;
	u32 bucket_bytes = filling->slots.slot_bits * filling->slots.n_slots / 8, n_parts;
	size_t hash_bytes = filling->is_wide ? sizeof(u64) : sizeof(u32);

	filling->log2_region = baleen_log2(REGION_BYTES / bucket_bytes);
	while ((table->n_buckets - 1) >> filling->log2_region >= MAX_REGIONS)
		filling->log2_region++;
	filling->n_regions = ((table->n_buckets - 1) >> filling->log2_region) + 1;
	n_parts = filling->n_regions > BALEEN_MAX_THREADS ? filling->n_regions : BALEEN_MAX_THREADS;
	filling->used = calloc(table->n_buckets, 1);
	filling->next = calloc((size_t)n_parts * filling->n_regions, sizeof(*filling->next));
	filling->start = calloc(filling->n_regions + 1, sizeof(*filling->start));
	filling->bin = calloc(filling->n_regions, sizeof(*filling->bin));
	filling->hash = malloc(filling->fill->n * hash_bytes);
	return filling->used && filling->next && filling->start && filling->bin && filling->hash ?
		       0 :
		       -ENOMEM;
}

/* Slots that tell where a key is at home, in buckets of four. */
static bool is_fit(const struct baleen_filter *filter, const struct baleen_slots *slots, size_t n)
{
	const struct baleen_table *table = slots->table;

	return n >= BALEEN_CUCKOO_FILL_LEAST && !(filter->image.flags & BALEEN_FLAG_COPIES) &&
	       table->kind == BALEEN_KIND_CUCKOO && slots->n_slots == BALEEN_BUCKET_SLOTS &&
	       !baleen_table_is_packed(table) && !table->form && !table->n_stash &&
	       !table->n_entries && slots->side &&
	       (slots->slot_bits == 16 || slots->slot_bits == 32 || slots->slot_bits == 64) &&
	       n <= (u64)table->n_buckets * BALEEN_BUCKET_SLOTS * MOST_LOAD;
}

static u64 count_used(const struct filling *filling)
{
	u64 n = 0;

	for (u32 bucket = 0; bucket < filling->slots.table->n_buckets; bucket++)
		n += filling->used[bucket];
	return n;
}

int baleen_cuckoo_fill(struct baleen_filter *filter, u32 domain, const struct baleen_fill *fill)
{
	struct baleen_table *table = &filter->image.table[domain];
	struct filling filling = { .slots = baleen_slots_of(filter, domain),
				   .is_wide = domain != BALEEN_IP4,
				   .fill = fill };
	int err;

	if (!is_fit(filter, &filling.slots, fill->n))
		return -EOPNOTSUPP;
	err = start(&filling);
	if (!err)
		err = fill_rounds(&filling);
	if (!err)
		table->n_entries = count_used(&filling);
	else
		memset(filling.slots.start, 0, (size_t)table->n_blocks * BALEEN_BLOCK_BYTES);
	free(filling.used);
	free(filling.next);
	free(filling.start);
	free(filling.bin);
	free(filling.hash);
	return err;
}
