/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bits of a Bloom filter that another program made, as an image.
 */
#ifndef BALEEN_BITS_H
#define BALEEN_BITS_H

#include "filter/filter.h"
#include "ops/build_options.h"

/**
 * baleen_bits_bytes() - bytes of an array of bits
 * @n_bits: m
 *
 * Return: how many; the last one may be half empty.
 */
static inline u64 baleen_bits_bytes(u64 n_bits)
{
	return n_bits / 8 + (n_bits % 8 != 0);
}

/**
 * baleen_bits_read() - a classic filter of bits that are there
 * @options: key, shape with n_bits, n_hashes and a hash without a secret, name; the others
 *           are not looked at
 * @bytes: baleen_bits_bytes() of them
 * @is_msb: bit p is the bit 7 - p % 8 of byte p / 8, as Python's bitarray has it; else
 *          bit p % 8, as BIP 37 and Squid do
 * @filter: the filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * How many keys there are is estimated from the bits that are set.
 *
 * Return: 0; -EINVAL for a hash with a secret or of other keys, and for bits that are set
 * behind the last one; -ENOMEM.
 */
int baleen_bits_read(const struct baleen_build_options *options, const u8 *bytes, bool is_msb,
		     struct baleen_filter *filter, struct baleen_error *error);

#endif /* BALEEN_BITS_H */
