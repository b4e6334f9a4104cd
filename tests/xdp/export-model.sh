#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Random single entries, put by feed and add, exported and imported in each format: packets and
# lists agree with a model in Python.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
ip -n "$B" link add veth-c type veth peer name veth-d || bail "no second pair"
ip -n "$B" link set veth-c up
baleen() { in_ns "$B" "$BALEEN" "$@"; }
echo 9.9.9.9 >"$TMP/list"
check "attach" baleen attach veth-b --drop "bad=$TMP/list"
check "another device" baleen attach veth-c --drop "back=$TMP/list"
# Each takes about a second.
n=$(pick 5 100)
check "random entries mean the same to packets, lists, formats and the model" \
	in_ns "$B" env BALEEN="$BALEEN" VERDICT="$ROOT/build/tools/verdict" \
	/usr/bin/python3 -B "$ROOT/tests/model/entries.py" "$n" 1 veth-b:bad veth-c:back
sampled "random entries" "$n" 100
