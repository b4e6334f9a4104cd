// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gaps of ascending numbers in few bits. */
#include "set/rice.h"

/* Bits that are written or read at once. */
#define PIECE 32

/* --- the parameter --- */

/* Bits that all gaps take. Of 2^26 gaps below 2^128 the ones may not fit: no k is as bad. */
static u64 cost(const struct baleen_numbers *numbers, u32 k)
{
	const u64 no_limit = 1ull << 62;
	u64 n_bits = numbers->n * (k + 1ull);

	for (size_t i = 0; i < numbers->n; i++) {
		baleen_u128 ones = k < 128 ? baleen_numbers_gap(numbers, i) >> k : 0;

		if (ones >= no_limit - n_bits)
			return no_limit;
		n_bits += (u64)ones;
	}
	return n_bits;
}

static u32 log2_of(baleen_u128 x)
{
	u64 hi = x >> 64, lo = x;

	if (hi)
		return 127 - __builtin_clzll(hi);
	return lo ? 63 - __builtin_clzll(lo) : 0;
}

/* The cost falls, then rises: from the logarithm of the mean it is a step or two. Gaps that
 * are mostly small, with few large ones, lie further below.
 */
u32 baleen_rice_choose(const struct baleen_numbers *numbers, u32 n_bits)
{
	u64 least, next;
	u32 k;

	if (!numbers->n)
		return 0;
	k = log2_of(baleen_numbers_at(numbers, numbers->n - 1) / numbers->n);
	least = cost(numbers, k);
	while (k < n_bits && (next = cost(numbers, k + 1)) < least) {
		least = next;
		k++;
	}
	while (k && (next = cost(numbers, k - 1)) < least) {
		least = next;
		k--;
	}
	return k;
}

/* --- writing --- */

/* @n_bits: PIECE at the most */
static int put(struct baleen_bits_out *bits, u64 value, u32 n_bits)
{
	bits->pending |= value << bits->n_pending;
	bits->n_pending += n_bits;
	if (bits->n_pending < 8)
		return 0;
	if (baleen_array_reserve(&bits->byte, &bits->room, bits->n_bytes + 8))
		return -ENOMEM;
	for (; bits->n_pending >= 8; bits->n_pending -= 8, bits->pending >>= 8)
		bits->byte[bits->n_bytes++] = bits->pending;
	return 0;
}

static int put_gap(struct baleen_bits_out *bits, baleen_u128 gap, u32 k)
{
	u64 ones = k < 128 ? (u64)(gap >> k) : 0;
	int err = 0;

	for (; ones >= PIECE && !err; ones -= PIECE)
		err = put(bits, (1ull << PIECE) - 1, PIECE);
	if (!err)
		err = put(bits, (1ull << ones) - 1, ones + 1);
	for (; k && !err; gap >>= PIECE) {
		u32 n = k < PIECE ? k : PIECE;

		err = put(bits, (u64)gap & ((1ull << n) - 1), n);
		k -= n;
	}
	return err;
}

int baleen_rice_write(struct baleen_bits_out *bits, const struct baleen_numbers *numbers, u32 k)
{
	int err = 0;

	for (size_t i = 0; i < numbers->n && !err; i++)
		err = put_gap(bits, baleen_numbers_gap(numbers, i), k);
	return err;
}

int baleen_rice_close(struct baleen_bits_out *bits)
{
	return bits->n_pending ? put(bits, 0, 8 - bits->n_pending) : 0;
}

/* --- reading --- */

static u64 n_left(const struct baleen_bits_in *bits)
{
	return bits->n_bytes * 8ull - bits->at;
}

/* The next bits, 57 of them at least, with zeros behind the end. */
static u64 look(const struct baleen_bits_in *bits)
{
	size_t at = bits->at / 8;
	u64 word = 0;

	if (bits->n_bytes - at >= 8)
		memcpy(&word, bits->byte + at, 8);
	else
		memcpy(&word, bits->byte + at, bits->n_bytes - at);
	return baleen_le64(word) >> bits->at % 8;
}

/* @most: more ones than that are refused, so that no count overflows */
static int read_ones(struct baleen_bits_in *bits, baleen_u128 most, u64 *ones)
{
	u64 n = 0;

	for (;;) {
		u64 word = ~look(bits) & ((1ull << 56) - 1);
		u32 run = word ? __builtin_ctzll(word) : 56;

		n += run;
		bits->at += run;
		if (n > most || !n_left(bits))
			return -EINVAL;
		if (run < 56)
			break;
	}
	bits->at++;
	*ones = n;
	return 0;
}

static int read_gap(struct baleen_bits_in *bits, u32 k, baleen_u128 most, baleen_u128 *gap)
{
	baleen_u128 low = 0;
	u64 ones;

	if (read_ones(bits, k < 128 ? most >> k : 0, &ones) || n_left(bits) < k)
		return -EINVAL;
	for (u32 got = 0; got < k; got += PIECE) {
		u32 n = k - got < PIECE ? k - got : PIECE;

		low |= (baleen_u128)(look(bits) & ((1ull << n) - 1)) << got;
		bits->at += n;
	}
	if (k < 128)
		low |= (baleen_u128)ones << k;
	if (low > most)
		return -EINVAL;
	*gap = low;
	return 0;
}

int baleen_rice_read(struct baleen_bits_in *bits, u64 n, u32 k, u32 n_bits,
		     struct baleen_numbers *numbers)
{
	baleen_u128 last = n_bits < 128 ? ((baleen_u128)1 << n_bits) - 1 : ~(baleen_u128)0;
	baleen_u128 least = 0, gap;

	if (k > BALEEN_RICE_MAX || n > n_left(bits) / (k + 1))
		return -EINVAL;
	if (baleen_numbers_reserve(numbers, n))
		return -ENOMEM;
	for (u64 i = 0; i < n; i++) {
		/* There is none above the last one: 0 is what it overflows to. */
		if ((i && !least) || least > last || read_gap(bits, k, last - least, &gap))
			return -EINVAL;
		baleen_numbers_put(numbers, least + gap);
		least += gap + 1;
	}
	return 0;
}

bool baleen_rice_is_done(const struct baleen_bits_in *bits)
{
	return n_left(bits) < 8 && !look(bits);
}
