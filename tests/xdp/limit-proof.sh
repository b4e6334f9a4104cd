#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `limit` counts nobody for what others send in his name: of a connection only segments whose
# numbers go on with it, of all else nothing.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
# shellcheck source=tests/connections.sh
source "$ROOT/tests/connections.sh"
cd "$TMP" || exit 2
RST=4

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# from_client N SEGMENT...: a frame of it from 10.66.1.N
from_client()
{
	ip4 "10.66.1.$1" 6 "$2"
}

# counts NAME FRAME: the second is over the limit of one
counts()
{
	fate "counts: $1" PD "$2" "$2"
}

# ignores NAME FRAME: none is
ignores()
{
	fate "does not count: $1" PPP "$2" "$2" "$2"
}

tracked()
{
	baleen status -j veth-b | jq -c '.[0].rules[1].limit.tracked'
}

# What a window ends with is in it, as the kernel has it.
test_numbers()
{
	local window=${WINDOW[open1]} max=${MAX[open1]}

	ignores "a byte that is there already" "$(from_client 1 "$(segment open1 -1 0)")"
	ignores "with data, too" "$(from_client 1 "$(segment open1 -1 0 $ACK 61)")"
	ignores "a segment behind the window" "$(from_client 1 "$(segment open1 $((window + 1)) 0)")"
	ignores "on the other side" "$(from_client 1 "$(segment open1 $((1 << 31)) 0)")"
	ignores "an ACK of what was not sent" "$(from_client 1 "$(segment open1 0 1)")"
	ignores "an ACK from before the window" "$(from_client 1 "$(segment open1 0 $((-max - 1)))")"
	ignores "an ACK from the other side" "$(from_client 1 "$(segment open1 0 $((1 << 31)))")"
	ignores "a RST without an ACK" "$(from_client 1 "$(segment open1 0 0 $RST)")"
	ignores "a SYN" "$(from_client 1 "$(segment open1 0 0 $SYN)")"
	ignores "what is cut off" "$(ip4 10.66.1.1 6 "$(segment open1 0 0 | head -c 24)")"
	ignores "another port of its own" "$(from_client 1 "$(segment open2 0 0)")"
	ignores "another address" "$(from_client 2 "$(segment open1 0 0)")"
	is "nobody is remembered" "$(tracked)" 0
	counts "what comes next" "$(from_client 1 "$(segment open1 0 0)")"
	counts "the ends of both windows" "$(from_client 2 "$(segment open2 "${WINDOW[open2]}" "-${MAX[open2]}")")"
	counts "a byte that is there already, and one that is not" \
		"$(from_client 3 "$(segment open3 -1 0 $ACK 6162)")"
	counts "a RST with an ACK" "$(from_client 4 "$(segment open4 0 0 $((RST | ACK)))")"
	is "they are" "$(tracked)" 4
}

has_time_wait()
{
	in_ns "$B" ss -Htn state time-wait | grep -q ":${SPORT[time-wait]} *\$"
}

test_sockets()
{
	local other

	has_time_wait || bail "no socket in TIME-WAIT"
	ignores "TIME-WAIT" "$(from_client 9 "$(segment time-wait 0 0)")"
	ignores "a listener" "$(from_client 10 "$(segment open5 0 0)")"
	ignores "no socket" "$(from_client 5 "$(segment open5 0 0 $ACK '' 9999)")"
	ignores "UDP to a socket that is connected to its sender" "$(ip4 10.66.1.1 17 "$(udp 4001)")"
	other=$(from_client 5 "$(segment open5 0 0)")
	ignores "what this host would forward" "${other/c6336401/c6336402}"
	ignores "a later fragment" "$(ip4 10.66.1.5 6 "$(segment open5 0 0)" 0001)"
	is "nobody more is remembered" "$(tracked)" 4
	counts "behind a tag" "$(tag 7)$(from_client 5 "$(segment open5 0 0)")"
	counts "a peer that has sent its FIN" "$(from_client 7 "$(segment close-wait 0 0)")"
	counts "a connection that this host has closed" "$(from_client 8 "$(segment fin-wait-2 0 0)")"
	counts "IPv4 to a socket of IPv6" "$(from_client 6 "$(segment mapped 0 0 $ACK '' $((PORT + 1)))")"
	other=$(segment six 0 1 $ACK '' $((PORT + 1)))
	ignores "IPv6: other numbers" "$(ip6 01 6 64 "$other")"
	other=$(segment six 0 0 $ACK '' $((PORT + 1)))
	counts "IPv6, behind destination options" "$(ip6 01 60 64 "0600010400000000$other")"
}

# 300 segments with numbers by chance, to the right ports.
test_blind()
{
	local frames

	mapfile -t frames < <(python3 -c '
import random, sys
random.seed(1)
for i in range(300):
    print("%d %d" % (random.getrandbits(32), random.getrandbits(32)))' | while read -r seq ack; do
		from_client 1 "$(segment open1 "$seq" "$ack")"
		echo
	done)
	fates "${frames[@]}" >letters
	is "300 segments with numbers by chance pass" "$(<letters)" "$(printf 'P%.0s' {1..300})"
	is "and count for nobody" "$(tracked)" 0
}

# proof PACKET...: what why says of it
proof()
{
	baleen why veth-b 10.66.1.1 --dst 198.51.100.1 "$@" | grep -A 1 'such a packet' |
		head -n 1 | sed 's/^ *such a packet *//'
}

test_why()
{
	local none="does not count: nothing proves who sent it"

	is "why: TCP" "$(proof --established --dport $PORT)" \
		"counts if TCP's numbers prove who sent it; forwarded, it does not"
	is "why: a SYN" "$(proof --dport $PORT)" "$none"
	is "why: UDP" "$(proof --proto udp --dport 53)" "$none"
	is "why: as JSON" "$(baleen why -j veth-b 10.66.1.1 --proto udp | jq -r '.[0].rules[1].proof')" none
	fate "over the limit" PD "$(from_client 1 "$(segment open1 0 0)")" "$(from_client 1 "$(segment open1 0 0)")"
	is "why: its UDP passes, its TCP does not" "$(for words in "--proto udp" "" "--established"; do
		# shellcheck disable=SC2086 # words
		baleen why -j veth-b 10.66.1.1 $words | jq -r '.[0].verdict'
	done | xargs)" "pass pass drop"
	fate "nor do they" PD "$(ip4 10.66.1.1 17 "$(udp 53)")" "$(from_client 1 "$(segment open1 0 0)")"
}

# A kernel that does not show what it knows of a connection.
test_no_btf()
{
	mount -t tmpfs -o size=4k no-btf /sys/kernel/btf || bail "cannot hide the kernel's BTF"
	attach limit 3/h burst 1 ban 10m
	ignores "anything where the kernel has no BTF" "$(from_client 1 "$(segment open1 0 0)")"
	is "status says so" "$(baleen status veth-b | grep -c 'COUNTS NOTHING: the kernel has no BTF')" 1
	is "why, too" "$(proof --established)" "does not count: the kernel does not show TCP's numbers"
	attach limit 3/h burst 1 ban 10m unverified
	counts "everything, if unverified" "$(from_client 1 "$(segment open1 9 9)")"
	is "status has nothing to say" "$(baleen status veth-b | grep -c 'COUNTS NOTHING')" 0
	is "why: whoever sent it" "$(proof --proto udp)" "counts, though nothing proves who sent it"
	umount /sys/kernel/btf
}

# attach WORD...: a limit, whose table is empty
attach()
{
	[ "$(xdp_mode "$B" veth-b)" = off ] || check "detach" baleen detach --forget --entries veth-b
	echo 203.0.113.9 >jail
	check "attach: $*" baleen attach veth-b --force --mode "$MODE" --drop jail bans --drop web=any "$@"
}

MODE=native
make_pair
open_connections
attach limit 1/h burst 1 ban 10m
test_numbers
test_sockets
attach limit 2/h burst 1 ban 10m
test_blind
test_why
MODE=generic
attach limit 1/h burst 1 ban 10m
test_numbers
counts "behind an option of IPv4" "$(printf '0800%s%04x0000400040060000%s%s' 4600 44 \
	0a420105c633640101010100 "$(segment open5 0 0)")"
test_no_btf
check "detach" baleen detach --forget --entries veth-b
