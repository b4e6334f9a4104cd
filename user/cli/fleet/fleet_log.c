// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet log: who has said what, and by which key. */
#include <stdlib.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "fleet/fleet_view.h"
#include "util/number.h"
#include "util/utc.h"

#define DEFAULT_LINES 50
/* So much tells one key from others. */
#define KEY_CHARACTERS 8

/**
 * struct log - one run of the command
 * @lines: so many, the newest
 * @place: the fleet
 * @policy: whose keys
 * @json: what was found, as JSON; NULL for text
 */
struct log {
	u64 lines;
	struct fleet_place place;
	struct baleen_fleet_policy policy;
	json_t *json;
};

static int parse_lines(const struct option_use *use)
{
	u64 *lines = use->to;

	return baleen_count_parse(use->argument, lines) ? option_refuse(use, "not a number") : 0;
}

static const char *verb_of(const struct baleen_fleet_found *found)
{
	if (baleen_fleet_is_word(&found->entry))
		return found->entry.set;
	return baleen_fleet_is_control(found->publisher) ? "pardon" : "ban";
}

/* Empty where the policy knows the host no longer. */
static const char *key_of(const struct log *log, const char *publisher, char *text)
{
	const u8 *key = baleen_fleet_policy_key(&log->policy, publisher);

	*text = '\0';
	if (key)
		baleen_fleet_public_format(key, text);
	text[KEY_CHARACTERS] = '\0';
	return text;
}

static int show_said(const struct baleen_fleet_found *found, void *data)
{
	char key[BALEEN_FLEET_KEY_TEXT], signer[BALEEN_FLEET_PUBLIC_TEXT], time[BALEEN_UTC_TEXT];
	const struct baleen_fleet_entry *entry = &found->entry;
	struct log *log = data;
	u64 made_ms = entry->made_ms - baleen_fleet_store_offset(&log->place.store);

	baleen_fleet_key_format(&entry->key, key);
	baleen_utc_format(made_ms, time);
	key_of(log, found->publisher, signer);
	if (log->json) {
		json_array_append_new(log->json,
				      json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "at", time,
						"publisher", found->publisher, "what",
						verb_of(found), "of", key, "set", entry->set, "key",
						signer, "reason", json_text(entry->reason)));
		return 0;
	}
	say("%s  %s  %s %s%s%s  (key %s)\n", time, found->publisher, verb_of(found), key,
	    *entry->reason ? ": " : "", entry->reason, *signer ? signer : "is out");
	return 0;
}

static int run(int argc, char **argv)
{
	struct log log = { .lines = DEFAULT_LINES };
	struct baleen_error error;
	int err = options_parse(&fleet_log_command, &log, &argc, &argv);

	if (!err)
		err = fleet_place_open(&log.place);
	if (err)
		return err;
	if (baleen_fleet_site_policy(&log.place.conf, &log.policy, NULL, &error) ||
	    baleen_fleet_view_newest(&log.place.store, log.lines, show_said, &log, &error))
		err = complain("%s", error.text);
	baleen_fleet_policy_free(&log.policy);
	fleet_place_close(&log.place);
	if (err) {
		json_decref(log.json);
		return err;
	}
	return finish_collected(log.json, EXIT_DONE);
}

static const struct option_spec options[] = {
	VALUE("lines", 'n', "N", parse_lines, log, lines, "so many, the newest first (50)"),
	VALUE("json", 'j', NULL, option_json, log, json, "print an array"),
	{ 0 },
};

const struct command fleet_log_command = {
	.name = "fleet log",
	.synopsis = "[-j] [-n N]",
	.help = "Who has banned, pardoned, suspended and resumed, when, why, and by which key, as this\n"
		"host knows: of what counts still, or has not been taken back yet, the newest first.\n"
		"'baleen log' has what became of it in the rules of this host.\n",
	.options = options,
	.asks = { 0, 0, "it takes no arguments" },
	.run = run,
};
