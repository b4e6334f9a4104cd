/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A few numbers as a picture in one line of text.
 */
#ifndef BALEEN_SPARKLINE_H
#define BALEEN_SPARKLINE_H

#include <baleen/port.h>

/* Bytes of the widest character, which is one of U+2581 to U+2588 in UTF-8. */
#define BALEEN_SPARK_BYTES 3

/**
 * baleen_sparkline() - draw values as columns of different height
 * @values: 0 or more each
 * @n: how many; one character each
 * @utf8: in eighths of a block; otherwise in seven ASCII characters
 * @text: NUL-terminated; room for @n * BALEEN_SPARK_BYTES + 1 bytes
 *
 * The largest value has the full height; a blank is zero and nothing else.
 */
void baleen_sparkline(const double *values, u32 n, bool utf8, char *text);

#endif /* BALEEN_SPARKLINE_H */
