#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What each kind would cost, and which is chosen: plan and build without a kind.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# refuses_plan NAME TEXT ARGUMENT...
refuses_plan()
{
	expect "$1" 2 "" "baleen: plan: $2 (see 'baleen help plan')" baleen plan "${@:3}"
}

# planned FILTER ARGUMENT...: what jq makes of the JSON
planned()
{
	baleen plan -j "${@:2}" | jq -c "$1"
}

# --- refused ---

refuses_plan "no capacity" "--capacity N is missing" --fpp 0.01
refuses_plan "a list" "'list.txt': a plan is made of numbers, not lists" --capacity 9 list.txt
refuses_plan "a rate and bits" "--bits-per-key and --fpp: each follows from the other" \
	--capacity 9 --fpp 0.1 --bits-per-key 8
refuses_plan "no bits" "--bits-per-key '0': not a number above 0, up to 1024" \
	--capacity 9 --bits-per-key 0
refuses_plan "an IPv6 port" "-6: the key is not an address" --capacity 9 -6 --key dport
refuses_plan "slots of a Bloom filter" "--slot-bits 12: bloom has no slots" \
	--capacity 9 --kind bloom --slot-bits 12

# --- the textbooks ---

while read -r bits hashes fpp; do
	is "the best of $bits bits a key" \
		"$(planned '.[0].textbook | [.hashes, (.fpp * 1e6 | floor)]' --capacity 1M \
			--bits-per-key "$bits" --kind classic)" "[$hashes,$fpp]"
done <<-EOF
	6 4 56056
	8 6 21577
	12 8 3142
	16 11 458
EOF
billion=(--capacity 1G --fpp 0.02 --key flow)
is "a billion keys at 2 %, Bloom" \
	"$(planned '.[] | select(.kind == "classic").textbook.bits' "${billion[@]}")" 8142363336
is "rounded down, as in a Python class: 10 keys at 1 %" "$(planned '.[0].textbook |
	[.bits, .hashes]' --kind classic --capacity 10 --fpp 0.01)" "[95,6]"
is "quotient" "$(planned '.[] | select(.kind == "quotient").textbook |
	[.quotient_bits, .remainder_bits, .bits]' "${billion[@]}")" "[30,6,$((9 << 30))]"
is "cuckoo" "$(planned '.[] | select(.kind == "cuckoo").textbook |
	[.bucket_slots, .slot_bits, .buckets, .buckets_at_84_percent]' "${billion[@]}")" \
	"[2,8,$((1 << 29)),595238096]"
is "the textbook's power of two is too full to be built" \
	"$(planned '.[] | select(.kind == "cuckoo").textbook.load * 1000 | floor' "${billion[@]}")" 931
is "and says so" "$(planned '.[] | select(.kind == "cuckoo").textbook.reason' "${billion[@]}")" \
	'"fuller than buckets of so many slots can be"'
is "a power of two of keys needs one bit more: 2^q > n" "$(planned '.[0].textbook |
	[.quotient_bits, .remainder_bits]' --kind quotient --capacity 1024 --fpp 0.02)" "[11,5]"
is "of fewer the remainder is shorter" "$(planned '.[0].textbook | [.quotient_bits, .remainder_bits]' \
	--kind quotient --capacity 600M --fpp 0.02 --key flow)" "[30,5]"
is "buckets of one slot" "$(planned '.[0].textbook | [.bucket_slots, .slot_bits, .buckets,
	.least_buckets, .buckets_at_50_percent]' --kind cuckoo --bucket-slots 1 "${billion[@]}")" \
	"[1,7,$((1 << 30)),1000000000,2000000000]"
is "of three, of which the texts tell no load" "$(planned '.[0].textbook |
	[.slot_bits, .least_buckets, .reason, (keys | map(select(test("percent"))))]' \
	--kind cuckoo --bucket-slots 3 --capacity 10 --fpp 0.02)" '[9,4,null,[]]'
is "without hashes it is no filter" "$(planned '.[0].textbook | [.hashes, .fpp == 1, .reason]' \
	--kind classic --capacity 1000 --fpp 0.5)" '[0,true,"k = 0: without hashes it says yes to every key"]'
is "nor without remainders" "$(planned '.[0].textbook | [.remainder_bits, .reason]' \
	--kind quotient --capacity 1000 --fpp 0.9)" '[-1,"r < 1: no bits are left for a remainder"]'
is "the bounds" "$(planned '[.[] | select(.bound) | [.bound, .bits]]' "${billion[@]}")" \
	'[["any filter",5643856190],["Bloom filter",8142363337]]'
bound=$(planned '.[] | select(.bound == "any filter").bits' "${billion[@]}")
is "no kind is below its bound" "$(planned ".[] | select(.bits and .bits < $bound).kind" \
	"${billion[@]}")" ""

# --- each kind ---

all='["cuckoo","bloom","classic","counting","quotient"]'
is "every kind has a row" "$(planned '[.[].kind | select(.)]' --capacity 1M --fpp 0.01)" "$all"
is "no rate is above what is allowed" \
	"$(planned '.[] | select(.fpp > 0.01)' --capacity 1M --fpp 0.01 -6)" ""
is "without a rate some are exact" \
	"$(planned '[.[] | select(.exact).kind]' --capacity 1M)" '["cuckoo","quotient"]'
is "and the others say what they need" "$(planned '[.[] | select(.reason).kind]' --capacity 1M)" \
	'["bloom","classic","counting"]'
is "what is over 16 GiB says so" \
	"$(planned '[.[] | select(.kind).reason] | unique' --capacity 1000G --fpp 0.01)" \
	'["over 16 GiB"]'
is "so many bits a key are not passed" \
	"$(planned '.[] | select(.bits > 16001024).kind' --capacity 1M --bits-per-key 16 -6)" ""
is "--kind shows one" "$(planned '[.[].kind | select(.)]' --capacity 1M --kind quotient)" \
	'["quotient"]'
is "a shape shows those that have it" \
	"$(planned '[.[].kind | select(.)]' --capacity 1M --fpp 0.01 --hashes 6)" \
	'["bloom","classic","counting"]'
check "the table" baleen plan --capacity 2G --fpp 0.01 -6
is "fits into 80 columns" "$(grep -cE '.{81}' "$TMP/out")" 0
is "and has kinds and bounds" "$(grep -c . "$TMP/out")" 8

# A plan is what a build makes, or that says why not: for each of "KEYS FAMILY RATE KIND OPTION".
differs()
{
	local n=$1 family=$2 rate=(--fpp "$3") options=(--kind "${@:4}") flag=() planned built

	[ "$family" = 4 ] || flag=(-6)
	[ "$3" != 0 ] || rate=()
	planned=$(planned '.[0] | .reason // .bytes' --capacity "$n" "${flag[@]}" "${rate[@]}" "${options[@]}")
	baleen build -j --seed 1 "${rate[@]}" "${options[@]}" -o new.bln "keys$family-$n" >built 2>err
	built=$(jq '[.tables[].bytes] | add' built)
	if [ -z "$built" ]; then
		[ "${planned:0:1}" = '"' ] || echo "$* takes $planned, but: $(<err)"
	elif grep -q 'not the planned' err; then
		((built > planned)) || echo "$* is told to be larger, and takes $built"
	else
		[ "$built" = "$planned" ] || echo "$*: $built bytes, not $planned"
	fi
}

for n in 1 3 10 333 999 1237; do
	seq 1 "$n" | awk '{ x = $1 * 2654435761 % 2 ^ 32
		printf "%d.%d.%d.%d\n", x / 2 ^ 24, x / 2 ^ 16 % 256, x / 256 % 256, x % 256 }' >keys4-"$n"
	seq -f '2001:db8:%.0f::1' 1 "$n" >keys6-"$n"
	for family in 4 6; do
		is "$n keys of IPv$family: plans are what is built" "$(
			for kind in cuckoo quotient; do
				differs "$n" $family 0 $kind
			done
			for rate in 0.02 0.0001; do
				for kind in cuckoo bloom classic counting quotient "cuckoo --copies" \
					"cuckoo --bucket-slots 1 --stash"; do
					# shellcheck disable=SC2086 # words
					differs "$n" $family $rate $kind
				done
			done)" ""
	done
done
awk 'BEGIN { for (i = 0; i < 120000; i++) printf "2001:db8:%x:%x::1\n", i / 65536, i % 65536 }' \
	>keys6-120000
is "many that look the same are no reason to be larger" "$(differs 120000 6 0.02 cuckoo)" ""
is "and none is told" "$(baleen build --fpp 0.02 -o new.bln --kind cuckoo keys6-120000 2>&1)" ""
check "no seed by which the keys find room" baleen build --copies --kind cuckoo --slot-bits 8 \
	--bucket-slots 2 --load 0.896 -o new.bln keys6-120000
is "is told" "$(sed 's/[0-9.]* kB/N kB/g' "$TMP/err")" \
	"baleen: new.bln: N kB, not the planned N kB: the keys find no room at a load of 0.896"
# Both families, each with its own table.
cat keys4-333 keys6-999 >both
check "a mixed list" baleen build --seed 1 --kind cuckoo --fpp 0.001 -o both.bln both
is "is a table of each family as planned" "$(baleen info -j both.bln | jq -c '[.[0].tables[].bytes]')" \
	"[$(planned '.[0].bytes' --kind cuckoo --fpp 0.001 --capacity 333),$(planned '.[0].bytes' \
		--kind cuckoo --fpp 0.001 --capacity 999 -6)]"

# --- a rate that is not reached ---

# Of 2,000 keys hashed to 64 bits another one has the hash with 1.1e-16.
out_of_reach="1e-18 is out of reach: hashes of 64 bits err at 1.1e-16"
is "no kind errs less than its hashes" "$(planned '[.[].reason | select(.)] | unique' --capacity 2000 \
	-6 --fpp 1e-18)" "[\"$out_of_reach\"]"
is "which addresses have not" "$(planned '[.[] | select(.exact).kind]' --capacity 2000 --fpp 1e-18)" \
	'["cuckoo","quotient"]'
seq -f '2001:db8:%.0f::1' 1 2000 >six.txt
for kind in cuckoo bloom classic counting quotient; do
	refuses "build refuses it: $kind" "six.txt: $out_of_reach" \
		baleen build --kind $kind --fpp 1e-18 -o new.bln six.txt
done
refuses "any kind" "six.txt: a filter cannot be had in this shape, at this rate: \
cuckoo: $out_of_reach" baleen build --fpp 1e-18 -o new.bln six.txt
# Whole hashes can do all that may be needed, and err as others.
for need in delete merge resize merge,resize; do
	is "nor can --need $need be had at it" "$(planned '[.[] | select(.kind) | .reason] | unique' \
		--need $need --capacity 2000 -6 --fpp 1e-18)" "[\"$out_of_reach\"]"
done
is "but at what they reach" "$(planned '.[0] | [.fpp <= 1.1e-16, .can]' --need merge --kind cuckoo \
	--capacity 2000 -6 --fpp 1.1e-16)" '[true,["delete","merge","resize"]]'
is "whole addresses reach any rate" "$(planned '[.[] | select(.exact).kind]' --need merge \
	--capacity 2000 --fpp 1e-18)" '["cuckoo","quotient"]'
refuses "a shape that errs more" "six.txt: in this shape the false positive rate is 0.013, more than 0.01" \
	baleen build --kind cuckoo --slot-bits 8 --bucket-slots 2 --fpp 0.01 -o new.bln six.txt
is "so many bits a key are no reason" "$(planned '[.[].reason | select(.)] | unique' --capacity 2000 \
	--bits-per-key 1000)" '[]'
is "and do not make hashes longer" "$(planned '[.[] | select(.fpp and .fpp < 1e-16).kind]' \
	--capacity 2000 -6 --bits-per-key 1000)" '[]'
is "what no bits help against is the reason" "$(planned '.[0].reason' --kind cuckoo --bucket-slots 2 \
	--load 0.97 --capacity 2000 -6 --bits-per-key 20)" '"buckets of 2 slots cannot be filled above 89.7 %"'

# --- curves ---

for what in fpp load hashes; do
	check "curves over $what" baleen plan --curve $what --measure --capacity 5000
	cp "$TMP/out" $what.tsv
	check "the same as a picture" baleen plan --curve $what --measure --capacity 5000 --svg
	is "below 200 kB" "$(($(stat -c %s "$TMP/out") < 200000))" 1
	cp "$TMP/out" $what.svg
	check "that is XML" python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' $what.svg
done
# rules FILE: colours of kinds
rules()
{
	grep -oE '\.[a-z]{2,}\{color:#[^}]*\}' "$1"
}
# lines FILE: class and name of each line of the legend
lines()
{
	sed -nE 's/^<(path|circle)[^>]* class="([a-z]+).*>([^,<]*), [a-z]*<.*/\3 \2/p' "$1" | sort -u
}
printf '192.0.2.1\n' >drawn.txt
for what in fpp load hashes; do
	is "kinds have the colours that 'show' gives them, over $what" "$(rules $what.svg)" \
		"$(baleen show --svg drawn.txt | rules -)"
	is "each curve over $what has its name beside it" \
		"$(grep -o 'class="l [a-z]*">[^<]*' $what.svg | cut -d '>' -f 2 | sort)" \
		"$(awk -F '\t' 'NR > 1 { print $1 }' $what.tsv | sort -u)"
	is "no two lines over $what have the same width" \
		"$(grep -o '<polyline[^>]*stroke-width:[0-9.]*' $what.svg | sed 's/.*://' | sort | uniq -d)" ""
done
is "a kind is one colour in all its lines" "$(lines fpp.svg | paste -s -d ,) $(lines load.svg |
	paste -s -d ,)" "Bloom classic,any filter other,bloom bloom,classic classic,counting counting,cuckoo cuckoo,quotient quotient bloom bloom,classic classic,counting counting,cuckoo cuckoo,quotient quotient"
is "no plan is below the bound of any filter" "$(awk -F '\t' 'NR > 1 && $2 != "formula" &&
	$4 < log(1 / $3) / log(2) - 0.01' fpp.tsv)" ""
is "cuckoo's formula is below that of Bloom filters from 0.2 % down" "$(awk -F '\t' '
	$2 != "formula" || $3 > 0.002 { next }
	$1 == "Bloom" { bloom[$3] = $4 } $1 == "cuckoo" { cuckoo[$3] = $4 }
	END { for (x in cuckoo) n += cuckoo[x] > bloom[x]; print n + 0 }' fpp.tsv)" 0
is "rates over the load are those of the formulas" "$(awk -F '\t' '
	$2 == "formula" { rate[$1, $3] = $4; kinds[$1] }
	$2 == "plan" && ($1, $3) in rate { n++; d = $4 / rate[$1, $3]; bad += d < 0.98 || d > 1.02 }
	END { for (kind in kinds) k++; print k, n, bad + 0 }' load.tsv)" "3 60 0"
# A million keys are asked: 99.9 % of binomial rates lie within 3.3 deviations; some 10 % more
# for what varies from filter to filter, of 5,000 keys.
is "k positions measured are those of the formula" "$(awk -F '\t' '
	$2 == "formula" { rate[$1, $3] = $4 }
	$2 == "measured" { n++; p = rate[$1, $3]; d = $4 - p
		if (d < 0) d = -d
		if (d > 3.3 * sqrt(p / 1e6) + 0.1 * p) bad++ }
	END { print n, bad + 0 }' hashes.tsv)" "64 0"
is "curves as JSON" "$(baleen plan --curve load -j | jq -c '[.[].source] | unique')" \
	'["formula","plan"]'
refuses_plan "two forms" "--svg, --tsv and --json: one of them" --curve fpp --svg -j
refuses_plan "a picture of no curve" "--svg, --tsv and --measure are for --curve" --svg --capacity 9

# --- kinds beside exact sets ---

# Rates are measured by a million keys, of filters of 20,000: as above.
check "a comparison" baleen plan --compare --capacity 20k --fpp 0.01 -j
cp "$TMP/out" compared
is "all kinds and three sets" "$(jq -r '[.[].kind] | join(" ")' compared)" \
	"cuckoo bloom classic counting quotient sorted dictionary compact"
is "kinds cost what they are planned to" "$(jq -c '[.[:5][].bits_per_key]' compared)" \
	"$(baleen plan --capacity 20k --fpp 0.01 --key flow -j | jq -c '[.[:5][].bits_per_key]')"
is "and err as often" "$(jq -c '[.[:5][] | select((.measured_fpp - .fpp | fabs) >
	3.3 * (.fpp / 1e6 | sqrt) + 0.1 * .fpp) | .kind]' compared)" "[]"
is "exact sets never" "$(jq -c '[.[5:7][] | .fpp + 0, .measured_fpp + 0]' compared)" "[0,0,0,0]"
is "hash compaction not more often than n / 2^l" \
	"$(jq -c '.[7] | [(.bits_per_key | round), .fpp > .measured_fpp, .fpp < 0.01]' compared)" \
	"[30,true,true]"
is "all were measured" "$(jq -c '[.[] | select(.lookup_ns > 0 and .insert_ns > 0 and
	.measured_keys == 20000)] | length' compared)" 8
is "exact sets can all" "$(jq -c '[.[5:][].can]' compared)" \
	'[["delete","merge","resize"],["delete","merge","resize"],["merge","resize"]]'
check "as a table" baleen plan --compare --capacity 2k --fpp 0.001
is "of nine lines" "$(grep -c . "$TMP/out")" 9
check "with tabs" baleen plan --compare --capacity 2k --fpp 0.001 --tsv
is "nine, too, of nine fields" "$(awk -F '\t' 'NF == 9' "$TMP/out" | wc -l)" 9
check "more than are measured" baleen plan --compare --capacity 100M --fpp 0.3
is "which it says" "$(tail -n 1 "$TMP/out")" "measured with 1,000,000 keys"
refuses_plan "no rate" "--compare needs --fpp P" --compare --capacity 9
refuses_plan "two tables" "--curve and --compare: one of them" --compare --curve fpp

# --- the kind that fits ---

# chooses NAME KIND WHY LIST OPTION...
chooses()
{
	check "$1" baleen build -v -o chosen.bln "${@:5}" "$4"
	is "$1: the kind" "$(info chosen.bln .tables[0].kind)" "$2"
	is "$1: why" "$(grep -cF "$3" "$TMP/err")" 1
}

seq -f '192.0.2.%.0f' 1 200 >four.txt
seq -f '2001:db8::%.0f' 1 2000 >six.txt
chooses "nothing asked for" cuckoo "cuckoo errs least" six.txt
chooses "IPv4 at a rate" cuckoo "cuckoo has IPv4 addresses exactly" four.txt --fpp 0.01
chooses "IPv6 at a rate" bloom "bloom is the smallest" six.txt --fpp 0.1
for need in delete merge resize delete,merge,resize; do
	check "--need $need" baleen build -v -o chosen.bln --fpp 0.001 --need "$need" six.txt
	kind=$(info chosen.bln .tables[0].kind)
	shape=()
	# Slots of whole hashes can do more than the narrowest for the rate.
	[ "$kind" != cuckoo ] || shape=(--slot-bits "$(info chosen.bln .tables[0].slot_bits)"
		--bucket-slots "$(info chosen.bln .tables[0].slots_per_bucket)")
	[ "$(baleen info -j chosen.bln | jq '.[0].tables[0].copies')" != true ] || shape+=(--copies)
	is "--need $need: $kind can" "$(planned ".[0].can | contains(\"$need\" | split(\",\"))" \
		--kind "$kind" --capacity 2000 --fpp 0.001 -6 "${shape[@]}")" true
done
# No larger than any shape of a cuckoo filter at its usual load; test_plan.c tries all loads, too.
seq -f '2001:db8:%.0f::1' 1 9999 >nine.txt
for bits in $(seq 4 32) 64; do for slots in 1 2 3 4; do
	[ "$bits$slots" = 643 ] || planned '.[0] | {fpp, bytes}' --kind cuckoo --copies \
		--capacity 9999 -6 --slot-bits "$bits" --bucket-slots $slots
done; done >shapes.json
for fpp in 0.03 0.02 0.01 0.005 0.002 0.001 0.0001; do
	smallest=$(planned '.[0].bytes' --kind cuckoo --copies --capacity 9999 --fpp $fpp -6)
	is "cuckoo at $fpp: no shape is smaller" \
		"$(jq -c "select(.fpp <= $fpp and .bytes < $smallest)" shapes.json)" ""
	is "plan of --need delete at $fpp is the smaller of cuckoo and quotient" "$(planned \
		'[.[] | select(.can).bytes] | min' --need delete --capacity 9999 --fpp $fpp -6)" \
		"$(planned '[.[] | select(.can | index("delete")).bytes] | min' --copies \
			--capacity 9999 --fpp $fpp -6)"
	check "--need delete at $fpp" baleen build --seed 1 --fpp $fpp --need delete -o del.bln nine.txt
	of_quotient=$(planned '.[0].bytes' --kind quotient --copies --capacity 9999 --fpp $fpp -6)
	is "takes no more, as cuckoo or as quotient" "$(info del.bln .tables[0].bytes)" \
		"$((of_quotient < smallest ? of_quotient : smallest))"
done
is "with copies a cuckoo filter can delete" "$(planned '.[0].can' --copies --kind cuckoo \
	--capacity 1M --fpp 0.02 -6)" '["delete"]'
is "and a quotient filter all" "$(planned '.[0].can' --copies --kind quotient --capacity 1M \
	--fpp 0.02 -6)" '["delete","merge","resize"]'
is "which it cannot without" "$(planned '.[0].can' --kind quotient --capacity 1M --fpp 0.02 -6)" \
	'["merge","resize"]'
is "who cannot says so" "$(planned '[.[] | select(.reason) | {(.kind): .reason}] | add' \
	--need delete,resize --capacity 1M --fpp 0.02 -6)" \
	'{"bloom":"cannot delete, resize","classic":"cannot delete, resize","counting":"cannot resize"}'
for needs in delete merge resize delete,merge delete,resize delete,merge,resize; do
	smallest=$(planned "[.[] | select(.can and .kind != \"classic\").bytes] | min" --need $needs \
		--fpp 0.01 --capacity 2000 -6)
	check "--need $needs" baleen build --seed 1 --need $needs --fpp 0.01 -o chosen.bln six.txt
	is "is what plan --need says" "$(info chosen.bln .tables[0].bytes)" "$smallest"
done
for shape in "--kind quotient --remainder-bits 5" "--kind cuckoo --slot-bits 8"; do
	# shellcheck disable=SC2086 # words
	{
		planned=$(planned '.[0].bytes' --need delete --capacity 2000 -6 $shape)
		check "--need delete with $shape, at no rate" \
			baleen build --seed 1 --need delete $shape -o chosen.bln six.txt
	}
	is "takes copies, as planned" "$(info chosen.bln .tables[0].copies) $(
		info chosen.bln .tables[0].bytes)" "true $planned"
done
# Whole IPv4 addresses can be deleted, too, but fingerprints with copies are smaller.
is "--need delete of IPv4" "$(planned '.[0] | [.slot_bits < 16, .exact, .copies]' --kind cuckoo \
	--need delete --capacity 1000 --fpp 0.001)" '[true,false,true]'
is "without it they are whole" "$(planned '.[0].exact' --kind cuckoo --capacity 1000 --fpp 0.001)" true
check "is what is built" baleen build --need delete --fpp 0.001 --seed 1 -o four.bln keys4-999
is "of as many bytes" "$(info four.bln .tables[0].bytes)" "$(planned '[.[] | select(.can).bytes] | min' \
	--need delete --capacity 999 --fpp 0.001)"
head -n 400 keys4-999 >some.txt
check "keys are deleted" baleen del -f some.txt four.bln
is "and no other" "$(tail -n +401 keys4-999 | baleen match -c four.bln)" 599
is "few of them are found" "$(($(baleen match -c -f some.txt four.bln) < 10))" 1
echo 10.0.0.0/8 | cat - some.txt >prefix.txt
check "beside prefixes" baleen build --need delete --fpp 0.001 -o prefix.bln prefix.txt
is "they are whole" "$(info prefix.bln .exact)" true
check "--need in words" baleen plan --need delete --fpp 0.01 --capacity 1M -6
is "says that copies count" "$(grep -Ec '^(cuckoo|quotient) .*, copies$' "$TMP/out")" 2
refuses_plan "a need of nothing" "--need 'wings': not of delete, merge and resize" --need wings \
	--capacity 9
chooses "all at a rate" quotient "quotient with copies is the smallest" six.txt --fpp 0.001 \
	--need delete,merge,resize

# A load that cannot be is refused by both; one that does not come out is told.
refuses_plan_text="buckets of 2 slots cannot be filled above 89.7 %"
is "a load that no table has: plan" "$(planned '.[0].reason' --kind cuckoo --capacity 2000 -6 \
	--load 0.97 --bucket-slots 2)" "\"$refuses_plan_text\""
refuses "and build" "six.txt: $refuses_plan_text" \
	baleen build --load 0.97 --bucket-slots 2 -o new.bln six.txt
check "a load at the edge" baleen build --load 0.89 --bucket-slots 2 --seed 3 -o edge.bln six.txt
is "tells that more was needed" "$(<"$TMP/err")" "baleen: edge.bln: 18.9 kB, not the planned \
18.0 kB: with this seed the keys find no room at a load of 0.89"
# The rate is that of the plan, 0.009355, so of a classic filter each second seed sets too many
# bits: another one is taken, of 16, before the filter gets larger.
planned_bytes=$(planned '.[0].bytes' --kind classic --capacity 2000 --fpp 0.009356 -6)
is "a classic filter takes what it was planned, by some seed" "$(for _ in {1..6}; do
	baleen build --kind classic --fpp 0.009356 -o new.bln six.txt 2>&1
	info new.bln .tables[0].bytes
done | sort -u)" "$planned_bytes"
# A hash without a seed has no other.
seq 4000 | awk '{ printf "10.0.%d.%d\n", $1 / 256, $1 % 256 }' >ten.txt
for fpp in 0.01 0.011 0.012 0.013 0.014 0.015 0.016 0.017; do
	planned_bytes=$(planned '.[0].bytes' --kind classic --hash murmur3 --capacity 4000 --fpp $fpp)
	baleen build --kind classic --hash murmur3 --fpp $fpp -o new.bln ten.txt 2>err || bail "$(<err)"
	echo "$(($(info new.bln .tables[0].bytes) > planned_bytes)) $(grep -c \
		"not the planned .*: these keys would err at more than $fpp\$" err)"
done >sizes
is "or says why not" "$(sort -u sizes)" $'0 0\n1 1'

is "too many buckets are not too many bytes" "$(planned '.[0].reason' --kind cuckoo --slot-bits 8 \
	--bucket-slots 1 --capacity 1G --key flow)" '"over 2^31 buckets"'

chooses "a shape that one kind has" quotient "quotient is the smallest" six.txt --remainder-bits 8
refuses "a kind that cannot" "six.txt: bloom cannot be had in this shape, at this rate, able to delete" \
	baleen build -o new.bln --kind bloom --fpp 0.01 --need delete six.txt
expect "a need of nothing" 2 "" "baleen: build: --need 'wings': not of delete, merge and resize \
(see 'baleen help build')" baleen build --need wings -o new.bln six.txt

# --- what the documents say each kind can do ---

# column KIND N: of the table of kinds in docs/filters.md
column()
{
	awk -F ' *[|] *' -v kind="\`$1\`" -v n="$2" '$2 == kind { print $n }' \
		"$ROOT/docs/filters.md"
}

# says KIND N PATTERN: "true" when that column matches
says()
{
	column "$1" "$2" | grep -qE "$3" && echo true || echo false
}

for kind in cuckoo bloom classic counting quotient; do
	shape=(--kind "$kind" --capacity 1000 --fpp 0.01)
	[[ $kind = bloom || $kind = classic ]] || shape+=(--copies)
	is "$kind: delete" "$(planned '.[0].can | contains(["delete"])' "${shape[@]}" -6)" \
		"$(says "$kind" 4 ^yes)"
	# Where slots are short the keys are gone, except in a quotient filter.
	[ $kind != cuckoo ] || shape=(--kind "$kind" --capacity 1000)
	is "$kind: merge" "$(planned '.[0].can | contains(["merge"])' "${shape[@]}" -6)" \
		"$([ -n "$(column "$kind" 5)" ] && echo true)"
	is "$kind: resize, not to half only" \
		"$(planned '.[0].can | contains(["resize"])' "${shape[@]}" -6)" \
		"$(says "$kind" 6 '^(of the keys|by doubling and halving)$')"
	[ $kind != quotient ] || shape=(--kind "$kind" --capacity 1000)
	is "$kind: exact of IPv4 and ports, of nothing longer" "$(for key in src proto,dport flow; do
		planned '.[0].exact' "${shape[@]}" --key $key
	done | paste -s -d ' ')" \
		"$(says "$kind" 7 ^IPv4) $(says $kind 7 'keys of up to 64 bits') false"
done

# --- what info tells of each ---

# told KIND FILTER WANT OPTION...: of six.txt built so
told()
{
	check "$1 ${*:4}: build" baleen build --kind "$1" --seed 1 -o told.bln "${@:4}" six.txt
	is "$1 ${*:4}: info tells" "$(baleen info -j told.bln | jq -c ".[0].tables[0] | $2")" "$3"
	check "$1 ${*:4}: in words" baleen info told.bln
	is "$1 ${*:4}: with a rate" "$(grep -c 'false positive rate' "$TMP/out")" 1
}

told cuckoo '[.slots_per_bucket, .slot_bits, .stash, .copies]' '[2,8,8,true]' \
	--fpp 0.1 --bucket-slots 2 --slot-bits 8 --stash --copies
told bloom '[.hashes, .positions == .blocks * 512]' '[4,true]' --fpp 0.05 --hashes 4
told classic '[.positions, .hashes, .hash]' '[20001,7,"murmur3"]' --bits 20001 --hash murmur3
told counting '[.counter_bits, .overflow < 1e-9, .stuck, .copies]' '[4,true,0,false]' --fpp 0.01
# Twice as many positions as the optimum has: the bound of half full filters says nothing here.
told counting '[.overflow + 0, .stuck > 390]' '[1,true]' --hash keyed --hashes 8 --bits 400
is "and how many are stuck" "$(baleen info told.bln | grep -Eo '[0-9,]+ stuck at 15')" \
	"$(baleen info -j told.bln | jq '.[0].tables[0].stuck') stuck at 15"
told quotient '[.quotient_bits, .remainder_bits, .slots, .longest_cluster > 0, .copies]' \
	'[12,6,4096,true,false]' --remainder-bits 6
check "an estimate" baleen build --kind classic --fpp 0.01 --seed 1 -o told.bln six.txt
is "of 2000 keys is within 5 %" \
	"$(baleen info -j told.bln | jq '.[0].tables[0].estimated_entries | . > 1900 and . < 2100')" true

# --- seed ---

check "a seed" baleen build -v --seed 1 -o a.bln four.txt
is "which is no secret, is told of" "$(grep -c "as secret as the text" "$TMP/err")" 1
is "its words are those of SplitMix64" "$(od -An -tx8 -j 96 -N 24 a.bln | tr -d '\n')" \
	" 910a2dec89025cc1 beeb8da1658eec67 f893a2eefb32555e"
check "the same seed" baleen build --seed 1 -o b.bln four.txt
check "makes the same image" cmp <(tail -c +97 a.bln) <(tail -c +97 b.bln)
check "another seed" baleen build --seed one -o c.bln four.txt
check_status "makes another" 1 cmp -s <(tail -c +97 a.bln) <(tail -c +97 c.bln)
