# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Frames in HEX from the EtherType on, and what becomes of them. Sourced after lib.sh.
#
# They go from veth-a of $A to veth-b of $B, to 198.51.100.1 or 2001:db8::1
# (documentation, RFC 5737 and 3849).

# zeros N: N bytes
zeros()
{
	printf '%0*d' $((2 * $1)) 0
}

# ip4 SOURCE PROTOCOL PAYLOAD [FRAGMENT]: FRAGMENT is flags and offset in HEX
ip4()
{
	local octets

	IFS=. read -r -a octets <<<"$1"
	printf '08004500%04x0000%s40%02x0000%02x%02x%02x%02xc6336401%s' $((20 + ${#3} / 2)) \
		"${4-4000}" "$2" "${octets[@]}" "$3"
}

# ip6 HOST NEXT HOP_LIMIT PAYLOAD: from fd66::HOST, two digits in HEX
ip6()
{
	printf '86dd60000000%04x%02x%02xfd66%s%s20010db8%s01%s' $((${#4} / 2)) "$2" "$3" \
		"$(zeros 13)" "$1" "$(zeros 11)" "$4"
}

# udp PORT: to this port
udp()
{
	printf '%04x%04x0008%04x' 9 "$1" 0
}

# tcp PORT FLAGS
tcp()
{
	printf '%04x%04x%s50%02x%s' 9 "$1" "$(zeros 8)" "$2" "$(zeros 6)"
}

# tag VLAN [ETHERTYPE]: before what it is put on
tag()
{
	printf '%s%04x' "${2-8100}" "$1"
}

# icmp6 TYPE
icmp6()
{
	printf '%02x%s' "$1" "$(zeros 23)"
}

# from PORT TO_PORT: the ports of UDP from another port than 9
from()
{
	printf '%04x%04x0008%04x' "$1" "$2" 0
}

# error4 TYPE PROTOCOL PORT: an ICMP error that quotes what this host has sent, or not,
# to port 9
error4()
{
	printf '%02x%s4500001c0000400040%02x0000c6336401c0000201%04x000900080000' "$1" "$(zeros 7)" \
		"$2" "$3"
}

# error4_ping TYPE INNER_TYPE: one that quotes an ICMP packet
error4_ping()
{
	printf '%02x%s4500001c00004000400100%02xc6336401c0000201%02x%s' "$1" "$(zeros 7)" 0 "$2" \
		"$(zeros 7)"
}

# error6 TYPE PROTOCOL HEAD: the same of IPv6, HEAD are eight bytes
error6()
{
	printf '%02x%s60000000000%x%02x40%s%s%s' "$1" "$(zeros 7)" 8 "$2" \
		"20010db8$(zeros 11)01" "fd66$(zeros 13)ff" "$3"
}

SYN=2 ACK=16 SYN_ACK=18 FIN_ACK=17

# fates HEX...: a letter for each, P or D
fates()
{
	"$ROOT/build/tools/frame" -v "$A:veth-a" "$B:veth-b" "$@"
}

# fate NAME LETTERS HEX...
fate()
{
	is "$1" "$(fates "${@:3}" 2>&1)" "$2"
}
