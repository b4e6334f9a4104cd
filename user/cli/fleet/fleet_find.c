// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet who and why: who has banned a key, and does it count here? */
#include <errno.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "fleet/fleet_live.h"
#include "fleet/fleet_view.h"
#include "state/entries.h"
#include "util/duration.h"

/* Hosts have so long for an answer, unless it is said otherwise. */
#define ASK_MS 3000

/**
 * struct find - a search
 * @place: the fleet
 * @now_ms: broker's time
 * @all: what was found, as JSON; NULL for text
 * @json: @all, for option_json()
 * @tells_why: also of what does not count
 * @asks_all: how it stands on all hosts
 * @wait_ms: for so long
 * @key: what is asked about
 * @set: the set that @live is about; empty before the first
 * @live: how the key fares in the rules of this host
 * @n: entries that were shown
 * @n_counts: entries that count
 */
struct find {
	struct fleet_place place;
	u64 now_ms;
	json_t *json;
	bool tells_why, asks_all;
	u64 wait_ms;
	struct baleen_fleet_key key;
	char set[BALEEN_FLEET_NAME_BYTES];
	struct baleen_fleet_live live;
	u64 n, n_counts;
};

/* A part of a ban may fare otherwise than all of it. */
static int ask_rules(struct find *find, const char *set)
{
	struct baleen_error error;

	if (!strcmp(find->set, set))
		return 0;
	if (baleen_fleet_live_ask(set, &find->key, &find->live, &error))
		return complain("%s", error.text);
	strcpy(find->set, set);
	return 0;
}

#define STATE_BYTES (BALEEN_FLEET_WHY_BYTES + 32)

static const char *state_of(const struct find *find, const struct baleen_fleet_found *found,
			    char *text)
{
	const struct baleen_fleet_held *held = found->is_own ? &find->live.own : &find->live.taken;

	if (found->state != BALEEN_FLEET_COUNTS ||
	    baleen_fleet_live_holds(&find->live, found->is_own))
		return baleen_fleet_state_text(found->state, found->hold, text, STATE_BYTES);
	snprintf(text, STATE_BYTES, "not in force here: %s",
		 held->n_rules ? held->why : "no rule takes bans of this set");
	return text;
}

static void print_found(const struct find *find, const struct baleen_fleet_found *found)
{
	char key[BALEEN_FLEET_KEY_TEXT], span[BALEEN_DURATION_TEXT], state[STATE_BYTES];
	u64 end_ms = found->entry.end_ms;

	say("%s  %s  %s", baleen_fleet_key_format(&found->entry.key, key), found->publisher,
	    state_of(find, found, state));
	if (found->state != BALEEN_FLEET_HAS_ENDED && end_ms > find->now_ms)
		say(", ends in %s", format_span(end_ms - find->now_ms, span));
	say("%s%s\n", *found->entry.reason ? ": " : "", found->entry.reason);
}

static int show(const struct baleen_fleet_found *found, void *data)
{
	char key[BALEEN_FLEET_KEY_TEXT], state[STATE_BYTES];
	struct find *find = data;
	bool counts = found->state == BALEEN_FLEET_COUNTS;

	if (!counts && !find->tells_why)
		return 0;
	if (ask_rules(find, found->entry.set))
		return EXIT_FAILED;
	find->n_counts += counts;
	find->n++;
	if (!find->json) {
		print_found(find, found);
		return 0;
	}
	json_array_append_new(find->json,
			      json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:I, s:I, s:o}", "key",
					baleen_fleet_key_format(&found->entry.key, key),
					"publisher", found->publisher, "set", found->entry.set,
					"counts", counts, "in_force",
					counts &&
						baleen_fleet_live_holds(&find->live, found->is_own),
					"state", json_text(state_of(find, found, state)), "made_ms",
					(json_int_t)found->entry.made_ms, "end_ms",
					(json_int_t)found->entry.end_ms, "reason",
					json_text(found->entry.reason)));
	return 0;
}

static int find_key(struct find *find)
{
	struct baleen_error error;
	int err;

	if (find->asks_all)
		return fleet_ask(&find->place, &find->key,
				 &(struct fleet_asking){ .wait_ms = find->wait_ms,
							 .is_json = find->json });
	err = baleen_fleet_view_find(&find->place.store, &find->key, find->now_ms, show, find,
				     &error);
	return err < 0 ? complain("%s", error.text) : err;
}

static int run_find(const struct command *command, int argc, char **argv)
{
	struct find find = { .tells_why = command == &fleet_why_command, .wait_ms = ASK_MS };
	int err = options_parse(command, &find, &argc, &argv);

	if (!err && baleen_fleet_key_parse(*argv, &find.key))
		err = complain_usage(command, "'%s': no address or prefix", *argv);
	if (!err)
		err = fleet_place_open(&find.place);
	if (err)
		return err;
	find.now_ms = fleet_now_ms(&find.place);
	err = find_key(&find);
	fleet_place_close(&find.place);
	if (err || find.asks_all) {
		json_decref(find.json);
		return err;
	}
	if (!find.json && !find.n)
		say("%s: no host of %s has banned it\n", *argv, find.place.conf.fleet);
	return finish_collected(find.json, find.n_counts ? EXIT_DONE : EXIT_FAILED);
}

static int run_who(int argc, char **argv)
{
	return run_find(&fleet_who_command, argc, argv);
}

static int run_why(int argc, char **argv)
{
	return run_find(&fleet_why_command, argc, argv);
}

static const struct option_spec options[] = {
	FLAG("all", 'a', find, asks_all, "ask all hosts, and say on how many it is in force"),
	VALUE("wait", 0, "SECONDS", option_wait, find, wait_ms,
	      "with --all: wait so long for answers (3)"),
	VALUE("json", 'j', NULL, option_json, find, json, "print an array"),
	{ 0 },
};

const struct command fleet_who_command = {
	.name = "fleet who",
	.synopsis = "[-aj] KEY",
	.help = "Who has banned an address or prefix, or a prefix that it is in, as this host knows:\n"
		"publisher, end and reason of each ban that counts, and whether the rules of this host\n"
		"drop it. Fails when there is none. --all asks each host how the key stands there.\n",
	.options = options,
	.asks = { 1, 1, "one address or prefix is asked for" },
	.run = run_who,
};

const struct command fleet_why_command = {
	.name = "fleet why",
	.synopsis = "[-aj] ADDR",
	.help = "The same, and the bans that do not count here, and why not: held by the policy,\n"
		"pardoned, their publisher suspended, or ended.\n",
	.options = options,
	.asks = { 1, 1, "one address or prefix is asked for" },
	.run = run_why,
};
