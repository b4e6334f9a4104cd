// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Looks for conntrack's functions in the BTF of the running kernel. */
#include <bpf/btf.h>
#include <errno.h>
#include <unistd.h>

#include "util/libbpf_log.h"
#include "xdp/kernel_conntrack.h"

#define MODULE "nf_conntrack"
#define MODULE_DIRECTORY "/sys/module/" MODULE
#define MODULE_BTF "/sys/kernel/btf/" MODULE

static bool has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

/* Linux, CONFIG_NF_CONNTRACK=m: in the BTF of the module, which builds on the kernel's. */
static int check_module(struct btf *kernel, const char *function, struct baleen_error *error)
{
	struct btf *module;
	bool is_there;

	if (access(MODULE_DIRECTORY, F_OK))
		return baleen_fail(error, EOPNOTSUPP,
				   "conntrack: the kernel's module is not loaded: 'modprobe " MODULE
				   "'");
	if (access(MODULE_BTF, F_OK))
		return baleen_fail(error, EOPNOTSUPP,
				   "conntrack: the kernel's module " MODULE
				   " has no BTF, so no program can ask it");
	module = btf__load_module_btf(MODULE, kernel);
	if (!module)
		return baleen_fail(error, errno, "conntrack: %s: %m", MODULE_BTF);
	is_there = has_function(module, function);
	btf__free(module);
	if (!is_there)
		return baleen_fail(error, EOPNOTSUPP,
				   "conntrack: this kernel has no %s(): Linux 6.1 and newer may",
				   function);
	return 0;
}

int baleen_kernel_has_conntrack(bool is_egress, struct baleen_error *error)
{
	const char *function = is_egress ? "bpf_skb_ct_lookup" : "bpf_xdp_ct_lookup";
	struct btf *kernel;
	int err;

	baleen_log_start();
	kernel = btf__load_vmlinux_btf();
	if (!kernel)
		return baleen_fail(error, EOPNOTSUPP,
				   "conntrack: this kernel has no BTF, so no program can ask it");
	err = has_function(kernel, function) ? 0 : check_module(kernel, function, error);
	btf__free(kernel);
	return err;
}
