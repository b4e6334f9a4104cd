/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks a cache by ICP, as another cache does.
 */
#ifndef BALEEN_ICP_CLIENT_H
#define BALEEN_ICP_CLIENT_H

#include <sys/socket.h>

#include <baleen/icp.h>

#include "util/error.h"

/**
 * struct baleen_icp_reply - what came back
 * @opcode: enum baleen_icp_opcode, or another that was sent; 0: nothing came in time
 * @ns: from the query to the answer; 0 without one
 */
struct baleen_icp_reply {
	u32 opcode;
	u64 ns;
};

/**
 * baleen_icp_connect() - a socket that asks one cache
 * @address: with its port
 * @fd: set on success, to be closed by the caller
 * @error: filled in on failure: the reason and no more
 *
 * Return: 0 or -errno.
 */
int baleen_icp_connect(const struct sockaddr_storage *address, int *fd, struct baleen_error *error);

/**
 * baleen_icp_ask() - has it this object?
 * @fd: of baleen_icp_connect()
 * @number: of the request: another one each time, so that a late answer is not taken for that to
 *          a later query
 * @url: up to BALEEN_ICP_MAX_URL bytes
 * @timeout_ms: how long it is waited for
 * @reply: filled in on success. A port where nobody listens does not answer
 * @error: filled in on failure: the reason and no more
 *
 * Return: 0; -EINVAL for a URL that is too long, or empty; or -errno.
 */
int baleen_icp_ask(int fd, u32 number, const char *url, u64 timeout_ms,
		   struct baleen_icp_reply *reply, struct baleen_error *error);

#endif /* BALEEN_ICP_CLIENT_H */
