// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A single entry as a line of JSON. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "state/entry_json.h"
#include "util/foreign.h"
#include "util/utc.h"

/* A database that somebody else has written may have bytes that are no UTF-8. */
static json_t *text_json(const char *text)
{
	char shown[4 * BALEEN_RULE_ENTRY_TEXT + 4 * BALEEN_REASON_BYTES];
	json_t *json = json_string(text);

	if (json)
		return json;
	baleen_foreign_text(shown, sizeof(shown), text, strlen(text));
	return json_string(shown);
}

static json_t *time_json(u64 ms)
{
	char text[BALEEN_UTC_TEXT];

	return ms ? json_string(baleen_utc_format(ms, text)) : json_null();
}

static json_t *entry_json(const struct baleen_rule_entry *entry, const char *scope)
{
	json_t *json = json_object();
	int err = 0;

	if (scope)
		err = json_object_set_new(json, "rule", text_json(scope));
	err |= json_object_set_new(json, "key",
				   text_json(baleen_rule_entry_asked_text(entry).text));
	err |= json_object_set_new(json, "origin", text_json(entry->origin));
	err |= json_object_set_new(json, "reason", text_json(entry->reason));
	err |= json_object_set_new(json, "since", time_json(entry->added_ms));
	err |= json_object_set_new(json, "end", time_json(entry->expires_ms));
	if (!err)
		return json;
	json_decref(json);
	return NULL;
}

int baleen_entry_json_write(FILE *stream, const struct baleen_rule_entry *entry, const char *scope)
{
	json_t *json = entry_json(entry, scope);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	if (!text)
		return -ENOMEM;
	baleen_foreign_json(stream, text);
	putc('\n', stream);
	free(text);
	return 0;
}
