#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen doctor` about what only these kernels have (bond, VLAN, bridge, tc,
# chains) and about settings of a kernel; each command that it names is run. Then
# a chain and a bond are moved to a later release's program.
#
# Not executable, because it is for the machines of doctor.sh.

source "$(dirname "$0")/../lib.sh"
source tests/kernels/lib.sh
source tests/kernels/devices.sh
source tests/doctor.sh
PATH=/vm:$PATH
NEXT=$ROOT/build/next/build/baleen
DEVICE=veth-b

# mode_of DEVICE
mode_of()
{
	xdp_mode "$B" "$1"
}

# --- the kernel's settings ------------------------------------------------

test_kernel()
{
	is "a chain is possible" "$(level chain) $(text chain)" \
		"ok 'attach --chain' could share the device with other programs"
	is "the settings of the first namespace are seen from another" \
		"$(level jit-harden) $(text jit-harden)" \
		"ok programs of root are compiled as they are"
	check "attach" on_b "$BALEEN" attach veth-b --drop drop="$LISTED"
	check "time is measured" sysctl -w kernel.bpf_stats_enabled=1
	mends "time is measured" bpf-stats note ok
	check "constants are hidden" sysctl -w net.core.bpf_jit_harden=2
	mends "constants are hidden" jit-harden note ok
	is "the setting that is left" "$(cat /proc/sys/net/core/bpf_jit_harden)" 1
	if sysctl -w net.core.bpf_jit_enable=0 >"$TMP/out" 2>&1 &&
		[ "$(cat /proc/sys/net/core/bpf_jit_enable)" = 0 ]; then
		mends "interpreted" jit problem ok
	else
		skip "interpreted" "this kernel has no interpreter"
	fi
	judges "the filter works on" "$LISTED"
	check "detach" on_b "$BALEEN" detach veth-b
}

# --- beside and around the filter -----------------------------------------

test_tc()
{
	check "a qdisc for tc" on_b /vm/tc qdisc add dev veth-b clsact
	is "no filter yet" "$(level tc)" ok
	check "a filter of tc" on_b /vm/tc filter add dev veth-b ingress matchall action pass
	check "and another" on_b /vm/tc filter add dev veth-b ingress prio 7 matchall action pass
	is "tc is noted" "$(level tc) $(text tc | cut -d ' ' -f -3)" "note 2 tc filters"
	check "what shows them" on_b bash -c "$(command_of tc)"
	is "shows them" "$(grep -c 'filter .*matchall.*handle' "$TMP/out")" 2
	check "no more tc" on_b /vm/tc qdisc del dev veth-b clsact
}

test_mode()
{
	case $(uname -r) in
	6.1.*)
		is "what the driver can is not told" "$(level mode) $(text mode)" \
			"ok 'veth': this kernel does not tell whether that has native XDP, 'attach' will"
		;;
	*)
		is "what the driver can is told" "$(level mode) $(text mode)" \
			"ok 'veth' has native XDP"
		;;
	esac
	DEVICE=dummy0
	ip -n "$B" link add dummy0 type dummy && ip -n "$B" link set dummy0 up
	check "a device without native XDP" on_b "$BALEEN" attach dummy0 --drop drop="$LISTED"
	case $(uname -r) in
	6.1.*) is "it is generic" "$(level mode)" problem ;;
	*)
		is "it is generic" "$(level mode) $(text mode)" "note generic, behind the driver, \
several times slower than native: 'dummy', as it is set, has no native XDP"
		;;
	esac
	check "detach" on_b "$BALEEN" detach dummy0
	ip -n "$B" link del dummy0
	DEVICE=veth-b
}

test_vlan_above()
{
	make_vlan "" 100
	DEVICE=veth-b.100
	is "a VLAN without a filter is only noted" "$(level below)" note
	check "attach to a VLAN" on_b "$BALEEN" attach veth-b.100 --drop drop="$LISTED"
	mends "a VLAN" below problem note
	is "the filter is below now" "$(mode_of veth-b.100) $(mode_of veth-b)" "off native"
	judges "where it drops" "$LISTED"
	DEVICE=veth-b
	is "nothing is below veth" "$(level below)" ""
	check "detach" on_b "$BALEEN" detach veth-b
	del_vlan .100
}

test_bridge()
{
	ip -n "$B" link add br0 type bridge && ip -n "$B" link set veth-b master br0 &&
		ip -n "$B" link set br0 up || bail "no bridge"
	DEVICE=br0
	check "attach to a bridge" on_b "$BALEEN" attach br0 --drop drop="$LISTED"
	mends "a bridge" below problem note
	is "the filter is on its port" "$(mode_of br0) $(mode_of veth-b)" "off native"
	DEVICE=veth-b
	is "which is promiscuous, as it has to be" "$(level promiscuous) $(command_of promiscuous)" \
		"note "
	is "and no bond's" "$(level bond)" ""
	check "detach" on_b "$BALEEN" detach veth-b
	ip -n "$B" link del br0
	ip -n "$B" link set veth-b up
}

test_bond()
{
	make_second_pair
	make_bond bond-b veth-b veth-b2
	DEVICE=bond-b
	if on_b ethtool -K bond-b lro on 2>/dev/null && on_b ethtool -k bond-b |
		grep -q '^large-receive-offload: on$'; then
		mends "LRO" lro note ok
		check "LRO again" on_b ethtool -K bond-b lro on
		mends "LRO, in the way" mode problem ok
	else
		skip "LRO" "veth has none, so a bond of them has none"
	fi
	is "a bond is no worse than its ports" "$(level below)" ""
	DEVICE=veth-b
	is "nothing is filtered, so no port is left out" "$(level bond)" ""
	check "attach to one port of a bond" on_b "$BALEEN" attach veth-b --drop drop="$LISTED"
	is "the other is named" "$(level bond) $(text bond | grep -c 'come in by veth-b2, too')" "problem 1"
	mends "one port of a bond" bond problem ""
	is "both have it" "$(mode_of veth-b) $(mode_of veth-b2)" "native native"
	check "detach one" on_b "$BALEEN" detach veth-b
	check "detach the other" on_b "$BALEEN" detach veth-b2
	ip -n "$B" link del bond-b
	ip -n "$B" link del veth-b2
	ip -n "$B" link set veth-b up
}

# --- a later release ------------------------------------------------------

# next ARGUMENT...: the later release, on veth-b
next()
{
	on_b "$NEXT" "$@" veth-b
}

# A program of a chain can be asked nothing, but its twin can.
test_chain()
{
	check "attach --chain" on_b "$BALEEN" attach veth-b --chain --drop drop="$LISTED"
	judges "in a chain" "$LISTED"
	is "of this version" "$(on_b "$BALEEN" refresh veth-b | sed 's/[0-9]\+/N/')" \
		"veth-b: program N is of this version already"
	is "its twin is the same" "$(echo "udp,$(head -n 1 "$LISTED"),198.51.100.1,1,2" |
		on_b build/tools/twin veth-b | paste -sd /)" "same/drop rule drop"
	is "and counted nothing" "$(on_b "$BALEEN" status -j veth-b | jq '.[0].rules[0].packets')" 400
	check "refresh by the later release" next refresh
	is "it is that one's" "$(next status -j | jq -c '.[0] |
		[.place, .program_is_current, .rules[0].packets]')" '["chain",true,400]'
	judges "in a chain still" "$LISTED"
	BALEEN=$NEXT check "a chain is no stranger" on_b "$NEXT" doctor veth-b
	check "detach" next detach
}

mkdir -p /run/netns
make_lists || bail "no lists"
make_pair
test_kernel
test_tc
test_mode
test_vlan_above
test_bridge
test_bond
test_chain
