/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ascending numbers of 32 or of 128 bits.
 */
#ifndef BALEEN_NUMBERS_H
#define BALEEN_NUMBERS_H

#include <stdlib.h>

#include "key/span.h"
#include "util/array.h"

/* An IPv6 address, or the first bits of one. */
typedef unsigned __int128 baleen_u128;

/**
 * struct baleen_numbers - numbers, each above the one before it
 * @is_wide: they are in @wide, else in @narrow
 * @n: how many
 * @room: allocated
 * @narrow: numbers of 32 bits
 * @wide: numbers of 128 bits
 */
struct baleen_numbers {
	bool is_wide;
	size_t n;
	size_t room;
	union {
		u32 *narrow;
		baleen_u128 *wide;
	};
};

/**
 * baleen_numbers_at() - one of them
 * @numbers: the numbers
 * @i: below their count
 *
 * Return: the number.
 */
static inline baleen_u128 baleen_numbers_at(const struct baleen_numbers *numbers, size_t i)
{
	return numbers->is_wide ? numbers->wide[i] : numbers->narrow[i];
}

/**
 * baleen_numbers_gap() - how many numbers are between one and the one before it
 * @numbers: the numbers
 * @i: below their count
 *
 * Return: the gap; of the first the number itself.
 */
static inline baleen_u128 baleen_numbers_gap(const struct baleen_numbers *numbers, size_t i)
{
	if (!i)
		return baleen_numbers_at(numbers, 0);
	return baleen_numbers_at(numbers, i) - baleen_numbers_at(numbers, i - 1) - 1;
}

/**
 * baleen_numbers_reserve() - room for some numbers
 * @numbers: the numbers
 * @n: for so many
 *
 * Return: 0 or -ENOMEM.
 */
static inline int baleen_numbers_reserve(struct baleen_numbers *numbers, size_t n)
{
	if (!n || n <= numbers->room)
		return 0;
	return numbers->is_wide ? baleen_array_reserve(&numbers->wide, &numbers->room, n) :
				  baleen_array_reserve(&numbers->narrow, &numbers->room, n);
}

/**
 * baleen_numbers_put() - one more, for which there is room
 * @numbers: the numbers
 * @number: above all of them
 */
static inline void baleen_numbers_put(struct baleen_numbers *numbers, baleen_u128 number)
{
	if (numbers->is_wide)
		numbers->wide[numbers->n++] = number;
	else
		numbers->narrow[numbers->n++] = number;
}

/**
 * baleen_numbers_free() - free them; there are none afterwards
 * @numbers: the numbers
 */
static inline void baleen_numbers_free(struct baleen_numbers *numbers)
{
	free(numbers->is_wide ? (void *)numbers->wide : numbers->narrow);
	*numbers = (struct baleen_numbers){ .is_wide = numbers->is_wide };
}

#endif /* BALEEN_NUMBERS_H */
