#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Dictionaries and hash compaction: kinds that only userspace asks. Their bytes are compared
# in text-model.sh.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

TEXT=(--key string --hash murmur3 --hash-seed 42 --hash-form "unsigned,quoted")

# chains IMAGE: each bucket with its chain, from the head on
chains()
{
	baleen show -j "$1" | jq -r '.tables[0].places[] | [.bucket, .chain[]] | join(" ")' |
		paste -s -d ,
}

printf '192.0.2.%d\n' 1 2 3 4 5 >five.txt
printf '%s\n' Copenhagen Lisbon Paris Rome >capitals.txt

# --- refused ---

expect "a dictionary of hashes of texts" 2 "" "baleen: build: --hash-seed 42: chained has no seed of a \
hash to choose (see 'baleen help build')" baleen build --kind chained --key string --hash-seed 42 -o new.bln capitals.txt
expect "slots of a dictionary" 2 "" "baleen: build: --slot-bits 8: chained has no slots (see \
'baleen help build')" baleen build --kind chained --slot-bits 8 -o new.bln five.txt
expect "a load of compaction" 2 "" "baleen: build: --load 0.5: compact has no slots to fill (see \
'baleen help build')" baleen build --kind compact --load 0.5 -o new.bln five.txt
refuses "values longer than keys" "five.txt: values of 64 bits: a key has 32" \
	baleen build --kind compact --slot-bits 64 -o new.bln five.txt
refuses "values that err too often" \
	"five.txt: in this shape the false positive rate is 0.019, more than 0.01" \
	baleen build --kind compact --slot-bits 8 --fpp 0.01 -o new.bln five.txt
seq -f '2001:db8:%.0f::1' 1 2000 >six.txt
for kind in chained compact; do
	refuses "a rate that hashes do not have: $kind" \
		"six.txt: 1e-18 is out of reach: hashes of 64 bits err at 1.1e-16" \
		baleen build --kind $kind --fpp 1e-18 -o new.bln six.txt
done

# --- a dictionary ---

check "a dictionary" baleen build --kind chained --seed 1 --buckets 4 --capacity 6 -o five.bln five.txt
is "has chains, the newest key first" "$(chains five.bln)" \
	"0,1 192.0.2.3 192.0.2.2,2 192.0.2.5,3 192.0.2.4 192.0.2.1"
is "info says what it is" "$(info five.bln .tables[0].kind) $(info five.bln .tables[0].buckets) $(
	info five.bln .tables[0].value_bits) $(info five.bln .exact)" "chained 4 32 true"
check "in words" grep -q "4 buckets with chains of values of 32 bits, room for 6, " \
	<(baleen info five.bln)
is "lists its keys" "$(baleen dump five.bln | paste -s -d ' ')" "$(paste -s -d ' ' five.txt)"
is "shows where a key is" "$(baleen show five.bln 192.0.2.1 192.0.2.9 | grep "= .*value")" \
	"  a = 192.0.2.1: value 192.0.2.1, bucket 3: in its chain, behind 1
  b = 192.0.2.9: value 192.0.2.9, bucket 2: not in its chain"
check "takes one more" baleen add --trace five.bln 192.0.2.9
is "at the head of its chain" "$(<"$TMP/out")" "192.0.2.9: value 192.0.2.9, bucket 2: not in its chain
  bucket 2: 192.0.2.9 becomes the first of its chain
five.bln: 1 added in place"
check "gives one back" baleen del --trace five.bln 192.0.2.1
is "from behind others" "$(<"$TMP/out")" "192.0.2.1: value 192.0.2.1, bucket 3: in its chain, behind 1
  bucket 3: 192.0.2.1 is taken out, behind 1
five.bln: 1 deleted in place"
is "they are gone and there" "$(baleen match five.bln 192.0.2.{1,2,9} | paste -s -d ' ')" "192.0.2.2 192.0.2.9"
check "a larger one" baleen resize --capacity 100 -o large.bln five.bln
check "merges with it" baleen merge -o both.bln large.bln five.bln
is "to the same keys" "$(baleen dump both.bln | cksum)" "$(baleen dump five.bln | cksum)"

printf '%s\n' 198.51.100.0/24 192.0.2.1 203.0.113.0/24 >nets.txt
check "prefixes beside it" baleen build --kind chained -o nets.bln nets.txt
is "speak first" "$(baleen match nets.bln 198.51.100.9 192.0.2.1 192.0.2.2 203.0.113.1 | paste -s -d ' ')" \
	"198.51.100.9 192.0.2.1 203.0.113.1"
check "both families" baleen build --kind chained -o families.bln - <<-EOF
	192.0.2.1
	2001:db8::1
EOF
is "are found" "$(baleen match families.bln 192.0.2.1 2001:db8::1 2001:db8::2 | paste -s -d ' ')" \
	"192.0.2.1 2001:db8::1"
check "no key at all" baleen build --kind chained --allow-empty -o empty.bln /dev/null
check "takes one" baleen add empty.bln 192.0.2.1
is "which is there" "$(baleen match empty.bln 192.0.2.1 192.0.2.2)" 192.0.2.1

# --- hash compaction ---

check "hash compaction" baleen build --kind compact "${TEXT[@]}" --slot-bits 12 --buckets 4 \
	-o compact.bln capitals.txt
# H >> 20 of the four, by tests/model: fd3, 258, 9f5, 02f; modulo 4: 3, 0, 1, 3.
is "keeps the upper bits of the hash" "$(chains compact.bln)" "0 258,1 9f5,2,3 02f fd3"
refuses "to forget where two may look the same" "compact.bln: a fingerprint of 12 bits may be that of two \
keys, and deleting one would lose the other: build it again from its lists, or with --copies" \
	baleen del compact.bln Paris
check "with copies" baleen build --kind compact "${TEXT[@]}" --slot-bits 12 --buckets 4 --copies \
	--capacity 9 -o copies.bln capitals.txt capitals.txt
check "it forgets" baleen del copies.bln Paris
is "one of them" "$(baleen match --count-copies copies.bln Paris Rome | paste -s -d ' ')" \
	"1 Paris 2 Rome"
check "values of another width" baleen build --kind compact "${TEXT[@]}" --slot-bits 13 --copies \
	-o wide.bln capitals.txt
refuses "do not merge with them" "copies.bln: values of 12 bits, wide.bln has 13" \
	baleen merge -o new.bln wide.bln copies.bln

# The rate that is told is the one that is measured: the bucket comes from the value.
seq 20000 >many.txt
seq 100001 300000 >others.txt
check "at a rate" baleen build --kind compact --key string --fpp 0.01 --seed 1 -o many.bln many.txt
is "it has that rate" "$(awk -v told="$(info many.bln .fpp)" -v n="$(baleen match -c -f others.txt many.bln)" \
	'BEGIN { print (n / 200000 < told * 1.1 && n / 200000 > told * 0.9) }')" 1
is "and so has the table that filters are compared with" "$(baleen plan --compare --capacity 100000 \
	--fpp 0.01 -j | jq '.[] | select(.kind == "compact") | .measured_fpp / .fpp | . > 0.9 and . < 1.1')" true

is "so many bits a key are head, link and l" "$(baleen plan --kind compact --capacity 2000 -6 \
	--bits-per-key 80 -j | jq -c '.[0] | [.value_bits, .reason]')" '[16,null]'

# --- packets do not ask them ---

no_packet="only userspace asks a table of kind chained: packets have cuckoo, bloom, classic, counting and quotient"
expect "no program" 1 "" "baleen: $no_packet" baleen compile -o new.o five.bln
