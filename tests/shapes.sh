# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Frames of every make that might get past a filter, and which row of the table
# in tests/xdp/bypass.sh each belongs to. Sourced after frames.sh.
#
# Lines of `ROW HEX`, HEX from the EtherType on. The row `ip` stands for that of
# the source; what else a row is called is what the frame is parsed to.

# Each source in four bytes and sixteen, and what travels inside a tunnel.
declare -A SOURCE4=([listed]=c0000201 [allowed]=c0000202 [unmatched]=c0000203)
declare -A SOURCE6=(
	[listed]=20010db8000a0000000000000000bad1
	[allowed]=20010db8000a000000000000000000d2
	[unmatched]=20010db8000a000000000000000000e3
)
declare -A INNER=([listed]=allowed [allowed]=listed [unmatched]=listed)

UDP=0009000900100000$(zeros 8)
EXTENSIONS="00 2b 2c 32 33 3b 3c 87 8b 8c fd fe" # 50, 59, 253, 254 end a chain
TPIDS="8100 88a8 9100"
TCIS=(0064 0000 e000 1fff 0001) # a VLAN, priority tags, the highest VLAN, VLAN 1
BYTES=()
for i in {0..255}; do
	printf -v BYTES[i] %02x "$i"
done

# --- frames, from the EtherType on: each leaves one in $frame ---

# v4 [FIELD=HEX...]
v4()
{
	local version=4 ihl=5 fragment=0000 ttl=40 proto=11 sum=0000 from=$source4 to=c6336401
	local options='' payload=$UDP length='' "$@"

	[ -n "$length" ] || printf -v length %04x $((20 + (${#options} + ${#payload}) / 2))
	frame=0800$version${ihl}00${length}0000$fragment$ttl$proto$sum$from$to$options$payload
}

# v6 [FIELD=HEX...]
v6()
{
	local version=6 flow=0000000 next=11 hop=40 from=$source6 payload=$UDP length=''
	local to=20010db8000000000000000000000001 "$@"

	[ -n "$length" ] || printf -v length %04x $((${#payload} / 2))
	frame=86dd$version$flow$length$next$hop$from$to$payload
}

# put ROW: $frame is one of this row; `ip` is that of its source
put()
{
	local row=$1

	if [ "$row" = ip ] || { [ "$row" = neighbour ] && [ "$class" != unmatched ]; }; then
		row=$class
	fi
	echo "$row $frame"
}

# tagged STACK ROW: $frame below these tags
tagged()
{
	local plain=$frame

	frame=$1$frame
	put "$2"
	frame=$plain
}

# pppoe PROTOCOL [HEADER]: $frame in a session
pppoe()
{
	frame=8864${2-110000010022}$1${frame:4}
}

# each_length ROW HEADER_BYTES: $frame at every length that can be sent; without all
# of its headers it is cut short
each_length()
{
	local whole=$frame bytes

	for ((bytes = 14; bytes - 12 < ${#whole} / 2; bytes++)); do
		frame=${whole:0:2 * (bytes - 12)}
		if [ $bytes -ge "$2" ]; then
			put "$1"
		elif [[ $frame =~ ^(8100|88a8) ]] && [ $bytes -lt 20 ]; then
			put cut_tag
		else
			put short
		fi
	done
	frame=$whole
}

# --- shapes ---

ip4_shapes()
{
	local i ihl options

	for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
		v4 ihl=$i
		put ip
		v4 ihl=$i payload="$(zeros 48)"
		put ip
	done
	# Ends of options, no-operations, record route, timestamp, source routes, garbage.
	for i in 00 01 07 44 83 89 ff; do
		for options in 4 8 12 16 20 24 28 32 36 40; do
			printf -v options "$i%02x%0*d" $options $((2 * options - 4)) 0
			printf -v ihl %x $((5 + ${#options} / 8))
			v4 ihl="$ihl" options="$options"
			put ip
			v4 ihl="$ihl" options="${options:0:2}00${options:4}"
			put ip
		done
	done
	for i in 0000 0001 0013 0014 001b 001d 05dc ffff; do
		v4 length=$i
		put ip
	done
	# First, second, last, of the same place, with every flag, of 8 bytes.
	for i in 2000 2001 0001 2001 2002 1fff 3fff 4000 6000 8000 a001 ffff; do
		v4 fragment=$i
		put ip
		v4 fragment=$i payload="$(zeros 8)"
		put ip
		v4 fragment=$i payload=
		put ip
	done
	for i in 00 01 ff; do
		v4 ttl=$i
		put ip
	done
	for i in ffff 1234; do
		v4 sum=$i
		put ip
	done
	for i in 00000000 ffffffff 7f000001 e0000001 "$source4"; do
		v4 to="$i"
		put ip
	done
	for i in "${BYTES[@]}"; do
		v4 proto="$i"
		put ip
	done
}

ip6_shapes()
{
	local type n chain next i

	for type in $EXTENSIONS; do
		chain=$UDP next=11
		for ((n = 0; n <= 20; n++)); do
			v6 next="$next" payload="$chain"
			put ip
			chain=${next}00000000000000$chain next=$type
		done
		for i in 01 07 7f fe ff; do
			v6 next="$type" payload="11${i}000000000000$UDP"
			put ip
		done
		v6 next="$type" payload="11b0$(zeros 1406)$UDP"
		put ip
	done
	chain=$UDP next=11 n=0
	for type in $EXTENSIONS $EXTENSIONS; do
		chain=${next}000$((n++ % 2))000000000000$chain next=$type
		v6 next="$type" payload="$chain"
		put ip
	done
	# Fragments: atomic, first, second, last, reserved bits; their data and a
	# chain that goes on behind them.
	for i in 0000 0001 0008 0009 0010 fff8 fff9 0006; do
		for chain in "11" "2c" "3c"; do
			v6 next=2c payload="${chain}00${i}00000001$UDP"
			put ip
			v6 next=2c payload="${chain}00${i}00000001"
			put ip
			v6 next=3c payload="2c00010400000000${chain}00${i}00000001$UDP"
			put ip
		done
	done
	for i in 0000 0001 000f 0011 05dc ffff; do
		v6 length=$i
		put ip
	done
	# A jumbo payload, RFC 2675, true and not.
	for i in 00010000 00000018 ffffffff; do
		v6 length=0000 next=00 payload="1100c204$i$UDP"
		put ip
	done
	for i in 00 01 ff; do
		v6 hop=$i
		put ip
	done
	v6 flow=fffffff
	put ip
	for i in 00 01 02 03 04 ff; do
		v6 next=2b payload="1102${i}ff00000000$source6$UDP"
		put ip
	done
	for i in "${BYTES[@]}"; do
		v6 next="$i"
		put ip
	done
	for i in 85 86 87 88 89; do
		v6 next=3a hop=ff payload="$i$(zeros 23)"
		put neighbour
	done
	for i in 82 83 84 8f; do
		v6 next=00 hop=01 payload="3a00050200000000$i$(zeros 23)"
		put neighbour
	done
	# Addresses that have an IPv4 address in them are not that address.
	for i in 00000000000000000000ffff"$source4" 000000000000000000000000"$source4" \
		2002"$source4"00000000000000000001 0064ff9b0000000000000000"$source4" \
		fe8000000000000000005efe"$source4"; do
		v6 from="$i"
		put unmatched
	done
}

tag_shapes()
{
	local stacks=("") row=ip longer depth stack tpid n=0

	for depth in 1 2 3 4 5; do
		longer=()
		for stack in "${stacks[@]}"; do
			for tpid in $TPIDS; do
				longer+=("$stack$tpid${TCIS[n++ % 5]}")
			done
		done
		stacks=("${longer[@]}")
		[ $depth -le 4 ] || row=tags
		for stack in "${stacks[@]}"; do
			v4
			tagged "$stack" $row
			v6
			tagged "$stack" $row
		done
	done
	v4
	tagged 810000018100000281000003810000048100000581000006 tags
}

pppoe_shapes()
{
	local header family

	for family in v4:0021 v4:21 v6:0057 v6:57; do
		# Version and type, code, session, length.
		for header in 110000010022 000000010022 ff0000010022 11a700010022 110000000022 \
			1100ffff0022 110000010000 11000001ffff; do
			${family%:*}
			pppoe "${family#*:}" $header
			put ip
			tagged 81000064 ip
			tagged 88a8000181000002 ip
			tagged 8100000081000001910000028100e003 ip
			tagged 81000001810000028100000381000004810000 tags
		done
		# A session has its own version to contradict.
		${family%:*} version=5
		pppoe "${family#*:}"
		put version
	done
	# Control, multilink, compressed headers, odd first bytes: no IP here.
	for header in c021 c023 8021 8057 003d 002d 002f 0001 01 0f 2f 5f ff; do
		v4
		pppoe $header
		put not_ip
	done
	# One byte is the protocol, so the next one begins the IP header.
	v4
	pppoe 2100
	put version
}

version_shapes()
{
	local i

	for i in 0 1 2 3 5 6 7 8 9 a b c d e f; do
		v4 version=$i payload="$(zeros 40)"
		put version
		tagged 81000064 version
	done
	for i in 0 1 2 3 4 5 7 8 9 a b c d e f; do
		v6 version=$i
		put version
		tagged 81000064 version
	done
}

# EtherTypes that neither XDP nor the kernel takes for IP, with IP behind them:
# 802.3, reserved, RARP, IPX, PPPoE discovery, Q-in-Q of 0x9200, MACsec, PBB,
# HSR, PRP, NSH, bridging, B.A.T.M.A.N., PPP
other_shapes()
{
	local type

	for type in 0000 0001 0026 05dc 05ff 0600 0801 08ff 86dc 86de 8035 8137 8863 9200 88e5 \
		88e7 892f 88fb 894f 6558 4305 880b ffff; do
		v4
		frame=$type${frame:4}
		put not_ip
		tagged 81000064 not_ip
	done
	# LLC: the SAP of IP, SNAP of RFC 1042 with either family.
	v4
	frame=0024060603${frame:4}
	put not_ip
	v4
	frame=0029aaaa03000000$frame
	put not_ip
	tagged 81000064 not_ip
	v6
	frame=0041aaaa03000000$frame
	put not_ip
	# Spanning tree is not tagged.
	frame=0026424203$(zeros 43)
	put vital
	tagged 81000064 not_ip
	# ARP of this sender, LLDP, LACP, EAPOL.
	for type in "08060001080006040001020000000001${source4}020000000002c6336401" \
		"88cc0207$(zeros 42)" "88090101$(zeros 44)" "888e0101$(zeros 44)"; do
		frame=$type
		put vital
		tagged 81000064 vital
	done
	for type in 8847 8848; do
		v4
		frame=${type}00001140${frame:4}
		put mpls
		tagged 81000064 mpls
		v6
		frame=${type}0000104000001140${frame:4}
		put mpls
	done
}

# The outer source decides: IPIP, 6in4, GRE of either family, GRE with a key
# and bridging, authenticated, UDP.
tunnel_shapes()
{
	local inner4=${SOURCE4[${INNER[$class]}]} inner6=${SOURCE6[${INNER[$class]}]} four six outer number

	v4 from="$inner4"
	four=${frame:4}
	v6 from="$inner6"
	six=${frame:4}
	for outer in v4 v6; do
		number=next
		[ $outer = v6 ] || number=proto
		$outer $number=04 payload="$four"
		put ip
		$outer $number=29 payload="$six"
		put ip
		$outer $number=2f payload="00000800$four"
		put ip
		$outer $number=2f payload="000086dd$six"
		put ip
		$outer $number=2f payload="2000655800000001$(zeros 12)0800$four"
		put ip
		$outer $number=33 payload="04040000$(zeros 20)$four"
		put ip
		$outer payload="0009000900$(zeros 3)$four"
		put ip
		tagged 88a8000181000002 ip
	done
}

cut_shapes()
{
	v4
	each_length ip 34
	v4 ihl=f options="$(zeros 40)"
	each_length ip 34
	v6
	each_length ip 54
	v6 next=00 payload="3c00010400000000110001040000$(zeros 2)$UDP"
	each_length ip 54
	v4
	frame=81000064$frame
	each_length ip 38
	v6
	frame=88a8000181000002$frame
	each_length ip 62
	v4
	frame=91000001810000028100000388a80004$frame
	each_length ip 50
	v4
	frame=81000001810000028100000381000004$frame
	each_length ip 50
	v4
	pppoe 0021
	each_length ip 42
	v6
	pppoe 0057
	each_length ip 62
	v4
	pppoe 21
	each_length ip 41
	v6
	pppoe 57
	each_length ip 61
	v4
	pppoe 0021
	frame=81000064$frame
	each_length ip 46
	v4
	frame=8847${frame:4}
	each_length mpls 14
	v4
	frame=88b5${frame:4}
	each_length not_ip 14
}

jumbo_shapes()
{
	local large link=$((2048 - 8)) i chain='' next=11

	large=$UDP$(zeros 8842)
	v4 payload="$large"
	put ip
	tagged 88a8000181000002 ip
	tagged 81000001810000028100000381000004 ip
	tagged 8100000181000002810000038100000481000005 tags
	v4 payload="$large" fragment=2001
	put ip
	v4 payload="$large" length=0014
	put ip
	v6 payload="$large"
	put ip
	v4 payload="$large"
	pppoe 0021
	put ip
	v6 payload="$large"
	pppoe 57
	put ip
	v6 version=4 payload="$large"
	put version
	v4 payload="$large"
	frame=88b5${frame:4}
	put not_ip
	# Extension headers of 2,048 bytes each.
	for i in 1 2 3 4; do
		chain=${next}ff$(zeros 6)$(zeros $link)$chain next=3c
		v6 next="$next" payload="$chain$UDP"
		put ip
	done
}

# make_shapes CLASS: all from such a source to a file of this name, those of more
# than one buffer to another
make_shapes()
{
	local frame class=$1 source4=${SOURCE4[$1]} source6=${SOURCE6[$1]}

	{
		ip4_shapes
		ip6_shapes
		tag_shapes
		pppoe_shapes
		version_shapes
		other_shapes
		tunnel_shapes
		cut_shapes
	} >"$1"
	jumbo_shapes >"$1.jumbo"
}

# --- what hides its protocol, its ports or its flags ---

# Does a packet of a listed source match what a rule asks for? Y, N, or H, hidden: then a
# rule that drops or counts matches, and one that allows does not. docs/frames.md has it, too.
#
#      row        proto tcp  dport 22  tcp-syn  dport 22 tcp-syn  a key with 22
# shellcheck disable=SC2034 # of those who source this
HIDING="
       opens      Y          Y         Y        Y                 Y
       answers    Y          Y         N        N                 Y
       elsewhere  Y          N         Y        N                 N
       other      N          N         N        N                 N
       unreached  H          H         H        H                 H
       cut        Y          H         H        H                 H
       cut_other  N          H         N        N                 H
       cut_flags  Y          Y         H        H                 Y
       second     Y          N         H        H                 N
       later      Y          N         N        N                 N
       later_far  N          N         N        N                 N
"
# other: a protocol that is known; elsewhere: another port; cut_other: UDP; later_far: a
# fragment but the first whose headers go on in what it does not hold.

# read_hiding FILE: into rows and frames
read_hiding()
{
	local row frame

	rows=() frames=()
	while read -r row frame; do
		rows+=("$row")
		frames+=("$frame")
	done <"$1"
}

# read_column N: $answer has that of each row, from 0
read_column()
{
	local columns

	while read -r -a columns; do
		[ ${#columns[@]} -eq 0 ] || answer[${columns[0]}]=${columns[$1 + 1]}
	done <<<"$HIDING"
}

# want_letters Y H N: of all frames, a letter by the answer of its row
want_letters()
{
	local -A of=([Y]=$1 [H]=$2 [N]=$3)
	local row out=

	for row in "${rows[@]}"; do
		out+=${of[${answer[$row]}]}
	done
	echo "$out"
}

# wrong_letters GOT WANTED: the frames of which they differ
wrong_letters()
{
	local i

	[ ${#1} -eq ${#frames[@]} ] || echo "${#1} of ${#frames[@]} frames have a letter"
	for ((i = 0; i < ${#frames[@]}; i++)); do
		[ "${1:i:1}" = "${2:i:1}" ] || echo "${rows[i]} '${1:i:1}' ${frames[i]:0:300}"
	done | head -n 8
}

# extended N TYPE PROTOCOL PAYLOAD: N extension headers of this type before a protocol; leaves
# $chain and $next
extended()
{
	local i

	chain=$4 next=$3
	for ((i = 0; i < $1; i++)); do
		chain=${next}00000000000000$chain next=$2
	done
}

# hidden4 ROW PROTOCOL PAYLOAD: below a header without options and one with as many as it may
hidden4()
{
	v4 proto="$2" payload="$3"
	put "$1"
	v4 proto="$2" payload="$3" ihl=f options="$(zeros 40)"
	put "$1"
	v4 proto="$2" payload="$3" fragment=2000
	put "$1"
	tagged 88a8000181000002 "$1"
}

# hidden6 ROW PROTOCOL PAYLOAD: behind up to eight extension headers, which still are read;
# the last time in what is a fragment, the first or all
hidden6()
{
	local type n chain next

	for type in 00 2b 33 3c; do
		for n in 0 1 3 8; do
			[ "$n$type" = 000 ] || [ "$n" != 0 ] || continue
			extended "$n" $type "$2" "$3"
			v6 next="$next" payload="$chain"
			put "$1"
		done
	done
	for n in 0000 0001; do
		v6 next=3c payload="2c00010400000000${2}00${n}00000001$3"
		put "$1"
	done
}

hidden_ip4_shapes()
{
	local opens=$1 n

	for n in 0 1 2 3; do
		hidden4 cut 06 "${opens:0:2 * n}"
		hidden4 cut_other 11 "${opens:0:2 * n}"
		hidden4 cut_other 84 "${opens:0:2 * n}"
	done
	for n in 4 8 12 13; do
		hidden4 cut_flags 06 "${opens:0:2 * n}"
	done
	# Lengths of IP that end before the frame does, a header that is too short to be one,
	# and options that the frame does not hold.
	for n in 0014 0017; do
		v4 proto=06 payload="$opens" length=$n
		put cut
	done
	v4 proto=06 payload="$opens" length=0021
	put cut_flags
	v4 proto=06 payload="$opens" ihl=4
	put cut
	v4 proto=06 ihl=f payload="${opens:0:16}"
	put cut
	for n in 0001 2001; do
		v4 proto=06 payload="$opens" fragment=$n
		put second
	done
	for n in 0002 2003 1fff; do
		v4 proto=06 payload="$opens" fragment=$n
		put later
	done
}

hidden_ip6_shapes()
{
	local opens=$1 type n chain next

	for type in 00 2b 2c 33 3c; do
		for n in 9 12 40; do
			extended $n $type 06 "$opens"
			v6 next="$next" payload="$chain"
			put unreached
		done
		# Cut off between two headers, in one, and in front of one that is too long.
		for n in 1 3 7; do
			extended $n $type $type ""
			v6 next="$next" payload="$chain"
			put unreached
			extended $n $type $type "0600"
			v6 next="$next" payload="$chain"
			put unreached
		done
		[ $type != 2c ] || continue
		v6 next=$type payload="${type}ff000000000000$opens"
		put unreached
		v6 next=$type payload="06ff000000000000$opens"
		put cut
		# What is there is not looked at behind the end of the packet.
		extended 3 $type 06 "$opens"
		v6 next="$next" payload="$chain" length=0010
		put unreached
		v6 next="$next" payload="$chain" length=001a
		put cut
	done
	for n in 0 1 2 3; do
		hidden6 cut 06 "${opens:0:2 * n}"
		hidden6 cut_other 11 "${opens:0:2 * n}"
	done
	for n in 4 8 13; do
		hidden6 cut_flags 06 "${opens:0:2 * n}"
	done
	# First fragments without all of the headers, and later ones.
	v6 next=2c payload="3c00000100000001"
	put unreached
	v6 next=2c payload="3c000001000000013c00010400000000"
	put unreached
	for n in 0008 0009; do
		v6 next=2c payload="0600${n}00000001$opens"
		put second
	done
	for n in 0010 0019 fff8; do
		v6 next=2c payload="0600${n}00000001$opens"
		put later
		v6 next=3c payload="2c000104000000000600${n}00000001$opens"
		put later
		v6 next=2c payload="3c00${n}000000010600010400000000$opens"
		put later_far
	done
}

# make_hiding CLASS: each row of $HIDING, from such a source
make_hiding()
{
	local frame class=$1 source4=${SOURCE4[$1]} source6=${SOURCE6[$1]} opens proto

	opens=$(tcp 22 "$SYN")
	hidden4 opens 06 "$opens"
	hidden6 opens 06 "$opens"
	hidden4 answers 06 "$(tcp 22 "$ACK")"
	hidden6 answers 06 "$(tcp 22 "$SYN_ACK")"
	hidden4 elsewhere 06 "$(tcp 80 "$SYN")"
	hidden6 elsewhere 06 "$(tcp 80 "$SYN")"
	# ESP, none, GRE, mobility, HIP, Shim6, for experiments, UDP and SCTP elsewhere, ICMP
	for proto in 32 3b 2f 87 8b 8c fd fe 11 84 01; do
		hidden4 other $proto "$(udp 53)"
		hidden6 other $proto "$(udp 53)"
	done
	hidden_ip4_shapes "$opens"
	hidden_ip6_shapes "$opens"
}
