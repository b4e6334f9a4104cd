#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# add, del and swap --dry-run: judged as if, with nothing changed.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
mkdir "$BALEEN_CONF_DIR"
LIST=$TMP/list

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# what_is: all that a dry run must leave alone; the copy of a feed that was not taken is
# never read, and goes with the next change
what_is()
{
	xdp_id "$B" veth-b
	baleen dump veth-b:list
	baleen list -j veth-b 2>&1
	(cd "$TMP" && find run state conf -type f -size +0 -name state.db -exec md5sum {} + 2>/dev/null | sort)
}

# leaves NAME STATUS STDOUT STDERR COMMAND...: says so, and all is as before
leaves()
{
	local before
	before=$(what_is)
	expect "$@"
	is "$1: nothing changed" "$(what_is)" "$before"
}

try_rule()
{
	leaves "$1: add" 0 "veth-b:list: 1 would be added" "" baleen add --dry-run veth-b:list 192.0.2.1
	leaves "$1: a prefix" 0 "veth-b:list: 1 would be added" "" \
		baleen add --dry-run veth-b:list 192.0.2.0/24
	check_status "$1: what would cut this host off" 1 baleen add --dry-run veth-b:list 10.66.0.2
	leaves "$1: swap" 0 "veth-b:list: would be swapped, 2 entries, 257 addresses" "" \
		baleen swap --dry-run veth-b:list "$TMP/other"
	check_status "$1: to nothing" 1 baleen swap --dry-run veth-b:list /dev/null
	check_status "$1: to what would cut this host off" 1 baleen swap --dry-run veth-b:list "$TMP/own"
	is "$1: as JSON" "$(baleen add -j --dry-run veth-b:list 192.0.2.1 | jq -c '[.dry_run, .in_place, .added]')" \
		'[true,null,1]'
	is "$1: and of swap" "$(baleen swap -j --dry-run veth-b:list "$TMP/other" | jq -c '[.dry_run, .entries, .addresses]')" \
		'[true,2,257]'
}

echo 203.0.113.0/24 >"$LIST"
printf '%s\n' 198.51.100.0/24 192.0.2.9 >"$TMP/other"
echo 10.66.0.0/24 >"$TMP/own"
check "attach" baleen attach veth-b --drop "$LIST"
try_rule "of entries"
leaves "an end" 0 "veth-b:list: 1 would be added, ends in 1h" "" \
	baleen add --dry-run veth-b:list 192.0.2.1 --ttl 1h
check "an entry" baleen add veth-b:list 192.0.2.7
check_status "that is there" 1 baleen add --dry-run veth-b:list 192.0.2.7
leaves "del" 0 "veth-b:list: 1 would be deleted" "" baleen del --dry-run veth-b:list 192.0.2.7
check_status "that is not there" 1 baleen del --dry-run veth-b:list 192.0.2.8
check "then in earnest" baleen swap veth-b:list "$TMP/other"
check "detach" baleen detach veth-b
check "attach without a state" baleen attach veth-b --drop "$LIST" --no-state
try_rule "of none"

check "an image" baleen build -o "$TMP/image" "$LIST"
before=$(md5sum "$TMP/image")
prints "add to an image" "$TMP/image: 1 would be added" baleen add --dry-run "$TMP/image" 192.0.2.1
prints "del from it" "$TMP/image: 1 would be deleted" baleen del --dry-run "$TMP/image" 203.0.113.0/24
is "is as it was" "$(md5sum "$TMP/image")" "$before"
