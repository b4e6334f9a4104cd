#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A device becomes what its configuration says, in one step, or stays as it was.
#
# Every refusal is followed by a look at device and state: nothing has changed.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
# A line is quoted only of a list that everybody may read.
chmod 755 "$TMP"

export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run BALEEN_CONF_DIR=$TMP/conf
mkdir "$TMP/conf" "$TMP/lists"
CONF=$TMP/conf/veth-b.conf
L=$TMP/lists
VERDICT=$ROOT/build/tools/verdict
ASKED=(192.88.99.1 8.8.8.8 8.8.8.9 9.9.9.9 9.9.9.1 1.2.3.4 2a00::1 2a00::2)

baleen() { in_ns "$B" "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" veth-b "${ASKED[@]}"; }
program() { xdp_id "$B" veth-b; }

# conf LINE...: the configuration of veth-b
conf() { printf '%s\n' "$@" >"$CONF"; }

# stored: names and bytes of all states, but for what readers of a database leave
stored()
{
	[ -d "$TMP/state" ] || return
	(cd "$TMP/state" && find . -type f -size +0 ! -name '*-shm' -exec md5sum {} + | sort)
}

# what_is: all that a refusal must leave alone
what_is() { echo "$(program) $(stored)"; }

# leaves NAME MESSAGE COMMAND...: refused, and all is as before
leaves()
{
	local before
	before=$(what_is)
	refuses "$@"
	is "$1: nothing changed" "$(what_is)" "$before"
}

# changes NAME LINES COMMAND...: exit 3, and prints these lines, each with the device
changes()
{
	local out
	out=$(sed 's/^/veth-b: /' <<<"$2")
	expect "$1" 3 "$out" "" "${@:3}"
}

# same NAME: a second run finds nothing to do, and leaves no trace
same()
{
	local before
	before=$(what_is)
	prints "$1: a second run" "veth-b: unchanged, native" baleen apply
	is "$1: leaves no trace" "$(what_is)" "$before"
}

# --- refused ----------------------------------------------------------------

try_refused()
{
	refuses "no configuration" "$CONF: No such file or directory" baleen apply veth-b
	prints "no configuration at all" "" baleen apply
	refuses "no device" "veth-x: no such device" baleen apply veth-x
	refuses "a file for a device" "veth-b.conf: no such device: 'baleen apply DEV' finds its configuration, \
and -c FILE names one" baleen apply veth-b.conf
	conf "rule bad drop" "fede $L/bad"
	leaves "an unknown word" "$CONF:2: 'fede': no statement begins so (did you mean 'feed'?)" baleen apply
	conf "rule bad drop" "feed $L/none"
	leaves "a feed that is not there" "$CONF:2: $L/none: No such file or directory" \
		baleen apply
	echo '10.0.0.300' >"$L/wrong"
	conf "rule bad drop" "feed $L/wrong"
	leaves "a feed with a bad line" "$CONF:2: $L/wrong:1: '10.0.0.300': octet above 255; \
1 bad line of 1" baleen apply
	conf "never $L/none" "rule bad drop"
	leaves "a never-drop list that is not there" "$L/none: No such file or directory" \
		baleen apply
	conf "default drop" "rule good allow" "feed $L/good"
	echo 9.9.9.9 >"$L/good"
	ip -n "$B" route add default via 10.66.0.1
	leaves "what cuts this host off" "veth-b: 10.66.0.1, gateway of veth-b, would be dropped by \
the default
baleen: veth-b: nothing changed, since this host would cut itself off (--force does it)" \
		baleen apply
	is "nothing is attached" "$(xdp_mode "$B" veth-b)" off
	is "and there is no state" "$(stored)" ""
	check_status "-c of no device" 2 baleen apply -c "$L/good"
	check_status "--check --confirm" 2 baleen apply --check --confirm 60s
	check_status "--confirm for ever" 2 baleen apply --confirm 2d
}

# --- from nothing -------------------------------------------------------------

HINT="(private, of examples and so on: 'special keep' in the rule keeps all but 0.0.0.0, :: and 255.255.255.255)"

try_first()
{
	printf '%s\n' 8.8.8.0/24 9.9.9.0/24 2a00::1 10.1.2.3 >"$L/bad"
	conf "sample 10/s" "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad"
	changes "--check" "+ attach: no filter is in force
+ rule good: allow
+ rule bad: drop
+ rule good: feed $L/good: +1
+ rule bad: feed $L/bad: +3, without 1 special-purpose $HINT
would change" baleen apply --check
	changes "--diff" "+default pass
+sample 10/s
+rule good allow
+	feed $L/good
+rule bad drop
+	feed $L/bad
+ attach: no filter is in force
+ rule good: feed $L/good: +1
+ rule bad: feed $L/bad: +3, without 1 special-purpose $HINT
would change" baleen apply --diff
	is "neither attaches" "$(xdp_mode "$B" veth-b)$(stored)" off
	changes "apply" "+ attach: no filter is in force
+ rule good: allow
+ rule bad: drop
+ rule good: feed $L/good: +1
+ rule bad: feed $L/bad: +3, without 1 special-purpose $HINT
changed, native" baleen apply
	is "enforces it" "$(verdicts)" PDDPDPDP
	same "apply"
	sed -i "s,feed /,feed file:///," "$CONF"
	same "a file's URL is its path"
	sed -i "s,file://,," "$CONF"
	expect "--check finds nothing" 0 "veth-b: unchanged" "" baleen apply --check
	expect "--diff neither" 0 "veth-b: unchanged" "" baleen apply --diff
	is "-j" "$(baleen apply -j | jq -c '.[0] | [.device, .changed, .changes, .mode]')" \
		'["veth-b",false,[],"native"]'
}

# --- changes -------------------------------------------------------------------

packets() { baleen status -j veth-b | jq ".[0].rules[] | select(.name == \"$1\") | .packets"; }

try_rules()
{
	local n

	n=$(packets bad)
	echo 1.2.3.0/24 >"$L/more"
	conf "rule bad drop proto tcp" "  feed $L/bad" "rule more drop" "  feed $L/more" \
		"rule good allow" "  feed $L/good"
	changes "rules move, come and change" "~ sample nothing
~ rule bad: proto tcp
+ rule more: drop
~ rule good: from 1 to 3
+ rule more: feed $L/more: +1
would change" baleen apply --check
	check_status "apply" 3 baleen apply
	is "what is no TCP passes" "$(verdicts)" PPPPPDPP
	is "the counters go on" "$(packets bad)" "$n"
	conf "rule bad drop proto tcp dport ssh,8000-8010,http-alt" "  feed $L/bad" \
		"rule more drop" "  feed $L/more" "rule good allow" "  feed $L/good"
	changes "services are printed as numbers" "~ rule bad: proto tcp dport 22,8000-8010,8080
would change" baleen apply --check
	check_status "apply" 3 baleen apply
	sed -i "s/ssh/22/; s/http-alt/8080/" "$CONF"
	same "rules, and a number is what its service is"
	is "status prints numbers" "$(baleen status veth-b | grep -o 'dport [^ ]*')" \
		"dport 22,8000-8010,8080"
	conf "rule bad drop" "  feed $L/bad" "rule good allow" "  feed $L/good"
	changes "a rule goes" "- rule more: drop
~ rule bad: no qualifiers
changed, native" baleen apply
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad"
	expect "--quiet-change" 0 "veth-b: ~ rule bad: from 1 to 2
veth-b: changed, native" "" baleen apply --quiet-change
	conf "rule bad drop" "  feed $L/bad" "fede"
	check_status "a failure it does not hide" 1 baleen apply --quiet-change
	conf "rule bad drop" "  feed $L/bad" "rule good allow" "  feed $L/good"
	check_status "back" 3 baleen apply
	is "bad is before good now" "$(verdicts)" PDDDDPDP
	conf "rule bad allow" "  feed $L/bad" "rule good drop" "  feed $L/good"
	changes "each does the other's" "~ rule bad: allow
~ rule good: drop
changed, native" baleen apply
	is "the first allows" "$(verdicts)" PPPPPPPP
	conf "rule all drop" "  any" "default pass"
	leaves "default behind a rule" "$CONF:3: default is of the device: it stands before the \
first rule" baleen apply
	conf "rule all drop proto udp" "  any"
	check_status "any, and nothing else" 3 baleen apply
	is "drops all" "$(verdicts)" PPPPPPPP
	is "status calls it so, not two entries" "$(baleen status veth-b | grep -c ' any address, key src')" 1
	is "so does info" "$(baleen info veth-b:all | head -n 1 | grep -c ': any address, key src')" 1
	same "any"
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad"
	check_status "back" 3 baleen apply
	is "as before" "$(verdicts)" PDDPDPDP
}

try_policy()
{
	conf "default drop" "dry-run" "sample 6/m" "rule good allow" "  feed $L/good" \
		"rule bad drop" "  feed $L/bad"
	changes "policy" "~ default drop
~ dry-run
~ sample 6/m
changed, native, DRY RUN: drops nothing" baleen apply
	is "is that of the device" "$(baleen policy veth-b)" \
		"veth-b: default drop, DRY RUN, sampling 6/m"
	prints "a second run" "veth-b: unchanged, native, DRY RUN: drops nothing" baleen apply
	conf "mode generic" "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad"
	leaves "another mode" "veth-b: is attached native, and mode generic is asked for: 'baleen \
detach veth-b' first" baleen apply
	conf "no-link" "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad"
	leaves "another place" "veth-b: is attached by link, and netlink is asked for: 'baleen \
detach veth-b' first" baleen apply
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad"
	check_status "back" 3 baleen apply
}

# Bans wait for a rule of their name: what takes it away, or brings it, says how many.
try_singles()
{
	conf "rule jail drop" bans "rule good allow" "  feed $L/good"
	check_status "apply" 3 baleen apply
	check "bans" baleen add veth-b:jail 192.0.2.{1,2} 2001:db8::/64
	conf "rule prison drop" bans "rule good allow" "  feed $L/good"
	changes "another name parks them" "- rule jail: drop, 3 single entries parked
+ rule prison: drop
would change" baleen apply --check
	changes "as lines, too" "-rule jail drop
+rule prison drop
- rule jail: drop, 3 single entries parked
would change" baleen apply --diff
	is "as JSON" "$(baleen apply --check -j | jq -c '.[0].changes[0] | [.change, .rule, .single_entries]')" \
		'["rule-removed","jail",3]'
	conf "rule jail drop" "  key src,dport" "rule good allow" "  feed $L/good"
	changes "a key of other fields, too" "~ rule jail: key src,dport, 3 single entries parked
~ rule jail: no bans
would change" baleen apply --check
	conf "rule jail drop" "  key dst" "rule good allow" "  feed $L/good"
	changes "a key of addresses does not" "~ rule jail: key dst
~ rule jail: no bans
would change" baleen apply --check
	is "all are there" "$(baleen list -j veth-b:jail | jq length)" 3
	expect "rule del says it" 0 "veth-b: deleted, rules now: good" \
		"baleen: veth-b: 3 single entries of rule jail are parked until there is a rule of this name" baleen rule del veth-b:jail
	conf "rule jail drop" "rule good allow" "  feed $L/good"
	changes "the name brings them back" "+ rule jail: drop, 3 single entries in force again
what was edited by hand since the last apply is taken back
changed, native" baleen apply
	is "they are" "$(in_ns "$B" "$VERDICT" veth-b 192.0.2.1 2001:db8::7 192.0.2.9)" DDP
	check "all go" baleen flush --all veth-b:jail
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad"
	check_status "as before" 3 baleen apply
}

# Entries are told as they are listed, not as the few ranges that they make.
try_counts()
{
	for i in {0..255}; do echo "100.0.0.$i/32"; echo "100.1.$i.0/24"; done >"$L/many"
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad" "rule many drop" \
		"  feed $L/many"
	changes "512 lines" "+ rule many: drop
+ rule many: feed $L/many: +512
would change" baleen apply --check
	is "as JSON" "$(baleen apply --check -j | jq -c '.[0].changes[1].added')" 512
	check_status "apply them" 3 baleen apply
	# 256 lines of one interval, one that an exception cuts, three in one range.
	sed -i 1d "$L/many"
	printf '%s\n' 20.0.{0..255}.0/24 7.0.0.0/24 '!7.0.0.7' 10.0.0.0/9 10.128.0.0/9 10.1.2.3 >>"$L/many"
	changes "lines that come and go" "~ rule many: feed $L/many: +258 -1, without 3 special-purpose
would change" baleen apply --check
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad"
	check_status "without them" 3 baleen apply
}

# --- feeds -----------------------------------------------------------------------

try_feeds()
{
	echo 1.2.3.4 >>"$L/bad"
	changes "a file changed" "~ rule bad: feed $L/bad: +1, without 1 special-purpose
changed, native" baleen apply
	is "is in force" "$(verdicts)" PDDPDDDP
	echo 1.2.3.5 >"$L/bad"
	leaves "a file that shrank" "$CONF:4: $L/bad: refused: entries fell by 80.0 %, from 5 to 1: \
more than max-shrink 50% allows" baleen apply
	changes "unless it is forced" "~ rule bad: feed $L/bad: +1 -4
changed, native" baleen apply --force
	printf '%s\n' 8.8.8.0/24 9.9.9.0/24 2a00::1 1.2.3.4 >"$L/bad"
	check_status "it grows again" 3 baleen apply
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad" \
		"  feed $L/more every 1h"
	changes "--diff says of which rule a feed is" " rule bad drop
+	feed $L/more every 1h
+ rule bad: feed $L/more: +1
would change" baleen apply --diff
	changes "a feed more" "+ rule bad: feed $L/more: +1
changed, native" baleen apply
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/bad" \
		"  feed $L/more every 2h skip-bad"
	changes "--diff says it once for all that changes" " rule bad drop
-	feed $L/more every 1h
+	feed $L/more skip-bad every 2h
~ rule bad: feed $L/more: +0
would change" baleen apply --diff
	changes "read otherwise" "~ rule bad: feed $L/more: +0
~ rule bad: feed $L/more: read otherwise, or at other times
changed, native" baleen apply
	same "feeds"
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/more every 2h skip-bad"
	changes "a feed less" "- rule bad: feed $L/bad: -4
changed, native" baleen apply
	is "what only that had is free" "$(verdicts)" PPPPPDPP
	rm "$L/more"
	leaves "a file that is gone" "$CONF:4: $L/more: No such file or directory" baleen apply
	conf "rule good allow" "  feed $L/good" "rule bad drop"
	changes "a rule without feeds" "- rule bad: feed $L/more: -1
changed, native" baleen apply
	is "is empty" "$(verdicts)" PPPPPPPP
}

try_directory()
{
	mkdir "$L/d"
	conf "rule good allow" "  feed $L/good" "rule bad drop" "  feed $L/d"
	leaves "an empty directory" "$CONF:4: $L/d: refused: not a single file" baleen apply
	echo 8.8.8.8 >"$L/d/a"
	echo 9.9.9.1 >"$L/d/b"
	echo wrong | tee "$L/d/.hidden" "$L/d/c~" >"$L/d/c.tmp"
	mkdir "$L/d/deeper"
	changes "a directory" "+ rule bad: feed $L/d/a: +1
+ rule bad: feed $L/d/b: +1
changed, native" baleen apply
	is "has the entries of all files" "$(verdicts)" PDPPDPPP
	same "a directory"
	mv "$L/d/b" "$L/d/e"
	changes "a file is called otherwise" "+ rule bad: feed $L/d/e: +1
- rule bad: feed $L/d/b: -1
changed, native" baleen apply
	is "has the same entries" "$(verdicts)" PDPPDPPP
	echo 8.8.8.9 >"$L/d/c"
	echo wrong >"$L/d/f"
	leaves "one bad file" "$CONF:4: $L/d/f:1: 'wrong': a host name, not an address; 1 bad line \
of 1" baleen apply
	rm "$L/d/f" "$L/d/a"
	changes "files come and go" "+ rule bad: feed $L/d/c: +1
- rule bad: feed $L/d/a: -1
changed, native" baleen apply
	is "entries, too" "$(verdicts)" PPDPDPPP
	rm -r "$L/d"
	leaves "a directory that is gone" "$CONF:4: $L/d: is no directory any more" baleen apply
	is "is still in force" "$(verdicts)" PPDPDPPP
}

try_never()
{
	printf '%s\n' 8.8.8.0/24 9.9.9.0/24 10.66.0.1 >"$L/bad"
	conf "rule bad drop" "  feed $L/bad" "  special keep"
	check_status "a list with the gateway in it" 3 baleen apply
	is "does not drop it" "$(in_ns "$B" "$VERDICT" veth-b 10.66.0.1 8.8.8.8)" PD
	echo 8.8.8.8 >"$TMP/conf/never.list"
	changes "a never-drop list comes" "~ never $TMP/conf/never.list
changed, native" baleen apply
	is "is not dropped" "$(verdicts)" PPDDDPPP
	same "never"
	echo nonsense >"$TMP/conf/never.list"
	check_status "a bad never-drop list" 1 baleen apply
	is "leaves the last one in force" "$(verdicts)" PPDDDPPP
	rm "$TMP/conf/never.list"
	changes "it goes" "~ never $TMP/conf/never.list
changed, native" baleen apply
	is "is dropped again" "$(verdicts)" PDDDDPPP
}

# Somebody on a feed has this host open a session, and keeps it.
# shellcheck disable=SC2016 # for the inner shell
try_sessions()
{
	ip -n "$A" addr add 10.66.0.77/24 dev veth-a
	ip -n "$B" neigh replace 10.66.0.77 lladdr "$(mac "$A" veth-a)" dev veth-b
	printf '%s\n' 8.8.8.0/24 9.9.9.0/24 10.66.0.77 >"$L/bad"
	conf "guard-sessions all" "rule bad drop" "  feed $L/bad" "  special keep"
	is "guard-sessions all, outgoing, own, outgoing, none: one that this host opened" \
		"$("$ROOT/build/tools/session" "/run/netns/$A" "/run/netns/$B" 10.66.0.77 \
			nsenter --net="/run/netns/$B" -- bash -c '
				for word in all outgoing own outgoing none; do
					sed -i "s/^guard-sessions .*/guard-sessions $word/" "$2"
					"$0" apply >/dev/null || [ $? -eq 3 ] || exit
					"$1" veth-b 10.66.0.77 8.8.8.8
				done' "$BALEEN" "$VERDICT" "$CONF" | tr '\n' ' ')" "PD PD DD PD DD "
	ip -n "$A" addr del 10.66.0.77/24 dev veth-a
	printf '%s\n' 8.8.8.0/24 9.9.9.0/24 10.66.0.1 >"$L/bad"
	conf "rule bad drop" "  feed $L/bad" "  special keep"
	check_status "and back" 3 baleen apply
}

# Special-purpose ranges are taken out of a list that is swapped in as they are of a feed.
try_swap()
{
	local state

	echo 8.8.8.0/24 >"$L/bad"
	conf "rule bad drop" "  feed $L/bad" "  max-shrink 10%"
	check_status "a rule" 3 baleen apply --force
	printf '%s\n' 10.1.2.0/24 192.168.3.4 2001:db8::/32 >"$L/private"
	{ cat "$L/private"; echo 9.9.9.9; } >"$L/mixed"
	head -n 2 "$L/private" >"$L/private2"
	for state in "" --dry-run; do
		# shellcheck disable=SC2086 # no word
		leaves "swap $state of what is all in special-purpose ranges" "$L/private: not a \
single key outside of special-purpose ranges, which rule 'bad' takes out: refused (--allow-empty \
takes it, 'special keep' in the configuration keeps them)" baleen swap $state veth-b:bad "$L/private"
	done
	check "merge of it adds nothing" baleen merge veth-b:bad "$L/private"
	is "what was in force is" "$(verdicts)" PDDPPPPP
	prints "without those" "veth-b:bad: swapped, 4 entries, 258 IPv4 addresses, without 3 special-purpose" \
		baleen swap veth-b:bad "$L/mixed"
	is "the rest is in force" "$(verdicts) $(in_ns "$B" "$VERDICT" veth-b 10.1.2.3)" "PPPDPPPP P"
	is "status has entries as written, and what is stored" \
		"$(baleen status -j veth-b | jq -c '.[0].rules[0] | [.entries, .addresses, .stored]')" '[4,1,1]'
	is "so has info" "$(baleen info veth-b:bad | head -n 1 | grep -o ' .*, key')" " 4 entries, 1 address, key"
	is "so have metrics" "$(baleen metrics veth-b | sed -n 's/^baleen_rule_\(entries\|stored_keys\){.*} //p' |
		paste -s -d ' ')" "4 1"
	is "as JSON" "$(baleen swap -j veth-b:bad "$L/mixed" | jq -c '[.entries, .special]')" '[4,3]'
	check "nothing, when it is asked for" baleen swap --allow-empty veth-b:bad "$L/private"
	is "drops nothing" "$(verdicts)" PPPPPPPP
	conf "rule bad drop" "  feed $L/bad" "  special keep"
	check_status "special keep" 3 baleen apply --force
	prints "swap keeps them then" "veth-b:bad: swapped, 2 entries, 257 addresses" \
		baleen swap veth-b:bad "$L/private2"
	is "they are in force" "$(in_ns "$B" "$VERDICT" veth-b 10.1.2.3)" D
	check "one more" baleen add veth-b:bad 9.9.9.0/24
	is "status counts as swap does" "$(baleen status veth-b | grep -o 'bad  .*, key')" \
		"bad          3 entries, 513 addresses, key"
	check "back" baleen del veth-b:bad 9.9.9.0/24
	check "a gateway" in_ns "$B" ip route add 203.0.113.0/24 via 10.66.0.1
	printf '%s\n' 10.66.0.1 9.9.9.9 >"$L/gateway"
	prints "swap needs no --force for what the rule takes out" "veth-b:bad: swapped, 2 entries, \
without 1 never dropped (10.66.0.1, gateway)" baleen swap veth-b:bad "$L/gateway"
	is "as JSON" "$(baleen swap -j veth-b:bad "$L/gateway" | jq -c '[.special, .never_dropped]')" \
		'[0,1]'
	is "the gateway passes" "$(in_ns "$B" "$VERDICT" veth-b 10.66.0.1 9.9.9.9)" PD
	check "no gateway" in_ns "$B" ip route del 203.0.113.0/24
	check "back" baleen swap veth-b:bad "$L/private2"
	changes "and the configuration goes on" "- rule bad: feed $L/private2: -2
+ rule bad: feed $L/bad: +1
what was edited by hand since the last apply is taken back
changed, native" baleen apply
	printf '%s\n' 8.8.8.0/24 9.9.9.0/24 10.66.0.1 >"$L/bad"
	check_status "back" 3 baleen apply
}

# --- what others did ----------------------------------------------------------------

try_drift()
{
	check "somebody takes the link off" unpin "$B"
	is "nothing is on" "$(xdp_mode "$B" veth-b)" off
	changes "apply puts it back" "+ attach: no filter is in force
changed, native" baleen apply
	is "all of it" "$(verdicts)" PDDDDPPP
	same "put back"
	# A build that knows nothing of states, as it were.
	BALEEN_STATE_DIR=$TMP/other BALEEN_RUN_DIR=$TMP/other baleen policy veth-b --dry-run >"$TMP/out"
	changes "somebody else's policy" "~ live: has other rules than its state
changed, native" baleen apply
	is "is put right" "$(verdicts)" PDDDDPPP
	same "put right"
}

try_take_over()
{
	local n

	check "detach" baleen detach veth-b
	rm -rf "$TMP/state" "$TMP/run"
	BALEEN_STATE_DIR=$TMP/other BALEEN_RUN_DIR=$TMP/other baleen attach veth-b \
		--drop "bad=$L/good" >"$TMP/out"
	is "attached without a state of ours" "$(verdicts)" PPPDPPPP
	n=$(packets bad)
	changes "is taken over" "+ keep: attached without a state
+ rule bad: drop
+ rule bad: feed $L/bad: +3
changed, native" baleen apply
	is "has the new entries" "$(verdicts)" PDDDDPPP
	check "and goes on counting" test "$(packets bad)" -ge "$n"
	same "taken over"
}

# Attached by hand it ends with the boot; applied it is kept, with its bans.
try_by_hand()
{
	check "detach for good" baleen detach --forget --entries veth-b
	printf '%s\n' 8.8.8.0/24 9.9.9.0/24 >"$L/bad"
	check "attach by hand" baleen attach veth-b --drop "bad=$L/bad"
	check "a ban" baleen add veth-b:bad 1.2.3.4 --ttl 1h --origin test
	is "is in force by hand" "$(verdicts)" PDDDDDPP
	is "its state ends with the boot" "$([ -d "$(kept_of "$B")/veth-b" ] || find "$TMP/run" -name 'ns*' | wc -l)" 1
	conf "rule bad drop" "  feed $L/none"
	leaves "what is refused" "$CONF:2: $L/none: No such file or directory" baleen apply
	conf "default drop" "rule bad drop" "  feed $L/bad"
	check_status "what would cut off" 1 baleen apply
	is "leaves it as it was" "$([ -d "$(kept_of "$B")/veth-b" ] || find "$TMP/run" -name 'ns*' | wc -l)" 1
	conf "rule bad drop" "  feed $L/bad"
	changes "is taken over with its state" "+ keep: attached by hand
~ rule bad: guarded
~ rule bad: special remove
changed, native" baleen apply
	is "bans stay" "$(verdicts)" PDDDDDPP
	is "its state is kept" "$(states_in "$B")$(find "$TMP/run" -name 'ns*')" veth-b
	same "by hand"
}

try_kinds()
{
	check "an image" baleen build -o "$L/image.bln" "$L/good"
	conf "rule bad drop" "  feed $L/image.bln" "  feed $L/bad"
	check_status "is a feed, too" 3 baleen apply
	is "beside a list" "$(verdicts)" PDDDDDPP
	same "an image"
	make_list "$L/many" 2000 0 3
	check "a Bloom filter" baleen build --kind bloom --fpp 1e-3 --seed 1 -o "$L/bloom.bln" "$L/many"
	conf "rule bad drop" "  feed $L/bloom.bln"
	check_status "that hits innocents" 1 baleen apply --force
	is "is refused" "$(grep -c "'fpp .*' in its configuration consents to it" "$TMP/err")" 1
	conf "rule bad drop" "  feed $L/bloom.bln" "  fpp 1e-2"
	check_status "unless that is said" 3 baleen apply --force
	check "the ban goes" baleen del --origin test veth-b:bad 1.2.3.4
	printf '10.1.1.1,22\n8.8.8.8,22\n' >"$L/flows"
	conf "rule bad drop" "  key src,dport" "  feed $L/flows"
	check_status "keys of two fields" 3 baleen apply
	same "two fields"
	printf 'network,country\n8.8.8.0/24,BR\n9.9.9.9/32,US\n' | gzip >"$L/table.gz"
	conf "rule bad drop" "  feed $L/table.gz column network where country=br"
	check_status "a table" 3 baleen apply
	is "by its column" "$(verdicts)" PDDPPPPP
	conf "rule bad drop" "  feed $L/table.gz column network where country=us"
	check_status "by another country" 3 baleen apply
	is "is another feed" "$(verdicts)" PPPDPPPP
	printf '{"prefixes": [{"ip_prefix": "8.8.8.0/24", "service": "S3"}],
		"ipv6_prefixes": []}' >"$L/aws.json"
	conf "rule bad drop" "  feed $L/aws.json column .prefixes[].ip_prefix"
	check_status "JSON by a path" 3 baleen apply
	is "is in force" "$(verdicts)" PDDPPPPP
	conf "rule bad drop" "  feed $L/aws.json json .prefixes[].ip_prefix"
	check_status "by the word for it nothing changes" 0 baleen apply
	conf "rule bad drop" "  feed $L/aws.json column @aws where service=EC2"
	check_status "by the name of its format, and nothing is wanted" 1 baleen apply
	conf "rule bad drop" "  feed $L/aws.json column @aws where service=s3"
	check_status "and by a condition" 3 baleen apply
	is "the same is in force" "$(verdicts)" PDDPPPPP
	conf "rule bad drop" "  feed $L/aws.json format aws where service=s3"
	check_status "by the word for it nothing changes" 0 baleen apply
	same "a format"
	printf '%s\n' "create b hash:ip timeout 600" "add b 8.8.8.8 timeout 60" "add b 8.8.4.4 timeout 0" >"$L/saved"
	conf "rule bad drop" "  feed $L/saved"
	check_status "what ipset saved" 3 baleen apply
	is "and a list does not keep is said" "$(grep -o 'saved: .*' "$TMP/out")" "saved: +2, without 1 timeout"
	conf "rule bad drop" "  feed $L/bad"
	check_status "back to the list" 3 baleen apply
}

# --- more than one -------------------------------------------------------------------

try_devices()
{
	ip -n "$B" link add veth-c type veth peer name veth-d || bail "no second pair"
	ip -n "$B" link set veth-c up
	echo "rule none drop" >"$TMP/conf/veth-c.conf"
	echo "rule" >"$CONF"
	expect "one bad, one good" 1 "veth-c: + attach: no filter is in force
veth-c: + rule none: drop
veth-c: changed, native" \
		"baleen: $CONF:1: rule: a name, then drop, allow or count is missing" baleen apply
	is "the good one is done" "$(xdp_mode "$B" veth-c)" native
	is "the bad one is as it was" "$(verdicts)" PDDDDPPP
	echo 8.8.4.0/24 >"$L/net"
	printf '%s\n' "rule none drop" "  feed $L/net" >"$TMP/conf/veth-c.conf"
	check_status "with a feed" 3 baleen apply veth-c
	ip -n "$B" link del veth-c
	is "a device that goes" "$(baleen status | grep -c '^veth-c: .*detach --gone')" 1
	ip -n "$B" link add veth-c type veth peer name veth-d || bail "no third pair"
	ip -n "$B" link set veth-c up
	is "and is made anew is told once, with what helps" "$(baleen status | grep '^veth-c')" \
		"veth-c: NOT IN FORCE: what was applied is not attached; 'baleen apply veth-c' puts it on"
	is "entries are those that were written" \
		"$(baleen status | sed -n 's/^  drop  none  *//p')" \
		"$(baleen status | grep -o '1 entry, 256 addresses, .*')"
	is "also alone" "$(baleen status veth-c | grep '^veth-c')" "$(baleen status | grep '^veth-c')"
	check_status "that helps" 3 baleen apply veth-c
	is "and nothing is left of the other" \
		"$(baleen status | grep -o '^veth-c: [a-zA-Z ]*') $(baleen detach --gone)" "veth-c: attached "
	rm "$TMP/conf/veth-c.conf"
	ip -n "$B" link del veth-c
	mkdir "$TMP/elsewhere"
	printf '%s\n' "rule bad drop" "feed $L/good" >"$TMP/elsewhere/veth-b.conf"
	check_status "-c DEV.conf" 3 baleen apply -c "$TMP/elsewhere/veth-b.conf" --force
	is "is applied" "$(verdicts)" PPPDPPPP
	mv "$TMP/elsewhere/veth-b.conf" "$TMP/elsewhere/x"
	check_status "-c FILE DEV" 0 baleen apply veth-b -c "$TMP/elsewhere/x"
}

# --- obstacles --------------------------------------------------------------------------

try_disk()
{
	local m=$TMP/small

	mkdir "$m"
	mount -t tmpfs -o size=400k baleen-test "$m" || bail "no tmpfs"
	cp -a "$TMP/state" "$m/state"
	export BALEEN_STATE_DIR=$m/state
	conf "rule bad drop" "  feed $L/good"
	check_status "on a small disk" 0 baleen apply
	make_list "$L/large" 30000 0 7
	conf "rule bad drop" "  feed $L/large" "  special keep"
	check_status "a feed that finds no room" 1 baleen apply
	is "says so" "$(grep -c 'No space left on device' "$TMP/err")" 1
	is "leaves the old filter" "$(verdicts)" PPPDPPPP
	conf "rule bad drop" "  feed $L/good"
	prints "and the old state" "veth-b: unchanged, native" baleen apply
	export BALEEN_STATE_DIR=$TMP/state
	umount "$m"
}

# Killed at any step: the old filter or the new one, and the next run finishes it.
try_kill()
{
	local call when status n=0

	printf '%s\n' 8.8.8.8 >"$L/one"
	printf '%s\n' 9.9.9.9 >"$L/two"
	for call in fsync,fdatasync:1 fsync,fdatasync:2 fsync,fdatasync:3 fsync,fdatasync:4 \
		rename,renameat,renameat2:1 bpf:40 bpf:60 bpf:80 bpf:100 unlink,unlinkat:1; do
		when=${call##*:}
		conf "rule bad drop" "  feed $L/one"
		baleen apply --force >"$TMP/out" 2>&1
		conf "rule bad drop" "  feed $L/two"
		in_ns "$B" strace -qq -f -o /dev/null -e "trace=${call%:*}" \
			-e "inject=${call%:*}:signal=KILL:when=$when" \
			"$BALEEN" apply --force >"$TMP/out" 2>&1
		status=$?
		[ "$status" -eq 137 ] && n=$((n + 1))
		case $(verdicts) in
		PDPPPPPP | PPPDPPPP) ok "killed at $call (status $status): old or new" ;;
		*) not_ok "killed at $call (status $status): old or new" "$(verdicts)" ;;
		esac
		baleen apply --force >"$TMP/out" 2>&1
		is "killed at $call: the next run finishes it" "$(verdicts)" PPPDPPPP
		expect "killed at $call: and there is nothing more" 0 "veth-b: unchanged, native" \
			"" baleen apply
	done
	check "most were killed" test "$n" -ge 6
}

try_refused
try_first
try_rules
try_policy
try_singles
try_counts
try_feeds
try_directory
try_never
try_sessions
try_swap
try_drift
try_take_over
try_by_hand
try_kinds
try_devices
try_disk
try_kill
