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
	sed -n "/^\.Ss $1/,/^\.Ed/p" "$PAGE" | sed '1,/^\.Bd/d; /^\.Ed/d; s/\\e$/\\/' >lines
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

# saves_enough N: of N words that go by rules, in rows KIND RATE: BYTES bytes, SAVED look-ups saved,
# NS ns a word
saves_enough()
{
	awk -v rules="$1" '{
		sub(":", "", $2)
		expected = rules * (1 - $2)
		if ($5 > rules || $5 < expected - 5 * sqrt(rules * $2) - 1) {
			print
			bad = 1
		}
	} END { exit bad || NR != 12 }' printed
}

hyphenate()
{
	local n_exceptions n_rules

	sed -n '/^[a-z]\{5,\}$/p' "$WORDS" | LC_ALL=C sort -u >words.txt
	awk -v most=4 -f "$ROOT/tests/cli/hyphenate.awk" "$PATTERNS" words.txt >exceptions.txt
	n_exceptions=$(lines exceptions.txt)
	n_rules=$(($(lines words.txt) - n_exceptions))
	at_most "rules hyphenate more than eight of ten words" $((n_exceptions * 5)) \
		"$(lines words.txt)"
	use "Hyphenation"
	check "no exception goes by rules" test -z "$(grep -Fxf exceptions.txt by-rules.txt)"
	check "each word goes one way" cmp <(LC_ALL=C sort by-rules.txt look-up.txt) words.txt
	echo "# $(lines words.txt) words, $n_exceptions exceptions in $(stat -c %s exceptions.txt) bytes"
	sed 's/^/# /' printed
	check "each kind saves what its rate promises" saves_enough "$n_rules"
	at_most "the filter of the first lines, too: at 1 %, past 2 % is far beyond chance" \
		"$(lines look-up.txt)" $((n_exceptions + n_rules / 50))
}

PATTERNS=/usr/share/hyphen/hyph_en_US.dic WORDS=/usr/share/dict/american-english
if [ -e "$PATTERNS" ] && [ -e "$WORDS" ]; then
	hyphenate
else
	skip "Hyphenation" "needs the packages hyphen-en-us and wamerican"
fi

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

# --- a row that is not on the disk ---

# What SQLite reads of its file, in $TMP/reads.
cat >"$TMP/sqlite3" <<-END
	#!/bin/sh
	exec strace -qq -e trace=pread64 -e signal=none -o '$TMP/work/reads' $(command -v sqlite3) "\$@"
END
chmod 0755 "$TMP/sqlite3"
sed 's/[#].*//; /^$/d' "$LIST" | awk '{ print $1 "\t" ($2 ? $2 : 1) }' >rows.txt
sqlite3 rows.db 'CREATE TABLE row (address TEXT PRIMARY KEY, lists INTEGER)' \
	'.mode tabs' '.import rows.txt row' || bail "no database"
(awk 'NR % 1000 == 0 { print $1 }' rows.txt
	awk 'BEGIN { srand(6); for (i = 0; i < 1900; i++)
		printf "%d.%d.%d.%d\n", 1 + rand() * 222, rand() * 256, rand() * 256, i % 256 }') |
	sort -u >asked.txt
queries()
{
	sed "s/.*/SELECT address, lists FROM row WHERE address = '&';/" asked.txt
}
check "all asked of the table" user sh -c "'$TMP/sqlite3' rows.db" <<<"$(queries)"
cp "$TMP/out" without
n_without=$(lines reads)
use "A row that is not"
check "the same rows are found" cmp without printed
n_with=$(lines reads)
echo "# $(lines asked.txt) keys, $(lines printed) are there: $n_with reads of the file with a filter \
of $(stat -c %s rows.bln) bytes, $n_without without"
at_most "with a fifth of the reads" $((5 * n_with)) "$n_without"

# --- a URL that was seen before ---

grep -hoE 'https?://[^][ <>"'\''(){},;]+' /usr/share/doc/*/copyright >urls.txt 2>/dev/null
if [ "$(lines urls.txt)" -lt 1000 ]; then
	{ paths 7 2000; paths 7 1000; paths 8 1000; } >urls.txt
	echo "# no documents here: made URLs"
fi
split -n r/4 urls.txt links-
use "A URL that was"
check "none is visited twice" test -z "$(sort crawled.txt | uniq -d)"
check "none that was not found" test -z "$(grep -vFxf urls.txt crawled.txt)"
n_unlike=$(sort -u urls.txt | wc -l)
echo "# $(lines urls.txt) links, $n_unlike addresses, $(lines crawled.txt) visited"
# 0.1 % at a million, hardly any at a few thousand.
at_most "and nearly all" $((n_unlike - $(lines crawled.txt))) 3

# --- parts of a genome ---

# genome FILE: its bases in one line
genome()
{
	zcat "$1" | grep -v '>' | tr -d '\n'
}

# sorted_parts K FILE
sorted_parts()
{
	genome "$2" | awk -v k="$1" '{ for (i = 1; i <= length - k + 1; i++) print substr($0, i, k) }' |
		sort
}

compare_genomes()
{
	local n_common n

	cp "$GENOMES/MT-human.fa.gz" human.fa.gz
	cp "$GENOMES/MT-orang.fa.gz" orangutan.fa.gz
	use "Parts of length k"
	n=$(<printed)
	sorted_parts 21 orangutan.fa.gz >orangutan.parts
	n_common=$(grep -cFxf <(sorted_parts 21 human.fa.gz) orangutan.parts)
	echo "# $(genome human.fa.gz | wc -c) and $(genome orangutan.fa.gz | wc -c) bases; parts of 21 \
that both have: $n, exactly $n_common; $(stat -c %s human.bln) bytes"
	check "no common part is missed" test "$n" -ge "$n_common"
	# 1 % of 16,479: past 250 more is beyond six deviations.
	at_most "and few others are found" "$n" $((n_common + 250))
	sorted_parts 7 human.fa.gz | uniq -c | awk '{ print $2, $1 }' | sort >exact.counts
	awk '{ print $2, $1 }' counts.txt | sort | join exact.counts - >both.counts
	is "each part is counted" "$(lines both.counts)" "$(lines exact.counts)"
	is "none too low" "$(awk '$3 < $2' both.counts)" ""
	n=$(awk '$3 > $2' both.counts | wc -l)
	echo "# $(lines both.counts) parts of 7, $n of them with one that looks the same; most often \
$(head -n 1 counts.txt)"
	# Each looks like another with 0.1 %: 6 are expected, past 20 is beyond five deviations.
	at_most "and few too high" "$n" 20
}

GENOMES=/usr/share/doc/minimap2/test
if [ -e "$GENOMES/MT-human.fa.gz" ]; then
	compare_genomes
else
	skip "Parts of length k" "needs the package minimap2, with its documents"
fi

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

# --- a node with four children ---

# Of two children.
sed -n 17p 2.txt >>3.txt
key=$(sed -n 17p 2.txt)
(awk 'FNR % 100 == 0' [1-4].txt && paths 21 4000 && echo "$key") >asked.txt
use "A node with four"
check "it is there twice" grep -qFx "2 $key" printed
is "and goes to the other child then" "$(grep -lFx "$key" to-?.txt)" to-2.txt
for i in 1 2 3 4; do
	is "child $i is asked for all that it has" \
		"$(awk 'NR % 100 == 0' $i.txt | grep -vFxf to-$i.txt)" ""
done
n=$(cat to-?.txt | wc -l)
echo "# $(lines asked.txt) queries: $(lines here.txt) stay below this node, and make $n, not \
$((4 * $(lines asked.txt)))"
# 320 and the key are there; of 4,000 others 0.4 % find the node, and 0.1 % of all each other child.
at_most "few are asked in vain" "$n" 350

# --- a light client of a block chain ---

# hashes SEED N: N hashes of 20 bytes
hashes()
{
	awk -v seed="$1" -v n="$2" 'BEGIN {
		srand(seed)
		for (i = 0; i < n; i++) {
			for (j = 0; j < 5; j++)
				printf "%08x", rand() * 2^32
			print ""
		}
	}'
}

hashes 31 80 >wallet.txt
(hashes 32 4000 && awk 'NR % 20 == 0' wallet.txt) | sort >block.txt
use "A light client"
is "each transaction of its own is found" "$(grep -cFxf wallet.txt printed)" 4
n=$(($(lines printed) - 4))
echo "# of $(lines block.txt) transactions $(lines printed) are sent, 4 of its own, after a filter \
of $(stat -c %s filterload) bytes"
# 0.1 %: 4 of 4,000 are expected, past 20 is beyond eight deviations.
at_most "and few others" "$n" 20
is "in a form that others read" "$(od -An -tx1 -v filterload | tr -d ' \n')" \
	"$(/usr/bin/python3 - <<-'END'
		from murmurhash import mrmr
		bits = bytearray(144)
		for line in open("wallet.txt"):
		    for i in range(9):
		        seed = (i * 0xFBA4C795 + 2147483649) % 2**32
		        bit = mrmr.hash(bytes.fromhex(line.strip()), seed) % 2**32 % 1152
		        bits[bit // 8] |= 1 << bit % 8
		print(bits.hex())
	END
	)"
