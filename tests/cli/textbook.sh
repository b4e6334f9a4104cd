#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The worked examples of textbooks, bit for bit and slot by slot, and the filters of
# Bitcoin's light clients. The numbers are those of ../shared/reference/textbook.md.
# The lines of baleen-textbook(7) are run as they stand; tests/cli/textbook.py writes the
# page anew.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

TEXT=(--key string --hash murmur3 --hash-seed 42 --hash-form unsigned,quoted)

# bits IMAGE: those that are set
bits()
{
	baleen show -j "$1" | python3 -c 'import json, sys
print(*[i for i, bit in enumerate(json.load(sys.stdin)["tables"][0]["places"]) if bit])'
}

# slots IMAGE: of a quotient filter, those in use: number, remainder, three bits
slots()
{
	baleen show -j "$1" | python3 -c 'import json, sys
for i, slot in enumerate(json.load(sys.stdin)["tables"][0]["places"]):
    if slot["remainder"] is not None:
        print(i, slot["remainder"], int(slot["occupied"]), int(slot["continued"]), int(slot["shifted"]))'
}

echo 192.0.2.1 >address.txt

# --- Bloom, m = 10 ---

echo Copenhagen >one.txt
check "a Bloom filter of two hashes" baleen build --kind classic "${TEXT[@]/#murmur3/murmur3-fnv1a}" \
	--bits 10 -o bloom.bln one.txt
is "Copenhagen" "$(bits bloom.bln)" "3 7"
check "one more" baleen add bloom.bln Dublin
is "Dublin" "$(bits bloom.bln)" "1 3 7"
is "Rome is out, Berlin a false positive" \
	"$(baleen match bloom.bln Copenhagen Dublin Rome Berlin | paste -s -d ' ')" "Copenhagen Dublin Berlin"
is "info says how texts are hashed" "$(info bloom.bln '.tables[0].hash_seed') $(
	info bloom.bln '.tables[0].hash_form')" "42 unsigned,quoted"
check "in words" grep -q "(murmur3-fnv1a), seed 42, unsigned,quoted, no secret" \
	<(baleen info bloom.bln)

# --- the Python class, n = 10, P = 0.01 ---

is "its m and k" "$(baleen plan --capacity 10 --fpp 0.01 -j --kind classic |
	python3 -c 'import json, sys
plan = json.load(sys.stdin)[0]["textbook"]
print(plan["bits"], plan["hashes"])')" "95 6"
printf '1\n2\n42\n' >numbers.txt
check "a filter like its own" baleen build --kind classic --key string --hash murmur3 --bits 95 \
	--hashes 6 -o class.bln numbers.txt
is "3 and 43 are out" "$(baleen match class.bln 1 2 3 42 43 | paste -s -d ' ')" "1 2 42"

# --- counters: each position counts, also one that is another ---

/usr/bin/python3 - >counts.txt <<'END'
import random
from murmurhash import mrmr

dice = random.Random(34)
n = twice = 0
while n < 40:
    m, k = dice.randint(12, 60), dice.randint(2, 9)
    keys = [f"{n}-{i}" for i in range(dice.randint(3, 6))]
    places = {key: [mrmr.hash(key.encode(), i) % m for i in range(k)] for key in keys}
    all = sum(places.values(), [])
    if max(map(all.count, all)) > 14:
        continue
    n += 1
    twice += any(len(set(places[key])) < k for key in keys)
    gone, left = keys[:2], sum((places[key] for key in keys[2:]), [])
    print(m, k, ",".join(keys), ",".join(gone), *(left.count(i) for i in range(m)))
print(f"{twice} of {n} filters have a key of two positions that are one", file=open("twice", "w"))
END
while read -r m k keys gone want; do
	tr , '\n' <<<"$keys" >counted.txt
	baleen build --kind counting --key string --hash murmur3 --bits "$m" --hashes "$k" \
		-o counted.bln counted.txt >"$TMP/out"
	baleen del counted.bln "${gone%,*}" "${gone#*,}" >"$TMP/out"
	[ "$(baleen show -j counted.bln | jq -r '.tables[0].places | map(tostring) | join(" ")')" = "$want" ] ||
		not_ok "the counters of $keys without $gone, m = $m, k = $k"
done <counts.txt
is "counters are those of the texts" "$(wc -l <counts.txt) $(<twice)" \
	"40 30 of 40 filters have a key of two positions that are one"
check "three counters" baleen build --kind counting --key string --hash murmur3 --bits 3 \
	--hashes 4 -o twice.bln one.txt
check "one goes up twice" baleen add --trace twice.bln Copenhagen
is "in two steps, each from where the last came" "$(grep -c '^  counter' "$TMP/out")" 4
check "and down" baleen del --trace twice.bln Copenhagen
is "in two steps, too" "$(sort "$TMP/out" | grep -c '^  counter')" 4
is "a copy counts once" "$(baleen match --count-copies twice.bln Copenhagen)" "1 Copenhagen"

# --- Algorithm 3: how many keys the bits tell of ---

set_of()
{
	seq "$1" >n.txt
	baleen build --kind classic --key string --bits 10 --hashes 2 --seed 1 --allow-empty -o n.bln n.txt &&
		baleen info n.bln | grep -o '[0-9]* set: [^,]*, \([0-9]* keys or more\)*'
}
is "no key" "$(set_of 0)" "0 set: 0 keys, "
is "one" "$(set_of 1)" "2 set: 1 key, "
is "three" "$(set_of 3)" "5 set: about 3.5 keys, "
is "more than there are bits" "$(set_of 40)" "10 set: all, 5 keys or more"

echo 10001:001010 >v.txt
check "a quotient filter of a fingerprint" baleen build --kind quotient --key fingerprint \
	--remainder-bits 6 --capacity 24 -o raw.bln v.txt
steps=
for key in 10011:100111 10011:111111 10100:101101 10100:111110 10100:000000; do
	baleen add raw.bln "$key" >add.out || not_ok "$key"
	steps+="$(slots raw.bln | paste -s -d ,)"$'\n'
done
is "after w, x, y, z and a" "$steps" "17 10 1 0 0,19 39 1 0 0
17 10 1 0 0,19 39 1 0 0,20 63 0 1 1
17 10 1 0 0,19 39 1 0 0,20 63 1 1 1,21 45 0 0 1
17 10 1 0 0,19 39 1 0 0,20 63 1 1 1,21 45 0 0 1,22 62 0 1 1
17 10 1 0 0,19 39 1 0 0,20 63 1 1 1,21 0 0 0 1,22 45 0 1 1,23 62 0 1 1
"
is "what is in it" "$(baleen match raw.bln 10100101101 10100:101100 | paste -s -d ' ')" 10100101101
refuses "other digits" "'10002': a fingerprint is binary digits" baleen match raw.bln 10002
refuses "too many" "'$(printf '1%.0s' {1..33})': a fingerprint of more than 32 bits" \
	baleen match raw.bln "$(printf '1%.0s' {1..33})"
refuses "another kind" "v.txt: fingerprints are keys of --kind quotient, and their own hash" \
	baleen build --key fingerprint -o new.bln v.txt

# --- of capitals, q = 3, r = 29 ---

printf '%s\n' Copenhagen Lisbon Paris Stockholm Zagreb Warsaw >capitals.txt
check "a quotient filter of capitals" baleen build --kind quotient "${TEXT[@]}" \
	--remainder-bits 29 -o capitals.bln capitals.txt
is "its slots" "$(slots capitals.bln)" "1 30667272 1 0 0
2 92684335 1 1 1
3 239072488 0 1 1
4 400901718 1 0 1
5 525765208 0 0 1
7 490127823 1 0 0"
is "Paris is in slot 5" "$(baleen show -j capitals.bln Paris |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["keys"][0]["asks"][0]["found"])')" 5
head -n 3 capitals.txt >first.txt
tail -n 3 capitals.txt >last.txt
check "half of them" baleen build --kind quotient "${TEXT[@]}" --remainder-bits 29 --capacity 6 \
	-o three.bln first.txt
check "the other half" baleen build --kind quotient "${TEXT[@]}" --remainder-bits 29 --capacity 6 \
	-o rest.bln last.txt
check "merge: there is no secret" baleen merge -o merged.bln three.bln rest.bln
is "to the same" "$(slots merged.bln)" "$(slots capitals.bln)"

# --- 4, 8, 16 slots ---

printf '01:001010\n11:100111\n' >two.txt
check "four slots" baleen build --kind quotient --key fingerprint --remainder-bits 6 --capacity 3 \
	-o 4.bln two.txt
check "eight" baleen resize --capacity 6 -o 8.bln 4.bln
check "sixteen" baleen resize --capacity 12 -o 16.bln 8.bln
is "their slots" "$(for n in 4 8 16; do slots $n.bln | paste -s -d ,; done)" "1 10 1 0 0,3 39 1 0 0
2 10 1 0 0,7 7 1 0 0
4 10 1 0 0,14 7 1 0 0"

# --- cuckoo, 10 buckets of a slot of 16 bits, partners by XOR ---

# buckets IMAGE: those in use, with their fingerprints
buckets()
{
	baleen show -j "$1" | python3 -c 'import json, sys
for bucket in json.load(sys.stdin)["tables"][0]["places"]:
    for slot in filter(None, bucket["slots"]):
        print(bucket["bucket"], slot["fingerprint"])'
}

XOR=(--partner xor --key string --hash-seed 42 --hash-form unsigned,quoted --slot-bits 16
	--bucket-slots 1)
check "a cuckoo filter of ten buckets" baleen build "${XOR[@]}" --buckets 10 --allow-empty \
	-o cuckoo.bln /dev/null
steps=
for key in Copenhagen Athens Lisbon Helsinki; do
	baleen add cuckoo.bln "$key" >add.out || not_ok "$key"
	steps+="$(buckets cuckoo.bln | paste -s -d ,)"$'\n'
done
is "after Copenhagen, Athens, Lisbon and Helsinki" "$steps" "7 49615
0 27356,7 49615
0 27356,7 49615,9 16431
0 49615,2 27356,7 15377,9 16431
"
is "Athens is lost" "$(baleen match cuckoo.bln Copenhagen Athens Lisbon Helsinki Oslo |
	paste -s -d ' ')" "Copenhagen Lisbon Helsinki"
is "info says that keys may be" "$(info cuckoo.bln '.tables[0].loses_keys')" true
check "in words" grep -q "keys may be lost: partners by XOR, and the buckets are no power of two" \
	<(baleen info cuckoo.bln)
printf '%s\n' Copenhagen Athens Lisbon Helsinki >four.txt
check "built of a list" baleen build "${XOR[@]}" --buckets 10 -o list.bln four.txt
is "they come to the same places" "$(buckets list.bln)" "$(buckets cuckoo.bln)"
seq 2000 >numbers.txt
check "a power of two loses none" baleen build "${XOR[@]/%1/4}" --buckets 1024 -o power.bln numbers.txt
is "of 2000" "$(baleen match -c -f numbers.txt power.bln)" 2000
is "and says so" "$(info power.bln '.tables[0].loses_keys')" false
check "other keys find their slots, too" baleen build --slot-bits 16 --buckets 300 --bucket-slots 1 \
	--key string -o own.bln four.txt
is "in so many buckets" "$(info own.bln '.tables[0].buckets') $(baleen match -c -f four.txt own.bln)" \
	"300 4"
refuses "too many keys" "numbers.txt: 2000 keys do not fit into 10 buckets of 1" \
	baleen build "${XOR[@]}" --buckets 10 -o new.bln numbers.txt
refuses "addresses" \
	"address.txt: a hash with a form or a seed, and that of BIP 37, are for strings: --key string" \
	baleen build --partner xor --slot-bits 16 --buckets 10 -o new.bln address.txt
refuses "slots of no width" "four.txt: partners by XOR: slots of how many bits? --slot-bits" \
	baleen build --partner xor --key string -o new.bln four.txt
refuses "too few for exact slots" "address.txt: slots of 16 bits need 262144 buckets at least" \
	baleen build --slot-bits 16 --buckets 10 -o new.bln address.txt
refuses "a merge" \
	"list.bln: cuckoo.bln has partners by XOR, which do not merge: build it again from the lists" \
	baleen merge -o new.bln cuckoo.bln list.bln

# --- BIP 37; vectors: Bitcoin Core, src/test/bloom_tests.cpp, bloom_create_insert_serialize ---

printf '%s\n' 99108ad8ed9bb6274d3980bab5a85c048f0950c8 b5a2c786d9ef4658287ced5914b37a1b4aa32eee \
	b9300670b4c5366e95b2699e8b18bc75e5f729c5 >coins.txt
BIP37=(--kind classic --key string --hash bip37 --hash-form hex --bits 24 --hashes 5)
check "a filter of a light client" baleen build "${BIP37[@]}" -o coins.bln coins.txt
is "its bytes" "$(tail -c +513 coins.bln | head -c 3 | od -An -tx1)" " 61 4e 9b"
is "one bit of the first byte is another" "$(baleen match coins.bln \
	99108ad8ed9bb6274d3980bab5a85c048f0950c8 19108ad8ed9bb6274d3980bab5a85c048f0950c8)" \
	99108ad8ed9bb6274d3980bab5a85c048f0950c8
check "with a tweak" baleen build "${BIP37[@]}" --hash-seed 2147483649 -o tweak.bln coins.txt
is "its bytes, too" "$(tail -c +513 tweak.bln | head -c 3 | od -An -tx1)" " ce 42 99"
echo Oslo >oslo.txt
refuses "one that is not hexadecimal" "oslo.txt: 'Oslo': not hexadecimal digits, two for each byte" \
	baleen build "${BIP37[@]}" -o new.bln oslo.txt
refuses "added neither" "coins.bln: 'abc': not hexadecimal digits, two for each byte" \
	baleen add coins.bln abc
refuses "merges of two tweaks" "tweak.bln: seed 0000000080000001..., coins.bln has 0000000000000000...: build one --like the other" baleen merge -o new.bln coins.bln tweak.bln

# --- the bits of another program ---

printf 'aN\x9b' >coins.bits
check "the bits of a light client" baleen import --format bits --bits 24 --hashes 5 --hash bip37 \
	--hash-form hex -o imported.bln coins.bits
is "are an image of the same set" "$(tail -c +513 imported.bln | cksum) $(
	info imported.bln '.tables[0].keys')" "$(tail -c +513 coins.bln | cksum) 3"
is "which finds the same" "$(baleen match -c -f coins.txt imported.bln)" 3
check "and merges with it" baleen merge -o both.bln coins.bln imported.bln
/usr/bin/python3 - <<'END'
from bitarray import bitarray
from murmurhash import mrmr
bits = bitarray(95)  # its default: the first bit of a byte is its highest
bits.setall(0)
for key in ("1", "2", "42"):
    for i in range(6):
        bits[mrmr.hash(key.encode(), i) % 95] = 1
open("class.bits", "wb").write(bits.tobytes())
END
check "the bits of the Python class" baleen import --format bits --bits 95 --hashes 6 --hash murmur3 \
	--bit-order msb -o python.bln class.bits
is "are those of its filter" "$(tail -c +513 python.bln | cksum)" "$(tail -c +513 class.bln | cksum)"
refuses "them in the other order" "class.bits: bits are set behind the last of 95: another number of bits, or another order" \
	baleen import --format bits --bits 95 --hashes 6 --hash murmur3 -o new.bln class.bits
refuses "another size" "class.bits: more than the 11 bytes, which so many bits take" \
	baleen import --format bits --bits 88 --hashes 6 --hash murmur3 -o new.bln class.bits
refuses "a larger one" "class.bits: less than the 13 bytes, which so many bits take" \
	baleen import --format bits --bits 100 --hashes 6 --hash murmur3 -o new.bln class.bits
expect "options of sets" 2 "" "baleen: import: --set is not for this format (see 'baleen help import')" baleen import --format bits --set a --bits 95 class.bits

# --- the page as it stands ---

cp "$ROOT/tests/cli/textbook.py" "$ROOT/user/man/baleen-textbook.7" "$TMP"
chmod a+r "$TMP"/textbook.py "$TMP"/baleen-textbook.7
user mkdir page
check "baleen-textbook(7) is run" user env -C page PATH="$TMP:/usr/bin:/bin" LC_ALL=C.UTF-8 \
	/usr/bin/python3 "$TMP/textbook.py" "$TMP/baleen-textbook.7"
cp "$TMP/out" page.new
check "and prints what it says" diff "$ROOT/user/man/baleen-textbook.7" page.new
user mkdir alone
check "so does each section alone, as help prints it" user env -C alone PATH="$TMP:/usr/bin:/bin" \
	LC_ALL=C.UTF-8 /usr/bin/python3 "$TMP/textbook.py" --alone "$TMP/baleen-textbook.7"
is "help has all its sections" "$(baleen help textbook | sed -n 's/^  //p')" \
	"$(awk '/^\.S[hs] / { title = substr($0, 5) } /^\$ / && !seen[title]++ { print title }' \
		"$ROOT/user/man/baleen-textbook.7")"
check "a number is that of an algorithm" baleen help textbook 9
is "of no other, and begins with its title" "$(grep '^#' "$TMP/out")" "# Algorithm 9: find a run"
check "an example has its name" baleen help textbook example 12
is "whatever the case" "$(grep '^#' "$TMP/out")" "# Example 12: v, w, x, y, z, a"
check "a formula stands beside its algorithm" baleen help textbook formula 2.11
is "and leads to it" "$(grep '^#' "$TMP/out")" \
	"# Algorithm 2.14, Formula 2.11, Example 2.12: into a cuckoo filter"
check "two texts may have one" baleen help textbook 3
is "both are printed" "$(grep -c '^#' "$TMP/out")" 2
expect "another" 2 "" "baleen: no 'Algorithm 99' in the textbooks: see 'baleen help textbook'" \
	baleen help textbook 99

# --- what cannot be ---

refuses "a seed of addresses" \
	"address.txt: a hash with a form or a seed, and that of BIP 37, are for strings: --key string" \
	baleen build --kind classic --hash murmur3 --hash-seed 42 --bits 10 -o new.bln address.txt
refuses "a seed of a keyed hash" "one.txt: a table of kind classic has no such hash: --hash murmur3" \
	baleen build --kind classic --key string --hash keyed --hash-seed 42 --bits 10 -o new.bln one.txt
refuses "both" "one.txt: a text is quoted or hexadecimal, not both" baleen build --kind classic --key string \
	--hash murmur3 --hash-form quoted,hex --bits 10 -o new.bln one.txt
for image in bloom:string capitals:string cuckoo:string raw:fingerprint; do
	refuses "a program of ${image%:*}" "its keys are ${image#*:}s, which are no field of a packet" \
		baleen compile -o new.o "${image%:*}.bln"
done
