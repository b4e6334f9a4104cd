// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp attach: answer for caches on a device. */
#include <errno.h>
#include <string.h>

#include "cli/common/describe.h"
#include "cli/icp/icp_verbs.h"
#include "cli/open/filter_ref.h"
#include "icp/icp_filters.h"
#include "icp/icp_words.h"
#include "key/key_text.h"
#include "util/duration.h"
#include "util/number.h"
#include "util/signals.h"

/**
 * struct attach - what is asked for
 * @device: where queries come in
 * @words: siblings, askers, feed, times
 * @lists: what filters are built without an image
 * @mode: XDP mode
 * @json: report as JSON
 * @ref: an image that was read, of each sibling
 * @empty: a filter that was made
 * @plan: of all that
 */
struct attach {
	const char *device;
	struct baleen_icp_words words;
	struct list_options lists;
	u32 mode; /* enum baleen_mode */
	bool json;
	struct filter_ref ref[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_filter empty[BALEEN_ICP_MAX_SIBLINGS];
	struct baleen_icp_plan plan;
};

/* --- options --------------------------------------------------------------- */

static int parse_sibling(const struct option_use *use)
{
	struct baleen_error error;

	if (!baleen_icp_words_sibling(use->to, use->argument, &error))
		return 0;
	return complain_usage(use->command, "--sibling %s: %s", use->argument, error.text);
}

static int parse_asker(const struct option_use *use)
{
	struct baleen_error error;

	if (!baleen_icp_words_asker(use->to, use->argument, &error))
		return 0;
	return complain_usage(use->command, "--asker %s", error.text);
}

static int parse_port(const struct option_use *use)
{
	struct baleen_error error;

	return baleen_icp_words_port(use->to, use->argument, &error) ?
		       option_refuse(use, "%s", error.text) :
		       0;
}

static int parse_feed(const struct option_use *use)
{
	struct baleen_error error;

	return baleen_icp_words_feed(use->to, use->argument, &error) ?
		       option_refuse(use, "%s", error.text) :
		       0;
}

static int parse_span(const struct option_use *use)
{
	struct baleen_error error;

	return baleen_icp_words_span(use->to, use->argument, &error) ?
		       option_refuse(use, "%s", error.text) :
		       0;
}

static int parse_device(const struct option_use *use)
{
	struct attach *attach = use->to;

	if (attach->device)
		return complain_usage(use->command, "'%s' is a second device", use->argument);
	attach->device = use->argument;
	return 0;
}

static int settle_lists(struct list_options *lists)
{
	if (lists->build.kind == BALEEN_KIND_CUCKOO && lists->is_kind_given && lists->build.fpp)
		return complain_usage(
			&icp_attach_command,
			"--fpp: a cuckoo filter that follows a feed has 64-bit slots, "
			"and one rate");
	baleen_icp_shape(&lists->build, lists->is_kind_given, lists->shape_text[SHAPE_HASH]);
	lists->is_kind_given |= lists->build.kind == BALEEN_KIND_COUNTING;
	return list_options_check(&icp_attach_command, lists);
}

static int parse(struct attach *attach, int argc, char **argv)
{
	struct baleen_error error;
	int err = options_parse(&icp_attach_command, attach, &argc, &argv);

	if (err)
		return err;
	if (!attach->device)
		return complain_usage(&icp_attach_command, "one device is asked for");
	if (baleen_icp_words_check(&attach->words, "--", &error))
		return complain_usage(&icp_attach_command, "%s", error.text);
	return settle_lists(&attach->lists);
}

/* --- filters --------------------------------------------------------------- */

static int make_empty(const struct list_options *lists, struct baleen_filter *filter,
		      const char *name)
{
	struct baleen_error error;

	if (!baleen_icp_make_empty(&lists->build, filter, &error))
		return 0;
	return complain("sibling '%s': %s", name, error.text);
}

static int open_filter(struct attach *attach, u32 n)
{
	const struct baleen_icp_sibling *sibling = &attach->words.config.sibling[n];
	struct baleen_icp_plan *plan = &attach->plan;
	struct list_options lists = attach->lists;
	struct baleen_error error;
	int err;

	if (sibling->feeders)
		baleen_icp_shape_fed(&lists.build);
	plan->filter[n] = attach->words.image[n] ? &attach->ref[n].filter : &attach->empty[n];
	if (!attach->words.image[n])
		err = make_empty(&lists, &attach->empty[n], sibling->name);
	else
		err = filter_ref_open(&attach->ref[n], attach->words.image[n], &lists);
	if (err)
		return err;
	if (sibling->mode != BALEEN_ICP_CONFIRM)
		plan->n_objects += baleen_icp_room(plan->filter[n], lists.build.capacity);
	if (!attach->words.image[n])
		return 0;
	plan->has_content |= 1u << n;
	if (baleen_icp_check(&plan->filter[n]->image, sibling->feeders, &error))
		return complain("%s: %s", attach->words.image[n], error.text);
	return 0;
}

static void close_filters(struct attach *attach)
{
	for (u32 i = 0; i < BALEEN_ICP_MAX_SIBLINGS; i++) {
		filter_ref_close(&attach->ref[i]);
		baleen_filter_free(&attach->empty[i]);
	}
}

/* --- report ---------------------------------------------------------------- */

static json_t *describe_sibling(const struct attach *attach, u32 n)
{
	const struct baleen_icp_config *config = &attach->words.config;
	const struct baleen_icp_sibling *sibling = &config->sibling[n];
	json_t *json = describe_filter(attach->plan.filter[n]), *feeders = json_array();
	char text[BALEEN_KEY_TEXT];

	for (u32 i = 0; i < config->n_feeders; i++)
		if (sibling->feeders & 1u << i)
			json_array_append_new(feeders,
					      json_string(baleen_icp_address_text(
						      config->feeder[i].address_hi,
						      config->feeder[i].address_lo, text)));
	json_object_set_new(json, "name", json_string(sibling->name));
	json_object_set_new(json, "address",
			    json_string(baleen_icp_address_text(sibling->address_hi,
								sibling->address_lo, text)));
	if (sibling->other_lo)
		json_object_set_new(json, "other_address",
				    json_string(baleen_icp_address_text(sibling->other_hi,
									sibling->other_lo, text)));
	json_object_set_new(json, "mode", json_string(baleen_icp_mode_text(sibling->mode)));
	json_object_set_new(json, "feeders", feeders);
	return json;
}

static int report_json(const struct attach *attach, const struct baleen_icp_report *report)
{
	const struct baleen_attempts *attempts = &report->attempts;
	const struct baleen_icp_config *config = &attach->words.config;
	json_t *failed = json_array(), *siblings = json_array(), *json = json_object();
	const char *feed_device =
		attach->words.feed_device[0] ? attach->words.feed_device : attach->device;

	for (u32 i = 0; i < attempts->n_failed; i++)
		json_array_append_new(failed,
				      json_pack("{s:s, s:o}", "tried", attempts->failed[i].what,
						"reason", json_text(attempts->failed[i].reason)));
	for (u32 i = 0; i < config->n_siblings; i++)
		json_array_append_new(siblings, describe_sibling(attach, i));
	json_object_set_new(json, "device", json_text(attach->device));
	json_object_set_new(json, "mode", json_string(baleen_mode_text(attempts->mode)));
	json_object_set_new(json, "degraded", json_boolean(attempts->mode == BALEEN_MODE_GENERIC));
	json_object_set_new(json, "behind_filter", json_boolean(report->is_behind));
	json_object_set_new(json, "frags", json_boolean(attempts->frags));
	json_object_set_new(json, "port", json_integer(config->port));
	json_object_set_new(json, "feed",
			    config->feed_port ?
				    json_pack("{s:o, s:i}", "device", json_text(feed_device),
					      "port", config->feed_port) :
				    json_null());
	json_object_set_new(json, "stale_ms", json_integer(attach->words.stale_ms));
	json_object_set_new(json, "confirm_ms", json_integer(attach->words.confirm_ms));
	json_object_set_new(json, "siblings", siblings);
	json_object_set_new(json, "failed", failed);
	return print_json(json);
}

static void print_sibling(const struct attach *attach, u32 n)
{
	const struct baleen_icp_config *config = &attach->words.config;
	const struct baleen_icp_sibling *sibling = &config->sibling[n];
	const struct baleen_filter *filter = attach->plan.filter[n];
	char address[BALEEN_KEY_TEXT], entries[NUMBER_TEXT], size[NUMBER_TEXT], kind[80];
	const char *comma = "; fed by ";

	describe_kind(filter, kind, sizeof(kind));
	say("  %-12s %s", sibling->name,
	    baleen_icp_address_text(sibling->address_hi, sibling->address_lo, address));
	if (sibling->other_lo)
		say(" and %s",
		    baleen_icp_address_text(sibling->other_hi, sibling->other_lo, address));
	say(", %s: %s %s, %s, %s", baleen_icp_mode_text(sibling->mode),
	    format_count(filter->image.n_entries, entries),
	    baleen_plural(filter->image.n_entries, "entry", "entries"), kind,
	    format_bytes(filter->n_bytes, size));
	for (u32 i = 0; i < config->n_feeders; i++) {
		if (!(sibling->feeders & 1u << i))
			continue;
		say("%s%s", comma,
		    baleen_icp_address_text(config->feeder[i].address_hi,
					    config->feeder[i].address_lo, address));
		comma = ", ";
	}
	putchar('\n');
}

static int report_text(const struct attach *attach, const struct baleen_icp_report *report)
{
	const struct baleen_icp_config *config = &attach->words.config;

	say("%s: attached%s, %s%s, port %u", attach->device,
	    report->is_behind ? " behind the filter" : "", baleen_mode_text(report->attempts.mode),
	    report->attempts.mode == BALEEN_MODE_GENERIC ? ": degraded, behind the driver" : "",
	    config->port);
	if (config->feed_port)
		say(", fed at %s:%u",
		    attach->words.feed_device[0] ? attach->words.feed_device : attach->device,
		    config->feed_port);
	putchar('\n');
	for (u32 i = 0; i < config->n_siblings; i++)
		print_sibling(attach, i);
	return finish_output(EXIT_DONE);
}

static void warn_sibling(const struct attach *attach, const struct baleen_icp_sibling *sibling,
			 const char *image)
{
	char span[BALEEN_DURATION_TEXT];

	if (!image)
		complain("warning: %s:%s starts empty: what its cache has already is a miss, until "
			 "'baleen icp resync'",
			 attach->device, sibling->name);
	else if (!sibling->feeders && attach->words.stale_ms)
		complain("warning: %s:%s has no feeder and goes stale in %s, so that its queries "
			 "pass, unless 'baleen icp resync' is faster",
			 attach->device, sibling->name, format_span(attach->words.stale_ms, span));
}

static void warn(const struct attach *attach, const struct baleen_icp_report *report)
{
	if (report->is_veth && report->is_behind)
		complain("warning: %s: " BALEEN_ICP_LOST_ON_VETH
			 ": attach the filter with --mode generic",
			 attach->device);
	else if (report->is_veth)
		complain("%s: generic, since answers of a native program are lost on a veth unless "
			 "its other end has an XDP program: --mode native tries that",
			 attach->device);
	for (u32 i = 0; i < attach->words.config.n_siblings; i++)
		warn_sibling(attach, &attach->words.config.sibling[i], attach->words.image[i]);
}

/* --- attach ---------------------------------------------------------------- */

static int attach_plan(struct attach *attach)
{
	struct baleen_icp_plan *plan = &attach->plan;
	struct baleen_icp_report report;
	struct baleen_error error;
	int err;

	baleen_icp_words_plan(&attach->words, attach->device, plan);
	plan->mode = attach->mode;
	err = baleen_icp_attach(plan, &report, &error);
	for (u32 i = 0; i < report.attempts.n_failed && err != -EINTR; i++)
		complain("%s: %s failed: %s", attach->device, report.attempts.failed[i].what,
			 report.attempts.failed[i].reason);
	if (err)
		return complain("%s", error.text);
	warn(attach, &report);
	return attach->json ? report_json(attach, &report) : report_text(attach, &report);
}

/* A signal does not end this in the middle, where pins would be left: it takes back what it
 * did, or says what is in force, and the signal comes to its own after that.
 */
static int attach_whole(struct attach *attach)
{
	sigset_t before;
	int err;

	baleen_signals_hold(&before);
	err = attach_plan(attach);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* Says what is missing before a long list is read. */
static int check_devices(const struct attach *attach)
{
	struct baleen_error error;
	int ifindex, err = baleen_device_privileges(&error);

	if (!err)
		err = baleen_device_ifindex(attach->device, &ifindex, &error);
	if (!err && attach->words.feed_device[0])
		err = baleen_device_ifindex(attach->words.feed_device, &ifindex, &error);
	return err ? complain("%s", error.text) : 0;
}

static int run(int argc, char **argv)
{
	static struct attach attach;
	int err;

	baleen_icp_words_init(&attach.words);
	list_options_init(&attach.lists);
	err = parse(&attach, argc, argv);
	if (!err)
		err = check_devices(&attach);
	for (u32 i = 0; i < attach.words.config.n_siblings && !err; i++)
		err = open_filter(&attach, i);
	if (!err)
		err = attach_whole(&attach);
	close_filters(&attach);
	baleen_icp_words_free(&attach.words);
	return err;
}

static const struct option_spec options[] = {
	VALUE("sibling", 0, "SIBLING", parse_sibling, attach, words,
	      "NAME=ADDRESS, and with commas between: mode=confirm (default): misses are answered, "
	      "hits are left to the cache; mode=answer: hits, too, while the cache confirms some; "
	      "mode=observe: nothing, and its answers are compared; image=IMAGE: what it holds, keyed by squid, or a list of URLs; "
	      "feeder=ADDRESS: who sends its store.log, up to 16 in all; address=ADDRESS: its other one, where queries come by IPv4 and IPv6"),
	VALUE("asker", 0, "PREFIX", parse_asker, attach, words,
	      "who may ask, with commas between or given again"),
	VALUE("port", 0, "PORT", parse_port, attach, words, "of the queries (3130)"),
	VALUE("feed", 0, "FEED", parse_feed, attach, words,
	      "[DEV:]PORT: where store.log comes in over UDP, if not by DEV"),
	VALUE("stale", 0, "SPAN", parse_span, attach, words.stale_ms,
	      "without a word of a sibling for so long its queries pass, so that a dead one is not "
	      "answered for (30s); or never"),
	VALUE("confirm", 0, "SPAN", parse_span, attach, words.confirm_ms,
	      "mode=answer: without a hit of the cache itself for so long hits are left to it, so "
	      "that nobody waits for one that hangs (1s); or never: for trials"),
	VALUE("kind", 0, "K", list_kind, attach, lists,
	      "of a fed filter without an image: cuckoo (default), or counting, the only one for "
	      "several feeders of a sibling",
	      .words = PACKET_KIND_WORDS),
	VALUE("hash", 0, "H", list_shape, attach, lists,
	      "counting: squid (default), keyed or blocked", .words = HASH_WORDS,
	      .value = SHAPE_HASH),
	VALUE("capacity", 0, "N", list_capacity, attach, lists,
	      "objects to leave room for (1000000)"),
	VALUE("fpp", 0, "P", list_fpp, attach, lists,
	      "counting: false positive rate of so many (0.001)"),
	VALUE("mode", 0, "MODE", option_choice, attach, mode,
	      "auto (default): native with multi-buffer frames, native, generic, on a veth generic; "
	      "native: never generic; generic: behind the driver, slower",
	      .words = "auto native generic"),
	FLAG("json", 'j', attach, json, "say how it went as JSON"),
	{ 0 },
};

const struct command icp_attach_command = {
	.name = "icp attach",
	.synopsis = "DEV --sibling NAME=ADDRESS[,PART]... --asker PREFIX [OPTION...]",
	.help = "Answers the ICP queries that come in by a device for up to 16 siblings: caches that\n"
		"others ask, parents among them. It outlives this command. What is no plain query of\n"
		"an asker for one of them goes on to the cache.\n",
	.options = options,
	.word = parse_device,
	.run = run,
};
