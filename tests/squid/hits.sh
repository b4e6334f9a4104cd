#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A Squid that asks another by ICP, where XDP answers for that one: 400 objects that the
# sibling has are fetched from it, 400 others are not, no client gets a 504, and the
# sibling's Squid is not asked. In front of the sibling and at the asker's port of the
# switch; in each mode; with a filter that says yes to everything.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

PRESENT="400 TCP_MISS/200 SIBLING_HIT"
ABSENT="400 TCP_MISS/200 HIER_DIRECT"
next=1000

# attach PLACE WORDS [OPTION...]: PLACE is NODE:DEVICE; with the Squid's objects or, as
# WORDS may say, another image
attach()
{
	lab_in "${1%:*}" "$BALEEN" icp attach "${1#*:}" --stale 0 --confirm never --asker 10.9.0.2/32 \
		--sibling "peer=10.9.0.1,$2" "${@:3}"
}

# detach PLACE
detach()
{
	check "$1: detach" lab_in "${1%:*}" "$BALEEN" icp detach "${1#*:}"
}

# stats PLACE NAME...: counters of the sibling, as one line
stats()
{
	local name

	for name in "${@:2}"; do
		icp_status "${1%:*}" "${1#*:}" peer "$name"
	done | paste -sd ' '
}

# routed NAME COMMAND...: by which routes the asker got what the command asks for, and that
# every client got what it asked for
routed()
{
	squid_forget asker
	squid_forget sibling
	"${@:2}" >"$TMP/asked"
	is "$1: every client has its object" "$(lab_get asker - <"$TMP/asked" | counted)" "400 200"
	cmp -s "$TMP/asker/bodies" <(sed 's,http://[^/]*,,' "$TMP/asked")
	is "$1: and the right one" $? 0
	routes=$(squid_routes asker)
	refused=$(awk '$4 ~ /504/' "$TMP/sibling/access.log" | wc -l)
}

# absent: 400 URLs that nobody has
absent()
{
	obj "$next" $((next + 399))
}

# received: datagrams to the ICP port that came in by the sibling's device, behind XDP
received()
{
	lab_in sibling nft -j list counters | jq '[.nftables[].counter? | values | .packets] | add'
}

make_counter()
{
	lab_in sibling nft -f - <<-END || bail "cannot count what the sibling gets"
		table netdev lab {
			counter queries { }
			chain in {
				type filter hook ingress device "eth0" priority 0
				udp dport 3130 counter name "queries"
			}
		}
	END
}

# --- the modes --------------------------------------------------------------

# rounds NAME PRESENT_ROUTES ABSENT_ROUTES REFUSED QUERIES: 400 objects that the sibling
# has, 400 others; so many 504 of the sibling meanwhile, and so many queries to its Squid
rounds()
{
	local name=$1 before sum=0

	before=$(icp_counter sibling)
	at_device=$(received)
	routed "$name, present" obj 1 400
	is "$name, present: routes" "$routes" "$2"
	sum=$((sum + refused))
	routed "$name, absent" absent
	next=$((next + 400))
	is "$name, absent: routes" "$routes" "$3"
	is "$name: 504 by the sibling" $((sum + refused)) "$4"
	is "$name: queries to its Squid" $(($(icp_counter sibling) - before)) "$5"
	at_device=$(($(received) - at_device))
}

# try_answer PLACE WORDS [OPTION...]
try_answer()
{
	check "$1: attach" attach "$1" "mode=answer,image=$TMP/image" "${@:2}"
	rounds "$1, answer" "$PRESENT" "$ABSENT" 0 0
	is "$1, answer: datagrams at the sibling" "$at_device" 0
	is "$1, answer: counted" "$(stats "$1" hits misses)" "400 400"
	detach "$1"
}

try_confirm()
{
	check "$1: attach" attach "$1" "mode=confirm,image=$TMP/image"
	rounds "$1, confirm" "$PRESENT" "$ABSENT" 0 400
	is "$1, confirm: counted" "$(stats "$1" hits misses confirmed)" "0 400 400"
	detach "$1"
}

try_observe()
{
	check "$1: attach" attach "$1" "mode=observe,image=$TMP/image"
	rounds "$1, observe" "$PRESENT" "$ABSENT" 0 800
	is "$1, observe: counted" "$(stats "$1" hits misses observed)" "0 0 800"
	is "$1, observe: compared" "$(stats "$1" agreed_hits agreed_misses false_hits \
		false_misses)" "400 400 0 0"
	detach "$1"
}

# A filter of all ones, and one of nothing at all.
try_wrong()
{
	check "$1: attach, all ones" attach "$1" "mode=answer,image=$TMP/ones"
	rounds "$1, all ones" "$PRESENT" "$ABSENT" 400 0
	is "$1, all ones: counted" "$(stats "$1" hits misses)" "800 0"
	detach "$1"
	check "$1: attach, all ones, confirm" attach "$1" "mode=confirm,image=$TMP/ones"
	rounds "$1, all ones, confirm" "$PRESENT" "$ABSENT" 0 800
	is "$1, all ones, confirm: counted" "$(stats "$1" hits misses confirmed)" "0 0 800"
	detach "$1"
	check "$1: attach, all ones, observe" attach "$1" "mode=observe,image=$TMP/ones"
	rounds "$1, all ones, observe" "$PRESENT" "$ABSENT" 0 800
	is "$1, all ones, observe: compared" "$(stats "$1" agreed_hits agreed_misses false_hits \
		false_misses)" "400 0 400 0"
	detach "$1"
	check "$1: attach, nothing, observe" attach "$1" "mode=observe,image=$TMP/nothing"
	rounds "$1, nothing, observe" "$PRESENT" "$ABSENT" 0 800
	is "$1, nothing, observe: compared" "$(stats "$1" agreed_hits agreed_misses false_hits \
		false_misses)" "0 400 0 400"
	detach "$1"
}

# digest BYTES: a digest of Squid's layout whose mask is of this byte, 64 times
digest()
{
	# shellcheck disable=SC2059 # the format is the data
	{
		printf '\0\5\0\3\0\0\0\200\0\0\0\1\0\0\0\0\0\0\0\100\4\4'
		head -c 106 /dev/zero
		head -c 64 /dev/zero | tr '\0' "$1"
	}
}

lab_start
lab_node sibling 1
lab_node asker 2
squid_start sibling
mapfile -t lines < <(squid_sibling asker 1)
squid_start asker "${lines[@]}"
make_counter
is "the sibling has 400" "$(obj 1 400 | lab_get sibling - | counted)" "400 200"
rounds "no program" "$PRESENT" "$ABSENT" 0 800
is "no program: datagrams at the sibling" "$at_device" 800
check "seed" squid_seed sibling "$TMP/image"
digest '\377' >"$TMP/ones.digest"
digest '\0' >"$TMP/nothing.digest"
check "all ones" "$BALEEN" icp seed -o "$TMP/ones" "$TMP/ones.digest"
check "nothing" "$BALEEN" icp seed -o "$TMP/nothing" "$TMP/nothing.digest"
for place in sibling:eth0 sw:asker; do
	try_answer "$place"
	try_confirm "$place"
	try_observe "$place"
	try_wrong "$place"
done
# What is transmitted to the asker needs a program at its own end.
lab_native sibling
try_answer sibling:eth0 --mode native
lab_in asker ip link set dev eth0 xdp obj "$ROOT/build/slot.bpf.o" sec xdp ||
	bail "no program on the asker's device"
try_answer sw:asker --mode native
