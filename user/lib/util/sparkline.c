// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A few numbers as a picture in one line of text. */
#include <math.h>

#include "util/sparkline.h"

static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii[] = { " ", "_", ".", "-", "=", "+", "*", "#" };

void baleen_sparkline(const double *values, u32 n, bool utf8, char *text)
{
	const char *const *level = utf8 ? blocks : ascii;
	u32 n_levels = (utf8 ? sizeof(blocks) : sizeof(ascii)) / sizeof(*level) - 1;
	double max = 0;

	for (u32 i = 0; i < n; i++)
		max = fmax(max, values[i]);
	for (u32 i = 0; i < n; i++) {
		double height = max > 0 ? ceil(values[i] / max * n_levels) : 0;

		/* A rate too small for the ratio is a rate. */
		if (values[i] > 0 && height < 1)
			height = 1;
		text = stpcpy(text, level[(u32)height]);
	}
	*text = '\0';
}
