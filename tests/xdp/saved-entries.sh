#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# save and restore keep single entries and bans as what they are: with origin, reason and end, beside
# copies of lists.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

ip -n "$B" link add veth-c type veth peer name veth-d
baleen() { in_ns "$B" "$BALEEN" "$@"; }
# dropped DEV ADDRESS...: a letter for each
dropped() { in_ns "$B" "$ROOT/build/tools/verdict" "$@"; }
# rows: what the book has, but when it was added
rows() { baleen list -j | jq -c '.[] | [.device, .rule, .entry, .origin, .reason, .added_ms, .expires_ms]' | sort; }
ASKED=(9.9.9.9 20.1.0.9 20.1.0.8 198.51.100.4 198.51.100.5 20.2.2.2 20.3.3.3)

printf '%s\n' 9.9.9.9 20.1.0.0/24 >"$TMP/list"
echo 9.9.9.1 >"$TMP/one"
check "attach" baleen attach veth-b --drop bans="$TMP/one" bans --drop jail="$TMP/list"
check "a ban" baleen ban 198.51.100.0/24 1h --reason "a scan"
check "a part of it is not" baleen unban 198.51.100.5
check "an entry" baleen add veth-b:jail 20.2.2.2 --ttl 2d --origin f2b
check "an exception" baleen add veth-b:jail '!20.1.0.9'
check "a ban for a moment" baleen ban 20.3.3.3 1s
is "are in force" "$(dropped veth-b "${ASKED[@]}")" DPDDPDD
prints "save" "veth-b: saved 2 rules and 5 single entries to $TMP/saved" baleen save veth-b -o "$TMP/saved"
is "copies have what lists have" "$(cat "$TMP/saved/bans.1" "$TMP/saved/jail.2" | xargs)" "9.9.9.1 9.9.9.9 20.1.0.0/24"
read -rt 1.1 <> <(:)
before=$(rows | grep -v 20.3.3.3)

# --- where nothing is left ---

check "all goes" baleen flush bans --all
check "and the rest" baleen detach --forget --entries veth-b
is "is gone" "$(rows)" ""
prints "restore" "veth-b: restored 2 rules, attached, native, 4 single entries, 1 ended since" \
	baleen restore veth-b "$TMP/saved"
is "is in force as before" "$(dropped veth-b "${ASKED[@]}")" DPDDPDP
is "with origin, reason, since when and until when" "$(rows)" "$before"
prints "saved again" "veth-b: saved 2 rules and 4 single entries to $TMP/again" baleen save veth-b -o "$TMP/again"
check "forget" baleen detach --forget --entries veth-b
check "restore that" baleen restore veth-b "$TMP/again"
check "save" baleen save veth-b -o "$TMP/third"
is "the same bytes" "$(diff -r "$TMP/again" "$TMP/third" 2>&1)" ""

# --- where something is ---

check "one was changed since" baleen add --exist veth-b:jail 20.2.2.2 --origin f2b --ttl 5d
check "one is new" baleen ban 20.4.4.4
before=$(rows)
is "restore puts what is not there" "$(baleen restore -j veth-b "$TMP/again" |
	jq -c '[.how, .entries, .entries_there, .entries_ended, .entries_refused]')" '["updated",0,4,0,0]'
is "and leaves what is" "$(rows)" "$before"
check "to another device" baleen restore veth-c "$TMP/again"
is "its rules have their entries, and bans are of all" "$(dropped veth-c "${ASKED[@]}" 20.4.4.4)" DPDDPDPD
echo 20.2.2.2 >"$TMP/never"
mkdir "$BALEEN_CONF_DIR"
cp "$TMP/never" "$BALEEN_CONF_DIR/never.list"
check "forget" baleen detach --forget --entries veth-c
expect "where one is never dropped" 1 "veth-c: restored 2 rules, attached, native, 1 single entry, 2 there already" \
	"baleen: veth-c: 1 entry not restored, such as 20.2.2.2: never dropped here" baleen restore veth-c "$TMP/again"
is "it is not" "$(dropped veth-c 20.2.2.2 198.51.100.4)" PD

# --- what was not saved ---

before=$(rows)
sed -i 's/a scan/a scam/' "$TMP/saved/entries.json"
refuses "a line that was edited" "$TMP/saved/entries.json: is not what was saved" baleen restore veth-b "$TMP/saved"
rm "$TMP/saved/entries.json"
refuses "none" "$TMP/saved/entries.json: No such file or directory" baleen restore veth-b "$TMP/saved"
cp "$TMP/again/entries.json" "$TMP/saved"
refuses "those of another" "$TMP/saved/entries.json: is not what was saved" baleen restore veth-b "$TMP/saved"
is "nothing has changed" "$(rows)" "$before"
check "flush" baleen flush bans --all
check "detach" baleen detach --forget --entries veth-b
check "a device without entries" baleen attach veth-b --drop bad="$TMP/list"
prints "has none to save" "veth-b: saved 1 rule to $TMP/third" baleen save veth-b -o "$TMP/third"
is "nor a file" "$(cd "$TMP/third" && echo *)" "bad.1 device.conf saved.json"
