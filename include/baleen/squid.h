/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Squid's names of objects, and how it tells others of them: cache keys, lines of
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
 * Behind the key come the status and three dates, -1 where there is none: of the
 * answer, when it was last modified, when it expires.
 *
 *      6         7         8         9         10
 *      789012345678901234567890123456789012345678901
 *       200 1700000000 1690000000 1700003600 text/plain 5/5 GET http://h/
 *       200 1700000000        -1        -1 text/plain 5/5 GET http://h/
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

/* Tags as Squid pads them, seven bytes in network order. */
#define BALEEN_STORE_CREATE 0x43524541544520ull
#define BALEEN_STORE_SWAPIN 0x53574150494e20ull
#define BALEEN_STORE_SWAPOUT 0x535741504f5554ull
#define BALEEN_STORE_RELEASE 0x52454c45415345ull
#define BALEEN_STORE_SO_FAIL 0x534f5f4641494cull
#define BALEEN_STORE_TAG_BYTES 7

/* "-1", the directory of objects that are not on disk. */
#define BALEEN_STORE_NO_DIR 0x2d31

/* 1 when the byte is none of 0 to 9; without a branch, of which the verifier would
 * follow both ways for each byte of a line.
 */
baleen_inline u32 baleen_store_no_digit(u32 byte)
{
	return ((byte - '0') | ('9' - byte)) >> 31;
}

/* 1 when the byte is no hexadecimal digit. */
baleen_inline u32 baleen_store_no_hex(u32 byte)
{
	u32 small = byte | 0x20;

	return baleen_store_no_digit(byte) & ((small - 'a') | ('f' - small)) >> 31;
}

/* Up to eight bytes as a number in network order. */
baleen_inline u64 baleen_store_bytes(const u8 *bytes, u32 n)
{
	u64 number = 0;

	BALEEN_LOOP
	for (u32 i = 0; i < n; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* Up to 16 hexadecimal digits as a number; @bad is set to 1 by a byte that is none. */
baleen_inline u64 baleen_store_hex(const u8 *digits, u32 n, u32 *bad)
{
	u64 number = 0;

	BALEEN_LOOP
	for (u32 i = 0; i < n; i++) {
		u32 byte = digits[i];

		*bad |= baleen_store_no_hex(byte);
		number = number << 4 | ((byte & 15) + 9 * (byte >> 6 & 1));
	}
	return number;
}

/* 0 when there is a time, "1700000000.123 ", and a space behind each of the others. */
baleen_inline u32 baleen_store_columns(const u8 *line)
{
	u32 bad = (line[10] ^ '.') | (line[BALEEN_STORE_TAG_AT - 1] ^ ' ') |
		  (line[BALEEN_STORE_DIR_AT - 1] ^ ' ') | (line[25] ^ ' ') |
		  (line[BALEEN_STORE_KEY_AT - 1] ^ ' ');

	BALEEN_LOOP
	for (u32 i = 0; i < 10; i++)
		bad |= baleen_store_no_digit(line[i]);
	BALEEN_LOOP
	for (u32 i = 11; i < 14; i++)
		bad |= baleen_store_no_digit(line[i]);
	return bad;
}

/**
 * baleen_store_parse() - what a line of store.log says
 * @line: BALEEN_STORE_LINE_BYTES bytes of it; those behind them do not matter
 * @hi: the first half of the object's key
 * @lo: the second half; both untouched when the line is bad
 *
 * The columns have to be as Squid prints them, "%9d.%03d %-7s %02d %08X %s", since
 * the year 2001, when the time came to ten digits. A swap-out that is on no disk is
 * nothing that others could fetch, nor is a key of zeros, which an object without a
 * name has.
 *
 * Context: any, BPF-safe.
 * Return: enum baleen_store_event.
 * Source: Squid 5.7, src/store_log.cc.
 */
baleen_inline enum baleen_store_event baleen_store_parse(const u8 *line, u64 *hi, u64 *lo)
{
	u64 tag = baleen_store_bytes(line + BALEEN_STORE_TAG_AT, BALEEN_STORE_TAG_BYTES);
	u32 dir = baleen_store_bytes(line + BALEEN_STORE_DIR_AT, 2);
	u32 bad = baleen_store_columns(line);
	u64 key_hi, key_lo;

	baleen_store_hex(line + 26, 8, &bad);
	key_hi = baleen_store_hex(line + BALEEN_STORE_KEY_AT, 16, &bad);
	key_lo = baleen_store_hex(line + BALEEN_STORE_KEY_AT + 16, 16, &bad);
	if (dir != BALEEN_STORE_NO_DIR)
		bad |= baleen_store_no_digit(dir >> 8) | baleen_store_no_digit(dir & 255);
	if (bad || (tag != BALEEN_STORE_SWAPOUT && tag != BALEEN_STORE_RELEASE &&
		    tag != BALEEN_STORE_CREATE && tag != BALEEN_STORE_SWAPIN &&
		    tag != BALEEN_STORE_SO_FAIL))
		return BALEEN_STORE_BAD;
	*hi = key_hi;
	*lo = key_lo;
	if (dir == BALEEN_STORE_NO_DIR || !(key_hi | key_lo))
		return BALEEN_STORE_OTHER;
	if (tag == BALEEN_STORE_SWAPOUT)
		return BALEEN_STORE_INSERT;
	return tag == BALEEN_STORE_RELEASE ? BALEEN_STORE_DELETE : BALEEN_STORE_OTHER;
}

/* --- freshness --------------------------------------------------------------- */

/* Bytes of a line up to the end of its dates. */
#define BALEEN_STORE_DATES_AT 73
#define BALEEN_STORE_DATE_DIGITS 10
#define BALEEN_STORE_TIMES_END (BALEEN_STORE_DATES_AT + 3 * (BALEEN_STORE_DATE_DIGITS + 1))

/* Squid says miss to a query by ICP for what has less time left (refreshCheckICP()). */
#define BALEEN_SQUID_MARGIN_S 30

/* An object without a date of expiry is fresh for a tenth of its age, as in RFC 9111 section
 * 4.2.2, and not for more than a day: Squid's default is a fifth and three days.
 */
#define BALEEN_SQUID_AGE_SHARE 10
#define BALEEN_SQUID_MOST_S 86400

/* No object is fresh for longer: 34 years, and in 32 bits. */
#define BALEEN_SQUID_FOREVER_S (1u << 30)

/**
 * baleen_squid_fresh_until() - when an object is no longer fresh
 * @date: seconds since 1970: of the answer; below 0: not known
 * @modified: when it was last modified; 0 or below: not known
 * @expires: when it expires; below 0: not known
 *
 * By the rules of Squid's configuration it may be fresh for longer; then who goes by this
 * leaves to the Squid what it need not.
 *
 * Context: any, BPF-safe.
 * Return: seconds since 1970; 0: never.
 * Source: Squid 5.7, src/refresh.cc, refreshStaleness().
 */
baleen_inline s64 baleen_squid_fresh_until(s64 date, s64 modified, s64 expires)
{
	u64 left = (u64)(date - modified) / BALEEN_SQUID_AGE_SHARE;

	if (expires >= 0)
		return expires;
	if (modified <= 0 || date <= modified)
		return 0;
	return date + (s64)(left < BALEEN_SQUID_MOST_S ? left : BALEEN_SQUID_MOST_S);
}

/* The digits of a date, which is 9 or 10 wide; -1 behind a minus. Without a branch, of which the
 * verifier would follow both ways for each byte.
 */
baleen_inline s64 baleen_store_date(const u8 *at)
{
	u64 date = 0, is_negative = 0;

	BALEEN_LOOP
	for (u32 i = 0; i < BALEEN_STORE_DATE_DIGITS; i++) {
		u64 byte = at[i], is_digit = 1 - baleen_store_no_digit(byte);

		is_negative |= 1 - (((byte ^ '-') + 255) >> 8);
		date = date * (1 + 9 * is_digit) + (byte - '0') * is_digit;
	}
	return (s64)(date | -is_negative);
}

/* Bytes from the beginning of a date to that of the next. */
baleen_inline u32 baleen_store_date_bytes(const u8 *at)
{
	return BALEEN_STORE_DATE_DIGITS + (((at[BALEEN_STORE_DATE_DIGITS - 1] ^ ' ') + 255u) >> 8);
}

/* Seconds that are left at @now. */
baleen_inline u32 baleen_squid_fresh_s(s64 now, s64 date, s64 modified, s64 expires)
{
	s64 left = baleen_squid_fresh_until(date, modified, expires) - now;

	if (left <= 0)
		return 0;
	return left < BALEEN_SQUID_FOREVER_S ? (u32)left : BALEEN_SQUID_FOREVER_S;
}

/**
 * baleen_store_fresh_s() - how long an object of a line of store.log is fresh
 * @line: BALEEN_STORE_TIMES_END bytes of a line that is one
 *
 * By the clock of the Squid that wrote the line, when it did.
 *
 * Context: any; bpf/icp_times.h has the same in pieces that a verifier can follow.
 * Return: seconds; 0: it is not, or nobody knows.
 * Source: Squid 5.7, src/store_log.cc.
 */
baleen_inline u32 baleen_store_fresh_s(const u8 *line)
{
	const u8 *date = line + BALEEN_STORE_DATES_AT;
	const u8 *modified = date + baleen_store_date_bytes(date);
	const u8 *expires = modified + baleen_store_date_bytes(modified);

	return baleen_squid_fresh_s(baleen_store_date(line), baleen_store_date(date),
				    baleen_store_date(modified), baleen_store_date(expires));
}

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
