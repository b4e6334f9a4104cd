#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The ingress hook of the module on devices of all kinds, and how its rules come and
# go, in the machine of hook.sh.

source "$(dirname "$0")/../lib.sh"
source tests/frames.sh
source tests/kernels/devices.sh
source tests/kmod/vm.sh
source tests/kmod/hook-lib.sh

mkdir -p /run/netns
load_module
make_pair
make_lists
source tests/kmod/hook-devices.sh
source tests/kmod/hook-life.sh
test_merged
test_no_ethernet
add_above veth-b macv-b
test_replace
test_named
test_under_traffic
test_device
test_namespace
test_races
test_vlan
test_bond
for priority in -20 0 20; do
	test_priority $priority
done
test_gone
