/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Squid's cache digests to images and back, bit for bit.
 *
 * The mask of a digest is a classic table of hash squid: bit p of the one is bit p of
 * the other, since both count from the lowest bit of the first byte. So is the plane
 * of bits of a counting table. An image knows neither capacity nor bits per entry of
 * the digest that it was; a digest made of it has Squid's usual 5 bits per entry, or
 * fewer when it holds more entries than that has room for.
 *
 *      head: 128 bytes (baleen_digest_head) | mask: m / 8 bytes
 */
#ifndef BALEEN_DIGEST_H
#define BALEEN_DIGEST_H

#include <baleen/squid.h>

#include "filter/filter.h"

/* Squid aborts on a digest that needs this many bits (CacheDigest.cc, CalcMaskSize). */
#define BALEEN_DIGEST_MAX_BITS 0x7fffffffull

/* Above this share of bits set Squid takes no digest (peer_digest.cc, peerDigestUseful). */
#define BALEEN_DIGEST_MAX_SHARE 0.65

/**
 * struct baleen_digest - the head of a digest, checked and in host order
 * @capacity: entries that it was made for
 * @count: entries in it
 * @mask_bytes: (@capacity * @bits_per_entry + 7) / 8
 * @bits_per_entry: 1 to 255
 */
struct baleen_digest {
	u32 capacity;
	u32 count;
	u32 mask_bytes;
	u32 bits_per_entry;
};

/**
 * baleen_digest_is() - do these bytes start like a digest?
 * @bytes: at any alignment
 * @n_bytes: how many there are
 *
 * Return: true for the versions of the head in the order that Squid writes them.
 */
bool baleen_digest_is(const void *bytes, size_t n_bytes);

/**
 * baleen_digest_check() - is it a digest that Squid would take, and whole?
 * @bytes: at any alignment
 * @n_bytes: how many there are
 * @digest: filled in; untouched on failure
 * @reason: why not, a constant string; untouched otherwise
 *
 * Return: 0 or -EINVAL.
 */
int baleen_digest_check(const void *bytes, size_t n_bytes, struct baleen_digest *digest,
			const char **reason);

/**
 * baleen_digest_decode() - a digest to a classic image
 * @bytes: at any alignment
 * @n_bytes: how many there are
 * @filter: a sealed filter of hash and key squid, to be freed by the caller; untouched
 *          on failure
 * @digest: filled in; untouched on failure
 * @error: filled in on failure, without a name
 *
 * Return: 0; -EINVAL for what baleen_digest_check() refuses; -ENOMEM.
 */
int baleen_digest_decode(const void *bytes, size_t n_bytes, struct baleen_filter *filter,
			 struct baleen_digest *digest, struct baleen_error *error);

/**
 * baleen_digest_fits() - can this filter be a digest?
 * @image: a checked header
 * @error: filled in when not, without a name: why, and what to do
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int baleen_digest_fits(const struct baleen_image *image, struct baleen_error *error);

/**
 * baleen_digest_encode() - a filter to a digest
 * @filter: the filter, live ones too
 * @bytes: filled in with the digest, to be freed by the caller; untouched on failure
 * @n_bytes: filled in
 * @digest: filled in: what was chosen; @count is an estimate from the bits where the
 *          image has no count
 * @error: filled in on failure, without a name
 *
 * Return: 0, -EOPNOTSUPP as baleen_digest_fits(), -ENOMEM.
 */
int baleen_digest_encode(const struct baleen_filter *filter, void **bytes, size_t *n_bytes,
			 struct baleen_digest *digest, struct baleen_error *error);

/**
 * baleen_digest_unite() - what is in another digest comes into this one
 * @bytes: a digest, from baleen_digest_encode(); untouched on failure
 * @n_bytes: its size
 * @other: another, of one size with it
 * @n_other: of that
 * @digest: filled in: the new head, with an estimate of the entries
 *
 * Return: 0; -EINVAL when the sizes differ: a key has other bits in each.
 */
int baleen_digest_unite(void *bytes, size_t n_bytes, const void *other, size_t n_other,
			struct baleen_digest *digest);

/**
 * baleen_digest_share() - bits that are set of those that are there
 * @filter: one that fits
 *
 * Return: 0 to 1.
 */
double baleen_digest_share(const struct baleen_filter *filter);

#endif /* BALEEN_DIGEST_H */
