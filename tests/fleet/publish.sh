#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What goes out, and when: a ban of a rule that means something else elsewhere does not, and is
# refused; a change that nobody tells of does; of two hosts under one name the
# earlier one sends nothing while the later one does; a place in the stream that is none is not kept.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

make_lab 1 2 3
printf '%s\n' "rule seen count" "  feed fleet:bans" >"$TMP/h2/conf/eth0.conf"
begin_fleet 1 2

# --- a rule that only counts ------------------------------------------------------------------

check_status "a ban of a fleet on a host whose rule counts fails" 1 b 2 fleet ban 192.0.2.9
is "and names the rule" "$(grep -c 'eth0:seen: it takes bans of the fleet, and its own do not go out' \
	"$TMP/err")" 1
is "nothing is banned" "$(b 2 list eth0:seen --origin operator 2>/dev/null | grep -c 192.0.2.9)" 0
check "where it drops it is banned" b 1 fleet ban 192.0.2.8

# --- an untold change ---------------------------------------------------------------------------

# held N ADDRESS: does the host know a ban of it?
held() { b "$1" fleet who "$2"; }

await "the ban comes to the second" held 2 192.0.2.8
check "a ban that tells nobody" env BALEEN_RUN_DIR="$TMP/elsewhere" BALEEN_STATE_DIR="$TMP/h1/state" \
	BALEEN_CONF_DIR="$TMP/h1/conf" ip netns exec "$(host_ns 1)" "$BALEEN" add eth0:bad 192.0.2.1 \
	--origin fail2ban --ttl 1h
await "comes to the second all the same" held 2 192.0.2.1

# --- a copy ---------------------------------------------------------------------------------------

# incarnation KEY [FIELD]: of a message at Redis
incarnation()
{
	{
		[ $# -eq 1 ] && redis 1 --raw get "$1" || redis 1 --raw hget "$1" "$2"
	} | od -An -tx1 -j16 -N16 | tr -d ' \n'
}

await "a snapshot of the first" eval '[ -n "$(incarnation "{lab}:snap:h1/fail2ban")" ]'
cp -a "$TMP/h1/conf/." "$TMP/h3/conf"
sed -i "s|$TMP/h1/|$TMP/h3/|g" "$TMP/h3/conf/fleet.conf"
b 3 apply >/dev/null 2>&1
check "a ban of a copy of the first" b 3 add eth0:bad 192.0.2.3 --origin fail2ban --ttl 1h
start_daemon 3
await "the copy waits" grep -q "h1/fail2ban: another host publishes under this name" "$TMP/h3/log"
first=$(incarnation "{lab}:heads" h1/fail2ban)
check "a ban of the first" ban 1 192.0.2.5
await "comes to the second" held 2 192.0.2.5
# Longer than from one look of the copy to the next.
sleep 12
check_status "nothing of the copy has come to the second" 1 held 2 192.0.2.3
is "the snapshot is of the first" "$(incarnation "{lab}:snap:h1/fail2ban")" "$first"
is "and the head" "$(incarnation "{lab}:heads" h1/fail2ban)" "$first"
stop_daemon 1
# A minute without another head, and the look of each 10 s after it.
AWAIT_SECONDS=150 await "it comes when the first is away for a minute" held 2 192.0.2.3
check "with what the first had banned" held 2 192.0.2.5
start_daemon 1
await "then the first waits" grep -q "h1/fail2ban: another host publishes under this name" "$TMP/h1/log"
check "with a ban" ban 1 192.0.2.7
stop_daemon 3
AWAIT_SECONDS=150 await "it comes when the copy is away for a minute" held 2 192.0.2.7

# --- a place in the stream that is none -----------------------------------------------------------

stop_daemon 2
check "its place is lost" sqlite3 "$(find "$TMP/h2/state" -name fleet.db)" \
	"UPDATE meta SET value = '\$' WHERE name = 'cursor'"
is "it was one" "$(sqlite3 "$(find "$TMP/h2/state" -name fleet.db)" \
	"SELECT value FROM meta WHERE name = 'cursor'")" "\$"
start_daemon 2
check "a ban" ban 1 192.0.2.6
await "comes to the second" held 2 192.0.2.6
check_status "which has no error" 1 grep -q "Invalid stream ID" "$TMP/h2/log"
