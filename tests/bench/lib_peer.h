/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bench_lib asks of a filter that somebody else wrote. A module exports an
 * array of them, lib_peers, whose last has no name.
 */
#ifndef BENCH_LIB_PEER_H
#define BENCH_LIB_PEER_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct lib_peer - a filter of 64-bit keys
 * @name: what is printed
 * @fpp: the rate of the section it stands in: 0.02, 0.001 or 0.000244
 * @make: a filter of these keys; NULL when it refused them
 * @test: how many of the keys it says it holds
 * @bytes: of memory
 * @destroy: frees it
 */
struct lib_peer {
	const char *name;
	double fpp;
	void *(*make)(const uint64_t *keys, size_t n);
	size_t (*test)(const void *filter, const uint64_t *keys, size_t n);
	size_t (*bytes)(const void *filter);
	void (*destroy)(void *filter);
};

#endif /* BENCH_LIB_PEER_H */
