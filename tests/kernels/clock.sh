#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs tests/kernels/in-vm-clock.sh under each kernel that Baleen promises to run on:
# a host's clock is not for tests to set.

set -u
cd "$(dirname "$0")/../.." || exit 2
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/baleen.XXXXXX")
trap 'rm -rf "$work"' EXIT

for kernel in $(tests/kernels/which clock); do
	result=ok
	VM_TIMEOUT=${VM_TIMEOUT:-400} tests/vm/run "$kernel" tests/kernels/in-vm-clock.sh \
		tests/{lib,baleend}.sh user/systemd/baleend.service \
		build/{baleen,baleend} build/tools/{datagrams,verdict} \
		"$(command -v setpriv)" >"$work/$kernel" || result="not ok" failed=1
	# Each machine counts from 1.
	sed -E "/^1\.\./d; s/^((not )?ok) [0-9]+ - /\1 - $kernel: /" "$work/$kernel"
	echo "$result - $kernel: the script ended, the kernel log is clean"
done
exit "$failed"
