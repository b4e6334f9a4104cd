#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kill -9 of baleend and all that it has started, at system calls of the process that publishes
# and of the one that receives: what was in force stays, and each change comes to the other host.
# The disk of a receiver is full: it says so, what is in force stays, and it gets the rest when
# there is room.

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

n_points=$(pick 5 50)
make_lab 1 2
mkdir "$TMP/h2/state"
mount -t tmpfs -o size=8m,mode=0700 baleen-test "$TMP/h2/state" || bail "no tmpfs"
begin_fleet 1 2

# --- processes ------------------------------------------------------------------------------

# workers N: publisher and reader of a host; the publisher is started first
workers() { pgrep -P "$(pgrep -P "${daemon_pid[$1]}" -x baleen-fleetd)" | sort -n; }
has_workers() { [ "$(workers "$1" | wc -l)" -eq 2 ]; }

# find_worker N publisher|reader: sets worker to its id
find_worker()
{
	wait_for 60 has_workers "$1" ||
		bail "host $1 has no baleen-fleetd: $(tail -n 3 "$TMP/h$1/log"; pgrep -a baleen)"
	worker=$(workers "$1" | if [ "$2" = publisher ]; then head -n 1; else tail -n 1; fi)
}

# kill_all N: baleend of a host and what it has started, at once
kill_all()
{
	local pid pids=''

	for pid in $(pgrep -P "${daemon_pid[$1]}"); do
		pids+=" $pid $(pgrep -P "$pid" | tr '\n' ' ')"
	done
	# shellcheck disable=SC2086 # words
	kill -KILL "${daemon_pid[$1]}" $pids 2>/dev/null
	wait "${daemon_pid[$1]}" 2>/dev/null
	unset "daemon_pid[$1]"
}

is_traced() { ! grep -q '^TracerPid:	0$' "/proc/$1/status"; }
is_gone() { [ ! -e "/proc/$1" ]; }

# trace PID OPTION...: strace, until end_trace
trace()
{
	strace -qq -p "$1" "${@:2}" 2>"$TMP/strace" &
	tracer=$!
	wait_for 30 is_traced "$1" || bail "strace: $(<"$TMP/strace")"
}

end_trace()
{
	kill -INT "$tracer" 2>/dev/null
	wait "$tracer" 2>/dev/null
}

# --- points ----------------------------------------------------------------------------------

# change I: the Ith ban of host 1, or the end of the one before
change()
{
	if [ $(($1 % 2)) -eq 1 ]; then
		ban 1 "203.0.113.$1"
	else
		take_back 1 "203.0.113.$(($1 - 1))"
	fi
}

# has_come I: that change is in force on host 2
has_come()
{
	if [ $(($1 % 2)) -eq 1 ]; then
		drops 2 "203.0.113.$1"
	else
		passes 2 "203.0.113.$(($1 - 1))"
	fi && agree 1 2
}

# find_points N WORKER: calls that it makes for one change: a line `GROUP NAME K` each
find_points()
{
	i=$((i + 1))
	find_worker "$1" "$2"
	trace "$worker" -o "$TMP/log"
	change "$i" >"$TMP/out" || not_ok "change $i"
	await "$2: a change comes, with strace" has_come "$i"
	end_trace
	awk -v from=. -v to='^$' -v all=1 -f "$ROOT/tests/killed.awk" "$TMP/log" 2>"$TMP/n" >"$TMP/points"
	awk -v n="$n_points" '{ line[NR] = $0 } END {
		for (k = 1; k <= n && k <= NR; k++)
			print line[int((k - 0.5) * NR / (n < NR ? n : NR)) + 1] }' "$TMP/points" >"$TMP/some"
}

# try_point N WORKER NAME K: it dies on entry to its Kth call of NAME from here on
try_point()
{
	i=$((i + 1))
	find_worker "$1" "$2"
	trace "$worker" -o /dev/null -e trace="$3" -e inject="$3:signal=KILL:when=$4"
	change "$i" >"$TMP/out" 2>&1 || bad+=" $3 $4: change $i: $(<"$TMP/out");"
	# It may make fewer calls than the last time.
	wait_for 3 is_gone "$worker" && n_killed=$((n_killed + 1))
	end_trace
	kill_all "$1"
	[ "$(verdicts 1 "${kept[@]}")$(verdicts 2 "${kept[@]}")" = DDDDDD ] ||
		bad+=" $3 $4: what was in force is not;"
	start_daemon "$1"
	wait_for 60 has_come "$i" || bad+=" $3 $4: change $i did not come;"
}

# try_worker N WORKER
try_worker()
{
	local bad='' n_killed=0 n=0 name k

	find_points "$1" "$2"
	while read -r _ name k; do
		n=$((n + 1))
		try_point "$1" "$2" "$name" "$k" </dev/null
	done <"$TMP/some"
	is "$2 killed at $n of its $(wc -l <"$TMP/points") calls: all is well afterwards" "$bad" ""
	check "$n_killed of them were reached" [ "$n_killed" -ge $((n * 4 / 5)) ]
}

i=0
kept=(192.0.2.1 192.0.2.2 192.0.2.3)
check "bans that are to stay" b 1 add eth0:bad "${kept[@]}" --origin soc --ttl 1h
await "hold on the other host" drops 2 "${kept[@]}"
try_worker 1 publisher
try_worker 2 reader
sampled "points" $((2 * n_points)) 100
for host in 1 2; do
	is "the database of host $host is whole" "$(sqlite3 \
		"$(find "$TMP/h$host/state" -name fleet.db)" 'PRAGMA integrity_check')" ok
done

# --- a full disk ----------------------------------------------------------------------

dd if=/dev/zero of="$TMP/h2/state/fill" bs=64k status=none 2>/dev/null
for ((i = 1; i <= 50; i++)); do
	echo "add 198.51.100.$i ttl=1h origin=soc reason=$(printf '%0200d' "$i")"
done >"$TMP/bans"
check "bans while the disk of the other host is full" \
	eval 'b 1 feed eth0:bad - <"$TMP/bans" >/dev/null'
await "it says so" grep -qiE "disk|space|full" "$TMP/h2/log"
is "what is in force stays" "$(verdicts 2 "${kept[@]}")" DDD
rm "$TMP/h2/state/fill"
await "with room it gets the rest" drops 2 198.51.100.1 198.51.100.50
await "digests agree" agree 1 2
