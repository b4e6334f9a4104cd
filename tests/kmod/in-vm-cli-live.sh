#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kmod:NAME while others use it, in the machine of tests/kmod/cli.sh: commands at the
# same time, rules that ask it, a command that is killed, and a million keys.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/words.sh
source tests/words.sh
# shellcheck source=tests/kmod/vm.sh
source tests/kmod/vm.sh
isolate "$@"

N=1000000

baleen()
{
	"$BALEEN" "$@"
}

# info ARGUMENT PATH: a value of what info -j says
info()
{
	baleen info -j "$1" >"$TMP/json" && json "$TMP/json" "[0]$2"
}

# shellcheck disable=SC2119 # no parameters
load_module
printf '192.0.2.1\n192.0.2.7\n' >"$TMP/list.txt"

# --- two at a time ------------------------------------------------------------

# Each change is read, made in memory and swapped: without the version the one that comes
# last would take the other's back.
add_all()
{
	local i

	for i in {1..12}; do
		baleen add --atomic --wait 60 kmod:set "10.$1.$i.0/24" >/dev/null || return
	done
}

baleen build -o kmod:set "$TMP/list.txt"
add_all 1 &
first=$!
add_all 2 &
second=$!
check "changes by one" wait "$first"
check "and another at the same time" wait "$second"
is "are all there" "$(baleen match -c kmod:set 10.{1,2}.{1..12}.9)" 24
is "beside what was" "$(baleen match -c kmod:set 192.0.2.1 192.0.2.7)" 2
changers=()
for i in {1..8}; do
	baleen add --wait 200 kmod:set "172.16.$i.0/24" >/dev/null 2>&1 &
	changers+=($!)
done
failures=0
for changer in "${changers[@]}"; do
	wait "$changer" || failures=$((failures + 1))
done
is "prefixes by eight at the same time: each has its turn" "$failures" 0
is "and are all there" "$(baleen match -c kmod:set 172.16.{1..8}.77)" 8

# --- rules that ask it --------------------------------------------------------

# shellcheck disable=SC2119 # as in the picture
make_pair
baleen build -o kmod:set "$TMP/list.txt"
check "rules on a device" in_ns "$B" "$BALEEN" attach --backend kmod veth-b --drop bad=kmod:set
is "are counted" "$(info kmod:set .rules)" 1
refuses "it cannot go" "kmod:set: rules of another network namespace ask it" \
	baleen detach kmod:set
refuses "and where they are they are named" \
	"kmod:set: rules ask it: veth-b:bad: 'baleen detach' or 'baleen rule' them first" \
	in_ns "$B" "$BALEEN" detach kmod:set
refuses "nor get other keys" "kmod:set: rules ask it, and the keys of the image are of other fields" \
	baleen build --key dst -o kmod:set "$TMP/list.txt"
errs=(--kind bloom --fpp 0.1 "$TMP/list.txt")
for command in "build -o kmod:set" "swap kmod:set"; do
	# shellcheck disable=SC2086 # words
	check_status "nor one that errs more than a rule may: $command" 1 baleen $command "${errs[@]}"
	is "it says how often" "$(grep -c 'unlisted packets in a million' "$TMP/err")" 1
done
is "it is as it was" "$(info kmod:set .exact)" true
check "unless that is accepted" baleen swap --accept-fpp 0.1 kmod:set "${errs[@]}"
check "and an exact one takes its place" baleen build -o kmod:set "$TMP/list.txt"
check_status "nor an address of this host" 1 in_ns "$B" "$BALEEN" add kmod:set 10.66.0.2
is "which it says" "$(sed -n 1p "$TMP/err")" \
	"baleen: veth-b: rule 'bad' would drop 10.66.0.2, address of veth-b"
is "nothing changed" "$(baleen match -c kmod:set 10.66.0.2)" 0
echo 10.66.0.2 >"$TMP/own.txt"
check_status "nor by a swap" 1 in_ns "$B" "$BALEEN" swap kmod:set "$TMP/own.txt"
check_status "nor by build" 1 in_ns "$B" "$BALEEN" build -o kmod:set "$TMP/own.txt"
is "nothing changed by them" "$(baleen match -c kmod:set 192.0.2.1 10.66.0.2)" 1
check "unless forced" in_ns "$B" "$BALEEN" swap --force kmod:set "$TMP/own.txt"
is "it is there" "$(baleen match -c kmod:set 10.66.0.2)" 1
check "rules off" in_ns "$B" "$BALEEN" detach veth-b
prints "it goes" "kmod:set: detached" baleen detach kmod:set

# --- a copy for XDP -------------------------------------------------------------

baleen build -o kmod:set "$TMP/list.txt"
check "XDP takes a copy" in_ns "$B" "$BALEEN" attach veth-b --drop kmod:set
is "as a rule of its name" "$(in_ns "$B" "$BALEEN" dump veth-b:set)" $'192.0.2.1\n192.0.2.7'
check "which goes its own way" baleen add kmod:set 192.0.2.9
is "as it was" "$(in_ns "$B" "$BALEEN" match -c veth-b:set 192.0.2.9)" 0
in_ns "$B" "$BALEEN" detach veth-b >/dev/null

# --- no room ---------------------------------------------------------------------

seq 1 20000 | awk '{ print "10.0." int($1 / 250) "." $1 % 250 }' >"$TMP/many.txt"
echo 16384 >/sys/module/baleen/parameters/max_bytes
baleen build -o "$TMP/many.bln" "$TMP/many.txt"
refuses "more than max_bytes" "kmod:many: with its $(stat -c %s "$TMP/many.bln") bytes the filters of \
the module would be more than 16384 (/sys/module/baleen/parameters/max_bytes)" \
	baleen build -o kmod:many "$TMP/many.txt"
refuses "nor by growing" "kmod:set: with its $(stat -c %s "$TMP/many.bln") bytes the filters of \
the module would be more than 16384 (/sys/module/baleen/parameters/max_bytes)" \
	baleen swap kmod:set "$TMP/many.bln"
is "what was stays" "$(baleen match -c kmod:set 192.0.2.1)" 1
echo 0 >/sys/module/baleen/parameters/max_bytes

# --- a million keys ----------------------------------------------------------------

make_list "$TMP/million.txt" $N 0 5
check "a million keys in" baleen build -o kmod:million "$TMP/million.txt"
is "are counted" "$(info kmod:million .entries)" $N
baleen dump kmod:million >"$TMP/out.txt"
baleen build -o "$TMP/million.bln" "$TMP/million.txt"
check "and out" cmp "$TMP/out.txt" <(baleen dump "$TMP/million.bln")
is "asked for, each of them" "$(baleen match -c -f "$TMP/million.txt" kmod:million)" $N
is "by the kernel" "$(info kmod:million .counters.query_hits)" $N
check "one more" baleen add --exist kmod:million 192.0.2.1
# Whatever the moment, a filter is whole or not there.
for delay in 0.1 0.4 0.8; do
	timeout -s INT "$delay" "$BALEEN" swap kmod:million "$TMP/million.bln" >/dev/null 2>&1
	n=$(info kmod:million .entries)
	check "killed after $delay s" test "$n" -eq $N -o "$n" -eq $((N + 1))
done
for filter in set million; do
	check "$filter goes" baleen detach kmod:$filter
done
test_gone
