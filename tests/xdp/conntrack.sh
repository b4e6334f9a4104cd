#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `conntrack`: under a default of drop what belongs to a flow that a router forwards
# passes, and nothing else: frames one by one, and programs that talk through it.
#
#      $C, a host inside          $B, the router                    $A, outside
#      host 10.77.0.2  =====  inside 10.77.0.1   veth-b 10.66.0.2  =====  veth-a 10.66.0.1
#           fd77::2                  fd77::1            fd66::2                  fd66::1
#
# nftables in $B has conntrack follow flows, and hides IPv4 behind veth-b.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
# shellcheck source=tests/talk.sh
source "$ROOT/tests/talk.sh"
cd "$TMP" || exit 2
C=bln$$-c

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

attach()
{
	check "attach $*" baleen attach veth-b --default drop "$@"
}

detach()
{
	check "detach" baleen detach veth-b
}

# A host behind $B, which routes, and has conntrack follow flows.
make_router()
{
	make_pair
	make_netns "$C"
	ip -n "$B" link add name inside type veth peer name host netns "$C" || bail "no veth pair"
	ip -n "$B" address add 10.77.0.1/24 dev inside
	ip -n "$B" address add fd77::1/64 dev inside nodad
	ip -n "$C" address add 10.77.0.2/24 dev host
	ip -n "$C" address add fd77::2/64 dev host nodad
	ip -n "$B" link set dev inside up
	ip -n "$C" link set dev host up
	# Without link-local addresses a router solicits no neighbours.
	ip -n "$B" neighbour add fd77::2 lladdr "$(mac "$C" host)" dev inside
	ip -n "$C" route add default via 10.77.0.1
	ip -n "$C" route add default via fd77::1
	ip -n "$A" route add fd77::/64 via fd66::2
	# Whoever nobody is, so that packets to him leave.
	ip -n "$B" route add 192.0.2.0/24 via 10.66.0.1
	ip -n "$B" neighbour add fd66::ff lladdr "$(mac "$A" veth-a)" dev veth-b
	ip -n "$B" neighbour add fd66::fd lladdr "$(mac "$A" veth-a)" dev veth-b
	ip -n "$A" address add fd66::fd/128 dev lo
	ip -n "$A" route add 2001:db8::1/128 via fd66::2
	ip -n "$A" address add 192.0.2.3/32 dev lo
	ip -n "$A" route add 198.51.100.1/32 via 10.66.0.2
	# The host inside that frames are sent to.
	ip -n "$C" address add 198.51.100.1/32 dev host
	ip -n "$C" address add 2001:db8::1/128 dev host nodad
	ip -n "$B" route add 198.51.100.1/32 via 10.77.0.2
	ip -n "$B" route add 2001:db8::1/128 via fd77::2
	in_ns "$B" tee /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding <<<1 >/dev/null
	# An unanswered flow of UDP ends after 30 s else, which a test may take.
	in_ns "$B" tee /proc/sys/net/netfilter/nf_conntrack_udp_timeout <<<600 >/dev/null
	in_ns "$B" nft -f - <<-END || bail "no rules of nftables"
	table inet follow {
	    chain forward {
	        type filter hook forward priority 0
	        ct state new accept
	    }
	}
	table ip hide {
	    chain out {
	        type nat hook postrouting priority srcnat
	        ip saddr 10.77.0.0/24 oifname veth-b masquerade
	    }
	}
	END
}

# The sockets of $C, which stay open. Flows that it began: UDP from
# 4001, TCP from 4003 and 4005, to port 9, where nobody is; TCP from 4007 to port 9 of
# fd66::fd, where somebody is. Servers of UDP: 4002 answers, 4006 does not.
open_sockets()
{
	cat >sockets.py <<-END
	import socket as s, sys, threading
	kept = []
	def bound(family, kind, host, port):
	    kept.append(s.socket(family, kind))
	    kept[-1].bind((host, port))
	    return kept[-1]
	def answer(server):
	    while True:
	        server.sendto(b"yes", server.recvfrom(100)[1])
	for family, own, peer in ((s.AF_INET, "198.51.100.1", "192.0.2.1"),
	                          (s.AF_INET6, "2001:db8::1", "fd66::ff")):
	    bound(family, s.SOCK_DGRAM, own, 4001).sendto(b"hello", (peer, 9))
	    for port in (4003, 4005):
	        opening = bound(family, s.SOCK_STREAM, own, port)
	        opening.setblocking(False)
	        opening.connect_ex((peer, 9))
	    threading.Thread(target=answer, daemon=True,
	                     args=[bound(family, s.SOCK_DGRAM, own, 4002)]).start()
	    bound(family, s.SOCK_DGRAM, own, 4006)
	while True:
	    try:
	        kept.append(s.create_connection(("fd66::fd", 9), 5, ("2001:db8::1", 4007)))
	        break
	    except ConnectionRefusedError:
	        pass
	print("ready", flush=True)
	threading.Event().wait()
	END
	cat >server.py <<-END
	import socket
	server = socket.create_server(("fd66::fd", 9), family=socket.AF_INET6)
	kept = [server.accept() for i in range(2)]
	END
	nsenter --net="/run/netns/$A" -- python3 server.py &
	mkfifo ready
	nsenter --net="/run/netns/$C" -- python3 sockets.py >ready &
	read -r _ <ready || bail "no sockets"
}

# --- frames ---

test_began()
{
	local peer=192.0.2.1 other=192.0.2.2

	fate "UDP: a reply, from whom it was asked of only" PDDD "$(ip4 $peer 17 "$(udp 4001)")" \
		"$(ip4 $other 17 "$(udp 4001)")" "$(ip4 $peer 17 "$(from 10 4001)")" \
		"$(ip4 $peer 17 "$(udp 4009)")"
	fate "UDP over IPv6" PDD "$(ip6 ff 17 64 "$(udp 4001)")" "$(ip6 fe 17 64 "$(udp 4001)")" \
		"$(ip6 ff 17 64 "$(udp 4009)")"
	fate "TCP: an answer to SYN" PP "$(ip4 $peer 6 "$(tcp 4003 $SYN_ACK)")" \
		"$(ip4 $peer 6 "$(tcp 4003 $ACK)")"
	fate "TCP: a SYN that crosses another" P "$(ip4 $peer 6 "$(tcp 4005 $SYN)")"
	fate "TCP: not from elsewhere" DDD "$(ip4 $other 6 "$(tcp 4003 $SYN_ACK)")" \
		"$(ip4 $other 6 "$(tcp 4003 $SYN)")" "$(ip4 $peer 6 "$(tcp 4009 $ACK)")"
	fate "TCP over IPv6" PDD "$(ip6 ff 6 64 "$(tcp 4003 $SYN_ACK)")" \
		"$(ip6 fe 6 64 "$(tcp 4003 $SYN_ACK)")" "$(ip6 ff 6 64 "$(tcp 4009 $SYN)")"
	fate "behind two tags" PD "$(tag 7)$(tag 8)$(ip4 $peer 17 "$(udp 4001)")" \
		"$(tag 7)$(tag 8)$(ip4 $other 17 "$(udp 4001)")"
	fate "a first fragment has ports, later ones have none" PDD \
		"$(ip4 $peer 17 "$(udp 4001)" 2000)" "$(ip4 $peer 17 "$(udp 4001)" 2001)" \
		"$(ip4 $peer 17 "$(udp 4001)" 0001)"
	fate "of IPv6, too" PD "$(ip6 ff 44 64 "1100000100000001$(udp 4001)")" \
		"$(ip6 ff 44 64 "1100000900000001$(udp 4001)")"
	fate "other protocols are not looked for" DD "$(ip4 $peer 132 "$(udp 4001)")" \
		"$(ip4 $peer 136 "$(udp 4001)")"
	fate "DHCP is of the host itself" D "$(ip4 $peer 17 "$(from 67 68)")"
}

test_errors()
{
	local router=203.0.113.1

	fate "ICMP: errors of flows, from anywhere" PPPP "$(ip4 $router 1 "$(error4 3 17 4001)")" \
		"$(ip4 $router 1 "$(error4 11 6 4003)")" "$(ip4 $router 1 "$(error4 12 17 4001)")" \
		"$(ip4 $router 1 "$(error4 3 17 4001)" 2000)"
	fate "ICMP: not of what was not sent, no later fragment" DDDD \
		"$(ip4 $router 1 "$(error4 3 17 4009)")" "$(ip4 $router 1 "$(error4 11 6 4009)")" \
		"$(ip4 $router 1 "$(error4 3 132 4001)")" "$(ip4 $router 1 "$(error4 3 17 4001)" 0001)"
	fate "ICMP: no redirect, no source quench" DD "$(ip4 $router 1 "$(error4 5 17 4001)")" \
		"$(ip4 $router 1 "$(error4 4 17 4001)")"
	fate "ICMP: echo replies, not requests; errors of these" PDPD "$(ip4 $router 1 "$(zeros 8)")" \
		"$(ip4 $router 1 "08$(zeros 7)")" "$(ip4 $router 1 "$(error4_ping 11 8)")" \
		"$(ip4 $router 1 "$(error4_ping 3 0)")"
	fate "ICMPv6" PDPPD "$(ip6 09 58 64 "$(icmp6 129)")" "$(ip6 09 58 64 "$(icmp6 128)")" \
		"$(ip6 09 58 64 "$(error6 2 17 "$(from 4001 9)")")" \
		"$(ip6 09 58 64 "$(error6 1 6 "$(from 4003 9)")")" \
		"$(ip6 09 58 64 "$(error6 1 17 "$(from 4009 9)")")"
	fate "neighbours are found all the same" P "$(ip6 09 58 255 "$(icmp6 135)")"
}

# Flows that 192.0.2.3 began, while a rule let him.
test_served()
{
	local peer=192.0.2.3

	check "a rule for servers" baleen rule add veth-b --force --allow web=any proto udp \
		dport 4002,4006
	check "who begins, and gets an answer" in_ns "$A" python3 - <<-END
	import socket
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	s.settimeout(5)
	s.bind(("192.0.2.3", 9))
	s.sendto(b"hello", ("198.51.100.1", 4006))
	s.sendto(b"hello", ("198.51.100.1", 4002))
	assert s.recvfrom(100) == (b"yes", ("198.51.100.1", 4002))
	END
	check "no more rule for servers" baleen rule del --force veth-b:web
	fate "a flow that was answered goes on, another does not begin" PDD \
		"$(ip4 $peer 17 "$(udp 4002)")" "$(ip4 $peer 17 "$(udp 4006)")" \
		"$(ip4 192.0.2.1 17 "$(udp 4002)")"
	fate "errors of the answer pass, too" PD \
		"$(ip4 203.0.113.1 1 "$(error4 3 17 4002 | sed s/c0000201/c0000203/)")" \
		"$(ip4 203.0.113.1 1 "$(error4 3 17 4006 | sed s/c0000201/c0000203/)")"
}

# A connection of TCP that was answered.
test_answered()
{
	fate "TCP: a connection goes on, no SYN is of it" PD "$(ip6 fd 6 64 "$(tcp 4007 $ACK)")" \
		"$(ip6 fd 6 64 "$(tcp 4007 $SYN)")"
}

test_frames()
{
	attach --mode native --force --allow replies=any conntrack
	test_began
	test_answered
	test_errors
	test_served
	detach
	attach --mode generic --force --allow replies=any conntrack
	fate "generic" PDPD "$(ip4 192.0.2.1 17 "$(udp 4001)")" "$(ip4 192.0.2.1 17 "$(udp 4009)")" \
		"$(ip6 ff 17 64 "$(udp 4001)")" "$(ip6 ff 17 64 "$(udp 4009)")"
	detach
}

# Other qualifiers and a list restrict it further; beside established one suffices.
test_combined()
{
	local peer=192.0.2.1

	echo $peer >peer.txt
	attach --force --allow peer.txt conntrack proto udp dport 1-4001
	fate "with a list, protocol and ports" PDD "$(ip4 $peer 17 "$(udp 4001)")" \
		"$(ip4 $peer 17 "$(udp 4002)")" "$(ip4 $peer 6 "$(tcp 4003 $ACK)")"
	detach
	attach --allow replies=any established conntrack
	fate "a flow, or a client of DHCP" PPD "$(ip4 $peer 17 "$(udp 4001)")" \
		"$(ip4 $peer 17 "$(from 67 68)")" "$(ip4 $peer 17 "$(udp 4009)")"
	detach
	attach --allow known=any established --count flows=any conntrack
	fate "each rule asks whom it says" DPD "$(ip4 $peer 17 "$(udp 4001)")" \
		"$(ip4 $peer 17 "$(from 67 68)")" "$(ip4 $peer 17 "$(udp 4009)")"
	is "and counts what it knows" "$(baleen status -j veth-b | jq -c '[.[0].rules[].packets]')" "[1,1]"
	detach
}

# --- programs ---

# is_told ADDRESS: a datagram to a port where nobody is comes back as an error of ICMP
is_told()
{
	in_ns "$1" python3 - "$2" <<-END
	import socket, sys
	where = socket.getaddrinfo(sys.argv[1], 9, type=socket.SOCK_DGRAM)[0]
	s = socket.socket(*where[:2])
	s.settimeout(1)
	s.connect(where[4])
	s.send(b"hello")
	try:
	    s.recv(100)
	except ConnectionRefusedError:
	    sys.exit(0)
	END
}

# asks_much BYTES: a datagram of this size comes back, as fragments
asks_much()
{
	in_ns "$C" python3 - "$1" <<-END
	import socket, sys
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	s.settimeout(1)
	s.sendto(bytes(int(sys.argv[1])), ("10.66.0.1", 53))
	assert len(s.recv(2000)) == int(sys.argv[1])
	END
}

test_programs()
{
	echo hello >index.html
	served "$A" 8080
	served "$B" 8080
	served "$C" 8080
	responder "$A" 53
	check "an outsider gets in" opens "$A" fd77::2 8080
	attach --allow replies=any established conntrack
	prints "curl, behind a changed address" hello in_ns "$C" curl -s -m 5 http://10.66.0.1:8080/
	prints "curl over IPv6" hello in_ns "$C" curl -s -m 5 "http://[fd66::1]:8080/"
	prints "curl of the router itself" hello in_ns "$B" curl -s -m 5 http://10.66.0.1:8080/
	check "UDP" asks "$C" 10.66.0.1 53
	check "UDP over IPv6" asks "$C" fd66::1 53
	check "UDP of the router itself" asks "$B" 10.66.0.1 53
	check "ping" in_ns "$C" "$BUSYBOX" ping -c 1 -W 5 10.66.0.1
	check "ping over IPv6" in_ns "$C" "$BUSYBOX" ping -c 1 -W 5 fd66::1
	check "an error, which quotes the changed address" is_told "$C" 10.66.0.1
	check "an error over IPv6" is_told "$C" fd66::1
	check "a datagram in one piece" asks_much 1400
	check_status "one in fragments does not come back whole" 1 asks_much 1800
	check_status "a SYN from outside is dropped" 1 opens "$A" fd77::2 8080
	check_status "to the router, too" 1 opens "$A" 10.66.0.2 8080
	check_status "so is a ping" 1 in_ns "$A" "$BUSYBOX" ping -c 1 -W 1 fd77::2
	check "a server is allowed by its port" baleen rule add veth-b --allow web=any \
		proto tcp dport 8080
	check "and answers" opens "$A" fd77::2 8080
	detach
}

# Of what goes out answers belong to flows, and no first packet does.
test_egress()
{
	check "attach" baleen attach --egress veth-b --default drop --force --allow replies=any conntrack
	check "a server answers" opens "$A" fd77::2 8080
	check "so does the router" opens "$A" 10.66.0.2 8080
	check "an error goes out" is_told "$A" fd77::2
	check "so does an echo reply" in_ns "$A" "$BUSYBOX" ping -c 1 -W 5 fd77::2
	check_status "nobody begins a connection" 1 opens "$C" 10.66.0.1 8080
	check_status "over IPv6 neither" 1 opens "$C" fd66::1 8080
	check_status "nor does the router" 1 opens "$B" 10.66.0.1 8080
	check_status "no echo request goes out" 1 in_ns "$C" "$BUSYBOX" ping -c 1 -W 1 fd66::1
	check "a rule lets SYN out" baleen rule add veth-b@egress --force --allow first=any tcp-syn
	prints "what follows it, behind a changed address, is of its flow" hello \
		in_ns "$C" curl -s -m 5 http://10.66.0.1:8080/
	prints "over IPv6, too" hello in_ns "$C" curl -s -m 5 "http://[fd66::1]:8080/"
	check "detach" baleen detach veth-b@egress
}

# --- words ---

# kept NAME: the rule is what it was, and does what it did
kept()
{
	is "$1: qualifiers" "$(baleen status -j veth-b | jq -r '.[0].rules[0].qualifiers')" \
		"established conntrack"
	fate "$1: frames" PD "$(ip4 192.0.2.1 17 "$(udp 4001)")" "$(ip4 192.0.2.1 17 "$(udp 4009)")"
}

test_kept()
{
	attach --allow replies=any conntrack established
	kept "attach"
	check "save" baleen save veth-b -o saved
	check "policy" baleen policy veth-b --default pass
	check "policy" baleen policy veth-b --default drop
	kept "policy"
	detach
	check "restore" baleen restore veth-b saved
	kept "restore"
	detach
	mkdir -p "$BALEEN_CONF_DIR"
	printf '%s\n' "default drop" "rule replies allow conntrack established" any \
		>"$BALEEN_CONF_DIR/veth-b.conf"
	check_status "apply" 3 baleen apply veth-b
	kept "apply"
	check "apply again" baleen apply veth-b
	rm -rf /sys/fs/bpf/baleen "$BALEEN_RUN_DIR"
	check "boot" baleen restore --boot veth-b
	kept "boot"
	check "detach" baleen detach --forget --entries veth-b
	expect "twice" 2 "" "baleen: attach: rule 'any': conntrack is given twice (see 'baleen help attach')" \
		baleen attach veth-b --allow any conntrack conntrack
}

test_why()
{
	local of=(--dst 198.51.100.1 --proto udp --sport 9)

	attach --force --allow replies=any conntrack
	check "why" baleen why veth-b 192.0.2.1 "${of[@]}" --dport 4001
	is "why: a flow" "$(<out)" "192.0.2.1 to veth-b, udp port 4001: passes
  rule 'replies' (allow, 1 of 1) decides (conntrack)
    any                  every address"
	check "why not" baleen why veth-b 192.0.2.1 "${of[@]}" --dport 4009
	is "why: no flow" "$(<out)" "192.0.2.1 to veth-b, udp port 4009: dropped
  no rule decides: default drop
  rule 'replies' (allow, 1 of 1) holds it, but is only for conntrack
    any                  every address"
	detach
}

# doctor_says: its line about conntrack
doctor_says()
{
	baleen doctor -j veth-b | jq -r '.[] | select(.check == "conntrack") | .level + " " + .text'
}

test_doctor()
{
	is "doctor: rules may ask" "$(doctor_says)" "ok rules may ask for flows of the kernel's conntrack"
	attach --force --allow replies=any conntrack
	is "doctor: one does" "$(doctor_says)" "ok the kernel follows flows, and a rule asks for them"
	detach
	check "attach" in_ns "$A" "$BALEEN" attach veth-a --force --allow replies=any conntrack
	is "doctor: where nothing is followed" "$(in_ns "$A" "$BALEEN" doctor -j veth-a |
		jq -r '.[] | select(.check == "conntrack") | .level + " " + .text')" \
		"note a rule asks for flows, and the kernel knows none: it follows them where a rule of \
nftables asks for 'ct state'"
	check "detach" in_ns "$A" "$BALEEN" detach veth-a
}

# Without the kernel's BTF no program can ask; what was there stays. Kernels whose module
# is not loaded are those of tests/kernels/conntrack.sh.
test_absent()
{
	local missing="conntrack: this kernel has no BTF, so no program can ask it" id

	attach --force --allow known=any established
	id=$(xdp_id "$B" veth-b)
	mount -t tmpfs -o size=4k no-btf /sys/kernel/btf || bail "cannot hide the kernel's BTF"
	refuses "rule add" "$missing" baleen rule add veth-b --force --allow replies=any conntrack
	printf '%s\n' "default drop" "rule replies allow established conntrack" any >"$BALEEN_CONF_DIR/veth-b.conf"
	refuses "apply" "$missing" baleen apply veth-b
	is "what was there stays" "$(xdp_id "$B" veth-b)" "$id"
	is "doctor: no rule may ask" "$(doctor_says)" "ok no rule may ask for flows: $missing"
	detach
	refuses "attach" "$missing" baleen attach veth-b --force --allow replies=any conntrack
	is "nothing is attached" "$(xdp_mode "$B" veth-b)" off
	check "a rule that does not ask" baleen attach veth-b --drop replies=any established --force
	detach
	umount /sys/kernel/btf
	rm "$BALEEN_CONF_DIR/veth-b.conf"
}

if ! grep -q ' bpf_xdp_ct_lookup$' /proc/kallsyms; then
	skip "conntrack" "kernel $(uname -r) has no bpf_xdp_ct_lookup()"
	exit 0
fi
make_router
open_sockets
test_frames
test_combined
test_programs
test_egress
test_kept
test_why
test_doctor
test_absent
