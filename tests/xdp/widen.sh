#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Bans of many keys inside one prefix become a ban of the prefix: when there are enough, for
# as long as there are, unless somebody in the prefix must not be banned.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
mkdir "$TMP/conf"
CONF=$TMP/conf/veth-b.conf
VERDICT=$ROOT/build/tools/verdict

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
# flush_all: the bans of all rules, and what the rule has of its own
flush_all() { baleen flush bans --all >/dev/null && baleen flush --all veth-b:bans >/dev/null; }
verdicts() { in_ns "$B" "$VERDICT" veth-b "$@"; }
conf() { printf '%s\n' "$@" >"$CONF"; }
entries() { baleen list veth-b:bans -j | jq -c '[.[] | select(.origin == "widen") | [.entry, .reason]]'; }
left() { baleen list veth-b:bans -j | jq ".[] | select(.origin == \"widen\") | .expires_ms"; }
# later MS: all entries end so much earlier
later()
{
	sqlite3 "$(book_of "$B")" \
		"UPDATE single SET expires_ms = expires_ms - $1 WHERE expires_ms > 0" || bail "no such table"
}

try_words()
{
	conf "rule bans drop" "  widen 8"
	refuses "no length" "$CONF:2: widen: N in /LENGTH, such as 8 in /24 is missing" baleen apply
	conf "rule bans drop" "  widen 8 of /24"
	refuses "another word" "$CONF:2: widen: not N in /LENGTH, such as 8 in /24, 8 in /48" \
		baleen apply
	conf "rule bans drop" "  widen 8 in /7"
	refuses "too wide" "$CONF:2: widen: a length is 8 to 31 for IPv4, 32 to 127 for IPv6" \
		baleen apply
	conf "rule bans drop" "  widen 1 in /24"
	refuses "one ban" "$CONF:2: widen: a number of bans is 2 to 1000" baleen apply
	conf "rule bans drop" "  widen 5 in /30"
	refuses "more than there are" \
		"$CONF:2: widen: more bans than the prefix has addresses" baleen apply
	conf "rule bans drop" "  widen 8 in /24, 8 in /25"
	refuses "twice IPv4" "$CONF:2: widen: two lengths of one family" baleen apply
	conf "rule bans allow" "  widen 8 in /24"
	refuses "a rule that allows" \
		"$CONF:1: rule bans: widen is for a rule that drops by an address" baleen apply
	conf "rule bans drop" "  widen 8 in /24" "  any"
	refuses "any" "$CONF:1: rule bans: any and widen exclude each other" baleen apply
}

try_ip4()
{
	conf "rule bans drop" "  bans" "  widen 3 in /24, 2 in /48"
	check_status "apply" 3 baleen apply
	prints "a second apply" "veth-b: unchanged, native" baleen apply
	baleen add veth-b:bans 9.9.9.1 9.9.9.2 >/dev/null
	baleen add veth-b:bans 9.9.9.2 --origin other >/dev/null
	is "two keys of three" "$(entries)" '[]'
	is "the prefix passes" "$(verdicts 9.9.9.1 9.9.9.2 9.9.9.77)" DDP
	expect "the third" 0 "veth-b:bans: 1 added
veth-b:bans: 9.9.9.0/24 is banned by the bans in it" "" baleen add veth-b:bans 9.9.9.3
	is "is an entry of its own" "$(entries)" '[["9.9.9.0/24","3 of 9.9.9.0/24"]]'
	is "the prefix is dropped, its neighbour is not" "$(verdicts 9.9.9.77 9.9.9.255 9.9.8.255 9.9.10.0)" DDPP
	is "why says so" "$(baleen why veth-b 9.9.9.77 | grep -c 'entry of widen: 3 of 9.9.9.0/24')" 1
	refuses "the origin is nobody else's" "the origin 'widen' is Baleen's own" \
		baleen add veth-b:bans 9.9.7.7 --origin widen
	baleen del veth-b:bans 9.9.9.2 --origin other >/dev/null
	is "the same key of another origin goes" "$(entries)" '[["9.9.9.0/24","3 of 9.9.9.0/24"]]'
	baleen unban 9.9.9.1 >/dev/null
	is "one goes, and the prefix with it" "$(entries) $(verdicts 9.9.9.1 9.9.9.2 9.9.9.77)" "[] PDP"
	baleen ban 9.9.9.9 >"$TMP/out"
	is "a ban says it, too" "$(tail -n 1 "$TMP/out")" \
		"veth-b:bans: 9.9.9.0/24 is banned by the bans in it"
	baleen del veth-b:bans 9.9.9.0/24 --origin widen >/dev/null
	is "somebody lets it go" "$(verdicts 9.9.9.9 9.9.9.77)" DP
	baleen unban 9.9.9.9 >/dev/null
	is "it does not come by a ban that goes" "$(verdicts 9.9.9.9 9.9.9.77)" PP
	baleen ban 9.9.9.9 >/dev/null
	is "it comes with the next ban" "$(verdicts 9.9.9.9 9.9.9.77)" DD
	baleen add veth-b:bans '!9.9.9.77' >/dev/null
	is "an exception stays one" "$(verdicts 9.9.9.77 9.9.9.78)" PD
	flush_all
	is "all bans go, and what they made" "$(entries) $(verdicts 9.9.9.9 9.9.9.78)" "[] PP"
}

try_ends()
{
	baleen add veth-b:bans 9.9.9.1 --ttl 1h >/dev/null
	baleen add veth-b:bans 9.9.9.2 --ttl 2h >/dev/null
	baleen add veth-b:bans 9.9.9.3 --ttl 3h >/dev/null
	is "it ends when fewer are left" "$(left)" \
		"$(baleen list veth-b:bans -j | jq '.[] | select(.entry == "9.9.9.1") | .expires_ms')"
	baleen add veth-b:bans 9.9.9.4 --ttl 4h >/dev/null
	later 3700000
	baleen add veth-b:bans 8.8.4.4 >/dev/null
	is "later bans prolong it" "$(entries) $(verdicts 9.9.9.1 9.9.9.77)" \
		'[["9.9.9.0/24","3 of 9.9.9.0/24"]] DD'
	is "to their time" "$(left)" \
		"$(baleen list veth-b:bans -j | jq '.[] | select(.entry == "9.9.9.2") | .expires_ms')"
	later 3700000
	baleen del veth-b:bans 8.8.4.4 >/dev/null
	is "then it ends" "$(entries) $(verdicts 9.9.9.2 9.9.9.3 9.9.9.77)" "[] PDP"
	flush_all
}

try_ip6()
{
	baleen ban 2a00:1:2:3::1 >/dev/null
	is "one /64" "$(verdicts 2a00:1:2:3::77 2a00:1:2:4::1)" DP
	baleen ban 2a00:1:2:4::1 >/dev/null
	is "two of a /48 ban it" "$(verdicts 2a00:1:2:ffff::1 2a00:1:3::1)" DP
	is "with its reason" "$(entries)" '[["2a00:1:2::/48","2 of 2a00:1:2::/48"]]'
	flush_all
}

# The gateway of the host is 10.66.0.1; the never-drop list has one of 9.9.9.0/24.
try_guards()
{
	ip -n "$B" route add default via 10.66.0.1 dev veth-b
	baleen add veth-b:bans 10.66.0.7 10.66.0.8 10.66.0.9 >"$TMP/out" 2>&1
	is "a prefix of the gateway is not banned" "$(entries) $(verdicts 10.66.0.7 10.66.0.1)" "[] DP"
	echo 9.9.9.200 >"$TMP/conf/never.list"
	check_status "a never-drop list" 3 baleen apply
	baleen add veth-b:bans 9.9.9.1 9.9.9.2 9.9.9.3 9.9.9.4 >/dev/null
	is "nor one of the never-drop list" "$(entries) $(verdicts 9.9.9.4 9.9.9.77)" "[] DP"
	flush_all
	: >"$TMP/conf/never.list"
	check_status "without it" 3 baleen apply
}

# It is kept, goes on at boot, and goes when the configuration says otherwise.
try_kept()
{
	baleen add veth-b:bans 9.9.9.1 9.9.9.2 9.9.9.3 >/dev/null
	unpin "$B"
	check "restored as at boot" baleen restore --boot veth-b
	is "the prefix is dropped still" "$(verdicts 9.9.9.77)" D
	check "saved" baleen save -o "$TMP/saved" veth-b
	check "detached" baleen detach --forget --entries veth-b
	check "restored" baleen restore veth-b "$TMP/saved"
	is "the set came back" "$(verdicts 9.9.9.77)" D
	check "it takes bans" baleen ban 8.8.4.1
	baleen ban 8.8.4.2 >/dev/null
	baleen ban 8.8.4.3 >/dev/null
	is "and widens them, as those that came back" "$(entries)" \
		'[["8.8.4.0/24","3 of 8.8.4.0/24"],["9.9.9.0/24","3 of 9.9.9.0/24"]]'
	check "detached again" baleen detach --forget --entries veth-b
	check_status "applied again" 3 baleen apply
	baleen add veth-b:bans 9.9.9.1 9.9.9.2 9.9.9.3 >/dev/null
	conf "rule bans drop" "  bans" "  widen 4 in /24"
	expect "other numbers" 3 "veth-b: ~ rule bans: widen 4 in /24
veth-b: changed, native" "" baleen apply
	is "what was widened by the old ones is not" "$(entries) $(verdicts 9.9.9.1 9.9.9.77)" "[] DP"
	baleen add veth-b:bans 9.9.9.4 >/dev/null
	is "the next ban counts" "$(entries)" '[["9.9.9.0/24","4 of 9.9.9.0/24"]]'
	conf "rule bans drop" "  bans"
	check_status "no widen" 3 baleen apply
	is "no prefix" "$(entries) $(verdicts 9.9.9.4 9.9.9.77)" "[] DP"
}

try_words
try_ip4
try_ends
try_ip6
try_guards
try_kept
