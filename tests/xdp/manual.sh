#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The configuration that baleen.conf(5) shows is one.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"

export BALEEN_CONF_DIR=$TMP/conf BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run
mkdir "$TMP/conf" "$TMP/state" "$TMP/run"
# shellcheck disable=SC2119 # the default pair
make_pair

# Where its feeds are is another matter.
sed -n '/^\.Sh EXAMPLES/,$p' user/man/baleen.conf.5 | sed -n '/^\.Bd -literal/,/^\.Ed/p' | grep -v '^\.' |
	sed "s|/etc/baleen/|$TMP/conf/|; s|https://[^ ]*\(.*\) timeout [0-9a-z]*|$TMP/conf/bad.txt\1|" \
		>"$TMP/conf/veth-b.conf"
echo 5.6.7.8 >"$TMP/conf/office.txt"
printf 'network,country\n5.7.0.0/16,XX\n5.8.0.0/16,YY\n' >"$TMP/conf/country.csv"
make_list "$TMP/conf/bad.txt" 1000 0 1
check "it has feeds" grep -q '^ *feed ' "$TMP/conf/veth-b.conf"
check_status "baleen apply changes something" 3 in_ns "$B" "$BALEEN" apply veth-b
is "all of its rules are in force" \
	"$(in_ns "$B" "$BALEEN" status -j veth-b | jq -r '.[0].rules[].name' | paste -sd ' ')" \
	"$(sed -n 's/^rule \([^ ]*\).*/\1/p' "$TMP/conf/veth-b.conf" | paste -sd ' ')"
check "and nothing is left to be changed" in_ns "$B" "$BALEEN" apply veth-b
