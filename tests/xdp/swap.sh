#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A hundred swaps under traffic, ten in `make check`: no frame is lost, misjudged or
# counted twice.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"

N_SWAPS=$(pick 10 100)
N_LISTED=1000
N_MORE=200000
N_ROUND=$((4 * N_LISTED + 4 * N_LISTED / 128 + 1)) # every address once, and the markers
# shellcheck disable=SC2016 # of jq
NEVER_DECREASES='length == $n and
	all(range(1; $n) as $i | range(5) as $k | .[$i][$k] >= .[$i - 1][$k]; .)'

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

	last=$(($(frames) + N_ROUND + 128))
	for ((i = 0; i < 10000; i++)); do
		[ "$(frames)" -ge "$last" ] && return 0
	done
	return 1
}

# swap_all: leaves one line of counters per swap in $TMP/samples and the ids
# of the programs in $TMP/programs
swap_all()
{
	local i image

	for ((i = 0; i < N_SWAPS; i++)); do
		image=$TMP/small.bln
		[ $((i % 2)) -eq 0 ] && image=$TMP/big.bln
		in_ns "$B" "$BALEEN" swap veth-b:listed "$image" || return
		counters "$B" veth-b >>"$TMP/samples" || return
		xdp_id "$B" veth-b >>"$TMP/programs"
		wait_a_round || return
	done
}

# try MODE [OPTION...]: of attach
try()
{
	local traffic line

	set -- "${*#--}" "$@"
	check "$1: attach" in_ns "$B" "$BALEEN" attach veth-b --drop "listed=$TMP/small.bln" \
		--mode "${@:2}"
	xdp_id "$B" veth-b >"$TMP/programs"
	: >"$TMP/samples"

	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$TMP/listed" \
		--unlisted "$TMP/unlisted" --loop --expect -j >"$TMP/fifo" 2>"$TMP/traffic.err" &
	traffic=$!
	exec 3<"$TMP/fifo"
	read -r line <&3
	is "$1: traffic runs" "$line" running
	check "$1: $N_SWAPS swaps, a round of all addresses after each" swap_all
	kill -INT "$traffic"
	cat <&3 >"$TMP/result"
	wait "$traffic"
	is "$1: all listed dropped, all others passed" "$?$(cat "$TMP/traffic.err")" 0

	is "$1: each swap was a new program" "$(sort -u "$TMP/programs" | wc -l)" $((N_SWAPS + 1))
	check "$1: a sample for each swap, no counter ever decreases" \
		jq -se --argjson n "$N_SWAPS" "$NEVER_DECREASES" "$TMP/samples"
	is "$1: every frame is counted once" "$(counters "$B" veth-b)" \
		"$(jq -c '[.listed.sent, .listed.bytes, .unlisted.sent, .markers, 0]' "$TMP/result")"
	check "$1: detach" in_ns "$B" "$BALEEN" detach veth-b
}

# Both images hold the listed addresses; the big one a hundred times as many more.
sampled "swaps" "$N_SWAPS" 100
make_pair "$A" "$B"
mkfifo "$TMP/fifo"
make_list "$TMP/listed" "$N_LISTED" "$N_LISTED" 201
make_list "$TMP/more" "$N_MORE" 0 202 --avoid "$TMP/listed"
cat "$TMP/listed" "$TMP/more" >"$TMP/big"
make_list "$TMP/unlisted" "$N_LISTED" "$N_LISTED" 203 --avoid "$TMP/big"
check "build the small image" "$BALEEN" build -o "$TMP/small.bln" "$TMP/listed"
check "build the big image" "$BALEEN" build -o "$TMP/big.bln" "$TMP/big"
try native
try generic
try native --no-link
