/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files compressed by gzip (RFC 1952). The program baleen-fetch unpacks them (util/helper.h).
 */
#ifndef BALEEN_UNPACK_H
#define BALEEN_UNPACK_H

#include <baleen/port.h>

#include "util/error.h"

/* The largest list: a few kilobytes of gzip unpack to gigabytes. */
#define BALEEN_UNPACK_MAX_BYTES (1ull << 30)

/**
 * baleen_unpack() - a file without its compression
 * @fd: descriptor of a file or memfd open for reading; read from its start; stays open
 * @name: name of the file in messages
 * @max_bytes: limit of what comes out, such as BALEEN_UNPACK_MAX_BYTES
 * @out: the bytes, at their start, to be closed by the caller: a memfd, or @fd
 *       duplicated when it is not gzip; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when the gzip is damaged or cut short; -E2BIG; -ENOMEM;
 * the negative errno of a failed read.
 */
int baleen_unpack(int fd, const char *name, u64 max_bytes, int *out, struct baleen_error *error);

/**
 * baleen_unpack_mark() - the byte order mark that an editor has put before UTF-8
 * @text: its start
 * @n_bytes: bytes of it
 *
 * Return: bytes of the mark: 3, or 0 when there is none.
 */
size_t baleen_unpack_mark(const char *text, size_t n_bytes);

/**
 * baleen_unpack_refuse() - why these bytes can be no list
 * @fd: descriptor of a file open for reading; its position stays
 * @takes_json: JSON is fine
 *
 * Return: what the file is, to stand behind its name in a message, such as "is
 * an HTML page, not a list"; NULL when it may be a list.
 */
const char *baleen_unpack_refuse(int fd, bool takes_json);

#endif /* BALEEN_UNPACK_H */
