/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arrays that grow by doubling.
 */
#ifndef BALEEN_ARRAY_H
#define BALEEN_ARRAY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <baleen/port.h>

/* Elements of the first allocation of baleen_array_reserve(). */
#define BALEEN_ARRAY_FIRST 1024

static inline void *baleen_array_larger(void *array, size_t n, size_t element_bytes)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? 2 * n : 1, element_bytes);
}

static inline void *baleen_array_sized(void *array, size_t *room, size_t n, size_t element_bytes)
{
	size_t larger = *room ? *room : BALEEN_ARRAY_FIRST;

	if (n && n <= *room)
		return array;
	while (larger < n)
		if (__builtin_mul_overflow(larger, 2, &larger))
			return NULL;
	if (!n || larger > PTRDIFF_MAX / element_bytes)
		return NULL;
	array = reallocarray(array, larger, element_bytes);
	if (array)
		*room = larger;
	return array;
}

/**
 * baleen_array_add() - room for one more element
 * @array: pointer to the array, which starts as NULL and grows by this alone: it has
 *         room for a power of two
 * @n: number of its elements
 *
 * Return: 0, or -ENOMEM with nothing changed.
 */
#define baleen_array_add(array, n)                                                     \
	({                                                                             \
		void *larger_ = baleen_array_larger(*(array), (n), sizeof(**(array))); \
                                                                                       \
		*(array) = larger_ ?: *(array);                                        \
		larger_ ? 0 : -ENOMEM;                                                 \
	})

/**
 * baleen_array_reserve() - room for some elements in an array of known size
 * @array: pointer to the array
 * @room: pointer to the number of elements that it has room for
 * @n: elements that it shall have room for; 0 is a number that overflowed
 *
 * Return: 0, or -ENOMEM with nothing changed.
 */
#define baleen_array_reserve(array, room, n)                                                  \
	({                                                                                    \
		void *larger_ = baleen_array_sized(*(array), (room), (n), sizeof(**(array))); \
                                                                                              \
		*(array) = larger_ ?: *(array);                                               \
		larger_ ? 0 : -ENOMEM;                                                        \
	})

#endif /* BALEEN_ARRAY_H */
