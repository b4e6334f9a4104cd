// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The BPF objects that this build carries, compressed. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include <baleen/stats.h>
#include "util/little_endian.h"
#include "xdp/bpf_objects.h"

#define GZIP_TRAILER_BYTES 8
#define GZIP_ONLY 16 /* added to the window bits of inflateInit2() */

/* The Makefile compresses build/NAME.bpf.o, and knows that this file includes it. */
#define CARRY(name)                                                                             \
	asm(".pushsection .rodata\n" #name "_gz:\n.incbin \"build/" #name ".bpf.o.gz\"\n" #name \
	    "_gz_end:\n.popsection\n");                                                         \
	extern const u8 name##_gz[] __attribute__((visibility("hidden")));                      \
	extern const u8 name##_gz_end[] __attribute__((visibility("hidden")))

CARRY(baleen_1);
CARRY(baleen_4);
CARRY(baleen);
CARRY(egress_1);
CARRY(egress_16);
CARRY(conntrack_in_4);
CARRY(conntrack_in_16);
CARRY(conntrack_out_4);
CARRY(conntrack_out_16);
CARRY(icp);

static const struct baleen_bpf_object objects[] = {
	{ false, false, 1, baleen_1_gz, baleen_1_gz_end },
	{ false, false, 4, baleen_4_gz, baleen_4_gz_end },
	{ false, false, BALEEN_MAX_RULES, baleen_gz, baleen_gz_end },
	{ true, false, 1, egress_1_gz, egress_1_gz_end },
	{ true, false, BALEEN_MAX_RULES, egress_16_gz, egress_16_gz_end },
	{ false, true, 4, conntrack_in_4_gz, conntrack_in_4_gz_end },
	{ false, true, BALEEN_MAX_RULES, conntrack_in_16_gz, conntrack_in_16_gz_end },
	{ true, true, 4, conntrack_out_4_gz, conntrack_out_4_gz_end },
	{ true, true, BALEEN_MAX_RULES, conntrack_out_16_gz, conntrack_out_16_gz_end },
};

const struct baleen_bpf_object baleen_bpf_object_icp = { .gz = icp_gz, .gz_end = icp_gz_end };

#define N_OBJECTS (sizeof(objects) / sizeof(objects[0]))

const struct baleen_bpf_object *baleen_bpf_object_find(bool is_egress, bool has_conntrack,
						       u32 n_rules)
{
	const struct baleen_bpf_object *carried = objects, *last = objects + N_OBJECTS - 1;

	while (carried < last &&
	       (carried->is_egress != is_egress || carried->has_conntrack != has_conntrack ||
		carried->n_rules < n_rules))
		carried++;
	return carried;
}

/* Behind the compressed bytes: the checksum and size of what was compressed. */
static const u8 *trailer(const struct baleen_bpf_object *carried)
{
	return carried->gz_end - GZIP_TRAILER_BYTES;
}

static u32 object_bytes(const struct baleen_bpf_object *carried)
{
	return baleen_get_le32(trailer(carried) + 4);
}

int baleen_bpf_object_inflate(const struct baleen_bpf_object *carried, void **bytes,
			      size_t *n_bytes)
{
	u32 size = object_bytes(carried);
	z_stream zlib = { .next_in = (u8 *)carried->gz, .avail_in = carried->gz_end - carried->gz };
	void *object = malloc(size);
	int ret;

	if (!object || inflateInit2(&zlib, MAX_WBITS + GZIP_ONLY) != Z_OK) {
		free(object);
		return -ENOMEM;
	}
	zlib.next_out = object;
	zlib.avail_out = size;
	ret = inflate(&zlib, Z_FINISH);
	inflateEnd(&zlib);
	if (ret != Z_STREAM_END) {
		free(object);
		return -EILSEQ;
	}
	*bytes = object;
	*n_bytes = size;
	return 0;
}

u64 baleen_bpf_objects_code(void)
{
	u32 n_all = 0, crc = 0;

	for (size_t i = 0; i < N_OBJECTS; i++) {
		crc = crc32(crc, trailer(&objects[i]), GZIP_TRAILER_BYTES);
		n_all += object_bytes(&objects[i]);
	}
	return (u64)n_all << 32 | crc;
}
