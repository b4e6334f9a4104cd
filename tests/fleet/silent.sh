#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A Redis that stands still, a replica that has lost its master, and a Redis that answers and
# withholds what others say: none of them looks healthy, and all bans stay in force.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

make_hub
make_redis 1
make_redis 2
make_redis 3
start_redis 1
start_redis 2 --replicaof 10.77.0.101 6379
make_host 1
make_host 2
FLEET_OPTIONS="--server 10.77.0.101:6379 --replica 10.77.0.102:6379" begin_fleet 1 2

# ban N ADDRESS
ban() { b "$1" add eth0:bad "$2" --origin fail2ban --ttl 1h; }
status() { b "$1" fleet status -j; }
# says N EXPRESSION: of its status
says() { [ "$(status "$1" | jq "$2")" = true ]; }

# reads_from N REDIS: it has a connection there, which waits for messages
reads_from()
{
	redis "$2" client list | grep "addr=10.77.0.1$1:" | grep -q 'cmd=xread'
}

check "a ban on the first" ban 1 192.0.2.1
await "holds on the second" drops 2 192.0.2.1
await "which reads from the replica" reads_from 2 2

# --- a replica without its master --------------------------------------------------------

check "the wire between master and replica is cut" \
	ip -n "$(redis_ns 2)" route add blackhole 10.77.0.101
await "the second reads from the master instead" reads_from 2 1
check "and says why" grep -q "10.77.0.102:6379 has lost its master" "$TMP/h2/log"
check "a ban on the first" ban 1 192.0.2.2
await "holds on the second" drops 2 192.0.2.2

# --- a Redis that stands still -------------------------------------------------------------

kill -STOP "${redis_pid[1]}"
await "the first says that nothing goes out" says 1 '.publisher_error != ""'
await "and the second that nothing comes in, nor goes out" \
	says 2 '.reader_error != "" and .publisher_error != ""'
is "what came is in force" "$(verdicts 2 192.0.2.1 192.0.2.2)" DD
check "doctor says so" eval 'b 2 doctor eth0 | grep -q "^problem  fleet .*nothing comes of the fleet: "'
is "and a metric" "$(b 2 metrics | grep "^baleen_fleet_connected" | sed 's/.* //' | paste -sd " ")" "0 0"
kill -CONT "${redis_pid[1]}"
await "both go on when it does" eval \
	'says 1 ".publisher_error == \"\"" && says 2 ".reader_error == \"\""'
check "a ban on the second" ban 2 192.0.2.3
await "holds on the first" drops 1 192.0.2.3

# --- a Redis that withholds ----------------------------------------------------------------

head_of() { redis 1 hget "{lab}:heads" h1/fail2ban | md5sum; }
before=$(head_of)
moves() { [ "$(head_of)" != "$before" ]; }
await "the first signs its head again, though nothing has changed" moves
is "nobody is silent" "$(status 2 | jq .silent)" 0
is "doctor finds nothing" "$(b 2 doctor -j eth0 | jq -r '.[] | select(.check == "fleet") | .level')" ok

# A Redis with all that there was, which hears nothing of the first any more.
start_redis 3 --replicaof 10.77.0.101 6379
has_all() { [ "$(redis 3 hlen "{lab}:heads")" -ge 2 ]; }
await "another Redis has all there is" has_all
check "and is a master from now on" redis 3 replicaof no one
sed -i -e 's/10\.77\.0\.101/10.77.0.103/' -e '/^replica/d' "$TMP/h2/conf/fleet.conf"
await "which is the one that the second reads from" reads_from 2 3
check "a ban on the first" ban 1 192.0.2.4
AWAIT_SECONDS=240 await "the second misses the first" says 2 '.silent == 1'
is "by name" "$(status 2 | jq -r '.publishers[] | select(.silence_ms >= 120000) | .name')" h1/fail2ban
check "in words, too" eval 'b 2 fleet status | grep -q "h1/fail2ban .*silent for"'
is "doctor names it" "$(b 2 doctor -j eth0 | jq -r '.[] | select(.check == "fleet") | .level + " " + .text' |
	sed 's/for [0-9].*: baleend/for a while: baleend/')" \
	"note 1 of 1 publishers are silent, h1/fail2ban for a while: baleend does not run there, or Redis withholds what they say"
# metric N NAME LABELS: its value
metric() { b "$1" metrics | grep -F "$2{fleet=\"lab\"$3}" | sed 's/.* //'; }
is "a metric counts it" "$(metric 2 baleen_fleet_publishers ',what="silent"')" 1
check "and says for how long" [ "$(metric 2 baleen_fleet_silence_seconds "")" -ge 120 ]
await "and says so" grep -q "h1/fail2ban said nothing new for two minutes" "$TMP/h2/log"
is "what came is in force" "$(verdicts 2 192.0.2.1 192.0.2.2)" DD
is "what is withheld is not" "$(verdicts 2 192.0.2.4)" P
sed -i 's/10\.77\.0\.103/10.77.0.101/' "$TMP/h2/conf/fleet.conf"
await "with the Redis of all it gets it" drops 2 192.0.2.4
await "and nobody is silent" says 2 '.silent == 0'
