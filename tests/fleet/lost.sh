#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Redis loses the stream, all keys, or its disk: nothing leaves force, and heads come back.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

make_lab 1 2
begin_fleet 1 2

# has_heads N: so many publishers have one
has_heads() { [ "$(redis 1 hlen "$HEADS")" -ge "$1" ]; }

check "a ban on the first" ban 1 192.0.2.1
check "a ban on the second" ban 2 192.0.2.2
await "both hold on the first" drops 1 192.0.2.1 192.0.2.2
await "both hold on the second" drops 2 192.0.2.1 192.0.2.2
await "both have a head" has_heads 2

check "the stream is trimmed to nothing" redis 1 xtrim "$LOG" MAXLEN 0
check "a ban after it" ban 1 192.0.2.3
await "holds on the second" drops 2 192.0.2.3
is "what was there, too" "$(verdicts 2 192.0.2.1 192.0.2.2)$(verdicts 1 192.0.2.1 192.0.2.2)" DDDD

stop_daemon 2
check "while the second is away, a ban" ban 1 192.0.2.4
await "is in the stream" eval '[ "$(redis 1 xlen "$LOG")" -ge 2 ]'
check "which is trimmed" redis 1 xtrim "$LOG" MAXLEN 0
start_daemon 2
await "the second gets it all the same, by a snapshot" drops 2 192.0.2.4

check "all keys are gone" redis 1 flushall
is "what was there is in force" "$(verdicts 2 192.0.2.1 192.0.2.2 192.0.2.3)$(verdicts 1 \
	192.0.2.1 192.0.2.2)" DDDDD
await "heads come back" has_heads 2
check "a ban after it" ban 2 192.0.2.5
await "holds on the first" drops 1 192.0.2.5
is "and all else" "$(verdicts 1 192.0.2.{1..5})$(verdicts 2 192.0.2.{1..5})" DDDDDDDDDD

stop_redis 1 KILL
check "a ban without Redis" ban 1 192.0.2.6
is "holds where it was made" "$(verdicts 1 192.0.2.6)" D
rm -rf "$TMP/r1"
mkdir "$TMP/r1"
start_redis 1
await "with a new Redis it comes to the second" drops 2 192.0.2.6
await "heads come back" has_heads 2
is "nothing has left force" "$(verdicts 1 192.0.2.{1..6})$(verdicts 2 192.0.2.{1..6})" DDDDDDDDDDDD
await "digests agree" agree 1 2

# Its bans are what it has numbers for: fewer than before.
stop_daemon 2
check "while the second is down, it takes two bans back" eval \
	'take_back 2 192.0.2.2 && take_back 2 192.0.2.5'
rm -f "$TMP"/h2/state/fleet.db*
start_daemon 2
check "it begins anew, and bans" ban 2 198.51.100.1
AWAIT_SECONDS=150 await "the first has what the second has now" eval \
	'drops 1 198.51.100.1 && passes 1 192.0.2.2 192.0.2.5'
await "digests agree" agree 1 2

# has_head_of PUBLISHER: Redis has one; in_control NAME: it has this signal
has_head_of() { [ "$(redis 1 hexists "$HEADS" "$1")" = 1 ]; }
in_control() { [ "$(redis 1 hexists "$CONTROL" "$1")" = 1 ]; }

check "the first suspends what the second publishes" b 1 fleet suspend h2/fail2ban
await "its bans pass on the first" passes 1 198.51.100.1
check "and lets an address go" b 2 fleet pardon 192.0.2.1
await "which passes on the second" passes 2 192.0.2.1
await "Redis has heads of what both said" eval 'has_head_of h1/control && has_head_of h2/control'

# --- signals ---------------------------------------------------------------------------

# post N SUBJECT NUMBER VALUE: as a part of Baleen does that wants to say something
post()
{
	sqlite3 -cmd ".timeout 10000" "$(find "$TMP/h$1/state" -name fleet.db)" "INSERT OR REPLACE INTO posted
		(topic, subject, number, digest, value, reason) VALUES ('test', '$2', $3, 0, $4, 'why')"
}
# heard N: signals that a host has
heard()
{
	b "$1" fleet status -j |
		jq -r '.signals[] | "\(.publisher) \(.topic) \(.subject) \(.number) \(.value) \(.reason)"'
}
has_heard() { [ "$(heard "$1")" = "$2" ]; }
check "the first says something" post 1 list 7 1
await "the second hears it" has_heard 2 "h1/operator test list 7 1 why"
await "as the first does" has_heard 1 "h1/operator test list 7 1 why"
check "it says something else" post 1 list 8 2
await "which counts" has_heard 2 "h1/operator test list 8 2 why"
is "nothing is left to be sent" "$(sqlite3 "$(find "$TMP/h1/state" -name fleet.db)" \
	"SELECT COUNT(*) FROM posted")" 0

check "all keys are gone again" redis 1 flushall
await "Redis has a head of the suspension again" has_head_of h1/control
await "and one of the pardon" has_head_of h2/control
await "and the signal" in_control "signal test list h1/operator"
is "it is still suspended" "$(verdicts 1 198.51.100.1)" P
check "until it is resumed" b 2 fleet resume h2/fail2ban
await "its bans hold again" drops 1 198.51.100.1
