// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The set of an image as other programs read it. */
#include <stdio.h>

#include "cli/common/set_text.h"
#include "cli/file/dump_sets.h"
#include "list/list_spans.h"
#include "state/entry_key.h"

/**
 * struct dump_writer - a set on its way
 * @format: how
 * @sets: of ipset and nft
 * @is_ip6: the family at hand
 * @n: elements of it
 */
struct dump_writer {
	enum dump_format format;
	struct set_writer sets;
	bool is_ip6;
	u64 n;
};

static int count_span(const struct baleen_span *span, void *data)
{
	struct dump_writer *writer = data;

	if (span->is_ip6 == writer->is_ip6)
		writer->n += set_elements(writer->sets.format, span);
	return 0;
}

static int put_rows(const struct baleen_span *span)
{
	struct baleen_span rest = *span, prefix;

	do {
		struct baleen_entry_key key = { .fields = "" };

		baleen_span_split(&rest, &prefix);
		key.span = prefix;
		say("%s\n", baleen_entry_key_text(&key).text);
	} while (!ferror(stdout) && baleen_ip6_compare(prefix.last, span->last));
	return ferror(stdout);
}

static int put_span(const struct baleen_span *span, void *data)
{
	struct dump_writer *writer = data;

	if (span->is_ip6 != writer->is_ip6)
		return 0;
	return writer->format == DUMP_CSV ? put_rows(span) : set_put(&writer->sets, span, NULL);
}

/* A family without an entry has no set, but for the first of an empty list. */
static void write_family(struct dump_writer *writer, const struct baleen_list *list, bool is_ip6)
{
	writer->is_ip6 = is_ip6;
	writer->n = 0;
	baleen_list_spans(list, count_span, writer);
	if (!writer->n && (is_ip6 || list->n_ip6 || list->n_prefix6))
		return;
	if (writer->format != DUMP_CSV)
		set_begin(&writer->sets, is_ip6, writer->n);
	baleen_list_spans(list, put_span, writer);
	if (writer->format != DUMP_CSV)
		set_end(&writer->sets);
}

void dump_sets(enum dump_format format, const struct baleen_list *list, const char *name)
{
	struct dump_writer writer = {
		.format = format,
		.sets = { .format = format == DUMP_NFT ? SET_NFT : SET_IPSET, .name = name },
	};

	if (format == DUMP_CSV)
		say("network\n");
	else
		set_table_begin(&writer.sets);
	write_family(&writer, list, false);
	write_family(&writer, list, true);
	if (format != DUMP_CSV)
		set_table_end(&writer.sets);
}
