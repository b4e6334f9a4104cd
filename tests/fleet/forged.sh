#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Who can write to Redis puts in messages that are forged, altered, replayed, or of another
# publisher: they are refused, counted and named. A publisher that bans more than it may, and the
# receiver's own address among it, is held; the receiver goes on passing.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

make_lab 1 2
begin_fleet 1 2

check "a ban" ban 1 192.0.2.1
await "holds on the second" drops 2 192.0.2.1

# put FILE: into the stream
put() { redis 1 -x xadd "$LOG" '*' m <"$1" >/dev/null; }
# The last message of the stream, byte by byte.
redis 1 --raw xrevrange "$LOG" + - COUNT 1 | tail -n +3 | head -c -1 >"$TMP/batch"
check "the stream has a signed batch" grep -q BLNF "$TMP/batch"

echo "no message" >"$TMP/junk"
put "$TMP/junk"
await "what is no message is refused" has_refused 2 form 0

{ head -c 200 /dev/zero; } >"$TMP/zeros"
put "$TMP/zeros"
await "and zeros" has_refused 2 form 1

# The last byte is of the signature.
cp "$TMP/batch" "$TMP/altered"
printf '\x55' | dd of="$TMP/altered" bs=1 seek=$(($(stat -c %s "$TMP/batch") - 3)) conv=notrunc status=none
put "$TMP/altered"
await "an altered batch is refused" has_refused 2 signature 0

# The name of the publisher begins behind the 64 bytes of the header and the name of the fleet.
sed 's|h1/fail2ban|h2/fail2ban|' "$TMP/batch" >"$TMP/attributed"
put "$TMP/attributed"
await "a batch under the name of another host is refused" has_refused 1 signature 0

before=$(digests 2)
put "$TMP/batch"
check "another ban" ban 1 192.0.2.2
await "comes behind a batch that is there twice" drops 2 192.0.2.2
check "one is taken back" take_back 1 192.0.2.1
await "passes" passes 2 192.0.2.1
put "$TMP/batch"
check "another ban" ban 1 192.0.2.3
await "comes behind the first batch once more" drops 2 192.0.2.3
is "which bans nobody again" "$(verdicts 2 192.0.2.1)" P
[ "$before" != "$(digests 2)" ] && ok "the digest went on" || not_ok "the digest went on"

# --- a Redis that is full of fields --------------------------------------------------

# highest N: most memory in KiB that a process of baleen-fleetd of the host has had
highest()
{
	local pid

	for pid in $(ip netns pids "$(host_ns "$1")"); do
		grep -q fleetd "/proc/$pid/comm" && awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status"
	done | sort -n | tail -n 1
}

before=$(highest 2)
for name in heads control; do
	check "anybody fills the hash $name" redis 1 eval "for i = 1, 10000 do
		redis.call('hset', KEYS[1], 'h1/x' .. i, string.rep('a', 10000)) end" 1 "{lab}:$name"
done
agreed() { b 2 fleet status -j | jq .agreed_s; }
looks() { [ "$(agreed)" -gt "$last" ]; }
for look in first second; do
	last=$(agreed)
	await "the second host compares heads, for the $look time" looks
done
check "its memory does not grow with them: from $before to $(highest 2) KiB" \
	[ "$(highest 2)" -lt $((before + 32768)) ]
check "a ban after it" ban 1 192.0.2.44
await "holds on the second" drops 2 192.0.2.44

# --- over the cap ------------------------------------------------------------------

# The rate of the policy would hold nearly all of them before the cap does.
etc=$TMP/h1/conf/fleet
sed -i 's/^serial.*/serial 9/; s|^publisher \*/\*$|&\n  rate 1000000/s|' "$etc/policy"
check "a policy that caps, and lets bans come fast" \
	minisign -S -s "$etc/policy.key" -m "$etc/policy"
serial_is() { [ "$(redis 1 hget "{lab}:policy" serial)" = 9 ]; }
await "comes to Redis" serial_is
in_force() { [ "$(sqlite3 "$(find "$TMP/h2/state" -name fleet.db)" \
	"SELECT value FROM meta WHERE name = 'policy-serial'")" = 9 ]; }
await "and in force on the second host" in_force

cap=10000
many=$(pick 12000 50000)
own=(10.66.0.12 10.66.0.112)
ip -n "$(host_ns 2)" address add "${own[1]}/24" dev eth0 || bail "no second address"
{
	printf 'add %s ttl=1h origin=soc\n' "${own[@]}"
	seq 1 $((many - ${#own[@]})) | awk '{ printf "add 100.%d.%d.%d ttl=1h origin=soc\n",
		64 + $1 / 65536, ($1 / 256) % 256, $1 % 256 }'
} >"$TMP/bans"
check "$many bans of one publisher, and addresses of the second host" \
	eval 'b 1 feed eth0:bad - <"$TMP/bans" >"$TMP/replies"'
has_all() { [ "$(count_of 2 h1/soc entries)" -eq "$many" ]; }
AWAIT_SECONDS=120 await "the second host has all of them" has_all
# The cap is one of a host: of all its publishers that one pattern fits.
is "what goes over the cap is held" "$(count_of 2 h1/soc held)" \
	$((many - cap + $(count_of 2 h1/fail2ban entries)))
# Those of a snapshot are counted again.
counted() { status_of 2 '[.refusals[] | select(.publisher == "h1/soc" and .cause == "held") | .n] | add'; }
check "refusals count it: $(counted)" [ "$(counted)" -ge "$(count_of 2 h1/soc held)" ]
is "the alarm is said once" "$(grep -c "h1/soc publishes more than the policy lets it" "$TMP/h2/log")" 1
# shellcheck disable=SC2086 # words
is "the second host's own addresses pass" "$(verdicts 2 "${own[@]}")" PP
check "who asked for it is named" grep -q "${own[0]} of h1/soc is not banned here" "$TMP/h2/log"
mapfile -t some < <(awk 'NR % 997 == 3 && NR < 9000 { print $2 }' "$TMP/bans")
await "those within the cap count" drops 2 "${some[@]}"

# --- suspended in one step -----------------------------------------------------------------

# ask_on: verdicts on some of the bans, until $TMP/stop is there
ask_on()
{
	while [ ! -e "$TMP/stop" ]; do
		verdicts 2 "${some[@]}"
	done >"$TMP/asked"
}

ask_on &
asker=$!
check "the publisher is suspended" b 2 fleet suspend h1/soc --reason flood
await "none of its bans counts" passes 2 "${some[@]}"
check "it counts again" b 2 fleet resume h1/soc
await "all of its bans do" drops 2 "${some[@]}"
: >"$TMP/stop"
wait "$asker"
is "packets saw all of them or none, each time" "$(sort -u "$TMP/asked")" \
	"$(printf 'D%.0s' "${some[@]}"; echo; printf 'P%.0s' "${some[@]}")"
check "it is suspended again" b 2 fleet suspend h1/soc
await "none counts" passes 2 "${some[@]}"
is "those of others do" "$(verdicts 2 192.0.2.3)" D
