// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The difference between two generations of a group, found and applied. */
#include <errno.h>

#include "set/canon.h"

static int append(struct baleen_numbers *numbers, baleen_u128 number)
{
	if (baleen_numbers_reserve(numbers, numbers->n + 1))
		return -ENOMEM;
	baleen_numbers_put(numbers, number);
	return 0;
}

int baleen_canon_diff(const struct baleen_numbers *from, const struct baleen_numbers *to,
		      struct baleen_numbers *removed, struct baleen_numbers *added)
{
	size_t a = 0, b = 0;
	int err = 0;

	while (!err && (a < from->n || b < to->n)) {
		bool has_a = a < from->n, has_b = b < to->n;
		baleen_u128 of_a = has_a ? baleen_numbers_at(from, a) : 0;
		baleen_u128 of_b = has_b ? baleen_numbers_at(to, b) : 0;

		if (has_a && has_b && of_a == of_b) {
			a++;
			b++;
		} else if (!has_b || (has_a && of_a < of_b)) {
			err = append(removed, a++);
		} else {
			err = append(added, of_b);
			b++;
		}
	}
	return err;
}

int baleen_canon_patch(const struct baleen_numbers *from, const struct baleen_numbers *removed,
		       const struct baleen_numbers *added, struct baleen_numbers *to)
{
	size_t r = 0, b = 0;

	if (removed->n && baleen_numbers_at(removed, removed->n - 1) >= from->n)
		return -EINVAL;
	if (baleen_numbers_reserve(to, from->n - removed->n + added->n))
		return -ENOMEM;
	for (size_t a = 0; a < from->n; a++) {
		baleen_u128 number = baleen_numbers_at(from, a);

		if (r < removed->n && baleen_numbers_at(removed, r) == a) {
			r++;
			continue;
		}
		while (b < added->n && baleen_numbers_at(added, b) < number)
			baleen_numbers_put(to, baleen_numbers_at(added, b++));
		if (b < added->n && baleen_numbers_at(added, b) == number)
			return -EINVAL;
		baleen_numbers_put(to, number);
	}
	while (b < added->n)
		baleen_numbers_put(to, baleen_numbers_at(added, b++));
	return 0;
}
