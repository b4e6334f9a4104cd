# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What goes out of a device, by a filter of tc on 6.1 and by a link on 6.12: listed
# addresses do not leave veth-a, and the tag of a VLAN device, which stands in the metadata
# of its socket buffers there, is seen.

# on_a COMMAND...: in the sending namespace
on_a()
{
	in_ns "$A" timeout 120 "$@"
}

# egress_packets INDEX: what a rule of veth-a@egress has counted
egress_packets()
{
	on_a "$BALEEN" status -j veth-a@egress | "$JSON" - "[0].rules[$1].packets"
}

# counts_at_least NAME INDEX N: a sender that is told of a drop tries the frame again, so how
# often a rule matched is not known
counts_at_least()
{
	local n

	n=$(egress_packets "$2")
	if [ "$n" -ge "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "$n packets, not $3"
	fi
}

test_egress()
{
	local place

	case $(uname -r) in
	6.1.*) place="netlink" ;;
	*) place="link" ;;
	esac
	make_vlan "" 100
	check "egress: baleen attach" on_a "$BALEEN" attach --egress veth-a --key src \
		--count tagged=any vlan 100 --drop drop="$TMP/drop.bln"
	is "egress: by what the kernel has" \
		"$(on_a "$BALEEN" status -j veth-a@egress | "$JSON" - '[0].place')" "$place"
	judges "egress: listed addresses do not leave, others do" "$LISTED"
	counts_at_least "egress: each was counted" 1 "$(wc -l <"$LISTED")"
	is "egress: none has a tag" "$(egress_packets 0)" 0
	FROM=$A:veth-a.100 TO=$B:veth-b.100 judges "egress: below a VLAN device" "$LISTED"
	counts_at_least "egress: its tag is seen" 0 "$(cat "$LISTED" "$FREE" | wc -l)"
	check "egress: baleen swap" on_a "$BALEEN" swap veth-a@egress:drop "$TMP/other.bln"
	judges "egress: the new image drops" "$OTHER"
	check "egress: baleen detach" on_a "$BALEEN" detach veth-a@egress
	lets_by "egress: everything leaves" "$LISTED"
	del_vlan .100
}
