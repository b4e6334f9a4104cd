#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What becomes of frames that no rule decides or that are not examined: under
# both defaults, in a dry run; what a host needs to live; sampling; and who is
# cut off by a default.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
cd "$TMP" || exit 2

SESSION=$ROOT/build/tools/session

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

# counts: unmatched, vital, and unparsed as not IP, MPLS, tags, version, short
counts()
{
	baleen status -j veth-b | jq -c '.[0] | [ .unmatched, .vital ] +
		(.unparsed | [ .not_ip, .mpls, .tags, .version, .short ])'
}

detach()
{
	check "detach" baleen detach veth-b
}

# --- frames ---

# arp, lldp, lacp, eapol, stp: what every host and switch says
others()
{
	printf '%s\n' "08060001080006040001$(zeros 36)" "88cc0207$(zeros 42)" "88090101$(zeros 44)" \
		"888e0101$(zeros 44)" "0026424203$(zeros 43)"
}

# nd HOP_LIMIT: router and neighbour solicitations and advertisements, redirect
nd()
{
	local type

	for type in 133 134 135 136 137; do
		ip6 09 58 "$1" "$(icmp6 $type)"
		echo
	done
}

# mld HOP_LIMIT: queries, reports, done, behind the router alert of RFC 2710
mld()
{
	local type

	for type in 130 131 132 143; do
		ip6 09 0 "$1" "3a00050200000000$(icmp6 $type)"
		echo
	done
}

# forged: nearly the same, and nothing that a host needs
forged()
{
	nd 254
	nd 1
	mld 2
	mld 254
	ip6 09 58 255 "$(icmp6 128)" # echo
	echo
	ip6 09 58 1 "$(icmp6 128)"
	echo
	ip6 09 17 255 "$(icmp6 135)" # UDP
	echo
	ip6 09 44 255 "3a000100$(zeros 4)$(icmp6 135)" # a later fragment, to which it is data
	echo
	ip6 09 58 255 "" # cut off
	echo
	echo "$(tag 5)0026424203$(zeros 43)" # STP is not tagged
	echo "0026424303$(zeros 43)"
	echo "86dd$(zeros 50)"
}

# row NAME LETTER COUNTS HEX...: what is not examined, under this default; COUNTS
# are those of counts without the first two
row()
{
	local n=$(($# - 3)) name=$1 letter=$2 want=$3 before after

	shift 3
	before=$(counts)
	fate "$name" "$(printf "$letter%.0s" $(seq $n))" "$@"
	after=$(counts)
	is "$name: counted" "$(jq -nc --argjson a "$before" --argjson b "$after" \
		'[ range(7) | $b[.] - $a[.] ]')" "$want"
}

# rows MODE DEFAULT LETTER: an LLDP marker behind each frame is vital under
# drop and not IP under pass
rows()
{
	local ip4 m

	ip4=$(ip4 192.0.2.9 17 "$(udp 9)")
	# m N UNMATCHED OTHERS...: the counts with N markers
	m()
	{
		if [ "$what" = drop ]; then
			echo "[$2,$1,$3,$4,$5,$6,$7]"
		else
			echo "[$2,0,$(($3 + $1)),$4,$5,$6,$7]"
		fi
	}
	local what=$2
	row "$1, default $2: not IP" "$3" "$(m 2 0 2 0 0 0 0)" "8863$(zeros 46)" "88b5$(zeros 46)"
	row "$1, default $2: 802.3" "$3" "$(m 1 0 1 0 0 0 0)" "0026aaaa03$(zeros 43)"
	row "$1, default $2: MPLS" "$3" "$(m 2 0 0 2 0 0 0)" "884700001140${ip4:4}" \
		"884800001140${ip4:4}"
	row "$1, default $2: five tags" "$3" "$(m 1 0 0 0 1 0 0)" \
		"$(tag 1)$(tag 2)$(tag 3)$(tag 4)$(tag 5)$ip4"
	row "$1, default $2: wrong version" "$3" "$(m 2 0 0 0 0 2 0)" "86dd${ip4:4}$(zeros 20)" \
		"0800$(zeros 46)"
	row "$1, default $2: cut short" "$3" "$(m 3 0 0 0 0 0 3)" 0800 "${ip4:0:42}" \
		"$(tag 7)08004500"
	row "$1, default $2: matches no rule" "$3" "$(m 3 3 0 0 0 0 0)" "$ip4" \
		"$(ip6 09 17 64 "$(udp 9)")" "$(tag 7)$ip4"
}

try_frames()
{
	local mode=$1 frames

	check "$mode: attach, default drop" baleen attach veth-b --force --mode "$mode" \
		--default drop --allow ok.txt --drop bad.txt
	is "$mode: status knows" "$(status .default .dry_run)" "drop false"
	fate "$mode: allowed passes, others not" PDD "$(ip4 192.0.2.1 17 "$(udp 9)")" \
		"$(ip4 192.0.2.2 17 "$(udp 9)")" "$(ip4 192.0.2.9 17 "$(udp 9)")"
	is "$mode: in words" "$(baleen status veth-b | tail -n 2)" \
		"  default drop: 1 packet matched no rule, dropped; 3 vital passed
  dropped unexamined: none"
	rows "$mode" drop D
	mapfile -t frames < <(others; nd 255; mld 1)
	fate "$mode: vital frames pass" "$(printf 'P%.0s' "${frames[@]}")" "${frames[@]}"
	mapfile -t frames < <(forged)
	fate "$mode: forgeries do not" "$(printf 'D%.0s' "${frames[@]}")" "${frames[@]}"
	check "$mode: default pass" baleen policy veth-b --default pass
	fate "$mode: forgeries then pass" "$(printf 'P%.0s' "${frames[@]}")" "${frames[@]}"
	rows "$mode" pass P
	fate "$mode: what a rule drops is dropped" DP "$(ip4 192.0.2.2 17 "$(udp 9)")" \
		"$(ip4 192.0.2.9 17 "$(udp 9)")"
	is "$mode: in words" "$(baleen status veth-b | tail -n 2 | sed 's/[0-9]\+/N/g')" \
		"  default pass: N packets matched no rule, passed
  passed unexamined: N not IP, N MPLS, N more than N VLAN tags, N wrong IP version, N cut short"
	detach
}

# --- dry run ---

try_dry_run()
{
	local one two

	one=$(ip4 192.0.2.1 17 "$(udp 9)") two=$(ip4 192.0.2.2 17 "$(udp 9)")
	prints "attach for a dry run" "veth-b: attached, native, DRY RUN: drops nothing" \
		baleen attach veth-b --dry-run --default drop --allow ok.txt --drop bad.txt
	fate "everything passes" PPPP "$one" "$two" "$(ip4 192.0.2.9 17 "$(udp 9)")" \
		"8863$(zeros 46)"
	is "and is counted as what it would be" "$(status '.rules[0].packets' '.rules[1].packets' \
		.unmatched .unparsed.not_ip .vital .dry_run)" "1 1 1 1 4 true"
	is "status says so" "$(baleen status veth-b | sed -n 2p)" \
		"  DRY RUN: nothing is dropped; what is called dropped here has passed"
	prints "policy, too" "veth-b: default drop, DRY RUN, no events" baleen policy veth-b
	prints "enforce" "veth-b: default drop, enforced, no events" \
		baleen policy veth-b --enforce --force
	fate "then it is dropped" PDD "$one" "$two" "$(ip4 192.0.2.9 17 "$(udp 9)")"
	is "the counters went on" "$(status '.rules[0].packets' '.rules[1].packets' .unmatched)" \
		"2 2 2"
	prints "back to a dry run" "veth-b: default drop, DRY RUN, no events" \
		baleen policy veth-b --dry-run
	fate "nothing is dropped" P "$two"
	is "as JSON" "$(baleen policy -j veth-b --sample 90/m | jq -c .)" \
		'{"device":"veth-b","default":"drop","dry_run":true,"sample":"90/m"}'
	detach
}

# --- sampling ---

# sampled: sampled, not sampled, lost
sampled()
{
	baleen status -j veth-b | jq -c '.[0].sample | [ .rate, .sampled, .not_sampled, .lost ]'
}

# pins NAME...: of the program
pins()
{
	local name

	for name in "$@"; do
		find /sys/fs/bpf/baleen/*/*/ -name "$name"
	done | wc -l
}

try_sampling()
{
	local bad

	bad=$(ip4 192.0.2.2 17 "$(udp 9)")
	check "attach without" baleen attach veth-b --drop bad.txt
	is "no events" "$(sampled) $(pins events sampler)" "[null,0,0,0] 0"
	check "one an hour" baleen policy veth-b --sample 1/h
	is "then there are pins" "$(pins events sampler)" 2
	fate "three drops" DDDP "$bad" "$bad" "$bad" "$(ip4 192.0.2.9 17 "$(udp 9)")"
	is "one is sampled" "$(sampled)" '["1/h",1,2,0]'
	is "in words" "$(baleen status veth-b | tail -n 1)" \
		"  sampling 1/h: 1 sampled, 2 not sampled, 0 lost"
	check "a rule comes" baleen rule add veth-b --count ok.txt
	fate "another drop" D "$bad"
	is "the hour goes on" "$(sampled)" '["1/h",1,3,0]'
	check "another rate" baleen policy veth-b --sample 6/m
	fate "another drop" D "$bad"
	is "does not wait for the hour to end" "$(sampled)" '["6/m",2,3,0]'
	check "no sampling" baleen policy veth-b --no-sample
	fate "another drop" D "$bad"
	is "is not looked at" "$(sampled)" '[null,2,3,0]'
	is "who reads the events stays" "$(pins events)" 1
	check "a count rule is sampled" baleen policy veth-b --sample 1/h
	fate "not who is dropped nor allowed" PP "$(ip4 192.0.2.1 17 "$(udp 9)")" \
		"$(ip4 192.0.2.9 17 "$(udp 9)")"
	is "once" "$(sampled)" '["1/h",3,3,0]'
	detach
}

# --- who would be cut off ---

# cut NAME WORDS COMMAND...: refused with these complaints, and nothing changes
cut()
{
	local id

	id=$(xdp_id "$B" veth-b)
	refuses "$1" "$2
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)" "${@:3}"
	is "$1: the program is the same" "$(xdp_id "$B" veth-b)" "$id"
}

# with_session COMMAND...: while $A has a TCP session with 10.66.0.2
with_session()
{
	"$SESSION" "/run/netns/$A" "/run/netns/$B" 10.66.0.1 "$@"
}

try_guard()
{
	ip -n "$B" route add default via 10.66.0.254
	cut "a gateway that no rule allows" \
		"veth-b: 10.66.0.254, gateway of veth-b, would be dropped by the default" \
		baleen attach veth-b --default drop --allow ok.txt
	cut "nor for all protocols" \
		"veth-b: 10.66.0.254, gateway of veth-b, would be dropped by the default" \
		baleen attach veth-b --default drop --allow gateway.txt proto tcp
	prints "one that is counted is not allowed, but a dry run is" \
		"veth-b: attached, native, DRY RUN: drops nothing" \
		baleen attach veth-b --dry-run --default drop --count gateway.txt
	cut "until it is enforced" \
		"veth-b: 10.66.0.254, gateway of veth-b, would be dropped by the default" \
		baleen policy veth-b --enforce
	prints "add what allows it" "veth-b: added, rules now: gateway ok" \
		baleen rule add veth-b --allow ok=gateway.txt
	prints "then it is enforced" "veth-b: default drop, enforced, no events" \
		baleen policy veth-b --enforce
	cut "and cannot be deleted" \
		"veth-b: 10.66.0.254, gateway of veth-b, would be dropped by the default" \
		baleen rule del veth-b:ok
	cut "nor swapped" \
		"veth-b: 10.66.0.254, gateway of veth-b, would be dropped by the default" \
		baleen swap veth-b:ok bad.txt
	check "a dry run again" baleen policy veth-b --dry-run
	cut "a session that no rule allows" \
		"veth-b: 10.66.0.1, peer of a TCP session of this host, would be dropped by the default" \
		with_session "$BALEEN" policy veth-b --enforce
	detach
	ip -n "$B" route del default

	# The server's port is of the kernel's choice.
	cut "a drop of the session's peer" \
		"peer.txt:1: '10.66.0.1': rule 'peer' would drop 10.66.0.1, peer of a TCP session \
of this host" with_session "$BALEEN" attach veth-b --drop peer.txt proto tcp dport 1024-65535
	prints "not of new connections" "veth-b: attached, native" \
		with_session "$BALEEN" attach veth-b --drop peer.txt tcp-syn
	detach
	prints "nor of other ports or protocols" "veth-b: attached, native" \
		with_session "$BALEEN" attach veth-b --drop a=peer.txt dport 22 \
		--drop b=peer.txt proto udp
	cut "but not by a rule without qualifiers" \
		"peer.txt:1: '10.66.0.1': rule 'c' would drop 10.66.0.1, peer of a TCP session of this host" \
		with_session "$BALEEN" rule add veth-b --drop c=peer.txt
	prints "unless one before it allows him" "veth-b: added, rules now: d c a b" \
		with_session "$BALEEN" rule add veth-b --first --allow d=peer.txt proto tcp \
		--drop c=peer.txt
	cut "which then has to stay there" \
		"veth-b: rule 'c' would drop 10.66.0.1, peer of a TCP session of this host" \
		with_session "$BALEEN" rule move veth-b:d --last
	detach
}

make_pair
echo 192.0.2.1 >ok.txt
echo 192.0.2.2 >bad.txt
echo 10.66.0.254 >gateway.txt
echo 10.66.0.1 >peer.txt
try_frames native
try_frames generic
try_dry_run
try_sampling
try_guard
