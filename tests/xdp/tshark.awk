# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# From what tshark decodes to what replay has to say: tshark.sh runs this over
# `tshark -T fields`, one line a frame, with -v fields="NAME ..." for the columns
# and -v spec=SPEC. Prints frame, key, and why:
#
#      KEY                      the key is this
#      -        REASON          there is none: not_ip, mpls, tags, version, short, or where a
#                               key asks for ports, unmatched in a later fragment, hidden
#                               in what ends before them or before its protocol
#      ?        WHY             tshark does not say, because it stops at a bad length
#                               that Baleen does not look at
#
# What Baleen takes keys from is stated in include/baleen/packet.h, and here
# once more, in tshark's words.

BEGIN {
	FS = "|"
	n_columns = split(fields, column, " ")
	split("ipv6.hopopts ipv6.dstopts ipv6.routing ipv6.fraghdr ah", name, " ")
	split("ipv6.hopopts.nxt ipv6.dstopts.nxt ipv6.routing.nxt ipv6.fraghdr.nxt " \
	      "ah.next_header", next_field, " ")
	for (i in name)
		next_of[name[i]] = next_field[i]
	split("0 43 44 51 60", number, " ")
	for (i in number)
		is_extension[number[i]] = 1
	split("6 17 33 132 136", number, " ")
	for (i in number)
		has_ports[number[i]] = 1
	# The names that user/lib/util/protocol.c writes.
	split("1 icmp 2 igmp 4 ipip 6 tcp 8 egp 17 udp 33 dccp 41 ipv6 46 rsvp 47 gre 50 esp " \
	      "51 ah 58 icmpv6 88 eigrp 89 ospf 97 etherip 103 pim 108 ipcomp 112 vrrp " \
	      "115 l2tp 132 sctp 136 udplite", name, " ")
	for (i = 1; i in name; i += 2)
		protocol_name[name[i]] = name[i + 1]
	split("", name)
	split("tcp udp udplite dccp sctp", name, " ")
	split("tcp udp udp dccp sctp", prefix, " ")
	for (i in name)
		ports_of[name[i]] = prefix[i]
}

# The nth value, from 1, of a field that may have come more than once.
function value(field, nth,   values)
{
	split(cell[field], values, ",")
	return values[nth]
}

function say(key, why)
{
	print cell["frame.number"] "\t" key "\t" why
}

# Past tags and PPPoE: sets at, the place of the first of tshark's protocols that is
# neither, offset, its place in the frame, and tags, how many.
function skip_link(   token)
{
	offset = 14
	tags = 0
	for (at = 1; at <= n_protocols; at++) {
		token = protocol[at]
		if (token == "vlan" || token == "ieee8021ad") {
			tags++
			offset += 4
		} else if (token == "pppoes") {
			offset += 8
		} else if (token != "eth" && token != "ethertype" && token != "ppp") {
			break
		}
	}
}

# The protocol above IPv6, or "" when it is not to be had; moves at behind the
# extension headers, and sets later.
function find_proto6(   proto, nth, n, token)
{
	proto = value("ipv6.nxt", 1)
	for (; at <= n_protocols && protocol[at] in next_of; at++) {
		token = protocol[at]
		if (++n > 8)
			return ""
		nth[token]++
		if (token == "ipv6.fraghdr" && value("ipv6.fraghdr.offset", nth[token]) > 0)
			later = 1
		proto = value(next_of[token], nth[token])
	}
	return proto in is_extension ? "" : proto
}

# Sets sport and dport; they stay empty when they are not to be had.
function find_ports(   prefix)
{
	sport = dport = ""
	if (proto == "")
		return
	if (!(proto in has_ports)) {
		sport = dport = 0
		return
	}
	if (later || !(protocol[at] in ports_of))
		return
	prefix = ports_of[protocol[at]]
	sport = value(prefix ".srcport", 1)
	dport = value(prefix ".dstport", 1)
}

# The key in the order in which it is written.
function make_key(   key)
{
	key = ""
	if (index("," spec ",", ",proto,"))
		key = key "," (proto in protocol_name ? protocol_name[proto] : proto)
	if (index("," spec ",", ",src,"))
		key = key "," src
	if (index("," spec ",", ",dst,"))
		key = key "," dst
	if (index("," spec ",", ",sport,"))
		key = key "," sport
	if (index("," spec ",", ",dport,"))
		key = key "," dport
	return substr(key, 2)
}

function say_key()
{
	if (spec ~ /proto/ && proto == "" || spec ~ /port/ && dport == "")
		say("-", later ? "unmatched" : "hidden")
	else
		say(make_key(), "")
}

# IPv4: tshark does not go on after a header length or total length that is too small.
function say_ip4(   header_bytes, n_bytes)
{
	if (cell["frame.cap_len"] < offset + 20)
		return say("-", "short")
	if (value("ip.version", 1) != 4)
		return say("-", "version")
	header_bytes = value("ip.hdr_len", 1)
	n_bytes = value("ip.len", 1)
	src = value("ip.src", 1)
	dst = value("ip.dst", 1)
	if (src == "" || dst == "")
		return say("?", header_bytes < 20 ? "bad header length" : "bad total length")
	proto = value("ip.proto", 1)
	later = value("ip.frag_offset", 1) > 0
	find_ports()
	if (spec ~ /port/ && dport == "" && !later && offset + n_bytes < cell["frame.cap_len"])
		return say("?", "total length ends before the ports")
	say_key()
}

function say_ip6(   n_bytes)
{
	if (cell["frame.cap_len"] < offset + 40)
		return say("-", "short")
	if (value("ipv6.version", 1) != 6)
		return say("-", "version")
	n_bytes = value("ipv6.plen", 1)
	src = value("ipv6.src", 1)
	dst = value("ipv6.dst", 1)
	later = 0
	proto = find_proto6()
	find_ports()
	if (spec ~ /port/ && proto in has_ports && !later && protocol[at - 1] ~ /^(mipv6|hip)$/)
		return say("?", "nothing may follow the header")
	if (spec ~ /proto|port/ && (proto == "" || dport == "" && !later) &&
	    offset + 40 + n_bytes < cell["frame.cap_len"])
		return say("?", "payload length ends before the headers do")
	say_key()
}

{
	for (i = 1; i <= n_columns; i++)
		cell[column[i]] = $i
	n_protocols = split(cell["frame.protocols"], protocol, ":")
	skip_link()
	token = protocol[at++]
	if (tags > 4)
		say("-", "tags")
	else if (cell["frame.cap_len"] < offset)
		say("-", "short")
	else if (token == "ip")
		say_ip4()
	else if (token == "ipv6")
		say_ip6()
	else if (token == "data" && cell["ip.version"] cell["ipv6.version"] != "")
		say("-", "version")
	else
		say("-", token == "mpls" ? "mpls" : "not_ip")
}
