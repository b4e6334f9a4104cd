// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen config: what a device enforces, as a configuration. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/options.h"
#include "cli/open/session.h"
#include "deploy/conf_plan.h"
#include "net/device.h"

/* A terminal is not to obey what a file of somebody else is called. */
static int print_conf(const struct baleen_conf *conf, bool shows_secrets)
{
	char *text = baleen_conf_format(conf, shows_secrets);
	bool is_terminal = isatty(STDOUT_FILENO);

	if (!text)
		return complain("%s", strerror(ENOMEM));
	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && rest;) {
		const char *indent = *line == '\t' ? "    " : "";

		line += *line == '\t';
		if (is_terminal) {
			say("%s%s\n", indent, line);
			continue;
		}
		fwrite(indent, 1, strlen(indent), stdout);
		fwrite(line, 1, strlen(line), stdout);
		putchar('\n');
	}
	free(text);
	return EXIT_DONE;
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
		err = print_conf(&conf, config.shows_secrets);
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
		"they stay with the rules. What a URL may have of secrets is left out. 'feed copy:NAME'\n"
		"is what came from standard input or was made of live filters: DEV alone has it.\n",
	.options = options,
	.asks = { 1, 1, "one device is asked for" },
	.run = run,
};
