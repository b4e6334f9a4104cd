#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# ban and unban: over all rules that take bans, of all devices; what one rule must not have
# none has, and a device that cannot follow is named.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
play_systemd

VERDICT=$ROOT/build/tools/verdict
mkdir "$BALEEN_CONF_DIR"
ip -n "$B" link add veth-c type veth peer name veth-d
ip -n "$B" link set veth-c up
ip -n "$B" link set veth-d up

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# dropped ADDRESS...: a letter for each, on veth-b, then on veth-c
dropped() { echo "$(in_ns "$B" "$VERDICT" veth-b "$@")-$(in_ns "$B" "$VERDICT" veth-c "$@")"; }

# results: of the rules, from the JSON on stdin
results() { jq -c '[.rules[] | "\(.device):\(.rule) \(.result)"]'; }

# --- which rules ---

refuses "nothing is there" "no rule of any device takes bans: write 'bans' below a rule of \
/etc/baleen/DEV.conf that drops, and 'baleen apply'" baleen ban 192.0.2.7
printf '%s\n' "rule office allow" "rule jail drop" " bans" "rule bad drop" >"$BALEEN_CONF_DIR/veth-b.conf"
printf '%s\n' "203.0.113.0/24" "192.0.2.1" >"$TMP/list"
check_status "one by its configuration" 3 baleen apply
refuses "bans of an allow rule" "rule 'list': bans are for a rule that drops" \
	baleen attach veth-c --allow "$TMP/list" bans
refuses "bans of every address" "rule 'all': any and bans exclude each other" \
	baleen attach veth-c --drop all=any bans --force
refuses "bans without a state" "veth-c: rule 'list': bans are for a device that remembers \
entries, not for --no-state or --backend kmod" baleen attach veth-c --drop "$TMP/list" bans --no-state
check "one by hand" baleen attach veth-c --drop "$TMP/list" bans
STATE_C=$(echo "$BALEEN_RUN_DIR"/ns*-if*)
is "status names them" "$(baleen status -j | jq -c 'sort_by(.device) | map([.rules[] | [.name, .bans]])')" \
	'[[["office",false],["jail",true],["bad",false]],[["list",true]]]'
is "status in words, too" "$(baleen status veth-b | grep -c '^        takes bans$')" 1
echo 198.51.100.0/24 >"$TMP/more"
check "another list" baleen swap veth-c:list "$TMP/more"
is "leaves the mark" "$(baleen status -j veth-c | jq '.[0].rules[0].bans')" true

# --- ban ---

check_status "no address" 2 baleen ban
check_status "no time" 2 baleen ban 192.0.2.7 60
check_status "two addresses" 2 baleen ban 192.0.2.7 192.0.2.8
check_status "no address at all" 1 baleen ban 192.0.2.300
check_status "an exception" 1 baleen ban '!192.0.2.7'
prints "a ban" "veth-b:jail: 192.0.2.7 added
veth-c:list: 192.0.2.7 added" baleen ban 192.0.2.7
is "is in force everywhere" "$(dropped 192.0.2.{7,8})" DP-DP
refuses "again" "192.0.2.7 is banned by origin 'manual' already: nothing changed (--exist renews it)" \
	baleen ban 192.0.2.7 1h
expect "or renewed; nobody keeps the end in time, which it says" 0 \
	"veth-b:jail: 192.0.2.7 renewed, ends in 1h
veth-c:list: 192.0.2.7 renewed, ends in 1h" "baleen: warning: baleend is not running: the end is kept by the next command that changes these devices" \
	baleen ban --exist 192.0.2.7 1h
check "one rule has it" baleen add veth-b:jail 192.0.2.8
is "then it comes to the other" "$(baleen ban -j 192.0.2.8 1h --reason 'ssh scan' | results)" \
	'["veth-b:jail renewed","veth-c:list added"]'
is "with its reason and end" "$(baleen why -j veth-c 192.0.2.8 |
	jq -c '.[].rules[0].entries[0] | [.origin, .reason, .expires_ms > now * 1000 + 3500000]')" \
	'["manual","ssh scan",true]'
check "another origin" baleen ban 192.0.2.8 --origin fail2ban-sshd
check "renewed without a reason" baleen ban --exist 192.0.2.8 2h
is "it keeps the one it has" "$(baleen list -j veth-c --origin manual 192.0.2.8 | jq -r '.[].reason')" "ssh scan"
check "a prefix" baleen ban 100.64.0.0/16 2d
check "IPv6" baleen ban 2001:db8::1
is "is the /64 of the host" "$(cat "$TMP/err")" \
	"baleen: 2001:db8::1 stands for 2001:db8::/64 (say 2001:db8::1/128 for less)"
is "all is in force" "$(dropped 192.0.2.8 100.64.7.7 2001:db8::2 2001:db8:0:1::2)" DDDP-DDDP

# --- nothing where one must not have it ---

before=$(dropped 10.66.0.2 198.18.0.9 192.0.2.77)
check_status "an own address" 1 baleen ban 10.66.0.2
ip -n "$B" route add default via 10.66.0.1
check_status "a gateway of one device" 1 baleen ban 10.66.0.0/24
ip -n "$B" route del default
echo 198.18.0.9 >"$BALEEN_CONF_DIR/never.list"
check_status "never.list" 3 baleen apply
refuses "what never.list has" "veth-b:jail: '198.18.0.9' not added: 198.18.0.9 is never dropped (the \
never-drop list): nothing changed" baleen ban 198.18.0.9
is "nothing changed anywhere" "$(dropped 10.66.0.2 198.18.0.9 192.0.2.77)" "$before"
is "nobody has an entry of it" "$(baleen status -j | jq -c '[.[].rules[].origins.manual // empty] | unique')" '[4,5]'

# A writer that holds the second device: the first has it, and the second follows.
exec 9<"$STATE_C"
flock 9
expect "R5: one device is held" 5 "veth-b:jail: 192.0.2.77 added" "baleen: veth-c: is behind: \
$STATE_C: another command has been changing it for 0 s; it follows with baleend, or the next command that changes it" \
	baleen ban --wait 0 192.0.2.77
is "as JSON" "$(baleen ban --wait 0 -j 192.0.2.78 | jq -c '[[.rules[].result], [.behind[].device]]')" \
	'[["added","behind"],["veth-c"]]'
exec 9<&-
is "R5: the other device has it" "$(dropped 192.0.2.7{7,8})" DD-PP
check "the next command that changes it" baleen add veth-c:list 192.0.2.79
is "R5: both have it" "$(dropped 192.0.2.7{7,8})" DD-DD
exec 9<"$STATE_C"
flock 9
{ sleep 1; flock -u 9; } &
check "one that is held for a second is waited for" baleen unban 192.0.2.78
wait $!
exec 9<&-
is "R3: both have let go" "$(dropped 192.0.2.78)" P-P
check "is unbanned" baleen unban 192.0.2.77

# Of each device a socket for what it is, and two for one survey that the guards and changes of all
# devices share.
check "ban, with its sockets counted" baleen ban 192.0.2.70 --exist
in_ns "$B" strace -qq -f -o "$TMP/sockets" -e trace=socket,sendto "$BALEEN" ban 192.0.2.70 --exist \
	>"$TMP/out" 2>&1
is "surveys the host once for all devices" "$(grep -c 'socket(AF_NETLINK' "$TMP/sockets")" 4
is "for sessions of IPv4 and IPv6 in one walk" \
	"$(grep -cE 'nlmsg_type=(SOCK_DIAG_BY_FAMILY|TCPDIAG_GETSOCK|0x12)' "$TMP/sockets")" 1
check "is unbanned" baleen unban 192.0.2.70

# --- unban ---

check_status "who is not banned" 1 baleen unban 192.0.2.99
check "is no matter with --exist" baleen unban --exist 192.0.2.99
prints "unban" "veth-b:jail: 192.0.2.8 deleted (fail2ban-sshd, manual)
veth-c:list: 192.0.2.8 deleted (fail2ban-sshd, manual)" baleen unban 192.0.2.8
is "it passes" "$(dropped 192.0.2.8)" P-P
check "one rule has it" baleen add veth-b:jail 192.0.2.9 --origin x
is "one answer" "$(baleen unban -j 192.0.2.9 | results)" '["veth-b:jail deleted","veth-c:list absent"]'
check "a lone IPv6 address" baleen add veth-c:list 2001:db8::1/128
check "is unbanned with its /64" baleen unban 2001:db8::1
is "it passes" "$(dropped 2001:db8::1 2001:db8::2)" PP-PP
check_status "what only a list has" 1 baleen unban 198.51.100.7
is "is named, and how to let it in" "$(cat "$TMP/err")" \
	"baleen: 198.51.100.7 is not banned: nothing changed (--exist does not mind)
baleen: veth-c:list: 198.51.100.0/24 stays in force: line 1 of $TMP/more
baleen: veth-c:list: \"baleen add veth-c:list '!198.51.100.7'\" takes out what lists and shorter prefixes hold"
hint=$(sed -n 's/.*"\(baleen add .*\)" takes out.*/\1/p' "$TMP/err")
check_status "del says it in the same words" 1 baleen del veth-c:list 198.51.100.7
is "del says it in the same words" "$(sed -n 's/.*"\(baleen add .*\)" takes out.*/\1/p' "$TMP/err")" "$hint"
check "that can be pasted" eval "$hint"
is "and does so" "$(dropped 198.51.100.{7,8})" PP-PD

# --- a device that cannot follow ---

mv "$STATE_C/feeds" "$TMP/feeds"
mkdir "$STATE_C/feeds"
check_status "R5: one device cannot follow" 5 baleen ban 192.0.2.129-192.0.2.201
is "R5: it is named" "$(grep -c "^baleen: veth-c: is behind: " "$TMP/err")" 1
is "R5: and is as it was, the other has it" "$(dropped 192.0.2.{200,7})" DD-PD
check_status "nor does the next command" 1 baleen add veth-c:list 192.0.2.51
is "which changes nothing" "$(dropped 192.0.2.51)" P-P
rmdir "$STATE_C/feeds"
mv "$TMP/feeds" "$STATE_C/feeds"
check "when it can" baleen add veth-c:list 192.0.2.51
is "R5: it follows" "$(dropped 192.0.2.{200,51})" DP-DD
sqlite3 "$STATE_C/state.db" "INSERT OR REPLACE INTO text VALUES ('host', 'no address')"
check_status "R5: one cannot say what it protects" 5 baleen ban 192.0.2.53
is "R5: it is named, and as it was, the other has it" \
	"$(grep -c '^baleen: veth-c: is behind: ' "$TMP/err") $(dropped 192.0.2.53)" "1 D-P"
sqlite3 "$STATE_C/state.db" "DELETE FROM text WHERE name = 'host'"
check "when it can" baleen add veth-c:list 192.0.2.54
is "R5: it follows" "$(dropped 192.0.2.53)" D-D
sqlite3 "$(book_of "$B")" "CREATE TRIGGER no BEFORE INSERT ON single BEGIN SELECT RAISE(ABORT, 'no'); END;"
check_status "the book takes nothing" 1 baleen ban 192.0.2.52
is "nobody has it" "$(dropped 192.0.2.52)" P-P
sqlite3 "$(book_of "$B")" "DROP TRIGGER no"

# --- at once ---

# Each holds what nobody else does, and waits for the others.
for i in {1..8}; do
	baleen ban "192.0.2.10$i" >"$TMP/at-once.$i" 2>&1 &
	bans[i]=$!
done
check "eight at once" wait "${bans[@]}"
is "all are in force" "$(dropped 192.0.2.10{1..8})" DDDDDDDD-DDDDDDDD

# --- baleend, a reboot ---

start_baleend "$B"
check "ban beside baleend" baleen ban 192.0.2.60 2s
is "which keeps the end, so nothing is said" "$(<"$TMP/err")" ""
check "for good" baleen ban 192.0.2.61
is "both are dropped" "$(dropped 192.0.2.{60,61})" DD-DD
for ((i = 0; i < 100; i++)); do
	[ "$(dropped 192.0.2.60)" = P-P ] && break
	read -rt 0.1 <> <(:)
done
is "the one ends, the other stays" "$(dropped 192.0.2.{60,61})" PD-PD
stop_baleend
is "baleend ran all the while" "$baleend_status" 0
check "after the filter went" baleen detach veth-b
check "restore puts it on again" baleen restore --boot veth-b
is "with the ban" "$(in_ns "$B" "$VERDICT" veth-b 192.0.2.60 192.0.2.61)" PD
check "while it is off" baleen detach veth-b
is "a ban is kept for it" "$(baleen ban -j 192.0.2.62 | jq -c '[.rules[] | .attached]')" '[false,true]'
check "it comes" baleen restore --boot veth-b
is "with this one, too" "$(dropped 192.0.2.62)" D-D
