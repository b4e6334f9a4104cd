# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Capture files from hexadecimal text, for tests of what reads them.
#
#      pcap_begin FILE [BYTE_ORDER [MAGIC [LINK_TYPE]]]
#      pcap_frame FILE HEX [WIRE_BYTES]
#
# and the same with ng_ for pcapng. BYTE_ORDER is le or be; MAGIC is that of
# microseconds, a1b2c3d4, or nanoseconds, a1b23c4d.

# shellcheck disable=SC2034,SC2094,SC2001 # for the tests; names only; too many for bash
MICROSECONDS=a1b2c3d4
NANOSECONDS=a1b23c4d
# Addresses of a frame: 12 bytes.
MACS=020000000002020000000001
declare -A pcap_order

# bytes HEX...: as such
bytes()
{
	local IFS=

	# shellcheck disable=SC2059 # the format is the data
	printf "$(sed 's/../\\x&/g' <<<"$*")"
}

# swap HEX: the bytes the other way round
swap()
{
	local out='' i

	for ((i = 0; i < ${#1}; i += 2)); do
		out=${1:i:2}$out
	done
	echo "$out"
}

# ordered FILE BYTES NUMBER...: numbers as hexadecimal, in the byte order of FILE
ordered()
{
	local n hex

	for n in "${@:3}"; do
		printf -v hex '%0*x' $(($2 * 2)) "$n"
		if [ "${pcap_order[$1]}" = le ]; then
			hex=$(swap "$hex")
		fi
		printf '%s' "$hex"
	done
}

pcap_begin()
{
	pcap_order[$1]=${2:-le}
	bytes "$(ordered "$1" 4 "0x${3:-$MICROSECONDS}")" "$(ordered "$1" 2 2 4)" \
		"$(ordered "$1" 4 0 0 262144 "${4:-1}")" >"$1"
}

pcap_frame()
{
	local n=$((${#2} / 2))

	[ $((${#2} % 2)) -eq 0 ] || bail "half a byte in $2"
	bytes "$(ordered "$1" 4 1 2 $n "${3:-$n}")" "$2" >>"$1"
}

# ng_block FILE TYPE HEX: one block
ng_block()
{
	local n=$((${#3} / 2)) pad

	pad=$(((4 - n % 4) % 4))
	n=$((12 + n + pad))
	bytes "$(ordered "$1" 4 "$2" $n)" "$3" "$(zeros $pad)" \
		"$(ordered "$1" 4 $n)" >>"$1"
}

# ng_begin FILE [BYTE_ORDER]: a section, without interfaces
ng_begin()
{
	: >"$1"
	ng_section "$@"
}

ng_section()
{
	pcap_order[$1]=${2:-le}
	ng_block "$1" 0x0a0d0d0a "$(ordered "$1" 4 0x1a2b3c4d; ordered "$1" 2 1 0)ffffffffffffffff"
}

# ng_interface FILE LINK_TYPE SNAP_BYTES
ng_interface()
{
	ng_block "$1" 1 "$(ordered "$1" 2 "$2" 0)$(ordered "$1" 4 "$3")"
}

# ng_frame FILE INTERFACE HEX [WIRE_BYTES]
ng_frame()
{
	local n=$((${#3} / 2))

	ng_block "$1" 6 "$(ordered "$1" 4 "$2" 0 0 $n "${4:-$n}")$3"
}

# zeros BYTES
zeros()
{
	[ "$1" -eq 0 ] || printf '%0*d' $(($1 * 2)) 0
}

# ip4 N PROTO PAYLOAD [VERSION_IHL [LENGTH [FRAGMENT]]]: from 198.51.100.N
ip4()
{
	local n=$((20 + ${#3} / 2))

	printf '%s00%04x0000%s40%02x0000c63364%02xc0000201%s' "${4:-45}" "${5:-$n}" "${6:-0000}" \
		"$2" "$1" "$3"
}

# ip6 N NEXT_HEADER PAYLOAD [VERSION [LENGTH]]: from 2001:db8::N
ip6()
{
	printf '%s0000000%04x%02x40%s%032x%s' "${4:-6}" "${5:-$((${#3} / 2))}" "$2" \
		"20010db80000000000000000000000$(printf '%02x' "$1")" 1 "$3"
}

# UDP and TCP with the ports 1000 and 53, 443
UDP=03e8003500080000
TCP=03e801bb00000000000000005002000000000000

# repeat TIMES HEX
repeat()
{
	local i

	for ((i = 0; i < $1; i++)); do
		printf '%s' "$2"
	done
}
