// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs that make a key of the source of the frame and ask one filter: in their
 * own array map, or in the kernel module. For bench_kmod.c.
 */
#include <baleen/program.h>

#include <uapi/linux/baleen.h>

extern int bpf_baleen_test(const void *name, __u32 name__sz, const void *key, __u32 key__sz,
			   int *error) __ksym;

/* Set before the load. */
const volatile struct baleen_image image;
u8 name[BALEEN_DEV_NAME_BYTES] = "bench";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_block);
} filter SEC(".maps");

/* Bytes of Ethernet and of the IP header before the source. */
#define SOURCE4_AT (14 + 12)
#define SOURCE6_AT (14 + 8)

/* The source, or NULL when the frame is shorter. */
baleen_inline const u8 *source_of(const struct xdp_md *ctx, u32 at, u32 n_bytes)
{
	const u8 *source = (const u8 *)(long)ctx->data + at;

	return source + n_bytes > (const u8 *)(long)ctx->data_end ? NULL : source;
}

baleen_inline int ask_map(const struct baleen_key *key)
{
	return baleen_image_test(baleen_program_image(&image), &filter, key) ? XDP_DROP : XDP_PASS;
}

baleen_inline int ask_module(const struct baleen_key *key)
{
	int error = 0;

	return bpf_baleen_test(name, sizeof(name), key, sizeof(*key), &error) ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int map_ip4(struct xdp_md *ctx)
{
	const u8 *source = source_of(ctx, SOURCE4_AT, 4);
	struct baleen_key key;

	if (!source)
		return XDP_ABORTED;
	key = baleen_key_ip4(source);
	return ask_map(&key);
}

SEC("xdp")
int map_ip6(struct xdp_md *ctx)
{
	const u8 *source = source_of(ctx, SOURCE6_AT, 16);
	struct baleen_key key;

	if (!source)
		return XDP_ABORTED;
	key = baleen_key_ip6(source);
	return ask_map(&key);
}

SEC("xdp")
int kfunc_ip4(struct xdp_md *ctx)
{
	const u8 *source = source_of(ctx, SOURCE4_AT, 4);
	struct baleen_key key;

	if (!source)
		return XDP_ABORTED;
	key = baleen_key_ip4(source);
	return ask_module(&key);
}

SEC("xdp")
int kfunc_ip6(struct xdp_md *ctx)
{
	const u8 *source = source_of(ctx, SOURCE6_AT, 16);
	struct baleen_key key;

	if (!source)
		return XDP_ABORTED;
	key = baleen_key_ip6(source);
	return ask_module(&key);
}

char _license[] SEC("license") = "Dual BSD/GPL";
