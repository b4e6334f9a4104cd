#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# An IPv6 address that is typed or fed without a length is an entry of its own, and the rule says how
# wide it is (ban-width): two in one /64 are two, on each way in, and a rule that has them wider, or
# gets another width, needs nobody to ban them again.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
play_systemd
mkdir "$BALEEN_CONF_DIR"

VERDICT=$ROOT/build/tools/verdict
ip -n "$B" link add veth-c type veth peer name veth-d
baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
# dropped ADDRESS...: a letter for each, on veth-b, then on veth-c
dropped() { echo "$(in_ns "$B" "$VERDICT" veth-b "$@")-$(in_ns "$B" "$VERDICT" veth-c "$@")"; }
# rows [SCOPE]: each entry, and what it stands for
rows() { baleen list -j "$@" | jq -r '[.[] | "\(.entry) \(.stands_for // "-")"] | sort | join(", ")'; }
feed() { printf '%s\n' "$@" | baleen feed "$TARGET" - --origin f2b; }
# conf DEV WIDTH: a rule jail with bans
conf() { printf '%s\n' "rule jail drop" " bans" " ban-width $2" " feed $TMP/list" >"$BALEEN_CONF_DIR/$1.conf"; }

echo 20.1.1.1 >"$TMP/list"
conf veth-b 64
conf veth-c 48
check_status "two devices" 3 baleen apply

# --- two are two ---

check "one is banned" baleen ban 2001:db8::7
is "as wide as the widest rule is said" "$(cat "$TMP/err")" \
	"baleen: 2001:db8::7 stands for 2001:db8::/48 (say 2001:db8::7/128 for less)"
is "each rule has it as wide as it says" "$(dropped 2001:db8::{7,8} 2001:db8:0:1::7 2001:db8:1::7)" DDPP-DDDP
check "another in its /64" baleen ban 2001:db8::8 1h
is "is another row" "$(rows bans)" "2001:db8::7 2001:db8::/48, 2001:db8::8 2001:db8::/48"
is "which a rule has as its own" "$(rows veth-b:jail)" "2001:db8::7 2001:db8::/64, 2001:db8::8 2001:db8::/64"
check "in words" baleen list veth-b:jail
is "with its width" "$(grep -o '2001:db8::8 (/64)' "$TMP/out")" "2001:db8::8 (/64)"
expect "again" 1 "" "baleen: 2001:db8::8 stands for 2001:db8::/48 (say 2001:db8::8/128 for less)
baleen: 2001:db8::8 is banned by origin 'manual' already: nothing changed (--exist renews it)" \
	baleen ban 2001:db8::8
expect "the first is unbanned, and the other is named" 0 "veth-b:jail: 2001:db8::7 deleted (manual)
veth-c:jail: 2001:db8::7 deleted (manual)" \
	"baleen: veth-b:jail: 2001:db8::8 (/64) stays in force: entry of origin 'manual'
baleen: veth-c:jail: 2001:db8::8 (/48) stays in force: entry of origin 'manual'
baleen: 'baleen unban 2001:db8::7' once more excepts it from wider bans" \
	baleen unban 2001:db8::7
is "so all of it is dropped" "$(dropped 2001:db8::{7,8,9} 2001:db8:0:1::7)" DDDP-DDDD
expect "once more is an exception" 0 "veth-b:jail: 2001:db8::7 excepted from 2001:db8::8 (/48) (manual), which stays
veth-c:jail: 2001:db8::7 excepted from 2001:db8::8 (/48) (manual), which stays" "" baleen unban 2001:db8::7
is "of one address" "$(dropped 2001:db8::{7,8,9})" PDD-PDD
check "the other is unbanned" baleen unban 2001:db8::8
is "all pass" "$(dropped 2001:db8::{7,8,9}) $(rows)" "PPP-PPP "
is "the journal has what was asked" "$(baleen log -j | jq -r '[.[] | "\(.what) \(.entry)"] | join(", ")')" \
	"added 2001:db8::7, added 2001:db8::8, deleted 2001:db8::7, added !2001:db8::7, deleted 2001:db8::8, deleted !2001:db8::7"

# --- each ends for itself ---

check "a short one" baleen ban 2001:db8::7 2s
check "and a long one" baleen ban 2001:db8::8 1h
is "are in force" "$(dropped 2001:db8::9)" D-D
sleep 2.1
TARGET=bans
check "the next command ends the short one" feed "ban 2001:db8:ffff::1" "unban 2001:db8:ffff::1"
is "alone" "$(rows bans)" "2001:db8::8 2001:db8::/48"
is "and the long one does not" "$(dropped 2001:db8::{7,9})" DD-DD
check "the long one is unbanned" baleen unban 2001:db8::8

# --- as it is written ---

check "an address with its length" baleen ban 2001:db8::7/128
is "is that address" "$(dropped 2001:db8::{7,8}) $(rows bans)" "DP-DP 2001:db8::7/128 -"
check "and the one without is another" baleen ban 2001:db8::7
is "wider" "$(dropped 2001:db8::{7,8}) $(rows bans)" "DD-DD 2001:db8::7 2001:db8::/48, 2001:db8::7/128 -"
check "unban takes both" baleen unban 2001:db8::7
is "so it passes" "$(dropped 2001:db8::{7,8}) $(rows)" "PP-PP "
check "a prefix" baleen ban 2001:db8::/48
check "and one in it" baleen ban 2001:db8::7
check "unban of the prefix" baleen unban 2001:db8::/48
is "takes what stands for it" "$(dropped 2001:db8::{7,8}) $(rows)" "PP-PP "

# --- other ways in ---

TARGET=bans
is "fed" "$(feed "ban 2001:db8::7" "ban 2001:db8::8" "unban 2001:db8::7")" $'ok\nok\nok'
is "two are two" "$(dropped 2001:db8::{7,8} 2001:db8:0:1::1) $(rows bans)" "DDP-DDD 2001:db8::8 2001:db8::/48"
is "a snapshot" "$(feed begin "add 2001:db8::9" "add 2001:db8::10" commit)" "ok 2 entries, 0 refused, 1 deleted"
is "has those" "$(rows bans)" "2001:db8::10 2001:db8::/48, 2001:db8::9 2001:db8::/48"
is "and goes with an empty one" "$(feed begin commit) $(dropped 2001:db8::9)" "ok 0 entries, 0 refused, 2 deleted P-P"
TARGET=veth-b:jail
is "to one rule" "$(feed "add 2001:db8::7" "add 2001:db8::8" "del 2001:db8::7")" $'ok\nok\nok'
is "the same" "$(dropped 2001:db8::{7,9}) $(rows veth-b:jail)" "DD-PP 2001:db8::8 2001:db8::/64"
is "and gone" "$(feed "del 2001:db8::8") $(dropped 2001:db8::8)" "ok P-P"
check "typed" baleen add veth-b:jail 2001:db8::7 2001:db8::8
check "and deleted" baleen del veth-b:jail 2001:db8::7
is "the same" "$(dropped 2001:db8::{7,9}) $(rows veth-b:jail)" "DD-PP 2001:db8::8 2001:db8::/64"
check_status "what is not there" 1 baleen del veth-b:jail 2001:db8::7
is "is named, and what is" "$(head -n 2 "$TMP/err")" \
	"baleen: veth-b:jail: no entry 2001:db8::7 of origin 'manual': nothing changed (--exist does not mind)
baleen: veth-b:jail: 2001:db8::8 (/64) stays in force: entry of origin 'manual'"
check "by what it stands for" baleen del veth-b:jail 2001:db8::/64
is "it is deleted, too" "$(rows)" ""
echo 2001:db8::7 >"$TMP/one"
check "from a file it is as it stands" baleen add veth-b:jail --file "$TMP/one"
is "one address" "$(dropped 2001:db8::{7,8}) $(rows veth-b:jail)" "DP-PP 2001:db8::7/128 -"
check "which del finds as it is typed" baleen del veth-b:jail 2001:db8::7
is "and is gone" "$(rows)" ""
check "imported as it is" baleen import --format list --origin manual veth-b:jail "$TMP/one"
is "one address, too" "$(rows veth-b:jail)" "2001:db8::7/128 -"
check "the other way round" baleen add veth-b:jail 2001:db8::9
echo 2001:db8::9 >>"$TMP/one"
check "a file deletes both" baleen del veth-b:jail --file "$TMP/one"
is "both" "$(rows)" ""

# --- away and back ---

check "bans" baleen ban 2001:db8::7
check "and entries" baleen add veth-b:jail 2001:db8:5::1 2001:db8:5::2/128
baleen export >"$TMP/all.json"
is "an export names them as they were asked for" "$(jq -r .key "$TMP/all.json" | paste -sd ' ')" \
	"2001:db8:5::1 2001:db8:5::2/128 2001:db8::7"
is "a list has what is dropped" "$(baleen export veth-b:jail --format text | sort | paste -sd ' ')" \
	"2001:db8:5::/64 2001:db8:5::2 2001:db8::/64"
before=$(rows)
check "saved" baleen save veth-b -o "$TMP/saved"
check "flushed" baleen flush bans --origin manual
check "of both" baleen flush veth-b:jail --origin manual
check "imported" baleen import --format json "$TMP/all.json"
is "they are what they were" "$(rows)" "$before"
check "flushed" baleen flush bans --origin manual
check "of both" baleen flush veth-b:jail --origin manual
check "restored" baleen restore veth-b "$TMP/saved"
is "they are what they were" "$(rows) $(dropped 2001:db8:5::{1,2,3} 2001:db8::9)" "$before DDDD-PPPD"
check "the rule goes" baleen detach --forget veth-b
is "a parked ban is listed" "$(baleen list -j | jq -r '[.[] | "\(.entry) \(.parked)"] | join(", ")')" \
	"2001:db8::7 false, 2001:db8:5::1 true, 2001:db8:5::2/128 true"
check "and deleted" baleen del veth-b:jail 2001:db8:5::1
check_status "a rule with another width" 3 sh -c "$(declare -p BALEEN TMP B); sed -i 's/64/56/' $BALEEN_CONF_DIR/veth-b.conf && ip netns exec $B $BALEEN apply"
is "has the others as its own" "$(rows veth-b:jail) $(dropped 2001:db8::9 2001:db8:0:ff::1 2001:db8:0:100::1)" \
	"2001:db8:5::2/128 -, 2001:db8::7 2001:db8::/56 DDP-DDD"

# --- another width ---

conf veth-b 128
check_status "a width that is changed" 3 baleen apply
is "changes what is dropped" "$(dropped 2001:db8::{7,8})" DP-DD
is "and what it says" "$(rows veth-b:jail)" "2001:db8:5::2/128 -, 2001:db8::7 -"
check "why" baleen why veth-b 2001:db8::7
conf veth-b 64
conf veth-c 64
check_status "back" 3 baleen apply
is "is as before" "$(dropped 2001:db8::{7,8} 2001:db8:0:1::1)" DDP-DDP

# --- widen counts networks ---

printf '%s\n' "rule jail drop" " bans" " widen 3 in /48" " feed $TMP/list" >"$BALEEN_CONF_DIR/veth-b.conf"
check_status "widen" 3 baleen apply
check "two in one /64" baleen ban 2001:db8::8
check "and one in another" baleen ban 2001:db8:0:1::1
is "are two networks" "$(dropped 2001:db8:0:2::1)" P-P
check "a third" baleen ban 2001:db8:0:3::1
is "is the third" "$(dropped 2001:db8:0:2::1)" D-P
check "one of the two goes" baleen unban 2001:db8::8
is "three are left" "$(dropped 2001:db8:0:2::1)" D-P
check "the other goes" baleen unban 2001:db8::7
is "two are left" "$(dropped 2001:db8:0:2::1)" P-P

# --- two widths ---

conf veth-b 64
conf veth-c 48
check_status "two widths" 3 baleen apply
check "all" baleen flush bans --all
check "a ban" baleen ban 2001:db8:1:2::7
check "in the log, by a neighbour" baleen log 2001:db8:1:9::1
baleen export --format text >"$TMP/all.list"
is "a list of all rules has the widest" "$(grep -c '^2001:db8:1::/48$' "$TMP/all.list")" 1
check "unbanned as the narrower has it" baleen unban 2001:db8:1:2::/64
is "in both" "$(dropped 2001:db8:1:2::7) $(rows bans)" "P-P "
check "a ban" baleen ban 2001:db8:1:2::7
check "a part of it" baleen unban 2001:db8:1:5::1
check "a ban beside it" baleen ban 2001:db8:1:2::8
is "leaves it excepted" "$(dropped 2001:db8:1:5::{1,2} 2001:db8:1:2::7)" PPD-PDD
check "both go" sh -c "$(declare -p BALEEN TMP B); rm $BALEEN_CONF_DIR/*.conf; for dev in veth-b veth-c; do ip netns exec $B $BALEEN detach --forget \$dev || exit; done"
check "a parked one is unbanned" baleen unban 2001:db8:1:2::8
conf veth-b 64
conf veth-c 48
check_status "they are back" 3 baleen apply
is "and so is the part" "$(dropped 2001:db8:1:5::{1,2} 2001:db8:1:2::7)" PPD-PDD
