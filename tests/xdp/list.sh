#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# All of a list is dropped, nobody else is, and every frame is counted once.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"

IPSUM=../shared/data/lists/ipsum.txt
N_IPSUM=120430
N_SMALL=20000

# totals FILE: what the counters have to be after this traffic
totals()
{
	jq -c '[.listed.sent, .listed.bytes, .unlisted.sent, .markers, 0]' "$1"
}

# try WHAT MODE LIST N N6 [TRAFFIC_OPTION...]: attaches, sends the list and N
# IPv4 and N6 IPv6 addresses that are not in it, looks at the counters
try()
{
	local name="$1, $2" mode=$2 list=$3

	check "$name: attach" in_ns "$B" "$BALEEN" attach veth-b --drop "listed=$list" --mode "$mode"
	is "$name: mode" "$(xdp_mode "$B" veth-b)" "$mode"
	check "$name: all listed dropped, all others passed" \
		"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --expect -j \
		--listed "$list" --random "$4" --random6 "$5" "${@:6}"
	is "$name: counters" "$(counters "$B" veth-b)" "$(totals "$TMP/out")"
	check "$name: detach" in_ns "$B" "$BALEEN" detach veth-b
	is "$name: nothing is left" "$(xdp_mode "$B" veth-b)" off
}

make_pair "$A" "$B"
ip4=$IPSUM ip6=$TMP/ip6 mixed=$TMP/mixed
if [ ! -r "$ip4" ]; then
	ip4=$TMP/ip4
	make_list "$ip4" "$N_IPSUM" 0 101
fi
make_list "$ip6" 0 "$N_SMALL" 102
make_list "$mixed" "$N_SMALL" "$N_SMALL" 103

check_status "without a filter the listed pass" 1 \
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --expect --listed "$mixed"
for mode in native generic; do
	try "IPv4" "$mode" "$ip4" "$N_IPSUM" 0
	try "IPv6" "$mode" "$ip6" 0 "$N_SMALL"
	try "both families" "$mode" "$mixed" "$N_SMALL" "$N_SMALL"
	for tags in 1 4; do
		try "$tags VLAN tags" "$mode" "$mixed" "$N_SMALL" "$N_SMALL" --tags "$tags"
	done
done
