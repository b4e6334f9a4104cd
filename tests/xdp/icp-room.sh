#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A resync of more objects than the filter of a sibling has room for, while its feed goes
# on: the new filter is larger, of the same kind, hash and rate, it has each object, and
# the numbers say so. What --capacity asks for, and what is refused.
#
#      $A: store_play --feed--> veth-b        $A: icp_ask --query--> veth-b

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/icp.sh
source "$ROOT/tests/icp.sh"
# shellcheck disable=SC2119 # as in the picture
make_pair
cd "$TMP" || exit 2

URL=http://10.66.0.1:3128

seq -f 'http://play/stay/%.0f' 1 $N_STAY >stay.txt
ip -n "$A" neigh replace 10.66.0.9 lladdr "$(mac "$B" veth-b)" dev veth-a nud permanent

generation() { instance .generation; }

# is_full: the feed has brought more than there is room for
is_full() { [ "$(status .no_room)" -gt 0 ]; }

# look: the filter is what the store holds
look() { in_ns "$B" "$CHECK" veth-b a keys >checked 2>&1; }

# heard_all: what was sent, and look goes by it
heard_all()
{
	look
	[ "$(field heard)" = "$(awk '/events/ { print $1 }' play)" ]
}

resync() { baleen icp resync -j veth-b:a "$URL" --from objects "$@" >report 2>said; }
report() { jq -c "$@" report; }

# n_hits: how many of those that stay are answered so
n_hits() { in_ns "$A" "$ASK" -w 64 -t 2000 10.66.0.9 <stay.txt | grep -c '^HIT'; }

# --- a filter of 100 for some 4,500 ---

# start KIND OPTION...: attached with too little room, and a store that feeds it
start()
{
	check "$1: attach" baleen icp attach veth-b \
		--sibling a=10.66.0.9,mode=answer,feeder=10.66.0.1 --confirm never \
		--asker 10.66.0.0/24 --feed 3131 --stale never --capacity 100 "${@:2}"
	nsenter --net="/run/netns/$A" -- "$PLAY" -s "$N_STAY" -a 10.66.0.1 -r 2000 10.66.0.2 keys \
		>play 2>play.err &
	play=$!
	until_true "the store is there" grep -qs ready play
}

# is_rate RATE: no worse than the default of a Bloom filter, and not none
is_rate() { awk -v rate="$1" 'BEGIN { exit !(rate > 0 && rate <= 0.001) }'; }

# grown NAME: the report and status agree on a larger filter, which has all
grown()
{
	is "$1: it has grown" "$(report .has_grown)" true
	is "$1: by so many bytes" "$(status .bytes)" "$(report .bytes)"
	check "$1: more than before" test "$(report .bytes)" -gt "$bytes"
	bytes=$(report .bytes)
	is "$1: a generation later" "$(generation)" $((n_resyncs += 1))
	is "$1: of the same kind" "$(shape)" "$shape"
	check "$1: of the rate that it was attached with" is_rate "$(status .fpp)"
	is "$1: with all that stays" "$(n_hits)" "$N_STAY"
}

# shape: what a resync has to leave as it was
shape()
{
	baleen icp status -j | jq -c '.[0].siblings[0].tables[0] | [.kind, .hash, .slot_bits]'
}

# refused NAME MESSAGE OPTION...: and nothing has changed
refused()
{
	check_status "$1: refused" 1 resync "${@:3}"
	is "$1: in words" "$(sed 's/there are [0-9]* /there are N /' said)" "baleen: $2"
	is "$1: nothing has changed" "$(generation) $(status .bytes)" "$n_resyncs $bytes"
}

# all_rooms NAME OPTION...
all_rooms()
{
	start "$@"
	n_resyncs=0
	bytes=$(status .bytes)
	shape=$(shape)
	[ "$1" != cuckoo ] || until_true "it is full" is_full
	check "$1: a resync" resync
	grown "$1"
	check "$1: another" resync
	is "$1: keeps its size" "$(report .has_grown) $(report .bytes)" "false $bytes"
	n_resyncs=$((n_resyncs + 1))
	refused "$1, below what there is" \
		"veth-b:a: there are N objects, and room was asked for 1000" --capacity 1k
	check "$1: to a capacity" resync --capacity 20k
	grown "$1, to a capacity"
	kill -TERM "$play"
	wait "$play"
	until_true "all events are heard" heard_all
	is "$1: no datagram was lost" "$(field lost)" 0
	check "$1: the filter is what the store holds" look
	is "$1: status has as many" "$(status .entries)" "$(wc -l <keys)"
	check "$1: detach" baleen icp detach veth-b
	rm -f keys play
}

all_rooms cuckoo
all_rooms counting --kind counting --fpp 0.001
all_rooms blocked --hash blocked --fpp 0.001
all_rooms keyed --hash keyed --fpp 0.001
