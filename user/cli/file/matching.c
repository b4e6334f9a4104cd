// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys asked of a filter, many at a time, and those printed that are wanted. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/matching.h"
#include "filter/copies.h"
#include "filter/filter_strings.h"
#include "key/key_text.h"
#include "list/string_keys.h"
#include "util/array.h"
#include "util/blocks.h"
#include "util/foreign.h"
#include "util/input.h"
#include "util/threads.h"

/* Keys whose lines are on their way at once; they stay in the L1 cache. */
#define BATCH 64

/**
 * struct batch - keys to be asked, in the order they were read
 * @n: how many
 * @text: where each is; behind it is a byte that may be overwritten
 * @n_bytes: without that byte
 * @key: what it is
 * @string: the same, of a set of strings
 */
struct batch {
	u32 n;
	char *text[BATCH];
	size_t n_bytes[BATCH];
	struct baleen_key key[BATCH];
	struct baleen_string string[BATCH];
};

/**
 * struct source - a file of keys
 * @name: in messages
 * @number: number of the line that was read last
 * @lines: its lines
 * @run: keys that are to be printed, one behind the other, each with its end
 * @run_bytes: how many bytes
 */
struct source {
	const char *name;
	u64 number;
	struct baleen_lines lines;
	char *run;
	size_t run_bytes;
};

/**
 * struct bad_key - a key that cannot be read
 * @number: of its line in the block
 * @reason: why, a constant string
 * @shown: printable, and cut
 */
struct bad_key {
	u64 number;
	const char *reason;
	char shown[81];
};

/**
 * struct sink - what one of several threads has to say of its block, at its turn
 * @bytes: output
 * @n: how many
 * @room: allocated
 * @bad: keys that cannot be read
 * @n_bad: how many
 * @room_bad: allocated
 * @err: there was no memory for more
 */
struct sink {
	char *bytes;
	size_t n, room;
	struct bad_key *bad;
	size_t n_bad, room_bad;
	int err;
};

/* --- what cannot be read --------------------------------------------------- */

static void print_bad(const struct bad_key *bad, const struct source *source, u64 before)
{
	if (source)
		complain("%s:%llu: '%s': %s", source->name,
			 (unsigned long long)(before + bad->number), bad->shown, bad->reason);
	else
		complain("'%s': %s", bad->shown, bad->reason);
}

/* Control characters of a file are nothing to send to a terminal. */
static void complain_of_key(struct matching *matching, const char *text, size_t n_bytes,
			    const struct source *source, const char *reason)
{
	struct bad_key bad = { .number = source ? source->number : 0, .reason = reason };
	struct sink *sink = matching->sink;

	matching->n_bad++;
	baleen_foreign_text(bad.shown, sizeof(bad.shown), text, n_bytes);
	if (!sink)
		print_bad(&bad, source, 0);
	else if (baleen_array_reserve(&sink->bad, &sink->room_bad, sink->n_bad + 1))
		sink->err = -ENOMEM;
	else
		sink->bad[sink->n_bad++] = bad;
}

/* --- output ---------------------------------------------------------------- */

static void put_in_sink(struct sink *sink, const char *bytes, size_t n_bytes)
{
	if (sink->err || baleen_array_reserve(&sink->bytes, &sink->room, sink->n + n_bytes)) {
		sink->err = -ENOMEM;
		return;
	}
	memcpy(sink->bytes + sink->n, bytes, n_bytes);
	sink->n += n_bytes;
}

static void print(struct matching *matching, const char *bytes, size_t n_bytes)
{
	if (matching->sink)
		put_in_sink(matching->sink, bytes, n_bytes);
	else if (!matching->write_error && fwrite_unlocked(bytes, 1, n_bytes, stdout) != n_bytes)
		matching->write_error = errno ? errno : EIO;
}

static void print_run(struct matching *matching, struct source *source)
{
	if (source->run_bytes)
		print(matching, source->run, source->run_bytes);
	source->run_bytes = 0;
}

/* A key that is wanted; the byte behind it may be overwritten. */
static void match_text(struct matching *matching, struct source *source, char *text, size_t n_bytes)
{
	matching->n_matched++;
	if (matching->count_only)
		return;
	if (matching->found) {
		json_array_append_new(matching->found, json_bytes(text, n_bytes));
		return;
	}
	text[n_bytes] = source->lines.end;
	if (source->run + source->run_bytes != text) {
		print_run(matching, source);
		source->run = text;
	}
	source->run_bytes += n_bytes + 1;
}

static json_t *json_copies(char *text, size_t n_bytes, u64 n, enum baleen_copies_bound bound)
{
	static const char *const bounds[] = { "exact", "at most", "at least" };
	json_t *json = json_object();

	json_object_set_new(json, "key", json_bytes(text, n_bytes));
	json_object_set_new(json, "copies", json_integer((json_int_t)n));
	json_object_set_new(json, "bound", json_string(bounds[bound]));
	return json;
}

/* A key that is wanted, behind the number of its copies. */
static void count_copies(struct matching *matching, const struct source *source,
			 const struct baleen_key *key, char *text, size_t n_bytes)
{
	char number[32];
	u64 n;
	enum baleen_copies_bound bound = baleen_copies_of(&matching->ref->filter, key, &n);

	matching->n_matched++;
	if (matching->found) {
		json_array_append_new(matching->found, json_copies(text, n_bytes, n, bound));
		return;
	}
	text[n_bytes] = source->lines.end;
	print(matching, number,
	      snprintf(number, sizeof(number), "%llu%s ", (unsigned long long)n,
		       bound == BALEEN_COPIES_AT_LEAST ? "+" : ""));
	print(matching, text, n_bytes + 1);
}

/* --- keys ------------------------------------------------------------------ */

/* The key of a line of a file: what stands before white space or a comment. */
static char *cut_key(char *line, size_t *n_bytes)
{
	char *end = line + *n_bytes, *start = line, *p;

	while (start < end && (*start == ' ' || *start == '\t'))
		start++;
	for (p = start; p < end && *p && !strchr(" \t\r\n#;", *p); p++)
		;
	/* A NUL is damage, not the end of a line. */
	*n_bytes = (p < end && !*p ? end : p) - start;
	return start;
}

static bool parse_key(struct matching *matching, const struct source *source, const char *text,
		      size_t n_bytes, struct baleen_key *key)
{
	const char *reason;

	if (!baleen_key_parse(text, n_bytes, matching->ref->filter.image.key_spec, key, &reason))
		return true;
	complain_of_key(matching, text, n_bytes, source, reason);
	return false;
}

/* A URL has them in it, but for white space. */
static char *cut_url(char *line, size_t *n_bytes)
{
	char *end = line + *n_bytes, *start = line;

	while (start < end && (*start == ' ' || *start == '\t'))
		start++;
	while (end > start && strchr(" \t\r", end[-1]) && end[-1])
		end--;
	*n_bytes = start < end && (*start == '#' || *start == ';') ? 0 : end - start;
	return start;
}

/* Appends the key of a line, if it has one. */
static void add_key(struct matching *matching, struct source *source, struct batch *batch,
		    char *line, size_t n_bytes)
{
	bool is_url = matching->ref->filter.image.key_spec == BALEEN_KEY_SQUID;

	line = is_url ? cut_url(line, &n_bytes) : cut_key(line, &n_bytes);
	if (!n_bytes || !parse_key(matching, source, line, n_bytes, &batch->key[batch->n]))
		return;
	batch->text[batch->n] = line;
	batch->n_bytes[batch->n++] = n_bytes;
}

/* Most lines of most files: an IPv4 address and nothing else, which its parser
 * finds the end of. False when the next line is none.
 */
static bool add_ip4(struct source *source, struct batch *batch)
{
	struct baleen_lines *lines = &source->lines;
	char *start = lines->buffer + lines->next;
	const char *end, *ignored;
	u32 ip4;

	end = baleen_ip4_scan(start, &ip4, &ignored);
	if (!end || *end != lines->end)
		return false;
	lines->next += end + 1 - start;
	source->number++;
	batch->key[batch->n] = (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = ip4 };
	batch->text[batch->n] = start;
	batch->n_bytes[batch->n++] = end - start;
	return true;
}

/* A string is printed as it stands, with a carriage return that is no part of it. */
static void add_string(struct matching *matching, struct source *source, struct batch *batch,
		       char *line, size_t n_bytes)
{
	struct baleen_string string = { (u8 *)line, n_bytes };

	if (!matching->ends_with_nul)
		string.n_bytes = baleen_string_length(line, n_bytes);
	if (!string.n_bytes)
		return;
	if (n_bytes > BALEEN_LINE_MAX) {
		complain_of_key(matching, line, n_bytes, source, "line longer than 1 MiB");
		return;
	}
	batch->key[batch->n] = baleen_string_key(&matching->ref->filter, string);
	batch->string[batch->n] = string;
	batch->text[batch->n] = line;
	batch->n_bytes[batch->n++] = n_bytes;
}

static void read_batch(struct matching *matching, struct source *source, struct batch *batch)
{
	u32 key_spec = matching->ref->filter.image.key_spec;
	bool is_address = baleen_spec_is_address(key_spec);
	size_t n_bytes = 0;
	char *line;

	batch->n = 0;
	while (batch->n < BATCH && source->lines.next < source->lines.complete) {
		if (is_address && add_ip4(source, batch))
			continue;
		line = baleen_lines_next(&source->lines, &n_bytes);
		source->number++;
		if (key_spec == BALEEN_KEY_STRING)
			add_string(matching, source, batch, line, n_bytes);
		else
			add_key(matching, source, batch, line, n_bytes);
	}
}

static void ask_batch(struct matching *matching, struct source *source, struct batch *batch)
{
	u8 is_in[BATCH];

	if (filter_ref_test(matching->ref, batch->key, batch->string, batch->n, is_in)) {
		matching->is_lost = true;
		return;
	}
	for (u32 i = 0; i < batch->n; i++) {
		if (is_in[i] == matching->inverted)
			continue;
		if (matching->counts_copies)
			count_copies(matching, source, &batch->key[i], batch->text[i],
				     batch->n_bytes[i]);
		else
			match_text(matching, source, batch->text[i], batch->n_bytes[i]);
	}
}

/* --- one key ----------------------------------------------------------------- */

void matching_key(struct matching *matching, char *text, size_t n_bytes)
{
	bool is_string = matching->ref->filter.image.key_spec == BALEEN_KEY_STRING;
	struct source source = { .lines.end = matching->ends_with_nul ? '\0' : '\n' };
	struct batch batch = { .n = 1,
			       .text = { text },
			       .n_bytes = { n_bytes },
			       .string = { { (u8 *)text, n_bytes } } };

	if (is_string)
		batch.key[0] = baleen_string_key(&matching->ref->filter, batch.string[0]);
	else if (!parse_key(matching, NULL, text, n_bytes, &batch.key[0]))
		return;
	/* The NUL behind an argument is there to be overwritten. */
	ask_batch(matching, &source, &batch);
	print_run(matching, &source);
}

static int match_lines(struct matching *matching, struct source *source)
{
	struct batch batch;
	int ret = 0;

	while (!matching->write_error && !matching->is_lost &&
	       (ret = baleen_lines_fill(&source->lines)) > 0) {
		do {
			read_batch(matching, source, &batch);
			ask_batch(matching, source, &batch);
		} while (source->lines.next < source->lines.complete);
		/* Print before the next read overwrites the run. */
		print_run(matching, source);
	}
	return ret < 0 ? ret : 0;
}

/* --- by threads ------------------------------------------------------------- */

/**
 * struct sharing - a file that threads ask together
 * @matching: the run; its counts grow, and it prints, block after block
 * @begun: the same, with nothing asked yet
 * @blocks: the file
 * @name: of it in messages
 */
struct sharing {
	struct matching *matching;
	struct matching begun;
	struct baleen_blocks blocks;
	const char *name;
};

/* Asks for the keys of a block; what it finds is told by @mine. */
static void ask_block(struct matching *mine, struct source *source)
{
	struct batch batch;

	while (source->lines.next < source->lines.complete) {
		read_batch(mine, source, &batch);
		ask_batch(mine, source, &batch);
	}
	print_run(mine, source);
}

/* With all blocks before it done, so that nobody else does. */
static void take_turn(struct matching *matching, const struct matching *mine,
		      const struct source *source, u64 before)
{
	const struct sink *sink = mine->sink;

	for (size_t i = 0; i < sink->n_bad; i++)
		print_bad(&sink->bad[i], source, before);
	matching->n_matched += mine->n_matched;
	matching->n_bad += mine->n_bad;
	if (sink->n)
		print(matching, sink->bytes, sink->n);
}

static void ask_blocks(void *data, u32 number, u32 thread)
{
	struct sharing *sharing = data;
	struct matching *matching = sharing->matching;
	struct source source = { .name = sharing->name };
	struct baleen_blocks *blocks = &sharing->blocks;
	struct sink sink = { .bytes = NULL };
	size_t block;
	int err = baleen_lines_start(&source.lines, blocks->fd, blocks->end);

	while (!err && baleen_blocks_take(blocks, &source.lines, &block)) {
		struct matching mine = sharing->begun;
		u64 before;

		mine.sink = &sink;
		sink.n = sink.n_bad = 0;
		source.number = 0;
		ask_block(&mine, &source);
		before = baleen_blocks_wait(blocks, block);
		take_turn(matching, &mine, &source, before);
		err = sink.err ?: -matching->write_error;
		baleen_blocks_end(blocks, block, source.number, err);
	}
	baleen_lines_stop(&source.lines);
	free(sink.bytes);
	free(sink.bad);
}

/* Many can ask a filter in memory at a time; JSON is one tree. */
static bool may_share(const struct matching *matching, int fd)
{
	return !matching->found && !matching->ref->type->test && baleen_blocks_are_worth(fd);
}

static int match_by_threads(struct matching *matching, int fd, char end, const char *name)
{
	struct sharing sharing = { .matching = matching, .begun = *matching, .name = name };
	int err;

	sharing.begun.n_matched = sharing.begun.n_bad = 0;
	baleen_blocks_start(&sharing.blocks, fd, end);
	baleen_threads_run(baleen_threads(), ask_blocks, &sharing);
	err = baleen_blocks_stop(&sharing.blocks);
	/* The caller tells of output that did not arrive. */
	return matching->write_error ? 0 : err;
}

/* --- files ------------------------------------------------------------------ */

static int match_alone(struct matching *matching, int fd, char end, const char *name)
{
	struct source source = { .name = name };
	int err = baleen_lines_start(&source.lines, fd, end);

	if (!err)
		err = match_lines(matching, &source);
	baleen_lines_stop(&source.lines);
	return err;
}

int matching_file(struct matching *matching, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	struct baleen_error error;
	int fd = is_stdin ? STDIN_FILENO : baleen_input_open(path, BALEEN_INPUT_TYPED, &error), err;
	const char *name = is_stdin ? "stdin" : path;
	char end = matching->ends_with_nul ? '\0' : '\n';

	if (fd < 0)
		return complain("%s", error.text);
	err = may_share(matching, fd) ? match_by_threads(matching, fd, end, name) :
					match_alone(matching, fd, end, name);
	if (err)
		complain("%s: %s", name, strerror(-err));
	if (!is_stdin)
		close(fd);
	return err ? EXIT_FAILED : 0;
}
