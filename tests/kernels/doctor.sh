#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs tests/kernels/in-vm-doctor.sh under each kernel that Baleen promises to run
# on: for devices that the host's kernel has not, and settings that are not to be
# changed on a host.

set -u
cd "$(dirname "$0")/../.." || exit 2
NEXT=$(tests/next) || exit 1
files=(tests/lib.sh tests/doctor.sh tests/kernels/{lib,devices}.sh build/baleen
	build/tools/{traffic,json,tcx,twin} "${NEXT#"$PWD/"}" "$(command -v jq)" "$(command -v tc)")
read -ra kernels <<<"$(tests/kernels/which doctor)"
machines=()
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/baleen.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap '[ ${#machines[@]} -eq 0 ] || kill "${machines[@]}"; exit 143' TERM INT HUP

for kernel in "${kernels[@]}"; do
	VM_TIMEOUT=${VM_TIMEOUT:-850} VM_MODULES="sch_ingress cls_matchall act_gact bridge" tests/vm/run "$kernel" \
		tests/kernels/in-vm-doctor.sh "${files[@]}" >"$work/$kernel" &
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
