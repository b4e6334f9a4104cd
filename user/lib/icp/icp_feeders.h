/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of a sibling's feeders a source of its objects is of.
 */
#ifndef BALEEN_ICP_FEEDERS_H
#define BALEEN_ICP_FEEDERS_H

#include <baleen/icp.h>

#include "util/error.h"

/**
 * baleen_icp_feeders_match() - whose objects each source has
 * @config: constants of the instance
 * @n: the sibling
 * @source: paths and URLs
 * @n_sources: how many, up to BALEEN_ICP_MAX_FEEDERS
 * @feeder: filled in with the number of a feeder for each source; untouched on failure
 * @error: filled in on failure: the reason and no more
 *
 * All sources are of the only feeder. Of several feeders each has a source: the one
 * whose URL has its address, when all have one, and else the one at its place in the
 * order of the feeders. Without feeders sources are told apart all the same.
 *
 * Return: 0, or -EINVAL when there are not as many.
 */
int baleen_icp_feeders_match(const struct baleen_icp_config *config, u32 n,
			     const char *const *source, u32 n_sources, u32 *feeder,
			     struct baleen_error *error);

#endif /* BALEEN_ICP_FEEDERS_H */
