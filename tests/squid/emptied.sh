#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A sibling that is started again with an empty store, while its filter is fresh: its own
# misses end the time in which hits are answered, and `resync --every` makes a new filter long
# before the next round is due, and says why.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

# stat NAME: of the sibling
stat()
{
	icp_status sibling eth0 peer "$1"
}

ask()
{
	obj "$1" "$2" | lab_get asker - | counted
}

# is_quiet: is the last hit of the sibling itself too long ago?
is_quiet()
{
	[ "$(stat confirmed_ms)" -ge 1000 ]
}

is_synced()
{
	[ "$(wc -l <"$TMP/rounds")" -ge "$1" ]
}

lab_start
lab_node sibling 1
lab_node asker 2
squid_start sibling "digest_generation off"
mapfile -t lines < <(squid_sibling asker 1)
squid_start asker "${lines[@]}"
is "the sibling has 200" "$(obj 1 200 | lab_get sibling - | counted)" "200 200"
check "seed" squid_seed sibling "$TMP/image"
check "attach" lab_in sibling "$BALEEN" icp attach eth0 --stale never --asker 10.9.0.2 \
	--sibling "peer=10.9.0.1,mode=answer,image=$TMP/image"
nsenter --net="/run/netns/$(lab_ns sibling)" -- "$BALEEN" icp resync -j eth0:peer \
	"$TMP/sibling/cache/swap.state" --every 1h >"$TMP/rounds" 2>"$TMP/said" &
wait_for "first round" is_synced 1
is "every client has its object" "$(ask 1 100)" "100 200"
check "hits are answered" [ "$(stat hits)" -gt 0 ]

squid_stop sibling
rm -rf "$TMP/sibling/cache"
lab_in sibling squid -N -n "${LAB}sibling" -z -f "$TMP/sibling/squid.conf" >"$TMP/out" 2>&1 ||
	bail "squid -z: $(tail -n 5 "$TMP/out")"
squid_run sibling
wait_for "silence" is_quiet
hits=$(stat hits)
is "emptied: every client has its object" "$(ask 101 200)" "100 200"
is "emptied: no hit is answered" "$(stat hits)" "$hits"
check "emptied: its misses are seen" [ "$(stat false_hits)" -ge 8 ]
wait_for "round that is not due" is_synced 2
is "it says why" "$(sed 's/[0-9]* of [0-9]*/N of N/' "$TMP/said")" \
	"baleen: eth0:peer: its cache said miss to N of N hits of the filter: was it emptied?"
is "the new filter has nothing" "$(stat entries)" 0
false=$(stat false_hits)
is "all is a miss" "$(ask 1 20) $(($(stat false_hits) - false))" "20 200 0"
check "detach" lab_in sibling "$BALEEN" icp detach eth0
