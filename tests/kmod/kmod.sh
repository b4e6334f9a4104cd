#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The module under each kernel that it is promised for: that it builds there
# without a warning, and tests/kmod/in-vm.sh in a machine, in `make check` of 6.1
# alone. After `make kmod-vm`.

set -u
cd "$(dirname "$0")/../.." || exit 2
source tests/kmod/host.sh
source tests/kmod/images.sh
# Where many tests run beside it a machine takes several times as long.
export VM_TIMEOUT=${VM_TIMEOUT:-850}
# A quarter of it is filled.
export VM_MEMORY=${VM_MEMORY:-1024}
images=$work/images
programs=(refused refused_bind damage stream batch answers changes limits)

# builds KERNEL: from nothing, beside the module that the machines get
builds()
{
	local out KMOD_DIR=$work/kmod

	out=$(make -s kmod KDIR="$(tests/vm/fetch headers "$1")" KMOD_DIR="$KMOD_DIR" "${@:3}" 2>&1)
	result $? "$1: $2" "$out"
	# What a compiler, modpost or sparse complains of; of the headers package, that
	# there is no vmlinux to make BTF of.
	out=$(grep -iE 'warning|error' <<<"$out" | grep -v 'vmlinux\|differs from the kernel\|compiler differs')
	[ -z "$out" ]
	result $? "$1: $2: without a warning" "$out"
}

# describes KERNEL: what modinfo tells
describes()
{
	local info

	info=$(modinfo "$(module "$1")")
	grep -q '^license: *Dual BSD/GPL$' <<<"$info"
	result $? "$1: the licence" "$info"
	grep -q "^vermagic: *$(release "$1") " <<<"$info"
	result $? "$1: made for this kernel" "$info"
	grep -q '^parm: *max_bytes:' <<<"$info"
	result $? "$1: the limit is described" "$info"
}

mkdir "$images"
make_images || result 1 "images to try it with"
files=(build/baleen "$images"/*.bln)
for program in "${programs[@]}"; do
	files+=(build/kmod-test/{32,64}/"$program")
done
for kernel in "${kernels[@]}"; do
	start "$kernel" tests/kmod/in-vm.sh "${files[@]}"
done
# Meanwhile, since a machine has a processor to itself.
for kernel in 6.1 6.12; do
	builds "$kernel" "it builds with W=1, sparse reads it" W=1 C=2
	describes "$kernel"
done
join
exit "$failed"
