#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The ingress hook of the module, in the machine of hook.sh.

source "$(dirname "$0")/../lib.sh"
source tests/frames.sh
source tests/shapes.sh
source tests/kmod/vm.sh
source tests/kmod/hook-lib.sh
source tests/kmod/hook-verdicts.sh

mkdir -p /run/netns
load_module
make_pair
add_above veth-b macv-b
make_lists
for bits in 64 32; do
	run "refused, $bits bits" nsenter --net="/run/netns/$B" "build/kmod-test/$bits/hook_refused" veth-b \
		"$TMP/listed.bln" "$TMP/strings.bln"
done
test_lists
test_rules
test_far
test_shapes
test_hiding
test_gone
