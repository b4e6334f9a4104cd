// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel module's own numbers of a filter, and of all its filters. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/open/kmod_describe.h"
#include "kmod/kmod.h"
#include "util/number.h"

static json_t *json_u64(u64 n)
{
	return json_integer((json_int_t)n);
}

void kmod_describe_info(json_t *json, const struct baleen_dev_info *info)
{
	const struct baleen_dev_counters *counters = &info->counters;

	json_object_set_new(json, "rules", json_integer(info->n_rules));
	json_object_set_new(json, "version", json_u64(info->version));
	json_object_set_new(json, "counters",
			    json_pack("{s:o, s:o, s:o, s:o, s:o}", "packets",
				      json_u64(counters->packets), "bytes",
				      json_u64(counters->bytes), "hits", json_u64(counters->hits),
				      "queries", json_u64(counters->queries), "query_hits",
				      json_u64(counters->query_hits)));
}

static json_t *json_info(const struct baleen_dev_info *info)
{
	char file[sizeof("kmod:") + BALEEN_DEV_NAME_BYTES];
	json_t *json = json_object();

	snprintf(file, sizeof(file), "kmod:%s", info->name);
	json_object_set_new(json, "file", json_string(file));
	json_object_set_new(json, "kind", json_string(baleen_kind_name(info->kind)));
	json_object_set_new(json, "key", json_string(key_spec_text(info->key_spec)));
	json_object_set_new(json, "entries",
			    info->flags & BALEEN_DEV_COUNT_KNOWN ? json_u64(info->n_entries) :
								   json_null());
	json_object_set_new(json, "bytes", json_u64(info->n_bytes));
	kmod_describe_info(json, info);
	return json;
}

static void print_info(const struct baleen_dev_info *info)
{
	char entries[NUMBER_TEXT] = "-", bytes[NUMBER_TEXT], packets[NUMBER_TEXT],
	     hits[NUMBER_TEXT], queries[NUMBER_TEXT];

	if (info->flags & BALEEN_DEV_COUNT_KNOWN)
		format_count(info->n_entries, entries);
	say("%-31s %-9s %-5s %13s %8s %5u %15s %15s %13s\n", info->name,
	    baleen_kind_name(info->kind), key_spec_text(info->key_spec), entries,
	    format_bytes(info->n_bytes, bytes), info->n_rules,
	    format_count(info->counters.packets, packets), format_count(info->counters.hits, hits),
	    format_count(info->counters.queries, queries));
}

int kmod_describe_all(json_t *all)
{
	struct baleen_dev_info *infos;
	struct baleen_error error;
	size_t n;
	int fd, err = baleen_kmod_open(false, &fd, &error);

	if (!err) {
		err = baleen_kmod_list(fd, &infos, &n, &error);
		close(fd);
	}
	if (err)
		return complain("kmod: %s", error.text);
	if (!all && n)
		say("%-31s %-9s %-5s %13s %8s %5s %15s %15s %13s\n", "FILTER", "KIND", "KEY",
		    "ENTRIES", "SIZE", "RULES", "PACKETS", "HITS", "QUERIES");
	for (size_t i = 0; i < n; i++) {
		if (all)
			json_array_append_new(all, json_info(&infos[i]));
		else
			print_info(&infos[i]);
	}
	free(infos);
	return 0;
}

void kmod_print_info(const struct baleen_dev_info *info)
{
	const struct baleen_dev_counters *counters = &info->counters;
	char packets[NUMBER_TEXT], bytes[NUMBER_TEXT], hits[NUMBER_TEXT], queries[NUMBER_TEXT],
		query_hits[NUMBER_TEXT];

	say("  in the kernel: version %llu, asked by %u %s: %s %s (%s), %s in it; %s %s, %s in "
	    "it\n",
	    (unsigned long long)info->version, info->n_rules,
	    baleen_plural(info->n_rules, "rule", "rules"), format_count(counters->packets, packets),
	    baleen_plural(counters->packets, "packet", "packets"),
	    format_bytes(counters->bytes, bytes), format_count(counters->hits, hits),
	    format_count(counters->queries, queries),
	    baleen_plural(counters->queries, "query", "queries"),
	    format_count(counters->query_hits, query_hits));
}
