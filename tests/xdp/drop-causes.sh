#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen top --feeds` and its metrics: which feeds and entries caused the sampled drops.
# Frames of known sources are sent; two lists and single entries hold them, alone and
# together, with exceptions, and one of them is taken out again.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
# shellcheck disable=SC2119 # the default pair
make_pair
cd "$TMP" || exit 2
mkdir "$TMP/conf"
CONF=$TMP/conf/veth-b.conf
FRAME=$ROOT/build/tools/frame

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# dropped ADDRESS N: N DNS questions of it, and none comes through
dropped()
{
	local hex frames=()

	# shellcheck disable=SC2046 # four numbers
	hex=$(printf '%02x%02x%02x%02x' $(tr . ' ' <<<"$1"))
	for ((i = 0; i < $2; i++)); do
		frames+=("08004500001c0000000040110000${hex}0a42000204d2003500080000")
	done
	[ "$("$FRAME" -v "$A:veth-a" "$B:veth-b" "${frames[@]}" | tr -cd DP)" = \
		"$(printf 'D%.0s' $(seq "$2"))" ]
}

# cause RULE NAME FIELDS: these of a feed, whose name ends so, or of an origin
cause()
{
	baleen top --feeds -j veth-b | jq -c --arg rule "$1" --arg name "$2" \
		".causes[] | select(.rule == \$rule and ((.feed // .origin) | endswith(\$name))) | [$3]"
}

seen() { [ "$(baleen top --feeds -j veth-b | jq .drops)" -ge "$1" ]; }

metric()
{
	baleen metrics veth-b | grep -E "^$1\{.*feed=\"[^\"]*$2\"" | sed 's/.* //'
}

# --- rules ---------------------------------------------------------------------------

make_rules()
{
	printf '8.8.8.0/24\n!8.8.8.7\n8.8.9.1\n8.8.9.2\n' >a.txt
	printf '8.8.8.1\n8.8.8.7\n8.8.9.0/24\n8.8.9.1\n' >b.txt
	echo 8.8.6.1 >c.txt
	echo 1.1.1.1 >idle.txt
	check "an image" "$BALEEN" build -o c.bln c.txt
	printf '%s\n' "sample 1000000/s" "rule bad drop" "  feed $TMP/a.txt" "  feed $TMP/b.txt" \
		"rule image drop" "  feed $TMP/c.bln" "rule idle drop" "  feed $TMP/idle.txt" \
		"rule rest drop dport 53" "  any" >"$CONF"
	check_status "no state" 1 baleen top --feeds veth-b
	check_status "apply" 3 baleen apply
	check "a ban" baleen add veth-b:bad 8.8.7.1
	refuses "nothing was sampled" "no sampled drops: 'baleen policy veth-b --sample 100/s' \
samples some, and baleend keeps them" baleen top --feeds veth-b
}

# --- drops ---------------------------------------------------------------------------

try_causes()
{
	start_baleend "$B"
	check "of two feeds" dropped 8.8.8.1 3
	check "of the second, an exception of the first" dropped 8.8.8.7 2
	check "of a line in each" dropped 8.8.9.1 4
	check "of a line and of a prefix" dropped 8.8.9.2 1
	check "of a ban" dropped 8.8.7.1 2
	check "of an image" dropped 8.8.6.1 1
	check "of nobody" dropped 7.7.7.7 1
	await "all are remembered" seen 14
	is "in all" "$(baleen top --feeds -j veth-b | jq -c 'del(.causes) | [.[]]')" '["veth-b",7,14,0,1]'
	is "the first feed" "$(cause bad a.txt "$FIELDS")" '[3,3,3,8,0,"8.8.9.1",4]'
	is "the second" "$(cause bad b.txt "$FIELDS")" '[4,4,4,10,2,"8.8.9.1",4]'
	is "the ban" "$(cause bad manual "$FIELDS")" '[1,1,1,2,2,"8.8.7.1",2]'
	is "an image does not say which entry" "$(cause image c.bln "$FIELDS")" '[1,null,1,1,1,null,0]'
	is "what has met nothing" "$(cause idle idle.txt "$FIELDS")" '[1,0,0,0,0,null,0]'
	prints "in words" "veth-b: 14 sampled drops of 7 sources
RULE           ENTRIES      MET  SOURCES      DROPS      ALONE  FEED
bad                  3        3        3          8          0  $TMP/a.txt, most by 8.8.9.1: 4
bad                  4        4        4         10          2  $TMP/b.txt, most by 8.8.9.1: 4
bad                  1        1        1          2          2  origin manual, most by 8.8.7.1: 2
image                1        ?        1          1          1  $TMP/c.bln
idle                 1        0        0          0          0  $TMP/idle.txt
1 by the default verdict, or by rules that look at more than the source" \
		baleen top --feeds veth-b
	is "metrics" "$(for name in drops drops_alone entries; do
		metric "baleen_feed_sampled_$name" b.txt
	done | xargs)" "10 2 4"
	is "an image has no number of entries" "$(metric baleen_feed_sampled_entries c.bln)" ""
	stop_baleend
}

# What is asked is what the rule is made of now.
try_changes()
{
	check "an exception" baleen add veth-b:bad '!8.8.9.1'
	is "takes a source out of both feeds" "$(cause bad a.txt .drops; cause bad b.txt .drops)" \
		$'[4]\n[6]'
	check "a ban is lifted" baleen del veth-b:bad 8.8.7.1
	is "and no entry holds these now" "$(baleen top --feeds -j veth-b | jq .drops_of_no_entry)" 6
	check "b.txt goes" sed -i '/b.txt/d' "$CONF"
	check_status "apply" 3 baleen apply
	is "the other one stands alone" "$(cause bad a.txt '.drops, .drops_alone')" '[4,4]'
}

FIELDS=".entries, .entries_met, .sources, .drops, .drops_alone, .top_entry, .top_entry_drops"
play_systemd
make_rules
try_causes
try_changes
