#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Single entries go out and come back: by JSON lines as they were, by the real ipset and nft the
# same addresses with what is left of their times.

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
echo 9.9.9.9 >"$TMP/list"
check "attach" baleen attach veth-b --drop "bad=$TMP/list" --drop "back=$TMP/list"

# entries RULE: keys, origins, reasons, and ends as they are
entries()
{
	baleen list -j "veth-b:$1" | jq -c '.[] | [.entry, .origin, .reason, .added_ms, .expires_ms]'
}

# times RULE: keys and reasons, and the next five minutes, in seconds, that each ends in
times()
{
	baleen list -j "veth-b:$1" |
		jq -c '.[] | [.entry, .reason, (if .left_ms then ((.left_ms + 299999) / 300000 | floor * 300) else null end)]' | sort
}

put() { quiet add veth-b:bad "$@" >/dev/null || bail "add $*"; }
empty() { quiet flush "veth-b:$1" --all >/dev/null; }

put 198.51.100.0/24 --ttl 1h --origin ops --reason 'a "scan", twice'
put 198.51.100.7 --ttl 2h --origin cron
put '!198.51.100.64/26' --origin ops
put 203.0.113.4-203.0.113.9 --ttl 30m
put 192.0.2.1 --reason "for good"
put 192.0.2.1 --ttl 30m --origin cron --reason "for less"
put 2001:db8::/48 --ttl 1d --reason "of IPv6"

# --- JSON lines ---

check "JSON lines" baleen export veth-b:bad
cp "$TMP/out" "$TMP/lines"
is "have all of an entry" "$(jq -c 'select(.key == "192.0.2.1" and .origin == "manual") | [.reason, .end]' "$TMP/lines")" \
	'["for good",null]'
is "times are of UTC" "$(jq -r .since "$TMP/lines" | grep -cvE '^20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z$')" 0
prints "come back" "veth-b:back: 7 added, 0 renewed, 0 deleted, origins as listed" \
	quiet import veth-b:back --format json "$TMP/lines"
is "as they were, to the millisecond" "$(entries back)" "$(entries bad)"
prints "of one origin" "$(grep '"origin":"ops"' "$TMP/lines")" baleen export veth-b:bad --origin ops
prints "as of another" "veth-b:back: 6 added, 1 renewed, 0 deleted, origin moved" \
	quiet import veth-b:back --format json --origin moved --snapshot "$TMP/lines"
printf '%s\n' '{"key": "192.0.2.8", "end": "2001-01-01T00:00:00Z"}' '' \
	'{"key": "192.0.2.9", "end": "2199-01-01T00:00:00.5Z"}' >"$TMP/some"
prints "one that has ended" "veth-b:back: 1 added, 0 renewed, 0 deleted, 1 had ended, origins as listed" \
	quiet import veth-b:back --format json "$TMP/some"
is "the other one has its end, and an origin" "$(entries back | grep '192.0.2.9' | jq -c '[.[1], .[4]]')" \
	'["import",7226582400500]'
refused()
{
	printf '%s\n' '{"key": "192.0.2.10"}' "$2" >"$TMP/some"
	refuses "JSON: $1" "$TMP/some:2: $3" baleen import veth-b:back --format json "$TMP/some"
}
refused "a member more" '{"key": "192.0.2.1", "until": "x"}' "until: not a member that export writes"
refused "no key" '{"origin": "x"}' "key: is missing"
refused "no object" '["192.0.2.1"]' "JSON: no object: baleen export prints one a line"
refused "a number" '{"key": 1}' "key: no text"
for time in yesterday 2026-02-30T00:00:00Z 2026-11-27T18:00:00 2026-11-27T18:00:00.Z "2026-11-27T18:00:00+01:00"; do
	refused "$time" '{"key": "192.0.2.1", "end": "'"$time"'"}' "end: not a time such as 2026-11-27T18:00:00Z"
done
is "nothing came of them" "$(entries back | grep -c '192.0.2.10"')" 0
expect "a snapshot of whom?" 2 "" "baleen: import: --snapshot of json needs --origin (see 'baleen help import')" \
	baleen import veth-b:back --format json --snapshot "$TMP/some"

# --- text, csv ---

expect "a list keeps no ends" 0 "192.0.2.1
203.0.113.4-203.0.113.9
2001:db8::/48" "baleen: warning: a list does not keep the ends of 2 entries: --format json does" \
	baleen export veth-b:bad --format text --origin manual
csv() { baleen export veth-b:bad --format csv --origin ops | sed -E 's/20[0-9-]{8}T[0-9:.]*Z/T/g'; }
prints "csv" 'key,origin,reason,since,end
198.51.100.0/24,ops,"a ""scan"", twice",T,T
!198.51.100.64/26,ops,,T,' csv
prints "is a table that import reads" "veth-b:back: 2 added, 0 renewed, 0 deleted, origin csv" \
	quiet import veth-b:back --column key --origin csv <(baleen export veth-b:bad --format csv --origin ops)

# --- ipset ---

empty back
# shellcheck disable=SC2016 # of the inner shell
check "ipset loads it" in_b sh -c '"$0" export veth-b:bad --format ipset --set bad | ipset restore' "$BALEEN"
asked=(192.0.2.1 198.51.100.1 198.51.100.7 198.51.100.70 203.0.113.3 203.0.113.4 203.0.113.9 203.0.113.10)
for address in "${asked[@]}"; do
	in_b ipset -q test bad "$address" && echo D || echo P
done >"$TMP/tests"
is "drops whom Baleen drops" "$(paste -s -d '' "$TMP/tests")" "$(in_b "$VERDICT" veth-b "${asked[@]}")"
check "of IPv6, too" in_b ipset -q test bad6 2001:db8:0:7::1
check "what it saves" in_b sh -c 'ipset save bad >"$0/v4"; ipset save bad6 >"$0/v6"' "$TMP"
for set in v4 v6; do
	check "comes back: $set" quiet import veth-b:back --format ipset "$TMP/$set"
done
is "with reasons and what is left of times" "$(times back)" '["!198.51.100.64/26","",null]
["192.0.2.1","for good",null]
["198.51.100.0/24","a '"'scan'"', twice",3600]
["198.51.100.7","",7200]
["2001:db8::/48","of IPv6",86400]
["203.0.113.4/30","",1800]
["203.0.113.8/31","",1800]'
put 192.0.2.77 --ttl 60d
expect "a time that is too long for ipset" 0 "add baleen 192.0.2.77 timeout 2147483" "baleen: warning: 1 entry is cut to the longest time that ipset has: 2147483 s" \
	sh -c 'nsenter --net="/run/netns/$1" "$0" export veth-b:bad --format ipset | grep -F 192.0.2.77' "$BALEEN" "$B"

# --- nft ---

empty back
# shellcheck disable=SC2016 # of the inner shell
check "nft loads it" in_b sh -c '"$0" export veth-b:bad --format nft --set bad | nft -f -' "$BALEEN"
for set in bad bad6; do
	in_b nft -j list set inet bad "$set" >"$TMP/$set"
	check "comes back: $set" quiet import veth-b:back --format nft "$TMP/$set"
done
is "the same are in force" "$(baleen match veth-b:back "${asked[@]}" | paste -s)" \
	"192.0.2.1	198.51.100.1	198.51.100.7	203.0.113.4	203.0.113.9"
is "with reasons and what is left of times, without exceptions" "$(times back)" '["192.0.2.1","for good",null]
["192.0.2.77","",5184000]
["198.51.100.0-198.51.100.6","a '"'scan'"', twice",3600]
["198.51.100.128/25","a '"'scan'"', twice",3600]
["198.51.100.7","",7200]
["198.51.100.8-198.51.100.63","a '"'scan'"', twice",3600]
["2001:db8::/48","of IPv6",86400]
["203.0.113.4/30","",1800]
["203.0.113.8/31","",1800]'
put '!198.51.100.64/26' --origin ops --exist --ttl 10m
expect "what comes back when an exception ends has no form there" 0 "" \
	"baleen: warning: 1 stretch of addresses would come back when an exception ends: left out" \
	sh -c 'nsenter --net="/run/netns/$1" "$0" export veth-b:bad --format nft >"$2"' "$BALEEN" "$B" "$TMP/some"

# --- words ---

USAGE="(see 'baleen help export')"
expect "a device alone" 2 "" "baleen: export: 'veth-b' is neither DEV:RULE, bans nor fleet:SET $USAGE" baleen export veth-b
expect "another format" 2 "" "baleen: export: --format 'xml': not json, text, ipset, nft or csv $USAGE" \
	baleen export veth-b:bad --format xml
check_status "a name that is none" 2 baleen export veth-b:bad --format nft --set 'a b'
check_status "no such rule" 1 baleen export veth-b:none
printf '192.0.2.1,443\n' >"$TMP/flows"
check "keys of two fields" baleen rule add veth-b --drop "flows=$TMP/flows" --key src,dport
check "with a single one" baleen add veth-b:flows 192.0.2.2,443
refuses "no set has such" "veth-b:flows: its keys are no addresses: --format json or text prints them" \
	baleen export veth-b:flows --format ipset
prints "but text" 192.0.2.2,443 baleen export veth-b:flows --format text
