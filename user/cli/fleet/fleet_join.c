// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet join: this host becomes one of a fleet. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/fleet/fleet_setup.h"
#include "util/minisign.h"
#include "util/output.h"
#include "util/small_file.h"

static int write_trust(const struct baleen_minisign_public *signer)
{
	char path[BALEEN_FLEET_PATH], text[BALEEN_MINISIGN_PUBLIC_TEXT], line[128];
	struct baleen_error error;

	snprintf(line, sizeof(line), "untrusted comment: signs the policy\n%s\n",
		 baleen_minisign_public_format(signer, text));
	if (baleen_output_write(fleet_setup_path(FLEET_PUBLIC, path), BALEEN_OUTPUT_NAMED, 0644,
				line, strlen(line), &error))
		return complain("%s", error.text);
	return 0;
}

static int report(const struct fleet_setup *setup, const struct baleen_fleet_conf *conf,
		  const struct baleen_fleet_keys *keys)
{
	char text[BALEEN_FLEET_PUBLIC_TEXT];

	baleen_fleet_public_format(keys->public_key, text);
	if (setup->json)
		return print_json(json_pack("{s:s, s:s, s:s}", "fleet", conf->fleet, "host",
					    conf->host, "key", text));
	say("%s: this host is %s; where the policy is signed: baleen fleet admit %s %s\n",
	    conf->fleet, conf->host, conf->host, text);
	return finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct fleet_setup setup = { 0 };
	struct baleen_minisign_public signer;
	struct baleen_fleet_conf conf;
	struct baleen_fleet_keys keys;
	int err = options_parse(&fleet_join_command, &setup, &argc, &argv);

	if (err)
		return err;
	if (argc != 1)
		return complain_usage(&fleet_join_command, "one name is asked for");
	if (!setup.trust)
		return complain_usage(&fleet_join_command, "--trust is missing: whose policy?");
	if (baleen_minisign_public_parse(setup.trust, &signer))
		return complain_usage(&fleet_join_command,
				      "--trust '%s': no public key of minisign", setup.trust);
	setup.fleet = *argv;
	err = fleet_setup_begin(&fleet_join_command, &setup, &conf, &keys);
	if (!err)
		err = write_trust(&signer);
	if (!err)
		err = fleet_setup_end(&setup);
	return err ? err : report(&setup, &conf, &keys);
}

static const struct option_spec options[] = {
	VALUE("trust", 0, "KEY", option_text, fleet_setup, trust,
	      "the public key that the policy is signed with, as init has said it"),
	VALUE("serial", 0, "N", option_text, fleet_setup, serial,
	      "no policy with a smaller serial counts, however well it is signed"),
	{ .table = fleet_setup_options },
	FLAG("json", 'j', fleet_setup, json, "report as JSON"),
	{ 0 },
};

const struct command fleet_join_command = {
	.name = "fleet join",
	.synopsis = "[-j] --trust KEY [--serial N] [OPTION...] FLEET",
	.help = "Makes the key of this host, and fleet.conf. The policy comes over Redis; once it\n"
		"admits the host, its bans count on the others, and theirs here.\n",
	.options = options,
	.run = run,
};
