#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A sibling without a feeder, whose filter comes from a digest again and again: each
# resync puts another in its place and opens the gate; what is no more in the digest is
# a miss; and when the source fails, the old filter answers until it is stale.
#
#      $B: icp serve has.txt --HTTP--> icp resync --every    $A: icp_ask --query--> veth-b

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/icp.sh
source "$ROOT/tests/icp.sh"
# shellcheck disable=SC2119 # as in the picture
make_pair
cd "$TMP" || exit 2

# urls FIRST LAST
urls() { seq -f 'http://h/%.0f' "$1" "$2"; }

# has LIST: that is what the digest has from now on
has()
{
	cp "$1" beside
	mv beside has.txt
}

# source_up: serves has.txt; the URL does not change
source_up()
{
	: >served
	nsenter --net="/run/netns/$B" -- "$BALEEN" icp serve --listen 8129 --pause 0 --fpp 1e-6 \
		--capacity 1000 has.txt >served 2>said.serve &
	server=$!
	until_true "there is a source" grep -q '^http:' served
}

source_down()
{
	kill -TERM "$server"
	wait "$server"
}

URL=http://127.0.0.1:8129

# ask: what becomes of a query for each of the URLs 1 to 300
ask()
{
	urls 1 300 | in_ns "$A" "$ASK" -w 100 -t 1000 10.66.0.9 >answers
}

# answered FIRST LAST: what to these
answered() { sed -n "$1,$2p" answers | cut -d ' ' -f 1 | sort | uniq -c | xargs; }

# answers_are WANT: for 1 to 100, 101 to 200 and 201 to 300
answers_are()
{
	ask
	[ "$(answered 1 100), $(answered 101 200), $(answered 201 300)" = "$1" ]
}

# until_answers WHAT WANT: the same in fewer steps, each of which waits for answers
until_answers()
{
	local n

	for ((n = 0; n < 60; n++)); do
		answers_are "$2" && return
		sleep 0.05
	done
	bail "waited in vain until $1"
}

OLD="100 HIT, 100 HIT, 100 MISS"
NEW="100 MISS, 100 HIT, 100 HIT"
NONE="100 -, 100 -, 100 -"

urls 1 200 >old.txt
urls 101 300 >new.txt
urls 1 10 >first.txt
ip -n "$A" neigh replace 10.66.0.9 lladdr "$(mac "$B" veth-b)" dev veth-a nud permanent

# attach STALE: without a feeder, and with a set to begin with
attach()
{
	check "attach, stale after $1" baleen icp attach veth-b --confirm never \
		--sibling s=10.66.0.9,mode=answer,image=first.bln \
		--asker 10.66.0.0/24 --stale "$1"
}

check "an image to begin with" "$BALEEN" build --key squid -o first.bln first.txt

# resync_on: in the background, as $resync
resync_on()
{
	: >rounds
	: >said
	nsenter --net="/run/netns/$B" -- "$BALEEN" icp resync -j veth-b:s "$URL" --from digest \
		--every 1s >rounds 2>said &
	resync=$!
}

resync_off()
{
	kill -TERM "$resync"
	wait "$resync"
	is "a signal ends --every well" $? 0
}

has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }

# --- one after the other ---

attach 10m
has old.txt
source_up
is "it begins as a set of ten" "$(instance .siblings[0].{entries,fresh,tables[0].kind} .generation)" \
	"10 true cuckoo 0"
check "and answers by it" answers_are "10 HIT 90 MISS, 100 MISS, 100 MISS"
check "a resync" baleen icp resync -j veth-b:s "$URL" --from digest
is "says what it was" "$(for path in .from .entries .has_grown .events .attempts; do
	json "$TMP/out" "$path"
done | paste -sd ' ')" "digest 200 true 0 1"
is "and of no drift, which nobody knows" "$(grep -c '"missing"\|"gone"' "$TMP/out")" 0
is "it is full, fresh, of bits" "$(instance .siblings[0].{entries,fresh,tables[0].{kind,hash}} .generation)" \
	"200 true classic squid 1"
check "what the digest has is a hit, all else a miss" answers_are "$OLD"
has new.txt
check "another resync" baleen icp resync -j veth-b:s "$URL" --from digest
is "of the same size" "$(json "$TMP/out" .has_grown)" false
is "puts another in its place" "$(instance .generation .siblings[0].entries)" "2 200"
check "what is no more in the digest is a miss" answers_are "$NEW"
refuses "a capacity with it" "veth-b:s: a digest has the room that its Squid gave it: give objects or \
its store.log where a capacity is asked for" \
	baleen icp resync veth-b:s "$URL" --from digest --capacity 1k

# --- what fails ---

# fails NAME MESSAGE COMMAND...
fails()
{
	check_status "$1: fails" 1 "${@:3}"
	cp err why
	is "$1: in one line" "$(wc -l <why)" 1
	check "$1: which says why" grep -q "^baleen: .*$2" why
	is "$1: nothing has changed" "$(instance .generation .siblings[0].{entries,fresh})" "2 200 true"
	check "$1: the old filter answers" answers_are "$NEW"
}

in_ns "$B" curl -s -o digest "$URL/squid-internal-periodic/store_digest"
head -c 200 digest >short.digest
cat digest digest >long.digest
fails "a digest that is cut off" "mask is cut off" baleen icp resync veth-b:s short.digest --from digest
fails "one that is too long" "longer than its mask" baleen icp resync veth-b:s long.digest --from digest
fails "two of them" "can only be the one source" \
	baleen icp resync veth-b:s digest digest --from digest
source_down
fails "no source" "refused\|connect" baleen icp resync veth-b:s "$URL" --from digest
check "detach" baleen icp detach veth-b

# --- again and again, in front of a gate ---

attach 3s
until_answers "it is stale" "$NONE"
ok "without a resync it goes stale"
has old.txt
source_up
resync_on
until_answers "the first is there" "$OLD"
ok "the first round opens the gate"
has new.txt
until_answers "what is new is answered" "$NEW"
ok "a later one has what is new, and no more what is gone"
n=$(wc -l <rounds)
until_true "three rounds more" has_lines rounds $((n + 3))
is "each has as many" "$(jq .entries rounds | sort | uniq -c | awk '{ print $2 }')" 200
source_down
until_true "a round fails" has_lines said 1
n=$(instance .generation)
until_answers "it is stale" "$NONE"
ok "without a source it goes stale"
is "not fresh, the same, not empty" \
	"$(instance .siblings[0].{fresh,entries} .generation)" "false 200 $n"
n=$(instance .siblings[0].stale)
ask
is "queries that go up are counted" "$(($(instance .siblings[0].stale) - n))" 300
check "each round that fails says so" test "$(grep -c '^baleen: ' said)" -ge 1
has old.txt
source_up
until_answers "it is answered again" "$OLD"
ok "when the source is back it is answered, of what it has by then"
resync_off
is "each round that succeeded was a generation" "$(instance .generation)" "$(wc -l <rounds)"
source_down
