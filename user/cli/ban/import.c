// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen import: what other programs list, as single entries; or bits. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ban/import_bits.h"
#include "cli/ban/import_list.h"
#include "cli/ban/ban.h"
#include "cli/open/entries.h"
#include "cli/open/filter_name.h"
#include "list/import.h"
#include "net/device.h"
#include "util/input.h"

#define MAX_NAMED 20

/**
 * struct import - what is asked for
 * @target: DEV:RULE as typed
 * @device: its device
 * @rule: its rule
 * @path: the file, or - for stdin
 * @has_format: --format was given
 * @is_bits: --format bits; what is asked for is in @bits
 * @bits: then the filter
 * @has_origin: --origin was given: it stands for those in the file
 * @n_ended: entries of the file whose end has come already
 * @is_list: --format list, or one of the options that say how
 * @csv: then these
 * @importer: how it is read
 * @key_spec: key fields of the rule
 * @options: origin of the entries
 * @is_snapshot: what the origin has besides is deleted
 * @dry_run: it is only said what would come of it
 * @json: report as JSON
 * @wait_ms: for other writers
 * @entries: those read
 */
struct import {
	const char *target;
	char device[BALEEN_POINT_BYTES];
	const char *rule;
	const char *path;
	bool has_format;
	bool is_bits;
	struct import_bits bits;
	bool has_origin;
	u64 n_ended;
	bool is_list;
	struct baleen_csv_options csv;
	struct baleen_importer importer;
	u32 key_spec;
	struct entry_options options;
	bool is_snapshot;
	bool dry_run;
	bool json;
	u64 wait_ms;
	struct entries entries;
};

/* --- reading --------------------------------------------------------------- */

/* A comment may hold what a reason may not. */
static void clean_reason(const char *comment, char *reason)
{
	size_t n = 0;

	for (; *comment && n + 1 < BALEEN_REASON_BYTES; comment++)
		reason[n++] = (unsigned char)*comment < ' ' || *comment == 0x7f ? ' ' : *comment;
	/* Never half of a character. */
	while (*comment && n && ((unsigned char)reason[n - 1] & 0xc0) == 0x80)
		n--;
	if (*comment && n && (unsigned char)reason[n - 1] >= 0xc0)
		n--;
	reason[n] = '\0';
}

static int import_entry(void *data, const struct baleen_import_entry *entry,
			struct baleen_error *error)
{
	struct import *import = data;
	struct entry_options options = import->options;
	char text[BALEEN_RULE_ENTRY_TEXT + 2], reason[BALEEN_REASON_BYTES];
	struct baleen_rule_entry made;
	int err;

	clean_reason(entry->comment, reason);
	options.reason = reason;
	if (entry->origin && !import->has_origin)
		options.origin = entry->origin;
	options.ttl_ms = entry->expires_s * 1000;
	snprintf(text, sizeof(text), "%s%s", entry->is_exception ? "!" : "", entry->key);
	err = entry_make(text, import->key_spec, BALEEN_BAN_WIDTH_MAX, &options, &made, NULL,
			 error);
	if (err)
		return err;
	if (entry->end_ms && entry->end_ms <= made.added_ms) {
		import->n_ended++;
		return 0;
	}
	if (entry->end_ms)
		made.expires_ms = entry->end_ms;
	if (entry->since_ms && entry->since_ms < made.added_ms)
		made.added_ms = entry->since_ms;
	return entries_append(&import->entries, BALEEN_RULE_ENTRY_PUT, &made) ? -ENOMEM : 0;
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
	err = baleen_import(&import->importer, fd, is_stdin ? "stdin" : import->path, &error);
	if (err)
		complain("%s", error.text);
	if (!is_stdin)
		close(fd);
	return err ? EXIT_FAILED : 0;
}

/* --- putting --------------------------------------------------------------- */

static u64 count_refused(const struct import *import)
{
	char why[ENTRY_REFUSAL];
	u64 n = 0;

	for (size_t i = 0; i < import->entries.n; i++) {
		const struct baleen_rule_entry_change *change = &import->entries.change[i];

		if (change->result != -EPERM || n++ >= MAX_NAMED)
			continue;
		complain("%s: '%s' not added: %s", import->target,
			 baleen_entry_key_text(&change->entry.key).text,
			 entry_refusal(change, why));
		suggest_word(change, "add", import->target);
	}
	return n;
}

static u64 count_renewed(const struct import *import)
{
	u64 n = 0;

	for (size_t i = 0; i < import->entries.n; i++)
		n += import->entries.change[i].result == -EEXIST;
	return n;
}

static int report(const struct import *import, const struct baleen_batch *batch)
{
	u64 n_refused = count_refused(import), n_renewed = count_renewed(import);
	u64 n_added = import->entries.n - n_refused - n_renewed;
	char added[NUMBER_TEXT], renewed[NUMBER_TEXT], flushed[NUMBER_TEXT];
	int err;

	if (import->json) {
		err = print_json(json_pack("{s:o, s:b, s:I, s:I, s:I, s:I, s:I}", "target",
					   json_text(import->target), "dry_run", import->dry_run,
					   "added", (json_int_t)n_added, "renewed",
					   (json_int_t)n_renewed, "refused", (json_int_t)n_refused,
					   "deleted", (json_int_t)batch->n_flushed, "ended",
					   (json_int_t)import->n_ended));
	} else {
		say("%s: %s%s added, %s renewed, %s deleted", import->target,
		    import->dry_run ? "would be " : "", format_count(n_added, added),
		    format_count(n_renewed, renewed), format_count(batch->n_flushed, flushed));
		if (import->n_ended)
			say(", %s had ended", format_count(import->n_ended, added));
		if (import->importer.format == BALEEN_IMPORT_JSON && !import->has_origin)
			puts(", origins as listed");
		else
			say(", origin %s\n", import->options.origin);
		err = finish_output(EXIT_DONE);
	}
	return n_refused ? EXIT_FAILED : err;
}

static int put(const struct import *import)
{
	struct baleen_batch batch = { .rule = import->rule,
				      .change = import->entries.change,
				      .n = import->entries.n,
				      .is_trial = import->dry_run,
				      .snapshot_of =
					      import->is_snapshot ? import->options.origin : NULL };
	struct baleen_error error;
	struct baleen_device_session session;
	int err = session_open_state(&session, import->device, import->wait_ms);

	if (err)
		return err;
	if (baleen_deploy_batch(&session.deploy, &batch, &error)) {
		err = complain("%s", error.text);
	} else {
		if (!import->dry_run)
			entries_warn_ends(&import->entries, &session.deploy);
		err = report(import, &batch);
	}
	if (!err && !import->dry_run)
		err = session_kept(&session.deploy.state);
	baleen_device_session_close(&session);
	return err;
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
						NULL;
	return bits->out ? "output" : bits->is_msb ? "bit-order" : bits->lists.shaped_by;
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
	if (argc != 2)
		return complain_usage(&import_command, "DEV:RULE and one FILE are asked for");
	import->target = argv[0];
	import->path = argv[1];
	if (!split_live(import->target, import->device, sizeof(import->device), &import->rule))
		return complain_usage(&import_command, "'%s' is not DEV:RULE", import->target);
	return 0;
}

static int run(int argc, char **argv)
{
	struct import import = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS };
	struct baleen_stored_rule rule;
	struct baleen_error error;
	int err = parse(&import, argc, argv);

	if (err)
		return err;
	if (import.is_bits)
		return import_bits(&import.bits, import.path, import.json);
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	err = entries_rule(import.device, import.rule, &rule);
	import.key_spec = rule.key_spec;
	if (!import.options.origin)
		import.options.origin = "import";
	/* The file is read before the lock is taken: reading may wait. */
	if (!err && import.is_list)
		err = import_list(import.path, &import.csv, import.key_spec, &import.options,
				  &import.entries);
	else if (!err)
		err = read_file(&import);
	if (!err)
		err = put(&import);
	entries_free(&import.entries);
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
		"DEV:RULE --format ipset|nft|json|list [--set NAME] [OPTION...] FILE | --format bits "
		"-o IMAGE --bits M --hashes K --hash H [OPTION...] FILE",
	.help = "Adds the elements of a set to a rule, as single entries, in one step: timeouts, nomatch,\n"
		"intervals and comments (as reasons) come with them. FILE is what 'ipset save' or\n"
		"'nft -j list set' print; '-' is stdin. Addresses are taken as they are.\n"
		"With --format json, FILE is what 'baleen export' prints: origins, reasons and ends come\n"
		"back as they were.\n"
		"With --format list, or a --column, FILE is a list, a table or JSON, as of 'baleen\n"
		"build': its keys become single entries, which stay unless --ttl says how long.\n"
		"With --format bits, FILE is the array of bits of a Bloom filter that another program\n"
		"made, and an image is made of it.\n",
	.options = options,
	.run = run,
};
