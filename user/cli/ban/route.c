// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen route export: the keys of a set as routes of a kernel table. */
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "cli/open/filter_ref.h"
#include "filter/directory_table.h"
#include "net/device.h"
#include "net/route_change.h"
#include "net/route_names.h"
#include "util/array.h"

/* More belong into lists: 100,000 routes take 16 MB of the kernel, and seconds. */
#define MAX_ROUTES 300000

/**
 * struct export - what is asked for
 * @table: name or number of the table
 * @remove: no route stays
 * @force: also into a table that packets of this host go by
 * @most: routes at most
 * @json: report as JSON
 * @routes: of the set
 */
struct export
{
	const char *table;
	bool remove;
	bool force;
	u64 most;
	bool json;
	struct baleen_routes routes;
};

/* --- a set as routes ----------------------------------------------------------- */

static int add_route(struct export *export, const struct baleen_key *key, u32 length,
		     bool is_exception)
{
	struct baleen_routes *routes = &export->routes;

	if (routes->n == export->most)
		return -E2BIG;
	if (baleen_array_add(&routes->route, routes->n))
		return -ENOMEM;
	routes->route[routes->n++] =
		(struct baleen_route){ .key = *key,
				       .length = length,
				       .type = is_exception ? RTN_THROW : RTN_BLACKHOLE,
				       .protocol = BALEEN_ROUTE_PROTOCOL };
	return 0;
}

/* The interval by the fewest prefixes. */
static int add_net4(struct export *export, struct baleen_net4 net)
{
	int err = 0;

	for (u64 first = net.first; first <= net.last && !err;) {
		const struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = first };
		u32 length;

		net.first = first;
		length = baleen_net4_prefix(&net);
		err = add_route(export, &key, length, false);
		first += 1ull << (32 - length);
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	return baleen_route_compare(a, b);
}

static int add_all(struct export *export, const struct baleen_list *list)
{
	int err = 0;

	for (size_t i = 0; i < list->n_ip4 && !err; i++)
		err = add_net4(export, (struct baleen_net4){ list->ip4[i], list->ip4[i] });
	for (size_t i = 0; i < list->n_net4 && !err; i++)
		err = add_net4(export, list->net4[i]);
	for (size_t i = 0; i < list->n_prefix6 && !err; i++) {
		const struct baleen_prefix6 *entry = &list->prefix6[i];
		const struct baleen_key key = { .domain = BALEEN_IP6,
						.hi = entry->hi,
						.lo = entry->lo };

		err = add_route(export, &key, entry->length, entry->is_exception);
	}
	if (!err && export->routes.n)
		qsort(export->routes.route, export->routes.n, sizeof(*export->routes.route),
		      compare);
	return err;
}

static int make_routes(struct export *export, const struct filter_ref *ref)
{
	struct baleen_error error;
	struct baleen_list list;
	int err;

	if (!baleen_spec_is_address(ref->filter.image.key_spec))
		return complain("%s: its keys are not single addresses", ref->argument);
	if (baleen_filter_to_list(&ref->filter, &list, &error))
		return complain("%s: %s", ref->argument, error.text);
	err = add_all(export, &list);
	baleen_list_free(&list);
	if (err == -E2BIG)
		return complain("%s: more than %llu routes: see --max", ref->argument,
				(unsigned long long)export->most);
	return err ? complain("%s: no memory", ref->argument) : 0;
}

/* --- the command ----------------------------------------------------------------- */

static int report(const struct export *export, const struct baleen_route_changes *changes)
{
	char added[NUMBER_TEXT], removed[NUMBER_TEXT], all[NUMBER_TEXT];

	if (export->json)
		return print_json(json_pack("{s:o, s:I, s:I, s:I, s:I}", "table",
					    json_text(export->table), "added",
					    (json_int_t)changes->n_added, "removed",
					    (json_int_t)changes->n_removed, "same",
					    (json_int_t)changes->n_same, "others",
					    (json_int_t)changes->n_others));
	say("table %s: +%s -%s: %s routes of baleen\n", export->table,
	    format_count(changes->n_added, added), format_count(changes->n_removed, removed),
	    format_count(changes->n_added + changes->n_same, all));
	return finish_output(EXIT_DONE);
}

static int put(struct export *export)
{
	struct baleen_route_changes changes;
	struct baleen_error error;
	u32 table;

	if (baleen_route_table_find(export->table, &table, &error))
		return complain("%s", error.text);
	if (baleen_route_table_is_used(table) && !export->force && !export->remove)
		return complain("table %s: packets of this host go by it, so what is exported "
				"becomes unreachable from here (--force does it)",
				export->table);
	if (baleen_routes_set(table, &export->routes, &changes, &error))
		return complain("%s", error.text);
	if (changes.n_others)
		complain("table %s: %llu not exported: others have a route of the same prefix",
			 export->table, (unsigned long long)changes.n_others);
	return report(export, &changes);
}

static int export_set(struct export *export, const char *argument)
{
	struct list_options lists;
	struct filter_ref ref;
	int err;

	list_options_init(&lists);
	if (filter_ref_open(&ref, argument, &lists))
		return EXIT_FAILED;
	err = make_routes(export, &ref);
	filter_ref_close(&ref);
	return err ? err : put(export);
}

static int check(const struct export *export, int argc, char **argv)
{
	if (!argc || strcmp(argv[0], "export"))
		return complain_usage(&route_command, "export is asked for");
	if (!export->table)
		return complain_usage(&route_command, "--table is asked for");
	if (argc != (export->remove ? 1 : 2))
		return complain_usage(&route_command,
				      "one DEV:RULE is asked for, and none with --remove");
	return 0;
}

static int run(int argc, char **argv)
{
	struct export export = { .most = MAX_ROUTES };
	int err = options_parse(&route_command, &export, &argc, &argv);

	if (!err)
		err = check(&export, argc, argv);
	if (err)
		return err;
	err = export.remove ? put(&export) : export_set(&export, argv[1]);
	baleen_routes_free(&export.routes);
	return err;
}

static const struct option_spec options[] = {
	VALUE("table", 0, "TABLE", option_text, export, table,
	      "the table, by number or by its name in /etc/iproute2/rt_tables"),
	FLAG("remove", 0, export, remove, "remove all routes of baleen from the table"),
	VALUE("max", 0, "N", option_keys, export, most, "refuse more routes than this (300000)"),
	FLAG("force", 0, export, force,
	     "also into main, local or default, which packets of this host go by"),
	FLAG("json", 'j', export, json, "what was changed as JSON"),
	{ 0 },
};

const struct command route_command = {
	.name = "route",
	.synopsis = "export DEV:RULE --table TABLE [--max N] [--force] [-j]\n"
		    "  baleen route export --remove --table TABLE [-j]",
	.help = "Makes the routes of baleen in a kernel table those of a set: a blackhole for each\n"
		"address or prefix of it, and a throw route for each IPv6 exception. Routes of others\n"
		"stay: those of baleen have a protocol of their own, 98. Done again, only what differs\n"
		"changes. A set may also be a file. One set a table: another takes its place.\n"
		"The other way round, a rule takes its entries from a table by 'feed route:TABLE': see\n"
		"baleen.conf(5).\n",
	.options = options,
	.asks = { 0, 2, "export is asked for, then one DEV:RULE" },
	.run = run,
};
