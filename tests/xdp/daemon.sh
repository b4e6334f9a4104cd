#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# baleend maintains what the kernel enforces: single entries end when their time has
# come, feeds are asked when they are due, devices that come back get their rules,
# sampled drops are told, metrics are served. And packets do not care whether it runs.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
make_pair
make_netns "bln$$-c"
C=bln$$-c
mkdir "$TMP/conf"
CONF=$TMP/conf/veth-b.conf
VERDICT=$ROOT/build/tools/verdict
FRAME=$ROOT/build/tools/frame

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" veth-b "$@"; }
# are VERDICTS ADDRESS...
are() { [ "$(verdicts "${@:2}")" = "$1" ]; }
# said TEXT: to systemd, the journal or stderr
said() { grep -qF -- "$1" "$TMP/systemd" "$TMP/baleend.log"; }
now_ms() { date +%s%3N; }
is_past() { [ "$(now_ms)" -gt "$1" ]; }
metric() { http "$B" GET /metrics | grep "^$1[{ ]" | sed 's/.* //; s/\r//'; }
metric_is() { [ "$(metric "$1")" = "$2" ]; }
conf() { printf '%s\n' "$@" >"$CONF"; }

# --- start and stop -----------------------------------------------------------

try_start()
{
	expect "an unknown option" 2 "" "$BALEEND: unrecognized option '--none'
baleend: see 'baleend --help'" "$BALEEND" --none
	expect "an argument" 2 "" "baleend: 'veth-b': takes no arguments" "$BALEEND" veth-b
	check "help" "$BALEEND" --help
	check "the release" "$BALEEND" --version
	check_status "no privileges" 1 setpriv --bounding-set -all --inh-caps -all "$BALEEND"
	is "which it says" "$(grep -c '^baleend: CAP_BPF is missing' "$TMP/err")" 1
	start_baleend "$B"
	stop_baleend
	is "SIGTERM ends it" "$baleend_status" 0
	is "which it told" "$(grep -c STOPPING=1 "$TMP/systemd")" 1
}

try_watchdog()
{
	WATCHDOG_USEC=400000 start_baleend "$B"
	await "it tells the watchdog that it lives" said WATCHDOG=1
	stop_baleend
	in_ns "$B" umount /sys/fs/bpf
	start_baleend "$B"
	is "it runs without bpffs" "$(http "$B" GET /metrics | head -1)" $'HTTP/1.1 200 OK\r'
	stop_baleend
	mount -t bpf baleen-test /sys/fs/bpf || bail "no bpffs on /sys/fs/bpf"
}

# --- single entries ------------------------------------------------------------

# late_ms: how long after its time the last entry with a time ended
expires()
{
	local end late

	check "add $2" baleen add veth-b:bad "$2" --ttl "$1"
	end=$(($(now_ms) + ${1%s} * 1000))
	is "$2 is dropped" "$(verdicts "$2")" D
	await "$2 ends" are P "$2"
	late=$(($(now_ms) - end))
	echo "# $2 ended $late ms after its time"
	# Not by the round of a minute. How late it is depends on who else runs here.
	is "$2 ended in time" "$((late > -1000 && late < 15000))" 1
}

try_expiry()
{
	start_baleend "$B"
	expires 1s 9.9.9.1
	expires 2s 2a00:1::1
	check "a later one" baleen add veth-b:bad 9.9.9.2 --ttl 1h
	expires 1s 9.9.9.3
	is "the later one stays" "$(verdicts 9.9.9.2)" D
	check "many at once" sh -c "seq -f 'add 9.9.9.%g ttl=2s' 10 200 |
		nsenter --net=/run/netns/$B $BALEEN feed veth-b:bad -"
	await "all of them end" are PPP 9.9.9.10 9.9.9.100 9.9.9.200
	check "renewed" baleen add veth-b:bad 9.9.9.2 --ttl 2h --exist
	is "is in force" "$(verdicts 9.9.9.2)" D
}

try_expiry_after_restart()
{
	local end

	check "add" baleen add veth-b:bad 9.9.9.5 --ttl 1s
	end=$(($(now_ms) + 1000))
	check "one that stays" baleen add veth-b:bad 9.9.9.6 --ttl 1h
	stop_baleend KILL
	is "nobody ends it while baleend is dead" "$(verdicts 9.9.9.5 9.9.9.6)" DD
	await "its time has passed" is_past "$end"
	start_baleend "$B"
	await "after its restart it ends" are PD 9.9.9.5 9.9.9.6
}

try_busy()
{
	check "add" baleen add veth-b:bad 9.9.9.7 --ttl 1s
	# Another writer, for longer than the entry has to live.
	flock "$(echo "$TMP"/run/ns*-if*)" sh -c "touch $TMP/locked; until [ -e $TMP/go ]; do
		sleep 0.05; done" &
	await "another writer has the lock" test -e "$TMP/locked"
	is "metrics are served meanwhile" "$(http "$B" GET /metrics | head -1)" \
		$'HTTP/1.1 200 OK\r'
	touch "$TMP/go"
	wait $!
	await "it ends when that is done" are P 9.9.9.7
	is "nothing was complained of" "$(grep -c 'cannot' "$TMP/baleend.log")" 0
}

# --- HTTP -----------------------------------------------------------------------

try_http()
{
	local answer n

	answer=$(http "$B" GET /metrics)
	is "GET /metrics" "$(grep -ci '^content-type: text/plain; version=0.0.4' <<<"$answer")" 1
	is "has the devices" "$(grep -c '^baleen_device_attached{device="veth-b"} 1' <<<"$answer")" 1
	is "and itself" "$(grep -c '^baleen_daemon_start' <<<"$answer")" 1
	answer=$(http "$B" GET /metrics "Accept: application/openmetrics-text; version=1.0.0")
	is "OpenMetrics when asked for" \
		"$(grep -ci '^content-type: application/openmetrics-text' <<<"$answer")" 1
	is "with its end" "$(tail -1 <<<"$answer")" "# EOF"
	answer=$(http "$B" HEAD /metrics)
	is "HEAD" "$(head -1 <<<"$answer") $(grep -c baleen_ <<<"$answer")" $'HTTP/1.1 200 OK\r 0'
	is "POST" "$(http "$B" POST /metrics | head -1)" $'HTTP/1.1 405 Method Not Allowed\r'
	is "another path" "$(http "$B" GET /etc/passwd | head -1)" $'HTTP/1.1 404 Not Found\r'
	# As many as it lets in say nothing; it does not wait for them for ever.
	# shellcheck disable=SC2016 # for the inner shell
	nsenter --net="/run/netns/$B" -- bash -c 'for n in $(seq 40); do
			exec {fd}<>"/dev/tcp/${0%:*}/${0##*:}" || exit; printf "GET /" >&"$fd"
		done; touch "$1"; exec sleep 60' "$LISTEN" "$TMP/slow" &
	n=$!
	await "forty slow clients" test -e "$TMP/slow"
	check "do not keep it from expiry" baleen add veth-b:bad 9.9.9.9 --ttl 1s
	await "which goes on" are P 9.9.9.9
	is "and are let go" "$(http "$B" GET /metrics | head -1)" $'HTTP/1.1 200 OK\r'
	kill "$n"
	wait "$n" 2>/dev/null
}

try_textfile()
{
	stop_baleend
	start_baleend "$B" --textfile "$TMP/baleen.prom" --listen off
	await "a file for node_exporter" grep -q '^baleen_device_attached{device="veth-b"} 1' \
		"$TMP/baleen.prom"
	is "that all can read" "$(stat -c %a "$TMP/baleen.prom")" 644
	is "nobody listens" "$(in_ns "$B" ss -Hltn | wc -l)" 0
	stop_baleend
	start_baleend "$B" --textfile "$TMP/none/baleen.prom"
	await "a directory that is not there is told" said "$TMP/none"
	is "and does not end it" "$(metric baleen_device_attached)" 1
	stop_baleend
	start_baleend "$B" --listen 192.0.2.1:9733
	await "an address of another host is told" said \
		"cannot serve metrics at 192.0.2.1:9733: Cannot assign requested address"
	stop_baleend
	start_baleend "$B"
}

# --- sampled drops -----------------------------------------------------------------

# send SOURCE_HEX: a DNS question to veth-b
send()
{
	"$FRAME" -v "$A:veth-a" "$B:veth-b" \
		"08004500001c0000000040110000${1}0a42000204d2003500080000"
}

# send_until TEXT FILE SOURCE_HEX: one more, and it has been told
send_until()
{
	send "$3"
	grep -qF -- "$1" "$2"
}

try_drops()
{
	local source=08080801 watch

	start_baleend "$B"
	check "sample" baleen policy veth-b --sample 1000/s
	check "ban" baleen add veth-b:bad 8.8.8.1
	await "a sampled drop is in the journal" \
		send_until BALEEN_SOURCE=8.8.8.1 "$TMP/systemd" "$source"
	is "with device, rule and port" "$(grep -F BALEEN_SOURCE=8.8.8.1 "$TMP/systemd" |
		head -1 | grep -cP 'BALEEN_DEVICE=veth-b\tBALEEN_RULE=bad\t.*BALEEN_PORT=53')" 1
	check "why" baleen why veth-b 8.8.8.1
	is "knows when" "$(grep -c 'dropped last\|last drop\|sampled' "$TMP/out")" 1
	in_ns "$B" timeout 60 "$BALEEN" watch veth-b --count 1 >"$TMP/watched" 2>&1 &
	watch=$!
	await "baleen watch gets one, too" send_until 8.8.8.1 "$TMP/watched" "$source"
	wait "$watch"
	: >"$TMP/systemd"
	await "and then it is baleend's turn again" \
		send_until BALEEN_SOURCE=8.8.8.1 "$TMP/systemd" "$source"
	echo READY=1 >>"$TMP/systemd"
	check "no more samples" baleen policy veth-b --no-sample
	stop_baleend
}

# --- kept devices ----------------------------------------------------------------------

# counts N: of requests that the server of feeds has had for this path
asked() { [ "$(grep -c "^/$1 " "$TMP/requests")" -ge "$2" ]; }

serve_feeds()
{
	local port

	mkdir "$TMP/feeds"
	echo 8.8.8.10 >"$TMP/feeds/bad"
	exec {feeds_end}> >(in_ns "$B" "$ROOT/build/tools/feed_server" "$TMP/feeds" \
		>"$TMP/requests")
	await "feeds are served" test -s "$TMP/requests"
	read -r port <"$TMP/requests"
	URL=http://127.0.0.1:$port
}

try_feeds()
{
	start_baleend "$B"
	conf "rule bad drop" "  feed $URL/bad every 2s"
	check_status "apply" 3 baleen apply
	is "is in force" "$(verdicts 8.8.8.10 8.8.8.11)" DP
	echo 8.8.8.11 >"$TMP/feeds/bad"
	await "a feed that is due is asked" are PD 8.8.8.10 8.8.8.11
	await "which is counted" said "changed"
	is "by baleend" "$(($(metric 'baleen_daemon_updates_total{result="done"}') > 0))" 1
	rm "$TMP/feeds/bad"
	await "one that fails is told" said "the last good ones stay in force"
	is "and they do" "$(verdicts 8.8.8.11)" D
	stop_baleend
}

try_again()
{
	conf "rule bad drop"
	check_status "apply" 3 baleen apply
	check "a ban" baleen add veth-b:bad 8.8.8.20 --ttl 1h
	start_baleend "$B"
	new_pair
	await "a device that comes back has its rules" are DP 8.8.8.20 8.8.8.21
	await "which is told" grep -q 'veth-b: is back' "$TMP/baleend.log"
	await "and counted" metric_is baleen_daemon_reattachments_total 1
	is "what was on the one before is forgotten" \
		"$(baleen status | grep -c "is gone")" 0
	check "detach" baleen detach veth-b
	ip -n "$B" link set veth-b down && ip -n "$B" link set veth-b up
	stop_baleend
	start_baleend "$B"
	await "baleend has looked" test -s "$(echo "$TMP"/run/devices-ns*)"
	is "what was detached by hand stays off" "$(verdicts 8.8.8.20)" none
	check_status "apply" 3 baleen apply
	ip -n "$B" link set veth-b name veth-x
	new_pair_of veth-y
	ip -n "$B" link set veth-y name veth-b
	await "one that gets its name has its rules" are DP 8.8.8.20 8.8.8.21
	ip -n "$B" link del veth-b
	stop_baleend KILL
	new_pair_of veth-b
	start_baleend "$B"
	await "also one that came while baleend was dead" are DP 8.8.8.20 8.8.8.21
	many_devices
	new_pair_of veth-b
	await "also when news is lost" are DP 8.8.8.20 8.8.8.21
}

# new_pair_of NAME: in $B, up
new_pair_of()
{
	ip -n "$B" link del "$1" 2>/dev/null
	ip -n "$B" link add name "$1" type veth peer name veth-z netns "$C" &&
		ip -n "$B" link set "$1" up && ip -n "$C" link set veth-z up
	ip -n "$C" link set veth-z name "z$((++n_pairs))"
}

new_pair() { new_pair_of veth-b; }
n_pairs=0

# More news than a socket holds, while baleend is stopped.
many_devices()
{
	kill -STOP "$baleend_pid"
	for _ in $(seq 400); do
		echo "link add dummy0 type dummy"
		echo "link del dummy0"
	done | ip -n "$B" -batch - >/dev/null 2>&1
	ip -n "$B" link del veth-b
	kill -CONT "$baleend_pid"
}

# --- damage --------------------------------------------------------------------------------

try_confirm()
{
	conf "rule bad drop" "  feed $TMP/list"
	echo 8.8.8.30 >"$TMP/list"
	check_status "apply on trial" 3 baleen apply --confirm 20s
	# Of apply --confirm, so that nobody but baleend is left.
	kill_waiters
	is "is in force" "$(verdicts 8.8.8.30)" D
	await "without confirmation baleend takes it back" are P 8.8.8.30
	await "and tells" said "was not confirmed"
	await "and counts" metric_is baleen_daemon_rollbacks_total 1
	is "what was banned stays so" "$(verdicts 8.8.8.20)" D
}

try_damage()
{
	local n

	stop_baleend
	mkdir -p "$(kept_of "$B")/veth-q"
	head -c 65536 /dev/urandom >"$(kept_of "$B")/veth-q/state.db"
	start_baleend "$B"
	await "a damaged state is told" said "veth-q: cannot read its state"
	check "and keeps nobody from theirs" baleen add veth-b:bad 9.9.9.11 --ttl 1s
	await "it ends" are P 9.9.9.11
	n=$(grep -c 'veth-q' "$TMP/baleend.log")
	touch "$TMP/run/changed"
	check "another look" baleen add veth-b:bad 9.9.9.12 --ttl 1s
	await "it ends" are P 9.9.9.12
	is "told once" "$(grep -c 'veth-q' "$TMP/baleend.log")" "$n"
	rm -r "$(kept_of "$B")/veth-q"
	stop_baleend INT
	is "SIGINT ends it" "$baleend_status" 0
	is "packets do not care" "$(verdicts 8.8.8.20)" D
}

play_systemd
try_start
try_watchdog
echo 192.88.99.1 >"$TMP/list"
baleen attach veth-b --drop bad="$TMP/list" >/dev/null || bail "cannot attach"
try_expiry
try_expiry_after_restart
try_busy
try_http
try_textfile
stop_baleend
try_drops
baleen detach veth-b >/dev/null || bail "cannot detach"
serve_feeds
try_feeds
try_again
try_confirm
try_damage
