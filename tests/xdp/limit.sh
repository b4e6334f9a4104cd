#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `limit`: who sends more than he may is banned by baleend, and nobody else is.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/frames.sh
source "$ROOT/tests/frames.sh"
cd "$TMP" || exit 2

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

detach()
{
	check "flush" baleen flush bans --all
	check "detach" baleen detach --forget --entries veth-b
}

# configure LINE...: the rules of veth-b, behind one that takes bans
configure()
{
	printf '%s\n' "rule jail drop" bans "$@" >"$BALEEN_CONF_DIR/veth-b.conf"
	check_status "apply: ${*: -2:1}" 3 baleen apply veth-b
}

# banned: the keys of the entries of origin limit, in a line
banned()
{
	baleen list -j veth-b:jail | jq -r '[.[] | select(.origin == "limit").entry] | join(" ")'
}

# is_banned KEYS: they, and no others
is_banned()
{
	[ "$(banned)" = "$1" ]
}

# of_limit RULE FIELD: what status says of the limit of the Nth rule
of_limit()
{
	baleen status -j veth-b | jq -c --argjson rule "$1" ".[0].rules[\$rule].limit | $2"
}

from4() { ip4 "$1" 17 "$(udp 53)"; }

# --- words -------------------------------------------------------------------------

usage()
{
	expect "$1" 2 "" "baleen: attach: rule 'any': $2 (see 'baleen help attach')" \
		baleen attach veth-b --count any "${@:3}"
}

test_refused_words()
{
	local such='not packets a second, minute or hour, such as 50/s, 10/m or 5/h, 1000000 at most'
	local word

	for word in 50 /s 0/s 50/d 50/sec 1000001/s 5.5/s 50/S; do
		usage "a rate $word" "limit '$word': $such" limit "$word" ban 10m
	done
	usage "no ban" "limit: how long it bans is missing, such as ban 10m" limit 50/s
	usage "no limit" "burst, per, ban, cap and unverified are words of a limit, which is missing: \
limit 50/s" ban 10m
	usage "no burst" "burst '0': not a number from 1 to 1000000" limit 50/s burst 0 ban 10m
	usage "a cap" "cap '1k': not a number from 1 to 1000000" limit 50/s cap 1k ban 10m
	usage "a time" "ban '10': not a time from 1s to 366d, such as 10m" limit 50/s ban 10
	for word in dst src/ src/33 src/7 src6/65 src6 src/24,src/25 "src/24," ",src"; do
		usage "per $word" "per '$word': not src, src/8 to src/32 or src6/16 to src6/64, nor one of \
each such as src/24,src6/48" limit 50/s ban 10m per "$word"
	done
	usage "twice" "limit is given twice" limit 50/s limit 50/s ban 10m
	usage "per, twice" "per is given twice: say per src/24,src6/48" limit 50/s per src per src/24
	usage "unverified, twice" "unverified is given twice" limit 50/s unverified unverified
	for word in "proto udp" "tcp-syn" "proto icmp"; do
		# shellcheck disable=SC2086 # words
		usage "$word is nobody's word" "limit: none of these packets comes after a handshake, so \
their senders may be made up: say unverified to count them" limit 50/s ban 10m $word
	done
}

test_refused_rules()
{
	local nobody="rule 'any': a limit bans, and no rule of veth-b takes bans: one that drops has \
to be marked with 'bans'"

	echo 192.0.2.1 >list
	refuses "nobody takes its bans" "$nobody" baleen attach veth-b --count any limit 50/s ban 10m
	is "nothing is attached" "$(xdp_id "$B" veth-b)" ""
	refuses "allow" "rule 'any': limit: only of a rule that drops or counts" \
		baleen attach veth-b --allow any limit 50/s ban 10m --drop list bans
	refuses "without a state" "veth-b: rule 'any': a limit bans, which is for a device that \
remembers entries, not for --no-state or --backend kmod" \
		baleen attach veth-b --count any limit 50/s ban 10m --no-state
	check "attach" baleen attach veth-b --drop jail=list bans
	check "rule add" baleen rule add veth-b --count web=any dport 80 limit 50/s ban 10m
	refuses "the rule that takes bans stays" "${nobody/any/web}" baleen rule del veth-b:jail
	is "and is there" "$(baleen status -j veth-b | jq -c '[.[0].rules[].name]')" '["jail","web"]'
	detach
	printf '%s\n' "rule web count limit 50/s ban 10m" any >"$BALEEN_CONF_DIR/veth-b.conf"
	refuses "by a configuration" "$BALEEN_CONF_DIR/veth-b.conf:1: rule web: a limit bans, and no \
rule takes bans: one that drops has to be marked with 'bans'" baleen apply veth-b
	is "nothing is attached" "$(xdp_id "$B" veth-b)" ""
}

# --- frames --------------------------------------------------------------------------

# A rule that drops, without baleend: who is over is dropped at once, others are not.
test_frames()
{
	local one two six net

	one=$(from4 192.0.2.1) two=$(from4 192.0.2.2) net=$(from4 192.0.3.1)
	six=$(ip6 ff 17 64 "$(udp 53)")
	configure "rule web drop limit 1/h burst 2 ban 10m unverified" any
	fate "two packets are allowed, each" PPPP "$one" "$two" "$one" "$two"
	fate "the third is over, as all behind it" DDD "$one" "$one" "$one"
	fate "of each for himself" PPDD "$net" "$net" "$two" "$one"
	fate "IPv6: a /64 is one" PPDD "$six" "$(ip6 fe 17 64 "$(udp 53)")" "$six" \
		"$(ip6 fd 17 64 "$(udp 53)")"
	is "counts what is over, and of whom" "$(baleen status -j veth-b | jq -c '.[0].rules[1] |
		[.packets, .limit.tracked, .limit.over, .limit.overruns, .limit.forgotten]')" '[7,4,4,3,0]'
	is "has room for so many" "$(of_limit 1 '[.sources, .bytes]')" '[65536,1048576]'
	check "status" baleen status veth-b
	is "says so" "$(grep -A1 'only limit' out)" \
		"        only limit 1/h burst 2 ban 10m unverified
        limit: 4 of 65,536 sources tracked, 1.0 MB, 4 over it now, 3 overruns, 0 forgotten"
	check "an entry elsewhere" baleen add veth-b:jail 192.0.2.9
	check "a rule elsewhere" baleen policy veth-b --sample 10/s
	fate "nobody is forgotten by that" D "$(from4 192.0.3.1)"
	configure "rule web drop limit 2/h burst 2 ban 10m unverified" any
	fate "another limit begins anew" PPD "$one" "$one" "$one"
	configure "rule web drop dport 53 proto udp limit 1/h burst 1 per src/24,src6/32 ban 10m unverified" any
	fate "prefixes" PDPD "$one" "$two" "$six" "$(ip6 fe 17 64 "$(udp 53)")"
	fate "other ports are not its" PP "$(ip4 192.0.2.7 17 "$(udp 54)")" \
		"$(ip4 192.0.2.7 6 "$(tcp 53 $ACK)")"
	configure "rule office allow" "rule web drop limit 1/h burst 1 ban 10m unverified" any
	check "a list before it" baleen add veth-b:office 192.0.2.1
	fate "is asked first" PPPPD "$one" "$one" "$one" "$two" "$two"
	configure "rule web drop limit 1/h burst 1 ban 10m" any
	fate "without a handshake nobody is counted" PPPPPP "$one" "$one" \
		"$(ip4 192.0.2.1 6 "$(tcp 80 $ACK)")" "$(ip4 192.0.2.1 6 "$(tcp 80 $ACK)")" \
		"$(ip4 192.0.2.1 6 "$(tcp 80 $SYN)")" "$(ip4 192.0.2.1 6 "$(tcp 80 $SYN)")"
	is "nor remembered" "$(of_limit 1 .tracked)" 0
	configure "rule tally count limit 1/h burst 1 ban 10m unverified" any "rule second drop dport 53" any
	fate "a rule that counts lets the next decide" DD "$one" "$one"
	is "and counts" "$(baleen status -j veth-b | jq -c '[.[0].rules[].packets]')" '[0,1,2]'
	detach
}

# --- bans ----------------------------------------------------------------------------

test_bans()
{
	local one

	one=$(from4 192.0.2.1)

	echo 203.0.113.7 >never
	configure "rule web drop limit 1/h burst 1 ban 10m unverified cap 3" any
	sed -i "1i never $TMP/never" "$BALEEN_CONF_DIR/veth-b.conf"
	check_status "with a never-drop list" 3 baleen apply veth-b
	fate "over" PD "$one" "$one"
	await "is banned" is_banned 192.0.2.1
	is "an entry of origin limit, with a reason" "$(baleen list -j veth-b:jail |
		jq -r '.[] | "\(.entry) \(.origin) \(.reason)"')" "192.0.2.1 limit over 1/h of veth-b:web"
	is "that ends" "$(baleen list -j veth-b:jail | jq '.[0] | .expires_ms - .added_ms')" 600000
	fate "and is dropped by it" D "$one"
	is "is counted there" "$(baleen status -j veth-b | jq '.[0].rules[0].packets')" 1
	check "why" baleen why veth-b 192.0.2.1 --proto udp --dport 53
	is "says since when, and why" "$(sed -E 's/added .*/added/' out)" \
		"192.0.2.1 to veth-b, udp port 53: dropped
  rule 'jail' (drop, 1 of 2) decides
    192.0.2.1            entry of limit: over 1/h of veth-b:web, added
  rule 'web' (drop, 2 of 2) holds it, too, and is not asked any more
    192.0.2.1/32         is over its limit now
    such a packet        counts, though nothing proves who sent it
    any                  every address"
	check "why, of another" baleen why veth-b 192.0.2.2 --proto udp --dport 53
	is "who is within it" "$(<out)" "192.0.2.2 to veth-b, udp port 53: passes
  no rule decides: default pass
  rule 'web' (drop, 2 of 2) holds it, but is only for limit 1/h burst 1 ban 10m cap 3 unverified
    192.0.2.2/32         is within its limit now
    such a packet        counts, though nothing proves who sent it
    any                  every address"
	fate "asking takes no token" PD "$(from4 192.0.2.2)" "$(from4 192.0.2.2)"
	await "two are banned" is_banned "192.0.2.1 192.0.2.2"
	fate "a rule that drops does not hold the never-drop list, nor this host" PPPP \
		"$(from4 203.0.113.7)" "$(from4 10.66.0.2)" "$(from4 203.0.113.7)" "$(from4 10.66.0.2)"
	sed -i 's/web drop/web count/' "$BALEEN_CONF_DIR/veth-b.conf"
	check_status "one that counts" 3 baleen apply veth-b
	fate "does" PP "$(from4 203.0.113.7)" "$(from4 203.0.113.7)"
	await "who is never dropped is not banned, and that is said" grep -q \
		'veth-b: 203.0.113.7 is over a limit and not banned, since it is never dropped (the never-drop list)' baleend.log
	fate "this host" PP "$(from4 10.66.0.2)" "$(from4 10.66.0.2)"
	await "neither" grep -q 'veth-b: 10.66.0.2 is over a limit and not banned' baleend.log
	is "so they are not there" "$(banned)" "192.0.2.1 192.0.2.2"
	fate "above the cap" PPPP "$(from4 192.0.2.3)" "$(from4 192.0.2.4)" "$(from4 192.0.2.3)" "$(from4 192.0.2.4)"
	await "nobody is banned, and that is said" grep -q \
		'more are over a limit than it may ban at a time: its cap is reached' baleend.log
	is "as many as may" "$(banned | wc -w)" 3
	check "metrics" baleen metrics
	is "of the limit" "$(grep -c '^baleen_rule_limit_[a-z_]*{.*rule="web"' out)" 5
	is "of the bans" "$(grep -F 'origin="limit"' out)" \
		'baleen_single_entries{device="veth-b",rule="jail",origin="limit"} 3'
	is "of baleend" "$(http "$B" GET /metrics | tr -d '\r' | sed -n \
		's/^baleen_daemon_limit_bans_total{result="\(.*\)"} [1-9].*/\1/p' | xargs)" \
		"banned protected capped"
	refuses "it is no entry of the rule" "veth-b:jail: 192.0.2.1 is a ban of all rules that take some: \
'baleen unban 192.0.2.1' takes it back" baleen del veth-b:jail 192.0.2.1 --origin limit
	check "unban" baleen unban 192.0.2.1
	is "takes it back" "$(banned)" "192.0.2.2 192.0.2.3"
	detach
}

# A ban is of the host: all devices have it, whose limit it was by, whoever holds one of them.
test_devices()
{
	local one two

	one=$(from4 192.0.2.1) two=$(from4 192.0.2.2)
	ip -n "$B" link add veth-c type veth peer name veth-d
	echo 192.0.2.9 >list
	check "attach another" baleen attach veth-c --drop cell=list bans
	exec 9<"$(echo "$BALEEN_RUN_DIR"/ns*-if*)"
	configure "rule web count limit 1/h burst 1 ban 10m unverified cap 2" any
	printf 'ban 198.51.100.%u origin=limit reason=over 1/h of veth-c:web\n' 1 2 >others
	check "what another device has banned by its limit" baleen feed bans - <others
	fate "over" PP "$one" "$one"
	await "is banned" is_dropped_by veth-b:jail 192.0.2.1
	check "on the other device, too" is_dropped_by veth-c:cell 192.0.2.1
	is "once" "$(baleen list -j bans | jq -r '[.[].entry] | join(" ")')" "192.0.2.1 198.51.100.1 198.51.100.2"
	flock 9
	fate "while somebody holds the other" PP "$two" "$two"
	await "is banned here" is_dropped_by veth-b:jail 192.0.2.2
	check_status "not there" 1 is_dropped_by veth-c:cell 192.0.2.2
	exec 9>&-
	await "and there, then" is_dropped_by veth-c:cell 192.0.2.2
	fate "its cap is for its own" PPPP "$(from4 192.0.2.3)" "$(from4 192.0.2.4)" \
		"$(from4 192.0.2.3)" "$(from4 192.0.2.4)"
	await "is reached" has_capped 3
	is "and nobody else is banned" "$(banned)" "192.0.2.1 192.0.2.2 198.51.100.1 198.51.100.2"
	check "the other goes" baleen detach --forget veth-c
	ip -n "$B" link del veth-c
	detach
}

# is_dropped_by DEV:RULE ADDRESS
is_dropped_by() { baleen match "$@" >matched && [ "$(<matched)" = "$2" ]; }

# has_capped N: so many were not banned, since baleend began
has_capped() { http "$B" GET /metrics | grep -q "^baleen_daemon_limit_bans_total{result=\"capped\"} $1"; }

# What has happened while baleend was away it makes good.
test_baleend_away()
{
	stop_baleend
	configure "rule web count limit 1/h burst 1 ban 1h unverified" any
	fate "nobody listens" PP "$(from4 192.0.2.5)" "$(from4 192.0.2.5)"
	is "nobody is banned" "$(banned)" ""
	start_baleend "$B" --no-drops
	await "until baleend is there" is_banned 192.0.2.5
	detach
}

# --- kept ------------------------------------------------------------------------------

WORDS="limit 30/m burst 200 per src/24,src6/56 ban 1h30m cap 500 unverified"

kept()
{
	is "$1" "$(baleen status -j veth-b | jq -r '.[0].rules[] | select(.name == "web").qualifiers')" \
		"dport 53 $WORDS"
}

test_kept()
{
	# shellcheck disable=SC2086 # words
	check "attach" baleen attach veth-b --drop jail=list bans --count web=any $WORDS dport 53
	kept "attach"
	check "save" baleen save veth-b -o saved
	detach
	check "restore" baleen restore veth-b saved
	kept "restore"
	is "and who takes bans" "$(baleen status -j veth-b | jq -c '[.[0].rules[].bans]')" '[true,false]'
	check "detach" baleen detach veth-b
	configure "rule web count $WORDS dport 53" any
	kept "apply"
	check "apply again: nothing differs" baleen apply veth-b
	unpin "$B"
	check "boot" baleen restore --boot
	kept "boot"
	sed -i 's/30m cap/31m cap/' "$BALEEN_CONF_DIR/veth-b.conf"
	check_status "another time" 3 baleen apply veth-b
	is "is a change" "$(tail -n 2 out)" "veth-b: ~ rule web: dport 53 ${WORDS/30m/31m}
veth-b: changed, native"
	detach
}

# --- a crowd ---------------------------------------------------------------------------

# crowd FLOOD FRAMES RATE TIMES: what came of it in $TMP/out; see tests/tools/crowd.c
crowd()
{
	check "200 clients, $1" timeout 120 "$ROOT/build/tools/crowd" "$A" "$B" "$@"
}

# One TCP source of 20,000 packets a second among 200 clients of 50.
# Frames of a capture have no time between them.
test_replay()
{
	printf 'd4c3b2a1020004000000000000000000ffff000001000000' | xxd -r -p >capture
	expect "replay" 0 "capture: 0 frames" "baleen: warning: rule 'any' matches nothing: a replay \
does not simulate time, so nobody is over its limit" head1 baleen replay --drop any limit 1/h ban \
		10m unverified capture
}

head1() { "$@" | head -n 1; }

test_crowd()
{
	configure "rule web count dport 80 limit 50/s burst 200 ban 10m" any
	crowd tcp 20000 20000 1
	echo "# banned within $(jq .ms out) ms, after $(jq .arrived out) of $(jq .sent out) packets"
	await "the source is banned, no client is" is_banned 10.66.2.1
	is "only it was over the limit" "$(of_limit 1 .overruns)" 1
	is "most of its packets were dropped" "$(jq '.arrived < .sent / 2' out)" true
	is "nothing else drops" "$(baleen status -j veth-b | jq -c '[.[0].rules[].action]')" \
		'["drop","count"]'
	detach
}

# Numbers by chance, in the name of a source that is connected and idle.
test_blind()
{
	configure "rule web drop dport 80 limit 50/s burst 200 ban 10m" any
	crowd blind 100000 0 1
	is "nobody is banned for what others send in his name" \
		"$(banned) $(of_limit 1 .overruns) $(baleen status -j veth-b | jq -c '[.[0].rules[].packets]')" " 0 [0,0]"
	detach
}

# A million sources that nobody has seen: nothing is counted for TCP, and of UDP, where
# that is asked for, no more than the table and the cap hold.
test_spoofed()
{
	local n

	n=$(pick 200000 1000000)
	sampled "spoofed sources" "$n" 1000000
	configure "rule web drop dport 80 limit 50/s burst 200 ban 10m" any
	crowd spoof "$n" 0 1
	is "no spoofed TCP is counted" "$(banned) $(of_limit 1 '[.overruns, .forgotten, .tracked <= 201]')" \
		" [0,0,true]"
	is "and nobody is dropped" "$(baleen status -j veth-b | jq -c '[.[0].rules[].packets]')" '[0,0]'
	configure "rule flood count proto udp limit 1/h burst 1 ban 10m unverified cap 100" any
	crowd udp $((2 * n)) 0 2
	await "UDP is banned up to the cap" at_cap
	is "the table is full, and no fuller" "$(of_limit 1 '[.tracked > 60000, .tracked <= .sources,
		.bytes, .forgotten > 0]')" '[true,true,1048576,true]'
	is "no client is banned" "$(banned | grep -c '10\.66\.')" 0
	is "the map is as large as it was" "$(bpftool -j map show pinned "$(find /sys/fs/bpf -name limits)" |
		jq .max_entries)" 16384
	detach
}

at_cap() { [ "$(banned | wc -w)" -eq 100 ]; }

make_pair
mkdir "$BALEEN_CONF_DIR"
for i in {1..200}; do
	echo "address add 10.66.1.$i/32 dev lo"
done >addresses
echo "address add 10.66.2.1/32 dev lo" >>addresses
ip -n "$A" -batch addresses || bail "no addresses for clients"
ip -n "$B" route add 10.66.0.0/16 via 10.66.0.1
play_systemd
test_refused_words
test_refused_rules
test_frames
start_baleend "$B" --no-drops
test_bans
test_devices
test_baleend_away
test_kept
test_spoofed
test_blind
test_crowd
stop_baleend
