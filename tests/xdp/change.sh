#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# add, del, merge and resize of live rules: what they say, what is then dropped,
# what is refused.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

VERDICT=$ROOT/build/tools/verdict

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# dropped: a letter for each address
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }

# rule PATH: a value of the rule veth-b:listed
rule()
{
	baleen status -j veth-b >"$TMP/json" && json "$TMP/json" "[0].rules[0]$1"
}

# fresh KEY_SPEC KEY...: a rule that drops these, and has room for ten times as many
fresh()
{
	[ -z "$(xdp_id "$B" veth-b)" ] || baleen detach veth-b >"$TMP/out"
	printf '%s\n' "${@:2}" >"$TMP/list"
	baleen attach veth-b --no-state --key "$1" --capacity $((10 * ($# - 1))) --drop "listed=$TMP/list" \
		>"$TMP/out" 2>"$TMP/err" || bail "cannot attach: $(<"$TMP/err")"
	id=$(xdp_id "$B" veth-b)
}

# is_swapped NAME yes|no: since the last time the program is another one
is_swapped()
{
	local now

	now=$(xdp_id "$B" veth-b)
	is "$1: another program" "$([ "$now" = "$id" ] && echo no || echo yes)" "$2"
	id=$now
}

# --- hosts ---

fresh src 192.0.2.1 2001:db8::1
prints "add two hosts" "veth-b:listed: 2 added in place" \
	baleen add veth-b:listed 192.0.2.9 2001:db8::9
is "they are dropped, others are not" "$(dropped 192.0.2.{1,8,9} 2001:db8::{1,8,9})" DPDDPD
is_swapped "in place" no
refuses "add what is there" \
	"veth-b:listed: 2001:db8::9 is in it already: nothing changed (--exist takes it)" \
	baleen add veth-b:listed 192.0.2.8 2001:db8::9
refuses "del what is not there" \
	"veth-b:listed: 192.0.2.8 is not in it: nothing changed (--exist takes it)" \
	baleen del veth-b:listed 192.0.2.8 2001:db8::9
is "nothing has changed" "$(dropped 192.0.2.{8,9} 2001:db8::9)" PDD
prints "with --exist it is fine" "veth-b:listed: 1 added in place" \
	baleen add --exist veth-b:listed 192.0.2.8 2001:db8::9
prints "atomic" "veth-b:listed: deleted, built anew" \
	baleen del --atomic veth-b:listed 192.0.2.8 2001:db8::9
is "they pass" "$(dropped 192.0.2.{8,9} 2001:db8::9)" PDP
is_swapped "atomic" yes
prints "atomic, but nothing to do" "veth-b:listed: 0 deleted in place" \
	baleen del --exist --atomic veth-b:listed 192.0.2.8
is_swapped "nothing to do" no
printf '192.0.2.8\n2001:db8::8\n' >"$TMP/more"
prints "a file" "veth-b:listed: added, built anew" baleen add -f "$TMP/more" veth-b:listed
is_swapped "a file" yes
prints "a file and a key" "veth-b:listed: deleted, built anew" \
	baleen del -f "$TMP/more" veth-b:listed 192.0.2.9
is "the first are left" "$(dropped 192.0.2.{1,8,9} 2001:db8::{1,8,9})" DPPDPP
is "they are counted" "$(rule .entries)" 2

# --- prefixes ---

fresh src 192.0.2.1 2001:db8::/32
prints "add prefixes" "veth-b:listed: added, built anew" \
	baleen add veth-b:listed 198.51.100.0/24 2001:db9::/64
is "they are dropped" "$(dropped 198.51.{99.255,100.0,100.255,101.0} 2001:db{8,9}::1 2001:db9:0:1::)" \
	PDDPDDP
prints "del addresses of them" "veth-b:listed: deleted, built anew" \
	baleen del veth-b:listed 198.51.100.7 2001:db8::7
is "they pass" "$(dropped 198.51.100.{6,7,8} 2001:db8::{6,7,8})" DPDDPD
is "match says so" "$(baleen match veth-b:listed 198.51.100.{6,7} 2001:db8::{6,7} | paste -s -d ' ')" \
	"198.51.100.6 2001:db8::6"
prints "dump, too" "192.0.2.1
198.51.100.0/30
198.51.100.4/31
198.51.100.6
198.51.100.8/29
198.51.100.16/28
198.51.100.32/27
198.51.100.64/26
198.51.100.128/25
2001:db8::/32
!2001:db8::7
2001:db9::/64" baleen dump veth-b:listed
id=$(xdp_id "$B" veth-b)
prints "a host beside them" "veth-b:listed: 1 added in place" baleen add veth-b:listed 203.0.113.1
prints "a host of a prefix" "veth-b:listed: 1 added in place" baleen add veth-b:listed 198.51.100.7
is_swapped "both" no
is "are dropped" "$(dropped 203.0.113.{1,2} 198.51.100.7)" DPD

# --- keys of several fields ---

fresh flow tcp,192.0.2.1,198.51.100.1,1000,443
prints "a flow" "veth-b:listed: 2 added in place" baleen add veth-b:listed \
	udp,192.0.2.1,198.51.100.1,53,53 udp,2001:db8::1,2001:db8::2,53,53
is "is there" "$(baleen match -c veth-b:listed udp,192.0.2.1,198.51.100.1,53,{53,54} \
	udp,2001:db8::1,2001:db8::2,53,53)" 2
prints "a flow out" "veth-b:listed: 1 deleted in place" \
	baleen del veth-b:listed tcp,192.0.2.1,198.51.100.1,1000,443
refuses "a key of another kind" "'192.0.2.1': protocol is no known name or number up to 255" \
	baleen add veth-b:listed 192.0.2.1

# --- growth ---

fresh src 192.0.2.1 2001:db8::1
seq -f '198.18.0.%g' 0 255 >"$TMP/many"
seq -f '2001:db8:1::%g' 0 99 >>"$TMP/many"
mapfile -t many <"$TMP/many"
n=0
while [ $n -lt ${#many[@]} ] && baleen add --fixed veth-b:listed "${many[n]}" >"$TMP/out" 2>"$TMP/err"; do
	n=$((n + 1))
done
is "fixed, it fills up" "$(grep -cE \
	'^baleen: veth-b:listed: full: this takes [0-9]+ bytes, it has [0-9]+$' "$TMP/err")" 1
is "and the last is not in it" "$(dropped "${many[@]:n - 1:2}")" DP
bytes=$(rule .bytes)
id=$(xdp_id "$B" veth-b)
prints "else it grows" "veth-b:listed: added, built anew" baleen add veth-b:listed "${many[n]}"
is_swapped "growth" yes
is "it is larger" "$([ "$(rule .bytes)" -gt "$bytes" ] && echo yes)" yes
for host in "${many[@]:n + 1}"; do
	baleen add veth-b:listed "$host" || echo "$host: $?"
done >"$TMP/said" 2>&1
is "all come in" "$(grep -cvE '^veth-b:listed: (1 added in place|added, built anew)$' "$TMP/said")" 0
is "few of them by growth" "$(($(grep -c 'built anew' "$TMP/said") <= 10))" 1
is "all are dropped" "$(dropped "${many[@]}")" "$(printf 'D%.0s' "${many[@]}")"
is "the first are, too" "$(dropped 192.0.2.1 2001:db8::1)" DD

# --- resize, merge ---

check "resize" baleen resize --capacity 10000 veth-b:listed
is "is larger" "$([ "$(rule .bytes)" -gt 50000 ] && echo yes)" yes
refuses "resize to less than there is" \
	"veth-b:listed: holds $((${#many[@]} + 2)) keys: a capacity of 10 is too small" \
	baleen resize --capacity 10 veth-b:listed
check "resize back" baleen resize --capacity 400 veth-b:listed
is "is smaller" "$([ "$(rule .bytes)" -lt 20000 ] && echo yes)" yes
is "and the same" "$(dropped 192.0.2.{1,2} "${many[0]}" "${many[-1]}")" DPDD
printf '192.0.2.2\n2001:db8::2\n' >"$TMP/more"
prints "merge" "veth-b:listed: merged, $((${#many[@]} + 4)) entries" \
	baleen merge veth-b:listed "$TMP/more"
is "adds" "$(dropped 192.0.2.{1,2,3} 2001:db8::{1,2,3})" DDPDDP
check "merge to a file" baleen merge -o "$TMP/out.bln" veth-b:listed "$TMP/more"
is "has all" "$("$BALEEN" match -c -f "$TMP/many" "$TMP/out.bln")" ${#many[@]}

# --- Bloom filters: what goes in stays, and each key raises the rate ---

# bloom FILE LIST: an image with a rate of up to 1 %
bloom() { "$BALEEN" build --kind bloom --fpp 0.01 --seed "${2##*/}" -o "$1" "$2" 2>"$TMP/err" || bail "$(<"$TMP/err")"; }

# raise COMMAND...: the number that it refuses to raise the rate to, or what it says
raise()
{
	"$@" 2>&1 >/dev/null | sed -E 's/^baleen: veth-b:listed: would raise the false positive rate to ([0-9.e-]+), accepted [0-9.e-]+: build it larger \(--accept-fpp takes it\)$/\1/'
}

seq -f '203.0.113.%g' 1 250 >"$TMP/bloom"
seq -f '198.18.0.%g' 1 250 >"$TMP/more"
bloom "$TMP/bloom.bln" "$TMP/bloom"
fresh src 192.0.2.1
is "merge of a Bloom filter into an exact rule is refused" \
	"$(raise baleen merge veth-b:listed "$TMP/bloom.bln" | grep -cE '^0\.0[0-9]+$')" 1
is "the rule is exact" "$(rule .fpp) $(rule .entries)" "0.0 1"
check "accepted" baleen merge --accept-fpp 0.05 veth-b:listed "$TMP/bloom.bln"
is "is merged" "$(dropped 192.0.2.1 203.0.113.{1,250})" DDD
check "no more is accepted for what raises nothing" baleen merge veth-b:listed "$TMP/bloom.bln"
is "the keys are not counted" "$(rule .entries) $(rule .tables[0].keys) $(rule .stored)" "null null null"
is "nor in words" "$(baleen status veth-b | grep -cE '^  drop +listed +key src, bloom, ')" 1
is "to add many is refused" "$(raise baleen add --accept-fpp 0.05 -f "$TMP/more" veth-b:listed |
	grep -cE '^0\.[0-9]+$')" 1
is "also in place" "$(raise baleen add veth-b:listed 198.18.0.{1..9} | grep -cE '^0\.0[0-9]+$')" 1
is "nothing has changed" "$(baleen match -c -f "$TMP/bloom" veth-b:listed)" 250
prints "what is there raises nothing" "veth-b:listed: 0 added in place" \
	baleen add veth-b:listed 203.0.113.1
before=$(baleen match -c -f "$TMP/more" veth-b:listed)
refuses "a family without a table" \
	"veth-b:listed: the Bloom filter has no table for this family: build it again from its lists" \
	baleen add --accept-fpp 0.5 -f "$TMP/more" veth-b:listed 2001:db8::1
is "of nothing" "$(baleen match -c -f "$TMP/more" veth-b:listed)" "$before"
check "accepted, they come in" baleen add --accept-fpp 0.5 veth-b:listed 198.18.0.{1..250}
is "all" "$(baleen match -c -f "$TMP/more" veth-b:listed)" 250

# --- what would cut the host off ---

fresh src 192.0.2.1
guarded="veth-b: nothing changed, since this host would cut itself off (--force does it)"
refuses "an own address" "veth-b: rule 'listed' would drop 10.66.0.2, address of veth-b
baleen: $guarded" baleen add veth-b:listed 10.66.0.2
check_status "one inside a prefix" 1 baleen add veth-b:listed 10.66.0.0/16
printf '10.66.0.2\n' >"$TMP/own"
check_status "one in a merged list" 1 baleen merge veth-b:listed "$TMP/own"
is "nothing has changed" "$(dropped 10.66.0.2 10.66.0.1)" PP
check "forced" baleen add --force veth-b:listed 10.66.0.2
is "it is dropped" "$(dropped 10.66.0.2)" D
check "then another key is no more of a reason" baleen add veth-b:listed 192.0.2.3
check "nor one to take it out" baleen del veth-b:listed 10.66.0.2
baleen detach veth-b >"$TMP/out"
printf '10.66.0.0/24\nfd66::/64\n' >"$TMP/own"
echo 0.0.0.0/0 >"$TMP/any"
baleen attach veth-b --no-state --allow "listed=$TMP/own" --drop "all=$TMP/any" --force >"$TMP/out" 2>&1
refuses "to take an own address off an allow rule" \
	"veth-b: rule 'all' would drop 10.66.0.2, address of veth-b
baleen: $guarded" baleen del veth-b:listed 10.66.0.2
check "another" baleen del veth-b:listed 10.66.0.77

# --- who else changes it ---

refuses "no such rule" "veth-b has no rule 'none': see 'baleen status veth-b'" \
	baleen add veth-b:none 192.0.2.1
exec 9<"$(echo /sys/fs/bpf/baleen/ns*)"
flock 9
refuses "no wait" "another command has been changing this device for 0 s" \
	baleen add --wait 0 veth-b:listed 192.0.2.3
refuses "a second" "another command has been changing this device for 1 s" \
	baleen resize --wait 1 --capacity 100 veth-b:listed
baleen add veth-b:listed 192.0.2.3 >"$TMP/waited" 2>&1 9<&- &
exec 9<&-
wait
is "who waits comes through" "$(<"$TMP/waited")" "veth-b:listed: 1 added in place"
ip -n "$B" link set dev veth-b xdp off 2>"$TMP/err"
baleen detach veth-b >"$TMP/out"
refuses "nothing attached" "baleen is not attached to veth-b" \
	baleen add veth-b:listed 192.0.2.1
