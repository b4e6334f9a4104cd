/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_baleen_test(): any XDP or TC program asks a filter of the module.
 */
#ifndef BALEEN_KMOD_KFUNC_H
#define BALEEN_KMOD_KFUNC_H

#include <linux/types.h>

/**
 * bpf_baleen_test() - is the key in the filter of this name?
 * @name: name of the filter, padded with zeros; memory that the program may read, at any
 *        alignment
 * @name__sz: BALEEN_DEV_NAME_BYTES
 * @key: a struct baleen_dev_key, as @name
 * @key__sz: its size
 * @error: out: 0 when the filter was asked; -ENOENT when there is no such filter; -EINVAL for
 *         another size, and for a key of no domain or with a field that is not of its domain
 *
 * Called by BPF programs alone, which declare it themselves: see
 * tests/kmod/kfunc/guard.bpf.c. The verifier refuses a size that is more than the memory
 * has. Counts a packet in the counters of the filter.
 *
 * Return: 1 maybe (yes, when the table is exact); 0 surely not, and on each error: a program that
 * drops what is in the filter drops nothing once that is gone.
 */
int bpf_baleen_test(const void *name, u32 name__sz, const void *key, u32 key__sz, int *error);

/* A kernel that does not take it is warned about, and has the rest of the module. */
void baleen_kfunc_init(void);

#endif /* BALEEN_KMOD_KFUNC_H */
