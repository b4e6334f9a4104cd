// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of this host itself: single entries of origins that are published.
 *
 *      states of devices --> entries of each published origin --> the store finds what is new
 *
 * A state that cannot be read stops it: its entries would look as if they were taken back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/bans.h"
#include "fleet/fleet_rule.h"
#include "fleetd/fleetd.h"
#include "state/book.h"
#include "state/entries.h"
#include "state/parked.h"
#include "state/scope.h"
#include "state/rule_store_each.h"
#include "util/array.h"

/* For another writer of a device. */
#define WAIT_MS 10000

/**
 * struct search - entries of one origin
 * @fleet: the fleet
 * @origin: the origin
 * @set: of the rule that is read
 * @local: found so far
 * @n: how many
 * @error: the caller's
 */
struct search {
	struct fleet *fleet;
	const char *origin;
	const char *set;
	struct baleen_fleet_local *local;
	size_t n;
	struct baleen_error *error;
};

static int keep(const struct baleen_rule_entry *entry, void *data)
{
	struct search *search = data;
	struct baleen_fleet_local *local;
	struct baleen_entry_text key = baleen_entry_key_text(&entry->key);

	if (entry->is_exception || strlen(key.text) >= sizeof(local->key))
		return 0;
	if (baleen_array_add(&search->local, search->n))
		return baleen_no_memory(search->error);
	local = &search->local[search->n++];
	*local = (struct baleen_fleet_local){ .made_ms = entry->added_ms,
					      .end_ms = entry->expires_ms };
	strcpy(local->set, search->set);
	strcpy(local->key, key.text);
	snprintf(local->reason, sizeof(local->reason), "%s", entry->reason);
	return 0;
}

static int read_state(struct baleen_rule_store_found *found, void *data)
{
	struct search *search = data;
	struct baleen_stored_rules rules;
	int err;

	if (found->err) {
		*search->error = found->error;
		return found->err;
	}
	err = baleen_rule_store_get_rules(&found->state, &rules, search->error);
	for (u32 i = 0; i < rules.n_rules && !err; i++) {
		const struct baleen_stored_rule *rule = &rules.rule[i];

		search->set = *rule->fleet.set ? rule->fleet.set : BALEEN_FLEET_SET;
		if (baleen_fleet_rule_is_published(rule))
			err = baleen_rule_entries_each(&found->state, rule->name, search->origin,
						       keep, search, search->error);
	}
	return err;
}

/* --- bans that no rule has now -------------------------------------------------------- */

/**
 * struct book_search - bans of an origin, wherever the book has them
 * @origin: the origin
 * @key: their keys, sorted
 * @n: how many
 * @is_read: they are known
 * @error: the caller's
 */
struct book_search {
	const char *origin;
	struct baleen_fleet_key *key;
	size_t n;
	bool is_read;
	struct baleen_error *error;
};

static int keep_key(const struct baleen_rule_entry *entry, void *data)
{
	struct book_search *found = data;
	struct baleen_fleet_key key;

	if (entry->is_exception || (entry->expires_ms && entry->expires_ms <= baleen_now_ms()) ||
	    baleen_fleet_key_parse(baleen_entry_key_text(&entry->key).text, &key))
		return 0;
	if (baleen_array_add(&found->key, found->n))
		return baleen_no_memory(found->error);
	found->key[found->n++] = key;
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct baleen_fleet_key));
}

static int read_book(struct book_search *found)
{
	struct baleen_scopes scopes = { 0 };
	struct baleen_rule_store book;
	int err = baleen_book_open(&book, found->error);

	if (err)
		return err;
	err = baleen_scopes_with_entries(&book, &scopes, found->error);
	for (size_t i = 0; i < scopes.n && !err; i++) {
		if (baleen_scope_is_of_fleet(scopes.scope[i].name))
			continue;
		book.shared = scopes.scope[i].name;
		err = baleen_rule_entries_each(&book, NULL, found->origin, keep_key, found,
					       found->error);
	}
	baleen_scopes_free(&scopes);
	baleen_book_close(&book);
	if (found->n)
		qsort(found->key, found->n, sizeof(*found->key), compare_keys);
	found->is_read = !err;
	return err;
}

/* A rule that gets another name, or a device that is forgotten, takes nothing back: a ban that was
 * published goes when the book no longer has it.
 */
static int is_in_book(const struct baleen_fleet_entry *entry, void *data)
{
	struct book_search *found = data;
	int err = found->is_read ? 0 : read_book(found);

	if (err)
		return err;
	return found->n &&
	       bsearch(&entry->key, found->key, found->n, sizeof(*found->key), compare_keys);
}

static int sync_origin(struct fleet *fleet, const char *origin, struct baleen_error *error)
{
	struct search search = { .fleet = fleet, .origin = origin, .error = error };
	struct book_search book = { .origin = origin, .error = error };
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	struct baleen_fleet_publisher known;
	struct baleen_fleet_sync sync = { 0 };
	int err = baleen_rule_store_each(read_state, &search, error);

	snprintf(publisher, sizeof(publisher), "%s/%s", fleet->conf.host, origin);
	if (!err)
		err = baleen_fleet_store_find(&fleet->store, publisher, &known, error);
	if (err > 0 || (!err && search.n))
		err = baleen_fleet_own_sync_but(&fleet->store, publisher, search.local, search.n,
						baleen_now_ms(), is_in_book, &book, &sync, error);
	free(book.key);
	free(search.local);
	return err;
}

int local_sync(struct fleet *fleet, struct baleen_error *error)
{
	int err = sync_origin(fleet, OPERATOR, error);

	for (u32 i = 0; i < fleet->conf.n_publish && !err; i++)
		if (strcmp(fleet->conf.publish[i], OPERATOR))
			err = sync_origin(fleet, fleet->conf.publish[i], error);
	return err;
}

/* --- pardons ------------------------------------------------------------------------ */

/**
 * struct letting_go - own bans that pardons take back
 * @fleet: the fleet
 * @found: they
 * @n: how many
 * @error: the caller's
 */
struct letting_go {
	struct fleet *fleet;
	struct baleen_fleet_found *found;
	size_t n;
	struct baleen_error *error;
};

static int keep_found(const struct baleen_fleet_found *found, void *data)
{
	struct letting_go *going = data;

	if (baleen_array_add(&going->found, going->n))
		return baleen_no_memory(going->error);
	going->found[going->n++] = *found;
	return 0;
}

static void make_removal(const struct baleen_fleet_found *found,
			 struct baleen_rule_entry_change *change)
{
	change->op = BALEEN_RULE_ENTRY_REMOVE;
	change->entry.key = baleen_fleet_key_entry(&found->entry.key);
	strcpy(change->entry.origin, strchr(found->publisher, '/') + 1);
}

static int remove_from(struct baleen_deploy *deploy, const struct baleen_stored_rule *rule,
		       const struct letting_go *going)
{
	const char *set = *rule->fleet.set ? rule->fleet.set : BALEEN_FLEET_SET;
	struct baleen_rule_entry_change *change = calloc(going->n, sizeof(*change));
	struct baleen_batch batch = { .rule = rule->name, .change = change };
	int err = 0;

	if (!change)
		return baleen_no_memory(going->error);
	for (size_t i = 0; i < going->n; i++)
		if (!strcmp(going->found[i].entry.set, set))
			make_removal(&going->found[i], &change[batch.n++]);
	if (batch.n)
		err = baleen_deploy_batch(deploy, &batch, going->error);
	free(change);
	return err;
}

static int let_go(struct baleen_rule_store_found *found, void *data)
{
	const struct letting_go *going = data;
	struct baleen_stored_rules rules;
	struct baleen_deploy deploy;
	int err = found->err;

	if (err) {
		*going->error = found->error;
		return err;
	}
	found->is_taken = true;
	err = baleen_deploy_open_read(&deploy, &found->state, NULL, WAIT_MS, going->error);
	if (err)
		return err == -ENOENT ? 0 : err;
	err = baleen_rule_store_get_rules(&deploy.state, &rules, going->error);
	for (u32 i = 0; i < rules.n_rules && !err; i++)
		if (baleen_fleet_rule_is_published(&rules.rule[i]))
			err = remove_from(&deploy, &rules.rule[i], going);
	baleen_deploy_close(&deploy);
	return err;
}

/* Bans of all rules, which are of no device. */
static int let_go_of_bans(const struct letting_go *going)
{
	struct baleen_rule_entry_change *change = calloc(going->n, sizeof(*change));
	struct baleen_batch batch = { .change = change, .n = going->n, .only_bans = true };
	struct baleen_bans bans;
	int err;

	if (!change)
		return baleen_no_memory(going->error);
	for (size_t i = 0; i < going->n; i++)
		make_removal(&going->found[i], &change[i]);
	err = baleen_bans_open(&bans, BALEEN_SCOPE_BANS, going->error);
	if (!err)
		err = baleen_bans_put(&bans, &batch, WAIT_MS, NULL, going->error);
	baleen_bans_close(&bans);
	free(change);
	return err == -ENOENT ? 0 : err;
}

/* It goes by what is published, not by what was heard: who is killed in between does it later. */
int local_pardon(struct fleet *fleet, struct baleen_error *error)
{
	struct letting_go going = { .fleet = fleet, .error = error };
	int err = baleen_fleet_view_taken_back(&fleet->store, broker_ms(fleet), keep_found, &going,
					       error);

	if (!err && going.n)
		err = baleen_rule_store_each(let_go, &going, error);
	if (!err && going.n)
		err = let_go_of_bans(&going);
	free(going.found);
	return err;
}

/* --- bans of before ------------------------------------------------------------------ */

/**
 * struct inheriting - bans that this host has published before it lost its disk
 * @message: its snapshot
 * @origin: of them
 * @offset_ms: how far the broker's time is ahead
 * @error: the caller's
 */
struct inheriting {
	const struct baleen_fleet_message *message;
	const char *origin;
	s64 offset_ms;
	bool is_done;
	struct baleen_error *error;
};

static int make_bans(const struct inheriting *inheriting, const char *set,
		     struct baleen_batch *batch, struct baleen_rule_entry_change *change)
{
	struct baleen_fleet_change found;
	size_t at = 0;

	while (baleen_fleet_next(inheriting->message, &at, &found)) {
		struct baleen_rule_entry *entry = &change[batch->n].entry;

		if (strcmp(found.entry.set, set) || baleen_fleet_is_word(&found.entry) ||
		    found.entry.end_ms - inheriting->offset_ms <= baleen_now_ms())
			continue;
		change[batch->n++].op = BALEEN_RULE_ENTRY_PUT;
		entry->key = baleen_fleet_key_entry(&found.entry.key);
		entry->added_ms = found.entry.made_ms - inheriting->offset_ms;
		entry->expires_ms = found.entry.end_ms - inheriting->offset_ms;
		strcpy(entry->origin, inheriting->origin);
		strcpy(entry->reason, found.entry.reason);
	}
	return batch->n > 0;
}

static int ban_in_rule(struct baleen_deploy *deploy, const struct baleen_stored_rule *rule,
		       struct inheriting *inheriting)
{
	struct baleen_rule_entry_change *change =
		calloc(inheriting->message->n_entries + 1, sizeof(*change));
	struct baleen_batch batch = {
		.rule = rule->name, .change = change, .only_bans = true, .asker = BALEEN_ASKER_FLEET
	};
	int err = 0;

	if (!change)
		return baleen_no_memory(inheriting->error);
	if (make_bans(inheriting, *rule->fleet.set ? rule->fleet.set : BALEEN_FLEET_SET, &batch,
		      change))
		err = baleen_deploy_batch(deploy, &batch, inheriting->error);
	inheriting->is_done = !err;
	free(change);
	return err;
}

/* The first rule whose bans go out has them. */
static int look_for_rule(struct baleen_rule_store_found *found, void *data)
{
	struct inheriting *inheriting = data;
	struct baleen_stored_rules rules;
	struct baleen_deploy deploy;
	int err = found->err;

	if (err || inheriting->is_done)
		return 0;
	found->is_taken = true;
	err = baleen_deploy_open_read(&deploy, &found->state, NULL, WAIT_MS, inheriting->error);
	if (err)
		return err == -ENOENT ? 0 : err;
	err = baleen_rule_store_get_rules(&deploy.state, &rules, inheriting->error);
	for (u32 i = 0; i < rules.n_rules && !err && !inheriting->is_done; i++)
		if (baleen_fleet_rule_is_published(&rules.rule[i]))
			err = ban_in_rule(&deploy, &rules.rule[i], inheriting);
	baleen_deploy_close(&deploy);
	return err;
}

int local_inherit(struct fleet *fleet, const struct baleen_fleet_publisher *own, const void *bytes,
		  size_t n_bytes, u64 *n, struct baleen_error *error)
{
	struct baleen_fleet_message message;
	struct inheriting inheriting = { .message = &message,
					 .origin = strchr(own->name, '/') + 1,
					 .offset_ms = baleen_fleet_store_offset(&fleet->store),
					 .error = error };
	const char *why;
	int err;

	if (baleen_fleet_decode(bytes, n_bytes, &message, &why) ||
	    message.type != BALEEN_FLEET_SNAPSHOT || strcmp(message.publisher, own->name) ||
	    strcmp(message.fleet, fleet->conf.fleet) ||
	    !baleen_fleet_verify(bytes, n_bytes, fleet->keys.public_key))
		return 0;
	if (own->is_control)
		return baleen_fleet_own_inherit(&fleet->store, &message, broker_ms(fleet), n,
						error);
	*n = message.n_entries;
	err = baleen_rule_store_each(look_for_rule, &inheriting, error);
	if (!err && message.n_entries && !inheriting.is_done)
		return baleen_fail(
			error, ENOENT,
			"%s: no rule here takes bans of the fleet: what it had published "
			"waits",
			own->name);
	return err;
}
