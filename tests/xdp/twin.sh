#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The twin of an attached program: says what real frames meet, and why, and no
# counter of the device moves. Where the program is another release's
# (tests/next), it says so, and what that does instead.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
NEXT=$(tests/next) || bail "no later release"
make_pair
cd "$TMP" || exit 2

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# ask LINE...: what the twin says of these packets, a line each; first of the program
ask()
{
	printf '%s\n' "$@" | in_ns "$B" "$ROOT/build/tools/twin" veth-b
}

# says NAME WANT LINE...: with / between the lines of the answer
says()
{
	is "$1" "$(ask "${@:3}" 2>&1 | paste -sd /)" "$2"
}

# uncounted NAME: not one frame has been counted on veth-b, no event made
uncounted()
{
	is "$1" "$(baleen status -j veth-b | jq -c '.[0] | [.rules[].packets, .unmatched, .vital,
		.unparsed[], .sample.sampled, .sample.not_sampled] | unique')" '[0]'
}

# --- refused --------------------------------------------------------------

try_refused()
{
	is "nothing is attached" "$(ask 2>&1)" "twin: baleen is not attached to veth-b"
	check "attach" baleen attach veth-b --drop one
	is "a user has no twin" "$(in_ns "$B" setpriv --bounding-set -all -- \
		"$ROOT/build/tools/twin" veth-b 2>&1 </dev/null)" \
		"twin: CAP_BPF is missing: run this as root"
	check "detach" baleen detach veth-b
}

# --- who decides ----------------------------------------------------------

try_rules()
{
	local to4=198.51.100.1 to6=2001:db8::1

	check "attach rules of all kinds" baleen attach veth-b --count seen=nets \
		--allow office=one proto tcp dport 22,100-200 --drop new=one tcp-syn \
		--drop tagged=one vlan 7 --drop nets --sample 1/s
	says "rules, qualifiers, both families" "same/pass rule office/pass rule office/drop rule \
new/pass unmatched/pass unmatched/drop rule tagged/pass unmatched/drop rule nets counted \
seen/drop rule nets counted seen/pass unmatched" \
		"tcp,192.0.2.1,$to4,9,22 syn" "tcp,192.0.2.1,$to4,9,150 ack" \
		"tcp,192.0.2.1,$to4,9,99 syn" "tcp,192.0.2.1,$to4,9,99 ack" \
		"udp,192.0.2.1,$to4,9,22" "icmp,192.0.2.1,$to4,0,0 vlan 7" \
		"icmp,192.0.2.1,$to4,0,0 vlan 8" "udp,203.0.113.9,$to4,1,2" \
		"ipv6-icmp,2001:db8:1::5,$to6,0,0" "icmp,192.0.2.2,$to4,0,0"
	uncounted "no counter of the device has moved"
	check "what changes in place" baleen add veth-b:nets 192.0.2.2
	says "is seen at once" "same/drop rule nets" "icmp,192.0.2.2,$to4,0,0"
	check "a dry run" baleen policy veth-b --dry-run
	says "drops nothing" "same/pass rule nets" "icmp,192.0.2.2,$to4,0,0"
	check "an end of the events" baleen policy veth-b --no-sample
	says "leaves the program of this release" "same/pass rule nets" "icmp,192.0.2.2,$to4,0,0"
	uncounted "and no counter has moved yet"
	check "detach" baleen detach veth-b

	check "attach, default drop" baleen attach veth-b --allow office=one --default drop --force
	says "default drop" "same/pass rule office/drop unmatched/drop unmatched" \
		"udp,192.0.2.1,$to4,1,2" "udp,192.0.2.2,$to4,1,2" "ipv6-icmp,fe80::1,ff02::1,0,0"
	uncounted "no counter of the default either"
	check "detach" baleen detach veth-b

	check "attach by the whole flow" baleen attach veth-b --key flow --drop flows
	says "a flow" "same/drop rule flows/pass unmatched" \
		"tcp,192.0.2.1,$to4,40000,443" "tcp,192.0.2.1,$to4,40001,443"
	check "detach" baleen detach veth-b
}

# --- real frames ----------------------------------------------------------

# A thousand addresses of each kind, then as many frames with them.
try_addresses()
{
	local mode

	make_list listed 700 300 501
	make_list other 700 300 502 --avoid listed
	sed 's/^/udp,/; s/$/,198.51.100.1,9,9/; /:/s/198.51.100.1/2001:db8::1/' listed other >asked
	for mode in native generic; do
		check "$mode: attach" baleen attach veth-b --drop listed --mode "$mode"
		in_ns "$B" "$ROOT/build/tools/twin" veth-b <asked >answers
		is "$mode: 1,000 listed, then 1,000 others" "$(uniq -c answers | awk '{ print $1, $2, $4 }' |
			paste -sd /)" "1 same /1000 drop listed/1000 pass "
		uncounted "$mode: nothing is counted"
		check "$mode: so do frames fare" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" \
			--listed listed --unlisted other --expect
		check "$mode: detach" baleen detach veth-b
	done
}

# --- another release's program --------------------------------------------

# That one does not take 0x9100 for a tag, so the two disagree there; both agree
# on all that the frames of a question can have.
try_other_release()
{
	check "attach by the later release" in_ns "$B" "$NEXT" attach veth-b --drop one
	is "which is not understood" "$(ask 2>&1 | sed "s|.*/ns[^ ]*|it|")" \
		"it was made by another version of baleen: detach and attach again"
	check "detach" baleen detach veth-b
	check "attach" baleen attach veth-b --drop one
	printf 'udp,192.0.2.1,198.51.100.1,1,2\nudp,192.0.2.2,198.51.100.1,1,2\n' |
		in_ns "$B" "$NEXT_TWIN" veth-b >answers
	is "the later release's twin is another, and the program asked itself" \
		"$(paste -sd / answers)" "other/drop rule one live drop/pass unmatched live pass"
	is "which has counted" "$(baleen status -j veth-b | jq -c '.[0] |
		[.rules[0].packets, .unmatched]')" '[1,1]'
	check "detach" baleen detach veth-b
}

echo 192.0.2.1 >one
printf '203.0.113.0/24\n2001:db8:1::/48\n' >nets
echo tcp,192.0.2.1,198.51.100.1,40000,443 >flows
NEXT_TWIN=$(dirname "$NEXT")/tools/twin
try_refused
try_rules
try_addresses
try_other_release
