#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Native and generic at an MTU of 9000: frames of more than one buffer are
# judged by their source and counted in full. A driver without XDP: generic
# when that is allowed, and no trace of the attempt when it is not.
#
# Each sends a datagram of 8,000 bytes to a closed port; one that the stack of
# $B has counted has passed.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

FRAME=$ROOT/build/tools/frame
PAYLOAD=8000
BYTES4=$((14 + 20 + 8 + PAYLOAD))
BYTES6=$((14 + 40 + 8 + PAYLOAD))
MARKER=88b5$(printf '%092d' 0)

# add_address ADDRESS/LENGTH: a second one of veth-a, so that nothing asks for it
add_address()
{
	ip -n "$A" address add "$1" dev veth-a && ip -n "$B" neigh replace "${1%/*}" \
		lladdr "$(mac "$A" veth-a)" dev veth-b nud permanent || bail "cannot add $1"
}

# heard: datagrams that have come to $B's closed ports, IPv4 and IPv6
heard()
{
	# shellcheck disable=SC2016 # of awk
	in_ns "$B" awk '$1 == "Udp:" && $3 ~ /^[0-9]/ { four = $3 }
		$1 == "Udp6NoPorts" { print four, $2 }' /proc/net/snmp /proc/net/snmp6
}

# send_from SOURCE: a datagram to $B and, on the same CPU and behind it in the
# same queue, a marker: when that is through, so is the datagram
send_from()
{
	local to=10.66.0.2

	[[ $1 != *:* ]] || to=fd66::2
	ip -n "$A" route replace "$to" dev veth-a src "$1" &&
		in_ns "$A" taskset -c "$CPU" bash -c \
			"dd if=/dev/zero bs=$PAYLOAD count=1 2>/dev/null >/dev/udp/$to/9" &&
		taskset -c "$CPU" "$FRAME" "$A:veth-a" "$B:veth-b" "$MARKER"
}

# arrives NAME SOURCE WANT4 WANT6: so many datagrams more are heard
arrives()
{
	local before after

	read -r -a before < <(heard)
	check "$1: sent" send_from "$2"
	read -r -a after < <(heard)
	is "$1" "$((after[0] - before[0])) $((after[1] - before[1]))" "$3 $4"
}

# attach DEVICE MODE: leaves its report in $TMP/out
attach()
{
	in_ns "$B" "$BALEEN" attach "$1" --drop "set=$TMP/set.txt" --mode "$2" -j
}

# try ASKED GOT DEGRADED
try()
{
	local name="$1 at MTU 9000"

	check "$name: attach" attach veth-b "$1"
	is "$name: at once, with multi-buffer frames" \
		"$(jq -c '[.mode, .frags, .degraded, .failed]' "$TMP/out")" "[\"$2\",true,$3,[]]"
	is "$name: is $2" "$(xdp_mode "$B" veth-b)" "$2"
	arrives "$name: IPv4, listed" 10.66.0.1 0 0
	arrives "$name: IPv4, not listed" 10.66.0.9 1 0
	arrives "$name: IPv6, listed" fd66::1 0 0
	arrives "$name: IPv6, not listed" fd66::9 0 1
	is "$name: counted in full" "$(counters "$B" veth-b)" "[2,$((BYTES4 + BYTES6)),2,4,0]"
	check "$name: swap" in_ns "$B" "$BALEEN" swap veth-b:set "$TMP/other.txt"
	arrives "$name: IPv4, no longer listed" 10.66.0.1 1 0
	arrives "$name: IPv4, listed now" 10.66.0.9 0 0
	is "$name: counters go on" "$(counters "$B" veth-b)" "[3,$((2 * BYTES4 + BYTES6)),3,6,0]"
	check "$name: detach" in_ns "$B" "$BALEEN" detach veth-b
	arrives "$name: then everything passes" 10.66.0.1 1 0
}

CPU=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
printf '%s\n' 10.66.0.1 fd66::1 >"$TMP/set.txt"
printf '%s\n' 10.66.0.9 fd66::9 >"$TMP/other.txt"
add_address 10.66.0.9/32
add_address fd66::9/128

check "attach at MTU 1500" attach veth-b native
check "then MTU 9000 is no obstacle" ip -n "$B" link set dev veth-b mtu 9000
check "detach" in_ns "$B" "$BALEEN" detach veth-b
ip -n "$A" link set dev veth-a mtu 9000 || bail "no MTU of 9000"
try auto native false
try native native false
try generic generic true

check_status "the loopback device has no native mode" 1 attach lo native
is "and every attempt is reported" "$(sed 's/:[^:]*$//' "$TMP/err")" \
	"baleen: lo: native with multi-buffer frames failed
baleen: lo: native failed
baleen: cannot attach to lo"
is "so nothing is attached" "$(xdp_mode "$B" lo)" off
is "and nothing is left" "$(ls /sys/fs/bpf/baleen)" ""
check "auto takes generic" attach lo auto
is "says what it tried" \
	"$(jq -c '[.mode, .degraded, (.failed | map(.tried))]' "$TMP/out")" \
	'["generic",true,["native with multi-buffer frames","native"]]'
is "and is degraded" "$(in_ns "$B" "$BALEEN" status -j lo | jq '.[0].degraded')" true
check "detach lo" in_ns "$B" "$BALEEN" detach lo
