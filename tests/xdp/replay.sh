#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen replay`: what it prints of each frame, totals, policy and order of rules,
# captures that are cut off, damaged or none, and that it leaves nothing behind.
# Which key a frame has is compared in tshark.sh.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/pcap.bash
source "$ROOT/tests/pcap.bash"

isolate "$@"
cd "$TMP" || exit 2

# replay ARGUMENT...
replay()
{
	"$BALEEN" replay "$@"
}

# verdicts ARGUMENT...: of each frame verdict and rule, or why none, on one line
verdicts()
{
	replay -jv "$@" | jq -r '[ .[] | "\(.verdict) \(.rule // .reason)" ] | join(", ")'
}

printf '198.51.100.1\n2001:db8::2\n' >bad.txt
printf '198.51.100.1\n198.51.100.3\n' >good.txt
pcap_begin t.pcap
pcap_frame t.pcap "${MACS}0800$(ip4 1 17 $UDP)"
pcap_frame t.pcap "${MACS}8100006486dd$(ip6 2 6 $TCP)"
pcap_frame t.pcap "${MACS}0800$(ip4 3 6 $TCP)" 1514
pcap_frame t.pcap "${MACS}0806$(zeros 28)"
pcap_frame t.pcap "${MACS}08"
pcap_frame t.pcap "${MACS}0800$(ip4 1 6 $TCP)$(zeros 90000)"
pcap_frame t.pcap "${MACS}86dd$(ip6 4 58 "8700$(zeros 22)" 6 24 | sed 's/3a40/3aff/')"

# --- output ---

prints "frames" "\
       1  198.51.100.1     drop  bad
       2  2001:db8::2      drop  bad
       3  198.51.100.3     pass  default  (snapped)
       4  -                pass  not IP
       5  -                pass  cut short  (too short for the kernel: judged alike)
       6  198.51.100.1     drop  bad  (too long for the kernel: judged by its start)
       7  2001:db8::4      pass  default" replay -v bad.txt t.pcap
prints "totals" "\
t.pcap: 7 frames, 1 of them snapped
  drop   bad                                            3 frames    90.2 kB
  pass   default                                        2 frames     1.6 kB
  pass   not IP                                         1 frame        42 B
  pass   cut short                                      1 frame        13 B
         all that was dropped                           3 frames    90.2 kB
         all that passed                                4 frames     1.6 kB" replay bad.txt t.pcap
prints "-jv" '[
  {"frame": 1, "key": "198.51.100.1", "verdict": "drop", "rule": "bad"},
  {"frame": 2, "key": "2001:db8::2", "verdict": "drop", "rule": "bad"},
  {"frame": 3, "key": "198.51.100.3", "verdict": "pass", "rule": null, "reason": "unmatched", "snapped": true},
  {"frame": 4, "key": null, "verdict": "pass", "rule": null, "reason": "not_ip"},
  {"frame": 5, "key": null, "verdict": "pass", "rule": null, "reason": "short", "too_short": true},
  {"frame": 6, "key": "198.51.100.1", "verdict": "drop", "rule": "bad", "too_long": true},
  {"frame": 7, "key": "2001:db8::4", "verdict": "pass", "rule": null, "reason": "unmatched"}
]' replay -jv bad.txt t.pcap
check "-j" replay -j bad.txt t.pcap
is "has the totals" "$(jq -c '[ .frames, .snapped, .dropped.frames, .passed.frames,
	.rules[0].name, .rules[0].action, .rules[0].frames, .unmatched.frames, .vital.frames,
	([ .unparsed[].frames ] | add) ]' "$TMP/out")" '[7,1,3,4,"bad","drop",3,2,0,2]'
is "and the bytes of all frames" "$(jq '.dropped.bytes + .passed.bytes' "$TMP/out")" 91821
pcap_begin none.pcap
prints "a capture without frames" "" replay -v bad.txt none.pcap
prints "as JSON" "[
]" replay -jv bad.txt none.pcap
check "standard input" replay -v bad.txt - <t.pcap
is "is read frame by frame" "$(wc -l <"$TMP/out")" 7
check "a list on standard input" replay -v - t.pcap <bad.txt
is "is a rule" "$(grep -c ' drop  ' "$TMP/out")" 3

pcap_begin many.pcap
pcap_frame many.pcap "${MACS}0800$(ip4 1 17 $UDP)"
for ((i = 0; i < 18; i++)); do
	tail -c +25 many.pcap >half
	cat half >>many.pcap
done
check "262144 frames as JSON in 64 MiB" prlimit --as=$((64 << 20)) "$BALEEN" replay -jv bad.txt \
	many.pcap
is "are told one by one" "$(jq length "$TMP/out")" 262144
rm half many.pcap

# --- rules ---

is "the first rule that matches decides" "$(verdicts --allow good.txt bad.txt t.pcap)" \
	"pass good, drop bad, pass good, pass not_ip, pass short, pass good, pass unmatched"
is "in the order typed, words among options" "$(verdicts bad.txt --allow good.txt t.pcap)" \
	"drop bad, drop bad, pass good, pass not_ip, pass short, drop bad, pass unmatched"
is "--default drop, but for what is vital" \
	"$(verdicts --default drop --allow good.txt t.pcap)" "pass good, drop unmatched, pass good, \
pass vital, drop short, pass good, pass vital"
is "a rule that counts does not decide" "$(verdicts --count good.txt bad.txt t.pcap)" \
	"drop bad, drop bad, pass unmatched, pass not_ip, pass short, drop bad, pass unmatched"
replay -jv --count good.txt bad.txt t.pcap >"$TMP/out"
is "but is told of" "$(jq -c '[ .[].counted ]' "$TMP/out")" \
	'[["good"],null,["good"],null,null,["good"],null]'
is "in words, too" "$(replay -v --count good.txt bad.txt t.pcap | sed -n 3p)" \
	"       3  198.51.100.3     pass  default  (counted by good, snapped)"
is "and in the totals" "$(replay -j --count good.txt bad.txt t.pcap |
	jq -c '[ .rules[].frames ]')" "[3,3]"
is "qualifiers restrict the rule before them" "$(verdicts bad.txt proto udp good.txt dport 443 \
	t.pcap)" "drop bad, pass unmatched, drop good, pass not_ip, pass short, drop good, \
pass unmatched"
is "a VLAN, too" "$(verdicts bad.txt vlan 100 t.pcap | cut -d, -f 1-3)" \
	"pass unmatched, drop bad, pass unmatched"
is "--key dst is the key of the list" "$(replay -jv --key dst bad.txt t.pcap | jq -r '.[0].key')" \
	192.0.2.1
printf '192.0.2.1\n' >to.txt
check "an image of another key" "$BALEEN" build --key dst -o to.bln to.txt
is "the key is that of the rule that decides, or of the first" "$(replay -jv bad.txt to.bln t.pcap |
	jq -r '.[] | .key // "-"' | xargs)" "198.51.100.1 2001:db8::2 192.0.2.1 - - 198.51.100.1 \
2001:db8::4"
is "a rule is named as in attach" "$(verdicts gone=bad.txt t.pcap | cut -d, -f 1)" "drop gone"

# Of a frame of several buffers the program reads the first, here of 3520 bytes.
printf '53\n' >ports.txt
pcap_begin far.pcap
for n in 1 2; do
	options=$(repeat $((n - 1)) "3cff$(zeros 2046)")11ff$(zeros 2046)
	pcap_frame far.pcap "${MACS}86dd$(ip6 5 60 "$options$UDP$(zeros 2000)")"
done
is "ports past the first buffer are hidden" \
	"$(replay -v --key dport ports.txt far.pcap)" "\
       1  53               drop  ports
       2  -                drop  ports  (no ports or protocol to be had)"

# --- without Ethernet ---

# Raw IP, and what tcpdump -i any makes: the packet as it is, of a VLAN, none at all, cut in its header.
as_they_are="drop bad, drop bad, pass unmatched, pass not_ip, pass short"
for type in 12 14 101; do
	pcap_begin raw.pcap le $MICROSECONDS $type
	pcap_frame raw.pcap "$(ip4 1 17 $UDP)"
	pcap_frame raw.pcap "$(ip6 2 6 $TCP)"
	pcap_frame raw.pcap "$(ip4 3 6 $TCP)" 1500
	pcap_frame raw.pcap "00$(zeros 20)"
	pcap_frame raw.pcap ""
	is "link type $type" "$(verdicts bad.txt raw.pcap)" "${as_they_are/short/not_ip}"
done
pcap_begin raw.pcap le $MICROSECONDS 228
pcap_frame raw.pcap "$(ip4 1 17 $UDP)"
is "raw IPv4" "$(verdicts bad.txt raw.pcap)" "drop bad"
pcap_begin raw.pcap be $NANOSECONDS 229
pcap_frame raw.pcap "$(ip6 2 6 $TCP)"
is "raw IPv6" "$(verdicts bad.txt raw.pcap)" "drop bad"
# Packet type, ARPHRD_ETHER, length of the address, the address, protocol.
SLL=0000000100060011223344550000
pcap_begin cooked.pcap le $MICROSECONDS 113
pcap_frame cooked.pcap "${SLL}0800$(ip4 1 17 $UDP)"
pcap_frame cooked.pcap "${SLL}8100006486dd$(ip6 2 6 $TCP)"
pcap_frame cooked.pcap "${SLL}0800$(ip4 3 6 $TCP)" 1516
pcap_frame cooked.pcap "${SLL}0806$(zeros 28)"
pcap_frame cooked.pcap "${SLL}08"
is "Linux cooked" "$(verdicts bad.txt cooked.pcap)" "$as_they_are"
# Protocol, nothing, number of the device, ARPHRD_ETHER, packet type, length, address.
SLL2=000000000002000100060011223344550000
pcap_begin cooked2.pcap le $MICROSECONDS 276
pcap_frame cooked2.pcap "0800$SLL2$(ip4 1 17 $UDP)"
pcap_frame cooked2.pcap "86dd$SLL2$(ip6 2 6 $TCP)"
pcap_frame cooked2.pcap "0800$SLL2$(ip4 3 6 $TCP)" 1520
pcap_frame cooked2.pcap "0806$SLL2$(zeros 28)"
pcap_frame cooked2.pcap "0800${SLL2%??}"
is "Linux cooked, version 2" "$(verdicts bad.txt cooked2.pcap)" "$as_they_are"
is "snapped is what was" "$(replay -jv bad.txt cooked2.pcap | jq -c 'map(.snapped // false)')" \
	"[false,false,true,false,false]"
ng_begin mixed.pcapng
ng_interface mixed.pcapng 1 0
ng_interface mixed.pcapng 113 0
ng_frame mixed.pcapng 0 "${MACS}0800$(ip4 1 17 $UDP)"
ng_frame mixed.pcapng 1 "${SLL}86dd$(ip6 2 6 $TCP)"
is "interfaces of several in one file" "$(verdicts bad.txt mixed.pcapng)" "drop bad, drop bad"

# --- refused ---

expect "no capture" 2 "" "baleen: replay: the capture comes last: none is given (see 'baleen \
help replay')" replay --drop bad.txt
expect "no rule" 2 "" "baleen: replay: no DEV, -c FILE or IMAGE given before the capture 't.pcap' (see 'baleen \
help replay')" replay t.pcap
expect "one standard input for two" 2 "" "baleen: replay: standard input cannot be both list and \
capture (see 'baleen help replay')" replay - -
refuses "a file that is not there" "none: No such file or directory" replay bad.txt none
refuses "a directory" ".: Is a directory" replay bad.txt .
: >empty
refuses "an empty file" "empty: is empty, no capture" replay bad.txt empty
refuses "a text" "bad.txt: is no capture: neither pcap nor pcapng" replay good.txt bad.txt
printf 'x' >x
refuses "a byte" "x: is no capture: neither pcap nor pcapng" replay bad.txt x
while read -r type name; do
	pcap_begin other.pcap be $NANOSECONDS "$type"
	refuses "link type $type" \
		"other.pcap: its link type is $type, $name: not Ethernet, raw IP or Linux cooked" \
		replay bad.txt other.pcap
done <<EOF
0 BSD loopback
105 802.11
127 802.11 with radiotap header
150 private use
4711 unknown to Baleen
EOF
ng_begin other.pcapng
ng_interface other.pcapng 1 0
ng_interface other.pcapng 105 0
ng_frame other.pcapng 0 "${MACS}0800$(ip4 1 17 $UDP)"
ng_frame other.pcapng 1 "$(zeros 16)"
expect "an interface of another link type, when it has a frame" 1 \
	"       1  198.51.100.1     drop  bad" \
	"baleen: other.pcapng: frame 2: its link type is 105, 802.11: not Ethernet, raw IP or Linux cooked" \
	replay -v bad.txt other.pcapng

# --- cut off and damaged ---

pcap_begin cut.pcap
pcap_frame cut.pcap "${MACS}0800$(ip4 1 17 $UDP)"
whole=$(stat -c %s cut.pcap)
pcap_frame cut.pcap "${MACS}0800$(ip4 3 17 $UDP)"
all=$(stat -c %s cut.pcap)
wrong=
for ((size = whole + 1; size < all; size++)); do
	head -c "$size" cut.pcap >short.pcap
	said=$(replay -v bad.txt short.pcap 2>&1)
	[ "$? $said" = "1        1  198.51.100.1     drop  bad
baleen: short.pcap: frame 2: the file is cut off here" ] || wrong+=" $size"
done
is "a capture cut off in its second frame, at $((all - whole - 1)) places, gives the first" \
	"$wrong" ""
head -c $((whole + 20)) cut.pcap >short.pcap
expect "with -j the array is ended" 1 '[
  {"frame": 1, "key": "198.51.100.1", "verdict": "drop", "rule": "bad"}
]' "baleen: short.pcap: frame 2: the file is cut off here" replay -jv bad.txt short.pcap
head -c 20 t.pcap >head.pcap
refuses "cut off in its header" "head.pcap: the file is cut off here" replay bad.txt head.pcap
pcap_begin damaged.pcap
bytes "$(ordered damaged.pcap 4 1 2 262145 262145)$(zeros 9)" >>damaged.pcap
refuses "longer than any frame" "damaged.pcap: the file is damaged: longer than any frame" \
	replay bad.txt damaged.pcap
frame=${MACS}0800$(ip4 1 17 $UDP)
while read -r what block; do
	ng_begin ng.pcapng
	ng_interface ng.pcapng 1 0
	ng_frame ng.pcapng 0 "$frame"
	bytes "$block" >>ng.pcapng
	expect "${what//-/ }" 1 "       1  198.51.100.1     drop  bad" \
		"baleen: ng.pcapng: frame 2: the file is damaged: ${what//-/ }" replay -v bad.txt ng.pcapng
done <<EOF
a-block-of-no-length 0600000000000000
a-block-of-no-length 060000000d000000
a-packet-cut-short 060000001c000000$(zeros 20)
a-packet-cut-short 030000000c0000000c000000
an-interface-cut-short 0100000010000000$(zeros 8)
longer-than-its-block 0600000020000000$(zeros 12)010000000100000020000000
of-an-interface-that-it-lacks 060000002000000001000000$(zeros 16)20000000
a-section-without-magic 0a0d0d0a1c000000$(zeros 20)
a-section-cut-short 0a0d0d0a180000004d3c2b1a$(zeros 16)
EOF

# --- without privileges, and nothing left ---

expect "without CAP_BPF" 1 "" "baleen: CAP_BPF is missing: run this as root" \
	setpriv --bounding-set -bpf,-sys_admin --inh-caps -all -- "$BALEEN" replay bad.txt t.pcap
check "nothing is pinned" test ! -e /sys/fs/bpf/baleen
make_pair
in_ns "$B" "$BALEEN" attach veth-b --drop bad.txt >/dev/null || bail "cannot attach"
before=$(in_ns "$B" "$BALEEN" status -j veth-b)
is "a live rule is an IMAGE" "$(in_ns "$B" "$BALEEN" replay -v veth-b:bad t.pcap | grep -c drop)" 3
is "whose counters stay" "$(in_ns "$B" "$BALEEN" status -j veth-b)" "$before"
