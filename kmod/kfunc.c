// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bpf_baleen_test(): see kfunc.h. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "compat.h"
#include "kfunc.h"
#include "names.h"

static_assert(sizeof(struct baleen_dev_key) == sizeof(struct baleen_key));

/*
 * The verifier has checked that the program may read these sizes. Name and key are
 * copied before they are checked: a value of a map, or a packet, may change
 * meanwhile, and need not be aligned.
 *
 * Programs of both types run with bottom halves off, which keeps a filter that was
 * found from being freed (RCU waits for that since 5.0), also under
 * BPF_PROG_TEST_RUN, which takes the RCU lock instead. So the lock taken here
 * is not needed; it costs two increments, and serves lockdep, which does not count
 * bottom halves, and program types that are added below later.
 */
__bpf_kfunc int bpf_baleen_test(const void *name, u32 name__sz, const void *key, u32 key__sz,
				int *error)
{
	char copied_name[BALEEN_DEV_NAME_BYTES];
	struct baleen_filter *filter;
	struct baleen_key copied;
	int answer;

	if (name__sz != sizeof(copied_name) || key__sz != sizeof(copied)) {
		*error = -EINVAL;
		return 0;
	}
	memcpy(copied_name, name, sizeof(copied_name));
	memcpy(&copied, key, sizeof(copied));
	rcu_read_lock();
	filter = baleen_filter_find_rcu(copied_name);
	answer = filter ? baleen_filter_ask(filter, &copied, 0) : -ENOENT;
	rcu_read_unlock();
	*error = answer < 0 ? answer : 0;
	return answer > 0;
}

BTF_KFUNCS_START(baleen_kfuncs)
BTF_ID_FLAGS(func, bpf_baleen_test)
BTF_KFUNCS_END(baleen_kfuncs)

static const struct btf_kfunc_id_set baleen_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &baleen_kfuncs,
};

void baleen_kfunc_init(void)
{
	static const enum bpf_prog_type types[] = { BPF_PROG_TYPE_XDP, BPF_PROG_TYPE_SCHED_CLS };
	int err = 0;

	if (!baleen_has_btf()) {
		pr_warn("no bpf_baleen_test(): the module was built without BTF\n");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(types) && !err; i++)
		err = register_btf_kfunc_id_set(types[i], &baleen_kfunc_set);
	if (err)
		pr_warn("no bpf_baleen_test(): error %d\n", err);
}
