/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What calls.bpf.c is asked to ask, and where things are in its frame.
 */
#ifndef BALEEN_TESTS_KFUNC_CALLS_H
#define BALEEN_TESTS_KFUNC_CALLS_H

#include <uapi/linux/baleen.h>

/* No answer and no errno. */
#define CALL_WRONG (-10000)

/* The address of a frame is a multiple of 256, so none of them is even. */
#define CALL_NAME_OFFSET 15
#define CALL_KEY_OFFSET (CALL_NAME_OFFSET + BALEEN_DEV_NAME_BYTES + 6)
#define CALL_FRAME_BYTES (CALL_KEY_OFFSET + sizeof(struct baleen_dev_key))

/**
 * struct call - a call, and what came of many
 * @name: of the filter
 * @key: the key
 * @n_yes: answers
 * @n_no: answers
 * @n_error: answers
 */
struct call {
	__u8 name[BALEEN_DEV_NAME_BYTES];
	struct baleen_dev_key key;
	__u64 n_yes;
	__u64 n_no;
	__u64 n_error;
};

#endif /* BALEEN_TESTS_KFUNC_CALLS_H */
