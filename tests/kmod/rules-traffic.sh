# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What rules of the module do to packets, and what becomes of them with their device.
# Sourced by in-vm-rules.sh.

N_SWAPS=6
N_WRITERS=6

# --- verdicts ---

test_verdicts()
{
	local n

	n=$(wc -l <many)
	check "attach of $n addresses" baleen attach veth-b --backend kmod --drop many
	check "all of them are dropped, no other is" "$TRAFFIC" --from "$FROM" --to "$TO" \
		--listed many --unlisted free --expect -j
	is "each packet is counted once" "$(counters "$B" veth-b)" \
		"$(jq -c '[.listed.sent, .listed.bytes, .unlisted.sent, .markers, 0]' "$TMP/out")"
	check "dry run" baleen policy veth-b --dry-run
	check "dry run: all pass" "$TRAFFIC" --from "$FROM" --to "$TO" --unlisted many --expect
	is "dry run: counted as dropped" "$(device '.rules[0].packets')" $((2 * n))
	check "detach" baleen detach veth-b
	check "detached: all pass" "$TRAFFIC" --from "$FROM" --to "$TO" --unlisted many --expect
}

test_order()
{
	check "attach an allow rule before" baleen attach veth-b --backend kmod --allow one \
		--drop net --count c=any
	are "order" PDDP 192.0.2.1 192.0.2.2 198.51.100.7 198.51.100.8
	is "order: counters" "$(packets)" "one=1 net=2 c=1 unmatched=1"
	check "add" baleen add veth-b:net 198.51.100.8
	are "add: in force" D 198.51.100.8
	check "del" baleen del veth-b:net 198.51.100.7
	are "del: in force" P 198.51.100.7
	check "move" baleen rule move veth-b:one --last
	are "move: in force" D 192.0.2.1
	is "counters go on" "$(packets)" "net=4 c=2 one=1 unmatched=2"
	check "rule del" baleen rule del veth-b:net
	are "rule del: in force" PP 192.0.2.1 192.0.2.2
	check "default drop" baleen policy veth-b --default drop
	are "default drop: in force" PD 192.0.2.1 192.0.2.2
	check "qualifiers" baleen rule add veth-b --first --allow q=any proto udp dport 53
	are "qualifiers: in force" P 192.0.2.2
	check "detach" baleen detach veth-b
}

test_asked()
{
	check "a filter with a name" baleen build -o kmod:named one
	check "a rule that asks it" baleen attach veth-b --backend kmod --drop kmod:named
	are "it is asked" DP 192.0.2.1 192.0.2.2
	check "add to it" baleen add kmod:named 192.0.2.2
	are "add: in force at once" DD 192.0.2.1 192.0.2.2
	check "another image" baleen build -o kmod:named away
	are "swap: in force at once" PP 192.0.2.1 192.0.2.2
	check "detach" baleen detach veth-b
}

# --- changes under traffic ---

# swap_all: both images list the addresses that are sent
swap_all()
{
	local i

	for ((i = 0; i < N_SWAPS; i++)); do
		baleen swap veth-b:many "$( ((i % 2)) && echo many.bln || echo big.bln)" >/dev/null || return
		baleen rule move veth-b:c "$( ((i % 2)) && echo --last || echo --first)" \
			>/dev/null || return
	done
}

test_changes()
{
	local traffic line

	mkfifo fifo
	check "under traffic: attach" baleen attach veth-b --backend kmod --drop many --count c=one
	"$TRAFFIC" --from "$FROM" --to "$TO" --listed many --unlisted free --loop --expect -j \
		>fifo 2>traffic.err &
	traffic=$!
	exec 3<fifo
	read -r line <&3
	is "under traffic: it runs" "$line" running
	check "under traffic: $N_SWAPS images and $N_SWAPS orders" swap_all
	kill -INT "$traffic"
	cat <&3 >result
	wait "$traffic"
	is "under traffic: no packet is misjudged" "$?$(<traffic.err)" 0
	is "under traffic: each is counted once" "$(counters "$B" veth-b)" \
		"$(jq -c '[.listed.sent, .listed.bytes, .unlisted.sent, .markers, 0]' result)"
	check "under traffic: detach" baleen detach veth-b
}

# Nobody waits for a lock, and nobody's change is lost.
test_writers()
{
	local i jobs=() status=""

	check "many writers: attach" baleen attach veth-b --backend kmod --drop one
	for ((i = 0; i < N_WRITERS; i++)); do
		baleen rule add veth-b --count "w$i=net" >/dev/null 2>"writer$i" &
		jobs+=($!)
	done
	for i in "${jobs[@]}"; do
		wait "$i"
		status+=$?
	done
	is "many writers: all are done" "$status$(cat writer*)" "$(printf '0%.0s' $(seq "$N_WRITERS"))"
	is "many writers: each has its rule" "$(names | tr ' ' '\n' | sort | paste -s -d ' ')" \
		"one$(printf ' w%d' $(seq 0 $((N_WRITERS - 1))))"
	check "many writers: detach" baleen detach veth-b
}

# --- the end of a device ---

test_ends()
{
	ip -n "$B" link add name d0 type veth peer name d1 || bail "no veth"
	check "device: attach" baleen attach d0 --backend kmod --drop one
	ip -n "$B" link set d0 name d9
	is "device renamed: its rules have come along" "$(baleen status | head -n1)" \
		"d9: attached, kmod, priority 0"
	ip -n "$B" link del d9
	prints "device deleted: nothing is left" "nothing is attached in this network namespace" \
		baleen status
	ip netns add gone
	ip -n gone link add name e0 type veth peer name e1 || bail "no veth"
	check "namespace: attach" in_ns gone "$BALEEN" attach e0 --backend kmod --drop one
	is "namespace: its status" "$(in_ns gone "$BALEEN" status | head -n1)" \
		"e0: attached, kmod, priority 0"
	prints "namespace: another sees nothing of it" "[]" baleen status -j
	check_status "namespace: the module stays while it has rules" 1 rmmod baleen
	ip netns del gone
}

# The kernel takes namespaces down when it has time.
await_unused()
{
	local i

	for ((i = 0; i < 600; i++)); do
		[ "$(</sys/module/baleen/refcnt)" != 0 ] || return 0
		sleep 0.1
	done
	return 1
}

test_traffic()
{
	test_verdicts
	test_order
	test_asked
	test_changes
	test_writers
	test_ends
	check "namespace deleted: nothing asks the module" await_unused
}
