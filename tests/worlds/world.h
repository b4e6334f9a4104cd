/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter whose tables have a given geometry, to be asked in every world.
 */
#ifndef BALEEN_TESTS_WORLD_H
#define BALEEN_TESTS_WORLD_H

#include <baleen/image.h>

/* n_entries of a table is how many keys are listed; as many others are asked.
 * Loads are near those where a table is full.
 */
struct world {
	const char *name;
	struct baleen_table table[BALEEN_TUPLE + 1];
	u32 key_spec;
};

#endif /* BALEEN_TESTS_WORLD_H */
