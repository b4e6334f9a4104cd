#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A host at rest in a large fleet: what it reads of Redis does not grow with the publishers that
# there are, and nothing that is missing stays so.
#
# PUBLISHERS=N has so many (600; 2,000 with TEST_ALL=1), and prints what they cost for a minute.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

n=${PUBLISHERS-$(pick 600 2000)}
make_lab 1 2
begin_fleet 1 2
etc=$TMP/h1/conf/fleet

# heads: all publishers say that they are there
heads() { python3 "$ROOT/tests/fleet/heads.py" send "$n" "$TMP/seed" | redis 1 --pipe >/dev/null; }
sed -i 's/^serial.*/serial 9/' "$etc/policy"
python3 "$ROOT/tests/fleet/heads.py" policy "$n" "$TMP/seed" >>"$etc/policy"
check "a policy with $n hosts more" minisign -S -s "$etc/policy.key" -m "$etc/policy"
in_force() { [ "$(sqlite3 "$(find "$TMP/h$1/state" -name fleet.db)" \
	"SELECT value FROM meta WHERE name = 'policy-serial'")" = 9 ]; }
await "is in force on the second" in_force 2
await "and on the first" in_force 1
python3 "$ROOT/tests/fleet/heads.py" ban "$n" "$TMP/seed" | redis 1 --pipe >/dev/null
heads
has_all() { [ "$(b 2 fleet status -j | jq '.publishers | length')" -ge "$n" ]; }
AWAIT_SECONDS=120 await "each of them has a ban that comes to the second" has_all
is "which holds" "$(verdicts 2 100.64.0.0 100.64.1.0)" DD

# sent: bytes that Redis has sent; cpu_ms N: of what speaks with the fleet on a host
sent() { redis 1 info stats | sed -n 's/^total_net_output_bytes:\([0-9]*\).*/\1/p'; }
cpu_ms()
{
	local pid

	for pid in $(pgrep -P "$(pgrep -P "${daemon_pid[$1]}" -x baleen-fleetd)"); do
		awk '{ print ($14 + $15) * 10 }' "/proc/$pid/stat"
	done | awk '{ sum += $1 } END { print sum + 0 }'
}
# looked: when heads were compared last
looked() { sqlite3 "$(find "$TMP/h2/state" -name fleet.db)" "SELECT value FROM meta WHERE name = 'looked-s'"; }
has_looked() { [ "$(looked)" -ge $((before + $1)) ]; }

# One host alone reads.
stop_daemon 1
before=$(looked)
await "the second host looks" has_looked 1
begun=$(sent) cpu=$(cpu_ms 2) before=$(looked)
AWAIT_SECONDS=60 await "and twice more, at rest" has_looked 18
bytes=$((($(sent) - begun) / 2))
check "a look takes $bytes bytes, not those of $n heads" [ "$bytes" -lt 50000 ]
if [ -n "${PUBLISHERS-}" ]; then
	for _ in {1..3}; do
		heads
		sleep 30
	done
	begun=$(sent) cpu=$(cpu_ms 2)
	heads
	sleep 30
	heads
	sleep 30
	echo "# $n publishers: $((($(cpu_ms 2) - cpu) / 60)) thousandths of a processor," \
		"$((($(sent) - begun) * 8 / 60 / 1000)) kbit/s of one reader"
	cpu=$(b 2 fleet status -j | jq -c '[.silent, (.publishers | length)]')
	echo "# silent, and publishers: $cpu"
fi
is "nobody seems silent or behind" "$(status_of 2 '[.silent, .behind]' | jq -c)" "[0,0]"

start_daemon 1
check "a ban of the first" ban 1 192.0.2.1
await "holds on the second" drops 2 192.0.2.1
check "the stream loses one" eval 'redis 1 xtrim "$LOG" MAXLEN 0 && stop_daemon 2 && ban 1 192.0.2.2 &&
	wait_for 20 eval "[ \$(redis 1 xlen \"\$LOG\") -gt 0 ]" && redis 1 xtrim "$LOG" MAXLEN 0 && start_daemon 2'
await "which the second finds by its first look, at all heads" drops 2 192.0.2.2
