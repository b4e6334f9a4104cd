/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the SOURCE argument of a verb of `baleen icp`, with its progress.
 */
#ifndef BALEEN_CLI_ICP_SOURCE_H
#define BALEEN_CLI_ICP_SOURCE_H

#include "cli/common/options.h"
#include "icp/squid_source.h"

/* Takes --from, of an enum baleen_squid_from. */
int parse_squid_source(const struct option_use *use);

/* Reads a source; says on stderr what was skipped, or with @is_verbose all that was found.
 * 0, or EXIT_FAILED after a message.
 */
int source_read(const char *text, enum baleen_squid_from from, bool is_verbose,
		struct baleen_squid_source *source);

/* The findings in a source, as JSON. */
json_t *describe_source(const char *text, const struct baleen_squid_source *source);

#endif /* BALEEN_CLI_ICP_SOURCE_H */
