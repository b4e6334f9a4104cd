#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# feed bans: lines of another program go to all rules that take bans, of all devices, and to
# entries whose rule is not there. Each line has one answer.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

VERDICT=$ROOT/build/tools/verdict
mkdir "$BALEEN_CONF_DIR"
ip -n "$B" link add veth-c type veth peer name veth-d
ip -n "$B" link set veth-c up
ip -n "$B" link set veth-d up

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
# dropped ADDRESS...: a letter for each, on veth-b, then on veth-c
dropped() { echo "$(in_ns "$B" "$VERDICT" veth-b "$@")-$(in_ns "$B" "$VERDICT" veth-c "$@")"; }
# feed LINE...: the answers, and the exit status when it is not 0
feed()
{
	printf '%s\n' "$@" | baleen feed bans - --origin soc "${WAIT[@]}" 2>"$TMP/err" || echo "status $?"
}
# has DEV ADDRESS: origin and reason of its entries there
has() { baleen list -j "$1" "$2" | jq -c '[.[] | [.origin, .reason]]'; }
WAIT=()

is "no rule takes bans" "$(feed "ban 192.0.2.7" "unban 192.0.2.7" "del 192.0.2.7" flush)" \
	"failed no rule of any device takes bans
ok absent
ok absent
ok 0 deleted
status 1"
check_status "neither a rule nor bans" 2 baleen feed veth-b -
is "is usage" "$(head -n 1 "$TMP/err")" "baleen: feed: 'veth-b' is neither DEV:RULE nor bans (see 'baleen help feed')"

printf '%s\n' "rule office allow" "rule jail drop" " bans" "rule bad drop" >"$BALEEN_CONF_DIR/veth-b.conf"
echo 198.51.100.0/24 >"$TMP/list"
check_status "one by its configuration" 3 baleen apply
check "one by hand" baleen attach veth-c --drop list="$TMP/list" bans
STATE_C=$(echo "$BALEEN_RUN_DIR"/ns*-if*)

# --- lines ---

is "bans" "$(feed "ban 192.0.2.7 ttl=1h reason=ssh scan" "add 192.0.2.8/31" "# nothing" "ban 2001:db8::7")" \
	$'ok\nok\nok'
is "are in force everywhere" "$(dropped 192.0.2.{7,9,10} 2001:db8::8)" DDPD-DDPD
is "each once" "$(baleen list -j | jq -r '.[].rule' | sort | uniq -c | xargs)" "3 bans"
is "with origin and reason" "$(has veth-b 192.0.2.7) $(has veth-c 192.0.2.7)" '[["soc","ssh scan"]] [["soc","ssh scan"]]'
is "renewed" "$(feed "ban 192.0.2.7 reason=more")" "ok renewed"
check "one rule has it" baleen add veth-c:list 192.0.2.20 --origin soc
is "comes to the other" "$(feed "ban 192.0.2.20") $(dropped 192.0.2.20)" "ok D-D"
is "taken back" "$(feed "del 192.0.2.20" "del 192.0.2.20") $(dropped 192.0.2.20)" $'ok\nok absent P-P'
check "another origin" baleen ban 192.0.2.7
is "del leaves it" "$(feed "del 192.0.2.7") $(dropped 192.0.2.7)" "ok D-D"
is "unban does not" "$(feed "ban 192.0.2.7" "unban 192.0.2.7") $(dropped 192.0.2.7)" $'ok\nok P-P'
is "nonsense" "$(feed "ban" "ban 192.0.2.300" "put 192.0.2.1" "flush 192.0.2.1")" "bad no key
bad '192.0.2.300': octet above 255
bad not add, ban, del, unban, flush, begin or commit: put
bad not ttl=, origin= or reason=
status 1"
check "IPv6, alone" baleen ban 2001:db8:7::7/128
is "is unbanned by either" "$(feed "ban 2001:db8:7::7" "unban 2001:db8:7::7") $(dropped 2001:db8:7::{7,8})" $'ok\nok PP-PP'
check "IPv6, alone" baleen ban 2001:db8:7::7/128
is "is unbanned by either" "$(feed "unban 2001:db8:7::7") $(dropped 2001:db8:7::7)" "ok P-P"

# --- what a rule must not have ---

is "an own address, of one device" "$(feed "ban 10.66.0.2") $(dropped 10.66.0.2)" \
	"ok narrowed 10.66.0.2 is never dropped (address) P-D"
check "it is unbanned" baleen unban 10.66.0.2
echo 198.18.0.9 >"$BALEEN_CONF_DIR/never.list"
is "never.list" "$(feed "ban 198.18.0.9" "ban 198.18.0.8/31") $(dropped 198.18.0.8 198.18.0.9)" \
	"refused 198.18.0.9 is never dropped (the never-drop list)
ok narrowed 198.18.0.9 is never dropped (the never-drop list)
status 1 DP-DP"
# --- a device that is held ---

WAIT=(--wait 0)
exec 9<"$STATE_C"
flock 9
is "one device is held" "$(feed "ban 192.0.2.77")" "ok, behind: veth-c: $STATE_C: another command has been \
changing it for 0 s
status 5"
is "the other has it" "$(dropped 192.0.2.77)" D-P
exec 9<&-
is "again" "$(feed "ban 192.0.2.77") $(dropped 192.0.2.77)" "ok renewed D-D"
exec 9<"$(kept_of "$B")/veth-b" 8<"$STATE_C"
flock 9
flock 8
is "all are held" "$(feed "ban 192.0.2.78" "unban 192.0.2.77" | sed 's/: .*//' | paste -sd ' ')" \
	"ok, behind ok, behind status 5"
exec 9<&- 8<&-
check "the next command" baleen add veth-b:jail 192.0.2.79
check "of each" baleen add veth-c:list 192.0.2.79
is "finds that it is behind" "$(dropped 192.0.2.7{7,8,9})" PDD-PDD
WAIT=()

# --- snapshots, and all of an origin ---

is "a snapshot" "$(feed begin "ban 203.0.113.1" "add 203.0.113.2" commit)" "ok 2 entries, 0 refused, 4 deleted"
is "is all that the origin has" "$(dropped 203.0.113.{1,2} 192.0.2.77 192.0.2.8)" DDPP-DDPP
is "of bans alone" "$(feed begin "unban 203.0.113.1" commit)" \
	"bad a snapshot has what is to be there, not del or unban
refused the snapshot has bad lines: nothing changed
status 1"
is "not of an origin's end" "$(feed begin flush commit)" "bad flush within a snapshot
refused the snapshot has bad lines: nothing changed
status 1"
is "nothing changed" "$(dropped 203.0.113.{1,2})" DD-DD
check "another origin" baleen ban 203.0.113.3
is "flush" "$(feed "ban 203.0.113.4" flush "ban 203.0.113.5")" $'ok\nok 3 deleted\nok'
is "takes the origin's" "$(dropped 203.0.113.{1,2,3,4,5})" PPDPD-PPDPD
is "of another" "$(feed "flush origin=manual" "flush origin=a,b c") $(dropped 203.0.113.{3,5})" \
	"ok 1 deleted
bad not ttl=, origin= or reason=
status 1 PD-PD"

# --- rules that are not there ---

parked() { baleen list -j | jq -r '.[] | select(.parked) | "\(.rule) \(.entry)"' | paste -sd ,; }
is "some" "$(feed "ban 203.0.113.6" "ban 203.0.113.7")" $'ok\nok'
check "an entry of a rule" baleen add veth-c:list 203.0.113.8 203.0.113.6
check "a device without its rules" baleen detach --forget veth-c
is "has what is its own parked" "$(parked)" "list 192.0.2.79,list 203.0.113.6,list 203.0.113.8"
is "unban takes one there, too" "$(feed "unban 203.0.113.6") $(parked)" "ok list 192.0.2.79,list 203.0.113.8"
check "an entry of one rule" baleen add veth-b:bad 203.0.113.9
prints "flush of bans, all" "bans: 2 deleted" baleen flush bans --all
is "leaves other rules, and what is parked" "$(dropped 203.0.113.{7,9} | cut -d - -f 1) $(parked)" \
	"PD list 192.0.2.79,list 203.0.113.8"
is "a snapshot, too" "$(feed begin "ban 203.0.113.6" commit) $(parked)" \
	"ok 1 entries, 0 refused, 0 deleted list 192.0.2.79,list 203.0.113.8"
check "a device comes" baleen attach veth-c --drop list="$TMP/list" bans
is "R6: with what it had, and what is banned" "$(dropped 203.0.113.{6,7,8})" DPP-DPD
prints "flush of bans of an origin" "bans: 1 deleted" baleen flush bans --origin soc
is "is in force" "$(dropped 203.0.113.{6,8})" PP-PD
check_status "flush of a rule" 0 baleen flush veth-c:list --all
is "says nothing of bans where there are none" "$(<"$TMP/err")" ""
is "a ban" "$(feed "ban 203.0.113.6")" ok
check_status "flush of a rule" 0 baleen flush veth-c:list --all
is "names what stays" "$(<"$TMP/err")" "baleen: 1 ban of all rules stays: 'baleen flush bans --all' deletes it"
refuses "del of a rule does, too" "veth-c:list: 203.0.113.6 is a ban of all rules that take some: \
'baleen unban 203.0.113.6' takes it back" baleen del veth-c:list 203.0.113.6
check "and goes" baleen detach --forget veth-c
check "the other has no rule that takes bans" baleen detach --forget veth-b
is "it is parked" "$(baleen list bans | sed -n 's/.*; //p')" "parked: no rule takes bans"
is "del is of what is parked still" "$(feed "del 203.0.113.6" "ban 203.0.113.6" | sed 's/ .*//' | paste -sd ' ') $(parked | tr , '\n' | grep -c 113.6)" "ok failed status 0"
check_status "one by its configuration" 3 baleen apply

# --- as it comes ---

mkfifo "$TMP/in" "$TMP/out.fifo"
nsenter --net="/run/netns/$B" timeout 60 "$BALEEN" feed bans - --origin slow <"$TMP/in" >"$TMP/out.fifo" &
feeder=$!
exec 7>"$TMP/in" 6<"$TMP/out.fifo"
echo "ban 192.0.2.90" >&7
read -rt 20 answer <&6
is "each line is answered before the next" "$answer $(in_ns "$B" "$VERDICT" veth-b 192.0.2.90)" "ok D"
check "another command comes in between" baleen ban 192.0.2.91
check "a device comes" baleen attach veth-c --drop list="$TMP/list" bans
echo "ban 192.0.2.92" >&7
read -rt 20 answer <&6
is "and has what comes then" "$answer $(dropped 192.0.2.92)" "ok D-D"
exec 7>&- 6<&-
check "it ends with its input" wait "$feeder"
