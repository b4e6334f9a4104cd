# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Rules come, are replaced under traffic, and go: with their device, their namespace,
# or by command; and the module stays as long. Sourced after hook-lib.sh.

# filter NAME LIST: creates it, or swaps it
filter()
{
	mkdir -p "$TMP/named"
	"$BALEEN" build -o "$TMP/named/$1" "$2" && cat "$TMP/named/$1" >/dev/baleen
}

# dummy NAME...: in $B
dummy()
{
	local name

	for name in "$@"; do
		ip -n "$B" link add "$name" type dummy || bail "no $name"
	done
}

# asked NAME: how many rules ask this filter
asked()
{
	"$BIND" --asked "$1"
}

# wait_unasked NAME: until none does; a namespace is taken apart after its last user
# has gone, by a thread of the kernel
wait_unasked()
{
	local deadline=$((SECONDS + 60))

	until [ "$(asked "$1")" = 0 ]; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
	done
}

# --- by command -----------------------------------------------------------

test_replace()
{
	local version

	check "replace: hook" hook veth-b --count seen="$TMP/many.bln" --drop many="$TMP/many.bln"
	judges "replace: before" "$TMP/many"
	version=$(hook --show veth-b | sed -n 's/.* version \([0-9]*\) .*/\1/p')
	check "replace: another order, one with what it has, a third" hook veth-b --replace \
		--version "$version" --drop many=- --allow third="$TMP/free.bln" --count seen=-
	is "replace: the counters go on" "$(hook --show veth-b | awk 'NR > 1 { print $1, $3 }' |
		paste -sd ' ')" "many 3000 third 0 seen 3000"
	judges "replace: after" "$TMP/many"
	is "replace: and count" "$(hook --show veth-b | awk 'NR > 1 { print $1, $3 }' |
		paste -sd ' ')" "many 6000 third 3000 seen 3000"
	is "replace: their filters, too" "$(hook --show veth-b | awk 'NR > 1 { print $1, $7, $8, $9 }' |
		paste -sd ' ')" "many 1: 12000 6000 third 1: 3000 3000 seen 1: 6000 3000"
	refuses "replace: of the version before" ESTALE veth-b --replace --version "$version" \
		--drop many=-
	check "replace: hook goes" hook --off veth-b
}

test_named()
{
	check "named: a filter" filter shared "$TMP/many"
	check "named: two rules of two devices ask it" hook veth-b --drop many=kmod:shared
	check "named: the second" hook macv-b --count many=kmod:shared
	is "named: two ask" "$(asked shared)" 2
	judges "named: it is asked" "$TMP/many"
	is "named: nothing of it comes to the second" "$(counts macv-b | cut -d' ' -f1)" 0
	check "named: another list" filter shared "$TMP/free"
	lets_by "named: is in force at once" "$TMP/many"
	is "named: the second sees none of it" "$(counts macv-b | cut -d' ' -f1)" 0
	refuses "named: it cannot go" EBUSY --destroy shared
	check "named: one goes" hook --off macv-b
	check "named: the other has a filter of its own" hook veth-b --replace --drop many="$TMP/many.bln"
	is "named: nobody asks" "$(asked shared)" 0
	check "named: it goes" "$BIND" --destroy shared
	judges "named: its own is asked" "$TMP/many"
	check "named: hook goes" hook --off veth-b
}

# The sets of rules that replace each other: all drop the same.
RULES=(
	"--drop many=$TMP/many.bln"
	"--count c=$TMP/free.bln --drop x=kmod:shared"
	"--allow free=$TMP/free.bln --drop many=$TMP/many.bln vlan 7 --drop rest=kmod:shared"
	"$(for i in {1..15}; do echo "--count c$i=$TMP/listed.bln"; done) --drop many=kmod:shared"
)

# Every frame is judged by the rules before or by those behind.
test_under_traffic()
{
	local i failed=0 pid line n

	n=$(pick 40 100)
	sampled "sets of rules under traffic" "$n" 100
	check "under traffic: a filter" filter shared "$TMP/many"
	# shellcheck disable=SC2086 # words
	check "under traffic: hook" hook veth-b ${RULES[0]}
	mkfifo "$TMP/loop"
	"$TRAFFIC" --from "$FROM" --to "$TO" --listed "$TMP/many" --unlisted "$TMP/free" --expect \
		--loop >"$TMP/loop" 2>"$TMP/loop.err" &
	pid=$!
	exec 5<"$TMP/loop"
	read -r line <&5
	is "under traffic: it runs" "$line" running
	for ((i = 1; i <= n; i++)); do
		# shellcheck disable=SC2086 # words
		hook veth-b --replace ${RULES[i % 4]} || failed=$((failed + 1))
		[ $((i % 10)) -ne 0 ] || cat "$TMP/named/shared" >/dev/baleen || failed=$((failed + 1))
	done
	is "under traffic: $n sets of rules, $((n / 10)) images" "$failed" 0
	kill -INT "$pid"
	cat <&5 | sed 's/^/# /'
	wait "$pid"
	is "under traffic: no frame is misjudged" "$? $(<"$TMP/loop.err")" "0 "
	exec 5<&-
	check "under traffic: hook goes" hook --off veth-b
	check "under traffic: the filter goes" "$BIND" --destroy shared
}

# --- with the device ------------------------------------------------------

test_device()
{
	local name

	check "device: a filter" filter shared "$TMP/many"
	dummy gone moved named
	for name in gone moved named; do
		check "device: hook on $name" hook $name --drop many=kmod:shared
	done
	is "device: three ask" "$(asked shared)" 3
	ip -n "$B" link del gone
	is "device: deleted" "$(asked shared)" 2
	refuses "device: it has no rules" ENOENT --off gone
	ip -n "$B" link set moved netns "$A"
	is "device: moved to another namespace" "$(asked shared)" 1
	check_status "device: it has no rules there" 1 in_ns "$A" "$BIND" --show moved
	ip -n "$A" link set moved netns "$B"
	refuses "device: nor when it is back" ENOENT --show moved
	check "device: it gets new ones" hook moved --drop many=kmod:shared
	ip -n "$B" link set named name other
	check "device: renamed, it keeps them" hook --show other
	is "device: under its index" "$(hook --all | wc -l)" 2
	is "device: another namespace does not see them" "$(in_ns "$A" "$BIND" --all)" ""
	check_status "device: nor takes them off" 1 in_ns "$A" "$BIND" --off \
		"$(ip -n "$B" -o link show other | cut -d: -f1)"
	check_status "device: the module stays" 1 rmmod baleen
	ip -n "$B" link del moved
	check_status "device: with the last binding, too" 1 rmmod baleen
	ip -n "$B" link del other
	is "device: none asks" "$(asked shared)" 0
	check "device: the filter goes" "$BIND" --destroy shared
}

# waits: how often someone has waited for all packets that are on their way
TRACING=/sys/kernel/tracing
count_waits()
{
	[ -e "$TRACING/kprobe_events" ] || mount -t tracefs tracefs "$TRACING" || bail "no tracefs"
	echo 'p:baleen_waits synchronize_net' >"$TRACING/kprobe_events" || bail "no kprobes"
	echo 1 >"$TRACING/events/kprobes/baleen_waits/enable"
}

waits()
{
	awk '$1 == "baleen_waits" { print $2 }' "$TRACING/kprobe_profile"
}

# Each rule of its own filter and a shared one.
test_namespace()
{
	local C=bln$$-c i failed=0 n before began

	n=$(pick 30 100)
	sampled "devices of a namespace" "$n" 100
	make_netns "$C"
	check "namespace: a filter" filter shared "$TMP/many"
	for ((i = 1; i <= n; i++)); do
		ip -n "$C" link add "dummy$i" type dummy || bail "no dummy$i"
		in_ns "$C" "$BIND" "dummy$i" --drop own="$TMP/listed.bln" --drop many=kmod:shared ||
			failed=$((failed + 1))
	done
	is "namespace: $n devices have rules" "$failed" 0
	is "namespace: all ask" "$(asked shared)" "$n"
	is "namespace: all are listed in order" "$(in_ns "$C" "$BIND" --all)" \
		"$(ip -n "$C" -o link show type dummy | cut -d: -f1 | sort -n)"
	is "namespace: no others" "$(hook --all)" ""
	count_waits
	before=$(waits)
	began=${EPOCHREALTIME/./}
	check "namespace: it goes" ip netns del "$C"
	check "namespace: its rules, too" wait_unasked shared
	echo "# namespace: of $n devices in $(((${EPOCHREALTIME/./} - began) / 1000)) ms"
	i=$(($(waits) - before))
	is "namespace: nobody waits for the packets of each device ($i times for $n)" $((i < n)) 1
	check "namespace: the filter goes" "$BIND" --destroy shared
}

# A device goes while it gets rules: it has them for a moment or never.
test_races()
{
	local i status="" n

	n=$(pick 20 40)
	sampled "races" "$n" 40
	check "races: a filter" filter shared "$TMP/many"
	for ((i = 1; i <= n; i++)); do
		ip -n "$B" link add race type dummy || bail "no device"
		hook race --drop many=kmod:shared 2>>"$TMP/race.err" &
		ip -n "$B" link del race
		wait $!
		status+=$?
	done
	status=${status//1/}
	echo "# races: ${#status} of $n had them for a moment"
	is "races: the others found no device" "$(sort -u "$TMP/race.err" | sed 's/^BIND: ENODEV$//')" ""
	is "races: no rule is left" "$(asked shared) $(hook --all)" "0 "
	check "races: the filter goes" "$BIND" --destroy shared
}
