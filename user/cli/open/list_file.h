/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists in files and pipes: opened, unpacked, read, and searched for a key.
 */
#ifndef BALEEN_CLI_LIST_FILE_H
#define BALEEN_CLI_LIST_FILE_H

#include "cli/common/list_options.h"

/* The fields of the keys of a list that is about to be read. */
u32 list_key_spec(const struct list_options *options);

/* Opens a file or pipe ("-" is standard input) at its start, unpacked; -1 after a
 * message.
 */
int list_file_open(const char *path, enum baleen_input input);

/* The lines of an open file, or of the list in the table or JSON that it is: @fd itself, or a
 * descriptor to be closed; -1 after a message.
 */
int list_file_lines(int fd, const char *name, const struct baleen_csv_options *csv);

/* Appends the lines of an open file to a list; refuses one without a key. @path is for
 * messages. 0, or EXIT_FAILED after a message.
 */
int list_file_read_lines(struct baleen_list *list, int fd, const char *path,
			 struct list_options *options);

/* Opens a list and appends it; an image is refused. 0, or EXIT_FAILED after a message. */
int list_file_read(struct baleen_list *list, const char *path, struct list_options *options);

/* Finds the line of a list that made a key listed; false when there is none. */
bool list_file_find(const char *path, const struct baleen_csv_options *csv, u32 key_spec,
		    const struct baleen_key *key, u64 *line, char *text, size_t text_bytes);

#endif /* BALEEN_CLI_LIST_FILE_H */
