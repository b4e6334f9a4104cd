#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# How much a rule may hold, whoever brings it: entries of a feed, bytes of a device, addresses
# of feeds and entries together. Each refusal is one line with figure, bound and word, and
# leaves in force what was.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

VERDICT=$ROOT/build/tools/verdict
CONF=$BALEEN_CONF_DIR/veth-b.conf
F=$TMP/feed
mkdir "$BALEEN_CONF_DIR"
# A line is quoted only of a list that everybody may read.
chmod 755 "$TMP"

baleen() { in_ns "$B" "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" veth-b "$@"; }
# hosts N: as many of 9.0.0.0/8
hosts() { seq "$1" | awk '{ print "9." int($1 / 65536) "." int($1 / 256) % 256 "." $1 % 256 }'; }

# configures LINE...: the configuration of the device, with a rule that is fed and takes bans
configures() { printf '%s\n' "${@:2}" "rule bad drop" " bans" " feed $F" ${1:+"$1"} >"$CONF"; }

# update_refuses NAME WHY: and the first line of the good copy still drops
update_refuses()
{
	expect "$1" 1 "" "baleen: veth-b:bad: $F: refused: $2; its last good copy \
stays in force" baleen update
	is "$1: the good copy is in force" "$(verdicts 9.0.0.1 1.1.1.1)" "$GOOD"
}

# --- entries ---

seq -f '9.0.0.%.0f' 5 >"$F"
configures " max-entries 5"
check_status "as many entries as may be" 3 baleen apply
GOOD=DP
echo 9.0.0.6 >>"$F"
update_refuses "one more" "at least 6 entries: more than max-entries 5 allows"
configures ""
check_status "without a word of the configuration" 3 baleen apply
hosts 100001 >"$F"
update_refuses "a hundred thousand at once" \
	"100001 entries after 6: more than 100000 (max-entries 100001 allows them)"
check_status "that a person forces" 3 baleen update --force
is "are in force" "$(verdicts 9.1.134.161 9.1.134.162)" DP
seq -f '2a00:1:2:%.0f::1' 5 >"$F"
check_status "of IPv6" 3 baleen update --force
GOOD=PP
echo "2a00::/17" >>"$F"
update_refuses "half a /16" "covers 0.391 % of the allocated IPv6 space more than before: more than \
max-growth 0.1% allows; widest: line 6, 2a00::/17"
echo 9.0.0.1 >"$F"
check_status "one host" 3 baleen update --force
GOOD=DP

# --- bytes ---

configures "" "max-memory 100k"
check_status "a device with little memory" 3 baleen apply
hosts 90000 >"$F"
HELD="rule 'bad': 0.380 MB of kernel memory: more than max-memory 0.100 MB allows"
expect "a feed that takes more" 1 "" \
	"baleen: veth-b:bad: $HELD; its last good copy stays in force" baleen update
is "leaves what was" "$(verdicts 9.0.0.1 9.0.1.1)" DP
expect "as does a list that is typed" 1 "" \
	"baleen: $HELD" \
	baleen swap veth-b:bad "$F"
expect "and entries" 1 "" \
	"baleen: ${HELD/0.380/0.569}" \
	baleen add veth-b:bad -f "$F" --exist
is "nothing has changed" "$(verdicts 9.0.0.1 9.0.1.1)" DP
configures "" "max-memory 1M"
check_status "with more of it" 3 baleen apply
is "it is in force" "$(verdicts 9.0.0.1 9.0.1.1)" DD
configures "" "max-memory 100k"
check_status "with less again" 3 baleen apply
check "what takes no more than is there" baleen add veth-b:bad '!9.0.0.0/24'
check "is built anew" baleen add veth-b:bad --atomic '!9.0.1.1'
is "and in force" "$(verdicts 9.0.0.1 9.0.1.1 9.0.1.2)" PPD
echo 9.0.0.1 >"$F"
check_status "and one host is left" 3 baleen update --force
check "the exceptions go" baleen flush veth-b:bad --all

# --- coverage ---

configures ""
check_status "as usual" 3 baleen apply
seq -f 'add %.0f.0.0.0/8' 11 74 >"$TMP/lines"
baleen feed veth-b:bad - <"$TMP/lines" >"$TMP/out"
is "all but the last /8" "$(uniq -c <"$TMP/out" | sed 's/^ *//')" "63 ok
1 refused with the rest of its rule it covers 25.0 % of the IPv4 space: more than max-coverage \
25% allows"
is "no more one by one" "$(for i in 74 75; do baleen feed veth-b:bad - <<<"add $i.0.0.0/8"; done |
	cut -d ' ' -f 1 | uniq -c | sed 's/^ *//')" "2 refused"
is "nor a /16" "$(baleen feed veth-b:bad - <<<"add 74.1.0.0/20" | cut -d ' ' -f 1)" "ok"
is "but again" "$(baleen feed veth-b:bad - <<<"add 11.0.0.0/8")" "ok renewed"
is "and what is inside, and hosts" \
	"$(baleen feed veth-b:bad - <<<"add 11.1.0.0/16
add 200.0.0.1" | uniq -c | sed 's/^ *//')" "2 ok"
expect "a person is asked" 1 "" "baleen: veth-b:bad: '74.0.0.0/8' not added: with the rest of its \
rule it covers 25.0 % of the IPv4 space: more than max-coverage 25% allows: nothing changed
baleen: 'baleen ban --force 74.0.0.0/8' takes it" baleen ban 74.0.0.0/8
check "and may" baleen ban --force 74.0.0.0/8
is "what is in force" "$(verdicts 73.1.1.1 74.1.1.1 75.1.1.1)" DDP

{ echo begin; seq -f "add %.0f.0.0.0/8" 101 123; seq -f "add %.0f.0.0.0/8" 128 150; echo commit; } >"$TMP/lines"
is "a snapshot beside them is too much" \
	"$(baleen feed veth-b:bad - --origin tool <"$TMP/lines")" "ok 0 entries, 46 refused, 0 deleted"
check "all of them go" baleen flush veth-b:bad --all
is "then it comes" "$(baleen feed veth-b:bad - --origin tool <"$TMP/lines")" \
	"ok 46 entries, 0 refused, 0 deleted"
sed 's/^add 1/add 2/' "$TMP/lines" >"$TMP/other"
is "and another takes its place" "$(baleen feed veth-b:bad - --origin tool <"$TMP/other")" \
	"ok 46 entries, 0 refused, 46 deleted"
is "as a whole" "$(verdicts 101.1.1.1 201.1.1.1)" PD
check "all of them go" baleen flush veth-b:bad --all

# --- bits below the length ---

expect "a ban" 0 "veth-b:bad: 172.16.0.0/12 added" \
	"baleen: 172.20.0.0/12 stands for 172.16.0.0/12" baleen ban 172.20.0.0/12
expect "in JSON it is the entry" 0 '"172.16.0.0/12"' "" \
	jq .entry <<<"$(baleen ban -j --exist 172.20.0.0/12)"
expect "an entry" 0 "veth-b:bad: 1 added" \
	"baleen: veth-b:bad: 198.18.7.7/15 stands for 198.18.0.0/15" baleen add veth-b:bad 198.18.7.7/15
expect "another, of IPv6" 0 "veth-b:bad: 1 added" \
	"baleen: veth-b:bad: 2001:db8:7::1/48 stands for 2001:db8:7::/48" \
	baleen add veth-b:bad 2001:db8:7::1/48
printf '%s\n' 203.0.113.9/28 203.0.113.32/28 192.0.2.1 >"$TMP/list"
expect "a file" 0 "veth-b:bad: 3 added, built anew" \
	"baleen: $TMP/list: 1 prefix has bits below its length, which do not count" \
	baleen add veth-b:bad -f "$TMP/list"
is "is in force as meant" "$(verdicts 172.16.0.1 198.19.0.1 203.0.113.1 203.0.113.33)" DDDD

# --- snapshots ---

configures " max-entries 3"
check_status "with a bound again" 3 baleen apply
{ echo begin; seq -f 'add 192.0.2.%.0f' 9; echo commit; } >"$TMP/lines"
baleen feed veth-b:bad - --origin tool <"$TMP/lines" >"$TMP/out" 2>"$TMP/err"
is "a snapshot is one, too" "$(<"$TMP/out")" "bad more entries than max-entries allows: 3
refused the snapshot has bad lines: nothing changed"

# --- single entries ---

check "no bans" baleen flush bans --all
check "no entries" baleen flush veth-b:bad --all
is "a feed of one" "$(<"$F")" 9.0.0.1
check "two beside it" baleen add veth-b:bad 192.0.2.1 192.0.2.2
expect "a third is one too many" 1 "veth-b:bad: 0 added, others refused" "baleen: veth-b:bad: '192.0.2.3' not added: its rule has as \
many entries as max-entries allows
baleen: 'baleen add --force veth-b:bad 192.0.2.3' takes it" baleen add veth-b:bad 192.0.2.3
check_status "so is a ban" 1 baleen ban 192.0.2.3
is "a program is told so" "$(echo add 192.0.2.3 | baleen feed veth-b:bad -)" \
	"refused its rule has as many entries as max-entries allows"
check "one that is there is renewed" baleen add --exist veth-b:bad 192.0.2.2 --ttl 1h
check "an exception comes" baleen add veth-b:bad '!192.0.2.9'
check "and goes" baleen del veth-b:bad '!192.0.2.9'
is "one goes, and another comes" "$(printf '%s\n' "del 192.0.2.1" "add 192.0.2.4" |
	baleen feed veth-b:bad - --origin manual | paste -s -d ,)" ok,ok
is "what is in force" "$(verdicts 9.0.0.1 192.0.2.{1,2,3,4})" DPDPD
check "a person has the last word" baleen add --force veth-b:bad 192.0.2.3
is "then it is in force" "$(verdicts 192.0.2.3)" D
{ echo begin; seq -f 'add 192.0.2.%.0f' 2; echo commit; } >"$TMP/lines"
is "a snapshot finds no room beside them" \
	"$(baleen feed veth-b:bad - --origin tool <"$TMP/lines")" "ok 0 entries, 2 refused, 0 deleted"
check "when they are gone" baleen flush veth-b:bad --origin manual
is "it comes" "$(baleen feed veth-b:bad - --origin tool <"$TMP/lines")" "ok 2 entries, 0 refused, 0 deleted"
is "and comes again" "$(baleen feed veth-b:bad - --origin tool <"$TMP/lines")" "ok 2 entries, 0 refused, 0 deleted"
configures " max-entries 4"
check_status "room for one more" 3 baleen apply
{ echo begin; printf 'add 192.0.2.%s\n' 3 3 4 1 2; echo commit; } >"$TMP/more"
is "a snapshot takes no more than there is" \
	"$(baleen feed veth-b:bad - --origin tool <"$TMP/more")" \
	"bad more entries than max-entries allows: 4
refused the snapshot has bad lines: nothing changed"
{ echo begin; printf 'add 192.0.2.%s\n' 3 3 4 1; echo commit; } >"$TMP/more"
is "a key twice is one" "$(baleen feed veth-b:bad - --origin tool <"$TMP/more")" \
	"ok 4 entries, 0 refused, 1 deleted"
{ echo begin; printf 'add 192.0.2.%s\n' 5 6 3 4; echo commit; } >"$TMP/more"
is "what is named again takes room" "$(baleen feed veth-b:bad - --origin tool <"$TMP/more")" \
	"ok 3 entries, 1 refused, 2 deleted"
is "no more than the bound" "$(baleen list -j veth-b:bad | jq length)" 3
