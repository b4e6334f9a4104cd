#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A day of traffic, played: three caches that are siblings of each other, whose disks are too
# small, and that are started again by turns. What it counts stands beside plain ICP, with the
# same requests: hung ones, false hits (a sibling was said to have it, and had it not), and
# wrong misses (it was fetched from the origin while a sibling had it).
#
#      north 10.9.0.1 --- south 10.9.0.2 --- east 10.9.0.4      each answers on its own eth0
#
# 3,000 requests of each; 100,000 with TEST_ALL=1.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

DAY=$ROOT/tests/squid/day.py
NAMES=(north south east)
declare -A HOST=([north]=1 [south]=2 [east]=4) LOG captor=()
N_BATCHES=10
# A file takes a block of 4 KiB: 512 objects on each disk, and 1,500 that are asked for.
N_REQUESTS=3000 N_URLS=1500 DISK_MB=2
[ -z "${TEST_ALL-}" ] || N_REQUESTS=100000 N_URLS=12000 DISK_MB=16

# others NAME: hosts of its siblings
others()
{
	local name

	for name in "${NAMES[@]}"; do
		[ "$name" = "$1" ] || echo "${HOST[$name]}"
	done
}

# answer_for NAME MODE: and what its Squid says of its store goes to its own loopback
answer_for()
{
	lab_in "$1" "$BALEEN" icp attach eth0 --asker 10.9.0.0/24 --feed lo:3131 --capacity 40k \
		--sibling "$1=10.9.0.${HOST[$1]},mode=$2,feeder=127.0.0.1" >"$TMP/out" 2>&1 ||
		bail "$(<"$TMP/out")"
	nsenter --net="/run/netns/$(lab_ns "$1")" -- python3 "$DAY" capture 3131 "$TMP/$1/store.log" \
		>"$TMP/$1/captor" 2>&1 &
	captor[$1]=$!
	wait_for "capture" grep -q ready "$TMP/$1/captor"
}

# begin SUBJECT: the caches, empty
begin()
{
	local name lines

	for name in "${NAMES[@]}"; do
		rm -rf "${TMP:?}/$name"
		mkdir -p "$TMP/$name"
		echo "10.9.0.${HOST[$name]}" >"$TMP/$name/address"
		LOG[$name]="cache_store_log udp://127.0.0.1:3131"
		if [ "$1" = plain ]; then
			LOG[$name]=$(squid_store_log "$name")
		else
			answer_for "$name" "$1"
		fi
		# Timeouts are those of Squid: one that is down is waited for as by anybody.
		# shellcheck disable=SC2046 # words
		mapfile -t lines < <(squid_sibling "$name" $(others "$name") | grep cache_peer)
		squid_start "$name" "digest_generation off" "cache_mem 1 MB" "${LOG[$name]}" \
			"cache_dir ufs $TMP/$name/cache $DISK_MB 4 16" "${lines[@]}"
	done
}

# begin_again NAME: as its service would, with the drop-in of baleen-icp(8)
begin_again()
{
	squid_run "$1"
	[ -z "${captor[$1]-}" ] ||
		lab_in "$1" "$BALEEN" icp resync "eth0:$1" "$TMP/$1/cache/swap.state" >"$TMP/out" 2>&1 ||
		bail "$(<"$TMP/out")"
}

# play: the day
play()
{
	local batch name down="" pids began

	for ((batch = 0; batch < N_BATCHES; batch++)); do
		pids=()
		for name in "${NAMES[@]}"; do
			[ "$name" != "$down" ] || continue
			awk -v n=$N_BATCHES -v batch=$batch 'NR % n == batch' "$TMP/urls.$name" >"$TMP/batch.$name"
			lab_fetch "$name" --max-time 20 --no-progress-meter --parallel --parallel-max 8 -- - \
				<"$TMP/batch.$name" >"$TMP/statuses.$name" &
			pids+=($!)
		done
		wait "${pids[@]}"
		for name in "${NAMES[@]}"; do
			[ "$name" = "$down" ] || cat "$TMP/statuses.$name" >>"$TMP/$name/all_statuses"
		done
		if [ -n "$down" ]; then
			begin_again "$down"
			echo "$began $(date +%s.%N)" >>"$TMP/$down/down"
		fi
		down=
		# Every third batch one of them is not there.
		if ((batch % 3 == 1)); then
			down=${NAMES[batch / 3 % 3]}
			began=$(date +%s.%N)
			squid_stop "$down"
		fi
	done
}

# end SUBJECT: what came of it, in $TMP/SUBJECT
end()
{
	local name

	for name in "${NAMES[@]}"; do
		[ -z "${squid_pid[$name]-}" ] || squid_stop "$name"
		if [ -n "${captor[$name]-}" ]; then
			kill "${captor[$name]}"
			wait "${captor[$name]}" 2>/dev/null
		fi
		[ "$1" = plain ] || lab_in "$name" "$BALEEN" icp detach eth0 >"$TMP/out" 2>&1
	done
	captor=()
	python3 "$DAY" count "$TMP" "${NAMES[@]}" >"$TMP/day.$1" || bail "day.py"
}

# figure SUBJECT NAME
figure()
{
	awk -v name="$2" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }' "$TMP/day.$1"
}

report()
{
	local subject name

	printf '# %-10s' ""
	for name in requests own sibling origin false_hits wrong_misses hung; do
		printf ' %12s' "$name"
	done
	printf '\n'
	for subject in plain confirm answer; do
		printf '# %-10s' "$subject"
		for name in requests own sibling origin false_hits wrong_misses hung; do
			printf ' %12d' "$(figure "$subject" "$name")"
		done
		printf '\n'
	done
}

# at_most NAME SUBJECT FIGURE N
at_most()
{
	if [ "$(figure "$2" "$3")" -le "$4" ]; then
		ok "$1"
	else
		not_ok "$1" "$(figure "$2" "$3"), and at most $4 are let be"
	fi
}

lab_start
for name in "${NAMES[@]}"; do
	lab_node "$name" "${HOST[$name]}"
	python3 "$DAY" urls "${HOST[$name]}" $((N_REQUESTS / 3)) $N_URLS >"$TMP/urls.$name"
done
for subject in plain confirm answer; do
	begin $subject
	play
	end $subject
done
report
for subject in plain confirm answer; do
	is "$subject: every request has its answer" "$(figure $subject hung)" 0
done
is "some are evicted, and some found at siblings" \
	"$(($(figure plain sibling) > 0 && $(figure confirm sibling) > 0 && $(figure answer sibling) > 0))" 1
# Plain ICP has wrong misses, too: an answer that comes after Squid's timeout. How many is the
# load of this machine, so one in a hundred requests more is let be.
percent=$((N_REQUESTS / 100))
at_most "confirm: no more false hits than plain ICP" confirm false_hits $(($(figure plain false_hits) + percent / 10))
at_most "confirm: no more wrong misses" confirm wrong_misses $(($(figure plain wrong_misses) + percent))
at_most "answer: no more false hits" answer false_hits $(($(figure plain false_hits) + percent))
at_most "answer: no more wrong misses" answer wrong_misses $(($(figure plain wrong_misses) + percent))
