#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A disk that takes no more: bans and their ends are in force all the same, the command says
# that they are not kept, and they come to the disk when there is room.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
make_pair
DISK=$TMP/disk
cleanup() { umount "$BALEEN_RUN_DIR/unkept" "$DISK" 2>/dev/null; }
VERDICT=$ROOT/build/tools/verdict
mkdir "$DISK" "$BALEEN_CONF_DIR"
mount -t tmpfs -o size=1m baleen-test "$DISK" || bail "no tmpfs"
export BALEEN_STATE_DIR=$DISK/state
KEPT=$(kept_of "$B")

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }
are() { [ "$(dropped "${@:2}")" = "$1" ]; }
keys() { baleen list veth-b:jail -j | jq -r '.[].entry' | sort | tr '\n' ' '; }
fill() { dd if=/dev/zero of="$DISK/fill" bs=4k status=none 2>/dev/null; }
drain() { rm -f "$DISK/fill"; }
unkept() { [ -n "$(ls "$BALEEN_RUN_DIR/unkept" 2>/dev/null)" ]; }
kept() { ! unkept; }
said() { grep -qF -- "$1" "$TMP/systemd" "$TMP/baleend.log"; }

# reboot: memory and filters end, the disk stays
reboot()
{
	take_off "$B" veth-b
	rm -rf "$BALEEN_RUN_DIR"
	baleen restore --boot veth-b || bail "cannot restore"
}

# is_unkept NAME WHY COMMAND...: done, and said to be in force only
is_unkept()
{
	local of=veth-b

	[[ "${*:3}" != *"ban "* ]] || of=bans
	check_status "$1" 4 "${@:3}"
	is "$1: says so" "$(cat "$TMP/err")" "baleen: $of: in force, but not kept: $2: \
$KEPT/book-of-the-host; a reboot undoes it, unless there is room before"
}

# --- full ---

printf '%s\n' 45.1.1.0/24 >"$TMP/list"
printf '%s\n' "rule jail drop" " bans" " feed $TMP/list" >"$BALEEN_CONF_DIR/veth-b.conf"
check_status "a configuration" 3 baleen apply
fill
is_unkept "the first ban of all on a full disk" "disk full" baleen ban 192.0.2.99
drain
check "is kept as soon as there is room, and goes" baleen unban 192.0.2.99
check "nothing of it is left in memory" rmdir "$BALEEN_RUN_DIR/unkept"
check "bans with room" baleen add veth-b:jail 192.0.2.{1,2,3} 203.0.113.0/25
is "are kept" "$(ls "$BALEEN_RUN_DIR")" changed
fill
is_unkept "a ban on a full disk" "disk full" baleen ban 192.0.2.4
is_unkept "an unban" "disk full" baleen unban 192.0.2.1
is_unkept "a prefix, built anew" "disk full" baleen ban 100.64.0.0/16
is_unkept "a prefix no more" "disk full" baleen unban 203.0.113.0/25
is "all is in force" "$(dropped 192.0.2.{1,2,3,4} 100.64.1.1 203.0.113.1 45.1.1.1)" PDDDDPD
is_unkept "add" "disk full" baleen add veth-b:jail 192.0.2.5 --origin tool
is_unkept "del" "disk full" baleen del veth-b:jail 192.0.2.2
is_unkept "flush" "disk full" baleen flush veth-b:jail --origin tool
printf '%s\n' "create x hash:ip" "add x 192.0.2.6" >"$TMP/ipset"
is_unkept "import" "disk full" baleen import veth-b:jail --format ipset "$TMP/ipset"
is "what was not kept is an entry" "$(keys)" "100.64.0.0/16 192.0.2.3 192.0.2.4 192.0.2.6 "
is "in force" "$(dropped 192.0.2.{1..6})" PPDDPD
is "status says so" "$(baleen status veth-b | grep -c "NOT KEPT: disk full: $KEPT/book-of-the-host")" 1
is "as JSON, too" "$(baleen status -j veth-b | jq -c '.[0].made_of | [.kept, .not_kept]')" \
	'[false,"disk full"]'
is "doctor, too" "$(baleen doctor -j veth-b | jq -r '.. | objects | select(.check? == "state").level')" problem
id=$(xdp_id "$B" veth-b)
check "another set is derived" baleen add --dry-run veth-b:jail 192.0.2.9
is "a dry run changes nothing" "$(xdp_id "$B" veth-b) $(dropped 192.0.2.9)" "$id P"
take_off "$B" veth-b
check "put on again" baleen restore --boot veth-b
is "it is what was in force" "$(dropped 192.0.2.{1..6} 100.64.1.1 203.0.113.1 45.1.1.1)" PPDDPDDPD

# --- feed ---

coproc FEED { baleen feed veth-b:jail - --origin tool; }
feed_pid=$FEED_PID # the shell forgets it when the feed has ended
feed()
{
	local reply=

	echo "$1" >&"${FEED[1]}"
	read -r -t 60 reply <&"${FEED[0]}"
	echo "$reply"
}
is "feed: a ban" "$(feed "add 192.0.2.10")" "ok, not kept: disk full"
is "feed: again" "$(feed "add 192.0.2.10 ttl=1h")" "ok renewed, not kept: disk full"
is "feed: another" "$(feed "add 192.0.2.11")" "ok, not kept: disk full"
is "feed: an unban" "$(feed "del 192.0.2.10")" "ok, not kept: disk full"
is "feed: of nobody" "$(feed "del 192.0.2.10")" "ok absent"
is "feed: in force" "$(dropped 192.0.2.{10,11})" PD
drain
is "feed: with room" "$(feed "add 192.0.2.12")" ok
eval "exec ${FEED[1]}>&-"
check_status "feed: all is kept in the end" 0 wait "$feed_pid"
check "nothing is in memory" kept
reboot
is "a reboot loses nothing" \
	"$(dropped 192.0.2.{1..6} 192.0.2.{10,11,12} 100.64.1.1 203.0.113.1 45.1.1.1)" PPDDPDPDDDPD
is "status says no more" "$(baleen status veth-b | grep -c 'NOT KEPT')" 0

# --- a reboot without room ---

fill
is_unkept "a ban" "disk full" baleen ban 192.0.2.20
is_unkept "an unban" "disk full" baleen unban 192.0.2.3
reboot
is "a reboot brings back what is kept" "$(dropped 192.0.2.{3,20,4})" DPD
is_unkept "once more" "disk full" baleen ban 192.0.2.20
drain
prints "the next command keeps both" "veth-b:jail: 192.0.2.21 added" baleen ban 192.0.2.21
reboot
is "both are there" "$(dropped 192.0.2.{20,21})" DD

# --- a disk that fills, or is read-only ---

# on_full WHEN COMMAND...: from the Nth write to the log on the disk is full
on_full()
{
	in_ns "$B" strace -qq -f -o /dev/null -P "$KEPT/book-of-the-host/book.db-wal" -e trace=pwrite64 \
		-e "inject=pwrite64:error=ENOSPC:when=$1+" "$BALEEN" "${@:2}"
}
for n in 1 2 3 4; do
	is_unkept "the disk is full at write $n" "disk full" on_full $n ban 192.0.2.3$n
	is "it is in force" "$(dropped 192.0.2.3$n)" D
	is_unkept "the disk is full again" "disk full" on_full 1 unban 192.0.2.3$n
	is "that is in force" "$(dropped 192.0.2.3$n)" P
	check "with room" baleen unban --exist 192.0.2.3$n
	check "it is kept" kept
done
reboot
is "none comes back" "$(dropped 192.0.2.{31..34} 192.0.2.21)" PPPPD
mount -o remount,ro "$DISK" || bail "cannot make it read-only"
is_unkept "a read-only disk" "read-only file system" baleen ban 192.0.2.40
is_unkept "an unban on it" "read-only file system" baleen unban 192.0.2.21
is "they are in force" "$(dropped 192.0.2.{40,21,20})" DPD
take_off "$B" veth-b
check "restored from a read-only disk" baleen restore --boot veth-b
is "they are in force still" "$(dropped 192.0.2.{40,21,20})" DPD
mount -o remount,rw "$DISK" || bail "cannot make it writable"
check "writable again" baleen ban --exist 192.0.2.41
reboot
is "all is kept" "$(dropped 192.0.2.{40,21,20,41})" DPDD

# --- no room in memory, either ---

fill
mkdir -p "$BALEEN_RUN_DIR/unkept"
mount -t tmpfs -o size=4k baleen-test "$BALEEN_RUN_DIR/unkept" || bail "no tmpfs"
check_status "no room anywhere" 1 baleen ban 192.0.2.50
is "nothing changed" "$(dropped 192.0.2.50) $(grep -c 'full' "$TMP/err")" "P 1"
printf '%s\n' "add 192.0.2.50" "add 192.0.2.51" "del 192.0.2.20" >"$TMP/lines"
baleen feed veth-b:jail - <"$TMP/lines" >"$TMP/out" 2>"$TMP/err"
is "feed fails" $? 1
is "it answers each line" "$(cut -c 1-6 "$TMP/out" | tr '\n' ' ')" "failed failed failed "
is "nothing changed, still" "$(dropped 192.0.2.{50,51,20})" PPD
umount "$BALEEN_RUN_DIR/unkept"
is_unkept "room in memory" "disk full" baleen ban 192.0.2.50

# --- another state of this name ---

take_off "$B" veth-b
check "what is forgotten" baleen detach --forget --entries veth-b
drain
check_status "the next one" 3 baleen apply
is "begins with what is banned, and no more" "$(dropped 192.0.2.{50,20,21,51} 45.1.1.1)" DDPPD
check "that goes" baleen unban 192.0.2.50

# --- baleend ---

fill
play_systemd
start_baleend "$B"
is_unkept "a ban for a moment" "disk full" baleen ban 192.0.2.60 2s
is_unkept "a ban for longer" "disk full" baleen ban 192.0.2.61 1h
await "it ends on a full disk" are PD 192.0.2.60 192.0.2.61
await "baleend says what is not kept" said "the last changes of entries are in force, but not \
kept: disk full: $KEPT/book-of-the-host"
drain
await "baleend keeps it when there is room" kept
stop_baleend
reboot
is "it is there" "$(dropped 192.0.2.{60,61})" PD
