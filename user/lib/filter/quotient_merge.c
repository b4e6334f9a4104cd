// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Quotient filters of another size, or of several: sorted passes, no keys. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "filter/plan.h"
#include "filter/quotient_stream.h"
#include "filter/quotient_table.h"

#define MAX_LOG2 31
#define MAX_REMAINDER_BITS 63

/* --- geometry -------------------------------------------------------------- */

/* A table of another size for the same fingerprints. */
static int rescale(const struct baleen_table *table, u64 n, struct baleen_table *scaled,
		   struct baleen_error *error)
{
	u32 n_bits = table->log2_buckets + table->slot_bits, log2 = 1;
	struct baleen_table made = {
		.kind = BALEEN_KIND_QUOTIENT,
		.shape = BALEEN_QUOTIENT_META,
		.form = table->form,
	};

	while (log2 < MAX_LOG2 && n > ldexp(BALEEN_QUOTIENT_LOAD, log2))
		log2++;
	while (n_bits - log2 > MAX_REMAINDER_BITS)
		log2++;
	if (log2 >= n_bits || n > ldexp(BALEEN_QUOTIENT_LOAD, log2))
		return baleen_fail(error, E2BIG,
				   "%llu keys are too many for fingerprints of %u bits",
				   (unsigned long long)n, n_bits);
	made.log2_buckets = log2;
	made.n_buckets = 1u << log2;
	made.slot_bits = n_bits - log2;
	if (baleen_table_blocks(&made) > BALEEN_MAX_BLOCKS)
		return baleen_fail(error, E2BIG, "%llu keys are too many for one filter",
				   (unsigned long long)n);
	made.n_blocks = baleen_table_blocks(&made);
	*scaled = made;
	return 0;
}

/* --- sorted pass ----------------------------------------------------------- */

/**
 * struct merge - the tables of one domain, read side by side
 * @reader: one for each table
 * @heap: numbers of the readers that have a value, smallest value on top
 * @n_heap: how many
 * @n_tables: readers, those of absent tables included
 * @op: set operation
 * @has_copies: copies count
 * @value: what was read last
 * @n_copies: how often that is still to be kept
 */
struct merge {
	struct baleen_quotient_reader *reader;
	size_t *heap;
	size_t n_heap;
	size_t n_tables;
	enum baleen_set_op op;
	bool has_copies;
	u64 value;
	u64 n_copies;
};

static u64 value_of(const struct merge *merge, size_t i)
{
	return merge->reader[merge->heap[i]].value;
}

static void sift_down(struct merge *merge, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < merge->n_heap; i = child) {
		size_t top = merge->heap[i];

		if (child + 1 < merge->n_heap &&
		    value_of(merge, child + 1) < value_of(merge, child))
			child++;
		if (value_of(merge, i) <= value_of(merge, child))
			return;
		merge->heap[i] = merge->heap[child];
		merge->heap[child] = top;
	}
}

static void merge_start(struct merge *merge, const struct baleen_filter *const *filters, size_t n,
			u32 domain)
{
	merge->n_heap = 0;
	merge->n_tables = n;
	merge->has_copies = filters[0]->image.flags & BALEEN_FLAG_COPIES;
	merge->n_copies = 0;
	for (size_t i = 0; i < n; i++) {
		if (filters[i]->image.table[domain].kind == BALEEN_KIND_NONE)
			continue;
		merge->reader[i] = baleen_quotient_reader(filters[i], domain);
		if (baleen_quotient_read(&merge->reader[i]))
			merge->heap[merge->n_heap++] = i;
	}
	for (size_t i = merge->n_heap; i--;)
		sift_down(merge, i);
}

/**
 * struct tables_with - in which tables a value is
 * @n_tables: how many
 * @n_first: how often it is in the first
 * @n_others: how often in the others
 * @n_least: how often in the one that has it least
 */
struct tables_with {
	size_t n_tables;
	u64 n_first;
	u64 n_others;
	u64 n_least;
};

/* How often a value is in the table that is read next. */
static u64 read_copies(struct merge *merge)
{
	struct baleen_quotient_reader *reader = &merge->reader[merge->heap[0]];
	bool any = true;
	u64 n = 0;

	for (; any && reader->value == merge->value; n++)
		any = baleen_quotient_read(reader);
	if (!any)
		merge->heap[0] = merge->heap[--merge->n_heap];
	sift_down(merge, 0);
	return n;
}

static u64 copies_kept(const struct merge *merge, const struct tables_with *with)
{
	switch (merge->op) {
	case BALEEN_SET_UNION: return with->n_first + with->n_others;
	case BALEEN_SET_INTERSECTION: return with->n_tables == merge->n_tables ? with->n_least : 0;
	default: return with->n_first > with->n_others ? with->n_first - with->n_others : 0;
	}
}

/* The next value that is kept, as often as it is. */
static bool merge_next(struct merge *merge, u64 *value)
{
	while (!merge->n_copies && merge->n_heap) {
		struct tables_with with = { .n_least = ~0ull };

		merge->value = value_of(merge, 0);
		for (; merge->n_heap && value_of(merge, 0) == merge->value; with.n_tables++) {
			bool is_first = !merge->heap[0];
			u64 n = read_copies(merge);

			*(is_first ? &with.n_first : &with.n_others) += n;
			with.n_least = n < with.n_least ? n : with.n_least;
		}
		merge->n_copies = copies_kept(merge, &with);
		/* Elsewhere none is there twice. */
		if (merge->n_copies && !merge->has_copies)
			merge->n_copies = 1;
	}
	if (!merge->n_copies)
		return false;
	merge->n_copies--;
	*value = merge->value;
	return true;
}

static int merge_alloc(struct merge *merge, size_t n, enum baleen_set_op op,
		       struct baleen_error *error)
{
	*merge = (struct merge){
		.reader = calloc(n, sizeof(*merge->reader)),
		.heap = calloc(n, sizeof(*merge->heap)),
		.op = op,
	};
	if (merge->reader && merge->heap)
		return 0;
	free(merge->reader);
	free(merge->heap);
	return baleen_fail(error, ENOMEM, "no memory to merge %zu filters", n);
}

static void merge_free(struct merge *merge)
{
	free(merge->reader);
	free(merge->heap);
}

/* --- operands -------------------------------------------------------------- */

static int check_table(const struct baleen_table *table, const struct baleen_table **like,
		       struct baleen_error *error)
{
	u32 n_bits = table->log2_buckets + table->slot_bits;

	if (table->kind != BALEEN_KIND_QUOTIENT)
		return baleen_fail(error, EOPNOTSUPP, "a table that is no quotient filter");
	if (*like && n_bits != (*like)->log2_buckets + (*like)->slot_bits)
		return baleen_fail(error, EINVAL, "fingerprints of %u bits, and of %u in the first",
				   n_bits, (*like)->log2_buckets + (*like)->slot_bits);
	if (*like && table->form != (*like)->form)
		return baleen_fail(error, EINVAL, "they hash texts in different forms");
	if (!*like)
		*like = table;
	return 0;
}

static int check_operands(const struct baleen_filter *const *filters, size_t n,
			  struct baleen_error *error)
{
	const struct baleen_table *like[BALEEN_N_DOMAINS] = { 0 };
	const struct baleen_image *first = &filters[0]->image;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct baleen_image *image = &filters[i]->image;

		if (image->key_spec != first->key_spec)
			return baleen_fail(error, EINVAL, "they have different keys");
		if ((image->flags ^ first->flags) & BALEEN_FLAG_COPIES)
			return baleen_fail(error, EINVAL, "copies of a key count in some of them");
		if (memcmp(image->seed.word, first->seed.word, sizeof(image->seed.word)))
			return baleen_fail(error, EINVAL, "they have different seeds");
		for (u32 domain = 0; domain < BALEEN_N_DOMAINS && !err; domain++) {
			if (image->table[domain].kind == BALEEN_KIND_NONE)
				continue;
			err = check_table(&image->table[domain], &like[domain], error);
			if (!err)
				err = baleen_quotient_check_body(filters[i], domain, error);
		}
	}
	return err;
}

/* --- merge ----------------------------------------------------------------- */

static u64 count_domain(struct merge *merge, const struct baleen_filter *const *filters, size_t n,
			u32 domain)
{
	u64 value, n_kept = 0;

	merge_start(merge, filters, n, domain);
	while (merge_next(merge, &value))
		n_kept++;
	return n_kept;
}

static void fill(struct merge *merge, const struct baleen_filter *const *filters, size_t n,
		 u32 domain, struct baleen_filter *out)
{
	struct baleen_table *table = &out->image.table[domain];
	struct baleen_quotient_writer writer;
	u64 value, end = 0, n_kept = 0;

	merge_start(merge, filters, n, domain);
	while (merge_next(merge, &value))
		end = baleen_quotient_advance(table, end, value);
	writer = baleen_quotient_writer(out, domain, end);
	merge_start(merge, filters, n, domain);
	while (merge_next(merge, &value)) {
		baleen_quotient_write(&writer, value);
		n_kept++;
	}
	table->n_entries = n_kept;
}

/* The largest of the tables; one of them is there, or NULL. */
static const struct baleen_table *largest(const struct baleen_filter *const *filters, size_t n,
					  u32 domain)
{
	const struct baleen_table *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct baleen_table *table = &filters[i]->image.table[domain];

		if (table->kind && (!found || table->n_buckets > found->n_buckets))
			found = table;
	}
	return found;
}

/* Which size a table gets that holds @n_kept of @n_all keys. */
static int plan_domain(const struct baleen_table *table, u64 n_kept, u64 n_all, u64 capacity,
		       struct baleen_table *planned, struct baleen_error *error)
{
	u64 share = n_all ? (double)capacity * n_kept / n_all : capacity;

	/* One that was filled further than is planned may stay so. */
	if (!capacity &&
	    n_kept <= fmax(table->n_buckets * BALEEN_QUOTIENT_LOAD, table->n_entries)) {
		*planned = *table;
		planned->longest_cluster = 0;
		return 0;
	}
	return rescale(table, share > n_kept ? share : n_kept, planned, error);
}

/* The geometry of what is kept; tables of other kinds are those of the first. */
static int plan_kept(const struct baleen_filter *const *filters, size_t n, const u64 *n_kept,
		     u64 capacity, struct baleen_image *image, struct baleen_error *error)
{
	u64 n_all = 0;
	int err = 0;

	*image = filters[0]->image;
	image->flags &= BALEEN_FLAG_COPIES;
	if (n > 1) {
		/* The lists behind it are not known. */
		image->n_listed = 0;
		image->n_covered = 0;
	}
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		n_all += n_kept[domain];
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS && !err; domain++) {
		const struct baleen_table *table = largest(filters, n, domain);

		if (table && table->kind == BALEEN_KIND_QUOTIENT)
			err = plan_domain(table, n_kept[domain], n_all, capacity,
					  &image->table[domain], error);
	}
	return err ? err : baleen_tables_place(image, error);
}

/* The bodies of @out, which is of the planned geometry. */
static void fill_kept(struct merge *merge, const struct baleen_filter *const *filters, size_t n,
		      struct baleen_filter *out)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *from = &filters[0]->image.table[domain];
		const struct baleen_table *to = &out->image.table[domain];

		if (to->kind == BALEEN_KIND_QUOTIENT) {
			fill(merge, filters, n, domain, out);
		} else if (to->kind != BALEEN_KIND_NONE) {
			memcpy((struct baleen_block *)out->bytes + to->first_block,
			       (const struct baleen_block *)filters[0]->bytes + from->first_block,
			       (size_t)to->n_blocks * BALEEN_BLOCK_BYTES);
			out->image.table[domain].n_entries =
				baleen_filter_count(filters[0], domain);
		}
	}
}

static void count_kept(struct merge *merge, const struct baleen_filter *const *filters, size_t n,
		       u64 *n_kept)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *table = largest(filters, n, domain);

		n_kept[domain] = table && table->kind == BALEEN_KIND_QUOTIENT ?
					 count_domain(merge, filters, n, domain) :
					 0;
	}
}

static int combine(const struct baleen_filter *const *filters, size_t n, enum baleen_set_op op,
		   u64 capacity, struct baleen_filter *out, struct baleen_error *error)
{
	u64 n_kept[BALEEN_N_DOMAINS];
	struct baleen_filter made;
	struct baleen_image image;
	struct merge merge;
	int err = merge_alloc(&merge, n, op, error);

	if (err)
		return err;
	count_kept(&merge, filters, n, n_kept);
	err = plan_kept(filters, n, n_kept, capacity, &image, error);
	if (!err)
		err = baleen_filter_alloc(&made, &image, error);
	if (!err) {
		fill_kept(&merge, filters, n, &made);
		baleen_filter_seal(&made);
		*out = made;
	}
	merge_free(&merge);
	return err;
}

int baleen_quotient_merge(const struct baleen_filter *const *filters, size_t n,
			  enum baleen_set_op op, u64 capacity, struct baleen_filter *out,
			  struct baleen_error *error)
{
	int err = check_operands(filters, n, error);

	return err ? err : combine(filters, n, op, capacity, out, error);
}

int baleen_quotient_count(const struct baleen_filter *const *filters, size_t n,
			  enum baleen_set_op op, u64 *n_kept, struct baleen_error *error)
{
	u64 n_domain[BALEEN_N_DOMAINS], sum = 0;
	struct merge merge;
	int err = check_operands(filters, n, error);

	if (!err)
		err = merge_alloc(&merge, n, op, error);
	if (err)
		return err;
	count_kept(&merge, filters, n, n_domain);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		sum += n_domain[domain];
	merge_free(&merge);
	*n_kept = sum;
	return 0;
}

int baleen_quotient_resize(const struct baleen_filter *filter, u64 capacity,
			   struct baleen_filter *out, struct baleen_error *error)
{
	bool any = false;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		int err;

		if (filter->image.table[domain].kind != BALEEN_KIND_QUOTIENT)
			continue;
		any = true;
		err = baleen_quotient_check_body(filter, domain, error);
		if (err)
			return err;
	}
	if (!any)
		return baleen_fail(error, EOPNOTSUPP, "it has no quotient table");
	return combine(&filter, 1, BALEEN_SET_UNION, capacity ? capacity : 1, out, error);
}
