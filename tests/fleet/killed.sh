#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# baleend and baleen-fleetd are killed while bans go out and come in, again and again: all bans
# come to all hosts. The disk of a receiver is full: it says so, what is in force stays, and it
# gets the rest when there is room.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

cleanup()
{
	stop_lab
	umount -l "$TMP/h2/state"
}

n=$(pick 20 100)
make_hub
make_redis 1
start_redis 1
make_host 1
make_host 2
mkdir "$TMP/h2/state"
mount -t tmpfs -o size=8m,mode=0700 baleen-test "$TMP/h2/state" || bail "no tmpfs"
begin_fleet 1 2

# kill_all N: baleend of a host and what it has started, at once
kill_all()
{
	local pid pids

	for pid in $(pgrep -P "${daemon_pid[$1]}"); do
		pids+=" $pid $(pgrep -P "$pid")"
	done
	# shellcheck disable=SC2086 # words
	kill -KILL "${daemon_pid[$1]}" $pids 2>/dev/null
	wait "${daemon_pid[$1]}" 2>/dev/null
	unset "daemon_pid[$1]"
}

addresses=()
for ((i = 1; i <= n; i++)); do
	addresses+=("203.0.113.$i")
	b 1 add eth0:bad "203.0.113.$i" --origin fail2ban --ttl 1h >/dev/null || not_ok "ban $i"
	# At another point of what follows each time.
	for ((spin = 0; spin < i * 400; spin++)); do :; done
	victim=$((i % 2 + 1))
	kill_all "$victim"
	start_daemon "$victim"
done
sampled "kills" "$n" 100
await "all bans hold on the other host" drops 2 "${addresses[@]}"
await "digests agree" agree 1 2

# --- a full disk ----------------------------------------------------------------------

dd if=/dev/zero of="$TMP/h2/state/fill" bs=64k status=none 2>/dev/null
for ((i = 1; i <= 50; i++)); do
	echo "add 198.51.100.$i ttl=1h origin=soc reason=$(printf '%0200d' "$i")"
done >"$TMP/bans"
check "bans while the disk of the other host is full" \
	eval 'b 1 feed eth0:bad - <"$TMP/bans" >/dev/null'
await "it says so" grep -qiE "disk|space|full" "$TMP/h2/log"
is "what is in force stays" "$(verdicts 2 203.0.113.1 203.0.113.2)" DD
rm "$TMP/h2/state/fill"
await "with room it gets the rest" drops 2 198.51.100.1 198.51.100.50
await "digests agree" agree 1 2
