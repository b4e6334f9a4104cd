// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of bpf_baleen_test() of every kind: one that asks what userspace says, and
 * many that the verifier has to refuse. Each is loaded alone.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "calls.h"

extern int bpf_baleen_test(const void *name, __u32 name__sz, const void *key, __u32 key__sz,
			   int *error) __ksym;

struct call call;

/* The answer, or the error: with one the answer has to be 0. */
static __always_inline int test(const void *name, __u32 name_bytes, const void *key,
				__u32 key_bytes)
{
	int error = 1, answer = bpf_baleen_test(name, name_bytes, key, key_bytes, &error);

	return !error ? answer : answer ? CALL_WRONG : error;
}

static __always_inline int ask(__u32 name_bytes, __u32 key_bytes)
{
	return test(call.name, name_bytes, &call.key, key_bytes);
}

/* --- taken ------------------------------------------------------------------ */

SEC("xdp")
int ok_xdp(struct xdp_md *ctx)
{
	return ask(sizeof(call.name), sizeof(call.key));
}

SEC("tc")
int ok_tc(struct __sk_buff *ctx)
{
	return ask(sizeof(call.name), sizeof(call.key));
}

/* For one that runs beside changes: what was answered is counted, not returned. */
SEC("xdp")
int ok_count(struct xdp_md *ctx)
{
	int answer = ask(sizeof(call.name), sizeof(call.key));

	call.n_yes += answer == 1;
	call.n_no += !answer;
	call.n_error += answer < 0;
	return XDP_PASS;
}

SEC("xdp")
int ok_short_name(struct xdp_md *ctx)
{
	return ask(sizeof(call.name) - 1, sizeof(call.key));
}

SEC("xdp")
int ok_short_key(struct xdp_md *ctx)
{
	return ask(sizeof(call.name), sizeof(call.key) - 1);
}

/* Readable, and yet not the size of a key. */
SEC("xdp")
int ok_long_key(struct xdp_md *ctx)
{
	return ask(sizeof(call.name), sizeof(call.key) + 1);
}

SEC("xdp")
int ok_no_bytes(struct xdp_md *ctx)
{
	return ask(0, 0);
}

/* The key stands in the frame, at an odd address, behind the name. */
SEC("xdp")
int ok_frame(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data;

	if (data + CALL_FRAME_BYTES > (__u8 *)(long)ctx->data_end)
		return XDP_ABORTED;
	return test(data + CALL_NAME_OFFSET, BALEEN_DEV_NAME_BYTES, data + CALL_KEY_OFFSET,
		    sizeof(struct baleen_dev_key));
}

/* --- refused ---------------------------------------------------------------- */

/* More than the stack has. */
SEC("xdp")
int no_stack(struct xdp_md *ctx)
{
	struct baleen_dev_key key = { .domain = 0 };

	return test(call.name, sizeof(call.name), &key, 513);
}

/* More than the variable has. */
SEC("xdp")
int no_name_beyond(struct xdp_md *ctx)
{
	return test(call.name, sizeof(call) + 1, &call.key, sizeof(call.key));
}

SEC("xdp")
int no_key_beyond(struct xdp_md *ctx)
{
	return ask(sizeof(call.name), sizeof(call) + 1);
}

/* A size that the verifier does not know. */
SEC("xdp")
int no_bound(struct xdp_md *ctx)
{
	return ask(sizeof(call.name), bpf_get_prandom_u32());
}

SEC("xdp")
int no_null(struct xdp_md *ctx)
{
	return test((void *)0, sizeof(call.name), &call.key, sizeof(call.key));
}

SEC("xdp")
int no_number(struct xdp_md *ctx)
{
	return test(call.name, sizeof(call.name), (void *)call.key.lo, sizeof(call.key));
}

/* Nobody has looked whether the frame is so long. */
SEC("xdp")
int no_frame(struct xdp_md *ctx)
{
	return test(call.name, sizeof(call.name), (void *)(long)ctx->data, sizeof(call.key));
}

/* Not for these types of programs. */
SEC("socket")
int no_socket(struct __sk_buff *ctx)
{
	return ask(sizeof(call.name), sizeof(call.key));
}

SEC("raw_tp/sys_enter")
int no_trace(void *ctx)
{
	return ask(sizeof(call.name), sizeof(call.key));
}

SEC("cgroup_skb/ingress")
int no_cgroup(struct __sk_buff *ctx)
{
	return ask(sizeof(call.name), sizeof(call.key));
}

char _license[] SEC("license") = "Dual BSD/GPL";
