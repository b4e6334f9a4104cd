#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen icp serve`: the digest of a sibling, as unpatched Squids of Debian fetch it by
# digest-url. One asker gets it with the pause between head and mask, another without:
# what that one finds is printed, not judged, since a Squid that is repaired finds all.
#
#      $SW: baleen icp serve, 10.9.0.254:8129 with a pause, 8130 without
#      sibling .1: 400 objects      asker .2, hasty .4: digest-url, no ICP

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

N=400

# serve PORT OPTION... IMAGE: in $SW, until the test ends
serve()
{
	nsenter --net="/run/netns/$SW" -- "$BALEEN" icp serve --listen "10.9.0.254:$1" "${@:2}" \
		>"$TMP/serve.$1" 2>&1 &
	server=$!
	wait_for "digest on port $1" grep -q '^http://' "$TMP/serve.$1"
}

# asker NAME N PORT
asker()
{
	lab_node "$1" "$2"
	squid_start "$1" "cache_peer 10.9.0.1 sibling 3128 0 no-query proxy-only name=peer1 \
digest-url=http://10.9.0.254:$3/squid-internal-periodic/store_digest" \
		"digest_generation off"
	# The first request that could go to the peer makes it fetch the digest.
	lab_get "$1" "http://$ORIGIN/wake/$1" >"$TMP/woken"
	wait_for "digest at $1" has_digest "$1"
	: >"$TMP/$1/access.log"
}

# has_digest NAME: its Squid has fetched the digest and may go by it
has_digest()
{
	squid_mgr "$1" digest_stats | grep -q 'needed: yes, usable: yes, requested:  no'
}

# digest_facts: bytes, entries and bits set of the image, as the server counts them
digest_facts()
{
	"$BALEEN" info -j "$TMP/sibling.bln" >"$TMP/info"
	awk -v bits="$(json "$TMP/info" '[0].tables[0].positions')" \
		-v fill="$(json "$TMP/info" '[0].tables[0].fill')" \
		-v entries="$(json "$TMP/info" '[0].entries')" \
		'BEGIN { printf "%.0f %.0f %.0f\n", bits / 8, entries, bits * fill }'
}

# n_by_digest NAME: requests that a digest sent to the sibling
n_by_digest()
{
	grep -c 'CD_SIBLING_HIT' "$TMP/$1/access.log"
}

# has_on_disk NAME N
has_on_disk()
{
	[ "$(squid_on_disk "$1")" -ge "$2" ]
}

lab_start
lab_node sibling 1
squid_start sibling "$(squid_store_log sibling)"
is "$N objects come to the sibling" "$(obj 1 $N | lab_get sibling - | sort | uniq -c | xargs)" \
	"$N 200"
wait_for "$N objects on the disk" has_on_disk sibling $N
"$BALEEN" icp seed -o "$TMP/sibling.bln" --kind classic --hash squid --fpp 0.001 \
	"$TMP/sibling/store.log" || bail "no image"
serve 8129 "$TMP/sibling.bln"
serve 8130 --pause 0 "$TMP/sibling.bln"
asker asker 2 8129
is "Squid has its bits and entries" "$(squid_mgr asker digest_stats |
	awk '/digest: size:/ { print $4 } /entries: count:/ { print $3 } / on: / { print $6 }' | xargs)" \
	"$(digest_facts)"
is "$N present: every client gets its object" \
	"$(obj 1 $N | lab_get asker - | sort | uniq -c | xargs)" "$N 200"
is "and each by the digest from the sibling" "$(n_by_digest asker)" "$N"
: >"$TMP/asker/access.log"
is "$N absent: every client gets its object" \
	"$(obj 1001 $((1000 + N)) | lab_get asker - | sort | uniq -c | xargs)" "$N 200"
# At 7.5 % of the bits set the rate is 0.075^4 = 3e-5: of 400 one is 1 in 80, two 1 in 13,000.
check "and at most one is sent to the sibling in vain" test "$(n_by_digest asker)" -le 1

asker hasty 4 8130
is "without the pause every client gets its object, too" \
	"$(obj 1 $N | lab_get hasty - | sort | uniq -c | xargs)" "$N 200"
echo "# $(squid -v | head -n 1): without the pause $(n_by_digest hasty) of $N by the digest"

# --- the end ----------------------------------------------------------------

check "a signal ends the server" kill -TERM "$server"
wait "$server"
is "and it is done" $? 0
