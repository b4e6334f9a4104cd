#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# merge, intersect, subtract, resize and compare of live rules, with a state and
# without: what is then dropped, what is refused.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

VERDICT=$ROOT/build/tools/verdict
RULE=veth-b:listed

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# dropped: a letter for each address
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }

# fresh IMAGE [OPTION...]: a rule that drops it
fresh()
{
	[ -z "$(xdp_id "$B" veth-b)" ] || baleen detach veth-b >"$TMP/out"
	baleen attach veth-b "${@:2}" --drop "listed=$1" >"$TMP/out" 2>"$TMP/err" ||
		bail "cannot attach: $(<"$TMP/err")"
}

cd "$TMP" || bail "no directory"
printf '192.0.2.%s\n' 1 2 3 4 >a.txt
printf '192.0.2.%s\n' 3 4 5 6 >b.txt
printf '192.0.2.%s\n' 4 5 >c.txt

# --- exact, with a state and without ---

for state in "" --no-state; do
	# shellcheck disable=SC2086
	fresh a.txt $state
	prints "intersect ${state:-with a state}" "$RULE: intersected, 2 entries" \
		baleen intersect $RULE b.txt
	is "drops what both have" "$(dropped 192.0.2.{1..6})" PPDDPP
	prints "merge" "$RULE: merged, 4 entries" baleen merge $RULE b.txt
	is "adds" "$(dropped 192.0.2.{1..6})" PPDDDD
	prints "subtract" "$RULE: subtracted, 2 entries" baleen subtract $RULE c.txt
	is "takes out" "$(dropped 192.0.2.{1..6})" PPDPPD
	prints "subtract two" "$RULE: subtracted, 1 entry" baleen subtract $RULE c.txt <(echo 192.0.2.3)
	is "takes out more" "$(dropped 192.0.2.{1..6})" PPPPPD
	check "compare" baleen compare -j $RULE b.txt
	is "knows its keys" "$(json out .a.keys) $(json out .both) $(json out .either) $(json out .exact)" \
		"1 1 4 true"
	check "resize" baleen resize --capacity 5000 $RULE
	is "keeps them" "$(dropped 192.0.2.{1..6})" PPPPPD
	check "to a file" baleen intersect -o made.bln $RULE b.txt
	is "leaves the rule" "$(dropped 192.0.2.{1..6})" PPPPPD
done
fresh a.txt
check "a single entry" baleen add $RULE 192.0.2.9
check "stays beside what is left of the lists" baleen intersect $RULE b.txt
is "is dropped still" "$(dropped 192.0.2.{1,3,9})" PDD

# --- Bloom filters ---

baleen build --kind bloom --fpp 1e-4 --capacity 2000 --seed 1 -o a.bln a.txt
baleen build --like a.bln -o b.bln b.txt
for state in "" --no-state; do
	# shellcheck disable=SC2086
	fresh a.bln $state --accept-fpp 0.01
	check "intersect of bits" baleen intersect $RULE b.bln
	is "tells what they are" "$(grep -c 'a bit of both may come from two different keys' err)" 1
	is "drops what both have" "$(dropped 192.0.2.{3,4})" DD
	check_status "subtract" 1 baleen subtract $RULE b.bln
	is "is refused" "$(grep -c '^baleen: b.bln: a Bloom filter cannot forget' err)" 1
	is "and changes nothing" "$(dropped 192.0.2.{3,4})" DD
	check "merge" baleen merge $RULE b.bln
	is "adds" "$(dropped 192.0.2.{3..6})" DDDD
done
seq -f '198.18.0.%g' 1 250 >many.txt
baleen build --kind bloom --fpp 1e-4 --capacity 2000 --seed 1 -o many.bln many.txt
fresh many.bln --no-state --accept-fpp 0.01
check_status "a fold that errs too much" 1 baleen resize --capacity 250 $RULE
is "is refused" "$(grep -c 'would raise the false positive rate' err)" 1

# --- what would cut the host off ---

baleen detach veth-b >out
printf '10.66.0.0/24\nfd66::/64\n' >own.txt
printf '10.66.0.2\n' >one.txt
echo 0.0.0.0/0 >any.txt
for state in "" --no-state; do
	# shellcheck disable=SC2086
	baleen attach veth-b $state --allow listed=own.txt --drop all=any.txt --force >out 2>err ||
		bail "cannot attach: $(<err)"
	for command in intersect subtract; do
		list=one.txt
		[ $command = subtract ] || list=b.txt
		check_status "$command an allow rule ${state:-with a state}" 1 \
			baleen $command $RULE $list
		is "is refused" "$(tail -n 1 err)" "baleen: veth-b: nothing changed, since this host \
would cut itself off (--force does it)"
		is "and changes nothing" "$(dropped 10.66.0.2)" P
	done
	check "forced" baleen subtract --force $RULE one.txt
	is "it is cut off" "$(dropped 10.66.0.{2,3})" DP
	baleen detach veth-b >out
done
