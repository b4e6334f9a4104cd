// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of many keys inside one prefix become a ban of the prefix. */
#include <stdio.h>
#include <string.h>

#include "deploy/widen.h"

static bool is_inside(const struct baleen_span *span, const struct baleen_span *prefix)
{
	return baleen_ip6_compare(span->last, prefix->last) <= 0 &&
	       (baleen_ip6_compare(span->first, prefix->first) ||
		baleen_ip6_compare(span->last, prefix->last));
}

bool baleen_widen_prefix(const struct baleen_stored_rule *rule,
			 const struct baleen_rule_entry *widened,
			 struct baleen_widen_prefix *prefix)
{
	const struct baleen_span *span = &widened->key.span;
	const struct baleen_widen *widen = &rule->widen[span->is_ip6];
	struct baleen_span wide;

	if (widened->is_exception || !strcmp(widened->origin, BALEEN_ORIGIN_WIDEN) || !widen->n ||
	    !baleen_entry_key_is_addresses(&widened->key))
		return false;
	wide = baleen_span_prefix(span, widen->length);
	if (!is_inside(span, &wide))
		return false;
	*prefix = (struct baleen_widen_prefix){ .widen = *widen, .key.span = wide };
	return true;
}

/**
 * struct own - the entry that a prefix has
 * @widened: the entry
 * @is_there: it has any
 */
struct own {
	struct baleen_rule_entry widened;
	bool is_there;
};

static int find_own(const struct baleen_rule_entry *widened, void *data)
{
	struct own *own = data;

	if (strcmp(widened->origin, BALEEN_ORIGIN_WIDEN))
		return 0;
	own->widened = *widened;
	own->is_there = true;
	return 1;
}

int baleen_widen_judge(const struct baleen_rule_store *state, const char *rule,
		       const struct baleen_widen_prefix *prefix, u64 now_ms,
		       struct baleen_rule_entry *widened, enum baleen_widen_verdict *verdict,
		       struct baleen_error *error)
{
	struct baleen_rule_entry entry = { .key = prefix->key,
					   .origin = BALEEN_ORIGIN_WIDEN,
					   .added_ms = now_ms };
	struct own own = { 0 };
	u64 n_keys;
	int err;

	err = baleen_rule_entries_of_key(state, rule, &entry, find_own, &own, error);
	if (err < 0)
		return err;
	*verdict = BALEEN_WIDEN_LEAVE;
	if (own.is_there ? !prefix->has_fewer : !prefix->has_more)
		return 0;
	err = baleen_rule_entries_inside(state, rule, &entry.key.span, BALEEN_ORIGIN_WIDEN, now_ms,
					 prefix->widen.n, &n_keys, &entry.expires_ms, error);
	if (err)
		return err;
	snprintf(entry.reason, sizeof(entry.reason), "%llu of %.128s", (unsigned long long)n_keys,
		 baleen_entry_key_text(&entry.key).text);
	if (n_keys < prefix->widen.n)
		*verdict = own.is_there ? BALEEN_WIDEN_GO : BALEEN_WIDEN_LEAVE;
	else if (!own.is_there)
		*verdict = BALEEN_WIDEN_COME;
	else if (own.widened.expires_ms != entry.expires_ms)
		*verdict = BALEEN_WIDEN_RENEW;
	*widened = entry;
	return 0;
}
