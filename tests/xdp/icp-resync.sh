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
# shellcheck source=tests/icp.sh
source "$ROOT/tests/icp.sh"
# shellcheck disable=SC2119 # as in the picture
make_pair

UNTIL_STEPS=1200
shopt -s nullglob

for ((i = 1; i <= N_STAY; i++)); do echo "http://play/stay/$i"; done >"$TMP/urls"

# --- the store that is played -------------------------------------------------

# start_play NAMESPACE FROM TO [OPTION...]: a store at FROM that feeds TO. No function
# in between, so that the process is the store itself.
start_play()
{
	nsenter --net="/run/netns/$1" -- "$PLAY" -s "$N_STAY" -a "$2" "${@:4}" "$3" "$TMP/keys.$2" \
		>"$TMP/play.$2" 2>"$TMP/play.err" &
	PLAY_PID=$!
	until_true "the store is there" grep -qs ready "$TMP/play.$2"
}

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
		--sibling "a=$TARGET,mode=answer$2" --asker 10.66.0.0/24 --feed "$FEED" --kind "$1" \
		--capacity 20k --stale never --confirm never
}

detach() { check "detach" baleen icp detach veth-b; }

resync() { baleen icp resync -j veth-b:a "$URL" --from objects >"$TMP/report" 2>"$TMP/said"; }
report() { jq "$@" "$TMP/report"; }

# ask_on: asks for all that stays until there is $TMP/enough
ask_on()
{
	while [ ! -e "$TMP/enough" ]; do
		in_ns "$A" "$ASK" -w 64 -t 2000 "$TARGET" <"$TMP/urls" >>"$TMP/answers"
	done
}

# --- twenty in a row, or four -------------------------------------------------------

# in_a_row KIND LAYOUT N OF: N of OF resyncs
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
	sampled "resyncs in a row" "$3" "$4"
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

in_a_row cuckoo one $(pick 4 20) 20
in_a_row counting one $(pick 3 8) 8
in_a_row cuckoo two $(pick 3 8) 8
in_a_row counting two $(pick 4 20) 20

# --- drift, said and mended ---------------------------------------------------------

# send_lines TAG FIRST LAST: store.log says that of these objects that stay, or of others
send_lines()
{
	local n

	for ((n = $2; n <= $3; n++)); do
		printf '1700000000.123 %-7s 00 00000011 %s' "$1" \
			"$(printf '\1http://play/stay/%d' "$n" | md5sum | cut -c 1-32)" \
			>"$TMP/line"
		# shellcheck disable=SC2016 # of that shell
		nsenter --net="/run/netns/$SIDE" -- bash -c 'cat "$1" >"/dev/udp/$2/3131"' \
			- "$TMP/line" "$TO"
	done
}

# drifts KIND: seven that are not there, five that are and were taken out
drifts()
{
	local n

	lay_out one
	attach "$1" ",feeder=$FROM"
	start_play "$SIDE" "$FROM" "$TO" -r 0
	check "$1: seeded" resync
	is "$1: nobody told of anything" "$(report .events)" 0
	n=$(report .entries)
	send_lines SWAPOUT 10001 10007
	send_lines RELEASE 1 5
	until_true "these are heard" status_is "heard 12"
	check "$1: mended" resync
	is "$1: what was missing, gone, and is there" "$(report -c '[.missing, .gone, .entries]')" \
		"[5,7,$n]"
	check "$1: again" resync
	is "$1: nothing is wrong any more" "$(report -c '[.missing, .gone, .entries]')" "[0,0,$n]"
	end_play "$FROM" "$PLAY_PID"
	check "$1: the filter is what the store holds" look
	detach
	forget_plays
}

drifts cuckoo
drifts counting

# --- two children ---------------------------------------------------------------------

ip -n "$A" address add 10.66.0.3/24 dev veth-a
ip -n "$B" neigh replace 10.66.0.3 lladdr "$(mac "$A" veth-a)" dev veth-b nud permanent
lay_out one
attach counting ",feeder=10.66.0.1,feeder=10.66.0.3"
start_play "$A" 10.66.0.1 10.66.0.2 -r 2000
first=$PLAY_PID
start_play "$A" 10.66.0.3 10.66.0.2 -r 2000 -S 2
check_status "a parent of two needs two sources" 1 resync
is "and says so" "$(<"$TMP/said")" "baleen: veth-b:a: it has 2 feeders: give a source of each"
for ((i = 0; i < 5; i++)); do
	check "a resync of two children, number $i" baleen icp resync -j veth-b:a \
		http://10.66.0.3:3128 "$URL" --from objects
done
end_play 10.66.0.1 "$first"
end_play 10.66.0.3 "$PLAY_PID"
same "two children"
detach
forget_plays

# --- what fails ---------------------------------------------------------------------------

lay_out one
attach cuckoo ",feeder=$FROM"
start_play "$SIDE" "$FROM" "$TO" -r 2000
check "seeded" resync

# fails NAME MESSAGE COMMAND...: status 1, one line, and nothing has changed
fails()
{
	check_status "$1: fails" 1 "${@:3}"
	is "$1: in one line" "$(wc -l <"$TMP/said")" 1
	check "$1: which says why" grep -q "^baleen: .*$2" "$TMP/said"
	check "$1: the old filter is in force" status_is "generation $generation recording 0"
}

# resync_of SOURCE OPTION...
resync_of() { baleen icp resync veth-b:a "$@" >"$TMP/out" 2>"$TMP/said"; }

# in_small: with a /tmp that takes no report
in_small() { TMPDIR=$TMP/small resync_of "$URL" --from objects; }

look
generation=$(field generation)
cleanup() { umount "$TMP/small"; }
mkdir "$TMP/small"
mount -t tmpfs -o size=64k baleen-test "$TMP/small" || bail "no small tmpfs"
printf '\0\5\0\3\0\0\0\10\0\0\0\0\0\0\0\0\0\0\0\5\5\4\0\0' >"$TMP/digest"
head -c 109 /dev/zero >>"$TMP/digest"
fails "no source" "refused\|connect" resync_of http://"$FROM":1 --from objects
fails "a source that dies" "$FROM" resync_of "$URL/die" --from objects
fails "a report that is cut off" "cut off" resync_of "$URL/cut" --from objects
fails "no room for the report" "No space" in_small
fails "a digest, where there is a feed" "fed" resync_of "$TMP/digest" --from digest
fails "no file" "No such file" resync_of "$TMP/nothing"
check_status "no such sibling" 1 baleen icp resync veth-b:b "$URL" --from objects

# stop_by SIGNAL: sent while the report is read
stop_by()
{
	local pid

	nsenter --net="/run/netns/$B" -- "$BALEEN" icp resync veth-b:a "$URL/slow" --from objects \
		>"$TMP/out" 2>"$TMP/said" &
	pid=$!
	until_true "it records" status_is "recording 1"
	kill "-$1" "$pid"
	wait "$pid"
}
fails "SIGTERM" "" stop_by TERM
fails "SIGHUP" "" stop_by HUP

# --- a log that is full ------------------------------------------------------------------------

# full_log TIMES: a resync during which the log is full once, or "always"
full_log()
{
	local pid

	nsenter --net="/run/netns/$B" -- "$BALEEN" icp resync -j veth-b:a "$URL/slow" \
		--from objects >"$TMP/report" 2>"$TMP/said" &
	pid=$!
	until_true "it records" status_is "recording 1"
	in_ns "$B" "$CHECK" --unrecorded veth-b
	while [ "$1" = always ] && kill -0 "$pid" 2>/dev/null; do
		in_ns "$B" "$CHECK" --unrecorded veth-b
	done
	wait "$pid"
}
check "a log that was full once" full_log once
is "makes a second attempt" "$(report .attempts)" 2
look
generation=$(field generation)
fails "a log that is always full" "faster than they can be recorded" full_log always

# --- killed -----------------------------------------------------------------------------------

# Where it is killed is chance; what is found afterwards is not.
RANDOM=7
n_bad=0
n_failed=0
for ((i = 0; i < 30; i++)); do
	nsenter --net="/run/netns/$B" -- "$BALEEN" icp resync veth-b:a "$URL" --from objects \
		>/dev/null 2>&1 &
	pid=$!
	sleep "0.$(printf %03d $((RANDOM % 700)))"
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	look
	now=$(field generation)
	[ "$now" = "$generation" ] || [ "$now" = $((generation + 1)) ] || n_bad=$((n_bad + 1))
	if [ $((i % 6)) -eq 5 ]; then
		resync || n_failed=$((n_failed + 1))
		look
		now=$(field generation)
	fi
	generation=$now
done
is "killed: the old one is in force or the new one, never another" "$n_bad" 0
is "killed: the next resync works" "$n_failed failed" "0 failed"

resync_two()
{
	local pid status=0

	resync_of "$URL" --from objects &
	pid=$!
	baleen icp resync veth-b:a "$URL" --from objects >/dev/null || status=1
	wait "$pid" && return "$status"
}
check "two at a time: one after the other" resync_two
end_play "$FROM" "$PLAY_PID"
same "after all that"

# --- again and again ------------------------------------------------------------------------

has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }

start_play "$SIDE" "$FROM" "$TO" -r 0
nsenter --net="/run/netns/$B" -- "$BALEEN" icp resync -j veth-b:a "$URL" --from objects \
	--every 1s >"$TMP/rounds" 2>"$TMP/said" &
pid=$!
until_true "there are two rounds" has_lines "$TMP/rounds" 2
end_play "$FROM" "$PLAY_PID"
until_true "a round fails" has_lines "$TMP/said" 1
n=$(wc -l <"$TMP/rounds")
start_play "$SIDE" "$FROM" "$TO" -r 0
until_true "rounds go on" has_lines "$TMP/rounds" $((n + 1))
kill -TERM "$pid"
wait "$pid"
is "--every ends by a signal, which is no failure" "$?" 0
check "each round is an object on a line" jq -e .entries "$TMP/rounds"
