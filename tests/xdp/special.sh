#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Special-purpose ranges in the lists of rules that are typed, and of those that are
# configured: the same words, the same verdicts, the same refusals; only what is usual
# differs, and who types a whole network is told.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
mkdir -p "$BALEEN_CONF_DIR" "$TMP/lists"
CONF=$BALEEN_CONF_DIR/veth-b.conf
L=$TMP/lists
VERDICT=$ROOT/build/tools/verdict
ASKED=(10.1.2.3 192.168.3.4 2001:db8::1 9.9.9.9 10.66.0.2)

baleen() { in_ns "$B" "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" veth-b "${ASKED[@]}"; }
stored() { baleen status -j veth-b | jq -c '.[0].rules[] | [.name, .special]' | paste -s; }

# of the pair of namespaces is 10.66.0.0/16 alone; 10/8 is around it
printf '%s\n' 10.1.2.0/24 192.168.3.4 2001:db8::/32 >"$L/private"
{ cat "$L/private"; echo 9.9.9.9; } >"$L/mixed"
printf '%s\n' 10.0.0.0/8 9.9.9.9 >"$L/around"
printf '%s\n' 192.168.0.0/16 9.9.9.9 >"$L/network"
echo 9.9.9.9 >"$L/host"

# by_hand WORD..., by_conf WORD...: the rule `bad` of the list "mixed", with these words
by_hand()
{
	baleen attach veth-b --drop "bad=$L/mixed" "$@"
}

by_conf()
{
	printf '%s\n' "rule bad drop" "  feed $L/mixed" "${*:+  $*}" >"$CONF"
	baleen apply --quiet-change veth-b
}

off()
{
	check "$1: off" baleen detach veth-b
	rm -f "$CONF"
	rm -rf "$BALEEN_STATE_DIR"
}

# Of a configured rule what is protected is taken out, too; a typed one is refused.
NEVER=", without 1 never dropped (10.66.0.2, address)"

# Whoever made the rule: what is removed is removed, here and by swap.
try_removed()
{
	is "$1: is what status says" "$(stored)" '["bad","remove"]'
	is "$1: none of them is dropped" "$(verdicts)" PPPDP
	is "$1: why says so" "$(baleen why -j veth-b 10.1.2.3 | jq -c '.[0].rules[0].withheld | [.role, .key]')" \
		'["special","10.0.0.0/8"]'
	prints "$1: swap says without how many" "veth-b:bad: swapped, 4 entries, 258 IPv4 addresses, without 3 special-purpose" \
		baleen swap veth-b:bad "$L/mixed"
	prints "$1: this host is in what is taken out" \
		"veth-b:bad: swapped, 2 entries, 16,777,217 addresses, without 1 special-purpose${3-}" baleen swap veth-b:bad "$L/around"
	is "$1: nobody is dropped for that" "$(verdicts)" PPPDP
	refuses "$1: nothing left is refused" "$L/private: not a single key outside of \
special-purpose ranges, which rule 'bad' takes out: refused (--allow-empty takes it, 'special keep' \
$2 keeps them)" baleen swap veth-b:bad "$L/private"
	is "$1: the old list is in force" "$(verdicts)" PPPDP
	prints "$1: unless it is meant" "veth-b:bad: swapped, 3 entries, 257 IPv4 addresses, without 3 special-purpose" \
		baleen swap --allow-empty veth-b:bad "$L/private"
	check "$1: a single entry is meant as it is" baleen add veth-b:bad 10.1.2.3
	is "$1: and dropped" "$(verdicts)" DPPPP
	prints "$1: nothing of lists stays in force behind it" "veth-b:bad: 1 deleted" \
		baleen del veth-b:bad 10.1.2.3
	is "$1: passes" "$(verdicts)" PPPPP
}

# The same of what is kept.
try_kept()
{
	is "$1: is what status says" "$(stored)" '["bad","keep"]'
	is "$1: all are dropped" "$(verdicts)" DDDDP
	prints "$1: swap" "veth-b:bad: swapped, 1 entry" baleen swap veth-b:bad "$L/host"
	prints "$1: swap of what is special" "veth-b:bad: swapped, 4 entries, 258 IPv4 addresses" \
		baleen swap veth-b:bad "$L/mixed"
	is "$1: JSON has both counts" \
		"$(baleen swap -j veth-b:bad "$L/mixed" | jq -c '[.special, .special_kept]')" "[0,3]"
	is "$1: all are dropped again" "$(verdicts)" DDDDP
	expect "$1: a whole network" 0 "veth-b:bad: swapped, 2 entries, 65,537 addresses" "$2" \
		baleen swap veth-b:bad "$L/network"
	check_status "$1: this host is in what is kept" "$3" baleen swap veth-b:bad "$L/around"
	is "$1: it is not dropped" "$(in_ns "$B" "$VERDICT" veth-b 10.66.0.2)" P
	prints "$1: nothing else is fine, too" "veth-b:bad: swapped, 3 entries, 257 IPv4 addresses" \
		baleen swap veth-b:bad "$L/private"
}

TOLD="baleen: warning: rule 'bad': all of 192.168.0.0/16 (private use) is in it: 'special remove' behind \
the rule takes such ranges out, 'special keep' says that they are meant"

prints "typed, no word" "veth-b: attached, native" by_hand
try_kept "typed, no word" "$TOLD" 1
off "typed, no word"
prints "typed, keep" "veth-b: attached, native" by_hand special keep
try_kept "typed, keep" "$TOLD" 1
off "typed, keep"
expect "a whole network" 0 "veth-b: attached, native" "$TOLD" \
	baleen attach veth-b --drop "bad=$L/network"
expect "one more" 0 "veth-b: added, rules now: bad two" "${TOLD/bad/two}" \
	baleen rule add veth-b --drop "two=$L/network"
prints "one that is meant" "veth-b: added, rules now: bad two three" \
	baleen rule add veth-b --drop "three=$L/network" special keep
off "a whole network"
# --- nobody's addresses: hosts that have none yet send from them, and ask all by the last ---

NOBODY="which no list drops"
for address in 0.0.0.0 255.255.255.255 ::; do
	printf '%s\n' 8.8.8.8 2a00::/64 "$address" >"$L/nobody"
	for words in "" "special keep"; do
		# shellcheck disable=SC2086 # two words
		expect "$address, typed, $words" 0 "veth-b: attached, native" \
			"baleen: rule 'bad': without 1 of 0.0.0.0, :: and 255.255.255.255, $NOBODY" \
			baleen attach veth-b --drop "bad=$L/nobody" $words
		check_status "$address: is not in it" 1 baleen match veth-b:bad "$address"
		check "$address: what is beside it, is" baleen match veth-b:bad 8.8.8.8
		check "$address: derived anew" baleen add --atomic veth-b:bad 8.8.4.4
		check_status "$address: nor then" 1 baleen match veth-b:bad "$address"
		off "$address"
	done
done
printf '%s\n' 8.8.8.8 0.0.0.0/16 255.255.255.0/24 ::/8 >"$L/nobody"
expect "in prefixes" 0 "veth-b: attached, native" \
	"baleen: rule 'bad': without 3 of 0.0.0.0, :: and 255.255.255.255, $NOBODY" \
	baleen attach veth-b --drop "bad=$L/nobody"
prints "the rest of them stays" $'0.0.0.1\n255.255.255.254\n::2' baleen match veth-b:bad \
	0.0.0.0 0.0.0.1 255.255.255.254 255.255.255.255 :: ::2
expect "a single one" 1 "veth-b:bad: 0 added, others refused" "baleen: veth-b:bad: '0.0.0.0' not added: 0.0.0.0 is never dropped (unspecified address)" \
	baleen add veth-b:bad 0.0.0.0
expect "with --force, too" 1 "veth-b:bad: 0 added, others refused" "baleen: veth-b:bad: '255.255.255.255' not added: 255.255.255.255 is never dropped (limited broadcast)" \
	baleen add --force veth-b:bad 255.255.255.255
is "why says so" "$(baleen why -j veth-b 0.0.0.0 | jq -c '.[0].rules[0].withheld | [.role, .what]')" \
	'["nobody","unspecified address"]'
prints "swap says without how many" \
	"veth-b:bad: swapped, 4 entries, 65,793 IPv4 addresses, without 3 never dropped (0.0.0.0, unspecified address)" \
	baleen swap veth-b:bad "$L/nobody"
check "a prefix around one" baleen add --force veth-b:bad 0.0.0.0/7
check_status "is taken without it" 1 baleen match veth-b:bad 0.0.0.0
check "and with what is beside it" baleen match veth-b:bad 1.2.3.4
off "in prefixes"
echo 0.0.0.0 >"$L/nobody"
refuses "alone" "$L/nobody: not a single key that is somebody's: refused (--allow-empty takes it)" \
	baleen attach veth-b --drop "bad=$L/nobody"
prints "an allow rule has what is listed" "veth-b: attached, native" baleen attach veth-b --allow "good=$L/nobody"
check "as it is" baleen match veth-b:good 0.0.0.0
off "an allow rule"
printf '%s\n' 8.8.8.8 0.0.0.0 >"$L/nobody"
expect "without a state" 0 "veth-b: attached, native" \
	"baleen: rule 'bad': without 1 of 0.0.0.0, :: and 255.255.255.255, $NOBODY" \
	baleen attach veth-b --no-state --drop "bad=$L/nobody"
check_status "nor there" 1 baleen match veth-b:bad 0.0.0.0
# way NAME COMMAND...: 0.0.0.0 by another way in
way()
{
	check "without a state, $1" "${@:2}"
	check_status "without a state, $1: it is not in it" 1 baleen match veth-b:bad 0.0.0.0
	check "without a state, $1: all else is" baleen match veth-b:bad 8.8.8.8
}
check "an image of them" baleen build -o "$L/image" "$L/nobody"
way "swap of a list" baleen swap veth-b:bad "$L/nobody"
way "swap of an image" baleen swap veth-b:bad "$L/image"
way "merge of a list" baleen merge veth-b:bad "$L/nobody"
way "merge of an image" baleen merge veth-b:bad "$L/image"
way "add" baleen add --exist veth-b:bad 8.8.8.8 0.0.0.0
way "add of a prefix" baleen add --force veth-b:bad 0.0.0.0/8
way "resize" baleen resize --capacity 100 veth-b:bad
refuses "without a state, one alone" "veth-b:bad: no list drops 0.0.0.0, :: and 255.255.255.255" \
	baleen add veth-b:bad 0.0.0.0
off "without a state"
expect "is cut, too" 0 "veth-b: attached, native" \
	"baleen: rule 'bad': without 1 of 0.0.0.0, :: and 255.255.255.255, $NOBODY" \
	baleen attach veth-b --drop "bad=$L/image"
check_status "has it no more" 1 baleen match veth-b:bad 0.0.0.0
check "and all else" baleen match veth-b:bad 8.8.8.8
off "an image"
check "every address" baleen attach veth-b --force --drop any
check "is every one" baleen match veth-b:any 0.0.0.0
check "saved" baleen save veth-b -o "$TMP/every"
off "every address"
check "restored" baleen restore --force veth-b "$TMP/every"
check "it is every one" baleen match veth-b:any 0.0.0.0
off "every address, restored"
printf '%s\n' "rule bad drop" "  feed $L/nobody" "  special keep" >"$CONF"
expect "a feed that keeps special ones" 3 "veth-b: + attach: no filter is in force
veth-b: + rule bad: drop
veth-b: + rule bad: feed $L/nobody: +1, without 1 special-purpose (private, of examples and so on: 'special keep' in the rule keeps all but 0.0.0.0, :: and 255.255.255.255)
veth-b: changed, native" "" baleen apply veth-b
check_status "loses these all the same" 1 baleen match veth-b:bad 0.0.0.0
off "a feed"

expect "typed, remove" 0 "veth-b: attached, native" \
	"baleen: rule 'bad': without 3 special-purpose" \
	by_hand special remove
try_removed "typed, remove" "behind a rule"
expect "a rule added" 0 "veth-b: added, rules now: bad more" \
	"baleen: rule 'more': without 3 special-purpose" \
	baleen rule add veth-b --drop "more=$L/mixed" special remove
is "is remembered" "$(stored)" '["bad","remove"]	["more","remove"]'
check "list and state agree when all is derived anew" baleen add --atomic veth-b:more 8.8.8.8
is "as before" "$(verdicts)" PPPDP
is "status says what is not usual" "$(baleen status veth-b | grep -c ', special remove$')" 2
off "typed, remove"

# What was saved is what comes back, but what was added one by one is never lost.
try_saved()
{
	check "saved: remove" by_hand special remove
	check "saved: save" baleen save veth-b -o "$TMP/saved"
	is "saved: and is not kept" "$(grep -c 'special keep' "$TMP/saved/device.conf")" 0
	off "saved: remove"
	prints "saved: restore" "veth-b: restored 1 rule, attached, native" \
		baleen restore veth-b "$TMP/saved"
	is "saved: is what status says" "$(stored)" '["bad","remove"]'
	check "saved: a single one" baleen add veth-b:bad 10.1.2.3
	check "saved: save with that" baleen save veth-b -o "$TMP/single"
	off "saved: a single one"
	prints "saved: restore a single one" "veth-b: restored 1 rule, attached, native, 1 single entry" \
		baleen restore veth-b "$TMP/single"
	check "saved: derived anew" baleen add --atomic veth-b:bad 8.8.8.8
	is "saved: it is dropped still" "$(verdicts)" DPPDP
	is "saved: as an entry, which nothing takes out of lists" "$(stored)" '["bad","remove"]'
	prints "saved: over it" "veth-b: restored 1 rule, updated, native" \
		baleen restore veth-b "$TMP/saved"
	is "saved: removed again" "$(stored)" '["bad","remove"]'
	off "saved: over it"
	check "saved: keep" by_hand special keep
	check "saved: save what is kept" baleen save veth-b -o "$TMP/kept"
	is "saved: it says so" "$(grep -c 'special keep' "$TMP/kept/device.conf")" 1
	off "saved: keep"
	check "saved: restore what is kept" baleen restore veth-b "$TMP/kept"
	check "saved: what is kept, derived anew" baleen add --atomic veth-b:bad 8.8.8.8
	is "saved: all are dropped" "$(stored)$(verdicts)" '["bad","keep"]DDDDP'
	off "saved: keep again"
}

try_saved
check "configured, no word" by_conf
try_removed "configured, no word" "in the configuration" "$NEVER"
off "configured, no word"
check "configured, remove" by_conf special remove
try_removed "configured, remove" "in the configuration" "$NEVER"
off "configured, remove"
check "configured, keep" by_conf special keep
try_kept "configured, keep" "" 0
is "status says what is not usual" "$(baleen status veth-b | grep -c ', special keep$')" 1
off "configured, keep"

USAGE="(see 'baleen help attach')"
attach() { baleen attach veth-b "$@"; }
expect "a word without its value" 2 "" "baleen: attach: special: its value is missing $USAGE" \
	attach --drop "$L/mixed" special
expect "another word" 2 "" "baleen: attach: rule 'mixed': special 'drop': not keep or remove $USAGE" \
	attach --drop "$L/mixed" special drop
expect "of an allow rule" 2 "" "baleen: attach: rule 'mixed': special is for a rule that drops $USAGE" \
	attach --allow "$L/mixed" special remove
expect "of every address" 2 "" "baleen: attach: rule 'any': any and special exclude each other $USAGE" \
	attach --drop any special remove
refuses "without a state" "veth-b: rule 'mixed': special remove is for a device that remembers \
entries, not for --no-state or --backend kmod" attach --drop "$L/mixed" special remove --no-state
refuses "nothing is left" "$L/private: not a single key outside of special-purpose ranges, which the \
rule takes out: refused (--allow-empty takes it, 'special keep' keeps them)" \
	attach --drop "$L/private" special remove
check "an image" baleen build -o "$L/image" "$L/mixed"
refuses "of an image" "$L/image: is an image: 'special remove' is for lists" \
	attach --drop "$L/image" special remove
is "nothing is attached" "$(xdp_id "$B" veth-b)" ""
