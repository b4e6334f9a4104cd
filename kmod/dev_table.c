// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of the filters that is read from the device. */
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "dev.h"
#include "names.h"

static void table_show_name(struct seq_file *seq, const char *name)
{
	seq_setwidth(seq, BALEEN_NAME_BYTES);
	/* One word for awk, whatever is in the name. */
	seq_escape(seq, name, " \\");
	seq_pad(seq, ' ');
}

static void table_show_entries(struct seq_file *seq, const struct baleen_dev_info *info)
{
	if (info->flags & BALEEN_DEV_COUNT_KNOWN)
		seq_printf(seq, " %12llu", info->n_entries);
	else
		seq_printf(seq, " %12s", "-");
}

static void table_show_filter(struct seq_file *seq, struct baleen_filter *filter)
{
	struct baleen_dev_info info;

	baleen_filter_info(filter, &info, NULL);
	table_show_name(seq, filter->name);
	seq_printf(seq, "%-9s", baleen_kind_name(info.kind));
	table_show_entries(seq, &info);
	seq_printf(seq, " %12llu %14llu %16llu %14llu %14llu %14llu\n", info.n_bytes,
		   info.counters.packets, info.counters.bytes, info.counters.hits,
		   info.counters.queries, info.counters.query_hits);
}

int baleen_dev_table(struct seq_file *seq, void *unused)
{
	struct baleen_filter **list;
	u32 n;
	int err = baleen_filter_list(&list, &n);

	if (err)
		return err;
	table_show_name(seq, "NAME");
	seq_printf(seq, "%-9s %12s %12s %14s %16s %14s %14s %14s\n", "KIND", "ENTRIES", "BYTES",
		   "PACKETS", "PACKET-BYTES", "HITS", "QUERIES", "QUERY-HITS");
	for (u32 i = 0; i < n; i++) {
		table_show_filter(seq, list[i]);
		cond_resched();
	}
	baleen_filter_list_free(list, n);
	return 0;
}
