/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets of 64-bit keys that filters are compared with.
 *
 *   sorted       an array in order, asked by binary search; exact. 64 bits a key
 *   dictionary   hashing with chains: heads, and an array of keys and links; exact, with as
 *                many heads as keys. 64 + 32 + 32 bits a key
 *   compact      hash compaction (Wolper and Leroy, "Reliable hashing without collision
 *                detection", CAV 1993): l bits of the hash of a key instead of the key, in an
 *                open table, 80 % of it in use, with linear probing. A key that is not in
 *                equals one of the n that are with n / 2^l; so l = log2(n / P), in whole
 *                bytes here. These l bits say where the probing begins, too
 *
 * For `baleen plan --compare`; of kind chained and compact there are images as well, with
 * chains and l bits: chained.h.
 */
#ifndef BALEEN_BASELINES_H
#define BALEEN_BASELINES_H

#include <baleen/port.h>
#include <stddef.h>

enum baleen_baseline_kind {
	BALEEN_BASELINE_SORTED,
	BALEEN_BASELINE_DICTIONARY,
	BALEEN_BASELINE_COMPACT,
	BALEEN_N_BASELINES,
};

/* Share of the slots of a compact table in use. */
#define BALEEN_COMPACT_LOAD 0.8

/**
 * struct baleen_baseline - a set
 * @kind: enum baleen_baseline_kind
 * @n: keys
 * @key: sorted, dictionary: the keys
 * @head: dictionary: number of the first key of each chain and 1; 0: none
 * @next: dictionary: of each key likewise the one behind it in its chain
 * @n_slots: compact, dictionary: slots or heads
 * @slot: compact: the slots, of @slot_bytes; 0 is empty
 * @slot_bytes: l / 8: 1 to 8
 */
struct baleen_baseline {
	enum baleen_baseline_kind kind;
	u32 n;
	u64 *key;
	u32 *head;
	u32 *next;
	u32 n_slots;
	u8 *slot;
	u32 slot_bytes;
};

/**
 * baleen_baseline_name() - what a kind is called
 * @kind: enum baleen_baseline_kind
 *
 * Return: "sorted", "dictionary" or "compact".
 */
const char *baleen_baseline_name(enum baleen_baseline_kind kind);

/**
 * baleen_compact_bytes() - l of hash compaction, in bytes
 * @n: keys
 * @fpp: false positive rate allowed, above 0
 *
 * Return: 1 to 8.
 */
u32 baleen_compact_bytes(double n, double fpp);

/**
 * baleen_baseline_bits() - bits a key
 * @kind: enum baleen_baseline_kind
 * @n: keys
 * @fpp: for compact, as for baleen_compact_bytes()
 *
 * Return: the bits that baleen_baseline_make() takes.
 */
double baleen_baseline_bits(enum baleen_baseline_kind kind, double n, double fpp);

/**
 * baleen_baseline_make() - a set of keys
 * @kind: enum baleen_baseline_kind
 * @keys: the keys, hashed; no two are equal
 * @n: how many, up to 2^31
 * @fpp: for compact, as for baleen_compact_bytes()
 * @baseline: filled in; free with baleen_baseline_free()
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_baseline_make(enum baleen_baseline_kind kind, const u64 *keys, u32 n, double fpp,
			 struct baleen_baseline *baseline);

/**
 * baleen_baseline_test() - is a key in a set?
 * @baseline: made
 * @key: the key
 *
 * Return: true, when compact maybe; false surely not.
 */
bool baleen_baseline_test(const struct baleen_baseline *baseline, u64 key);

/**
 * baleen_baseline_free() - free a set
 * @baseline: made, or all zeros; empty afterwards
 */
void baleen_baseline_free(struct baleen_baseline *baseline);

#endif /* BALEEN_BASELINES_H */
