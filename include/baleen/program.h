/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters in BPF programs of others: XDP, tc, or any that can read an array map.
 *
 *      BALEEN_FILTER(blocked);
 *
 *      if (BALEEN_FILTER_TEST(blocked, &key))
 *              return XDP_DROP;
 *
 * The macro declares both parts of a filter: the header of its image, which is constant data
 * of the load, so that the verifier keeps only the code that this image needs, and the map of
 * its blocks. baleen_set_load() of libbaleen fills both between open and load. A program
 * whose filter was not filled is not loaded: the verifier reaches an invalid access, and its
 * log shows the line in baleen_program_image() that says so.
 *
 * Only for BPF. baleen-probe(7) has the whole way; examples/xdp/ is a program and its loader.
 */
#ifndef BALEEN_PROGRAM_H
#define BALEEN_PROGRAM_H

#include <baleen/probe.h>

/**
 * BALEEN_BLOCKS() - declare a map of blocks
 * @name: name of the map
 *
 * BPF_F_MMAPABLE makes the blocks page-aligned: none straddles a line. The number of blocks is
 * set before the load.
 */
#define BALEEN_BLOCKS(name)                         \
	struct {                                    \
		__uint(type, BPF_MAP_TYPE_ARRAY);   \
		__uint(map_flags, BPF_F_MMAPABLE);  \
		__uint(max_entries, 1);             \
		__type(key, u32);                   \
		__type(value, struct baleen_block); \
	} name SEC(".maps")

/**
 * BALEEN_FILTER() - declare a filter
 * @name: an identifier of C: the name of the map of blocks; the header is in the map
 *        .rodata.@name
 *
 * At file scope, once for each filter; a program may have several. Bytes, so that a skeleton
 * of the program needs no type of Baleen.
 */
#define BALEEN_FILTER(name)                                                     \
	const volatile __u8 baleen_image_of_##name[sizeof(struct baleen_image)] \
		__attribute__((aligned(8))) SEC(".rodata." #name);              \
	BALEEN_BLOCKS(name)

/**
 * BALEEN_FILTER_TEST() - is the key in the filter?
 * @name: as declared
 * @key: pointer to a struct baleen_key (key.h), of the fields that the filter is built for;
 *       its domain a constant, as baleen_key_ip4() and baleen_key_ip6() make it
 *
 * Return: 1 yes (maybe, when the filter is not exact), 0 surely not.
 */
#define BALEEN_FILTER_TEST(name, key) \
	baleen_image_test(baleen_program_image(baleen_image_of_##name), &(name), key)

/**
 * baleen_program_image() - the header of a filter, as it was filled in
 * @image: what BALEEN_FILTER() declared
 *
 * clang must not look at it: in the object it is all zero, and it would make a constant of
 * every answer.
 *
 * Context: BPF.
 * Return: the same, no longer volatile.
 */
baleen_inline const struct baleen_image *baleen_program_image(const volatile void *image)
{
	const struct baleen_image *filled = (const struct baleen_image *)image;

	asm("" : "+r"(filled));
	/* clang-format off */
	if (!filled->n_blocks)
		asm volatile("r0 = *(u64 *)(%0 + 0)" : : "r"(0ull) : "r0"); /* this filter is empty: call baleen_set_load() before the load */
	/* clang-format on */
	return filled;
}

#endif /* BALEEN_PROGRAM_H */
