// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen config: what a device enforces, as a configuration. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/options.h"
#include "cli/open/session.h"
#include "deploy/conf_plan.h"
#include "net/device.h"

/**
 * struct lost - feeds that no configuration can name
 * @conf: they were in
 * @is_lost: of each feed of @conf
 * @n: how many
 */
struct lost {
	const struct baleen_conf *conf;
	bool *is_lost;
	size_t n;
};

/* A pipe, which may have a name of the process that read it, is there no more. */
static bool is_pipe(const char *source)
{
	struct stat stat;

	return !strcmp(source, "-") || !strncmp(source, "/dev/fd/", 8) ||
	       !strncmp(source, "/proc/", 6) ||
	       (*source == '/' && !lstat(source, &stat) && !S_ISREG(stat.st_mode) &&
		!S_ISDIR(stat.st_mode) && !S_ISLNK(stat.st_mode));
}

/* An image is no list. */
static int look_at_feed(const struct baleen_feed *feed, void *data)
{
	struct lost *lost = data;
	const struct baleen_conf_feed *found;

	if (feed->format != BALEEN_FEED_IMAGE && !is_pipe(feed->wanted.source))
		return 0;
	found = baleen_conf_find_source(lost->conf, feed->rule, &feed->wanted);
	if (!found || lost->is_lost[found - lost->conf->feed])
		return 0;
	lost->is_lost[found - lost->conf->feed] = true;
	lost->n++;
	return 0;
}

static void say_lost(const char *device, const struct baleen_conf *conf, const struct lost *lost)
{
	for (size_t i = 0; i < conf->n_feeds; i++) {
		const struct baleen_feed_source *wanted = &conf->feed[i].wanted;
		const char *rule = conf->rules.rule[conf->feed[i].rule].name;
		const struct baleen_feed_name name = baleen_feed_source_name(wanted);
		const char *text = is_pipe(wanted->source) ? "standard input or a pipe" : name.text;

		if (!lost->is_lost[i])
			continue;
		say("# rule %s holds more: %s\n", rule, text);
		complain(
			"%s:%s: %s: no configuration can name it: 'baleen dump %s:%s' makes a list "
			"of what the rule holds",
			device, rule, text, device, rule);
	}
}

/* A rule that was typed holds what was typed, of this host's own, too. */
static void say_typed(const struct baleen_conf *conf)
{
	for (u32 i = 0; i < conf->rules.n_rules; i++)
		if (!conf->rules.rule[i].guards_feeds &&
		    conf->rules.rule[i].action == BALEEN_ACTION_DROP)
			say("# rule %s was typed: applied, it does not drop what is protected\n",
			    conf->rules.rule[i].name);
}

static void leave_out(struct baleen_conf *conf, const struct lost *lost)
{
	size_t n = 0;

	for (size_t i = 0; i < conf->n_feeds; i++)
		if (!lost->is_lost[i])
			conf->feed[n++] = conf->feed[i];
	conf->n_feeds = n;
}

static int print_conf(const char *device, const struct baleen_rule_store *state,
		      struct baleen_conf *conf, bool shows_secrets)
{
	struct lost lost = { .conf = conf };
	struct baleen_error error;
	char *text;

	lost.is_lost = calloc(conf->n_feeds + 1, sizeof(*lost.is_lost));
	if (!lost.is_lost)
		return complain("%s", strerror(ENOMEM));
	if (baleen_feeds_each(state, NULL, look_at_feed, &lost, &error)) {
		free(lost.is_lost);
		return complain("%s", error.text);
	}
	say_typed(conf);
	say_lost(device, conf, &lost);
	leave_out(conf, &lost);
	free(lost.is_lost);
	text = baleen_conf_format(conf, shows_secrets);
	if (!text)
		return complain("%s", strerror(ENOMEM));
	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && rest;)
		say("%s%s\n", *line == '\t' ? "    " : "", line + (*line == '\t'));
	free(text);
	return lost.n ? EXIT_FAILED : EXIT_DONE;
}

/**
 * struct config - what is asked for
 * @shows_secrets: URLs are whole
 */
struct config {
	bool shows_secrets;
};

static int run(int argc, char **argv)
{
	struct config config = { 0 };
	int err = options_parse(&config_command, &config, &argc, &argv);
	struct baleen_rule_store state;
	struct baleen_error error;
	struct baleen_conf conf;

	if (err)
		return err;
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	err = baleen_rule_store_open(&state, argv[0], 0, &error);
	if (err == -ENOENT)
		return complain(
			"%s has no rules that are remembered: nothing was applied or attached, "
			"or with --no-state",
			argv[0]);
	if (err)
		return complain("%s", error.text);
	err = baleen_conf_from_state(&state, &conf, &error);
	if (err) {
		err = complain("%s", error.text);
	} else {
		err = print_conf(argv[0], &state, &conf, config.shows_secrets);
		baleen_conf_free(&conf);
	}
	baleen_rule_store_close(&state);
	return finish_output(err);
}

static const struct option_spec options[] = {
	FLAG("secrets", 0, config, shows_secrets, "URLs whole: what is left out may be a password"),
	{ 0 },
};

const struct command config_command = {
	.name = "config",
	.synopsis = "[--secrets] DEV",
	.help = "Prints what a device enforces as a configuration, also of a filter that was attached by\n"
		"hand: a file that 'baleen apply -c FILE DEV' takes. Single entries are no part of it;\n"
		"they stay with the rules. What a URL may have of secrets is left out.\n"
		"Exit: 0 printed; 1 also when a rule holds what no configuration can name, such as a list\n"
		"that came from standard input: a comment stands for it.\n",
	.options = options,
	.asks = { 1, 1, "one device is asked for" },
	.run = run,
};
