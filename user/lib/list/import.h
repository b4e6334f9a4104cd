/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of a set as ipset, nftables and baleen export print it.
 *
 * - `ipset save [NAME]`: create and add lines; timeout, comment, nomatch. The
 *   counters, skbinfo and such of an entry are passed over.
 * - `nft -j list set FAMILY TABLE NAME`, or list ruleset: addresses, prefixes
 *   and ranges; timeout, expires, comment.
 * - `baleen export`: an object of JSON a line, with rule, key, origin, reason, since and end.
 *
 * A word that is not understood is an error, never passed over.
 */
#ifndef BALEEN_IMPORT_H
#define BALEEN_IMPORT_H

#include "list/import_formats.h"

#define BALEEN_IMPORT_MAX_BYTES (256ull << 20)

/**
 * baleen_import_format_parse() - a format from text
 * @text: ipset, nft or json
 * @format: the format; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_import_format_parse(const char *text, enum baleen_import_format *format);

/**
 * baleen_import() - read the entries of one set
 * @importer: which, and what to do with them
 * @fd: open for reading; a file, pipe or terminal; read to its end
 * @name: name of the file in messages
 * @error: filled in on failure
 *
 * Nothing is called before the file is known to be whole and the set found.
 *
 * Return: 0; -EINVAL for what is no such file, has an entry that is not
 * understood, or several sets and none chosen; -ENOENT without that set;
 * -E2BIG; -ENOMEM; the negative errno of a failed read; what
 * &struct baleen_importer.on_entry returned.
 */
int baleen_import(const struct baleen_importer *importer, int fd, const char *name,
		  struct baleen_error *error);

#endif /* BALEEN_IMPORT_H */
