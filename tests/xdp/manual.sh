#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The first two configurations that baleen.conf(5) shows are some; the third, with the one of
# BIRD, is run by routes.sh.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"

export BALEEN_CONF_DIR=$TMP/conf BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run
mkdir "$TMP/conf" "$TMP/state" "$TMP/run"
# shellcheck disable=SC2119 # the default pair
make_pair

# Where its feeds are is another matter.
sed -n '/^\.Sh EXAMPLES/,$p' user/man/baleen.conf.5 |
	sed "s|/etc/baleen/|$TMP/conf/|; s|https://[^ ]*\(.*\) timeout [0-9a-z]*|$TMP/conf/bad.txt\1|
		s|https://[^ ]*|$TMP/conf/bad.txt|" |
	awk -v to="$TMP/example" '/^\.Bd -literal/ { n++; is_in = 1; next }
		/^\.Ed/ { is_in = 0 } is_in { print >(to n) }'
echo 5.6.7.8 >"$TMP/conf/office.txt"
printf 'network,country\n5.7.0.0/16,XX\n5.8.0.0/16,YY\n' >"$TMP/conf/country.csv"
make_list "$TMP/conf/bad.txt" 1000 0 1

# try NAME FILE: it is applied, and all of it is in force
try()
{
	check "$1 has feeds" grep -q '^ *feed ' "$2"
	check_status "$1: baleen apply changes something" 3 in_ns "$B" "$BALEEN" apply veth-b
	is "$1: all of its rules are in force" \
		"$(in_ns "$B" "$BALEEN" status -j veth-b | jq -r '.[0].rules[].name' | paste -sd ' ')" \
		"$(sed -n 's/^rule \([^ ]*\).*/\1/p' "$2" | paste -sd ' ')"
	check "$1: and nothing is left to be changed" in_ns "$B" "$BALEEN" apply veth-b
}

mv "$TMP/example1" "$TMP/conf/veth-b.conf"
try "the first example" "$TMP/conf/veth-b.conf"
rm "$TMP/conf/veth-b.conf"
sed 's/^match .*/& veth-b/' "$TMP/example2" >"$TMP/conf/default.conf"
try "that of default.conf" "$TMP/conf/default.conf"
