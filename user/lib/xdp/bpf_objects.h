/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF objects that this build carries, compressed. */
#ifndef BALEEN_XDP_BPF_OBJECTS_H
#define BALEEN_XDP_BPF_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <baleen/port.h>

/* The same program with room for fewer rules. The kernel reads, checks and copies all
 * of an object before it removes what is not used, and libbpf relocates it: attach
 * with one rule took 90 ms with the largest, and takes 35 ms with the smallest. Those that
 * call the functions of conntrack can be loaded only where the kernel has them.
 *
 * Objects of 22 MB are 4 MB compressed; the largest takes 12 ms to inflate, the smallest 1 ms.
 */
struct baleen_bpf_object {
	bool is_egress;
	bool has_conntrack;
	u32 n_rules;
	const u8 *gz, *gz_end;
};

/* The programs of ICP: bpf/icp.bpf.c. */
extern const struct baleen_bpf_object baleen_bpf_object_icp;

/**
 * baleen_bpf_object_find() - the smallest object that has room for the rules
 * @is_egress: for what goes out
 * @has_conntrack: some rule asks conntrack
 * @n_rules: at most BALEEN_MAX_RULES
 *
 * Return: the object, which is static.
 */
const struct baleen_bpf_object *baleen_bpf_object_find(bool is_egress, bool has_conntrack,
						       u32 n_rules);

/**
 * baleen_bpf_object_inflate() - the bytes of an object
 * @carried: from baleen_bpf_object_find()
 * @bytes: out: the object, to be freed by the caller
 * @n_bytes: out: its size
 *
 * Return: 0, -ENOMEM, or -EILSEQ when what this build carries is damaged.
 */
int baleen_bpf_object_inflate(const struct baleen_bpf_object *carried, void **bytes,
			      size_t *n_bytes);

/**
 * baleen_bpf_objects_code() - a number for the code of all objects of this build
 *
 * Return: another number for other objects; it follows from the checksums and sizes that
 * gzip wrote (RFC 1952, section 2.3.1).
 */
u64 baleen_bpf_objects_code(void);

#endif /* BALEEN_XDP_BPF_OBJECTS_H */
