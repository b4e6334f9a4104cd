/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys asked of a filter, many at a time, and those printed that are wanted.
 */
#ifndef BALEEN_CLI_MATCHING_H
#define BALEEN_CLI_MATCHING_H

#include "cli/common/cli.h"
#include "cli/open/filter_ref.h"

struct sink;

/**
 * struct matching - one run of match
 * @ref: the set
 * @inverted: what is not a member is wanted
 * @count_only: nothing is printed
 * @counts_copies: of a member also how often it is in the set
 * @ends_with_nul: keys end with NUL bytes, read and printed
 * @found: the keys, when they are wanted as JSON; else NULL
 * @n_matched: keys that were, or would have been, printed
 * @n_bad: keys that could not be read
 * @is_lost: the kernel answers no more, of which was a message
 * @write_error: errno of output that did not arrive
 * @sink: gets what one of several threads prints; NULL: it is printed at once
 */
struct matching {
	struct filter_ref *ref;
	bool inverted;
	bool count_only;
	bool counts_copies;
	bool ends_with_nul;
	json_t *found;
	u64 n_matched;
	u64 n_bad;
	bool is_lost;
	int write_error;
	struct sink *sink;
};

/* Asks for one key, without its end. */
void matching_key(struct matching *matching, char *text, size_t n_bytes);

/* Asks for the keys of a file, '-' is stdin; 0, or EXIT_FAILED after a message. */
int matching_file(struct matching *matching, const char *path);

#endif /* BALEEN_CLI_MATCHING_H */
