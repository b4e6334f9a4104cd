// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Copies of feeds that only a draft of a state has. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/draft_copies.h"
#include "util/array.h"
#include "util/input.h"

int baleen_draft_keep_copy(struct baleen_rule_store *state, u64 feed, u64 generation, int fd,
			   u64 *n_bytes)
{
	struct stat stat;
	int own;

	if (fstat(fd, &stat))
		return -errno;
	if (baleen_array_add(&state->draft_copy, state->n_draft_copies))
		return -ENOMEM;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return -errno;
	state->draft_copy[state->n_draft_copies++] =
		(struct baleen_draft_copy){ .feed = feed, .generation = generation, .fd = own };
	*n_bytes = stat.st_size;
	return 0;
}

int baleen_draft_open_copy(const struct baleen_rule_store *state, u64 feed, u64 generation)
{
	char path[sizeof("/proc/self/fd/") + 12];

	for (size_t i = 0; i < state->n_draft_copies; i++) {
		const struct baleen_draft_copy *copy = &state->draft_copy[i];

		if (copy->feed != feed || copy->generation != generation)
			continue;
		/* A duplicate would have its place in the file in common with others. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", copy->fd);
		return baleen_input_open(path, BALEEN_INPUT_SYSTEM, NULL);
	}
	return -ENOENT;
}

void baleen_draft_drop_copies(struct baleen_rule_store *state)
{
	for (size_t i = 0; i < state->n_draft_copies; i++)
		close(state->draft_copy[i].fd);
	free(state->draft_copy);
	state->draft_copy = NULL;
	state->n_draft_copies = 0;
}
