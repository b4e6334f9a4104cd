# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The hook below, on and above VLAN devices and bonds, beside the chains of nftables,
# and what it counts of merged packets. Sourced after hook-lib.sh.
#
# Unlike an XDP program it sees every tag, wherever the tag is.

# adds_tags NAME DEVICE TAGS: listed sources are dropped by the hook on DEVICE, which
# counts four bytes for each of so many tags
adds_tags()
{
	local before after

	before=$(counts "$2")
	judges "$1: listed sources are dropped, others pass" "$TMP/many"
	after=$(counts "$2")
	is "$1: with $3 tags" "$((${after##* } - ${before##* }))" \
		"$(($(sent .listed.bytes) + 4 * $3 * $(sent .listed.sent)))"
}

test_vlan()
{
	local FROM TO tx

	make_vlan "" 100
	make_vlan "" 200 802.1ad
	make_vlan .200 7
	check "VLAN: hook below" hook veth-b --drop many="$TMP/many.bln"
	for tx in on off; do
		set_tag_offload $tx on
		FROM=$A:veth-a.100 TO=$B:veth-b.100
		adds_tags "below 802.1Q, txvlan $tx" veth-b 1
		FROM=$A:veth-a.200.7 TO=$B:veth-b.200.7
		adds_tags "below 802.1ad + 802.1Q, txvlan $tx" veth-b 2
	done
	check "VLAN: only this one" hook veth-b --replace --drop many="$TMP/many.bln" vlan 200
	for tx in on off; do
		set_tag_offload $tx on
		FROM=$A:veth-a.200.7 TO=$B:veth-b.200.7
		judges "VLAN 200 is asked, txvlan $tx" "$TMP/many"
		FROM=$A:veth-a.100 TO=$B:veth-b.100
		lets_by "VLAN 100 is not, txvlan $tx" "$TMP/many"
	done
	check "VLAN: no hook below" hook --off veth-b
	add_above veth-b.200 macv-v
	FROM=$A:veth-a.200 TO=$B:macv-v
	check "VLAN: hook on it" hook veth-b.200 --drop many="$TMP/many.bln"
	adds_tags "on 802.1ad" veth-b.200 0
	ip -n "$B" link del macv-v
	FROM=$A:veth-a.200.7 TO=$B:veth-b.200.7
	adds_tags "between two VLAN devices" veth-b.200 1
	del_vlan .200
	refuses "VLAN: with the device the rules are gone" ENOENT --show veth-b.200
	del_vlan .100
	set_tag_offload on on
}

test_bond()
{
	local TO=$B:macv-bond

	ip -n "$B" link del macv-b
	check "bond: hook on what will be a slave" hook veth-b --drop many="$TMP/many.bln"
	make_bond bond-b veth-b
	add_above bond-b macv-bond
	judges "bond: the hook of a slave" "$TMP/many"
	check "bond: no hook on the slave" hook --off veth-b
	lets_by "bond: without a hook all pass" "$TMP/many"
	check "bond: hook on the bond" hook bond-b --drop many="$TMP/many.bln"
	judges "bond: the hook of the bond" "$TMP/many"
	ip -n "$B" link del macv-bond
	ip -n "$B" link del bond-b
	refuses "bond: with the bond the rules are gone" ENOENT --show bond-b
	ip -n "$B" link set veth-b up
	add_above veth-b macv-b
}

# --- a packet without an Ethernet header ----------------------------------

# counted DEVICE COUNTS: until the hook has counted so; a tunnel's packets come later
# than those that they were in
counted()
{
	local deadline=$((SECONDS + 10))

	until [ "$(counts "$1")" = "$2" ]; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
	done
}

# What comes out of a tunnel over IP has none, and is redirected to a device that
# should have one: it is judged by what it is.
test_no_ethernet()
{
	local inner
	inner=4500001c0000000040110000c0000201c6336401$(udp 53)

	ip -n "$B" link add tunnel type ipip local 10.66.0.2 remote 10.66.0.1 &&
		ip -n "$B" link add target type dummy && ip -n "$B" link set tunnel up &&
		ip -n "$B" link set target up && in_ns "$B" ./tc qdisc add dev tunnel clsact &&
		in_ns "$B" ./tc filter add dev tunnel ingress matchall \
			action mirred ingress redirect dev target || bail "no tunnel"
	refuses "no Ethernet: on the tunnel" EOPNOTSUPP tunnel --drop one="$TMP/listed.bln"
	check "no Ethernet: hook" hook target --count one="$TMP/listed.bln" proto 17 dport 53 \
		--count all="$TMP/listed.bln"
	check "no Ethernet: a packet in a tunnel" "$ROOT/build/tools/frame" "$FROM" "$B:veth-b" \
		"08004500003000004000400426440a4200010a420002$inner"
	check "no Ethernet: it is judged" counted target "1 1 1 0 0 0 0 0 0 42 42"
	ip -n "$B" link del tunnel
	ip -n "$B" link del target
}

# --- nftables -------------------------------------------------------------

# nft_counts: packets of the two chains
nft_counts()
{
	in_ns "$B" ./nft list table netdev t | sed -n 's/.*counter packets \([0-9]*\).*/\1/p' |
		paste -sd ' '
}

# test_priority PRIORITY: of the hook, among chains of -10 and 10
test_priority()
{
	local listed all

	in_ns "$B" ./nft -f - <<-END || bail "no nftables"
		table netdev t {
			chain early { type filter hook ingress device veth-b priority -10; counter; }
			chain late { type filter hook ingress device veth-b priority 10; counter; }
		}
	END
	check "priority $1: hook" hook veth-b --priority "$1" --drop many="$TMP/many.bln"
	judges "priority $1: among chains of nftables" "$TMP/many"
	listed=$(sent .listed.sent)
	all=$((listed + $(sent .unlisted.sent) + $(sent .markers)))
	case $1 in
	-20) is "priority $1: before both" "$(nft_counts)" "$((all - listed)) $((all - listed))" ;;
	0) is "priority $1: between" "$(nft_counts)" "$all $((all - listed))" ;;
	20) is "priority $1: behind both" "$(nft_counts)" "$all $all" ;;
	esac
	is "priority $1: it is told" "$(hook --show veth-b | sed -n 's/.* priority \(-*[0-9]*\) .*/\1/p')" \
		"$1"
	check "priority $1: hook goes" hook --off veth-b
	in_ns "$B" ./nft delete table netdev t
}

# --- merged packets -------------------------------------------------------

# received: packets and bytes of veth-b as the device counts them
received()
{
	in_ns "$B" awk '/veth-b:/ { sub(/.*:/, ""); print $2, $1 }' /proc/net/dev
}

# stream NAME ADDRESS [SERVER_DEVICE]: 8 MiB over TCP; leaves in $packets and $bytes
# what the hook counted, in $rx_packets and $rx_bytes what the device did
stream()
{
	local before after rx_before rx_after n=8388608

	before=$(hook --show veth-b | awk '/^tcp/ { print $3, $4 }')
	rx_before=$(received)
	check "$1: all arrive" timeout 60 build/kmod-test/64/hook_stream "/run/netns/$B" \
		"/run/netns/$A" "$2" 5001 $n
	after=$(hook --show veth-b | awk '/^tcp/ { print $3, $4 }')
	rx_after=$(received)
	packets=$((${after% *} - ${before% *})) bytes=$((${after#* } - ${before#* }))
	rx_packets=$((${rx_after% *} - ${rx_before% *})) rx_bytes=$((${rx_after#* } - ${rx_before#* }))
	echo "# $1: $packets packets of $bytes bytes; the device: $rx_packets of $rx_bytes"
	is "$1: merged, to more than 2,000 bytes each" "$((bytes > n)) $((bytes > 2000 * packets))" \
		"1 1"
}

# At veth the sender's own large packets come through as they are; with its
# segmentation off, GRO merges what the device received.
test_merged()
{
	local address packets bytes rx_packets rx_bytes

	printf '%s\n' 10.66.0.1 fd66::1 10.67.0.1 | image peers
	check "merged: hook" hook veth-b --count tcp="$TMP/peers.bln" proto 6 dport 5001
	for address in 10.66.0.2 fd66::2; do
		stream "merged by the sender, $address" "$address"
		is "merged by the sender, $address: each packet is counted with its bytes" \
			"$packets $bytes" "$rx_packets $rx_bytes"
	done
	make_vlan "" 100
	ip -n "$A" address add 10.67.0.1/24 dev veth-a.100
	ip -n "$B" address add 10.67.0.2/24 dev veth-b.100
	ip -n "$A" neigh replace 10.67.0.2 lladdr "$(mac "$B" veth-b)" dev veth-a.100 nud permanent
	ip -n "$B" neigh replace 10.67.0.1 lladdr "$(mac "$A" veth-a)" dev veth-b.100 nud permanent
	stream "merged, with a tag" 10.67.0.2
	is "merged, with a tag: it counts four bytes more" "$packets $bytes" \
		"$rx_packets $((rx_bytes + 4 * rx_packets))"
	del_vlan .100
	in_ns "$A" ethtool -K veth-a tso off gso off >/dev/null
	in_ns "$B" ethtool -K veth-b gro on >/dev/null
	for address in 10.66.0.2 fd66::2; do
		stream "merged by GRO, $address" "$address"
		is "merged by GRO, $address: fewer packets and bytes than received" \
			"$((packets < rx_packets)) $((bytes < rx_bytes))" "1 1"
	done
	in_ns "$A" ethtool -K veth-a tso on gso on >/dev/null
	in_ns "$B" ethtool -K veth-b gro off >/dev/null
	check "merged: hook goes" hook --off veth-b
}
