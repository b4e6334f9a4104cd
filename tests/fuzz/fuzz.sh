#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs every fuzz target for FUZZ_SECONDS, by default 30, from its seeds in tests/fuzz/seeds/, if it
# has some: one that ends without a finding is ok. An input that was found is kept as
# build/log/TARGET-*; its place is among the seeds once it is mended.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

SECONDS_EACH=${FUZZ_SECONDS:-30}
SEED=1

# start TARGET: in the background, the log in $TMP/TARGET.log. It has a loopback and ports of its own.
start()
{
	local seeds=()

	[ -d "tests/fuzz/seeds/$1" ] && seeds=("tests/fuzz/seeds/$1")
	mkdir "$TMP/$1"
	# shellcheck disable=SC2016 # of the inner shell
	timeout --kill-after=10 $((SECONDS_EACH + 60)) unshare --net --map-root-user \
		bash -c 'ip link set lo up && exec "$@"' - "build/fuzz/$1" -seed="$SEED" \
		-max_total_time="$SECONDS_EACH" -timeout=10 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="build/log/$1-" "$TMP/$1" "${seeds[@]}" \
		>"$TMP/$1.log" 2>&1 &
	pid[$1]=$!
}

# report TARGET: waits for it
report()
{
	local n

	wait "${pid[$1]}"
	local status=$?
	n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$TMP/$1.log")
	if [ "$status" -eq 0 ] && [ "${n:-0}" -gt 0 ]; then
		ok "$1, seed $SEED: $n executions in $SECONDS_EACH s, no finding"
	else
		not_ok "$1, seed $SEED" "status $status"$'\n'"$(tail -n 30 "$TMP/$1.log")"
	fi
}

declare -A pid
targets=()
for path in build/fuzz/fuzz_*; do
	[ -x "$path" ] && targets+=("${path##*/}")
done
mkdir -p build/log
# Two at a time, for the machine has other things to do.
for ((i = 0; i < ${#targets[@]}; i += 2)); do
	for target in "${targets[@]:i:2}"; do
		start "$target"
	done
	for target in "${targets[@]:i:2}"; do
		report "$target"
	done
done
