/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of signed sets, found in the lists of their publisher.
 */
#ifndef BALEEN_CLI_WHY_SOURCE_H
#define BALEEN_CLI_WHY_SOURCE_H

#include "deploy/explain.h"

/**
 * struct why_source - the lists that were asked for last
 * @feed: of which set and generation
 * @fd: they; -1 when they cannot be had, which was said
 * @is_asked: they were asked for
 */
struct why_source {
	struct baleen_feed feed;
	int fd;
	bool is_asked;
};

/* Fills in the source_line of reasons that are entries of signed sets. Sets whose lists cannot be
 * had are named in a message each.
 */
void why_source_find(struct why_source *source, const struct baleen_xdp *xdp,
		     const struct baleen_question *question,
		     struct baleen_explanation *explanation);

void why_source_close(struct why_source *source);

#endif /* BALEEN_CLI_WHY_SOURCE_H */
