// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen feed: single entries from another program, line by line. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/ban/feed_target.h"
#include "state/entry_line.h"
#include "util/clock.h"
#include "util/foreign.h"

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
 * @target: where its lines go
 * @options: origin of lines that name none
 * @entries: changes that wait
 * @in_snapshot: between begin and commit
 * @is_spoiled: a line of the snapshot was bad
 * @failed: something was refused
 * @unkept: the disk had no room for what is in force
 * @behind: a device has not followed yet
 * @lines: the input
 */
struct feed {
	struct feed_target target;
	struct entry_options options;
	struct entries entries;
	bool in_snapshot, is_spoiled, failed, unkept, behind;
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

/* @unkept: why the disk has not what changed; NULL when it has, or nothing did */
static void reply_made(struct feed *feed, const char *what, const char *unkept)
{
	const char *behind = feed->target.behind.text;

	feed->behind |= *behind != '\0';
	reply("%s%s%s%s%s", what, *behind ? ", behind: " : "", behind, unkept ? ", not kept: " : "",
	      unkept ?: "");
}

/* The reply to a line that is in force. */
static void reply_ok(struct feed *feed, const char *what)
{
	reply_made(feed, what, feed->target.unkept);
}

/* @narrowed: the reply, before the reason, when part of the entry was left out */
static void reply_taken(struct feed *feed, const struct baleen_rule_entry_change *change,
			const char *whole, const char *narrowed)
{
	char why[ENTRY_REFUSAL], text[ENTRY_REFUSAL + 32];

	if (change->answer != BALEEN_GATE_OPEN)
		snprintf(text, sizeof(text), "%s %s", narrowed, entry_refusal(change, why));
	reply_ok(feed, change->answer != BALEEN_GATE_OPEN ? text : whole);
}

static void reply_to(struct feed *feed, const struct baleen_rule_entry_change *change)
{
	char why[ENTRY_REFUSAL];

	switch (change->result) {
	case 0: reply_taken(feed, change, "ok", "ok narrowed"); break;
	case -EEXIST: reply_taken(feed, change, "ok renewed", "ok renewed narrowed"); break;
	case -ENOENT: reply_made(feed, "ok absent", NULL); break;
	default: feed->failed = true; reply("refused %s", entry_refusal(change, why));
	}
}

/* --- batches --------------------------------------------------------------- */

/* 0, or a negative errno: then nothing has changed. */
static int put_batch(struct feed *feed, struct baleen_batch *batch, struct baleen_error *error)
{
	int err;

	batch->asker = BALEEN_ASKER_FED;
	batch->cuts_sessions = !feed->target.keeps_sessions;
	err = feed_target_put(&feed->target, batch, error);
	feed->unkept = !err && feed->target.unkept;
	return err;
}

/* Before more is read: is the next line about to come? */
static void release_in_time(struct feed *feed, int fd)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000 * 1000 };
	struct pollfd input = { .fd = fd, .events = POLLIN };

	if (!feed->target.is_held)
		return;
	if (baleen_monotonic_ms() - feed->target.held_ms >= HOLD_MS) {
		feed_target_release(&feed->target);
		nanosleep(&pause, NULL);
	} else if (poll(&input, 1, HOLD_IDLE_MS) <= 0) {
		feed_target_release(&feed->target);
	}
}

/* Tells the program that wrote the line, which may try again. */
static void reply_failed(struct feed *feed, const struct baleen_error *error)
{
	feed->failed = true;
	reply("failed %s", error->text);
}

/* Where no rule takes bans, entries that are parked can be deleted still. 0, or a negative errno:
 * then what was to be put was not, and unless it is -ENOENT nothing has changed.
 */
static int make(struct feed *feed, struct baleen_batch *batch, struct baleen_error *error)
{
	struct baleen_error why;
	int err = put_batch(feed, batch, error);

	if (err && err != -ENOENT)
		return err;
	for (size_t i = 0; err && i < batch->n; i++)
		batch->change[i].result = -ENOENT;
	if (feed_target_put_parked(&feed->target, batch, &why)) {
		complain("%s", why.text);
		feed->failed = true;
	}
	return err;
}

/* Makes what waits. 0, or EXIT_FAILED after a message when nobody reads the replies. */
static int flush(struct feed *feed)
{
	struct baleen_batch batch = { .change = feed->entries.change, .n = feed->entries.n };
	struct baleen_error error;
	int err;

	if (!feed->entries.n)
		return 0;
	err = make(feed, &batch, &error);
	for (size_t i = 0; i < batch.n; i++)
		if (err && (err != -ENOENT || batch.change[i].op == BALEEN_RULE_ENTRY_PUT))
			reply_failed(feed, &error);
		else
			reply_to(feed, &batch.change[i]);
	feed->entries.n = 0;
	return fflush(stdout) ? finish_output(EXIT_FAILED) : 0;
}

static int flush_origin(struct feed *feed, const char *origin)
{
	struct baleen_batch batch = { .flush_of = origin };
	struct baleen_error error;
	char what[64];
	int err;

	if (flush(feed))
		return EXIT_FAILED;
	err = put_batch(feed, &batch, &error);
	if (err && err != -ENOENT) {
		reply_failed(feed, &error);
		return 0;
	}
	snprintf(what, sizeof(what), "ok %llu deleted", (unsigned long long)batch.n_flushed);
	reply_ok(feed, what);
	return 0;
}

static void reply_spoiled(struct feed *feed)
{
	feed->failed = true;
	feed->entries.n = 0;
	reply("refused the snapshot has bad lines: nothing changed");
}

static void commit(struct feed *feed)
{
	struct baleen_batch batch = { .change = feed->entries.change,
				      .n = feed->entries.n,
				      .snapshot_of = feed->options.origin };
	u64 n_refused = 0;
	struct baleen_error error;
	char what[128];

	feed->in_snapshot = false;
	if (feed->is_spoiled) {
		reply_spoiled(feed);
		return;
	}
	if (put_batch(feed, &batch, &error)) {
		reply_failed(feed, &error);
		feed->entries.n = 0;
		return;
	}
	for (size_t i = 0; i < feed->entries.n; i++)
		n_refused += feed->entries.change[i].result == -EPERM;
	snprintf(what, sizeof(what), "ok %llu entries, %llu refused, %llu deleted",
		 (unsigned long long)(feed->entries.n - n_refused), (unsigned long long)n_refused,
		 (unsigned long long)batch.n_flushed);
	reply_ok(feed, what);
	feed->failed |= n_refused;
	feed->entries.n = 0;
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
	snprintf(many, sizeof(many), "%llu", (unsigned long long)feed->target.max_entries);
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
		return bad(feed, "a snapshot has what is to be there, not del or unban", "");
	if (entry_make(line->key, feed->target.key_spec, feed->target.ban_width, &options, &entry,
		       &is_widened, &error))
		return bad(feed, error.text, "");
	if (feed->in_snapshot && feed->entries.n == feed->target.max_entries)
		return refuse_more(feed);
	if (entries_append(&feed->entries, op, &entry))
		return EXIT_FAILED;
	return !feed->in_snapshot && feed->entries.n == MAX_BATCH ? flush(feed) : 0;
}

/* A lone IPv6 address is unbanned with its network and alone, as by the command: one reply. */
static int take_unban(struct feed *feed, const struct baleen_entry_line *line)
{
	struct baleen_rule_entry_change change[ENTRY_PAIR] = { 0 };
	struct baleen_rule_entry pair[ENTRY_PAIR];
	struct baleen_batch batch = { .change = change };
	struct baleen_error error;
	int n, err;

	if (feed->in_snapshot)
		return bad(feed, "a snapshot has what is to be there, not del or unban", "");
	if (flush(feed))
		return EXIT_FAILED;
	n = entry_make_pair(line->key, feed->target.key_spec, feed->target.ban_width,
			    &feed->options, pair, &error);
	if (n < 0)
		return bad(feed, error.text, "");
	for (; batch.n < (size_t)n; batch.n++) {
		pair[batch.n].origin[0] = '\0';
		change[batch.n] = (struct baleen_rule_entry_change){ .op = BALEEN_RULE_ENTRY_REMOVE,
								     .entry = pair[batch.n] };
	}
	err = make(feed, &batch, &error);
	if (err && err != -ENOENT) {
		reply_failed(feed, &error);
		return 0;
	}
	if (batch.n > 1 && !change[1].result)
		change[0].result = 0;
	reply_to(feed, &change[0]);
	return 0;
}

static int take_flush(struct feed *feed, const struct baleen_entry_line *line)
{
	const char *origin = line->origin ?: feed->options.origin;
	struct baleen_error error;

	if (feed->in_snapshot)
		return bad(feed, "flush within a snapshot", "");
	if (baleen_rule_entry_check(origin, "", &error))
		return bad(feed, error.text, "");
	return flush_origin(feed, origin);
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
	case BALEEN_ENTRY_UNBAN: return take_unban(feed, &line);
	case BALEEN_ENTRY_FLUSH: return take_flush(feed, &line);
	case BALEEN_ENTRY_BEGIN: return begin(feed);
	case BALEEN_ENTRY_COMMIT:
		if (!feed->in_snapshot)
			return bad(feed, "commit without begin", "");
		commit(feed);
		return 0;
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
		return complain_usage(&feed_command,
				      "DEV:RULE or bans, and - for stdin are asked for");
	feed->target.name = *argv;
	return 0;
}

static int run(int argc, char **argv)
{
	static struct feed feed = { .target.wait_ms = BALEEN_LOCK_TIMEOUT_MS,
				    .options = { .origin = "feed" } };
	struct baleen_error error;
	int err = parse(&feed, argc, argv);

	if (!err)
		err = feed_target_find(&feed.target);
	if (err)
		return err;
	if (baleen_rule_entry_check(feed.options.origin, "", &error))
		return complain("%s", error.text);
	err = read_all(&feed, STDIN_FILENO);
	feed_target_release(&feed.target);
	entries_free(&feed.entries);
	if (!err)
		err = feed.behind ? EXIT_BEHIND : feed.unkept ? EXIT_UNKEPT : EXIT_DONE;
	return finish_output(err);
}

static const struct option_spec options[] = {
	VALUE("origin", 0, "NAME", option_text, feed, options.origin,
	      "of lines that name none (feed), and of snapshots"),
	FLAG("keep-sessions", 0, feed, target.keeps_sessions,
	     "refuse to ban the peers of TCP sessions"),
	WAIT_OPTION(feed, target.wait_ms),
	{ 0 },
};

const struct command feed_command = {
	.name = "feed",
	.synopsis = "DEV:RULE|bans - [--origin NAME] [--keep-sessions] [--wait SECONDS]",
	.help = "Reads changes of single entries from stdin, for other programs to drive: of a rule, or of\n"
		"all rules that take bans. A line is\n"
		"  add KEY [ttl=1h] [origin=NAME] [reason=TEXT to the end of the line]; or ban KEY ...\n"
		"  del KEY [origin=NAME]\n"
		"  unban KEY        of every origin\n"
		"  flush [origin=NAME]\n"
		"  begin            what follows up to commit is all that the origin shall have\n"
		"  commit           ... and is put in force in one step\n"
		"A lone IPv6 address stands for its /64, or as ban-width says. Lines that are there\n"
		"together are made together. Each line has a reply on stdout, in order, when it is in\n"
		"force and on disk:\n"
		"  ok | ok narrowed WHY | ok renewed | ok absent, refused WHY, bad WHY, failed WHY;\n"
		"  within begin and commit only commit and bad lines have one. 'ok, not kept: disk full'\n"
		"  is in force, and comes to the disk when there is room; 'ok, behind: DEV: WHY' is kept,\n"
		"  and in force on DEV with baleend or the next command that changes it\n"
		"Peers of TCP sessions may be banned: who is banned often still has one open.\n",
	.options = options,
	.run = run,
};
