#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What an image tells: info, match, dump and compile.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

cat >mixed.txt <<-EOF
	192.0.2.1
	198.51.100.0/30
	2001:db8::1
EOF
printf '192.0.2.1\n192.0.2.77\n' >four.txt
check "an image of both families" baleen build -o mixed.bln mixed.txt
check "an image of IPv4" baleen build -o four.bln four.txt
check "an image of hashes" baleen build --kind bloom --fpp 1e-6 -o bloom.bln four.txt

# --- info ---

four="2 entries, key src, 576 B
  IPv4  2 hosts, cuckoo, 4 buckets of 4 slots of 32 bits, 12.5 % full, 256.0 bits a key, exact"
prints "info" "four.bln: $four" baleen info four.bln
prints "info of a list builds it on the way" "four.txt: $four" baleen info four.txt
check "info of several" baleen info four.bln mixed.bln bloom.bln
is "tells of each" "$(grep -o '^[a-z.]*:' "$TMP/out" | paste -s -d ' ')" \
	"four.bln: mixed.bln: bloom.bln:"
check_status "info of several, one of them not there" 1 baleen info four.bln none.bln mixed.bln
is "names that one" "$(<"$TMP/err")" "baleen: none.bln: No such file or directory"
is "and tells of the others" "$(grep -c '^[fm]' "$TMP/out")" 2
check "info -j" baleen info -j mixed.bln bloom.bln
cp "$TMP/out" info.json
is "is an array of files" "$(json info.json '[0].file') $(json info.json '[1].file')" \
	"mixed.bln bloom.bln"
is "with entries as they are written, addresses, and what is stored" \
	"$(jq -c '.[0] | [.entries, .addresses, .stored]' info.json)" "[3,6,6]"
is "as in words" "$(baleen info mixed.bln | head -n 1)" \
	"mixed.bln: 3 entries, 6 addresses, key src, 832 B"
is "as build says" "$(baleen build -j -o again.bln mixed.txt | jq -c '[.entries, .addresses]')" "[3,6]"
check "a host more" baleen add again.bln 203.0.113.1
is "whose lists are forgotten has as many as it stores" \
	"$(baleen info -j again.bln | jq -c '.[0] | [.entries, .addresses, .stored]')" "[7,7,7]"
is "of IPv4" "$(json info.json '[0].tables[0].keys')" 5
is "of IPv6" "$(json info.json '[0].tables[1].keys')" 1
is "its bytes" "$(json info.json '[0].bytes')" "$(stat -c %s mixed.bln)"
is "its kind" "$(json info.json '[1].tables[0].kind')" bloom
is "whether it is exact" "$(json info.json '[0].tables[0].exact')" true
is "or not" "$(json info.json '[1].exact')" false

cat >prefixes.txt <<-EOF
	10.0.0.0/8
	!10.0.0.0/9
	10.128.0.0/9
	192.0.2.1
	2001:db8::/32
	!2001:db8:1::/48
	2001:db8:1:2::/64
EOF
check "an image of prefixes" baleen build -o prefixes.bln prefixes.txt
check "info of it" baleen info prefixes.bln
is "tells the overlap" "$(tail -n 1 "$TMP/out")" \
	"  7 entries listed, 1 of them twice or inside another; merging left 5"
is "what the directory is" "$(grep -cE '^  IPv4  1 prefix, directory of /[0-9]+ groups, [0-9,]+ lea(f|ves), exact$' \
	"$TMP/out")" 1
is "the tree" "$(grep -cE '^  IPv6  tree of prefixes, groups of /[0-9]+, [0-9,]+ blocks?, exact$' \
	"$TMP/out")" 1
is "and that all of it is exact" "$(grep -c 'exact$' "$TMP/out")" 4
is "-j, too" "$(for key in exact listed covered entries stored; do info prefixes.bln .$key; done |
	paste -s -d ' ')" "true 7 1 6 5"
is "with the tree" "$(info prefixes.bln .tables[2].kind)" tree
(cat prefixes.txt && echo 2001:db8:1:3:4::/80) >longer.txt
is "prefixes past /64 are exact, too" "$(info longer.txt .exact)" true
is "and in the tree, beside which only the entries are" \
	"$(for i in 2 3; do info longer.txt ".tables[$i].kind"; done | paste -s -d ' ')" "tree entries"

# --- match ---

prints "match prints members" 192.0.2.1 baleen match mixed.bln 192.0.2.1
prints "of both families, as they are typed" $'2001:DB8:0::1\n198.51.100.3\n::ffff:192.0.2.1' \
	baleen match mixed.bln 2001:DB8:0::1 192.0.2.2 198.51.100.3 ::ffff:192.0.2.1 2001:db8::2
expect "no member, exit 1" 1 "" "" baleen match mixed.bln 192.0.2.2 2001:db8::2
prints "a list works as well" 198.51.100.2 baleen match mixed.txt 198.51.100.2 198.51.100.4
prints "-v prints the others" $'192.0.2.2\n2001:db8::2' \
	baleen match -v mixed.bln 192.0.2.2 192.0.2.1 2001:db8::2
expect "-v, all are members" 1 "" "" baleen match -v mixed.bln 192.0.2.1
prints "-c counts" 2 baleen match -c mixed.bln 192.0.2.1 192.0.2.2 2001:db8::1
expect "-c, none" 1 0 "" baleen match -c mixed.bln 192.0.2.2
prints "-v -c counts the others" 1 baleen match -vc mixed.bln 192.0.2.1 192.0.2.2
printf '192.0.2.1 3 # first\n\n# 198.51.100.1\n192.0.2.2\r\n198.51.100.1\r\n' >keys.txt
prints "-f reads a file" $'192.0.2.1\n198.51.100.1' baleen match -f keys.txt mixed.bln
prints "-f and keys" $'2001:db8::1\n192.0.2.1\n198.51.100.1' \
	baleen match -f keys.txt mixed.bln 2001:db8::1
prints "standard input" $'192.0.2.1\n198.51.100.1' baleen match mixed.bln <keys.txt
prints "-f -" $'192.0.2.1\n198.51.100.1' baleen match -f - mixed.bln <keys.txt
prints "keys that are typed leave standard input alone" 192.0.2.1 \
	baleen match mixed.bln 192.0.2.1 <<<bad
expect "nothing to read" 1 "" "" baleen match mixed.bln
refuses "-f a file that is not there" "none.txt: No such file or directory" \
	baleen match -f none.txt mixed.bln
refuses "-f a directory" ".: Is a directory" baleen match -f . mixed.bln
expect "a key that is none" 1 192.0.2.1 "baleen: '192.0.2.256': octet above 255" \
	baleen match mixed.bln 192.0.2.256 192.0.2.1
expect "a key that would colour the terminal" 1 "" "baleen: '\x1b[31m': not an address" \
	baleen match mixed.bln $'\e[31m'
expect "a prefix is no key" 1 "" \
	"baleen: '192.0.2.0/24': prefix or range in a key of several fields" \
	baleen match mixed.bln 192.0.2.0/24
printf '192.0.2.1\nx\n' >bad.txt
expect "a line of a file that is no key" 1 192.0.2.1 \
	"baleen: bad.txt:2: 'x': a host name, not an address" baleen match -f bad.txt mixed.bln
check "-j" baleen match -j mixed.bln 192.0.2.1 192.0.2.2 2001:db8::1
is "is an array of the keys" "$(json "$TMP/out" '')" '["192.0.2.1","2001:db8::1"]'
expect "-j, none" 1 "[]" "" baleen match -j mixed.bln 192.0.2.2
prints "-j -c is the count" 2 baleen match -jc mixed.bln 192.0.2.1 2001:db8::1
expect "-j -c, none" 1 0 "" baleen match -jc mixed.bln 192.0.2.2

# --- dump ---

prints "dump prints the keys in order" $'192.0.2.1\n192.0.2.77' baleen dump four.bln
prints "of a list as well" $'192.0.2.1\n192.0.2.77' baleen dump four.txt
check "-j" baleen dump -j four.bln
is "is an array of them" "$(json "$TMP/out" '')" '["192.0.2.1","192.0.2.77"]'
check "an image without keys" baleen build --allow-empty -o none.bln /dev/null
prints "dumps to nothing" "" baleen dump none.bln
check "-j of it" baleen dump -j none.bln
is "is an empty array" "$(json "$TMP/out" '')" '[]'
refuses "keys that are hashes are not listed" \
	"mixed.bln: keys stored as hashes cannot be listed back (IPv6 table)" baleen dump mixed.bln
refuses "nor those of a Bloom filter" \
	"bloom.bln: keys stored as hashes cannot be listed back (Bloom table)" baleen dump bloom.bln

dumped="10.128.0.0/9
192.0.2.1
2001:db8::/32
!2001:db8:1::/48
2001:db8:1:2::/64"
prints "prefixes as the fewest, exceptions as such" "$dumped" baleen dump prefixes.bln
baleen dump prefixes.bln >again.txt
check "what was dumped" baleen build -o again.bln again.txt
prints "is the same set" "$dumped" baleen dump again.bln
printf 'udp,53\ntcp,443\ntcp,22\n' >ports.txt
check "an image of two ports and protocols" baleen build --key dport,proto -o ports.bln ports.txt
prints "is listed in order" $'tcp,22\ntcp,443\nudp,53' baleen dump ports.bln
echo 2001:db8::1,22 >long.txt
check "an image of longer keys" baleen build --key src,dport -o long.bln long.txt
refuses "which are hashes" "long.bln: keys stored as hashes cannot be listed back (table of keys \
longer than 64 bits)" baleen dump long.bln

LIST=$ROOT/../shared/data/lists/ipsum.txt
if [ ! -e "$LIST" ]; then
	LIST=$TMP/work/many.txt
	(cd "$ROOT" && make_list "$LIST" 120430 0 1)
fi
sed 's/[#[:space:]].*//; /^$/d' "$LIST" | sort >want.txt
check "120,430 keys or so" test "$(wc -l <want.txt)" -gt 100000
check "are built" baleen build -o large.bln - <"$LIST"
check "and dumped" baleen dump large.bln
mv "$TMP/out" dumped.txt
check "in order" sort -c -t . -k 1,1n -k 2,2n -k 3,3n -k 4,4n dumped.txt
baleen dump large.bln | sort >got.txt
check "all of them, and no others" cmp want.txt got.txt
prints "each of them matches" "$(wc -l <want.txt)" baleen match -c -f want.txt large.bln

# --- compile ---

prints "compile" "" baleen compile -o drop.bpf.o four.bln
is "writes an object for BPF" "$(od -An -tx1 -N 20 drop.bpf.o | tr -d ' \n')" \
	7f454c460201010000000000000000000100f700
prints "of a list as well" "" baleen compile -o drop.bpf.o four.txt
check "-j" baleen compile -j -o drop.bpf.o four.bln
is "tells what is in it" "$(json "$TMP/out" .file) $(json "$TMP/out" .entries)" "drop.bpf.o 2"
cp -p drop.bpf.o before.o
check_status "an image that errs is refused" 1 baleen compile -o drop.bpf.o bloom.bln
is "with the number of innocents" \
	"$(grep -cE '^baleen: bloom.bln: would drop [0-9.e-]+ unlisted packets in' "$TMP/err")" 1
check "and the old object stays" cmp before.o drop.bpf.o
prints "unless its rate is accepted" "" baleen compile --accept-fpp 1e-6 -o drop.bpf.o bloom.bln
