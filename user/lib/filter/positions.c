// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bits of a key in a plane of bits, as a list of positions. */

#include "filter/positions.h"
#include "list/string_keys.h"

/* Keys whose bits are computed, and lines asked for, ahead of insertion. */
#define AHEAD 16

int baleen_positions_of(const struct baleen_image *image, const struct baleen_key *key,
			struct baleen_positions *positions)
{
	const struct baleen_table *table = &image->table[key->domain];
	int err = baleen_positions_make(table, &image->seed, key, positions);
	struct baleen_string string;

	if (!err || image->key_spec != BALEEN_KEY_STRING)
		return err;
	string = baleen_key_string(key);
	baleen_positions_of_bytes(table, &image->seed, string.bytes, string.n_bytes, positions);
	return 0;
}

void baleen_positions_of_bytes(const struct baleen_table *table, const struct baleen_seed *seed,
			       const void *bytes, u32 n_bytes, struct baleen_positions *positions)
{
	positions->n = 0;
	for (u32 i = 0; i < table->n_hashes; i++)
		baleen_positions_append(table, positions,
					baleen_classic_position_bytes(table, seed, bytes, n_bytes,
								      i));
}

static void prefetch(const struct baleen_table *table, void *bytes,
		     const struct baleen_positions *positions)
{
	bool is_counting = table->kind == BALEEN_KIND_COUNTING;

	for (u32 i = 0; i < positions->n; i++) {
		__builtin_prefetch(baleen_plane_word(table, bytes, positions->bit[i]), 1);
		if (is_counting)
			__builtin_prefetch(baleen_counter_word(table, bytes, positions->bit[i]), 1);
	}
}

int baleen_positions_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	struct baleen_positions positions;
	int err = baleen_positions_of(&filter->image, key, &positions);

	if (!err)
		*changed = baleen_plane_add(&filter->image.table[key->domain], filter->bytes,
					    &positions);
	return err;
}

int baleen_positions_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			    size_t *n_done)
{
	struct baleen_positions ring[AHEAD];
	struct baleen_table *table = &filter->image.table[keys[0].domain];

	*n_done = 0;
	for (size_t i = 0; i < n + AHEAD; i++) {
		struct baleen_positions *positions = &ring[i % AHEAD];
		int err;

		if (i >= AHEAD) {
			baleen_plane_add(table, filter->bytes, positions);
			table->n_entries++;
			++*n_done;
		}
		if (i >= n)
			continue;
		/* If the first key is refused, all are. */
		err = baleen_positions_of(&filter->image, &keys[i], positions);
		if (err)
			return err;
		prefetch(table, filter->bytes, positions);
	}
	return 0;
}
