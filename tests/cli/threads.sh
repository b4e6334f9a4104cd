#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# BALEEN_THREADS: with any number of threads commands write the same bytes, and say the same
# of bad lines, in their order and with their numbers. `make check` compares 1
# thread and 3, and builds each kind of one sort of list; `make check-all` also compares 2 and
# 7, and builds each kind of each sort.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# numbers N: the same N numbers below 2^32 each time, most of them different
numbers()
{
	awk -v n="$1" 'BEGIN { x = 1; while (n-- > 0) { x = (x * 69069 + 1) % 4294967296; print x } }'
}

numbers 100000 >numbers
awk '{ x = $1; printf "%d.%d.%d.%d\n", x / 16777216, x / 65536 % 256, x / 256 % 256, x % 256 }' numbers >ip4
awk '{ printf "2001:db8:%x:%x::%x\n", $1 % 65521, $1 / 65536, $1 % 65536 }' numbers >ip6
awk '{ x = $1; printf "%s10.%d.%d.0/%d\n", NR % 7 ? "" : "!", x / 65536 % 256, x / 256 % 256, 20 + x % 5 }' numbers >prefix4
awk '{ printf "%s2001:db8:%x:%x::/%d\n", NR % 7 ? "" : "!", $1 % 65521, $1 / 65536, 48 + $1 % 17 }' numbers >prefix6
sed 's/$/,443/' ip4 >tuple
sed 's|.*|http://example.com/&|' numbers >url
# All addresses begin alike, and most are listed twice.
awk '{ x = $1; printf "192.0.%d.%d\n", x / 256 % 4, x % 256 }' numbers >alike
cat ip4 ip6 prefix4 prefix6 >mixed
for list in ip4 ip6 prefix4 prefix6 tuple url alike mixed; do
	[ "$(stat -c %s "$list")" -gt 1048576 ] || echo "# $list is short"
done

read -ra COUNTS <<<"$(pick "3" "2 3 7")"

# built THREADS OPTION...: an image by so many threads
built()
{
	BALEEN_THREADS=$1 baleen build --seed x -o "by.$1" "${@:2}" 2>"said.$1"
}

# alike NAME OPTION...: the image is the same with one thread and with several
alike()
{
	local threads

	for threads in 1 "${COUNTS[@]}"; do
		if ! built "$threads" "${@:2}"; then
			not_ok "$1" "$(head -n 3 "said.$threads")"
			return
		fi
		if ! cmp "by.1" "by.$threads" || ! cmp said.1 "said.$threads"; then
			not_ok "$1" "$threads threads: not that of one"
			return
		fi
	done
	ok "$1"
}

# The options of each sort of list, and the list.
SORTS=("ip4" "mixed" "--key src,dport tuple" "--key string url" "--key squid url")
KINDS=(cuckoo bloom classic counting quotient)
tried=0
for i in "${!KINDS[@]}"; do
	fpp=(--fpp 1e-3)
	[ "${KINDS[i]}" = cuckoo ] && fpp=()
	for j in "${!SORTS[@]}"; do
		if [ "$i" -eq "$j" ] || tests_all; then
			read -ra options <<<"${SORTS[j]}"
			alike "${KINDS[i]}: ${SORTS[j]}" --kind "${KINDS[i]}" "${fpp[@]}" "${options[@]}"
			tried=$((tried + 1))
		fi
	done
done
sampled "kinds and sorts of lists" "$tried" $((${#KINDS[@]} * ${#SORTS[@]}))
alike "IPv6" ip6
alike "IPv4 prefixes and exceptions" prefix4
alike "IPv6 prefixes and exceptions" prefix6
alike "addresses that begin alike" alike
alike "fingerprints" --fpp 1e-3 ip6
alike "several lists, one of them on standard input" ip4 - ip6 <prefix4
alike "slots of 16 bits for IPv6" --slot-bits 16 --fpp 0.1 ip6
BALEEN_THREADS=2 check "a filter of many hosts holds them" baleen build -o hosts ip4
is "all of them" "$(baleen match -c hosts -f ip4)" "$(wc -l <ip4)"
baleen dump hosts >dumped
sort -u ip4 | cmp - <(sort dumped) && ok "and no others" || not_ok "and no others"

# --- bad lines -------------------------------------------------------------

# At line 1, at the last, and on both sides of where blocks of 256 KiB are cut.
awk '{ print } NR % 4500 == 0 { print "bad" NR }' ip4 | head -n 85000 | sed '1s/.*/bad1/; $s/.*/badlast/' >bad
grep -n bad bad | sed -E "s/^([0-9]+):(.*)/baleen: bad:\1: '\2': a host name, not an address/" >want
echo "baleen: bad: $(grep -c bad bad) bad lines of $(wc -l <bad): list refused (--skip-bad goes on without them)" >>want
is "there are at most twenty bad lines" "$([ "$(wc -l <want)" -le 21 ] && echo yes)" yes
for threads in 1 "${COUNTS[@]}"; do
	BALEEN_THREADS=$threads baleen build -o new bad 2>said
	check "bad lines in their order, $threads threads" diff want said
done

# A line of more than a block in the midst; bytes that no line has; no newline at the end.
{
	head -n 40000 ip4
	head -c 700000 /dev/zero | tr '\0' x
	echo
	printf '192.0.2.1\0\n'
	printf '192.0.2.2\r192.0.2.3\n'
	tail -n 40000 ip4
	printf '10.0.0.300'
} >odd
printf '%s\n' "baleen: odd:40001: '$(head -c 64 /dev/zero | tr '\0' x)...': line longer than 4096 bytes" \
	"baleen: odd:40002: '192.0.2.1\\x00': NUL byte" "baleen: odd:40003: '192.0.2.2\\x0d192.0.2.3': carriage return in the line" \
	"baleen: odd:80004: '10.0.0.300': octet above 255" \
	"baleen: odd: 4 bad lines of 80004: list refused (--skip-bad goes on without them)" >want
for threads in 1 "${COUNTS[@]}"; do
	BALEEN_THREADS=$threads baleen build -o new odd 2>said
	check "long lines, NUL bytes, no newline at the end, $threads threads" diff want said
done
{
	printf '\xef\xbb\xbf'
	sed 's/$/\r/' ip4
	printf '\xef\xbb\xbf192.0.2.1\n'
} >bom
printf '%s\n' "baleen: bom:100001: '\\u{feff}192.0.2.1': a byte order mark: another file begins here" >want
for threads in 1 "${COUNTS[@]}"; do
	BALEEN_THREADS=$threads baleen build -o new bom 2>said
	check "a byte order mark is one in the first line alone, $threads threads" \
		diff <(sed "s/': .*//" want) <(head -n 1 said | sed "s/': .*//")
done
: >empty
for threads in 1 7; do
	refuses "an empty list, $threads threads" "empty: not a single key in 0 lines: list refused (--allow-empty takes it)" \
		env BALEEN_THREADS=$threads "$BALEEN" build -o new empty
done

# --- match ------------------------------------------------------------------

# asked NAME COMMAND...: output, messages and status are the same with one thread and with several
asked()
{
	local threads

	for threads in 1 "${COUNTS[@]}"; do
		BALEEN_THREADS=$threads "${@:2}" >"out.$threads" 2>"said.$threads"
		echo "status $?" >>"said.$threads"
		if ! cmp out.1 "out.$threads" || ! cmp said.1 "said.$threads"; then
			not_ok "$1" "$threads threads: not what one says"
			return
		fi
	done
	ok "$1"
}

sed -n 'n;p' mixed >half
{
	sed 's/$/ # a comment/' ip4
	cat ip6 odd
	echo
	cat bad
	printf '10.0.0.1'
} >questions
baleen build --skip-bad -o half.bln half 2>said || bail "no filter"
asked "match: keys of a file" baleen match half.bln -f ip4
is "half of what was asked for, or more" "$(($(wc -l <out.1) * 2 >= $(wc -l <ip4)))" 1
baleen match half.bln -f ip4 | cmp - out.1 && ok "and those that one process prints" || not_ok "other keys"
asked "match: comments, keys that cannot be read, a long line, no newline at the end" baleen match half.bln -f questions
is "which are told with their lines" "$(grep -c "^baleen: questions:[0-9]*: '" said.1)" \
	"$((3 + $(grep -c bad bad)))"
is "the last of them" "$(grep "badlast" said.1)" \
	"baleen: questions:$(grep -an badlast questions | cut -d: -f1): 'badlast': a host name, not an address"
asked "match -v" baleen match -v half.bln -f questions
asked "match -c" baleen match -c half.bln -f questions
asked "match -j" baleen match -j half.bln -f ip4
# shellcheck disable=SC2016
asked "match of standard input" sh -c '"$0" match half.bln <questions' "$BALEEN"
# shellcheck disable=SC2016
asked "match of a pipe" sh -c 'cat questions | "$0" match half.bln' "$BALEEN"
asked "match of a list" baleen match half -f ip4
baleen build --key string -o strings url || bail "no filter of strings"
asked "match: strings" baleen match strings -f url
tr '\n' '\0' <url >url0
asked "match -0" baleen match -0 strings -f url0
cat alike alike >twice
baleen build --kind counting --fpp 1e-3 --copies -o copies.bln twice || bail "no filter of copies"
asked "match --count-copies" baleen match --count-copies copies.bln -f alike
baleen build --key src,dport -o two.bln tuple || bail "no filter of fields"
asked "match of several fields" baleen match -f tuple two.bln
BALEEN_THREADS=7 refuses "a full disk is told" "cannot write the output: No space left on device" sh -c '"$0" match half.bln -f ip4 >/dev/full' "$BALEEN"

# --- the knob --------------------------------------------------------------

for value in x -1 0 ""; do
	BALEEN_THREADS=$value baleen build -o new ip4 2>said
	is "BALEEN_THREADS=$value is bad usage" "$?: $(cat said)" \
		"2: baleen: BALEEN_THREADS=$value: not a number of threads"
done
check "no thread is made beyond what there can be" env BALEEN_THREADS=100000 "$BALEEN" build --seed x -o one.many ip4
BALEEN_THREADS=1 baleen build --seed x -o one.one ip4
check "and the image is the same" cmp one.one one.many

finish
