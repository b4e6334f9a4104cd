/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A resize or a merge as the steps of a page: the old filters, and the new one that fills place by
 * place.
 */
#ifndef BALEEN_CLI_PAGE_MOVES_H
#define BALEEN_CLI_PAGE_MOVES_H

#include "cli/common/page.h"
#include "filter/moves.h"

/**
 * struct page_moves - a page of moves; all members are its own
 */
struct page_moves {
	struct page page;
	u32 n_sources;
	struct picture (*picture)[BALEEN_N_DOMAINS];
	u32 (*table)[BALEEN_N_DOMAINS];
	const struct baleen_filter *result;
	struct baleen_filter filling;
	bool *is_empty[BALEEN_N_DOMAINS];
	struct baleen_filter empty;
};

/* A page of @n filters, which stay where they are until page_moves_finish(), as do their @names,
 * and of what they came to. 0, or -ENOMEM; page_moves_free() is due in any case.
 */
int page_moves_init(struct page_moves *moves, const struct baleen_filter *const *sources,
		    const char *const *names, u32 n, const struct baleen_filter *result, u32 base);

/* Makes a move. @text: in words. */
void page_moves_step(struct page_moves *moves, const struct baleen_move *move, const char *text);

/* The last step: all is as it is in the result. Then the filters may go; @moves->page is printed by
 * page_print().
 */
void page_moves_finish(struct page_moves *moves);

void page_moves_free(struct page_moves *moves);

#endif /* BALEEN_CLI_PAGE_MOVES_H */
