/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The single entry that an element of another program's set, or a line of baleen export, stands
 * for.
 */
#ifndef BALEEN_RULE_ENTRY_IMPORT_H
#define BALEEN_RULE_ENTRY_IMPORT_H

#include "list/import_formats.h"
#include "state/entry_key.h"

/**
 * struct baleen_entry_importing - the same of all entries of a file
 * @key_spec: enum baleen_key_spec of the rule
 * @origin: who has them
 * @keeps_origins: but those that name another
 * @cleans_comments: a comment may have what no reason may: control characters become blanks, and
 *                   what is too long is cut
 * @width: of IPv6 addresses without a length; BALEEN_AS_WRITTEN: they stand for themselves
 * @now_ms: the time
 */
struct baleen_entry_importing {
	u32 key_spec;
	const char *origin;
	bool keeps_origins;
	bool cleans_comments;
	u32 width;
	u64 now_ms;
};

/**
 * baleen_entry_import() - make the single entry
 * @as: how
 * @from: as it was read
 * @entry: filled in; untouched on failure. Nobody was banned later than now, nor has an entry
 *         without a time been there before
 * @has_ended: filled in: its end has come, and it is nothing any more
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_entry_import(const struct baleen_entry_importing *as,
			const struct baleen_import_entry *from, struct baleen_rule_entry *entry,
			bool *has_ended, struct baleen_error *error);

#endif /* BALEEN_RULE_ENTRY_IMPORT_H */
