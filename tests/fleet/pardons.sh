#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What operators say: many pardons at once cost a ban that comes meanwhile little, and nothing at
# rest; they go out when there is a broker; who is no operator says nothing; a publisher of no
# host is not suspended.
#
# PARDONS=N asks for so many (1,000; 5,000 with TEST_ALL=1), and prints what they cost.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

bad=''
n_pardons=${PARDONS-$(pick 1000 5000)}
make_lab 1 2
# The second is no operator.
ADMIT_AS='' begin_fleet 1 2

# --- who may ------------------------------------------------------------------------------

check_status "a host that is no operator does not let go" 1 b 2 fleet pardon 192.0.2.1
is "it says who may" "$(<"$TMP/err")" "baleen: h2 may not pardon: it is no operator of lab (where \
the policy is signed: baleen fleet admit --operator h2 KEY)"
check_status "nor suspend" 1 b 2 fleet suspend h1/fail2ban
check_status "nor ask all hosts" 1 b 2 fleet who --all 192.0.2.1
is "for nobody would answer" "$(cut -d : -f 2 "$TMP/err")" " h2 may not ask all hosts"
check "a ban" ban 2 192.0.2.1
await "holds on the first" drops 1 192.0.2.1
# Whoever has its key says it all the same.
db() { sqlite3 -cmd ".timeout 10000" "$(find "$TMP/h$1/state" -name fleet.db)" "$2"; }
check "it is said by hand" db 2 "INSERT INTO asked (of_set, family, length, address, made_ms, reason)
	VALUES ('suspend', 1, 11, CAST('h1/fail2ban' AS BLOB), $(date +%s)000, ''),
	       ('bans', 4, 0, x'00000000', $(date +%s)000, '')"
await "the first refuses it" has_refused 1 right 0
is "the ban holds" "$(verdicts 1 192.0.2.1)" D

check_status "a misprint is not suspended" 1 b 1 fleet suspend h2/fail2bann
is "and what there is is named" "$(<"$TMP/err")" \
	"baleen: h2/fail2bann: no publisher of lab has this name; one is h2/fail2ban"
check_status "nor a host that nobody knows" 1 b 1 fleet suspend 'h22/*'
check "all of a host that has published nothing of a name is" b 1 fleet suspend 'h2/*'
await "its ban passes" passes 1 192.0.2.1
check "and counts again" b 1 fleet resume 'h2/*'
await "on the first" drops 1 192.0.2.1
check_status "all addresses are not let go at once" 1 b 1 fleet pardon 192.0.2.9 0.0.0.0/0
is "the policy says so" "$(<"$TMP/err")" \
	"baleen: 0.0.0.0/0: the policy lets h1 pardon no prefix shorter than /16"

# --- many -----------------------------------------------------------------------------------

# cpu_ms N: of what speaks with the fleet on a host
cpu_ms()
{
	local pid

	for pid in $(pgrep -P "$(pgrep -P "${daemon_pid[$1]}" -x baleen-fleetd)"); do
		awk '{ print ($14 + $15) * 10 }' "/proc/$pid/stat"
	done | awk '{ sum += $1 } END { print sum + 0 }'
}

# slowest NAME: of eight bans of the first until the second drops them
slowest()
{
	local i begun most=0 took

	for i in {1..8}; do
		begun=${EPOCHREALTIME/./}
		ban 1 "198.51.100.$i" >"$TMP/out"
		wait_for 10 drops 2 "198.51.100.$i" || bad+=" 198.51.100.$i"
		took=$((${EPOCHREALTIME/./} - begun))
		[ "$took" -le "$most" ] || most=$took
	done
	for i in {1..8}; do
		take_back 1 "198.51.100.$i" >"$TMP/out"
	done
	echo "# $1: the slowest of 8 bans took $((most / 1000)) ms"
}

# at_rest NAME: processor time of the second in 20 s
at_rest()
{
	local before

	before=$(cpu_ms 2)
	sleep 20
	echo "# $1: $((($(cpu_ms 2) - before) / 20)) thousandths of a processor at rest"
}

[ -z "${PARDONS-}" ] || at_rest "without pardons"
slowest "without pardons"
seq "$n_pardons" | awk '{ printf "100.%d.%d.%d\n", 64 + $1 / 65536, $1 / 256 % 256, $1 % 256 }' >"$TMP/keys"
bans=(100.64.0.1 "$(sed -n "$((n_pardons / 2))p" "$TMP/keys")" "$(tail -n 1 "$TMP/keys")")
check "bans of the second" b 2 add eth0:bad "${bans[@]}" --origin soc --ttl 1h
await "hold on the first" drops 1 "${bans[@]}"
begun=${EPOCHREALTIME/./}
mapfile -t keys <"$TMP/keys"
check "$n_pardons are let go at once" b 1 fleet pardon "${keys[@]}"
within 15 "the bans of them pass on the first" passes 1 "${bans[@]}"
within 15 "and on the second, which takes them back" passes 2 "${bans[@]}"
echo "# all after $(((${EPOCHREALTIME/./} - begun) / 1000)) ms"
slowest "beside $n_pardons pardons"
await "the second has all of them" eval \
	'[ "$(count_of 2 h1/control entries)" = $((n_pardons + 1)) ]'
is "all bans came in time" "$bad" ""
is "a head covers them" "$(b 2 fleet status -j | jq '.publishers[] | select(.name == "h1/control") |
	.lacks <= .sequence and .sequence > 0')" true
[ -z "${PARDONS-}" ] || at_rest "beside $n_pardons pardons"
check "one of them is banned again" ban 2 100.64.0.1
await "which counts on the first" drops 1 100.64.0.1

# --- without a broker -------------------------------------------------------------------------

stop_redis 1 KILL
ready() { [ "$(status_of 1 '.publisher_error != ""')" = true ]; }
await "the first knows that Redis is away" ready
check "a pardon" b 1 fleet pardon 100.64.0.1
is "is said to wait" "$(grep -c 'is sent when there is a broker' "$TMP/out")" 1
await "it counts on the host where it was asked for" passes 1 100.64.0.1
is "and not on the other one yet" "$(verdicts 2 100.64.0.1)" D
start_redis 1
await "with Redis it comes there" passes 2 100.64.0.1
# What the second says is refused, so the first has none of it.
both_agree() { [ "$(digests 1)" = "$(digests 2 | grep -v '^h2/control')" ]; }
await "digests agree" both_agree
