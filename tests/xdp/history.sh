#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Random histories of a rule on a device: after each step the live map and the
# live program agree with what each entry says. The long one makes a million
# changes, in `make check` a tenth.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

# history SEED OPERATIONS CHANGES
history()
{
	take_off "$B" veth-b
	rm -rf "$BALEEN_STATE_DIR" "$BALEEN_RUN_DIR"
	check "seed $1, $2 operations, about $3 at a time" \
		in_ns "$B" "$ROOT/build/tools/history" veth-b "$1" "$2" "$3"
	sed 's/^/# /' "$TMP/out"
}

history 1 500 3
history 2 20000 100
n=$(pick 100000 1000000)
sampled "changes of the long one" "$n" 1000000
history 3 "$n" 4000
