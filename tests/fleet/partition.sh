#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One host is cut off, all sides change, and it comes back: digests are equal again. All through,
# frames go to all hosts: of those from a source that is banned none arrives, and all of others
# do. A pardon is not undone by a ban of before it that comes late.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

away_s=$(pick 15 60)
declare -A prober
make_lab 1 2 3
begin_fleet 1 2 3
printf '192.0.2.%s\n' {101..120} >"$TMP/banned"
printf '198.51.100.%s\n' {101..120} >"$TMP/others"

# probe N: frames through eth0 of a host, a round each 20 ms, until stop_probes
probe()
{
	"$TRAFFIC" --from "$S:peer$1" --to "$(host_ns "$1"):eth0" --listed "$TMP/banned" \
		--unlisted "$TMP/others" --loop --rest 20 --expect >"$TMP/h$1/frames" 2>&1 &
	prober[$1]=$!
	await "frames go to host $1" grep -qx running "$TMP/h$1/frames"
}

# stop_probes N
stop_probes()
{
	kill -INT "${prober[$1]}"
	wait "${prober[$1]}"
	is "host $1: no frame of a banned source has arrived, and each of others" \
		"$?$(grep '^traffic' "$TMP/h$1/frames")" 0
	sed "s/^/# host $1: /" "$TMP/h$1/frames"
}

mapfile -t banned <"$TMP/banned"
check "bans" b 1 add eth0:bad "${banned[@]}" --origin fail2ban --ttl 1h
for host in 1 2 3; do
	await "hold on host $host" drops "$host" "${banned[@]}"
	probe "$host"
done
check "host 3 is cut off" ip -n "$HUB" link set p-h3 down
begun=$SECONDS
check "host 1 bans" ban 1 192.0.2.11
check "host 2 bans" ban 2 192.0.2.12
check "host 3 bans" ban 3 192.0.2.13
check "host 3 bans what host 1 has banned, too" ban 3 192.0.2.11
check "host 3 bans somebody else" ban 3 192.0.2.14
await "hosts 1 and 2 share theirs" eval 'drops 1 192.0.2.12 && drops 2 192.0.2.11'
check "host 1 takes one back" take_back 1 192.0.2.11
await "it passes on host 2" passes 2 192.0.2.11
check "host 2 lets go whom host 3 has banned" b 2 fleet pardon 192.0.2.14
is "the ban of host 3 is its own" "$(verdicts 3 192.0.2.13 192.0.2.14)$(verdicts 1 192.0.2.13)" DDP
while [ $((SECONDS - begun)) -lt "$away_s" ]; do
	sleep 1
done
is "host 3 keeps what it had" "$(verdicts 3 192.0.2.101 192.0.2.120 192.0.2.14)" DDD
check "host 3 is back" ip -n "$HUB" link set p-h3 up
within 15 "digests are equal" eval 'drops 1 192.0.2.13 && agree 1 2 3'
for host in 1 2 3; do
	await "host $host drops the union" drops "$host" 192.0.2.{11..13} "${banned[@]}"
	await "and lets go whom host 2 has pardoned" passes "$host" 192.0.2.14
done
for host in 1 2 3; do
	stop_probes "$host"
done
