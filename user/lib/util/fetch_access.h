/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Headers and a user that a server asks for before it serves, from a file.
 *
 *      # A token, which another program may renew at any time.
 *      header Authorization: Bearer 0123456789
 *      user NAME:PASSWORD
 *
 * A statement a line; its value ends with the line, and may be in "...". The file is its
 * owner's alone, and nothing in it is ever printed.
 */
#ifndef BALEEN_FETCH_ACCESS_H
#define BALEEN_FETCH_ACCESS_H

#include "util/error.h"
#include "util/fetch_wire.h"

/**
 * struct baleen_fetch_access - headers and a user
 * @headers: a line each, with newlines between; as in struct baleen_fetch_order
 * @user: NAME:PASSWORD; ""
 */
struct baleen_fetch_access {
	char headers[BALEEN_FETCH_HEADERS];
	char user[BALEEN_FETCH_USER];
};

/**
 * baleen_fetch_access_read() - read such a file
 * @path: path of the file
 * @access: filled in, to be wiped by the caller; wiped on failure
 * @error: filled in on failure: names file and line, and nothing that stands there
 *
 * Return: 0; -EACCES when others may read or change the file; -EINVAL for a line that is
 * none; -E2BIG; a negative errno.
 */
int baleen_fetch_access_read(const char *path, struct baleen_fetch_access *access,
			     struct baleen_error *error);

#endif /* BALEEN_FETCH_ACCESS_H */
