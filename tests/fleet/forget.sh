#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Only del, unban, a pardon and an end take a ban back from other hosts: not a device that is
# forgotten, not a rule that is renamed, not a disk that is lost. A host that has lost its disk goes
# on with what it had published; what an operator had said stays said. The broker's clock that is
# set back by half an hour takes nothing out of force, and voids no pardon.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

make_lab 1 2
begin_fleet 1 2

# looks N: a host compares heads once more
agreed_s() { b "$1" fleet status -j | jq .agreed_s; }
agrees_again() { [ "$(agreed_s 2)" -gt "$before" ]; }
look_again()
{
	before=$(agreed_s 2)
	await "$1" agrees_again
}

all=(192.0.2.2 192.0.2.3 192.0.2.4)
check "a ban of its rule" ban 1 192.0.2.2
check "one of the operator" b 1 fleet ban 192.0.2.3 --ttl 1h
check "one of another origin" ban 1 192.0.2.4 soc
await "they hold on the second" drops 2 "${all[@]}"

# --- a rule that is renamed, a device that is forgotten ------------------------------------------

sed -i 's/^rule bad/rule worse/' "$TMP/h1/conf/eth0.conf"
check_status "the rule gets another name" 3 b 1 apply
look_again "the second compares heads"
is "all bans of the first hold there" "$(verdicts 2 "${all[@]}")" DDD
check "the device is detached, and forgotten" b 1 detach --forget eth0
look_again "the second compares heads"
is "the others hold there" "$(verdicts 2 192.0.2.3 192.0.2.4)" DD
sed -i 's/^rule worse/rule bad/' "$TMP/h1/conf/eth0.conf"
check_status "it is attached again" 3 b 1 apply
look_again "the second compares heads"
is "the others hold there" "$(verdicts 2 192.0.2.3 192.0.2.4)" DD
is "and on the first" "$(verdicts 1 192.0.2.3 192.0.2.4)" DD
check "del takes one back" b 1 del eth0:bad 192.0.2.2 --origin fail2ban
await "which passes" passes 2 192.0.2.2
check "a ban with an end" b 1 add eth0:bad 192.0.2.8 --origin fail2ban --ttl 4s
await "holds on the second" drops 2 192.0.2.8
await "until it ends" passes 2 192.0.2.8

# --- a disk that is lost -----------------------------------------------------------------------

check "a pardon of a ban of the second" eval 'ban 2 192.0.2.9 && b 1 fleet pardon 192.0.2.9'
await "it passes there" passes 2 192.0.2.9
snapshot_of() { [ "$(redis 1 exists "{lab}:snap:$1")" = 1 ]; }
await "Redis has a snapshot of all" eval \
	'snapshot_of h1/soc && snapshot_of h1/operator && snapshot_of h1/control'
stop_daemon 1
rm -rf "$TMP/h1/state"
check_status "the first is installed anew, with its keys" 3 b 1 apply
start_daemon 1
check "a ban of it" ban 1 192.0.2.5 soc
AWAIT_SECONDS=100 await "comes to the second" drops 2 192.0.2.5
is "which has the others as before" "$(verdicts 2 192.0.2.3 192.0.2.4)" DD
await "the first has inherited what it had published" drops 1 192.0.2.4 192.0.2.5
is "and says so" "$(grep -c "h1/soc: this host was installed anew" "$TMP/h1/log")" 1
check "the operator bans once more" b 1 fleet ban 192.0.2.6 --ttl 1h
AWAIT_SECONDS=100 await "which comes to the second" drops 2 192.0.2.6
is "what he had banned before is there" "$(verdicts 2 192.0.2.3)" D
check "he lets one go" b 1 fleet pardon 192.0.2.6
AWAIT_SECONDS=100 await "which passes on the second" passes 2 192.0.2.6
is "what he had let go before does, too" "$(verdicts 2 192.0.2.9)" P
await "digests agree" agree 1 2

# --- a clock that is set back --------------------------------------------------------------------

end_ms() { b "$1" list eth0:bad -j | jq "first(.[] | select(.entry == \"$2\")).left_ms"; }
check "a ban" ban 2 198.51.100.1
await "holds on the first" drops 1 198.51.100.1
left_ms=$(end_ms 1 198.51.100.1) begun_ms=$((${EPOCHREALTIME/./} / 1000))
stop_redis 1 KILL
LD_PRELOAD=$ROOT/build/tools/clock.so CLOCK_SHIM_S=-1800 start_redis 1
off_s=$(($(redis 1 time | head -n 1) - $(date +%s) + 1800))
check "the broker's clock is half an hour back" [ "${off_s#-}" -le 1 ]
for host in 1 2; do
	stop_daemon "$host"
	start_daemon "$host"
done
for host in 1 2; do
	await "host $host says so" grep -q "the broker's clock was set by -1[78][0-9][0-9] s" "$TMP/h$host/log"
done
await "digests agree" agree 1 2
is "what was banned is" "$(verdicts 1 198.51.100.1)$(verdicts 2 192.0.2.4)" DD
has_end() { left=$(end_ms 1 198.51.100.1); off=$((left + ${EPOCHREALTIME/./} / 1000 - begun_ms - left_ms)); [ "${off#-}" -lt 3000 ]; }
await "and ends when it was to" has_end
is "what was let go is let go" "$(verdicts 2 192.0.2.9)" P
check "a pardon of now" b 1 fleet pardon 198.51.100.1
await "counts on the first" passes 1 198.51.100.1
await "and on the second" passes 2 198.51.100.1
check "a ban of after it" ban 2 198.51.100.1
await "counts on the first" drops 1 198.51.100.1
check "the publisher is suspended" b 1 fleet suspend h2/fail2ban
await "it passes" passes 1 198.51.100.1
check "and resumed" b 2 fleet resume h2/fail2ban
await "it counts" drops 1 198.51.100.1
# A head is signed by the clock as it was set: it is before those of before, and heard all the same.
sleep 45
heard() { status_of 1 '.publishers[] | select(.name == "h2/fail2ban") | .silence_ms'; }
check "the second is heard of since" [ "$(heard)" -lt 45000 ]
is "and nobody waits or is refused for good" "$(status_of 1 '[.silent, .behind]' | jq -c)" "[0,0]"
