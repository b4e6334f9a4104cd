// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Single entries as other programs can hold them. */
#include <errno.h>
#include <stdlib.h>

#include "state/entry_pieces.h"
#include "util/array.h"

/* Prefixes around an address: one of each length. */
#define MAX_DEPTH 129

/* --- making --------------------------------------------------------------------- */

/* Never is later than any end. */
static int compare_ends(u64 a, u64 b)
{
	return a == b ? 0 : !a ? 1 : !b ? -1 : a < b ? -1 : 1;
}

static int compare_spans(const struct baleen_span *a, const struct baleen_span *b)
{
	if (a->is_ip6 != b->is_ip6)
		return a->is_ip6 ? 1 : -1;
	return baleen_ip6_compare(a->first, b->first) ?: baleen_ip6_compare(b->last, a->last);
}

/* The piece that is to be left comes first among those of one prefix. */
static int compare_pieces(const void *first, const void *second)
{
	const struct baleen_entry_piece *a = first, *b = second;
	int order = compare_spans(&a->span, &b->span);

	if (!order && a->is_exception != b->is_exception)
		order = a->is_exception ? -1 : 1;
	return order ?: compare_ends(b->expires_ms, a->expires_ms);
}

static int add_pieces(struct baleen_entry_pieces *pieces, const struct baleen_rule_entry *entry)
{
	struct baleen_span rest = entry->key.span, prefix;

	do {
		baleen_span_split(&rest, &prefix);
		if (baleen_array_add(&pieces->piece, pieces->n))
			return -ENOMEM;
		pieces->piece[pieces->n++] = (struct baleen_entry_piece){
			.span = prefix,
			.is_exception = entry->is_exception,
			.expires_ms = entry->expires_ms,
			.reason = entry->reason,
		};
	} while (baleen_ip6_compare(prefix.last, entry->key.span.last));
	return 0;
}

static void leave_one_each(struct baleen_entry_pieces *pieces)
{
	size_t n = 0;

	for (size_t i = 0; i < pieces->n; i++) {
		const struct baleen_entry_piece *piece = &pieces->piece[i];
		const struct baleen_entry_piece *last = n ? &pieces->piece[n - 1] : NULL;

		if (!last || compare_spans(&last->span, &piece->span))
			pieces->piece[n++] = *piece;
		else
			pieces->n_lost += last->is_exception && !piece->is_exception &&
					  compare_ends(piece->expires_ms, last->expires_ms) > 0;
	}
	pieces->n = n;
}

int baleen_entry_pieces_make(const struct baleen_rule_entry *entry, size_t n,
			     struct baleen_entry_pieces *pieces)
{
	*pieces = (struct baleen_entry_pieces){ 0 };
	for (size_t i = 0; i < n; i++)
		if (add_pieces(pieces, &entry[i]))
			return -ENOMEM;
	if (pieces->n)
		qsort(pieces->piece, pieces->n, sizeof(*pieces->piece), compare_pieces);
	leave_one_each(pieces);
	return 0;
}

void baleen_entry_pieces_free(struct baleen_entry_pieces *pieces)
{
	free(pieces->piece);
	*pieces = (struct baleen_entry_pieces){ 0 };
}

/* --- spans ----------------------------------------------------------------------- */

/**
 * struct sweep - from the first address to the last
 * @pieces: all of them
 * @around: those around the address at hand, the widest first
 * @depth: how many
 * @next: the first address that has not been visited
 * @is_over: there is none
 * @now_ms: the time
 * @visit: called with each span
 * @data: passed to @visit
 */
struct sweep {
	struct baleen_entry_pieces *pieces;
	const struct baleen_entry_piece *around[MAX_DEPTH];
	u32 depth;
	struct baleen_ip6 next;
	bool is_over;
	u64 now_ms;
	int (*visit)(const struct baleen_entry_piece *span, void *data);
	void *data;
};

static struct baleen_ip6 neighbour(struct baleen_ip6 address, int step)
{
	u64 lo = address.lo + step;

	if (step > 0 && lo < address.lo)
		address.hi++;
	if (step < 0 && lo > address.lo)
		address.hi--;
	address.lo = lo;
	return address;
}

/* The longest that has not ended decides, then the next longest: until when is it in the set? */
static bool is_in(struct sweep *sweep, struct baleen_entry_piece *span)
{
	u64 until_ms = sweep->now_ms;
	bool is_found = false, is_out = false;

	for (u32 i = sweep->depth; i-- > 0;) {
		const struct baleen_entry_piece *piece = sweep->around[i];

		if (compare_ends(piece->expires_ms, until_ms) <= 0)
			continue;
		if (is_out) {
			/* It outlasts what takes it out. */
			sweep->pieces->n_lost += !piece->is_exception;
			break;
		}
		is_out = piece->is_exception;
		until_ms = piece->expires_ms;
		if (!is_out && !is_found)
			span->reason = piece->reason;
		is_found |= !is_out;
		if (!is_out)
			span->expires_ms = until_ms;
		if (!until_ms)
			break;
	}
	return is_found;
}

/* From the next address to @last, which have the same pieces around them. */
static int visit_to(struct sweep *sweep, struct baleen_ip6 last, bool is_ip6)
{
	struct baleen_entry_piece span = {
		.span = { .is_ip6 = is_ip6, .first = sweep->next, .last = last },
	};

	if (sweep->is_over || baleen_ip6_compare(sweep->next, last) > 0)
		return 0;
	sweep->next = neighbour(last, 1);
	sweep->is_over = !sweep->next.hi && !sweep->next.lo;
	return is_in(sweep, &span) ? sweep->visit(&span, sweep->data) : 0;
}

/* Pieces that end before @first, or all, are around no longer. */
static int leave(struct sweep *sweep, const struct baleen_ip6 *first, bool is_ip6)
{
	int ret = 0;

	while (!ret && sweep->depth) {
		const struct baleen_span *inner = &sweep->around[sweep->depth - 1]->span;

		if (first && baleen_ip6_compare(inner->last, *first) >= 0)
			return 0;
		ret = visit_to(sweep, inner->last, is_ip6);
		sweep->depth--;
	}
	return ret;
}

int baleen_entry_pieces_spans(struct baleen_entry_pieces *pieces, bool is_ip6, u64 now_ms,
			      int (*visit)(const struct baleen_entry_piece *span, void *data),
			      void *data)
{
	struct sweep sweep = { .pieces = pieces, .now_ms = now_ms, .visit = visit, .data = data };
	int ret = 0;

	for (size_t i = 0; i < pieces->n && !ret; i++) {
		const struct baleen_span *span = &pieces->piece[i].span;

		if (span->is_ip6 != is_ip6)
			continue;
		ret = leave(&sweep, &span->first, is_ip6);
		if (!ret && sweep.depth && baleen_ip6_compare(sweep.next, span->first) < 0)
			ret = visit_to(&sweep, neighbour(span->first, -1), is_ip6);
		sweep.next = span->first;
		sweep.is_over = false;
		sweep.around[sweep.depth++] = &pieces->piece[i];
	}
	return ret ?: leave(&sweep, NULL, is_ip6);
}
