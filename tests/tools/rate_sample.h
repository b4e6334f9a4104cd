/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is a measured rate of false positives the expected one?
 *
 * N_FILTERS filters of other members and, where they have one, other seeds are asked
 * for the same number of strangers each. The difference of measured and expected rate
 * has a spread over the filters, which comes of the probes and of the filters
 * themselves; its mean must be 0 within the 99.9 % interval of Student. Where
 * fewer than N_FEW positives are expected the probes are all of the spread, and
 * the 99.9 % interval is that of Poisson. An interval wider than MAX_WIDTH of a
 * rate would show nothing, and fails.
 */
#ifndef BALEEN_TESTS_RATE_SAMPLE_H
#define BALEEN_TESTS_RATE_SAMPLE_H

#include <math.h>

#include <baleen/port.h>

#define N_FILTERS 20
#define N_FEW 2000
#define MAX_WIDTH 0.12

/* Two-sided 99.9 %: Student with N_FILTERS - 1 degrees of freedom, and one tail. */
#define STUDENT 3.8834
#define TAIL 0.0005

/**
 * struct sample - what the filters of one geometry and fill did
 * @n_positive: probes that were positive, in all
 * @n_expected: probes that are expected to be
 * @difference: of measured and expected rate, of each filter
 */
struct sample {
	u64 n_positive;
	double n_expected;
	double difference[N_FILTERS];
};

/* Probability of @n or fewer when @mean are expected. */
static inline double poisson_below(double mean, u64 n)
{
	double sum = 0;

	for (u64 i = 0; i <= n; i++)
		sum += exp(i * log(mean) - mean - lgamma(i + 1.));
	return sum;
}

static inline bool is_poisson(const struct sample *sample)
{
	double mean = sample->n_expected;
	u64 n = sample->n_positive;

	return poisson_below(mean, n) > TAIL && (!n || 1 - poisson_below(mean, n - 1) > TAIL);
}

/* Half the width of the interval of the mean difference. */
static inline double student_width(const struct sample *sample, double *mean)
{
	double sum = 0, squares = 0;

	for (u32 i = 0; i < N_FILTERS; i++)
		sum += sample->difference[i];
	*mean = sum / N_FILTERS;
	for (u32 i = 0; i < N_FILTERS; i++)
		squares += pow(sample->difference[i] - *mean, 2);
	return STUDENT * sqrt(squares / (N_FILTERS - 1) / N_FILTERS);
}

/**
 * struct judged - what comes of a sample
 * @is_good: as expected
 * @is_few: judged by Poisson, without @width
 * @expected: rate
 * @measured: rate
 * @width: half of the interval of @measured
 */
struct judged {
	bool is_good;
	bool is_few;
	double expected;
	double measured;
	double width;
};

/* @n_probes is that of each filter. */
static inline struct judged sample_judge(const struct sample *sample, u64 n_probes)
{
	double n_all = (double)N_FILTERS * n_probes, mean;
	struct judged judged = {
		.expected = sample->n_expected / n_all,
		.is_few = sample->n_expected < N_FEW,
	};

	if (judged.is_few) {
		judged.measured = sample->n_positive / n_all;
		judged.is_good = is_poisson(sample);
		return judged;
	}
	judged.width = student_width(sample, &mean);
	judged.measured = judged.expected + mean;
	judged.is_good = fabs(mean) <= judged.width && judged.width <= MAX_WIDTH * judged.expected;
	return judged;
}

#endif /* BALEEN_TESTS_RATE_SAMPLE_H */
