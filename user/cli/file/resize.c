// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen resize: room for another number of keys. */
#include <getopt.h>
#include <string.h>

#include "cli/common/describe.h"
#include "cli/open/filter_target.h"
#include "cli/open/guard.h"
#include "filter/live.h"
#include "ops/change.h"
#include "ops/resize.h"

enum {
	OPTION_ROOM = OPTION_OF_COMMAND,
	OPTION_WAIT,
	OPTION_ACCEPT_FPP,
};

struct resize {
	const char *argument;
	const char *out;
	char name[BALEEN_NAME_BYTES];
	u64 capacity;
	u64 wait_ms;
	double accept_fpp;
	bool json;
	struct baleen_filter built;
};

static int take_option(struct resize *resize, int option)
{
	switch (option) {
	case OPTION_WAIT: return take_wait(&resize_command, optarg, &resize->wait_ms);
	case OPTION_ACCEPT_FPP:
		return take_accept_fpp(&resize_command, optarg, &resize->accept_fpp);
	case 'o': resize->out = optarg; return 0;
	case 'j': resize->json = true; return 0;
	case OPTION_ROOM:
		if (parse_count(optarg, &resize->capacity))
			return complain_usage(&resize_command,
					      "--capacity '%s': not a number of keys", optarg);
		return 0;
	default: return list_option_take(&resize_command, NULL, option, optarg);
	}
}

static int parse(struct resize *resize, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "capacity", required_argument, NULL, OPTION_ROOM },
		{ "output", required_argument, NULL, 'o' },
		{ "wait", required_argument, NULL, OPTION_WAIT },
		{ "accept-fpp", required_argument, NULL, OPTION_ACCEPT_FPP },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option, err = 0;

	while (!err && (option = getopt_long(argc, argv, "o:j", long_options, NULL)) != -1)
		err = take_option(resize, option);
	if (err)
		return err;
	if (!resize->capacity)
		return complain_usage(&resize_command, "--capacity N is missing");
	if (argc - optind != 1)
		return complain_usage(&resize_command, "one IMAGE or DEV:RULE is asked for");
	resize->argument = argv[optind];
	return resize->out ? output_check(&resize_command, resize->out, resize->name) : 0;
}

static int build(struct resize *resize, struct target *target)
{
	u64 n = baleen_filter_keys(&target->filter);
	char held[NUMBER_TEXT], asked[NUMBER_TEXT];
	struct baleen_error error;

	if (resize->capacity < n) {
		complain("%s: holds %s keys: a capacity of %s is too small", target->argument,
			 format_count(n, held), format_count(resize->capacity, asked));
		return EXIT_FAILED;
	}
	if (baleen_filter_resize(&target->filter, resize->capacity, &resize->built, &error)) {
		complain("%s: %s", target->argument, error.text);
		return EXIT_FAILED;
	}
	return 0;
}

/* Half the bits err more, of which a live rule asks whether it may. */
static int check_rate(const struct resize *resize, const struct target *target)
{
	if (!baleen_filter_has_bloom(&target->filter))
		return 0;
	if ((target->is_live || target->is_kmod) && !resize->out)
		return guard_raise(target->argument, &target->filter, &resize->built,
				   resize->accept_fpp);
	complain("%s: false positive rate %.3g, before %.3g",
		 resize->out ? resize->out : target->argument,
		 baleen_filter_worst_fpp(&resize->built), baleen_filter_worst_fpp(&target->filter));
	return 0;
}

static int put(struct resize *resize, struct target *target)
{
	struct baleen_stored_rule *rule = target_state_rule(target);

	if (!resize->out && rule)
		rule->capacity = resize->capacity;
	if (!resize->out)
		return target_put(target, &resize->built);
	memcpy(resize->built.image.name, resize->name, sizeof(resize->name));
	baleen_filter_seal(&resize->built);
	return output_write(resize->out, &resize->built, 0600);
}

static int resize_target(struct target *target, void *data)
{
	struct resize *resize = data;
	int err = target_load(target);

	if (err)
		return err;
	baleen_filter_free(&resize->built);
	baleen_live_repair(&target->filter);
	err = build(resize, target);
	if (!err)
		err = check_rate(resize, target);
	return err ? err : put(resize, target);
}

static int report(const struct resize *resize)
{
	char bytes[NUMBER_TEXT], n[NUMBER_TEXT];

	if (resize->json)
		return print_json(describe_filter(&resize->built));
	printf("%s: room for %s keys, %s\n", resize->out ? resize->out : resize->argument,
	       format_count(resize->capacity, n), format_bytes(resize->built.n_bytes, bytes));
	return finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct resize resize = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS,
				 .accept_fpp = DEFAULT_ACCEPT_FPP };
	int err = parse(&resize, argc, argv);

	if (err)
		return err;
	err = target_change(resize.argument, resize.wait_ms, resize_target, &resize);
	if (!err)
		err = report(&resize);
	baleen_filter_free(&resize.built);
	return err;
}

const struct command resize_command = {
	.name = "resize",
	.synopsis = "--capacity N [-o OUT] IMAGE|DEV:RULE|kmod:NAME",
	.help = "Makes room for N hosts and keys, more or fewer than now, but for all that are there;\n"
		"prefixes do not count. It is built aside and replaces the image, or the live rule's\n"
		"in one step. Exact tables, 64-bit hashes and quotient filters need no list for it.\n"
		"A Bloom filter is folded in half as often as half of it has room for N keys, that\n"
		"is as its bits are m ln 2 / k or more; an odd number of blocks or bits cannot be.\n"
		"Slots of 8, 12 and 16 bits keep too little of a key.\n\n"
		"  --capacity N     room for N keys\n"
		"  -o OUT           write an image there instead\n" WAIT_HELP ACCEPT_FPP_HELP
		"  -j, --json       describe the new image as JSON\n",
	.run = run,
};
