// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whoever unbans an address does not want it back with a rule that comes again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/parked_entries.h"
#include "cli/open/filter_name.h"
#include "net/device.h"
#include "state/book.h"
#include "state/parked.h"
#include "util/array.h"

/* --- of all rules ----------------------------------------------------------- */

static int unban_key(const struct baleen_rule_entry *entry, bool quiet, size_t *n)
{
	struct baleen_scopes taken = { 0 };
	struct baleen_error error;

	if (baleen_parked_remove(entry, NULL, &taken, &error))
		return complain("%s", error.text);
	for (size_t i = 0; i < taken.n && !quiet; i++)
		say("%s: %s deleted; it was parked: the rule is not there\n", taken.scope[i].name,
		    baleen_entry_key_text(&entry->key).text);
	*n += taken.n;
	baleen_scopes_free(&taken);
	return 0;
}

/* An address of IPv6 was banned alone, or with what its host has. */
int unban_parked(const char *address, const struct entry_options *options, bool quiet, size_t *n)
{
	static const u32 widths[] = { BALEEN_BAN_WIDTH, BALEEN_BAN_WIDTH_MAX };
	struct baleen_rule_entry entry;
	struct baleen_error error;
	bool is_widened = true;

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]) && is_widened; i++) {
		if (entry_make(address, BALEEN_KEY_SRC, widths[i], options, &entry, &is_widened,
			       &error))
			return complain("%s", error.text);
		if (unban_key(&entry, quiet, n))
			return EXIT_FAILED;
	}
	return 0;
}

/* --- of one ------------------------------------------------------------------- */

/* One without a state has a rule of that name. */
static bool has_live_rule(const char *device, const char *rule)
{
	struct baleen_xdp xdp;
	bool has;

	if (baleen_xdp_open(&xdp, device, false, NULL))
		return false;
	has = baleen_xdp_rule_index(&xdp, rule) >= 0;
	baleen_xdp_close(&xdp);
	return has;
}

int open_parked(const char *target, struct baleen_rule_store *book, const char **rule)
{
	char device[BALEEN_POINT_BYTES];
	struct baleen_error error;
	int ret;

	if (!split_live(target, device, sizeof(device), rule) || baleen_device_privileges(&error))
		return 0;
	ret = baleen_parked_open(device, *rule, book, &error);
	if (ret < 0)
		return -complain("%s", error.text);
	if (!ret || !has_live_rule(device, *rule))
		return ret;
	baleen_book_close(book);
	return 0;
}

/**
 * struct taking - entries to be deleted
 * @target: DEV:RULE as typed
 * @rule: its rule
 * @book: where they are
 * @exist: what is not there is fine
 * @key: one as typed
 * @wide: what it stands for when a lone IPv6 address was widened; else as @key
 * @origin: of whom
 * @entry: those found so far, of all keys
 * @n: how many
 */
struct taking {
	const char *target, *rule;
	struct baleen_rule_store book;
	bool exist;
	struct baleen_entry_text key, wide;
	const char *origin;
	struct baleen_rule_entry *entry;
	size_t n;
};

static int take(const struct baleen_rule_entry *entry, void *data)
{
	struct baleen_entry_text text = baleen_rule_entry_text(entry);
	struct taking *taking = data;

	if (strcmp(text.text, taking->key.text) && strcmp(text.text, taking->wide.text))
		return 0;
	if (baleen_array_add(&taking->entry, taking->n))
		return -ENOMEM;
	taking->entry[taking->n++] = *entry;
	return 0;
}

/* The key in its shortest form. Which fields the rule had is not known: then as it is typed. */
static int read_key(struct taking *taking, const char *key, const struct entry_options *options)
{
	struct baleen_entry_text *text[] = { &taking->key, &taking->wide };
	static const u32 widths[] = { BALEEN_BAN_WIDTH_MAX, BALEEN_BAN_WIDTH };
	struct baleen_rule_entry entry;
	struct baleen_error error;

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		if (strchr(key, ',')) {
			snprintf(text[i]->text, sizeof(text[i]->text), "%s", key);
			continue;
		}
		if (entry_make(key, BALEEN_KEY_SRC, widths[i], options, &entry, NULL, &error))
			return complain("%s", error.text);
		*text[i] = baleen_rule_entry_text(&entry);
	}
	return 0;
}

static int find_key(struct taking *taking, const char *key, const struct entry_options *options)
{
	struct baleen_error error;
	size_t n = taking->n;
	int err = read_key(taking, key, options);

	if (err)
		return err;
	err = baleen_rule_entries_each(&taking->book, taking->rule, taking->origin, take, taking,
				       &error);
	if (err)
		return complain("%s", err == -ENOMEM ? strerror(ENOMEM) : error.text);
	if (taking->n > n || taking->exist)
		return 0;
	return complain("%s: no entry %s of origin '%s': nothing changed (--exist does not mind)",
			taking->target, taking->key.text, taking->origin);
}

static int remove_found(struct taking *taking, struct baleen_error *error)
{
	int err = taking->n ? baleen_book_begin(&taking->book, error) : 0;
	u64 n;

	if (err || !taking->n)
		return err;
	for (size_t i = 0; i < taking->n && !err; i++)
		err = baleen_rule_entries_remove(&taking->book, taking->rule, &taking->entry[i],
						 taking->origin, &n, error);
	if (!err)
		return baleen_book_commit(&taking->book, error);
	baleen_book_rollback(&taking->book);
	return err;
}

static int report(const struct taking *taking, bool json)
{
	char n[NUMBER_TEXT];

	if (json)
		return print_json(json_pack("{s:o, s:b, s:b, s:I}", "target",
					    json_text(taking->target), "dry_run", 0, "in_place", 1,
					    "deleted", (json_int_t)taking->n));
	say("%s: %s deleted; parked: the rule is not there\n", taking->target,
	    format_count(taking->n, n));
	return finish_output(EXIT_DONE);
}

int del_parked(const char *target, char **keys, int n_keys, const struct entry_options *options,
	       bool exist, bool json)
{
	struct taking taking = { .target = target,
				 .exist = exist,
				 .origin = options->origin ?: BALEEN_ORIGIN_MANUAL };
	struct baleen_error error;
	int err = open_parked(target, &taking.book, &taking.rule);

	if (err <= 0)
		return err ? EXIT_FAILED : -ENOENT;
	err = 0;
	for (int i = 0; i < n_keys && !err; i++)
		err = find_key(&taking, keys[i], options);
	if (!err && remove_found(&taking, &error))
		err = complain("%s", error.text);
	if (!err)
		err = report(&taking, json);
	free(taking.entry);
	baleen_book_close(&taking.book);
	return err;
}
