# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# VLAN and bond devices on top of the veth pair of tests/lib.sh, for kernels
# that have the modules.
#
#      namespace $A                              namespace $B
#
#      veth-a.200.7   802.1Q 7   in              veth-b.200.7
#      veth-a.200     802.1ad 200                veth-b.200
#      veth-a.100     802.1Q 100                 veth-b.100
#      veth-a  ===========================  veth-b  \
#                                                    bond-b
#      veth-a2 ===========================  veth-b2 /

# make_vlan DEVICE ID [PROTOCOL]: DEVICE.ID in both namespaces, on veth-a and
# veth-b or on a device of make_vlan; PROTOCOL is 802.1Q or 802.1ad
make_vlan()
{
	local end

	for end in "$A veth-a" "$B veth-b"; do
		ip -n "${end% *}" link add link "${end#* }$1" name "${end#* }$1.$2" up \
			type vlan proto "${3:-802.1Q}" id "$2" || bail "no VLAN $2 on ${end#* }$1"
	done
}

# del_vlan SUFFIX: a device of make_vlan, and those on it
del_vlan()
{
	ip -n "$A" link del "veth-a$1"
	ip -n "$B" link del "veth-b$1"
}

# set_tag_offload TX RX: on or off, for both kinds of tag: does the sender leave
# the tag to its device, does the receiver leave it to its own
set_tag_offload()
{
	in_ns "$A" ethtool -K veth-a txvlan "$1" tx-vlan-stag-hw-insert "$1" &&
		in_ns "$B" ethtool -K veth-b rxvlan "$2" rx-vlan-stag-hw-parse "$2" ||
		bail "cannot set the offload of tags"
}

# make_second_pair: veth-a2 and veth-b2, without addresses
make_second_pair()
{
	ip -n "$A" link add name veth-a2 arp off numtxqueues 1 numrxqueues 1 type veth \
		peer name veth-b2 netns "$B" numtxqueues 1 numrxqueues 1 &&
		ip -n "$A" link set veth-a2 up || bail "no second veth pair"
}

# add_slave BOND DEVICE: in $B; comes up with the bond
add_slave()
{
	ip -n "$B" link set "$2" down && ip -n "$B" link set "$2" master "$1"
}

# make_bond BOND DEVICE...: active-backup, in $B; the first device is active
make_bond()
{
	local slave

	ip -n "$B" link add "$1" type bond mode active-backup miimon 1 || bail "no bond"
	for slave in "${@:2}"; do
		add_slave "$1" "$slave" || bail "$slave is no slave"
	done
	ip -n "$B" link set "$1" up || bail "$1 does not come up"
}

# active_slave BOND
active_slave()
{
	ip -n "$B" -d link show dev "$1" | sed -n 's/.* active_slave \([^ ]*\).*/\1/p'
}

# fail_over BOND PEER DEVICE: the active slave loses its carrier, because PEER
# in $A goes down; ends when the bond's monitor has made DEVICE the active one
fail_over()
{
	local deadline=$((SECONDS + 10))

	ip -n "$A" link set "$2" down
	until [ "$(active_slave "$1")" = "$3" ]; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
	done
}
