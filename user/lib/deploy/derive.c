// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the state of a rule to its filter.
 *
 * Above 500 lines, since that is one thought: feeds, entries, what is withheld, and the image.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "deploy/derive.h"
#include "deploy/rule_feeds.h"
#include "list/special.h"
#include "ops/algebra.h"
#include "ops/build.h"
#include "ops/edit.h"
#include "ops/image_file.h"
#include "ops/nobody.h"

/* Room beside what there is: a ban need not be built anew for at once. */
#define SPARE_KEYS 64
#define SPARE_SHARE 1.5

/* Lists that wait to be united with one of their size: enough for any number. */
#define MAX_WAITING 64

/**
 * struct derivation - a filter on its way
 * @state: state of the device
 * @rule: the rule that has the filter
 * @now_ms: single entries that have ended by then take no part
 * @is_roomy: there shall be room for half as much again
 * @protected: keys not to be dropped; empty where that does not apply
 * @waiting: lists of feeds, each at least twice as long as the next
 * @n_waiting: how many
 * @has_image: there are images among the feeds
 * @image: the union of these
 * @entries: single entries
 * @derived: the outcome
 * @n_listed: entries of the feed, if there is one; the image tells it
 * @n_covered: of them, superfluous ones
 * @error: the caller's
 */
struct derivation {
	const struct baleen_rule_store *state;
	const struct baleen_stored_rule *rule;
	u64 now_ms;
	bool is_roomy;
	struct baleen_protected_set protected;
	struct baleen_list waiting[MAX_WAITING];
	u32 n_waiting;
	bool has_image;
	struct baleen_filter image;
	struct baleen_entry_lists entries;
	struct baleen_derived derived;
	u64 n_listed, n_covered;
	struct baleen_error *error;
};

static u64 n_entries(const struct baleen_list *list)
{
	return list->n_ip4 + list->n_net4 + list->n_ip6 + list->n_prefix6 + list->n_key;
}

/* --- feeds ----------------------------------------------------------------- */

/* The last two become one. */
static int unite_last(struct derivation *work)
{
	struct baleen_list *last = &work->waiting[--work->n_waiting];
	int err = baleen_list_unite(last - 1, last);

	baleen_list_free(last);
	return err ? baleen_no_memory(work->error) : 0;
}

/* Each key is copied as often as the number of feeds can be halved. */
static int add_list(struct derivation *work, struct baleen_list *list)
{
	int err = 0;

	work->waiting[work->n_waiting++] = *list;
	while (work->n_waiting > 1 && !err) {
		const struct baleen_list *last = &work->waiting[work->n_waiting - 1];

		if (work->n_waiting < MAX_WAITING && n_entries(last - 1) >= 2 * n_entries(last))
			break;
		err = unite_last(work);
	}
	return err;
}

static int add_image(struct derivation *work, struct baleen_filter *image)
{
	struct baleen_filter merged;
	int err;

	if (!work->has_image) {
		work->image = *image;
		work->has_image = true;
		return 0;
	}
	err = baleen_filter_merge(&work->image, image, &merged, work->error);
	baleen_filter_free(image);
	if (err)
		return err;
	baleen_filter_free(&work->image);
	work->image = merged;
	return 0;
}

static int read_image(struct derivation *work, int fd, const struct baleen_feed *feed)
{
	const struct baleen_feed_name name = baleen_feed_name(feed);
	struct baleen_filter image;
	int err = baleen_image_file_read(fd, name.text, &image, work->error);

	if (err)
		return err;
	if (image.image.key_spec != work->rule->key_spec) {
		baleen_filter_free(&image);
		return baleen_fail(work->error, EINVAL,
				   "%.600s: its keys are other ones than those of rule '%s'",
				   name.text, work->rule->name);
	}
	return add_image(work, &image);
}

static int read_list(struct derivation *work, int fd, const struct baleen_feed *feed)
{
	struct baleen_list list;
	int err = baleen_feed_read(fd, baleen_feed_name(feed).text, &feed->wanted,
				   work->rule->key_spec, NULL, &list, work->error);

	if (err)
		return err;
	list.key_spec = work->rule->key_spec;
	return add_list(work, &list);
}

static int read_feed(const struct baleen_feed *feed, void *data)
{
	struct derivation *work = data;
	int fd = baleen_feed_open(work->state, feed, work->error), err;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	work->derived.n_feeds++;
	err = feed->format == BALEEN_FEED_IMAGE ? read_image(work, fd, feed) :
						  read_list(work, fd, feed);
	close(fd);
	return err;
}

/* Afterwards work->waiting[0] is the union of all lists. */
static int read_feeds(struct derivation *work)
{
	int err = baleen_rule_feeds_each(work->state, work->rule, read_feed, work, work->error);

	while (work->n_waiting > 1 && !err)
		err = unite_last(work);
	work->waiting[0].key_spec = work->rule->key_spec;
	return err;
}

/* --- lists ----------------------------------------------------------------- */

/* Protected addresses of one role that the rule holds. */
static int count_protected(struct derivation *work, const struct baleen_list *set,
			   enum baleen_protected_role role)
{
	struct baleen_protected first;
	u64 n = 0;

	if (baleen_protected_meets(&work->protected, role, set, &n, &first))
		return baleen_no_memory(work->error);
	if (n && !work->derived.n_protected)
		work->derived.first_protected = first;
	work->derived.n_protected += n;
	return 0;
}

/* Takes a part of what is withheld out of a set. */
static int remove_protected(struct derivation *work, struct baleen_list *set,
			    enum baleen_protected_role role)
{
	struct baleen_list out = work->protected.set[role];
	u64 n_before = work->derived.n_protected;
	int err;

	if (baleen_list_is_empty(&out))
		return 0;
	err = count_protected(work, set, role);
	if (err || work->derived.n_protected == n_before)
		return err;
	out.key_spec = set->key_spec;
	return baleen_list_subtract(set, &out) ? baleen_no_memory(work->error) : 0;
}

static int guard_feeds(struct derivation *work, struct baleen_list *set)
{
	struct baleen_special_removed removed;

	if (baleen_rule_removes_special(work->rule) && baleen_special_remove(set, &removed))
		return baleen_no_memory(work->error);
	return baleen_protected_of_feeds(work->rule, BALEEN_PROTECTED_PEER) ?
		       remove_protected(work, set, BALEEN_PROTECTED_PEER) :
		       0;
}

/* An entry alone yields: from feeds, and from all that is in the set at the end, something else
 * may be taken.
 */
static int guard_entries(struct derivation *work, u32 yields)
{
	struct baleen_list *keys = &work->entries.keys[yields];
	int err = 0;

	if (yields & BALEEN_YIELDS_HOST)
		err = remove_protected(work, keys, BALEEN_PROTECTED_HOST);
	if (!err && yields & BALEEN_YIELDS_PEERS)
		err = remove_protected(work, keys, BALEEN_PROTECTED_PEER);
	return err;
}

static int add_entries(struct derivation *work, struct baleen_list *set)
{
	int err = 0;

	if (!baleen_list_is_empty(&work->entries.exceptions) &&
	    baleen_list_subtract(set, &work->entries.exceptions))
		return baleen_no_memory(work->error);
	for (u32 yields = 0; yields < BALEEN_N_YIELDS && !err; yields++) {
		err = guard_entries(work, yields);
		if (!err && baleen_list_unite(set, &work->entries.keys[yields]))
			err = baleen_no_memory(work->error);
	}
	return err;
}

/* A set holds nothing that no entry may hold, whatever it came by. */
static int guard_set(struct derivation *work, struct baleen_list *set)
{
	int err = 0;

	for (u32 role = 0; role < BALEEN_N_WITHHELD && !err; role++)
		if (baleen_protected_of_entry(work->rule, 0, role))
			err = remove_protected(work, set, role);
	return err;
}

static u64 room(const struct derivation *work, u64 n)
{
	u64 n_single_entries = 0, spare;

	for (u32 yields = 0; yields < BALEEN_N_YIELDS; yields++)
		n_single_entries += work->entries.keys[yields].n_ip4 +
				    work->entries.keys[yields].n_ip6 +
				    work->entries.keys[yields].n_key;
	spare = (work->is_roomy ? n : n_single_entries) * (SPARE_SHARE - 1) + SPARE_KEYS;

	return n + spare > work->rule->capacity ? n + spare : work->rule->capacity;
}

/* Counts the feeds as they are listed, without single entries: those come and go in
 * place, and an image that is derived again shall be the same.
 */
static void note_counts(struct derivation *work)
{
	work->n_listed = work->waiting[0].n_listed;
	work->n_covered = work->waiting[0].n_covered;
}

static int build(struct derivation *work, struct baleen_filter *filter)
{
	struct baleen_list *set = &work->waiting[0];
	struct baleen_build_options options = {
		.name = work->rule->name,
		.key_spec = work->rule->key_spec,
		.kind = work->rule->kind,
		.fpp = work->rule->fpp,
		/* More is not built at all; what the device may have of it is asked when all of its
		 * rules are there (baleen_ruleset_fits()).
		 */
		.max_bytes = baleen_rule_store_max_bytes(work->state),
	};
	int err = guard_set(work, set);

	if (err)
		return err;
	set->n_listed = work->n_listed;
	set->n_covered = work->n_covered;
	options.capacity = room(work, set->n_ip4 + set->n_ip6 + set->n_key);
	return baleen_build(set, &options, filter, work->error);
}

static int derive_of_lists(struct derivation *work, struct baleen_filter *filter)
{
	int err;

	note_counts(work);
	err = guard_feeds(work, &work->waiting[0]);
	if (!err)
		err = add_entries(work, &work->waiting[0]);
	return err ? err : build(work, filter);
}

static int derive_everything(struct derivation *work, struct baleen_filter *filter)
{
	int err = baleen_list_from_text("0.0.0.0/0\n::/0\n", "every address", work->rule->key_spec,
					&work->waiting[0], work->error);

	note_counts(work);
	return err ? err : build(work, filter);
}

/* --- images ---------------------------------------------------------------- */

static int refuse(struct derivation *work, const struct baleen_error *why, int err)
{
	return baleen_fail(work->error, -err, "rule '%s': its image: %.900s", work->rule->name,
			   why->text);
}

/* Would taking out a key that only looks as if it were in take others with it? */
static bool counts_down(const struct baleen_filter *image, u32 domain)
{
	const struct baleen_table *table = &image->image.table[domain];

	return table->kind == BALEEN_KIND_COUNTING ||
	       (table->kind == BALEEN_KIND_CUCKOO && !baleen_table_tells_apart(table, domain));
}

/* A user who deletes a key knows that it was in. Nobody knows that of protected keys. */
static int check_protected(const struct baleen_filter *image, const struct baleen_list *held,
			   struct baleen_error *error)
{
	bool is_vague = (held->n_ip4 && counts_down(image, BALEEN_IP4)) ||
			(held->n_ip6 && counts_down(image, BALEEN_IP6));

	for (size_t i = 0; i < held->n_key; i++)
		is_vague |= counts_down(image, held->key[i].domain);
	return is_vague ? baleen_fail(error, EOPNOTSUPP,
				      "it may hold what must not be dropped, and taking that out "
				      "could lose other keys: build it again without") :
			  0;
}

/* Takes a set out of the image; with a @role it is counted as withheld. */
static int cut_image(struct derivation *work, const struct baleen_list *set, bool is_optional,
		     const enum baleen_protected_role *role)
{
	struct baleen_list held = { 0 }, asked = *set;
	struct baleen_error why;
	int err;

	asked.key_spec = work->rule->key_spec;
	err = baleen_filter_held(&work->image, &asked, is_optional, &held, &why);
	if (!err && role)
		err = check_protected(&work->image, &held, &why);
	if (!err)
		err = baleen_filter_edit_self(&work->image, &held, BALEEN_SET_DIFFERENCE, &why);
	if (err)
		refuse(work, &why, err);
	else if (role)
		err = count_protected(work, &held, *role);
	baleen_list_free(&held);
	return err;
}

static int cut_special(struct derivation *work)
{
	struct baleen_list special;
	int err;

	if (!baleen_rule_removes_special(work->rule))
		return 0;
	err = baleen_special_list(work->rule->key_spec, &special, work->error);
	if (err)
		return err;
	err = cut_image(work, &special, true, NULL);
	baleen_list_free(&special);
	return err;
}

/* As remove_protected() does of lists; what was not loaded has no key, either. */
static int cut_protected(struct derivation *work, enum baleen_protected_role role)
{
	const struct baleen_list *set = &work->protected.set[role];
	struct baleen_error why;
	int err;

	if (role != BALEEN_PROTECTED_NOBODY)
		return baleen_list_is_empty(set) ? 0 : cut_image(work, set, false, &role);
	err = baleen_filter_leave_nobody(&work->image, &work->derived.n_protected, &why);
	return err ? refuse(work, &why, err) : 0;
}

static int cut_feeds(struct derivation *work)
{
	int err = cut_special(work);

	if (!err && baleen_protected_of_feeds(work->rule, BALEEN_PROTECTED_PEER))
		err = cut_protected(work, BALEEN_PROTECTED_PEER);
	return err ? err : cut_image(work, &work->entries.exceptions, false, NULL);
}

static int unite_image(struct derivation *work, const struct baleen_list *set)
{
	struct baleen_error why;
	int err = baleen_filter_edit_self(&work->image, set, BALEEN_SET_UNION, &why);

	return err ? refuse(work, &why, err) : 0;
}

/* Each step is passed over when it would change nothing, so an image that is
 * alone stays as it was received.
 */
static int derive_of_image(struct derivation *work, struct baleen_filter *filter)
{
	struct baleen_list *set = &work->waiting[0];
	int err = guard_feeds(work, set);

	if (!err)
		err = cut_feeds(work);
	if (!err)
		err = add_entries(work, set);
	if (!err)
		err = unite_image(work, set);
	for (u32 role = 0; role < BALEEN_N_WITHHELD && !err; role++)
		if (baleen_protected_of_entry(work->rule, 0, role))
			err = cut_protected(work, role);
	if (err)
		return err;
	*filter = work->image;
	work->image = (struct baleen_filter){ 0 };
	return 0;
}

/* --- all ------------------------------------------------------------------- */

static int prepare(struct derivation *work)
{
	const struct baleen_stored_rule *rule = work->rule;
	int err = 0;

	if (baleen_protected_applies(rule))
		err = baleen_protected_load(work->state, &work->protected, work->error);
	work->waiting[0].key_spec = rule->key_spec;
	if (err || rule->is_any)
		return err;
	err = baleen_rule_entries_to_lists(work->state, rule->name, rule->key_spec, work->now_ms,
					   &work->entries, work->error);
	work->derived.n_single_entries = baleen_rule_entries_count(work->state, rule->name, NULL);
	return err ? err : read_feeds(work);
}

static void clean(struct derivation *work)
{
	for (u32 i = 0; i < MAX_WAITING; i++)
		baleen_list_free(&work->waiting[i]);
	baleen_entry_lists_free(&work->entries);
	baleen_filter_free(&work->image);
	baleen_protected_free(&work->protected);
}

static int derive(struct derivation *work, struct baleen_filter *filter)
{
	int err = prepare(work);

	if (!err && work->rule->is_any)
		err = derive_everything(work, filter);
	else if (!err && work->has_image)
		err = derive_of_image(work, filter);
	else if (!err)
		err = derive_of_lists(work, filter);
	clean(work);
	return err;
}

int baleen_derive(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		  u64 now_ms, struct baleen_filter *filter, struct baleen_derived *derived,
		  struct baleen_error *error)
{
	struct derivation work = { .state = state, .rule = rule, .now_ms = now_ms, .error = error };
	int err = derive(&work, filter);

	if (!err && derived)
		*derived = work.derived;
	return err;
}

int baleen_derive_roomy(const struct baleen_rule_store *state,
			const struct baleen_stored_rule *rule, u64 now_ms,
			struct baleen_filter *filter, struct baleen_error *error)
{
	struct derivation work = {
		.state = state, .rule = rule, .now_ms = now_ms, .is_roomy = true, .error = error
	};

	return derive(&work, filter);
}
