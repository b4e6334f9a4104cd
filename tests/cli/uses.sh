#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The classic uses: each line of baleen-uses(7) is run as it stands there, on real
# lists where there are some, and does what the page says.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

PAGE=$ROOT/user/man/baleen-uses.7
LIST=$ROOT/../shared/data/lists/ipsum.txt

# use TITLE: runs the lines of a use
use()
{
	sed -n "/^\.Ss $1/,/^\.Ed/p" "$PAGE" | sed '1,/^\.Bd/d; /^\.Ed/d' >lines
	check "$1: has lines" test -s lines
	check "$1: runs" user env PATH="$TMP:$PATH" key="${key-}" bash -eu lines
	cp "$TMP/out" printed
}

# lines FILE: how many
lines()
{
	wc -l <"$1"
}

# at_most NAME GOT MOST
at_most()
{
	if [ "$2" -le "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "$2 is more than $3"
	fi
}

# paths SEED N: N lines that are different for each seed
paths()
{
	awk -v seed="$1" -v n="$2" 'BEGIN {
		srand(seed)
		for (i = 0; i < n; i++)
			printf "http://%x.example/%s/%d?q=%x\n", rand() * 2^24, seed, i, rand() * 2^31
	}'
}

# --- unsafe URLs: 100 of 50,000 are ---

paths 1 20000 >unsafe.txt
(paths 2 49900 && awk 'NR % 200 == 0' unsafe.txt) | sort >visited.txt
use "Unsafe URLs"
check "found are those of the list" \
	cmp <(grep -Fxf unsafe.txt visited.txt) printed
n=$(baleen match -c -f visited.txt urls.bln)
echo "# of $(lines visited.txt) URLs $n are asked about, in $(stat -c %s urls.bln) bytes, \
$(stat -c %s unsafe.txt) the list"
# 50 are expected by chance: past 100 is beyond seven deviations.
at_most "and few others are asked about" "$n" 200
at_most "the filter is a tenth of the list" $((10 * $(stat -c %s urls.bln))) \
	"$(stat -c %s unsafe.txt)"

# --- weak passwords ---

awk 'BEGIN { srand(3); for (i = 0; i < 30000; i++) printf "%x%s\n", rand() * 2^31, i % 97 }' \
	>leaked.txt
(awk 'NR % 30 == 0' leaked.txt
	awk 'BEGIN { srand(4); for (i = 0; i < 9000; i++) printf "%x-%d\n", rand() * 2^31, i }') \
	>new-passwords.txt
use "Weak passwords"
check "each weak one is asked about" \
	test -z "$(grep -Fxf leaked.txt new-passwords.txt | grep -vFxf ask-the-database.txt)"
n=$(lines ask-the-database.txt)
echo "# $(($(lines new-passwords.txt) - n)) of $(lines new-passwords.txt) lookups are saved"
# 1 % of 9,000: past 140 is beyond five deviations.
at_most "of the others nine of ten are not" "$n" 1140

# --- hyphenation ---

# The exceptions of plain TeX, whose patterns get them wrong; and the words of our own text.
cat >dictionary.txt <<-END
	as-so-ciate as-so-ciates dec-li-na-tion oblig-a-tory phil-an-thropic present presents
	project projects reci-procity re-cog-ni-zance ref-or-ma-tion ret-ri-bu-tion ta-ble
END
tr -d - <dictionary.txt | tr -s ' \t' '\n' >exceptions.txt
(cat "$ROOT"/README.md "$ROOT"/docs/*.md | tr -cs 'A-Za-z' '\n' | tr '[:upper:]' '[:lower:]'
	cat exceptions.txt) | sort -u | sed '/^$/d' >words.txt
use "Hyphenation"
check "no exception goes by rules" test -z "$(grep -Fxf exceptions.txt by-rules.txt)"
check "each word goes one way" cmp <(sort by-rules.txt look-up.txt) words.txt
at_most "nearly all go by rules" "$(lines look-up.txt)" \
	$((14 + $(lines words.txt) * 3 / 100))

# --- join ---

if [ ! -e "$LIST" ]; then
	LIST=$TMP/work/many.txt
	(cd "$ROOT" && make_list "$LIST" 120430 0 1)
	echo "# no real list here: a made one"
fi
sed 's/[#[:space:]].*//; /^$/d' "$LIST" >all.txt
awk 'NR % 12 == 0' all.txt | sort >a-keys.txt
# Of the rows of B one in 40 joins.
(awk 'NR % 24 == 0' all.txt | head -n 2500
	awk 'BEGIN { srand(5); for (i = 0; i < 97500; i++)
		printf "240.%d.%d.%d\n", rand() * 256, rand() * 256, i % 256 }') | sort >b-keys.txt
use "A join between two hosts"
check "is what a join of all is" cmp <(join a-keys.txt b-keys.txt) printed
shipped=$(($(stat -c %s a.bln) + $(stat -c %s b-candidates.txt)))
all=$(stat -c %s b-keys.txt)
echo "# $shipped bytes are sent, $(stat -c %s a-keys.txt) + $(stat -c %s printed) would be with \
the keys of A, $all with those of B"
at_most "and a tenth of the bytes go over the wire" $((10 * shipped)) "$all"

# --- what a peer lacks ---

cp all.txt mine
awk 'NR % 25' all.txt >peer.txt
check "the peer's filter" baleen build -o peer.bln peer.txt
use "What a peer lacks"
check "is all that it lacks, and nothing else" cmp <(awk 'NR % 25 == 0' all.txt) printed
echo "# $(stat -c %s peer.bln) bytes for $(lines peer.txt) addresses, $(stat -c %s peer.txt) as text"

# --- a tree ---

for i in 1 2 3 4; do
	paths "1$i" 8000 >"$i.txt"
done
key=$(sed -n 5000p 3.txt)
use "A tree of nodes"
is "the way down to the leaf that has it" "$(grep -v merged printed | paste -s -d ' ')" "root 34 3"
cat 1.txt 2.txt 3.txt 4.txt >all-leaves.txt
prints "the root has all" 32000 baleen match -c -f all-leaves.txt root.bln
check "a filter of all of them" baleen build --like 1.bln -o together.bln all-leaves.txt
check "has the same bits" cmp <(tail -c +513 root.bln) <(tail -c +513 together.bln)
paths 20 10000 >strangers.txt
# 0.1 % at 40,000 keys, less at 32,000: past 40 of 10,000 is beyond nine deviations.
at_most "strangers end at the root" "$(baleen match -c -f strangers.txt root.bln)" 40
