#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `baleen fleet demo` runs: a Redis and three hosts in network namespaces of their own, and
# one ban that holds on all of them. Nothing is left of it.
#
#      this namespace: bridge br0 10.77.0.1 (Redis), 10.77.0.9 (somebody)
#          +=== host 1, up0 10.77.0.11
#          +=== host 2, up0 10.77.0.12
#          +=== host 3, up0 10.77.0.13

set -u
baleen=$1
baleend=$(dirname "$baleen")/baleend
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C
somebody=10.77.0.9

fail()
{
	echo "baleen: fleet demo: $1" >&2
	exit 1
}

[ "$(id -u)" -eq 0 ] || fail "it makes network namespaces: run this as root"
for program in redis-server ip unshare; do
	command -v "$program" >/dev/null ||
		fail "$program is not installed: apt-get install redis-server iproute2 util-linux"
done
if [ "${BALEEN_DEMO-}" != $$ ]; then
	export BALEEN_DEMO=$$
	exec unshare --mount --net --propagation private -- "$0" "$@"
fi
dir=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

# until_ok COMMAND...: a bound in steps, 20 seconds or more
until_ok()
{
	local n

	for ((n = 0; n < 400; n++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	return 1
}

# on N COMMAND...: on a host
on()
{
	BALEEN_RUN_DIR=$dir/$1/run BALEEN_STATE_DIR=$dir/$1/state BALEEN_CONF_DIR=$dir/$1/conf \
		nsenter --net="/run/netns/demo-h$1" -- "${@:2}"
}

# show N ARGUMENT...: baleen on a host, with what is typed
show()
{
	local word line=baleen

	for word in "${@:2}"; do
		[[ $word == *' '* ]] && word="\"$word\""
		line+=" $word"
	done
	echo "host$1# $line"
	on "$1" "$baleen" "${@:2}" | sed 's/^/    /'
	return "${PIPESTATUS[0]}"
}

# answers N: does a host refuse somebody a connection? One that drops says nothing.
answers()
{
	timeout 0.5 bash -c ": <>/dev/tcp/10.77.0.1$1/9"
	[ $? -eq 1 ]
}
is_silent() { ! answers "$1"; }

make_wires()
{
	local n

	mkdir -p /run/netns
	mount -t tmpfs none /run/netns && mount -t bpf none /sys/fs/bpf &&
		ip link set lo up && ip link add br0 type bridge && ip link set br0 up &&
		ip address add 10.77.0.1/24 dev br0 && ip address add "$somebody/24" dev br0 || return
	for n in 1 2 3; do
		ip netns add "demo-h$n" &&
			ip link add "p$n" type veth peer name up0 netns "demo-h$n" &&
			ip link set "p$n" master br0 up && ip -n "demo-h$n" link set lo up &&
			ip -n "demo-h$n" link set up0 up &&
			ip -n "demo-h$n" address add "10.77.0.1$n/24" dev up0 &&
			ip route add "10.77.0.1$n/32" dev br0 src "$somebody" || return
		mkdir -p "$dir/$n/conf"
		printf '%s\n' "rule bad drop" "  feed fleet:bans max-ttl 24h" >"$dir/$n/conf/up0.conf"
	done
}

# start_host N
start_host()
{
	on "$1" "$baleen" apply >"$dir/$1/out" 2>&1
	[ $? -eq 3 ] || fail "host $1: $(<"$dir/$1/out")"
	# The process of the job itself, so that it can be ended.
	BALEEN_RUN_DIR=$dir/$1/run BALEEN_STATE_DIR=$dir/$1/state BALEEN_CONF_DIR=$dir/$1/conf \
		nsenter --net="/run/netns/demo-h$1" -- "$baleend" --command "$baleen" \
		--listen off >"$dir/$1/log" 2>&1 &
}

# is_ready N: it agrees with three hosts
is_ready()
{
	local status

	status=$(on "$1" "$baleen" fleet status)
	grep -q '3 alive$' <<<"$status" && grep -q 'heads agreed' <<<"$status"
}

# join N TRUST: prints its key
join()
{
	on "$1" "$baleen" fleet join demo --host "host$1" --server 10.77.0.1:6379 --trust "$2" |
		sed 's/.* //'
}

make_wires || fail "cannot make network namespaces"
redis-server --bind 10.77.0.1 --protected-mode no --save '' --dir "$dir" >/dev/null &
show 1 fleet init demo --host host1 --server 10.77.0.1:6379 | tee "$dir/init" || exit 1
trust=$(sed -n 's/.*--trust \([^ ]*\).*/\1/p' "$dir/init")
for n in 2 3; do
	key=$(join "$n" "$trust")
	# The second may let go, too.
	operator=()
	[ "$n" -ne 2 ] || operator=(--operator)
	show 1 fleet admit "${operator[@]}" "host$n" "$key" || exit 1
done
for n in 1 2 3; do
	start_host "$n"
done
for n in 1 2 3; do
	until_ok is_ready "$n" || fail "host $n does not find the others: $(tail -n 3 "$dir/$n/log")"
	until_ok answers "$n" || fail "host $n does not answer"
done
echo "$somebody knocks at all three hosts, and each answers."
begun=$(date +%s%N)
show 1 fleet ban "$somebody" --ttl 1h --reason "scans ports" || exit 1
for n in 2 3; do
	until_ok on "$n" "$baleen" fleet who "$somebody" || fail "host $n does not know of it"
done
echo "known on all three after $((($(date +%s%N) - begun) / 1000000)) ms, commands included"
for n in 1 2 3; do
	until_ok is_silent "$n" || fail "host $n still answers"
done
echo "$somebody knocks at all three hosts, and none answers."
show 3 fleet who "$somebody" || exit 1
show 2 fleet pardon "$somebody" --reason "a colleague" || exit 1
for n in 1 2 3; do
	until_ok answers "$n" || fail "host $n does not answer again"
done
echo "$somebody knocks at all three hosts, and each answers again."
