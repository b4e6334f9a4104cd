#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a boot does: every device with a kept state is filtered as it was, without a
# network, also one that comes late; one that cannot be takes none of the others
# with it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair

export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run BALEEN_CONF_DIR=$TMP/conf
mkdir "$TMP/conf"
VERDICT=$ROOT/build/tools/verdict
ASKED=(8.8.8.8 9.9.9.9 1.1.1.1 2.2.2.2 3.3.3.3)
# Everything but ids, and what packets were counted.
# shellcheck disable=SC2016 # of jq
UNCOUNTED='.[0] | del(.program_id, .program_name, .unmatched, .vital, .unparsed, .no_filter) |
	.sample |= .rate | del(.program_on_device.id) |
	.rules[] |= del(.packets, .packet_bytes)'

baleen() { in_ns "$B" "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" "$1" "${ASKED[@]}"; }
state() { baleen status -j "$1" | jq -c "$UNCOUNTED"; }

# power_cut: nothing of what is in memory is there any more
power_cut()
{
	unpin "$B"
	rm -rf "$TMP/run"
}

add_veth_c()
{
	ip -n "$B" link add veth-c type veth peer name veth-d && ip -n "$B" link set veth-c up
}

try_all()
{
	local b c

	printf '%s\n' 8.8.8.8 9.9.9.0/24 >"$TMP/list"
	printf '%s\n' 9.9.9.9 >"$TMP/good"
	printf '%s\n' "sample 5/s" "rule good allow" "feed $TMP/good" "rule bad drop" \
		"feed $TMP/list" >"$TMP/conf/veth-b.conf"
	printf '%s\n' "dry-run" "rule bad drop proto tcp dport 22" "feed $TMP/list" \
		>"$TMP/conf/veth-c.conf"
	prints "no device has a state" "" baleen restore --boot
	add_veth_c || bail "no second pair"
	check_status "apply" 3 baleen apply
	check "a ban" baleen add veth-b:bad 1.1.1.1 --ttl 1h --origin test --reason "for a while"
	check "one that ends" baleen add veth-b:bad 2.2.2.2 --ttl 2h --origin test
	check "one for ever" baleen add veth-b:bad 3.3.3.3
	is "all in force" "$(verdicts veth-b)" DPDDD
	b=$(state veth-b)
	c=$(state veth-c)
	power_cut
	is "nothing is on" "$(xdp_mode "$B" veth-b)$(xdp_mode "$B" veth-c)" offoff
	rm "$TMP/list" "$TMP/good"
	expect "boot" 0 "veth-b: attached, native, 2 rules
veth-c: attached, native, 1 rule, DRY RUN: drops nothing" "" baleen restore --boot
	is "all in force again" "$(verdicts veth-b)" DPDDD
	is "the status of one is as it was" "$(state veth-b)" "$b"
	is "that of the other, too" "$(state veth-c)" "$c"
	prints "once is enough" "veth-b: is attached already
veth-c: is attached already" baleen restore --boot
	power_cut
	check "two hours pass" sqlite3 "$(book_of "$B")" \
		"UPDATE single SET expires_ms = 1000 WHERE reason = '' AND expires_ms > 0"
	prints "one alone" "veth-b: attached, native, 2 rules" baleen restore --boot veth-b
	is "what has ended stays away" "$(verdicts veth-b)" DPDPD
	is "the other has nothing" "$(xdp_mode "$B" veth-c)" off
}

try_missing()
{
	ip -n "$B" link del veth-c
	power_cut
	prints "one is missing" "veth-b: attached, native, 2 rules
veth-c: not there yet" baleen restore --boot --wait 0
	is "the other is filtered" "$(verdicts veth-b)" DPDPD
	prints "of no device at all" "veth-x: not there yet" \
		baleen restore --boot --wait 0 veth-x
}

# It comes when those that were there are done; the bound is in steps.
try_late()
{
	local pid n

	power_cut
	nsenter "--net=/run/netns/$B" -- "$BALEEN" restore --boot --wait 60 >"$TMP/out" 2>&1 &
	pid=$!
	for ((n = 0; n < 1200; n++)); do
		[ "$(xdp_mode "$B" veth-b)" = off ] || break
		sleep 0.05
	done
	is "who is there is not kept waiting" "$(xdp_mode "$B" veth-b)" native
	check "one comes under another name" ip -n "$B" link add new0 type veth peer name veth-d
	check "and gets its own" ip -n "$B" link set new0 name veth-c
	check "it is waited for" wait "$pid"
	is "it is filtered" "$(xdp_mode "$B" veth-c)" native
}

# As a rule of udev does it, which gives the device its name afterwards.
try_before_named()
{
	local index other

	ip -n "$B" link del veth-c
	power_cut
	ip -n "$B" link add raw0 type veth peer name veth-d
	index=$(ip -n "$B" -j link show raw0 | jq '.[].ifindex')
	other=$(ip -n "$B" -j link show veth-b | jq '.[].ifindex')
	expect "no such number" 1 "" "baleen: no device has the number 9999" \
		baleen restore --boot --ifindex 9999 veth-c
	expect "another device has the name" 1 "" \
		"baleen: veth-b: is device $other, so that raw0, device $index, cannot get its name" \
		baleen restore --boot --ifindex "$index" veth-b
	is "nothing is on" "$(xdp_mode "$B" veth-b)$(xdp_mode "$B" raw0)" offoff
	prints "by its number" "veth-c: attached, native, 1 rule, DRY RUN: drops nothing" \
		baleen restore --boot --ifindex "$index" veth-c
	is "it is filtered before it has its name" "$(xdp_mode "$B" raw0)" native
	check "it gets its name" ip -n "$B" link set raw0 name veth-c
	prints "and is filtered still" "veth-c: is attached already" \
		baleen restore --boot --ifindex "$index" veth-c
	is "the status is of that name" "$(baleen status -j veth-c | jq -r '.[].device')" veth-c
}

try_damage()
{
	power_cut
	cp -a "$TMP/state" "$TMP/whole"
	dd if=/dev/urandom of="$(kept_of "$B")/veth-c/state.db" bs=4096 seek=1 count=4 conv=notrunc \
		status=none
	check_status "one is damaged" 1 baleen restore --boot
	is "it is named" "$(grep -c '^baleen: .*veth-c/state.db' "$TMP/err")" 1
	is "the other is filtered" "$(verdicts veth-b)" DPDPD
	power_cut
	rm -rf "$TMP/state"
	cp -a "$TMP/whole" "$TMP/state"
	rm "$(kept_of "$B")"/veth-c/feeds/*
	check_status "the copy of a feed is gone" 1 baleen restore --boot
	is "no filter goes on without it" "$(xdp_mode "$B" veth-c)" off
	is "the other is filtered still" "$(verdicts veth-b)" DPDPD
	rm -rf "$TMP/state"
	cp -a "$TMP/whole" "$TMP/state"
	check "whole again" baleen restore --boot
	is "it goes on" "$(xdp_mode "$B" veth-c)" native
}

try_usage()
{
	check_status "--boot --mode" 2 baleen restore --boot --mode native
	check_status "--wait alone" 2 baleen restore --wait 3 veth-b "$TMP/x"
	check_status "--wait for ever" 2 baleen restore --boot --wait x
	check_status "--ifindex of none" 2 baleen restore --boot --ifindex 3
	check_status "--ifindex of two" 2 baleen restore --boot --ifindex 3 veth-b veth-c
	check_status "--ifindex of no boot" 2 baleen restore --ifindex 3 veth-b "$TMP/x"
	check_status "--ifindex 0" 2 baleen restore --boot --ifindex 0 veth-b
}

try_all
try_missing
try_late
try_before_named
try_damage
try_usage
