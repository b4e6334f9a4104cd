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
check "attach" in_ns "$B" "$BALEEN" attach veth-b --no-state --drop "list=$TMP/list.txt"
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
is "a live set is not changed so" "${answer%% *} ${answer#*: }" \
	"-30 baleen_rule_add() lists entries in it"
ask "ban 192.0.2.9"
is "and without a state nor are there entries" "${answer%% *}" -2
check "detach" in_ns "$B" "$BALEEN" detach veth-b
ask refresh
is "a filter that is gone is told of" "$answer" "-2 baleen is not attached to veth-b"
says "and the last map stays" 1 "test 198.51.100.1"
exec 3>&-
wait $!

# --- entries ---------------------------------------------------------------

# entry KEY: who lists it, why, and whether that ends
entry()
{
	in_ns "$B" "$BALEEN" why veth-b "$1" -j |
		jq -c '[.. | objects | select(has("origin")) | [.origin, .reason, .expires_ms != null]] | first'
}

export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run
mkdir "$TMP/state" "$TMP/run"
check "attach, with a state" in_ns "$B" "$BALEEN" attach veth-b --drop "list=$TMP/list.txt"
in_ns "$B" "$TMP/api" veth-b:list <"$TMP/to" >"$TMP/from" 2>&1 &
exec 3>"$TMP/to" 4<"$TMP/from"
says "an entry" 0 "ban 203.0.113.5"
says "is in force" 1 "test 203.0.113.5"
is "with origin, reason and end" "$(entry 203.0.113.5)" '["api","a test",true]'
says "again" 0 "ban 203.0.113.5"
says "a lone IPv6 address" 0 "ban 2001:db8:7::1"
ask refresh
says "stands for its /64" 1 "test 2001:db8:7::2"
says "an entry that a list has, too" 0 "ban 192.0.2.1"
says "is taken back" 0 "unban 192.0.2.1"
ask refresh
says "and the list has it still" 1 "test 192.0.2.1"
ask "ban x"
is "what is no key is refused" "${answer%% *}" -22
ask "ban 10.66.0.2"
is "so is an address of this host" "$answer" "-1 10.66.0.2: not added: 10.66.0.2 is never dropped (address)"
says "what is not there is taken back" 0 "unban 203.0.113.99"
says "flush" 0 flush
ask refresh
says "takes back the others" 0 "test 203.0.113.5"
says "all of them" 0 "test 2001:db8:7::2"
says "and nothing else" 1 "test 192.0.2.2"
exec 3>&-
wait $!
