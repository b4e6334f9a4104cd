# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Hosts of a fleet in network namespaces, with a Redis of Debian between them; sourced after
# lib.sh and isolate.
#
#      sender $S                        hub $HUB, a bridge 10.77.0.0/24
#      peer1 == eth0 10.66.0.11 | host 1 | up0 10.77.0.11 ===+=== redis 10.77.0.101, .102 ...
#      peer2 == eth0 10.66.0.12 | host 2 | up0 10.77.0.12 ===+
#      peer3 == eth0 10.66.0.13 | host 3 | up0 10.77.0.13 ===+
#
# Each host has a name, webN, /etc/baleen, /var/lib/baleen and /run/baleen of its own below
# $TMP/hN, and a baleend. No service of the system is used.

# shellcheck disable=SC2034 # for the tests
BALEEND=$ROOT/build/baleend
FLEETD=$ROOT/build/libexec/baleen/baleen-fleetd
VERDICT=$ROOT/build/tools/verdict
CAPABILITIES=-all$(sed -n 's/^CapabilityBoundingSet=//p' "$ROOT/user/systemd/baleend.service" |
	tr '[:upper:]' '[:lower:]' | sed 's/\(^\| *\)cap_/,+/g')
# DIRECTORY COMMAND...: ReadWritePaths= of the unit does not name /etc
SANDBOX='mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
S=flt$$-s
HUB=flt$$-hub
declare -gA daemon_pid redis_pid
# Of hosts whose clock is wrong: by how many seconds.
declare -gA clock_s

# host_ns N, redis_ns N
host_ns() { echo "flt$$-h$1"; }
redis_ns() { echo "flt$$-r$1"; }

# wait_for SECONDS COMMAND...: until it succeeds, within a bound in steps
wait_for()
{
	local n

	for ((n = 0; n < $1 * 20; n++)); do
		"${@:2}" >/dev/null 2>&1 && return
		sleep 0.05
	done
	return 1
}

# await NAME COMMAND...: until it succeeds; a minute or more
await()
{
	if wait_for "${AWAIT_SECONDS:-60}" "${@:2}"; then
		ok "$1"
	else
		not_ok "$1" "did not happen: ${*:2}"
		tail -n 5 "$TMP"/h*/log | sed 's/^/# /'
		return 1
	fi
}

# within SECONDS NAME COMMAND...: until it succeeds, by the clock; says after how long
within()
{
	local begun_ms=$((${EPOCHREALTIME/./} / 1000)) took_ms=0

	while [ "$took_ms" -lt $(($1 * 1000)) ]; do
		if "${@:3}" >/dev/null 2>&1; then
			took_ms=$((${EPOCHREALTIME/./} / 1000 - begun_ms))
			ok "$2"
			echo "# after $took_ms ms"
			return
		fi
		sleep 0.02
		took_ms=$((${EPOCHREALTIME/./} / 1000 - begun_ms))
	done
	not_ok "$2" "did not happen in $1 s: ${*:3}"
	tail -n 5 "$TMP"/h*/log | sed 's/^/# /'
}

# --- wires ------------------------------------------------------------------------

# plug NAMESPACE DEVICE ADDRESS: to the bridge
plug()
{
	local end="p-${1##*-}"

	if ! ip -n "$HUB" link add "$end" type veth peer name "$2" netns "$1" ||
		! ip -n "$HUB" link set "$end" master br0 up || ! ip -n "$1" link set "$2" up ||
		! ip -n "$1" address add "$3/24" dev "$2"; then
		bail "cannot plug $1"
	fi
}

make_hub()
{
	make_netns "$HUB" "$S"
	if ! ip -n "$HUB" link add br0 type bridge || ! ip -n "$HUB" link set br0 up; then
		bail "cannot make a bridge"
	fi
}

# make_host N: wires and directories
make_host()
{
	local ns

	ns=$(host_ns "$1")
	make_netns "$ns"
	plug "$ns" up0 "10.77.0.1$1"
	if ! ip -n "$S" link add "peer$1" numtxqueues 1 numrxqueues 1 type veth \
		peer name eth0 netns "$ns" numtxqueues 1 numrxqueues 1 ||
		! ip -n "$S" link set "peer$1" up || ! ip -n "$ns" link set eth0 up ||
		! ip -n "$ns" address add "10.66.0.1$1/24" dev eth0; then
		bail "cannot make eth0 of host $1"
	fi
	mkdir -p "$TMP/h$1/conf"
	: >"$TMP/h$1/uts"
	unshare --uts="$TMP/h$1/uts" hostname "web$1" || bail "host $1 gets no name"
	printf '%s\n' "rule bad drop" "  feed fleet:bans max-ttl 24h" >"$TMP/h$1/conf/eth0.conf"
}

# set_entry N: sets entry to a command that runs another one on a host, in its place
set_entry()
{
	entry=(env BALEEN_RUN_DIR="$TMP/h$1/run" BALEEN_STATE_DIR="$TMP/h$1/state"
		BALEEN_CONF_DIR="$TMP/h$1/conf"
		nsenter --net="/run/netns/$(host_ns "$1")" --uts="$TMP/h$1/uts" --)
	[ -z "${clock_s[$1]-}" ] || entry+=(env CLOCK_SHIM_S="${clock_s[$1]}"
		LD_PRELOAD="$ROOT/build/tools/clock.so")
}

# on N COMMAND...: on a host
on()
{
	set_entry "$1"
	"${entry[@]}" "${@:2}"
}

# b N ARGUMENT...: baleen on a host
b() { on "$1" "$BALEEN" "${@:2}"; }

# start_daemon N: baleend of a host, with no more rights than its unit gives it: not to write
# to /etc/baleen either
start_daemon()
{
	set_entry "$1"
	"${entry[@]}" unshare --mount --propagation slave "$BASH" -c "$SANDBOX" sandbox \
		"$TMP/h$1/conf" setpriv --bounding-set "$CAPABILITIES" \
		"$BALEEND" --command "$BALEEN" --listen off >>"$TMP/h$1/log" 2>&1 &
	daemon_pid[$1]=$!
}

# stop_daemon N [SIGNAL]
stop_daemon()
{
	kill "-${2:-TERM}" "${daemon_pid[$1]}"
	wait "${daemon_pid[$1]}" 2>/dev/null
	unset "daemon_pid[$1]"
}

# --- Redis --------------------------------------------------------------------------

# make_redis N: its namespace, 10.77.0.10N
make_redis()
{
	make_netns "$(redis_ns "$1")"
	plug "$(redis_ns "$1")" up0 "10.77.0.10$1"
	mkdir -p "$TMP/r$1"
}

# start_redis N [OPTION...]
start_redis()
{
	nsenter --net="/run/netns/$(redis_ns "$1")" -- redis-server --bind "10.77.0.10$1" 127.0.0.1 \
		--protected-mode no --port 6379 --dir "$TMP/r$1" --save '' --appendonly no \
		--repl-diskless-sync-delay 0 "${@:2}" >>"$TMP/r$1/log" 2>&1 &
	redis_pid[$1]=$!
	wait_for 20 redis "$1" ping || bail "no Redis: $(tail -n 3 "$TMP/r$1/log")"
}

stop_redis()
{
	kill "-${2:-TERM}" "${redis_pid[$1]}"
	wait "${redis_pid[$1]}" 2>/dev/null
	unset "redis_pid[$1]"
}

# redis N ARGUMENT...: redis-cli
redis() { in_ns "$(redis_ns "$1")" redis-cli "${@:2}"; }

# --- the fleet ------------------------------------------------------------------------

# Keys of Redis.
LOG="{lab}:log" HEADS="{lab}:heads" CONTROL="{lab}:control"

# make_lab HOST...: wires, a Redis, and hosts that are in no fleet yet
make_lab()
{
	local n

	make_hub
	make_redis 1
	start_redis 1
	for n in "$@"; do
		make_host "$n"
	done
}

# begin_fleet N...: host 1 begins it, the others join, all with baleend and their filter
begin_fleet()
{
	local n trust key options=(--server "${REDIS_AT:-10.77.0.101:6379}")

	[ -z "${FLEET_OPTIONS-}" ] || read -ra options <<<"$FLEET_OPTIONS"
	trust=$(b 1 fleet init lab --host h1 --publish fail2ban,soc "${options[@]}" -j |
		jq -r .trust) || bail "no fleet"
	for n in "$@"; do
		b "$n" apply >"$TMP/out" 2>&1
		[ $? -eq 3 ] || bail "host $n applies nothing: $(<"$TMP/out")"
		start_daemon "$n"
		[ "$n" -ne 1 ] || continue
		key=$(b "$n" fleet join lab --host "h$n" --trust "$trust" \
			--publish fail2ban,soc "${options[@]}" -j | jq -r .key) || bail "no host $n"
		b 1 fleet admit ${ADMIT_AS---operator} "h$n" "$key" >/dev/null || bail "host $n is not admitted"
	done
	for n in "$@"; do
		await "host $n is in the fleet with the others" knows "$n" $#
	done
}

# knows N HOSTS: it agrees with all heads, and sees so many hosts
knows()
{
	[ "$(b "$1" fleet status -j | jq --argjson n "$2" '.hosts_alive == $n and .agreed_s > 0 and
		.publisher_error == "" and .reader_error == ""')" = true ]
}

# digests N: publisher and digest of each publisher that has entries, a line each
digests()
{
	b "$1" fleet status -j |
		jq -r '.publishers[] | select(.entries > 0) | "\(.name) \(.entries) \(.digest)"'
}

# agree N...: all of them have the same
agree()
{
	local n first

	first=$(digests "$1")
	for n in "${@:2}"; do
		[ "$(digests "$n")" = "$first" ] || return 1
	done
}

# ban N ADDRESS [ORIGIN], take_back N ADDRESS [ORIGIN]
ban() { b "$1" add eth0:bad "$2" --origin "${3-fail2ban}" --ttl 1h; }
take_back() { b "$1" del eth0:bad "$2" --origin "${3-fail2ban}"; }

# status_of N FILTER: of `baleen fleet status -j`, by jq
status_of() { b "$1" fleet status -j | jq "$2"; }

# refused N CAUSE: how many messages the host has refused for this cause
refused() { status_of "$1" "[.refusals[] | select(.cause == \"$2\") | .n] | add // 0"; }
has_refused() { [ "$(refused "$1" "$2")" -gt "$3" ]; }

# count_of N PUBLISHER FIELD: of a publisher, as the host knows; 0 when it knows none
count_of() { status_of "$1" "[.publishers[] | select(.name == \"$2\") | .$3] | add // 0"; }

# verdicts N ADDRESS...: D or P of each
verdicts() { on "$1" "$VERDICT" eth0 "${@:2}"; }

# drops N ADDRESS..., passes N ADDRESS...
drops() { [[ $(verdicts "$@") != *P* ]]; }
passes() { [[ $(verdicts "$@") != *D* ]]; }

# stop_lab: what a cleanup of a test calls
stop_lab()
{
	local n

	for n in "${!daemon_pid[@]}"; do
		stop_daemon "$n"
	done
	for n in "${!redis_pid[@]}"; do
		stop_redis "$n" KILL
	done
	umount -l "$TMP"/h*/uts
}

cleanup()
{
	stop_lab
}
