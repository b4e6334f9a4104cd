#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Rules: order, actions, qualifiers, and their change while frames flow.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
cd "$TMP" || exit 2

N_ROUNDS=$(pick 4 20)
sampled "rounds of changes under traffic" "$N_ROUNDS" 20

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# status PATH...: these values of veth-b
status()
{
	local path

	baleen status -j veth-b >json || return
	for path in "$@"; do
		json json "[0]$path"
	done | paste -s -d ' '
}

# packets: NAME=PACKETS of each rule in order, and the unmatched
packets()
{
	baleen status -j veth-b |
		jq -r '.[0] | [ (.rules[] | "\(.name)=\(.packets)"), "unmatched=\(.unmatched)" ] |
			join(" ")'
}

# names: of the rules in order
names()
{
	baleen status -j veth-b | jq -r '.[0].rules | map(.name) | join(" ")'
}

# attach MODE RULE...: in the mode
attach()
{
	check "$1: attach ${*:2}" baleen attach veth-b --mode "$1" "${@:2}"
}

detach()
{
	check "detach" baleen detach veth-b
}

# --- what rules decide ---

try_order()
{
	local mode=$1 one two three

	one=$(ip4 192.0.2.1 17 "$(udp 9)") two=$(ip4 192.0.2.2 17 "$(udp 9)")
	three=$(ip4 192.0.2.3 17 "$(udp 9)")
	attach "$mode" --allow one.txt --drop both.txt
	fate "$mode: allow before drop" PDP "$one" "$two" "$three"
	is "$mode: each is counted once" "$(packets)" "one=1 both=1 unmatched=1"
	detach
	attach "$mode" --drop both.txt --allow one.txt
	fate "$mode: drop before allow" DDP "$one" "$two" "$three"
	is "$mode: the second rule had nothing left" "$(packets)" "both=2 one=0 unmatched=1"
	detach
	attach "$mode" --count both.txt --drop two.txt --count more=both.txt
	fate "$mode: count goes on to the next rule" PDP "$one" "$two" "$three"
	is "$mode: and counts in addition" "$(packets)" "both=2 two=1 more=1 unmatched=2"
	is "$mode: its bytes" "$(status '.rules[0].packet_bytes' '.rules[0].action')" \
		"$(((${#one} + ${#two}) / 2 + 24)) count"
	detach
}

# only MODE QUALIFIER...: a drop rule of both families with these
only()
{
	attach "$1" --drop both.txt "${@:2}"
	is "status tells of '${*:2}'" "$(status '.rules[0].qualifiers')" "${*:2}"
	is "in words, too" "$(baleen status veth-b | sed -n '3s/ *//p')" "only ${*:2}"
}

try_qualifiers()
{
	local mode=$1 from=192.0.2.1 syn ext

	syn=$(tcp 22 $SYN)
	# Eight bytes of padding before UDP.
	ext=$(printf '11000104%s' "$(zeros 4)")

	only "$mode" proto udp
	fate "$mode: UDP, not TCP, ICMP" DPP "$(ip4 $from 17 "$(udp 9)")" \
		"$(ip4 $from 6 "$syn")" "$(ip4 $from 1 "$(zeros 8)")"
	fate "$mode: UDP over IPv6, behind a header, TCP" DDP "$(ip6 ff 17 64 "$(udp 9)")" \
		"$(ip6 ff 60 64 "$ext$(udp 9)")" "$(ip6 ff 6 64 "$syn")"
	fate "$mode: a later fragment has a protocol" D "$(ip4 $from 17 "$(zeros 8)" 2001)"
	fate "$mode: not who is not listed" P "$(ip4 192.0.2.9 17 "$(udp 9)")"
	detach

	only "$mode" dport 22,8000-8010
	fate "$mode: listed ports" DDDD "$(ip4 $from 6 "$syn")" "$(ip4 $from 17 "$(udp 22)")" \
		"$(ip4 $from 17 "$(udp 8000)")" "$(ip4 $from 132 "$(udp 8010)")"
	fate "$mode: other ports" PPPP "$(ip4 $from 6 "$(tcp 23 $SYN)")" \
		"$(ip4 $from 17 "$(udp 7999)")" "$(ip4 $from 17 "$(udp 8011)")" \
		"$(ip4 $from 17 "$(udp 5632)")"
	fate "$mode: over IPv6" DPD "$(ip6 ff 17 64 "$(udp 22)")" "$(ip6 ff 17 64 "$(udp 21)")" \
		"$(ip6 ff 60 64 "$ext$(udp 22)")"
	fate "$mode: no ports: ICMP, later fragment; cut off" PPD "$(ip4 $from 1 "$(zeros 8)")" \
		"$(ip4 $from 17 "$(udp 22)" 2001)" "$(ip4 $from 17 0009)"
	detach

	only "$mode" dport 1-2,4,6,8,10,12,14,65535
	fate "$mode: eight of them" DDPDPDDP $(for p in 1 2 3 4 5 14 65535 65534; do
		ip4 $from 17 "$(udp $p)"
		echo
	done)
	detach

	only "$mode" tcp-syn
	fate "$mode: SYN, SYN with ECN, over IPv6" DDD "$(ip4 $from 6 "$syn")" \
		"$(ip4 $from 6 "$(tcp 22 $((SYN + 0xc0)))")" "$(ip6 ff 6 64 "$syn")"
	fate "$mode: an established session goes on" PPPP \
		"$(ip4 $from 6 "$(tcp 22 $SYN_ACK)")" "$(ip4 $from 6 "$(tcp 22 $ACK)")" \
		"$(ip4 $from 6 "$(tcp 22 $FIN_ACK)")" "$(ip6 ff 6 64 "$(tcp 22 $ACK)")"
	fate "$mode: no TCP: UDP that looks like SYN, later fragment" PP \
		"$(ip4 $from 17 "$syn")" "$(ip4 $from 6 "$syn" 2002)"
	# The flags are in the padding of the frame, or in what the second
	# fragment may overwrite.
	fate "$mode: tiny first fragment, fragment that brings the flags" DD \
		"$(ip4 $from 6 "${syn:0:16}" 2000)$(zeros 18)" "$(ip4 $from 6 "$syn" 2001)"
	detach

	only "$mode" vlan 100
	fate "$mode: this VLAN, 802.1Q and 802.1ad" DD "$(tag 100)$(ip4 $from 17 "$(udp 9)")" \
		"$(tag 100 88a8)$(tag 7)$(ip4 $from 17 "$(udp 9)")"
	fate "$mode: with a priority, behind a priority tag" DD \
		"$(tag $((0xe000 + 100)))$(ip4 $from 17 "$(udp 9)")" \
		"$(tag 0)$(tag 100)$(ip4 $from 17 "$(udp 9)")"
	fate "$mode: untagged, another, inside another" PPP "$(ip4 $from 17 "$(udp 9)")" \
		"$(tag 101)$(ip4 $from 17 "$(udp 9)")" \
		"$(tag 7)$(tag 100)$(ip4 $from 17 "$(udp 9)")"
	detach

	only "$mode" proto tcp dport 22 tcp-syn vlan 100
	fate "$mode: all of them" DPPPP "$(tag 100)$(ip4 $from 6 "$syn")" \
		"$(ip4 $from 6 "$syn")" "$(tag 100)$(ip4 $from 6 "$(tcp 23 $SYN)")" \
		"$(tag 100)$(ip4 $from 6 "$(tcp 22 $ACK)")" "$(tag 100)$(ip4 $from 17 "$(udp 22)")"
	is "$mode: and counted" "$(packets)" "both=1 unmatched=4"
	detach
}

try_any()
{
	local syn

	syn=$(tcp 22 $SYN)
	attach native --allow one.txt --drop any tcp-syn
	fate "any: new connections of everybody but one" PDDPP "$(ip4 192.0.2.1 6 "$syn")" \
		"$(ip4 192.0.2.9 6 "$syn")" "$(ip6 09 6 64 "$syn")" \
		"$(ip4 192.0.2.9 6 "$(tcp 22 $ACK)")" "$(ip6 09 6 64 "$(tcp 22 $ACK)")"
	is "it is counted" "$(packets)" "one=1 any=2 unmatched=2"
	expect "what is behind an unqualified any is dead" 0 \
		"veth-b: added, rules now: x one any" \
		"baleen: warning: rule 'one' can never match: rule 'x' before it lists every address
baleen: warning: rule 'any' can never match: rule 'x' before it lists every address" \
		baleen rule add veth-b --first --allow x=any
	fate "it never matches" PP "$(ip4 192.0.2.9 6 "$syn")" "$(ip4 192.0.2.1 6 "$syn")"
	is "everything is the first rule's" "$(packets)" "x=2 one=1 any=2 unmatched=2"
	refuses "any is everybody, also this host" \
		"any: rule 'all' would drop 10.66.0.2, address of veth-b
baleen: any: rule 'all' would drop fd66::2, address of veth-b
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)" \
		baleen rule add veth-b --first --drop all=any
	refuses "a file of that name is ./any" "./any: No such file or directory" \
		baleen rule add veth-b --drop f=./any
	detach
}

# --- changes ---

try_changes()
{
	local one two id

	one=$(ip4 192.0.2.1 17 "$(udp 9)") two=$(ip4 192.0.2.2 17 "$(udp 9)")
	attach native --drop one.txt
	fate "one rule" DP "$one" "$two"
	id=$(xdp_id "$B" veth-b)
	prints "add a rule" "veth-b: added, rules now: one two" \
		baleen rule add veth-b --drop two.txt proto udp
	is "that is one new program" "$((id < $(xdp_id "$B" veth-b)))" 1
	fate "both drop" DD "$one" "$two"
	is "the first goes on counting, the second begins" "$(packets)" "one=2 two=1 unmatched=1"
	prints "add before all" "veth-b: added, rules now: ok one two" \
		baleen rule add veth-b --first --allow ok=one.txt
	fate "it decides first" PD "$one" "$two"
	prints "move it" "veth-b: moved, rules now: one ok two" \
		baleen rule move veth-b:ok --after one
	fate "it comes too late" DD "$one" "$two"
	is "no counter moved with it" "$(packets)" "one=3 ok=1 two=3 unmatched=1"
	is "as JSON" "$(baleen rule move -j veth-b:two --first | jq -c .)" \
		'{"device":"veth-b","rules":["two","one","ok"]}'
	is "the qualifier moved with it" "$(status '.rules[0].qualifiers')" "proto udp"
	prints "move before" "veth-b: moved, rules now: one two ok" \
		baleen rule move veth-b:one --before two
	prints "move to where it is" "veth-b: moved, rules now: one two ok" \
		baleen rule move veth-b:two --before ok
	prints "move last" "veth-b: moved, rules now: two ok one" baleen rule move veth-b:one --last
	prints "add two in between" "veth-b: added, rules now: two a b ok one" \
		baleen rule add veth-b --before ok --count a=one.txt --count b=two.txt dport 9
	fate "they count" PD "$one" "$two"
	is "from zero" "$(packets)" "two=4 a=1 b=0 ok=2 one=3 unmatched=1"
	prints "swap keeps the counter" "veth-b:one: swapped, 3 entries" \
		baleen swap veth-b:one both.txt
	prints "delete two" "veth-b: deleted, rules now: a b one" \
		baleen rule del veth-b:two veth-b:ok
	is "the others keep their counters" "$(packets)" "a=1 b=0 one=3 unmatched=1"
	prints "a new rule in a used slot" "veth-b: added, rules now: a b one two" \
		baleen rule add veth-b --drop two.txt
	is "begins from zero" "$(packets)" "a=1 b=0 one=3 two=0 unmatched=1"
	is "pins of one program" "$(find /sys/fs/bpf/baleen/*/ -name prog | wc -l)" 1
	refuses "not all of them can go" \
		"veth-b would have no rule left: 'baleen detach veth-b' takes the filter off" \
		baleen rule del veth-b:a veth-b:b veth-b:one veth-b:two
	refuses "no rule of this name" "veth-b has no rule 'x': see 'baleen status veth-b'" \
		baleen rule del veth-b:x
	refuses "nor at this place" "veth-b has no rule 'x': see 'baleen status veth-b'" \
		baleen rule add veth-b --before x --drop ok=one.txt
	refuses "a name that is taken" "two rules are called 'two'" \
		baleen rule add veth-b --drop two.txt
	is "nothing changed" "$(names)" "a b one two"
	detach
}

try_sixteen()
{
	local i rules=()

	for i in {1..15}; do
		rules+=(--count "r$i=one.txt")
	done
	attach native "${rules[@]}"
	check "the 16th rule" baleen rule add veth-b --drop two.txt
	refuses "the 17th is refused" "more than 16 rules" \
		baleen rule add veth-b --drop ok=one.txt
	refuses "also when two come" "more than 16 rules" \
		baleen rule add veth-b --first --drop x=one.txt --drop y=one.txt
	fate "all are asked" PD "$(ip4 192.0.2.1 17 "$(udp 9)")" "$(ip4 192.0.2.2 17 "$(udp 9)")"
	is "and count" "$(packets)" "$(printf 'r%d=1 ' {1..15})two=1 unmatched=1"
	check "delete one" baleen rule del veth-b:r7
	check "then there is room" baleen rule add veth-b --first --drop ok=one.txt
	is "whose counter begins from zero" "$(packets)" \
		"ok=0 $(printf 'r%d=1 ' {1..6} {8..15})two=1 unmatched=1"
	detach
}

# shared_maps: what all CPUs share of the program: its maps but those that have a value for
# each CPU
shared_maps()
{
	local id

	for id in $(bpftool -j prog show id "$(xdp_id "$B" veth-b)" | jq '.map_ids[]'); do
		bpftool -j map show id "$id" | jq -e '.type | startswith("percpu") | not' \
			>/dev/null && echo "$id" && bpftool map dump id "$id"
	done
}

# A line that one CPU writes for each packet is one that all others wait for.
try_shared()
{
	local before

	attach native --count both.txt --drop two.txt dport 9
	before=$(shared_maps)
	check "maps that all CPUs share" [ -n "$before" ]
	fate "packets that match, and one that does not" PDP "$(ip4 192.0.2.1 17 "$(udp 9)")" \
		"$(ip4 192.0.2.2 17 "$(udp 9)")" "$(ip4 192.0.2.3 17 "$(udp 9)")"
	is "are counted" "$(packets)" "both=2 two=1 unmatched=2"
	check "in none of these maps" [ "$(shared_maps)" = "$before" ]
	# The clock of the samples is shared: a change would have been seen.
	check "sample" baleen policy veth-b --sample 1000/s
	before=$(shared_maps)
	fate "a packet that is sampled" D "$(ip4 192.0.2.2 17 "$(udp 9)")"
	check "sets a clock of all CPUs" [ "$(shared_maps)" != "$before" ]
	detach
}

# --- what fails ---

# stays NAME MESSAGE COMMAND...: refused, and the program is the same
stays()
{
	local id

	id=$(xdp_id "$B" veth-b)
	refuses "$@"
	is "$1: the old program goes on" "$(xdp_id "$B" veth-b)" "$id"
}

# damage RULE_NUMBER: zeros in the middle of the live header
damage()
{
	bpftool map update pinned "$(echo /sys/fs/bpf/baleen/*/*/rule"$1")" \
		key 0 0 0 0 value hex $(printf '00 %.0s' {1..64})
}

try_failures()
{
	local one

	one=$(ip4 192.0.2.1 17 "$(udp 9)")
	check "build" "$BALEEN" build -o ok.bln one.txt
	head -c 600 /dev/zero | tr '\0' x | dd of=ok.bln bs=1 seek=520 conv=notrunc 2>dd.err
	refuses "attach over nothing, absent allow" "none.txt: No such file or directory" \
		baleen attach veth-b --default drop --allow none.txt
	check_status "attach over nothing, damaged allow" 1 \
		baleen attach veth-b --default drop --allow ok.bln
	is "nothing is attached" "$(xdp_mode "$B" veth-b)" off

	attach native --drop one.txt --allow two.txt
	stays "absent" "none.txt: No such file or directory" \
		baleen rule add veth-b --first --allow none.txt
	stays "swap to an absent one" "none.txt: No such file or directory" \
		baleen swap veth-b:two none.txt
	check_status "damaged" 1 baleen rule add veth-b --allow ok.bln
	check_status "swap to a damaged one" 1 baleen swap veth-b:two ok.bln
	is "it has these rules" "$(names)" "one two"
	check "damage the live allow rule" damage 1
	stays "a damaged rule is not carried over" "veth-b:two: not a Baleen image" \
		baleen policy veth-b --default drop --force
	stays "nor moved" "veth-b:two: not a Baleen image" \
		baleen rule move veth-b:two --first --force
	fate "it drops what it did" D "$one"
	prints "it can be deleted" "veth-b: deleted, rules now: one" baleen rule del veth-b:two
	check "pins of a killed command" mkdir "$(echo /sys/fs/bpf/baleen/ns*)/4000000000"
	check "are removed by the next" baleen rule add veth-b --allow two.txt
	is "all of them" "$(find /sys/fs/bpf/baleen/ -mindepth 2 -type d | wc -l)" 1
	check "the device goes" ip -n "$B" link add eth7 type veth peer name eth7-peer
	check "attach" baleen attach eth7 --drop one.txt
	check "delete it" ip -n "$B" link del eth7
	refuses "nothing is added there" "eth7: the filter is not in force here (gone)" \
		baleen rule add eth7 --drop two.txt
	check "forget it" baleen detach eth7
	detach
}

try_warnings()
{
	expect "an empty rule" 0 "veth-b: attached, native" \
		"baleen: warning: rule 'empty' can never match: it is empty" \
		baleen attach veth-b --allow-empty --drop empty.txt
	expect "the same again" 0 "veth-b: added, rules now: empty one same" \
		"baleen: warning: rule 'same' can never match: rule 'one' before it lists the same" \
		baleen rule add veth-b --drop one.txt --allow same=one.txt proto udp
	prints "not behind a count" "veth-b: added, rules now: empty one same c d" \
		baleen rule add veth-b --count c=two.txt --drop d=two.txt
	prints "not behind other qualifiers" "veth-b: added, rules now: empty one same c d e f" \
		baleen rule add veth-b --drop e=both.txt tcp-syn --drop f=both.txt proto tcp
	detach
	check "tags are taken off" in_ns "$B" ethtool -K veth-b rxvlan on
	expect "the stripped-tag trap" 0 "veth-b: attached, native" \
		"baleen: warning: rule 'one' may never match: veth-b takes VLAN tags off before the \
filter sees them; 'ethtool -K veth-b rxvlan off' mends it" \
		baleen attach veth-b --drop one.txt vlan 100
	detach
	check "tags stay" in_ns "$B" ethtool -K veth-b rxvlan off
	prints "no trap" "veth-b: attached, native" baleen attach veth-b --drop one.txt vlan 100
	detach
}

# --- under traffic ---

change_all()
{
	local i

	for ((i = 0; i < N_ROUNDS; i++)); do
		baleen rule add veth-b --first --count seen=listed.txt >>changes &&
			baleen rule move veth-b:seen --last >>changes &&
			baleen rule add veth-b --before list --allow pass=unlisted.txt >>changes &&
			baleen policy veth-b --sample $((i + 1))/s >>changes &&
			baleen rule del veth-b:pass veth-b:seen >>changes || return
	done
}

# try_traffic MODE
try_traffic()
{
	local line traffic

	attach "$1" --drop list=listed.txt
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed listed.txt \
		--unlisted unlisted.txt --loop --expect -j >fifo 2>traffic.err &
	traffic=$!
	exec 3<fifo
	read -r line <&3
	is "$1: traffic runs" "$line" running
	check "$1: $((5 * N_ROUNDS)) changes" change_all
	kill -INT "$traffic"
	cat <&3 >result
	wait "$traffic"
	is "$1: all listed dropped, all others passed" "$?$(cat traffic.err)" 0
	is "$1: every listed frame is counted" "$(status '.rules[0].packets')" \
		"$(jq .listed.sent result)"
	detach
}

make_pair
mkfifo fifo
in_ns "$B" ethtool -K veth-b rxvlan off
echo 192.0.2.1 >one.txt
echo 192.0.2.2 >two.txt
printf '%s\n' 192.0.2.1 192.0.2.2 fd66::ff >both.txt
: >empty.txt
make_list listed.txt 500 100 301
make_list unlisted.txt 500 100 302 --avoid listed.txt
try_order native
try_order generic
try_qualifiers native
try_qualifiers generic
try_any
try_changes
try_sixteen
try_shared
try_failures
try_warnings
try_traffic native
try_traffic generic
