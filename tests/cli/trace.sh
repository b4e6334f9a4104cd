#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --trace of build, add and del: each step by which a key comes into an image, or goes. The
# steps of the textbooks' examples are in baleen-textbook(7), which textbook.sh runs.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# replay TRACE KIND: what an empty table holds after the steps, in the form of places()
replay()
{
	python3 - "$1" "$2" <<'END'
import json, sys

table = {}
kind = sys.argv[2]
for key in json.load(open(sys.argv[1]))["trace"]:
    for step in key["steps"]:
        place = (step["bucket"], step["slot"]) if kind == "cuckoo" else step.get(kind, step.get("slot"))
        empty = {"occupied": False, "continued": False, "shifted": False, "remainder": None}
        before = {"cuckoo": None, "quotient": empty}.get(kind, 0)
        # Each step begins with what the steps before it left.
        if table.get(place, before) != step["before"]:
            sys.exit(f"{key['key']}: {place} is {table.get(place, before)}, not {step['before']}")
        table[place] = step["after"]
        if step["after"] == before:
            del table[place]
        # Semi-sorted slots ascend, those that are free first.
        if "semi-sorted" in sys.argv[1]:
            slots = sorted(table.pop((place[0], i), 0) for i in range(4))
            table.update({(place[0], i): slot for i, slot in enumerate(slots) if slot})
for place in sorted(table):
    print(place, table[place])
END
}

# places IMAGE KIND: those in use
places()
{
	baleen show -j --count 100000 "$1" >shown.json
	python3 - "$2" <<'END'
import json, sys

kind = sys.argv[1]
for i, place in enumerate(json.load(open("shown.json"))["tables"][0]["places"]):
    if kind == "cuckoo":
        for j, slot in enumerate(place["slots"]):
            if slot:
                print((i, j), slot["fingerprint"])
    elif kind == "quotient":
        state = {name: place[name] for name in ("occupied", "continued", "shifted", "remainder")}
        if state["occupied"] or state["remainder"] is not None:
            print(i, state)
    elif place:
        print(i, place)
END
}

# builds NAME KIND OPTION...: the steps of a build, one after the other, come to the image
builds()
{
	check "$1: is built" baleen build -j --trace --seed trace -o "$1.bln" "${@:3}"
	cp "$TMP/out" "$1.json"
	check "$1: the steps follow from each other" replay "$1.json" "$2"
	is "$1: and come to what is in it" "$(replay "$1.json" "$2")" "$(places "$1.bln" "$2")"
}

seq -f 192.0.2.%g 1 120 >hosts.txt
seq -f word%g 1 300 >words.txt
builds bloom bit --kind classic --bits 997 --hashes 5 --key string words.txt
builds counting counter --kind counting --hash keyed --bits 499 --hashes 3 --key string words.txt
builds exact cuckoo hosts.txt
builds full cuckoo --kind cuckoo --slot-bits 32 --bucket-slots 2 --load 0.88 hosts.txt
builds packed cuckoo --kind cuckoo --slot-bits 12 --bucket-slots 4 --fpp 0.1 --load 0.94 --key string words.txt
builds semi-sorted cuckoo --kind cuckoo --semi-sort --slot-bits 13 --load 0.94 --key string words.txt
is "some keys were kicked out, too" "$(grep -c '"before": [0-9]' semi-sorted.json |
	sed 's/^[1-9][0-9]*$/some/')" some
builds semi-sorted-copies cuckoo --kind cuckoo --semi-sort --slot-bits 9 --copies --key string words.txt
builds copies cuckoo --kind cuckoo --slot-bits 8 --copies --fpp 0.5 --key string words.txt
builds quotient quotient --kind quotient --remainder-bits 7 --fpp 0.1 --key string words.txt
is "some keys were kicked out" "$(grep -c '"before": [0-9]' packed.json | sed 's/^[1-9][0-9]*$/some/')" some

# --- changes: what the image was, the steps, what it is ---

# changes NAME KIND COMMAND IMAGE KEY...
changes()
{
	cp "$4" before.bln
	check "$1" baleen "$3" -j --trace "${@:4}"
	cp "$TMP/out" change.json
	# The steps of its building, and then these.
	python3 - "${4%.bln}.json" change.json <<'END'
import json, sys

all = json.load(open(sys.argv[1]))
all["trace"] += json.load(open(sys.argv[2]))["trace"]
json.dump(all, open(sys.argv[1], "w"))
END
	is "$1: the steps come to it" "$(replay "${4%.bln}.json" "$2")" "$(places "$4" "$2")"
	check "$1: something changed" not cmp -s before.bln "$4"
}
not() { ! "$@"; }

changes "a bit" bit add bloom.bln Dublin
changes "counters up" counter add counting.bln Dublin
changes "counters down" counter del counting.bln word7 Dublin
changes "hosts that find room" cuckoo add exact.bln 198.51.100.{1..9}
changes "hosts that others make room for" cuckoo add full.bln 198.51.100.{1..6}
is "some of them were kicked out" "$(grep -c '"before": [0-9]' change.json | sed 's/^[1-9][0-9]*$/some/')" some
changes "hosts that go" cuckoo del full.bln 192.0.2.{7..20}
changes "a packed slot" cuckoo add packed.bln Dublin
changes "a semi-sorted slot" cuckoo add semi-sorted.bln Dublin
changes "semi-sorted copies" cuckoo add semi-sorted-copies.bln word7 word8
changes "that go" cuckoo del semi-sorted-copies.bln word7 word8 word9
changes "a copy" cuckoo add copies.bln word7
changes "a copy that goes" cuckoo del copies.bln word7
changes "a remainder" quotient add quotient.bln Dublin

# --- fingerprints, which are keys, go one by one: a textbook's six ---

six=(10001:001010 10011:100111 10011:111111 10100:101101 10100:111110 10100:000000)
printf '%s\n' "${six[@]}" >six.txt
builds six quotient --key fingerprint --kind quotient --remainder-bits 6 --capacity 24 six.txt
cp six.bln all.bln
cp six.json all.json
for print in "${six[@]}"; do
	cp all.bln six.bln
	cp all.json six.json
	changes "$print goes" quotient del six.bln "$print"
	is "$print: the others stay" "$(baleen match six.bln "${six[@]}" | wc -l)" 5
	changes "$print comes back" quotient add six.bln "$print"
	check "$print: where it was" cmp six.bln all.bln
done
changes "all six go" quotient del six.bln "${six[@]}"
is "and nothing stays" "$(places six.bln quotient)" ""
cp all.bln six.bln
refuses "half of one" "six.bln: of a fingerprint of 5 digits it keeps 11 bits: delete one of 11 digits" \
	baleen del six.bln 10100
refuses "more than one" \
	"six.bln: of a fingerprint of 12 digits it keeps 11 bits: delete one of 11 digits" \
	baleen del six.bln 10100:0000000

# --- in words ---

check "counters in words" baleen add --trace counting.bln Oslo
is "each of them" "$(grep -cE '^  counter [0-9]+: [0-9]+ -> [0-9]+$' "$TMP/out")" 3
check "several" baleen add --trace --dry-run counting.bln Rome{1..9}
is "where each is looked up is told as it was before" "$(grep -o '(not set)' "$TMP/out" | wc -l)" \
	"$(grep -c ': 0 -> ' "$TMP/out")"
is "some were not set" "$(($(grep -c '(not set)' "$TMP/out") > 0))" 1
check "keys that go" baleen del --trace --dry-run counting.bln word{20..40}
is "were set before" "$(grep -c '(not set)' "$TMP/out")" 0
is "and some are zero now" "$(($(grep -c ' -> 0$' "$TMP/out") > 0))" 1
for _ in {1..14}; do baleen add counting.bln Oslo >"$TMP/add" 2>&1; done
check "at their end" baleen add --trace counting.bln Oslo
is "they say so" "$(grep -c ' -> 15: stuck$' "$TMP/out")" 3
sum=$(cksum <counting.bln)
check "what would change" baleen add --trace --dry-run counting.bln Bergen
is "is told as well" "$(grep -c '^  counter' "$TMP/out") $(tail -n 1 "$TMP/out")" \
	"3 counting.bln: 1 would be added"
is "and does not" "$(cksum <counting.bln)" "$sum"

echo Copenhagen >capital.txt
check "a table of a textbook" baleen build --key string --hash-seed 42 --hash-form unsigned,quoted \
	--partner xor --slot-bits 16 --bucket-slots 1 --buckets 10 -o decimal.bln capital.txt
check "fingerprints as numbers" baleen add --trace --base 10 decimal.bln Athens
is "as a textbook prints them" "$(head -n 2 "$TMP/out")" "'Athens': fingerprint 27356, buckets 0 and 7: in neither
  bucket 0, slot 0: 27356 finds it free"

expect "a base of no steps" 2 "" "baleen: add: --base is for --trace (see 'baleen help add')" \
	baleen add --base 10 decimal.bln Oslo
expect "nor of a build" 2 "" "baleen: build: --base is for --trace (see 'baleen help build')" \
	baleen build --base 10 -o new.bln capital.txt

# --- what has no steps ---

seq -f 10.0.%g.1 0 250 >more.txt
expect "what finds no room is built anew" 0 "exact.bln: added, built anew" \
	"baleen: --trace: not key by key: all keys have new places, which 'baleen show' draws" \
	baleen add --trace -f more.txt exact.bln
echo 203.0.113.0/24 >prefix.txt
refuses "prefixes" "--trace: new.bln: prefixes are laid out as a whole, which has no steps" \
	baleen build --trace -o new.bln prefix.txt
seq -f word%g 1 30000 >many.txt
baleen build --key string -o many.bln many.txt
size=$(($(stat -c %s many.bln) - 512))
refuses "what is large" "--trace: new.bln: $size bytes of tables, and at most 65536 are traced" \
	baleen build --key string --trace -o new.bln many.txt
refuses "to change it" "--trace: many.bln: $size bytes of tables, and at most 65536 are traced" \
	baleen add --trace many.bln Oslo
is "it did not" "$(baleen match -c many.bln Oslo)" 0
check "nor was one written" not test -e new.bln
expect "a live rule" 2 "" "baleen: add: --trace is for image files (see 'baleen help add')" \
	baleen add --trace eth0:bad 192.0.2.1
