#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# add, del, merge and resize of image files.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

printf '192.0.2.1\n192.0.2.2\n2001:db8::1\n' >hosts.txt
printf '10.0.0.0/8\n192.0.2.1\n2001:db8::/32\n' >nets.txt
printf 'tcp,192.0.2.1,198.51.100.1,1000,443\n' >flows.txt

# fresh LIST [OPTION...]: a.bln is an image of it
fresh()
{
	baleen build -o a.bln "${@:2}" "$1" 2>"$TMP/err" || bail "cannot build $1: $(<"$TMP/err")"
}

# holds KEY...: those of them that are in a.bln
holds() { baleen match a.bln "$@" | paste -s -d ' '; }

# keep: for is_unchanged NAME
keep() { cp a.bln kept; }
is_unchanged() { is "$1: nothing changed" "$(cmp a.bln kept 2>&1)" ""; }

# --- refused ---

fresh hosts.txt --capacity 100
keep
refuses "add what is there" \
	"a.bln: 192.0.2.1 is in it already: nothing changed (--exist takes it)" \
	baleen add a.bln 192.0.2.9 192.0.2.1
is_unchanged "add what is there"
refuses "del what is not there" \
	"a.bln: 192.0.2.9 is not in it: nothing changed (--exist takes it)" \
	baleen del a.bln 192.0.2.1 192.0.2.9
refuses "del a prefix of which nothing is there" \
	"a.bln: 10.0.0.0/8 is not in it: nothing changed (--exist takes it)" \
	baleen del a.bln 10.1.2.3/8
refuses "add an exception" "'!192.0.2.9': an exception cannot be added: 'baleen del' it" \
	baleen add a.bln '!192.0.2.9'
refuses "del an exception" "'!192.0.2.1': an exception cannot be deleted: 'baleen add' the key" \
	baleen del a.bln '!192.0.2.1'
refuses "a bad key" "'192.0.2.300': octet above 255" baleen add a.bln 192.0.2.9 192.0.2.300
refuses "two keys in one word" "'192.0.2.8 192.0.2.9': a second address behind the address: a range is A-B, --column reads a table" baleen add a.bln '192.0.2.8 192.0.2.9'
refuses "an empty key" "'': not a key" baleen add a.bln ''
refuses "a comment" "'#': not a key" baleen add a.bln '#'
refuses "a key of another kind" "'tcp,192.0.2.9': a host name, not an address" baleen add a.bln tcp,192.0.2.9
refuses "IPv6 prefixes into hosts that are hashes" \
	"a.bln: its IPv6 hosts are stored as hashes, which prefixes cannot change: build it again from its lists" \
	baleen add a.bln 2001:db8::/32
printf '192.0.2.9\nbad\n' >bad.txt
refuses "a list with a bad line" \
	"bad.txt:2: 'bad': a host name, not an address"$'\n'"baleen: bad.txt: 1 bad line of 2: list refused (--skip-bad goes on without them)" \
	baleen add -f bad.txt a.bln
printf '10.0.0.0/8\n!10.0.0.0/9\n' >exception.txt
refuses "a list with exceptions" \
	"exception.txt: has exceptions, which can be neither added nor deleted" \
	baleen add -f exception.txt a.bln
refuses "a list as the target" \
	"hosts.txt: is a list, not an image: edit it, or build an image of it" \
	baleen add hosts.txt 192.0.2.9
refuses "no such file" "none.bln: No such file or directory" baleen add none.bln 192.0.2.9
refuses "no room for less" "a.bln: holds 3 keys: a capacity of 2 is too small" \
	baleen resize --capacity 2 a.bln
refuses "merge into a list" \
	"hosts.txt: is a list, not an image: edit it, or build an image of it" \
	baleen merge hosts.txt a.bln
refuses "merge other keys" \
	"flows.txt:1: 'tcp,192.0.2.1,198.51.100.1,1000,443': a host name, not an address"$'\n'"baleen: flows.txt: 1 bad line of 1: list refused (--skip-bad goes on without them)" \
	baleen merge a.bln flows.txt
is_unchanged "all of that"
for usage in "add" "add a.bln" "del" "del --fixed a.bln 192.0.2.1" "add --wait x a.bln 192.0.2.9" \
	"add --wait -1 a.bln 192.0.2.9" "resize a.bln" "resize --capacity 0 a.bln" \
	"resize --capacity 9" "merge a.bln" "merge -o - a.bln a.bln" \
	"merge --accept-fpp 1 a.bln a.bln" "add --accept-fpp x a.bln 192.0.2.9"; do
	# shellcheck disable=SC2086
	check_status "usage: $usage" 2 baleen $usage
done
is_unchanged "bad usage"

# --- add, del ---

prints "add a host" "a.bln: 1 added in place" baleen add a.bln 192.0.2.9
is "it is there" "$(holds 192.0.2.9 192.0.2.8)" 192.0.2.9
is "and counted" "$(info a.bln .entries)" 4
prints "add it again" "a.bln: 0 added in place" baleen add --exist a.bln 192.0.2.9
prints "add two, one there" "a.bln: 1 added in place" baleen add --exist a.bln 192.0.2.9 2001:db8::2
prints "del both" "a.bln: 2 deleted in place" baleen del a.bln 192.0.2.9 2001:db8::2
prints "del again" "a.bln: 0 deleted in place" baleen del --exist a.bln 192.0.2.9
is "the same keys are left" "$(holds 192.0.2.{1,2,9} 2001:db8::{1,2})" \
	"192.0.2.1 192.0.2.2 2001:db8::1"
prints "a file of keys" "a.bln: 3 added in place" baleen add -f - a.bln 192.0.2.3 < \
	<(printf '192.0.2.4\n192.0.2.5 # why\n')
chmod 0640 a.bln
prints "a prefix" "a.bln: added, built anew" baleen add a.bln 10.0.0.0/8
is "keeps the permissions" "$(stat -c %a a.bln)" 640
prints "an address out of it" "a.bln: deleted, built anew" baleen del a.bln 10.2.3.4
is "is out, its neighbours are in" "$(holds 10.2.3.3 10.2.3.4 10.2.3.5)" "10.2.3.3 10.2.3.5"
prints "a range around it" "a.bln: added, built anew" baleen add a.bln 10.2.3.0-10.2.4.255
is "brings it back" "$(holds 10.2.3.4)" 10.2.3.4
is "the hosts are still there" "$(holds 192.0.2.{1..5} 2001:db8::1)" \
	"$(echo 192.0.2.{1..5} 2001:db8::1)"
check "add -j" baleen add -j a.bln 192.0.2.77
is "says how many" "$(json "$TMP/out" .target) $(json "$TMP/out" .in_place) $(json "$TMP/out" .added)" \
	"a.bln true 1"
check "del -j" baleen del -j a.bln 10.0.0.0/9
is "says that it was built" "$(json "$TMP/out" .in_place)" false

check "an image of prefixes" baleen build -o nets.bln nets.txt
fresh nets.txt
prints "an IPv6 prefix" "a.bln: added, built anew" baleen add a.bln 2001:db9::/48
prints "an address out of one" "a.bln: deleted, built anew" baleen del a.bln 2001:db8::7
prints "an IPv6 host" "a.bln: added, built anew" baleen add a.bln 3fff::1
is "all as it was said" "$(baleen dump a.bln | paste -s -d ' ')" \
	"10.0.0.0/8 192.0.2.1 2001:db8::/32 !2001:db8::7 2001:db9::/48 3fff::1"
check "all of it" baleen del a.bln 0.0.0.0/0 ::/0
is "leaves nothing" "$(baleen dump a.bln)" ""
check "add to nothing" baleen add a.bln 192.0.2.1
is "begins again" "$(baleen dump a.bln)" 192.0.2.1

fresh flows.txt --key flow
prints "a flow" "a.bln: 1 added in place" baleen add a.bln udp,192.0.2.1,198.51.100.1,53,53
prints "another out" "a.bln: 1 deleted in place" \
	baleen del a.bln tcp,192.0.2.1,198.51.100.1,1000,443
is "one is left" "$(info a.bln .entries)" 1

fresh hosts.txt --kind bloom --fpp 1e-6
refuses "del from a Bloom filter" \
	"a.bln: a Bloom filter cannot forget: build it again from its lists" baleen del a.bln 192.0.2.1
refuses "a prefix into one" \
	"a.bln: prefixes cannot be added to a Bloom filter: build it again from its lists" \
	baleen add a.bln 10.0.0.0/8
check_status "more room for one" 1 baleen resize --capacity 1M a.bln
is "is refused" "$(sed -E 's/for [0-9]+ keys, half of it for [0-9]+/N, M/' "$TMP/err")" \
	"baleen: a.bln: a Bloom filter can only be folded in half: it has room N, M: build it again \
from its lists"
rate=$(info a.bln .fpp)
check "add to one" baleen add a.bln 192.0.2.9
is "says so" "$(<"$TMP/out")" "a.bln: 1 added in place"
is "and what the rate is" "$(<"$TMP/err")" "baleen: a.bln: false positive rate $(
	printf '%.3g, before %.3g' "$(info a.bln .fpp)" "$rate")"
is "counts" "$(info a.bln .entries)" 4
# What it has may be another key's: that is no reason to refuse a third.
check "add what it seems to have, and another" baleen add a.bln 192.0.2.9 192.0.2.10
is "one is new" "$(<"$TMP/out")" "a.bln: 1 added in place"
echo 192.0.2.1 >one.txt
fresh one.txt --kind bloom --fpp 1e-6
keep
refuses "add a family it has no table for" \
	"a.bln: the Bloom filter has no table for this family: build it again from its lists" \
	baleen add a.bln 198.51.100.1 2001:db8::1
is_unchanged "add a family it has no table for"
is "del --accept-fpp" "$(baleen del --accept-fpp 0.1 a.bln 192.0.2.1 2>&1; echo $?)" \
	"baleen: del: --accept-fpp: deletions do not raise it (see 'baleen help del')
2"

fresh hosts.txt --fpp 0.001
refuses "del from packed slots of hashes" \
	"a.bln: in slots of 13 bits two keys may look the same, and deleting one would lose the other: \
build the filter again from its lists, or with --copies" \
	baleen del a.bln 2001:db8::1
prints "of IPv4 it is fine" "a.bln: 1 deleted in place" baleen del a.bln 192.0.2.1

# --- full ---

seq -f '192.0.2.%g' 0 99 >many.txt
fresh many.txt
keep
seq -f '198.51.100.%g' 0 99 >more.txt
check_status "more than fits, fixed" 1 baleen add --fixed -f more.txt a.bln
is "says so" "$(grep -cE '^baleen: a.bln: full: this takes [0-9]+ bytes, it has [0-9]+$' "$TMP/err")" 1
is_unchanged "full"
prints "it grows" "a.bln: added, built anew" baleen add -f more.txt a.bln
is "and holds all" "$(baleen match -c -f many.txt a.bln) $(baleen match -c -f more.txt a.bln)" "100 100"
prints "with room for more" "a.bln: 1 added in place" baleen add --fixed a.bln 203.0.113.1

# --- resize ---

size=$(stat -c %s a.bln)
check "resize" baleen resize --capacity 10000 a.bln
is "made it larger" "$([ "$(stat -c %s a.bln)" -gt $((4 * size)) ] && echo yes)" yes
check "resize elsewhere" baleen resize --capacity 201 -o b.bln a.bln
is "makes that smaller" "$([ "$(stat -c %s b.bln)" -lt "$size" ] && echo yes)" yes
is "with all in it" "$(baleen dump b.bln)" "$(baleen dump a.bln)"
check "resize -j" baleen resize --capacity 500 -j a.bln
is "describes it" "$(json "$TMP/out" .entries)" 201

# --- merge ---

fresh hosts.txt
check "an image of IPv4" baleen build -o b.bln many.txt
prints "merge an image into another" "a.bln: merged, 101 entries" baleen merge a.bln b.bln
is "has both" "$(holds 192.0.2.{0,1,99} 2001:db8::1)" "192.0.2.0 192.0.2.1 192.0.2.99 2001:db8::1"
prints "merge lists" "a.bln: merged, 201 entries" baleen merge a.bln more.txt hosts.txt
prints "merge to another file" "c.bln: merged, 101 entries" baleen merge -o c.bln many.txt hosts.txt
is "named after it" "$(info c.bln .name)" c
check "merge -j" baleen merge -j -o d.bln flows.txt --key flow flows.txt
is "describes it" "$(json "$TMP/out" .entries) $(json "$TMP/out" .key)" "1 flow"
check_status "hashes of other seeds" 1 baleen merge a.bln c.bln
is "are named" "$(sed -E 's/[0-9a-f]{16}/X/g' "$TMP/err")" \
	"baleen: c.bln: seed X..., a.bln has X...: build one --like the other"
printf '2001:db8::1\n2001:db8::9\n' >like.txt
check "built like the other" baleen build -o like.bln --like a.bln like.txt
prints "they merge" "a.bln: merged, 202 entries" baleen merge a.bln like.bln
refuses "prefixes and hashes" \
	"nets.bln: prefixes cannot change IPv6 hosts that are stored as hashes: build a.bln again from its lists" \
	baleen merge a.bln nets.bln
refuses "hashes and prefixes" \
	"a.bln: prefixes cannot change IPv6 hosts that are stored as hashes: build it again from its lists" \
	baleen merge nets.bln a.bln
echo 2001:db8:5::/48 >nets.txt
refuses "prefixes of a list and hashes" \
	"a.bln: its IPv6 hosts are stored as hashes, which prefixes cannot change: build it again from its lists" \
	baleen merge a.bln nets.txt

# --- at once ---

# Each reads what the other wrote: a file is changed by one at a time.
fresh hosts.txt
for i in {1..20}; do
	baleen add a.bln "198.51.100.$i" >/dev/null 2>>odd || echo "add $i fails" >>odd &
done
wait
is "twenty at once end well" "$(cat odd)" ""
is "none is lost" "$(baleen match -c a.bln 198.51.100.{1..20})" 20
exec 9<a.bln
flock 9
refuses "no wait for who holds the file" \
	"a.bln: another command has been changing this file for 0 s" \
	baleen add --wait 0 a.bln 203.0.113.9
exec 9<&-
check "then it works" baleen add --wait 0 a.bln 203.0.113.9
