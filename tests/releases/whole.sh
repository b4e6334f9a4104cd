#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every test that needs no virtual machine, in the other Debian, on this kernel. For
# `make check-all`.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

if [ "$(id -u)" -ne 0 ]; then
	skip "another Debian" "needs root"
	exit 0
fi
export TEST_ALL=1
OTHER=$(tests/releases/built tests 2>"$TMP/err") || bail "it builds nothing: $(tail -n 20 "$TMP/err")"
for group in unit xdp squid fleet deb; do
	tests/releases/in "$OTHER" tests/run "$group" >"$TMP/$group" 2>&1
	is "$OTHER: $group" "$(grep -E '^not ok' "$TMP/$group")" ""
	check "$OTHER: $group ran" grep -qE '^[1-9][0-9]* passed, 0 failed' "$TMP/$group"
	sed 's/^/# /' "$TMP/$group"
done
