#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The protocol in every order, with at most two faults a run: docs/fleet-protocol.md. The rules of
# before break what they were known to break, so that the model can find it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

check "no order breaks the protocol" python3 "$ROOT/tests/fleet/model.py" new 580
grep '^#' "$TMP/out"
python3 "$ROOT/tests/fleet/model.py" before 580 >"$TMP/before"
for broken in "I1 what is withheld is seen" "I2 a pardon lets go what its operator knew of" \
	"I4 the last word on a publisher counts" "I5 what was banned stays, and comes" \
	"I7 a ban lasts as long as it says"; do
	check "the rules of before do: $broken" grep -qF "broken: $broken" "$TMP/before"
done
