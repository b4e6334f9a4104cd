#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen icp serve DEV:NAME`: the live filter of a sibling as a cache digest, while its
# store is played. What is served has the bits of the filter, and follows it: through the
# feed, a resync that gives it another size, and a detach.
#
#      $A: store_play --feed--> veth-b        $B: icp serve veth-b:a <--HTTP-- curl

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/icp.sh
source "$ROOT/tests/icp.sh"
# shellcheck disable=SC2119 # as in the picture
make_pair
cd "$TMP" || exit 2

STORE=http://10.66.0.1:3128

# serve FILE IMAGE...: in $B; the process is $server, the URL $url
serve()
{
	: >"$1"
	nsenter --net="/run/netns/$B" -- "$BALEEN" icp serve --listen 0 --pause 0 "${@:2}" \
		>"$1" 2>"$1.said" &
	server=$!
	until_true "$1 is served" grep -q '^http:' "$1"
	url=$(sed -n 's|^\(http://[^ ]*\): .*|\1|p' "$1")
}

# get FILE URL: the status, the digest into FILE
get() { in_ns "$B" curl -s -o "$1" -w '%{http_code}' "$2"; }

# number FILE OFFSET: 32 bits of the head of a digest
number() { od -An -t u4 --endian=big -j "$2" -N 4 "$1" | tr -d ' '; }

# n_in DIGEST LIST: how many keys of the list it has
n_in()
{
	"$BALEEN" icp seed -o got.bln "$1" --from digest && "$BALEEN" match -c -f "$2" got.bln
}

look() { in_ns "$B" "$CHECK" veth-b a keys >checked 2>&1; }

# --- the siblings ---

for ((i = 1; i <= N_STAY; i++)); do echo "http://play/stay/$i"; done >stay.txt
head -n 100 stay.txt >few.txt
echo http://other/1 >other.txt

# image NAME OPTION...: of keys of Squid
image() { "$BALEEN" build --key squid --capacity 20k -o "$1.bln" "${@:2}" few.txt || bail "no $1"; }

image counting --kind counting --hash squid --fpp 0.001
image classic --kind classic --hash squid --fpp 0.001
image cuckoo --slot-bits 64
image keyed --kind counting --hash keyed --fpp 0.001
image blocked --kind counting --hash blocked --fpp 0.001
image plain --kind classic --hash keyed --fpp 0.001
image bloom --kind bloom --fpp 0.001
image quotient --kind quotient --fpp 0.001

attach()
{
	check "attach" baleen icp attach veth-b --asker 10.66.0.0/24 --feed 3131 --stale never \
		--sibling a=10.66.0.10,feeder=10.66.0.1,image=counting.bln \
		--sibling classic=10.66.0.11,image=classic.bln \
		--sibling cuckoo=10.66.0.12,image=cuckoo.bln \
		--sibling keyed=10.66.0.13,image=keyed.bln \
		--sibling blocked=10.66.0.14,image=blocked.bln \
		--sibling plain=10.66.0.15,image=plain.bln \
		--sibling bloom=10.66.0.16,image=bloom.bln \
		--sibling quotient=10.66.0.17,image=quotient.bln
}

# --- which kinds ---

attach
OR="; or serve what the cache holds, such as its swap.state: 'icp source' of a configuration says where that is"
for kind in cuckoo bloom quotient; do
	refuses "not of kind $kind" "veth-b:$kind: a $kind filter, and a cache digest is a Bloom \
filter: make it with --kind classic or counting and --hash squid$OR" baleen icp serve "veth-b:$kind"
done
for hash in keyed blocked plain; do
	refuses "not of other positions: $hash" "veth-b:$hash: a Bloom filter of other positions than \
Squid's, and Squid would look for its keys elsewhere: make it with --hash squid$OR" \
		baleen icp serve "veth-b:$hash"
done
refuses "no such sibling" "veth-b: no sibling 'b'" baleen icp serve veth-b:b
refuses "no such instance" "nothing answers ICP on lo: 'baleen icp attach' does" \
	baleen icp serve lo:a
serve classic.url veth-b:classic
is "a classic one is served" "$(get classic.digest "$url") $(n_in classic.digest few.txt)" "200 100"
is "with its entries" "$(number classic.digest 8)" 100
check "a signal ends the server" kill -TERM "$server"
wait "$server"
is "and it is done" $? 0

# --- while it is fed ---

# send TAG URL: a line of store.log for it, from the address of the feeder
send()
{
	# shellcheck disable=SC2016 # of that shell
	nsenter --net="/run/netns/$A" -- bash -c 'printf "1700000000.123 %-7s 00 00000011 %s" "$1" \
"$(printf "\1%s" "$2" | md5sum | cut -c 1-32)" >"/dev/udp/10.66.0.2/3131"' - "$1" "$2"
}

# served_other N: of the object that is sent so many are in a digest of now
served_other() { [ "$(get now.digest "$url")" = 200 ] && [ "$(n_in now.digest other.txt)" = "$1" ]; }

nsenter --net="/run/netns/$A" -- "$PLAY" -s "$N_STAY" -a 10.66.0.1 -r 2000 10.66.0.2 keys \
	>play 2>play.err &
play=$!
until_true "the store is there" grep -qs ready play
check "a resync" baleen icp resync veth-b:a "$STORE" --from objects
serve live.url veth-b:a
live=$server
is "the live one is served" "$(get first.digest "$url")" 200
is "with all that stays" "$(n_in first.digest stay.txt)" "$N_STAY"
send SWAPOUT http://other/1
until_true "an object that comes is in the digest" served_other 1
ok "an object that comes is in the digest"
is "beside all that stays" "$(n_in now.digest stay.txt)" "$N_STAY"
send RELEASE http://other/1
until_true "one that goes is not" served_other 0
ok "one that goes is not"
is "and all that stays is" "$(n_in now.digest stay.txt)" "$N_STAY"

# --- when the store rests ---

kill -TERM "$play"
wait "$play"
until_true "the filter is what the store holds" look

# rests: what is served counts as many as there are
rests() { [ "$(get now.digest "$url")" = 200 ] && [ "$(number now.digest 8)" = "$(wc -l <keys)" ]; }

# has_bits: what is served has those of model.bln; a digest of a moment ago may count as many
has_bits()
{
	[ "$(get now.digest "$url")" = 200 ] && tail -c +129 now.digest |
		cmp -s - <(tail -c +513 model.bln | head -c "$(number now.digest 16)")
}

# same_bits NAME IMAGE: the digest has the bits that its keys make of an empty filter
same_bits()
{
	"$BALEEN" build --like "$2" -o model.bln keys || bail "no model"
	until_true "$1: bits of the keys" has_bits
	ok "$1: bits of the keys"
	check "$1: not of none" test "$(tail -c +129 now.digest | tr -d '\0' | wc -c)" -gt 1000
}

until_true "the digest is of that" rests
is "entries as status has them" "$(number now.digest 8)" "$(status .entries)"
same_bits "live" counting.bln
cp now.digest before.digest
serve with.url veth-b:a few.txt
is "with a list over it" "$(get with.digest "$url") $(n_in with.digest stay.txt)" "200 $N_STAY"
kill -TERM "$server"
wait "$server"
"$BALEEN" build --key squid --kind classic --hash squid --bits 2048 -o small.bln few.txt
refuses "not with one of another size" "small.bln: 2048 bits, veth-b:a has \
$(($(number before.digest 16) * 8)): a key has other bits in each, so there is no union of them: \
build them of one geometry (--like)" baleen icp serve veth-b:a small.bln

# --- another size, and none ---

sed 's|.*|1700000000.123 SWAPOUT 00 00000011 &  200 1 1 1 text/html 5/5 GET http://h/|' keys >keys.log
url=$(sed -n 's|^\(http://[^ ]*\): .*|\1|p' live.url)
check "a resync to more room" baleen icp resync veth-b:a keys.log --capacity 50k

# is_larger: the digest has more bits than the one before
is_larger()
{
	[ "$(get now.digest "$url")" = 200 ] &&
		[ "$(number now.digest 16)" -gt "$(number before.digest 16)" ]
}

until_true "the digest has them" is_larger
is "it has as many bits as the filter" "$(($(number now.digest 16) * 8))" "$(status .tables[0].positions)"
is "all that there is" "$(n_in now.digest keys)" "$(wc -l <keys)"
is "and counts it" "$(number now.digest 8)" "$(wc -l <keys)"

# is_status STATUS: that of the next answer
is_status() { [ "$(get now.digest "$url")" = "$1" ]; }

is "nothing was said" "$(<live.url.said)" ""
check "detach" baleen icp detach veth-b
until_true "there is nothing to serve" is_status 503
ok "without the filter there is no digest"
is "asked again" "$(get now.digest "$url")" 503
is "which is said once" "$(<live.url.said)" "baleen: nothing answers ICP on veth-b: 'baleen icp attach' does"
attach
until_true "it is there again" is_status 200
is "and served again, as it is" "$(number now.digest 8) $(n_in now.digest few.txt)" "100 100"
check "a signal ends it" kill -TERM "$live"
wait "$live"
is "well" $? 0
