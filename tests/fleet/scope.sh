#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What others have banned is in the book once, for all rules of all devices that take it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

make_lab 1 2
begin_fleet 1 2
H=$TMP/h2
for n in 1 2 3; do
	ip -n "$(host_ns 2)" link add "eth$n" type veth peer name "far$n"
done

# at DEVICE ADDRESS...: D or P of each, on the second host
at() { on 2 "$VERDICT" "$@"; }
at_is() { [ "$(at "${@:2}")" = "$1" ]; }
book() { sqlite3 -readonly "$H/state/network-namespaces/$(host_ns 2)/book-of-the-host/book.db" "$1"; }
rows() { book "SELECT name, count(*) FROM single JOIN scope ON scope.id = single.scope GROUP BY name" | tr '\n' ' '; }
# fed DEVICE WORD...: a configuration that takes bans of the fleet
fed() { printf '%s\n' "rule bad drop" "  feed fleet:bans${*:2}" >"$H/conf/$1.conf"; }

# --- once ---

fed eth1 " max-ttl 1d"
check_status "a second device takes the same" 3 b 2 apply eth1
check "a ban on the first host" ban 1 192.0.2.7
await "holds on one device of the second" drops 2 192.0.2.7
await "and on the other" at_is D eth1 192.0.2.7
is "it is one row" "$(rows)" "feed fleet:bans max-ttl 1d|1 "
is "list has it once" "$(b 2 list -j | jq -c '[.[] | [.device, .rule, .entry, .parked]]')" \
	'[[null,"feed fleet:bans max-ttl 1d","192.0.2.7",false]]'
is "under each rule that takes it" \
	"$(for n in 0 1; do b 2 list "eth$n:bad" -j | jq -c '[.[] | .origin]'; done)" \
	$'["fleet:h1/fail2ban"]\n["fleet:h1/fail2ban"]'
is "by the name of its set" "$(b 2 list fleet:bans -j | jq -r '.[].entry')" 192.0.2.7
check "of another set there is none" b 2 list fleet:ban
is "so nothing is printed" "$(<"$TMP/out")" ""
is "export by that name" "$(b 2 export fleet:bans | jq -r '[.key, .origin] | join(" ")')" \
	"192.0.2.7 fleet:h1/fail2ban"
is "and of a rule" "$(b 2 export eth1:bad --format text)" 192.0.2.7
is "of all it stands once" "$(b 2 export --format text)" 192.0.2.7
refuses "del of the rule's does not reach it" "eth1:bad: 192.0.2.7 is a ban of a fleet: \
'baleen fleet pardon 192.0.2.7' takes it back" b 2 del eth1:bad 192.0.2.7
check_status "nor does unban" 1 b 2 unban 192.0.2.7
is "it holds" "$(at eth0 192.0.2.7)$(at eth1 192.0.2.7)" DD

# --- devices that come ---

stop_daemon 2
fed eth2 " max-ttl 1d"
check_status "a device that comes while nobody reads" 3 b 2 apply eth2
is "has it" "$(at eth2 192.0.2.7 192.0.2.8)" DP

fed eth2 " max-ttl 2d"
check_status "it keeps them for another time" 3 b 2 apply eth2
is "and has what there is at once" "$(at eth2 192.0.2.7 192.0.2.8)" DP
fed eth2 " max-ttl 1d"
check_status "and back" 3 b 2 apply eth2
is "export and import leave to the fleet what is its own" "$(b 2 export | b 2 import - --format json |
	grep 'feed fleet' | head -n 1)" "feed fleet:bans max-ttl 1d: 0 added, 0 renewed, 0 deleted, 1 of \
Baleen's own left out, origins as listed"
expect "flush does not reach them, and says so" 0 "eth2:bad: 0 deleted" "baleen: 1 ban of a fleet stays" \
	b 2 flush eth2:bad --all
start_daemon 2

# --- one that another holds ---

exec 9<"$H/state/network-namespaces/$(host_ns 2)/eth1"
flock 9
check "a ban while one device is held" ban 1 192.0.2.20
await "holds on the others" drops 2 192.0.2.20
is "not there" "$(at eth1 192.0.2.20)" P
flock -u 9
exec 9<&-
await "it follows when it can" at_is D eth1 192.0.2.20

# --- in force is what the filters hold ---

who() { b "$1" fleet who "${@:2}" | sed 's/, ends in .*//; s/: scans$//'; }
echo 198.51.100.5 >"$H/conf/never.list"
check "bans that the second never drops" b 1 fleet ban 198.51.100.0/24 --ttl 1h
await "hold on it" at_is D eth1 198.51.100.6
is "which says so" "$(who 2 198.51.100.6)" "198.51.100.0/24  h1/operator  in force"
is "but of what passes" "$(who 2 198.51.100.5)" "198.51.100.0/24  h1/operator  not in force here: \
eth0:bad: 198.51.100.5 is never dropped (the never-drop list)"
is "and of all of it" "$(who 2 198.51.100.0/24)" "198.51.100.0/24  h1/operator  not in force here: \
eth0:bad: 198.51.100.5 is never dropped (the never-drop list)"
is "the packets agree" "$(at eth0 198.51.100.5 198.51.100.6)" PD
check "all are asked" b 1 fleet who --all 198.51.100.5
is "and say so, too" "$(<"$TMP/out")" "198.51.100.5: in force on 1 of 2
  h2  not in force: h1/operator: eth0:bad: 198.51.100.5 is never dropped (the never-drop list)"
check "an address inside is pardoned" b 1 fleet pardon 198.51.100.77
await "it passes" eval 'at_is P eth0 198.51.100.77 && passes 1 198.51.100.77'
is "the first says so" "$(who 1 198.51.100.77)" "198.51.100.0/24  h1/operator  not in force here: \
eth0:bad: its filter does not hold it"
check "a device without a filter" b 2 detach eth1
is "holds nothing" "$(who 2 198.51.100.6)" "198.51.100.0/24  h1/operator  not in force here: \
eth1:bad: it has no filter now"
check "it comes back" b 2 restore --boot eth1
is "as JSON" "$(b 2 fleet who -j 198.51.100.6 | jq -c '.[] | [.counts, .in_force, .state]')" \
	'[true,true,"in force"]'

# --- other ends, and none ---

fed eth3 " max-ttl 5s"
check_status "a rule that keeps them for seconds" 3 b 2 apply eth3
check "a ban" ban 1 192.0.2.30
await "holds there, too" at_is D eth3 192.0.2.30
is "by rows of its own" "$(book "SELECT count(*) FROM scope WHERE name GLOB '* max-ttl 5s'")" 1
await "until it ends" at_is P eth3 192.0.2.30
is "what was older did not hold" "$(at eth3 192.0.2.7)" P
is "the others go on" "$(at eth0 192.0.2.7 192.0.2.30)-$(at eth1 192.0.2.7 192.0.2.30)" DD-DD
check "the first host takes them back" take_back 1 192.0.2.7
await "they pass" eval 'at_is P eth0 192.0.2.7 && at_is P eth1 192.0.2.7'
for n in 0 1 2 3; do
	printf '%s\n' "rule bad drop" >"$H/conf/eth$n.conf"
done
check_status "no rule takes them" 3 b 2 apply
is "they pass at once" "$(at eth0 192.0.2.20)$(at eth1 192.0.2.20)" PP
await "and go from the book" eval '[ -z "$(rows | grep fleet)" ]'
for n in 0 1; do
	fed "eth$n"
done
check_status "some take them again" 3 b 2 apply
await "and have them" eval 'at_is D eth0 192.0.2.20 && at_is D eth1 192.0.2.20'
