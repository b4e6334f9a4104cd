#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Two parsers, one answer: for every frame of every capture of a folder, the key
# that replay reports is what tshark decodes, and the program drops the frame
# when that key is listed and no other, or when the frame hides it.
#
#      tests/xdp/tshark.sh [FOLDER]      ../shared/data/pcaps by default
#
# Of the keys that tshark finds every other one goes into the list, nobody's addresses (0.0.0.0,
# ::, 255.255.255.255) apart, which no list that drops keeps. Frames that
# have no key are printed with the reason.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/pcap.bash
source "$ROOT/tests/pcap.bash"

FOLDER=${1:-$ROOT/../shared/data/pcaps}
SPECS="src dst src,dst src,dport proto,src,dst,sport,dport"
FIELDS="frame.number frame.encap_type frame.cap_len frame.protocols ip.version ip.hdr_len ip.len
	ip.proto ip.frag_offset ip.src ip.dst ipv6.version ipv6.plen ipv6.nxt ipv6.src ipv6.dst
	ipv6.hopopts.nxt ipv6.dstopts.nxt ipv6.routing.nxt ipv6.fraghdr.nxt ipv6.fraghdr.offset
	ah.next_header mip6.proto hip.proto shim6.nxt tcp.srcport tcp.dstport udp.srcport
	udp.dstport dccp.srcport dccp.dstport sctp.srcport sctp.dstport"

# decode CAPTURE: what tshark makes of it, without reassembly, as far as its frames
# are of a link type that replay reads; ends with 1 when not all of it is, or can be read
decode()
{
	local arguments=() field status

	for field in $FIELDS; do
		arguments+=(-e "$field")
	done
	HOME=$TMP tshark -n -r "$1" -o ip.defragment:FALSE -o ipv6.defragment:FALSE \
		-o tcp.desegment_tcp_streams:FALSE -T fields -E occurrence=a -E separator='|' \
		"${arguments[@]}" >"$TMP/fields" 2>"$TMP/tshark.err"
	status=$?
	# Ethernet; raw IP and both cooked ones as if they had such a header in place of theirs.
	awk -F '|' -v OFS='|' '
		BEGIN { before[1] = 14; before[7] = 0; before[25] = 16; before[210] = 20 }
		!($2 in before) { exit 1 }
		{ $3 += 14 - before[$2] }
		$2 == 7 { sub(/^raw/, "eth:ethertype", $4) }
		$2 == 25 || $2 == 210 { sub(/^sll/, "eth", $4) }
		{ print }' "$TMP/fields" >"$TMP/ethernet" && [ $status -eq 0 ]
}

# ask CAPTURE SPEC: what replay says: frame, key, why there is none, verdict
ask()
{
	"$BALEEN" replay -jv --allow-empty --key "$2" "$TMP/list" "$1" >"$TMP/replay.json" \
		2>"$TMP/replay.err"
	local status=$?

	jq -r '.[] | [ .frame, .key // "-", if .key then "" else .reason // "hidden" end, .verdict ] | @tsv' \
		"$TMP/replay.json"
	return $status
}

# differences: between the two, side by side, and what is new for the table
differences()
{
	paste "$TMP/want" "$TMP/got" | awk -F '\t' -v table="$TMP/rows" '
		BEGIN { while ((getline key < ARGV[1]) > 0) listed[key] = 1; ARGV[1] = "-" }
		$2 == "?" {
			print $1 "\t" $3 "\t" $5 > table
			next
		}
		$2 == "-" && $3 != "unmatched" && $3 != "hidden" { print $1 "\t" $3 > table }
		$1 != $4 || $2 != $5 || $3 != $6 || $7 != ($2 in listed || $3 == "hidden" ? "drop" : "pass") {
			print "frame " $1 ": tshark " $2 " " $3 ($2 in listed ? ", listed" : "") \
				"; replay " $4 " " $5 " " $6 ", " $7
		}' "$TMP/list"
}

# compare CAPTURE: for every key; the table of the first and of those that add to it
# goes to $TMP/table
compare()
{
	local status=0 got spec

	decode "$1" || status=1
	for spec in $SPECS; do
		awk -v fields="${FIELDS//[[:space:]]/ }" -v spec="$spec" -f "$ROOT/tests/xdp/tshark.awk" \
			"$TMP/ethernet" >"$TMP/want"
		awk -F '\t' '$2 !~ /^(-|\?|0\.0\.0\.0|::|255\.255\.255\.255)$/ && !n[$2]++ &&
			i++ % 2 == 0 { print $2 }' \
			"$TMP/want" >"$TMP/list"
		: >"$TMP/rows"
		ask "$1" "$spec" >"$TMP/got"
		got=$?
		differences >"$TMP/differences"
		is "${1##*/}: keys $spec of $(wc -l <"$TMP/want") frames" \
			"status $got, $(head -n 20 "$TMP/differences")" "status $status, "
		sed "s/^/${1##*/}\t/" "$TMP/rows" >>"$TMP/table"
	done
}

# compare_folder FOLDER: every capture, and prints its table
compare_folder()
{
	local capture

	: >"$TMP/table"
	for capture in "$1"/*; do
		compare "$capture"
	done
	# Of rows that differ in the key only, the first: of an address.
	awk -F '\t' -v OFS='\t' '!n[$1, $2, $3]++ { print $1, $2, $3 ($4 == "" ? "" : ": " $4) }' \
		"$TMP/table" | sort -t $'\t' -k 1,1 -k 2,2n >"$TMP/rows"
	sed 's/^/# /; s/\t/ /g' "$TMP/rows"
}

# made_rows: of shapes.pcap, by name
made_rows()
{
	local capture frame why

	while IFS=$'\t' read -r capture frame why; do
		echo "${names[frame - 1]}: $why"
	done <"$TMP/rows"
}

# shape NAME HEX: the next frame of shapes.pcap, from its EtherType on
shape()
{
	pcap_frame "$MADE/shapes.pcap" "$MACS$2"
	names+=("$1")
}

# Link layers: tags, PPPoE, LLC, labels, versions
make_links()
{
	local n

	for n in 1 2 3 4 5 6; do
		shape "IPv4 behind $n tags" "$(repeat "$n" 81000064)0800$(ip4 "$n" 17 $UDP)"
		shape "IPv6 behind $n tags" "$(repeat "$n" 81000064)86dd$(ip6 "$n" 17 $UDP)"
	done
	shape "802.1ad and 802.1Q" "88a80064810000c80800$(ip4 7 17 $UDP)"
	shape "priority tag" "810000000800$(ip4 8 17 $UDP)"
	shape "ARP behind a priority tag" "810000000806$(zeros 28)"
	shape "QinQ of before 802.1ad" "91000064810000c886dd$(ip6 9 6 $TCP)"
	shape "IPv4 in PPPoE" "88641100000100260021$(ip4 10 6 $TCP)"
	shape "IPv6 in PPPoE" "88641100000100420057$(ip6 11 6 $TCP)"
	shape "IPv4 in PPPoE behind a tag" "81000064886411000001001e0021$(ip4 12 17 $UDP)"
	shape "PPPoE discovery" "8863110900000000"
	shape "IPv4 in PPPoE, protocol of one byte" "886411000001001d21$(ip4 16 17 $UDP)"
	shape "LCP in PPPoE" "8864110000010006c02101010004"
	shape "MPLS" "8847000641ff$(ip4 13 17 $UDP)"
	shape "MPLS behind a tag" "810000648847000641ff$(ip4 14 17 $UDP)"
	shape "multicast MPLS" "8848000641ff$(ip4 15 17 $UDP)"
	shape "IPv4 behind LLC and SNAP" "0024aaaa030000000800$(ip4 16 17 $UDP)"
	shape "IPv6 where IPv4 is announced" "0800$(ip6 17 17 $UDP)"
	shape "IPv4 where IPv6 is announced" "86dd$(ip4 18 17 $UDP)$(zeros 20)"
	shape "IP version 5" "0800$(ip4 19 17 $UDP 55)"
	shape "LLDP" "88cc0207040200000000010403"
	shape "LACP" "88090101$(zeros 50)"
	shape "EAPOL" "888e01000000$(zeros 40)"
}

# IPv4: options, lengths, fragments, what it carries
make_ip4()
{
	shape "IPv4 options" "0800$(ip4 20 17 "01010101$UDP" 46)"
	shape "40 bytes of IPv4 options" "0800$(ip4 21 6 "$(zeros 40)$TCP" 4f)"
	shape "IPv4 header of 16 bytes" "0800$(ip4 22 17 $UDP 44)"
	shape "IPv4 header of 0 bytes" "0800$(ip4 23 17 $UDP 40)"
	shape "total length 10" "0800$(ip4 24 17 $UDP 45 10)"
	shape "total length 22" "0800$(ip4 25 17 $UDP 45 22)"
	shape "total length 0" "0800$(ip4 26 17 $UDP 45 0)"
	shape "total length past the end" "0800$(ip4 27 17 $UDP 45 1500)"
	shape "first IPv4 fragment" "0800$(ip4 28 17 $UDP 45 28 2000)"
	shape "later IPv4 fragment" "0800$(ip4 29 17 $UDP 45 28 0001)"
	shape "first fragment of ICMP" "0800$(ip4 30 1 0800000000000000 45 28 2001)"
	shape "ICMP error" "0800$(ip4 31 1 "0301000000000000$(ip4 99 17 $UDP)")"
	shape "IPv4 in GRE" "0800$(ip4 32 47 "00000800$(ip4 98 6 $TCP)")"
	shape "IPv4 in IPv4" "0800$(ip4 33 4 "$(ip4 97 17 $UDP)")"
	shape "IPv6 in IPv4" "0800$(ip4 34 41 "$(ip6 96 17 $UDP)")"
	shape "ESP" "0800$(ip4 35 50 0000000100000001)"
	shape "AH in IPv4" "0800$(ip4 36 51 "110400000000000100000001$(zeros 12)$UDP")"
	shape "SCTP" "0800$(ip4 37 132 "03e80050$(zeros 8)")"
	shape "UDP-Lite" "0800$(ip4 38 136 $UDP)"
	shape "DCCP" "0800$(ip4 39 33 "03e80050$(zeros 12)")"
	shape "UDP of 2 bytes" "0800$(ip4 40 17 03e8)"
	shape "TCP of 4 bytes" "0800$(ip4 41 6 03e801bb)"
	shape "protocol 253" "0800$(ip4 42 253 "")"
	shape "padding" "0800$(ip4 43 17 $UDP)$(zeros 18)"
}

# IPv6: extension headers, fragments, lengths, what it carries
make_ip6()
{
	local destination=3c00010400000000

	shape "8 extension headers" \
		"86dd$(ip6 50 60 "$(repeat 7 $destination)1100010400000000$UDP")"
	shape "9 extension headers" \
		"86dd$(ip6 51 60 "$(repeat 8 $destination)1100010400000000$UDP")"
	shape "4 kinds of extension headers" \
		"86dd$(ip6 52 0 "3c00010400000000${destination/3c/2b}3c00000000000000\
${destination/3c/11}$UDP")"
	shape "first IPv6 fragment" "86dd$(ip6 53 44 "1100000100000001$UDP")"
	shape "later IPv6 fragment" "86dd$(ip6 54 44 "1100000900000001$UDP")"
	shape "first fragment with options" \
		"86dd$(ip6 55 44 "3c00000100000001${destination/3c/11}$UDP")"
	shape "later fragment of options" \
		"86dd$(ip6 56 44 "3c00000900000001${destination/3c/11}$UDP")"
	shape "later fragment of ICMPv6" "86dd$(ip6 57 44 "3a00000900000001$(zeros 8)")"
	shape "AH in IPv6" "86dd$(ip6 58 51 "060200000000000100000001$(zeros 4)$TCP")"
	shape "ICMPv6" "86dd$(ip6 59 58 "8000000000000000")"
	shape "ICMPv6 error" "86dd$(ip6 60 58 "0100000000000000$(ip6 95 17 $UDP)")"
	shape "IPv4 in IPv6" "86dd$(ip6 61 4 "$(ip4 94 17 $UDP)")"
	shape "IPv6 in IPv6" "86dd$(ip6 62 41 "$(ip6 93 6 $TCP)")"
	shape "no next header" "86dd$(ip6 63 59 "")"
	shape "ESP in IPv6" "86dd$(ip6 64 50 0000000100000001)"
	shape "payload length 0" "86dd$(ip6 65 17 $UDP 6 0)"
	shape "payload length 2" "86dd$(ip6 66 17 $UDP 6 2)"
	shape "extension header of 2 bytes" "86dd$(ip6 67 60 1100)"
	shape "payload length past the end" "86dd$(ip6 68 17 $UDP 6 999)"
	shape "SCTP in IPv6" "86dd$(ip6 69 132 "03e80050$(zeros 8)")"
	shape "mobility header" "86dd$(ip6 70 135 "1100010000000000$UDP")"
	shape "extension header past the end" "86dd$(ip6 71 60 "11ff0104$(zeros 100)")"
	shape "IPv6 of version 4" "86dd$(ip6 72 17 $UDP 4)"
}

# Frames of every length at which something is missing, and long ones
make_lengths()
{
	local ip4 ip6 n

	ip4=${MACS}0800$(ip4 80 17 $UDP)
	ip6=${MACS}8100006486dd$(ip6 81 6 $TCP)
	for n in 0 1 6 12 13 14 15 18 33 34 35 37 38 41; do
		pcap_frame "$MADE/shapes.pcap" "${ip4:0:n * 2}" 600
		names+=("$n bytes of UDP over IPv4, snapped")
	done
	for n in 16 17 18 19 57 58 59 61 62 71 77; do
		pcap_frame "$MADE/shapes.pcap" "${ip6:0:n * 2}"
		names+=("$n bytes of TCP over IPv6 behind a tag")
	done
	for n in 1500 3500 4096 9000 65000 90000; do
		pcap_frame "$MADE/shapes.pcap" "$ip4$(zeros $n)"
		names+=("$n bytes too many")
	done
}

# The file formats; each frame is one of shapes.pcap, too.
make_formats()
{
	local ip4 ip6 file

	ip4=${MACS}0800$(ip4 82 17 $UDP)
	ip6=${MACS}86dd$(ip6 83 6 $TCP)
	for file in "le $MICROSECONDS" "le $NANOSECONDS" "be $MICROSECONDS" "be $NANOSECONDS"; do
		# shellcheck disable=SC2086 # two words
		pcap_begin "$MADE/${file/ /-}.pcap" $file
		pcap_frame "$MADE/${file/ /-}.pcap" "$ip4"
		pcap_frame "$MADE/${file/ /-}.pcap" "$ip6"
	done
	pcap_begin "$MADE/none.pcap"
	pcap_begin "$MADE/cut.pcap"
	pcap_frame "$MADE/cut.pcap" "$ip4"
	pcap_frame "$MADE/cut.pcap" "$ip6"
	truncate -s -1 "$MADE/cut.pcap"
	pcap_begin "$MADE/cooked.pcap" le $MICROSECONDS 113
	pcap_frame "$MADE/cooked.pcap" "0000000100060200000000010000""0800$(ip4 84 17 $UDP)"
	ng_begin "$MADE/merged.pcapng" be
	ng_interface "$MADE/merged.pcapng" 1 65535
	ng_interface "$MADE/merged.pcapng" 1 100
	ng_interface "$MADE/merged.pcapng" 113 0
	ng_frame "$MADE/merged.pcapng" 1 "$ip4"
	ng_block "$MADE/merged.pcapng" 4 00000000
	ng_frame "$MADE/merged.pcapng" 0 "$ip6" 999
	ng_section "$MADE/merged.pcapng" le
	ng_interface "$MADE/merged.pcapng" 1 50
	ng_frame "$MADE/merged.pcapng" 0 "$ip4"
	pcap_order[$MADE/merged.pcapng]=le
	ng_block "$MADE/merged.pcapng" 3 "2a000000$ip4"
	ng_block "$MADE/merged.pcapng" 2 "00000000$(zeros 8)2a0000002a000000$ip4"
	ng_begin "$MADE/mixed.pcapng"
	ng_interface "$MADE/mixed.pcapng" 1 0
	ng_interface "$MADE/mixed.pcapng" 113 0
	ng_frame "$MADE/mixed.pcapng" 0 "$ip4"
	ng_frame "$MADE/mixed.pcapng" 1 "0000000100060200000000010000""0800$(ip4 84 17 $UDP)"
	ng_frame "$MADE/mixed.pcapng" 0 "$ip6"
}

isolate "$@"
command -v tshark >/dev/null || bail "tshark is missing: make deps-test"

if [ -d "$FOLDER" ]; then
	compare_folder "$FOLDER"
else
	skip "captures" "$FOLDER is not there"
fi
if [ $# -eq 0 ] && [ -d "$FOLDER" ]; then
	is "the table of those without a key" "$(<"$TMP/rows")" "$(tr ' ' '\t' <<-EOF
		ArpRequestWithVlan.pcap 1 not_ip
		MplsPackets.pcap 1 mpls
		MplsPackets.pcap 2 mpls
		PPPoESession.pcap 1 not_ip
		VlanPackets.pcap 21 not_ip
		VlanPackets.pcap 22 not_ip
		VlanPackets.pcap 23 not_ip
		VlanPackets.pcap 24 not_ip
		VlanPackets.pcap 25 not_ip
		VlanPackets.pcap 26 not_ip
		ip4_bad_fragment.pcap 1 mpls
		llc_vlan.pcap 1 not_ip
	EOF
	)"
fi

MADE=$TMP/made
names=()
mkdir "$MADE"
pcap_begin "$MADE/shapes.pcap"
make_links
make_ip4
make_ip6
make_lengths
make_formats
compare_folder "$MADE"
is "the table of those made here" "$(made_rows)" "IPv4 behind 5 tags: tags
IPv6 behind 5 tags: tags
IPv4 behind 6 tags: tags
IPv6 behind 6 tags: tags
ARP behind a priority tag: not_ip
PPPoE discovery: not_ip
LCP in PPPoE: not_ip
MPLS: mpls
MPLS behind a tag: mpls
multicast MPLS: mpls
IPv4 behind LLC and SNAP: not_ip
IPv6 where IPv4 is announced: version
IPv4 where IPv6 is announced: version
IP version 5: version
LLDP: not_ip
LACP: not_ip
EAPOL: not_ip
IPv4 header of 16 bytes: bad header length: 198.51.100.22
IPv4 header of 0 bytes: bad header length: 198.51.100.23
total length 10: bad total length: 198.51.100.24
total length 22: total length ends before the ports: -
payload length 0: payload length ends before the headers do: 2001:db8::41,53
payload length 2: payload length ends before the headers do: -
IPv6 of version 4: version
0 bytes of UDP over IPv4, snapped: short
1 bytes of UDP over IPv4, snapped: short
6 bytes of UDP over IPv4, snapped: short
12 bytes of UDP over IPv4, snapped: short
13 bytes of UDP over IPv4, snapped: short
14 bytes of UDP over IPv4, snapped: short
15 bytes of UDP over IPv4, snapped: short
18 bytes of UDP over IPv4, snapped: short
33 bytes of UDP over IPv4, snapped: short
16 bytes of TCP over IPv6 behind a tag: short
17 bytes of TCP over IPv6 behind a tag: short
18 bytes of TCP over IPv6 behind a tag: short
19 bytes of TCP over IPv6 behind a tag: short
57 bytes of TCP over IPv6 behind a tag: short"
