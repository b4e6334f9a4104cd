#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# match as a filter of streams: strings of any bytes, NUL-separated keys, long
# lines, what is printed byte for byte, and output that does not arrive.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# --- strings: refused ---

printf 'whale\nkrill\n' >words.txt
check "an image of strings" baleen build --key string -o words.bln words.txt
is "says so" "$(info words.bln .key) $(info words.bln .entries)" "string 2"
refuses "dump of it" "words.bln: keys stored as hashes cannot be listed back (table of keys longer \
than 64 bits)" baleen dump words.bln
refuses "another key than the image's" \
	"words.bln: is an image keyed by string: --key src contradicts it" \
	baleen match --key src words.bln whale
check_status "a string beside fields" 2 baleen build --key src,string -o x.bln words.txt
refuses "a table" \
	"words.txt: no table is read for --key string: give it the column alone" \
	baleen build --key string --column 1 -o x.bln words.txt
refuses "an empty list" \
	"/dev/null: not a single key in 0 lines: list refused (--allow-empty takes it)" \
	baleen build --key string -o x.bln /dev/null
head -c 1100000 /dev/zero | tr '\0' x >long.txt
check_status "a line of more than 1 MiB" 1 baleen build --key string -o x.bln long.txt
is "is shown cut" "$(head -n 1 "$TMP/err")" \
	"baleen: long.txt:1: '$(head -c 64 long.txt)...': line longer than 1 MiB"
check "unless bad lines are skipped" \
	baleen build --key string --skip-bad --allow-empty -o x.bln long.txt
check_status "nor is it a key" 1 baleen match -f long.txt words.bln
is "and match says so" "$(cut -d : -f 1-3 "$TMP/err")" "baleen: long.txt:1"

# --- strings: found ---

prints "a member" whale baleen match words.bln whale
expect "no member, exit 1" 1 "" "" baleen match words.bln Whale
prints "-v" $'Whale\nwhal\nwhalewhale' baleen match -v words.bln Whale whal whale whalewhale
prints "a list works as well" krill baleen match --key string words.txt krill shrimp
check "-j of any bytes" baleen match -v -j words.bln $'a"\xff' 'ß'
is "is JSON" "$(json "$TMP/out" '[0]') $(json "$TMP/out" '[1]')" 'a"\xff ß'
printf '# not a comment\nhttp://example.org/#a\n  spaces  \n192.0.2.0/24\n!x\nadd a b\n' >odd.txt
check "lines as they stand" baleen build --key string -o odd.bln odd.txt
check "are keys, all of them" baleen match -f odd.txt odd.bln
cp "$TMP/out" got.txt
check "printed as they stand" cmp odd.txt got.txt
expect "and not what other lists would make of them" 1 "" "" \
	baleen match odd.bln spaces 192.0.2.1 http://example.org/ x b ""

# --- bytes ---

printf 'krill\r\nwhale\r\nsea\r\n\r\nwhale' >crlf.txt
check "CRLF" baleen match -f crlf.txt words.bln
is "is no part of a key, and is printed" "$(od -An -c "$TMP/out" | tr -d ' \n')" \
	'krill\r\nwhale\r\nwhale\n'
printf 'krill\r\nwhale\n' >crlf-list.txt
check "nor in a list" baleen build --key string -o crlf.bln crlf-list.txt
prints "where both are found" $'whale\nkrill' baleen match crlf.bln whale krill
printf 'a\0b\n\xff\xfe\n' >bytes.txt
check "NUL bytes and what is no UTF-8" baleen build --key string -o bytes.bln bytes.txt
check "are found" baleen match -f bytes.txt bytes.bln
cp "$TMP/out" got.txt
check "byte for byte" cmp bytes.txt got.txt
expect "as a whole" 1 "" "" baleen match bytes.bln a b $'\xff'

printf 'two\nlines\0one\0\0one' >nul.txt
check "-0: a list" baleen build --key string -0 -o nul.bln nul.txt
is "of strings with newlines" "$(info nul.bln .entries)" 2
check "-0: keys" baleen match -0 -f nul.txt nul.bln
is "come out with NUL" "$(od -An -c "$TMP/out" | tr -d ' \n')" 'two\nlines\0one\0one\0'
check "-0 -v" bash -c 'printf "two\0one\0" | "$0" match -0 -v nul.bln' "$TMP/baleen"
is "the others" "$(od -An -c "$TMP/out" | tr -d ' \n')" 'two\0'
printf '192.0.2.1\n2001:db8::1\n' >addresses.txt
check "an image of addresses" baleen build -o addresses.bln addresses.txt
check "-0 of addresses" bash -c \
	'printf "%s\0" 192.0.2.1 192.0.2.2 " 2001:db8::1 # x" "" | "$0" match -0 addresses.bln' \
	"$TMP/baleen"
is "the same" "$(od -An -c "$TMP/out" | tr -d ' \n')" '192.0.2.1\02001:db8::1\0'
printf ' 192.0.2.1 # first\n\t2001:db8::1\t1\r\n192.0.2.1;\n192.0.2.1' >decorated.txt
prints "of a decorated line the key" $'192.0.2.1\n2001:db8::1\n192.0.2.1\n192.0.2.1' \
	baleen match -f decorated.txt addresses.bln
printf '192.0.2.1\n192.0.2.1x\n192.0.2.1\0\n192.0.2\n192.0.2.1\n' >damaged.txt
expect "bad lines between good ones" 1 $'192.0.2.1\n192.0.2.1' \
	"baleen: damaged.txt:2: '192.0.2.1x': text behind the address
baleen: damaged.txt:3: '192.0.2.1\x00': NUL byte
baleen: damaged.txt:4: '192.0.2': fewer than four octets" \
	baleen match -f damaged.txt addresses.bln

# --- duplicates ---

printf 'a\nb\na\na\r\n' >twice.txt
check_status "strings listed twice" 0 baleen build --key string -o twice.bln twice.txt
is "are told" "$(<"$TMP/err")" \
	"baleen: 2 of 4 entries superfluous: listed twice, or others cover them"
is "and counted once" "$(info twice.bln .entries) $(info twice.bln .listed)" "2 4"

# --- many: against grep -Fx, kind by kind ---

# Lengths of all sorts, some beyond what is read at a time; every third is a member.
awk 'BEGIN { srand(7); for (i = 0; i < 29991; i++) printf "%x-%d\n", rand() * 2^31, i }' >many.txt
for n in 1000 65536 65537 262143 262144 262145 300000 524288 1000000; do
	head -c "$n" /dev/zero | tr '\0' y
	echo "$n"
done >>many.txt
awk 'NR % 3 == 0' many.txt >third.txt
grep -vFxf third.txt many.txt >others.txt
# Rates, and a seed, at which no stranger is taken for a member.
for kind in cuckoo "bloom --fpp 1e-7" "classic --fpp 1e-9" "counting --fpp 1e-7" \
	"classic --hash murmur3 --fpp 1e-9" "quotient --fpp 1e-9"; do
	# shellcheck disable=SC2086
	check "build --kind $kind" baleen build --key string --seed fish --kind $kind -o third.bln third.txt
	baleen match -f many.txt third.bln >"$TMP/work/in.txt"
	check "prints the members" cmp third.txt in.txt
	baleen match -v -f many.txt third.bln >"$TMP/work/out.txt"
	check "and -v the others" cmp others.txt out.txt
	prints "-c counts them" 10000 baleen match -c -f many.txt third.bln
done
prints "from a pipe that is slow to come" 10000 bash -c \
	'dd if=many.txt bs=777 status=none | "$0" match -c third.bln' "$TMP/baleen"

# --- changes ---

cp third.txt base.txt
for kind in cuckoo "counting --fpp 1e-6" "counting --hash murmur3 --fpp 1e-9"; do
	# shellcheck disable=SC2086
	check "build --kind $kind" \
		baleen build --key string --seed fish --kind $kind --capacity 20000 -o change.bln base.txt
	check "add" baleen add change.bln "new string" "# another"
	prints "and they are in" $'new string\n# another' \
		baleen match change.bln "new string" "# another"
	check "del" baleen del change.bln "new string"
	prints "and it is out, the other not" "# another" \
		baleen match change.bln "new string" "# another"
	check_status "a string that is not there" 1 baleen del change.bln "new string"
	is "is refused" "$(<"$TMP/err")" \
		"baleen: change.bln: 'new string' is not in it: nothing changed (--exist takes it)"
	check "add -f" baleen add -f others.txt change.bln
	prints "all of them" 30000 baleen match -c -f many.txt change.bln
	check "del -f" baleen del -f base.txt change.bln
	baleen match -f many.txt change.bln >"$TMP/work/left.txt"
	check "leaves the others" cmp others.txt left.txt
done
check "a classic filter takes more" baleen build --key string --kind classic --hash murmur3 \
	--bits 100000 --hashes 5 -o classic.bln words.txt
check "add" baleen add classic.bln shrimp
prints "and has them" $'whale\nshrimp' baleen match classic.bln whale shrimp squid

# --- two sets ---

seq -f 'a%g' 1 1000 >a.txt
seq -f 'a%g' 501 1500 >b.txt
for kind in cuckoo "bloom --fpp 1e-3" "classic --hash murmur3 --fpp 1e-9" "counting --fpp 1e-3" \
	"quotient --fpp 1e-6"; do
	# shellcheck disable=SC2086
	check "build --kind $kind" \
		baleen build --key string --seed fish --kind $kind --capacity 3000 -o a.bln a.txt
	check "and another like it" baleen build --like a.bln -o b.bln b.txt
	for b in b.bln b.txt; do
		check "merge with $b" baleen merge -o merged.bln a.bln "$b"
		prints "has all of both" 1500 bash -c \
			'sort -u a.txt b.txt | "$0" match -c merged.bln' "$TMP/baleen"
		check "intersect with $b" baleen intersect -o both.bln a.bln "$b"
		prints "has what is in both" 500 bash -c \
			'grep -Fxf a.txt b.txt | "$0" match -c both.bln' "$TMP/baleen"
	done
done
check "subtract" baleen build --key string -o a.bln a.txt
check "a list" baleen subtract -o only.bln a.bln b.txt
prints "leaves the rest" "$(head -n 500 a.txt)" baleen match -f a.txt only.bln
check "compare -j of lists" baleen compare -j --key string a.txt b.txt
is "is exact" "$(json "$TMP/out" .both) $(json "$TMP/out" .either)" "500 1500"
check "compare of an image and a list" baleen compare -j a.bln b.txt
is "as well" "$(json "$TMP/out" .both) $(json "$TMP/out" .either)" "500 1500"

# --- how often ---

printf '%s\n' krill krill krill sea whale whale >often.txt
for kind in "cuckoo --copies" "quotient --copies" "quotient --copies --fpp 0.001" \
	"counting --copies --fpp 0.001" "cuckoo --copies --slot-bits 12"; do
	# shellcheck disable=SC2086 # options are words
	check "$kind" baleen build --key string --seed 1 --kind $kind -o often.bln often.txt
	prints "$kind: how often" $'3 krill\n2 whale' \
		baleen match --count-copies often.bln krill shrimp whale
	expect "$kind: none" 1 "" "" baleen match --count-copies often.bln shrimp
	check "$kind: one less" baleen del often.bln krill
	prints "$kind: is counted" "2 krill" baleen match --count-copies often.bln krill
	check "$kind: one more" baleen add often.bln whale
	printf 'whale\0krill\0' >keys
	baleen match --count-copies -0 -f keys often.bln >got
	check "$kind: NUL bytes" cmp got <(printf '3 whale\0002 krill\0')
done
for kind in "cuckoo" "quotient --fpp 0.001" "counting --fpp 0.001"; do
	# shellcheck disable=SC2086
	baleen build --key string --seed 1 --copies --capacity 200 --kind $kind -o more.bln often.txt
	check "$kind: keys of a file" baleen add -f often.txt more.bln
	check "$kind: typed" baleen add more.bln whale whale
	prints "$kind: are added as often as they are listed" $'6 krill\n2 sea\n6 whale' \
		baleen match --count-copies more.bln krill sea whale
	check "$kind: and deleted" baleen del -f often.txt more.bln
	prints "$kind: as often" $'3 krill\n1 sea\n4 whale' \
		baleen match --count-copies more.bln krill sea whale
	check "$kind: a list is merged" baleen merge more.bln often.txt
	prints "$kind: as often as well" $'6 krill\n2 sea\n6 whale' \
		baleen match --count-copies more.bln krill sea whale
	[[ $kind != counting* ]] || continue
	check "$kind: and subtracted" baleen subtract -o less.bln more.bln often.txt
	prints "$kind: down again" $'3 krill\n1 sea\n4 whale' \
		baleen match --count-copies less.bln krill sea whale
done
check "-j" baleen match -j --count-copies often.bln krill
is "says that others may look the same" "$(jq -c . "$TMP/out")" \
	'[{"key":"krill","copies":2,"bound":"at most"}]'
baleen build --copies -o four.bln - <<<$'192.0.2.1\n192.0.2.1'
is "or that none does" "$(baleen match -j --count-copies four.bln 192.0.2.1 | jq -c .)" \
	'[{"key":"192.0.2.1","copies":2,"bound":"exact"}]'
yes krill | head -n 20 >full.txt
baleen build --key string --copies --kind counting --fpp 0.01 -o full.bln full.txt
prints "counters that are at their end" "15+ krill" baleen match --count-copies full.bln krill
is "as JSON" "$(baleen match -j --count-copies full.bln krill | jq -c .)" \
	'[{"key":"krill","copies":15,"bound":"at least"}]'
for kind in bloom classic; do
	refuses "$kind" "words.txt: kind $kind does not know how often a key is in it: counting does, \
and cuckoo and quotient with --copies" \
		baleen match --key string --kind $kind --fpp 0.01 --count-copies words.txt krill
done
refuses "a set" "words.bln: each key is in it once: build it with --copies" \
	baleen match --count-copies words.bln krill
echo 192.0.2.0/24 >net.txt
refuses "prefixes" "net.txt: it has prefixes, of which copies do not count" \
	baleen match --copies --count-copies net.txt 192.0.2.1
for other in invert count; do
	expect "--$other" 2 "" "baleen: match: --count-copies and --$other contradict each other \
(see 'baleen help match')" baleen match --count-copies --$other often.bln krill
done

# --- output that does not arrive ---

full()
{
	"$TMP/baleen" match "$@" many.txt third.bln >/dev/full 2>"$TMP/err"
	is "match $* into a full device" "$? $(<"$TMP/err")" \
		"1 baleen: cannot write the output: No space left on device"
}
baleen build --key string -o third.bln third.txt
full -f
full -c -f
full -v -f
seen=$(baleen match -f many.txt third.bln 2>"$TMP/err" | head -n 1
	echo "${PIPESTATUS[0]} $(<"$TMP/err")")
is "a reader that has seen enough ends it without a word" "$seen" "$(head -n 1 third.txt)
1 "
"$TMP/baleen" match -f many.txt third.bln >&- 2>"$TMP/err"
is "a closed output" "$? $(<"$TMP/err")" \
	"1 baleen: cannot write the output: Bad file descriptor"
expect "a file that ends in the midst" 1 "" "baleen: .: Is a directory" \
	baleen match -f . third.bln
# As when it is typed: what has come is answered before more is asked for.
mkfifo asked answered
"$TMP/baleen" match -c words.bln <asked >answered 2>/dev/null &
exec 7>asked 8<answered
printf 'whale\nkr' >&7
printf 'ill' >&7
exec 7>&-
read -r -u 8 count
exec 8<&-
wait $!
is "a last line in pieces and without its end" "$count" 2

# --- images of older versions ---

# Forty strings, 1 to 40, in buckets of 2 x 8, 4 x 12 and 2 x 16 with a stash, made before buckets
# were packed, as gzip in base64.
old_image()
{
	check "an older image of $1" sh -c 'base64 -d | gzip -dc >old.bln'
	is "an older image of $1: says so" "$(baleen info -j old.bln | jq -r \
		'.[0].tables[0] | "\(.slots_per_bucket) x \(.slot_bits), \(.packed)"')" "$1, false"
	is "an older image of $1: has its keys" "$(seq 1 40 | baleen match -c old.bln)" 40
	is "an older image of $1: takes more" \
		"$(baleen add old.bln 41 >out && seq 1 41 | baleen match -c old.bln)" 41
}

old_image "2 x 8" <<EOF
H4sIAAAAAAACA+t0cvRxdfXjYmJgYPovs3XFF6O7zxiAgAuIFYBYgwECYDQ6sNA1YsAHFs1yNHFwl8nR3eCZxKod
c3Of1L+An77ZJw02d1Xru3z83Ms245RG8/ymVe7qD5KbNqx67PrgLDf38VeHUzItEiLSQ48u/tS2U2R75Rn+9T3O
FhvftSyyvHzx5mHVKwnNv5UPKucxDHLAyMHAxAGkmdDCk2PQuDC4UNi8bWkmw1QdBoZZa3OhohIMtf8aFWUYdHYw
MMjmMzA0rH0c+NNqIYMrQ2Fm8L2NnceAagwZrpyhNPwBARPI2IACAAA=
EOF
old_image "4 x 12" <<EOF
H4sIAAAAAAACA+t0cvRxdfXjYmJgYKr7Gin8/XD1cQYg4AZiBSDWYIAAGI0ODI10TRjwgEWzHE0c3GVydDd4JrFq
x9zcJ/Uv4Kdv9kmDzV3V+i4fP/eyzTil0Ty/aZW7+oPkpg2rHrs+OMvNffzV4ZRMi4SI9NCjiz+17RTZXnmGf32P
s8XGdy2LLC9fvHlY9UpC82/lg8p5DIMcMPIwsHAAaWYgFkEKR45B4j71rQVAUivRrDHbIPHHkn42hsiX2rWMDLN2
rgGKX2dDqDzNAyLPsSsCSeEV0lDR7Uwg8sJDUES4/wXpsToXACQFfv2cz8wQ1AIy3eDovWlsDKKrO4DsNLApr+Qb
qBRxAHzDLxvAAgAA
EOF
old_image "2 x 16" <<EOF
H4sIAAAAAAACA+t0cvRxdfXjYmJgYBKJL99zgOnuVAYg4AZiBSDWYIAAGI0ODM10jRjwgEWzHE0c3GVydDd4JrFq
x9zcJ/Uv4Kdv9kmDzV3V+i4fP/eyzTil0Ty/aZW7+oPkpg2rHrs+OMvNffzV4ZRMi4SI9NCjiz+17RTZXnmGf32P
s8XGdy2LLC9fvHlY9UpC82/lg8p5DIMcMAowMHEAaWa08OQYRG6cNUVrzvKWGb1NC21WWs8SO5Oy9HsXSDxrmc7q
qNmY6i3m6332XeDQ8enoi7ZbXRAxu/Yds9neMTDIbbVZ/WKHwZTafVV9jisYGNwnAsXmRM7aP2XD9pA1aoumb0SY
s3I/8wJK4w8ADRMqKsACAAA=
EOF
