#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Which addresses of a host must not be dropped (user/lib/net/host.h).
#
#      namespace $A                                       namespace $B
#      veth-a  10.66.0.1, fd66::1  ====================== veth-b  10.66.0.2, fd66::2
#      other   10.77.0.1, fd77::1  === spare (also in $A)
#
#      macvlan-a   10.88.3.1     above        macvlan-b, above a device of $B that has
#      bridge-a    10.88.2.1     above          the number of low
#      low         10.88.0.1, and spare, ports
#      low-peer    10.88.1.1     end of the pair
#
# Each check changes one thing and states every address that comes up for it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

HOST=$ROOT/build/tools/host
SESSION=$ROOT/build/tools/session
DEVICE=veth-a

ip -n "$A" link add other type veth peer name spare || bail "cannot make a second device"
ip -n "$A" link set other up
ip -n "$A" link set spare up
ip -n "$A" address add 10.77.0.1/24 dev other
ip -n "$A" address add fd77::1/64 dev other nodad

# new COMMAND...: what it lists that was not listed before, on one line
new()
{
	{ "$@" || echo "$* failed"; } | sort >"$TMP/now"
	comm -13 "$TMP/before" "$TMP/now" | paste -s -d ,
}

# adds NAME WANT COMMAND...: after the command, these are listed in addition
adds()
{
	"${@:3}" >/dev/null || bail "$* failed"
	is "$1" "$(new in_ns "$A" "$HOST" "$DEVICE")" "$2"
	mv "$TMP/now" "$TMP/before"
}

# route ARGUMENTS...
route()
{
	# shellcheck disable=SC2068 # -6 comes before the object
	case $1 in
	-6) ip -6 -n "$A" route add ${@:2} ;;
	*) ip -n "$A" route add $@ ;;
	esac
}

nexthop()
{
	ip -n "$A" nexthop add "$@"
}

: >"$TMP/before"
adds "addresses of the device, and of no other" "address 10.66.0.1,address fd66::1" true
adds "a further address is listed once" "address 10.66.0.9" \
	ip -n "$A" address add 10.66.0.9/32 dev veth-a
adds "own end of a point-to-point address" "address 10.66.5.1" \
	ip -n "$A" address add 10.66.5.1 peer 10.66.5.2/32 dev veth-a

adds "default route" "gateway 10.66.0.254" route default via 10.66.0.254
adds "second route by the same gateway" "" route 10.1.0.0/16 via 10.66.0.254
adds "route in another table" "gateway 10.66.0.10" route default via 10.66.0.10 table 100
adds "route through another device" "" route 10.2.0.0/16 via 10.77.0.254
adds "route without a gateway" "" route 10.3.0.0/16 dev veth-a
adds "multipath route, its hops through this device" "gateway 10.66.0.11,gateway 10.66.0.12" \
	route 10.4.0.0/16 nexthop via 10.66.0.11 nexthop via 10.66.0.12 nexthop via 10.77.0.11
adds "IPv4 route by an IPv6 gateway" "gateway fe80::77" \
	route 10.5.0.0/16 via inet6 fe80::77 dev veth-a
adds "multipath with an IPv6 gateway" "gateway 10.66.0.13,gateway fe80::78" \
	route 10.6.0.0/16 nexthop via 10.66.0.13 nexthop via inet6 fe80::78 dev veth-a

adds "IPv6 default route" "gateway fd66::fe" route -6 default via fd66::fe
adds "IPv6 link-local gateway" "gateway fe80::fe" route -6 2001:db8:1::/48 via fe80::fe dev veth-a
adds "IPv6 multipath route" "gateway fd66::11,gateway fd66::12" \
	route -6 2001:db8:2::/48 nexthop via fd66::11 nexthop via fd66::12 nexthop via fd77::12

# Without compat mode a route tells the number of its nexthop object and no more.
for mode in 0 1; do
	in_ns "$A" tee /proc/sys/net/ipv4/nexthop_compat_mode <<<$mode >/dev/null ||
		bail "cannot set nexthop_compat_mode"
	n=$((mode + 2))
	adds "nexthop object without a route (compat mode $mode)" "" \
		nexthop id ${n}1 via 10.66.0.${n}1 dev veth-a
	adds "route by it" "gateway 10.66.0.${n}1" route 10.${n}1.0.0/16 nhid ${n}1
	nexthop id ${n}2 via 10.66.0.${n}2 dev veth-a
	nexthop id ${n}3 via 10.77.0.${n}3 dev other
	nexthop id ${n}4 via 10.66.0.${n}4 dev veth-a
	nexthop id ${n}5 group ${n}2/${n}3/${n}4
	adds "route by a group of them" "gateway 10.66.0.${n}2,gateway 10.66.0.${n}4" \
		route 10.${n}2.0.0/16 nhid ${n}5
	nexthop id ${n}6 via fd66::${n}6 dev veth-a
	adds "IPv6 route by a nexthop object" "gateway fd66::${n}6" \
		route -6 2001:db8:${n}6::/48 nhid ${n}6
	nexthop id ${n}7 via fe80::${n}7 dev veth-a
	adds "IPv4 route by an IPv6 nexthop object" "gateway fe80::${n}7" \
		route 10.${n}3.0.0/16 nhid ${n}7
done

# session NAME WANT SERVER CLIENT ADDRESS: what $A lists during a session
session()
{
	is "$1" "$(new "$SESSION" "/run/netns/$3" "/run/netns/$4" "$5" \
		nsenter --net="/run/netns/$A" "$HOST" veth-a)" "$2"
}

session "TCP session to an IPv4 server" "peer of a TCP session 10.66.0.2" "$B" "$A" 10.66.0.2
session "TCP session to an IPv6 server" "peer of a TCP session fd66::2" "$B" "$A" fd66::2
session "TCP session by a mapped address" "peer of a TCP session 10.66.0.2" \
	"$B" "$A" ::ffff:10.66.0.2
session "TCP session from an IPv4 client" "peer of a TCP session 10.66.0.2" "$A" "$B" 10.66.0.1
session "TCP session from an IPv6 client" "peer of a TCP session fd66::2" "$A" "$B" fd66::1
session "loopback session, IPv4" "" "$A" "$A" 127.0.0.1
session "loopback session, IPv6" "" "$A" "$A" ::1
session "loopback session, mapped" "" "$A" "$A" ::ffff:127.0.0.1
adds "peers are gone with their sessions" "" true

# --- devices above --------------------------------------------------------

# lists NAME WANT DEVICE: no more and no less
lists()
{
	is "$1" "$(in_ns "$A" "$HOST" "$3" | paste -s -d ,)" "$2"
}

# address ADDRESS DEVICE
address()
{
	ip -n "$A" address add "$1/24" dev "$2"
}

another_port()
{
	ip -n "$A" link set spare master bridge-a && address 10.88.1.2 spare
}

# above KIND LOWER NAME ADDRESS
above()
{
	ip -n "$A" link add link "$2" name "$3" type "$1" && address "$4" "$3"
}

# A device below macvlan-b has the number of low, but in $B.
namesake()
{
	local index

	index=$(ip -n "$A" -o link show dev low | cut -d : -f 1) &&
		ip -n "$B" link add index "$index" name far type veth peer name far-peer &&
		ip -n "$B" link add link far name macvlan-b netns "$A" type macvlan &&
		address 10.88.3.2 macvlan-b &&
		ip -n "$A" -o link show dev macvlan-b | grep "macvlan-b@if$index:"
}

ip -n "$A" link add low type veth peer name low-peer &&
	ip -n "$A" link add bridge-a type bridge && ip -n "$A" link set bridge-a up &&
	address 10.88.0.1 low || bail "cannot make a bridge"
: >"$TMP/before"
DEVICE=low
adds "a device with nothing above" "address 10.88.0.1" true
adds "the other end of a veth pair is not above" "" address 10.88.1.1 low-peer
adds "nor is a bridge" "" address 10.88.2.1 bridge-a
adds "until the device is its port" "address 10.88.2.1" ip -n "$A" link set low master bridge-a
adds "gateway through the bridge" "gateway 10.88.2.254" route 10.8.0.0/16 via 10.88.2.254
adds "another port of the bridge is not above" "" another_port
adds "macvlan device above the bridge" "address 10.88.3.1" \
	above macvlan bridge-a macvlan-a 10.88.3.1
adds "the device below is one of another namespace" "" namesake
lists "nothing comes from below" "address 10.88.3.1" macvlan-a
lists "the bridge has its own and what is above" \
	"address 10.88.2.1,address 10.88.3.1,gateway 10.88.2.254" bridge-a
ip -n "$A" link set low nomaster
lists "a port no more" "address 10.88.0.1" low
adds "macvlan device" "address 10.88.4.1" above macvlan low macvlan-low 10.88.4.1
adds "macvtap device" "address 10.88.5.1" above macvtap low macvtap-low 10.88.5.1

if [ -f /etc/resolv.conf ]; then
	adds "resolver" "resolver 10.53.0.1" tee /etc/resolv.conf <<<"nameserver 10.53.0.1"
else
	skip "resolver" "no /etc/resolv.conf to replace"
fi
