#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# fail2ban as Debian has it bans through the action that comes with Baleen, driven by
# a log: bans, unbans, restarts. What it says is compared with what packets meet.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
if ! command -v fail2ban-client >/dev/null; then
	skip "fail2ban" "fail2ban is not installed"
	exit 0
fi
make_pair
VERDICT=$ROOT/build/tools/verdict
SESSION=$ROOT/build/tools/session
F2B=$TMP/fail2ban
LOG=$TMP/auth.log

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
# are VERDICTS ADDRESS...
are() { [ "$(in_ns "$B" "$VERDICT" veth-b "${@:2}")" = "$1" ]; }
client() { in_ns "$B" timeout 60 fail2ban-client -c "$F2B" -s "$F2B/socket" -p "$F2B/pid" "$@"; }
# fails ADDRESS: as often as the jail wants it
fails()
{
	local n

	for n in 1 2 3; do
		echo "$(date '+%Y-%m-%d %H:%M:%S') host: failed login $n from $1" >>"$LOG"
	done
}

configure()
{
	mkdir -p "$F2B"/{action.d,filter.d,jail.d}
	cp /etc/fail2ban/jail.conf /etc/fail2ban/fail2ban.conf /etc/fail2ban/paths-*.conf "$F2B"
	cp "$ROOT/user/adapters/fail2ban-baleen.conf" "$F2B/action.d/baleen.conf"
	printf '%s\n' "[Definition]" 'failregex = failed login \d+ from <HOST>$' \
		>"$F2B/filter.d/login.conf"
	printf '%s\n' "[Definition]" "dbfile = $F2B/db" "logtarget = $F2B/log" "socket = $F2B/socket" \
		"pidfile = $F2B/pid" >"$F2B/fail2ban.local"
	cat >"$F2B/jail.local" <<-EOT
		[DEFAULT]
		backend = polling
		usedns = no
		ignoreself = false
		maxretry = 3
		findtime = 1h
		banaction = baleen[baleen="$BALEEN"]

		[login]
		enabled = true
		filter = login
		port = ssh
		logpath = $LOG
		bantime = 1h

		[short]
		enabled = true
		filter = login
		port = ssh
		logpath = $TMP/short.log
		bantime = 3s

		[grow]
		enabled = true
		filter = login
		port = ssh
		logpath = $TMP/grow.log
		bantime = 10s
		bantime.increment = true

		[ever]
		enabled = true
		filter = login
		port = ssh
		logpath = $TMP/ever.log
		bantime = -1
	EOT
	: >"$LOG"
	: >"$TMP/short.log"
	: >"$TMP/grow.log"
	: >"$TMP/ever.log"
}

start_fail2ban()
{
	nsenter --net="/run/netns/$B" -- fail2ban-server -c "$F2B" -s "$F2B/socket" -p "$F2B/pid" -f start \
		>"$TMP/fail2ban.out" 2>&1 &
	server=$!
	await "fail2ban runs" client ping
}

stop_fail2ban()
{
	kill "-$1" "$server"
	wait "$server" 2>/dev/null
	rm -f "$F2B/socket" "$F2B/pid"
}

# banned_are N: in both jails, as fail2ban says
banned_are()
{
	[ "$({ client get login banip; client get ever banip; } | wc -w)" -eq "$1" ]
}

# is_entry KEY ORIGIN: there is an entry
is_entry() { baleen why veth-b "${1%%/*}" 2>&1 | grep -qF "$2"; }

cleanup()
{
	[ "$tap_failed" -eq 0 ] || grep -v "Found" "$F2B/log" | tail -n 20 | sed 's/^/# /'
}

echo 192.88.99.1 >"$TMP/list"
baleen attach veth-b --drop bad="$TMP/list" bans >/dev/null || bail "cannot attach"
configure
start_fail2ban

# --- bans ---------------------------------------------------------------------

fails 9.9.9.9
await "a ban" are DP 9.9.9.9 9.9.9.8
await "its origin is the jail" is_entry 9.9.9.9 fail2ban-login
check "why" baleen why veth-b 9.9.9.9
is "has the reason" "$(grep -c '3 failures' "$TMP/out")" 1
fails 2a00:1:2:3::4
await "an IPv6 ban" are D 2a00:1:2:3::4
is "holds its /64, and no more" "$(are DP 2a00:1:2:3:ffff::1 2a00:1:2:4::1 && echo yes)" yes
check "a second ban of the same" client set login banip 9.9.9.9
is "changes nothing" "$(are D 9.9.9.9 && echo yes)" yes
check "the action is idempotent" sh -c "echo 'add 9.9.9.9 ttl=3600s' |
	nsenter --net=/run/netns/$B $BALEEN feed bans - --origin fail2ban-login"
is "as it says" "$(<"$TMP/out")" "ok renewed"
check "another jail bans it, too" client set ever banip 9.9.9.9
await "under its own name" is_entry 9.9.9.9 fail2ban-ever

# --- awkward ones ----------------------------------------------------------------

# A log can make fail2ban ban what is no address: whoever writes to it adds no line.
check "a prefix" client set ever banip 9.9.3.0/24
await "is banned as one" are DD 9.9.3.1 9.9.3.254
for id in 'x\nadd 9.9.5.1' 'x\012add 9.9.5.2' '$(touch pwned)' '`touch pwned`' "'; touch pwned; '" \
	'"; touch pwned; "' 'ü\' '9.9.5.3 ttl=1s reason=x'; do
	client set ever banip "$id" >/dev/null 2>&1
done
check "one after them" client set ever banip 9.9.5.9
await "is banned" are D 9.9.5.9
is "what is no address bans nobody" "$(are PPP 9.9.5.1 9.9.5.2 9.9.5.3 && echo yes)" yes
is "and runs nothing" "$(find "$ROOT" / "$TMP" -maxdepth 1 -name pwned)" ""
for id in 9.9.3.0/24 9.9.5.9; do
	check "unban $id" client set ever unbanip "$id"
done
await "they are lifted" are PP 9.9.3.1 9.9.5.9
client set ever unbanip --all >/dev/null 2>&1

# --- unbans ---------------------------------------------------------------------

check "unban" client set login unbanip 9.9.9.9
is "leaves the other jail's" "$(are D 9.9.9.9 && echo yes)" yes
check "unban that, too" client set ever unbanip 9.9.9.9
await "it is lifted" are P 9.9.9.9
check "unban of IPv6" client set login unbanip 2a00:1:2:3::4
await "it is lifted" are PP 2a00:1:2:3::4 2a00:1:2:3:ffff::1
LOG=$TMP/short.log fails 9.9.9.7
await "a short ban" are D 9.9.9.7
await "ends" are P 9.9.9.7
# Some seconds after its second ban fail2ban makes it twice as long.
is_longer()
{
	baleen list veth-b --origin fail2ban-grow -j | jq -e '.[0].left_ms > 11000' >/dev/null
}
LOG=$TMP/grow.log fails 9.9.9.6
await "a ban that grows" are D 9.9.9.6
check_status "is for as long as the jail says" 1 is_longer
await "it ends" are P 9.9.9.6
await "fail2ban has seen that" grep -q "\[grow\] Unban 9.9.9.6" "$F2B/log"
sleep 1
LOG=$TMP/grow.log fails 9.9.9.6
await "the next one" are D 9.9.9.6
await "is longer" is_longer
check "unban that" client set grow unbanip 9.9.9.6
for n in 21 22 23; do
	fails 9.9.8.$n
done
await "three more" are DDD 9.9.8.21 9.9.8.22 9.9.8.23
baleen add veth-b:bad 9.9.8.24 >/dev/null
check "unban --all" client unban --all
await "lifts them all" are PPP 9.9.8.21 9.9.8.22 9.9.8.23
is "and nobody else's, nor the list's" "$(are DD 9.9.8.24 192.88.99.1 && echo yes)" yes

# --- who must and who must not be banned -------------------------------------------

try_session()
{
	# shellcheck disable=SC2016 # for the inner shell
	"$SESSION" "/run/netns/$B" "/run/netns/$A" 10.66.0.2 bash -c 'for n in 1 2 3; do
			echo "$(date "+%Y-%m-%d %H:%M:%S") host: failed login $n from 10.66.0.1"
		done >>"$0"; for n in $(seq 600); do
			[ "$(nsenter --net="/run/netns/$2" -- "$1" veth-b 10.66.0.1)" != D ] || exit 0
			sleep 0.05
		done; exit 1' "$LOG" "$VERDICT" "$B"
}
check "who holds a session is banned while it is open" try_session
fails 10.66.0.2
await "an own address is refused" grep -q "10.66.0.2.*own\|refused.*10.66.0.2\|Failed to execute ban.*10.66.0.2" "$F2B/log"
is "and not dropped" "$(are P 10.66.0.2 && echo yes)" yes
client set login unbanip 10.66.0.1 >/dev/null
client set login unbanip 10.66.0.2 >/dev/null

# --- restarts ---------------------------------------------------------------------

LOG=$TMP/ever.log fails 9.9.6.1
for n in $(seq 30); do
	fails 9.9.7.$n
done
mapfile -t banned < <(printf '9.9.7.%d\n' $(seq 30); echo 9.9.6.1)
all_dropped=$(printf 'D%.0s' "${banned[@]}")
await "thirty-one bans" are "$all_dropped" "${banned[@]}"
stop_fail2ban TERM
is "stopped, it lifts them" "$(are "${all_dropped//D/P}" "${banned[@]}" && echo yes)" yes
start_fail2ban
await "started, it bans them all again" are "$all_dropped" "${banned[@]}"
stop_fail2ban KILL
is "killed, it leaves them" "$(are "$all_dropped" "${banned[@]}" && echo yes)" yes
start_fail2ban
await "started, it knows them" banned_are 31
is "and they are in force" "$(are "$all_dropped" "${banned[@]}" && echo yes)" yes
check "and can be unbanned" client set login unbanip 9.9.7.30
await "one by one" are PD 9.9.7.30 9.9.7.29
stop_fail2ban TERM
is "nothing is left of it" "$(are "${all_dropped//D/P}" "${banned[@]}" && echo yes)" yes
is "but what others have" "$(are DD 9.9.8.24 192.88.99.1 && echo yes)" yes
