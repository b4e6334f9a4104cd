// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet pardon, suspend and resume: what an operator asks of all hosts. */
#include <errno.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "fleet/fleet_kept.h"
#include "fleet/fleet_own.h"

struct control {
	const char *reason;
	bool json;
};

static int report(const struct fleet_place *place, const char *verb, const char *what, bool json)
{
	if (json)
		return print_json(json_pack("{s:s, s:o, s:s}", "asked", verb, "of", json_text(what),
					    "fleet", place->conf.fleet));
	say("%s: asked of all hosts of %s: %s\n", what, place->conf.fleet, verb);
	return finish_output(EXIT_DONE);
}

int fleet_control_sign(const struct fleet_place *place, const struct baleen_fleet_message *message,
		       struct baleen_fleet_writer *writer)
{
	struct baleen_fleet_keys keys;
	struct baleen_error error;
	int err = baleen_fleet_keys_load(place->conf.key_path, &keys, &error);

	if (!err) {
		const struct baleen_fleet_signer signer = { .fleet = place->conf.fleet,
							    .keys = &keys,
							    .now_ms = fleet_now_ms(place) };

		err = baleen_fleet_own_control(&signer, message, writer, &error);
		baleen_fleet_keys_wipe(&keys);
	}
	return err ? complain("%s", error.text) : 0;
}

static int sign_and_send(const struct fleet_place *place,
			 const struct baleen_fleet_message *message, const char *name)
{
	struct baleen_fleet_writer writer = { 0 };
	int err = fleet_control_sign(place, message, &writer);

	if (!err)
		err = fleet_run_order("--send", name, writer.bytes, writer.n_bytes, NULL);
	baleen_fleet_writer_free(&writer);
	return err;
}

int fleet_control_start(const struct fleet_place *place, u32 control, const char *reason,
			struct baleen_fleet_message *message)
{
	*message =
		(struct baleen_fleet_message){ .type = BALEEN_FLEET_CONTROL, .control = control };
	strcpy(message->fleet, place->conf.fleet);
	snprintf(message->publisher, sizeof(message->publisher), "%s/" FLEET_OPERATOR,
		 place->conf.host);
	if (reason && strlen(reason) >= sizeof(message->reason))
		return complain("--reason: %zu bytes or more", sizeof(message->reason));
	strcpy(message->reason, reason ? reason : "");
	return 0;
}

/* --- pardon ------------------------------------------------------------------------------ */

static int pardon(const struct fleet_place *place, const struct control *asked,
		  const struct baleen_fleet_key *key)
{
	char text[BALEEN_FLEET_KEY_TEXT], name[BALEEN_FLEET_KEPT_NAME_BYTES];
	struct baleen_fleet_message message;
	int err = fleet_control_start(place, BALEEN_FLEET_PARDON, asked->reason, &message);

	if (err)
		return err;
	strcpy(message.set, BALEEN_FLEET_SET);
	message.key = *key;
	baleen_fleet_key_format(&message.key, text);
	err = sign_and_send(place, &message, baleen_fleet_kept_name(&message, name));
	return err ? err : report(place, "pardon", text, asked->json);
}

/* --- suspend and resume -------------------------------------------------------------------- */

static int suspend(const struct fleet_place *place, const struct control *asked, bool resumes,
		   const char *publisher)
{
	char name[BALEEN_FLEET_KEPT_NAME_BYTES];
	struct baleen_fleet_message message;
	int err = fleet_control_start(place, resumes ? BALEEN_FLEET_RESUME : BALEEN_FLEET_SUSPEND,
				      asked->reason, &message);

	if (err)
		return err;
	strcpy(message.target, publisher);
	err = sign_and_send(place, &message, baleen_fleet_kept_name(&message, name));
	return err ? err : report(place, resumes ? "resume" : "suspend", publisher, asked->json);
}

/* --- the commands -------------------------------------------------------------------------- */

/* A misprint is told before anything else that may be wrong. */
static int check(const struct command *command, const char *text, struct baleen_fleet_key *key)
{
	if (command != &fleet_pardon_command)
		return baleen_fleet_target_is(text) ?
			       0 :
			       complain_usage(command, "'%s': not HOST/ORIGIN, nor HOST/*", text);
	return baleen_fleet_key_parse(text, key) ?
		       complain_usage(command, "'%s': no address or prefix", text) :
		       0;
}

static int run_control(const struct command *command, int argc, char **argv)
{
	struct control asked = { 0 };
	struct baleen_fleet_key key;
	struct fleet_place place;
	int err = options_parse(command, &asked, &argc, &argv);

	if (!err)
		err = check(command, *argv, &key);
	if (!err)
		err = fleet_place_open(&place);
	if (err)
		return err;
	err = command == &fleet_pardon_command ?
		      pardon(&place, &asked, &key) :
		      suspend(&place, &asked, command == &fleet_resume_command, *argv);
	fleet_place_close(&place);
	return err;
}

static int run_pardon(int argc, char **argv)
{
	return run_control(&fleet_pardon_command, argc, argv);
}

static int run_suspend(int argc, char **argv)
{
	return run_control(&fleet_suspend_command, argc, argv);
}

static int run_resume(int argc, char **argv)
{
	return run_control(&fleet_resume_command, argc, argv);
}

static const struct option_spec options[] = {
	VALUE("reason", 0, "TEXT", option_text, control, reason, "kept with it"),
	FLAG("json", 'j', control, json, "report as JSON"),
	{ 0 },
};

const struct command fleet_pardon_command = {
	.name = "fleet pardon",
	.synopsis = "[-j] [--reason TEXT] KEY",
	.help = "Lets an address or prefix go on all hosts: no ban that was made before counts any\n"
		"more, and who made it takes it back. A ban that is made later counts again.\n",
	.options = options,
	.asks = { 1, 1, "one address or prefix is asked for" },
	.run = run_pardon,
};

const struct command fleet_suspend_command = {
	.name = "fleet suspend",
	.synopsis = "[-j] [--reason TEXT] HOST/ORIGIN",
	.help = "No ban of this publisher counts on any host until 'baleen fleet resume'. They are\n"
		"kept, and go on coming. HOST/* is all that a host publishes.\n",
	.options = options,
	.asks = { 1, 1, "one publisher is asked for" },
	.run = run_suspend,
};

const struct command fleet_resume_command = {
	.name = "fleet resume",
	.synopsis = "[-j] [--reason TEXT] HOST/ORIGIN",
	.help = "The bans of a publisher that was suspended count again. Of words on a publisher, and\n"
		"on HOST/*, the newest counts.\n",
	.options = options,
	.asks = { 1, 1, "one publisher is asked for" },
	.run = run_resume,
};
