#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A ban that waits until hosts enforce it; addresses that a policy never bans; what another policy
# would make of what there is; who has said what.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

make_lab 1 2
begin_fleet 1 2
etc=$TMP/h1/conf/fleet

# --- until hosts enforce it ------------------------------------------------------------------

check "a ban on all hosts" b 1 fleet ban 192.0.2.7 --ttl 1h --hosts all --reason "scans ports"
is "says that it is in force there" "$(tail -n 1 "$TMP/out")" "192.0.2.7: in force on 2 of 2"
is "and it is" "$(verdicts 1 192.0.2.7)$(verdicts 2 192.0.2.7)" DD
stop_daemon 2
check "one host is enough" b 1 fleet ban 192.0.2.8 --ttl 1h --hosts 1
check_status "two are not to be had" 1 b 1 fleet ban 192.0.2.9 --ttl 1h --hosts 2
is "which is said, and who is missing" "$(tail -n 2 "$TMP/out")" "192.0.2.9: in force on 1 of 2
  h2  no answer"
start_daemon 2
await "it comes there when it is back" drops 2 192.0.2.9
check_status "no host is no number" 2 b 1 fleet ban 192.0.2.9 --hosts none

# --- a dry run ----------------------------------------------------------------------------------

check "bans of the second" b 2 add eth0:bad 203.0.113.1 203.0.113.2 203.0.113.3 --origin soc --ttl 1h
await "hold on the first" drops 1 203.0.113.1 203.0.113.2 203.0.113.3
cp "$etc/policy" "$TMP/try"
check "the policy that is in force changes nothing" b 1 fleet check "$TMP/try"
sed -i 's|^publisher \*/\*$|&\n  entries 1|; /^serial/a never 203.0.113.3' "$TMP/try"
check_status "one that lets less" 1 b 1 fleet check "$TMP/try"
is "says what would be held, and why" "$(<"$TMP/out")" \
	"h2/soc: 1 of 3 entries would count, not 3; held: entries 1, never 1"
sed 's/^host h2 .*//' "$etc/policy" >"$TMP/without"
check_status "one without the second host" 1 b 1 fleet check "$TMP/without"
is "says what would be forgotten" "$(grep h2/soc "$TMP/out")" \
	"h2/soc: would be unknown: all its 3 entries would be forgotten"
is "nothing is otherwise" "$(verdicts 1 203.0.113.1 203.0.113.2 203.0.113.3)" DDD
sed -i 's/^fleet lab/fleet bal/' "$TMP/try"
check_status "one of another fleet" 1 b 1 fleet check "$TMP/try"

# --- never --------------------------------------------------------------------------------------

check "a ban of a prefix" b 2 fleet ban 198.51.100.0/24 --ttl 1h
await "holds on the first" drops 1 198.51.100.7 198.51.100.8
sed -i 's/^serial.*/serial 9/; /^serial/a never 203.0.113.3 198.51.100.7' "$etc/policy"
check "a policy with two that are never banned" minisign -S -s "$etc/policy.key" -m "$etc/policy"
await "one passes on the first" passes 1 203.0.113.3
await "the other one, too, inside a wider ban" passes 1 198.51.100.7
is "whose others do not" "$(verdicts 1 198.51.100.8 203.0.113.2)" DD
check_status "why does not find it counting" 1 b 1 fleet why 203.0.113.3
is "and says why" "$(sed 's/, ends.*//' "$TMP/out")" "203.0.113.3  h2/soc  held: never"
check "a wider ban that comes later" b 2 fleet ban 198.51.100.0/25 --ttl 1h
await "holds" eval 'b 1 fleet who 198.51.100.0/25 | grep -q 198.51.100.0/25'
await "but for that one" passes 1 198.51.100.7

# --- another key ------------------------------------------------------------------------------------

check "the second makes another key" b 2 fleet rotate
next=$(b 2 fleet rotate -j | jq -r .key)
is "the same, asked again" "$(grep -c "baleen fleet admit h2 $next;" "$TMP/out")" 1
check "a ban by the old one" ban 2 192.0.2.31
await "holds on the first" drops 1 192.0.2.31
check "the policy learns of it" b 1 fleet admit h2 "$next"
signs() { [ "$(b 2 fleet rotate -j | jq .done)" = true ]; }
await "the second signs with it, and the old one goes" signs
check "it is in its place" [ ! -e "$TMP/h2/conf/fleet/host.key.next" ]
check "a ban by the new one" ban 2 192.0.2.32
await "holds on the first" drops 1 192.0.2.32
is "and what there was" "$(verdicts 1 192.0.2.31 198.51.100.8)" DD
await "digests agree" agree 1 2

# --- who has said what ------------------------------------------------------------------------------

check "a pardon" b 1 fleet pardon 203.0.113.1 --reason "a customer"
await "counts on the second" passes 2 203.0.113.1
check "a suspension" b 1 fleet suspend h2/soc
await "comes to the second" eval 'b 2 fleet log | grep -q "suspend h2/soc"'
key=$(awk '$1 == "host" && $2 == "h1" { print substr($3, 1, 8) }' "$etc/policy")
check "the log" b 2 fleet log
is "names who, what, why, and by which key" "$(cut -d ' ' -f 3- "$TMP/out" | head -n 2)" \
	"h1/control  suspend h2/soc  (key $key)
h1/control  pardon 203.0.113.1: a customer  (key $key)"
is "bans, too" "$(grep -c 'h1/operator  ban 192.0.2.7: scans ports' "$TMP/out")" 1
is "as JSON" "$(b 2 fleet log -j -n 1 | jq -c '.[] | [.publisher, .what, .of, .key]')" \
	"[\"h1/control\",\"suspend\",\"h2/soc\",\"$key\"]"
