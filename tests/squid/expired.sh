#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Objects that are stale, or soon will be: Squid says miss to a query for what has less than 30
# seconds left, and the program leaves these to it; by the dates of the feed, and by those of
# swap.state after a resync.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

FEED=3131

# stats NAME...: of the sibling
stats()
{
	local name

	for name in "$@"; do
		icp_status sw asker peer "$name"
	done | paste -sd ' '
}

# short FIRST LAST: URLs of objects that are fresh for 20 seconds
short()
{
	seq -f "http://$ORIGIN/short/%.0f" "$1" "$2"
}

is_fed()
{
	[ "$(stats inserted)" -ge "$1" ]
}

# try NAME SHORT OBJ: 20 of each from there on, which the sibling has, by the asker
try()
{
	local hits expired

	read -r hits expired < <(stats hits expired)
	squid_forget asker
	squid_forget sibling
	is "$1: every client has its object" \
		"$({ short "$2" $(($2 + 19)); obj "$3" $(($3 + 19)); } | lab_get asker - | counted)" "40 200"
	is "$1: what is fresh is fetched from the sibling" "$(squid_routes asker)" \
		"20 TCP_MISS/200 HIER_DIRECT,20 TCP_MISS/200 SIBLING_HIT"
	is "$1: which refuses none" "$(grep -c '/504 ' "$TMP/sibling/access.log")" 0
	is "$1: hits, and what is left to the Squid" \
		"$(($(stats hits) - hits)) $(($(stats expired) - expired))" "20 20"
}

lab_start
lab_node sibling 1
lab_node asker 2
squid_start sibling "digest_generation off" "cache_store_log udp://10.9.0.254:$FEED"
mapfile -t lines < <(squid_sibling asker 1)
squid_start asker "${lines[@]}"
check "attach" in_ns "$SW" "$BALEEN" icp attach asker --stale never --confirm never --asker 10.9.0.2 \
	--capacity 10k --sibling peer=10.9.0.1,mode=answer,feeder=10.9.0.1 --feed "sibling:$FEED"
# The first line may come back as an error: nobody had listened.
lab_get sibling "$(obj 999 999)" "$(obj 998 998)" >"$TMP/first"
is "the sibling has 80" "$({ short 1 40; obj 1 40; } | lab_get sibling - | counted)" "80 200"
wait_for "feed" is_fed 80
try "fed" 1 1
check "resync" in_ns "$SW" "$BALEEN" icp resync asker:peer "$TMP/sibling/cache/swap.state"
try "resynced" 21 21
check "detach" in_ns "$SW" "$BALEEN" icp detach asker

obj 999 999 >"$TMP/urls"
# Without a feed, the times are those of the last resync.
check "attach, not fed" in_ns "$SW" "$BALEEN" icp attach asker --stale never --confirm never \
	--asker 10.9.0.2 --capacity 10k --sibling "peer=10.9.0.1,mode=answer,image=$TMP/urls"
check "resync, not fed" in_ns "$SW" "$BALEEN" icp resync asker:peer "$TMP/sibling/cache/swap.state"
is "the sibling has 40 more" "$({ short 41 60; obj 41 60; } | lab_get sibling - | counted)" "40 200"
check "resync again" in_ns "$SW" "$BALEEN" icp resync asker:peer "$TMP/sibling/cache/swap.state"
try "not fed" 41 41
