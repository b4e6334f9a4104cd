// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen flush: forget all single entries of an origin. */
#include <errno.h>
#include <getopt.h>

#include "cli/open/entries.h"
#include "cli/open/filter_target.h"

enum {
	OPTION_ALL = OPTION_OF_COMMAND,
	OPTION_WAIT,
};

struct flush {
	const char *target;
	const char *origin; /* NULL for all */
	bool all;
	bool json;
	u64 wait_ms;
};

static int take_option(struct flush *flush, int option)
{
	switch (option) {
	case OPTION_ORIGIN: flush->origin = optarg; return 0;
	case OPTION_ALL: flush->all = true; return 0;
	case OPTION_WAIT: return take_wait(&flush_command, optarg, &flush->wait_ms);
	case 'j': flush->json = true; return 0;
	default: fprintf(stderr, "baleen: see 'baleen help flush'\n"); return EXIT_USAGE;
	}
}

static int parse(struct flush *flush, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "origin", required_argument, NULL, OPTION_ORIGIN },
		{ "all", no_argument, NULL, OPTION_ALL },
		{ "wait", required_argument, NULL, OPTION_WAIT },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option, err = 0;

	while (!err && (option = getopt_long(argc, argv, "j", long_options, NULL)) != -1)
		err = take_option(flush, option);
	if (err)
		return err;
	if (argc - optind != 1)
		return complain_usage(&flush_command, "one DEV:RULE is asked for");
	if (!flush->origin == !flush->all)
		return complain_usage(&flush_command, "whose entries? --origin NAME or --all");
	flush->target = argv[optind];
	return 0;
}

static int report(const struct flush *flush, const struct baleen_batch *batch)
{
	char n[NUMBER_TEXT];

	if (flush->json)
		return print_json(json_pack("{s:o, s:I}", "target", json_text(flush->target),
					    "deleted", (json_int_t)batch->n_flushed));
	printf("%s: %s deleted%s\n", flush->target, format_count(batch->n_flushed, n),
	       batch->in_place ? "" : ", built anew");
	return finish_output(EXIT_DONE);
}

static int flush_rule(const struct flush *flush, const char *device, const char *rule)
{
	struct baleen_batch batch = { .rule = rule, .flush_of = flush->all ? "" : flush->origin };
	struct baleen_error error;
	struct device_session session;
	int err = session_open_state(&session, device, flush->wait_ms);

	if (err)
		return err == -ENOENT ? complain_not_attached(device) : err;
	err = baleen_deploy_batch(&session.deploy, &batch, &error);
	session_close(&session);
	if (err) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return report(flush, &batch);
}

static int run(int argc, char **argv)
{
	struct flush flush = { .wait_ms = BALEEN_LOCK_TIMEOUT_MS };
	struct baleen_stored_rule found;
	char device[IF_NAMESIZE];
	struct baleen_error error;
	const char *rule;
	int err = parse(&flush, argc, argv);

	if (err)
		return err;
	if (!split_live(flush.target, device, sizeof(device), &rule))
		return complain_usage(&flush_command, "'%s' is not DEV:RULE", flush.target);
	if (baleen_device_privileges(&error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	if (entries_rule(device, rule, &found))
		return EXIT_FAILED;
	return flush_rule(&flush, device, rule);
}

const struct command flush_command = {
	.name = "flush",
	.synopsis = "DEV:RULE --origin NAME|--all [--wait SECONDS] [-j]",
	.help = "Deletes all single entries of an origin from a rule, in one step. What lists and other\n"
		"origins hold stays in force.\n\n"
		"  --origin NAME    whose entries, such as fail2ban\n"
		"  --all            those of every origin\n" WAIT_HELP
		"  -j, --json       report as JSON\n",
	.run = run,
};
