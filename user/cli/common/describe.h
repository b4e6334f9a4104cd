/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter in words and in JSON.
 */
#ifndef BALEEN_CLI_DESCRIBE_H
#define BALEEN_CLI_DESCRIBE_H

#include "cli/common/cli.h"
#include "filter/filter.h"

/* Kind, key, geometry, entries, overlap, fill, bits per key and error, as JSON. @n_written as
 * for entries_text(); describe_filter() asks written_entries() for it.
 */
json_t *describe_written(const struct baleen_filter *filter, u64 n_written);
json_t *describe_filter(const struct baleen_filter *filter);

/* The same as a few lines that start with @path. */
void print_filter(FILE *stream, const char *path, const struct baleen_filter *filter,
		  u64 n_written);

/* Entries of the lists that a filter was built of, without duplicates and the like; 0 when it
 * does not know: then it has as many as it stores.
 */
u64 written_entries(const struct baleen_filter *filter);

/* Kind and exactness in few words, such as "cuckoo, exact". */
void describe_kind(const struct baleen_filter *filter, char *text, size_t bytes);

/* Which keys a table holds, such as "IPv4". */
const char *describe_family(u32 domain);

/* Has a table of it keys that nobody counted? A live Bloom filter has. */
bool is_uncounted(const struct baleen_filter *filter);

/* "2 entries", as they were written, and where they are another number of addresses or keys,
 * ", 257 addresses"; into @text of ENTRIES_TEXT. @n_written is 0 when nobody knows it, or
 * BALEEN_WRITTEN_ANY: "any address".
 */
#define ENTRIES_TEXT (2 * NUMBER_TEXT + sizeof(" entries,  IPv4 addresses"))
const char *entries_text(const struct baleen_filter *filter, u64 n_written, char *text);

/* A copy of the decoded header whose counts are what the tables hold now. */
struct baleen_image counted_image(const struct baleen_filter *filter);

/* A rule's name from a file's: without directory and extension, other
 * characters replaced. Returns NULL, or what is wrong with it.
 */
const char *rule_name_from_path(const char *path, char *name);

#endif /* BALEEN_CLI_DESCRIBE_H */
