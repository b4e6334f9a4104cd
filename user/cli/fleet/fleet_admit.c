// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen fleet admit: a policy that knows one host more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fleet/fleet_setup.h"

/* The text with the next serial and a host; of one that it names, its line goes. */
static char *edit(const char *text, u64 serial, const char *host, const char *key)
{
	size_t n = 0, length = strlen(host);
	char *edited = NULL;
	FILE *file = open_memstream(&edited, &n);

	while (file && *text) {
		size_t line = strcspn(text, "\n");
		bool is_host = !strncmp(text, "host ", 5) && !strncmp(text + 5, host, length) &&
			       text[5 + length] == ' ';

		if (!strncmp(text, "serial ", 7))
			fprintf(file, "serial %llu\n", (unsigned long long)serial);
		else if (!is_host)
			fprintf(file, "%.*s\n", (int)line, text);
		text += line + (text[line] == '\n');
	}
	if (!file)
		return NULL;
	if (key)
		fprintf(file, "host %s %s\n", host, key);
	if (fclose(file)) {
		free(edited);
		return NULL;
	}
	return edited;
}

static int admit(const struct baleen_fleet_conf *conf, const char *host, const char *key)
{
	struct baleen_fleet_policy policy = { 0 };
	char *text = NULL, *signature = NULL, *edited;
	struct baleen_error error;
	int err = baleen_fleet_site_policy(conf, &policy, &error);
	u64 serial = policy.serial;

	baleen_fleet_policy_free(&policy);
	if (!err)
		err = baleen_fleet_site_policy_texts(conf, &text, &signature, &error);
	if (err)
		return complain("%s", error.text);
	edited = edit(text, serial + 1, host, key);
	err = edited ? fleet_policy_sign(conf, edited) : complain("not enough memory");
	free(edited);
	free(text);
	free(signature);
	if (err)
		return err;
	printf("%s: %s is %s, policy %llu\n", conf->fleet, host, key ? "admitted" : "out",
	       (unsigned long long)serial + 1);
	return finish_output(EXIT_DONE);
}

struct admit {
	bool removes;
};

static int run(int argc, char **argv)
{
	u8 public_key[BALEEN_FLEET_PUBLIC_BYTES];
	struct admit asked = { 0 };
	struct baleen_fleet_conf conf;
	struct baleen_error error;
	int err = options_parse(&fleet_admit_command, &asked, &argc, &argv);

	if (err)
		return err;
	if (argc != 2 - asked.removes)
		return complain_usage(&fleet_admit_command,
				      asked.removes ? "one host is asked for" :
						      "a host and its key are asked for");
	if (!asked.removes && baleen_fleet_public_parse(argv[1], public_key))
		return complain_usage(&fleet_admit_command, "'%s': no public key of a host",
				      argv[1]);
	if (baleen_fleet_conf_read(&conf, &error))
		return complain("%s", error.text);
	return admit(&conf, argv[0], asked.removes ? NULL : argv[1]);
}

static const struct option_spec options[] = {
	FLAG("remove", 0, admit, removes, "take the host out: what it publishes counts no longer"),
	{ 0 },
};

const struct command fleet_admit_command = {
	.name = "fleet admit",
	.synopsis = "HOST KEY | --remove HOST",
	.help = "Signs a policy that knows this host, by the key that 'baleen fleet join' printed\n"
		"there, and gives it the next serial. It reaches all hosts over Redis.\n",
	.options = options,
	.run = run,
};
