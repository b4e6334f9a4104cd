#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The filters of the textbooks against a second implementation, tests/model/textbook.py: plans,
# random tables and reference vectors, byte by byte; and the numbers of what the printed
# algorithms lose, which baleen-textbook(7) tells.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# model WORD...: of tests/model/textbook.py, with this baleen
model()
{
	BALEEN=$TMP/baleen /usr/bin/python3 -B "$ROOT/tests/model/textbook.py" "$@"
}

# Tables of each kind; 1,000 take a processor two minutes.
n_tables=60
[ -z "${TEST_ALL-}" ] || n_tables=1000

check "plans are those of the texts' formulas" model plan
for kind in bloom counting quotient cuckoo compact chained; do
	check "$n_tables random tables: $kind" model tables $n_tables $kind
done

# --- reference vectors ---

check "vectors" model vectors vectors
check "a second time" model vectors again
check "are the same" diff -r vectors again
is "there is a file a kind, and one of hashes" "$(cd vectors && printf '%s ' *)" \
	"bloom.json chained.json classic.json compact.json counting.json cuckoo.json hashes.json quotient.json "
is "they have the hashes of the examples" "$(jq -c '[.cases[] | select(.seed == 42 and .form ==
	["unsigned", "quoted"])] | map(.murmur3)' vectors/hashes.json)" \
	'[4248224207,629555247,2673248856,775943400,1474643542,567538184]'
is "and the slots of the texts" "$(jq -r '.cases[0].operations[-1].body' vectors/quotient.json |
	cut -c 1-48)" "00001a00000000000000d000000000000000f00000000000"
check "the command makes the same bytes" model vectors-check

# --- the printed algorithms ---

check "what they lose" model printed
is "is what the page says" "$(<"$TMP/out")" "\
letter: Example 12 by Algorithm 10: after x slots 19, 20, 21 are not those of the text; lost: x
letter: Algorithms 8 to 11, q = 5, r = 6, load 0.5: 396 of 400 tables lose a key
letter: Algorithms 8 to 11, q = 5, r = 6, load 0.9: 400 of 400 tables lose a key
letter: Algorithms 12 and 13, q = 5, r = 6, load 0.5, one deletion from a right table: 318 of 1000 lose another key
letter: the smallest insertion, q = 2, r = 1: 00:0 00:1: lost: 00:1
letter: the smallest deletion, q = 2, r = 1: of 00:0 00:1 goes 00:0: lost: 00:1
kind: Example 12 by Algorithm 10: after y slots 21, 22 are not those of the text; lost: none
kind: Algorithms 8 to 11, q = 5, r = 6, load 0.5: 275 of 400 tables lose a key
kind: Algorithms 8 to 11, q = 5, r = 6, load 0.9: 400 of 400 tables lose a key
kind: Algorithms 12 and 13, q = 5, r = 6, load 0.5, one deletion from a right table: 306 of 1000 lose another key
kind: the smallest insertion, q = 2, r = 1: 00:0 01:0 00:1: lost: 01:0
kind: the smallest deletion, q = 2, r = 1: of 00:0 00:1 goes 00:0: lost: 00:1
Algorithms 9 and 11 on right tables, q = 5, r = 6, load 0.9: 0 of 400 miss a key
Algorithm 2.14, 128 buckets of 4, p = 16, 500 kicks, at the first False: 100 of 100 tables have lost a key that was reported inserted; 100 find the one that was refused
Algorithm 2.14, 8 buckets of 1, p = 16, 500 kicks, at the first False: 45 of 100 tables have lost a key that was reported inserted; 45 find the one that was refused"
