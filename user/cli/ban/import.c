// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen import: the entries of a set of ipset or nftables, as single entries; or bits. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ban/import_bits.h"
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
 * @importer: how it is read
 * @key_spec: key fields of the rule
 * @options: origin of the entries
 * @is_snapshot: what the origin has besides is deleted
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
	struct baleen_importer importer;
	u32 key_spec;
	struct entry_options options;
	bool is_snapshot;
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
	options.ttl_ms = entry->expires_s * 1000;
	snprintf(text, sizeof(text), "%s%s", entry->is_exception ? "!" : "", entry->key);
	err = entry_make(text, import->key_spec, BALEEN_BAN_WIDTH_MAX, &options, &made, NULL,
			 error);
	if (err)
		return err;
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
		err = print_json(json_pack("{s:o, s:I, s:I, s:I, s:I}", "target",
					   json_text(import->target), "added", (json_int_t)n_added,
					   "renewed", (json_int_t)n_renewed, "refused",
					   (json_int_t)n_refused, "deleted",
					   (json_int_t)batch->n_flushed));
	} else {
		say("%s: %s added, %s renewed, %s deleted, origin %s\n", import->target,
		    format_count(n_added, added), format_count(n_renewed, renewed),
		    format_count(batch->n_flushed, flushed), import->options.origin);
		err = finish_output(EXIT_DONE);
	}
	return n_refused ? EXIT_FAILED : err;
}

static int put(const struct import *import)
{
	struct baleen_batch batch = { .rule = import->rule,
				      .change = import->entries.change,
				      .n = import->entries.n,
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
		entries_warn_ends(&import->entries, &session.deploy);
		err = report(import, &batch);
	}
	if (!err)
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
	if (import->is_bits)
		return 0;
	return baleen_import_format_parse(use->argument, &import->importer.format) ?
		       option_refuse(use, "not ipset, nft or bits") :
		       0;
}

/* The first option that is for the other formats, or NULL. */
static const char *find_stray(const struct import *import)
{
	const struct import_bits *bits = &import->bits;

	if (import->is_bits)
		return import->importer.set			? "set" :
		       strcmp(import->options.origin, "import") ? "origin" :
		       import->is_snapshot			? "snapshot" :
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
	if (!import->has_format)
		return complain_usage(&import_command,
				      "--format ipset, --format nft or --format bits is missing");
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
	struct import import = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS,
				 .options = { .origin = "import" } };
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
	/* The file is read before the lock is taken: reading may wait. */
	if (!err)
		err = read_file(&import);
	if (!err)
		err = put(&import);
	entries_free(&import.entries);
	return err;
}

static const struct option_spec options[] = {
	{ "format", 0, "F", parse_format, .help = "ipset, nft or bits", .words = "ipset nft bits" },
	VALUE("set", 0, "NAME", option_text, import, importer.set,
	      "which set of FILE, if it has several; of nft also FAMILY/TABLE/NAME"),
	VALUE("origin", 0, "NAME", option_text, import, options.origin,
	      "who has the entries (import)"),
	FLAG("snapshot", 0, import, is_snapshot, "delete what the origin has besides"),
	WAIT_OPTION(import, wait_ms),
	FLAG("json", 'j', import, json, "report as JSON"),
	{ .table = import_bits_option_table, .at = offsetof(struct import, bits) },
	{ 0 },
};

const struct command import_command = {
	.name = "import",
	.synopsis = "DEV:RULE --format ipset|nft [--set NAME] [OPTION...] FILE | --format bits "
		    "-o IMAGE --bits M --hashes K --hash H [OPTION...] FILE",
	.help = "Adds the elements of a set to a rule, as single entries, in one step: timeouts, nomatch,\n"
		"intervals and comments (as reasons) come with them. FILE is what 'ipset save' or\n"
		"'nft -j list set' print; '-' is stdin. Addresses are taken as they are.\n"
		"With --format bits, FILE is the array of bits of a Bloom filter that another program\n"
		"made, and an image is made of it.\n",
	.options = options,
	.run = run,
};
