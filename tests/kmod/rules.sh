#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The command line on rules of the module, in a machine with each kernel: all of
# tests/kmod/in-vm-rules.sh under 6.12, what moves packets under 6.1. After
# `make kmod-vm`.

set -u
cd "$(dirname "$0")/../.." || exit 2
CHECK_KERNELS="6.12"
source tests/kmod/host.sh
for kernel in "${kernels[@]}"; do
	VM_MODULES=macvlan start "$kernel" tests/kmod/in-vm-rules.sh tests/{words,frames}.sh \
		tests/kmod/rules-{words,traffic}.sh build/baleen build/tools/{traffic,json,frame} \
		"$(command -v jq)" "$(command -v setpriv)"
done
join
exit "$failed"
