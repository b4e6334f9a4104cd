#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The public library looks at a live rule: through changes in place, a swap, another
# program and the end of it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"

# ask LINE: what the program says to it, in $answer
ask()
{
	echo "$1" >&3
	read -r answer <&4
}

# says NAME WANT LINE
says()
{
	ask "$3"
	is "$1" "$answer" "$2"
}

# shellcheck disable=SC2119 # the default pair
make_pair
printf '192.0.2.1\n192.0.2.2\n100.64.0.0/10\n' >"$TMP/list.txt"
printf '198.51.100.1\n' >"$TMP/other.txt"
check "the program builds" gcc -Wall -I user/api -o "$TMP/api" tests/xdp/api.c \
	build/api/libbaleen.so.0.1 -Wl,-rpath,"$TMP"
ln -s "$ROOT/build/api/libbaleen.so.0.1" "$TMP/libbaleen.so.0"
check_status "a device without a filter" 1 in_ns "$B" "$TMP/api" veth-b:list
is "is told" "$(<"$TMP/err")" "baleen is not attached to veth-b"
check "attach" in_ns "$B" "$BALEEN" attach veth-b --drop "list=$TMP/list.txt"
check_status "a rule that is not there" 1 in_ns "$B" "$TMP/api" veth-b:no
is "is told of" "$(<"$TMP/err")" "veth-b has no rule 'no'"

mkfifo "$TMP/to" "$TMP/from"
in_ns "$B" "$TMP/api" veth-b:list <"$TMP/to" >"$TMP/from" 2>&1 &
exec 3>"$TMP/to" 4<"$TMP/from"
says "a key that is listed" 1 "test 192.0.2.1"
says "one that is not" 0 "test 192.0.2.3"
check "add" in_ns "$B" "$BALEEN" add veth-b:list 192.0.2.3
says "is seen at once" 1 "test 192.0.2.3"
says "the map is the same" 0 refresh
says "entries" 4 entries
says "save" 0 "save $TMP/saved.bln"
is "is an image of it" "$("$BALEEN" dump "$TMP/saved.bln" | paste -sd ' ')" \
	"100.64.0.0/10 192.0.2.1 192.0.2.2/31"
check "another policy" in_ns "$B" "$BALEEN" policy veth-b --dry-run
says "is no other map" 0 refresh
check "swap" in_ns "$B" "$BALEEN" swap veth-b:list "$TMP/other.txt"
says "the old map is still there" 1 "test 192.0.2.1"
says "a refresh takes the new one" 1 refresh
says "which is asked then" 1 "test 198.51.100.1"
says "and not the old one" 0 "test 192.0.2.1"
ask "add 192.0.2.9"
is "a rule without a state is not changed" "${answer%% *} ${answer#*: }" \
	"-30 'baleen add' and 'baleen del' change it"
check "detach" in_ns "$B" "$BALEEN" detach veth-b
ask refresh
is "a filter that is gone is told of" "$answer" "-2 baleen is not attached to veth-b"
says "and the last map stays" 1 "test 198.51.100.1"
exec 3>&-
wait $!
