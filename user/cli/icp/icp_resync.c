// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp resync: another filter for a sibling, while its feed goes on. */
#include <limits.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "cli/common/progress.h"
#include "cli/icp/icp_source.h"
#include "cli/icp/icp_verbs.h"
#include "icp/icp.h"
#include "icp/icp_resync.h"
#include "util/clock.h"
#include "util/command.h"
#include "util/duration.h"
#include "util/number.h"
#include "util/signals.h"

/**
 * struct options - what is asked for
 * @resync: for the library
 * @device: the part of the target before the colon
 * @every_ms: from the start of one round to that of the next; 0: one round
 * @json: an object a round, with --every on a line
 */
struct options {
	struct baleen_icp_resync resync;
	char device[IF_NAMESIZE];
	u64 every_ms;
	bool json;
};

/* --- reports -------------------------------------------------------------------- */

static void print_report_json(const struct options *options,
			      const struct baleen_icp_resync_report *report)
{
	json_t *json =
		json_pack("{s:o, s:o, s:s, s:I, s:I, s:I, s:b, s:I, s:f, s:i}", "device",
			  json_text(options->device), "sibling", json_text(options->resync.sibling),
			  "from", baleen_squid_from_name(report->from), "entries",
			  (json_int_t)report->n_entries, "events", (json_int_t)report->n_events,
			  "corrected", (json_int_t)report->n_corrected, "has_grown",
			  report->has_grown, "bytes", (json_int_t)report->n_bytes, "seconds",
			  report->took_ns / 1e9, "attempts", (int)report->n_attempts);

	if (report->is_compared) {
		json_object_set_new(json, "missing", json_integer(report->n_missing));
		json_object_set_new(json, "gone", json_integer(report->n_gone));
		json_object_set_new(json, "gone_is_estimate", json_boolean(report->is_estimate));
	}
	if (report->n_unsettled)
		json_object_set_new(json, "unsettled", json_integer(report->n_unsettled));
	if (!options->every_ms) {
		print_json(json);
		return;
	}
	print_json_line(json, JSON_COMPACT);
	putchar('\n');
}

static void print_drift(const struct baleen_icp_resync_report *report)
{
	char missing[NUMBER_TEXT], gone[NUMBER_TEXT];

	if (!report->is_compared)
		return;
	say("; the old filter lacked %s and had %s%s that were gone",
	    format_count(report->n_missing, missing), report->is_estimate ? "about " : "",
	    format_count(report->n_gone, gone));
}

static void print_report(const struct options *options,
			 const struct baleen_icp_resync_report *report)
{
	char count[NUMBER_TEXT], bytes[NUMBER_TEXT];

	if (options->json) {
		print_report_json(options, report);
		return;
	}
	say("%s:%s: %s %s in %.1f s", options->device, options->resync.sibling,
	    format_count(report->n_entries, count),
	    baleen_plural(report->n_entries, "object", "objects"), report->took_ns / 1e9);
	print_drift(report);
	if (report->n_events)
		say("; %s %s meanwhile", format_count(report->n_events, count),
		    baleen_plural(report->n_events, "event", "events"));
	if (report->n_corrected)
		say(", %s %s", format_count(report->n_corrected, count),
		    baleen_plural(report->n_corrected, "correction", "corrections"));
	if (report->n_unsettled)
		say(", %s too late for this time", format_count(report->n_unsettled, count));
	if (report->has_grown)
		say("; the new filter has %s", format_bytes(report->n_bytes, bytes));
	putchar('\n');
}

/* --- rounds ------------------------------------------------------------------------ */

static void on_progress(void *unused, u64 n_received, u64 n_total)
{
	progress_set(n_received, n_total);
}

static int resync_once(const struct options *options)
{
	struct baleen_icp_resync_report report;
	struct baleen_error error;
	int err;

	progress_begin("reading what the cache holds");
	err = baleen_icp_resync(&options->resync, &report, &error);
	progress_end();
	if (err)
		complain("%s", error.text);
	else
		print_report(options, &report);
	return err ? EXIT_FAILED : EXIT_DONE;
}

/* How often the answers of the cache are looked at between two rounds. */
#define LOOK_MS 1000

/* A source that does not have what is wrong is not read all the time. */
#define LEAST_MS 5000

/* False hits of the cache before a round comes at once, and at least this share of its answers
 * to hits: a cache that was emptied has all of them false, an old filter a few.
 */
#define MANY_FALSE 8
#define FALSE_SHARE 4

/**
 * struct answers - how the cache answered what the filter has, so far
 * @right: it said hit
 * @wrong: it said miss
 */
struct answers {
	u64 right;
	u64 wrong;
};

/* Zeros when there is no such instance: the next round says why. */
static struct answers look(const struct options *options)
{
	struct answers answers = { 0 };
	struct baleen_icp_stats stats;
	struct baleen_error error;
	struct baleen_icp icp;
	int n;

	if (baleen_icp_open(&icp, options->device, false, &error))
		return answers;
	n = baleen_icp_sibling(&icp, options->resync.sibling);
	if (n >= 0 && !baleen_icp_stats(&icp, &stats, &error)) {
		answers.right = stats.sibling[n].agreed_hits;
		answers.wrong = stats.sibling[n].false_hits;
	}
	baleen_icp_close(&icp);
	return answers;
}

/* Was the filter wrong too often since then? */
static bool has_drifted(const struct options *options, const struct answers *then)
{
	struct answers now = look(options);
	u64 wrong = now.wrong > then->wrong ? now.wrong - then->wrong : 0;
	u64 right = now.right > then->right ? now.right - then->right : 0;
	char count[NUMBER_TEXT];

	if (wrong < MANY_FALSE || wrong * FALSE_SHARE < wrong + right)
		return false;
	complain("%s:%s: its cache said miss to %s of %llu hits of the filter: was it emptied?",
		 options->device, options->resync.sibling, format_count(wrong, count),
		 (unsigned long long)(wrong + right));
	return true;
}

/* Until this time; true when a signal came first. It stays pending. */
static bool pause_until(u64 due_ms)
{
	struct timespec pause;
	u64 now_ms = baleen_monotonic_ms(), left_ms = due_ms > now_ms ? due_ms - now_ms : 0;
	sigset_t held;

	if (baleen_signals_came())
		return true;
	sigprocmask(SIG_BLOCK, NULL, &held);
	pause = (struct timespec){ left_ms / 1000, left_ms % 1000 * 1000000 };
	return sigtimedwait(&held, NULL, &pause) >= 0;
}

/* Until the next round is due, or the filter is wrong too often; true when a signal came first. */
static bool wait_until(const struct options *options, u64 due_ms)
{
	struct answers then = look(options);
	u64 now_ms, begun_ms = baleen_monotonic_ms();

	while ((now_ms = baleen_monotonic_ms()) < due_ms) {
		if (pause_until(due_ms - now_ms < LOOK_MS ? due_ms : now_ms + LOOK_MS))
			return true;
		if (baleen_monotonic_ms() - begun_ms >= LEAST_MS && has_drifted(options, &then))
			break;
	}
	return baleen_signals_came();
}

/* A round that fails says so, and the next one comes: a Squid that is started again must
 * not need this to be started again.
 */
static int resync_on(const struct options *options)
{
	u64 due_ms = baleen_monotonic_ms();

	do {
		/* One that came at once is the first of the rounds that follow. */
		if (baleen_monotonic_ms() < due_ms)
			due_ms = baleen_monotonic_ms();
		resync_once(options);
		if (finish_output(EXIT_DONE))
			return EXIT_FAILED;
		due_ms += options->every_ms;
		if (due_ms < baleen_monotonic_ms())
			due_ms = baleen_monotonic_ms();
	} while (!wait_until(options, due_ms));
	return EXIT_DONE;
}

/* --- arguments ------------------------------------------------------------------------ */

/* Below this a Squid does nothing but list its objects. */
#define MIN_EVERY_MS 1000

static int parse_every(const struct option_use *use)
{
	u64 *ms = use->to;

	if (!baleen_duration_parse(use->argument, ms) && *ms >= MIN_EVERY_MS)
		return 0;
	return option_refuse(use, "not a time of 1s or more such as 20s");
}

static int parse_capacity(const struct option_use *use)
{
	return parse_count(use->argument, use->to) ?
		       option_refuse(use, "not a count such as 100k") :
		       0;
}

static int parse_target(struct options *options, const char *target)
{
	const char *colon = strrchr(target, ':');

	if (!colon || colon == target || !colon[1])
		return complain_usage(&icp_resync_command, "'%s': not a DEV:NAME", target);
	if ((size_t)(colon - target) >= sizeof(options->device))
		return complain_usage(&icp_resync_command, "'%s': no device has such a name",
				      target);
	memcpy(options->device, target, colon - target);
	options->resync.device = options->device;
	options->resync.sibling = colon + 1;
	return 0;
}

static int parse_sources(struct options *options, int n, char **source)
{
	if (!n)
		return complain_usage(&icp_resync_command, "a source is asked for");
	for (int i = 0; options->every_ms && i < n; i++)
		if (!strcmp(source[i], "-"))
			return complain_usage(&icp_resync_command,
					      "--every: standard input comes only once");
	options->resync.source = (const char *const *)source;
	options->resync.n_sources = n;
	return 0;
}

static int run(int argc, char **argv)
{
	struct options options = { .resync.read.on_progress = on_progress };
	struct baleen_error error;
	int err = options_parse(&icp_resync_command, &options, &argc, &argv);

	if (!err)
		err = parse_target(&options, *argv);
	if (!err)
		err = parse_sources(&options, argc - 1, argv + 1);
	if (err)
		return err;
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	baleen_signals_hold(NULL);
	if (baleen_end_with_parent())
		return EXIT_FAILED;
	return options.every_ms ? resync_on(&options) : finish_output(resync_once(&options));
}

static const struct option_spec table[] = {
	VALUE("from", 0, "KIND", parse_squid_source, options, resync.read.from,
	      "what the source is; by default its content says so, and a URL without a path needs "
	      "it",
	      .words = "swap digest log objects"),
	VALUE("every", 0, "TIME", parse_every, options, every_ms,
	      "again and again, until a signal; a round that fails says so and the next one comes; "
	      "at once when the cache says miss to many hits of the filter"),
	VALUE("capacity", 0, "N", parse_capacity, options, resync.capacity,
	      "room for so many objects; by default as before, if that is enough"),
	FLAG("json", 'j', options, json, "an object; with --every one a line"),
	{ 0 },
};

const struct command icp_resync_command = {
	.name = "icp resync",
	.synopsis = "[OPTION...] DEV:NAME SOURCE...",
	.help = "Makes the live filter of a sibling anew, of what its cache says that it holds, and\n"
		"puts it in the place of the old one: what the feed says meanwhile is in it, and no\n"
		"query waits. Says how far the old one had drifted. What fails leaves that in force.\n\n"
		"SOURCE is a file, swap.state of the cache_dir or store.log, or the URL of a Squid\n"
		"(http://HOST:3128): its objects, or its digest. A filter that is fed needs keys, which digests do not have. A parent\n"
		"of several feeders needs a source of each.\n",
	.options = table,
	.asks = { 1, INT_MAX, "whose filter? DEV:NAME is missing" },
	.run = run,
};
