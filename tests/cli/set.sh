#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Signed sets as files: published, verified also by minisign, shown, compared; and what a
# publisher that is killed or has no room leaves behind.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

printf '%s\n' 192.0.2.9 192.0.2.1 10.0.0.0/8 192.0.2.1 198.51.100.1-198.51.100.4 2001:db8::/32 2001:db8::7 >one.txt
printf '%s\n' 192.0.2.1 192.0.2.3 10.0.0.0/8 198.51.100.2/31 2001:db8::7 2001:db8::8 >two.txt
user mkdir lists other

# publish DIR LIST [OPTION...]
publish() { baleen set publish -o "$1" --name bans --key bans.sec "${@:3}" "$2"; }
verify() { baleen set verify --key bans.pub "$1/bans.manifest"; }

# digest DIR: of the newest generation
digest() { sed -n 's/^digest //p' "$1/bans.manifest"; }

# --- keys ---

check "a pair of keys" baleen set keygen bans.sec bans.pub
is "the public key is printed" "$(<"$TMP/out")" "$(tail -n 1 bans.pub)"
is "only its owner reads the secret key" "$(stat -c %a bans.sec)" 600
refuses "keys that are there stay" "bans.sec: File exists" baleen set keygen bans.sec other.pub
check "another pair" baleen set keygen other.sec other.pub

# --- refused ---

printf '10.0.0.0/8\n!10.0.0.1\n' >exception.txt
refuses "exceptions" "a set has no exceptions: write the prefixes that remain" \
	publish lists exception.txt
printf 'krill\n' >bad.txt
check_status "a bad line" 1 publish lists bad.txt
printf '# nothing\n' >empty.txt
check_status "an empty list" 1 publish lists empty.txt
refuses "no such directory" "nowhere: No such file or directory" publish nowhere one.txt
refuses "no such key" "none.sec: No such file or directory" \
	baleen set publish -o lists --name bans --key none.sec one.txt
is "nothing of these was published" "$(ls -A lists)" ""
check_status "a name with a slash" 2 baleen set publish -o lists --name ../bans --key bans.sec one.txt
check_status "a name that is a file of another set" 2 baleen set publish -o lists --name tier-1 \
	--key bans.sec one.txt
check_status "a name that is hidden" 2 baleen set publish -o lists --name .bans --key bans.sec one.txt
expect "a public key" 1 "" "baleen: bans.pub: a public key: the secret one signs" \
	baleen set publish -o lists --name bans --key bans.pub one.txt
check_status "no key" 2 baleen set publish -o lists --name bans one.txt

# --- generations ---

prints "the first generation" "bans: generation 1, 8 entries, 201 B" publish lists one.txt
is "its files" "$(ls -A lists | paste -sd ' ')" \
	"bans-1.manifest bans-1.minisig bans-1.set bans.manifest bans.manifest.minisig"
check "verify" verify lists
is "the set is the list, sorted, each once" "$(baleen set show --entries lists/bans-1.set | paste -sd ' ')" \
	"10.0.0.0/8 198.51.100.2/31 192.0.2.1 192.0.2.9 198.51.100.1 198.51.100.4 2001:db8::/32 2001:db8::7"
tac one.txt >reversed.txt
check "the list backwards" publish other reversed.txt
is "has the same digest" "$(digest other)" "$(digest lists)"
check "the second generation" publish lists two.txt --expires 7d -j
is "names the difference" "$(json "$TMP/out" '.files[1].file')" bans-1-2.delta
is "and the generation before" "$(json "$TMP/out" .previous)" 1
check "verify looks at both" verify lists
is "files" "$(sed 's/.*; //' "$TMP/out")" "2 files as signed"
is "what differs" "$(baleen set diff lists/bans-1.set lists/bans-2.set | paste -sd ' ')" \
	"+192.0.2.3 -192.0.2.9 -198.51.100.1 -198.51.100.4 -2001:db8::/32 +2001:db8::8"
prints "how much" "4 removed, 2 added" baleen set diff -c lists/bans-1.set lists/bans-2.set
check "show a difference" baleen set show -j lists/bans-1-2.delta
is "from" "$(json "$TMP/out" '[0].from')" 1
is "its groups" "$(json "$TMP/out" '[0].groups[0].length') $(json "$TMP/out" '[0].groups[0].removed')" "32 3"
refuses "a difference has no entries to print" \
	"lists/bans-1-2.delta: is a difference, not a full set" baleen set show --entries lists/bans-1-2.delta
refuses "a list is no set" "one.txt: is no set" baleen set show one.txt

check "minisign verifies the manifest" user minisign -V -q -p "$PWD/bans.pub" -m lists/bans.manifest
user minisign -G -W -f -p theirs.pub -s theirs.sec >/dev/null 2>&1
check "a key of minisign signs" baleen set publish -o other --name theirs --key theirs.sec one.txt
check "and minisign verifies that" user minisign -V -q -p "$PWD/theirs.pub" -m other/theirs.manifest
check "so does verify" baleen set verify --key theirs.pub other/theirs.manifest

# --- old files go ---

touch lists/bans-1-2.deltaset
for list in one two one two; do
	publish lists "$list.txt" --deltas 2 >/dev/null
done
check "what is named otherwise stays" rm lists/bans-1-2.deltaset
is "what the last two manifests name stays" "$(ls lists | paste -sd ' ')" \
	"bans-3-5.delta bans-3.manifest bans-3.minisig bans-3.set bans-4-5.delta bans-4-6.delta bans-4.manifest bans-4.minisig bans-4.set bans-5-6.delta bans-5.manifest bans-5.minisig bans-5.set bans-6.manifest bans-6.minisig bans-6.set bans.manifest bans.manifest.minisig"
check "verify" verify lists
rm lists/bans-5.set
check "an earlier set that is gone" publish lists one.txt
check "has no difference" verify lists
is "from it" "$(grep -c '^delta [45] ' lists/bans.manifest)" 1

# --- nothing new ---

publish other two.txt >/dev/null
before=$(sha256sum other/*)
prints "a list that has not changed" "bans: generation 2, 6 entries, 190 B; from generation 1 150 B; unchanged, no new generation" \
	publish other two.txt
check "says so as JSON" publish other two.txt -j
is "unchanged" "$(json "$TMP/out" .unchanged)" true
is "all files are as they were" "$(sha256sum other/*)" "$before"
check "an end renews it" publish other two.txt --expires 7d
is "by a generation" "$(sed -n 's/^generation //p' other/bans.manifest)" 3

# --- rings ---

# rings_refuse WHY RINGS
rings_refuse()
{
	check_status "rings $2" 2 publish other one.txt --rings "$2"
	is "says why" "$(grep -cF "$1" "$TMP/err")" 1
}
rings_refuse "percents ascend, from 1 to 100" 10,1,100
rings_refuse "percents ascend, from 1 to 100" 0:1h,100
rings_refuse "the last ring has 100 percent" 1:1h,50
rings_refuse "a soak time is 30 days at most" 1:31d,100
rings_refuse "a soak time is whole seconds" 1:20ms,100
rings_refuse "a soak time is whole seconds" 1:soon,100
rings_refuse "more than 8 rings" 1,2,3,4,5,6,7,8,100
rings_refuse "not percents and soak times" krill
rings_refuse "no ring" ""
check "rings of ten hosts" baleen set publish -o other --name tier1 --key bans.sec --rings 1:1h,50:1h,100:1h \
	--hosts 10 one.txt
is "are told" "$(grep '^  ring' "$TMP/out")" "  ring 1, up to 1 %: about 0.1 of 10 hosts
  ring 2, up to 50 %: about 4.9 of 10 hosts
  ring 3, up to 100 %: about 5.0 of 10 hosts"
is "and one that may have none" "$(<"$TMP/err")" "baleen: warning: ring 1 has less than one host, so it \
may have none: nobody tries it before the others"
check_status "a canary too many" 2 publish other one.txt --rings default --canaries 1001
check "rings" publish other one.txt --rings 1:1h,10:4h,100 --canaries 2
is "are in the manifest" "$(sed -n '/^canaries/p; /^ring/p' other/bans.manifest | paste -sd ,)" \
	"canaries 2,ring 1 3600,ring 10 14400,ring 100 0"
check "which is signed" verify other
check "show" baleen set show other/bans.manifest
is "says when each ring is due" "$(sed -n 's/^  ring \(.*\), from .*/\1/p' "$TMP/out" | paste -sd ,)" \
	"1: to 1 % of hosts,2: to 10 % of hosts,3: to 100 % of hosts"
check "as JSON" baleen set show -j other/bans.manifest
is "with rings" "$(json "$TMP/out" '[0].rings[1].soak') $(json "$TMP/out" '[0].canaries')" "14400 2"
check "one that is on its way" publish other two.txt --rings default
is "is overtaken, and that is said" "$(grep -c "generation 4 was on its way to all hosts until 20.*: hosts that do not have it wait for generation 5 instead" "$TMP/err")" 1
is "by the default" "$(grep -c '^ring' other/bans.manifest)" 4

# --- the lists ---

printf '# ours\n198.51.100.1\n' >three.txt
printf '192.0.2.0/24 noisy' >four.txt
user mkdir shown
is "no lists without --source" "$(ls other | grep -c source)" 0
check "lists are shown" publish shown four.txt three.txt --source --deltas 0
is "one behind the other" "$(<shown/bans-1.source)" "$(cat three.txt four.txt)"
check "verify" verify shown
is "says so" "$(grep -c '; 2 files as signed$' "$TMP/out")" 1
check "show" baleen set show shown/bans.manifest
is "names them" "$(sed -n 's/^  bans-1.source, //p' "$TMP/out")" "$(stat -c %s shown/bans-1.source) B"
echo >>shown/bans-1.source
check_status "others" 1 verify shown
is "are refused" "$(sed 's/.*shown/shown/' "$TMP/err")" "shown/bans-1.source: has more bytes than its manifest says"
check "a pipe" eval 'publish shown - --source --deltas 0 <one.txt'
is "is shown, too" "$(cksum <shown/bans-2.source)" "$(cksum <one.txt)"
publish shown two.txt --deltas 0 >/dev/null
publish shown one.txt --deltas 0 >/dev/null
is "old ones go" "$(cd shown && echo *.source)" "*.source"

# --- a directory that was lost ---

user mkdir lost
check "a number of its own" publish lost one.txt --generation 7
is "is taken" "$(sed -n 's/^generation //p; s/^previous //p' lost/bans.manifest | paste -sd ' ')" "7 0"
check "verify" verify lost
refuses "one that is there" "bans: generation 7 is published already" publish lost two.txt --generation 7
check "the next one" publish lost two.txt
is "is the next one" "$(sed -n 's/^delta \([0-9]*\) .*/\1/p' lost/bans.manifest)" 7
check_status "no number" 2 publish lost two.txt --generation 0

# --- verify refuses ---

# damaged NAME MESSAGE: of a copy in damaged/
damaged() { refuses "$1" "$2" verify damaged; }
fresh() { rm -rf damaged && user cp -r lists damaged; }

fresh
refuses "another key" "lists/bans-7.minisig: another key signed it" \
	baleen set verify --key other.pub lists/bans.manifest
user truncate -s -1 damaged/bans-7.set
damaged "a set cut short" "damaged/bans-7.set: is cut short"
fresh
printf '\x80' | user dd of=damaged/bans-7.set bs=1 seek=90 conv=notrunc status=none
damaged "a set with a flipped bit" "damaged/bans-7.set: is not the file that its manifest tells of"
fresh
user sed -i 's/^entries .*/entries 7/' damaged/bans.manifest
check_status "a manifest that was changed" 1 verify damaged
fresh
user sed -i 's/^previous .*/&\nrings 4/' damaged/bans.manifest
damaged "a line that nobody knows" "damaged/bans.manifest: not a manifest of a set"
fresh
user rm damaged/bans-4-7.delta
damaged "a difference that is not there" "damaged/bans-4-7.delta: No such file or directory"
fresh
refuses "a manifest that is none is not followed by generation 1" "bad/bans.manifest: not a manifest of 'bans'" \
	bash -c 'mkdir bad; echo krill >bad/bans.manifest; exec "$0" set publish -o bad --name bans --key bans.sec one.txt' "$TMP/baleen"

# --- no room, killed ---

seq -f '10.0.%.0f.1' 0 255 >many.txt
before=$(sha256sum lists/*)
# shellcheck disable=SC2016 # of the inner shell
check_status "no room" 1 user bash -c 'trap "" XFSZ; ulimit -f 0; exec "$@"' - \
	"$TMP/baleen" set publish -o lists --name bans --key bans.sec many.txt
is "leaves all as it was" "$(sha256sum lists/*)" "$before"
is "and nothing beside it" "$(ls -A lists | grep -c '^\.')" 0

# Of each call that others see: killed there, the directory shows one generation or the other.
n=0 bad=
for call in openat rename fsync unlinkat; do
	for ((i = 1; i < 40; i++)); do
		fresh
		user strace -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$i" \
			"$TMP/baleen" set publish -o damaged --name bans --key bans.sec many.txt >/dev/null 2>&1
		[ $? -eq 137 ] || break
		n=$((n + 1))
		verify damaged >/dev/null 2>"$TMP/err" || bad+="$call $i: $(<"$TMP/err")"$'\n'
		publish damaged many.txt --expires 7d >/dev/null && verify damaged >/dev/null || bad+="$call $i: then"$'\n'
	done
done
is "killed at each of $n calls, hosts see one whole generation, and the next one comes" "$bad" ""
check "there were some" test "$n" -gt 30
