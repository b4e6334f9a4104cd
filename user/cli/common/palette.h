/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The colours of pictures: each kind of filter has one, in every picture.
 *
 * They are told apart with all common kinds of colour blindness, and have a contrast of 3 to 1 at
 * least on white and on the dark ground; tests/cli/palette.py computes both. Since colours alone
 * tell nobody who sees none, each thing in a picture also has a label, a letter or a sign.
 */
#ifndef BALEEN_CLI_PALETTE_H
#define BALEEN_CLI_PALETTE_H

#include <baleen/port.h>
#include <stdio.h>

/* Colours of keys; the seventh key has that of the first. */
#define PALETTE_KEYS 6

/* Class of a kind or of a curve: "bloom", "cuckoo" and so on; "other" for what has no colour. */
const char *palette_class(const char *name);

/* Rules of CSS, for light and for dark ground: `color` of the classes of kinds, and of `.k0` to
 * `.k5`, those of keys; ground and text: `.ground`, `text`, `.faint`.
 */
void palette_print(FILE *stream);

#endif /* BALEEN_CLI_PALETTE_H */
