# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Baleen on an active-backup bond: what is dropped stays dropped when the
# active slave fails, when a slave joins and when one leaves.
#
# Native, the bond hands the program to each of its slaves, also to one that
# joins later, and refuses one whose driver cannot take it; generic, the
# program runs behind the bond, whatever the slaves are.

# on_slave NAME MODE NUMBER: what comes in by a slave is filtered there when the
# bond's program is native; `ip link` does not show it on the slave
on_slave()
{
	local FROM=$A:veth-a$3 TO=$B:veth-b$3

	if [ "$2" = native ]; then
		judges "$1: listed sources are dropped on veth-b$3" "$LISTED"
	else
		lets_by "$1: listed sources pass veth-b$3" "$LISTED"
	fi
}

# test_bond_mode MODE
test_bond_mode()
{
	local name="bond, $1" FROM=$A:veth-a TO=$B:bond-b

	make_bond bond-b veth-b
	attach_on "$name" bond-b "$1"
	judges "$name: listed sources are dropped, others pass" "$LISTED"
	check "$name: a slave joins" add_slave bond-b veth-b2
	on_slave "$name, active slave" "$1" ""
	on_slave "$name, joined slave" "$1" 2
	check "$name: the active slave fails" fail_over bond-b veth-a veth-b2
	FROM=$A:veth-a2
	judges "$name: failed over: listed sources are dropped, others pass" "$LISTED"
	check "$name: baleen status" on_b "$BALEEN" status bond-b
	shows "$name: status names the mode" "$1"
	check "$name: a slave leaves" ip -n "$B" link set veth-b nomaster
	ip -n "$A" link set veth-a up && ip -n "$B" link set veth-b up
	on_slave "$name, slave that left" off ""
	judges "$name: the other slave still drops" "$LISTED"
	check "$name: baleen detach" on_b "$BALEEN" detach bond-b
	lets_by "$name: after detach everything passes" "$LISTED"
	ip -n "$B" link del bond-b
}

# A dummy device has no native XDP.
test_bond_support()
{
	local FROM=$A:veth-a TO=$B:bond-b

	ip -n "$B" link add dummy-b type dummy || bail "no dummy"
	make_bond bond-b veth-b
	attach_on "bond of veth" bond-b native
	check_status "bond, native: a slave without native XDP is refused" 2 \
		add_slave bond-b dummy-b
	judges "bond, native: and the others still drop" "$LISTED"
	check "bond of veth: baleen detach" on_b "$BALEEN" detach bond-b
	check "bond: without a filter it may join" add_slave bond-b dummy-b
	check_status "bond with such a slave: native is refused" 1 \
		on_b "$BALEEN" attach bond-b --drop drop="$TMP/drop.bln" --mode native
	on_slave "bond with such a slave" off ""
	test_device "bond with such a slave" generic
	ip -n "$B" link del bond-b
	ip -n "$B" link del dummy-b
}

test_bond()
{
	# shellcheck disable=SC2034 # of test_device
	local FROM=$A:veth-a TO=$B:bond-b

	make_second_pair
	test_bond_mode native
	test_bond_mode generic
	test_bond_support
	make_bond bond-b veth-b
	test_device bond native
	test_above bond-b 10.77.1.1
	ip -n "$B" link add link bond-b name bond-b.7 type vlan id 7
	test_above bond-b.7 10.77.2.1
	ip -n "$B" link del bond-b
	ip -n "$A" link del veth-a2
	ip -n "$B" link set veth-b up
}
