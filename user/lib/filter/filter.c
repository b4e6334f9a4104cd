// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A filter in memory: allocation, sealing, counts and rates. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <baleen/recent.h>

#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "util/input.h"

/* A filter that may be more than there is memory. */
#define LARGE_BYTES (1ul << 30)

/* Random places in small pages miss the TLB: without, a build of 10 M keys took 1.35
 * instead of 1.08 seconds of a processor.
 */
#define HUGE_PAGE_BYTES (2ul << 20)

/* A kernel promises more memory than there is, and kills whoever takes it. */
static bool is_available(size_t n_bytes)
{
	FILE *file = baleen_input_stream("/proc/meminfo", BALEEN_INPUT_SYSTEM, NULL);
	unsigned long long kib = ULLONG_MAX / 1024;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return n_bytes <= kib * 1024;
}

/* A large filter touches no memory before it is used. */
static void *alloc_zeros(size_t n_bytes, bool is_large)
{
	void *bytes;

	if (is_large) {
		bytes = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		return bytes == MAP_FAILED ? NULL : bytes;
	}
	if (posix_memalign(&bytes, n_bytes < HUGE_PAGE_BYTES ? BALEEN_BLOCK_BYTES : HUGE_PAGE_BYTES,
			   n_bytes))
		return NULL;
	if (n_bytes >= HUGE_PAGE_BYTES)
		madvise(bytes, n_bytes, MADV_HUGEPAGE);
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

	image->flags &= ~BALEEN_FLAG_LIVE;
	image->n_entries = 0;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_kind_ops *ops = baleen_kind_ops(image->table[domain].kind);

		if (ops->seal)
			ops->seal(filter, domain);
		image->n_entries += image->table[domain].n_entries;
	}
	image->body_crc = baleen_crc32c(0, (u8 *)filter->bytes + BALEEN_HEADER_BYTES,
					filter->n_bytes - BALEEN_HEADER_BYTES);
	baleen_header_write(image, filter->bytes);
}

void baleen_filter_free(struct baleen_filter *filter)
{
	if (filter->is_mapped || filter->is_large)
		munmap(filter->bytes, filter->n_bytes + baleen_recent_bytes(filter->n_recent));
	else
		free(filter->bytes);
	if (filter->prefilter) {
		baleen_filter_free(filter->prefilter);
		free(filter->prefilter);
	}
	*filter = (struct baleen_filter){ 0 };
}

u64 baleen_filter_used(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_kind_ops *ops = baleen_kind_ops(filter->image.table[domain].kind);

	return ops->used ? ops->used(filter, domain) : 0;
}

u64 baleen_filter_count(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	const struct baleen_kind_ops *ops = baleen_kind_ops(table->kind);

	return ops->count ? ops->count(filter, domain) : table->n_entries;
}

int baleen_filter_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			 size_t *n_done)
{
	*n_done = n;
	if (!n)
		return 0;
	return baleen_kind_ops(filter->image.table[keys[0].domain].kind)
		->insert(filter, keys, n, n_done);
}

double baleen_filter_fpp(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_image *image = &filter->image;
	const struct baleen_kind_ops *ops = baleen_kind_ops(image->table[domain].kind);

	/* Before the slots are counted: that reads all of a large table. */
	if (image->table[domain].kind == BALEEN_KIND_NONE || baleen_table_is_exact(image, domain))
		return 0;
	if (ops->measure)
		return ops->measure(filter, domain);
	return baleen_table_fpp(image, domain, baleen_filter_used(filter, domain));
}

double baleen_filter_worst_fpp(const struct baleen_filter *filter)
{
	double worst = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		worst = fmax(worst, baleen_filter_fpp(filter, domain));
	return worst;
}

bool baleen_filter_may_exceed(const struct baleen_image *image, double fpp)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *table = &image->table[domain];
		u64 n_slots = (u64)table->n_buckets * BALEEN_BUCKET_SLOTS + table->n_stash;

		if (table->kind == BALEEN_KIND_NONE || baleen_table_is_exact(image, domain))
			continue;
		if (baleen_kind_ops(table->kind)->measure ||
		    baleen_table_fpp(image, domain, n_slots) > fpp)
			return true;
	}
	return false;
}
