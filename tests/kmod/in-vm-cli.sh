#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kmod:NAME on the command line, in the machine of tests/kmod/cli.sh: what is refused,
# and that each command says of a filter of the module what it says of a file.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/words.sh
source tests/words.sh
# shellcheck source=tests/kmod/vm.sh
source tests/kmod/vm.sh

baleen()
{
	"$BALEEN" "$@"
}

# same NAME COMMAND...: on set.bln and on kmod:set, which @ stands for, it ends and says
# the same
same()
{
	local name=$1 args file kmod status
	shift

	args=("${@//@/set.bln}")
	file=$("${args[@]}" 2>&1)
	status=$?
	file="status $status ${file//set.bln/SET}"
	args=("${@//@/kmod:set}")
	kmod=$("${args[@]}" 2>&1)
	status=$?
	is "$name" "status $status ${kmod//kmod:set/SET}" "$file"
}

# fresh LIST [OPTION...]: both hold this list
fresh()
{
	if ! baleen build -o set.bln --seed test "${@:2}" "$1" ||
		! baleen build -o kmod:set --seed test "${@:2}" "$1"; then
		bail "no set of $1"
	fi
}

# info ARGUMENT PATH: a value of what info -j says
info()
{
	baleen info -j "$1" >"$TMP/json" && json "$TMP/json" "[0]$2"
}

# listed NAME: its kind, key and entries in the list of all filters
listed()
{
	baleen info kmod: | awk -v name="$1" '$1 == name { print $2, $3, $4 }'
}

mkdir "$TMP/work" && cd "$TMP/work" || exit 2
printf '192.0.2.1\n192.0.2.7\n198.51.100.9\n2001:db8::1\n' >hosts.txt
printf '192.0.2.1\n10.0.0.0/8\n2001:db8::/48\n!10.1.0.0/16\n' >nets.txt
grep -v : hosts.txt >hosts4.txt
grep -v : nets.txt >nets4.txt
printf 'krill\nwhale\nsea\n' >words.txt
for i in {1..250}; do
	echo "203.0.113.$i"
done >more.txt

# --- no module, no root -----------------------------------------------------

none="the kernel module is not loaded: 'modprobe baleen'"
baleen build -o file.bln hosts.txt
refuses "info without the module" "kmod:x: $none" baleen info kmod:x
refuses "match without the module" "kmod:x: $none" baleen match kmod:x 192.0.2.1
refuses "add without the module" "kmod:x: $none" baleen add kmod:x 192.0.2.1
refuses "build into it" "kmod:x: $none" baleen build -o kmod:x hosts.txt
refuses "the list of filters" "kmod: $none" baleen info kmod:
refuses "detach" "kmod:x: $none" baleen detach kmod:x
refuses "save" "kmod:x: $none" baleen save kmod:x -o x.bln
refuses "swap" "kmod:x: $none" baleen swap kmod:x file.bln
# shellcheck disable=SC2016 # of the inner bash
refuses "a file that was written there" "kmod:x: /dev/baleen is a file, not the device of the \
module: remove it, then 'modprobe -r baleen; modprobe baleen'" \
	bash -c 'cp file.bln /dev/baleen; "$0" info kmod:x; s=$?; rm /dev/baleen; exit $s' "$BALEEN"

# shellcheck disable=SC2119 # no parameters
cd "$ROOT" && load_module && cd "$TMP/work" || exit 2
refuses "without root" "kmod:x: /dev/baleen: Permission denied: the filters of the module are for \
root" "$ROOT/setpriv" --reuid 65534 --clear-groups -- "$BALEEN" info kmod:x

# --- names ------------------------------------------------------------------

refuses "no name" "kmod:: a filter's name cannot be empty" baleen match kmod: 192.0.2.1
long=$(printf '%032d' 0)
refuses "a name that is too long" "kmod:$long: a filter's name has at most 31 characters" \
	baleen dump "kmod:$long"
refuses "a name of other bytes" $'kmod:\xc3\xa9: a filter\'s name is printable ASCII' \
	baleen dump $'kmod:\xc3\xa9'
expect "-o without a name" 2 "" "baleen: build: -o 'kmod:': a filter's name cannot be empty \
(see 'baleen help build')" baleen build -o kmod: hosts.txt
refuses "no filter there" "kmod:x: no such filter: the module has none" baleen dump kmod:x
for i in 1 2 3 4 5 6 7 8 9; do
	baleen build -o "kmod:n$i" hosts.txt
done
refuses "a slip, with what there is" \
	"kmod:x: no such filter: the module has n1, n2, n3, n4, n5, n6, n7, n8 and 1 more" \
	baleen info kmod:x
for i in 1 2 3 4 5 6 7 8 9; do
	prints "n$i goes" "kmod:n$i: detached" baleen detach "kmod:n$i"
done
prints "none is left" "" baleen info kmod:
prints "nor as JSON" "[]" baleen info -j kmod:
check "a name with spaces" baleen build -o "kmod:a b=c/d" hosts.txt
prints "is a name" 192.0.2.7 baleen match "kmod:a b=c/d" 192.0.2.7 192.0.2.8
prints "and goes, as JSON" $'{\n  "detached": "kmod:a b=c/d"\n}' baleen detach -j "kmod:a b=c/d"
cp file.bln kmod:set
check "./ means a file" baleen match ./kmod:set 192.0.2.1
rm kmod:set

# --- objects of Squid -------------------------------------------------------

printf 'http://h/%s\n' {1..20} >urls.txt
printf '\1http://h/7' | md5sum | cut -c 1-32 >seventh.txt
printf '\1http://h/77' | md5sum | cut -c 1-32 >absent.txt
for shape in "--kind cuckoo" "--kind counting --hash squid --fpp 0.0001" \
	"--kind classic --hash squid --fpp 0.0001"; do
	# shellcheck disable=SC2086 # words
	fresh urls.txt --key squid $shape
	prints "$shape: URLs, one of which is there" http://h/7 \
		baleen match kmod:set http://h/7 http://h/77
	prints "$shape: a key of 32 digits" "$(<seventh.txt)" baleen match kmod:set "$(<seventh.txt)"
	expect "$shape: one that is not there" 1 "" "" baleen match kmod:set "$(<absent.txt)"
	is "$shape: all of them" "$(baleen match -c -f urls.txt kmod:set)" 20
	is "$shape: the kernel was asked" \
		"$(info kmod:set .counters.queries) $(info kmod:set .counters.query_hits)" "24 22"
	is "$shape: its key and entries" \
		"$(info kmod:set .key) $(info kmod:set .entries) $(listed set)" \
		"squid 20 $(info set.bln .tables[0].kind) squid 20"
	same "$shape: match -v" baleen match -v @ http://h/7 http://h/77 "$(<absent.txt)"
	same "$shape: match -j" baleen match -j @ http://h/7 "$(<absent.txt)"
	same "$shape: match of no URL" baleen match @ 192.0.2.1
	same "$shape: dump" baleen dump @
	# Its counters stay when another image takes its place.
	check "$shape: goes" baleen detach kmod:set
done

# --- hosts, as of a file ----------------------------------------------------

fresh hosts.txt
is "the image is the same, byte for byte" \
	"$(baleen save kmod:set -o saved.bln >/dev/null && tail -c +513 saved.bln | cmp - <(tail -c +513 set.bln) && echo same)" same
same "match" baleen match @ 192.0.2.1 192.0.2.2 2001:db8::1
same "match -v" baleen match -v @ 192.0.2.1 192.0.2.2
same "match -c" baleen match -c @ 192.0.2.1 192.0.2.2
same "match -j" baleen match -j @ 192.0.2.1 192.0.2.2
same "match -f" baleen match -f hosts.txt @
same "match of no key" baleen match @ nonsense
same "match of nobody" baleen match @ 192.0.2.99
same "match with another key" baleen match --key dst @ 192.0.2.1
same "dump" baleen dump @
same "dump -j" baleen dump -j @
same "add" baleen add @ 192.0.2.50
same "add of it again" baleen add @ 192.0.2.50
same "add --exist" baleen add --exist @ 192.0.2.50 192.0.2.51
same "add -j" baleen add -j @ 192.0.2.52 2001:db8::5
same "add of no key" baleen add @ 192.0.2.300
same "dump after it" baleen dump @
same "del" baleen del @ 192.0.2.50
same "del of it again" baleen del @ 192.0.2.50
same "del of some, one of which is not there" baleen del @ 192.0.2.51 192.0.2.50
same "which changes nothing" baleen match @ 192.0.2.51
same "del --exist" baleen del --exist @ 192.0.2.50 192.0.2.51
same "del -j" baleen del -j @ 192.0.2.52
same "dump after it all" baleen dump @
same "--ttl of an image" baleen add --ttl 1h @ 192.0.2.1
is "its entries are counted" "$(listed set)" "cuckoo src $(info set.bln .entries)"
is "by info, too" "$(info kmod:set .entries)" "$(info set.bln .entries)"
same "compare with a list" baleen compare @ hosts.txt
same "compare -j" baleen compare -j @ hosts.txt
check "compare with the file" baleen compare -j set.bln kmod:set
is "finds them the same" "$(grep -c '"jaccard": 1.0' "$TMP/out")" 1

# Under the older kernel this much; the rest does not depend on it.
if [[ $(uname -r) == 6.1.* ]]; then
	baleen detach kmod:set >/dev/null
	cd "$ROOT" && test_gone
	exit
fi

# --- changes that are made aside ---------------------------------------------

expect "a prefix is built aside" 0 "kmod:set: added, built anew" "" baleen add kmod:set 10.0.0.0/8
check "in the file, too" baleen add set.bln 10.0.0.0/8
same "they are the same" baleen dump @
same "a prefix that is there" baleen add @ 10.0.0.0/8
same "a host inside it" baleen add @ 10.3.2.1
expect "a host out of it" 0 "kmod:set: deleted, built anew" "" baleen del kmod:set 10.3.2.1
check "of the file, too" baleen del set.bln 10.3.2.1
same "they are the same then" baleen dump @
check "more than there is room for" baleen add kmod:set -f more.txt
check "in the file" baleen add set.bln -f more.txt
same "has all of them" baleen dump @
printf '192.0.2.1\n192.0.2.2\n' >two.txt
baleen build -o kmod:small two.txt
expect "of a full one --fixed says so" 1 "" "baleen: kmod:small: full: this takes 1792 bytes, it \
has $(info kmod:small .bytes)" baleen add --fixed -f more.txt kmod:small
prints "and nothing changed" "$(<two.txt)" baleen dump kmod:small
expect "--atomic is aside" 0 "kmod:small: added, built anew" "" \
	baleen add --atomic kmod:small 192.0.2.3
prints "and there" $'192.0.2.1\n192.0.2.2\n192.0.2.3' baleen dump kmod:small

# --- other kinds ------------------------------------------------------------

fresh words.txt --key string
same "strings are hashed by the seed of the filter" baleen match @ krill whale shrimp
same "of a file, too" baleen match -v -f words.txt @
same "a string is added" baleen add @ shrimp
same "again" baleen add @ shrimp
same "deleted" baleen del @ whale
same "and all asked" baleen match @ krill whale sea shrimp
same "cannot be listed" baleen dump @
echo 10001:001010 >print.txt
unkeyed="kmod:m: its hash is not keyed, and such strings and fingerprints cannot be asked in the \
kernel: build it with a keyed one"
refuses "a hash without a key" "$unkeyed" \
	baleen build -o kmod:m --key string --kind classic --hash murmur3 --fpp 0.01 words.txt
refuses "fingerprints" "$unkeyed" \
	baleen build -o kmod:m --key fingerprint --kind quotient --remainder-bits 6 print.txt
refuses "partners by XOR" "$unkeyed" \
	baleen build -o kmod:m --key string --partner xor --slot-bits 16 words.txt

for kind in bloom counting classic; do
	fresh more.txt --kind $kind --fpp 0.01
	same "$kind: match" baleen match -f more.txt @
	is "$kind: as many" "$(info kmod:set .entries)" 250
	refuses "$kind: a rate that is too high" \
		"kmod:set: would raise the false positive rate to $(baleen add set.bln 192.0.2.77 2>&1 |
			sed -n 's/.* rate \(.*\), before.*/\1/p'), accepted 1e-09: build it larger \
(--accept-fpp takes it)" baleen add kmod:set 192.0.2.77
	expect "$kind: add" 0 "kmod:set: 1 added in place" "" \
		baleen add --accept-fpp 0.5 kmod:set 192.0.2.77
	is "$kind: is counted" "$(info kmod:set .entries)" 251
	same "$kind: match then" baleen match @ 192.0.2.77 203.0.113.1 192.0.2.78
	same "$kind: del" baleen del @ 203.0.113.1
	same "$kind: match after it" baleen match -v @ 192.0.2.77 203.0.113.1 192.0.2.78
done

for shape in "--kind quotient --remainder-bits 20" "--kind cuckoo --slot-bits 12" \
	"--kind cuckoo --slot-bits 8 --copies" "--kind cuckoo --stash" \
	"--kind cuckoo --slot-bits 27 --bucket-slots 3" \
	"--kind cuckoo --slot-bits 13 --copies" "--kind classic --fpp 1e-9" \
	"--kind quotient --remainder-bits 9 --copies"; do
	# shellcheck disable=SC2086 # words
	fresh hosts.txt $shape
	same "$shape: match" baleen match -f hosts.txt @
	same "$shape: show" baleen show @ 192.0.2.1 203.0.113.1 2001:db8::1
	same "$shape: show -j" baleen show -j @ 192.0.2.1 203.0.113.1
	check "$shape: add to set.bln" baleen add set.bln 192.0.2.77 192.0.2.78
	# Which raises the rate of a filter that is in use.
	check "$shape: add to kmod:set" baleen add --accept-fpp 0.5 kmod:set 192.0.2.77 192.0.2.78
	same "$shape: match then" baleen match @ 192.0.2.77 192.0.2.1 192.0.2.78
	baleen del set.bln 192.0.2.77 >file.txt 2>&1
	file=$?
	baleen del kmod:set 192.0.2.77 >kmod.txt 2>&1
	is "$shape: del ends as of the file" $? $file
	same "$shape: match after it" baleen match @ 192.0.2.77 192.0.2.1 192.0.2.78
	same "$shape: how often" baleen match --count-copies @ 192.0.2.77 192.0.2.1 192.0.2.78
done

# --- sets of sets -----------------------------------------------------------

fresh hosts4.txt
baleen build -o other.bln --seed other nets4.txt
for op in merge intersect subtract; do
	same "$op -j to a file" baleen $op -j -o out.bln @ other.bln
	mv out.bln first.bln
	check "$op, second operand" baleen $op -o second.bln other.bln kmod:set
	check "$op of files" baleen $op -o third.bln other.bln set.bln
	is "$op is the same" "$(baleen dump second.bln)" "$(baleen dump third.bln)"
	check "$op -o kmod:" baleen $op -o kmod:out other.bln set.bln
	is "$op is there" "$(baleen dump kmod:out)" "$(baleen dump third.bln)"
done
same "merge into it" baleen merge @ other.bln
same "subtract from it" baleen subtract @ hosts4.txt
same "intersect it" baleen intersect @ nets4.txt
same "what came out" baleen dump @
same "resize" baleen resize --capacity 1000 @
same "resize to too few" baleen resize --capacity 0 @
same "resize -j" baleen resize -j --capacity 5000 @
check "resize to a file" baleen resize --capacity 70 -o out.bln kmod:set
check "and back" baleen resize --capacity 70 -o kmod:out out.bln
same "is still the same" baleen dump @
check "--like" baleen build --like kmod:set -o like.bln hosts4.txt
check "takes the seed" baleen merge -o out.bln like.bln kmod:set
same "compile" baleen compile -j -o out.o @
expect "compile -o kmod:" 2 "" "baleen: compile: -o 'kmod:x': an object is a file, not a filter of \
the module (see 'baleen help compile')" baleen compile -o kmod:x set.bln

# --- save and swap -----------------------------------------------------------

fresh hosts.txt
check "save" baleen save kmod:set -o saved.bln
is "says so" "$(<"$TMP/out")" "kmod:set: saved to saved.bln, $(baleen info kmod:set | sed -n '1s/.*, //p')"
baleen build -o set --seed test hosts.txt
check "of what did not change every byte" cmp saved.bln set
is "is for its owner" "$(stat -c %a saved.bln)" 600
expect "a directory" 2 "" "baleen: save: -o 'x/': is a directory (see 'baleen help save')" \
	baleen save kmod:set -o x/
refuses "not over a list" "hosts.txt: exists and is not an image: not overwritten" \
	baleen save kmod:set -o hosts.txt
prints "swap" "kmod:set: swapped, 2 entries" baleen swap kmod:set two.txt
is "is in force" "$(baleen match -c kmod:set 192.0.2.7)" 0
check "save of what came from a list" baleen save kmod:set -o swapped.bln
is "has the name of the filter" "$(info swapped.bln .name) $(info kmod:set .name)" "set set"
check "so it can be written back" dd if=swapped.bln of=/dev/baleen bs=1M
is "and is what it was" "$(baleen save kmod:set -o again.bln >/dev/null && cmp swapped.bln again.bln && echo same)" same
check "swap -j" baleen swap -j kmod:set two.txt
is "names the filter" "$(json "$TMP/out" .name)" set
refuses "status of a filter" "kmod:set: a filter, not a device: 'baleen info kmod:set' shows it" \
	baleen status kmod:set
refuses "of what is not there" "kmod:x: no such filter: the module has out, set, small" \
	baleen swap kmod:x set.bln
refuses "of nothing" "/dev/null: not a single key in 0 lines: list refused (--allow-empty takes \
it)" baleen swap kmod:set /dev/null
expect "as of a rule" 2 "" "baleen: swap: --allow, --drop and --count are for rules (see 'baleen \
help swap')" baleen swap --drop kmod:set set.bln
expect "of no filter" 2 "" "baleen: swap: 'set.bln' is neither DEV:RULE nor kmod:NAME (see \
'baleen help swap')" baleen swap set.bln set.bln

# --- what the module says ----------------------------------------------------

baleen build -o kmod:told hosts.txt
baleen match -c kmod:told 192.0.2.1 192.0.2.2 >/dev/null
is "queries" "$(info kmod:told .counters.queries) $(info kmod:told .counters.query_hits)" "2 1"
is "rules" "$(info kmod:told .rules)" 0
version=$(info kmod:told .version)
baleen add kmod:told 192.0.2.2 >/dev/null
check "another version" test "$version" != "$(info kmod:told .version)"
is "a line of the list" "$(baleen info kmod: | awk '$1 == "told" { print $2, $3, $4, $7, $10 }')" \
	"cuckoo src 5 0 3"
check "the list as JSON" baleen info -j kmod:
cp "$TMP/out" list.json
is "is sorted by name" "$(json list.json '[0].file') $(json list.json '[3].file')" \
	"kmod:out kmod:told"
is "says the same" "$(json list.json '[3].entries') $(json list.json '[3].counters.queries')" "5 3"

printf '192.0.2.0/24\n2001:db8::/32\n' >nets.txt
baleen build -o kmod:nets nets.txt
is "the device and the list have one word for a kind" "$(awk 'NR > 1 { print $1, $2 }' /dev/baleen)" \
	"$(baleen info kmod: | awk 'NR > 1 { print $1, $2 }')"

for filter in out set small told nets; do
	check "$filter goes" baleen detach kmod:$filter
done
refuses "what has gone" "kmod:set: no such filter: the module has none" baleen detach kmod:set
expect "--forget" 2 "" "baleen: detach: --forget is for devices (see 'baleen help detach')" \
	baleen detach --forget kmod:set
cd "$ROOT" && test_gone
