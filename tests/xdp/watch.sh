#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen watch`: each column against frames whose content is known; captures
# that others can read; the rate at a million drops a second; what happens when
# the filter changes, ends or is watched already.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
cd "$TMP" || exit 2

FRAME=$ROOT/build/tools/frame
FLOOD=$ROOT/build/tools/flood

# baleen ARGUMENT...: in the namespace that receives; a watch that should have been
# refused ends, too
baleen()
{
	in_ns "$B" timeout 60 "$BALEEN" "$@"
}

# quiet NAME COMMAND...: succeeds
quiet()
{
	check "$1" baleen "${@:2}"
}

# --- a watcher in the background -------------------------------------------

watcher=0

# watch OPTION...: of veth-b, into $TMP/seen; returns when it watches
watch()
{
	local line

	rm -f told
	mkfifo told
	nsenter --net="/run/netns/$B" -- "$BALEEN" watch veth-b "$@" >seen 2>told &
	watcher=$!
	exec 3<told
	IFS= read -r -t 60 line <&3
	[ "$line" = "baleen: watching veth-b" ] || bail "watch says '$line'"
}

# ended NAME STATUS TEXT: the watcher ends so, and has said this since it began
ended()
{
	local status

	wait "$watcher"
	status=$?
	is "$1" "$status $(cat <&3)" "$2 $3"
	exec 3<&-
}

# interrupted NAME SIGNAL TEXT: ends it
interrupted()
{
	kill "-$2" "$watcher"
	ended "$1" 0 "$3"
}

# seen: what was printed, without times, and with one blank for many
seen()
{
	sed -E 's/^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}  //; s/ +/ /g' seen
}

# send HEX...: frames to veth-b, which lets them through: it only tries
send()
{
	"$FRAME" "$A:veth-a" "$B:veth-b" "$@" || bail "a frame was not passed on"
}

# --- frames ----------------------------------------------------------------

BAD=c0000201    # 192.0.2.1
OTHER=cb007109  # 203.0.113.9
TO=0a420002     # 10.66.0.2
BAD6=20010db8000000000000000000000001
TO6=fd660000000000000000000000000002
PORTS=03e80035  # 1000, 53
UDP=${PORTS}00080000
TCP=${PORTS}$(printf '00%.0s' {1..16})

# ip4 PROTOCOL SOURCE PAYLOAD [FRAGMENT]: from the EtherType on
ip4()
{
	echo "0800450000000000${4-0000}40${1}0000$2$TO$3"
}

# ip6 NEXT_HEADER PAYLOAD
ip6()
{
	echo "86dd600000000000${1}40$BAD6$TO6$2"
}

zeros()
{
	printf '00%.0s' $(seq "$1")
}

# attach ARGUMENT...: as many events as there are frames
attach()
{
	quiet "attach $1" attach veth-b --sample 1000000/s "$@"
}

detach()
{
	quiet "detach" detach veth-b
}

# show OPTIONS HEX...: watches with these options and sends frames. When they have
# come through they have been judged, so what was to be seen of them was.
show()
{
	# shellcheck disable=SC2086 # any number of options
	watch $1
	send "${@:2}"
	kill -INT "$watcher"
	wait "$watcher"
	exec 3<&-
}

# line NAME WANT HEX...: what these frames are shown as
line()
{
	show "" "${@:3}"
	is "$1" "$(seen)" "$2"
}

try_columns()
{
	local tag=81000064 tags=810000648100000081000000810000008100

	printf '192.0.2.1\n2001:db8::1\n' >bad.txt
	echo udp,198.51.100.1,10.66.0.2,1000,53 >flow.txt
	check "an image of flows" "$BALEEN" build --key flow -o flow.bln flow.txt
	attach --dry-run --default drop --count hundred=bad.txt vlan 100 --drop bad=bad.txt \
		--drop flow=flow.bln

	line "UDP" "would-drop bad 192.0.2.1 udp 192.0.2.1:1000 10.66.0.2:53 42" \
		"$(ip4 11 $BAD "$UDP")"
	line "a VLAN, counted and judged" \
		"count hundred 192.0.2.1 tcp 192.0.2.1:1000 10.66.0.2:53 58 vlan 100
would-drop bad 192.0.2.1 tcp 192.0.2.1:1000 10.66.0.2:53 58 vlan 100" \
		"$tag$(ip4 06 $BAD "$TCP")"
	line "IPv6 behind an extension header" \
		"would-drop bad 2001:db8::1 tcp [2001:db8::1]:1000 [fd66::2]:53 82" \
		"$(ip6 00 "0600$(zeros 6)$TCP")"
	line "IPv6 cut off in one" "would-drop bad 2001:db8::1 - 2001:db8::1 fd66::2 62" \
		"$(ip6 2b 0001000000000000)"
	line "a later fragment has no ports" \
		"would-drop bad 192.0.2.1 udp 192.0.2.1 10.66.0.2 42
would-drop bad 2001:db8::1 udp 2001:db8::1 fd66::2 70" \
		"$(ip4 11 $BAD "$UDP" 0010)" "$(ip6 2c "1100000800000001$UDP")"
	line "ICMP has no ports" "would-drop bad 192.0.2.1 icmp 192.0.2.1 10.66.0.2 42
would-drop bad 2001:db8::1 icmpv6 2001:db8::1 fd66::2 62" \
		"$(ip4 01 $BAD 0800000000000000)" "$(ip6 3a 8000000000000000)"
	line "a protocol without a name" "would-drop bad 192.0.2.1 253 192.0.2.1 10.66.0.2 34" \
		"$(ip4 fd $BAD "")"
	line "a key of five fields" \
		"would-drop flow udp,198.51.100.1,10.66.0.2,1000,53 udp 198.51.100.1:1000 10.66.0.2:53 42" \
		"$(ip4 11 c6336401 "$UDP")"
	line "the default policy" \
		"would-drop (default) - udp 203.0.113.9:1000 10.66.0.2:53 42" \
		"$(ip4 11 $OTHER "$UDP")"
	line "not IP" "would-drop (unparsed) - 0x88b5 - - 60" "88b5$(zeros 46)"
	line "MPLS" "would-drop (unparsed) - mpls - - 60" "8847$(zeros 46)"
	line "five tags" "would-drop (unparsed) - tags - - 62 vlan 100" "$tags$(zeros 28)8100$(zeros 2)"
	line "another version" "would-drop (unparsed) - version - - 60" "0800$(zeros 46)"
	line "cut short" "would-drop (unparsed) - short - - 20" "0800$(zeros 6)"
	line "longer than what is captured" \
		"would-drop bad 192.0.2.1 udp 192.0.2.1:1000 10.66.0.2:53 1042" \
		"$(ip4 11 $BAD "$UDP$(zeros 1000)")"
	is "the columns stand so" "$(sed -E 's/^[^ ]* [^ ]*/TIME/' seen)" \
		"TIME  would-drop  bad       192.0.2.1        udp   192.0.2.1:1000   10.66.0.2:53      1042"
}

# The times are those of this minute and the next.
try_time()
{
	local before after shown

	before=$(date +%s)
	watch -c 1
	send "$(ip4 11 $BAD "$UDP")"
	ended "-c 1 ends" 0 "baleen: veth-b: 1 event shown, 0 lost, 0 not sampled"
	after=$(date +%s)
	shown=$(date -d "$(cut -c 1-23 seen)" +%s)
	is "the time is that of the clock" \
		"$((shown >= before - 1 && shown <= after))" 1
}

# What was there before the first look, too: a flood fills the ring while watch starts.
try_first()
{
	local flood

	quiet "a dry run" attach veth-b --sample 1000000/s --dry-run --drop bad=bad.txt
	nsenter --net="/run/netns/$B" -- "$FLOOD" veth-b 192.0.2.1 600 >/dev/null &
	flood=$!
	for _ in 1 2 3 4 5; do
		watch -c 400
		wait "$watcher"
		exec 3<&-
		cat seen
	done >all
	watch -c 400 -w first.pcap
	wait "$watcher"
	exec 3<&-
	kill "$flood"
	wait "$flood" 2>/dev/null
	is "events of the first moment have their time" "$(wc -l <all) $(grep -c '^1970' all)" "2000 0"
	is "in a capture, too" "$(tcpdump -nn -tt -r first.pcap 2>/dev/null |
		awk '{ n++; old += $1 < 1000000000 } END { print n, old + 0 }')" "400 0"
	detach
}

try_json()
{
	watch -j -c 3
	send "81000064$(ip4 06 $BAD "$TCP")" "$(ip4 11 $BAD "$UDP" 0010)"
	ended "-j -c 3 ends" 0 "baleen: veth-b: 3 events shown, 0 lost, 0 not sampled"
	is "one object per line" "$(wc -l <seen) $(jq -s length seen)" "3 3"
	is "a counted one" "$(jq -c 'del(.time)' seen | sed -n 1p)" \
		'{"verdict":"count","rule":"hundred","key":"192.0.2.1","proto":"tcp","src":"192.0.2.1","dst":"10.66.0.2","sport":1000,"dport":53,"vlan":100,"bytes":58,"captured":58}'
	is "one without ports" "$(jq -c 'del(.time)' seen | sed -n 3p)" \
		'{"verdict":"would-drop","rule":"bad","key":"192.0.2.1","proto":"udp","src":"192.0.2.1","dst":"10.66.0.2","bytes":42,"captured":42}'
	check "times are of ISO 8601" grep -cE '"time":"20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z"' seen
	is "all of them" "$(<out)" 3

	show -j "88b5$(zeros 46)" "$(ip4 11 $BAD "$UDP$(zeros 1000)")"
	is "one that is not IP, and a long one" "$(jq -c 'del(.time)' seen)" \
		'{"verdict":"would-drop","rule":"(unparsed)","proto":"0x88b5","bytes":60,"captured":60}
{"verdict":"would-drop","rule":"bad","key":"192.0.2.1","proto":"udp","src":"192.0.2.1","dst":"10.66.0.2","sport":1000,"dport":53,"bytes":1042,"captured":192}'
}

try_capture()
{
	local long

	long=$(ip4 11 $BAD "$UDP$(zeros 1000)")
	echo "192.0.2.7" >precious.txt
	expect "a list is not overwritten" 1 "" \
		"baleen: precious.txt is there and no capture: remove it first, or take another name" \
		baleen watch veth-b -w precious.txt
	is "and is as it was" "$(<precious.txt)" 192.0.2.7

	watch -w new.pcap -c 2
	send "88b5$(zeros 46)" "$long"
	ended "-w ends" 0 "baleen: veth-b: 2 events shown, 0 lost, 0 not sampled"
	is "-w prints nothing" "$(<seen)" ""
	check "tcpdump reads it" tcpdump -nn -tt -e --nano -r new.pcap
	is "lengths" "$(grep -oE 'length [0-9]+:' out | paste -s -d ' ')" "length 60: length 1042:"
	is "nanoseconds" "$(grep -cE '^[0-9]+\.[0-9]{9} ' out)" 2
	is "cut after 192 bytes" "$(stat -c %s new.pcap)" $((24 + 16 + 60 + 16 + 192))
	is "the bytes of the frame" "$(tail -c 178 new.pcap | od -An -v -tx1 | tr -d ' \n')" \
		"$(cut -c 5-360 <<<"$long")"
	prints "replay reads it" "1 - drop (default)
2 192.0.2.1 drop bad (cut)" replay_shape new.pcap
	is "it is for its owner" "$(stat -c %a new.pcap)" 600

	show "-w new.pcap" "$long"
	is "a capture is overwritten" "$(stat -c %s new.pcap)" $((24 + 16 + 192))

	show "-w -" "$long"
	is "- is standard output" "$(stat -c %s seen)" $((24 + 16 + 192))
	expect "a full disk" 1 "" "baleen: /dev/full: No space left on device" \
		baleen watch veth-b -w /dev/full
}

# replay_shape FILE: frame, key, verdict and rule of each
replay_shape()
{
	"$BALEEN" replay -jv --default drop --drop bad=bad.txt "$1" |
		jq -r '.[] | "\(.frame) \(.key // "-") \(.verdict) \(.rule // "(default)")" +
			(if .frame == 2 then " (cut)" else "" end)'
}

# --- refused ---------------------------------------------------------------

try_refusals()
{
	local user=(setpriv --reuid 65534 --regid 65534 --clear-groups --)

	refuses "no such device" "veth-x: no such device" baleen watch veth-x
	refuses "no filter" "baleen is not attached to lo" baleen watch lo
	expect "no device" 2 "" "baleen: watch: one device is asked for (see 'baleen help watch')" \
		baleen watch
	expect "two devices" 2 "" "baleen: watch: one device is asked for (see 'baleen help watch')" \
		baleen watch veth-b veth-b
	expect "no number" 2 "" "baleen: watch: '0': no number of events (see 'baleen help watch')" \
		baleen watch -c 0 veth-b
	expect "an option that is none" 2 "" "baleen: unrecognized option '--jsno'
baleen: did you mean '--json'? See 'baleen help watch'" baleen watch --jsno veth-b
	expect "two formats" 2 "" \
		"baleen: watch: -j and -w exclude each other (see 'baleen help watch')" \
		baleen watch -j -w x veth-b
	check_status "no root" 1 in_ns "$B" "${user[@]}" "$BALEEN" watch veth-b
	is "says what is missing" "$(grep -o 'CAP_[A-Z]*' err)" CAP_BPF

	watch
	refuses "a second watcher" "somebody else is watching veth-b" baleen watch veth-b
	quiet "which keeps no writer out" policy veth-b --dry-run
	interrupted "SIGINT" INT "baleen: veth-b: 0 events shown, 0 lost, 0 not sampled"
	watch
	interrupted "SIGTERM" TERM "baleen: veth-b: 0 events shown, 0 lost, 0 not sampled"
	watch
	kill -KILL "$watcher"
	wait "$watcher" 2>/dev/null
	exec 3<&-
	watch
	interrupted "one that was killed is in nobody's way" INT \
		"baleen: veth-b: 0 events shown, 0 lost, 0 not sampled"
}

# --- what changes meanwhile ------------------------------------------------

try_changes()
{
	local bad other

	bad=$(ip4 11 $BAD "$UDP")
	other=$(ip4 11 $OTHER "$UDP")
	echo 203.0.113.9 >other.txt
	attach --dry-run --drop bad=bad.txt --drop late=other.txt
	watch
	send "$bad" "$other"
	quiet "swap" swap veth-b:bad bad.txt
	send "$bad"
	quiet "move" rule move veth-b:late --first
	send "$bad" "$other"
	quiet "another rate" policy veth-b --sample 500000/s
	quiet "enforce and dry-run" policy veth-b --default drop
	send "$bad" "88b5$(zeros 46)"
	# The slot of a rule that is gone goes to another, and nobody looks until then.
	kill -STOP "$watcher"
	send "$bad"
	quiet "del" rule del veth-b:bad
	quiet "add" rule add veth-b --drop new=bad.txt
	send "$bad" "$other"
	kill -CONT "$watcher"
	interrupted "a watch goes on when the rules change" INT \
		"baleen: veth-b: 10 events shown, 0 lost, 0 not sampled"
	is "each event has the rule that made it" "$(cut -d ' ' -f 2 <(seen) | paste -s -d ' ')" \
		"bad late bad bad late bad (unparsed) bad new late"

	watch -c 2
	kill -STOP "$watcher"
	check "drop in a dry run" "$ROOT/build/tools/frame" "$A:veth-a" "$B:veth-b" "$bad"
	quiet "enforce" policy veth-b --enforce --force
	check "drop" in_ns "$B" "$FLOOD" veth-b 192.0.2.1 x20000
	kill -CONT "$watcher"
	wait "$watcher"
	is "each event has the verdict of its time" \
		"$(cut -d ' ' -f 1 <(seen) | paste -s -d ' ')" "would-drop drop"

	watch
	quiet "stop" policy veth-b --no-sample
	ended "sampling stopped" 1 "baleen: veth-b: sampling was stopped
baleen: veth-b: 0 events shown, 0 lost, 0 not sampled"
	refuses "none left to watch" \
		"veth-b samples no events: 'baleen policy veth-b --sample 100/s' starts it" \
		baleen watch veth-b
	quiet "start" policy veth-b --dry-run --sample 1000/s
	line "sampling again" "would-drop new 192.0.2.1 udp 192.0.2.1:1000 10.66.0.2:53 42" "$bad"

	watch
	send "$bad"
	detach
	ended "detached" 1 "baleen: veth-b: the filter was taken off, or its device deleted
baleen: veth-b: 1 event shown, 0 lost, 0 not sampled"
	attach --dry-run --drop bad=bad.txt
	watch
	quiet "detach" detach veth-b
	attach --dry-run --drop bad=bad.txt
	ended "attached anew" 1 "baleen: veth-b: the filter was taken off, or its device deleted
baleen: veth-b: 0 events shown, 0 lost, 0 not sampled"
}

# A reader that goes away ends the watch, without a word of it.
try_closed_pipe()
{
	local n

	rm -f status
	{
		baleen watch veth-b 2>told | head -n 1 >first
		echo "${PIPESTATUS[0]}" >status
	} &
	exec 3<told
	IFS= read -r -t 60 _ <&3
	# It notices when it writes again; what comes together is written together.
	for ((n = 0; n < 100; n++)); do
		[ ! -s status ] || break
		send "$(ip4 11 $BAD "$UDP")"
		sleep 0.1
	done
	wait $!
	is "no reader left" "$(<status) $(wc -l <first)" "1 1"
	is "is no news" "$(sed 's/[0-9]* events\? shown/N shown/' <&3)" \
		"baleen: veth-b: N shown, 0 lost, 0 not sampled"
	exec 3<&-
}

# --- the rate --------------------------------------------------------------

# summary: the three numbers of what it said last
summary()
{
	sed -nE 's/,([0-9])/\1/g
		s/^baleen: veth-b: ([0-9]+) events? shown, ([0-9]+) lost, ([0-9]+) not sampled$/\1 \2 \3/p'
}

# in_5_s: events of the first five seconds, by the times that the kernel gave them
in_5_s()
{
	awk '{
		split($2, part, ":")
		t = part[1] * 3600 + part[2] * 60 + part[3]
		if (NR == 1)
			start = t
		if (t < start)
			t += 86400
		n += t < start + 5
	}
	END { print n }' seen
}

# The one place where a test asserts a rate; 50 of 500 are what it may lose to
# seconds in which no CPU of a busy host runs it.
try_rate()
{
	local shown lost not_sampled runs dropped n

	quiet "attach, 100 events a second" attach veth-b --sample 100/s --drop bad=bad.txt
	watch
	check "a flood on all CPUs" in_ns "$B" "$FLOOD" veth-b 192.0.2.1 6
	cp out flood.json
	kill -INT "$watcher"
	wait "$watcher"
	read -r shown lost not_sampled <<<"$(summary <&3)"
	exec 3<&-
	runs=$(json flood.json .runs)
	dropped=$(json flood.json .dropped)
	n=$(in_5_s)
	echo "# $((runs / 6)) drops a second, $n events in 5 s, $not_sampled not sampled"
	is "a million a second" "$((dropped == runs && runs >= 6000000))" 1
	is "100 events a second, of all CPUs together" "$((n >= 450 && n <= 550))" 1
	is "none is lost" "$lost" 0
	is "the rest is counted as not sampled" $((shown + not_sampled)) "$dropped"
	is "and all as dropped" "$(baleen status -j veth-b | jq '.[0].rules[0].packets')" "$dropped"
	is "each has a line" "$(wc -l <seen)" "$shown"
	detach
}

# A ring buffer that nobody empties: 1 MiB, so less than 5,000 events.
try_full_ring()
{
	local shown lost not_sampled

	attach --drop bad=bad.txt
	watch
	kill -STOP "$watcher"
	check "a flood that nobody reads" in_ns "$B" "$FLOOD" veth-b 192.0.2.1 x200000
	is "all are dropped" "$(json out .dropped)" 200000
	kill -CONT "$watcher"
	kill -INT "$watcher"
	wait "$watcher"
	read -r shown lost not_sampled <<<"$(summary <&3)"
	exec 3<&-
	echo "# $shown shown, $lost lost, $not_sampled not sampled"
	is "some are lost" "$((lost > 0 && shown > 4000 && shown < 5000))" 1
	is "each is shown, lost or not sampled" $((shown + lost + not_sampled)) 200000
	check "nobody watches" in_ns "$B" "$FLOOD" veth-b 192.0.2.1 x200000
	watch -c 1
	check "a longer frame" in_ns "$B" "$FLOOD" veth-b 192.0.2.1 x20000 77
	wait "$watcher"
	exec 3<&-
	is "what waited from before is left out" "$(seen | grep -o '[0-9]*$')" 77
	detach
}

# Sampling costs nothing where there is none.
try_cost()
{
	local without with after

	quiet "attach without" attach veth-b --drop bad=bad.txt
	without=$("$ROOT/build/tools/program" "$(xdp_id "$B" veth-b)")
	quiet "with" policy veth-b --sample 100/s
	with=$("$ROOT/build/tools/program" "$(xdp_id "$B" veth-b)")
	quiet "without again" policy veth-b --no-sample
	after=$("$ROOT/build/tools/program" "$(xdp_id "$B" veth-b)")
	is "the program without sampling is the same before and after" "$after" "$without"
	is "and shorter" "$((${without##* } < ${with##* }))" 1
	detach
}

make_pair
try_columns
try_time
try_json
try_capture
try_refusals
try_closed_pipe
detach
try_first
try_changes
detach
try_rate
try_full_ring
try_cost
