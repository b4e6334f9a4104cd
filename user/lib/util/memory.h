/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of this machine, and what may be taken of it.
 */
#ifndef BALEEN_MEMORY_H
#define BALEEN_MEMORY_H

#include <baleen/port.h>

#include "util/error.h"

/**
 * baleen_memory_total() - the memory of this machine
 *
 * Return: bytes, free or not.
 */
u64 baleen_memory_total(void);

/**
 * baleen_memory_bound() - most bytes that the filters of a device may take
 * @asked: max-memory of its configuration; 0 for none
 *
 * While a device is updated there are its old filters and its new ones in the kernel, and in
 * user memory a copy of the new ones: at a quarter each, a quarter is left for all else.
 *
 * Return: @asked, or a quarter of the memory.
 */
u64 baleen_memory_bound(u64 asked);

/**
 * baleen_memory_refuse() - what takes more than may be taken, as an error
 * @what: what takes it, such as "rule 'bad'"
 * @n_bytes: what it takes
 * @max_bytes: the bound
 * @error: filled in
 *
 * Return: -ERANGE.
 */
int baleen_memory_refuse(const char *what, u64 n_bytes, u64 max_bytes, struct baleen_error *error);

#endif /* BALEEN_MEMORY_H */
