#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `baleen why` says, word for word: of a ban, a list, an exception, what is
# withheld; and where the live filter and the entries disagree.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck disable=SC2119 # the default pair
make_pair
NEXT=$(tests/next) || bail "no later release"
mkdir "$TMP/conf"
CONF=$TMP/conf/veth-b.conf
L=$TMP/list
NO_STATE="  its lists were not kept (attach --no-state): no entry can be named"
# shellcheck disable=SC2016 # a time of day, and how long ago or ahead
TIMES='s/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}/TIME/g; s/\((now|[0-9a-z]+ ago|in [0-9a-z]+)\)/(SPAN)/g'

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# why ADDRESS...: with times taken out
why()
{
	local status

	baleen why veth-b "$@" >"$TMP/why"
	status=$?
	sed -E "$TIMES" "$TMP/why"
	return "$status"
}

# field NAME JQ WANT ARGUMENT...: of the first answer as JSON, whatever the exit status
field() { is "$1" "$(baleen why -j veth-b "${@:4}" | jq -c ".[0] | $2")" "$3"; }

put_on()
{
	check_status "apply" 3 baleen apply --force
}

# --- refused ------------------------------------------------------------------

try_refused()
{
	refuses "nothing is attached" "baleen is not attached to veth-b" baleen why veth-b 1.2.3.4
	check_status "no address" 2 baleen why veth-b
	check_status "no address at all" 2 baleen why veth-b 1.2.3
	check_status "one of several is none" 2 baleen why veth-b 1.2.3.4 1.2.3.0/24
	check_status "two families" 2 baleen why veth-b 1.2.3.4 --dst 2001:db8::1
	check_status "no such port" 2 baleen why veth-b 1.2.3.4 --dport 65536
	check_status "no such service" 2 baleen why veth-b 1.2.3.4 --dport sssh
	check_status "a protocol without ports" 2 baleen why veth-b 1.2.3.4 --proto icmp --dport 22
	check_status "established UDP" 2 baleen why veth-b 1.2.3.4 --proto udp --established
	check_status "no VLAN" 2 baleen why veth-b 1.2.3.4 --vlan 0
}

# --- entries --------------------------------------------------------------------

try_entries()
{
	printf '%s\n' 8.8.0.0/16 8.8.8.0/24 '!8.8.8.8' 10.0.0.0/8 2a00::1 >"$L"
	printf '%s\n' "never $TMP/never" "rule office allow" "rule bad drop tcp-syn" "feed $L" \
		"rule dns drop proto udp dport 53" any "rule seen count" >"$CONF"
	echo 8.8.1.0/24 >"$TMP/never"
	put_on
	check "a ban" baleen add veth-b:bad 8.8.4.0/24 --ttl 1h --origin soc --reason "scan, 4711"
	check "an exception" baleen add veth-b:bad '!8.8.4.4'
	check "who is allowed" baleen add veth-b:office 8.8.5.5
	check "who is counted" baleen add veth-b:seen 9.9.9.9
	prints "a ban" "8.8.4.7 to veth-b, tcp, opening: dropped
  rule 'bad' (drop, 2 of 4) decides
    8.8.4.0/24           entry of soc: scan, 4711, added TIME, ends TIME (SPAN)
    8.8.0.0/16           line 1 of $L, received TIME (SPAN)
  rule 'dns' (drop, 3 of 4) holds it, but is only for proto udp dport 53
    any                  every address" why 8.8.4.7
	prints "an exception among the entries" "8.8.4.4 to veth-b, tcp, opening: passes
  no rule decides: default pass
  rule 'bad' (drop, 2 of 4) does not hold it
    !8.8.4.4             entry of manual, added TIME
    8.8.4.0/24           entry of soc: scan, 4711, added TIME, ends TIME (SPAN)
    8.8.0.0/16           line 1 of $L, received TIME (SPAN)
  rule 'dns' (drop, 3 of 4) holds it, but is only for proto udp dport 53
    any                  every address" why 8.8.4.4
	prints "one in a list, and qualifiers" "8.8.8.8 to veth-b, udp port 53: dropped
  rule 'bad' (drop, 2 of 4) does not hold it
    !8.8.8.8             line 3 of $L, received TIME (SPAN)
    8.8.8.0/24           line 2 of $L, received TIME (SPAN)
    8.8.0.0/16           line 1 of $L, received TIME (SPAN)
  rule 'dns' (drop, 3 of 4) decides
    any                  every address" why 8.8.8.8 --proto udp --dport domain
	prints "what is never dropped" "8.8.1.1 to veth-b, icmp: passes
  no rule decides: default pass
  rule 'bad' (drop, 2 of 4) does not hold it
    8.8.0.0/16           line 1 of $L, received TIME (SPAN)
    8.8.1.1              never dropped: the never-drop list, 8.8.1.0/24
  rule 'dns' (drop, 3 of 4) does not hold it
    any                  every address
    8.8.1.1              never dropped: the never-drop list, 8.8.1.0/24" why 8.8.1.1 --proto icmp
	prints "who is allowed, and several" "8.8.5.5 to veth-b, tcp port 22, established: passes
  rule 'office' (allow, 1 of 4) decides
    8.8.5.5              entry of manual, added TIME
  rule 'bad' (drop, 2 of 4) holds it, but is only for tcp-syn
    8.8.0.0/16           line 1 of $L, received TIME (SPAN)
  rule 'dns' (drop, 3 of 4) holds it, but is only for proto udp dport 53
    any                  every address
9.9.9.9 to veth-b, tcp port 22, established: passes
  no rule decides: default pass
  rule 'dns' (drop, 3 of 4) holds it, but is only for proto udp dport 53
    any                  every address
  rule 'seen' (count, 4 of 4) counts it
    9.9.9.9              entry of manual, added TIME" \
		why 8.8.5.5 9.9.9.9 --dport 22 --established
	field "this host" '.rules[1].withheld | [.role, .key]' '["host","10.66.0.2"]' 10.66.0.2
	field "its special-purpose ranges" '.rules[1].withheld | [.role, .key]' \
		'["special","10.0.0.0/8"]' 10.1.1.1
	is "one is an array" "$(baleen why -j veth-b 2a00::1 | jq -c 'map(.address)')" '["2a00::1"]'
	is "several are an array" "$(baleen why -j veth-b 1.2.3.4 2a00::1 | jq -c 'map(.address)')" \
		'["1.2.3.4","2a00::1"]'
}

try_policy()
{
	check "a dry run" baleen policy veth-b --dry-run
	is "a dry run" "$(why 8.8.8.9 | head -n 2)" \
		"8.8.8.9 to veth-b, tcp, opening: passes, but only since this is a dry run
  rule 'bad' (drop, 2 of 4) decides"
	field "as JSON" '[.verdict, .would_drop, .dry_run]' '["pass",true,true]' 8.8.8.9
	check "default drop" baleen policy veth-b --enforce --default drop --force
	is "default drop" "$(why 1.1.1.1 | head -n 2)" \
		"1.1.1.1 to veth-b, tcp, opening: dropped
  no rule decides: default drop"
	check "default pass" baleen policy veth-b --default pass
}

# A feed that is not renewed, and more entries than are told.
try_feeds()
{
	rm "$L"
	check_status "a feed is gone" 1 baleen update veth-b
	is "which is said" "$(why 8.8.8.9 | grep -c "not renewed since: .*No such file")" 2
	field "as JSON" '.rules[1].entries[0].failure | contains("No such file")' true 8.8.8.9
	seq -f '8.8.0.0/%g' 10 32 >"$L"
	check_status "more than are told" 3 baleen update veth-b --force
	is "are counted" "$(why 8.8.0.0 | grep -A 1 /17)" \
		"    8.8.0.0/17           line 8 of $L, received TIME (SPAN)
    and 7 more"
	field "as JSON" '.rules[1] | [.n_entries, (.entries | length)]' '[23,16]' 8.8.0.0
}

# --- disagreements --------------------------------------------------------------

# behind COMMAND...: and its state is put back to what it was
behind()
{
	cp -a "$TMP/state" "$TMP/state.before"
	check "$*" "$@"
	rm -r "$TMP/state"
	mv "$TMP/state.before" "$TMP/state"
}

# pinned: how pins and volatile states of the device are named
pinned() { basename /sys/fs/bpf/baleen/ns*-if*; }

try_differences()
{
	behind baleen add veth-b:bad 5.6.7.8
	is "the filter holds what no entry says" "$(why 5.6.7.8; echo "status $?")" \
		"5.6.7.8 to veth-b, tcp, opening: dropped
  rule 'bad' (drop, 2 of 4) decides
  rule 'dns' (drop, 3 of 4) holds it, but is only for proto udp dport 53
    any                  every address
  DISAGREEMENT: the live filter of rule 'bad' holds it, its entries say it should not
status 1"
	field "as JSON" '[.differs, .changing, .rules[].differs]' \
		'[true,false,false,true,false,false]' 5.6.7.8
	check_status "one of several" 1 baleen why veth-b 1.2.3.4 5.6.7.8 1.2.3.5
	check "the others agree" baleen why veth-b 1.2.3.4 1.2.3.5
	check "one that is taken out behind its back" baleen add veth-b:bad 5.6.7.9
	behind baleen del veth-b:bad 5.6.7.9
	is "it does not hold what one says" "$(why 5.6.7.9; echo "status $?")" \
		"5.6.7.9 to veth-b, tcp, opening: passes
  no rule decides: default pass
  rule 'bad' (drop, 2 of 4) does not hold it
    5.6.7.9              entry of manual, added TIME
  rule 'dns' (drop, 3 of 4) holds it, but is only for proto udp dport 53
    any                  every address
  DISAGREEMENT: the live filter of rule 'bad' does not hold it, its entries say it should
status 1"
	touch "$TMP/run/$(pinned).changing"
	is "while it is being changed" "$(why 5.6.7.9 | tail -n 1)" \
		"  DISAGREEMENT: the live filter of rule 'bad' does not hold it, its entries say it \
should (a change goes on, or was cut off)"
	field "as JSON" '[.differs, .changing]' '[true,true]' 5.6.7.9
	check "the next change mends it" baleen add veth-b:bad 5.6.7.10
	check "so they agree" baleen why veth-b 5.6.7.9 5.6.7.10
	field "and it is dropped" '[.verdict, .changing]' '["drop",false]' 5.6.7.9
}

# --- keys of several fields -------------------------------------------------------

try_fields()
{
	echo tcp,1.2.3.4,198.51.100.1,40000,443 >"$L"
	echo icmp,2a00::1,2001:db8::1,0,0 >>"$L"
	printf '%s\n' "rule flows drop" "key flow" "feed $L" >"$CONF"
	put_on
	prints "a flow" "1.2.3.4 to veth-b, tcp port 443, opening: dropped
  rule 'flows' (drop, 1 of 1) decides
    tcp,1.2.3.4,198.51.100.1,40000,443 line 1 of $L, received TIME (SPAN)" \
		why 1.2.3.4 --dst 198.51.100.1 --sport 40000 --dport 443
	prints "of another port" "1.2.3.4 to veth-b, tcp port 443, opening: passes
  no rule decides: default pass" why 1.2.3.4 --dst 198.51.100.1 --sport 40001 --dport 443
	is "without a destination" "$(why 1.2.3.4 --sport 40000 --dport 443 | tail -n 1)" \
		"  a rule looks at the destination, too: --dst ADDR"
	field "without ports" '[.verdict, .rules[0].entries[0].line]' '["drop",2]' \
		2a00::1 --dst 2001:db8::1 --proto icmp
	check "detach" baleen detach veth-b
	rm -rf "$TMP/state" "$CONF"
}

# --- a filter that errs ------------------------------------------------------------

try_error()
{
	local innocent

	seq -f 8.8.8.%g 100 >"$L"
	printf '%s\n' "rule bloom drop" "kind bloom" "fpp 0.1" "feed $L" >"$CONF"
	put_on
	seq -f 9.9.%g.9 250 >"$TMP/asked"
	seq -f 2a00::%g 250 >>"$TMP/asked"
	# shellcheck disable=SC2046 # words
	check_status "some of 500 are taken for listed" 1 baleen why -j veth-b $(cat "$TMP/asked")
	innocent=$(jq -r 'map(select(.differs))[0].address' "$TMP/out")
	is "they are dropped, the others pass" \
		"$(jq -r 'map("\(.verdict) \(.differs)") | unique | join(", ")' "$TMP/out")" \
		"drop true, pass false"
	is "which is said" "$(why "$innocent")" "$innocent to veth-b, tcp, opening: dropped
  rule 'bloom' (drop, 1 of 1) decides
  DISAGREEMENT: rule 'bloom' holds it by error of its filter, no entry does"
	check "detach" baleen detach veth-b
	rm -rf "$TMP/state" "$CONF"
}

# --- filters without entries, sampled drops ---------------------------------------

try_no_state()
{
	echo 1.2.3.4 >"$L"
	check "attach --no-state" baleen attach veth-b --no-state --drop bad="$L"
	prints "no entry" "1.2.3.4 to veth-b, tcp, opening: dropped
  rule 'bad' (drop, 1 of 1) decides
$NO_STATE" why 1.2.3.4
	field "as JSON" '[.has_state, .differs, .rules[0].entries]' '[false,false,[]]' 1.2.3.4
	check "detach" baleen detach veth-b
}

# seen: baleend has written a sampled drop of 1.2.3.4
seen() { baleen why -j veth-b 1.2.3.4 | jq -e '.[0].last_drop != null' >/dev/null; }

try_drops()
{
	local daemon

	check "attach" baleen attach veth-b --drop bad="$L" --sample 1000/s
	field "nothing was seen" .last_drop null 1.2.3.4
	echo 1.2.3.4 >"$TMP/listed"
	check "a frame is dropped" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" \
		--listed "$TMP/listed" --expect
	# Not by in_ns: what is killed is the daemon, not the shell that waits for it.
	nsenter --net="/run/netns/$B" -- "$ROOT/build/baleend" --listen off >"$TMP/daemon" 2>&1 &
	daemon=$!
	for _ in {1..200}; do
		seen && break
		sleep 0.05
	done
	kill "$daemon"
	wait "$daemon"
	field "the last sampled drop" '.last_drop | [.rule, .sampled, .last_ms > 1e12]' \
		'["bad",1,true]' 1.2.3.4
	is "in words" "$(why 1.2.3.4 | tail -n 1)" \
		"  last sampled drop: TIME by rule 'bad', 1 in all"
	field "of another source" .last_drop null 1.2.3.5
	check "detach" baleen detach veth-b
}

# --- what has ended ---------------------------------------------------------------

# Nobody takes it out: a question changes nothing, and there is no baleend.
try_ended()
{
	local i

	echo 1.2.3.5 >"$L"
	check "attach" baleen attach veth-b --drop bad="$L"
	check "a ban that ends soon" baleen add veth-b:bad 9.9.9.9 --ttl 2s --origin soc
	for ((i = 0; i < 500; i++)); do
		baleen why veth-b 9.9.9.9 >"$TMP/out" || break
	done
	is "it has ended, and is still dropped" "$(grep -c "dropped\$" "$TMP/out") $(
		sed -n '/DISAGREEMENT/s/^ *//p' "$TMP/out")" "1 DISAGREEMENT: rule 'bad' holds it, its \
entry 9.9.9.9 of soc has ended and nobody has taken it out: is baleend running?"
	check "detach" baleen detach veth-b
}

# --- another release --------------------------------------------------------------

try_other_release()
{
	echo 1.2.3.5 >"$L"
	check "attach" baleen attach veth-b --drop bad="$L"
	is "asked by a later release" "$(in_ns "$B" "$NEXT" why veth-b 1.2.3.5 | sed -E "$TIMES")" \
		"1.2.3.5 to veth-b, tcp, opening: dropped
  rule 'bad' (drop, 1 of 1) decides
    1.2.3.5              line 1 of $L, received TIME (SPAN)
  the program is of another version of baleen; it was asked itself and has counted a packet"
	is "which it has" "$(baleen status -j veth-b | jq '.[0].rules[0].packets')" 1
	check "detach" baleen detach veth-b
}

try_ended
try_refused
try_entries
try_policy
try_feeds
try_differences
try_fields
try_error
try_no_state
try_drops
try_other_release
