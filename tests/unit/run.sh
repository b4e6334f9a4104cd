#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests/run counts what is TODO apart: it neither passes nor fails, and is not skipped.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

mkdir -p "$TMP/tree/tests/xdp"
cp tests/run tests/longest "$TMP/tree/tests/"
cd "$TMP/tree" || exit 2

# a_test NAME LINE...: one that prints these
a_test()
{
	{ echo '#!/bin/sh'; printf 'echo "%s"\n' "${@:2}"; } >"tests/xdp/$1.sh"
	chmod +x "tests/xdp/$1.sh"
}

# runs NAME STATUS CLOSING LINE: of the test, without the seconds
runs()
{
	check_status "$1" "$2" tests/run xdp
	is "$1: the closing line" "$(tail -n 1 "$TMP/out")" "$3"
	is "$1: the line of the test" "$(grep '^xdp/a' "$TMP/out" | sed -E 's/ +[0-9]+ s( |$)/ N s\1/')" "$4"
}

a_test a "ok 1 - this" "not ok 2 - that # TODO later" "ok 3 - third # SKIP why"
runs "TODO is no failure" 0 "1 passed, 0 failed, 1 skipped" \
	"xdp/a.sh                         1 passed   0 failed   1 skipped N s (1 TODO)"
a_test a "ok 1 - this" "not ok 2 - that # TODO later" "not ok 3 - third"
runs "a failure beside it is" 1 "1 passed, 1 failed, 0 skipped" \
	"xdp/a.sh                         1 passed   1 failed   0 skipped N s (1 TODO)"
a_test a "not ok 1 - that # TODO later"
runs "nothing but TODO is none" 0 "0 passed, 0 failed, 0 skipped" \
	"xdp/a.sh                         0 passed   0 failed   0 skipped N s (1 TODO)"
a_test a "anything"
runs "no result at all is one" 1 "0 passed, 1 failed, 0 skipped" \
	"xdp/a.sh                         0 passed   1 failed   0 skipped N s"
a_test a "not ok 1 - early" "\$(seq 100)"
check_status "a failure far from the end" 1 tests/run xdp
is "is shown all the same" "$(grep -c 'not ok 1 - early' "$TMP/out")" 1
