/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash of a text without a secret, as textbooks and other programs take it.
 *
 * MurmurHash3_x86_32 and FNV-1a (murmur3.h) of the bytes of a text, or of what the
 * text stands for: it in single quotes, as a literal of Python, or the bytes that its
 * hexadecimal digits say. For userspace only: a packet has no texts.
 *
 *      form     text          bytes that are hashed
 *      -        Copenhagen    43 6f 70 65 6e 68 61 67 65 6e
 *      quoted   Copenhagen    27 43 6f 70 65 6e 68 61 67 65 6e 27
 *      hex      0aff          0a ff
 *
 * Example: murmur3("'Copenhagen'") with seed 42 is 4248224207, FNV-1a of Copenhagen
 * 4182428933.
 */
#ifndef BALEEN_TEXT_HASH_H
#define BALEEN_TEXT_HASH_H

#include <baleen/image.h>
#include <baleen/murmur3.h>

/**
 * struct baleen_text - a text to be hashed
 * @bytes: at any alignment
 * @n_bytes: how many, may be 0
 * @form: enum baleen_form, of which only QUOTED and HEX say something here
 */
struct baleen_text {
	const u8 *bytes;
	u32 n_bytes;
	u32 form;
};

/* How many bytes are hashed; of an odd number of digits the last does not count. */
static inline u32 baleen_text_length(const struct baleen_text *text)
{
	if (text->form & BALEEN_FORM_HEX)
		return text->n_bytes / 2;
	return text->n_bytes + (text->form & BALEEN_FORM_QUOTED ? 2 : 0);
}

/* 0 to 15; any number of a byte that is no digit. */
static inline u32 baleen_hex_value(u8 digit)
{
	return (digit & 15) + 9 * (digit >> 6 & 1);
}

/* One of the bytes that are hashed. */
static inline u32 baleen_text_byte(const struct baleen_text *text, u32 i)
{
	if (text->form & BALEEN_FORM_HEX)
		return (baleen_hex_value(text->bytes[2 * i]) << 4 |
			baleen_hex_value(text->bytes[2 * i + 1])) &
		       0xff;
	if (!(text->form & BALEEN_FORM_QUOTED))
		return text->bytes[i];
	return i && i <= text->n_bytes ? text->bytes[i - 1] : '\'';
}

/**
 * baleen_text_is_bad() - is it no text of this form?
 * @text: the text
 *
 * Context: any but BPF.
 * Return: true where hexadecimal digits are asked for, two for each byte, and it has
 * others, or none.
 */
static inline bool baleen_text_is_bad(const struct baleen_text *text)
{
	bool is_bad = !text->n_bytes || text->n_bytes % 2;

	if (!(text->form & BALEEN_FORM_HEX))
		return false;
	for (u32 i = 0; i < text->n_bytes; i++) {
		u8 digit = text->bytes[i], letter = digit | 0x20;

		is_bad |= (digit < '0' || digit > '9') && (letter < 'a' || letter > 'f');
	}
	return is_bad;
}

/**
 * baleen_text_murmur3() - MurmurHash3_x86_32 of a text
 * @text: the text and its form
 * @seed: seed of the hash
 *
 * Context: any but BPF.
 * Return: the hash.
 */
static inline u32 baleen_text_murmur3(const struct baleen_text *text, u32 seed)
{
	u32 n_bytes = baleen_text_length(text), i = 0, tail = 0;

	for (; i + 4 <= n_bytes; i += 4)
		seed = baleen_murmur3_mix(seed, baleen_text_byte(text, i) |
							baleen_text_byte(text, i + 1) << 8 |
							baleen_text_byte(text, i + 2) << 16 |
							baleen_text_byte(text, i + 3) << 24);
	for (u32 left = n_bytes; left > i; left--)
		tail = tail << 8 | baleen_text_byte(text, left - 1);
	return baleen_murmur3_finish(seed ^ baleen_murmur3_scramble(tail), n_bytes);
}

/**
 * baleen_text_fnv1a() - 32-bit FNV-1a of a text
 * @text: the text and its form
 *
 * Context: any but BPF.
 * Return: the hash.
 */
static inline u32 baleen_text_fnv1a(const struct baleen_text *text)
{
	u32 state = BALEEN_FNV1A_BASIS;

	for (u32 i = 0; i < baleen_text_length(text); i++)
		state = (state ^ baleen_text_byte(text, i)) * BALEEN_FNV1A_PRIME;
	return state;
}

/**
 * baleen_text_key() - the key that a text is in a filter with a public seed
 * @text: the text and its form
 * @seed: a public seed
 *
 * Context: any but BPF.
 * Return: a key whose 64-bit hash is MurmurHash3 in its upper half.
 */
static inline struct baleen_key baleen_text_key(const struct baleen_text *text,
						const struct baleen_seed *seed)
{
	return baleen_public_key((u64)baleen_text_murmur3(text, seed->word[0]) << 32);
}

#endif /* BALEEN_TEXT_HASH_H */
