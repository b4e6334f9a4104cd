// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp status: for whom is answered, and how it goes. */
#include <errno.h>
#include <string.h>

#include "cli/common/describe.h"
#include "cli/common/options.h"
#include "cli/icp/icp_counters.h"
#include "cli/icp/icp_verbs.h"
#include "icp/icp_words.h"
#include "key/key_text.h"
#include "util/duration.h"
#include "util/number.h"
#include "util/shell.h"

/**
 * struct view - an instance at a moment
 * @icp: opened
 * @stats: its counters
 * @now_ns: on its clock
 */
struct view {
	const struct baleen_icp *icp;
	struct baleen_icp_stats stats;
	u64 now_ns;
};

static const struct baleen_icp_config *config_of(const struct view *view)
{
	return &view->icp->now.config;
}

/* Milliseconds since then; 0 is never, so it is not asked. */
static u64 age_ms(const struct view *view, u64 at_ns)
{
	return view->now_ns > at_ns ? (view->now_ns - at_ns) / 1000000 : 0;
}

static const char *feeder_text(const struct view *view, u32 n, char *text)
{
	const struct baleen_icp_feeder *feeder = &config_of(view)->feeder[n];

	return baleen_icp_address_text(feeder->address_hi, feeder->address_lo, text);
}

/* --- JSON ------------------------------------------------------------------ */

static json_t *age(const struct view *view, u64 at_ns)
{
	return at_ns ? json_integer(age_ms(view, at_ns)) : json_null();
}

static json_t *describe_sibling(const struct view *view, u32 n, bool *sound)
{
	const struct baleen_icp_sibling *sibling = &config_of(view)->sibling[n];
	json_t *json, *feeders = json_array();
	char text[BALEEN_KEY_TEXT];
	struct baleen_filter filter;
	struct baleen_error error;

	if (baleen_icp_filter(view->icp, n, &filter, &error)) {
		json = json_pack("{s:o}", "error", json_text(error.text));
		*sound = false;
	} else {
		json = describe_filter(&filter);
		baleen_filter_free(&filter);
	}
	for (u32 i = 0; i < config_of(view)->n_feeders; i++)
		if (sibling->feeders & 1u << i)
			json_array_append_new(feeders, json_string(feeder_text(view, i, text)));
	baleen_icp_address_text(sibling->address_hi, sibling->address_lo, text);
	json_object_set_new(json, "name", json_string(sibling->name));
	json_object_set_new(json, "address", json_string(text));
	if (sibling->other_lo)
		json_object_set_new(json, "other_address",
				    json_string(baleen_icp_address_text(sibling->other_hi,
									sibling->other_lo, text)));
	json_object_set_new(json, "mode", json_string(baleen_icp_mode_text(sibling->mode)));
	json_object_set_new(json, "feeders", feeders);
	json_object_set_new(json, "entries",
			    json_integer(baleen_icp_entries(view->icp, n, &view->stats)));
	json_object_set_new(json, "fresh", json_boolean(baleen_icp_is_fresh(view->icp, n)));
	json_object_set_new(json, "synced_ms", age(view, view->icp->state->synced_ns[n]));
	json_object_set_new(json, "confirmed_ms", age(view, view->icp->state->confirmed_ns[n]));
	describe_icp_sibling(json, &view->stats.sibling[n]);
	return json;
}

static json_t *describe_feeder(const struct view *view, u32 n)
{
	char text[BALEEN_KEY_TEXT];
	json_t *json = json_object();

	json_object_set_new(json, "address", json_string(feeder_text(view, n, text)));
	json_object_set_new(json, "heard_ms", age(view, view->icp->state->heard[n].at_ns));
	describe_icp_feeder(json, &view->stats.feeder[n]);
	return json;
}

static json_t *describe_feed(const struct view *view)
{
	const struct baleen_icp *icp = view->icp;
	const char *device = icp->feed_device[0] ? icp->feed_device : icp->device;

	if (!config_of(view)->feed_port)
		return json_null();
	return json_pack("{s:o, s:i, s:b}", "device", json_text(device), "port",
			 config_of(view)->feed_port, "attached", icp->is_fed);
}

static json_t *describe(const struct view *view, bool *sound)
{
	const struct baleen_icp *icp = view->icp;
	const struct baleen_icp_config *config = config_of(view);
	json_t *json = json_object(), *siblings = json_array(), *feeders = json_array();

	for (u32 i = 0; i < config->n_siblings; i++)
		json_array_append_new(siblings, describe_sibling(view, i, sound));
	for (u32 i = 0; i < config->n_feeders; i++)
		json_array_append_new(feeders, describe_feeder(view, i));
	json_object_set_new(json, "device", json_text(icp->device));
	json_object_set_new(json, "device_at_attach", json_text(config->device));
	json_object_set_new(json, "ifindex", json_integer(icp->pins.ifindex));
	json_object_set_new(json, "state",
			    json_string(baleen_attach_status_text(icp->attach_status)));
	json_object_set_new(json, "enforced", json_boolean(baleen_icp_is_enforced(icp)));
	json_object_set_new(json, "mode", json_string(baleen_mode_text(icp->there.mode)));
	json_object_set_new(json, "behind_filter", json_boolean(icp->behind_fd >= 0));
	json_object_set_new(json, "program_id", json_integer(icp->now.program_id));
	json_object_set_new(json, "generation", json_integer(config->generation));
	json_object_set_new(json, "switching", json_boolean(icp->is_switching));
	json_object_set_new(json, "port", json_integer(config->port));
	json_object_set_new(json, "feed", describe_feed(view));
	json_object_set_new(json, "stale_ms", json_integer(config->stale_ns / 1000000));
	json_object_set_new(json, "confirm_ms", json_integer(config->confirm_ns / 1000000));
	json_object_set_new(json, "siblings", siblings);
	json_object_set_new(json, "feeders", feeders);
	json_object_set_new(json, "others", json_integer(view->stats.others));
	json_object_set_new(json, "feed_strangers", json_integer(view->stats.feed_strangers));
	return json;
}

/* --- text ------------------------------------------------------------------ */

static void print_life(const struct view *view)
{
	const struct baleen_icp *icp = view->icp;

	say("%s: ", icp->device);
	switch (icp->attach_status) {
	case BALEEN_ATTACH_STATUS_ATTACHED:
		say("attached%s, %s%s, program %u, port %u",
		    icp->behind_fd >= 0 ? " behind the filter" : "",
		    baleen_mode_text(icp->there.mode),
		    icp->there.mode == BALEEN_MODE_GENERIC ? " (degraded: behind the driver)" : "",
		    icp->now.program_id, config_of(view)->port);
		if (strcmp(icp->device, config_of(view)->device))
			say(", was %s at attach", config_of(view)->device);
		break;
	case BALEEN_ATTACH_STATUS_GONE:
		/* Not by its name, which another device may have by now. */
		say("NOT IN FORCE: device %d is gone; 'baleen icp detach --gone' forgets it",
		    icp->pins.ifindex);
		break;
	case BALEEN_ATTACH_STATUS_MOVED:
		say("attached, but to a device that is now in another network namespace; "
		    "'baleen icp detach %s' takes it off",
		    baleen_shell_word(icp->device).text);
		break;
	case BALEEN_ATTACH_STATUS_DETACHED:
		say("NOT IN FORCE: somebody detached it; detach and attach again");
		break;
	case BALEEN_ATTACH_STATUS_REPLACED:
		say("NOT IN FORCE: program '%s' (id %u, %s) is there instead",
		    icp->there.name[0] ? icp->there.name : "?", icp->there.id,
		    baleen_mode_text(icp->there.mode));
		break;
	}
	putchar('\n');
}

static void print_feed(const struct view *view)
{
	const struct baleen_icp *icp = view->icp;
	char strangers[NUMBER_TEXT];

	if (!config_of(view)->feed_port)
		return;
	say("  feed at %s:%u", icp->feed_device[0] ? icp->feed_device : icp->device,
	    config_of(view)->feed_port);
	if (!icp->is_fed)
		say(": NOT HEARD: the program is not there any more; detach and attach again");
	else if (icp->is_switching)
		say(": a resync goes on, or was killed: the next one finishes that");
	if (view->stats.feed_strangers)
		say(": passed: %s of strangers",
		    format_count(view->stats.feed_strangers, strangers));
	putchar('\n');
}

static void print_age(const struct view *view, const char *what, u64 at_ns)
{
	char span[BALEEN_DURATION_TEXT];

	if (at_ns)
		say("%s %s ago", what, format_span(age_ms(view, at_ns), span));
	else
		say("never %s", what);
}

static void print_filter_line(const struct view *view, u32 n, bool *sound)
{
	char entries[NUMBER_TEXT], size[NUMBER_TEXT], kind[80];
	struct baleen_filter filter;
	struct baleen_error error;
	u64 n_entries;

	if (baleen_icp_filter(view->icp, n, &filter, &error)) {
		say("DAMAGED: %s\n", error.text);
		*sound = false;
		return;
	}
	describe_kind(&filter, kind, sizeof(kind));
	n_entries = baleen_icp_entries(view->icp, n, &view->stats);
	say("%s %s, %s, %s\n", format_count(n_entries, entries),
	    baleen_plural(n_entries, "entry", "entries"), kind, format_bytes(filter.n_bytes, size));
	baleen_filter_free(&filter);
}

static void print_sibling(const struct view *view, u32 n, bool *sound)
{
	const struct baleen_icp_sibling *sibling = &config_of(view)->sibling[n];
	char text[BALEEN_KEY_TEXT];

	say("  %-12s %s", sibling->name,
	    baleen_icp_address_text(sibling->address_hi, sibling->address_lo, text));
	if (sibling->other_lo)
		say(" and %s", baleen_icp_address_text(sibling->other_hi, sibling->other_lo, text));
	say(", %s: ", baleen_icp_mode_text(sibling->mode));
	print_filter_line(view, n, sound);
	say("        %s: ", baleen_icp_is_fresh(view->icp, n) ? "fresh" : "STALE, queries pass");
	print_age(view, "synced", view->icp->state->synced_ns[n]);
	if (sibling->mode == BALEEN_ICP_ANSWER && config_of(view)->confirm_ns) {
		say(", ");
		print_age(view, "confirmed", view->icp->state->confirmed_ns[n]);
	}
	for (u32 i = 0; i < config_of(view)->n_feeders; i++) {
		if (!(sibling->feeders & 1u << i))
			continue;
		say(", %s ", feeder_text(view, i, text));
		print_age(view, "heard", view->icp->state->heard[i].at_ns);
	}
	putchar('\n');
	print_icp_sibling(&view->stats.sibling[n], sibling->feeders,
			  sibling->mode == BALEEN_ICP_OBSERVE);
}

static void print_view(const struct view *view, bool *sound)
{
	char text[BALEEN_KEY_TEXT];

	print_life(view);
	print_feed(view);
	if (view->icp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED && !view->icp->is_observing)
		puts("  NOT OBSERVED: the program on the way out is not there any more");
	for (u32 i = 0; i < config_of(view)->n_siblings; i++)
		print_sibling(view, i, sound);
	for (u32 i = 0; i < config_of(view)->n_feeders; i++) {
		say("  feeder %s", feeder_text(view, i, text));
		print_icp_feeder(&view->stats.feeder[i]);
	}
}

/* --- all ------------------------------------------------------------------- */

/* Prints or collects one device; EXIT_FAILED when something is not in force. */
static int show(const struct baleen_icp *icp, json_t *all)
{
	struct view view = { .icp = icp, .now_ns = baleen_icp_now_ns() };
	bool sound = baleen_icp_is_enforced(icp);
	struct baleen_error error;

	if (baleen_icp_stats(icp, &view.stats, &error))
		return complain("%s", error.text);
	if (all)
		json_array_append_new(all, describe(&view, &sound));
	else
		print_view(&view, &sound);
	return sound ? EXIT_DONE : EXIT_FAILED;
}

struct walk {
	json_t *all;
	u32 n_shown;
	int result;
};

static int show_pins(const struct baleen_pins *pins, void *data)
{
	struct walk *walk = data;
	struct baleen_error error;
	struct baleen_icp icp;
	int err = baleen_icp_open_pins(&icp, pins, &error);

	/* An attach that was killed left no link; the next one cleans up. */
	if (err == -ENOENT)
		return 0;
	if (err) {
		walk->result = complain("%s", error.text);
		return 0;
	}
	if (show(&icp, walk->all))
		walk->result = EXIT_FAILED;
	baleen_icp_close(&icp);
	walk->n_shown++;
	return 0;
}

static int status_all(json_t *all)
{
	struct walk walk = { .all = all, .result = EXIT_DONE };
	struct baleen_error error;

	if (baleen_icp_each(show_pins, &walk, &error))
		return complain("%s", error.text);
	if (!walk.n_shown && walk.result == EXIT_DONE && !all)
		puts("nothing answers ICP in this network namespace");
	return walk.result;
}

static int status_one(const char *device, json_t *all)
{
	struct baleen_error error;
	struct baleen_icp icp;
	int err;

	if (baleen_icp_open(&icp, device, false, &error))
		return complain("%s", error.text);
	err = show(&icp, all);
	baleen_icp_close(&icp);
	return err;
}

static int run(int argc, char **argv)
{
	json_t *all = NULL;
	int err = options_parse(&icp_status_command, &all, &argc, &argv);

	if (err)
		return err;
	err = argc ? status_one(*argv, all) : status_all(all);
	return finish_collected(all, err);
}

static const struct option_spec options[] = {
	{ "json", 'j', NULL, option_json,
	  .help = "an array with one object per device; times are milliseconds ago" },
	{ 0 },
};

const struct command icp_status_command = {
	.name = "icp status",
	.synopsis = "[-j] [DEV]",
	.help = "Prints for whom a device answers, or every device of this network namespace: of\n"
		"each sibling its filter, whether it is fresh, what was answered, what passed and\n"
		"why, and what its feeders told. Exit: 1 when something is not in force or a map is\n"
		"damaged, or DEV has nothing.\n",
	.options = options,
	.asks = { 0, 1, "at most one device is asked for" },
	.run = run,
};
