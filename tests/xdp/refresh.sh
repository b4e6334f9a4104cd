#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# An upgrade: what this release attached is managed by a later one (tests/next),
# and moved to that one's program under traffic: no frame is lost or misjudged,
# and every counter goes on.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
NEXT=$(tests/next) || bail "no later release"
make_pair
cd "$TMP" || exit 2

N_LISTED=1000

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# next ARGUMENT...: the later release
next()
{
	in_ns "$B" "$NEXT" "$@"
}

# program: of veth-b
program()
{
	xdp_id "$B" veth-b
}

# stays NAME ID: this program is on veth-b still
stays()
{
	is "$1: the program stays" "$(program)" "$2"
}

# --- refused --------------------------------------------------------------

try_refused()
{
	local id

	check_status "two devices" 2 baleen refresh veth-b lo
	check_status "an option there is not" 2 baleen refresh --all veth-b
	refuses "no such device" "veth-x: no such device" baleen refresh veth-x
	refuses "nothing is attached" "baleen is not attached to veth-b" baleen refresh veth-b
	prints "nothing is attached anywhere" "" baleen refresh

	check "attach by the later release" next attach veth-b --drop listed
	id=$(program)
	refuses "not by an earlier release" "$(echo /sys/fs/bpf/baleen/ns*) was made by another \
version of baleen: detach and attach again" baleen refresh veth-b
	refuses "nor when no device is named" "$(echo /sys/fs/bpf/baleen/ns*) was made by another \
version of baleen: detach and attach again" baleen refresh
	stays "an earlier release" "$id"
	check "detach by the earlier release" baleen detach veth-b

	check "attach" baleen attach veth-b --drop listed
	id=$(program)
	refuses "without CAP_NET_ADMIN" "CAP_NET_ADMIN is missing: run this as root" \
		in_ns "$B" setpriv --bounding-set -all,+bpf,+perfmon -- "$NEXT" refresh veth-b
	stays "without CAP_NET_ADMIN" "$id"
	# The magic of the image in the map.
	# shellcheck disable=SC2046 # words
	check "a damaged map" bpftool map update pinned /sys/fs/bpf/baleen/ns*/"$id"/rule0 \
		key 0 0 0 0 value $(printf '0 %.0s' {1..64})
	check_status "is not taken over" 1 next refresh veth-b
	stays "a damaged map" "$id"
	check "detach" baleen detach veth-b

	check "attach without a link" baleen attach veth-b --no-link --drop listed
	check "somebody takes it off" ip -n "$B" link set dev veth-b xdp off
	refuses "out of force" "veth-b: the filter is not in force here (detached)" \
		next refresh veth-b
	prints "which is no error when all are meant" "" next refresh
	check "forget it" baleen detach veth-b
}

# --- what changes and what does not ---------------------------------------

# settings COMMAND...: of veth-b, but for ids
settings()
{
	"$@" status -j | jq -S 'map(del(.program_id, .program_is_current, .program_on_device.id))'
}

try_settings()
{
	local id before

	check "attach with all there is" baleen attach veth-b --allow one tcp-syn \
		--count seen=other proto udp dport 9,100-200 --drop listed --default drop \
		--dry-run --sample 5/m
	check "a rule before the others" baleen rule add veth-b --first --drop last=one vlan 7
	id=$(program)
	prints "of this release already" "veth-b: program $id is of this version already" \
		baleen refresh veth-b
	stays "of this release already" "$id"
	is "said as JSON" "$(baleen refresh -j | jq -c .)" \
		"[{\"device\":\"veth-b\",\"changed\":false,\"program_id\":$id}]"
	is "status says nothing of it" "$(baleen status veth-b | grep -c 'another version')" 0
	check "packets" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --unlisted listed --expect
	before=$(settings baleen)

	is "the later release shows the same" "$(settings next)" "$before"
	is "and that it is not its program" "$(next status veth-b | sed -n 2p)" \
		"  the program is of another version of baleen: 'baleen refresh veth-b' puts this one's on"
	check "refresh" next refresh
	is "in words" "$(<"$TMP/out")" "veth-b: program $(program) of this version in place of program $id"
	is "it is another program" "$([ "$(program)" -gt "$id" ] && echo yes)" yes
	is "all else is as it was, counters included" "$(settings next)" "$before"
	is "no other program is left" "$(echo /sys/fs/bpf/baleen/ns*/[0-9]*)" \
		"$(echo /sys/fs/bpf/baleen/ns*)/$(program)"
	id=$(program)
	prints "again: nothing to do" "veth-b: program $id is of this version already" \
		next refresh veth-b
	stays "again" "$id"
	check "unless it is told to" next refresh --force veth-b
	is "then it is another" "$([ "$(program)" -gt "$id" ] && echo yes)" yes
	is "with all as it was" "$(settings next)" "$before"
	check "detach" next detach veth-b
}

# An upgrade without a refresh: the later release changes what the earlier one
# attached. Each change puts its program on, except one in place.
try_managed()
{
	local id

	check "attach" baleen attach veth-b --drop listed
	id=$(program)
	check "the later release adds a host in place" next add veth-b:listed 192.0.2.77
	stays "in place" "$id"
	check "match sees it" next match veth-b:listed 192.0.2.77
	check "it swaps" next swap veth-b:listed other
	is "which puts its program on" "$(next status -j veth-b | jq '.[0].program_is_current')" true
	check "frames" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed other \
		--unlisted listed --expect
	check "it detaches" next detach veth-b
}

# --- under traffic --------------------------------------------------------

# frames: what veth-a has sent
frames()
{
	# shellcheck disable=SC2016 # of awk
	in_ns "$A" awk '$1 == "veth-a:" { print $11 }' /proc/net/dev
}

# wait_a_round: until each address was sent to the present program; a bound in
# steps, not in time
wait_a_round()
{
	local last i

	last=$(($(frames) + 4 * N_LISTED + 4 * N_LISTED / 128 + 129))
	for ((i = 0; i < 10000; i++)); do
		[ "$(frames)" -ge "$last" ] && return 0
	done
	return 1
}

# sample: of the counters, by the later release
sample()
{
	BALEEN=$NEXT counters "$B" veth-b >>samples
}

# refresh_between: samples before and after, a round of traffic on either side
refresh_between()
{
	wait_a_round && sample && sample && next refresh veth-b && sample && wait_a_round && sample
}

# try_traffic MODE [OPTION...]: of attach
try_traffic()
{
	local traffic line id

	set -- "${*#--}" "$@"
	check "$1: attach" baleen attach veth-b --drop listed --mode "${@:2}"
	id=$(program)
	rm -f samples fifo
	mkfifo fifo
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed listed --unlisted other --loop \
		--expect -j >fifo 2>traffic.err &
	traffic=$!
	exec 3<fifo
	read -r line <&3
	is "$1: traffic runs" "$line" running
	check "$1: refresh between two rounds of all addresses" refresh_between
	kill -INT "$traffic"
	cat <&3 >result
	wait "$traffic"
	is "$1: all listed dropped, all others passed" "$?$(<traffic.err)" 0
	is "$1: it was a new program" "$([ "$(program)" -gt "$id" ] && echo yes)" yes
	# shellcheck disable=SC2016 # of jq
	check "$1: no counter ever decreases" jq -se 'length == 4 and
		all(range(1; 4) as $i | range(5) as $k | .[$i][$k] >= .[$i - 1][$k]; .)' samples
	is "$1: every frame is counted once" "$(BALEEN=$NEXT counters "$B" veth-b)" \
		"$(jq -c '[.listed.sent, .listed.bytes, .unlisted.sent, .markers, 0]' result)"
	check "$1: detach" next detach veth-b
}

make_list listed "$N_LISTED" "$N_LISTED" 401
make_list other "$N_LISTED" "$N_LISTED" 402 --avoid listed
head -n 1 listed >one
try_refused
try_settings
try_managed
try_traffic native
try_traffic generic
try_traffic native --no-link
