#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `baleen icp seed`: which sources become which images, and which are refused and how.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

A=271B10FA47F72704CF53F2C5EACD81B0
B=BC803772231122E1307B152D75DB1774

# log TAG DIR KEY: a line of store.log
log()
{
	printf '1700000000.123 %-7s %s 00000000 %s  200 1 1 1 text/plain 5/5 GET http://h/\n' "$@"
}

# digest CAPACITY BYTES MASK: a cache digest of 5 bits per entry, as printf has bytes
digest()
{
	printf '%b' '\0\05\0\03\0\0\0\0'"$(printf %03o "$1")"'\0\0\0\02\0\0\0\0' \
		'\0\0\0\0'"$(printf %03o "$2")"'\05\04'
	head -c 106 /dev/zero
	printf '%b' "$3"
}

log SWAPOUT 00 $A >a.log
log SWAPOUT 00 $B >b.log
digest 16 10 '\0377\0\0\0\0\0\0\0\0\01' >one.digest
digest 16 10 '\0\0\0\0\0\0\0\0\0\0200' >two.digest
digest 24 15 '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >other.digest

# --- refused ------------------------------------------------------------------

check_status "without -o" 2 baleen icp seed a.log
check_status "without a source" 2 baleen icp seed -o new.bln
check_status "another key" 2 baleen icp seed --key src -o new.bln a.log
check_status "--from of nothing that is known" 2 baleen icp seed --from disk -o new.bln a.log
check_status "--like and a kind" 2 baleen icp seed --like a.bln --kind cuckoo -o new.bln a.log
refuses "a file that is not there" "none.log: No such file or directory" \
	baleen icp seed -o new.bln none.log
refuses "a directory" ".: Is a directory" baleen icp seed -o new.bln .
: >empty
refuses "a file without a byte" \
	"empty: empty: it may be the log of an empty cache, which --from log says" \
	baleen icp seed -o new.bln empty
echo "192.0.2.1" >list
refuses "a list of addresses" \
	"list: neither swap.state, nor a cache digest, nor store.log, nor Squid's list of objects" \
	baleen icp seed -o new.bln list
refuses "a URL that does not say of what" \
	"http://127.0.0.1:9: a URL without a path: --from digest or --from objects says which \
one Squid has for it" baleen icp seed -o new.bln http://127.0.0.1:9
head -c 137 one.digest >cut.digest
refuses "a digest that is cut off" "cut.digest: no cache digest: its mask is cut off" \
	baleen icp seed -o new.bln cut.digest
refuses "digests of two sizes" "other.digest: 120 bits, one.digest has 80: a key has other bits \
in each, so their union is no digest; a list of objects or store.log of each cache has keys, \
which go into one image" baleen icp seed -o new.bln one.digest other.digest
refuses "a digest and keys" "one.digest has bits, a.log has keys: an image is made of the ones or \
of the others" baleen icp seed -o new.bln one.digest a.log
refuses "a digest of a kind that it is not" "one.digest: --fpp: a digest becomes a classic image \
of its own size; a list of objects or store.log has keys, which go into any" \
	baleen icp seed --kind counting --fpp 0.1 -o new.bln one.digest
printf 'KEY %s\n\tSTORE_OK' $A >cut.objects
refuses "a list of objects that is cut off" "cut.objects:2: cut off in the middle of an entry" \
	baleen icp seed -o new.bln cut.objects
check_status "and nothing was written" 1 test -e new.bln
printf 'KEY %s\n\tSTORE_OK      IN_MEMORY     SWAPOUT_NONE PING_NONE   \n\tCACHABLE,VALIDATED\n\tLV:1 LU:1 LM:-1        EX:-1       \n\t0 locks, 0 clients, 1 refs\n\tSwap Dir -1, File 0XFFFFFFFF\n\n' $A >memory.objects
expect "a list without an object on disk is told" 0 "" "baleen: warning: memory.objects: no object on \
disk: the cache is empty, or, as Squid 6.13 does, has dropped from its index what it was asked for by \
ICP: take store.log" baleen icp seed --from objects -o empty.bln memory.objects
printf '192.0.2.1\n' >src.list
baleen build -o src.bln src.list
refuses "an image of other keys to be like" "src.bln: its keys are src, not those of Squid" \
	baleen icp seed --like src.bln -o new.bln a.log
refuses "a list in the place of the image" "list: exists and is not an image: not overwritten" \
	baleen icp seed -o list a.log

# --- keys ---------------------------------------------------------------------

prints "a log in silence" "" baleen icp seed -o a.bln a.log
prints "its object is found by its key" "$A" baleen match a.bln $A $B
prints "and by its URL" "http://10.9.0.3/obj/1" \
	baleen match a.bln http://10.9.0.3/obj/1 http://10.9.0.3/obj/2
is "in a cuckoo filter" "$(info a.bln .tables[0].kind)" cuckoo
is "that can be fed: slots of 64 bits" "$(info a.bln .tables[0].slot_bits)" 64
prints "two caches, each on its own" "" baleen icp seed -o both.bln a.log b.log
prints "one has what either has" $A$'\n'$B baleen match both.bln $A $B
{ cat a.log b.log; log RELEASE 00 $A; } >gone.log
prints "what was released" "" baleen icp seed -o gone.bln gone.log
prints "is not in" $B baleen match gone.bln $A $B
{ cat a.log; echo rubbish; printf '1700000000.123 SWAP'; } >torn.log
expect "what is no line is told" 0 "" "baleen: torn.log: 1 object of store.log, 1 in, 0 out; 2 \
lines skipped, the first is line 2, the last one is cut off" baleen icp seed -o torn.bln torn.log
prints "from standard input" "" baleen icp seed -o pipe.bln - <a.log
check "and packed" eval 'gzip -c a.log >a.gz && baleen icp seed -o pack.bln a.gz'
prints "it is the same" $A baleen match pack.bln $A
check "an empty cache, when it is said" baleen icp seed --from log -o empty.bln empty
is "is an image without an object" "$(info empty.bln .entries)" 0

prints "another kind" "" baleen icp seed --kind counting --hash squid --fpp 0.001 --capacity 500 \
	-o counting.bln a.log
is "is that" "$(info counting.bln .tables[0].kind) $(info counting.bln .tables[0].hash)" \
	"counting squid"
prints "--like another image" "" baleen icp seed --like counting.bln -o like.bln b.log
check "merges with it" baleen merge -o merged.bln counting.bln like.bln
prints "into both" $A$'\n'$B baleen match merged.bln $A $B

# --- digests ------------------------------------------------------------------

prints "a digest" "" baleen icp seed -o one.bln one.digest
is "is a classic image" "$(info one.bln .tables[0].kind) $(info one.bln .tables[0].positions)" \
	"classic 80"
is "bit for bit" "$(tail -c +513 one.bln | head -c 10 | od -An -tx1 | xargs)" \
	"ff 00 00 00 00 00 00 00 00 01"
prints "two of one size" "" baleen icp seed -o or.bln one.digest two.digest
is "have the bits of either" "$(tail -c +513 or.bln | head -c 10 | od -An -tx1 | xargs)" \
	"ff 00 00 00 00 00 00 00 00 81"
check "-j" baleen icp seed -j -o one.bln one.digest
is "says what the source was" "$(json "$TMP/out" .sources[0].from)" digest
is "and the image" "$(json "$TMP/out" .key)" squid
