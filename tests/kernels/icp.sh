#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs the queries of tests/xdp/icp.sh, the feed of icp-feed.sh, and icp-behind.sh, under each kernel
# that Baleen promises to run on.

set -u
cd "$(dirname "$0")/../.." || exit 2
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/baleen.XXXXXX")
trap 'rm -rf "$work"' EXIT

for kernel in $(tests/kernels/which icp); do
	result=ok
	VM_TIMEOUT=${VM_TIMEOUT:-400} tests/vm/run "$kernel" tests/kernels/in-vm-icp.sh \
		build/tools/{icp,icp_kinds,icp_feed} >"$work/$kernel" || result="not ok" failed=1
	# The filter in front of it is loaded by the same kernel.
	VM_TIMEOUT=${VM_TIMEOUT:-400} tests/vm/run "$kernel" tests/xdp/icp-behind.sh \
		tests/{lib,icp,words}.sh build/baleen build/tools/json >>"$work/$kernel" ||
		result="not ok" failed=1
	# Each machine counts from 1.
	sed -E "/^1\.\./d; s/^((not )?ok) [0-9]+ - /\1 - $kernel: /" "$work/$kernel"
	echo "$result - $kernel: the script ended, the kernel log is clean"
done
exit "$failed"
