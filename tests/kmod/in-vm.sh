#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the module has to do under each kernel, for programs of 64 and of 32 bits, and
# what is left when it has gone.
#
# Not executable, because it is for the machine of kmod.sh.

source "$(dirname "$0")/../lib.sh"
source tests/kmod/vm.sh

# Given by an absolute path, so at the top.
IMAGES=.
smalls=($IMAGES/small-*.bln)
mediums=($IMAGES/medium-*.bln)
n_mediums=${#mediums[@]}
N_ASKED=$(pick 100000 1000000)
sampled "kinds to change, 32 bits" "$(pick 3 "$n_mediums")" "$n_mediums"
sampled "questions" "$N_ASKED" 1000000

# program BITS NAME ARGUMENT...
program()
{
	run "$1 bits: $2" "build/kmod-test/$1/$2" "${@:3}"
}

# test_commands BITS IMAGE...: refused, cut off, and the images damaged
test_commands()
{
	program "$1" refused $IMAGES/small-cuckoo.bln
	program "$1" refused_bind dummy0 $IMAGES/small-cuckoo.bln $IMAGES/small-pair.bln
	program "$1" stream $IMAGES/small-cuckoo.bln
	program "$1" batch $IMAGES/batch.bln
	program "$1" damage "${@:2}"
	# The same structs through the same code: for 32 bits a few kinds will do.
	[ "$1" = 64 ] || tests_all || mediums=($IMAGES/medium-{bloom,cuckoo4,pair}.bln)
	mkdir -p "$TMP/$1"
	program "$1" changes "$TMP/$1" "${mediums[@]}"
	test_read "$1"
}

# test_read BITS: the command line reads what is in the module after changes
test_read()
{
	local image names=()

	for image in "${mediums[@]}"; do
		image=$(basename "$image" .bln)
		names+=("$image")
		check "$1 bits: info kmod:$image" "$BALEEN" info "kmod:$image"
	done
	"$BALEEN" dump kmod:medium-cuckoo4 | sort >"$TMP/dump"
	is "$1 bits: dump: what was added, and not what was deleted" \
		"$(sort "$TMP/$1/medium-cuckoo4" | diff - "$TMP/dump" | head)" ""
	is "$1 bits: and that is not nothing" "$(($(wc -l <"$TMP/dump") > 4000))" 1
	program "$1" changes --destroy "${names[@]}"
}

ip link show dummy0 >/dev/null 2>&1 || ip link add dummy0 type dummy || bail "no device"
# shellcheck disable=SC2119 # without parameters
load_module
is "only root may open the device" "$(stat -c '%a %u %g' /dev/baleen)" "600 0 0"
test_commands 64 "${smalls[@]}"
# On arm64 the compiler makes no programs of 32 bits.
[ "$(uname -m)" = aarch64 ] || test_commands 32 $IMAGES/small-{cuckoo,pair}.bln
program 64 limits $IMAGES/large-cuckoo6.bln
program 64 answers "$N_ASKED" $IMAGES/large-*.bln
test_gone
