// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen import: what other programs list, as single entries; or bits. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/ban/import_bits.h"
#include "cli/ban/import_list.h"
#include "cli/ban/import_rules.h"
#include "cli/open/filter_name.h"
#include "list/import.h"
#include "net/device.h"
#include "state/entry_import.h"
#include "util/input.h"

/**
 * struct import - what is asked for
 * @target: DEV:RULE or bans, as typed; NULL when each line of JSON names its own
 * @path: the file, or - for stdin
 * @has_format: --format was given
 * @is_bits: --format bits; what is asked for is in @bits
 * @bits: then the filter
 * @has_origin: --origin was given: it stands for those in the file
 * @is_list: --format list, or one of the options that say how
 * @csv: then these
 * @importer: how it is read
 * @options: origin of the entries
 * @is_snapshot: what the origin has besides is deleted
 * @dry_run: it is only said what would come of it
 * @force: also what is too wide, and what would cut this host off
 * @narrow: what is never dropped is left out of entries that hold it
 * @json: report as JSON
 * @wait_ms: for other writers
 * @now_ms: the time
 * @rules: those that the entries go to
 */
struct import {
	const char *target;
	const char *path;
	bool has_format;
	bool is_bits;
	struct import_bits bits;
	bool has_origin;
	bool is_list;
	struct baleen_csv_options csv;
	struct baleen_importer importer;
	struct entry_options options;
	bool is_snapshot;
	bool dry_run;
	bool force;
	bool narrow;
	bool json;
	u64 wait_ms;
	u64 now_ms;
	struct import_rules rules;
};

static bool is_json_lines(const struct import *import)
{
	return !import->is_bits && !import->is_list &&
	       import->importer.format == BALEEN_IMPORT_JSON;
}

/* --- reading --------------------------------------------------------------- */

static const char *file_name(const struct import *import)
{
	return strcmp(import->path, "-") ? import->path : "stdin";
}

/* The text of nft has no lines. */
static int fail_at(const struct import *import, const struct baleen_import_entry *from, int err,
		   const char *why, struct baleen_error *error)
{
	if (!from->line)
		return baleen_fail(error, -err, "%s: %s", file_name(import), why);
	return baleen_fail(error, -err, "%s:%llu: %s", file_name(import),
			   (unsigned long long)from->line, why);
}

static int find_rule(struct import *import, const struct baleen_import_entry *from,
		     struct import_rule **rule, struct baleen_error *error)
{
	int err = 0;

	if (import->target)
		*rule = &import->rules.rule[0];
	else if (!from->rule)
		return fail_at(import, from, -EINVAL, "rule: is missing, and no DEV:RULE was given",
			       error);
	else
		err = import_rules_find(&import->rules, from->rule, rule);
	return err ? fail_at(import, from, err,
			     err == -ENOMEM ? strerror(ENOMEM) : "rule: neither DEV:RULE nor bans",
			     error) :
		     0;
}

static int import_entry(void *data, const struct baleen_import_entry *from,
			struct baleen_error *error)
{
	struct import *import = data;
	struct baleen_entry_importing as = {
		.origin = import->options.origin,
		.keeps_origins = !import->has_origin,
		.cleans_comments = !is_json_lines(import),
		.width = is_json_lines(import) ? BALEEN_BAN_WIDTH : BALEEN_AS_WRITTEN,
		.now_ms = import->now_ms,
	};
	struct baleen_rule_entry entry;
	struct import_rule *rule;
	struct baleen_error why;
	bool has_ended;
	int err = find_rule(import, from, &rule, error);

	if (err)
		return err;
	if (*rule->missing.text) {
		rule->n_missing++;
		return 0;
	}
	as.key_spec = rule->key_spec;
	err = baleen_entry_import(&as, from, &entry, &has_ended, &why);
	if (err)
		return fail_at(import, from, err, why.text, error);
	if (has_ended)
		rule->n_ended++;
	else if (!import->has_origin && baleen_origin_is_reserved(entry.origin))
		rule->n_own++;
	else if (entries_append(&rule->entries, BALEEN_RULE_ENTRY_PUT, &entry))
		return baleen_no_memory(error);
	return 0;
}

static int read_file(struct import *import)
{
	bool is_stdin = !strcmp(import->path, "-");
	struct baleen_error error;
	int fd = is_stdin ? STDIN_FILENO :
			    baleen_input_open(import->path, BALEEN_INPUT_TYPED, &error);
	int err;

	if (fd < 0)
		return complain("%s", error.text);
	import->importer.on_entry = import_entry;
	import->importer.data = import;
	err = baleen_import(&import->importer, fd, file_name(import), &error);
	if (err)
		complain("%s", error.text);
	if (!is_stdin)
		close(fd);
	return err ? EXIT_FAILED : 0;
}

static int read_all(struct import *import)
{
	struct import_rule *rule = import->rules.rule;

	if (import->is_list)
		return import_list(import->path, &import->csv, rule->key_spec, &import->options,
				   &rule->entries);
	return read_file(import);
}

/* --- putting --------------------------------------------------------------- */

/* One rule is one object, and the rules of lines are an array. */
static int finish(const struct import *import, json_t *all, int code)
{
	json_t *one;

	if (!all || !import->target)
		return finish_collected(all, code);
	one = json_incref(json_array_get(all, 0));
	json_decref(all);
	return one ? finish_collected(one, code) : code;
}

static int put(struct import *import)
{
	const struct import_way way = {
		.is_trial = import->dry_run,
		.forces = import->force,
		.narrows = import->narrow,
		.snapshot_of = import->is_snapshot ? import->options.origin : NULL,
		.origin = is_json_lines(import) && !import->has_origin ? NULL :
									 import->options.origin,
		.wait_ms = import->wait_ms,
		.json = import->json ? json_array() : NULL,
	};
	int code = import_rules_put(&import->rules, &way);

	if (!import->rules.n && !import->json)
		say("%s: no entry in it\n", file_name(import));
	return finish(import, way.json, code);
}

/* --- command --------------------------------------------------------------- */

static int parse_format(const struct option_use *use)
{
	struct import *import = use->to;

	import->has_format = true;
	import->is_bits = !strcmp(use->argument, "bits");
	import->is_list = !strcmp(use->argument, "list");
	if (import->is_bits || import->is_list)
		return 0;
	return baleen_import_format_parse(use->argument, &import->importer.format) ?
		       option_refuse(use, "not ipset, nft, json, list or bits") :
		       0;
}

/* The first option that is for the other formats, or NULL. */
static const char *find_stray(const struct import *import)
{
	const struct import_bits *bits = &import->bits;

	if (import->importer.set &&
	    (import->is_bits || import->is_list || import->importer.format == BALEEN_IMPORT_JSON))
		return "set";
	if (!import->is_list && (baleen_csv_is_wanted(&import->csv) || import->options.ttl_ms ||
				 import->options.reason))
		return import->csv.column     ? "column" :
		       import->csv.n_where    ? "where" :
		       import->csv.delimiter  ? "delimiter" :
		       import->options.ttl_ms ? "ttl" :
						"reason";
	if (import->is_bits)
		return import->options.origin ? "origin" :
		       import->is_snapshot    ? "snapshot" :
		       import->dry_run	      ? "dry-run" :
		       import->force	      ? "force" :
		       import->narrow	      ? "narrow" :
						NULL;
	return bits->out ? "output" : bits->is_msb ? "bit-order" : bits->lists.shaped_by;
}

static int parse_operands(struct import *import, int argc, char **argv)
{
	char device[BALEEN_POINT_BYTES];
	const char *name;

	import->path = argc ? argv[argc - 1] : "";
	if (argc == 1 && is_json_lines(import) && !is_live_name(import->path))
		return 0;
	if (argc != 2)
		return complain_usage(&import_command,
				      "DEV:RULE or bans, and one FILE are asked for");
	import->target = argv[0];
	if (strcmp(import->target, BALEEN_SCOPE_BANS) != 0 &&
	    !split_live(import->target, device, sizeof(device), &name))
		return complain_usage(&import_command, "'%s' is neither DEV:RULE nor bans",
				      import->target);
	return 0;
}

static int parse(struct import *import, int argc, char **argv)
{
	int err;

	list_options_init(&import->bits.lists);
	err = options_parse(&import_command, import, &argc, &argv);
	if (err)
		return err;
	/* A column is one of a list. */
	import->is_list |= !import->has_format && baleen_csv_is_wanted(&import->csv);
	if (!import->has_format && !import->is_list)
		return complain_usage(&import_command,
				      "--format ipset, nft, json, list or bits is missing");
	import->has_origin = import->options.origin;
	if (import->importer.format == BALEEN_IMPORT_JSON && import->is_snapshot &&
	    !import->has_origin)
		return complain_usage(&import_command, "--snapshot of json needs --origin");
	if (find_stray(import))
		return complain_usage(&import_command, "--%s is not for this format",
				      find_stray(import));
	if (import->is_bits) {
		import->path = argv[0];
		return argc == 1 ? 0 :
				   complain_usage(&import_command, "one FILE of bits is asked for");
	}
	return parse_operands(import, argc, argv);
}

static int find_target(struct import *import)
{
	char device[BALEEN_POINT_BYTES];
	struct baleen_stored_rule rule;
	const char *name;

	if (!split_live(import->target, device, sizeof(device), &name))
		rule.key_spec = BALEEN_KEY_SRC;
	else if (entries_rule(device, name, &rule))
		return EXIT_FAILED;
	return import_rules_add(&import->rules, import->target, rule.key_spec) ?
		       0 :
		       complain("%s", strerror(ENOMEM));
}

static int run(int argc, char **argv)
{
	struct import import = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS, .now_ms = baleen_now_ms() };
	struct baleen_error error;
	int err = parse(&import, argc, argv);

	if (err)
		return err;
	if (import.is_bits)
		return import_bits(&import.bits, import.path, import.json);
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	if (!import.options.origin)
		import.options.origin = "import";
	if (import.target)
		err = find_target(&import);
	/* The file is read before the lock is taken: reading may wait. */
	if (!err)
		err = read_all(&import);
	if (!err)
		err = put(&import);
	import_rules_free(&import.rules);
	return err;
}

static const struct option_spec options[] = {
	{ "format", 0, "F", parse_format, .help = "ipset, nft, json, list or bits",
	  .words = "ipset nft json list bits" },
	VALUE("set", 0, "NAME", option_text, import, importer.set,
	      "which set of FILE, if it has several; of nft also FAMILY/TABLE/NAME"),
	VALUE("origin", 0, "NAME", option_text, import, options.origin,
	      "who has the entries (import)"),
	FLAG("dry-run", 0, import, dry_run, "say what would come of it, and change nothing"),
	WIDE_OPTION(import, force),
	NARROW_OPTION(import, narrow),
	FLAG("snapshot", 0, import, is_snapshot, "delete what the origin has besides"),
	WAIT_OPTION(import, wait_ms),
	FLAG("json", 'j', import, json, "report as JSON"),
	{ .help = "Of lists, which --column alone means, too:\n" },
	VALUE("ttl", 0, "TIME", entry_ttl, import, options,
	      "the entries end after TIME: 30s, 1h, 2d"),
	VALUE("reason", 0, "TEXT", option_text, import, options.reason, "why, for 'baleen why'"),
	{ .table = csv_option_table, .at = offsetof(struct import, csv) },
	{ .table = import_bits_option_table, .at = offsetof(struct import, bits) },
	{ 0 },
};

const struct command import_command = {
	.name = "import",
	.synopsis =
		"DEV:RULE|bans --format ipset|nft|json|list [--set NAME] [OPTION...] FILE | --format json "
		"[OPTION...] FILE | --format bits -o IMAGE --bits M --hashes K --hash H [OPTION...] FILE",
	.help = "Adds the elements of a set to a rule, or to the bans of all that take some, as single\n"
		"entries, in one step: timeouts, nomatch,\n"
		"intervals and comments (as reasons) come with them. FILE is what 'ipset save' or\n"
		"'nft -j list set' print; '-' is stdin. Addresses are taken as they are.\n"
		"With --format json, FILE is what 'baleen export' prints: origins, reasons and ends come\n"
		"back as they were. Without DEV:RULE each line goes to the rule that it names.\n"
		"With --format list, or a --column, FILE is a list, a table or JSON, as of 'baleen\n"
		"build': its keys become single entries, which stay unless --ttl says how long.\n"
		"With --format bits, FILE is the array of bits of a Bloom filter that another program\n"
		"made, and an image is made of it.\n",
	.options = options,
	.run = run,
};
