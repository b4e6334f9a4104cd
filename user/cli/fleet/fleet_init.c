// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet init: a new fleet, whose first host this one is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fleet/fleet_setup.h"
#include "util/minisign.h"

/* Hosts ban. This one, where the policy is signed, is an operator's, too; others are admitted as
 * such by name.
 */
static char *make_policy(const struct baleen_fleet_conf *conf, const struct baleen_fleet_keys *keys)
{
	char *text, public_text[BALEEN_FLEET_PUBLIC_TEXT];
	int n = asprintf(&text,
			 "fleet %s\n"
			 "serial 1\n"
			 "publisher %s/" BALEEN_FLEET_CONTROL_ORIGIN "\n" FLEET_OPERATOR_LIMITS
			 "publisher */" FLEET_OPERATOR "\n"
			 "  sets " BALEEN_FLEET_SET "\n"
			 "  may signal\n"
			 "publisher */*\n"
			 "  sets " BALEEN_FLEET_SET "\n"
			 "host %s %s\n",
			 conf->fleet, conf->host, conf->host,
			 baleen_fleet_public_format(keys->public_key, public_text));

	return n < 0 ? NULL : text;
}

static int make_signer(struct baleen_minisign_public *signer)
{
	char secret[BALEEN_FLEET_PATH], public[BALEEN_FLEET_PATH];
	struct baleen_error error;

	if (baleen_minisign_make(fleet_setup_path(FLEET_SECRET, secret),
				 fleet_setup_path(FLEET_PUBLIC, public), signer, &error))
		return complain("%s", error.text);
	return 0;
}

static int report(const struct fleet_setup *setup, const struct baleen_fleet_conf *conf,
		  const struct baleen_minisign_public *signer)
{
	char text[BALEEN_MINISIGN_PUBLIC_TEXT], path[BALEEN_FLEET_PATH];

	baleen_minisign_public_format(signer, text);
	if (setup->json)
		return print_json(json_pack("{s:s, s:s, s:s}", "fleet", conf->fleet, "host",
					    conf->host, "trust", text));
	say("%s: this host is %s\n", conf->fleet, conf->host);
	say("others join by: baleen fleet join %s --trust %s ...\n", conf->fleet, text);
	say("%s signs the policy: keep it off the hosts that it does not need\n",
	    fleet_setup_path(FLEET_SECRET, path));
	return finish_output(EXIT_DONE);
}

static int init(const struct fleet_setup *setup)
{
	struct baleen_minisign_public signer;
	struct baleen_fleet_conf conf;
	struct baleen_fleet_keys keys;
	char *policy = NULL;
	int err = fleet_setup_begin(&fleet_init_command, setup, &conf, &keys);

	if (err)
		return err;
	policy = make_policy(&conf, &keys);
	baleen_fleet_keys_wipe(&keys);
	if (!policy)
		return complain("not enough memory");
	err = make_signer(&signer);
	if (!err)
		err = fleet_policy_sign(&conf, policy);
	free(policy);
	if (!err)
		err = fleet_setup_end(setup);
	return err ? err : report(setup, &conf, &signer);
}

static int run(int argc, char **argv)
{
	struct fleet_setup setup = { 0 };
	int err = options_parse(&fleet_init_command, &setup, &argc, &argv);

	if (err)
		return err;
	if (argc != 1)
		return complain_usage(&fleet_init_command, "one name is asked for");
	setup.fleet = *argv;
	return init(&setup);
}

static const struct option_spec options[] = {
	{ .table = fleet_setup_options },
	FLAG("json", 'j', fleet_setup, json, "report as JSON"),
	{ 0 },
};

const struct command fleet_init_command = {
	.name = "fleet init",
	.synopsis = "[-j] [OPTION...] FLEET",
	.help = "Begins a fleet, with this host in it: makes the key of the host, a policy that lets\n"
		"the hosts it names ban up to 10,000 keys each, and this one pardon and suspend, the\n"
		"key that signs the policy, and fleet.conf. baleend goes on from there.\n",
	.options = options,
	.run = run,
};
