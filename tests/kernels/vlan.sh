# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Baleen below, on and above VLAN devices, and how many tags a program sees.
#
# A tag is in the bytes of a frame or, stripped, in the metadata of its socket
# buffer, where XDP does not look. veth carries either as it comes: it is the
# sender's offload (txvlan) that decides, and the receiver's (rxvlan) changes
# nothing, unlike on a network card, which strips what it receives when rxvlan
# is on. So on veth, on 6.1 and 6.12:
#
#      program on            sender's txvlan   802.1Q   802.1ad + 802.1Q
#      veth-b, native        on (default)      no tag   the inner tag
#      veth-b, generic       on (default)      no tag   the inner tag
#      veth-b, either        off               the tag  both tags
#      outer VLAN device     either            no tag   the inner tag
#      inner VLAN device     either            -        no tag
#
# The inner tag is in the bytes because a VLAN device has no offload of its own
# to its upper. A verdict of pass keeps a stripped tag: the frame still reaches
# its VLAN device.

# matched_bytes DEVICE: what its first rule has counted
matched_bytes()
{
	in_ns "$B" "$BALEEN" status -j "$1" | "$JSON" - '[0].rules[0].packet_bytes'
}

# sees NAME DEVICE TAGS: the VLAN devices of FROM and TO are filtered on DEVICE,
# whose program sees so many tags: each adds four bytes to what it counts. Kept
# by test_vlan: N frames of the list have BYTES bytes, and COUNTED_BYTES were
# counted before.
sees()
{
	local before=$COUNTED_BYTES

	judges "$1: listed sources are dropped, others pass" "$LISTED"
	COUNTED_BYTES=$(matched_bytes "$2")
	is "$1: the program sees $3 tags" "$((COUNTED_BYTES - before - BYTES)) bytes" \
		"$((4 * $3 * N)) bytes"
}

# attach_on NAME DEVICE MODE [OPTION...]
attach_on()
{
	check "$1: baleen attach" on_b "$BALEEN" attach "$2" --drop drop="$TMP/drop.bln" \
		--mode "$3" "${@:4}"
	is "$1: attached in $3 mode" "$(xdp_mode "$B" "$2")" "$3"
}

# test_tags_below MODE: a filter on the device below the VLAN devices
test_tags_below()
{
	local COUNTED_BYTES=0 tx rx name tags FROM TO

	attach_on "tags, $1" veth-b "$1"
	for tx in on off; do
		[ "$tx" = on ] && tags=0 || tags=1
		for rx in on off; do
			name="$1, txvlan $tx, rxvlan $rx"
			set_tag_offload "$tx" "$rx"
			FROM=$A:veth-a.100 TO=$B:veth-b.100
			sees "802.1Q, $name" veth-b "$tags"
			FROM=$A:veth-a.200.7 TO=$B:veth-b.200.7
			sees "802.1ad + 802.1Q, $name" veth-b $((tags + 1))
		done
	done
	check "tags, $1: baleen detach" on_b "$BALEEN" detach veth-b
}

# test_tags_on SUFFIX TAGS: a filter on a VLAN device, which has no native XDP
test_tags_on()
{
	local COUNTED_BYTES=0 device=veth-b$1 tx

	check_status "$device: native is refused" 1 on_b "$BALEEN" attach "$device" \
		--drop drop="$TMP/drop.bln" --mode native
	attach_on "$device" "$device" generic
	for tx in on off; do
		set_tag_offload "$tx" on
		sees "$device, generic, txvlan $tx" "$device" "$2"
	done
	check "$device: baleen detach" on_b "$BALEEN" detach "$device"
	lets_by "$device: after detach everything passes" "$LISTED"
}

test_vlan()
{
	local N BYTES FROM=$A:veth-a TO=$B:veth-b

	make_vlan "" 100
	make_vlan "" 200 802.1ad
	make_vlan .200 7
	"$TRAFFIC" --from "$FROM" --to "$TO" --listed "$LISTED" -j >"$TMP/out"
	N=$("$JSON" "$TMP/out" .listed.sent)
	BYTES=$("$JSON" "$TMP/out" .listed.bytes)
	test_tags_below native
	test_tags_below generic
	FROM=$A:veth-a.100 TO=$B:veth-b.100
	test_tags_on .100 0
	FROM=$A:veth-a.200.7 TO=$B:veth-b.200.7
	test_tags_on .200 1
	test_tags_on .200.7 0
	set_tag_offload on on
	test_above veth-b.100 10.77.0.1
	del_vlan .200
	del_vlan .100
}
