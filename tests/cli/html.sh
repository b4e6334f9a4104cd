#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The pages of --html, without a browser: their data are what -j prints, their hashes those of the
# commands, their steps end where the filter does, and nothing that others wrote is more than text.
# tests/html/pages.sh opens them in Chromium.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

TEXT=(--key string --hash-seed 42 --hash-form "unsigned,quoted")
HOSTILE='</script><img src=x onerror=alert(1)><!--&"'"'"

# page WHAT FILE
page()
{
	/usr/bin/python3 "$ROOT/tests/cli/page_text.py" "$@"
}

# sorted: JSON, to be compared
sorted()
{
	jq -S .
}

# has_page NAME FILE: it is there, and sound
has_page()
{
	is "$1: nothing that must not be in a page" "$(page wrong "$2")" ""
}

# --- a look-up ---

printf 'Copenhagen\nDublin\n' >two.txt
check "ten bits" baleen build "${TEXT[@]}" --kind classic --hash murmur3-fnv1a --bits 10 -o bits.bln two.txt
check "a page of them" baleen show --html bits.bln Dublin Rome Berlin
cp "$TMP/out" bits.html
has_page "bits" bits.html
is "its data are those of show -j" "$(page data bits.html | jq -S '.show')" \
	"$(baleen show -j bits.bln Dublin Rome Berlin | jq -S '[.]')"
is "it tells each step" "$(page steps bits.html | paste -s -d ,)" \
	"the filter,a = Dublin: bits 1, 3,bit 1: set,bit 3: set,all are set: maybe in the set,b = Rome: bits 5 (not set), 6 (not set),bit 5: not set: surely not in the set,c = Berlin: bits 1, 7,bit 1: set,bit 7: set,all are set: maybe in the set"
printf '%s\n' Copenhagen Lisbon Paris Stockholm Zagreb Warsaw >capitals.txt
check "a quotient filter" baleen build "${TEXT[@]}" --kind quotient --hash murmur3 --remainder-bits 29 \
	-o capitals.bln capitals.txt
check "a page of it" baleen show --html capitals.bln Paris Oslo
cp "$TMP/out" capitals.html
has_page "slots" capitals.html
is "the run is found as the text says" "$(page steps capitals.html | sed -n '3,$p' | paste -s -d ,)" \
	"slot 4: occupied, there is such a run,slot 3: shifted, on to the left,slot 2: shifted, on to the left; it is occupied,slot 1: not shifted: here the cluster begins; it is occupied,slot 1: run 1 begins; the run is number 3 of the cluster,slot 2: goes on with run 1,slot 3: goes on with run 1,slot 4: run 2 begins,slot 5: run 3 begins,slot 5: 1f568a58: maybe in the set,b = Oslo: quotient 101, remainder 0cf4cf70: no such run,slot 5: not occupied, no such run: not in the set"
printf '192.0.2.0/24\n198.51.100.7\n2001:db8::/32\n' >mixed.txt
check "a page of several tables" baleen show --html --from 0 --count 64 mixed.txt 192.0.2.9 2001:db8::1
cp "$TMP/out" mixed.html
has_page "several tables" mixed.html
is "that says no seed" "$(grep -ciE 'seed"|"seed' mixed.html)" 0
check_status "two forms" 2 baleen show --html --svg bits.bln
check_status "too much of one" 1 baleen show --html --from 0 --count 5000 \
	<(seq -f 10.0.%.0f.1 0 255)

# --- changes ---

# ends_as NAME IMAGE: the last step of trace.html has the cells that the image has
ends_as()
{
	baleen show --html "$2" >now.html
	is "$1: the last step is the image" "$(page states trace.html | tail -n 1)" "$(page states now.html)"
}

# traced NAME IMAGE COMMAND...: its page, whose data are what --trace -j prints of the same
traced()
{
	local name=$1 image=$2

	shift 2
	[ ! -e "$image" ] || cp "$image" kept.bln
	check "$name" baleen "$@" --trace --html
	cp "$TMP/out" trace.html
	has_page "$name" trace.html
	cp "$image" changed.bln
	[ ! -e kept.bln ] || cp kept.bln "$image"
	user rm -f kept.bln
	is "$name: its data are those of --trace -j" "$(page data trace.html | jq -S .change)" \
		"$(baleen "$@" --trace -j | jq -S .)"
	check "$name: which changes the same" cmp "$image" changed.bln
}

check "a cuckoo filter" baleen build "${TEXT[@]}" --partner xor --slot-bits 16 --bucket-slots 1 --buckets 10 \
	--allow-empty -o cuckoo.bln /dev/null
for key in Copenhagen Athens Lisbon; do
	baleen add cuckoo.bln $key >/dev/null
done
traced "a walk" cuckoo.bln add cuckoo.bln Helsinki
is "each kick is a step" "$(page states trace.html | sed 's/e----/-/g; s/\<u//g')" \
	"6adc - - - - - - c1cf - 402f
6adc - - - - - - c1cf - 402f
6adc - - - - - - 3c11 - 402f
c1cf - - - - - - 3c11 - 402f
c1cf - - - - - - 6adc - 402f
c1cf - - - - - - 3c11 - 402f
c1cf - 6adc - - - - 3c11 - 402f"
ends_as "a walk" cuckoo.bln
echo 0001:0010100 >v.txt
check "a quotient filter of fingerprints" baleen build --key fingerprint --kind quotient \
	--remainder-bits 7 --capacity 12 --copies -o raw.bln v.txt
for key in 0101:000{0001,0010,0011,0100,0101,0110} 1110:1001110 1110:1111110 1111:1011010 1111:1111100; do
	baleen add raw.bln "$key" >/dev/null
done
traced "a shift round the end" raw.bln add raw.bln 1111:0000000
is "goes from its end on" "$(page steps trace.html | grep -o '^slot [0-9]*' | paste -s -d ' ')" "slot 3 slot 2 slot 1 slot 0"
is "and loses no remainder on the way" "$(page states trace.html | grep -o ' [um][01]\{7\}' | sort | uniq -c |
	awk '$1 < 6' | tr -s ' ')" " 1 m0000000"
ends_as "a shift round the end" raw.bln
traced "a deletion" raw.bln del raw.bln 1110:1001110
ends_as "a deletion" raw.bln

traced "a build of slots" capitals.bln build "${TEXT[@]}" --kind quotient --hash murmur3 \
	--remainder-bits 29 -o capitals.bln capitals.txt
ends_as "a build of slots" capitals.bln
printf '192.0.2.%d\n' 1 2 3 7 9 >hosts.txt
for kind in chained "compact --slot-bits 32"; do
	# shellcheck disable=SC2086 # words
	traced "a build of chains: $kind" chains.bln build --kind $kind --buckets 2 --copies --seed 1 -o chains.bln \
		hosts.txt
	ends_as "a build of chains: $kind" chains.bln
	is "each step of it has a key more: $kind" "$(page states trace.html | awk '{ n = 0
		for (i = 1; i <= NF; i++) n += $i !~ /^e/
		printf "%d ", n }')" "0 0 1 1 2 2 3 3 4 4 5 "
	traced "a deletion from chains: $kind" chains.bln del chains.bln 192.0.2.2 192.0.2.9
	ends_as "a deletion from chains: $kind" chains.bln
	rm chains.bln
done
seq 60 >numbers.txt
traced "a build of counters" counters.bln build --key string --kind counting --bits 100 --hashes 4 \
	--hash murmur3 --seed 1 -o counters.bln numbers.txt
ends_as "a build of counters" counters.bln
traced "a deletion from counters" counters.bln del counters.bln 7 8 9
ends_as "a deletion from counters" counters.bln
traced "a build of semi-sorted slots" semi.bln build --key string --slot-bits 12 --semi-sort --copies \
	--seed 1 -o semi.bln numbers.txt
ends_as "a build of semi-sorted slots" semi.bln
traced "a deletion from them" semi.bln del semi.bln 7 8 9
ends_as "a deletion from them" semi.bln
check "a large filter" baleen build --key string --kind classic --bits 200000 --hashes 4 --seed 1 -o large.bln numbers.txt
traced "a change of a large one" large.bln add large.bln abc def
is "draws some rows" "$(($(page states trace.html | sed -n 1p | wc -w) <= 64 * 2 * 20))" 1
check_status "a page without a trace" 2 baleen add --html bits.bln Oslo
check_status "two forms of a trace" 2 baleen add --trace --html -j bits.bln Oslo
is "change nothing" "$(baleen match -c bits.bln Oslo)" 0
seq 5000 >many.txt
check_status "too many steps" 1 baleen build --trace --html --key string --kind classic --bits 64 --seed 1 \
	-o none.bln many.txt
is "are refused" "$(<"$TMP/err")" \
	"baleen: build: none.bln: a page of more than 2000 steps: fewer keys make a shorter one"

# --- resize and merge ---

printf '01:001010\n11:100111\n' >two.txt
check "four slots" baleen build --key fingerprint --kind quotient --remainder-bits 6 --capacity 3 -o 4.bln two.txt
check "are doubled" baleen resize --trace --capacity 6 -o 8.bln 4.bln
is "with a line for each remainder" "$(sed -n '1,3p' "$TMP/out")" "4.bln:
  slot 1: 01 001010 -> slot 2: 010 01010
  slot 3: 11 100111 -> slot 7: 111 00111"
traced "and doubled again" 8.bln resize --capacity 12 -o 16.bln 8.bln
is "the page shows both" "$(page data trace.html | jq -c '[.show[].tables[0].slots]')" "[8,16]"
is "slot by slot" "$(page steps trace.html | paste -s -d ,)" \
	"before,slot 2: 010 01010 -> slot 4: 0100 1010,slot 7: 111 00111 -> slot 14: 1110 0111,after"
baleen show --html 8.bln >8.html
baleen show --html 16.bln >16.html
is "and ends with the new one" "$(page states trace.html | tail -n 1)" "$(page states 8.html) $(page states 16.html)"
head -n 3 capitals.txt >first.txt
tail -n 3 capitals.txt >last.txt
QUOTIENT=(--kind quotient --hash murmur3 --remainder-bits 29 --capacity 6)
check "three capitals" baleen build "${TEXT[@]}" "${QUOTIENT[@]}" -o three.bln first.txt
check "and three" baleen build "${TEXT[@]}" "${QUOTIENT[@]}" -o rest.bln last.txt
traced "become six" three.bln merge -o merged.bln three.bln rest.bln
is "of which each has come to its slot" "$(page data trace.html |
	jq -r '.change.trace[] | "\(.filter) \(.from.slot) \(.to.slot)"' | paste -s -d ,)" \
	"0 1 2,0 4 5,0 7 7,1 1 1,1 2 3,1 3 4"
check "bits of a secret seed" baleen build --key string --kind classic --bits 128 --seed 1 --hashes 3 -o 128.bln capitals.txt
traced "are folded" 128.bln resize --capacity 10 -o 64.bln 128.bln
is "each onto the bit that it is now" "$(page data trace.html | jq -c '.change.trace | map(select(
	.to.bit != (.from.bit / 2 | floor))) | length')" 0
check "blocks" baleen build --key string --kind bloom --capacity 200 --fpp 0.01 --seed 1 -o blocks.bln numbers.txt
check "are folded, too" baleen resize --trace -j --capacity 60 -o half.bln blocks.bln
is "onto bits that are set" "$(jq -r '.trace[].to.bit' "$TMP/out" | sort -nu | paste -s -d ' ')" \
	"$(baleen show -j --count 10000 half.bln | jq -r '.tables[0].places | to_entries[] | select(.value == 1).key' |
		sort -n | paste -s -d ' ')"
check "slots of hashes" baleen build --key string --slot-bits 64 --seed 1 -o hashes.bln numbers.txt
traced "move to another bucket" hashes.bln resize --capacity 100 -o more.bln hashes.bln
is "all of them" "$(page data trace.html | jq '.change.trace | length')" 60
printf '192.0.2.%d\n' {1..9} >addresses.txt
check "what gets a new seed" baleen build --seed 1 -o seeded.bln addresses.txt
check "is said to have" baleen resize --trace --capacity 99 -o new.bln seeded.bln
is "new places" "$(<"$TMP/err")" \
	"baleen: --trace: not place by place: all keys have new ones, which 'baleen show' draws"
check_status "a list" 1 baleen merge --trace -o new.bln capitals.bln capitals.txt
is "has no places" "$(<"$TMP/err")" \
	"baleen: --trace: keys of a list have no places: 'baleen build' makes an image of it"

# --- what others wrote ---

printf '%s\n' "$HOSTILE" >hostile.txt
user cp bits.bln "<b>&'x\".bln"
check "a key that is a script" baleen show --html "<b>&'x\".bln" "$HOSTILE" $'\xe2\x80\xae\xff'
cp "$TMP/out" hostile.html
has_page "a key that is a script" hostile.html
is "is a text" "$(page steps hostile.html | grep -cF "a = $HOSTILE: ")" 1
is "in the data, too" "$(page data hostile.html | jq -r '.show[0].keys[0].key')" "$HOSTILE"
is "and so is the rest" "$(page steps hostile.html | grep -cF 'b = \u{202e}\xff: ')" 1
traced "one that is added" bits.bln add bits.bln "$HOSTILE"
is "is a text of a step" "$(page steps trace.html | grep -cF "$HOSTILE")" 1

# --- the examples of the texts ---

PAGES=$TMP/work/pages
cp "$ROOT/examples/textbook/Makefile" .
check "the pages of the texts' examples" user make -s BALEEN="$TMP/baleen" PAGES="$PAGES"
mapfile -t pages < <(sed -n 's/.*href="\([^"]*\)".*/\1/p' "$PAGES/index.html")
is "the index names each" "$(printf '%s\n' "${pages[@]}" index.html | sort)" "$(cd "$PAGES" && printf '%s\n' *.html | sort)"
is "nothing that must not be is in one" "$(page wrong "${pages[@]/#/$PAGES/}")" ""
is "Paris is in slot 5" "$(page steps "$PAGES/capitals-look-up.html" | tail -n 1)" "slot 5: 525765208: maybe in the set"
is "Athens is lost" "$(page steps "$PAGES/cuckoo-look-up.html" | tail -n 3 | paste -s -d ,)" \
	"bucket 0: not there,bucket 7: not there,in neither: not in the set"
is "and comes to where it is lost by a kick" "$(page steps "$PAGES/cuckoo-insert.html" | tail -n 1)" \
	"bucket 2, slot 0: 27356 finds it free"
is "w is a false positive, z is not" "$(page steps "$PAGES/thesis-bloom-look-up.html" |
	grep -o ': [a-z ]* the set$' | paste -s -d ,)" \
	": maybe in the set,: maybe in the set,: surely not in the set,: maybe in the set"
is "a run comes to its end" "$(page steps "$PAGES/quotient-insert-a.html" | grep -o '^slot [0-9]*' | paste -s -d ' ')" \
	"slot 23 slot 22 slot 21"

# --- where a key is looked up, by the script of the page ---

LC_ALL=C.UTF-8 printf '%s\n' "" a ab abc abcd abcde Copenhagen "'" 'Reykjavík' '東京' '🐋' \
	'00' "$(printf 'x%.0s' {1..100})" | tail -n +2 >keys.txt
mapfile -t keys <keys.txt
ones=0
# ask NAME OPTION...: the keys in a filter of these
ask()
{
	local name=$1

	shift
	check "$name: a filter" baleen build --allow-empty -o ask.bln "$@" /dev/null
	ones=$((ones + 1))
	baleen show -j --from 0 --count 1 ask.bln "${keys[@]}" >asked$ones.json
}
for form in unsigned unsigned,quoted quoted; do
	for bits in 10 95 4099 1048576; do
		ask "murmur3, $form, $bits bits" --kind classic --key string --hash murmur3 --hash-seed 42 \
			--hash-form $form --hashes 7 --bits $bits
	done
	ask "counters, $form" --kind counting --key string --hash murmur3 --hash-seed 4294967295 \
		--hash-form $form --hashes 4 --bits 1000
	ask "murmur3-fnv1a, $form" --kind classic --key string --hash murmur3-fnv1a --hash-seed 1 \
		--hash-form $form --bits 1000
	for rest in 3 12 29; do
		ask "quotients, $form, $rest" --kind quotient --key string --hash murmur3 --hash-seed 42 \
			--hash-form $form --remainder-bits $rest --capacity 5
	done
	for bits in 8 16 32; do
		ask "buckets, $form, $bits" --partner xor --key string --hash-seed 42 --hash-form $form \
			--slot-bits $bits --bucket-slots 1 --buckets 10
	done
done
ask "the Python class" --kind classic --key string --hash murmur3 --bits 95 --hashes 6
ask "murmur3-fnv1a" --kind classic --key string --hash murmur3-fnv1a --bits 95
keys=(00 99108ad8ed9bb6274d3980bab5a85c048f0950c8 FFff 0123456789)
ask "hexadecimal" --kind classic --key string --hash murmur3 --hash-seed 42 --hash-form unsigned,hex --bits 1000
ask "BIP 37" --kind classic --key string --hash bip37 --hash-form hex --hash-seed 2147483649 --hashes 9 --bits 1000
keys=(0.0.0.0 192.0.2.1 255.255.255.255)
ask "addresses" --kind classic --hash murmur3 --hashes 5 --bits 1000
keys=(1 0 10001:001010 10100101101 11111111111111111111111111111111)
ask "fingerprints" --key fingerprint --kind quotient --remainder-bits 6 --capacity 24
check "the script asks" /usr/bin/python3 "$ROOT/tests/cli/hash_js.py" "$ROOT/user/cli/common" asked*.json
is "where the command does" "$(wc -l <"$TMP/out") $(($(cut -d ' ' -f 1 "$TMP/out") > 1000))" "1 1"
