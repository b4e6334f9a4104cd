/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differences between kernels: 6.1 lacks macros of 6.12.
 */
#ifndef BALEEN_KMOD_COMPAT_H
#define BALEEN_KMOD_COMPAT_H

#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/local_lock.h>
#include <linux/module.h>

/* Since 6.3; before, a kfunc is a function that the compiler must not take apart. */
#ifndef __bpf_kfunc
#define __bpf_kfunc __used __noclone noinline
#endif

/* Since 6.11; before, PREEMPT_RT runs one softirq of a CPU after the other. */
#ifndef local_lock_nested_bh
#define local_lock_nested_bh(lock) ((void)(lock))
#define local_unlock_nested_bh(lock) ((void)(lock))
#endif

/* Since 6.9. */
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START(name) BTF_SET8_START(name)
#define BTF_KFUNCS_END(name) BTF_SET8_END(name)
#endif

/**
 * baleen_has_btf() - does the kernel know the types of this module?
 *
 * Without them no BPF program can call into it, and registering a kfunc is a line in
 * the kernel log that does not say whose it is.
 *
 * Return: true or false.
 */
static inline bool baleen_has_btf(void)
{
#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
	return THIS_MODULE->btf_data_size;
#else
	return false;
#endif
}

#endif /* BALEEN_KMOD_COMPAT_H */
