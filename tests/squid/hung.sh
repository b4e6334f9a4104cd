#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A sibling that hangs while its filter is fresh: an asker that gets a hit waits for the
# object as long as its client does. So hits are answered only while the sibling says hit
# itself from time to time; with its Squid stopped, and with its host silent behind a filter
# beside the asker, clients get their objects from the origin, as by plain ICP.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

# stat PLACE NAME: of the sibling
stat()
{
	icp_status "${1%:*}" "${1#*:}" peer "$2"
}

# attach PLACE
attach()
{
	check "$1: attach" lab_in "${1%:*}" "$BALEEN" icp attach "${1#*:}" --stale never \
		--asker 10.9.0.2 --sibling "peer=10.9.0.1,mode=answer,image=$TMP/image"
}

# ask FIRST LAST: by its clients; what hangs ends after 20 s, as 000
ask()
{
	obj "$1" "$2" | lab_fetch asker --max-time 20 --no-progress-meter --parallel --parallel-max 10 -- - | counted
}

# is_quiet PLACE: is the last hit of the sibling itself too long ago?
is_quiet()
{
	[ "$(stat "$1" confirmed_ms)" -ge 1000 ]
}

# try PLACE HOW HANG REVIVE: HANG and REVIVE are commands
try()
{
	local place=$1 hits

	attach "$place"
	is "$place, alive: every client has its object" "$(ask 1 100)" "100 200"
	# A hit of its own opens the gate for a second.
	check "$place, alive: hits are answered" [ "$(stat "$place" hits)" -gt 0 ]
	check "$place, alive: some are confirmed" [ "$(stat "$place" agreed_hits)" -gt 0 ]
	is "$place, alive: none is false" "$(stat "$place" false_hits)" 0
	$3
	wait_for "silence" is_quiet "$place"
	hits=$(stat "$place" hits)
	is "$place, $2: every client has its object" "$(ask 101 110)" "10 200"
	is "$place, $2: no hit was answered" "$(stat "$place" hits)" "$hits"
	$4
	is "$place, back: every client has its object" "$(ask 111 200)" "90 200"
	wait_for "hits" is_back "$place" "$hits"
	ok "$place, back: hits are answered"
	check "$place: detach" lab_in "${place%:*}" "$BALEEN" icp detach "${place#*:}"
}

# is_back PLACE HITS: an asker that took it for dead asks, and waits again
is_back()
{
	ask 201 220 >"$TMP/back"
	[ "$(stat "$1" hits)" -gt "$2" ]
}

stop_squid() { kill -STOP "${squid_pid[sibling]}"; }
wake_squid() { kill -CONT "${squid_pid[sibling]}"; }
silence_host() { ip -n "$SW" link set dev sibling nomaster; }
join_host() { ip -n "$SW" link set dev sibling master br0; }

# One that is stopped does not end, either.
cleanup() { [ -z "${squid_pid[sibling]-}" ] || wake_squid; }

lab_start
lab_node sibling 1
lab_node asker 2
squid_start sibling "digest_generation off"
mapfile -t lines < <(squid_sibling asker 1 | sed 's/icp_query_timeout .*/icp_query_timeout 500/')
squid_start asker "${lines[@]}"
is "the sibling has 220" "$(obj 1 220 | lab_get sibling - | counted)" "220 200"
check "seed" squid_seed sibling "$TMP/image"
try sibling:eth0 "its Squid stopped" stop_squid wake_squid
try sw:asker "its Squid stopped" stop_squid wake_squid
try sw:asker "its host silent" silence_host join_host
