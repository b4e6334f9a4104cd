#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Fuzzes the module in virtual machines: FUZZ_SECONDS (300) with FUZZ_SEED (1) under
# each of FUZZ_KERNELS ("6.1 6.12"). To run what was found again: FUZZ_EPOCH, and
# FUZZ_EPOCHS for how many. `make fuzz-kmod` builds what it needs.

set -u
cd "$(dirname "$0")/../.." || exit 2
source tests/kmod/host.sh
source tests/kmod/fuzz-images.sh

read -ra kernels <<<"${FUZZ_KERNELS:-6.1 6.12}"
make_fuzz_images
for kernel in "${kernels[@]}"; do
	VM_TIMEOUT=$((${FUZZ_SECONDS:-300} + 600)) \
		VM_ARGUMENTS="${VM_ARGUMENTS-} stress.seconds=0 stress.cycles=0 fuzz.seconds=${FUZZ_SECONDS:-300} \
fuzz.seed=${FUZZ_SEED:-1} fuzz.epoch=${FUZZ_EPOCH:-0} fuzz.epochs=${FUZZ_EPOCHS:-0}" \
		start "$kernel" tests/kmod/in-vm-stress.sh build/kmod-test/fuzz/fuzz \
		"$fuzz_images"/*.bln
done
join
exit "$failed"
