// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen status --short: a line a device, for hosts with many. */
#include <stdlib.h>
#include <string.h>

#include "cli/device/status_rules.h"

/* At least as wide as the longest name of a device. */
#define ROW "%-15s %-13s %-8s %5s %12s %15s  %s\n"

static json_int_t integer(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "-";
}

/* As the kernel has it; what is not attached has no mode. */
static const char *mode(const json_t *device)
{
	if (!strcmp(text(device, "requested_mode"), "kmod"))
		return "kmod";
	return text(json_object_get(device, "program_on_device"), "mode");
}

static const char *verdict(const json_t *device)
{
	return json_is_true(json_object_get(device, "dry_run")) ? "DRY RUN" :
								  text(device, "default");
}

static void print_row(const json_t *device)
{
	const json_t *rules = json_object_get(device, "rules"), *rule;
	char n[NUMBER_TEXT], entries[NUMBER_TEXT], dropped[NUMBER_TEXT];
	json_int_t n_entries = 0, n_dropped = 0;
	size_t i;

	json_array_foreach(rules, i, rule) {
		n_entries +=
			integer(rule, json_object_get(rule, "written") ? "written" : "entries");
		if (!strcmp(text(rule, "action"), "drop"))
			n_dropped += integer(rule, "packets");
	}
	say(ROW, text(device, "device"),
	    json_is_false(json_object_get(device, "enforced")) ? "NOT IN FORCE" :
								 text(device, "state"),
	    mode(device), format_count(json_array_size(rules), n), format_count(n_entries, entries),
	    format_count(n_dropped, dropped), verdict(device));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(text(*(const json_t *const *)a, "device"),
		      text(*(const json_t *const *)b, "device"));
}

int print_status_short(const json_t *all)
{
	size_t n = json_array_size(all);
	const json_t **device = calloc(n + 1, sizeof(*device));

	if (!device)
		return complain("no memory");
	for (size_t i = 0; i < n; i++)
		device[i] = json_array_get(all, i);
	qsort(device, n, sizeof(*device), by_name);
	if (n)
		say(ROW, "DEVICE", "STATE", "MODE", "RULES", "ENTRIES", "DROPPED", "DEFAULT");
	else
		puts("nothing is attached in this network namespace");
	for (size_t i = 0; i < n; i++)
		print_row(device[i]);
	free(device);
	return 0;
}
