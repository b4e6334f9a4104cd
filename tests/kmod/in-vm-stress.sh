#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The module under load: it comes and goes while processes use it, filters are
# swapped and changed while threads ask, memory runs out, and the fuzzer.
#
# Not executable, because it is for the machines of stress.sh and fuzz.sh. The
# kernel's command line says how long: stress.seconds (30, of the swaps; the others
# take a part of it), stress.cycles (50), fuzz.seconds (20), fuzz.seed, fuzz.epoch and
# fuzz.epochs. Nothing takes 0 of its own.

source "$(dirname "$0")/../lib.sh"
source tests/kmod/vm.sh

STRESS=build/kmod-test/stress

# argument NAME DEFAULT: of the kernel's command line
argument()
{
	local value

	value=$(tr ' ' '\n' </proc/cmdline | sed -n "s/^$1=//p")
	echo "${value:-$2}"
}

# Devices that come and go, for rules that are bound to them: a and b stay.
make_devices()
{
	ip link add fuzz-a type veth peer name fuzz-b
	ip link set fuzz-a up
	ip link set fuzz-b up
	while :; do
		ip link add fuzz-c type veth peer name fuzz-d
		ip link set fuzz-c up
		ip link set fuzz-d up
		ip link del fuzz-c
	done 2>/dev/null &
	devices=$!
}

fuzz()
{
	local seconds

	seconds=$(argument fuzz.seconds 20)
	[ "$seconds" -gt 0 ] || return 0
	make_devices
	PROGRAM_TIMEOUT=$((seconds + 300)) run fuzz build/kmod-test/fuzz/fuzz "$seconds" \
		"$(argument fuzz.seed 1)" "$(argument fuzz.epoch 0)" "$(argument fuzz.epochs 0)" \
		build/kmod-test/fuzz-images/*.bln
	kill "$devices"
	wait "$devices"
	ip link del fuzz-a
}

seconds=$(argument stress.seconds 30)
cycles=$(argument stress.cycles 50)
if [ "$cycles" -gt 0 ]; then
	run load "$STRESS/load" "$MODULE" "$cycles"
	load_module
	test_gone
fi
load_module
if [ "$seconds" -gt 0 ]; then
	run swap "$STRESS/swap" "$seconds"
	run change "$STRESS/change" $(((seconds + 9) / 10))
	run life "$STRESS/life" $(((seconds + 2) / 3))
	run memory "$STRESS/memory" $(((seconds + 5) / 6))
fi
fuzz
test_gone
