#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The protocol of bans and devices, in every order of its steps, killed anywhere: R1 to R6; and each
# step is needed.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/../cli/lib.bash"

model() { /usr/bin/python3 -B "$ROOT/tests/model/protocol.py" "$@"; }

check "as it is built it holds" model
echo "# $(<"$TMP/out")"
is "many orders were tried" "$(($(sed 's/ states.*//' "$TMP/out") > 100000))" 1
for step in $(model --steps); do
	check_status "without '$step' an order goes wrong" 1 model "$step"
	check "which it tells" grep -q "^    $step  " "$ROOT/tests/model/protocol.py"
done
check_status "another step" 2 model no-step
