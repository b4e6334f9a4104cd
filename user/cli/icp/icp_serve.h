/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The arguments of `baleen icp serve`: baleen checks them and starts baleend, which reads
 * them again and serves.
 */
#ifndef BALEEN_CLI_ICP_SERVE_H
#define BALEEN_CLI_ICP_SERVE_H

#include <sys/socket.h>

#include "cli/common/list_options.h"

/* The same path as in Squid. */
#define DIGEST_PATH "/squid-internal-periodic/store_digest"

/* The first argument of baleend, before those of `baleen icp serve`. */
#define ICP_SERVE_OPTION "--serve-digest"

/**
 * struct icp_serve - what to serve, and how
 * @address: where to listen
 * @pause_ms: between head and mask
 * @max_age_s: how long Squid keeps the digest
 * @lists: how lists are built
 * @paths: IMAGE or DEV:NAME, as typed
 * @n_paths: how many
 * @json: say what is served as JSON
 */
struct icp_serve {
	struct sockaddr_storage address;
	u64 pause_ms;
	u64 max_age_s;
	struct list_options lists;
	char **paths;
	int n_paths;
	bool json;
};

/* Reads the arguments; 0, or EXIT_USAGE after a message. */
int icp_serve_parse(struct icp_serve *serve, int argc, char **argv);

#endif /* BALEEN_CLI_ICP_SERVE_H */
