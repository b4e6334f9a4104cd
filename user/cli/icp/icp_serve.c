// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp serve: images as a cache digest, for Squids that run no Baleen. baleend serves
 * them: only it loads an HTTP server.
 */
#include <errno.h>
#include <limits.h>
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

static int parse_listen(const struct option_use *use)
{
	return baleen_listen_parse(use->argument, DEFAULT_ADDRESS, use->to) ?
		       0 :
		       option_refuse(use, "not [ADDRESS:]PORT");
}

static int parse_pause(const struct option_use *use)
{
	const char *text = use->argument;
	u64 *ms = use->to;

	*ms = 0;
	if (!strcmp(text, "0") || !strcmp(text, "0s") || !strcmp(text, "0ms"))
		return 0;
	if (baleen_duration_parse(text, ms) || *ms > MAX_PAUSE_MS)
		return option_refuse(use, "not a time such as 500ms, one minute at most");
	return 0;
}

static int parse_max_age(const struct option_use *use)
{
	u64 ms;

	if (baleen_duration_parse(use->argument, &ms) || ms < 1000)
		return option_refuse(use, "not a time such as 60s, one second at least");
	*(u64 *)use->to = ms / 1000;
	return 0;
}

static void init(struct icp_serve *serve)
{
	struct baleen_build_options *build = &serve->lists.build;

	*serve = (struct icp_serve){
		.pause_ms = DEFAULT_PAUSE_MS,
		.max_age_s = DEFAULT_MAX_AGE_S,
	};
	baleen_listen_parse(DEFAULT_LISTEN, DEFAULT_ADDRESS, &serve->address);
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
	err = options_parse(&icp_serve_command, serve, &argc, &argv);
	if (!err && !serve->lists.build.fpp)
		err = complain_usage(&icp_serve_command, "--fpp 0: a digest is never exact");
	serve->paths = argv;
	serve->n_paths = argc;
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

	if (!arguments)
		return complain("%s", strerror(ENOMEM));
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

static const struct option_spec options[] = {
	VALUE("listen", 0, "[ADDRESS:]PORT", parse_listen, icp_serve, address,
	      "where (127.0.0.1:8129); [::]:PORT is everywhere, PORT 0 any that is free"),
	VALUE("pause", 0, "TIME", parse_pause, icp_serve, pause_ms,
	      "between the head of the digest and the rest (500ms): without one Squid up to 7 reads "
	      "it wrong, and finds next to nothing by it"),
	VALUE("max-age", 0, "TIME", parse_max_age, icp_serve, max_age_s,
	      "when Squid may ask again (60s); it waits five minutes all the same"),
	VALUE("fpp", 0, "P", list_fpp, icp_serve, lists, "of lists: false positive rate (0.01)"),
	VALUE("capacity", 0, "N", list_capacity, icp_serve, lists,
	      "of lists: leave room for N URLs, so that they can grow"),
	FLAG("json", 'j', icp_serve, json, "print the URL and what is there as a line of JSON"),
	{ 0 },
};

const struct command icp_serve_command = {
	.name = "icp serve",
	.synopsis = "[OPTION...] IMAGE|SOURCE|DEV:NAME...",
	.help = "Serves images, live filters of siblings, lists of URLs, or what a Squid says that it\n"
		"holds (swap.state, store.log, its list of objects), one over the other, as a cache\n"
		"digest over HTTP until a signal ends it, for Squids with\n"
		"`cache_peer ... digest-url=http://ADDRESS:PORT" DIGEST_PATH "`.\n"
		"Images are classic or counting ones of hash squid and of one geometry. Of a live filter\n"
		"of another kind, which keeps half of each key, what 'icp source' of the configuration\n"
		"names is served. A file is read\n"
		"again when it has changed; a damaged one leaves what was served before. The URL is\n"
		"printed once it can be asked.\n",
	.options = options,
	.asks = { 1, INT_MAX, "an IMAGE or DEV:NAME is missing" },
	.run = run,
};
