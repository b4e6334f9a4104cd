// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet rotate: another key of this host. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/fleet/fleet_verbs.h"
#include "util/announce.h"

/**
 * struct rotate - one run of the command
 * @conf: fleet.conf
 * @path: of the key that is to come
 * @json: report as JSON
 */
struct rotate {
	struct baleen_fleet_conf conf;
	char path[BALEEN_FLEET_PATH + 16];
	bool json;
};

static int report(const struct rotate *rotate, const struct baleen_fleet_keys *keys, bool is_done)
{
	const struct baleen_fleet_conf *conf = &rotate->conf;
	char key[BALEEN_FLEET_PUBLIC_TEXT];

	baleen_fleet_public_format(keys->public_key, key);
	if (rotate->json)
		return print_json(json_pack("{s:s, s:s, s:s, s:b}", "fleet", conf->fleet, "host",
					    conf->host, "key", key, "done", is_done));
	if (is_done)
		say("%s: %s signs with its new key, and the old one is gone\n", conf->fleet,
		    conf->host);
	else
		say("%s: where the policy is signed: baleen fleet admit %s %s; until then the old "
		    "key signs. Then run this again\n",
		    conf->fleet, conf->host, key);
	return finish_output(EXIT_DONE);
}

/* The policy knows the new key: it takes the place of the old one. */
static int end(const struct rotate *rotate)
{
	if (rename(rotate->path, rotate->conf.key_path))
		return complain("%s: %s", rotate->conf.key_path, strerror(errno));
	baleen_announce();
	return 0;
}

/* One that is there already is the one that was told before. */
static int begin(const struct rotate *rotate, struct baleen_fleet_keys *keys)
{
	struct baleen_error error;
	int err = baleen_fleet_keys_load(rotate->path, keys, &error);

	if (err == -ENOENT)
		err = baleen_fleet_keys_make(rotate->path, keys, &error);
	return err ? complain("%s", error.text) : 0;
}

static int run(int argc, char **argv)
{
	struct rotate rotate = { .json = false };
	struct baleen_fleet_policy policy = { 0 };
	struct baleen_fleet_keys keys;
	struct baleen_error error;
	bool is_next = false;
	int err = options_parse(&fleet_rotate_command, &rotate, &argc, &argv);

	if (err)
		return err;
	if (baleen_fleet_conf_read(&rotate.conf, &error) ||
	    baleen_fleet_site_policy(&rotate.conf, &policy, NULL, &error) ||
	    baleen_fleet_site_keys(&rotate.conf, &policy, &keys, &is_next, &error)) {
		baleen_fleet_policy_free(&policy);
		return complain("%s", error.text);
	}
	baleen_fleet_policy_free(&policy);
	snprintf(rotate.path, sizeof(rotate.path), "%s" BALEEN_FLEET_NEXT_SUFFIX,
		 rotate.conf.key_path);
	err = is_next ? end(&rotate) : begin(&rotate, &keys);
	if (!err)
		err = report(&rotate, &keys, is_next);
	baleen_fleet_keys_wipe(&keys);
	return err;
}

static const struct option_spec options[] = {
	FLAG("json", 'j', rotate, json, "report as JSON"),
	{ 0 },
};

const struct command fleet_rotate_command = {
	.name = "fleet rotate",
	.synopsis = "[-j]",
	.help = "Makes another key of this host, and says what is to be done where the policy is\n"
		"signed. The old key signs until the policy knows the new one; run again, this puts\n"
		"the new one in its place. Bans go on all the while.\n",
	.options = options,
	.asks = { 0, 0, "it takes no arguments" },
	.run = run,
};
