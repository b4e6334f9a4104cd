#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Filters in libxdp's dispatcher (attach --chain), for kernels that can replace
# functions of programs: alone and beside others, changed under traffic, killed,
# and taken out by xdp-loader.
#
#      priority 5    an object of ours, loaded by xdp-loader    drops BEFORE
#      priority 10   baleen attach --chain                      drops LISTED
#      priority 10   xdp-filter, later in the alphabet          drops FILTERED
#
# Not executable, because it is for the machines of chain.sh.

source "$(dirname "$0")/../lib.sh"
source tests/kernels/lib.sh

VERDICT=$ROOT/build/tools/verdict
BEFORE=$TMP/before FILTERED=$TMP/filtered

# chain: its programs in order
chain()
{
	on_b xdp-loader status veth-b | awk '$1 == "=>" { print $2, $3 }' | paste -sd ' '
}

# of_status PATH: a value of veth-b
of_status()
{
	in_ns "$B" "$BALEEN" status -j veth-b | "$JSON" - "[0]$1"
}

# leftovers: what is pinned: dispatchers, devices of ours, programs of those
leftovers()
{
	(shopt -s nullglob && cd /sys/fs/bpf && set -- xdp/dispatch-* && echo -n "$# " &&
		set -- baleen/ns* && echo -n "$# " && set -- baleen/ns*/* && echo "$#")
}

# attach_chained NAME [OPTION...]: rule drop, from LISTED
attach_chained()
{
	check "$1: baleen attach --chain" on_b "$BALEEN" attach veth-b --chain \
		--drop drop="$TMP/drop.bln" "${@:2}"
}

detach_chained()
{
	check "$1: baleen detach" on_b "$BALEEN" detach veth-b
	is "$1: nothing is left" "$(xdp_mode "$B" veth-b) $(leftovers)" "off 0 0 0"
}

# chained_alone MODE: attached, swapped, and left on
chained_alone()
{
	attach_chained "$1" --mode "$1"
	is "$1: attached in that mode" "$(xdp_mode "$B" veth-b)" "$1"
	judges "$1: listed sources are dropped, others pass" "$LISTED"
	check "$1: baleen swap" on_b "$BALEEN" swap veth-b:drop "$TMP/other.bln"
	judges "$1: after swap the other list is dropped, others pass" "$OTHER"
	is "$1: one program, one dispatcher" "$(chain) $(leftovers)" "10 baleen_xdp 1 1 1"
	is "$1: the counters went on" "$(of_status .rules[0].packets)" 800
}

# Every command finds it.
chained_commands()
{
	is "what status says" \
		"$(of_status .state) $(of_status .place) $(of_status .program_on_device.name)" \
		"attached chain xdp_dispatcher"
	on_b xdp-loader status veth-b >"$TMP/out"
	shows "xdp-loader shows it" "=> +10 +baleen_xdp +$(of_status .program_id) .* XDP_PASS"
	check "a dry run" on_b "$BALEEN" policy veth-b --dry-run
	lets_by "nothing is dropped" "$OTHER"
	check "baleen save" on_b "$BALEEN" save veth-b -o "$TMP/saved"
	detach_chained "saved"
	check "baleen restore" on_b "$BALEEN" restore veth-b "$TMP/saved"
	is "the way comes back" "$(of_status .state) $(of_status .place)" "attached chain"
}

# A filter between two other programs, which stay where they are.
chained_between()
{
	local address all="5 baleen_xdp 10 baleen_xdp 10 xdpfilt_alw_ip"

	sed -n '1,10p;391,400p' "$OTHER" >"$FILTERED"
	sed -n '21,40p;371,380p' "$OTHER" >"$BEFORE"
	sort "$LISTED" "$FILTERED" "$BEFORE" >"$TMP/all"
	sort "$FILTERED" "$BEFORE" >"$TMP/others"
	check "between: an object" "$BALEEN" compile -o "$TMP/before.bpf.o" "$BEFORE"
	check "between: xdp-loader load" \
		on_b xdp-loader load -m native -P 5 veth-b "$TMP/before.bpf.o"
	check_status "between: without --chain it is refused" 1 \
		on_b "$BALEEN" attach veth-b --drop drop="$TMP/drop.bln"
	shows_error "between: which says what to do" "chain of XDP programs .*: --chain joins it"
	attach_chained "between" --mode native
	check "between: xdp-filter load" on_b xdp-filter load -m native -f ipv4,ipv6 veth-b
	while read -r address; do
		on_b xdp-filter ip -m src "$address" || not_ok "between: xdp-filter ip $address"
	done <"$FILTERED"
	is "between: the chain" "$(chain)" "$all"
	is "between: status finds ours" "$(of_status .state)" attached
	judges "between: each drops its list" "$TMP/all"
	check "between: baleen swap" on_b "$BALEEN" swap veth-b:drop "$TMP/drop.bln"
	is "between: the chain stays" "$(chain)" "$all"
	judges "between: after swap each drops its list" "$TMP/all"
	check "between: baleen detach" on_b "$BALEEN" detach veth-b
	is "between: the others stay" "$(chain) $(leftovers)" \
		"5 baleen_xdp 10 xdpfilt_alw_ip 1 0 0"
	judges "between: and drop what they did" "$TMP/others"
	lets_by "between: ours passes" "$LISTED"
	check "between: xdp-filter unload" on_b xdp-filter unload veth-b
	check "between: xdp-loader unload" on_b xdp-loader unload -a veth-b
}

# shows_error NAME TEXT: the errors of the last check have it
shows_error()
{
	cp "$TMP/err" "$TMP/out"
	shows "$@"
}

# What xdp-loader takes out is noticed; what is there instead is not ours.
chained_unloaded()
{
	attach_chained "unloaded" --mode native
	check "unloaded: xdp-loader unload" \
		on_b xdp-loader unload -i "$(of_status .program_id)" veth-b
	check_status "unloaded: status fails" 1 on_b "$BALEEN" status veth-b
	is "unloaded: status knows" "$(of_status .state)" detached
	check_status "unloaded: swap is refused" 1 \
		on_b "$BALEEN" swap veth-b:drop "$TMP/other.bln"
	attach_chained "unloaded, again" --mode native
	check "unloaded: xdp-filter load" on_b xdp-filter load -m native -f ipv4,ipv6 veth-b
	check "unloaded: xdp-loader unload beside another" \
		on_b xdp-loader unload -i "$(of_status .program_id)" veth-b
	is "unloaded: status knows who is there" \
		"$(of_status .state) $(of_status .program_on_device.name)" "replaced xdp_dispatcher"
	check "unloaded: baleen detach" on_b "$BALEEN" detach veth-b
	is "unloaded: the other stays" "$(chain) $(leftovers)" "10 xdpfilt_alw_ip 1 0 0"
	check "unloaded: xdp-filter unload" on_b xdp-filter unload veth-b
}

# chained_load NAME RULE_OPTION...: the verifier takes it as a component
chained_load()
{
	check "$1" on_b "$BALEEN" attach veth-b --chain --mode native --force \
		--accept-fpp 0.5 "${@:2}"
	sizes
	check "$1: baleen detach" on_b "$BALEEN" detach veth-b
}

chained_kinds()
{
	local rules=() i n list=$TMP/kinds

	printf '%s\n' 192.0.2.0/25 198.51.100.7 2001:db8::/29 2001:db8:1:2::/64 2001:db8::1 \
		'!192.0.2.9' >"$list"
	chained_load "prefixes" --drop a="$list"
	"$BALEEN" build -o "$list.bln" --capacity 1000000 "$LISTED" || bail "baleen build"
	chained_load "16-bit slots" --drop a="$list.bln"
	"$BALEEN" build -o "$list.bln" --kind bloom --fpp 0.001 "$LISTED" || bail "baleen build"
	chained_load "Bloom" --drop a="$list.bln"
	echo "tcp,192.0.2.1,10.66.0.2,1024,22" >"$list"
	"$BALEEN" build -o "$list.bln" --key flow "$list" || bail "baleen build"
	chained_load "flows, qualifiers, samples" --drop a="$list.bln" proto tcp dport 22,80-90 \
		--default pass --sample 100/s
	n=$(pick 4 16)
	for ((i = 1; i < n; i++)); do
		rules+=(--allow "allow$i=$TMP/drop.bln" dport "$i")
	done
	chained_load "$n rules" "${rules[@]}" --drop a="$TMP/drop.bln" --default drop
}

# Frames of 8,900 bytes have more than one buffer.
chained_jumbo()
{
	local pad=8834

	ip -n "$A" link set veth-a mtu 9000 && ip -n "$B" link set veth-b mtu 9000 || bail "no MTU"
	attach_chained "MTU 9000" --mode native --json
	is "MTU 9000: with multi-buffer frames" "$("$JSON" "$TMP/out" .frags)" true
	judges "MTU 9000: listed sources are dropped, others pass" "$LISTED" --pad "$pad"
	check "MTU 9000: baleen swap" on_b "$BALEEN" swap veth-b:drop "$TMP/other.bln"
	judges "MTU 9000: after swap the others are" "$OTHER" --pad "$pad"
	detach_chained "MTU 9000"
	ip -n "$A" link set veth-a mtu 1500
	ip -n "$B" link set veth-b mtu 1500
}

# Between two programs both are asked, so no frame goes by without a filter.
chained_traffic()
{
	local traffic line i

	mkfifo "$TMP/fifo"
	sort "$LISTED" "$OTHER" >"$TMP/wide"
	attach_chained "traffic" --mode native
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$LISTED" --unlisted "$FREE" \
		--loop --expect >"$TMP/fifo" 2>"$TMP/traffic.err" &
	traffic=$!
	exec 3<"$TMP/fifo"
	read -r line <&3
	for i in "$TMP/wide" "$LISTED" "$TMP/wide"; do
		check "traffic ($line): baleen swap" on_b "$BALEEN" swap veth-b:drop "$i"
	done
	kill -INT "$traffic"
	cat <&3 >"$TMP/result"
	wait "$traffic"
	is "traffic: all listed dropped, all others passed" "$?$(cat "$TMP/traffic.err")" 0
	detach_chained "traffic"
}

# A device that is gone leaves nothing, also of what libxdp keeps.
chained_gone()
{
	ip -n "$B" link add name eth7 type veth peer name eth8 || bail "no device"
	check "gone: attach to a device" on_b "$BALEEN" attach eth7 --chain \
		--drop drop="$TMP/drop.bln"
	ip -n "$B" link del eth7
	check_status "gone: status fails" 1 on_b "$BALEEN" status eth7
	shows "gone: status knows" "NOT IN FORCE: device [0-9]+ is gone"
	check "gone: baleen detach --gone" on_b "$BALEEN" detach --gone
	is "gone: nothing is left" "$(leftovers)" "0 0 0"
}

# kill_points: of the last trace, a line `NAME K` for the Kth call of NAME: each
# that changes the device, every fourth that changes what is pinned, in `make check` every
# 24th
kill_points()
{
	awk -v every="$(pick 24 4)" '!/^[a-z]/ || /^execve/ { next }
		{ name = $0; sub(/\(.*/, "", name); k = ++n[name] }
		/^sendto.*IFLA_XDP|^sendto.*RTM_SETLINK/ { print name, k }
		/BPF_OBJ_PIN|^mkdir|^rmdir|^unlink/ && ++changes % every == 1 { print name, k }' \
		"$TMP/trace"
}

# chained_killed NAME START COMMAND...: kill -9 at some of its calls: listed
# sources are dropped, if START left a filter, and others pass; then the next
# command enforces its rules and leaves nothing of the dead one
chained_killed()
{
	local name k n=0 bad='' want=$2 now

	in_ns "$B" strace -o "$TMP/trace" "${@:3}" >"$TMP/out" 2>&1 || bail "$1 fails under strace"
	while read -r name k; do
		n=$((n + 1))
		if [ "$want" = none ]; then
			on_b "$BALEEN" detach veth-b >"$TMP/out" 2>&1
		fi
		{ in_ns "$B" strace -qq -o "$TMP/log" -e trace="$name" \
			-e inject="$name:signal=KILL:when=$k" "${@:3}"; } >"$TMP/out" 2>&1
		[ $? -eq 137 ] || bad+=" $name $k: not killed;"
		now=$(in_ns "$B" "$VERDICT" veth-b "$(head -n 1 "$LISTED")" "$(head -n 1 "$FREE")" 2>&1)
		case $want$now in
		filterDP | noneDP | nonenone) ;;
		*) bad+=" $name $k: $now;" ;;
		esac
		if [ "$now" = DP ]; then
			on_b "$BALEEN" swap veth-b:drop "$TMP/drop.bln" 2>"$TMP/err"
		else
			on_b "$BALEEN" attach veth-b --chain --drop drop="$TMP/drop.bln" 2>"$TMP/err"
		fi >"$TMP/out" || bad+=" $name $k: then $(<"$TMP/err");"
		now="$(chain) $(leftovers)"
		[ "$now" = "10 baleen_xdp 1 1 1" ] || bad+=" $name $k: left $now;"
	done < <(kill_points)
	is "$1 killed at $n places" "$bad" ""
}

chained_kills()
{
	attach_chained "killed" --mode native
	chained_killed swap filter "$BALEEN" swap veth-b:drop "$TMP/drop.bln"
	on_b "$BALEEN" detach veth-b >"$TMP/out"
	chained_killed attach none "$BALEEN" attach veth-b --chain --drop drop="$TMP/drop.bln"
	detach_chained "killed"
}

mkdir -p /run/netns
PATH=$PATH:/vm # strace
make_lists || bail "no lists"
make_pair
"$BALEEN" build -o "$TMP/drop.bln" "$LISTED" && "$BALEEN" build -o "$TMP/other.bln" "$OTHER" ||
	bail "baleen build"
chained_alone native
chained_commands
detach_chained native
chained_alone generic
detach_chained generic
chained_between
chained_unloaded
chained_kinds
chained_jumbo
chained_traffic
chained_gone
chained_kills
