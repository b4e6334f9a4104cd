#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Entries end, and feeds are due, by the clock on the wall, also when somebody sets it.
#
# Not executable, because it is for the machines of clock.sh.

source "$(dirname "$0")/../lib.sh"
export BALEEN_RUN_DIR=$TMP/run BALEEN_STATE_DIR=$TMP/state BALEEN_CONF_DIR=$TMP/conf
source tests/baleend.sh
PATH=/vm:$PATH
VERDICT=$ROOT/build/tools/verdict
H=3600
# Less than the minute after which baleend would look anyhow.
AWAIT_STEPS=200

baleen() { in_ns "$B" timeout 120 "$BALEEN" "$@"; }
# are VERDICTS ADDRESS...
are() { [ "$(in_ns "$B" "$VERDICT" veth-b "${@:2}")" = "$1" ]; }
# set_clock SECONDS: forward, or back
set_clock() { date -s "@$(($(date +%s) + $1))" >/dev/null || bail "cannot set the clock"; }
# add ADDRESS HOURS
add() { baleen add veth-b:bad "$1" --ttl "$2h" >/dev/null || bail "cannot add"; }
feed() { echo "$1" >"$TMP/new" && mv "$TMP/new" "$TMP/feed"; }

make_pair
mkdir "$TMP/conf"
printf '%s\n' "rule bad drop" "  feed $TMP/feed every 1h" >"$TMP/conf/veth-b.conf"
feed 8.8.8.1
baleen apply >/dev/null
[ $? -eq 3 ] || bail "cannot apply"
play_systemd
start_baleend "$B" --listen off

add 9.9.9.1 1
add 9.9.9.3 3
is "two entries" "$(are DD 9.9.9.1 9.9.9.3 && echo yes)" yes
feed 8.8.8.2
set_clock $((2 * H))
await "the clock goes two hours forward: one ends" are PD 9.9.9.1 9.9.9.3
await "and the feed is asked" are PD 8.8.8.1 8.8.8.2
feed 8.8.8.3
set_clock $((-24 * H))
await "a day back: the feed is asked again" are PD 8.8.8.2 8.8.8.3
is "and nothing has ended" "$(are D 9.9.9.3 && echo yes)" yes
add 9.9.9.2 1
set_clock $((2 * H))
await "two hours forward: what was added then ends" are PD 9.9.9.2 9.9.9.3
set_clock $((24 * H))
await "a day forward: the last one ends" are P 9.9.9.3
is "nothing was complained of" "$(grep -c cannot "$TMP/baleend.log")" 0
stop_baleend
is "SIGTERM ends it" "$baleend_status" 0
