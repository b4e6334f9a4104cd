#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# While bans keep coming, a publisher does not write all of them anew each time. Whoever lacks
# some that the snapshot does not have asks for another one, and gets it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

MANY=400

make_lab 1 2
begin_fleet 1 2

# number_in KEY [FIELD]: of the last change, from the header of a message that Redis has
number_in()
{
	local command=(get "$1")

	[ $# -eq 1 ] || command=(hget "$1" "$2")
	redis 1 --raw "${command[@]}" | od -An -t u8 -j 40 -N 8 | tr -d ' '
}
in_snapshot() { number_in "{lab}:snap:h1/fail2ban"; }
in_head() { number_in "$HEADS" h1/fail2ban; }
snapshot_has() { [ "$(in_snapshot)" -ge "$1" ]; }
has_head() { [ "$(in_head)" -ge "$1" ]; }
# agrees N: it has compared heads once more, and they agree
agreed_s() { b "$1" fleet status -j | jq .agreed_s; }
agrees_again() { [ "$(agreed_s 2)" -gt "$before" ]; }

seq "$MANY" | awk '{ printf "add 100.64.%d.%d ttl=1h origin=fail2ban\n", $1 / 256, $1 % 256 }' >"$TMP/bans"
check "$MANY bans" eval 'b 1 feed eth0:bad - <"$TMP/bans" >/dev/null'
await "come to Redis" has_head "$MANY"
await "and all of them as one snapshot" snapshot_has "$MANY"
await "the second has them" drops 2 100.64.0.1 100.64.1.144

snapshot=$(in_snapshot)
for n in 1 2 3; do
	check "one ban more" ban 1 "192.0.2.$n"
	await "holds on the second" drops 2 "192.0.2.$n"
	before=$(agreed_s 2)
	await "which compares heads" agrees_again
done
is "the snapshot is the same" "$(in_snapshot)" "$snapshot"
check "though the head has gone on" has_head $((snapshot + 3))

stop_daemon 2
check "while the second is away, a ban" ban 1 192.0.2.4
await "is published" has_head $((snapshot + 4))
is "not as a snapshot" "$(in_snapshot)" "$snapshot"
check "and the stream loses it" redis 1 xtrim "$LOG" MAXLEN 0
start_daemon 2
await "the second gets it all the same" drops 2 192.0.2.4
check "since the publisher has written another snapshot" snapshot_has $((snapshot + 4))
is "which nobody waits for any more" "$(redis 1 hlen "{lab}:wanted")" 0

check "more than an eighth changes" eval 'b 1 feed eth0:bad - >/dev/null <<<"$(seq 60 |
	awk "{ print \"add 198.51.100.\" \$1 \" ttl=1h origin=fail2ban\" }")"'
await "which makes another snapshot" snapshot_has $((snapshot + 64))
