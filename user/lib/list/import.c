// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The entries of a set as ipset, nftables and baleen export print it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "list/import.h"
#include "util/array.h"

int baleen_import_format_parse(const char *text, enum baleen_import_format *format)
{
	if (!strcmp(text, "ipset"))
		*format = BALEEN_IMPORT_IPSET;
	else if (!strcmp(text, "nft"))
		*format = BALEEN_IMPORT_NFT;
	else if (!strcmp(text, "json"))
		*format = BALEEN_IMPORT_JSON;
	else
		return -EINVAL;
	return 0;
}

/* --- the file --- */

static int read_text(struct baleen_import_text *text, int fd)
{
	size_t room = 0;
	ssize_t n = 0;
	int err;

	do {
		text->n_bytes += n;
		if (text->n_bytes > BALEEN_IMPORT_MAX_BYTES)
			return -E2BIG;
		/* The last byte is for the NUL. */
		err = baleen_array_reserve(&text->bytes, &room, text->n_bytes + 2);
		if (err)
			return err;
		do
			n = read(fd, text->bytes + text->n_bytes, room - text->n_bytes - 1);
		while (n < 0 && errno == EINTR);
	} while (n > 0);
	text->bytes[text->n_bytes] = '\0';
	return n < 0 ? -errno : 0;
}

/* Windows calls text Unicode that is full of them. */
static int fail_nul(const struct baleen_import_text *text, struct baleen_error *error)
{
	unsigned long long line = 1;

	for (const char *c = text->bytes; *c; c++)
		line += *c == '\n';
	return baleen_fail(error, EINVAL, "%s:%llu: NUL byte: is it UTF-16?", text->name, line);
}

int baleen_import(const struct baleen_importer *importer, int fd, const char *name,
		  struct baleen_error *error)
{
	struct baleen_import_text text = { .name = name };
	int err = read_text(&text, fd);

	if (err)
		err = baleen_fail(error, -err, "%s: %s", name, strerror(-err));
	else if (strlen(text.bytes) != text.n_bytes)
		err = fail_nul(&text, error);
	else if (importer->format == BALEEN_IMPORT_IPSET)
		err = baleen_import_ipset(importer, &text, error);
	else if (importer->format == BALEEN_IMPORT_JSON)
		err = baleen_import_json(importer, &text, error);
	else
		err = baleen_import_nft(importer, &text, error);
	free(text.bytes);
	return err;
}
