/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A number by which texts of our own are told apart: FNV-1a of 64 bits. Who may choose the
 * texts can choose two of one number.
 */
#ifndef BALEEN_UTIL_TEXT_HASH_H
#define BALEEN_UTIL_TEXT_HASH_H

#include <baleen/port.h>

#define BALEEN_TEXT_HASH_START 0xcbf29ce484222325ull

/**
 * baleen_text_hash() - the number of a text
 * @text: the text
 * @from: BALEEN_TEXT_HASH_START, or the number of what stands before it
 *
 * Source: http://www.isthe.com/chongo/tech/comp/fnv/
 *
 * Return: the number.
 */
static inline u64 baleen_text_hash(const char *text, u64 from)
{
	while (*text)
		from = (from ^ (u8)*text++) * 0x100000001b3;
	return from;
}

#endif /* BALEEN_UTIL_TEXT_HASH_H */
