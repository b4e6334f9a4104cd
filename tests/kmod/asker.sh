#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Another module asks a filter, under each kernel, and sees how its memory is mapped.
# After `make kmod-vm`.

set -u
cd "$(dirname "$0")/../.." || exit 2
source tests/kmod/host.sh

# asker KERNEL: builds it against the module that the machine gets
asker()
{
	local tree out

	tree=$PWD/build/kmod/$(release "$1")
	mkdir -p "$work/asker-$1"
	cp tests/kmod/asker/* "$work/asker-$1"
	out=$(make -s -C "$(tests/vm/fetch headers "$1")" M="$work/asker-$1" BALEEN="$tree" \
		KBUILD_EXTRA_SYMBOLS="$tree/Module.symvers" W=1 modules 2>&1)
	result $? "$1: a module that asks builds" "$out"
	! grep -i warning <<<"$out" | grep -v 'compiler differs'
	result $? "$1: without a warning" "$out"
}

echo 192.0.2.1 >"$work/list"
# 64 MiB, nearly all of it free.
build/baleen build -o "$work/large.bln" --capacity 31M "$work/list" >/dev/null
result $? "an image of 64 MiB"
for kernel in "${kernels[@]}"; do
	asker "$kernel"
	start "$kernel" tests/kmod/in-vm-asker.sh "$work/asker-$kernel/asker.ko" "$work/large.bln"
done
join
exit "$failed"
