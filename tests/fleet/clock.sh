#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Hosts whose clocks are an hour ahead, and an hour behind: bans end within 2 s of when they
# should, on each host by its own clock.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

clock_s=([2]=3600 [3]=-3600)
make_lab 1 2 3
for host in 2 3; do
	off_s=$(($(on "$host" date +%s) - $(date +%s) - ${clock_s[$host]}))
	check "the clock of host $host is ${clock_s[$host]} s off" [ "${off_s#-}" -le 1 ]
done
begin_fleet 1 2 3

# end_of N ADDRESS: when a ban ends on a host by the right clock, in milliseconds
end_of()
{
	local left_ms before_ms=$((${EPOCHREALTIME/./} / 1000))

	left_ms=$(b "$1" list eth0:bad -j | jq --arg key "$2" 'first(.[] | select(.entry == $key)).left_ms')
	echo $((before_ms + left_ms))
}

# is_right MS BEFORE_MS AFTER_MS: 2 s about an hour after it was banned; to list takes its time, too
is_right() { [ "$1" -ge $(($2 + 3600000 - 2000)) ] && [ "$1" -le $(($3 + 3600000 + 2000)) ]; }

for host in 1 2 3; do
	before_ms=$((${EPOCHREALTIME/./} / 1000))
	check "host $host bans for an hour" ban "$host" "192.0.2.$host"
	after_ms=$((${EPOCHREALTIME/./} / 1000))
	for other in 1 2 3; do
		await "it holds on host $other" drops "$other" "192.0.2.$host"
		end_ms=$(end_of "$other" "192.0.2.$host")
		check "and ends within 2 s of right" is_right "$end_ms" "$before_ms" "$after_ms"
		echo "# $((end_ms - before_ms - 3600000)) ms after it"
	done
done
await "digests agree" agree 1 2 3
for host in 2 3; do
	check "host $host bans for 8 s" b "$host" add eth0:bad "198.51.100.$host" \
		--origin fail2ban --ttl 8s
	await "it holds on host 1" drops 1 "198.51.100.$host"
	await "and ends" passes 1 "198.51.100.$host"
done
is "the others stay" "$(verdicts 1 192.0.2.{1..3})$(verdicts 2 192.0.2.{1..3})$(verdicts 3 192.0.2.{1..3})" \
	DDDDDDDDD
