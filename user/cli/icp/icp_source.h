/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands where a verb of `baleen icp` says SOURCE: read, with its progress.
 */
#ifndef BALEEN_CLI_ICP_SOURCE_H
#define BALEEN_CLI_ICP_SOURCE_H

#include "cli/common/cli.h"
#include "icp/squid_source.h"

#define FROM_HELP                                                                              \
	"  --from WHAT      every SOURCE is a digest, a log (store.log) or objects (Squid's\n" \
	"                   list of them), whatever it looks like\n"

/* Takes the argument of --from; 0, or EXIT_USAGE after a message. */
int take_from(const struct command *command, const char *argument, enum baleen_squid_from *from);

/* Reads a source; says on stderr what was skipped, or with @is_verbose all that was found.
 * 0, or EXIT_FAILED after a message.
 */
int source_read(const char *text, enum baleen_squid_from from, bool is_verbose,
		struct baleen_squid_source *source);

/* The findings in a source, as JSON. */
json_t *describe_source(const char *text, const struct baleen_squid_source *source);

#endif /* BALEEN_CLI_ICP_SOURCE_H */
