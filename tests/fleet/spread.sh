#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A ban made on one host holds on the others; taken back, it goes; who and why name it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

make_lab 1 2
begin_fleet 1 2

check "a ban of a published origin" b 1 add eth0:bad 192.0.2.7 --origin fail2ban --ttl 1h \
	--reason "ssh"
await "holds on the other host" drops 2 192.0.2.7
is "of nobody else" "$(verdicts 2 192.0.2.7 192.0.2.8)" DP
check "the other knows who" b 2 fleet who 192.0.2.7
is "by publisher, reason and state" "$(sed 's/ends in [0-9hms]*/ends/' "$TMP/out")" \
	"192.0.2.7  h1/fail2ban  in force, ends: ssh"
is "why of the device names it, too" \
	"$(b 2 why eth0 192.0.2.7 -j | jq -r '[.. | .origin? // empty] | unique | join(" ")')" \
	"fleet:h1/fail2ban"
check "a ban of an origin that is not published" b 1 add eth0:bad 192.0.2.9 --origin mine --ttl 1h
check "and one of the operator" b 2 fleet ban 198.51.100.0/24 --ttl 1h --reason "scans"
await "which holds on the first" drops 1 198.51.100.77
is "where the other came from" "$(verdicts 2 192.0.2.9)" P
knows_itself() { grep -q "^host h2 " "$(find "$TMP/h2/state" -name fleet.policy)"; }
await "it has the policy that knows it" knows_itself
check "a wider one than the policy lets, for longer" b 2 fleet ban 203.0.0.0/20 --ttl 2d
is "is said to be so" "$(<"$TMP/err")" "baleen: 203.0.0.0/20: in force here alone: the policy lets \
h2/operator ban no prefix shorter than /24
baleen: --ttl: on other hosts it ends after 1d: the policy lets no ban of h2/operator last longer"
await "it is held on the first" eval 'b 1 fleet why 203.0.0.0/20 | grep -q h2/operator'
is "where its addresses pass" "$(verdicts 1 203.0.0.1)$(verdicts 2 203.0.0.1)" PD
check_status "a ban of the fleet is not made by hand" 1 b 2 add eth0:bad 192.0.2.1 \
	--origin fleet:h1/fail2ban --ttl 1h
check "both ban one key" ban 2 192.0.2.7 soc
await "each has both" eval '[ "$(b 1 fleet who 192.0.2.7 -j | jq length)" = 2 ]'
check "one takes it back" take_back 1 192.0.2.7
await "the other host has only its own" \
	eval '[ "$(b 2 fleet who 192.0.2.7 -j | jq -r ".[].publisher")" = h2/soc ]'
is "it is still dropped on both" "$(verdicts 1 192.0.2.7)$(verdicts 2 192.0.2.7)" DD
check "a pardon" b 1 fleet pardon 192.0.2.7 --reason "a customer"
within 15 "it passes on both, and who banned it takes it back" \
	eval 'passes 1 192.0.2.7 && passes 2 192.0.2.7'
await "digests agree" agree 1 2

check "bans of the second in one prefix" ban 2 203.0.113.7 soc
check "two of them" ban 2 203.0.113.8
await "hold on the first" drops 1 203.0.113.7 203.0.113.8
check "a pardon of the prefix" b 1 fleet pardon 203.0.113.0/28
await "they pass on the first" passes 1 203.0.113.7 203.0.113.8
await "and on the second, which made them" passes 2 203.0.113.7 203.0.113.8
check "one is banned again" ban 2 203.0.113.7 soc
await "it holds on the first" drops 1 203.0.113.7
is "and on the second" "$(verdicts 2 203.0.113.7)" D
check "a ban of a prefix" b 1 fleet ban 203.0.113.128/25 --ttl 1h
await "holds on the second" drops 2 203.0.113.200
check "an address of it is pardoned" b 2 fleet pardon 203.0.113.200
await "it passes on the second" passes 2 203.0.113.200
await "and on the first, which made the ban" passes 1 203.0.113.200
is "its neighbour does not" "$(verdicts 1 203.0.113.201)$(verdicts 2 203.0.113.201)" DD
await "digests agree" agree 1 2

stop_daemon 2
check "without baleend on the second" ban 1 192.0.2.10
is "what came is in force" "$(verdicts 2 198.51.100.77)" D
start_daemon 2
await "and it gets the rest when it is back" drops 2 192.0.2.10

# --- asked of all --------------------------------------------------------------------

check "one more ban" b 1 add eth0:bad 192.0.2.20 --origin fail2ban --ttl 1h
await "holds on the second" drops 2 192.0.2.20
check "all hosts are asked" b 1 fleet who --all 192.0.2.20
is "it is in force on both" "$(<"$TMP/out")" "192.0.2.20: in force on 2 of 2"
check_status "of another one, too" 1 b 2 fleet why --all 192.0.2.21 -j
is "which nobody knows of" "$(jq -c '[.in_force, .of, (.hosts[] | .state)]' "$TMP/out")" \
	'[0,2,"knows of no ban","knows of no ban"]'
check "the first is suspended" b 2 fleet suspend h1/fail2ban
await "it passes on the second" passes 2 192.0.2.20
check "asked again" b 2 fleet why --all 192.0.2.20
is "it is in force where it was made" "$(<"$TMP/out")" "192.0.2.20: in force on 1 of 2
  h2  does not count: h1/fail2ban: its publisher is suspended"
check "the first is resumed" b 2 fleet resume h1/fail2ban
await "it holds again" drops 2 192.0.2.20
stop_daemon 2
check "asked while the second is away" b 1 fleet who --all --wait 1 192.0.2.20
is "it is named" "$(<"$TMP/out")" "192.0.2.20: in force on 1 of 2
  h2  no answer"
start_daemon 2
await "it is back" eval '[ "$(b 1 fleet who --all 192.0.2.20)" = "192.0.2.20: in force on 2 of 2" ]'

check "the filter of the second is saved" b 2 save eth0 -o "$TMP/saved"
is "with the bans that it takes" "$(grep -c 'feed fleet:bans max-ttl 1d' "$TMP/saved/device.conf")" 1
check "detached" b 2 detach --forget --entries eth0
check "and restored" b 2 restore --force eth0 "$TMP/saved"
check "a ban on the first" b 1 add eth0:bad 192.0.2.12 --origin fail2ban --ttl 1h
await "holds on the second, which goes on taking them" drops 2 192.0.2.12
