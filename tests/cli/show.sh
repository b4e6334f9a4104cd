#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What is in a filter, drawn: as text, JSON and SVG.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# shown NAME WHAT [ARGUMENT...]: a value of `show -j`
shown()
{
	local what=$1

	shift
	baleen show -j "$@" >shown.json && json shown.json "$what"
}

# --- bits ---

printf '%s\n' Copenhagen Dublin >two.txt
check "ten bits" baleen build --key string --kind classic --hash murmur3-fnv1a --bits 10 \
	-o bits.bln two.txt
check "are drawn" baleen show bits.bln Copenhagen Rome
is "in one row" "$(sed -n 's/^ *0  \([1.]\)/\1/p' "$TMP/out")" "$(tr 01 .1 <<<"$(
	shown .tables[0].places bits.bln | tr -d '[:space:][],')" | sed 's/.\{8\}/& /')"
is "with the letter of each key below" "$(grep -o '^ *[ab* ]*$' "$TMP/out" | tr -d ' \n' |
	tr -d '*' | grep -o . | sort -u | paste -s -d '')" ab
is "its bits are those that are set" \
	"$(shown '.keys[0].asks[0].bits' bits.bln Copenhagen | tr -d ' \n[]' | tr , '\n' | while read -r n; do
		json shown.json ".tables[0].places[$n]"; done | sort -u)" 1
is "what is not in the set has a bit that is not" "$(baleen show bits.bln Rome Madrid Paris Oslo |
	sed -n 's/^\([A-Z][a-z]*\): //p' | paste -s -d ' ')" \
	"$(for key in Rome Madrid Paris Oslo; do
		baleen match -c bits.bln "$key" | sed 's/1/maybe/; s/0/no/'; done | paste -s -d ' ')"

# --- counters ---

for i in {1..40}; do echo 192.0.2.7; done >forty.txt
printf '192.0.2.8\n192.0.2.9\n' >>forty.txt
# With a seed of its own, since one in 64 leads a key to one counter twice.
check "counters" baleen build --kind counting --hash keyed --hashes 2 --bits 64 --copies --seed two \
	-o counters.bln forty.txt
is "that cannot count any more are stuck" "$(shown .tables[0].summary.stuck counters.bln)" 2
check "are drawn" baleen show counters.bln
is "with a mark" "$(grep '^ *0  ' "$TMP/out" | tr -cd '!' | wc -c)" 2
is "and named" "$(grep -c '2 stuck at 15: their bits stay' "$TMP/out")" 1

# --- buckets ---

printf '192.0.2.%d\n' {1..40} >forty.txt
check "a cuckoo filter" baleen build -o cuckoo.bln forty.txt
is "holds as many slots as keys" "$(shown .tables[0].summary.used cuckoo.bln)" 40
mapfile -t keys <forty.txt
baleen show -j cuckoo.bln "${keys[@]}" 198.51.100.1 >shown.json
is "finds each in one of its buckets" "$(for i in {0..39}; do
	bucket=$(json shown.json ".keys[$i].asks[0].found.bucket")
	slot=$(json shown.json ".keys[$i].asks[0].found.slot")
	[ "$(json shown.json ".tables[0].places[$bucket].slots[$slot].fingerprint")" = \
		"$(json shown.json ".keys[$i].asks[0].fingerprint")" ] && echo same
done | sort | uniq -c | tr -s ' ')" " 40 same"
is "and no other" "$(json shown.json '.keys[40].asks[0].found') $(json shown.json '.keys[40].verdict')" \
	"null no"
check "as text" baleen show cuckoo.bln 192.0.2.7
is "its buckets are named" "$(grep -Ec \
	'a = 192.0.2.7: fingerprint [0-9a-f]{8}, buckets [0-9]+ and [0-9]+: in slot [0-3] of [0-9]+' \
	"$TMP/out")" 1
is "and marked" "$(grep -Eo '(home|other) of a' "$TMP/out" | sort | paste -s -d ,)" "home of a,other of a"
is "it is in" "$(tail -n 1 "$TMP/out")" "192.0.2.7: yes"

# --- slots of a quotient filter ---

# With a seed, too: in one of 130 two keys have one fingerprint.
check "a quotient filter" baleen build --kind quotient --remainder-bits 12 --seed two \
	-o quotient.bln forty.txt
is "holds them, too" "$(shown .tables[0].summary.used quotient.bln)" 40
is "in clusters of which info knows the longest" \
	"$(json shown.json .tables[0].summary.longest_cluster)" "$(info quotient.bln .tables[0].longest_cluster)"
check "drawn" baleen show --base 10 quotient.bln 192.0.2.7
is "each with three bits" "$(grep -Ec '^ +[0-9]+ .[01] [01] [01] +([0-9]+|-+)' "$TMP/out")" 64
is "40 in use" "$(grep -c 'run of' "$TMP/out")" 40
is "and the key in a slot" \
	"$(grep -Ec 'a = 192.0.2.7: quotient [0-9]+, remainder [0-9]+: in slot [0-9]+' "$TMP/out")" 1

for kind in quotient cuckoo; do
	printf '192.0.2.%d\n' {1..40} 7 7 >copies.txt
	check "$kind with copies" baleen build --copies --kind $kind -o copies.bln copies.txt
	is "$kind: says how many" "$(baleen show copies.bln 192.0.2.7 192.0.2.8 |
		grep -Eo ': in slot.*' | sed -E 's/[0-9]+ of [0-9]+/N/; s/slot [0-9]+/slot N/')" \
		$': in slot N, 3 copies\n: in slot N'
	is "$kind: as JSON" "$(baleen show -j copies.bln 192.0.2.7 192.0.2.99 >shown.json
		json shown.json '.keys[0].asks[0].copies'
		json shown.json '.keys[1].asks[0].copies')" $'3\n0'
done
baleen build --copies --kind quotient -o copies.bln copies.txt
is "and marks each" "$(baleen show copies.bln 192.0.2.7 | grep -cE '^ +a$')" 3

# --- prefixes, a part, a large one ---

printf '10.0.0.0/8\n192.0.2.1\n2001:db8::/33\n!2001:db8::/48\n' >mixed.txt
check "prefixes of both families" baleen show mixed.txt 10.1.2.3 2001:db8::1 2001:db8:1::1
is "with a verdict each" "$(tail -n 3 "$TMP/out" | paste -s -d ,)" \
	"10.1.2.3: yes,2001:db8::1: no,2001:db8:1::1: yes"
is "the exception among the entries" "$(grep -c '!2001:db8::/48' "$TMP/out")" 1
seq 1 200000 | awk '{ printf "10.%d.%d.%d\n", $1 / 65536, $1 / 256 % 256, $1 % 256 }' >large.txt
check "a large filter" baleen build -o large.bln large.txt
check "is summed up" baleen show large.bln
is "in few lines" "$(($(wc -l <"$TMP/out") < 15))" 1
check "of a key" baleen show large.bln 10.1.2.3
is "only its buckets are drawn" "$(grep -Ec '(home|other) of a' "$TMP/out")" 2
check "a part" baleen show --from 100 --count 3 large.bln
is "is what was asked for" "$(grep -Eo '^ +10[0-9] ' "$TMP/out" | tr -d ' ' | paste -s -d ,)" 100,101,102
check "in JSON" baleen show -j --from 100 --count 3 large.bln
is "too" "$(json "$TMP/out" .tables[0].places[2].bucket)" 102
check "a part beyond the end" baleen show --from 40000000 large.bln
refuses_usage()
{
	check_status "$1" 2 baleen show "${@:3}"
	is "$1: why" "$(<"$TMP/err")" "baleen: show: $2 (see 'baleen help show')"
}
refuses_usage "a start that is none" "--from '-1': not the number of a bit, bucket or slot" --from -1 large.bln
refuses_usage "two forms" "--json, --svg and --html: one of them" -j --svg large.bln
check_status "a key that is none" 1 baleen show large.bln 10.0.0.300
is "why" "$(<"$TMP/err")" "baleen: '10.0.0.300': octet above 255"

# --- colours ---

on_terminal()
{
	user env TERM=vt100 SHELL=/bin/sh "$@" script -qfec "'$TMP/baleen' show bits.bln Copenhagen" \
		/dev/null </dev/null
}
is "on a terminal a drawing has colours" "$(on_terminal | grep -c $'\e\\[[0-9;]*m')" 1
is "unless NO_COLOR is set" "$(on_terminal NO_COLOR=1 | grep -c $'\e')" 0
is "or the terminal has none" "$(on_terminal TERM=dumb | grep -c $'\e')" 0
is "and in a file it has none" "$(baleen show bits.bln Copenhagen | grep -c $'\e')" 0

# --- SVG ---

for image in bits.bln counters.bln cuckoo.bln quotient.bln mixed.txt; do
	check "$image as SVG" baleen show --svg "$image"
	cp "$TMP/out" "$image.svg"
	check "$image: is XML" \
		python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$image.svg"
	is "$image: below 200 kB" "$(($(stat -c %s "$image.svg") < 200000))" 1
done
# texts FILE [CLASS]: the texts of a picture, a line each; those of a class only
texts()
{
	python3 -c 'import sys, xml.dom.minidom as d
for text in d.parse(sys.argv[1]).getElementsByTagName("text"):
    if len(sys.argv) < 3 or sys.argv[2] in text.getAttribute("class").split():
        print(text.firstChild.data)' "$@"
}

# width FILE
width()
{
	sed -n '1s/.* width="\([0-9]*\)".*/\1/p' "$1"
}
check "keys in a picture" baleen show --svg bits.bln Copenhagen Rome
cp "$TMP/out" keys.svg
is "have their letters at their bits" "$(texts keys.svg l | grep -o . | sort -u | paste -s -d '')" ab
is "and colours of their own" "$(texts keys.svg k0 | sort -u) $(texts keys.svg k1 | sort -u)" "a b"
is "ten bits are as wide as their text" "$(($(width keys.svg) < 480))" 1
is "and numbered" "$(texts keys.svg i | paste -s -d ' ')" "0 1 2 3 4 5 6 7 8 9"
is "the three bits of a slot have headers" \
	"$(texts quotient.bln.svg faint | sed -n 2,5p | paste -s -d ' ')" "o c s remainder"
is "and are explained" "$(texts quotient.bln.svg | grep -o '^[ocs] = is_[a-z]*' | paste -s -d ' ')" \
	"o = is_occupied c = is_continuation s = is_shifted"
is "signs are explained" "$(texts counters.bln.svg | grep -c '^stuck at 15$')" 1
check "a key of many letters" baleen show --svg bits.bln \
	"$(printf 'x%.0s' {1..300})" '<script>&' $'\e[2J\xe2\x80\xae'
is "is text in XML" "$(cp "$TMP/out" foreign.svg && texts foreign.svg |
	grep -cF -e 'b = <script>&: ' -e 'c = \x1b[2J\u{202e}: ')" 2
is "of at most some hundred characters a line" "$(texts foreign.svg | awk 'length > 100')" ""
is "colours differ from the ground and each other, whoever looks" \
	"$(/usr/bin/python3 "$ROOT/tests/cli/palette.py" keys.svg | paste -s -d ' ')" "8 6 8 6"
check "the largest part" baleen show --svg --from 0 --count 375 large.bln
is "is below 200 kB" "$(($(stat -c %s "$TMP/out") < 200000))" 1
check_status "a larger one" 1 baleen show --svg --from 0 --count 5000 large.bln
is "is refused" "$(<"$TMP/err")" \
	"baleen: large.bln: a picture of more than 1500 cells: --from N --count M draws a part"
