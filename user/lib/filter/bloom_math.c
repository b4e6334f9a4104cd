// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The formulas of the classic and the counting Bloom filter. */
#include <math.h>

#include "filter/bloom_math.h"

double baleen_classic_fpp(double m, u32 k, double n)
{
	return pow(-expm1(-(k * n) / m), k);
}

u32 baleen_classic_hashes(double m, double n)
{
	double best = m / n * M_LN2;
	u32 k = best < BALEEN_MAX_POSITIONS ? best : BALEEN_MAX_POSITIONS;

	/* The rate has one minimum, and it lies between these two. */
	if (k < 1)
		return 1;
	if (k == BALEEN_MAX_POSITIONS)
		return k;
	return baleen_classic_fpp(m, k, n) <= baleen_classic_fpp(m, k + 1, n) ? k : k + 1;
}

static double bits_for(double n, double fpp, u32 k)
{
	return -(k * n) / log1p(-pow(fpp, 1. / k));
}

double baleen_classic_bits(double n, double fpp, u32 k)
{
	double least = bits_for(n, fpp, k ? k : 1);

	if (k)
		return least;
	for (k = 2; k <= BALEEN_MAX_POSITIONS; k++)
		least = fmin(least, bits_for(n, fpp, k));
	return least;
}

double baleen_classic_bound(double n, double fpp)
{
	return n * M_LOG2E * log2(1 / fpp);
}

double baleen_counting_overflow(double m, u32 k, double n)
{
	const u32 j = BALEEN_COUNTER_MAX + 1;

	return fmin(1, m * pow(M_E * k * n / (j * m), j));
}
