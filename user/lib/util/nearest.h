/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The word that somebody meant who mistyped it.
 */
#ifndef BALEEN_NEAREST_H
#define BALEEN_NEAREST_H

#include <baleen/port.h>

/**
 * struct baleen_nearest - a word that is none, and the one that is like it
 * @typed: the word
 * @word: the nearest of those that were offered; NULL when none is near
 * @distance: letters that were added, left out, changed, or exchanged with their neighbour (the
 *            optimal string alignment distance), in any case
 *
 * All zeros but @typed at the start.
 */
struct baleen_nearest {
	const char *typed;
	const char *word;
	u32 distance;
};

/**
 * baleen_nearest_offer() - is this the word?
 * @nearest: what is the nearest by now
 * @word: a word that is one; lives as long as @nearest
 *
 * Near is one letter off, two of five letters or more; or the beginning of a word, of three letters
 * at least. Of two that are as near the first is taken.
 */
void baleen_nearest_offer(struct baleen_nearest *nearest, const char *word);

/* Room for " (did you mean 'WORD'?)". */
#define BALEEN_NEAREST_TEXT 64

/**
 * baleen_nearest_text() - what to say of it
 * @nearest: when all were offered
 * @text: filled in: " (did you mean 'WORD'?)", or nothing
 *
 * Return: @text.
 */
const char *baleen_nearest_text(const struct baleen_nearest *nearest,
				char text[static BALEEN_NEAREST_TEXT]);

#endif /* BALEEN_NEAREST_H */
