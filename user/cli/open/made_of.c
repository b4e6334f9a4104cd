// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Describes the feeds and origins that a rule is made of, for status. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/open/made_of.h"
#include "deploy/conf_edits.h"
#include "deploy/confirm.h"
#include "net/device.h"
#include "state/entries.h"
#include "state/feeds.h"
#include "state/book.h"
#include "util/duration.h"
#include "util/shell.h"

#define TIME_TEXT 32

static const char *format_time(u64 ms, char *text)
{
	time_t seconds = ms / 1000;
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(text, TIME_TEXT, "%Y-%m-%d %H:%M", &local);
	return text;
}

/* As it is stored; all zeros when it cannot be read. */
static struct baleen_stored_rule stored_rule(const struct baleen_rule_store *state,
					     const char *rule)
{
	struct baleen_stored_rules rules;
	int index = -1;

	if (!baleen_rule_store_get_rules(state, &rules, NULL))
		index = baleen_rule_store_find_rule(&rules, rule);
	return index >= 0 ? rules.rule[index] : (struct baleen_stored_rule){ 0 };
}

/* NULL of rules that are not asked that, as `special` of baleen.conf is for others. */
static const char *special_text(const struct baleen_stored_rule *rule)
{
	if (rule->action != BALEEN_ACTION_DROP || !baleen_spec_is_address(rule->key_spec))
		return NULL;
	return rule->limits.keep_special ? "keep" : "remove";
}

/* --- text ------------------------------------------------------------------ */

struct summary {
	u32 n_feeds;
	u64 oldest_ms;
	u32 n_origins;
	u64 n_entries;
	char origins[160];
};

static int add_feed(const struct baleen_feed *feed, void *data)
{
	struct summary *summary = data;

	summary->n_feeds++;
	if (!summary->oldest_ms || feed->received_ms < summary->oldest_ms)
		summary->oldest_ms = feed->received_ms;
	return 0;
}

static int add_origin(const char *origin, u64 n, void *data)
{
	struct summary *summary = data;
	size_t used = strlen(summary->origins);

	summary->n_entries += n;
	snprintf(summary->origins + used, sizeof(summary->origins) - used, "%s%s %llu",
		 summary->n_origins++ ? ", " : "", origin, (unsigned long long)n);
	return 0;
}

/* @data: the state */
static int print_held(const struct baleen_feed *feed, void *data)
{
	const struct baleen_rule_store *state = data;
	char n[NUMBER_TEXT], when[TIME_TEXT], target[BALEEN_POINT_BYTES + BALEEN_NAME_BYTES];

	if (!feed->n_held)
		return 0;
	snprintf(target, sizeof(target), "%s:%s", state->device, feed->rule);
	say("        feed %s: %s withdrawn together or by a reboot, held until %s; 'baleen "
	    "update --force %s' lets go\n",
	    baleen_feed_name(feed).text, format_count(feed->n_held, n),
	    format_time(feed->next_ms, when), baleen_shell_word(target).text);
	return 0;
}

static int print_failure(const struct baleen_feed *feed, void *data)
{
	char when[TIME_TEXT];

	if (!feed->n_failures)
		return 0;
	say("        feed %s FAILED %u time%s: %s; ", baleen_feed_name(feed).text, feed->n_failures,
	    feed->n_failures == 1 ? "" : "s", feed->failure);
	if (feed->received_ms)
		say("that of %s stays\n", format_time(feed->received_ms, when));
	else
		puts("there never was a good one");
	return 0;
}

/* The end of a line that @has_begun, or a line of its own. */
static void print_marks(const struct baleen_rule_store *state, const char *rule, bool has_begun)
{
	const struct baleen_stored_rule stored = stored_rule(state, rule);
	const char *special = special_text(&stored);

	if (stored.takes_bans) {
		say("%stakes bans", has_begun ? ", " : "        ");
		has_begun = true;
	}
	/* Only the unusual is said. */
	if (special && stored.limits.keep_special == stored.guards_feeds) {
		say("%sspecial %s", has_begun ? ", " : "        ", special);
		has_begun = true;
	}
	if (has_begun)
		putchar('\n');
}

void print_made_of(const struct baleen_rule_store *state, const char *rule)
{
	struct summary summary = { 0 };
	char when[TIME_TEXT], n[NUMBER_TEXT];

	if (baleen_feeds_each(state, rule, add_feed, &summary, NULL) ||
	    baleen_rule_entries_origins(state, rule, add_origin, &summary, NULL))
		return;
	if (summary.n_feeds || summary.n_entries)
		say("        made of %u feed%s", summary.n_feeds, summary.n_feeds == 1 ? "" : "s");
	if (summary.oldest_ms)
		say(" (%s%s)", summary.n_feeds > 1 ? "oldest " : "",
		    format_time(summary.oldest_ms, when));
	if (summary.n_entries)
		say(", %s single entr%s (%s)", format_count(summary.n_entries, n),
		    summary.n_entries == 1 ? "y" : "ies", summary.origins);
	print_marks(state, rule, summary.n_feeds || summary.n_entries);
	baleen_feeds_each(state, rule, print_held, (void *)state, NULL);
	baleen_feeds_each(state, rule, print_failure, NULL, NULL);
}

void print_confirm(const struct baleen_rule_store *state, const char *device)
{
	u64 deadline_ms = state->is_kept ? baleen_confirm_deadline(device) : 0;
	u64 now_ms = baleen_now_ms();
	char left[BALEEN_DURATION_TEXT];

	if (deadline_ms)
		say("  back to what was in %s, unless 'baleen confirm %s'\n",
		    format_span(deadline_ms > now_ms ? deadline_ms - now_ms : 0, left),
		    baleen_shell_word(device).text);
}

void print_edits(const struct baleen_rule_store *state, const char *device)
{
	struct baleen_conf_edits_text text;
	struct baleen_conf_edits edits;

	baleen_conf_edits(state, &edits);
	text = baleen_conf_edits_text(&edits);
	if (*text.text)
		say("  %s: '%s' shows it\n", text.text,
		    baleen_conf_edits_command(&edits, device).text);
}

/* --- JSON ------------------------------------------------------------------ */

static int describe_feed(const struct baleen_feed *feed, void *feeds)
{
	json_t *json = json_object();

	json_object_set_new(json, "feed", json_text(baleen_feed_name(feed).text));
	json_object_set_new(json, "entries", json_integer(feed->n_entries));
	json_object_set_new(json, "received_ms", json_integer(feed->received_ms));
	json_object_set_new(json, "confirmed_ms", json_integer(feed->confirmed_ms));
	json_object_set_new(json, "held", json_integer(feed->n_held));
	json_object_set_new(json, "failures", json_integer(feed->n_failures));
	json_object_set_new(json, "failure",
			    feed->n_failures ? json_text(feed->failure) : json_null());
	json_array_append_new(feeds, json);
	return 0;
}

static int describe_origin(const char *origin, u64 n, void *origins)
{
	json_object_set_new(origins, origin, json_integer(n));
	return 0;
}

void describe_made_of(const struct baleen_rule_store *state, const char *rule, json_t *json)
{
	const struct baleen_stored_rule stored = stored_rule(state, rule);
	json_t *feeds = json_array(), *origins = json_object();
	const char *special = special_text(&stored);

	baleen_feeds_each(state, rule, describe_feed, feeds, NULL);
	baleen_rule_entries_origins(state, rule, describe_origin, origins, NULL);
	json_object_set_new(json, "feeds", feeds);
	json_object_set_new(json, "origins", origins);
	json_object_set_new(json, "bans", json_boolean(stored.takes_bans));
	json_object_set_new(json, "special", special ? json_string(special) : json_null());
}

/* Null when no configuration was applied. */
static json_t *describe_edits(const struct baleen_rule_store *state)
{
	struct baleen_conf_edits edits;

	baleen_conf_edits(state, &edits);
	if (!edits.was_applied)
		return json_null();
	return json_pack("{s:o, s:b, s:s}", "path",
			 *edits.path ? json_text(edits.path) : json_null(), "edited_by_hand",
			 edits.by_hand, "file", baleen_conf_file_text(edits.file));
}

void describe_state(const struct baleen_rule_store *state, const char *device, json_t *json)
{
	u64 deadline_ms = state->is_kept ? baleen_confirm_deadline(device) : 0;
	const char *unkept = baleen_book_unkept_why(state);
	char *applied = NULL;

	baleen_rule_store_get_text(state, "applied", &applied);
	json_object_set_new(json, "made_of",
			    json_pack("{s:o, s:b, s:s*, s:b, s:o, s:o, s:o}", "path",
				      json_text(state->path), "kept", state->is_kept && !unkept,
				      "not_kept", unkept, "behind",
				      baleen_rule_store_is_behind(state), "applied",
				      applied ? json_integer(atoll(applied)) : json_null(), "conf",
				      describe_edits(state), "confirm_until_ms",
				      deadline_ms ? json_integer(deadline_ms) : json_null()));
	free(applied);
}
