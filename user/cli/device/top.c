// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen top: what a device does, live. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/options.h"
#include "cli/device/top.h"
#include "util/clock.h"
#include "util/duration.h"
#include "util/number.h"
#include "xdp/events.h"

#define DEFAULT_INTERVAL_MS 1000
#define MIN_INTERVAL_MS 100
#define MAX_INTERVAL_MS 3600000

/* How long a key may go unnoticed while events are waited for. */
#define KEY_MS 50

#define BATCH_KEYS 10

struct options {
	const char *device;
	u64 interval_ms;
	u64 max_pages;
	enum top_sort sort;
	bool batch;
	bool json;
	bool ascii;
	bool feeds;
};

/**
 * struct top - a run of the command
 * @options: as typed
 * @view: the view on the screen
 * @page: the view as lines
 * @events: while has_events
 * @has_events: we are the reader
 * @is_screen: on the full screen
 * @next_ms: when to look again
 */
struct top {
	const struct options *options;
	struct top_view view;
	struct top_page page;
	struct baleen_events events;
	bool has_events;
	bool is_screen;
	u64 next_ms;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

/* The second signal ends us as if there were no handler. */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = stop, .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

/* --- events ---------------------------------------------------------------- */

static void find_watcher(struct top *top)
{
	struct baleen_xdp xdp;

	top->view.reader = TOP_READER_OTHER;
	top->view.watcher.pid = 0;
	if (baleen_xdp_open(&xdp, top->options->device, false, NULL))
		return;
	baleen_watcher_find(&xdp.pins, &top->view.watcher);
	baleen_xdp_close(&xdp);
}

/* Sampling may begin, and another reader end, at any time. */
static void try_events(struct top *top)
{
	int err;

	if (top->has_events)
		return;
	err = baleen_events_open(&top->events, top->options->device, NULL);
	top->has_events = !err;
	if (!err)
		top->view.reader = TOP_READER_US;
	else if (err == -EBUSY)
		find_watcher(top);
	else
		top->view.reader = TOP_READER_NONE;
}

static void end_events(struct top *top)
{
	if (top->has_events)
		baleen_events_close(&top->events);
	top->has_events = false;
	top->view.reader = TOP_READER_NONE;
}

/* The source address stands in for a frame without a key. */
static void count_event(struct top *top, const struct baleen_sighting *seen)
{
	u32 slot = seen->event->slot;
	struct baleen_key key;

	if (seen->has_key) {
		baleen_top_k_add(&top->view.top_k, &seen->key, seen->rule->image.key_spec, slot);
	} else if (seen->parse <= BALEEN_PARSE_IP6) {
		key = baleen_key_fields(BALEEN_KEY_SRC, &seen->fields);
		baleen_top_k_add(&top->view.top_k, &key, BALEEN_KEY_SRC, slot);
	}
}

/* --- waiting --------------------------------------------------------------- */

static void handle_key(struct top *top, bool *is_over, bool *is_changed)
{
	enum top_key key = top_screen_key();

	*is_changed |= key != TOP_KEY_NONE;
	switch (key) {
	case TOP_KEY_QUIT:
	case TOP_KEY_LOST: *is_over = true; break;
	case TOP_KEY_PAUSE: top->view.is_paused = !top->view.is_paused; break;
	case TOP_KEY_SORT: top->view.sort = (top->view.sort + 1) % TOP_N_SORTS; break;
	case TOP_KEY_CLEAR: memset(&top->view.top_k, 0, sizeof(top->view.top_k)); break;
	default: break;
	}
}

/* Until a key is pressed, a signal comes, or so much time has gone. */
static void wait_for_key(const struct top *top, u64 timeout_ms)
{
	struct pollfd input = { .fd = top->is_screen ? STDIN_FILENO : -1, .events = POLLIN };

	poll(&input, 1, timeout_ms);
}

/* One event, or so much time. */
static void wait_for_event(struct top *top, u64 timeout_ms)
{
	struct baleen_sighting seen;
	int n = baleen_events_next(&top->events, timeout_ms, &seen, NULL);

	if (n < 0)
		end_events(top);
	else if (n && !top->view.is_paused)
		count_event(top, &seen);
}

/* Takes keys and events until it is time to look again; whether it is over. */
static bool wait_for_look(struct top *top)
{
	u64 now = baleen_monotonic_ms(), keys_ms = 0;
	bool is_over = false;

	while (!stopped && !is_over && now < top->next_ms) {
		u64 left_ms = top->next_ms - now;
		bool is_changed = false;

		if (top->has_events)
			wait_for_event(top, left_ms < KEY_MS ? left_ms : KEY_MS);
		else
			wait_for_key(top, left_ms);
		now = baleen_monotonic_ms();
		/* A storm of events is no reason to ask for a key after each. */
		if (!top->is_screen || (top->has_events && now < keys_ms + KEY_MS))
			continue;
		keys_ms = now;
		handle_key(top, &is_over, &is_changed);
		if (is_changed && !is_over)
			top_screen_draw(&top->view, &top->page);
	}
	return is_over || stopped;
}

/* --- showing --------------------------------------------------------------- */

static int print_page(struct top *top)
{
	const char *columns = getenv("COLUMNS");
	u64 width = 80;

	if (columns && (baleen_count_parse(columns, &width) || width > TOP_MAX_WIDTH))
		width = 80;
	top->page.width = width;
	top->page.height = 8 + top->view.rates.n_rules + BATCH_KEYS;
	top_layout(&top->view, &top->page);
	for (u32 i = 0; i < top->page.n; i++)
		say("%s\n", top->page.text[i]);
	putchar('\n');
	return finish_output(EXIT_DONE);
}

static int show(struct top *top)
{
	if (top->is_screen) {
		top_screen_draw(&top->view, &top->page);
		return EXIT_DONE;
	}
	if (!top->options->json)
		return print_page(top);
	top_print_json(&top->view);
	return finish_output(EXIT_DONE);
}

/* The terminal is given back before there is a message. */
static int look(struct top *top)
{
	struct baleen_error error;
	int err = baleen_rates_look(&top->view.rates, top->options->device, &error);

	/* Sampling may have been stopped since the last event was read. */
	if (!err && !top->view.rates.sample_interval_ns)
		end_events(top);
	if (!err && (top->view.rates.attach_status == BALEEN_ATTACH_STATUS_ATTACHED ||
		     top->view.rates.attach_status == BALEEN_ATTACH_STATUS_MOVED))
		return EXIT_DONE;
	top_screen_close();
	if (err)
		return complain("%s", error.text);
	return complain("%s: the filter is not in force (%s)", top->options->device,
			baleen_attach_status_text(top->view.rates.attach_status));
}

static int run_view(struct top *top)
{
	u64 n_pages = 0;
	int err;

	for (;;) {
		top->next_ms += top->view.interval_ms;
		/* After a suspend there is nothing to catch up with. */
		if (top->next_ms < baleen_monotonic_ms())
			top->next_ms = baleen_monotonic_ms() + top->view.interval_ms;
		if (wait_for_look(top))
			return EXIT_DONE;
		if (top->view.is_paused)
			continue;
		try_events(top);
		err = look(top);
		if (!err)
			err = show(top);
		if (err || ++n_pages == top->options->max_pages)
			return err;
	}
}

static int start(struct top *top)
{
	top->view.sort = top->options->sort;
	top->view.interval_ms = top->options->interval_ms;
	setlocale(LC_CTYPE, "");
	top->view.utf8 = !top->options->ascii && !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (look(top))
		return EXIT_FAILED;
	try_events(top);
	catch_signals();
	if (!top->options->batch) {
		if (top_screen_open())
			return EXIT_FAILED;
		top->is_screen = true;
		top_screen_draw(&top->view, &top->page);
	}
	top->next_ms = baleen_monotonic_ms();
	return EXIT_DONE;
}

static int run_top(const struct options *options)
{
	struct top *top = calloc(1, sizeof(*top));
	int err;

	if (!top)
		return complain("%s", strerror(ENOMEM));
	top->options = options;
	err = start(top);
	if (!err)
		err = run_view(top);
	top_screen_close();
	end_events(top);
	free(top);
	return err;
}

/* --- the command ----------------------------------------------------------- */

static int parse_interval(const struct option_use *use)
{
	u64 *ms = use->to;

	if (baleen_duration_parse(use->argument, ms) || *ms < MIN_INTERVAL_MS ||
	    *ms > MAX_INTERVAL_MS)
		return option_refuse(use, "not 100ms to 1h");
	return 0;
}

static int parse_rounds(const struct option_use *use)
{
	return baleen_count_parse(use->argument, use->to) ?
		       complain_usage(use->command, "'%s': no number of looks", use->argument) :
		       0;
}

static int parse_once(const struct option_use *use)
{
	struct options *options = use->to;

	options->batch = true;
	options->max_pages = 1;
	return 0;
}

static int run(int argc, char **argv)
{
	struct options options = { .interval_ms = DEFAULT_INTERVAL_MS };
	struct baleen_error error;
	int err = options_parse(&top_command, &options, &argc, &argv);

	if (err)
		return err;
	options.device = *argv;
	options.batch |= options.json | options.feeds;
	if (!options.batch && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return complain_usage(&top_command, "this is no terminal: --batch, --once or -j");
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	return options.feeds ? top_show_feeds(options.device, options.json) : run_top(&options);
}

static const struct option_spec table[] = {
	VALUE("interval", 'i', "TIME", parse_interval, options, interval_ms,
	      "between two looks, 100ms to 1h; 1s"),
	FLAG("batch", 'b', options, batch,
	     "print page after page, for scripts; as wide as COLUMNS says"),
	FLAG("json", 'j', options, json, "the same as one object per line"),
	VALUE("count", 'n', "N", parse_rounds, options, max_pages, "end after N pages"),
	{ "once", 0, NULL, parse_once, .help = "the same as -b -n 1: the rates of one interval" },
	VALUE("sort", 0, "WHAT", option_choice, options, sort,
	      "rules by order (default), packets or bytes", .words = "order packets bytes"),
	FLAG("feeds", 0, options, feeds,
	     "print, once, which feeds and entries caused the sampled drops that baleend keeps"),
	FLAG("ascii", 0, options, ascii, "no block characters, whatever the locale says"),
	{ 0 },
};

const struct command top_command = {
	.name = "top",
	.synopsis = "[-i TIME] [-b | --once | -j | --feeds] [-n N] [OPTION...] DEV",
	.help = "Shows what the filter of a device does, live: packets and bytes a second of each rule\n"
		"with what they have been, what no rule decided, and the counters of unexamined\n"
		"frames that have moved. With sampling on ('baleen policy DEV --sample 100/s'), the\n"
		"keys that occur most often in the sampled events: counts are never too low, and too\n"
		"high by no more than is said. Events have one reader at a time; while another has\n"
		"them, it is named.\n\n"
		"Keys: q ends, p pauses, s sorts the rules (by order, packets, bytes), c forgets the\n"
		"keys of the events.\n\n"
		"--feeds tells which list earns its place: of each feed, and each origin of single\n"
		"entries, how many entries it has, how many of them met a sampled drop, the sources\n"
		"and drops that it holds, and the drops that nothing else in the rule holds.\n\n"
		"Exit: 1 when the filter is not in force, or taken off meanwhile.\n",
	.options = table,
	.asks = { 1, 1, "one device is asked for" },
	.run = run,
};
