/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A single entry as a line of JSON, for another host or another time.
 *
 *      {"rule":"eth0:bans","key":"192.0.2.1","origin":"manual","reason":"scans",
 *       "since":"2026-11-27T18:00:00.000Z","end":null}
 *
 * baleen_import() reads it, and entry_import.h makes the same entry of it.
 */
#ifndef BALEEN_RULE_ENTRY_JSON_H
#define BALEEN_RULE_ENTRY_JSON_H

#include <stdio.h>

#include "state/entry_key.h"

/**
 * baleen_entry_json_write() - write an entry as a line
 * @stream: keeps its error, if there is one
 * @entry: the entry
 * @scope: DEV:RULE; NULL leaves the member `rule` out
 *
 * Return: 0, also when @stream has an error; -ENOMEM, and nothing is written.
 */
int baleen_entry_json_write(FILE *stream, const struct baleen_rule_entry *entry, const char *scope);

#endif /* BALEEN_RULE_ENTRY_JSON_H */
