#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One host is cut off, all sides change, and it comes back: digests are equal again. All through,
# frames from a source that is banned do not arrive, and those of others do.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

away_s=$(pick 15 60)
make_hub
make_redis 1
start_redis 1
for host in 1 2 3; do
	make_host "$host"
done
begin_fleet 1 2 3

# ban N ADDRESS
ban() { b "$1" add eth0:bad "$2" --origin fail2ban --ttl 1h; }

# probe: what comes through all the time, until $TMP/stop is there; a line for each verdict
# that is not the right one
probe()
{
	local n got

	while [ ! -e "$TMP/stop" ]; do
		for n in 1 2 3; do
			got=$(verdicts "$n" 192.0.2.1 198.51.100.1)
			echo "$got" >>"$TMP/probes"
			[ "$got" = DP ] || echo "host $n: $got" >>"$TMP/wrong"
		done
	done
}

check "a ban" ban 1 192.0.2.1
for host in 2 3; do
	await "holds on host $host" drops "$host" 192.0.2.1
done
: >"$TMP/wrong"
probe &
prober=$!
check "host 3 is cut off" ip -n "$HUB" link set p-h3 down
begun=$SECONDS
check "host 1 bans" ban 1 192.0.2.11
check "host 2 bans" ban 2 192.0.2.12
check "host 3 bans" ban 3 192.0.2.13
check "host 3 bans what host 1 has banned, too" ban 3 192.0.2.11
await "hosts 1 and 2 share theirs" eval 'drops 1 192.0.2.12 && drops 2 192.0.2.11'
check "host 1 takes one back" b 1 del eth0:bad 192.0.2.11 --origin fail2ban
await "it passes on host 2" passes 2 192.0.2.11
is "the ban of host 3 is its own" "$(verdicts 3 192.0.2.13)$(verdicts 1 192.0.2.13)" DP
while [ $((SECONDS - begun)) -lt "$away_s" ]; do
	sleep 1
done
check "host 3 is back" ip -n "$HUB" link set p-h3 up
begun=$SECONDS
await "digests are equal" eval 'drops 1 192.0.2.13 && agree 1 2 3'
echo "# after $((SECONDS - begun)) s"
for host in 1 2 3; do
	await "host $host drops the union" drops "$host" 192.0.2.1 192.0.2.{11..13}
done
: >"$TMP/stop"
wait "$prober"
is "no verdict was wrong all through" "$(sort "$TMP/wrong" | uniq -c | head -n 5)" ""
check "and there were many" test "$(wc -l <"$TMP/probes")" -gt 30
