#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Semi-sorted buckets of cuckoo filters, from plan to merge: what they cost, and that
# they do what packed ones do.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

printf '2001:db8::%x\n' {1..5000} >list.txt
printf '2001:db8:1::%x\n' {1..20000} >others.txt
printf '2001:db8:2::%x\n' {1..100} >more.txt

# geometry_of IMAGE: slots, their bits, how they are laid out
geometry_of()
{
	baleen info -j "$1" | jq -c '.[0].tables[0] | [.slots_per_bucket, .slot_bits, .packed, .semi_sorted]'
}

# --- plan, build ---

for rate in 0.03 0.01 0.002 0.0001; do
	planned=$(baleen plan -6 -j --kind cuckoo --semi-sort --fpp $rate --capacity 5000 | jq '.[0].bytes')
	plain=$(baleen plan -6 -j --kind cuckoo --bucket-slots 4 --fpp $rate --capacity 5000 | jq '.[0].bytes')
	check "$rate: build" baleen build --semi-sort --fpp $rate -o semi.bln list.txt
	is "$rate: of the planned bytes" "$(baleen info -j semi.bln | jq '.[0].tables[0].bytes')" "$planned"
	# A block, 512 bits, is left over here and there.
	is "$rate: a bit a slot less than others" "$(((plain - planned) * 8 >= 5000 &&
		(plain - planned) * 8 <= 5000 * 100 / 90 + 1024))" 1
	is "$rate: it has all" "$(baleen match -c -f list.txt semi.bln)" 5000
	is "$rate: and others as often as the rate says" "$(jq -n --argjson p $rate \
		--argjson n "$(baleen match -c -f others.txt semi.bln)" \
		'$n <= 20000 * $p + 5 * (20000 * $p | sqrt)')" true
done
check "a width" baleen build --semi-sort --slot-bits 17 --stash -o semi.bln list.txt
is "is taken" "$(geometry_of semi.bln)" "[4,17,true,true]"
is "info says so" "$(baleen info semi.bln | grep -c 'buckets of 4 slots of 17 bits, semi-sorted, ')" 1
is "and plan" "$(baleen plan -6 --semi-sort --slot-bits 17 --capacity 5000 |
	grep -c 'x 4 x 17 bits, semi-sorted$')" 1
refuses "no rate" "list.txt: semi-sorted slots hold fingerprints of up to 32 bits: they need --fpp\
 or --slot-bits" baleen build --semi-sort -o new.bln list.txt
expect "another kind" 2 "" "baleen: build: --semi-sort: bloom has no buckets to sort (see 'baleen\
 help build')" baleen build --semi-sort --kind bloom --fpp 0.1 -o new.bln list.txt
refuses "buckets of 2" "list.txt: semi-sorted buckets have 4 slots, not 2" \
	baleen build --semi-sort --slot-bits 9 --bucket-slots 2 -o new.bln list.txt
refuses "slots of 4 bits" "list.txt: semi-sorted slots have 5 to 32 bits, not 4" \
	baleen build --semi-sort --slot-bits 4 -o new.bln list.txt
check "IPv4 addresses" baleen build --semi-sort --fpp 0.01 -o four.bln - <<<"192.0.2.1"
is "are fingerprints, too" "$(geometry_of four.bln)" "[4,10,true,true]"

# --- changes, copies ---

check "keys are added" baleen add -f more.txt semi.bln
is "and are there" "$(baleen match -c -f more.txt semi.bln)" 100
is "beside the others" "$(baleen match -c -f list.txt semi.bln)" 5000
check "a filter of which copies count" \
	baleen build --semi-sort --slot-bits 20 --copies --capacity 6000 -o copies.bln list.txt
is "can delete" "$(baleen plan -6 -j --kind cuckoo --semi-sort --fpp 0.001 --copies --capacity 5000 |
	jq -c '.[0].can')" '["delete"]'
check "keys are added" baleen add -f more.txt copies.bln
check "and again" baleen add -f more.txt copies.bln
check "deleted" baleen del -f more.txt copies.bln
is "and are there once" "$(baleen match --count-copies -f more.txt copies.bln | cut -d ' ' -f 1 | sort -u)" 1
check "deleted again" baleen del -f more.txt copies.bln
is "they are gone" "$(baleen match -c -f more.txt copies.bln)" 0
is "all others are there" "$(baleen match -c -f list.txt copies.bln)" 5000

# --- sets of sets ---

check "one like it" baleen build --like semi.bln -o like.bln more.txt
is "is semi-sorted" "$(geometry_of like.bln)" "[4,17,true,true]"
check "they merge" baleen merge -o merged.bln semi.bln like.bln
is "into one that is, too" "$(geometry_of merged.bln)" "[4,17,true,true]"
is "of both" "$(cat list.txt more.txt | baleen match -c -f - merged.bln)" 5100
check "a packed one of the same seed" \
	baleen build --slot-bits 9 --buckets 1400 --seed a -o packed.bln list.txt
check "a semi-sorted one of that" \
	baleen build --semi-sort --slot-bits 9 --buckets 1400 --seed a -o semi.bln list.txt
refuses "they do not" "semi.bln: buckets semi-sorted, those of packed.bln are not" \
	baleen merge -o new.bln packed.bln semi.bln
is "both answer alike" "$(baleen match -f others.txt packed.bln | cksum)" \
	"$(baleen match -f others.txt semi.bln | cksum)"
refuses "no key is whole" "semi.bln: slots of 9 bits keep too little of a key to move it: build the\
 filter again from its lists" baleen resize --capacity 10000 -o new.bln semi.bln

# --- show ---

check "a small one" baleen build --semi-sort --slot-bits 8 --key string -o show.bln - \
	< <(printf '%s\n' {a..t})
check "is drawn" baleen show -j show.bln {a..t}
is "with slots that ascend" "$(jq '[.tables[0].places[].slots | map(.fingerprint // 0) | . == sort] | all' \
	"$TMP/out")" true
is "in which each key is found" "$(jq -c '. as $all | [.keys[].asks[0] |
	$all.tables[0].places[.found.bucket].slots[.found.slot].fingerprint == .fingerprint] | all' \
	"$TMP/out")" true
