// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A list added to a filter or taken out of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <baleen/inplace.h>

#include "filter/estimate.h"
#include "filter/directory_table.h"
#include "filter/filter_strings.h"
#include "filter/live.h"
#include "filter/plan.h"
#include "list/list_set.h"
#include "ops/change.h"

/* Up to this load keys are reliably added in place, and rarely move. */
#define ROOMY_LOAD 0.65

/* So that the first keys of a family do not build anew again and again. */
#define MIN_ROOM 64

/* --- hosts and keys one by one --------------------------------------------- */

u64 baleen_change_n_keys(const struct baleen_list *list)
{
	return list->n_ip4 + list->n_ip6 + list->n_key;
}

struct baleen_key baleen_change_key(const struct baleen_list *list, u64 i)
{
	struct baleen_key key = { .domain = BALEEN_IP4 };

	if (i < list->n_ip4) {
		key.ip4 = list->ip4[i];
		return key;
	}
	i -= list->n_ip4;
	if (i < list->n_ip6) {
		key.domain = BALEEN_IP6;
		key.hi = list->ip6[i].hi;
		key.lo = list->ip6[i].lo;
		return key;
	}
	return list->key[i - list->n_ip6];
}

static bool has_prefixes(const struct baleen_list *list)
{
	return list->n_net4 || list->n_prefix6;
}

/* --- what changes nothing -------------------------------------------------- */

static void note(struct baleen_noop_keys *noop, const char *text)
{
	if (!noop->n++)
		snprintf(noop->text, sizeof(noop->text), "%s", text);
}

static void note_net4(struct baleen_noop_keys *noop, const struct baleen_net4 *net)
{
	struct baleen_key first = { .domain = BALEEN_IP4, .ip4 = net->first };
	struct baleen_key last = { .domain = BALEEN_IP4, .ip4 = net->last };
	char from[BALEEN_KEY_TEXT], to[BALEEN_KEY_TEXT], text[BALEEN_ENTRY_TEXT];
	u32 length = baleen_net4_prefix(net);

	baleen_key_format(&first, BALEEN_KEY_SRC, from);
	baleen_key_format(&last, BALEEN_KEY_SRC, to);
	if (net->last - net->first == (u32)((1ull << (32 - length)) - 1))
		snprintf(text, sizeof(text), "%s/%u", from, length);
	else
		snprintf(text, sizeof(text), "%s-%s", from, to);
	note(noop, text);
}

static void note_prefix6(struct baleen_noop_keys *noop, const struct baleen_prefix6 *prefix)
{
	struct baleen_key key = { .domain = BALEEN_IP6, .hi = prefix->hi, .lo = prefix->lo };
	char address[BALEEN_KEY_TEXT], text[BALEEN_ENTRY_TEXT];

	baleen_key_format(&key, BALEEN_KEY_SRC, address);
	if (prefix->length == 128)
		snprintf(text, sizeof(text), "%s", address);
	else
		snprintf(text, sizeof(text), "%s/%u", address, prefix->length);
	note(noop, text);
}

/* Has a list that is part of a change anything of this interval of it? */
static bool has_any4(const struct baleen_list *list, const struct baleen_net4 *net)
{
	size_t low = 0, high = list->n_ip4;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->ip4[middle] < net->first)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < list->n_ip4 && list->ip4[low] <= net->last)
		return true;
	low = 0;
	high = list->n_net4;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->net4[middle].last < net->first)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->n_net4 && list->net4[low].first <= net->last;
}

static struct baleen_prefix6 entry6(const struct baleen_list *list, size_t i)
{
	if (list->n_prefix6)
		return list->prefix6[i];
	return (struct baleen_prefix6){ .hi = list->ip6[i].hi,
					.lo = list->ip6[i].lo,
					.length = 128 };
}

/* The first entry from the prefix on is in it, or none is; and since an
 * exception stands behind what it is cut out of, it is none.
 */
static bool has_any6(const struct baleen_list *list, const struct baleen_prefix6 *prefix)
{
	size_t low = 0, high = list->n_prefix6 ? list->n_prefix6 : list->n_ip6, n = high;
	struct baleen_prefix6 entry;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		entry = entry6(list, middle);
		if (entry.hi < prefix->hi || (entry.hi == prefix->hi && entry.lo < prefix->lo))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == n)
		return false;
	entry = entry6(list, low);
	return baleen_prefix6_is_around(prefix, &entry);
}

/* The prefixes of a change do not overlap: @left are those that would change the filter. */
static void find_prefixes(const struct baleen_list *change, const struct baleen_list *left,
			  struct baleen_noop_keys *noop)
{
	for (size_t i = 0; i < change->n_net4; i++)
		if (!has_any4(left, &change->net4[i]))
			note_net4(noop, &change->net4[i]);
	for (size_t i = 0; i < change->n_prefix6; i++)
		if (!has_any6(left, &change->prefix6[i]))
			note_prefix6(noop, &change->prefix6[i]);
}

static int find_noop_prefixes(const struct baleen_filter *filter, const struct baleen_list *change,
			      enum baleen_set_op op, struct baleen_noop_keys *noop,
			      struct baleen_error *error)
{
	struct baleen_list listed = { 0 }, left = { 0 };
	int err = baleen_filter_check_edit(filter, change, op, error);

	if (!err)
		err = baleen_filter_list_exact(filter, &listed, error);
	if (err)
		return err;
	listed.key_spec = change->key_spec;
	err = baleen_list_combine(change, &listed,
				  op == BALEEN_SET_UNION ? BALEEN_SET_DIFFERENCE :
							   BALEEN_SET_INTERSECTION,
				  &left);
	if (err)
		err = baleen_fail(error, -err, "no memory for the entries that change");
	else
		find_prefixes(change, &left, noop);
	baleen_list_free(&left);
	baleen_list_free(&listed);
	return err;
}

static bool is_narrow(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	return table->kind == BALEEN_KIND_CUCKOO && !baleen_table_keeps_hashes(table, domain);
}

/* A key in such a table may as well be another one that looks the same; or, where
 * copies count, one of its copies.
 */
static bool is_vague(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	if (filter->image.flags & BALEEN_FLAG_COPIES)
		return true;
	return baleen_table_is_bit_array(table) || is_narrow(filter, domain) ||
	       (table->kind == BALEEN_KIND_QUOTIENT &&
		!baleen_table_is_exact(&filter->image, domain)) ||
	       (table->kind == BALEEN_KIND_COMPACT && !baleen_table_tells_apart(table, domain));
}

static bool is_noop(const struct baleen_filter *filter, const struct baleen_key *key,
		    enum baleen_set_op op, bool is_in)
{
	return op == BALEEN_SET_UNION ? is_in && !is_vague(filter, key->domain) : !is_in;
}

void baleen_change_key_text(const struct baleen_filter *filter, const struct baleen_list *list,
			    const struct baleen_key *key, char *text)
{
	struct baleen_string string;
	size_t at = 0;

	baleen_key_format(key, filter->image.key_spec, text);
	while (baleen_strings_next(&list->strings, &at, &string))
		if (baleen_string_key(filter, string).hi == key->hi)
			baleen_string_show(string, text);
}

void baleen_change_note_noop(const struct baleen_filter *filter, const struct baleen_list *change,
			     enum baleen_set_op op, const u8 *is_in, struct baleen_noop_keys *noop)
{
	u64 n = baleen_change_n_keys(change);
	char text[BALEEN_KEY_TEXT];

	*noop = (struct baleen_noop_keys){ .n_entries = n + change->n_net4 + change->n_prefix6 };
	for (u64 i = 0; i < n; i++) {
		struct baleen_key key = baleen_change_key(change, i);

		if (!is_noop(filter, &key, op, is_in ? is_in[i] : baleen_filter_test(filter, &key)))
			continue;
		if (!noop->n)
			baleen_change_key_text(filter, change, &key, text);
		note(noop, text);
	}
}

int baleen_change_find_noop(const struct baleen_filter *filter, const struct baleen_list *change,
			    enum baleen_set_op op, struct baleen_noop_keys *noop,
			    struct baleen_error *error)
{
	struct baleen_noop_keys found;
	int err = 0;

	baleen_change_note_noop(filter, change, op, NULL, &found);
	if (has_prefixes(change))
		err = find_noop_prefixes(filter, change, op, &found, error);
	if (!err)
		*noop = found;
	return err;
}

/* --- in place -------------------------------------------------------------- */

/* May this addition be refused when others have been made? */
static bool may_be_refused(const struct baleen_filter *filter, const struct baleen_key *key)
{
	const struct baleen_table *table = filter->image.table;

	if (key->domain == BALEEN_IP6 && table[BALEEN_IP6_STEMS].kind)
		return true;
	return !baleen_table_is_bit_array(&table[key->domain]);
}

/* Refuses changes that no room makes possible. Otherwise only a cuckoo table refuses
 * an addition, and that can be undone: with a Bloom table, which undoes nothing,
 * they do not even begin.
 */
int baleen_change_check_in_place(const struct baleen_filter *filter,
				 const struct baleen_list *change, enum baleen_set_op op)
{
	bool has_bloom = baleen_filter_has_bloom(filter);
	u64 n = baleen_change_n_keys(change);

	if (has_prefixes(change))
		return -ENOSPC;
	for (u64 i = 0; i < n; i++) {
		struct baleen_key key = baleen_change_key(change, i);

		if (op == BALEEN_SET_UNION && key.domain > BALEEN_IP6 &&
		    !filter->image.table[key.domain].kind)
			return -ENOSPC;
		if (op == BALEEN_SET_UNION && has_bloom && may_be_refused(filter, &key))
			return -ENOSPC;
		/* It would take others with it, which only copies do not. */
		if (op == BALEEN_SET_DIFFERENCE &&
		    !baleen_image_may_del(&filter->image, key.domain))
			return -EOPNOTSUPP;
	}
	return 0;
}

static int change_one(struct baleen_filter *filter, const struct baleen_key *key,
		      enum baleen_set_op op, bool *changed)
{
	*changed = false;
	return op == BALEEN_SET_UNION ? baleen_live_add(filter, key, changed) :
					baleen_live_del(filter, key, changed);
}

/* An addition frees its slot again; a key that was removed finds its slot free. */
static void undo(struct baleen_filter *filter, const struct baleen_list *change,
		 enum baleen_set_op op, const bool *changed, u64 n)
{
	enum baleen_set_op back = op == BALEEN_SET_UNION ? BALEEN_SET_DIFFERENCE : BALEEN_SET_UNION;
	bool ignored;

	while (n--) {
		struct baleen_key key = baleen_change_key(change, n);

		if (changed[n])
			change_one(filter, &key, back, &ignored);
	}
}

int baleen_change_in_place(struct baleen_filter *filter, const struct baleen_list *change,
			   enum baleen_set_op op, u64 *n_changed)
{
	u64 n = baleen_change_n_keys(change), sum = 0;
	bool *changed;
	int err = baleen_change_check_in_place(filter, change, op);

	if (err)
		return err;
	changed = calloc(n + 1, sizeof(*changed));
	if (!changed)
		return -ENOMEM;
	for (u64 i = 0; i < n && !err; i++) {
		struct baleen_key key = baleen_change_key(change, i);

		err = change_one(filter, &key, op, &changed[i]);
		if (err)
			undo(filter, change, op, changed, i);
		sum += changed[i];
		if (changed[i])
			baleen_filter_note_change(filter, key.domain, op);
	}
	free(changed);
	if (!err)
		*n_changed = sum;
	return err;
}

void baleen_change_seal(struct baleen_filter *filter)
{
	struct baleen_image *image = &filter->image;

	baleen_live_repair(filter);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		image->table[domain].n_entries = baleen_filter_count(filter, domain);
	/* It no longer equals the lists that it was made of. */
	image->n_listed = 0;
	image->n_covered = 0;
	baleen_filter_seal(filter);
}

/* --- aside ----------------------------------------------------------------- */

u64 baleen_filter_keys(const struct baleen_filter *filter)
{
	u64 n = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		n += baleen_filter_count(filter, domain);
	return n;
}

/* Was it for want of room that it was refused in place? Not where there is no
 * table that could be full.
 */
static bool is_for_room(const struct baleen_filter *filter, const struct baleen_list *change)
{
	u64 n = baleen_change_n_keys(change);

	for (u64 i = 0; i < n && !has_prefixes(change); i++) {
		struct baleen_key key = baleen_change_key(change, i);

		if (filter->image.table[key.domain].kind == BALEEN_KIND_CUCKOO ||
		    filter->image.table[key.domain].kind == BALEEN_KIND_QUOTIENT ||
		    baleen_kind_has_chains(filter->image.table[key.domain].kind))
			return true;
	}
	return false;
}

int baleen_change_aside(const struct baleen_filter *filter, const struct baleen_list *change,
			enum baleen_set_op op, bool is_full, bool fixed, struct baleen_filter *out,
			struct baleen_error *error)
{
	u64 n = baleen_filter_keys(filter) +
		(op == BALEEN_SET_UNION ? baleen_change_n_keys(change) : 0);
	u64 roomy = n * (BALEEN_LOAD_FACTOR / ROOMY_LOAD) + MIN_ROOM;
	u64 capacity = baleen_filter_room(filter);
	struct baleen_filter built;
	int err;

	if (op == BALEEN_SET_UNION && !fixed && roomy > capacity &&
	    (n > capacity || (is_full && is_for_room(filter, change))))
		capacity = roomy;
	err = baleen_filter_edit(filter, change, op, capacity, &built, error);
	if (err)
		return err;
	if (fixed && built.n_bytes > filter->n_bytes) {
		err = baleen_fail(error, ENOSPC, "full: this takes %zu bytes, it has %zu",
				  built.n_bytes, filter->n_bytes);
		baleen_filter_free(&built);
		return err;
	}
	*out = built;
	return 0;
}
