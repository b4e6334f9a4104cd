#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# unban of a part of a ban: an exception of it, which lets the part pass and nothing else, leaves
# lists alone, and ends with the ban.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
play_systemd

VERDICT=$ROOT/build/tools/verdict
ip -n "$B" link add veth-c type veth peer name veth-d
baleen() { in_ns "$B" "$BALEEN" "$@"; }
# dropped ADDRESS...: a letter for each, on veth-b, then on veth-c
dropped() { echo "$(in_ns "$B" "$VERDICT" veth-b "$@")-$(in_ns "$B" "$VERDICT" veth-c "$@")"; }
exceptions() { baleen list -j bans | jq -r '[.[] | select(.entry | startswith("!")).entry] | join(" ")'; }
passes() { [[ $(dropped "$@") != *D* ]]; }
has_no_exception() { [ -z "$(exceptions)" ]; }
# unbans PART FROM [MORE]: the line of each rule
unbans()
{
	expect "unban $1" 0 "veth-b:list: $1 excepted from $2 (manual), which stays
veth-c:cell: $1 excepted from $2 (manual), which stays" "${3-}" baleen unban "$1"
}

echo 203.0.113.5 >"$TMP/list"
echo 9.9.9.9 >"$TMP/cell"
check "attach" baleen attach veth-b --drop "$TMP/list" bans
check "another" baleen attach veth-c --drop "$TMP/cell" bans
check "a wide ban" baleen ban 198.51.100.0/24
check "of IPv6, too" baleen ban 2001:db8::/48

# --- a part ---

unbans 198.51.100.5 198.51.100.0/24
is "passes, and nothing else" "$(dropped 198.51.100.{4,5,6})" DPD-DPD
is "is a row of the bans" "$(exceptions)" '!198.51.100.5'
is "why says so" "$(baleen why veth-b 198.51.100.5 | sed -n '1p;s/, added.*//p')" \
	"198.51.100.5 to veth-b, tcp, opening: passes
    !198.51.100.5        entry of unban
    198.51.100.0/24      entry of manual"
refuses "no rule has it alone" "veth-b:list: !198.51.100.5 is an exception of bans: 'baleen ban 198.51.100.5' \
ends it" baleen del veth-b:list '!198.51.100.5'
refuses "again" "198.51.100.5 is excepted from a wider ban already: nothing changed (--exist does not mind)" \
	baleen unban 198.51.100.5
check "which --exist does not mind" baleen unban --exist 198.51.100.5
unbans 198.51.100.16/28 198.51.100.0/24
is "a prefix passes" "$(dropped 198.51.100.{15,16,31,32})" DPPD-DPPD
unbans 2001:db8::7 2001:db8::/48
is "of IPv6 the address alone" "$(dropped 2001:db8::{6,7,8})" DPD-DPD
is "as JSON" "$(baleen unban -j 198.51.100.77 | jq -c '[.entry, .excepted_from, [.rules[].result]]')" \
	'["198.51.100.77","198.51.100.0/24",["excepted","excepted"]]'
is "and in the journal" "$(baleen log 198.51.100.77 | grep -c '!198.51.100.77')" 1
check "a device that comes" baleen detach --forget veth-c
check "has them, too" baleen attach veth-c --drop "$TMP/cell" bans
is "by its filter" "$(dropped 198.51.100.{5,6,77} 2001:db8::{6,7})" PDPDP-PDPDP

# --- banned anew ---

check "banned again" baleen ban 198.51.100.77 1h
is "is dropped" "$(dropped 198.51.100.77)" D-D
is "and no exception" "$(exceptions)" '!198.51.100.5 !198.51.100.16/28 !2001:db8::7'
expect "of its own ban it is let go, and the wide one is named" 0 "veth-b:list: 198.51.100.77 deleted (manual)
veth-c:cell: 198.51.100.77 deleted (manual)" \
	"baleen: veth-b:list: 198.51.100.0/24 stays in force: entry of origin 'manual'
baleen: veth-c:cell: 198.51.100.0/24 stays in force: entry of origin 'manual'
baleen: 'baleen unban 198.51.100.77' once more excepts it from wider bans" \
	baleen unban 198.51.100.77
is "a program does not except" "$(baleen feed bans - <<<"unban 198.51.100.78") $(dropped 198.51.100.78)" "ok absent D-D"
is "its bans end an exception" "$(baleen feed bans - --origin f2b <<<"ban 198.51.100.5") $(dropped 198.51.100.5)" "ok D-D"
is "which ends with them" "$(baleen feed bans - --origin f2b <<<"unban 198.51.100.5") $(dropped 198.51.100.5)" "ok D-D"

# --- lists, and what rules have of their own ---

check "a wide ban around a listed address" baleen ban 203.0.113.0/24
unbans 203.0.113.5 203.0.113.0/24 "baleen: veth-b:list: 203.0.113.5 stays in force: line 1 of $TMP/list
baleen: veth-b:list: \"baleen add veth-b:list '!203.0.113.5'\" takes out what lists and shorter prefixes hold"
is "the list holds it still" "$(dropped 203.0.113.{4,5,6})" DDD-DPD
check "an exception of the rule" baleen add veth-b:list '!203.0.113.0/29'
is "takes it out of the list" "$(dropped 203.0.113.{4,5,9})" PPD-DPD
check "it goes" baleen del veth-b:list '!203.0.113.0/29'
is "as before" "$(dropped 203.0.113.{4,5,6})" DDD-DPD
check "built anew, too" baleen refresh --force
is "the same" "$(dropped 203.0.113.{4,5,6} 198.51.100.{16,32} 2001:db8::{6,7})" DDDPDDP-DPDPDDP

# An exception of a rule that goes uncovers what a part is of: the same as built anew.
check "a wider exception of the rule" baleen add veth-b:list '!203.0.113.0/25'
unbans 203.0.113.64/28 203.0.113.0/24
unbans 203.0.113.9 203.0.113.0/24
check "it goes" baleen del veth-b:list '!203.0.113.0/25'
is "the parts pass, and what is listed does not" "$(dropped 203.0.113.{4,5,9,63,64,79,80})" DDPDPPD-DPPDPPD

# --- their end ---

before=$(dropped 203.0.113.{4,5,6} 198.51.100.{16,32} 2001:db8::{6,7})
baleen export >"$TMP/bans.json"
check "flush" baleen flush bans --all
is "takes exceptions with it" "$(exceptions) $(dropped 198.51.100.{16,32} 2001:db8::{6,7})" " PPPP-PPPP"
check "import of what was exported" baleen import --format json "$TMP/bans.json"
is "has them all" "$(dropped 203.0.113.{4,5,6} 198.51.100.{16,32} 2001:db8::{6,7})" "$before"
check "renewed" baleen ban --exist 198.51.100.0/24 1h
is "it keeps its exceptions" "$(dropped 198.51.100.{15,16,32})" DPD-DPD
check "a wider ban around it" baleen ban 198.51.0.0/16
is "is whole" "$(exceptions) $(dropped 198.51.100.{15,16,32})" '!203.0.113.5 !203.0.113.9 !203.0.113.64/28 !2001:db8::7 DDD-DDD'
unbans 198.51.100.5 198.51.100.0/24
check "the inner one goes" baleen unban 198.51.100.0/24
is "its exception is of the other" "$(dropped 198.51.100.{4,5})" DP-DP
check "that goes" baleen unban 198.51.0.0/16
is "and the exception with it" "$(exceptions)" '!203.0.113.5 !203.0.113.9 !203.0.113.64/28 !2001:db8::7'
check "of IPv6 the /64 is banned anew" baleen ban 2001:db8::7 1h
is "and its address is dropped" "$(dropped 2001:db8::{6,7})" DD-DD
check "which goes" baleen unban 2001:db8::7
printf '{"rule":"bans","key":"%s"}\n' 192.0.2.0/24 '!198.51.100.5' >"$TMP/some.json"
check "import of a part of a ban that is not there" baleen import --format json "$TMP/some.json"
is "makes no exception" "$(exceptions)" '!203.0.113.5 !203.0.113.9 !203.0.113.64/28'
check "the same ban again" baleen ban 198.51.100.0/24
is "is whole" "$(dropped 198.51.100.{15,16,32})" DDD-DDD
check "flush" baleen flush bans --all
start_baleend "$B"
check "a ban with an end" baleen ban 198.51.100.0/24 2s
unbans 198.51.100.5 198.51.100.0/24
await "which comes" has_no_exception
# The devices follow what is committed.
await "for all" passes 198.51.100.{4,5}
stop_baleend
