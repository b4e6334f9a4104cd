#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen build`: which lists become which images, and which are refused and how.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# --- bad lines ---

printf '%s\n' '# bad ones' 192.0.2.1 10.0.0.300 2001:db8::1 'host.example 5' 10.0.0.0/33 >bad.txt
bad="bad.txt:3: '10.0.0.300': octet above 255
baleen: bad.txt:5: 'host.example': a host name, not an address
baleen: bad.txt:6: '10.0.0.0/33': prefix length above 32
baleen: bad.txt: 3 bad lines of 6: list refused (--skip-bad goes on without them)"

refuses "every bad line is reported" "$bad" baleen build -o new.bln bad.txt
check_status "and nothing is built" 1 test -e new.bln
printf '192.0.2.9\n' >one.txt
prints "a good list is built in silence" "" baleen build -o old.bln one.txt
cp -p old.bln before.bln
refuses "a bad list over an old image is refused" "$bad" baleen build -o old.bln bad.txt
check "and the old image stays as it was" cmp old.bln before.bln
refuses "one bad list among good ones is refused" "$bad" baleen build -o new.bln one.txt bad.txt
check_status "and nothing is built of the good ones" 1 test -e new.bln
expect "--skip-bad counts and goes on" 0 "" "baleen: bad.txt: skipped 3 bad lines of 6" \
	baleen build --skip-bad -o new.bln bad.txt
expect "and keeps the good lines, and no others" 0 "192.0.2.1"$'\n'"2001:db8::1" "" \
	baleen match new.bln 192.0.2.1 10.0.0.0 2001:db8::1
check "--skip-bad -j" baleen build --skip-bad -j -o new.bln bad.txt
is "tells the bad lines" "$(json "$TMP/out" .bad_lines)" 3
is "and all lines" "$(json "$TMP/out" .lines)" 6
is "and the keys" "$(json "$TMP/out" .entries)" 2
printf '10.0.0.0/8\n::/0\n' >wide.txt
prints "prefixes of any width are held" "" baleen build -o wide.bln wide.txt
prints "as what they are" $'10.0.0.0/8\n::/0' baleen dump wide.bln

# --- lists without a key ---

: >empty.txt
printf '# nothing\n\n; here\n' >comments.txt
printf '<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n' >page.html
for list in empty.txt comments.txt page.html; do
	for skip in "" --skip-bad; do
		check_status "$list ${skip:-as it is} is refused" 1 \
			baleen build $skip -o old.bln "$list"
		check "and the old image stays" cmp old.bln before.bln
	done
done
refuses "an empty list is called so" "empty.txt: not a single key in 0 lines: list refused \
(--allow-empty takes it)" baleen build -o old.bln empty.txt
refuses "a list of comments, too" "comments.txt: not a single key in 3 lines: list refused \
(--allow-empty takes it)" baleen build -o old.bln comments.txt
refuses "a page, for what it is" "page.html: is an HTML or XML page, not a list" \
	baleen build --skip-bad -o old.bln page.html
refuses "an empty list beside a good one is refused as well" "empty.txt: not a single key in 0 \
lines: list refused (--allow-empty takes it)" baleen build -o old.bln one.txt empty.txt
refuses "an empty list where a command takes an image" "empty.txt: not a single key in 0 lines: \
list refused (--allow-empty takes it)" baleen info empty.txt
for list in empty.txt comments.txt; do
	prints "--allow-empty takes $list" "" baleen build --allow-empty -o empty.bln "$list"
	is "as an image of no entries" "$(info empty.bln .entries)" 0
	expect "that matches nothing" 1 "" "" baleen match empty.bln 192.0.2.1 0.0.0.0 ::
done
printf 'not\nlisted\n' >words.txt
check_status "--allow-empty alone does not take bad lines" 1 \
	baleen build --allow-empty -o empty.bln words.txt
check "with --skip-bad it does" baleen build --allow-empty --skip-bad -o empty.bln words.txt

# --- lists ---

printf '192.0.2.1\n192.0.2.1\n192.0.2.0/30\n192.0.2.2-192.0.2.4\n' >twice.txt
check "keys listed more than once" baleen build -j -o twice.bln twice.txt
is "are stored once" "$(json "$TMP/out" .entries) $(json "$TMP/out" .stored)" "2 5"
is "and counted" "$(json "$TMP/out" .listed) $(json "$TMP/out" .covered)" "5 3"
printf '\xef\xbb\xbf192.0.2.1\tcolumn 2\r\n\r\n  2001:db8::/127 ; two\r\n' >odd.txt
printf '#no\r\n::ffff:192.0.2.7\r\n' >>odd.txt
cat >ipset.txt <<-EOF
	create bad hash:ip family inet hashsize 1024 maxelem 65536 timeout 0 comment
	add bad 198.51.100.7 timeout 3600 comment "192.0.2.200 # not this"
	add bad 198.51.100.8
EOF
expect "several lists become one image" 0 "" "baleen: warning: ipset.txt: a list does not keep the timeouts of 1 \
entry: 'baleen import' does" baleen build -o several.bln one.txt odd.txt ipset.txt
cat >several.txt <<-EOF
	192.0.2.9
	192.0.2.1
	2001:db8::
	2001:db8::1
	192.0.2.7
	198.51.100.7
	198.51.100.8
EOF
prints "of byte order mark, columns, CRLF, comments, mapped addresses and ipset lines" \
	"$(<several.txt)" baleen match -f several.txt several.bln
is "and of nothing else: two are one prefix" "$(info several.bln .stored)" 6
prints "'-' is standard input" "" baleen build -o stdin.bln - <one.txt
prints "its keys are there" 192.0.2.9 baleen match stdin.bln 192.0.2.9
prints "no list is standard input as well" "" baleen build -o stdin.bln <one.txt
prints "its keys are there, too" 192.0.2.9 baleen match stdin.bln 192.0.2.9
prints "'-' among lists" "" baleen build -o stdin.bln odd.txt - <one.txt
is "both are in" "$(info stdin.bln .entries)" 4
refuses "a bad line of standard input" "stdin:1: 'x': a host name, not an address
baleen: stdin: 1 bad line of 1: list refused (--skip-bad goes on without them)" \
	baleen build -o new.bln - <<<x
refuses "a list that is not there" "none.txt: No such file or directory" \
	baleen build -o new.bln one.txt none.txt
refuses "a list that is a directory" ".: Is a directory" baleen build -o new.bln .
chmod 0 wide.txt
if [ "$(user cat wide.txt 2>/dev/null)" = "" ]; then
	refuses "a list that may not be read" "wide.txt: Permission denied" \
		baleen build -o new.bln wide.txt
else
	skip "a list that may not be read" "this user reads everything"
fi
refuses "an image where a list is expected" "old.bln: is an image already, not a list" \
	baleen build -o new.bln old.bln

# --- capacity ---

seq -f 192.0.2.%g 1 20 >twenty.txt
seq -f 192.0.2.%g 101 120 >others.txt
seq -f 2001:db8::%g 1 9 >six.txt
refuses "too small a capacity, with both counts" \
	"twenty.txt: 20 keys do not fit: the capacity is 19" \
	baleen build --capacity 19 -o old.bln twenty.txt
check "leaves the old image" cmp old.bln before.bln
prints "a capacity that is just enough" "" baleen build --capacity 20 -o new.bln twenty.txt
check "a capacity of 100 k" baleen build --capacity 100k -o new.bln twenty.txt
capacity=$(info new.bln .tables[0].capacity)
check "leaves room for them" test "$capacity" -ge 100000
is "and holds what is listed" "$(info new.bln .entries)" 20
prints "a capacity for both families" "" baleen build --capacity 1000 -o new.bln twenty.txt six.txt
check "is shared out" test "$(info new.bln .tables[0].capacity)" -ge 600 -a \
	"$(info new.bln .tables[1].capacity)" -ge 300
expect "one key listed twice" 0 "" "baleen: 1 of 2 entries superfluous: \
listed twice, or others cover them" \
	baleen build -o new.bln one.txt one.txt
expect "duplicates do not count against it" 0 "" "baleen: 20 of 40 entries \
superfluous: listed twice, or others cover them" \
	baleen build --capacity 20 -o new.bln twenty.txt twenty.txt

# --- kinds ---

is "the default kind is cuckoo" "$(info old.bln .tables[0].kind)" cuckoo
is "exact" "$(info old.bln .exact) $(info old.bln .fpp)" "true 0.0"
prints "a Bloom filter of 1 %" "" \
	baleen build --kind bloom --fpp 0.01 -o bloom.bln twenty.txt six.txt
is "is one" "$(info bloom.bln .tables[0].kind) $(info bloom.bln .tables[1].kind)" "bloom bloom"
is "not called exact" "$(info bloom.bln .exact)" false
check "keeps its rate" \
	awk -v fpp="$(info bloom.bln .fpp)" 'BEGIN { exit !(fpp > 0 && fpp <= 0.01) }'
prints "and holds every key" "$(<twenty.txt)" baleen match -f twenty.txt bloom.bln
prints "IPv6 keys in 64-bit slots" "" baleen build -o six.bln six.txt
is "by default" "$(info six.bln .tables[0].slot_bits)" 64
check "err less than 1e-17" \
	awk -v fpp="$(info six.bln .fpp)" 'BEGIN { exit !(fpp > 0 && fpp < 1e-17) }'
seq 1000 >thousand.txt
for need in delete merge resize delete,merge merge,resize; do
	refuses "a rate that whole hashes miss is refused with --need $need" "thousand.txt: a filter \
cannot be had in this shape, at this rate, able to ${need/,/, }: cuckoo: 1e-18 is out of reach: hashes of \
64 bits err at 5.4e-17" baleen build --key string --need $need --fpp 1e-18 -o missed.bln thousand.txt
done
check_status "and nothing is built" 1 test -e missed.bln
refuses "the kind is named once" "thousand.txt: quotient cannot be had in this shape, at this rate, able \
to merge: 1e-18 is out of reach: hashes of 64 bits err at 5.4e-17" baleen build --key string \
	--kind quotient --need merge --fpp 1e-18 -o missed.bln thousand.txt
check "a rate that they reach is had" baleen build --key string --kind cuckoo --need merge --fpp 1e-16 \
	-o reached.bln thousand.txt
check "and kept" awk -v fpp="$(info reached.bln .fpp)" 'BEGIN { exit !(fpp > 0 && fpp <= 1e-16) }'
prints "IPv6 keys in slots of 13 bits" "" baleen build --fpp 1e-3 -o six.bln six.txt
is "when the rate allows them" "$(info six.bln .tables[0].slot_bits)" 13
is "the key is the source" "$(info old.bln .key)" src
prints "--key dst" "" baleen build --key dst -o dst.bln one.txt
is "makes it the destination" "$(info dst.bln .key)" dst
prints "the name of the file becomes the image's" "" baleen build -o a.list-1.bln one.txt
is "without its extension" "$(info a.list-1.bln .name)" a.list-1
prints "an odd name" "" baleen build -o 'a b=.bln' one.txt
is "is made one" "$(info 'a b=.bln' .name)" a_b_

# --- what is no list ---

gzip -c twenty.txt >twenty.txt.gz
prints "a compressed list is unpacked" "" baleen build -o new.bln twenty.txt.gz
is "whole" "$(info new.bln .entries)" 20
gzip -c twenty.txt.gz >twice.gz
refuses "once, not twice" "twice.gz: is compressed by gzip: unpack it first" \
	baleen build -o new.bln twice.gz
head -c 40 twenty.txt.gz >cut.gz
refuses "a compressed list that was cut" "cut.gz: gzip cut short" baleen build -o new.bln cut.gz
printf '\377\3761\0' >utf16.txt
refuses "a list in UTF-16" "utf16.txt: is UTF-16: convert it to UTF-8" baleen info utf16.txt
is "an image comes through a pipe" "$(user cat old.bln | baleen info -j - | json - '[0].entries')" \
	"$(info old.bln .entries)"
prints "a list, too" "" baleen build -o piped.bln - < <(user cat twenty.txt)
is "whole" "$(info piped.bln .entries)" 20
refuses "--key that contradicts an image" \
	"dst.bln: is an image keyed by dst: --key src contradicts it" baleen info --key src dst.bln
check "--key that agrees" baleen info --key dst dst.bln
check "another option" baleen info --capacity 9 dst.bln
is "is warned of" "$(<"$TMP/err")" \
	"baleen: warning: dst.bln is an image: --capacity does not change it"

# --- like another ---

prints "a model" "" baleen build --capacity 50 --key dst -o model.bln twenty.txt
prints "--like it" "" baleen build --like model.bln -o model.2 others.txt
# Seed, reserved bytes and tables; both hold 20 keys.
check "is an image of the same seed and geometry" cmp -i 96 -n 416 model.bln model.2
is "and key" "$(info model.2 .key)" dst
prints "with its own keys" "$(<others.txt)" baleen match -f others.txt model.2
expect "and none of the model's" 1 "" "" baleen match -f twenty.txt model.2
prints "built again it is another seed" "" \
	baleen build --capacity 50 --key dst -o model.3 twenty.txt
check_status "as every image without --like" 1 cmp -s -i 96 -n 96 model.bln model.3
refuses "--like an image without a table for a family" "six.txt: the list has IPv6 keys, the \
image to be like has no table for them" baleen build --like model.bln -o new.bln six.txt
seq -f 198.51.100.%g 1 200 >many.txt
check_status "--like an image that is too small" 1 baleen build --like old.bln -o old.bln many.txt
is "says how many fit" \
	"$(sed -E 's/^(baleen: many.txt: 200 keys do not fit:) [12]?[0-9] did$/\1/' "$TMP/err")" \
	"baleen: many.txt: 200 keys do not fit:"
check "and leaves the old image" cmp old.bln before.bln
refuses "--like an image that is not there" "none.bln: No such file or directory" \
	baleen build --like none.bln -o new.bln one.txt
make_list crowd.txt 500000 0 1
prints "--like a Bloom filter of one block, 500,000 keys, ends" "" \
	user timeout 60 "$TMP/baleen" build --like bloom.bln -o crowd.bln crowd.txt
is "with a rate of 1" "$(info crowd.bln .fpp)" 1.0

# --- the wrong file ---------------------------------------------------------

seq -f 'line %g' 1000 >wrong.txt
"$BALEEN" build -o wrong.bln wrong.txt 2>err
is "of a thousand bad lines 20 are shown, and how many there are" \
	"$(wc -l <err) $(tail -n 1 err)" \
	"22 baleen: wrong.txt: 1000 bad lines of 1000: list refused (--skip-bad goes on without them)"

# --- copies -----------------------------------------------------------------

printf '%s\n' 192.0.2.7 192.0.2.7 192.0.2.8 >twice.txt
for kind in "cuckoo" "cuckoo --slot-bits 8" "counting --fpp 0.01" "quotient" \
	"quotient --fpp 0.01"; do
	# shellcheck disable=SC2086 # options are words
	prints "a key listed twice, in $kind" "" \
		baleen build --copies --kind $kind -o copies.bln twice.txt
	is "is there twice" "$(info copies.bln .entries)" 3
	deleted="1 deleted in place"
	[[ $kind != quotient* ]] || deleted="deleted, built anew"
	prints "is deleted once" "copies.bln: $deleted" \
		baleen del copies.bln 192.0.2.7
	prints "is there once then" 192.0.2.7 baleen match copies.bln 192.0.2.7
	prints "is deleted again" "copies.bln: $deleted" \
		baleen del copies.bln 192.0.2.7
	expect "and not there then" 1 "" "" baleen match copies.bln 192.0.2.7
done
