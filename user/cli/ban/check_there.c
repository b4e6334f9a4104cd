// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Is an entry that is added there already, or one that is deleted not? */
#include <string.h>

#include "cli/ban/ban.h"
#include "cli/ban/describe_entry.h"
#include "cli/open/session.h"
#include "fleet/fleet_entry.h"
#include "util/shell.h"

/**
 * struct search - an entry looked for
 * @entry: its key and origin
 * @only_own: bans of all rules do not count
 * @found: it is there
 * @is_ban: only as a ban of all rules, which is not the rule's to delete
 * @is_of_fleet: or as one of a fleet
 * @elsewhere: origin of another with the same key; empty when there is none
 */
struct search {
	const struct baleen_rule_entry *entry;
	bool only_own;
	bool found;
	bool is_ban;
	bool is_of_fleet;
	char elsewhere[BALEEN_ORIGIN_BYTES];
};

static int compare_origin(const struct baleen_rule_entry *there, void *data)
{
	struct search *search = data;

	bool is_of_fleet = baleen_origin_is_of_fleet(there->origin);

	if (there->is_ban && search->only_own)
		*(is_of_fleet ? &search->is_of_fleet : &search->is_ban) = true;
	else if (!strcmp(there->origin, search->entry->origin))
		search->found = true;
	else
		strcpy(search->elsewhere, there->origin);
	return 0;
}

static int complain_there(const struct entry_change *change, const struct search *search)
{
	return complain(
		"%s: %s is an entry of origin '%s' already: nothing changed (--exist renews it)",
		change->target, baleen_rule_entry_asked_text(search->entry).text,
		search->entry->origin);
}

/* A pardon is of the set that bans go to, and is an exception itself. */
static int complain_of_fleet(const struct entry_change *change,
			     const struct baleen_stored_rule *rule, const struct search *search)
{
	const struct baleen_entry_text key = baleen_rule_entry_asked_text(search->entry);

	if (search->entry->is_exception || strcmp(rule->fleet.set, BALEEN_FLEET_SET) != 0)
		return complain("%s: %s is of a fleet, not of this host", change->target, key.text);
	return complain("%s: %s is a ban of a fleet: 'baleen fleet pardon %s' takes it back",
			change->target, key.text, key.text);
}

static int complain_absent(const struct entry_change *change, const struct baleen_rule_store *state,
			   const struct baleen_stored_rule *rule, const struct search *search)
{
	const struct baleen_entry_text key = baleen_rule_entry_asked_text(search->entry);

	if (search->is_ban && search->entry->is_exception)
		return complain("%s: %s is an exception of bans: 'baleen ban %s' ends it",
				change->target, key.text, key.text + 1);
	if (search->is_ban)
		return complain("%s: %s is a ban of all rules that take some: 'baleen unban %s' "
				"takes it back",
				change->target, key.text, key.text);
	if (search->is_of_fleet && !*search->elsewhere)
		return complain_of_fleet(change, rule, search);
	complain("%s: no entry %s of origin '%s': nothing changed (--exist does not mind)",
		 change->target, key.text, search->entry->origin);
	explain_entry(change->target, state, rule, search->entry);
	if (*search->elsewhere)
		return complain("%s: 'baleen del --origin %s' is for that one", change->target,
				baleen_shell_word(search->elsewhere).text);
	return suggest_exception(change->target, search->entry);
}

/* The entry that is meant where there is none of just this key: an address that stands in a list is
 * not asked for as one that is typed, and the prefix that lone addresses stand for is theirs.
 */
static void find_meant(const struct baleen_rule_store *state, const struct baleen_stored_rule *rule,
		       struct search *search, struct baleen_rule_entry *entry)
{
	struct baleen_rule_entry other = *entry;

	if (search->found || !baleen_entry_key_is_addresses(&entry->key) ||
	    !entry->key.span.is_ip6 || entry->is_exception)
		return;
	if (entry->key.is_lone) {
		baleen_entry_key_fit(&other.key, 128);
		other.key.is_lone = false;
	} else if (baleen_entry_key_is_alone(&entry->key)) {
		other.key.is_lone = true;
		other.key.asked = entry->key.span.first;
		baleen_entry_key_fit(&other.key, baleen_rule_ban_width(rule));
	} else {
		baleen_rule_entries_lone(state, rule->name, entry, NULL, compare_origin, search,
					 NULL);
		return;
	}
	search->entry = &other;
	baleen_rule_entries_of_key(state, rule->name, &other, compare_origin, search, NULL);
	search->entry = entry;
	if (search->found)
		*entry = other;
}

static int check_one(const struct entry_change *change, const struct baleen_rule_store *state,
		     const struct baleen_stored_rule *rule, struct baleen_rule_entry *entry)
{
	struct search search = { .entry = entry, .only_own = !change_is_add(change) };

	baleen_rule_entries_of_key(state, rule->name, entry, compare_origin, &search, NULL);
	if (!change_is_add(change))
		find_meant(state, rule, &search, entry);
	if (change->exist || search.found != change_is_add(change))
		return 0;
	return change_is_add(change) ? complain_there(change, &search) :
				       complain_absent(change, state, rule, &search);
}

int check_there(const struct entry_change *change, const struct baleen_rule_store *state,
		const struct baleen_stored_rule *rule, struct entries *entries)
{
	/* Renewing needs no look, and a million of them would take their time. */
	if (change->exist && change_is_add(change))
		return 0;
	for (size_t i = 0; i < entries->n; i++)
		if (check_one(change, state, rule, &entries->change[i].entry))
			return EXIT_FAILED;
	return 0;
}
