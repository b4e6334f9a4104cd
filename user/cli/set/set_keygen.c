// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen set keygen: a pair of keys. */
#include "cli/common/options.h"
#include "cli/set/set_verbs.h"
#include "util/minisign.h"

static int run(int argc, char **argv)
{
	struct baleen_minisign_public key;
	char text[BALEEN_MINISIGN_PUBLIC_TEXT];
	struct baleen_error error;
	int err = options_parse(&set_keygen_command, NULL, &argc, &argv);

	if (err)
		return err;
	if (baleen_minisign_make(argv[0], argv[1], &key, &error))
		return complain("%s", error.text);
	say("%s\n", baleen_minisign_public_format(&key, text));
	return finish_output(EXIT_DONE);
}

static const struct option_spec table[] = { { 0 } };

const struct command set_keygen_command = {
	.name = "set keygen",
	.synopsis = "SECRET PUBLIC",
	.help = "Makes a pair of keys in the format of minisign, without a password: SECRET signs\n"
		"and stays with the publisher, PUBLIC goes to all hosts. Neither file may be there.\n"
		"Prints the public key.\n",
	.options = table,
	.asks = { 2, 2, "two files are asked for: SECRET and PUBLIC" },
	.run = run,
};
