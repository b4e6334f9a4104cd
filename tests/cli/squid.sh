#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Keys of Squid on the command line: URLs and their MD5, in every command that takes
# keys; the filters are cache digests.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# key URL: as Squid makes it
key()
{
	printf '\1%s' "$1" | md5sum | cut -c 1-32
}

# urls FIRST LAST: of objects
urls()
{
	seq -f 'http://10.9.0.3/obj/%.0f' "$1" "$2"
}

urls 1 1000 >a.txt
urls 501 1500 >b.txt
is "the key of the documents" "$(key http://10.9.0.3/obj/1)" 271b10fa47f72704cf53f2c5eacd81b0
check "a list of URLs" baleen build --key squid -o cuckoo.bln a.txt
check "a digest" baleen build --key squid --kind classic --fpp 0.001 -o a.bln a.txt
check "another like it" baleen build --like a.bln -o b.bln b.txt
check "one that counts" baleen build --key squid --kind counting --fpp 0.001 -o count.bln a.txt

# --- refused ---

expect "what is neither" 1 "" \
	"baleen: 'foo': neither a URL, which has ://, nor 32 hexadecimal digits" \
	baleen match a.bln foo
expect "a URL with a blank" 1 "" "baleen: 'http://a/ b': white space in a URL" \
	baleen add a.bln 'http://a/ b'
printf 'http://a/\n192.0.2.1\n#comment\n271b10fa\n' >bad.txt
expect "bad lines" 1 "" \
	"baleen: bad.txt:2: '192.0.2.1': neither a URL, which has ://, nor 32 hexadecimal digits
baleen: bad.txt:4: '271b10fa': not 32 hexadecimal digits
baleen: bad.txt: 2 bad lines of 4: list refused (--skip-bad goes on without them)" \
	baleen build --key squid -o new.bln bad.txt
refuses "Squid's hash of other keys" "a.txt: the hash squid is for keys of Squid: --key squid" \
	baleen build --key string --kind classic --hash squid --fpp 0.1 -o new.bln a.txt
refuses "murmur3 of Squid's keys" \
	"a.txt: murmur3 hashes addresses and strings, not keys of Squid" \
	baleen build --key squid --kind classic --hash murmur3 --fpp 0.1 -o new.bln a.txt
refuses "five positions" "a.txt: Squid's hash has 4 positions, not 5: use --hash keyed" \
	baleen build --key squid --kind classic --hashes 5 --fpp 0.1 -o new.bln a.txt
refuses "half a byte" "a.txt: Squid's digests are whole bytes, which 1004 bits are not" \
	baleen build --key squid --kind classic --bits 1004 -o new.bln a.txt
refuses "classic in blocks" "a.txt: a classic filter is not blocked: --kind bloom is" \
	baleen build --key squid --kind classic --hash blocked --fpp 0.1 -o new.bln a.txt
refuses "blocks by bits" "a.txt: a blocked filter has no number of bits to choose" \
	baleen build --key squid --kind counting --hash blocked --bits 8000 -o new.bln a.txt
check "none of these made a file" test ! -e new.bln
refuses "an object for packets" "its keys are Squid's, which are no field of a packet" \
	baleen compile -o object.o cuckoo.bln
refuses "a list of the keys" \
	"cuckoo.bln: keys stored as hashes cannot be listed back (table of keys longer than 64 bits)" \
	baleen dump cuckoo.bln
refuses "to forget a key of a digest" \
	"a.bln: a Bloom filter cannot forget: build it again from its lists" \
	baleen del a.bln http://10.9.0.3/obj/1
check "another hash" baleen build --key squid --kind classic --hash keyed --fpp 0.001 \
	-o keyed.bln a.txt
refuses "a digest and another hash" "keyed.bln: hash keyed, a.bln has squid" \
	baleen merge -o new.bln a.bln keyed.bln
check "of strings" baleen build --key string --kind classic --fpp 0.001 -o string.bln a.txt
refuses "a digest and strings" "string.bln: key string, a.bln has squid" \
	baleen merge -o new.bln a.bln string.bln
refuses "an image of another key" "a.bln: is an image keyed by squid: --key string contradicts it" \
	baleen match --key string a.bln foo

# --- asked ---

while read -r url; do key "$url"; done <b.txt >b.keys
tr a-f A-F <b.keys >b.upper
expect "URL and key" 0 "http://10.9.0.3/obj/7
271b10fa47f72704cf53f2c5eacd81b0" "" \
	baleen match cuckoo.bln http://10.9.0.3/obj/7 271b10fa47f72704cf53f2c5eacd81b0 \
	http://10.9.0.3/obj/1001
expect "what is not there" 1 "" "" baleen match cuckoo.bln http://10.9.0.3/obj/1001
for image in a cuckoo count keyed; do
	expect "$image: all that are listed" 0 1000 "" baleen match -c -f a.txt $image.bln
done
expect "a file of URLs" 0 500 "" baleen match -c -f b.txt cuckoo.bln
expect "of keys" 0 500 "" baleen match -c -f b.keys cuckoo.bln
expect "in upper case" 0 500 "" baleen match -c -f b.upper cuckoo.bln
expect "those that are not" 0 500 "" baleen match -vc -f b.txt cuckoo.bln
printf '# http://10.9.0.3/obj/1\n\n \t http://10.9.0.3/obj/2 \r\n;\n' >some.txt
expect "comments and white space" 0 http://10.9.0.3/obj/2 "" baleen match -f some.txt cuckoo.bln
check "-j" baleen match -j cuckoo.bln http://10.9.0.3/obj/9
is "is an array" "$(json "$TMP/out" '[0]')" http://10.9.0.3/obj/9
expect "a list in place of an image" 0 http://10.9.0.3/obj/1 "" \
	baleen match --key squid a.txt http://10.9.0.3/obj/1

# --- shown ---

is "info: the key" "$(info a.bln .key)" squid
is "the hash" "$(info a.bln '.tables[0].hash')" squid
is "its positions" "$(info a.bln '.tables[0].hashes')" 4
is "of the one that counts, too" "$(info count.bln '.tables[0].hash')" squid
check "blocked" baleen build --key squid --kind counting --hash blocked --fpp 0.01 \
	-o blocked.bln a.txt
is "is one that has no hash to tell" "$(baleen info -j blocked.bln | grep -c '"hash"')" 0
check "a plan" baleen plan --key squid --capacity 1000 --fpp 0.01
is "has four positions" "$(grep -c 'k = 4' "$TMP/out")" 2

# --- changed ---

long=http://a.example/$(printf '%08000d' 1)
check "keys come" baleen add a.bln 'http://new.example/;a?b#c!' "$long"
expect "and are there" 0 2 "" baleen match -c a.bln 'http://new.example/;a?b#c!' "$long"
check "keys go" baleen del count.bln http://10.9.0.3/obj/1 "$(key http://10.9.0.3/obj/2)"
expect "both of them" 1 0 "" baleen match -c count.bln http://10.9.0.3/obj/1 http://10.9.0.3/obj/2

# --- combined ---

check "digests of two" baleen merge -o both.bln a.bln b.bln
cat a.txt b.txt >both.txt
expect "have the objects of both" 0 2000 "" baleen match -c -f both.txt both.bln
check "hashes of two" baleen build --like cuckoo.bln -o other.bln b.txt
check "are merged" baleen merge -o merged.bln cuckoo.bln other.bln
is "to as many" "$(info merged.bln .entries)" 1500
check "subtracted" baleen subtract -o rest.bln cuckoo.bln other.bln
is "leaving" "$(info rest.bln .entries)" 500
check "and compared" baleen compare -j cuckoo.bln other.bln
check "a digest of room for more" baleen build --key squid --kind classic --fpp 0.001 \
	--capacity 16k -o roomy.bln a.txt
check "is folded" baleen resize --capacity 2k -o folded.bln roomy.bln
expect "and has them all" 0 1000 "" baleen match -c -f a.txt folded.bln
is "in whole bytes" "$(($(info folded.bln '.tables[0].positions') % 8))" 0
