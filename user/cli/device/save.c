// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen save: what a device enforces as a directory, or one filter of it as an image. */
#include <signal.h>

#include "cli/common/describe.h"
#include "cli/open/filter_name.h"
#include "cli/open/filter_ref.h"
#include "cli/open/session.h"
#include "deploy/saved.h"
#include "util/number.h"
#include "util/rlimit.h"
#include "util/signals.h"

struct save {
	const char *device; /* or DEV:RULE or kmod:NAME */
	const char *out;
	bool json;
};

static int parse(struct save *save, int argc, char **argv)
{
	int err = options_parse(&save_command, save, &argc, &argv);

	if (err)
		return err;
	if (!save->out)
		return complain_usage(&save_command, "-o is missing");
	if (argc != 1)
		return complain_usage(&save_command, "one device or filter is asked for");
	save->device = *argv;
	return 0;
}

static int collect(const struct save *save, struct baleen_saved *saved)
{
	struct baleen_error error;
	struct baleen_xdp xdp;
	int err = baleen_xdp_open(&xdp, save->device, true, &error);

	if (!err) {
		if (xdp.attach_status != BALEEN_ATTACH_STATUS_ATTACHED &&
		    xdp.attach_status != BALEEN_ATTACH_STATUS_MOVED)
			complain("warning: %s: saves what is not in force (%s)", save->device,
				 baleen_attach_status_text(xdp.attach_status));
		err = baleen_saved_from_xdp(&xdp, saved, &error);
		baleen_xdp_close(&xdp);
	}
	return err ? complain("%s", error.text) : 0;
}

static int report(const struct save *save, const struct baleen_saved *saved)
{
	u32 n = saved->conf.rules.n_rules;
	char text[NUMBER_TEXT];
	json_t *json, *rules;

	if (!save->json) {
		say("%s: saved %u rule%s", save->device, n, n == 1 ? "" : "s");
		if (saved->n_entries)
			say(" and %s %s", format_count(saved->n_entries, text),
			    baleen_plural(saved->n_entries, "single entry", "single entries"));
		say(" to %s\n", save->out);
		return finish_output(EXIT_DONE);
	}
	rules = json_array();
	for (u32 i = 0; i < n; i++)
		json_array_append_new(rules, json_string(saved->conf.rules.rule[i].name));
	json = json_object();
	json_object_set_new(json, "device", json_text(save->device));
	json_object_set_new(json, "directory", json_text(save->out));
	json_object_set_new(json, "rules", rules);
	json_object_set_new(json, "entries", json_integer(saved->n_entries));
	return print_json(json);
}

static int save_device(const struct save *save)
{
	struct baleen_saved saved;
	struct baleen_error error;
	sigset_t before;
	int err;

	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	/* Each copy is open until it is written. */
	baleen_rlimit_raise(RLIMIT_NOFILE);
	if (collect(save, &saved)) {
		suggest_mend(save->device);
		return EXIT_FAILED;
	}
	/* Ctrl-C ends the writing, not the process in the midst of it. */
	baleen_signals_hold(&before);
	err = baleen_saved_write(&saved, save->out, &error);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (err) {
		err = complain("%s", error.text);
	} else {
		err = report(save, &saved);
	}
	baleen_saved_free(&saved);
	return err;
}

static int report_filter(const struct save *save, const struct baleen_filter *filter)
{
	char bytes[NUMBER_TEXT];
	json_t *json;

	if (!save->json) {
		say("%s: saved to %s, %s\n", save->device, save->out,
		    format_bytes(filter->n_bytes, bytes));
		return finish_output(EXIT_DONE);
	}
	json = describe_filter(filter);
	json_object_set_new(json, "file", json_text(save->out));
	return print_json(json);
}

/* As it is: of an image that did not change, every byte. */
static int save_filter(const struct save *save)
{
	char ignored[BALEEN_NAME_BYTES];
	struct list_options none;
	struct filter_ref ref;
	int err = output_check(&save_command, save->out, ignored);

	if (err)
		return err;
	list_options_init(&none);
	err = filter_ref_open(&ref, save->device, &none);
	if (!err)
		err = output_write(save->out, &ref.filter, 0600);
	if (!err)
		err = report_filter(save, &ref.filter);
	filter_ref_close(&ref);
	return err;
}

static int run(int argc, char **argv)
{
	struct save save = { 0 };
	int err = parse(&save, argc, argv);

	if (err)
		return err;
	return is_live_name(save.device) ? save_filter(&save) : save_device(&save);
}

static const struct option_spec options[] = {
	VALUE("output", 'o', "DIR|IMAGE", option_text, save, out, "where to write"),
	FLAG("json", 'j', save, json, "say what was saved as JSON"),
	{ 0 },
};

const struct command save_command = {
	.name = "save",
	.synopsis = "-o DIR|IMAGE [-j] DEV|DEV:RULE|kmod:NAME",
	.help = "Writes what a device enforces into a directory: its configuration, as 'baleen config'\n"
		"prints it, the last good copy of each feed, the single entries, bans among them, and\n"
		"checksums of it all. DIR is written whole or not at all; one that is there is replaced\n"
		"only when it is empty or was saved before and holds nothing else. Counters are not saved.\n"
		"Of a live rule or a filter of the kernel module the image is written to a file.\n",
	.options = options,
	.run = run,
};
