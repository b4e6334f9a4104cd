#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A sibling's filter is made anew while its feed goes on, thousands of events a second:
# it ends up as exactly what the cache holds, whatever came meanwhile, and objects that
# stay are hits all the time.
#
#      by one device                          by two
#      $A: store_play --feed--> veth-b        $B: store_play --feed--> lo
#          icp_ask ----query--> veth-b        $A: icp_ask ----query--> veth-b
#
# Also: what fails leaves the old filter in force, and so does what is killed.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

PLAY=$ROOT/build/tools/store_play
CHECK=$ROOT/build/tools/resync_check
ASK=$ROOT/build/tools/icp_ask
N_STAY=2000

baleen() { in_ns "$B" "$BALEEN" "$@"; }

for ((i = 1; i <= N_STAY; i++)); do echo "http://play/stay/$i"; done >"$TMP/urls"

# until_true WHAT COMMAND...: a bound in steps, not in time
until_true()
{
	local n

	for ((n = 0; n < 1200; n++)); do
		"${@:2}" && return
		sleep 0.05
	done
	bail "waited in vain until $1"
}

# --- the store that is played -------------------------------------------------

# start_play NAMESPACE FROM TO [OPTION...]: a store at FROM that feeds TO
start_play()
{
	in_ns "$1" "$PLAY" -s "$N_STAY" -a "$2" "${@:4}" "$3" "$TMP/keys.$2" >"$TMP/play.$2" \
		2>"$TMP/play.err" &
	PLAY_PID=$!
	until_true "the store is there" grep -q ready "$TMP/play.$2"
}

# nsenter becomes what it runs, so the number is that of the store.
# end_play FROM PID: writes its keys
end_play()
{
	kill -TERM "$2"
	wait "$2"
	is "the store of $1 ends" "$?" 0
}

# sent: events of all stores that have ended
sent()
{
	cat "$TMP"/play.10.* "$TMP"/play.127.* 2>/dev/null | awk '/events/ { n += $1 } END { print n + 0 }'
}

# field NAME: of the last line of CHECK
field()
{
	sed -n "s/.*\b$1 \([0-9]*\).*/\1/p" "$TMP/checked"
}

look() { in_ns "$B" "$CHECK" veth-b a "$TMP"/keys.* >"$TMP/checked" 2>&1; }
heard_all() { look; [ "$(field heard)" = "$1" ]; }
status_is() { look; [[ " $(<"$TMP/checked") " = *" $1 "* ]]; }

# same NAME: when all that was sent is heard, the filter is the store
same()
{
	local n

	n=$(sent)
	until_true "$n events are heard" heard_all "$n"
	is "$1: no datagram was lost" "$(field lost)" 0
	is "$1: entries by the counters" "$(field entries)" "$(field keys)"
	is "$1: no event is recorded any more" "$(field recording)" 0
	check "$1: the filter is what the store holds" look
}

forget_plays() { rm -f "$TMP"/play.* "$TMP"/keys.*; }

# --- one device or two ------------------------------------------------------------

# lay_out LAYOUT: sets the addresses
lay_out()
{
	case $1 in
	one) SIDE=$A FROM=10.66.0.1 TO=10.66.0.2 TARGET=10.66.0.9 FEED=3131 ;;
	two) SIDE=$B FROM=127.0.0.1 TO=127.0.0.1 TARGET=10.66.0.2 FEED=lo:3131 ;;
	esac
	URL=http://$FROM:3128
}

ip -n "$A" neigh replace 10.66.0.9 lladdr "$(mac "$B" veth-b)" dev veth-a nud permanent

# attach KIND FEEDERS: an empty sibling
attach()
{
	check "attach: $1, feed $FEED" baleen icp attach veth-b \
		--sibling "a=$TARGET$2" --asker 10.66.0.0/24 --feed "$FEED" --kind "$1" \
		--capacity 20k --stale never
}

detach() { check "detach" baleen icp detach veth-b; }

resync() { baleen icp resync -j veth-b:a "$URL/${1-}" --from objects >"$TMP/report" 2>"$TMP/said"; }
report() { jq "$1" "$TMP/report"; }

# ask_on: asks for all that stays until there is $TMP/enough
ask_on()
{
	while [ ! -e "$TMP/enough" ]; do
		in_ns "$A" "$ASK" -w 16 -t 10000 "$TARGET" <"$TMP/urls" >>"$TMP/answers"
	done
}

# --- twenty in a row ----------------------------------------------------------------

# in_a_row KIND LAYOUT N
in_a_row()
{
	local asker n n_events=0 n_failed=0 n_wrong=0 title="$1, by $2"

	lay_out "$2"
	attach "$1" ",feeder=$FROM"
	start_play "$SIDE" "$FROM" "$TO" -r 4000
	check "$title: the first resync" resync
	is "$title: the old filter was empty of what stays" \
		"$(report ".missing >= $N_STAY")" true
	rm -f "$TMP/enough" "$TMP/answers"
	ask_on &
	asker=$!
	for ((n = 0; n < $3; n++)); do
		resync || n_failed=$((n_failed + 1))
		n_events=$((n_events + $(report .events)))
		n_wrong=$((n_wrong + $(report '.missing + .gone')))
	done
	touch "$TMP/enough"
	wait "$asker"
	is "$title: $3 resyncs" "$n_failed failed" "0 failed"
	# In each of them the list of objects takes 200 ms.
	check "$title: events came meanwhile: $n_events" [ "$n_events" -gt $(($3 * 100)) ]
	echo "# $title: drift found in all: $n_wrong"
	is "$title: what stays is always a hit" "$(grep -c '^MISS' "$TMP/answers")" 0
	check "$title: and was asked for" [ "$(grep -c '^HIT' "$TMP/answers")" -ge "$N_STAY" ]
	end_play "$FROM" "$PLAY_PID"
	same "$title"
	detach
	forget_plays
}

in_a_row cuckoo one 20
in_a_row counting one 8
in_a_row cuckoo two 8
in_a_row counting two 20
