#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The book: single entries are the host's. They stay when a rule, a device or a configuration goes,
# and are in force again with a rule of their name; the journal has what became of them; what is
# damaged is set aside. R6 is of ../shared/BOOK.md.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
make_pair
mkdir "$BALEEN_CONF_DIR"
VERDICT=$ROOT/build/tools/verdict
BOOK=$(book_of "$B")

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }
conf() { printf '%s\n' "$@" >"$BALEEN_CONF_DIR/veth-b.conf"; }
# rows: the keys in the book
rows() { baleen list -j veth-b | jq -r '.[].entry' | sort | paste -sd ' '; }
# journal ...: what became of entries, the oldest first
journal() { baleen log -j "$@" | jq -r '.[] | "\(.what) \(.entry // .entries) \(.origin)"' | paste -sd ,; }

echo 20.1.1.1 >"$TMP/list"
conf "rule jail drop" " bans" " feed $TMP/list" "rule bad drop" " feed $TMP/list"

# --- the journal ---

check "without a book there is no journal" baleen log
is "and nothing is said" "$(<"$TMP/out")" ""
check_status "a configuration" 3 baleen apply
check "makes one, without entries" test -e "$BOOK"
check "a ban" baleen ban 192.0.2.1 1h --reason "scans ports"
check "an entry" baleen add veth-b:jail 192.0.2.2 198.51.100.0/24 --origin soc
check "it is renewed" baleen add --exist veth-b:jail 192.0.2.2 --origin soc --ttl 2h
check "it is taken back" baleen del veth-b:jail 192.0.2.2 --origin soc
is "the journal has them" "$(journal)" \
	"added 192.0.2.1 manual,added 192.0.2.2 soc,added 198.51.100.0/24 soc,renewed 192.0.2.2 soc,deleted 192.0.2.2 soc"
is "by key" "$(journal 198.51.100.7)" "added 198.51.100.0/24 soc"
check_status "no such key" 1 baleen log 203.0.113.1
is "by origin" "$(journal --origin manual)" "added 192.0.2.1 manual"
is "with reason, end and who" "$(baleen log 192.0.2.1 | sed -E 's/[0-9-]{10} [0-9:]{8}/TIME/g')" \
	"TIME bans: 192.0.2.1 added, origin manual, until TIME, scans ports (timeout, uid 0: ban)"
check_status "a dry run" 0 baleen add --dry-run veth-b:jail 192.0.2.9
check_status "what is refused" 1 baleen add veth-b:jail 10.66.0.2
is "are not in it, but the refusal is" "$(journal | tr , '\n' | sed -n '6,$p')" "refused 10.66.0.2 manual"
check_status "again" 1 baleen add veth-b:jail 10.66.0.2
check_status "for all rules" 1 baleen ban 10.66.0.2
is "by a program" "$(baleen feed bans - --origin f2b <<<"ban 10.66.0.2" | cut -d ' ' -f 1)" refused
is "once an hour, a scope and an origin" "$(journal | tr , '\n' | sed -n '6,$p' | paste -sd ,)" \
	"refused 10.66.0.2 manual,refused 10.66.0.2 manual,refused 10.66.0.2 f2b"
is "with why and who" "$(baleen log 10.66.0.2 | sed -nE '3s/^[0-9-]{10} [0-9:]{8} //p')" \
	"bans: 10.66.0.2 refused, origin f2b, 10.66.0.2 is never dropped (address) (timeout, uid 0: feed)"
for ((i = 0; i < 12; i++)); do
	for ((k = 0; k < 100; k++)); do echo "ban 10.66.0.2 origin=o$i.$k"; done | baleen feed bans - >"$TMP/out"
done
is "a thousand are kept, apart from what was done" "$(journal | tr , '\n' | grep -c refused) $(journal | tr , '\n' | grep -vc refused)" \
	"1000 5"
sqlite3 "$BOOK" "DELETE FROM refusal"
for ((i = 0; i < 3000; i++)); do echo "100.64.$((i / 250)).$((i % 250))"; done >"$TMP/many"
check "many" baleen add veth-b:jail --file "$TMP/many" --origin feed
is "have a record of the rest" "$(journal --origin feed | tr , '\n' | tail -n 1) $(journal --origin feed | tr , '\n' | wc -l)" \
	"added 2000 feed 1001"
check "and go" baleen flush veth-b:jail --origin feed
is "in one" "$(journal --origin feed | tr , '\n' | tail -n 1)" "deleted 3000 feed"
{ echo begin; sed 's/^/add /' "$TMP/many"; echo commit; } >"$TMP/lines"
check "a snapshot" baleen feed veth-b:jail - --origin feed <"$TMP/lines"
is "is one record" "$(journal --origin feed | tr , '\n' | tail -n 1)" "added 3000 feed"
{ echo begin; sed 's/^/add /' "$TMP/many" | head -n 2999; echo commit; } >"$TMP/lines"
check "another" baleen feed veth-b:jail - --origin feed <"$TMP/lines"
is "is two" "$(journal --origin feed | tr , '\n' | tail -n 2 | sort | paste -sd ,)" "deleted 1 feed,renewed 2999 feed"
check "flushed" baleen flush veth-b:jail --origin feed
check "a short ban" baleen add veth-b:jail 192.0.2.30 --ttl 1s
sqlite3 "$BOOK" "UPDATE single SET expires_ms = 1000 WHERE expires_ms > 0 AND reason = ''"
check "the next command" baleen add veth-b:jail 192.0.2.31
is "ends it" "$(journal 192.0.2.30)" "added 192.0.2.30 manual,ended 192.0.2.30 manual"
check "and that goes" baleen del veth-b:jail 192.0.2.31

# --- R6: entries stay ---

entries="192.0.2.1 198.51.100.0/24"
are_there() { is "R6: $1" "$(rows) $(dropped 192.0.2.1 198.51.100.1 192.0.2.9)" "$entries DDP"; }
are_there "in force"
conf "rule bad drop" " feed $TMP/list"
check_status "the rule goes" 3 baleen apply
is "nothing of them is in force" "$(dropped 192.0.2.1 198.51.100.1)" PP
conf "rule jail drop" " bans" " feed $TMP/list"
check_status "and comes back" 3 baleen apply
are_there "with a rule of their name"
check "detached" baleen detach veth-b
check_status "applied" 3 baleen apply
are_there "after a detach"
check "forgotten" baleen detach --forget veth-b
is "it says what waits" "$(grep -c "1 single entry waits for rules of these names: 'baleen detach --forget --entries veth-b'" "$TMP/err")" 1
check_status "applied anew" 3 baleen apply
is "it says what is in force" "$(grep -c 'rule jail: drop, 1 single entry in force again$' "$TMP/out")" 1
are_there "after the state is forgotten"
check "forgotten again" baleen detach --forget veth-b
check "attached by hand" baleen attach veth-b --drop "jail=$TMP/list" bans
is "it says what is in force" "$(grep -c "2 single entries of before are in force again: 'baleen list veth-b'" "$TMP/err")" 1
are_there "of a rule by hand"
check "detached" baleen detach veth-b
ip -n "$B" link del veth-b
ip -n "$A" link add veth-a type veth peer name veth-b netns "$B"
ip -n "$B" link set veth-b up
ip -n "$A" link set veth-a up
check_status "on another device of this name" 3 baleen apply
are_there "after the device came again"
reboot_of() { take_off "$B" veth-b; rm -rf "$BALEEN_RUN_DIR"; }
reboot_of
check "at boot" baleen restore --boot veth-b
are_there "after a boot"

# A package of before that came back reads neither the book nor what it does not know.
sqlite3 "$BOOK" "PRAGMA user_version = 99"
reboot_of
expect "at boot, with the book of a newer release" 1 "veth-b: attached, native, 1 rule" \
	"baleen: veth-b: its single entries are not in force: $(dirname "$BOOK")/book.db: made by a newer release of Baleen" \
	baleen restore --boot veth-b
is "lists are in force" "$(dropped 20.1.1.1 192.0.2.1)" DP
check_status "a ban" 1 baleen ban 192.0.2.8
is "is refused for that" "$(grep -c 'newer release' "$TMP/err")" 1
sqlite3 "$BOOK" "PRAGMA user_version = 2; UPDATE single SET reason = reason || printf('%300s', '')"
reboot_of
check_status "at boot, with rows that cannot be" 1 baleen restore --boot veth-b
is "lists are in force" "$(dropped 20.1.1.1 192.0.2.1)" DP
sqlite3 "$BOOK" "UPDATE single SET reason = rtrim(reason)"
check "with the release that can read it" baleen ban 192.0.2.8
is "all are in force again" "$(dropped 20.1.1.1 192.0.2.1 192.0.2.8)" DDD
check "taken back" baleen unban 192.0.2.8

# --- parked ---

parked() { baleen list -j | jq -r '.[] | select(.parked) | "\(.device):\(.rule) \(.entry)"' | sort | paste -sd ,; }
conf "rule bad drop" " feed $TMP/list"
check_status "the rule goes" 3 baleen apply
is "R6: its entries are listed as parked" "$(parked)" "null:bans 192.0.2.1,veth-b:jail 198.51.100.0/24"
is "and counted" "$(baleen list | tail -n 1)" "2 entries, 1 with an end, 2 parked"
prints "R6: unban takes one back" "veth-b:jail: 198.51.100.0/24 deleted; it was parked: the rule is not there" \
	baleen unban 198.51.100.0/24
check_status "once" 1 baleen unban 198.51.100.0/24
is "the journal has it" "$(journal 198.51.100.7 | tr , '\n' | tail -n 1)" "deleted 198.51.100.0/24 "
conf "rule jail drop" " bans" " feed $TMP/list"
check_status "the rule comes back" 3 baleen apply
is "R6: without it" "$(dropped 192.0.2.1 198.51.100.1) $(parked)" "DP "
check "an entry" baleen add veth-b:jail 198.51.100.0/24 --origin soc

check "a short one" baleen add veth-b:jail 192.0.2.20 --ttl 1h --reason short
conf "rule bad drop" " feed $TMP/list"
check_status "its rule goes" 3 baleen apply
sqlite3 "$BOOK" "UPDATE single SET expires_ms = 1000 WHERE reason = 'short'"
play_systemd
LISTEN=off start_baleend "$B"
has_ended() { [ "$(journal | tr , '\n' | tail -n 1)" = "ended 1 manual" ]; }
await "it ends where it is parked" has_ended
stop_baleend
is "and is in the book no more" "$(parked)" "null:bans 192.0.2.1,veth-b:jail 198.51.100.0/24"
conf "rule jail drop" " bans" " feed $TMP/list"
check_status "the rule comes back" 3 baleen apply

# --- parked: for keys of other fields ---

# web KEY: the rule has such keys
web() { conf "rule jail drop" " bans" " feed $TMP/list" "rule web drop" " key $1"; check_status "keys are $1" 3 baleen apply; }
in_web() { baleen match veth-b:web "$@" >/dev/null && echo in || echo out; }
# end_soon KEY: its time has come
end_soon() { sqlite3 "$BOOK" "UPDATE single SET expires_ms = 1000 WHERE reason = '$1'"; }
web src,dport
check "an entry" baleen add veth-b:web 192.0.2.50,80 --ttl 1h --reason by-source
is "is in force" "$(in_web 192.0.2.50,80)" in
web dst,dport
is "it waits for its key" "$(in_web 192.0.2.50,80) $(parked)" "out veth-b:web 192.0.2.50,80"
check "the same by destination" baleen add veth-b:web 192.0.2.50,80 --reason by-destination
is "is another" "$(in_web 192.0.2.50,80) $(baleen list -j veth-b:web | jq -c '[.[] | [.reason, .parked // false]]')" \
	'in [["by-source",true],["by-destination",false]]'
check "which goes alone" baleen del veth-b:web 192.0.2.50,80
is "and leaves the one that waits" "$(in_web 192.0.2.50,80) $(parked)" "out veth-b:web 192.0.2.50,80"
web src,dport
is "with its key it is in force again" "$(in_web 192.0.2.50,80) $(parked)" "in "
web src
end_soon by-source
check "where the key is another" baleen add veth-b:web 192.0.2.60 --ttl 1h --origin soc --reason by-address
is "it ends" "$(baleen list -j veth-b:web | jq -r '.[].entry')" 192.0.2.60
web src,dport
end_soon by-address
check "and an address" baleen add veth-b:web 192.0.2.61,80
is "too" "$(baleen list -j veth-b:web | jq -r '.[].entry')" 192.0.2.61,80
web src
check "some" baleen add veth-b:web 192.0.2.62 192.0.2.63/31 2001:db8:1::7
check "others" baleen add veth-b:web 192.0.2.64 192.0.2.65 --origin soc
conf "rule jail drop" " bans" " feed $TMP/list"
check_status "the rule goes" 3 baleen apply
expect "del: of another origin" 1 "" \
	"baleen: veth-b:web: no entry 192.0.2.64 of origin 'manual': nothing changed (--exist does not mind)" \
	baleen del veth-b:web 192.0.2.62 192.0.2.64
prints "del takes them where they are parked" "veth-b:web: 3 deleted; parked: the rule is not there" \
	baleen del veth-b:web 192.0.2.62 2001:db8:1::7 192.0.2.61,80
prints "and so does flush" "veth-b:web: 2 deleted" baleen flush veth-b:web --origin soc
is "the rest stays" "$(parked)" "veth-b:web 192.0.2.62/31"
prints "flush of all" "veth-b:web: 1 deleted" baleen flush veth-b:web --all
check_status "then there is no such rule" 1 baleen flush veth-b:web --all
is "as it says" "$(<"$TMP/err")" "baleen: veth-b has no rule 'web': see 'baleen status veth-b'"

# --- by hand: until the boot ---

check "forgotten" baleen detach --forget veth-b
check "attached by hand" baleen attach veth-b --drop "hand=$TMP/list"
check "an entry" baleen add veth-b:hand 192.0.2.40
is "is in force" "$(dropped 192.0.2.40)" D
take_off "$B" veth-b
rm -rf "$BALEEN_RUN_DIR"
sqlite3 "$BOOK" "UPDATE meta SET boot = 'another'"
check "attached by hand" baleen attach veth-b --drop "hand=$TMP/list"
check "the next entry" baleen add veth-b:hand 192.0.2.41
is "it has ended with the boot" "$(dropped 192.0.2.40 192.0.2.41)" PD
check "detached" baleen detach --forget veth-b
conf "rule hand drop"
check_status "a configuration with a rule of this name" 3 baleen apply
is "has it in force" "$(dropped 192.0.2.41)" D
reboot_of
sqlite3 "$BOOK" "UPDATE meta SET boot = 'another'"
check "at boot" baleen restore --boot veth-b
is "it has ended, in the filter and in the book" "$(dropped 192.0.2.41) $(rows)" \
	"P 198.51.100.0/24"
check "detached" baleen detach --forget veth-b

# --- by hand: another name ---

# rename FROM TO
rename() { ip -n "$B" link set "$1" down && ip -n "$B" link set "$1" name "$2" && ip -n "$B" link set "$2" up; }
check "attached by hand" baleen attach veth-b --drop "lan=$TMP/list"
check "an entry" baleen add veth-b:lan 192.0.2.70 --ttl 1h
rename veth-b lan0
is "it is listed under the new name" "$(baleen list -j lan0 | jq -r '.[].entry')" 192.0.2.70
check "another" baleen add lan0:lan 192.0.2.71
is "is beside it" "$(baleen list -j lan0:lan | jq -r '"\(.[].entry)"' | paste -sd ' ') $(in_ns "$B" "$VERDICT" lan0 192.0.2.70 192.0.2.71)" \
	"192.0.2.70 192.0.2.71 DD"
is "the old name has none of them" "$(baleen list -j veth-b | jq -r '.[] | select(.rule == "lan") | .entry')" ""
check "one is taken back" baleen del lan0:lan 192.0.2.70
is "and lifted" "$(in_ns "$B" "$VERDICT" lan0 192.0.2.70 192.0.2.71)" PD
check "detached" baleen detach --forget --entries lan0
is "the journal has what was forgotten" "$(baleen log -j | jq -c '.[-1] | [.scope, .what, .entries, .origin]')" \
	'["lan0:lan","deleted",1,"manual"]'
rename lan0 veth-b
check "attached by hand" baleen attach veth-b --drop "lan=$TMP/list"
check "an entry" baleen add veth-b:lan 192.0.2.72
rename veth-b lan0
check "detached under another name" baleen detach --forget --entries lan0
is "its entries are forgotten, and those of the old name are not" \
	"$(baleen list -j | jq -r '.[] | "\(.device):\(.rule)"' | sort -u | paste -sd ,)" "null:bans,veth-b:jail"
rename lan0 veth-b

# --- keys of other fields ---

conf "rule jail drop" " key src,dport"
check_status "a rule of this name with other keys" 3 baleen apply
check "has entries of its own" baleen add veth-b:jail 192.0.2.50,22
conf "rule jail drop" " bans" " feed $TMP/list"
check_status "with addresses" 3 baleen apply
is "R6: those of addresses are in force" "$(dropped 192.0.2.1 198.51.100.1 192.0.2.50)" DDP
check "all" baleen flush --all veth-b:jail

# --- a damaged page ---

for ((i = 0; i < 3000; i++)); do echo "100.65.$((i / 250)).$((i % 250))"; done >"$TMP/more"
check "many entries" baleen add veth-b:jail --file "$TMP/more" --origin feed --reason "of a list"
sqlite3 "$BOOK" "PRAGMA wal_checkpoint(TRUNCATE)" >"$TMP/out"
page=$(sqlite3 "$BOOK" "SELECT pageno FROM dbstat WHERE name = 'single' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 9" 2>/dev/null)
if [ -n "$page" ]; then
	dd if=/dev/urandom of="$BOOK" bs=4096 seek=$((page - 1)) count=1 conv=notrunc status=none
	check_status "apply" 0 baleen apply
	n=$(grep -oE '[0-9]+ of its entries' "$TMP/err" | cut -d ' ' -f 1)
	check "takes over what can be read: $n of 3,000" test "${n:-0}" -gt 200 -a "${n:-0}" -lt 3000
	is "and no other" "$(baleen list -j veth-b | jq length)" "$n"
	is "all are in force still" "$(dropped 100.65.0.1 100.65.11.249)" DD
	is "nothing half is left" "$(ls -d "${BOOK%/*}".{new,left}* 2>/dev/null)" ""
else
	skip "a damaged page" "this sqlite3 has no dbstat"
fi
check "all of them go" baleen flush --all veth-b:jail

# --- a damaged book ---

check "a ban" baleen ban 192.0.2.60
check "another" baleen ban 192.0.2.61
id=$(xdp_id "$B" veth-b)
sqlite3 "$BOOK" "PRAGMA wal_checkpoint(TRUNCATE)" >"$TMP/out"
dd if=/dev/urandom of="$BOOK" bs=100 count=1 conv=notrunc status=none
check_status "a ban" 1 baleen ban 192.0.2.62
is "names the command" "$(grep -c "book.db.*damaged.*'baleen apply' sets it aside" "$TMP/err")" 1
is "the filter stays" "$(xdp_id "$B" veth-b) $(dropped 192.0.2.60 192.0.2.61 20.1.1.1)" "$id DDD"
check_status "--check" 1 baleen apply --check
check_status "apply" 0 baleen apply
is "says it" "$(grep -c 'the book of single entries is damaged, and is set aside: .*/book-of-the-host.damaged-' "$TMP/err")" 1
is "the filter stays still" "$(xdp_id "$B" veth-b) $(dropped 192.0.2.60 192.0.2.61 20.1.1.1)" "$id DDD"
check "a ban" baleen ban 192.0.2.62
is "is in force" "$(dropped 192.0.2.62)" D
rm "$BOOK"*
check_status "a book that is gone" 1 baleen ban 192.0.2.63
is "is no empty one" "$(grep -c "book.db: is missing: 'baleen apply' sets it aside" "$TMP/err")" 1
take_off "$B" veth-b
check "at boot it is no reason for no filter" baleen restore --boot veth-b
is "it has its feeds" "$(dropped 20.1.1.1)" D
