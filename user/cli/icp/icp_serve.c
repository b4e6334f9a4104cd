// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp serve: images as a cache digest, for Squids that run no Baleen. baleend serves
 * them: only it loads an HTTP server.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/icp/icp_serve.h"
#include "cli/icp/icp_verbs.h"
#include "net/listen_address.h"
#include "util/duration.h"

/* A port of this host that Squid does not use. */
#define DEFAULT_ADDRESS "127.0.0.1"
#define DEFAULT_LISTEN "8129"
#define DEFAULT_PAUSE_MS 500
#define DEFAULT_MAX_AGE_S 60

/* Squid gives up a fetch without data after read_timeout, 15 minutes. */
#define MAX_PAUSE_MS 60000

/* For lists: k is 4, so that is 10.6 bits a key. */
#define LIST_FPP 0.01

#define SERVER "baleend"

enum { OPTION_LISTEN = OPTION_OF_COMMAND, OPTION_PAUSE, OPTION_MAX_AGE };

static int take_listen(const char *text, struct sockaddr_storage *address)
{
	if (baleen_listen_parse(text, DEFAULT_ADDRESS, address))
		return 0;
	return complain_usage(&icp_serve_command, "--listen '%s': not [ADDRESS:]PORT", text);
}

static int take_pause(const char *text, u64 *pause_ms)
{
	if (!strcmp(text, "0") || !strcmp(text, "0s") || !strcmp(text, "0ms")) {
		*pause_ms = 0;
		return 0;
	}
	if (baleen_duration_parse(text, pause_ms) || *pause_ms > MAX_PAUSE_MS)
		return complain_usage(&icp_serve_command,
				      "--pause '%s': not a time such as 500ms, one minute at most",
				      text);
	return 0;
}

static int take_max_age(const char *text, u64 *max_age_s)
{
	u64 ms;

	if (baleen_duration_parse(text, &ms) || ms < 1000)
		return complain_usage(&icp_serve_command,
				      "--max-age '%s': not a time such as 60s, one second at least",
				      text);
	*max_age_s = ms / 1000;
	return 0;
}

static int parse_options(struct icp_serve *serve, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "listen", required_argument, NULL, OPTION_LISTEN },
		{ "pause", required_argument, NULL, OPTION_PAUSE },
		{ "max-age", required_argument, NULL, OPTION_MAX_AGE },
		{ "capacity", required_argument, NULL, OPTION_CAPACITY },
		{ "fpp", required_argument, NULL, OPTION_FPP },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option, err = 0;

	while ((option = getopt_long(argc, argv, "j", long_options, NULL)) != -1 && !err) {
		switch (option) {
		case OPTION_LISTEN: err = take_listen(optarg, &serve->address); break;
		case OPTION_PAUSE: err = take_pause(optarg, &serve->pause_ms); break;
		case OPTION_MAX_AGE: err = take_max_age(optarg, &serve->max_age_s); break;
		case 'j': serve->json = true; break;
		default: err = list_option_take(&icp_serve_command, &serve->lists, option, optarg);
		}
	}
	if (err)
		return err;
	if (optind == argc)
		return complain_usage(&icp_serve_command, "an IMAGE or DEV:NAME is missing");
	if (!serve->lists.build.fpp)
		return complain_usage(&icp_serve_command, "--fpp 0: a digest is never exact");
	return 0;
}

static void init(struct icp_serve *serve)
{
	struct baleen_build_options *build = &serve->lists.build;

	*serve = (struct icp_serve){
		.pause_ms = DEFAULT_PAUSE_MS,
		.max_age_s = DEFAULT_MAX_AGE_S,
	};
	take_listen(DEFAULT_LISTEN, &serve->address);
	list_options_init(&serve->lists);
	build->key_spec = BALEEN_KEY_SQUID;
	build->kind = BALEEN_KIND_CLASSIC;
	build->shape.hash = BALEEN_HASH_SQUID;
	build->fpp = LIST_FPP;
}

int icp_serve_parse(struct icp_serve *serve, int argc, char **argv)
{
	int err;

	init(serve);
	err = parse_options(serve, argc, argv);
	serve->paths = argv + optind;
	serve->n_paths = argc - optind;
	return err;
}

/* --- serving ---------------------------------------------------------------------- */

/* The build tree and the packages have both programs in one directory. */
static void find_server(char *path, size_t n_bytes)
{
	ssize_t n = readlink("/proc/self/exe", path, n_bytes - sizeof(SERVER));
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		strcpy(slash + 1, SERVER);
	else
		snprintf(path, n_bytes, "/usr/sbin/" SERVER);
}

/* Replaces this process: signals and the exit status are those of the server. */
static int become_server(int argc, char **argv)
{
	char **arguments = calloc(argc + 2, sizeof(*arguments));
	char path[4096];

	if (!arguments) {
		complain("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	find_server(path, sizeof(path));
	arguments[0] = SERVER;
	arguments[1] = ICP_SERVE_OPTION;
	memcpy(arguments + 2, argv + 1, (argc - 1) * sizeof(*arguments));
	execv(path, arguments);
	complain("cannot run %s, which serves the digest: %m", path);
	free(arguments);
	return EXIT_FAILED;
}

/* Refuses bad arguments here: the server reads the same ones again. */
static int run(int argc, char **argv)
{
	struct icp_serve serve;
	int err = icp_serve_parse(&serve, argc, argv);

	return err ? err : become_server(argc, argv);
}

const struct command icp_serve_command = {
	.name = "icp serve",
	.synopsis = "[OPTION...] IMAGE|DEV:NAME...",
	.help = "Serves images, live filters of siblings or lists of URLs, one over the other, as a\n"
		"cache digest over HTTP until a signal ends it, for Squids with\n"
		"`cache_peer ... digest-url=http://ADDRESS:PORT" DIGEST_PATH "`.\n"
		"Images are classic or counting ones of hash squid and of one geometry. A file is read\n"
		"again when it has changed; a damaged one leaves what was served before. The URL is\n"
		"printed once it can be asked.\n\n"
		"  --listen [ADDRESS:]PORT  where (127.0.0.1:8129); [::]:PORT is everywhere, PORT 0\n"
		"                   any that is free\n"
		"  --pause TIME     between the head of the digest and the rest (500ms): without one\n"
		"                   Squid up to 7 reads it wrong, and finds next to nothing by it\n"
		"  --max-age TIME   when Squid may ask again (60s); it waits five minutes all the same\n"
		"  --fpp P          of lists: false positive rate (0.01)\n"
		"  --capacity N     of lists: leave room for N URLs, so that they can grow\n"
		"  -j, --json       print the URL and what is there as a line of JSON\n",
	.run = run,
};
