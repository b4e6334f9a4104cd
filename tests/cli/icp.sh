#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What cannot be meant with `baleen icp attach`, `status` and `detach`: each ends with 2
# and says so before anything is read; and what needs root says that.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# misuse NAME VERB MESSAGE ARGUMENT...: `baleen icp VERB ARGUMENT...` is no sense
misuse()
{
	expect "$1" 2 "" "baleen: icp $2: $3 (see 'baleen help icp $2')" baleen icp "$2" "${@:4}"
}

# no_sibling NAME SIBLING AT WHY: this sibling is refused for that part of it
no_sibling()
{
	misuse "$1" attach "--sibling $2: '$3': $4" lo --sibling "$2"
}

# no_asker NAME ASKER WHY
no_asker()
{
	misuse "$1" attach "--asker '$2': $3" lo --asker "$2"
}

SIBLING="a=192.0.2.1,feeder=192.0.2.1"
WITH=(lo --sibling "$SIBLING" --asker 192.0.2.0/24 --feed 3131)

# --- help ---

check "help icp" baleen help icp
whole=$(<"$TMP/out")
prints "icp --help is the same" "$whole" baleen icp --help
expect "no verb is a mistake" 2 "" "$whole" baleen icp
expect "no such verb" 2 "" "baleen: icp: no 'frob' (see 'baleen help icp')" baleen icp frob
expect "help of no verb" 2 "" "baleen: no 'frob' in icp: see 'baleen help icp'" \
	baleen help icp frob
for verb in attach status detach; do
	check "help icp tells of $verb" grep -q "^\(usage:\| *\) *baleen icp $verb " <<<"$whole"
	check "help icp $verb" baleen help icp "$verb"
	help=$(<"$TMP/out")
	check "begins with its usage" grep -q "^usage: baleen icp $verb " <<<"$help"
	prints "icp $verb --help is the same" "$help" baleen icp "$verb" --help
	prints "icp $verb -h is the same" "$help" baleen icp "$verb" -h
	# shellcheck disable=SC2013 # words
	for option in $(sed -nE 's/^  (-[a-z], )?(--[a-z-]+).*/\2/p' <<<"$help"); do
		baleen icp "$verb" "$option" >"$TMP/out" 2>"$TMP/err"
		is "$verb knows $option" "$(grep -c 'unrecognized\|ambiguous' "$TMP/err")" 0
	done
	expect "$verb --frobnicate" 2 "" "baleen: unrecognized option '--frobnicate'
baleen: see 'baleen help icp $verb'" baleen icp "$verb" --frobnicate
done

# --- siblings ---

no_sibling "no address" a a "not NAME=ADDRESS"
no_sibling "no name" =192.0.2.1 "" "not a name: up to 31 of A-Z a-z 0-9 . _ -"
no_sibling "a name of two words" "a b=192.0.2.1" "a b" \
	"not a name: up to 31 of A-Z a-z 0-9 . _ -"
no_sibling "no such address" a=192.0.2.300 192.0.2.300 "octet above 255"
no_sibling "a prefix" a=192.0.2.0/24 192.0.2.0/24 "text behind the address"
no_sibling "no such mode" a=192.0.2.1,mode=guess mode=guess "not answer, confirm or observe"
no_sibling "an empty image" a=192.0.2.1,image= image= "no image"
no_sibling "two images" a=192.0.2.1,image=x,image=y image=y "a second image"
no_sibling "no such feeder" a=192.0.2.1,feeder=x feeder=x "a host name, not an address"
no_sibling "no such part" a=192.0.2.1,speed=9 speed=9 "neither mode=, address=, image= nor feeder="
no_sibling "an empty part" a=192.0.2.1, "" "neither mode=, address=, image= nor feeder="
misuse "a name twice" attach "--sibling a=192.0.2.2: 'a': the name of a sibling before" \
	lo --sibling a=192.0.2.1 --sibling a=192.0.2.2
misuse "an address twice" attach \
	"--sibling b=::ffff:192.0.2.1: '::ffff:192.0.2.1': the address of a sibling before" \
	lo --sibling a=192.0.2.1 --sibling b=::ffff:192.0.2.1

many=()
for i in {1..16}; do
	many+=(--sibling "s$i=192.0.2.$i,image=x")
done
misuse "a seventeenth sibling" attach "--sibling t=192.0.2.99: there are 16 already" \
	lo "${many[@]}" --sibling t=192.0.2.99
feeders=$(printf ',feeder=192.0.2.%d' {1..17})
no_sibling "a seventeenth feeder" "a=192.0.2.1$feeders" feeder=192.0.2.17 \
	"there are 16 feeders already"

# --- askers ---

no_asker "no asker" "" "not an address"
no_asker "no such asker" x "a host name, not an address"
no_asker "no length" 192.0.2.0/ "the length of a prefix is a number"
no_asker "a long prefix" 192.0.2.0/33 "the prefix is longer than the address"
no_asker "a long prefix of IPv6" 2001:db8::/129 "the prefix is longer than the address"
no_asker "bits past a prefix" 192.0.2.1/24 "bits past the length of the prefix are set"
no_asker "bits past one of IPv6" 2001:db8::1/64 "bits past the length of the prefix are set"
misuse "the second of two" attach "--asker 'x': a host name, not an address" lo --asker 192.0.2.1,x

# --- ports and the rest ---

for port in 0 65536 x -1 ""; do
	misuse "port '$port'" attach "--port '$port': not a port, 1 to 65535" lo --port "$port"
	misuse "feed '$port'" attach "--feed '$port': not a port, 1 to 65535" lo --feed "$port"
done
misuse "a feed of no device" attach "--feed ':3131': not [DEV:]PORT" lo --feed :3131
misuse "a feed of a long device" attach "--feed 'sixteencharacter:1': not [DEV:]PORT" \
	lo --feed sixteencharacter:1
misuse "no span" attach "--stale '30': not a span of time such as 30s, or never" lo --stale 30
misuse "no mode" attach "--mode 'fast': not auto, native or generic" lo --mode fast
misuse "no kind" attach \
	"--kind 'x': not cuckoo, bloom, classic, counting or quotient" lo --kind x
misuse "no capacity" attach "--capacity '0': not a number of keys" lo --capacity 0
misuse "no rate" attach "--fpp '2': not a rate from 0 to below 1" lo --fpp 2
misuse "a rate of a set" attach \
	"--fpp: a cuckoo filter that follows a feed has 64-bit slots, and one rate" \
	"${WITH[@]}" --kind cuckoo --fpp 0.1
misuse "a hash of a set" attach "--hash keyed: cuckoo has no hash to choose" \
	"${WITH[@]}" --kind cuckoo --hash keyed

# --- together ---

misuse "no device" attach "one device is asked for"
misuse "two devices" attach "'eth9' is a second device" lo eth9
misuse "nobody to answer for" attach "no --sibling given: nobody to answer for" lo
misuse "nobody to answer" attach "no --asker given: nobody would be answered" \
	lo --sibling a=192.0.2.1
misuse "nothing known" attach \
	"sibling 'a' has neither image= nor feeder=: what it holds is not known" \
	lo --sibling a=192.0.2.1 --asker 192.0.2.2
misuse "a feeder unheard" attach "a sibling has a feeder: --feed says where it is heard" \
	lo --sibling "$SIBLING" --asker 192.0.2.2
misuse "a feed of nobody" attach "--feed: no sibling has a feeder=" \
	lo --sibling a=192.0.2.1,image=x --asker 192.0.2.2 --feed 3131
misuse "one port for both" attach "--feed and --port are both 3131" "${WITH[@]}" --port 3131
misuse "status of two" status "at most one device is asked for" lo eth9
misuse "detach of none" detach "one device is asked for"
misuse "detach of two" detach "one device is asked for" lo eth9
misuse "detach of a device that is gone" detach "--gone takes no device" --gone lo

# --- without privileges ---

if [ "$(id -u)" -eq 0 ]; then
	for words in "attach ${WITH[*]}" "detach lo" "detach --gone"; do
		# shellcheck disable=SC2086 # words
		expect "icp $words of a user" 1 "" "baleen: CAP_BPF is missing: run this as root" \
			baleen icp $words
	done
fi
