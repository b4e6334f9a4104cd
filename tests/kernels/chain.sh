#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs tests/kernels/in-vm-chain.sh under each kernel that Baleen promises to run
# on: the host's cannot replace functions of programs, which chains take.

set -u
cd "$(dirname "$0")/../.." || exit 2
files=(tests/lib.sh tests/kernels/lib.sh build/baleen
	build/tools/{traffic,json,verdict} "$(command -v strace)")
read -ra kernels <<<"$(tests/kernels/which chain)"
machines=()
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/baleen.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap '[ ${#machines[@]} -eq 0 ] || kill "${machines[@]}"; exit 143' TERM INT HUP

for kernel in "${kernels[@]}"; do
	VM_TIMEOUT=${VM_TIMEOUT:-600} tests/vm/run "$kernel" tests/kernels/in-vm-chain.sh \
		"${files[@]}" >"$work/$kernel" &
	machines+=($!)
done
for kernel in "${kernels[@]}"; do
	wait "${machines[0]}" && result=ok || result="not ok" failed=1
	machines=("${machines[@]:1}")
	# Each machine counts from 1.
	sed -E "/^1\.\./d; s/^((not )?ok) [0-9]+ - /\1 - $kernel: /" "$work/$kernel"
	echo "$result - $kernel: the script ended, the kernel log is clean"
done
exit "$failed"
