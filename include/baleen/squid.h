/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What Squid calls its objects, and how it tells others of them: cache keys, lines of
 * store.log and the head of a cache digest.
 *
 * A key is the MD5 of a byte that says which method and of the URL. It is the key
 * of an image of BALEEN_KEY_SQUID, a BALEEN_TUPLE with these fields:
 *
 *      md5("\x01http://10.9.0.3/obj/1") = 271b10fa47f72704 cf53f2c5eacd81b0
 *                                         hi               lo
 *
 * A line of store.log, also a datagram of `cache_store_log udp://...`:
 *
 *      0         1         2         3         4         5         6
 *      0123456789012345678901234567890123456789012345678901234567890123456
 *      1700000000.123 SWAPOUT 00 00000000 271B10FA47F72704CF53F2C5EACD81B0 ...
 *      1700000000.123 RELEASE -1 FFFFFFFF 271B10FA47F72704CF53F2C5EACD81B0 ...
 *
 * SWAPOUT: the object is on the disk of the cache from now on. RELEASE with a
 * directory that is not -1: it is gone. All else is nothing that others could fetch.
 *
 * Source: Squid 5.7, src/store_key_md5.cc, http/MethodType.h, store_log.cc,
 * PeerDigest.h, store_digest.cc and CacheDigest.cc.
 */
#ifndef BALEEN_SQUID_H
#define BALEEN_SQUID_H

#include <baleen/key.h>
#include <baleen/md5.h>

/* The method byte of GET, the only one that ICP and digests ask about. */
#define BALEEN_SQUID_GET 1

/**
 * baleen_squid_key() - the canonical key of a digest of MD5
 * @hi: baleen_md5_hi()
 * @lo: baleen_md5_lo()
 *
 * Context: any, BPF-safe.
 * Return: the key.
 */
baleen_inline struct baleen_key baleen_squid_key(u64 hi, u64 lo)
{
	return (struct baleen_key){ .domain = BALEEN_TUPLE, .hi = hi, .lo = lo };
}

/* --- lines of store.log ------------------------------------------------------ */

/* Bytes of a line up to the end of the key. */
#define BALEEN_STORE_LINE_BYTES 67
#define BALEEN_STORE_TAG_AT 15
#define BALEEN_STORE_DIR_AT 23
#define BALEEN_STORE_KEY_AT 35

/**
 * enum baleen_store_event - what a line says of the store
 * @BALEEN_STORE_INSERT: SWAPOUT: the object can be had from now on
 * @BALEEN_STORE_DELETE: RELEASE of an object on disk: it cannot any more
 * @BALEEN_STORE_OTHER: a line of store.log that changes nothing for others
 * @BALEEN_STORE_BAD: no line of store.log
 */
enum baleen_store_event {
	BALEEN_STORE_INSERT,
	BALEEN_STORE_DELETE,
	BALEEN_STORE_OTHER,
	BALEEN_STORE_BAD,
};

/* --- cache digests ------------------------------------------------------------ */

#define BALEEN_DIGEST_HEAD_BYTES 128
#define BALEEN_DIGEST_CURRENT 5
#define BALEEN_DIGEST_REQUIRED 3
#define BALEEN_DIGEST_HASHES 4

/**
 * struct baleen_digest_head - the control block in front of a digest's mask
 * @current_be: version, 5
 * @required_be: version that a reader has to know, 3
 * @capacity_be: entries that it was made for
 * @count_be: entries in it
 * @del_count_be: 0
 * @mask_bytes_be: (capacity * bits per entry + 7) / 8
 * @bits_per_entry: 1 to 255
 * @n_hashes: 4
 * @reserved: zero
 *
 * Bit p of the mask is bit p % 8 of byte p / 8. A key sets the bits (be32 of its bytes
 * 4 i to 4 i + 3) % (8 * mask_bytes), i = 0 to 3.
 */
struct baleen_digest_head {
	u16 current_be;
	u16 required_be;
	u32 capacity_be;
	u32 count_be;
	u32 del_count_be;
	u32 mask_bytes_be;
	u8 bits_per_entry;
	u8 n_hashes;
	u8 reserved[106];
};

_Static_assert(sizeof(struct baleen_digest_head) == BALEEN_DIGEST_HEAD_BYTES, "digest layout");

#endif /* BALEEN_SQUID_H */
