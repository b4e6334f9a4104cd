/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The addresses of a name, by the resolver of the system: asked by the helper (helper.h),
 * so that whoever waits too long can end it.
 */
#ifndef BALEEN_RESOLVE_H
#define BALEEN_RESOLVE_H

#include "util/error.h"
#include "util/fetch_wire.h"

/* How long an answer may take, unless something else is said. */
#define BALEEN_RESOLVE_TIMEOUT_S 10

/**
 * baleen_resolve_is_name() - may a word be the name of a host?
 * @text: the word
 *
 * Return: true for up to 253 letters, digits, `-`, `_` and dots, and no address.
 */
bool baleen_resolve_is_name(const char *text);

/**
 * baleen_resolve() - the addresses of a name
 * @name: the name
 * @timeout_s: how long the answer may take
 * @fd: where they go, an empty file: an address a line, those of IPv4 first, each family sorted;
 *      after -EAGAIN and -ETIMEDOUT, those of the only family that answered, or nothing
 * @error: filled in on failure: without the name
 *
 * Return: 0; -ENOENT when there is no such name, or no address of it; -EAGAIN or -ETIMEDOUT
 * without an answer for one family or both; -E2BIG for more than BALEEN_RESOLVE_MAX; -EINTR; a
 * negative errno.
 */
int baleen_resolve(const char *name, u32 timeout_s, int fd, struct baleen_error *error);

#endif /* BALEEN_RESOLVE_H */
