// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A filter in memory: allocation, sealing, counts and rates. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "directory_table.h"
#include "live.h"
#include "plan.h"
#include "slots.h"

/* A filter that may be more than there is memory. */
#define LARGE_BYTES (1ul << 30)

/* A kernel promises more memory than there is, and kills whoever takes it. */
static bool is_available(size_t n_bytes)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = ULLONG_MAX / 1024;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return n_bytes <= kib * 1024;
}

/* What is large is not touched before it is used. */
static void *alloc_zeros(size_t n_bytes, bool is_large)
{
	void *bytes;

	if (is_large) {
		bytes = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		return bytes == MAP_FAILED ? NULL : bytes;
	}
	bytes = aligned_alloc(BALEEN_BLOCK_BYTES, n_bytes);
	if (bytes)
		memset(bytes, 0, n_bytes);
	return bytes;
}

int baleen_filter_alloc(struct baleen_filter *filter, const struct baleen_image *image,
			struct baleen_error *error)
{
	size_t n_bytes = (size_t)image->n_blocks * BALEEN_BLOCK_BYTES;
	bool is_large = n_bytes >= LARGE_BYTES;
	void *bytes = is_large && !is_available(n_bytes) ? NULL : alloc_zeros(n_bytes, is_large);

	if (!bytes)
		return baleen_fail(error, ENOMEM, "no memory for a filter of %zu bytes", n_bytes);
	*filter = (struct baleen_filter){
		.image = *image,
		.bytes = bytes,
		.n_bytes = n_bytes,
		.is_large = is_large,
	};
	filter->image.n_entries = 0;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		filter->image.table[domain].n_entries = 0;
	return 0;
}

void baleen_filter_seal(struct baleen_filter *filter)
{
	struct baleen_image *image = &filter->image;

	image->flags = 0;
	image->n_entries = 0;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		image->n_entries += image->table[domain].n_entries;
	image->body_crc = baleen_crc32c(0, (u8 *)filter->bytes + BALEEN_HEADER_BYTES,
					filter->n_bytes - BALEEN_HEADER_BYTES);
	baleen_header_write(image, filter->bytes);
}

int baleen_filter_copy(const struct baleen_filter *filter, struct baleen_filter *copy,
		       struct baleen_error *error)
{
	int err = baleen_filter_alloc(copy, &filter->image, error);

	if (err)
		return err;
	/* What is counted is the copy, which no writer changes; a Bloom table
	 * goes by its header.
	 */
	memcpy(copy->bytes, filter->bytes, filter->n_bytes);
	copy->image = filter->image;
	baleen_live_repair(copy);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		copy->image.table[domain].n_entries = baleen_filter_count(copy, domain);
	baleen_filter_seal(copy);
	return 0;
}

void baleen_filter_free(struct baleen_filter *filter)
{
	if (filter->is_mapped || filter->is_large)
		munmap(filter->bytes, filter->n_bytes);
	else
		free(filter->bytes);
	*filter = (struct baleen_filter){ 0 };
}

u64 baleen_filter_used(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	u64 n = 0;

	if (!slots.table->slot_bits)
		return 0;
	for (u32 bucket = 0; bucket < slots.table->n_buckets; bucket++)
		for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++)
			n += baleen_slots_get(&slots, bucket, i) != 0;
	return n;
}

u64 baleen_filter_count(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	switch (table->kind) {
	case BALEEN_KIND_CUCKOO: return baleen_filter_used(filter, domain);
	case BALEEN_KIND_BLOOM: return table->n_entries;
	case BALEEN_KIND_ENTRIES: return table->n_buckets;
	case BALEEN_KIND_DIRECTORY:
		return domain == BALEEN_IP4_GROUPS ? baleen_directory_count(filter) : 0;
	default: return 0;
	}
}

/* The chance that a random key's bits are set in this block: it chooses two
 * words, any two alike, and n_hashes / 2 bits in each.
 */
static double block_fpp(const struct baleen_block *block, const double share[65])
{
	double sum = 0, squares = 0;

	for (u32 i = 0; i < BALEEN_BLOCK_WORDS; i++) {
		double word = share[__builtin_popcountll(block->word[i])];

		sum += word;
		squares += word * word;
	}
	/* The mean over ordered pairs of different words. */
	return (sum * sum - squares) / (BALEEN_BLOCK_WORDS * (BALEEN_BLOCK_WORDS - 1));
}

static double bloom_fpp(const struct baleen_filter *filter, const struct baleen_table *table)
{
	const struct baleen_block *block = filter->bytes;
	double share[65], sum = 0;

	for (u32 ones = 0; ones <= 64; ones++)
		share[ones] = pow(ones / 64., table->n_hashes / 2);
	for (u32 i = 0; i < table->n_blocks; i++)
		sum += block_fpp(&block[table->first_block + i], share);
	return sum / table->n_blocks;
}

double baleen_filter_fpp(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_image *image = &filter->image;
	const struct baleen_table *table = &image->table[domain];

	/* Before the slots are counted: that reads all of a large table. */
	if (table->kind == BALEEN_KIND_NONE || baleen_table_is_exact(image, domain))
		return 0;
	if (table->kind == BALEEN_KIND_BLOOM)
		return bloom_fpp(filter, table);
	return baleen_table_fpp(image, domain, baleen_filter_used(filter, domain));
}

double baleen_filter_worst_fpp(const struct baleen_filter *filter)
{
	double worst = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		worst = fmax(worst, baleen_filter_fpp(filter, domain));
	return worst;
}
