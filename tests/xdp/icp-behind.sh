#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One device filters and answers ICP: what the filter lets pass goes on to the program that
# answers, in every later ruleset of it, and what it drops does not. And a cache that is asked
# by IPv4 and by IPv6 is one.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck disable=SC2119 # a pair as it is
make_pair
cd "$TMP" || exit 2
# shellcheck source=tests/icp.sh
source "$ROOT/tests/icp.sh"

U=http://example.com
printf "$U/%s\n" one two >urls
echo 192.0.2.7 >bad.txt
echo 10.66.0.1 >asker.txt

# ask ADDRESS URL...: answers in the order of the URLs
ask()
{
	in_ns "$A" "$BALEEN" icp ask --timeout 200ms "$@" 2>/dev/null |
		sed -E 's/^(no answer|hit|miss) .*/\1/' | paste -sd ' '
}

# with ARGUMENT...: attach ICP for one cache of two addresses
with()
{
	baleen icp attach veth-b --asker 10.66.0.1,fd66::1 --stale never --confirm never \
		--sibling a=10.66.0.2,address=fd66::2,mode=answer,image=urls "$@"
}

check "a filter" baleen attach veth-b --mode generic --drop bad=bad.txt
check_status "another mode is refused" 1 with --mode native
is "it says why" "$(<"$TMP/err")" "baleen: veth-b: its filter is attached generic, and mode native is asked for: \
what is behind it has its mode"
check "and answers behind it" with
is "it answers, by either family" "$(ask 10.66.0.2 $U/one $U/three), $(ask fd66::2 $U/two $U/three)" \
	"hit miss, hit miss"
is "it is one cache, which counts both" "$(status .hits .misses .address .other_address)" \
	"2 2 10.66.0.2 fd66::2"
is "status says where" "$(instance .enforced .behind_filter .mode)" "true true generic"
check "the filter is the program of the device" grep -q baleen_xdp <(in_ns "$B" ip -d link show dev veth-b)
check_status "another one is refused" 1 with
is "the reason says how to go on" "$(<"$TMP/err")" \
	"baleen: veth-b answers ICP already: 'baleen icp detach veth-b' takes it off, 'baleen icp resync' changes a filter"

check "the asker is banned" baleen add veth-b:bad 10.66.0.1
is "what the filter drops is not answered" "$(ask 10.66.0.2 $U/one)" "no answer"
is "by IPv6 it still is" "$(ask fd66::2 $U/one)" "hit"
check "the ban ends" baleen del veth-b:bad 10.66.0.1
is "and it is answered again" "$(ask 10.66.0.2 $U/one)" "hit"
check "another image of the rule" baleen swap veth-b:bad asker.txt
is "is in force: no answer" "$(ask 10.66.0.2 $U/one)" "no answer"
check "another one" baleen swap veth-b:bad bad.txt
is "is in force: it answers" "$(ask 10.66.0.2 $U/one)" "hit"
check "a rule more" baleen rule add veth-b --count all=asker.txt
is "hands on, too" "$(ask 10.66.0.2 $U/one)" "hit"
check "another policy" baleen policy veth-b --default drop
is "a query that no rule decides is dropped" "$(ask 10.66.0.2 $U/one)" "no answer"
check "and back" baleen policy veth-b --default pass

printf '%s\n' $U/one $U/three >urls
check "an image of other URLs" baleen build --key squid -o other.bln urls
check "it goes" baleen icp detach veth-b
is "nobody answers any more" "$(ask 10.66.0.2 $U/one)" "no answer"
check "the filter stays" baleen status veth-b
check "and it comes again" with
is "with the other URLs" "$(ask 10.66.0.2 $U/two $U/three)" "miss hit"

check "the filter is detached" baleen detach veth-b
is "what was behind it went with it" "$(baleen icp status -j) $(ls /sys/fs/bpf/baleen-icp 2>/dev/null)" "[] "
is "and nobody answers" "$(ask 10.66.0.2 $U/three)" "no answer"
check "alone" with
is "it answers" "$(ask 10.66.0.2 $U/three) $(ask fd66::2 $U/three)" "hit hit"
check_status "a filter finds no room" 1 baleen attach veth-b --drop bad=bad.txt
is "the way out is told" "$(grep -c "'baleen icp detach veth-b' takes it off" "$TMP/err")" 1
check "off" baleen icp detach veth-b

check_status "two addresses of one family" 2 with --sibling b=10.66.0.3,address=10.66.0.4,image=urls
is "it says so" "$(grep -c "'address=10.66.0.4': an address of the same family" "$TMP/err")" 1
check_status "an address of another sibling" 2 with --sibling b=10.66.0.3,address=fd66::2,image=urls
is "it says so, too" "$(grep -c "the address of a sibling before" "$TMP/err")" 1
