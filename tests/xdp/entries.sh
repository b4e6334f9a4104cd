#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Single entries of a live rule: origins, ends, exceptions, bans, flush, feed,
# import; what they say, and what is then dropped.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

VERDICT=$ROOT/build/tools/verdict
mkdir -p "$BALEEN_CONF_DIR"

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# dropped: a letter for each address
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }

# origins: of the first rule, as JSON
origins() { baleen status -j veth-b | jq -c '.[0].rules[0].origins'; }

# fresh KEY...: a rule that drops these
fresh()
{
	[ -z "$(xdp_id "$B" veth-b)" ] || baleen detach veth-b >"$TMP/out"
	printf '%s\n' "$@" >"$TMP/list"
	baleen attach veth-b --capacity 1000 --drop "bad=$TMP/list" >"$TMP/out" 2>"$TMP/err" ||
		bail "cannot attach: $(<"$TMP/err")"
}

# --- what says so first ---

fresh 192.0.2.0/24 '!192.0.2.9'
echo 192.0.2.8/29 >"$TMP/more"
check "another list holds what an exception takes out of the first" baleen merge veth-b:bad "$TMP/more"
is "why names first what holds it" \
	"$(baleen why -j veth-b 192.0.2.9 | jq -c '.[0].rules[0] | [.holds, .entries[].entry]')" \
	'[true,"192.0.2.8/29","!192.0.2.9","192.0.2.0/24"]'
fresh 192.0.2.1
check "an image" baleen build -o "$TMP/more.bln" "$TMP/more"
check "a list and an image" baleen merge veth-b:bad "$TMP/more.bln"
expect "an image holds what is no entry, in no line" 0 "veth-b:bad: 0 deleted" \
	"baleen: veth-b:bad: stays in force: the image $TMP/more.bln holds it" \
	baleen del --exist veth-b:bad 192.0.2.9

# --- what is refused ---

fresh 192.0.2.1
for words in \
	"an end that is none|baleen: add: --ttl '0s': not a time such as 30s, 1h or 2d (see 'baleen help add')|--ttl 0s veth-b:bad 192.0.2.2" \
	"an end without a unit|baleen: add: --ttl '60': not a time such as 30s, 1h or 2d (see 'baleen help add')|--ttl 60 veth-b:bad 192.0.2.2"; do
	IFS='|' read -r name text arguments <<<"$words"
	# shellcheck disable=SC2086
	check_status "$name" 2 baleen add $arguments
	is "$name: says so" "$(head -n 1 "$TMP/err")" "$text"
done
check_status "an origin with a blank" 1 baleen add --origin "a b" veth-b:bad 192.0.2.2
check_status "an end for what is deleted" 2 baleen del --ttl 1h veth-b:bad 192.0.2.1
check_status "a rule that is not there" 1 baleen add --origin x veth-b:other 192.0.2.2
check_status "a key that is none" 1 baleen add veth-b:bad 192.0.2.300
echo "add x 192.0.2.2 timeout 600" >"$TMP/ipset"
check_status "a line of ipset save, whose timeout would be lost" 1 baleen add veth-b:bad -f "$TMP/ipset"
is "it says who takes it" "$(<"$TMP/err")" \
	"baleen: $TMP/ipset:1: a line of 'ipset save': 'baleen import' takes it"
printf '%s\n' " add x 192.0.2.2" "-exist add x 192.0.2.3" "create x hash:ip" >"$TMP/ipset"
check_status "lines of ipset save in other forms" 1 baleen add veth-b:bad -f "$TMP/ipset"
is "it says so of each" "$(grep -c "a line of 'ipset save'" "$TMP/err")" 3
is "nothing has changed" "$(dropped 192.0.2.{1,2})" DP
is "nobody has an entry" "$(origins)" '{}'

# --- origins ---

check "two origins list one key" baleen add veth-b:bad 192.0.2.9 --origin one --reason "first"
check "the other" baleen add veth-b:bad 192.0.2.9 --origin two
check_status "again is said" 1 baleen add veth-b:bad 192.0.2.9 --origin two
prints "or taken" "veth-b:bad: 0 added, 1 renewed" \
	baleen add veth-b:bad 192.0.2.9 --origin two --exist
UNTIMED="baleen: warning: baleend is not running: the end is kept by the next command that changes veth-b"
expect "with its new end" 0 "veth-b:bad: 1 added, 1 renewed, ends in 1h" "$UNTIMED" \
	baleen add veth-b:bad 192.0.2.9 192.0.2.10 --origin two --exist --ttl 1h
is "as JSON" "$(baleen add -j veth-b:bad 192.0.2.9 --origin two --exist | jq -c '[.added, .renewed]')" \
	'[0,1]'
check "the one that was added goes" baleen del veth-b:bad 192.0.2.10 --origin two
is "each has its own" "$(origins)" '{"one":1,"two":1}'
check "one takes it back" baleen del veth-b:bad 192.0.2.9 --origin one
is "the other still holds it" "$(dropped 192.0.2.9)" D
check_status "who has none cannot take it back" 1 baleen del veth-b:bad 192.0.2.9 --origin one
grep -q "origin two" "$TMP/err"
is "it says who has" $? 0
check "the other takes it back" baleen del veth-b:bad 192.0.2.9 --origin two
is "it passes" "$(dropped 192.0.2.9)" P
check_status "what a list holds is no entry" 1 baleen del veth-b:bad 192.0.2.1
grep -q "line 1 of" "$TMP/err"
is "it says which line" $? 0
is "and stays" "$(dropped 192.0.2.1)" D

# --- prefixes within each other ---

fresh 192.0.2.1 198.51.100.7
check "a prefix" baleen add veth-b:bad 198.51.100.0/24
check "a host in it" baleen add veth-b:bad 198.51.100.9
check "a wider one" baleen add veth-b:bad 198.51.0.0/16 --origin wide
is "all of it is dropped" "$(dropped 198.51.100.{7,9,10} 198.51.7.7)" DDDD
check "the wide one goes" baleen del veth-b:bad 198.51.0.0/16 --origin wide
is "the narrower stay" "$(dropped 198.51.100.{7,9,10} 198.51.7.7)" DDDP
check "the prefix goes" baleen del veth-b:bad 198.51.100.0/24
is "the hosts in it stay, by list and by entry" "$(dropped 198.51.100.{7,9,10})" DDP
check "an exception takes out what a list holds" baleen add veth-b:bad '!198.51.100.0/24'
is "but not what an entry does" "$(dropped 198.51.100.{7,9} 192.0.2.1)" PDD
check "it goes" baleen del veth-b:bad '!198.51.100.0/24'
is "as before" "$(dropped 198.51.100.{7,9,10})" DDP

# --- bans ---

fresh 192.0.2.1
check "a lone IPv6 address" baleen add veth-b:bad 2001:db8:1:2::3
grep -q "2001:db8:1:2::/64" "$TMP/err"
is "it says that it is widened, also without an end" $? 0
is "its neighbours are banned, too" "$(dropped 2001:db8:1:2::3 2001:db8:1:2::4 2001:db8:1:3::3)" DDP
in_ns "$B" "$BALEEN" why veth-b 2001:db8:1:2::4 | grep -q "2001:db8:1:2::3 (/64)"
is "why finds it by a neighbour" $? 0
check "lifted by the address, too" baleen del veth-b:bad 2001:db8:1:2::3
is "all of it is" "$(dropped 2001:db8:1:2::3 2001:db8:1:2::4)" PP
echo 2001:db8:1:2::3 >"$TMP/exact"
check "the lines of a file are exact" baleen add veth-b:bad -f "$TMP/exact" --ttl 1h
is "so one is banned" "$(dropped 2001:db8:1:2::3 2001:db8:1:2::4)" DP
check "it is lifted" baleen del veth-b:bad 2001:db8:1:2::3
check "a ban of an IPv6 address" baleen add veth-b:bad 2001:db8:1:2::3 --ttl 1h
grep -q "2001:db8:1:2::/64" "$TMP/err"
is "it says that it is widened" $? 0
is "its neighbours are banned" "$(dropped 2001:db8:1:2::3 2001:db8:1:2::4 2001:db8:1:3::3)" DDP
check "lifted by the address" baleen del veth-b:bad 2001:db8:1:2::3
is "all of it" "$(dropped 2001:db8:1:2::3 2001:db8:1:2::4)" PP
check "a single one, if so said" baleen add veth-b:bad 2001:db8:1:2::3/128 --ttl 1h
is "one" "$(dropped 2001:db8:1:2::3 2001:db8:1:2::4)" DP
check "flush wants to know whose" baleen add veth-b:bad 192.0.2.5 --origin other
check_status "flush of nobody" 2 baleen flush veth-b:bad
check "flush" baleen flush veth-b:bad --origin manual
is "only those" "$(dropped 2001:db8:1:2::3 192.0.2.5)" PD
check "flush all" baleen flush veth-b:bad --all
is "the list stays" "$(dropped 192.0.2.5 192.0.2.1)" PD

# --- the host ---

echo 203.0.113.192/26 >"$BALEEN_CONF_DIR/never.list"
check_status "this host is never banned" 1 baleen add veth-b:bad 10.66.0.2 --origin x
is "10.66.0.2 passes" "$(dropped 10.66.0.2)" P
# One survey: a socket for devices, addresses and routes, one for TCP sessions. The guard
# and the protector share it. libbpf opens one more, to ask for the program of the device.
for words in "add veth-b:bad 192.0.2.66" "del veth-b:bad 192.0.2.66"; do
	# shellcheck disable=SC2086 # words
	check "${words%% *}, with its sockets counted" in_ns "$B" strace -qq -f -o "$TMP/sockets" \
		-e trace=socket "$BALEEN" $words
	is "${words%% *} surveys the host once" "$(grep -c AF_NETLINK "$TMP/sockets")" 3
done

# --- feed ---

fresh 192.0.2.1
printf '%s\n' 'add 192.0.2.7 ttl=1h origin=gate reason="a ban, two words"' 'add 192.0.2.8' \
	'del 192.0.2.9' 'add 192.0.2.300' 'frob' 'add 192.0.2.10 ttl=x' 'add 192.0.2.8' >"$TMP/lines"
baleen feed veth-b:bad - --origin tool <"$TMP/lines" >"$TMP/out" 2>"$TMP/err"
is "feed: bad lines are a failure" $? 1
is "feed: a reply for each line" "$(cut -d ' ' -f 1-2 "$TMP/out" | cut -c 1-6 | tr '\n' '|')" \
	"ok|ok|ok abs|bad '1|bad no|bad tt|ok ren|"
is "feed: nobody keeps the end in time" "$(<"$TMP/err")" "$UNTIMED"
is "feed: in force" "$(dropped 192.0.2.{7,8,9,10})" DDPP
{
	echo "add 192.0.2.7 ttl=1h origin=gate"
	read -rt 0.3 <> <(:)
	echo "add 192.0.2.7 ttl=2h origin=gate"
} | baleen feed veth-b:bad - >"$TMP/out" 2>"$TMP/err"
is "feed: which it says once, however many lines" "$(wc -l <"$TMP/out") $(<"$TMP/err")" "2 $UNTIMED"
is "feed: by origin" "$(origins)" '{"gate":1,"tool":1}'
printf '%s\n' begin 'add 192.0.2.20' 'add 192.0.2.21' commit >"$TMP/lines"
check "feed: a snapshot" bash -c 'exec "${@:2}" <"$1"' - "$TMP/lines" \
	nsenter --net="/run/netns/$B" "$BALEEN" feed veth-b:bad - --origin tool
is "feed: ok for the snapshot" "$(<"$TMP/out")" "ok 2 entries, 0 refused, 1 deleted"
is "feed: it replaces what the origin had, and only that" "$(dropped 192.0.2.{7,8,20,21})" DPDD
printf '%s\n' begin 'add 192.0.2.30' >"$TMP/lines"
baleen feed veth-b:bad - --origin tool <"$TMP/lines" >"$TMP/out" 2>"$TMP/err"
is "feed: half a snapshot is none" "$?$(dropped 192.0.2.{20,30})" 1DP

# --- import ---

cat >"$TMP/set" <<'SET'
create bad hash:net family inet hashsize 1024 maxelem 65536 timeout 0 comment
add bad 198.51.100.0/24 timeout 3600 comment "from ipset"
add bad 198.51.100.7 timeout 0 nomatch
SET
prints "import: a dry run" "veth-b:bad: would be 2 added, 0 renewed, 0 deleted, origin import" \
	baleen import veth-b:bad --format ipset --dry-run "$TMP/set"
is "import: it changes nothing" "$(dropped 198.51.100.{6,7})" PP
check "import: ipset" baleen import veth-b:bad --format ipset "$TMP/set"
is "import: timeouts that nobody keeps in time" "$(<"$TMP/err")" "$UNTIMED"
is "import: nomatch" "$(dropped 198.51.100.{6,7})" DP
prints_import() { baleen import "$@" 2>/dev/null; }
is "import: again they are renewed" "$(prints_import veth-b:bad --format ipset "$TMP/set")" \
	"veth-b:bad: 0 added, 2 renewed, 0 deleted, origin import"
is "import: as JSON" "$(prints_import -j veth-b:bad --format ipset "$TMP/set" | jq -c '[.added, .renewed]')" '[0,2]'
check "import: a snapshot" baleen import veth-b:bad --format ipset --snapshot "$TMP/set"
cat >"$TMP/set" <<'SET'
{"nftables": [{"metainfo": {"version": "1.0.6"}}, {"set": {"family": "inet", "name": "bad",
"table": "filter", "type": "ipv4_addr", "handle": 2, "flags": ["interval", "timeout"],
"elem": [{"elem": {"val": {"prefix": {"addr": "203.0.113.0", "len": 25}}, "timeout": 3600,
"expires": 1800, "comment": "from nft"}}, {"range": ["192.0.2.40", "192.0.2.43"]}]}}]}
SET
check "import: nft" baleen import veth-b:bad --format nft --origin nft "$TMP/set"
is "import: prefix and range" "$(dropped 203.0.113.{5,200} 192.0.2.{40,43,44})" DPDDP
printf '%s\n' '[{"duration": "3h", "type": "ban", "value": "192.0.2.140"},
	{"type": "captcha", "value": "192.0.2.141"}]' >"$TMP/decisions"
prints "import: JSON by the name of its format" "veth-b:bad: 1 added, 0 renewed, 0 deleted, origin pub" \
	prints_import veth-b:bad --column @crowdsec --where type=ban --origin pub --ttl 1d --reason "of a day" "$TMP/decisions"
is "import: is in force" "$(dropped 192.0.2.{140,141})" DP
is "import: has what was said of it" "$(baleen list -j veth-b:bad --origin pub |
	jq -c '.[] | [.entry, .reason, .left_ms > 86000000 and .left_ms <= 86400000]')" '["192.0.2.140","of a day",true]'
prints "import: the same by its path, from a pipe, instead" \
	"veth-b:bad: 1 added, 1 renewed, 0 deleted, origin pub" \
	prints_import veth-b:bad --column '.[].value' --origin pub --snapshot - < <(cat "$TMP/decisions")
is "import: without a time it stays" "$(baleen list -j veth-b:bad --origin pub | jq -c '[.[].left_ms]')" '[null,null]'
printf '192.0.2.142 scans\n!192.0.2.143\n' | gzip >"$TMP/lines"
check "import: a list" baleen import veth-b:bad --format list --origin pub --snapshot "$TMP/lines"
is "import: has its exception" "$(baleen list -j veth-b:bad --origin pub | jq -r '.[].entry' | paste -s)" \
	"192.0.2.142	!192.0.2.143"
printf '192.0.2.144\n192.0.2.300\nadd bad 192.0.2.145 timeout 60\n' >"$TMP/lines"
refuses "import: a list with bad lines" "$TMP/lines:2: '192.0.2.300': octet above 255
baleen: $TMP/lines:3: '192.0.2.145': a line of ipset save: --format ipset reads it, with its end
baleen: $TMP/lines: 2 bad lines: nothing imported" baleen import veth-b:bad --format list "$TMP/lines"
refuses "import: JSON as a list" "$TMP/decisions: is JSON, not a list: --column reads it by a path such as \
.[].ip, see baleen-lists(5)" baleen import veth-b:bad --format list "$TMP/decisions"
for option in "--column 1" "--where a=b" "--delimiter tab" "--ttl 1h" "--reason x"; do
	# shellcheck disable=SC2086 # two words
	expect "import: $option of a set" 2 "" "baleen: import: ${option% *} is not for this format (see 'baleen help import')" \
		baleen import veth-b:bad --format ipset $option "$TMP/lines"
done
check "import: nothing came of these" baleen flush veth-b:bad --origin pub

# --- saved ---

n=$(baleen list -j veth-b:bad | jq length)
expect "save keeps ends" 0 "veth-b: saved 1 rule and $n single entries to $TMP/saved" "" \
	baleen save veth-b -o "$TMP/saved"
is "as JSON" "$(baleen save -j veth-b -o "$TMP/saved" | jq -c .entries)" "$n"

# --- without a state ---

baleen detach veth-b >"$TMP/out"
check_status "a ban where nothing is attached" 1 baleen add veth-b:bad 192.0.2.5 --ttl 1h
is "which it says" "$(cat "$TMP/err")" "baleen: baleen is not attached to veth-b"
check "attach --no-state" baleen attach veth-b --no-state --drop "bad=$TMP/list"
check_status "it has no bans" 1 baleen add veth-b:bad 192.0.2.5 --ttl 1h
check "but keys" baleen add veth-b:bad 192.0.2.5
check "as before" baleen del veth-b:bad 192.0.2.1
is "a key of the list is taken out" "$(dropped 192.0.2.{1,5})" PD

# --- applied, and taken off ---

baleen detach veth-b >"$TMP/out"
echo "rule bans drop" >"$BALEEN_CONF_DIR/veth-b.conf"
check_status "apply" 3 baleen apply
check "detach" baleen detach veth-b
check "a ban is kept" baleen add veth-b:bans 198.51.100.9 --ttl 1h
is "but not in force, which it says" "$(cat "$TMP/err")" \
	"baleen: warning: veth-b: nothing is attached: in force when 'baleen apply' puts it on"
check_status "apply again" 3 baleen apply
is "it is in force" "$(dropped 198.51.100.{9,10})" DP
check "forget it" baleen detach --forget --entries veth-b

# --- what is left ---

baleen detach veth-b >"$TMP/out"
is "detach leaves no state" "$(find "$BALEEN_RUN_DIR" -name 'ns*')" ""
make_netns "$A-x"
ip -n "$A-x" link add gone type veth peer name peer || bail "cannot make a device"
check "attach to a device that will go" nsenter --net="/run/netns/$A-x" "$BALEEN" attach gone \
	--mode generic --drop "bad=$TMP/list"
is "it has a state" "$(find "$BALEEN_RUN_DIR" -maxdepth 1 -name 'ns*' -type d | wc -l)" 1
ip -n "$A-x" link del gone
check "detach by the name it had" nsenter --net="/run/netns/$A-x" "$BALEEN" detach gone
is "its state goes, too" "$(find "$BALEEN_RUN_DIR" -name 'ns*')" ""
ip -n "$A-x" link add gone type veth peer name peer
check "once more" nsenter --net="/run/netns/$A-x" "$BALEEN" attach gone --mode generic \
	--drop "bad=$TMP/list"
ip -n "$A-x" link del gone
check "forget" nsenter --net="/run/netns/$A-x" "$BALEEN" detach --gone
is "or with --gone" "$(find "$BALEEN_RUN_DIR" -name 'ns*')" ""
