// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet status: publishers, and how far this host is with each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "fleet/fleet_health.h"
#include "fleet/fleet_receive.h"
#include "fleet/fleet_signal.h"
#include "state/entries.h"
#include "util/duration.h"

/**
 * struct status - what is shown
 * @place: the fleet
 * @now_ms: broker's time
 * @local_ms: time of this host
 * @health: how it is
 * @checks: try the connection
 * @is_json: as JSON
 * @publishers: as JSON
 * @refusals: as JSON
 * @signals: as JSON
 * @n: publishers
 */
struct status {
	struct fleet_place place;
	u64 now_ms, local_ms;
	struct baleen_fleet_health health;
	bool checks, is_json;
	json_t *publishers, *refusals, *signals;
	u64 n;
};

/* --- publishers ---------------------------------------------------------------------------- */

static void print_publisher(const struct status *status,
			    const struct baleen_fleet_publisher *publisher)
{
	u64 silence_ms = baleen_fleet_silence(publisher, status->now_ms, status->local_ms);
	char text[NUMBER_TEXT], span[BALEEN_DURATION_TEXT];

	say("  %s  %s%s", publisher->name, format_count(publisher->n, text),
	    publisher->n == 1 ? " entry" : " entries");
	if (publisher->n_held)
		say(", %s held", format_count(publisher->n_held, text));
	if (publisher->is_own && publisher->acknowledged < publisher->sequence)
		say(", %s changes not sent",
		    format_count(publisher->sequence - publisher->acknowledged, text));
	if (!publisher->is_own && publisher->lacks > publisher->sequence)
		say(", %s changes behind",
		    format_count(publisher->lacks - publisher->sequence, text));
	if (!publisher->is_own && silence_ms >= status->health.silent_after_ms)
		say(", silent for %s", format_span(silence_ms, span));
	if (publisher->is_suspended)
		say(", suspended");
	if (publisher->is_cloned)
		say(", two hosts publish under this name");
	say("%s\n", publisher->is_own ? " (this host)" : "");
}

static json_t *silence_json(const struct status *status,
			    const struct baleen_fleet_publisher *publisher)
{
	if (publisher->is_own)
		return json_null();
	return json_integer(baleen_fleet_silence(publisher, status->now_ms, status->local_ms));
}

static int show_publisher(const struct baleen_fleet_publisher *publisher, void *data)
{
	struct status *status = data;
	char digest[33];

	status->n++;
	if (!status->is_json) {
		print_publisher(status, publisher);
		return 0;
	}
	snprintf(digest, sizeof(digest), "%016llx%016llx", (unsigned long long)publisher->digest.hi,
		 (unsigned long long)publisher->digest.lo);
	json_array_append_new(status->publishers,
			      json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:b, s:o}",
					"name", publisher->name, "own", publisher->is_own,
					"sequence", (json_int_t)publisher->sequence, "acknowledged",
					(json_int_t)publisher->acknowledged, "lacks",
					(json_int_t)publisher->lacks, "entries",
					(json_int_t)publisher->n, "held",
					(json_int_t)publisher->n_held, "digest", digest,
					"suspended", publisher->is_suspended, "cloned",
					publisher->is_cloned, "silence_ms",
					silence_json(status, publisher)));
	return 0;
}

/* --- refusals ------------------------------------------------------------------------------- */

static int show_refusal(const struct baleen_fleet_refusal *refusal, void *data)
{
	struct status *status = data;
	const char *publisher = *refusal->publisher ? refusal->publisher : "unknown publisher";
	char text[NUMBER_TEXT];

	if (status->is_json)
		json_array_append_new(status->refusals,
				      json_pack("{s:o, s:s, s:I}", "publisher",
						json_text(refusal->publisher), "cause",
						baleen_fleet_cause_name(refusal->cause), "n",
						(json_int_t)refusal->n));
	else
		say("  refused of %s: %s (%s)\n", publisher, format_count(refusal->n, text),
		    baleen_fleet_cause_name(refusal->cause));
	return 0;
}

/* --- signals -------------------------------------------------------------------------------- */

static int show_signal(const struct baleen_fleet_signal *signal, void *data)
{
	struct status *status = data;
	char digest[17];

	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)signal->digest);
	json_array_append_new(status->signals,
			      json_pack("{s:s, s:s, s:s, s:I, s:s, s:I, s:o, s:I}", "publisher",
					signal->publisher, "topic", signal->topic, "subject",
					signal->subject, "number", (json_int_t)signal->number,
					"digest", digest, "value", (json_int_t)signal->value,
					"reason", json_text(signal->reason), "made_ms",
					(json_int_t)signal->made_ms));
	return 0;
}

/* --- the connection -------------------------------------------------------------------------- */

static void print_connection(const struct status *status)
{
	const struct baleen_fleet_health *health = &status->health;
	u64 agreed_ms = health->agreed_s * 1000;
	char span[BALEEN_DURATION_TEXT];

	say("%s: this host is %s, %llu alive\n", status->place.conf.fleet, status->place.conf.host,
	    (unsigned long long)health->n_hosts);
	if (!agreed_ms)
		say("  heads never agreed\n");
	else
		say("  heads agreed %s ago, lag %llu ms\n",
		    format_span(status->now_ms > agreed_ms ? status->now_ms - agreed_ms : 0, span),
		    (unsigned long long)health->lag_ms);
	if (health->expires_ms && health->expires_ms <= status->local_ms)
		say("  the policy has expired: it was not signed again, or Redis withholds a newer "
		    "one\n");
	else if (health->expires_ms)
		say("  the policy expires in %s\n",
		    format_span(health->expires_ms - status->local_ms, span));
	if (health->n_silent)
		say("  %llu of %llu publishers are silent: baleend does not run there, or Redis "
		    "withholds what they say\n",
		    (unsigned long long)health->n_silent, (unsigned long long)health->n_publishers);
	if (*health->sends)
		say("  sends nothing: %s\n", health->sends);
	if (*health->receives)
		say("  receives nothing: %s\n", health->receives);
}

/* Nobody tells a host that it is out: it reads that. */
static bool is_out(const struct status *status)
{
	struct baleen_fleet_policy policy = { 0 };
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	bool is_out;

	if (baleen_fleet_site_policy(&status->place.conf, &policy, NULL, NULL))
		return false;
	snprintf(publisher, sizeof(publisher), "%s/" FLEET_OPERATOR, status->place.conf.host);
	is_out = !baleen_fleet_policy_key(&policy, publisher);
	baleen_fleet_policy_free(&policy);
	return is_out;
}

static json_t *connection_json(const struct status *status)
{
	const struct baleen_fleet_health *health = &status->health;

	return json_pack(
		"{s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:O, s:O, s:O}",
		"fleet", status->place.conf.fleet, "host", status->place.conf.host, "out",
		is_out(status), "hosts_alive", (json_int_t)health->n_hosts, "agreed_s",
		(json_int_t)health->agreed_s, "lag_ms", (json_int_t)health->lag_ms, "behind",
		(json_int_t)health->n_behind, "changes_behind",
		(json_int_t)health->n_changes_behind, "silent", (json_int_t)health->n_silent,
		"policy_expires_ms", (json_int_t)health->expires_ms, "publisher_error",
		json_text(health->sends), "reader_error", json_text(health->receives), "publishers",
		status->publishers, "refusals", status->refusals, "signals", status->signals);
}

/* --- the command ------------------------------------------------------------------------------ */

static int show(struct status *status)
{
	struct baleen_fleet_store *store = &status->place.store;
	struct baleen_error error;
	int err = baleen_fleet_health_read(store, status->local_ms, &status->health, &error);

	if (err)
		return complain("%s", error.text);
	if (!status->is_json)
		print_connection(status);
	if (!status->is_json && is_out(status))
		say("  the policy does not know this host: nothing that it says counts on others\n");
	err = baleen_fleet_store_each(store, show_publisher, status, &error);
	if (!err)
		err = baleen_fleet_refusals_each(store, show_refusal, status, &error);
	if (!err && status->is_json)
		err = baleen_fleet_signals_each(store, NULL, NULL, status->now_ms, show_signal,
						status, &error);
	if (err)
		return complain("%s", error.text);
	return status->is_json ? print_json(connection_json(status)) : finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct status status = { 0 };
	int err = options_parse(&fleet_status_command, &status, &argc, &argv);

	if (err)
		return err;
	if (status.checks)
		return fleet_run_order("--check", NULL, NULL, 0, NULL);
	err = fleet_place_open(&status.place);
	if (err)
		return err;
	status.now_ms = fleet_now_ms(&status.place);
	status.local_ms = baleen_now_ms();
	status.publishers = json_array();
	status.refusals = json_array();
	status.signals = json_array();
	err = show(&status);
	json_decref(status.publishers);
	json_decref(status.refusals);
	json_decref(status.signals);
	fleet_place_close(&status.place);
	return err;
}

static const struct option_spec options[] = {
	FLAG("check", 0, status, checks,
	     "try to connect as fleet.conf says, and print to whom, in place of all else"),
	FLAG("json", 'j', status, is_json, "print an object"),
	{ 0 },
};

const struct command fleet_status_command = {
	.name = "fleet status",
	.synopsis = "[-j] [--check]",
	.help = "Shows the publishers of the fleet, how far this host is with each of them, hosts\n"
		"that are alive, what was refused, and why nothing goes out or comes in, if so.\n",
	.options = options,
	.asks = { 0, 0, "it takes no arguments" },
	.run = run,
};
