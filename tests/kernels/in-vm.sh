#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What must work under every supported kernel: that its verifier takes the
# programs, and the ways and devices to attach them, with traffic to show for it.
#
# Not executable, because it is for the machine of kernels.sh: it takes
# /run/netns and /sys/fs/bpf for its own.

source "$(dirname "$0")/../lib.sh"
source tests/kernels/lib.sh
source tests/kernels/devices.sh
source tests/kernels/counts.sh
source tests/kernels/vlan.sh
source tests/kernels/egress.sh
source tests/kernels/conntrack.sh
source tests/kernels/tunnels.sh
source tests/kernels/bond.sh
source tests/kernels/limit.sh

PINS=/sys/fs/bpf/test
OBJECT=$TMP/drop.bpf.o

# The objects as they come out of the build, constants at their defaults. In `make check`
# one that nothing below attaches.
test_objects()
{
	local object name type

	for object in build/*.bpf.o; do
		name=$(basename "$object" .bpf.o)
		tests_all || [ "$name" = icp ] || continue
		# These have programs of other types, which their sections say.
		type=(type xdp)
		case $name in icp | egress_* | conntrack_out_*) type=() ;; esac
		mkdir -p "$PINS"
		check "the verifier takes $object" \
			bpftool prog loadall "$object" "$PINS/$name" "${type[@]}"
		sizes
		rm -r "$PINS"
	done
}

# --- the command line -----------------------------------------------------

test_attach()
{
	local mode=$1

	check "baleen attach --mode $mode" \
		on_b "$BALEEN" attach veth-b --drop drop="$TMP/drop.bln" --mode "$mode"
	judges "$mode: listed sources are dropped, others pass" "$LISTED"
	judges "$mode: so they are behind two VLAN tags" "$LISTED" --tags 2
	check "$mode: baleen status" on_b "$BALEEN" status veth-b
	shows "$mode: status names the mode" "$mode"
	shows "$mode: status counts 800 dropped" '\b800\b'
	check "$mode: baleen swap" on_b "$BALEEN" swap veth-b:drop "$TMP/other.bln"
	judges "$mode: after swap the other list is dropped" "$OTHER"
	lets_by "$mode: after swap the first list passes" "$LISTED"
	check "$mode: baleen detach" on_b "$BALEEN" detach veth-b
	lets_by "$mode: after detach everything passes" "$OTHER"
}

# As many rules as there can be is what costs the verifier most. In `make check` that is
# counted, and tests/xdp/rules.sh sends traffic.
test_rules()
{
	local rules=() i

	tests_all || return 0
	for i in {1..15}; do
		rules+=(--allow "allow$i=$TMP/allow$i.bln")
		sed -n "${i}p" "$OTHER" >"$TMP/allow$i.list"
		"$BALEEN" build -o "$TMP/allow$i.bln" "$TMP/allow$i.list" || return
	done
	check "16 rules: baleen attach" on_b "$BALEEN" attach veth-b "${rules[@]}" \
		--drop drop="$TMP/drop.bln" --mode native
	sizes
	judges "16 rules: the last one drops" "$LISTED"
	check "16 rules: baleen detach" on_b "$BALEEN" detach veth-b
}

# test_geometry NAME OPTION...: a kind or slot width of its own is a program of
# its own for the verifier, attached and compiled; forced, since a Bloom filter
# may hold an address of this host
test_geometry()
{
	local image=$TMP/geometry.bln object=$TMP/geometry.bpf.o

	check "$1: baleen build" "$BALEEN" build -o "$image" "${@:2}" "$LISTED"
	check "$1: baleen attach" on_b "$BALEEN" attach veth-b --drop drop="$image" \
		--mode native --accept-fpp 0.5 --force
	sizes
	check "$1: listed sources are dropped" "$TRAFFIC" --from "$FROM" --to "$TO" \
		--listed "$LISTED" --expect
	check "$1: baleen detach" on_b "$BALEEN" detach veth-b
	check "$1: baleen compile" "$BALEEN" compile -o "$object" --accept-fpp 0.5 "$image"
	check "$1: the verifier takes the object" \
		bpftool prog loadall "$object" "$PINS" type xdp
	sizes
	rm -rf "$PINS"
}

# test_device NAME MODE: a device that is made of veth-b, in any mode
test_device()
{
	local device=${TO#*:}

	check "$1: baleen attach" on_b "$BALEEN" attach "$device" --drop drop="$TMP/drop.bln"
	check "$1: baleen status" on_b "$BALEEN" status "$device"
	shows "$1: attached in $2 mode" "$2"
	judges "$1: listed sources are dropped, others pass" "$LISTED"
	check "$1: baleen detach" on_b "$BALEEN" detach "$device"
	lets_by "$1: after detach everything passes" "$LISTED"
}

# test_above DEVICE ADDRESS: what veth-b receives is for this device, too, so a
# list of its address is refused there
test_above()
{
	ip -n "$B" address add "$2/24" dev "$1" || bail "no address on $1"
	echo "$2" >"$TMP/own"
	check_status "an address of $1 is refused on veth-b" 1 \
		on_b "$BALEEN" attach veth-b --drop own="$TMP/own"
	is "$1: it is named" "$(head -n 1 "$TMP/err")" \
		"baleen: $TMP/own:1: '$2': rule 'own' would drop $2, address of veth-b"
	is "$1: nothing is attached" "$(xdp_mode "$B" veth-b)" off
}

# Frames of 8,900 bytes have more than one buffer.
test_jumbo()
{
	local mode pad=8834

	ip -n "$A" link set veth-a mtu 9000 && ip -n "$B" link set veth-b mtu 9000 || bail "no MTU"
	for mode in native generic; do
		attach_on "MTU 9000, $mode" veth-b "$mode" --json
		is "MTU 9000, $mode: with multi-buffer frames" "$("$JSON" "$TMP/out" .frags)" true
		judges "MTU 9000, $mode: listed sources are dropped, others pass" "$LISTED" \
			--pad "$pad" -j
		is "MTU 9000, $mode: the bytes are counted in full" "$(matched_bytes veth-b)" \
			"$("$JSON" "$TMP/out" .listed.bytes)"
		judges "MTU 9000, $mode: so are tagged frames dropped" "$LISTED" --pad "$pad" \
			--tags 2
		check "MTU 9000, $mode: baleen status" on_b "$BALEEN" status veth-b
		shows "MTU 9000, $mode: status names the mode" "$mode"
		check "MTU 9000, $mode: baleen detach" on_b "$BALEEN" detach veth-b
		lets_by "MTU 9000, $mode: after detach everything passes" "$LISTED" --pad "$pad"
	done
	ip -n "$A" link set veth-a mtu 1500
	ip -n "$B" link set veth-b mtu 1500
}

# --- a compiled object and the tools of the system ------------------------

test_ip_link()
{
	check "ip link set xdp obj" \
		ip -n "$B" link set dev veth-b xdp obj "$OBJECT" sec xdp
	judges "ip link: listed sources are dropped, others pass" "$LISTED"
	check "ip link set xdp off" ip -n "$B" link set dev veth-b xdp off
	lets_by "ip link: off, everything passes" "$LISTED"
}

test_bpftool()
{
	check "bpftool prog load" bpftool prog load "$OBJECT" "$PINS-object"
	check "bpftool net attach" on_b bpftool net attach xdpdrv pinned "$PINS-object" dev veth-b
	judges "bpftool: listed sources are dropped, others pass" "$LISTED"
	check "bpftool net detach" on_b bpftool net detach xdpdrv dev veth-b
	rm "$PINS-object"
	lets_by "bpftool: detached, everything passes" "$LISTED"
}

test_dispatcher()
{
	check "xdp-loader load" on_b xdp-loader load -m native veth-b "$OBJECT"
	check "xdp-loader status" on_b xdp-loader status veth-b
	shows "xdp-loader: the dispatcher is there" 'veth-b +xdp_dispatcher +native'
	shows "xdp-loader: our program has priority 10" '=> +10 +baleen'
	judges "xdp-loader: listed sources are dropped, others pass" "$LISTED"
	check "xdp-loader unload" on_b xdp-loader unload -a veth-b
	lets_by "xdp-loader: unloaded, everything passes" "$LISTED"
}

# test_chain PLACE PRIORITY ORDER: two programs of the dispatcher, each with a
# list of its own; xdp-filter comes at priority 10
test_chain()
{
	local address

	sed -n '1,10p;391,400p' "$OTHER" >"$TMP/filtered"
	sort "$LISTED" "$TMP/filtered" >"$TMP/either"
	check "chain: xdp-loader load, $1" \
		on_b xdp-loader load -m native -P "$2" veth-b "$OBJECT"
	check "chain: xdp-filter load" on_b xdp-filter load -m native -f ipv4,ipv6 veth-b
	while read -r address; do
		on_b xdp-filter ip -m src "$address" || not_ok "chain: xdp-filter ip $address"
	done <"$TMP/filtered"
	on_b xdp-loader status veth-b >"$TMP/out"
	is "chain: we are $1" "$(awk '$1 == "=>" { print $3 }' "$TMP/out" | paste -sd ' ')" "$3"
	judges "chain: $1, both programs drop their list" "$TMP/either"
	check "chain: xdp-filter unload" on_b xdp-filter unload veth-b
	judges "chain: alone again, we still drop ours" "$LISTED"
	check "chain: xdp-loader unload" on_b xdp-loader unload -a veth-b
}

mkdir -p /run/netns
test_objects
make_lists || bail "no lists"
make_pair
echo "# kernel $(uname -r)"
count_all
"$BALEEN" build -o "$TMP/drop.bln" "$LISTED" && "$BALEEN" build -o "$TMP/other.bln" "$OTHER" ||
	bail "baleen build"
test_attach native
test_attach generic
test_limit
test_rules
test_geometry "32- and 64-bit slots"
test_geometry "16- and 64-bit slots" --capacity 1000000
test_geometry "16-bit slots" --capacity 1000000 --kind cuckoo --slot-bits 16
test_geometry "Bloom" --kind bloom --fpp 0.001
test_vlan
test_egress
test_conntrack
test_tunnels
test_bond
test_jumbo
check "baleen compile" "$BALEEN" compile -o "$OBJECT" "$TMP/drop.bln"
test_ip_link
test_bpftool
test_dispatcher
test_chain first 5 "baleen_xdp xdpfilt_alw_ip"
test_chain last 50 "xdpfilt_alw_ip baleen_xdp"
