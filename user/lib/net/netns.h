/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The network namespace that this thread is in, and what it is called.
 *
 * A cookie identifies a network namespace in one boot, and nothing does across boots but
 * its name in /run/netns. The one of process 1 (of the host, or of the container whose
 * processes these are) needs none. One without a name is one that nobody can find again.
 */
#ifndef BALEEN_NETNS_H
#define BALEEN_NETNS_H

#include <baleen/port.h>
#include <limits.h>

#include "util/error.h"

/**
 * enum baleen_netns_kind - by what a network namespace is found again
 * @BALEEN_NETNS_HOME: it is that of process 1
 * @BALEEN_NETNS_NAMED: by its name in /run/netns
 * @BALEEN_NETNS_ANONYMOUS: by nothing: it has no name, and process 1 is in another
 * @BALEEN_NETNS_UNKNOWN: it has no name, and where process 1 is cannot be read
 */
enum baleen_netns_kind {
	BALEEN_NETNS_HOME,
	BALEEN_NETNS_NAMED,
	BALEEN_NETNS_ANONYMOUS,
	BALEEN_NETNS_UNKNOWN,
};

/**
 * baleen_netns_cookie() - the cookie of the network namespace
 * @cookie: filled in; unique in one boot
 * @error: filled in on failure
 *
 * A thread remembers its namespace by the number of that. Numbers of ended ones are given anew: a
 * thread that changes its namespace asks once in each.
 *
 * Return: 0 or a negative errno.
 */
int baleen_netns_cookie(u64 *cookie, struct baleen_error *error);

/**
 * baleen_netns_find() - by what this network namespace is found again
 * @name: NAME_MAX + 1 bytes; its name, the first of several, when it is a named one
 *
 * Return: which kind.
 */
enum baleen_netns_kind baleen_netns_find(char *name);

#endif /* BALEEN_NETNS_H */
