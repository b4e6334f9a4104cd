# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tests of the hook share. Sourced in a virtual machine, after tests/lib.sh.
#
#      veth-a ====== veth-b: XDP, or the hook -> macv-b: AF_PACKET
#
# A packet socket on veth-b sees a packet before the hook does; what the hook lets
# pass goes on to macv-b, a macvlan that takes all that veth-b receives.

BIND=$ROOT/build/kmod-test/64/bind
FROM=$A:veth-a TO=$B:macv-b
SHAPES=build/kmod-test/shapes

# hook ARGUMENT...: in the receiving namespace
hook()
{
	in_ns "$B" "$BIND" "$@"
}

# refuses NAME ERRNO ARGUMENT...: of bind
refuses()
{
	check_status "$1" 1 hook "${@:3}"
	is "$1: $2" "$(sed 's/.*: //' "$TMP/err")" "$2"
}

# image NAME [OPTION...]: of the list on standard input, $TMP/NAME.bln
image()
{
	"$BALEEN" build -o "$TMP/$1.bln" "${@:2}" - 2>"$TMP/err" ||
		bail "no image $1: $(<"$TMP/err")"
}

# add_above DEVICE NAME: what passes on this device of $B goes to NAME
add_above()
{
	ip -n "$B" link add link "$1" name "$2" type macvlan mode passthru &&
		ip -n "$B" link set "$2" up || bail "no macvlan on $1"
}

# set_mtu BYTES: on both ends
set_mtu()
{
	ip -n "$A" link set dev veth-a mtu "$1" && ip -n "$B" link set dev veth-b mtu "$1" &&
		ip -n "$B" link set dev macv-b mtu "$1" || bail "no MTU of $1"
}

# judges NAME LIST [OPTION...]: every address of the list is dropped, no other is
judges()
{
	check "$1" "$TRAFFIC" --from "$FROM" --to "$TO" --listed "$2" --unlisted "$TMP/free" \
		--expect -j "${@:3}"
}

# lets_by NAME LIST [OPTION...]: every address of the list passes
lets_by()
{
	check "$1" "$TRAFFIC" --from "$FROM" --to "$TO" --unlisted "$2" --expect "${@:3}"
}

# sent PATH: a number of what the last traffic with -j was, as `.listed.bytes`
sent()
{
	"$ROOT/build/tools/json" "$TMP/out" "$1"
}

# counts: of the hook on veth-b; see tests/kmod/bind.c
counts()
{
	hook --counts "${1-veth-b}"
}

# make_lists: 3,000 addresses that filters have, as many that they do not, and the
# images of single ones
make_lists()
{
	make_list "$TMP/many" 1500 1500 1
	make_list "$TMP/free" 1500 1500 2 --avoid "$TMP/many"
	image many <"$TMP/many"
	image free <"$TMP/free"
	printf '%s\n' 192.0.2.1 2001:db8:a::bad1 | image listed
	printf '%s\n' 192.0.2.2 2001:db8:a::d2 | image allowed
	echo hello | image strings --key string
}
