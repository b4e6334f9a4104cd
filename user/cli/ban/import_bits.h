/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * baleen import --format bits: a Bloom filter that another program made.
 */
#ifndef BALEEN_CLI_IMPORT_BITS_H
#define BALEEN_CLI_IMPORT_BITS_H

#include "cli/common/list_options.h"

/**
 * struct import_bits - what is asked for
 * @lists: key, and the shape
 * @is_msb: the first bit of a byte is its highest; an u32 for option_choice()
 * @out: the image to write
 */
struct import_bits {
	struct list_options lists;
	u32 is_msb;
	const char *out;
};

/* The options, of a struct import_bits. */
extern const struct option_spec import_bits_option_table[];

/* Reads the bits of a file, and writes the image; the exit status. */
int import_bits(struct import_bits *import, const char *path, bool json);

#endif /* BALEEN_CLI_IMPORT_BITS_H */
