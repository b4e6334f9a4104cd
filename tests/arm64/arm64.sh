#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Baleen for arm64, made and tried on x86: everything builds, the module for kernel 6.12, too; unit
# tests run in an emulated process; images, plans, saved directories and signed sets made there are
# those made here, or are read here; a machine of arm64 filters (in-vm.sh), and the module answers
# programs of 64 bits there. `make check-all`: under 6.1, and under 6.12 with pages of 16 KiB, too.
#
# An emulator keeps loads in their order: tests/litmus is for that, and `make check-order`.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
kernels=(6.12)
! tests_all || kernels=(6.1 6.12 6.12-16k)
# What comes from the archive comes while the names of this machine are known.
if [ "$(id -u)" -eq 0 ] && [ "$(uname -m)" = x86_64 ] && [ "${BALEEN_TEST_ISOLATED-}" != $$ ]; then
	tests/arm64/sysroot >/dev/null || bail "no libraries of arm64"
	for kernel in "${kernels[@]}"; do
		for part in headers image; do
			VM_ARCH=arm64 tests/vm/fetch "$part" "$kernel" >/dev/null || bail "no kernel $kernel of arm64"
		done
	done
fi
isolate "$@"
[ "$(uname -m)" = x86_64 ] || { skip "arm64 on x86" "this machine is $(uname -m)"; exit 0; }

# What depends on words, bits and libraries. No seccomp in an emulated process, and a fork takes long.
UNITS=(addresses bloom chains classic config hash image key list minisign place prefixes probe_batch quotient
	rate_limit recent semi set siphash tree)
# These take 110 s.
! tests_all || UNITS+=(cuckoo packet shapes)
modules=(build/kmod-test/64/{refused,refused_bind,damage,stream,batch,answers,changes,limits})
tools=(build/tools/{traffic,json,program,frame,crowd,verdict,icp_change} build/worlds/{worlds,live})

# here, there COMMAND...: the program of this machine, and that of arm64
here() { "$BALEEN" "$@"; }
there() { "$QEMU" "$ROOT/build/arm64/baleen" "$@"; }

# --- it builds ------------------------------------------------------------------------

# shellcheck disable=SC2046 # words
check "everything builds" tests/arm64/in make -s -j2 all "${tools[@]}" "${modules[@]}" "${UNITS[@]/#/build/unit/test_}"
for name in baleen baleend libexec/baleen/baleen-fetch libexec/baleen/baleen-fleetd api/libbaleen.so.0.1; do
	is "$name is of arm64" "$(od -An -t x1 -j 18 -N 2 "build/arm64/$name" 2>/dev/null)" " b7 00"
done
for kernel in "${kernels[@]}"; do
	check "the module builds for $kernel" tests/arm64/in make -s kmod KDIR="$(VM_ARCH=arm64 tests/vm/fetch headers "$kernel")"
done
# Libraries of both, in the mount namespace of this test: with -L the emulator would look for `/`, too, in
# its own tree, and what is written would end up there.
SYSROOT=$(tests/arm64/sysroot) && QEMU=$(command -v qemu-aarch64-static) &&
	mount -t overlay -o "lowerdir=/usr/lib:$SYSROOT/usr/lib" baleen-test /usr/lib || bail "no libraries of arm64"
same=
for object in build/arm64/*.bpf.o; do
	cmp -s <(llvm-objdump -d --no-show-raw-insn "$object" | tail -n +3) \
		<(llvm-objdump -d --no-show-raw-insn "build/${object##*/}" | tail -n +3) || same+=" ${object##*/}"
done
is "programs for the kernel are the same" "$same" ""

# --- the same answers --------------------------------------------------------------------

for name in "${UNITS[@]}"; do
	check "test_$name in an emulated process" timeout 120 "$QEMU" "build/arm64/unit/test_$name"
done

# same_image NAME OPTION...: but for when it was made, and so the sum of its header
same_image()
{
	here build --seed 7 -o "$TMP/here" "${@:2}" >"$TMP/out" 2>&1 && there build --seed 7 -o "$TMP/there" "${@:2}" >"$TMP/out" 2>&1 ||
		{ not_ok "$1" "$(<"$TMP/out")"; return; }
	is "$1: the same bytes" "$(cmp -l "$TMP/here" "$TMP/there" | awk '!($1 >= 13 && $1 <= 16) && !($1 >= 65 && $1 <= 72)')" ""
	n=$(here match -c -f "$TMP/asked" "$TMP/here")
	is "$1: 4,000 of 8,000 are found" "$((n >= 4000 && n < 4100))" 1
	is "$1: read here" "$(here match -c -f "$TMP/asked" "$TMP/there")" "$n"
	is "$1: read there" "$(there match -c -f "$TMP/asked" "$TMP/here")" "$n"
}

LIST=$TMP/list
{ "$TRAFFIC" --print --random 3000 --random6 1000 --seed 1 && echo 198.51.100.0/24 && echo 2001:db8::/32; } >"$LIST"
grep -v / "$LIST" >"$TMP/hosts"
{ cat "$TMP/hosts" && "$TRAFFIC" --print --random 3000 --random6 1000 --seed 2 --avoid "$TMP/hosts"; } >"$TMP/asked"
same_image "hosts and prefixes" "$LIST"
for options in "--kind cuckoo --capacity 100000" "--kind bloom --fpp 0.001" "--kind quotient" "--kind classic --fpp 0.01" \
	"--kind counting --fpp 0.01"; do
	# shellcheck disable=SC2086 # words
	same_image "$options" $options "$TMP/hosts"
done
for n in 1000 1000000; do
	for kind in cuckoo bloom classic counting quotient; do
		is "plan for $n, $kind" "$(there plan --capacity $n --kind $kind --fpp 0.001 2>&1)" \
			"$(here plan --capacity $n --kind $kind --fpp 0.001 2>&1)"
	done
done
mkdir "$TMP"/set-{here,there}
check "a key pair of here" here set keygen "$TMP/secret" "$TMP/public"
check "a set that is signed there" there set publish -o "$TMP/set-there" --name tried --key "$TMP/secret" "$LIST"
check "is verified here" here set verify --key "$TMP/public" "$TMP/set-there/tried.manifest"
check "a set that is signed here" here set publish -o "$TMP/set-here" --name tried --key "$TMP/secret" "$LIST"
check "is verified there" there set verify --key "$TMP/public" "$TMP/set-here/tried.manifest"

# --- a machine -----------------------------------------------------------------------------

# What is saved here is restored there, and what that saves comes back as text.
make_pair
echo 203.0.113.0/24 >"$TMP/saved.list"
check "attach here" in_ns "$B" "$BALEEN" attach veth-b --drop "saved=$TMP/saved.list"
check "save here" in_ns "$B" "$BALEEN" save -o "$TMP/saved" veth-b
tar -C "$TMP" -cf "$TMP/saved.tar" saved
files=(tests/lib.sh tests/baleend.sh user/systemd/baleend.service tests/kernels/lib.sh build/baleen "${tools[@]}" "$TMP/saved.tar")

# Images of here, which the module of there has to understand.
images=$TMP/images
mkdir "$images"
source tests/kmod/images.sh
make_images || bail "no images"

# machine KERNEL SCRIPT FILE...
machine()
{
	local line status

	echo "# $2 in a machine with kernel $1"
	tests/arm64/in tests/vm/run "$@" >"$TMP/machine" 2>"$TMP/err" </dev/null
	status=$?
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "$1: ${line#ok * - }" ;;
		"not ok "*) not_ok "$1: ${line#not ok * - }" "" ;;
		"# saved "* | 1..*) ;;
		*) echo "$line" ;;
		esac
	done <"$TMP/machine"
	is "$1: the script ended, the kernel log is clean" "$status" 0
	[ "$status" -eq 0 ] || sed 's/^/# /' "$TMP/err"
}

# module KERNEL: what `make kmod` has built for it
module()
{
	echo "build/kmod/$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$(VM_ARCH=arm64 tests/vm/fetch headers "$1")/include/generated/utsrelease.h")/baleen.ko"
}

for kernel in "${kernels[@]}"; do
	machine "$kernel" tests/arm64/in-vm.sh "${files[@]}"
	rm -rf "$TMP/back"
	check "$kernel: what it saved" tar -C "$TMP" -xf <(sed -n '/^# saved /s///p' "$TMP/machine" | base64 -d)
	check "$kernel: is restored here" in_ns "$B" "$BALEEN" restore --force veth-b "$TMP/back"
	machine "$kernel" tests/kmod/in-vm.sh tests/lib.sh tests/kmod/vm.sh "$(module "$kernel")" build/baleen "$images"/*.bln "${modules[@]}"
done
