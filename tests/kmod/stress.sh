#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs tests/kmod/in-vm-stress.sh under each kernel that the module is promised for.
# After `make kmod-vm`. FUZZ_SECONDS (20, in `make check` 5) and FUZZ_SEED (1) are the
# fuzzer's; `make check` takes a third of the other times and cycles.

set -u
cd "$(dirname "$0")/../.." || exit 2
source tests/kmod/host.sh
source tests/kmod/fuzz-images.sh

make_fuzz_images
case ${TEST_ALL-} in
1) seconds=20 stress="" ;;
*) seconds=5 stress="stress.seconds=10 stress.cycles=16" ;;
esac
for kernel in "${kernels[@]}"; do
	VM_ARGUMENTS="${VM_ARGUMENTS-} $stress fuzz.seconds=${FUZZ_SECONDS:-$seconds} fuzz.seed=${FUZZ_SEED:-1}" \
		start "$kernel" tests/kmod/in-vm-stress.sh build/kmod-test/stress/* \
		build/kmod-test/fuzz/fuzz "$fuzz_images"/*.bln
done
join
exit "$failed"
