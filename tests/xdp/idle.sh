#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# baleend at rest: what wakes it up is due, and nothing else. Wake-ups are what strace
# sees return from a wait. Three times a minute it looks again, in case that a
# change was not announced; at its start it looks at feeds a second later.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
make_pair
mkdir "$TMP/conf"

WAITS=epoll_wait,epoll_pwait,epoll_pwait2,poll,ppoll,select,pselect6,nanosleep,clock_nanosleep
SPAN=$(pick 10 60)
# Looks of the start, and three a minute; one a second would be ten, and more.
DUE=$(pick 6 9)

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$ROOT/build/tools/verdict" veth-b "$@"; }

# wake_ups: of baleend in so many seconds
wake_ups()
{
	timeout "$SPAN" strace -f -qq -o "$TMP/waits" -e trace="$WAITS" -p "$baleend_pid"
	grep -c ' = [1-9]' "$TMP/waits"
}

# rests NAME
rests()
{
	local n

	n=$(wake_ups)
	echo "# $1: $n wake-ups in $SPAN s, $DUE are due"
	is "$1" "$((n <= DUE))" 1
}

sampled "seconds at rest" "$SPAN" 60
play_systemd
echo 8.8.8.8 >"$TMP/list"
printf '%s\n' "rule bad drop" "  feed $TMP/list every 1d" >"$TMP/conf/veth-b.conf"
check_status "a configuration is applied" 3 baleen apply
check "an entry that ends later" baleen add veth-b:bad 9.9.9.1 --ttl 1h
start_baleend "$B"
rests "a filter and nothing to do"

# What is attached without a state, and what is sampled, announces itself, too.
check "detach" baleen detach --forget --entries veth-b
check "an image" "$BALEEN" build -o "$TMP/bad.bln" "$TMP/list"
check "is attached" baleen attach veth-b --sample 1000/s --drop bad="$TMP/bad.bln"
http "$B" GET /metrics >"$TMP/metrics"
is "somebody has asked for metrics" "$(head -1 "$TMP/metrics")" $'HTTP/1.1 200 OK\r'
rests "samples of which there are none"

# send: a DNS question of 8.8.8.8 to veth-b
send()
{
	"$ROOT/build/tools/frame" -v "$A:veth-a" "$B:veth-b" \
		"08004500001c0000000040110000080808080a42000204d2003500080000"
	grep -qF BALEEN_SOURCE=8.8.8.8 "$TMP/systemd"
}

await "one that comes is read" send
rests "and then it rests"
stop_baleend
is "SIGTERM ends it" "$baleend_status" 0
