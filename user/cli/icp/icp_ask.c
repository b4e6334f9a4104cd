// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen icp ask: what a cache, or who answers for it, says of URLs. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/options.h"
#include "cli/icp/icp_verbs.h"
#include "icp/icp_client.h"
#include "net/listen_address.h"
#include "util/duration.h"

/* As long as Squid waits at the most, unless icp_query_timeout says otherwise. */
#define DEFAULT_TIMEOUT_MS 2000
#define MAX_TIMEOUT_MS 600000

struct ask {
	u64 timeout_ms;
	bool json;
};

static int parse_timeout(const struct option_use *use)
{
	u64 *ms = use->to;

	if (!baleen_duration_parse(use->argument, ms) && *ms <= MAX_TIMEOUT_MS)
		return 0;
	return option_refuse(use, "not a time such as 500ms, ten minutes at most");
}

/* ADDRESS:PORT, or an address without a port. */
static bool parse_cache(const char *text, struct sockaddr_storage *address)
{
	char whole[BALEEN_LISTEN_TEXT + sizeof("[]:65535")];

	if (baleen_listen_parse(text, NULL, address))
		return true;
	snprintf(whole, sizeof(whole), "%s:%u", text, BALEEN_ICP_PORT);
	if (baleen_listen_parse(whole, NULL, address))
		return true;
	snprintf(whole, sizeof(whole), "[%s]:%u", text, BALEEN_ICP_PORT);
	return baleen_listen_parse(whole, NULL, address);
}

static const char *answer_text(u32 opcode)
{
	switch (opcode) {
	case 0: return "no answer";
	case BALEEN_ICP_HIT: return "hit";
	case BALEEN_ICP_MISS: return "miss";
	case BALEEN_ICP_ERR: return "error";
	case BALEEN_ICP_MISS_NOFETCH: return "miss, no fetch";
	case BALEEN_ICP_DENIED: return "denied";
	default: return "another";
	}
}

static void report(const char *url, const struct baleen_icp_reply *reply, json_t *all)
{
	if (all)
		json_array_append_new(all, json_pack("{s:o, s:s, s:o}", "url", json_text(url),
						     "answer", answer_text(reply->opcode), "us",
						     reply->opcode ? json_real(reply->ns / 1e3) :
								     json_null()));
	else if (reply->opcode)
		say("%-14s %9.1f us  %s\n", answer_text(reply->opcode), reply->ns / 1e3, url);
	else
		say("%-14s %12s  %s\n", answer_text(0), "", url);
}

static int ask_all(const struct ask *ask, int fd, int n_urls, char **urls)
{
	json_t *all = ask->json ? json_array() : NULL;
	int status = EXIT_DONE;

	for (int i = 0; i < n_urls; i++) {
		struct baleen_icp_reply reply;
		struct baleen_error error;

		if (baleen_icp_ask(fd, i + 1, urls[i], ask->timeout_ms, &reply, &error)) {
			json_decref(all);
			return complain("%s: %s", urls[i], error.text);
		}
		if (reply.opcode != BALEEN_ICP_HIT)
			status = EXIT_FAILED;
		report(urls[i], &reply, all);
	}
	if (!all)
		return finish_output(status);
	return print_json(all) ? EXIT_FAILED : status;
}

static int run(int argc, char **argv)
{
	struct ask ask = { .timeout_ms = DEFAULT_TIMEOUT_MS };
	int err = options_parse(&icp_ask_command, &ask, &argc, &argv), fd;
	struct sockaddr_storage address;
	struct baleen_error error;

	if (err)
		return err;
	if (!parse_cache(argv[0], &address))
		return complain_usage(&icp_ask_command, "'%s': not ADDRESS[:PORT]", argv[0]);
	if (baleen_icp_connect(&address, &fd, &error))
		return complain("%s: %s", argv[0], error.text);
	err = ask_all(&ask, fd, argc - 1, argv + 1);
	close(fd);
	return err;
}

static const struct option_spec options[] = {
	VALUE("timeout", 0, "TIME", parse_timeout, ask, timeout_ms,
	      "how long each answer is waited for (2s)"),
	FLAG("json", 'j', ask, json, "print an array as JSON"),
	{ 0 },
};

const struct command icp_ask_command = {
	.name = "icp ask",
	.synopsis = "[OPTION...] ADDRESS[:PORT] URL...",
	.help = "Asks a cache for each URL, as another cache does, one after the other, and prints\n"
		"what it said: hit, miss, denied or error, and after how many microseconds. The port\n"
		"is 3130 unless it is given; an IPv6 address with a port stands in brackets. Exit: 0\n"
		"all are hits, 1 some are not, or it did not answer.\n",
	.options = options,
	.asks = { 2, INT_MAX, "an ADDRESS and a URL are asked for" },
	.run = run,
};
