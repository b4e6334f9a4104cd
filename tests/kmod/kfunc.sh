#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpf_baleen_test() under 6.12, and that 6.1, for which Debian's headers make no BTF
# of a module, does without. After `make kmod-vm`.

set -u
cd "$(dirname "$0")/../.." || exit 2
CHECK_KERNELS="6.12"
source tests/kmod/host.sh

export VM_MODULES="cls_bpf sch_ingress"
for kernel in "${kernels[@]}"; do
	start "$kernel" tests/kmod/in-vm-kfunc.sh build/baleen build/tools/traffic \
		build/kmod-test/kfunc/{calls,changes,guard}
done
join
exit "$failed"
