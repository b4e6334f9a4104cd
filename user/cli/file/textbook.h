/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * baleen help textbook: the commands of baleen-textbook(7).
 */
#ifndef BALEEN_CLI_TEXTBOOK_H
#define BALEEN_CLI_TEXTBOOK_H

/* Prints the titles of all sections; with words, up to a NULL, the commands of those that have
 * them in their titles: "9" is "Algorithm 9". An exit code.
 */
int print_textbook(char **words);

#endif /* BALEEN_CLI_TEXTBOOK_H */
