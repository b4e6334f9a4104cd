#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# False hits of each kind at 4, 5, 8 and 10 bits an entry, with Squid's keys: what is
# measured is what the formulas say. Prints the table of docs/caches.md.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

build/tools/squid_rates >"$TMP/all"
status=$?
grep '^\(not \)\?ok ' "$TMP/all"
tap_n=$(grep -c '^\(not \)\?ok ' "$TMP/all")
tap_failed=$(grep -c '^not ok ' "$TMP/all")
is "it went to the end" "$status" 0
grep -v '^\(not \)\?ok \|^1\.\.' "$TMP/all" | sed 's/^# \?//; /^$/d' >"$TMP/table"
cat "$TMP/table"
check "it has a row for each kind" test "$(wc -l <"$TMP/table")" -ge 9
is "docs/caches.md has them" "$(sed 's/^ *//' docs/caches.md | grep -vxFf - <(sed 's/^ *//' "$TMP/table"))" ""
