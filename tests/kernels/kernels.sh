#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs tests/kernels/in-vm.sh under each kernel that Baleen promises to run on.

set -u
cd "$(dirname "$0")/../.." || exit 2
files=(tests/lib.sh build/baleen build/*.bpf.o build/tools/traffic)
failed=0

# Both machines count their results from 1, so the numbers go and the kernel's
# version comes.
for kernel in 6.1 6.12; do
	tests/vm/run "$kernel" tests/kernels/in-vm.sh "${files[@]}" |
		sed -E "/^1\.\./d; s/^((not )?ok) [0-9]+ - /\1 - $kernel: /"
	case ${PIPESTATUS[0]} in
	0)
		echo "ok - $kernel: the script ended, the kernel log is clean"
		;;
	*)
		echo "not ok - $kernel: the script ended, the kernel log is clean"
		failed=1
		;;
	esac
done
exit "$failed"
