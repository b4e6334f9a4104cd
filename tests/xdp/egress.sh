#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What goes out of a device has rules of its own: frames one by one, also such as do not lie
# in one piece, by a link of tcx and by a filter of tc; every command; and a device of which
# both ways are filtered.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
cd "$TMP" || exit 2
mkdir "$BALEEN_CONF_DIR"

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# leaves NAME LETTERS [-n] HEX...: what becomes of frames that veth-b sends
leaves()
{
	local name=$1 letters=$2
	local -a how=(-v)

	shift 2
	if [ "$1" = -n ]; then
		how=(-v -n)
		shift
	fi
	is "$name" "$("$ROOT/build/tools/frame" "${how[@]}" "$B:veth-b" "$A:veth-a" "$@" 2>&1)" "$letters"
}

# to4 DESTINATION PROTOCOL PAYLOAD [FRAGMENT]: as ip4 of frames.sh, which has one destination
to4()
{
	local frame octets

	frame=$(ip4 10.66.0.2 "$2" "$3" "${4-4000}")
	IFS=. read -r -a octets <<<"$1"
	printf '%s%02x%02x%02x%02x%s' "${frame:0:36}" "${octets[@]}" "${frame:44}"
}

# counted DEVICE: packets of its first rule, and what no rule decided
counted()
{
	baleen status -j "$1" | jq -c '.[0] | [ .rules[0].packets, .unmatched, .vital,
		([.unparsed[]] | add) ]'
}

# place DEVICE: by what it is attached
place()
{
	baleen status -j "$1" | jq -r '.[0].place'
}

# has_link: this kernel has links of tcx
has_link()
{
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ]
}

# test_frames: 9.9.9.7, 9.9.9.64/26 and 2001:db8::1 are listed
test_frames()
{
	leaves "destinations that are listed do not leave, others do" DPDPP \
		"$(to4 9.9.9.7 17 "$(udp 53)")" "$(to4 9.9.9.8 17 "$(udp 53)")" \
		"$(to4 9.9.9.65 6 "$(tcp 80 $SYN)")" "$(to4 9.9.9.128 6 "$(tcp 80 $SYN)")" \
		"$(to4 10.66.0.1 1 "08$(zeros 7)")"
	leaves "of IPv6, too" DDP "$(ip6 ff 17 64 "$(udp 53)")" "$(ip6 ff 6 64 "$(tcp 80 $SYN)")" \
		"$(ip6 ff 17 64 "$(udp 53)" | sed 's/20010db8/20010db9/')"
	leaves "any fragment of what goes there" DDD "$(to4 9.9.9.7 17 "$(udp 53)" 2000)" \
		"$(to4 9.9.9.7 17 "$(zeros 8)" 2001)" "$(to4 9.9.9.7 17 "$(zeros 8)" 0002)"
	leaves "behind tags" DPD "$(tag 7)$(to4 9.9.9.7 17 "$(udp 53)")" \
		"$(tag 7)$(to4 9.9.9.8 17 "$(udp 53)")" \
		"$(tag 7 88a8)$(tag 8)$(to4 9.9.9.7 17 "$(udp 53)")"
	leaves "what lies in several pieces" DPDDP -n "$(to4 9.9.9.7 17 "$(udp 53)")" \
		"$(to4 9.9.9.8 17 "$(udp 53)")" "$(tag 7)$(tag 8)$(to4 9.9.9.7 6 "$(tcp 80 $ACK)")" \
		"$(ip6 ff 17 64 "$(udp 53)")" "$(to4 10.66.0.1 1 "08$(zeros 7)")"
	leaves "ARP and what is cut off passes" PP "08060001080006040001$(zeros 36)" "08004500"
}

make_lists()
{
	printf '%s\n' 9.9.9.7 9.9.9.64/26 2001:db8::1 >bad.list
	echo 9.9.9.8 >other.list
	# A neighbour for each address that programs of this test send to.
	ip -n "$B" route add 9.9.9.0/24 dev veth-b
	ip -n "$B" link set dev veth-b mtu 9000
	ip -n "$A" link set dev veth-a mtu 9000
	for host in 7 8 65; do
		ip -n "$B" neigh replace "9.9.9.$host" lladdr "$(mac "$A" veth-a)" dev veth-b nud permanent
		ip -n "$A" address add "9.9.9.$host/32" dev veth-a
	done
}

# try_place PLACE [OPTION...]
try_place()
{
	prints "$1: attach" "veth-b@egress: attached, egress" baleen attach --egress veth-b "${@:2}" \
		--drop bad.list
	is "$1: the place" "$(place veth-b@egress)" "$1"
	test_frames
	# The host itself may have said something meanwhile.
	is "$1: each frame is counted" \
		"$(baleen status -j veth-b@egress | jq -c '.[0] | [.rules[0].packets, .unmatched >= 7,
			.unparsed.short, .unparsed.not_ip > 1]')" '[12,true,1,true]'
	check "$1: another image" baleen swap veth-b@egress:bad other.list
	leaves "$1: is in force" PD "$(to4 9.9.9.7 17 "$(udp 53)")" "$(to4 9.9.9.8 17 "$(udp 53)")"
	is "$1: and its counter goes on" "$(counted veth-b@egress | jq '.[0]')" 13
	refuses "$1: once is enough" "baleen is attached to veth-b@egress already: 'baleen swap' changes \
a rule, 'baleen detach veth-b@egress' takes it off" baleen attach veth-b@egress --drop bad.list
	leaves "$1: what was there stays" PD "$(to4 9.9.9.7 17 "$(udp 53)")" \
		"$(to4 9.9.9.8 17 "$(udp 53)")"
	prints "$1: detach" "veth-b@egress: detached" baleen detach veth-b@egress
	leaves "$1: everything leaves" PP "$(to4 9.9.9.7 17 "$(udp 53)")" "$(to4 9.9.9.8 17 "$(udp 53)")"
	is "$1: nothing is left" "$(in_ns "$B" tc qdisc show dev veth-b | grep -c clsact) \
$(find /sys/fs/bpf/baleen -mindepth 1 2>&1 | wc -l)" "0 0"
}

# What was there before stays.
test_others()
{
	check "somebody has a clsact" in_ns "$B" tc qdisc add dev veth-b clsact
	check "attach beside it" baleen attach --egress veth-b --no-link --drop bad.list
	leaves "in force" D "$(to4 9.9.9.7 17 "$(udp 53)")"
	check "detach" baleen detach veth-b@egress
	check "the clsact is not ours, and stays" in_ns "$B" tc qdisc del dev veth-b clsact
}

test_both_ways()
{
	echo 10.66.0.9 >in.list
	check "what comes in" baleen attach veth-b --drop in.list
	check "what goes out" baleen attach veth-b@egress --drop bad.list
	is "status names both" "$(baleen status -j | jq -c '[.[].device] | sort')" \
		'["veth-b","veth-b@egress"]'
	leaves "out" DP "$(to4 9.9.9.7 17 "$(udp 53)")" "$(to4 10.66.0.9 17 "$(udp 53)")"
	fate "in" DP "$(ip4 10.66.0.9 17 "$(udp 53)")" "$(ip4 9.9.9.7 17 "$(udp 53)")"
	is "each counts its own" "$(counted veth-b | jq -c '.[0]') $(counted veth-b@egress | jq -c '.[0]')" \
		"1 1"
	check "one detaches" baleen detach veth-b
	leaves "the other stays" D "$(to4 9.9.9.7 17 "$(udp 53)")"
	check "detach" baleen detach veth-b@egress
}

test_commands()
{
	check "attach" baleen attach --egress veth-b --drop bad.list --sample 1000/s
	check "add" baleen add veth-b@egress:bad 9.9.9.8 --ttl 1h --reason "calls home"
	leaves "add drops" D "$(to4 9.9.9.8 17 "$(udp 53)")"
	is "list has it" "$(baleen list -j veth-b@egress:bad | jq -r '.[0].entry')" 9.9.9.8
	check "why" baleen why veth-b@egress 9.9.9.8
	is "why knows the entry" "$(head -n 1 out); $(grep -o 'calls home' out)" \
		"to 9.9.9.8 by veth-b@egress, tcp, opening: dropped; calls home"
	check "why of a feed" baleen why veth-b@egress 9.9.9.65 9.9.9.1
	is "why names the line, and what passes" "$(grep -c 'line 2 of' out) $(grep -c ': passes' out)" "1 1"
	expect "why has one destination" 2 "" "baleen: why: --dst: ADDR is the destination of what goes out \
(see 'baleen help why')" baleen why veth-b@egress 9.9.9.8 --dst 9.9.9.9
	check "del" baleen del veth-b@egress:bad 9.9.9.8
	leaves "del lifts" P "$(to4 9.9.9.8 17 "$(udp 53)")"
	check "rule add" baleen rule add veth-b@egress --first --allow good=other.list proto udp dport 53
	is "its key is the destination" "$(baleen status -j veth-b@egress | jq -r '.[0].rules[0].key')" dst
	check "a count of own addresses" baleen rule add veth-b@egress --count mine=any proto tcp
	leaves "rules and their words" PDP "$(to4 9.9.9.8 17 "$(udp 53)")" \
		"$(to4 9.9.9.7 17 "$(udp 53)")" "$(to4 9.9.9.8 6 "$(tcp 80 $SYN)")"
	check "policy" baleen policy veth-b@egress --dry-run
	leaves "a dry run" P "$(to4 9.9.9.7 17 "$(udp 53)")"
	check "policy" baleen policy veth-b@egress --enforce
	refuses "established is of what comes in" "established asks about what comes in: no rule of what \
goes out can have it" baleen rule add veth-b@egress --allow replies=any established
	refuses "bans are of sources" "rule 'many': bans are for a rule whose key is the source address" \
		baleen rule add veth-b@egress --drop many=other.list bans
	check "a rule of sources takes them" baleen rule add veth-b@egress --key src --drop \
		jail=other.list bans
	check "a ban" baleen ban 198.51.100.7
	leaves "what a router sends for whom it bans does not leave" DP \
		"$(to4 9.9.9.1 17 "$(udp 53)" | sed 's/0a420002/c6336407/')" "$(to4 9.9.9.1 17 "$(udp 53)")"
	check "the ban ends" baleen unban 198.51.100.7
	check "the rule goes" baleen rule del veth-b@egress:jail
	refuses "so is a limit" "a limit is of sources that come in: no rule of what goes out can have \
it" baleen rule add veth-b@egress --key src --drop many=other.list limit 50/s ban 10m unverified bans
	leaves "a rule that is refused leaves all as it was" D "$(to4 9.9.9.7 17 "$(udp 53)")"
	is "metrics" "$(baleen metrics | sed -n 's/^baleen_device_attached{device="veth-b@egress"} //p')" 1
	is "and the mode" "$(baleen metrics | grep -c \
		'^baleen_device_mode{device="veth-b@egress",baleen_device_mode="egress"} 1')" 1
	check "save" baleen save veth-b@egress -o saved
	check "detach" baleen detach veth-b@egress
	prints "restore" "veth-b@egress: restored 3 rules, attached, egress" \
		baleen restore veth-b@egress saved
	leaves "restored" PD "$(to4 9.9.9.8 17 "$(udp 53)")" "$(to4 9.9.9.7 17 "$(udp 53)")"
	check "detach" baleen detach veth-b@egress
	refuses "doctor looks at devices" "veth-b@egress: doctor looks at devices: say 'baleen doctor veth-b'" \
		baleen doctor veth-b@egress
	refuses "native and generic are of what comes in" "veth-b@egress: what goes out has no mode: native \
and generic are for what comes in" baleen attach --egress veth-b --mode native --drop bad.list
	refuses "so is a chain" "veth-b@egress: a chain is for what comes in: others at the egress are \
asked anyway" baleen attach --egress veth-b --chain --drop bad.list
	refuses "so is the kernel module" "veth-b@egress: the kernel module filters what comes in: attach \
without --backend kmod" baleen attach --egress veth-b --backend kmod --drop bad.list
}

# An event shows the frame as it is.
test_watch()
{
	check "attach" baleen attach --egress veth-b --drop bad.list --sample 1000/s
	: >watching
	in_ns "$B" "$BALEEN" watch --json --count 1 veth-b@egress >event 2>watching &
	until grep -q watching watching; do
		kill -0 $! || bail "nobody watches"
	done
	leaves "dropped" D "$(tag 7)$(to4 9.9.9.7 17 "$(udp 53)")"
	wait $!
	is "an event" "$(jq -c '[.rule, .dst, .vlan, .dport]' event)" '["bad","9.9.9.7",7,53]'
	check "detach" baleen detach veth-b@egress
}

# What TCP hands on is merged, and its payload lies elsewhere: it is judged as it is.
test_tcp()
{
	cat >bytes.py <<-END
	import socket, sys, threading
	n = 1 << 22
	server = socket.create_server(("9.9.9.8", 4000))
	def take():
	    got = 0
	    peer = server.accept()[0]
	    while chunk := peer.recv(1 << 16):
	        got += len(chunk)
	    print(got)
	take()
	END
	in_ns "$A" python3 bytes.py >took &
	check "attach" baleen attach --egress veth-b --count "tcp=other.list" proto tcp dport 4000 \
		--drop bad.list
	# Until it listens a connection is refused.
	check "4 MiB leave" in_ns "$B" python3 -c "
import socket, time
while True:
    try:
        s = socket.create_connection(('9.9.9.8', 4000)); break
    except ConnectionRefusedError: pass
s.sendall(bytes(1 << 22)); s.close()"
	wait $!
	is "and come in whole" "$(<took)" $((1 << 22))
	is "merged, with all their bytes" "$(baleen status -j veth-b@egress | jq -c '.[0].rules[0] |
		.packets < 2000 and .packet_bytes > 4194304')" true
	check_status "no connection to what is listed" 1 in_ns "$B" python3 -c "
import socket; socket.create_connection(('9.9.9.7', 4000), timeout=0.3)"
	check "detach" baleen detach veth-b@egress
}

# Whoever would cut this host off is told, and refused.
test_lockout()
{
	check "a gateway" ip -n "$B" route add 203.0.113.0/24 via 10.66.0.1
	echo 10.66.0.1 >gateway.list
	refuses "not the gateway" "gateway.list:1: '10.66.0.1': rule 'gateway' would drop 10.66.0.1, \
gateway of veth-b
baleen: veth-b@egress: nothing changed, since this host would cut itself off (--force does it)" \
		baleen attach --egress veth-b --drop gateway.list
	check_status "nor by default" 1 baleen attach --egress veth-b --default drop --allow other.list
	check "an allow rule before lets it" baleen attach --egress veth-b --default drop \
		--allow gateway.list
	leaves "all but the gateway" PD "$(to4 10.66.0.1 17 "$(udp 53)")" "$(to4 9.9.9.8 17 "$(udp 53)")"
	check "detach" baleen detach veth-b@egress
	check "by source it is not met" baleen attach --egress veth-b --key src --drop gateway.list
	check "detach" baleen detach veth-b@egress
	check "no gateway" ip -n "$B" route del 203.0.113.0/24
}

# A configuration of its own, confirmed, and back at boot.
test_configuration()
{
	local conf=$BALEEN_CONF_DIR/veth-b@egress.conf

	printf '%s\n' "egress" "rule bad drop" "feed $TMP/bad.list" >"$conf"
	check_status "apply" 3 baleen apply veth-b@egress
	leaves "applied" DP "$(to4 9.9.9.7 17 "$(udp 53)")" "$(to4 9.9.9.8 17 "$(udp 53)")"
	check "twice changes nothing" baleen apply veth-b@egress
	printf '%s\n' "egress" "rule bad drop" "feed $TMP/other.list" >"$conf"
	check_status "to be confirmed" 3 baleen apply --confirm 1h veth-b@egress
	check "confirm" baleen confirm veth-b@egress
	leaves "confirmed" PD "$(to4 9.9.9.7 17 "$(udp 53)")" "$(to4 9.9.9.8 17 "$(udp 53)")"
	printf '%s\n' "rule bad drop" "feed $TMP/other.list" >"$conf"
	refuses "the file says what it is of" "$conf: says not 'egress', and veth-b@egress is what goes out" \
		baleen apply veth-b@egress
	printf '%s\n' "egress" "rule bad drop" "feed $TMP/other.list" >"$BALEEN_CONF_DIR/veth-b.conf"
	refuses "so does the other" "$BALEEN_CONF_DIR/veth-b.conf: 'egress', and veth-b is what comes in: \
its file is veth-b@egress.conf" baleen apply veth-b
	rm -rf /sys/fs/bpf/baleen "$BALEEN_RUN_DIR" "$conf" "$BALEEN_CONF_DIR/veth-b.conf"
	prints "boot by the name of the device" "veth-b@egress: attached, egress, 1 rule" \
		baleen restore --boot veth-b
	leaves "in force again" PD "$(to4 9.9.9.7 17 "$(udp 53)")" "$(to4 9.9.9.8 17 "$(udp 53)")"
	prints "and of all" "veth-b@egress: is attached already" baleen restore --boot
	check "detach" baleen detach --forget --entries veth-b@egress
}

make_pair
make_lists
if has_link; then
	try_place link
else
	skip "a link" "kernel $(uname -r) has none for what goes out"
fi
try_place netlink --no-link
test_others
test_both_ways
test_commands
test_watch
test_tcp
test_lockout
test_configuration
