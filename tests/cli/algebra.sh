#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# merge, intersect, subtract, resize and compare, of images of every kind: as sort and
# comm have it, with hosts of a real list where there is one.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

LIST=$ROOT/../shared/data/lists/ipsum.txt
if [ -r "$LIST" ]; then
	grep -oE '^[0-9.]+' "$LIST" | head -n 30000 >hosts.txt
else
	make_list hosts.txt 30000 0 5
fi
sort -u hosts.txt >all
# 15,000 lines, 18,000 lines, 9,000 of them the same, about.
awk 'NR % 2' all >a.txt
awk 'NR % 5 < 3' all >b.txt
sort a.txt >a.sorted
sort b.txt >b.sorted
sort -u a.txt b.txt >union
comm -12 a.sorted b.sorted >both
comm -23 a.sorted b.sorted >only
count() { wc -l <"$1"; }
number() { count "$1" | sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta'; }

# set_of IMAGE: its keys, sorted as the files above
set_of() { baleen dump "$1" | sort; }

# pair OPTION...: a.bln and b.bln, of one kind, geometry and seed
pair()
{
	baleen build "$@" --capacity 40000 -o a.bln a.txt 2>err || bail "a: $(<err)"
	baleen build --like a.bln -o b.bln b.txt 2>err || bail "b: $(<err)"
}

# like FILE NAME: NAME is an image like a.bln of the keys in the file
like() { baleen build --like a.bln -o "$2" "$1" 2>err || bail "$2: $(<err)"; }

# --- exact kinds ---

for kind in "cuckoo" "cuckoo --bucket-slots 2 --stash" "quotient"; do
	# shellcheck disable=SC2086
	pair --kind $kind
	check "$kind: merge" baleen merge -o made.bln a.bln b.bln
	is "says how many" "$(<"$TMP/out")" "made.bln: merged, $(number union) entries"
	is "is the union" "$(set_of made.bln | cmp - union 2>&1)" ""
	check "intersect" baleen intersect -o made.bln a.bln b.bln
	is "says how many" "$(<"$TMP/out")" "made.bln: intersected, $(number both) entries"
	is "is in both" "$(set_of made.bln | cmp - both 2>&1)" ""
	check "subtract" baleen subtract -o made.bln a.bln b.bln
	is "says how many" "$(<"$TMP/out")" "made.bln: subtracted, $(number only) entries"
	is "is the rest" "$(set_of made.bln | cmp - only 2>&1)" ""
	check "a list out of it" baleen subtract -o made.bln a.bln b.txt
	is "is the same" "$(set_of made.bln | cmp - only 2>&1)" ""
	check "resize" baleen resize --capacity 300k -o made.bln a.bln
	is "keeps the set" "$(set_of made.bln | cmp - a.sorted 2>&1)" ""
	is "with more room" "$(($(stat -c %s made.bln) > 3 * $(stat -c %s a.bln)))" 1
	check "and back" baleen resize --capacity 15000 made.bln
	is "keeps the set" "$(set_of made.bln | cmp - a.sorted 2>&1)" ""
	check "compare" baleen compare -j a.bln b.bln
	is "is exact" "$(json "$TMP/out" .exact) $(json "$TMP/out" .estimate)" "true false"
	is "has all sizes" "$(for path in a.keys b.keys both either a.only; do
		json "$TMP/out" .$path
	done | paste -s -d ' ')" \
		"$(count a.txt) $(count b.txt) $(count both) $(count union) $(count only)"
done

baleen build --kind quotient --seed 7 --capacity 40000 -o a.bln a.txt 2>err || bail "$(<err)"
baleen build --kind quotient --seed 7 --capacity 40000 -o b.bln b.txt 2>err || bail "$(<err)"
check "quotient filters of one --seed merge" baleen merge -o made.bln a.bln b.bln
like union fresh.bln
check "byte for byte as built of all keys" cmp -i 512 made.bln fresh.bln
check "three at once" baleen merge -o three.bln a.bln b.bln made.bln
check "are the same" cmp -i 512 three.bln fresh.bln
check "resized up" baleen resize --capacity 100k made.bln
check "and down" baleen resize --capacity 30000 made.bln
check "it is what it was" cmp -i 512 made.bln fresh.bln

# --- multisets: copies add up, the fewest are common, and are taken from each other ---

# counted FILE LIST: as uniq -c counts them, without keys that only look the same
counted()
{
	sort -u "$2" >unlike
	sort "$2" | uniq -c | awk '{ print $1, $2 }' |
		cmp - <(baleen match --count-copies -f unlike "$1") 2>&1
}

awk '{ for (i = 0; i <= NR % 3; i++) print }' a.txt >a-copies.txt
awk '{ for (i = 0; i <= NR % 5; i++) print }' b.txt >b-copies.txt
join -a 1 -a 2 -e 0 -o 0,1.2,2.2 \
	<(sort a-copies.txt | uniq -c | awk '{ print $2, $1 }' | sort -k 1,1) \
	<(sort b-copies.txt | uniq -c | awk '{ print $2, $1 }' | sort -k 1,1) >table
copies="--copies --kind quotient --seed 7 --fpp 1e-7 --capacity 150000"
# shellcheck disable=SC2086 # options are words
check "a multiset" baleen build $copies -o a.bln a-copies.txt
# shellcheck disable=SC2086
check "and another" baleen build $copies -o b.bln b-copies.txt
is "has each key as often as it is listed" "$(counted a.bln a-copies.txt)" ""
while read -r op count; do
	awk "{ n = $count; while (n-- > 0) print \$1 }" table >want
	check "$op" baleen "$op" -o made.bln a.bln b.bln
	# shellcheck disable=SC2086
	baleen build $copies -o fresh.bln want 2>err || bail "$(<err)"
	check "$op: is byte for byte built of what is to come out" cmp -i 512 made.bln fresh.bln
	is "$op: and counted" "$(counted made.bln want)" ""
done <<-EOF
	merge \$2 + \$3
	intersect (\$2 < \$3 ? \$2 : \$3)
	subtract \$2 - \$3
EOF
check "resized up" baleen resize --capacity 400k made.bln
is "it is the same multiset" "$(counted made.bln want)" ""
check "and down" baleen resize --capacity 150k made.bln
check "byte for byte" cmp -i 512 made.bln fresh.bln
baleen build --copies --kind quotient --seed 7 -o a.bln a-copies.txt
check "an exact one" baleen dump a.bln
sort "$TMP/out" >dumped
check "is dumped as often" cmp <(sort a-copies.txt) dumped
for list in a b; do
	baleen build --copies --kind quotient --seed 7 --fpp 0.01 --capacity 40k -o lossy-$list.bln \
		$list.txt
done
check "added up" baleen merge -o lossy-twice.bln lossy-a.bln lossy-a.bln
is "copies count in compare where keys are not listed" \
	"$(baleen compare -j lossy-a.bln lossy-twice.bln | jq -c '[.both, .b.only]')" \
	"[$(info lossy-a.bln .entries),$(info lossy-a.bln .entries)]"
is "and not where they are" "$(baleen compare -j a.bln a.txt | jq -c '[.a.only, .b.only]')" "[0,0]"
check "a lossy one" baleen subtract -o made.bln lossy-a.bln lossy-b.bln
is "has this to say" "$(<"$TMP/err")" "baleen: made.bln: for a deleted key that was not in it, one \
with its fingerprint is gone"
baleen build --kind quotient --seed 7 -o b.bln b.txt
refuses "a set beside a multiset" "b.bln: each key once, a.bln has copies" \
	baleen merge -o none.bln a.bln b.bln

# --- Bloom filters ---

for kind in "bloom" "classic" "classic --hash murmur3" "counting"; do
	# shellcheck disable=SC2086
	pair --kind $kind --fpp 0.001
	check "$kind: merge" baleen merge -o made.bln a.bln b.bln
	like union fresh.bln
	blocks=$(($(stat -c %s made.bln) - 512))
	# Of counters those of both add up: each key of both counts twice.
	[ "$kind" != counting ] || blocks=$((blocks / 5))
	check "is byte for byte the filter of all keys" cmp -i 512 -n "$blocks" made.bln fresh.bln
	check "intersect" baleen intersect -o made.bln a.bln b.bln
	is "says what it is" "$(<"$TMP/err")" "baleen: made.bln: a bit of both may come from two different \
keys: it errs more than a filter built of the common keys"
	is "has all common keys" "$(baleen match -c -f both made.bln)" "$(count both)"
	check "and not all of the others" test "$(baleen match -c -f only made.bln)" -lt \
		$(($(count only) / 4))
	check_status "subtract" 1 baleen subtract -o none.bln a.bln b.bln
	is "is refused" "$(grep -cE "^baleen: b.bln: a (Bloom filter cannot forget|counting filter)" \
		"$TMP/err")" 1
	check_status "a list" 1 baleen subtract -o none.bln a.bln b.txt
	check_status "nothing is written" 1 test -e none.bln
	check "compare" baleen compare -j a.bln b.bln
	is "is an estimate" "$(json "$TMP/out" .exact) $(json "$TMP/out" .estimate)" "false true"
	cp "$TMP/out" found
	for pair in "a.keys a.txt" "b.keys b.txt" "both both" "either union"; do
		near="$(json found ".${pair% *}") $(count "${pair#* }")"
		check "${pair% *} within 2 % of the union: $near" awk -v n="$(count union)" \
			'{ d = $1 - $2; exit !(d * d < n * n / 2500) }' <<<"$near"
	done
	check "compare says so to people" baleen compare a.bln b.txt
	is "in its first line" "$(head -n 1 "$TMP/out")" "estimates, from the bits of Bloom filters:"
done
is "counting: what was added is there twice" "$(
	baleen merge -o made.bln a.bln a.bln >/dev/null
	key=$(head -n 1 a.txt)
	baleen del made.bln "$key" >/dev/null
	baleen match made.bln "$key"
)" "$(head -n 1 a.txt)"

# --- folded in half ---

check "a classic filter of 2^20 bits" baleen build --kind classic --bits 1048576 --hashes 6 \
	-o a.bln a.txt
check "has room for 121,136 keys, an eighth for 15,142" \
	baleen resize --capacity 15100 -o made.bln a.bln
is "says what it errs" "$(sed -E 's/[0-9.e-]+, before [0-9.e-]+$/P, before P/' "$TMP/err")" \
	"baleen: made.bln: false positive rate P, before P"
is "is folded three times" "$(info made.bln .bytes)" $((512 + 131072 / 8))
baleen build --like made.bln -o fresh.bln a.txt
check "and byte for byte what the keys make" cmp -i 512 made.bln fresh.bln
refuses "more room" "a.bln: a Bloom filter can only be folded in half: it has room for 121136 keys, \
half of it for 60568: build it again from its lists" baleen resize --capacity 100k a.bln
check "1,000,003 bits" baleen build --kind classic --bits 1000003 --hashes 6 -o odd.bln a.txt
check_status "cannot be folded" 1 baleen resize --capacity 15000 odd.bln
is "since they are odd" "$(grep -c '^baleen: odd.bln: .*odd' "$TMP/err")" 1

# --- resize, with prefixes of both families beside the hosts ---

printf '%s\n' 192.0.2.0/24 1.2.3.4 2a00:815c:4003::/48 '!2a00:815c:4003:5::/64' 2001:db8::1 \
	2a00:7153:1006:0:8000::/65 >mixed.txt
printf '%s\n' 192.0.2.9 1.2.3.4 2a00:815c:4003::7 2001:db8::1 2a00:7153:1006:0:8000::5 >held
printf '%s\n' 192.0.3.9 1.2.3.5 2a00:815c:4003:5::1 2001:db8::2 2a00:7153:1006::5 >free
while IFS='|' read -r kind sizes; do
	# shellcheck disable=SC2086
	baleen build --kind $kind --capacity 1000 -o a.bln mixed.txt 2>err || bail "$kind: $(<err)"
	for size in $sizes; do
		check "$kind, prefixes: resize to $size" baleen resize --capacity "$size" -o made.bln a.bln
		is "keeps the set" "$(cat held free | baleen match -f - made.bln)" "$(<held)"
	done
done <<-EOF
	cuckoo|400 2000
	cuckoo --copies|400 2000
	quotient|400 2000
	quotient --copies --fpp 1e-6|400 2000
	bloom --fpp 1e-6|400
	classic --fpp 1e-6|400
	counting --fpp 1e-6|400
EOF

# --- what does not fit ---

# pair_of OPTIONS OPTIONS: a.bln and b.bln
pair_of()
{
	# shellcheck disable=SC2086
	baleen build $1 -o a.bln a.txt 2>err || bail "a: $(<err)"
	# shellcheck disable=SC2086
	baleen build $2 -o b.bln b.txt 2>err || bail "b: $(<err)"
}

while IFS='|' read -r a b want; do
	pair_of "$a" "$b"
	for command in "merge -o none.bln" "intersect -o none.bln" compare; do
		# shellcheck disable=SC2086
		check_status "${command%% *}: $a and $b" 1 baleen $command a.bln b.bln
		is "are named" "$(sed -E 's/[0-9a-f]{16}/X/g' "$TMP/err")" "baleen: b.bln: $want"
	done
done <<-EOF
	--kind classic --bits 1M --hashes 6 --seed 1|--kind classic --bits 1M --hashes 4 --seed 1|4 hashes, a.bln has 6
	--kind classic --bits 1M --hashes 6 --seed 1|--kind classic --bits 2M --hashes 6 --seed 1|2000000 bits, a.bln has 1000000
	--kind classic --bits 1M --hashes 6 --seed 1|--kind classic --bits 1M --hashes 6 --hash murmur3|hash murmur3, a.bln has keyed
	--kind classic --bits 1M --hashes 6|--kind counting --hash keyed --bits 1M --hashes 6|kind counting, a.bln has classic
	--kind classic --bits 1M --hashes 6 --seed 1|--kind classic --bits 1M --hashes 6 --seed 2|seed X..., a.bln has X...: build one --like the other
	--kind bloom --fpp 0.01 --seed 1|--kind bloom --fpp 0.01 --key dst --seed 1|key dst, a.bln has src
EOF
check_status "nothing is written" 1 test -e none.bln
pair_of "--kind classic --bits 1M --hashes 6 --hash murmur3" \
	"--kind classic --bits 1M --hashes 6 --hash murmur3"
check "murmur3 has no seed: they fit" baleen merge -o made.bln a.bln b.bln

# --- one that can be listed, one that cannot ---

pair_of "--kind bloom --fpp 0.001" "--kind cuckoo"
check "a list goes into a Bloom filter" baleen merge -o made.bln a.bln b.bln
is "all are in it" "$(baleen match -c -f union made.bln)" "$(count union)"
check "also the other way round" baleen merge -o made.bln b.bln a.bln
is "all are in it" "$(baleen match -c -f union made.bln)" "$(count union)"
is "it is a Bloom filter" "$(info made.bln .tables[0].kind)" bloom
check "what a Bloom filter has of a list" baleen intersect -o made.bln a.bln b.bln
is "all common keys" "$(baleen match -c -f both made.bln)" "$(count both)"
refuses "a Bloom filter out of a set" "a.bln: cannot be listed, and keys that only look as if they were \
in it would be deleted as well" baleen subtract b.bln a.bln
refuses "compare them" "b.bln: kind cuckoo, a.bln has bloom" baleen compare a.bln b.bln
check "lists are compared exactly" baleen compare -j a.txt b.txt
is "are" "$(json "$TMP/out" .both) $(json "$TMP/out" .exact)" "$(count both) true"
printf '10.0.0.0/8\n!10.1.0.0/16\n2001:db8::/32\n' >nets.txt
printf '10.2.0.0/16\n2001:db8::/112\n192.0.2.1\n' >more.txt
check "prefixes" baleen compare -j nets.txt more.txt
is "count as their addresses" \
	"$(json "$TMP/out" .b.keys) $(json "$TMP/out" .both) $(json "$TMP/out" .b.only)" \
	"131073 131072 1"

# --- files ---

pair --kind bloom --fpp 0.001
chmod 0640 a.bln
user cp a.bln before.bln
refuses "what cannot be subtracted" "b.bln: a Bloom filter cannot forget: a bit that is cleared for \
one key is lost for all others that have set it" baleen subtract a.bln b.bln
check "leaves the image" cmp a.bln before.bln
check "in place" baleen intersect a.bln b.bln
is "keeps name and permissions" "$(info a.bln .name) $(stat -c %a a.bln)" "a 640"
baleen build --like before.bln -o c.bln union
check "more than two" baleen merge -o made.bln before.bln b.bln c.bln
check "are merged" cmp -i 512 made.bln c.bln

# --- add, del, dump ---

printf '192.0.2.%s\n' 1 2 3 >few.txt
for kind in quotient "counting --fpp 1e-6" "cuckoo --copies --slot-bits 12" \
	"quotient --copies --fpp 1e-6"; do
	# shellcheck disable=SC2086
	check "$kind" baleen build --kind $kind --capacity 100 -o few.bln few.txt
	check "add" baleen add few.bln 192.0.2.7 192.0.2.8
	check "del" baleen del few.bln 192.0.2.2 192.0.2.8
	is "has what is left" "$(baleen match few.bln 192.0.2.{1..9} | paste -s -d ' ')" \
		"192.0.2.1 192.0.2.3 192.0.2.7"
	is "and counts it" "$(info few.bln .entries)" 3
	refuses "del what is not there" \
		"few.bln: 192.0.2.9 is not in it: nothing changed (--exist takes it)" \
		baleen del few.bln 192.0.2.1 192.0.2.9
done
check "an exact quotient filter" baleen build --kind quotient --capacity 100 -o few.bln few.txt
check "takes more than it was made for" baleen add -f b.txt few.bln
is "and gives it back" "$(baleen dump few.bln | sort | cmp - <(sort -u few.txt b.txt) 2>&1)" ""
check "prefixes as well" baleen add few.bln 198.51.100.0/24
is "which it has" "$(baleen match -c few.bln 198.51.100.{0,255})" 2
