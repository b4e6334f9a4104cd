// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whoever unbans an address does not want it back with a rule that comes again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/describe_entry.h"
#include "cli/ban/parked_entries.h"
#include "cli/open/filter_name.h"
#include "net/device.h"
#include "state/book.h"
#include "state/parked.h"
#include "state/scope.h"
#include "util/array.h"

/* --- of all rules ----------------------------------------------------------- */

static void say_taken(const struct baleen_parked_key *key, const struct baleen_scope *scope)
{
	for (u64 i = 0; i < key->n; i++)
		say("%s: %s deleted; it was parked: %s\n", scope[i].name,
		    baleen_rule_entry_asked_text(key->entry).text, parked_why(&scope[i]));
}

/* An address of IPv6 was banned as it was typed, or as it stands in a list. */
int unban_parked(const char *address, const struct entry_options *options, bool quiet, size_t *n)
{
	struct baleen_parked_key key[ENTRY_PAIR];
	struct baleen_rule_entry entry[ENTRY_PAIR];
	struct baleen_scopes taken = { 0 };
	struct baleen_error error;
	int n_keys =
		entry_make_pair(address, BALEEN_KEY_SRC, BALEEN_BAN_WIDTH, options, entry, &error);
	size_t n_said = 0;

	if (n_keys < 0)
		return complain("%s", error.text);
	for (int i = 0; i < n_keys; i++) {
		entry[i].origin[0] = '\0';
		key[i] = (struct baleen_parked_key){ .entry = &entry[i] };
	}
	if (baleen_parked_remove(key, n_keys, &taken, &error))
		return complain("%s", error.text);
	for (int i = 0; i < n_keys && !quiet; n_said += key[i++].n)
		say_taken(&key[i], taken.scope + n_said);
	*n += taken.n;
	baleen_scopes_free(&taken);
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
 * @meant: the entries that it may be meant for
 * @n_meant: how many; 0 of a rule whose keys are no addresses
 * @origin: of whom
 * @entry: those found so far, of all keys
 * @n: how many
 * @n_removed: of them, those that are deleted
 */
struct taking {
	const char *target, *rule;
	struct baleen_rule_store book;
	bool exist;
	const char *key;
	struct baleen_rule_entry meant[ENTRY_PAIR];
	int n_meant;
	const char *origin;
	struct baleen_rule_entry *entry;
	size_t n;
	u64 n_removed;
};

/* A prefix is meant for the lone addresses that stand for it, too. */
static bool is_meant(const struct taking *taking, const struct baleen_rule_entry *entry)
{
	if (!taking->n_meant)
		return !strcmp(baleen_rule_entry_text(entry).text, taking->key);
	for (int i = 0; i < taking->n_meant; i++)
		if (!baleen_rule_entry_compare(entry, &taking->meant[i]))
			return true;
	return entry->key.is_lone && taking->n_meant == 1 &&
	       !strcmp(baleen_rule_entry_text(entry).text,
		       baleen_rule_entry_text(&taking->meant[0]).text);
}

static int take(const struct baleen_rule_entry *entry, void *data)
{
	struct taking *taking = data;

	if (!is_meant(taking, entry))
		return 0;
	if (baleen_array_add(&taking->entry, taking->n))
		return -ENOMEM;
	taking->entry[taking->n++] = *entry;
	return 0;
}

static int find_key(struct taking *taking, const char *key, const struct entry_options *options)
{
	struct baleen_error error;
	size_t n = taking->n;
	int err;

	taking->key = key;
	taking->n_meant = entry_make_pair(key, BALEEN_KEY_SRC, BALEEN_BAN_WIDTH, options,
					  taking->meant, NULL);
	if (taking->n_meant < 0)
		taking->n_meant = 0;
	err = baleen_rule_entries_each(&taking->book, taking->rule, taking->origin, take, taking,
				       &error);
	if (err)
		return complain("%s", err == -ENOMEM ? strerror(ENOMEM) : error.text);
	if (taking->n > n || taking->exist)
		return 0;
	return complain("%s: no entry %s of origin '%s': nothing changed (--exist does not mind)",
			taking->target, taking->key, taking->origin);
}

static int remove_found(struct taking *taking, struct baleen_error *error)
{
	int err = taking->n ? baleen_book_begin(&taking->book, error) : 0;

	if (err || !taking->n)
		return err;
	for (size_t i = 0; i < taking->n && !err; i++) {
		u64 n = 0;

		err = baleen_rule_entries_remove(&taking->book, taking->rule, &taking->entry[i],
						 taking->origin, &n, error);
		taking->n_removed += n;
	}
	return baleen_book_end(&taking->book, err, error);
}

static int report(const struct taking *taking, bool json)
{
	char n[NUMBER_TEXT];

	if (json)
		return print_json(json_pack("{s:o, s:b, s:b, s:I}", "target",
					    json_text(taking->target), "dry_run", 0, "in_place", 1,
					    "deleted", (json_int_t)taking->n_removed));
	say("%s: %s deleted; parked: the rule is not there\n", taking->target,
	    format_count(taking->n_removed, n));
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
