/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fuzz target: libFuzzer's function, how it ends when something is wrong, and how bytes become
 * text with words in it.
 */
#ifndef BALEEN_TESTS_FUZZ_TARGET_H
#define BALEEN_TESTS_FUZZ_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static inline void check(bool right)
{
	if (!right)
		abort();
}

/* Bytes above 127 stand for words. Return: bytes of the text, which has room for all. */
static inline size_t text_of_words(const uint8_t *bytes, size_t n_bytes, const char *const *words,
				   size_t n_words, char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < n_bytes; i++) {
		if (bytes[i] < 128)
			text[n++] = bytes[i];
		else
			n += strlen(strcpy(text + n, words[bytes[i] % n_words]));
	}
	return n;
}

#endif /* BALEEN_TESTS_FUZZ_TARGET_H */
