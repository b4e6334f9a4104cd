#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The single entries of all rules of a host go out and come back to the rules that they are of,
# parked ones, too; as one list or one set they are what any rule drops.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
VERDICT=$ROOT/build/tools/verdict
in_b() { in_ns "$B" "$@"; }
baleen() { in_b "$BALEEN" "$@"; }
quiet() { baleen "$@" 2>/dev/null; }
# heard PATTERN ARGUMENT...: of what it says on stderr only this
heard()
{
	local status

	baleen "${@:2}" 2>"$TMP/said"
	status=$?
	grep -o -- "$1" "$TMP/said" >&2
	return "$status"
}
ip -n "$B" link add veth-c type veth peer name veth-d || bail "no second pair"
ip -n "$B" link set veth-c up

# --- nothing yet ---

prints "without a book there is nothing" "" baleen export
prints "but a head of a table" "rule,key,origin,reason,since,end" baleen export --format csv
prints "an empty set" "create baleen hash:net family inet maxelem 65536" baleen export --format ipset
refuses "no state" "veth-b has no rules, and no entries that wait for some" baleen export veth-b:bad
: >"$TMP/lines"
prints "an empty file has no entry" "$TMP/lines: no entry in it" baleen import --format json "$TMP/lines"
prints "as JSON" "[]" baleen import --format json -j "$TMP/lines"

# --- entries of two devices ---

echo 9.9.9.9 >"$TMP/list"
printf '192.0.2.1,443\n' >"$TMP/flows"
check "attach" baleen attach veth-b --drop "bad=$TMP/list" --drop "more=$TMP/list" \
	--allow "good=$TMP/list" --drop "old=$TMP/list"
check "a rule of two fields" baleen rule add veth-b --drop "flows=$TMP/flows" --key src,dport
check "another device" baleen attach veth-c --drop "bad=$TMP/list"
put() { quiet add "$@" >/dev/null || bail "add $*"; }
put veth-b:bad 198.51.100.0/24 --ttl 1h --origin ops --reason 'a "scan", twice'
put veth-b:bad '!198.51.100.64/26' --origin ops
put veth-b:bad 198.51.100.65 --ttl 2h
put veth-b:bad 192.0.2.1 --ttl 30m --origin cron --reason "for less"
put veth-b:bad 2001:db8::/48 --ttl 1d --reason "of IPv6"
put veth-b:more 198.51.100.70 203.0.113.4-203.0.113.9
put veth-b:more 192.0.2.1 --ttl 3h --reason "for more"
put veth-b:good 192.0.2.77
put veth-b:flows 192.0.2.2,443 --ttl 1h
put veth-b:old 203.0.113.200 --ttl 2d --reason "of before"
put veth-b:old 203.0.113.201 --origin cron
put veth-c:bad 192.0.2.1 --ttl 1h --origin cron
put veth-c:bad 198.18.0.0/15
check "a rule goes" quiet rule del veth-b:old

# --- JSON lines ---

# listed: rule, key, origin, reason, since and end of all that are listed
listed()
{
	baleen list -j | jq -c '.[] | ["\(.device):\(.rule)", .entry, .origin, .reason, .added_ms, .expires_ms]' | sort
}

# lined FILE: the same of lines
lined()
{
	jq -c 'def ms: if . then (sub("\\.[0-9]+Z$"; "Z") | fromdate) * 1000 + (capture("\\.(?<ms>[0-9]+)Z$").ms | tonumber) else null end;
		[.rule, .key, .origin, .reason, (.since | ms), (.end | ms)]' "$1" | sort
}

check "all of them" baleen export
cp "$TMP/out" "$TMP/lines"
is "are what is listed, parked ones, too" "$(lined "$TMP/lines")" "$(listed)"
is "of each rule" "$(jq -r .rule "$TMP/lines" | sort | uniq -c | awk '{ print $2, $1 }' | paste -sd ,)" \
	"veth-b:bad 5,veth-b:flows 1,veth-b:good 1,veth-b:more 3,veth-b:old 2,veth-c:bad 2"
prints "a rule alone names none" "$(grep '"rule":"veth-c:bad"' "$TMP/lines" | jq -c 'del(.rule)')" \
	baleen export veth-c:bad
prints "nor one whose entries are parked" "$(grep '"rule":"veth-b:old"' "$TMP/lines" | jq -c 'del(.rule)')" \
	baleen export veth-b:old
prints "of one origin" "$(grep '"origin":"cron"' "$TMP/lines")" baleen export --origin cron
refuses "no such rule, and nothing parked" "veth-b has no rule 'none': see 'baleen status veth-b'" \
	baleen export veth-b:none

# empty_all: no rule has an entry, and none waits for one
empty_all()
{
	local rule

	quiet rule add veth-b --drop "old=$TMP/list" >/dev/null
	for rule in veth-b:{bad,more,good,flows,old} veth-c:bad; do
		quiet flush "$rule" --all >/dev/null || bail "flush $rule"
	done
	quiet rule del veth-b:old >/dev/null
}
empty_all
is "they go" "$(baleen list)" ""
expect "a dry run" 1 "veth-b:bad: would be 5 added, 0 renewed, 0 deleted, origins as listed
veth-b:flows: would be 1 added, 0 renewed, 0 deleted, origins as listed
veth-b:good: would be 1 added, 0 renewed, 0 deleted, origins as listed
veth-b:more: would be 3 added, 0 renewed, 0 deleted, origins as listed
veth-c:bad: would be 2 added, 0 renewed, 0 deleted, origins as listed" \
	"baleen: veth-b:old: 2 entries not imported: there is no such rule" \
	baleen import --format json --dry-run "$TMP/lines"
is "changes nothing" "$(baleen list)" ""
expect "each comes back to its rule, and a rule that is gone is named" 1 \
	"veth-b:bad: 5 added, 0 renewed, 0 deleted, origins as listed
veth-b:flows: 1 added, 0 renewed, 0 deleted, origins as listed
veth-b:good: 1 added, 0 renewed, 0 deleted, origins as listed
veth-b:more: 3 added, 0 renewed, 0 deleted, origins as listed
veth-c:bad: 2 added, 0 renewed, 0 deleted, origins as listed" \
	"baleen: veth-b:old: 2 entries not imported: there is no such rule" \
	heard ".*not imported.*" import --format json "$TMP/lines"
is "they are what they were" "$(baleen export)" "$(grep -v '"veth-b:old"' "$TMP/lines")"
check "the rule comes back" quiet rule add veth-b --drop "old=$TMP/list"
prints "so do its entries" "veth-b:bad: 0 added, 5 renewed, 0 deleted, origins as listed
veth-b:flows: 0 added, 1 renewed, 0 deleted, origins as listed
veth-b:good: 0 added, 1 renewed, 0 deleted, origins as listed
veth-b:more: 0 added, 3 renewed, 0 deleted, origins as listed
veth-b:old: 2 added, 0 renewed, 0 deleted, origins as listed
veth-c:bad: 0 added, 2 renewed, 0 deleted, origins as listed" quiet import --format json "$TMP/lines"
is "all are what they were" "$(baleen export)" "$(<"$TMP/lines")"
check "as JSON" quiet import --format json -j "$TMP/lines"
is "an object for each rule" "$(jq -c '[.[] | [.target, .added, .renewed]]' "$TMP/out")" \
	'[["veth-b:bad",0,5],["veth-b:flows",0,1],["veth-b:good",0,1],["veth-b:more",0,3],["veth-b:old",0,2],["veth-c:bad",0,2]]'
check "into a rule that is given" quiet import veth-c:bad --format json --origin moved <(grep -v flows "$TMP/lines")
is "go all of them, whatever the lines name" "$(baleen list -j veth-c --origin moved | jq length)" 11
check "they go" quiet flush veth-c:bad --origin moved
sed 's/}$/,"rule":"veth-c:bad"}/' <(baleen export veth-b:more --origin manual) >"$TMP/some"
prints "a snapshot of an origin" "veth-c:bad: 3 added, 0 renewed, 1 deleted, origin manual" \
	quiet import --format json --origin manual --snapshot "$TMP/some"
prints "is of the rules that the lines name" "veth-c:bad: 1 added, 0 renewed, 3 deleted, origin manual" \
	quiet import --format json --origin manual --snapshot <(grep 198.18 "$TMP/lines")
is "all are what they were" "$(baleen export)" "$(<"$TMP/lines")"

# --- what is never dropped ---

put veth-b:bad 10.66.0.0/24 --ttl 1h --narrow --reason "all but us"
baleen export | grep all.but.us >"$TMP/some"
check "an entry that was narrowed goes" quiet flush veth-b:bad --origin manual
check_status "and does not come back of itself" 1 quiet import --format json "$TMP/some"
is "which is counted" "$(<"$TMP/out")" "veth-b:bad: 0 added, 0 renewed, 0 deleted, 1 refused, origins as listed"
prints "but with --narrow" "veth-b:bad: 1 added, 0 renewed, 0 deleted, 1 narrowed, origins as listed" \
	quiet import --format json --narrow "$TMP/some"
is "as it was" "$(baleen export | grep all.but.us)" "$(<"$TMP/some")"
is "without what is never dropped" "$(in_b "$VERDICT" veth-b 10.66.0.2 10.66.0.77)" PD
check "it goes again" quiet flush veth-b:bad --origin manual
put veth-b:bad 44.0.0.0/7 --ttl 1h --force --reason "very wide"
baleen export | grep very.wide >"$TMP/some"
check "an entry that is very wide goes" quiet flush veth-b:bad --origin manual
check_status "and does not come back of itself" 1 quiet import --format json "$TMP/some"
check "but with --force" quiet import --format json --force "$TMP/some"
is "as it was" "$(baleen export | grep very.wide)" "$(<"$TMP/some")"
check "it goes again" quiet flush veth-b:bad --origin manual
check "the others come" quiet import --format json "$TMP/lines"
is "all are what they were" "$(baleen export)" "$(<"$TMP/lines")"

# --- lines that are refused ---

# refused NAME LINE MESSAGE: as the second one
refused()
{
	printf '%s\n' '{"rule": "veth-c:bad", "key": "192.0.2.10"}' "$2" >"$TMP/some"
	refuses "$1" "$TMP/some:2: $3" baleen import --format json "$TMP/some"
}
refused "a line without a rule" '{"key": "192.0.2.11"}' "rule: is missing, and no DEV:RULE was given"
refused "a rule without a device" '{"rule": "bad", "key": "192.0.2.11"}' "rule: neither DEV:RULE nor bans"
refused "one of the module" '{"rule": "kmod:bad", "key": "192.0.2.11"}' "rule: neither DEV:RULE nor bans"
refused "a name that no rule can have" '{"rule": "veth-c:bad-bad-bad-bad-bad-bad-bad-bad-bad-bad-bad-bad-bad", "key": "192.0.2.11"}' "rule: neither DEV:RULE nor bans"
refused "no text" '{"rule": 1, "key": "192.0.2.11"}' "rule: no text"
refused "a key that the rule cannot have" '{"rule": "veth-b:flows", "key": "192.0.2.11"}' "'192.0.2.11': fewer fields than the key has"
refused "no key" '{"rule": "veth-c:bad", "key": "192.0.2.300"}' "'192.0.2.300': octet above 255"
is "nothing came of them" "$(baleen export)" "$(<"$TMP/lines")"
printf '{"rule": "veth-%s:bad", "key": "192.0.2.11"}\n' x c x >"$TMP/some"
expect "a device that is not there keeps nothing from the others" 1 \
	"veth-c:bad: 1 added, 0 renewed, 0 deleted, origins as listed" \
	"baleen: veth-x:bad: 2 entries not imported: there is no such rule" \
	baleen import --format json "$TMP/some"
check "it goes" quiet flush veth-c:bad --origin import
printf '{"rule": "veth-b:bad", "key": "%s", "origin": "%s"}\n' 192.0.2.11 widen 192.0.2.12 fleet:a/b 10.66.0.2 import >"$TMP/some"
expect "what Baleen makes itself is left out, and what is never dropped is refused" 1 \
	"veth-b:bad: 0 added, 0 renewed, 0 deleted, 1 refused, 2 of Baleen's own left out, origins as listed" \
	"baleen: veth-b:bad: '10.66.0.2' not added" \
	heard "baleen: veth-b:bad: '10.66.0.2' not added" import --format json "$TMP/some"
USAGE="(see 'baleen help import')"
expect "no file" 2 "" "baleen: import: DEV:RULE or bans, and one FILE are asked for $USAGE" baleen import --format json veth-b:bad
expect "nothing at all" 2 "" "baleen: import: DEV:RULE or bans, and one FILE are asked for $USAGE" baleen import --format json
expect "sets name no rules" 2 "" "baleen: import: DEV:RULE or bans, and one FILE are asked for $USAGE" baleen import --format ipset "$TMP/lines"

# --- csv ---

check "the rule goes again" quiet rule del veth-b:old
check "a table" baleen export --format csv
is "has the same rows" "$(tail -n +2 "$TMP/out" | python3 -c '
import csv, json, sys
for row in csv.reader(sys.stdin): print(json.dumps(row))' | sort)" \
	"$(jq -r '[.rule, .key, .origin, .reason, .since, .end // ""] | @json' "$TMP/lines" |
		python3 -c 'import json, sys
for line in sys.stdin: print(json.dumps(json.loads(line)))' | sort)"

# --- one list, one set ---

WARNINGS="baleen: warning: veth-b:flows: 1 key is of several fields: left out: --format json has them
baleen: warning: veth-b:good does not drop: its 1 entry is left out: --format json has them
baleen: warning: there is no rule veth-b:old: its 2 parked entries are taken for bans"
expect "a list is what any rule drops: an exception is of its own rule" 0 "192.0.2.1
198.18.0.0/15
198.51.100.0/26
198.51.100.65
198.51.100.70
198.51.100.128/25
203.0.113.4-203.0.113.9
203.0.113.200
203.0.113.201
2001:db8::/48" "$WARNINGS
baleen: warning: a list does not keep the ends of 6 entries: --format json does" baleen export --format text
asked=(192.0.2.1 192.0.2.77 198.18.9.9 198.51.100.1 198.51.100.64 198.51.100.65 198.51.100.70 198.51.100.200
	203.0.113.3 203.0.113.4 203.0.113.9 203.0.113.200 203.0.113.201)
# dropped: a letter for each of these, as both devices and what is parked have it
dropped()
{
	paste -d ' ' <(in_b "$VERDICT" veth-b "${asked[@]}" | fold -w 1) <(in_b "$VERDICT" veth-c "${asked[@]}" | fold -w 1) |
		awk '{ print /D/ ? "D" : "P" }' | paste -sd '' | sed 's/PP$/DD/'
}
expect "one set a family" 0 "" "$WARNINGS" \
	sh -c 'nsenter --net="/run/netns/$1" "$0" export --format ipset --set any >"$2"' "$BALEEN" "$B" "$TMP/some"
check "which ipset loads" in_b ipset restore -file "$TMP/some"
for address in "${asked[@]}"; do
	in_b ipset -q test any "$address" && echo D || echo P
done >"$TMP/tests"
is "drops whom any device drops" "$(paste -s -d '' "$TMP/tests")" "$(dropped)"
is "of one key stays what stays longest" "$(grep -E '^add any 192\.0\.2\.1 ' "$TMP/some" | awk '{ print int(($5 + 299) / 300) * 300, $6, $7, $8 }')" \
	'10800 comment "for more"'
expect "nft, too" 0 "" "$WARNINGS" \
	sh -c 'nsenter --net="/run/netns/$1" "$0" export --format nft --set any >"$2"' "$BALEEN" "$B" "$TMP/some"
check "which nft loads" in_b nft -f "$TMP/some"
for address in "${asked[@]}"; do
	in_b nft get element inet any any "{ $address }" >/dev/null 2>&1 && echo D || echo P
done >"$TMP/tests"
is "drops the same" "$(paste -s -d '' "$TMP/tests")" "$(dropped)"

# --- devices that are renamed, or sick ---

ip -n "$B" link set veth-c down && ip -n "$B" link set veth-c name veth-x
prints "a device that was renamed has its entries" "$(grep '"veth-c:bad"' "$TMP/lines" | jq -c 'del(.rule)')" \
	baleen export veth-x:bad
put veth-x:bad 192.0.2.1 --ttl 1h --origin cron --exist
is "the next change of it renames them" "$(baleen export | jq -r .rule | sort -u | paste -sd ,)" \
	"veth-b:bad,veth-b:flows,veth-b:good,veth-b:more,veth-b:old,veth-x:bad"
check "they come back" quiet import --format json <(baleen export | grep -v veth-b:old)
ip -n "$B" link set veth-x name veth-c && ip -n "$B" link set veth-c up
put veth-c:bad 192.0.2.1 --ttl 1h --origin cron --exist
state=$(echo "$BALEEN_RUN_DIR"/*-if"$(ip -n "$B" -o link show veth-c | cut -d: -f1)"/state.db)
[ -f "$state" ] || bail "no state in $BALEEN_RUN_DIR"
: >"$state"
is "a sick device keeps no line from the others" "$(baleen export | jq -r .rule | sort -u | paste -sd ,)" \
	"veth-b:bad,veth-b:flows,veth-b:good,veth-b:more,veth-b:old,veth-c:bad"
check_status "nor an entry" 1 quiet import --format json <(grep -e veth-b:bad -e veth-c:bad "$TMP/lines")
is "which goes to its rule" "$(<"$TMP/out")" "veth-b:bad: 0 added, 5 renewed, 0 deleted, origins as listed"
check_status "a set is not known without its rules" 1 baleen export --format ipset
