#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A signed set reaches the hosts of a fleet in rings. A generation that would cut off clients is
# vetoed by the canary, and no other host enforces it, though all rings are due. When web server and
# Redis die on the way nobody goes on, hosts that are booted again neither, and nothing leaves
# force.
#
#      lists 10.77.0.201, nginx     redis 10.77.0.101     host 1: the canary, ring 1
#                  |                        |             hosts 2 to 4: ring 2
#      ============+========================+=======      others: ring 3
#
# A client, 10.50.N.1, downloads from host N through its eth0. Of 20 hosts in `make check-all`, where
# web server and Redis are dead for 10 minutes.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/fleet/lab.sh
source "$ROOT/tests/fleet/lab.sh"

HOSTS=$(pick 3 20)
SECOND=$(pick 2 4) # the last host of ring 2
DEAD=$(pick 10 600)
RINGS_BAD=$(pick 1:6s,20:3s,100:3s 1:20s,20:10s,100:10s)
RINGS_GOOD=$(pick 1:4s,20:20s,100:1s 1:30s,20:120s,100:60s)
RATE=$(pick 100000 40000)
ALL=$(seq "$HOSTS")
REST=$(seq $((SECOND + 1)) "$HOSTS")
L=flt$$-l
W=$TMP/www
declare -A nginx_pid download
AWAIT_SECONDS=120
unset http_proxy https_proxy all_proxy no_proxy ALL_PROXY HTTPS_PROXY NO_PROXY

cleanup()
{
	local n

	for n in "${!download[@]}"; do
		kill "${download[$n]}"
	done
	for n in "${!nginx_pid[@]}"; do
		kill "${nginx_pid[$n]}"
	done
	stop_lab
}

# start_nginx NAMESPACE DIRECTORY [RATE]: shows it
start_nginx()
{
	mkdir -p "$TMP/nginx-$1"
	cat >"$TMP/nginx-$1/conf" <<-END
		user www-data;
		worker_processes 1;
		daemon off;
		pid $TMP/nginx-$1/pid;
		error_log $TMP/nginx-$1/error.log;
		events { worker_connections 256; }
		http {
			access_log off;
			client_body_temp_path $TMP/nginx-$1/body;
			proxy_temp_path $TMP/nginx-$1/proxy;
			fastcgi_temp_path $TMP/nginx-$1/fastcgi;
			uwsgi_temp_path $TMP/nginx-$1/uwsgi;
			scgi_temp_path $TMP/nginx-$1/scgi;
			server { listen 80; root $2; limit_rate ${3-0}; }
		}
	END
	nsenter --net="/run/netns/$1" -- nginx -e "$TMP/nginx-$1/error.log" -c "$TMP/nginx-$1/conf" \
		>"$TMP/nginx-$1/out" 2>&1 &
	nginx_pid[$1]=$!
	wait_for 20 in_ns "$1" curl -sf -o "$TMP/got" http://127.0.0.1/here || bail "no nginx in $1"
}

# publish LIST [OPTION...]
publish() { "$BALEEN" set publish -o "$W" --name bans --key "$TMP/sec" "${@:2}" "$1" >"$TMP/published" || bail "publish $1"; }

# set_of N: "GENERATION STEP PHASE PREVIOUS" of the set on a host; previous is 0 when it had no other
set_of() { b "$1" set status -j eth0 | jq -r '.[0] | "\(.generation) \(.step) \(.phase) \(.previous)"'; }

# all_are WANT N...: of all these hosts
all_are()
{
	local n

	for n in "${@:2}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $(set_of "$n") == $1 ]] || return 1
	done
}

# sets N...: of each: how many hosts have which
sets()
{
	local n

	for n in "$@"; do
		set_of "$n"
	done | awk '{ print $1 " before " $4 }' | sort | uniq -c | sed 's/^ *\([0-9]*\)/\1x/' | paste -sd ,
}

# is_over RINGS: all rings of the newest generation are due since it was made
is_over()
{
	local at soak

	at=$(date -d "$(sed -n 's/^created //p' "$W/bans.manifest")" +%s)
	for soak in ${1//,/ }; do
		soak=${soak#*:}
		at=$((at + ${soak%s}))
	done
	[ "$(date +%s)" -gt "$at" ]
}

# --- hosts -----------------------------------------------------------------------------------

mkdir "$W" "$TMP/files"
chmod 0755 "$TMP/files"
chmod 0711 "$TMP"
echo here | tee "$TMP/files/here" >"$W/here"
head -c $((RATE * $(pick 20 60))) /dev/urandom >"$TMP/files/file"
chmod 0644 "$TMP/files"/*
"$BALEEN" set keygen "$TMP/sec" "$TMP/pub" >"$TMP/out" || bail keygen
seq -f '20.0.%.0f.1' 0 99 >"$TMP/one"
{ cat "$TMP/one" && seq -f '10.50.%.0f.1' "$HOSTS"; } >"$TMP/bad"
{ cat "$TMP/one" && echo 20.1.0.1; } >"$TMP/good"
publish "$TMP/one"

# shellcheck disable=SC2086 # words
make_lab $ALL
make_netns "$L"
plug "$L" up0 10.77.0.201
start_nginx "$L" "$W"
for n in $ALL; do
	ring=$((n == 1 ? 1 : n <= SECOND ? 2 : 3))
	printf '%s\n' "rule bad drop" "  feed set+http://10.77.0.201/bans key $TMP/pub every 5s ring $ring" \
		"  special keep" "  max-growth 100%" "rule more drop" "  feed fleet:bans" >"$TMP/h$n/conf/eth0.conf"
	if ! ip -n "$(host_ns "$n")" addr add "10.50.$n.2/24" dev eth0 ||
		! ip -n "$S" addr add "10.50.$n.1/24" dev "peer$n"; then
		bail "no address of host $n"
	fi
done
# shellcheck disable=SC2086 # words
begin_fleet $ALL
# shellcheck disable=SC2086 # words
is "all hosts have the first generation" "$(sets $ALL)" "${HOSTS}x 1 before 0"

# --- a generation that covers clients ------------------------------------------------------------

for n in $ALL; do
	start_nginx "$(host_ns "$n")" "$TMP/files" "$RATE"
	in_ns "$S" curl -sf -o "$TMP/download-$n" "http://10.50.$n.2/file" 2>"$TMP/curl-$n" &
	download[$n]=$!
	wait_for 20 test -s "$TMP/download-$n" || bail "no download from host $n"
done
publish "$TMP/bad" --rings "$RINGS_BAD"
await "the canary vetoes it" all_are "1 veto none 0" 1
check "after it was on trial" grep -q "generation 2 is on trial until" "$TMP/h1/log"
check "for its clients" eval \
	"b 1 set status eth0 | grep -q \"would cut off 1 of [0-9]* peers: rule 'bad' would drop 10.50.1.1, peer of a TCP session\""
wait_for 120 is_over "$RINGS_BAD" || bail "the clock stands still"
# shellcheck disable=SC2086 # words
await "all others have heard of it" all_are "1 veto none 0" ${ALL#1}
is "by the canary's word" "$(b "$HOSTS" set status -j eth0 | jq -r '.[0].why' | cut -d : -f 1)" h1
# shellcheck disable=SC2086 # words
is "nobody has ever enforced it, though all rings are due" "$(sets $ALL)" "${HOSTS}x 1 before 0"
for n in $ALL; do
	check "the download from host $n goes on to its end" wait "${download[$n]}"
	unset "download[$n]"
	check "and is whole" cmp "$TMP/download-$n" "$TMP/files/file"
done

# This is how it would have been: an operator may still take it.
check "an operator releases it on one host" b "$HOSTS" set release eth0
await "which drops its clients then" drops "$HOSTS" "10.50.$HOSTS.1"
check "and is rolled back" b "$HOSTS" set rollback eth0
check "to let them pass" passes "$HOSTS" "10.50.$HOSTS.1"
passed=0
for n in $ALL; do
	passes "$n" "10.50.$n.1" && passed=$((passed + 1))
done
is "all clients pass on all hosts" "$passed" "$HOSTS"

# --- web server and Redis die on the way ------------------------------------------------------------

check "a ban of the fleet" b 2 add eth0:more 192.0.2.1 --origin fail2ban --ttl 1h
await "is in force" drops "$HOSTS" 192.0.2.1
publish "$TMP/good" --rings "$RINGS_GOOD"
await "the canary says that the next one is good" all_are "3 go none 1" 1
# shellcheck disable=SC2046 # words
await "the second ring takes it" all_are "3 * 1" $(seq 2 "$SECOND")
kill "${nginx_pid[$L]}"
unset "nginx_pid[$L]"
stop_redis 1 KILL
dead=$(date +%s)
for n in $(printf '%s\n' 1 2 $((SECOND + 1)) "$HOSTS" | sort -u); do
	stop_daemon "$n" KILL
	check "host $n goes down" b "$n" detach eth0
	check "and is booted again" b "$n" restore --boot eth0
	start_daemon "$n"
done
dead_for() { [ "$(date +%s)" -ge $((dead + DEAD)) ] && is_over "$RINGS_GOOD"; }
wait_for $((DEAD + 300)) dead_for || bail "the clock stands still"
echo "# all is dead for $(($(date +%s) - dead)) s, $(pick "600 by make check-all" "as long as it shall")"
# shellcheck disable=SC2086 # words
is "nobody goes on" "$(sets $REST)" "$((HOSTS - SECOND))x 1 before 0"
# shellcheck disable=SC2046 # words
is "nobody goes back" "$(sets $(seq "$SECOND"))" "${SECOND}x 3 before 1"
dropped=0
for n in $ALL; do
	drops "$n" 20.0.7.1 192.0.2.1 && dropped=$((dropped + 1))
done
is "nothing leaves force" "$dropped $(verdicts 2 20.1.0.1)$(verdicts "$HOSTS" 20.1.0.1)" "$HOSTS DP"

# --- they live again -------------------------------------------------------------------------------------

start_nginx "$L" "$W"
start_redis 1
# shellcheck disable=SC2086 # words
await "the last ring takes it" all_are "3 *" $REST

# --- the operator of one host -----------------------------------------------------------------------------

publish "$TMP/one" --rings 1:60s,20:60s,100:60s
await "a canary tries the next one" all_are "3 go trial 1" 1
await "another host waits for it" all_are "3 ring * 1" 2
check "an operator there holds it for the fleet" b 2 set hold --fleet --reason "not today" eth0
await "the canary stops" all_are "3 veto none 1" 1
is "and says who, and why" "$(b 1 set status -j eth0 | jq -r '.[0].why')" "h2: not today"
check "the operator releases it" b 2 set release eth0
await "and the canary tries it again" all_are "3 go trial 1" 1
