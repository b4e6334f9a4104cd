// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The single entry that an element of a set stands for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "state/entries.h"
#include "state/entry_import.h"

/* Never half of a character. */
static void clean_reason(const char *comment, char *reason)
{
	size_t n = 0;

	for (; *comment && n + 1 < BALEEN_REASON_BYTES; comment++)
		reason[n++] = (unsigned char)*comment < ' ' || *comment == 0x7f ? ' ' : *comment;
	while (*comment && n && ((unsigned char)reason[n - 1] & 0xc0) == 0x80)
		n--;
	if (*comment && n && (unsigned char)reason[n - 1] >= 0xc0)
		n--;
	reason[n] = '\0';
}

static int make_key(const struct baleen_entry_importing *as, const struct baleen_import_entry *from,
		    struct baleen_rule_entry *entry, struct baleen_error *error)
{
	char text[BALEEN_RULE_ENTRY_TEXT + 2];

	if (snprintf(text, sizeof(text), "%s%s", from->is_exception ? "!" : "", from->key) >=
	    (int)sizeof(text))
		return baleen_fail(error, EINVAL, "'%.64s...': longer than any key", from->key);
	return baleen_rule_entry_parse(text, as->key_spec, as->width, entry, error);
}

int baleen_entry_import(const struct baleen_entry_importing *as,
			const struct baleen_import_entry *from, struct baleen_rule_entry *entry,
			bool *has_ended, struct baleen_error *error)
{
	const char *origin = as->keeps_origins && from->origin ? from->origin : as->origin;
	struct baleen_rule_entry made = { .added_ms = as->now_ms };
	char cleaned[BALEEN_REASON_BYTES];
	const char *reason = from->comment;
	int err;

	if (as->cleans_comments) {
		clean_reason(reason, cleaned);
		reason = cleaned;
	}
	err = baleen_rule_entry_check(origin, reason, error);
	if (!err)
		err = make_key(as, from, &made, error);
	if (err)
		return err;
	strcpy(made.origin, origin);
	strcpy(made.reason, reason);
	if (from->expires_s)
		made.expires_ms = as->now_ms + from->expires_s * 1000;
	if (from->end_ms)
		made.expires_ms = from->end_ms;
	if (from->since_ms && from->since_ms < as->now_ms)
		made.added_ms = from->since_ms;
	*entry = made;
	*has_ended = made.expires_ms && made.expires_ms <= as->now_ms;
	return 0;
}
