#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen fleet demo` shows what it says, and leaves nothing, also when it is interrupted.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

# The demo has its own lab.
cleanup() { :; }

export TMPDIR=$TMP/demo
mkdir "$TMPDIR"

# remains: files, and processes that have its directory in their environment
remains()
{
	ls -A "$TMPDIR"
	grep -lsa "$TMPDIR/tmp" /proc/[0-9]*/environ
}
has_none() { [ -z "$(remains)" ]; }

check "it does it all" "$BALEEN" fleet demo
cp "$TMP/out" "$TMP/shown"
is "nobody is banned at first, then on all three, then on none" \
	"$(grep -oE 'each answers( again)?\.|none answers\.' "$TMP/shown" | paste -s -d ' ')" \
	"each answers. none answers. each answers again."
check "it shows who has banned" grep -q "10.77.0.9  host1/operator  in force" "$TMP/shown"
check "what it types can be typed" grep -qxF \
	'host1# baleen fleet ban 10.77.0.9 --ttl 1h --reason "scans ports"' "$TMP/shown"
check "nothing is left of it" wait_for 60 has_none

# As a terminal does it: to the whole group. A shell lets what it starts behind itself ignore it.
: >"$TMP/shown"
setsid env --default-signal=INT "$BALEEN" fleet demo >"$TMP/shown" 2>&1 &
demo=$!
check "it runs again" wait_for 60 grep -q "each answers" "$TMP/shown"
kill -INT -- "-$demo"
wait "$demo"
is "Ctrl-C ends it" $? 130
check "nothing is left of it" wait_for 60 has_none
