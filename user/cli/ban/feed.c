// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen feed: single entries from another program, line by line. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/open/entries.h"
#include "cli/open/filter_name.h"
#include "net/device.h"
#include "state/entry_line.h"
#include "state/book.h"
#include "util/clock.h"
#include "util/foreign.h"
#include "util/memory.h"

/* Changes that are made together at most; what has been read by then is made at
 * once, so a lone line does not wait for others.
 */
#define MAX_BATCH 4096

/* The device stays held for so long after a line, and for so long altogether: a program that
 * waits for each reply pays for the lock once. Then others get it, who ask every 20 ms.
 */
#define HOLD_IDLE_MS 5
#define HOLD_MS 200
#define PAUSE_MS 25

/**
 * struct feed - a feed that is being read
 * @target: DEV:RULE as typed
 * @device: its device
 * @rule: its rule
 * @key_spec: key fields of the rule
 * @ban_width: baleen_rule_ban_width() of it
 * @max_entries: most entries of a snapshot
 * @options: origin of lines that name none
 * @keeps_sessions: refuse to ban peers of TCP sessions
 * @wait_ms: for other writers
 * @session: the device, while it is held
 * @is_held: it is
 * @held_ms: since when
 * @host: surveyed once while it is held
 * @entries: changes that wait
 * @in_snapshot: between begin and commit
 * @is_spoiled: a line of the snapshot was bad
 * @failed: something was refused
 * @unkept: the disk had no room for what is in force; "" or why
 * @lines: the input
 */
struct feed {
	const char *target;
	char device[BALEEN_POINT_BYTES];
	const char *rule;
	u32 key_spec, ban_width;
	u64 max_entries;
	struct entry_options options;
	bool keeps_sessions;
	u64 wait_ms;
	struct baleen_device_session session;
	bool is_held;
	u64 held_ms;
	struct baleen_host host;
	struct entries entries;
	bool in_snapshot, is_spoiled, failed;
	const char *unkept;
	struct baleen_entry_lines lines;
};

/* --- replies --------------------------------------------------------------- */

static void reply(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void reply(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	baleen_foreign_vprint(stdout, format, arguments);
	va_end(arguments);
	putchar('\n');
}

/* The reply to a line that is in force. */
static void reply_ok(const struct feed *feed, const char *what)
{
	if (feed->unkept)
		reply("%s, not kept: %s", what, feed->unkept);
	else
		reply("%s", what);
}

/* @narrowed: the reply, before the reason, when part of the entry was left out */
static void reply_taken(const struct feed *feed, const struct baleen_rule_entry_change *change,
			const char *whole, const char *narrowed)
{
	char why[ENTRY_REFUSAL], text[ENTRY_REFUSAL + 32];

	if (change->answer == BALEEN_GATE_NARROWED)
		snprintf(text, sizeof(text), "%s %s", narrowed, entry_refusal(change, why));
	reply_ok(feed, change->answer == BALEEN_GATE_NARROWED ? text : whole);
}

static void reply_to(struct feed *feed, const struct baleen_rule_entry_change *change)
{
	char why[ENTRY_REFUSAL];

	switch (change->result) {
	case 0: reply_taken(feed, change, "ok", "ok narrowed"); break;
	case -EEXIST: reply_taken(feed, change, "ok renewed", "ok renewed narrowed"); break;
	case -ENOENT: reply("ok absent"); break;
	default: feed->failed = true; reply("refused %s", entry_refusal(change, why));
	}
}

/* --- batches --------------------------------------------------------------- */

static void release(struct feed *feed)
{
	if (!feed->is_held)
		return;
	feed->is_held = false;
	baleen_device_session_close(&feed->session);
	baleen_host_free(&feed->host);
	feed->host = (struct baleen_host){ 0 };
}

static int hold(struct feed *feed, struct baleen_error *error)
{
	int err;

	if (feed->is_held)
		return 0;
	err = baleen_device_session_open_state(&feed->session, feed->device, feed->wait_ms, error);
	feed->is_held = !err;
	feed->held_ms = baleen_monotonic_ms();
	return err;
}

/* 0, or a negative errno: then nothing has changed. */
static int put_batch(struct feed *feed, struct baleen_batch *batch, struct baleen_error *error)
{
	int err = hold(feed, error);

	if (err)
		return err;
	batch->host = &feed->host;
	err = baleen_deploy_batch(&feed->session.deploy, batch, error);
	feed->unkept = err ? NULL : baleen_book_unkept_why(&feed->session.deploy.state);
	if (!err)
		entries_warn_ends(&feed->entries, &feed->session.deploy);
	/* The next one to open it tries to keep it. */
	if (err || feed->unkept)
		release(feed);
	return err;
}

/* Before more is read: is the next line about to come? */
static void release_in_time(struct feed *feed, int fd)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000 * 1000 };
	struct pollfd input = { .fd = fd, .events = POLLIN };

	if (!feed->is_held)
		return;
	if (baleen_monotonic_ms() - feed->held_ms >= HOLD_MS) {
		release(feed);
		nanosleep(&pause, NULL);
	} else if (poll(&input, 1, HOLD_IDLE_MS) <= 0) {
		release(feed);
	}
}

/* Tells the program that wrote the line, which may try again. */
static void reply_failed(struct feed *feed, size_t n, const struct baleen_error *error)
{
	feed->failed = true;
	for (size_t i = 0; i < n; i++)
		reply("failed %s", error->text);
}

/* Makes what waits. 0, or EXIT_FAILED after a message when nobody reads the replies. */
static int flush(struct feed *feed)
{
	struct baleen_batch batch = { .rule = feed->rule,
				      .change = feed->entries.change,
				      .n = feed->entries.n,
				      .asker = BALEEN_ASKER_FED,
				      .cuts_sessions = !feed->keeps_sessions };
	struct baleen_error error;

	if (!feed->entries.n)
		return 0;
	if (put_batch(feed, &batch, &error))
		reply_failed(feed, batch.n, &error);
	else
		for (size_t i = 0; i < feed->entries.n; i++)
			reply_to(feed, &feed->entries.change[i]);
	feed->entries.n = 0;
	return fflush(stdout) ? finish_output(EXIT_FAILED) : 0;
}

static int commit(struct feed *feed)
{
	struct baleen_batch batch = { .rule = feed->rule,
				      .change = feed->entries.change,
				      .n = feed->entries.n,
				      .snapshot_of = feed->options.origin,
				      .asker = BALEEN_ASKER_FED,
				      .cuts_sessions = !feed->keeps_sessions };
	char what[128];
	u64 n_refused = 0;
	struct baleen_error error;

	feed->in_snapshot = false;
	if (feed->is_spoiled) {
		feed->failed = true;
		feed->entries.n = 0;
		reply("refused the snapshot has bad lines: nothing changed");
		return 0;
	}
	if (put_batch(feed, &batch, &error)) {
		reply_failed(feed, 1, &error);
		feed->entries.n = 0;
		return 0;
	}
	for (size_t i = 0; i < feed->entries.n; i++)
		n_refused += feed->entries.change[i].result == -EPERM;
	snprintf(what, sizeof(what), "ok %llu entries, %llu refused, %llu deleted",
		 (unsigned long long)(feed->entries.n - n_refused), (unsigned long long)n_refused,
		 (unsigned long long)batch.n_flushed);
	reply_ok(feed, what);
	feed->failed |= n_refused;
	feed->entries.n = 0;
	return 0;
}

/* --- lines ----------------------------------------------------------------- */

static int bad(struct feed *feed, const char *reason, const char *text)
{
	/* Replies come in the order of the lines. */
	if (!feed->in_snapshot && flush(feed))
		return EXIT_FAILED;
	feed->is_spoiled = feed->in_snapshot;
	feed->failed = true;
	reply("bad %s%s%s", reason, *text ? ": " : "", text);
	return 0;
}

/* Said once: a program that writes so many lines may not read as many replies. */
static int refuse_more(struct feed *feed)
{
	char many[32];

	if (feed->is_spoiled)
		return 0;
	snprintf(many, sizeof(many), "%llu", (unsigned long long)feed->max_entries);
	return bad(feed, "more entries than max-entries allows", many);
}

static int apply_change(struct feed *feed, enum baleen_rule_entry_op op,
			const struct baleen_entry_line *line)
{
	const struct entry_options options = { .origin = line->origin ?: feed->options.origin,
					       .reason = line->reason,
					       .ttl_ms = line->ttl_ms };
	struct baleen_rule_entry entry;
	struct baleen_error error;
	bool is_widened;

	if (feed->in_snapshot && strcmp(options.origin, feed->options.origin))
		return bad(feed, "a snapshot has one origin", options.origin);
	if (feed->in_snapshot && op != BALEEN_RULE_ENTRY_PUT)
		return bad(feed, "a snapshot has what is to be there, not del", "");
	if (entry_make(line->key, feed->key_spec, feed->ban_width, &options, &entry, &is_widened,
		       &error))
		return bad(feed, error.text, "");
	if (feed->in_snapshot && feed->entries.n == feed->max_entries)
		return refuse_more(feed);
	if (entries_append(&feed->entries, op, &entry))
		return EXIT_FAILED;
	return !feed->in_snapshot && feed->entries.n == MAX_BATCH ? flush(feed) : 0;
}

static int begin(struct feed *feed)
{
	if (feed->in_snapshot)
		return bad(feed, "begin within a snapshot", "");
	if (flush(feed))
		return EXIT_FAILED;
	feed->in_snapshot = true;
	feed->is_spoiled = false;
	return 0;
}

static int take_line(struct feed *feed, char *text)
{
	struct baleen_entry_line line;
	struct baleen_error error;

	if (baleen_entry_line_parse(text, &line, &error))
		return bad(feed, error.text, "");
	switch (line.verb) {
	case BALEEN_ENTRY_ADD: return apply_change(feed, BALEEN_RULE_ENTRY_PUT, &line);
	case BALEEN_ENTRY_DEL: return apply_change(feed, BALEEN_RULE_ENTRY_REMOVE, &line);
	case BALEEN_ENTRY_BEGIN: return begin(feed);
	case BALEEN_ENTRY_COMMIT:
		return feed->in_snapshot ? commit(feed) : bad(feed, "commit without begin", "");
	default: return 0;
	}
}

/* The lines that are there whole. */
static int take_lines(struct feed *feed)
{
	char *line;
	int err = 0, found;

	while (!err && (found = baleen_entry_lines_next(&feed->lines, &line)))
		err = found < 0 ? bad(feed, "not a line of text below 1024 bytes", "") :
				  take_line(feed, line);
	if (!err && !feed->in_snapshot)
		err = flush(feed);
	return err || fflush(stdout) ? EXIT_FAILED : 0;
}

static int read_all(struct feed *feed, int fd)
{
	bool is_cut;
	ssize_t n;
	int err = 0;

	while (!err) {
		release_in_time(feed, fd);
		n = baleen_entry_lines_read(&feed->lines, fd);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		err = take_lines(feed);
	}
	if (err)
		return err;
	if (n < 0)
		return complain("stdin: %m");
	is_cut = baleen_entry_lines_is_cut(&feed->lines);
	if (is_cut)
		complain("stdin: the last line has no end: not taken");
	if (feed->in_snapshot)
		complain("stdin: ended before commit: the snapshot was not taken");
	return is_cut || feed->in_snapshot || feed->failed ? EXIT_FAILED : 0;
}

/* --- command --------------------------------------------------------------- */

static int parse(struct feed *feed, int argc, char **argv)
{
	int err = options_parse(&feed_command, feed, &argc, &argv);

	if (err)
		return err;
	if (argc != 2 || strcmp(argv[1], "-"))
		return complain_usage(&feed_command, "DEV:RULE and - for stdin are asked for");
	feed->target = *argv;
	if (!split_live(feed->target, feed->device, sizeof(feed->device), &feed->rule))
		return complain_usage(&feed_command, "'%s' is not DEV:RULE", feed->target);
	return 0;
}

static int run(int argc, char **argv)
{
	static struct feed feed = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS,
				    .options = { .origin = "feed" } };
	struct baleen_stored_rule rule;
	struct baleen_error error;
	int err = parse(&feed, argc, argv);

	if (err)
		return err;
	if (baleen_device_privileges(&error) ||
	    baleen_rule_entry_check(feed.options.origin, "", &error))
		return complain("%s", error.text);
	if (entries_rule(feed.device, feed.rule, &rule))
		return EXIT_FAILED;
	feed.key_spec = rule.key_spec;
	feed.ban_width = baleen_rule_ban_width(&rule);
	/* A change takes less than a KiB until the commit. */
	feed.max_entries = baleen_feed_max_entries(&rule.limits, baleen_memory_total() / 4);
	err = read_all(&feed, STDIN_FILENO);
	release(&feed);
	entries_free(&feed.entries);
	if (!err && feed.unkept)
		err = EXIT_UNKEPT;
	return finish_output(err);
}

static const struct option_spec options[] = {
	VALUE("origin", 0, "NAME", option_text, feed, options.origin,
	      "of lines that name none (feed), and of snapshots"),
	FLAG("keep-sessions", 0, feed, keeps_sessions, "refuse to ban the peers of TCP sessions"),
	WAIT_OPTION(feed, wait_ms),
	{ 0 },
};

const struct command feed_command = {
	.name = "feed",
	.synopsis = "DEV:RULE - [--origin NAME] [--keep-sessions] [--wait SECONDS]",
	.help = "Reads changes of single entries from stdin, for other programs to drive. A line is\n"
		"  add KEY [ttl=1h] [origin=NAME] [reason=TEXT to the end of the line]\n"
		"  del KEY [origin=NAME]\n"
		"  begin            what follows up to commit is all that the origin shall have\n"
		"  commit           ... and is put in force in one step\n"
		"A lone IPv6 address stands for its /64, or as ban-width says. Lines that are there\n"
		"together are made together. Each line has a reply on stdout, in order, when it is in\n"
		"force and on disk:\n"
		"  ok | ok narrowed WHY | ok renewed | ok absent, refused WHY, bad WHY, failed WHY;\n"
		"  within begin and commit only commit and bad lines have one. 'ok, not kept: disk full'\n"
		"  is in force, and comes to the disk when there is room\n"
		"Peers of TCP sessions may be banned: who is banned often still has one open.\n",
	.options = options,
	.run = run,
};
