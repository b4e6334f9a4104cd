#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs the tests of the module under the kernel of tests/kasan/build, in one machine
# after the other: KASAN, lockdep, kmemleak, UBSAN and the others have nothing to say.
# FUZZ_SECONDS (60) and FUZZ_SEED (1) are the fuzzer's.
#
# In these machines the kernel starts in a minute, and everything takes some five times
# as long as in the others: 43 minutes in all, on two processors that had other tests to
# run besides. See tests/kasan/build for how long that is built.

set -u
cd "$(dirname "$0")/../.." || exit 2

tests/kasan/build || { echo "not ok - kasan: the kernel"; exit 1; }
make -s kmod KDIR="$(tests/vm/fetch headers kasan)" >build/kasan/module.log 2>&1 ||
	{ echo "not ok - kasan: the module"; tail build/kasan/module.log; exit 1; }
# The emulator takes some five times as long for it; and on a busy host the kernel
# cannot measure its delay loop, and waits for that for ever. What the kernel does not
# know among its arguments is the environment of the script.
export KMOD_KERNELS=kasan VM_ARGUMENTS="lpj=10000000 PROGRAM_TIMEOUT=1500" VM_MEMORY=4096 VM_TIMEOUT=3000
export FUZZ_SECONDS=${FUZZ_SECONDS:-60} TEST_TIMEOUT=3600 TEST_JOBS=1
tests/run --all kasan
