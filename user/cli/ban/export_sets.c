// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen export: single entries as sets of ipset or nftables. */
#include <errno.h>
#include <string.h>

#include "cli/ban/export_sets.h"
#include "state/entry_pieces.h"
#include "util/number.h"

/**
 * struct sets - the sets of both families on their way
 * @writer: of them
 * @now_ms: the time
 * @only_counts: nothing is printed yet
 * @n: elements of the family at hand
 * @n_cut: those whose time is longer than ipset has any
 */
struct sets {
	struct set_writer writer;
	u64 now_ms;
	bool only_counts;
	u64 n;
	u64 n_cut;
};

/* Less than a second counts as one: 0 would mean for ever. */
static u64 seconds_left(struct sets *sets, u64 expires_ms)
{
	u64 seconds = expires_ms ? (expires_ms - sets->now_ms + 999) / 1000 : 0;

	if (sets->writer.format != SET_IPSET || seconds <= SET_IPSET_MAX_TIMEOUT_S)
		return seconds;
	sets->n_cut++;
	return SET_IPSET_MAX_TIMEOUT_S;
}

static int put_element(const struct baleen_entry_piece *piece, void *data)
{
	struct sets *sets = data;
	struct set_extra extra = { .comment = piece->reason, .is_exception = piece->is_exception };

	if (sets->only_counts) {
		sets->n += set_elements(sets->writer.format, &piece->span);
		return 0;
	}
	extra.timeout_s = seconds_left(sets, piece->expires_ms);
	return set_put(&sets->writer, &piece->span, &extra);
}

static void each_element(struct sets *sets, struct baleen_entry_pieces *pieces, bool is_ip6)
{
	if (sets->writer.format == SET_NFT) {
		baleen_entry_pieces_spans(pieces, is_ip6, sets->now_ms, put_element, sets);
		return;
	}
	for (size_t i = 0; i < pieces->n; i++)
		if (pieces->piece[i].span.is_ip6 == is_ip6 && put_element(&pieces->piece[i], sets))
			return;
}

/* A family without an entry has no set, but for IPv4 where there is none at all. */
static void print_family(struct sets *sets, struct baleen_entry_pieces *pieces, bool is_ip6)
{
	u64 n_lost = pieces->n_lost;

	sets->n = 0;
	sets->only_counts = true;
	each_element(sets, pieces, is_ip6);
	if (!sets->n && (is_ip6 || pieces->n))
		return;
	sets->only_counts = false;
	pieces->n_lost = n_lost;
	set_begin(&sets->writer, is_ip6, sets->n);
	each_element(sets, pieces, is_ip6);
	set_end(&sets->writer);
}

static void warn(const struct sets *sets, u64 n_lost)
{
	if (n_lost)
		complain("warning: %llu stretch%s of addresses would come back when an exception "
			 "ends: left out",
			 (unsigned long long)n_lost, n_lost == 1 ? "" : "es");
	if (sets->n_cut)
		complain("warning: %llu %s cut to the longest time that ipset has: %d s",
			 (unsigned long long)sets->n_cut,
			 baleen_plural(sets->n_cut, "entry is", "entries are"),
			 SET_IPSET_MAX_TIMEOUT_S);
}

int export_sets_print(const struct export_sets *export)
{
	struct sets sets = {
		.writer = { .format = export->format, .name = export->name },
		.now_ms = export->now_ms,
	};
	struct baleen_entry_pieces pieces;

	if (baleen_entry_pieces_make(export->entry, export->n, &pieces)) {
		baleen_entry_pieces_free(&pieces);
		return complain("%s", strerror(ENOMEM));
	}
	for (size_t i = 0; i < export->n; i++) {
		sets.writer.has_comments |= *export->entry[i].reason != '\0';
		sets.writer.has_ends |= export->entry[i].expires_ms != 0;
	}
	set_table_begin(&sets.writer);
	print_family(&sets, &pieces, false);
	print_family(&sets, &pieces, true);
	set_table_end(&sets.writer);
	warn(&sets, pieces.n_lost + export->n_lost);
	baleen_entry_pieces_free(&pieces);
	return 0;
}
