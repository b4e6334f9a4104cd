#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# list: the single entries of a rule, of a device or of all, by key, origin and end.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
mkdir "$BALEEN_CONF_DIR"

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# keys [ARGUMENT...]: of what is listed, in order, with their rules
keys() { baleen list -j "$@" | jq -r 'map(.rule + ":" + .entry) | join(" ")'; }

# --- refused ---

prints "no book" "" baleen list
check_status "three words" 2 baleen list veth-b 192.0.2.1 192.0.2.2
check_status "two keys" 2 baleen list veth-b 192.0.2.1 192.0.2.2
check_status "no time" 2 baleen list veth-b --ending 60
check_status "what has no state" 1 baleen list veth-b
echo 203.0.113.0/24 >"$TMP/list"
check "attach" baleen attach veth-b --drop "bad=$TMP/list" --drop "jail=$TMP/list"
refuses "no such rule" "veth-b has no rule 'other': see 'baleen status veth-b'" baleen list veth-b:other

# --- nothing yet ---

prints "no entry" "" baleen list veth-b
prints "as JSON" "[]" baleen list -j veth-b
refuses "an address with a slip in it" "'300.1.1.1': octet above 255" baleen list 300.1.1.1
refuses "behind a device, too" "'300.1.1.1': octet above 255" baleen list veth-b 300.1.1.1
refuses "of the log" "'300.1.1.1': octet above 255" baleen log 300.1.1.1
expect "no such entry" 1 "" "" baleen list veth-b 203.0.113.1

# --- entries ---

check "for good" baleen add veth-b:bad 192.0.2.1
check "for a while" baleen add veth-b:bad 192.0.2.2 --ttl 30m --origin sshd --reason "5 of them"
check "for longer" baleen add veth-b:jail 192.0.2.0/28 --ttl 2d --origin sshd
check "an exception" baleen add veth-b:jail '!203.0.113.9'
check "a range" baleen add veth-b:jail 198.51.100.7-198.51.100.9
check "IPv6" baleen add veth-b:jail 2001:db8::/64
today=$(date +%Y-%m-%d)
is "as a table" "$(baleen list veth-b:bad | sed -E "s/$today [0-9:]+/TODAY/; s/(30m|29m..s) */LEFT /; s/ +/ /g")" \
	"RULE KEY ORIGIN SINCE LEFT REASON
veth-b:bad 192.0.2.1 manual TODAY - -
veth-b:bad 192.0.2.2 sshd TODAY LEFT 5 of them
2 entries, 1 with an end"
is "of all devices" "$(keys)" "$(keys veth-b)"
is "of all that hold an address" "$(keys 192.0.2.2)" "bad:192.0.2.2 jail:192.0.2.0/28"
is "of IPv6, too" "$(keys 2001:db8::7)" "jail:2001:db8::/64"
is "the next to end first" "$(keys --sort left | cut -d ' ' -f 1-2)" "bad:192.0.2.2 jail:192.0.2.0/28"
is "the oldest first" "$(keys --sort since)" "bad:192.0.2.1 bad:192.0.2.2 jail:192.0.2.0/28 \
jail:!203.0.113.9 jail:198.51.100.7-198.51.100.9 jail:2001:db8::/64"
check_status "another column" 2 baleen list --sort reason
check "an origin as long as they get" baleen add veth-b:jail 2001:db8:1::-2001:db8:1:ffff::9 --origin "$(printf 'o%.0s' {1..63})"
is "columns are aligned" "$(baleen list | head -n -1 | awk '{ print index($0, substr($0, match($0, / (ORIGIN|sshd|manual|ooo)/) + 1)) }' | sort -u | wc -l)" 1
check "it goes" baleen flush veth-b:jail --origin "$(printf 'o%.0s' {1..63})"
is "of all rules" "$(keys veth-b)" "bad:192.0.2.1 bad:192.0.2.2 jail:198.51.100.7-198.51.100.9 \
jail:!203.0.113.9 jail:2001:db8::/64 jail:192.0.2.0/28"
is "of one" "$(keys veth-b:bad)" "bad:192.0.2.1 bad:192.0.2.2"
is "of an origin" "$(keys veth-b --origin sshd)" "bad:192.0.2.2 jail:192.0.2.0/28"
is "that end soon" "$(keys veth-b --ending 1h)" "bad:192.0.2.2"
is "that end" "$(keys veth-b --ending 3d)" "bad:192.0.2.2 jail:192.0.2.0/28"
is "that hold an address" "$(keys veth-b 192.0.2.2)" "bad:192.0.2.2 jail:192.0.2.0/28"
is "of one origin" "$(keys veth-b 192.0.2.1 --origin manual)" "bad:192.0.2.1"
is "the longest prefix first" "$(baleen add veth-b:jail 192.0.2.2 192.0.2.0/24 --origin z >"$TMP/out" &&
	keys veth-b:jail 192.0.2.2 && baleen flush veth-b:jail --origin z >"$TMP/out")" \
	"jail:192.0.2.2 jail:192.0.2.0/28 jail:192.0.2.0/24"
is "in a range" "$(keys veth-b 198.51.100.8)" "jail:198.51.100.7-198.51.100.9"
is "in a prefix that is asked for" "$(keys veth-b 192.0.0.0/16)" \
	"bad:192.0.2.1 bad:192.0.2.2 jail:192.0.2.0/28"
is "of IPv6" "$(keys veth-b 2001:db8::7)" "jail:2001:db8::/64"
is "all together" "$(keys veth-b:jail --origin sshd --ending 3d 192.0.2.15)" "jail:192.0.2.0/28"
check_status "what matches nothing" 1 baleen list veth-b --origin nobody
is "with all that is known" "$(baleen list -j veth-b 192.0.2.2 --ending 1h | jq -c '.[] |
	[.device, .rule, .entry, .origin, .reason, .expires_ms - .added_ms, .left_ms > 1700000,
	.left_ms <= 1800000, .added_ms / 1000 > now - 60]')" \
	'["veth-b","bad","192.0.2.2","sshd","5 of them",1800000,true,true,true]'
is "for good is null" "$(baleen list -j veth-b 192.0.2.1 --origin manual | jq -c '.[] | [.expires_ms, .left_ms]')" '[null,null]'
check "what has ended" baleen add veth-b:bad 192.0.2.3 --ttl 1ms
is "is listed as long as it is in force" "$(baleen list veth-b:bad 192.0.2.3 |
	sed -n 's/.* ended .*; ended [0-9a-z]* ago, \(in force until .*\)/\1/p')" \
	"in force until baleend or the next command"
check "the next command" baleen add veth-b:bad 192.0.2.2 --origin sshd --exist --ttl 30m
is "takes it out" "$(keys veth-b:bad)" "bad:192.0.2.1 bad:192.0.2.2"

# --- a device where its rule is asked for ---

for command in "add veth-b 192.0.2.1" "del veth-b 192.0.2.1" "match veth-b 192.0.2.1" "dump veth-b"; do
	# shellcheck disable=SC2086 # words
	refuses "$command" "veth-b is a device: say of which rule: veth-b:bad or veth-b:jail" \
		baleen $command
done
refuses "a device without rules" \
	"lo is a device, and no rules of it are known here: see 'baleen status lo'" baleen add lo 192.0.2.1
(cd "$TMP" && cp list veth-b && baleen dump ./veth-b >listed 2>&1)
is "a file of that name" "$(<"$TMP/listed")" 203.0.113.0/24
