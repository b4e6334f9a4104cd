/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words for a shell: what a message suggests can be pasted as it stands, whatever a
 * device or file is called.
 */
#ifndef BALEEN_SHELL_H
#define BALEEN_SHELL_H

#define BALEEN_SHELL_WORD_BYTES 256

/**
 * struct baleen_shell_word - a word, quoted where it needs to be
 * @text: the word
 */
struct baleen_shell_word {
	char text[BALEEN_SHELL_WORD_BYTES];
};

/**
 * baleen_shell_word() - quote a word
 * @word: any text
 *
 * Return: the word itself when a shell takes it as it is; else in single quotes, or in `$'...'` of
 * bash, zsh and POSIX 2024 when it has characters that are not to be seen as they are. One that
 * is too long to be shown is `'...'`, which names nothing.
 */
struct baleen_shell_word baleen_shell_word(const char *word);

#endif /* BALEEN_SHELL_H */
