// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What info, swap and detach do with kmod:NAME, and with all filters of the module. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/describe.h"
#include "cli/open/guard.h"
#include "cli/open/kmod_device.h"
#include "cli/open/kmod_named.h"

/* Rules named when a filter cannot go. */
#define RULES_TEXT 200

/* --- info ------------------------------------------------------------------- */

static json_t *json_u64(u64 n)
{
	return json_integer((json_int_t)n);
}

static void add_state(json_t *json, const struct baleen_dev_info *info)
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
	add_state(json, info);
	return json;
}

static void print_info(const struct baleen_dev_info *info)
{
	char entries[NUMBER_TEXT] = "-", bytes[NUMBER_TEXT], packets[NUMBER_TEXT],
	     hits[NUMBER_TEXT], queries[NUMBER_TEXT];

	if (info->flags & BALEEN_DEV_COUNT_KNOWN)
		format_count(info->n_entries, entries);
	printf("%-31s %-9s %-5s %13s %8s %5u %15s %15s %13s\n", info->name,
	       baleen_kind_name(info->kind), key_spec_text(info->key_spec), entries,
	       format_bytes(info->n_bytes, bytes), info->n_rules,
	       format_count(info->counters.packets, packets),
	       format_count(info->counters.hits, hits),
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
	if (err) {
		complain("kmod: %s", error.text);
		return EXIT_FAILED;
	}
	if (!all && n)
		printf("%-31s %-9s %-5s %13s %8s %5s %15s %15s %13s\n", "FILTER", "KIND", "KEY",
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

static void print_state(const struct baleen_dev_info *info)
{
	const struct baleen_dev_counters *counters = &info->counters;
	char packets[NUMBER_TEXT], bytes[NUMBER_TEXT], hits[NUMBER_TEXT], queries[NUMBER_TEXT],
		query_hits[NUMBER_TEXT];

	printf("  in the kernel: version %llu, asked by %u rule%s: %s packets (%s), %s in it; %s "
	       "queries, %s in it\n",
	       (unsigned long long)info->version, info->n_rules, info->n_rules == 1 ? "" : "s",
	       format_count(counters->packets, packets), format_bytes(counters->bytes, bytes),
	       format_count(counters->hits, hits), format_count(counters->queries, queries),
	       format_count(counters->query_hits, query_hits));
}

int kmod_describe(const char *argument, const char *name, json_t *all)
{
	struct baleen_filter filter = { 0 };
	struct baleen_dev_info info;
	struct baleen_image ignored;
	struct kmod_filter kmod;
	json_t *json;
	int err = kmod_open(&kmod, argument, name, false);

	if (err)
		return err;
	err = kmod_read(&kmod, &filter);
	if (!err)
		err = kmod_head(&kmod, &ignored, &info);
	if (!err && all) {
		json = describe_filter(&filter);
		json_object_set_new(json, "file", json_text(argument));
		add_state(json, &info);
		json_array_append_new(all, json);
	} else if (!err) {
		print_filter(stdout, argument, &filter);
		print_state(&info);
	}
	baleen_filter_free(&filter);
	kmod_close(&kmod);
	return err;
}

/* --- swap ------------------------------------------------------------------- */

int kmod_swap_named(const char *name, const struct baleen_filter *filter, double accept_fpp,
		    bool force)
{
	char argument[sizeof("kmod:") + BALEEN_DEV_NAME_BYTES];
	struct baleen_dev_info info;
	struct baleen_image before;
	struct kmod_filter kmod;
	int err;

	snprintf(argument, sizeof(argument), "kmod:%s", name);
	err = kmod_open(&kmod, argument, name, true);
	if (err)
		return err;
	err = kmod_head(&kmod, &before, &info);
	/* Nobody drops packets by one that no rule asks. */
	if (!err && info.n_rules)
		err = guard_rate(argument, BALEEN_ACTION_DROP, filter, accept_fpp);
	if (!err && !force)
		err = kmod_guard_image(&kmod, filter);
	if (!err)
		err = kmod_swap(&kmod, filter);
	kmod_close(&kmod);
	return err;
}

/* --- detach ----------------------------------------------------------------- */

/**
 * struct asking - the rules that ask a filter
 * @name: of the filter
 * @n: how many rules of this network namespace
 * @text: the first of them, as DEV:RULE with commas between
 */
struct asking {
	const char *name;
	u32 n;
	char text[RULES_TEXT];
};

static int note_rules(struct baleen_kmod_rules *rules, void *data)
{
	struct asking *asking = data;

	for (u32 i = 0; i < rules->n_rules; i++) {
		const struct baleen_dev_bound_rule *rule = &rules->rule[i];
		size_t at = strlen(asking->text);

		if (strncmp((const char *)rule->filter, asking->name, sizeof(rule->filter)))
			continue;
		snprintf(asking->text + at, sizeof(asking->text) - at, "%s%s:%.*s",
			 asking->n ? ", " : "", rules->device, (int)sizeof(rule->name), rule->name);
		asking->n++;
	}
	return 0;
}

static void complain_busy(const char *argument, const char *name)
{
	struct asking asking = { .name = name };

	baleen_kmod_rules_each(note_rules, &asking, NULL);
	if (asking.n)
		complain("%s: rules ask it: %s: 'baleen detach' or 'baleen rule' them first",
			 argument, asking.text);
	else
		complain("%s: rules of another network namespace ask it", argument);
}

int kmod_detach(const char *argument, const char *name)
{
	struct baleen_error error;
	struct kmod_filter kmod;
	int err = kmod_open(&kmod, argument, name, true);

	if (err)
		return err;
	err = baleen_kmod_destroy(kmod.fd, name, &error);
	if (err == -EBUSY)
		complain_busy(argument, name);
	else if (err)
		kmod_complain(&kmod, err, &error);
	kmod_close(&kmod);
	return err ? EXIT_FAILED : 0;
}
