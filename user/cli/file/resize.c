// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen resize: room for another number of keys. */
#include <string.h>

#include "cli/common/describe.h"
#include "cli/common/trace.h"
#include "cli/open/filter_name.h"
#include "cli/open/filter_ref.h"
#include "cli/open/guard.h"
#include "ops/change.h"
#include "ops/resize.h"
#include "util/number.h"

struct resize {
	const char *argument;
	const char *out;
	char name[BALEEN_NAME_BYTES];
	u64 capacity;
	u64 wait_ms;
	double accept_fpp;
	bool json;
	struct trace trace;
	struct baleen_filter built;
};

static int parse(struct resize *resize, int argc, char **argv)
{
	int err = options_parse(&resize_command, resize, &argc, &argv);

	if (err)
		return err;
	if (!resize->capacity)
		return complain_usage(&resize_command, "--capacity N is missing");
	if (argc != 1)
		return complain_usage(&resize_command, "one IMAGE or DEV:RULE is asked for");
	resize->argument = *argv;
	if (resize->trace.is_wanted && is_live_name(resize->argument))
		return complain_usage(&resize_command, "--trace is for image files");
	err = trace_check(&resize->trace, &resize_command, resize->json);
	if (err)
		return err;
	return resize->out ? output_check(&resize_command, resize->out, resize->name) : 0;
}

static int build(struct resize *resize, struct filter_ref *ref)
{
	u64 n = baleen_filter_keys(&ref->filter);
	char held[NUMBER_TEXT], asked[NUMBER_TEXT];
	struct baleen_error error;

	if (resize->capacity < n)
		return complain("%s: holds %s keys: a capacity of %s is too small", ref->argument,
				format_count(n, held), format_count(resize->capacity, asked));
	if (baleen_filter_resize(&ref->filter, resize->capacity, &resize->built, &error))
		return complain("%s: %s", ref->argument, error.text);
	return 0;
}

/* Half the bits err more, of which a live rule asks whether it may. */
static int check_rate(const struct resize *resize, struct filter_ref *ref)
{
	if (filter_ref_is_live(ref) && !resize->out)
		return filter_ref_guard_raise(ref, &resize->built, resize->accept_fpp);
	if (!baleen_filter_has_bloom(&ref->filter))
		return 0;
	complain("%s: false positive rate %.3g, before %.3g",
		 resize->out ? resize->out : ref->argument, baleen_filter_worst_fpp(&resize->built),
		 baleen_filter_worst_fpp(&ref->filter));
	return 0;
}

static int put(struct resize *resize, struct filter_ref *ref)
{
	if (!resize->out) {
		filter_ref_reserve(ref, resize->capacity);
		return filter_ref_put(ref, &resize->built);
	}
	memcpy(resize->built.image.name, resize->name, sizeof(resize->name));
	baleen_filter_seal(&resize->built);
	return output_write(resize->out, &resize->built, 0600);
}

static int resize_target(struct filter_ref *ref, void *data)
{
	const struct baleen_filter *const filters[] = { &ref->filter };
	struct resize *resize = data;
	int err = filter_ref_copy(ref);

	if (err)
		return err;
	baleen_filter_free(&resize->built);
	err = build(resize, ref);
	if (!err)
		err = check_rate(resize, ref);
	if (!err)
		err = trace_moves(&resize->trace, filters, &resize->argument, 1, &resize->built,
				  resize->json);
	return err ? err : put(resize, ref);
}

static int report(struct resize *resize)
{
	char bytes[NUMBER_TEXT], n[NUMBER_TEXT];

	if (resize->json || resize->trace.is_html)
		return trace_report(&resize->trace, "resize", resize->argument,
				    describe_filter(&resize->built));
	say("%s: room for %s %s, %s\n", resize->out ? resize->out : resize->argument,
	    format_count(resize->capacity, n), baleen_plural(resize->capacity, "key", "keys"),
	    format_bytes(resize->built.n_bytes, bytes));
	return finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct resize resize = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS,
				 .accept_fpp = BALEEN_ACCEPT_FPP };
	int err = parse(&resize, argc, argv);

	if (err)
		return err;
	err = filter_ref_change(resize.argument, resize.wait_ms, resize_target, &resize);
	if (!err)
		err = report(&resize);
	trace_free(&resize.trace);
	baleen_filter_free(&resize.built);
	return err;
}

static const struct option_spec options[] = {
	VALUE("capacity", 0, "N", option_keys, resize, capacity, "room for N keys"),
	VALUE("output", 'o', "OUT", option_text, resize, out, "write an image there instead"),
	WAIT_OPTION(resize, wait_ms),
	ACCEPT_FPP_OPTION(resize, accept_fpp),
	TRACE_OPTIONS(resize, trace, TRACE_PLACES),
	FLAG("json", 'j', resize, json, "describe the new image as JSON"),
	{ 0 },
};

const struct command resize_command = {
	.name = "resize",
	.synopsis = "--capacity N [-o OUT] IMAGE|DEV:RULE|kmod:NAME",
	.help = "Makes room for N hosts and keys, more or fewer than now, but for all that are there;\n"
		"prefixes do not count. It is built aside and replaces the image, or the live rule's\n"
		"in one step. Exact tables, 64-bit hashes and quotient filters need no list for it.\n"
		"A Bloom filter is folded in half as often as half of it has room for N keys, that\n"
		"is as its bits are m ln 2 / k or more; an odd number of blocks or bits cannot be.\n"
		"Slots of 8, 12 and 16 bits keep too little of a key.\n",
	.options = options,
	.run = run,
};
