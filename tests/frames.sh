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
