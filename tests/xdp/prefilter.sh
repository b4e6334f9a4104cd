#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Several rules of IPv4 hosts have a prefilter, a table of all their addresses that packets ask
# first: it changes no verdict, whatever is added, deleted and banned in place behind it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
cd "$TMP" || exit 2

VERDICT=$ROOT/build/tools/verdict
export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# judged ADDRESS...: a letter for each, D or P
judged() { in_ns "$B" "$VERDICT" veth-b "$@"; }

# covered: the rules that have a prefilter, a bit each, and whether its map is pinned
covered()
{
	local id pins

	id=$(xdp_id "$B" veth-b)
	pins=(/sys/fs/bpf/baleen/*/"$id")
	id=$(bpftool -j map show pinned "${pins[0]}/config" | jq .id)
	echo "$(bpftool -j map dump id "$id" | jq '.. | .prefilter_rules? // empty')" \
		"$([ -e "${pins[0]}/prefilter" ] && echo pinned)"
}

# in_place NAME COMMAND...: the program stays
in_place()
{
	local id

	id=$(xdp_id "$B" veth-b)
	check "$1" "${@:2}"
	is "$1: in place" "$(xdp_id "$B" veth-b)" "$id"
}

# attach RULE...
attach()
{
	check "attach $*" baleen attach veth-b "$@"
}

detach()
{
	check "detach" baleen detach veth-b
	rm -rf "$BALEEN_STATE_DIR"
}

# hosts NET FIRST LAST: a file of these hosts of 192.0.NET.0
hosts()
{
	seq -f "192.0.$1.%g" "$2" "$3" >"net$1"
}

for i in {1..4}; do
	hosts "$i" 1 9
done
echo 192.0.1.1 >one
printf '%s\n' 198.51.100.0/24 192.0.5.1 >nets
printf '%s\n' fd77::1 fd77::2 >six
"$BALEEN" build --key dst -o net4.bln net4 >out 2>&1 || bail "no image: $(<out)"

# --- which rules have one ---

attach --drop net1 --drop net2
is "two rules have none" "$(covered)" "0 "
detach
attach --drop net1 --drop net2 --drop net3 --drop a=nets --drop b=nets --drop c=nets \
	--drop d=nets --drop e=nets
is "nor beside five others, which the verifier would follow twice" "$(covered)" "0 "
detach
attach --allow one --drop net1 --count net2 --drop net3 --drop nets --drop six --drop net4.bln
is "rules of hosts, whatever they do; not prefixes, nor destinations" "$(covered)" "47 pinned"
is "verdicts are those of the rules" \
	"$(judged 192.0.1.1 192.0.1.2 192.0.2.1 192.0.3.9 192.0.3.10 192.0.4.1 192.0.5.1 \
		198.51.100.7 198.51.101.7 fd77::1 fd77::3)" PDPDPPDDPDP
is "and counted as such" "$(baleen status -j veth-b | jq -c '[.[0].rules[].packets]')" \
	"[1,1,1,1,2,1,0]"
detach

# --- what changes behind it ---

attach --drop net1 --drop net2 --drop net3
is "three rules" "$(covered)" "7 pinned"
in_place "add" baleen add veth-b:net2 192.0.2.77
is "what is added is dropped" "$(judged 192.0.2.77 192.0.2.78)" DP
in_place "delete" baleen del veth-b:net2 192.0.2.77
is "what is deleted passes, though it stays in the prefilter" "$(judged 192.0.2.77)" P
in_place "add it again" baleen add veth-b:net3 192.0.2.77
is "to another rule: dropped" "$(judged 192.0.2.77)" D

# Room for some thousand that were deleted; then all is built anew.
id=$(xdp_id "$B" veth-b)
for i in {10..13}; do
	seq -f "192.1.$i.%g" 1 255 >come
	seq -f "192.2.$i.%g" 1 255 >>come
	check "510 come" baleen add veth-b:net1 --file come
	is "all of them" "$(judged "192.1.$i.1" "192.1.$i.255" "192.2.$i.1" "192.2.$i.255")" DDDD
	check "and go" baleen del veth-b:net1 --file come
	is "nothing is left of them" "$(judged "192.1.$i.1" "192.2.$i.255")" PP
done
is "the rules stay" "$(judged 192.0.1.9 192.0.2.9 192.0.3.9 192.0.2.77 192.0.2.10)" DDDDP
check "a full one made way" [ "$(xdp_id "$B" veth-b)" != "$id" ]
is "for another" "$(covered)" "7 pinned"

in_place "ban a prefix" baleen add veth-b:net2 203.0.113.0/24
is "its hosts are dropped, of which the prefilter knows nothing" \
	"$(judged 203.0.113.1 203.0.113.255 203.0.114.1 192.0.1.1)" DDPD
check "another rule, to which the prefix is carried over" baleen rule add veth-b --drop one
is "it is still dropped" "$(judged 203.0.113.1 203.0.114.1 192.0.1.1 192.0.2.77)" DPDD
check "the prefix ends" baleen del veth-b:net2 203.0.113.0/24
is "its hosts pass" "$(judged 203.0.113.1 192.0.3.3)" PD
check "delete two rules" baleen rule del veth-b:net1 veth-b:net2
is "then there is none" "$(covered)" "0 "
is "and nobody misses it" "$(judged 192.0.1.1 192.0.1.2 192.0.3.1)" DPD
detach

# --- who looks without packets ---

attach --drop net1 --drop net2 --drop net3
in_place "add" baleen add veth-b:net2 192.0.2.77
# The twin of the program shares the prefilter: the answers would differ otherwise.
baleen why veth-b 192.0.2.77 >said 2>&1
check "why asks a twin of the program" grep -q "dropped" said
baleen why veth-b 192.0.2.78 >said 2>&1
check "of another address, too" grep -q "pass" said
detach
