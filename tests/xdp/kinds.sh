#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A filter of each kind on a device: no listed frame passes, others do but for
# those that the filter takes for listed; status, info, why and match agree. Then
# keys come and go, and kinds follow one another, under traffic.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

VERDICT=$ROOT/build/tools/verdict
LISTED=$TMP/listed FREE=$TMP/free
SEED=20120
cd "$TMP" || exit 2

baleen() { in_ns "$B" "$BALEEN" "$@"; }
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }
frames() { "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" "$@"; }

# attach [OPTION...]: one rule, bad; lossy filters may hold an address of this host
attach()
{
	[ -z "$(xdp_id "$B" veth-b)" ] || baleen detach veth-b >out
	baleen attach veth-b --mode native --no-state --force --accept-fpp 0.5 "$@" >out 2>err ||
		bail "cannot attach: $(<err)"
}

# false_hits_are_few NAME N: of the free addresses N match the image, which is not
# more than its rate allows: five standard deviations
false_hits_are_few()
{
	local sound

	sound=$(jq -n --argjson n "$2" --argjson m "$(wc -l <"$FREE")" --slurpfile info info \
		'($info[0][0].fpp * $m) as $mean | $n <= $mean + 5 * ($mean | sqrt) +
			(if $mean > 0 then 1 else 0 end)')
	is "$1: false hits as the rate says" "$sound" true
}

names=()

# try_kind NAME KIND [OPTION...]: of `baleen build`
try_kind()
{
	local name=$1 kind=$2 n_listed n_hits

	names+=("$name")
	check "$name: build" baleen build -o "$name.bln" --seed "$SEED" --kind "${@:2}" "$LISTED"
	baleen info -j "$name.bln" >info
	baleen match -f "$FREE" "$name.bln" >hits
	baleen match -v -f "$FREE" "$name.bln" >rest
	cat "$LISTED" hits >caught
	false_hits_are_few "$name" "$(wc -l <hits)"
	attach --drop "bad=$name.bln"
	check "$name: what matches is dropped, all else passes" \
		frames --listed caught --unlisted rest --expect
	n_listed=$(wc -l <caught)
	is "$name: all of it is counted" "$(counters "$B" veth-b | jq -c '.[0]')" "$n_listed"
	is "$name: status and info agree" \
		"$(baleen status -j veth-b | jq -c '[.[0].rules[0].tables[] | [.family, .kind, .bytes]]')" \
		"$(jq -c '[.[0].tables[] | [.family, .kind, .bytes]]' info)"
	is "$name: it is of the kind" "$(jq -r '[.[0].tables[].kind] | unique[]' info)" "$kind"
	n_hits=$(baleen match -c -f "$LISTED" veth-b:bad)
	is "$name: match of the live rule" "$n_hits" "$(wc -l <"$LISTED")"
	baleen why -j veth-b "$(head -n 1 "$LISTED")" >why
	is "$name: why" "$(jq -r '.[].verdict' why)" drop
}

# try_prefix NAME [OPTION...]: beside the directory of prefixes
try_prefix()
{
	printf '198.18.7.0/24\n!198.18.7.9\n2001:db8:5::/48\n' | cat "$LISTED" - >prefixes
	attach --seed "$SEED" "${@:2}" --drop "bad=prefixes"
	is "$1: beside prefixes" \
		"$(dropped 198.18.7.{0,8,9,255} 198.18.8.0 "$(head -n 1 "$LISTED")" \
			2001:db8:5:6::7)" DDPDPDD
}

# --- under traffic ---

# begin NAME: listed and free frames, again and again
begin()
{
	local line

	rm -f fifo
	mkfifo fifo
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$LISTED" --unlisted quiet \
		--loop --expect >fifo 2>traffic.err &
	traffic=$!
	exec 3<fifo
	read -r line <&3
	is "$1: traffic runs" "$line" running
}

# end NAME
end()
{
	kill -INT "$traffic"
	cat <&3 >result
	wait "$traffic"
	is "$1: no listed frame passed, all others did" "$?$(<traffic.err)" 0
	exec 3<&-
}

# come_and_go ROUNDS: all of `more`, which the map has room for; typed, since those
# of a file are changed in one step, aside
come_and_go()
{
	local i keys

	mapfile -t keys <more
	for ((i = 0; i < $1; i++)); do
		baleen add --accept-fpp 0.5 veth-b:bad "${keys[@]}" &&
			baleen del veth-b:bad "${keys[@]}" || return
	done
}

# try_live NAME [OPTION...]: 1,000 keys come and go in place
try_live()
{
	local id

	attach --capacity 1000 --seed "$SEED" "${@:2}" --drop "bad=$LISTED"
	id=$(xdp_id "$B" veth-b)
	baleen match -v -f "$FREE" veth-b:bad >quiet
	begin "$1"
	check "$1: 1,000 keys are added and deleted" come_and_go 10
	end "$1"
	is "$1: in place" "$(xdp_id "$B" veth-b)" "$id"
	is "$1: none is left" "$(baleen match -c -f more veth-b:bad)" 0
}

# Fingerprints do not move: keys are added in place while the others are asked, and none is
# deleted, since another may look the same.
try_prints()
{
	local id keys

	attach --capacity 1000 --seed "$SEED" "${@:2}" --drop "bad=$LISTED"
	id=$(xdp_id "$B" veth-b)
	baleen match -v -f "$FREE" veth-b:bad | head -n 300 >quiet
	mapfile -t keys <more
	begin "$1"
	check "$1: keys are added" baleen add --accept-fpp 0.5 veth-b:bad "${keys[@]}"
	end "$1"
	is "$1: in place" "$(xdp_id "$B" veth-b)" "$id"
	is "$1: all are there" "$(baleen match -c -f more veth-b:bad)" "$(wc -l <more)"
	is "$1: and the listed" "$(baleen match -c -f "$LISTED" veth-b:bad)" "$(wc -l <"$LISTED")"
	check_status "$1: none is deleted in place" 1 baleen del veth-b:bad "${keys[0]}"
	check "$1: show draws the live rule" baleen show veth-b:bad "${keys[0]}"
	is "$1: and finds a key" "$(tail -n 1 "$TMP/out") $(grep -c ': in slot [0-3] of ' "$TMP/out")" \
		"${keys[0]}: maybe 1"
	check "$1: in JSON" baleen show -j veth-b:bad "${keys[0]}"
	is "$1: it has as many slots in use as there are entries" \
		"$(jq -c '.tables[] | .summary.used == .keys and .keys > 0' "$TMP/out" | sort -u)" true
	check "$1: as a picture" baleen show --svg veth-b:bad "${keys[0]}"
	is "$1: of the same key" "$(grep -c "a = ${keys[0]}: maybe" "$TMP/out")" 1
}

# A quotient filter is built aside, and the program gives way to another one.
# try_anew NAME [OPTION...]: so is one whose semi-sorted buckets no single store changes
try_anew()
{
	local id

	attach --seed "$SEED" "${@:2}" --capacity 1000 --drop "bad=$LISTED"
	id=$(xdp_id "$B" veth-b)
	baleen match -v -f "$FREE" veth-b:bad | head -n 300 >quiet
	begin "$1"
	check "$1: a key is added" baleen add --accept-fpp 0.5 veth-b:bad "$(head -n 1 more)"
	end "$1"
	is "$1: by another program" "$(($(xdp_id "$B" veth-b) != id))" 1
	is "$1: it is dropped, others are not" \
		"$(dropped "$(sed -n 1p more)" "$(sed -n 2p more)")" DP
}

# Copies count in a live rule, too: a key that was added twice goes with the second.
try_copies()
{
	local key

	attach --seed "$SEED" --kind quotient --fpp 0.01 --copies --capacity 1000 \
		--drop "bad=$LISTED"
	key=$(baleen match -v -f more veth-b:bad | head -n 1)
	check "copies: a key is added" baleen add veth-b:bad "$key"
	check "copies: and again" baleen add veth-b:bad "$key"
	is "copies: it is there twice" "$(baleen match --count-copies veth-b:bad "$key")" "2 $key"
	check "copies: it is deleted" baleen del veth-b:bad "$key"
	is "copies: once, and is dropped" "$(dropped "$key")" D
	check "copies: it is deleted again" baleen del veth-b:bad "$key"
	is "copies: it passes" "$(dropped "$key")" P
	is "copies: no listed key is lost" "$(baleen match -c -f "$LISTED" veth-b:bad)" \
		"$(wc -l <"$LISTED")"
}

# A program of another kind each time, while packets come.
try_swaps()
{
	local name

	attach --drop "bad=cuckoo.bln"
	cp "$FREE" quiet
	for name in "${names[@]}"; do
		comm -23 <(sort quiet) <(baleen match -f "$FREE" "$name.bln" | sort) >rest
		mv rest quiet
	done
	begin "swaps"
	for name in "${names[@]}"; do
		check "swap to $name" \
			baleen swap veth-b:bad "$name.bln" --force --accept-fpp 0.5
	done
	end "swaps"
}

# --- refused ---

# try_refused: what is no field of a packet, and where a scan would be too long
try_refused()
{
	baleen detach veth-b >out
	printf 'a\nb\n' >words
	check "an image of strings" baleen build -o words.bln --key string words
	check_status "it cannot be in a rule" 1 baleen attach veth-b --drop words.bln
	is "and why" "$(<err)" \
		"baleen: rule 'words': its keys are strings, which are no field of a packet"
	check_status "nor without a state" 1 baleen attach veth-b --no-state --drop words.bln
	is "and why" "$(<err)" "baleen: words: its keys are strings, which are no field of a packet"
	echo 10001:001010 >prints
	check "an image of fingerprints" baleen build -o prints.bln --key fingerprint \
		--kind quotient --remainder-bits 6 prints
	check "one that loses keys" baleen build -o lossy.bln --key string --partner xor \
		--slot-bits 16 --buckets 10 words
	for state in "" --no-state; do
		check_status "neither can be in a rule" 1 \
			baleen attach veth-b ${state:+"$state"} --drop prints.bln
		is "which says why" "$(grep -c \
			"prints.*: its keys are fingerprints, which are no field of a packet" err)" 1
		check_status "of any rate" 1 \
			baleen attach veth-b ${state:+"$state"} --drop lossy.bln
		is "and says so" "$(grep -c \
			"lossy.*: its keys are strings, which are no field of a packet" err)" 1
	done
	make_list crowd 30000 0 7
	check "a quotient filter that is too full" \
		baleen build -o crowd.bln --seed "$SEED" --kind quotient --load 0.99 crowd
	check_status "it cannot be in a rule" 1 baleen attach veth-b --drop crowd.bln
	is "nothing is attached" "$(xdp_id "$B" veth-b)" ""
	is "and why" "$(sed -E 's/of [0-9]+ slots/of N slots/' err)" "baleen: crowd: it has a\
 cluster of N slots, and packets are looked up in 1024 at most: resize it to more room"
}

make_list "$LISTED" 300 100 1
make_list "$FREE" 3000 1000 2 --avoid "$LISTED"

try_kind cuckoo cuckoo
try_kind bloom bloom --fpp 0.01
try_kind classic classic --fpp 0.01
try_kind murmur3 classic --hash murmur3 --bits 3001 --hashes 5
try_kind fnv1a classic --hash murmur3-fnv1a --bits 4099
try_kind counting counting --fpp 0.01
try_kind counting-keyed counting --hash keyed --bits 3001 --hashes 5
try_kind cuckoo-1x8 cuckoo --slot-bits 8 --bucket-slots 1 --stash
try_kind cuckoo-2x12 cuckoo --slot-bits 12 --bucket-slots 2
try_kind cuckoo-3x11 cuckoo --slot-bits 11 --bucket-slots 3 --stash
try_kind cuckoo-4x17 cuckoo --slot-bits 17
try_kind cuckoo-semi-13 cuckoo --slot-bits 13 --semi-sort --stash
try_kind cuckoo-semi-24 cuckoo --slot-bits 24 --semi-sort
try_kind cuckoo-2x32 cuckoo --slot-bits 32 --bucket-slots 2 --stash
try_kind quotient quotient
try_kind quotient-5 quotient --remainder-bits 5
try_prefix classic --kind classic --fpp 1e-6
try_prefix counting --kind counting --fpp 1e-6
try_prefix quotient --kind quotient
cat "$LISTED" "$FREE" >taken
make_list more 100 0 3 --avoid taken
try_live counting --kind counting --fpp 1e-6
try_live counting-keyed --kind counting --hash keyed --bits 80001 --hashes 9
try_live cuckoo-2x32 --kind cuckoo --bucket-slots 2 --slot-bits 32 --stash
try_prints cuckoo-3x25 --kind cuckoo --slot-bits 25 --bucket-slots 3
try_prints cuckoo-semi-17 --kind cuckoo --slot-bits 17 --semi-sort
try_anew quotient --kind quotient
try_anew cuckoo-semi-20 --kind cuckoo --slot-bits 20 --semi-sort
try_copies
try_swaps
try_refused
