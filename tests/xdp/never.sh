#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What is never dropped stays so whoever asks and however the device was attached: the never-drop
# list, as it is now; an entry that covers what is protected, and one that is too wide.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
cd "$TMP" || exit 2
export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run BALEEN_CONF_DIR=$TMP/conf
mkdir -p conf
NEVER=conf/never.list
# What `add` says of an address.
WITHHELD="is never dropped (the never-drop list)"

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# has KEY...: D or P of each, as the live rule veth-b:bad has it
has()
{
	local key

	for key; do
		baleen match veth-b:bad "$key" >/dev/null && echo -n D || echo -n P
	done
}

# never KEY...: the list from now on
never()
{
	printf '%s\n' "$@" >$NEVER
}

by_hand()
{
	baleen detach --forget --entries veth-b >/dev/null 2>&1
	printf '%s\n' 8.8.8.0/24 9.9.9.9 2a00:1::/32 >list
	baleen attach veth-b --drop bad=list >/dev/null || bail "attach"
}

# configured [LINE...]
configured()
{
	baleen detach --forget --entries veth-b >/dev/null 2>&1
	printf '%s\n' 8.8.8.0/24 9.9.9.9 2a00:1::/32 >list
	printf '%s\n' "rule bad drop" "	bans" "	feed $TMP/list" "$@" >conf/veth-b.conf
	baleen apply veth-b >/dev/null || [ $? -eq 3 ] || bail "apply"
}

# --- typed lists and images ------------------------------------------------------

# tried NAME COMMAND...: refused for 9.9.9.9
tried()
{
	refuses "$1" "veth-b: rule 'bad' would drop 9.9.9.9, which is never dropped ($TMP/$NEVER): nothing changed" \
		"${@:2}"
}

try_typed()
{
	never 9.9.9.9 1.2.3.4
	echo 8.8.8.8 >other
	echo 9.9.9.9 >nine
	printf '%s\n' 8.8.8.0/24 9.9.9.9 >list
	baleen build -o image.bln list
	tried "attach a list" baleen attach veth-b --drop bad=list
	tried "an image" baleen attach veth-b --drop bad=image.bln
	tried "without a state" baleen attach veth-b --no-state --drop bad=list
	tried "whatever is said" baleen attach veth-b --force --drop bad=list
	check "not of a list that lets pass" baleen attach veth-b --allow bad=list
	check "detach" baleen detach veth-b
	check "nor on trial" baleen attach veth-b --dry-run --drop bad=list
	check "detach" baleen detach veth-b
	for words in "" --no-state; do
		# shellcheck disable=SC2086 # words
		check "attach another $words" baleen attach veth-b $words --drop bad=other
		tried "swap $words" baleen swap veth-b:bad list
		tried "an image $words" baleen swap veth-b:bad image.bln
		tried "merge $words" baleen merge veth-b:bad list
		refuses "a rule beside it $words" "veth-b: rule 'worse' would drop 9.9.9.9, which is \
never dropped ($TMP/$NEVER): nothing changed" baleen rule add veth-b --drop worse=list
		check_status "a key $words" 1 baleen add veth-b:bad 9.9.9.9
		check_status "a prefix around it $words" 1 baleen add veth-b:bad 9.9.9.0/24
		check_status "of a file $words" 1 baleen add veth-b:bad -f list
		is "it passes $words" "$(has 9.9.9.9 8.8.8.8)" PD
		[ -z "$words" ] || refuses "nothing is narrowed where no entries are" \
			"veth-b:bad: remembers no entries, only keys: --narrow is for rules with a state, not for \
images or 'attach --no-state'" baleen add --narrow veth-b:bad 9.9.9.0/24
		never 9.9.9.9 1.2.3.4 8.8.8.8
		check "what is there is no reason to refuse another key, built aside $words" \
			baleen add --atomic veth-b:bad 7.7.7.7
		tried "but what comes by a list is $words" baleen merge veth-b:bad nine
		never 9.9.9.9 1.2.3.4
		check "detach" baleen detach veth-b
	done
	rm $NEVER
}

# --- an edited list -----------------------------------------------------------------

try_edited()
{
	local how

	for how in by_hand configured; do
		$how
		is "$how: dropped" "$(has 9.9.9.9 8.8.8.8)" DD
		never 9.9.9.9
		check "$how: the next command" baleen add veth-b:bad 1.1.1.1
		is "$how: follows" "$(has 9.9.9.9 8.8.8.8 1.1.1.1)" PDD
		never 9.9.9.9 1.1.1.1
		check "$how: so does refresh" baleen refresh veth-b
		is "$how: of an entry" "$(has 9.9.9.9 8.8.8.8 1.1.1.1)" PDP
		is "$how: which list says" "$(baleen list -j veth-b:bad | jq -r '.[].exempt')" "1.1.1.1 $WITHHELD"
		echo nonsense >$NEVER
		check "$how: a list that cannot be read" baleen add veth-b:bad 1.1.1.2
		is "$how: is told" "$(<"$TMP/err")" "baleen: warning: $TMP/$NEVER:1: 'nonsense': \
a host name, not an address: the never-drop list is what it was before"
		is "$how: and is what it was" "$(has 9.9.9.9 8.8.8.8 1.1.1.1 1.1.1.2)" PDPD
		rm $NEVER
		check "$how: without one" baleen del veth-b:bad 1.1.1.2
		is "$how: all are dropped" "$(has 9.9.9.9 8.8.8.8 1.1.1.1 1.1.1.2)" DDDP
	done
}

# --- entries that cover what is protected ----------------------------------------------

# fed LINE: the reply
fed()
{
	baleen feed veth-b:bad - --origin fed "${@:2}" <<<"$1" 2>&1
}

try_narrowed()
{
	local how

	for how in by_hand configured; do
		never 5.5.5.5
		$how
		expect "$how: typed" 1 "veth-b:bad: 0 added, others refused" \
			"baleen: veth-b:bad: '5.5.5.0/24' not added: it covers 5.5.5.5, which $WITHHELD
baleen: 'baleen add --narrow veth-b:bad 5.5.5.0/24' leaves that out" baleen add veth-b:bad 5.5.5.0/24
		check "$how: as it says" baleen add --narrow veth-b:bad 5.5.5.0/24
		is "$how: without it" "$(has 5.5.5.{4,5,6})" DPD
		check "$how: taken back" baleen del veth-b:bad 5.5.5.0/24
		is "$how: all of it" "$(has 5.5.5.{4,5,6})" PPP
		is "$how: fed" "$(fed "add 5.5.5.0/24")" "ok narrowed 5.5.5.5 $WITHHELD"
		is "$how: is so" "$(has 5.5.5.{4,5,6})" DPD
		is "$how: what is protected itself" "$(fed "add 5.5.5.5")" "refused 5.5.5.5 $WITHHELD"
		is "$how: the net of this host" "$(fed "add 10.66.0.0/24" | cut -c 1-11)" "ok narrowed"
		is "$how: without the host" "$(has 10.66.0.{2,200})" PD
		is "$how: a host in it comes and goes" "$(fed "add 10.66.0.200")$(fed "del 10.66.0.200")" okok
		is "$how: which changes nothing" "$(has 10.66.0.{2,200})" PD
		is "$how: an address of its /64" "$(fed "add fd66::7")" "ok narrowed fd66::2 is never dropped (address)"
		is "$how: without the host" "$(has fd66::7 fd66::2 fd66::8)" DPD
		is "$how: list says it" "$(baleen list -j veth-b:bad fd66::7 | jq -r '.[].exempt')" \
			"fd66::2 is never dropped (address)"
		is "$how: and why" "$(baleen why -j veth-b fd66::2 | jq -r '.[0].verdict')" pass
		is "$how: taken back" "$(fed "del fd66::7")$(has fd66::7 fd66::2)" okPP
		rm $NEVER
	done
	by_hand
	check_status "this host by hand" 1 baleen add veth-b:bad 10.66.0.0/24
	check "forced" baleen add --force veth-b:bad 10.66.0.0/24
	is "with the host" "$(has 10.66.0.{2,200})" DD
	is "fed, the same once more" "$(fed "add 10.66.0.0/24" | cut -c 1-11)" "ok narrowed"
	is "what was forced stays so" "$(has 10.66.0.{2,200})" DD
	check "it goes" baleen del veth-b:bad 10.66.0.0/24
	is "what was fed stays" "$(has 10.66.0.{2,200})" PD
}

# --- entries that are too wide ------------------------------------------------------------

try_wide()
{
	local how wide="wider than a /8 of IPv4 or a /32 of IPv6"

	for how in by_hand configured; do
		$how
		for key in 64.0.0.0/2 8.0.0.0/7 2000::/3 2a00::/31 20.0.0.0-21.0.0.0; do
			check_status "$how: typed: $key" 1 baleen add veth-b:bad "$key"
			is "$how: says so" "$(head -n 1 "$TMP/err")" \
				"baleen: veth-b:bad: '$key' not added: $wide"
			is "$how: fed: $key" "$(fed "add $key")" "refused $wide"
		done
		is "$how: not in it" "$(has 64.1.2.3 2000::1)" PP
		check "$how: forced" baleen add --force veth-b:bad 64.0.0.0/2
		is "$how: is" "$(has 64.1.2.3)" D
		check "$how: no more" baleen del veth-b:bad 64.0.0.0/2
		is "$how: what is as wide as it may be" "$(fed "add 4.0.0.0/8")$(fed "add 2a00::/32")" okok
	done
	check_status "a ban" 1 baleen ban 128.0.0.0/1
	is "says what takes it" "$(tail -n 1 "$TMP/err")" "baleen: 'baleen ban --force 128.0.0.0/1' takes it"
}

try_typed
try_edited
try_narrowed
try_wide
