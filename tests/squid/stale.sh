#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The gate: a program that answers for a Squid must not keep a dead one alive. When
# nothing was heard of it for a while, queries pass; the asker notices that it is dead, and
# that it is back.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

FEED=3131
next=1000

# stat NAME: of the sibling
stat()
{
	icp_status sw asker peer "$1"
}

attach()
{
	check "attach, --stale $1" in_ns "$SW" "$BALEEN" icp attach asker --stale "$1" \
		--confirm never --asker 10.9.0.2 --capacity 10k --sibling peer=10.9.0.1,mode=answer,feeder=10.9.0.1 \
		--feed "sibling:$FEED"
}

# tell FIRST LAST: the sibling stores objects and says so. Before there was who takes its lines
# they were refused, and Linux says so when it sends the next: that one may be lost.
tell()
{
	obj "$1" "$2" | lab_get sibling - >"$TMP/status"
	wait_for "feed" moved inserted $(($2 - $1 - 1))
}

# asked COMMAND...: asks for something new, then: is it so?
asked()
{
	next=$((next + 1))
	lab_get asker "$(obj "$next" "$next")" >"$TMP/status"
	echo "$(cat "$TMP/status") $next" >>"$TMP/statuses"
	"$@"
}

# logged N TEXT: has the asker written this so often?
logged()
{
	[ "$(grep -c "$2" "$TMP/asker/cache.log")" -ge "$1" ]
}

moved()
{
	[ "$(stat "$1")" -gt "$2" ]
}

is_stale()
{
	[ "$(stat fresh)" = false ]
}

# every NAME: every client of the asker so far got its object
every()
{
	is "$1: every client got its object" "$(cut -d ' ' -f 1 "$TMP/statuses" | sort -u)" 200
}

try_gate()
{
	local answered

	attach 2s
	tell 0 20
	squid_forget asker
	lab_get asker "$(obj 1 1)" >"$TMP/status"
	is "fed, so it is answered for" "$(squid_routes asker)" "1 TCP_MISS/200 SIBLING_HIT"
	is "by XDP" "$(stat hits) $(icp_counter sibling)" "1 0"

	# It stores nothing more, so nothing is heard of it.
	wait_for "end of the silence" asked moved stale 0
	is "nothing was heard of it: its Squid answers" "$(($(icp_counter sibling) > 0))" 1
	is "and is not taken for dead" "$(grep -c "DEAD Sibling" "$TMP/asker/cache.log")" 0

	# All that it does is a sign of life, also to say how often it was asked.
	squid_stop sibling KILL
	wait_for "gate" is_stale
	answered=$(stat misses)
	wait_for "death at the asker" asked logged 1 "Detected DEAD Sibling: peer1"
	ok "killed: the asker takes it for dead"
	is "nobody answered for it" "$(stat misses)" "$answered"
	every "killed"

	squid_run sibling
	wait_for "life at the asker" asked logged 1 "Detected REVIVED Sibling: peer1"
	ok "back: the asker takes it for alive"
	obj 21 40 | lab_get sibling - >"$TMP/status"
	squid_forget asker
	check "resync" in_ns "$SW" "$BALEEN" icp resync asker:peer http://10.9.0.1:3128 --from objects
	answered=$(stat hits)
	lab_get asker "$(obj 21 21)" >"$TMP/status"
	is "resynced: fetched from it" "$(squid_routes asker)" "1 TCP_MISS/200 SIBLING_HIT"
	is "answered by XDP again" "$(($(stat hits) - answered))" 1
	every "back"
	check "detach" in_ns "$SW" "$BALEEN" icp detach asker
}

# Without a gate, XDP says hit for the dead: the asker tries to fetch, finds nobody, and goes to
# the origin. Its client waits for that, but has its object; Squid notices by TCP.
try_no_gate()
{
	attach 0
	tell 40 80
	squid_stop sibling KILL
	before=$(stat misses)
	for n in {1..5}; do
		asked true
	done
	is "no gate: misses are answered for the dead" "$(($(stat misses) - before))" 5
	squid_forget asker
	is "no gate: hits, too" "$(obj 41 80 | lab_get asker - | counted)" "40 200"
	is "no gate: nothing passed" "$(stat stale)" 0
	echo "# no gate: 40 objects of the dead came by $(squid_routes asker)"
	grep -h "TCP connection to\|DEAD\|REVIVED" "$TMP/asker/cache.log" | cut -d '|' -f 2 |
		counted | sed 's/^/# /'
	every "no gate"
	check "detach" in_ns "$SW" "$BALEEN" icp detach asker
}

lab_start
lab_node sibling 1
lab_node asker 2
squid_start sibling "digest_generation off" "cache_store_log udp://10.9.0.254:$FEED"
squid_start asker "cache_peer 10.9.0.1 sibling 3128 3130 no-digest proxy-only name=peer1" \
	"dead_peer_timeout 2 seconds" "icp_query_timeout 500" "connect_timeout 2 seconds"
try_gate
try_no_gate
