#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `established`: under a default of drop what belongs to a connection of this host
# passes, and nothing else: frames one by one, and programs that talk.

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

# The sockets of $B, which stay open until their input ends: connected UDP on 4001, a
# UDP server on 4002, a TCP session that is being opened from 4003 and a TCP server on
# 4004; the first line it prints is the port that the kernel chose for another UDP one.
open_sockets()
{
	cat >sockets.py <<-END
	import socket as s, sys
	kept = []
	def bound(family, kind, host, port):
	    kept.append(s.socket(family, kind))
	    kept[-1].bind((host, port))
	    return kept[-1]
	for family, own, peer in ((s.AF_INET, "198.51.100.1", "192.0.2.1"),
	                          (s.AF_INET6, "2001:db8::1", "fd66::ff")):
	    bound(family, s.SOCK_DGRAM, own, 4001).connect((peer, 9))
	    bound(family, s.SOCK_DGRAM, own, 4002)
	    opening = bound(family, s.SOCK_STREAM, own, 4003)
	    opening.setblocking(False)
	    opening.connect_ex((peer, 9))
	    bound(family, s.SOCK_STREAM, own, 4004).listen()
	    print(bound(family, s.SOCK_DGRAM, own, 0).getsockname()[1], flush=True)
	sys.stdin.read()
	END
	coproc SOCKETS { exec nsenter --net="/run/netns/$B" -- python3 sockets.py; }
	read -r -u "${SOCKETS[0]}" CHOSEN || bail "no sockets"
	read -r -u "${SOCKETS[0]}" CHOSEN6 || bail "no sockets of IPv6"
}

test_tcp()
{
	local peer=192.0.2.1 other=192.0.2.2

	fate "TCP: an answer to SYN, and a SYN that crosses it" PPP \
		"$(ip4 $peer 6 "$(tcp 4003 $SYN_ACK)")" "$(ip4 $peer 6 "$(tcp 4003 $ACK)")" \
		"$(ip4 $peer 6 "$(tcp 4003 $SYN)")"
	fate "TCP: not from elsewhere" DD "$(ip4 $other 6 "$(tcp 4003 $SYN_ACK)")" \
		"$(ip4 $other 6 "$(tcp 4003 $SYN)")"
	fate "TCP: not who wants to open one, nor who says he has one" DDD \
		"$(ip4 $peer 6 "$(tcp 4004 $SYN)")" "$(ip4 $peer 6 "$(tcp 4004 $ACK)")" \
		"$(ip4 $peer 6 "$(tcp 4004 $SYN_ACK)")"
	fate "TCP: not where no socket is" DD "$(ip4 $peer 6 "$(tcp 4009 $ACK)")" \
		"$(ip4 $peer 6 "$(tcp 4009 $SYN)")"
	fate "TCP over IPv6" PDD "$(ip6 ff 6 64 "$(tcp 4003 $SYN_ACK)")" \
		"$(ip6 fe 6 64 "$(tcp 4003 $SYN_ACK)")" "$(ip6 ff 6 64 "$(tcp 4004 $SYN)")"
	fate "TCP behind two tags" PD "$(tag 7)$(tag 8)$(ip4 $peer 6 "$(tcp 4003 $SYN_ACK)")" \
		"$(tag 7)$(tag 8)$(ip4 $peer 6 "$(tcp 4004 $SYN)")"
	fate "TCP cut off before its flags may be a SYN, which crosses or begins" PD \
		"$(ip4 $peer 6 "$(tcp 4003 $ACK | head -c 16)")" \
		"$(ip4 $peer 6 "$(tcp 4004 $ACK | head -c 16)")"
}

test_udp()
{
	local peer=192.0.2.1 other=192.0.2.2

	fate "UDP: to a connected socket from its peer only" PDD \
		"$(ip4 $peer 17 "$(udp 4001)")" "$(ip4 $other 17 "$(udp 4001)")" \
		"$(ip4 $peer 17 "$(from 10 4001)")"
	fate "UDP: not to a server" DD "$(ip4 $peer 17 "$(udp 4002)")" \
		"$(ip4 $peer 17 "$(udp 4009)")"
	fate "UDP: to a port that the kernel chose" PP "$(ip4 $peer 17 "$(udp "$CHOSEN")")" \
		"$(ip4 $other 17 "$(udp "$CHOSEN")")"
	fate "UDP over IPv6" PDDP "$(ip6 ff 17 64 "$(udp 4001)")" "$(ip6 fe 17 64 "$(udp 4001)")" \
		"$(ip6 ff 17 64 "$(udp 4002)")" "$(ip6 ff 17 64 "$(udp "$CHOSEN6")")"
	fate "a first fragment has ports, later ones have none" PDD \
		"$(ip4 $peer 17 "$(udp 4001)" 2000)" "$(ip4 $peer 17 "$(udp 4001)" 2001)" \
		"$(ip4 $peer 17 "$(udp 4001)" 0001)"
	fate "of IPv6, too" PD "$(ip6 ff 44 64 "1100000100000001$(udp 4001)")" \
		"$(ip6 ff 44 64 "1100000900000001$(udp 4001)")"
	fate "other protocols have no sockets here" DD "$(ip4 $peer 132 "$(udp 4001)")" \
		"$(ip4 $peer 136 "$(udp 4001)")"
	fate "DHCP: from its server's port to its client's" PDD "$(ip4 $peer 17 "$(from 67 68)")" \
		"$(ip4 $peer 17 "$(from 68 67)")" "$(ip4 $peer 17 "$(from 547 546)")"
	fate "DHCPv6" PDD "$(ip6 ff 17 64 "$(from 547 546)")" "$(ip6 ff 17 64 "$(from 546 547)")" \
		"$(ip6 ff 17 64 "$(from 67 68)")"
}

test_icmp()
{
	local router=203.0.113.1 echo_reply

	echo_reply=$(zeros 8)
	fate "ICMP: echo replies, not requests" PD "$(ip4 $router 1 "$echo_reply")" \
		"$(ip4 $router 1 "08$(zeros 7)")"
	fate "ICMP: no later fragment of one" DP "$(ip4 $router 1 "$echo_reply" 0001)" \
		"$(ip4 $router 1 "$echo_reply" 2000)"
	fate "ICMP: errors of connections, from anywhere" PPPP "$(ip4 $router 1 "$(error4 3 17 4001)")" \
		"$(ip4 $router 1 "$(error4 11 6 4003)")" "$(ip4 $router 1 "$(error4 12 17 "$CHOSEN")")" \
		"$(ip4 $router 1 "$(error4 3 6 4003)" 2000)"
	fate "ICMP: not of what was not sent" DDDD "$(ip4 $router 1 "$(error4 3 17 4002)")" \
		"$(ip4 $router 1 "$(error4 3 6 4004)")" "$(ip4 $router 1 "$(error4 11 6 4009)")" \
		"$(ip4 $router 1 "$(error4 3 132 4001)")"
	fate "ICMP: no redirect, no source quench" DD "$(ip4 $router 1 "$(error4 5 17 4001)")" \
		"$(ip4 $router 1 "$(error4 4 17 4001)")"
	fate "ICMP: errors of echo requests, not of replies" PPD \
		"$(ip4 $router 1 "$(error4_ping 11 8)")" "$(ip4 $router 1 "$(error4_ping 3 8)")" \
		"$(ip4 $router 1 "$(error4_ping 3 0)")"
	fate "ICMP: errors cut off, or without the ports" DD \
		"$(ip4 $router 1 "$(error4 3 17 4001 | head -c 40)")" \
		"$(ip4 $router 1 "$(error4 3 17 4001 | head -c 60)")"
	fate "ICMPv6: echo replies, not requests" PD "$(ip6 09 58 64 "$(icmp6 129)")" \
		"$(ip6 09 58 64 "$(icmp6 128)")"
	fate "ICMPv6: errors of connections only" PPPDD \
		"$(ip6 09 58 64 "$(error6 2 17 "$(from 4001 9)")")" \
		"$(ip6 09 58 64 "$(error6 1 6 "$(from 4003 9)")")" \
		"$(ip6 09 58 64 "$(error6 3 58 "80$(zeros 7)")")" \
		"$(ip6 09 58 64 "$(error6 1 17 "$(from 4002 9)")")" \
		"$(ip6 09 58 64 "$(error6 1 58 "81$(zeros 7)")")"
	fate "ICMPv6: nothing behind extension headers" D \
		"$(ip6 09 60 64 "3a00010400000000$(error6 2 17 "$(from 4001 9)")")"
	fate "neighbours are found all the same" P "$(ip6 09 58 255 "$(icmp6 135)")"
}

test_frames()
{
	local mode=$1

	attach --mode "$mode" --allow replies=any established
	test_tcp
	test_udp
	test_icmp
	detach
}

# Other qualifiers and a list restrict it further; rules before it decide first.
test_combined()
{
	printf '%s\n' 192.0.2.1 >peer.txt
	attach --force --allow peer.txt established proto udp dport 1-65535
	fate "with a list, protocol and ports" PDD "$(ip4 192.0.2.1 17 "$(udp 4001)")" \
		"$(ip4 192.0.2.2 17 "$(udp "$CHOSEN")")" "$(ip4 192.0.2.1 6 "$(tcp 4003 $SYN_ACK)")"
	detach
	attach --force --drop peer.txt --allow replies=any established
	fate "a rule before it decides" DP "$(ip4 192.0.2.1 17 "$(udp 4001)")" \
		"$(ip4 192.0.2.2 17 "$(udp "$CHOSEN")")"
	detach
	check "a drop rule: attach" baleen attach veth-b --drop any established --force
	fate "a drop rule: cuts what there is" DP "$(ip4 192.0.2.1 17 "$(udp 4001)")" \
		"$(ip4 192.0.2.1 17 "$(udp 4002)")"
	detach
}

# --- programs ---

# dig asks a resolver.
test_dig()
{
	echo "9.10.0.1 mail.example.net" >hosts
	nsenter --net="/run/netns/$A" -- dnsmasq --keep-in-foreground --conf-file=/dev/null --user=root \
		--pid-file= --no-resolv --no-hosts --addn-hosts="$TMP/hosts" --port=5353 \
		--log-facility="$TMP/dnsmasq.log" &
	until grep -q 'read .*hosts' dnsmasq.log 2>/dev/null; do
		kill -0 $! || bail "no resolver"
	done
	prints "dig" 9.10.0.1 in_ns "$B" dig +short +tries=1 +time=5 -p 5353 @10.66.0.1 mail.example.net
	prints "dig over IPv6" 9.10.0.1 in_ns "$B" dig +short +tries=1 +time=5 -p 5353 @fd66::1 mail.example.net
	prints "dig over TCP" 9.10.0.1 in_ns "$B" dig +tcp +short +tries=1 +time=5 -p 5353 @10.66.0.1 \
		mail.example.net
}

# A clock is asked, and neither clock is set.
test_ntp()
{
	printf '%s\n' "local stratum 8" "allow all" "cmdport 0" "bindcmdaddress /" \
		"pidfile $TMP/clock.pid" "driftfile $TMP/drift" >clock.conf
	nsenter --net="/run/netns/$A" -- chronyd -x -d -u root -f "$TMP/clock.conf" >clock.log 2>&1 &
	until grep -q 'Local reference\|Initial frequency\|Frequency\|Using\|Disabled' clock.log; do
		kill -0 $! || bail "no clock: $(<clock.log)"
	done
	check "ntp" in_ns "$B" timeout 30 chronyd -Q -u root -t 20 "server 10.66.0.1 iburst" \
		"cmdport 0" "bindcmdaddress /" "pidfile $TMP/asks.pid"
}

test_programs()
{
	echo hello >index.html
	served "$A" 8080
	served "$B" 8080
	responder "$A" 53
	check "an outsider gets in" opens "$A" 10.66.0.2 8080
	attach --allow replies=any established
	prints "curl" hello in_ns "$B" curl -s -m 5 http://10.66.0.1:8080/
	prints "curl over IPv6" hello in_ns "$B" curl -s -m 5 "http://[fd66::1]:8080/"
	check "UDP, connected" asks "$B" 10.66.0.1 53 connect
	check "UDP, not connected" asks "$B" 10.66.0.1 53
	check "UDP over IPv6, connected" asks "$B" fd66::1 53 connect
	check "UDP over IPv6, not connected" asks "$B" fd66::1 53
	check "ping" in_ns "$B" "$BUSYBOX" ping -c 1 -W 5 10.66.0.1
	check "ping over IPv6" in_ns "$B" "$BUSYBOX" ping -c 1 -W 5 fd66::1
	test_dig
	test_ntp
	check_status "a SYN from outside is dropped" 1 opens "$A" 10.66.0.2 8080
	check_status "over IPv6, too" 1 opens "$A" fd66::2 8080
	check_status "so is a ping" 1 in_ns "$A" "$BUSYBOX" ping -c 1 -W 1 10.66.0.2
	check "a server is allowed by its port" baleen rule add veth-b --allow web=any \
		proto tcp dport 8080
	check "and answers" opens "$A" 10.66.0.2 8080
	detach
}

# A lease, and its renewal, from busybox to busybox.
test_dhcp()
{
	cat >udhcpd.conf <<-END
	start 10.66.0.100
	end 10.66.0.100
	interface veth-a
	lease_file $TMP/leases
	pidfile $TMP/udhcpd.pid
	option subnet 255.255.255.0
	option lease 60
	END
	: >leases
	mkfifo events
	printf '#!/bin/sh\n[ "$1" = deconfig ] || echo "$1 $ip" >%s/events\n' "$TMP" >event
	chmod +x event
	nsenter --net="/run/netns/$A" -- "$BUSYBOX" udhcpd -f -S udhcpd.conf 2>udhcpd.log &
	exec 9<>events
	attach --allow replies=any established
	nsenter --net="/run/netns/$B" -- "$BUSYBOX" udhcpc -f -p "$TMP/udhcpc.pid" -i veth-b -s "$TMP/event" -t 5 -T 1 2>udhcpc.log &
	read -r -t 20 -u 9 event || event="nothing: $(tail -3 udhcpc.log)"
	is "DHCP: a lease" "$event" "bound 10.66.0.100"
	ip -n "$B" address add 10.66.0.100/24 dev veth-b
	ip -n "$A" neighbour add 10.66.0.100 lladdr "$(mac "$B" veth-b)" dev veth-a
	kill -USR1 "$(<udhcpc.pid)"
	read -r -t 20 -u 9 event || event="nothing: $(tail -3 udhcpc.log)"
	is "DHCP: renewed" "$event" "renew 10.66.0.100"
	detach
}

# --- words ---

test_words()
{
	expect "twice" 2 "" "baleen: attach: rule 'any': established is given twice (see 'baleen help attach')" \
		baleen attach veth-b --allow any established established
}

# kept NAME: the rule is what it was, and does what it did
kept()
{
	is "$1: qualifiers" "$(baleen status -j veth-b | jq -r '.[0].rules[0].qualifiers')" \
		"established"
	fate "$1: frames" PD "$(ip4 192.0.2.1 17 "$(udp 4001)")" "$(ip4 192.0.2.1 17 "$(udp 4002)")"
}

test_kept()
{
	attach --allow replies=any established
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
	printf '%s\n' "default drop" "rule replies allow established" any \
		>"$BALEEN_CONF_DIR/veth-b.conf"
	check_status "apply" 3 baleen apply veth-b
	kept "apply"
	check "apply again" baleen apply veth-b
	check "detach" baleen detach --forget --entries veth-b
}

test_why()
{
	attach --allow replies=any established
	check "why" baleen why veth-b 192.0.2.1 --dst 198.51.100.1 --proto udp --sport 9 --dport 4001
	is "why: established" "$(<out)" "192.0.2.1 to veth-b, udp port 4001: passes
  rule 'replies' (allow, 1 of 1) decides (established)
    any                  every address"
	check "why not" baleen why veth-b 192.0.2.1 --dst 198.51.100.1 --proto udp --sport 9 --dport 4002
	is "why: not established" "$(<out)" "192.0.2.1 to veth-b, udp port 4002: dropped
  no rule decides: default drop
  rule 'replies' (allow, 1 of 1) holds it, but is only for established
    any                  every address"
	detach
}

make_pair
ip -n "$B" address add 198.51.100.1/32 dev lo
ip -n "$B" address add 2001:db8::1/128 dev lo
ip -n "$B" route add default via 10.66.0.1
ip -n "$B" neighbour add fd66::ff lladdr "$(mac "$A" veth-a)" dev veth-b
open_sockets
test_frames native
test_frames generic
test_combined
test_programs
test_dhcp
test_words
test_kept
test_why
