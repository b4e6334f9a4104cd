#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen status` tells the truth: its counters are what was sent, frame by
# frame, and it knows what has become of a filter whose device was deleted,
# renamed, moved or taken over by another program.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
cd "$TMP" || exit 2

FRAME=$ROOT/build/tools/frame
C=bln$$-c
D=bln$$-d

# baleen ARGUMENT...: in the namespace that receives
baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# status DEVICE PATH...: these values; the exit status has to fit what is told
status()
{
	local path ended

	baleen status -j "$1" >"$TMP/json"
	ended=$?
	[ "$ended $(json "$TMP/json" '[0].enforced')" = "0 true" ] ||
		[ "$ended $(json "$TMP/json" '[0].enforced')" = "1 false" ] || return
	for path in "${@:2}"; do
		json "$TMP/json" "[0]$path"
	done | paste -s -d ' '
}

# state DEVICE: what has become of it
state()
{
	status "$1" .state .enforced
}

# head_line DEVICE: the first line of its status
head_line()
{
	baleen status "$1" | head -n 1
}

# pins: how many devices have some
pins()
{
	find /sys/fs/bpf/baleen -name 'ns*' | wc -l
}

# attach DEVICE LIST
attach()
{
	prints "attach $1" "$1: attached, native" baleen attach "$1" --drop "$2"
}

detach()
{
	prints "detach $1" "$1: detached" baleen detach "$1"
}

# --- counters ---

n=0 bytes=0 passed=0 markers=0

# send NAME OPTION...: adds what was sent to $n, $bytes, $passed and $markers
send()
{
	check "$1" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --expect -j "${@:2}"
	cp "$TMP/out" sent.json
	n=$((n + $(json sent.json .listed.sent)))
	bytes=$((bytes + $(json sent.json .listed.bytes)))
	passed=$((passed + $(json sent.json .unlisted.sent)))
	markers=$((markers + $(json sent.json .markers)))
}

# counted NAME: all counters are what was sent
counted()
{
	is "$1: counters" \
		"$(status veth-b .rules[0].packets .rules[0].packet_bytes .unmatched .unparsed)" \
		"$n $bytes $passed $(unparsed "$markers" 0 0 0 0)"
}

# unparsed NOT_IP MPLS TAGS VERSION SHORT: these counters as JSON
unparsed()
{
	echo "{\"not_ip\":$1,\"mpls\":$2,\"tags\":$3,\"version\":$4,\"short\":$5}"
}

# zeros N: N bytes in HEX
zeros()
{
	printf '00%.0s' $(seq "$1")
}

# frames NAME WANT HEX...: they come through, and unparsed is then as stated
frames()
{
	check "$1 passes" "$FRAME" "$A:veth-a" "$B:veth-b" "${@:3}"
	# shellcheck disable=SC2086 # five words
	is "$1 is counted" "$(status veth-b .unparsed)" "$(unparsed $2)"
}

try_counters()
{
	local mode=$1 n=0 bytes=0 passed=0 markers=0
	local ip4=450000140000000040110000 ip6 tag=81000001

	check "$mode: attach" baleen attach veth-b --mode "$mode" --drop all.txt
	is "$mode: as asked" "$(status veth-b .program_on_device.mode .requested_mode .degraded)" \
		"$mode $mode $([ "$mode" = generic ] && echo true || echo false)"
	counted "$mode, nothing sent"
	send "$mode: IPv4" --listed all4.txt --random 300
	counted "$mode, IPv4"
	send "$mode: IPv6" --listed all6.txt --random6 200
	counted "$mode, IPv6"
	send "$mode: four VLAN tags" --listed all4.txt --tags 4
	counted "$mode, four VLAN tags"
	detach veth-b

	check "$mode: attach again" baleen attach veth-b --mode "$mode" --drop all.txt
	ip4+=0102030405060708 # from 1.2.3.4, which is not listed
	ip6=6000000000001140$(zeros 32)
	frames "$mode: ARP" "1 0 0 0 0" "08060001080006040002$(zeros 20)"
	frames "$mode: LLDP, PPPoE discovery, 802.3" "4 0 0 0 0" \
		"88cc$(zeros 46)" "8863$(zeros 46)" "0026$(zeros 46)"
	frames "$mode: MPLS" "4 2 0 0 0" "884700001140$ip4" "884800001140$ip6"
	frames "$mode: five VLAN tags" "4 2 1 0 0" "$tag$tag$tag$tag${tag}0800$ip4"
	frames "$mode: wrong version" "4 2 1 3 0" "0800$ip6" "86dd$ip4$(zeros 20)" \
		"0800$(zeros 46)"
	frames "$mode: cut short" "4 2 1 3 6" 0800 "0800${ip4:0:38}" 86dd "86dd${ip6:0:78}" \
		"${tag}08004500" "88641100000100"
	is "$mode: none of them is counted elsewhere" \
		"$(status veth-b .rules[0].packets .rules[0].packet_bytes .unmatched)" "0 0 0"
	frames "$mode: IP that matches no rule" "4 2 1 3 6" "0800$ip4" "86dd$ip6" \
		"$tag$tag$tag${tag}0800$ip4" "88641100000100160021$ip4"
	is "$mode: is passed" "$(status veth-b .rules[0].packets .unmatched)" "0 4"
	is "$mode: in words" "$(baleen status veth-b | tail -n 2)" \
		"  default pass: 4 packets matched no rule, passed
  passed unexamined: 4 not IP, 2 MPLS, 1 more than 4 VLAN tags, 3 wrong IP version, 6 cut short"
	detach veth-b
}

# --- what became of a device ---

# An end of a pair without the test's addresses.
make_device()
{
	ip -n "$B" link add name "$1" type veth peer name "$1-peer" || bail "cannot make $1"
}

try_nothing()
{
	prints "status of nothing" "nothing is attached in this network namespace" baleen status
	prints "as JSON" "[]" baleen status -j
	refuses "status of a device without a filter" "baleen is not attached to veth-b" \
		baleen status veth-b
	refuses "status of no device" "none: no such device" baleen status none
	refuses "detach of no device" "none: no such device" baleen detach none
	refuses "match on a device without a filter" "baleen is not attached to veth-b" \
		baleen match veth-b:drop 192.0.2.1
}

try_deleted()
{
	local gone

	make_device eth7
	gone=$(in_ns "$B" cat /proc/net/dev_snmp6/eth7 | awk '$1 == "ifIndex" { print $2 }')
	attach eth7 one.txt
	is "in force" "$(state eth7)" "attached true"
	check "the device is deleted" ip -n "$B" link del eth7
	is "it is known to be gone" "$(state eth7)" "gone false"
	is "in words, too" "$(head_line eth7)" \
		"eth7: NOT IN FORCE: device $gone is gone; 'baleen detach --gone' forgets it"
	is "without its name" "$(baleen status | head -n 1)" "$(head_line eth7)"
	refuses "it cannot be swapped" "eth7: the filter is not in force here (gone)" \
		baleen swap eth7:one two.txt
	detach eth7
	is "it is forgotten" "$(pins)" 0
	refuses "for good" "eth7: no such device" baleen status eth7

	make_device eth7
	attach eth7 one.txt
	check "deleted once more" ip -n "$B" link del eth7
	make_device eth7
	is "another device of its name is not taken for it" "$(state eth7)" "gone false"
	attach eth7 two.txt
	is "and has a filter of its own" "$(state eth7) $(status eth7 .rules[0].name)" \
		"attached true two"
	is "both are told" "$(baleen status | grep -c '^eth7: ')" 2
	detach eth7
	is "the living one goes first" "$(xdp_mode "$B" eth7) $(state eth7)" "off gone false"
	detach eth7
	is "then the dead one" "$(pins)" 0
	check "delete it" ip -n "$B" link del eth7
}

try_renamed()
{
	local id

	attach veth-b all.txt
	send "before it is renamed" --listed all4.txt
	id=$(xdp_id "$B" veth-b)
	ip -n "$B" link set dev veth-b down
	check "renamed" ip -n "$B" link set dev veth-b name lan0
	is "status by the new name" "$(head_line lan0)" \
		"lan0: attached, native, program $id, was veth-b at attach"
	is "by the old name" "$(head_line veth-b)" "$(head_line lan0)"
	is "as JSON" "$(status lan0 .device .device_at_attach .state)" "lan0 veth-b attached"
	prints "swap by the new name" "lan0:all: swapped, 1 entry" baleen swap lan0:all two.txt
	prints "match by the new name" 192.0.2.2 baleen match lan0:all 192.0.2.2
	is "the counters went on" "$(status lan0 .rules[0].packets)" 1000
	make_device veth-b
	refuses "the old name is another device's now" "baleen is not attached to veth-b" \
		baleen status veth-b
	refuses "and not to be detached" "baleen is not attached to veth-b" baleen detach veth-b
	is "the renamed one stays" "$(state lan0)" "attached true"
	check "delete the other" ip -n "$B" link del veth-b
	prints "detach by the old name" "veth-b: detached" baleen detach veth-b
	is "that is gone" "$(xdp_mode "$B" lan0) $(pins)" "off 0"
	attach lan0 two.txt
	detach lan0
	check "renamed back" ip -n "$B" link set dev lan0 name veth-b
	ip -n "$B" link set dev veth-b up
}

try_detached()
{
	attach veth-b one.txt
	check_status "ip cannot take it off" 2 in_ns "$B" ip link set dev veth-b xdpdrv off
	is "it stays" "$(state veth-b)" "attached true"
	check "bpftool can" bpftool link detach pinned "$(echo /sys/fs/bpf/baleen/*/link)"
	is "status knows" "$(state veth-b) $(xdp_mode "$B" veth-b)" "detached false off"
	is "in words, too" "$(head_line veth-b)" \
		"veth-b: NOT IN FORCE: somebody detached it; attach again"
	refuses "swap refuses" "veth-b: the filter is not in force here (detached)" \
		baleen swap veth-b:one two.txt
	attach veth-b two.txt
	is "attached again" "$(state veth-b) $(status veth-b .rules[0].name) $(pins)" \
		"attached true two 1"
	detach veth-b
}

try_taken_over()
{
	local id

	attach veth-b one.txt
	check "an object" "$BALEEN" compile -o drop.o two.txt
	check "bpftool detaches" bpftool link detach pinned "$(echo /sys/fs/bpf/baleen/*/link)"
	check "ip takes over" in_ns "$B" ip link set dev veth-b xdpdrv obj drop.o sec xdp
	id=$(xdp_id "$B" veth-b)
	is "status knows" "$(state veth-b)" "replaced false"
	is "by whom" "$(status veth-b .program_on_device)" \
		"{\"id\":$id,\"name\":\"baleen_xdp\",\"mode\":\"native\"}"
	is "in words, too" "$(head_line veth-b)" \
		"veth-b: NOT IN FORCE: program 'baleen_xdp' (id $id, native) is there instead"
	refuses "swap refuses" "veth-b: the filter is not in force here (replaced)" \
		baleen swap veth-b:one two.txt
	refuses "attach refuses and names it" "veth-b runs the XDP program 'baleen_xdp' (id $id, \
native) already: detach it first, as an object with 'ip link set ... xdp off', else with baleen \
where the pins in /sys/fs/bpf are seen" baleen attach veth-b --drop two.txt
	is "what it was is still told" "$(status veth-b .rules[0].name)" one
	detach veth-b
	is "that forgets ours and leaves the other" "$(pins) $(xdp_id "$B" veth-b)" "0 $id"
	check "ip takes that off" in_ns "$B" ip link set dev veth-b xdpdrv off
}

try_moved()
{
	local index

	make_netns "$C"
	make_device eth7
	attach eth7 one.txt
	check "moved to another namespace" ip -n "$B" link set dev eth7 netns "$C"
	is "it is in force there" "$(xdp_mode "$C" eth7)" native
	is "status knows" "$(state eth7)" "moved true"
	is "in words, too" "$(head_line eth7)" "eth7: attached, but to a device that is now in \
another network namespace; 'baleen detach eth7' takes the filter off"
	refuses "swap refuses" "eth7: the filter is not in force here (moved)" \
		baleen swap eth7:one two.txt
	check "moved back" ip -n "$C" link set dev eth7 netns "$B"
	is "it is as it was" "$(state eth7)" "attached true"
	index=$(ip -n "$B" -j link show eth7 | jq '.[0].ifindex')
	check "moved again" ip -n "$B" link set dev eth7 netns "$C"
	check "another device takes its number" \
		ip -n "$B" link add name eth8 index "$index" type veth peer name eth8-peer
	is "status is not deceived" "$(state eth7)" "moved true"
	refuses "nor is attach" "eth8 has the number of a device that took its filter to another \
network namespace: 'baleen detach eth8' takes that off" baleen attach eth8 --drop two.txt
	is "which goes on" "$(xdp_mode "$C" eth7)" native
	check "the other one goes" ip -n "$B" link del eth8
	detach eth7
	is "that takes it off" "$(xdp_mode "$C" eth7) $(pins)" "off 0"
	check "delete it" ip -n "$C" link del eth7
	check "and the namespace" ip netns del "$C"
}

# --- forgetting all that is gone ---

# cookie DIRECTORY: of the namespace whose pins it holds
cookie()
{
	basename "$1" | sed -E 's/^ns([0-9]+)-if.*/\1/'
}

# vanish DEVICE: waits until it is gone from $B, which its namespace's end does
# some time later
vanish()
{
	for _ in {1..5000}; do
		ip -n "$B" link show dev "$1" >"$TMP/out" 2>&1 || return 0
	done
	return 1
}

try_gone()
{
	local here there index=4242

	prints "nothing is gone" "" baleen detach --gone
	prints "as JSON" "[]" baleen detach --gone -j
	expect "misuse" 2 "" "baleen: detach: --gone takes no device (see 'baleen help detach')" \
		baleen detach --gone veth-b

	attach veth-b one.txt
	here=$(cookie /sys/fs/bpf/baleen/*)
	make_device eth7
	attach eth7 one.txt
	check "the device is deleted" ip -n "$B" link del eth7
	prints "it is forgotten" "eth7: forgotten (namespace $here)" baleen detach --gone
	is "what is in force is not" "$(state veth-b) $(pins)" "attached true 1"
	prints "that was all" "" baleen detach --gone

	make_netns "$C"
	ip -n "$C" link add index $index name eth8 type veth peer name eth8-peer netns "$B" ||
		bail "cannot make eth8"
	prints "attach elsewhere" "eth8: attached, native" \
		in_ns "$C" "$BALEEN" attach eth8 --drop two.txt
	there=$(cookie /sys/fs/bpf/baleen/*-if$index)
	prints "what is in force elsewhere stays" "" baleen detach --gone
	is "and goes on" "$(xdp_mode "$C" eth8) $(pins)" "native 2"
	check "the namespace is deleted" ip netns del "$C"
	check "and its device" vanish eth8-peer
	is "status cannot tell of it" "$(baleen status | grep -c eth8)" 0
	is "it is forgotten with its namespace" "$(baleen detach --gone -j | jq -c .)" \
		"[{\"device\":\"eth8\",\"ifindex\":$index,\"namespace\":$there}]"
	is "the one in force is not" "$(state veth-b) $(pins)" "attached true 1"

	mkdir -p /sys/fs/bpf/baleen/ns1-if1/77
	prints "what a killed attach left is removed" "" baleen detach --gone
	is "and only that" "$(state veth-b) $(pins)" "attached true 1"
	check "somebody detaches the link" bpftool link detach \
		pinned "$(echo /sys/fs/bpf/baleen/*/link)"
	prints "a link without a device is forgotten" "veth-b: forgotten (namespace $here)" \
		baleen detach --gone
	is "nothing is left" "$(pins)" 0
}

# --- as JSON ---

try_json()
{
	baleen attach -j lo --drop one.txt >json.out 2>json.err
	is "attach -j tells the mode" "$(json json.out .device) $(json json.out .mode) \
$(json json.out .degraded)" "lo generic true"
	is "what was tried" "$(json json.out '.failed[0].tried')" "native with multi-buffer frames"
	is "and why not" "$(json json.out '.failed[1].reason')" \
		"Underlying driver does not support XDP in native mode"
	is "and says it in words" "$(wc -l <json.err)" 2
	is "status -j calls it degraded" "$(status lo .degraded .state .requested_mode)" \
		"true attached auto"
	baleen swap -j lo:one two.txt >json.out
	is "swap -j describes the image" "$(json json.out .entries) $(json json.out .exact)" "1 true"
	is "detach -j" "$(baleen detach -j lo | json - .detached)" lo
	is "is done" "$(xdp_mode "$B" lo)" off
	baleen attach -j veth-b --drop one.txt >json.out
	is "attach -j, native" "$(json json.out .mode) $(json json.out .degraded) \
$(json json.out .frags) $(json json.out .failed)" "native false true []"
	is "status -j of a rule" "$(status veth-b .rules[0].name .rules[0].action .rules[0].key \
		.rules[0].entries .rules[0].bytes .rules[0].exact)" "one drop src 1 576 true"
	is "status -j of a device" "$(status veth-b .device .program_id .program_on_device.id)" \
		"veth-b $(xdp_id "$B" veth-b) $(xdp_id "$B" veth-b)"
	detach veth-b
}

# --- several of them ---

try_two_devices()
{
	make_device eth7
	attach veth-b all.txt
	attach eth7 one.txt
	send "two devices" --listed all4.txt
	is "status tells both" "$(baleen status | grep -o '^[a-z0-9-]*: attached' | sort)" \
		$'eth7: attached\nveth-b: attached'
	is "also as JSON" "$(baleen status -j | grep -c '"ifindex": ')" 2
	is "or one" "$(status eth7 .rules[0].name .rules[0].packets)" "one 0"
	is "or the other" "$(status veth-b .rules[0].name .rules[0].packets)" "all 1000"
	detach eth7
	is "detached one by one" "$(state veth-b) $(xdp_mode "$B" eth7)" "attached true off"
	detach veth-b
	check "delete the device" ip -n "$B" link del eth7
}

# Same names, same addresses, same numbers.
try_two_namespaces()
{
	make_pair "$C" "$D"
	attach veth-b all.txt
	prints "the other namespace has its own" "veth-b: attached, native" \
		in_ns "$D" "$BALEEN" attach veth-b --drop one.txt
	is "two of them" "$(pins)" 2
	send "here" --listed all4.txt
	check "there" "$TRAFFIC" --from "$C:veth-a" --to "$D:veth-b" --expect --unlisted all4.txt \
		--listed one.txt
	is "status here" "$(status veth-b .rules[0].name .rules[0].packets)" "all 1000"
	in_ns "$D" "$BALEEN" status -j >there.json
	is "status there" "$(json there.json '[0].rules[0].name') \
$(json there.json '[0].rules[0].packets') $(json there.json '[0].unmatched')" "one 1 1000"
	is "each tells of its own" "$(baleen status | grep -c '^veth-b: ')" 1
	detach veth-b
	check "the other goes on" "$TRAFFIC" --from "$C:veth-a" --to "$D:veth-b" --expect \
		--listed one.txt --unlisted all4.txt
	is "and is told there" "$(in_ns "$D" "$BALEEN" status | grep -c '^veth-b: attached')" 1
	is "not here" "$(baleen status)" "nothing is attached in this network namespace"
	prints "detach the other" "veth-b: detached" in_ns "$D" "$BALEEN" detach veth-b
	is "nothing is left" "$(pins)" 0
}

make_pair
make_list all4.txt 1000 0 1
make_list all6.txt 0 500 2
cat all4.txt all6.txt >all.txt
echo 192.0.2.1 >one.txt
echo 192.0.2.2 >two.txt
try_nothing
try_counters native
try_counters generic
try_deleted
try_renamed
try_detached
try_taken_over
try_moved
try_gone
try_json
try_two_devices
try_two_namespaces
