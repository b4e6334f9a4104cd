# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tunnels whose frames begin with an IP header, between veth-a and veth-b: what comes out of
# one is judged by its inner addresses, and so is what goes into one.

# make_ends NAME KIND LOCAL_A LOCAL_B
make_ends()
{
	ip -n "$A" link add name "$1" type "$2" local "$3" remote "$4" &&
		ip -n "$B" link add name "$1" type "$2" local "$4" remote "$3"
}

make_wireguard()
{
	local ns

	for ns in "$A" "$B"; do
		ip -n "$ns" link add name wg0 type wireguard || return
		(umask 077 && /vm/wg genkey >"$TMP/key-$ns")
		in_ns "$ns" /vm/wg set wg0 listen-port 51820 private-key "$TMP/key-$ns" || return
	done
	in_ns "$A" /vm/wg set wg0 peer "$(/vm/wg pubkey <"$TMP/key-$B")" endpoint 10.66.0.2:51820 \
		allowed-ips 0.0.0.0/0,::/0 &&
		in_ns "$B" /vm/wg set wg0 peer "$(/vm/wg pubkey <"$TMP/key-$A")" endpoint 10.66.0.1:51820 \
			allowed-ips 0.0.0.0/0,::/0
}

# address_ends NAME PREFIX LENGTH: host 1 and 9 in $A, 2 in $B
address_ends()
{
	ip -n "$A" link set dev "$1" up && ip -n "$B" link set dev "$1" up &&
		ip -n "$A" address add "${2}1/$3" dev "$1" && ip -n "$A" address add "${2}9/$3" dev "$1" &&
		ip -n "$B" address add "${2}2/$3" dev "$1"
}

# pings NAMESPACE FROM TO
pings()
{
	in_ns "$1" ping -c 1 -W 2 -I "$2" "$3" >/dev/null 2>&1
}

# tunnelled DEVICE INDEX: what a rule has counted
tunnelled()
{
	on_b "$BALEEN" status -j "$1" | "$JSON" - "[0].rules[$2].packets"
}

# test_tunnel NAME PREFIX: both ways
test_tunnel()
{
	echo "${2}9" >"$TMP/inner"
	check "$1: without a filter" pings "$A" "${2}9" "${2}2"
	check "$1: baleen attach" on_b "$BALEEN" attach "$1" --drop inner="$TMP/inner"
	check "$1: an inner source that is listed is dropped" bash -c \
		"! nsenter --net=/run/netns/$A -- ping -c 1 -W 2 -I ${2}9 ${2}2"
	check "$1: another passes" pings "$A" "${2}1" "${2}2"
	is "$1: it was counted" "$(tunnelled "$1" 0)" 1
	check "$1: baleen detach" on_b "$BALEEN" detach "$1"
	test_into_tunnel "$@"
}

test_into_tunnel()
{
	check "$1: baleen attach --egress" on_b "$BALEEN" attach --egress "$1" --drop inner="$TMP/inner"
	check "$1: an inner destination that is listed is dropped" bash -c \
		"! nsenter --net=/run/netns/$B -- ping -c 1 -W 2 ${2}9"
	check "$1: another is sent" pings "$B" "${2}2" "${2}1"
	is "$1: it was counted, too" "$(tunnelled "$1@egress" 0)" 1
	check "$1: baleen detach" on_b "$BALEEN" detach "$1@egress"
}

test_tunnels()
{
	local device

	make_ends ipip1 ipip 10.66.0.1 10.66.0.2 && address_ends ipip1 10.81.0. 24 || bail "no ipip"
	make_ends gre1 gre 10.66.0.1 10.66.0.2 && address_ends gre1 10.82.0. 24 || bail "no gre"
	make_ends sit1 sit 10.66.0.1 10.66.0.2 && address_ends sit1 fd83:: 64 || bail "no sit"
	make_wireguard && address_ends wg0 10.84.0. 24 || bail "no wireguard"
	test_tunnel ipip1 10.81.0.
	test_tunnel gre1 10.82.0.
	test_tunnel sit1 fd83::
	test_tunnel wg0 10.84.0.
	for device in ipip1 gre1 sit1 wg0; do
		ip -n "$A" link del "$device"
		ip -n "$B" link del "$device"
	done
}
