# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Inside the machine of confirm.sh: a TCP session with the echo of lan0, and rules
# that cut it.

# shellcheck source=tests/boot/guest.sh
source tests/boot/guest.sh

# The address of the far host is not on the list.
lock_out()
{
	printf '%s\n' "guard-sessions all" "default drop" "rule office allow" "	feed /lists/friends.list"
}

# rules_of_lan0: and all else but when they came, since taking back is a change, too
rules_of_lan0()
{
	comparable lan0 | jq -M 'del(.. | .applied?)'
}

# start_session: its client says a line and waits for the echo, as often as it is
# told to by a line on descriptor 7; echoes arrive on 8
start_session()
{
	mkfifo "$TMP/say" "$TMP/heard"
	# shellcheck disable=SC2016 # of the inner shell
	far bash -c 'exec 5<>/dev/tcp/10.66.0.2/7
		while read -r line; do
			echo "$line" >&5 && read -r echo <&5 && echo "$echo"
		done' <"$TMP/say" >"$TMP/heard" &
	exec 7>"$TMP/say" 8<"$TMP/heard"
}

# session_is NAME SECONDS: the session goes on; who was locked out for long sends
# again after as long
session_is()
{
	local echo=none

	read -r -t "$2" echo <&8
	is "$1" "$echo" "$said"
}

# say TEXT
say()
{
	said=$1
	echo "$said" >&7
}

# field NAME: of the status of lan0
field()
{
	"$BALEEN" status -j lan0 | jq -r ".[0].$1"
}

is_default()
{
	[ "$(field default)" = "$1" ]
}

is_cut()
{
	[ "$(field unmatched)" -gt 0 ]
}

is_back()
{
	rules_of_lan0 | cmp -s - "$NOTES/before"
}

kill_nothing()
{
	:
}

# Also who waits in the place of apply.
kill_all()
{
	local exe pids=()

	for exe in /proc/[0-9]*/exe; do
		case $(readlink "$exe") in
		/usr/sbin/baleen | /usr/sbin/baleend) pids+=("$(basename "${exe%/exe}")") ;;
		esac
	done
	check "$1: they are killed" kill -KILL "${pids[@]}"
}

# lock_out_and_wait NAME KILL: the session is cut, and what is killed changes nothing
lock_out_and_wait()
{
	local apply began

	began=$SECONDS
	"$BALEEN" apply lan0 -c "$TMP/lock-out" --force --confirm 10s >"$TMP/apply" 2>&1 &
	apply=$!
	until_true is_default drop || not_ok "$1: the rules are on" "$(cat "$TMP/apply")"
	say "$1"
	check "$1: the session is cut" until_true is_cut
	"kill_$2" "$1"
	until_true is_back
	rules_of_lan0 >"$TMP/now"
	check "$1: the rules before are back" diff "$NOTES/before" "$TMP/now"
	echo "# $1: back $((SECONDS - began)) s after apply began, with a window of 10 s"
	session_is "$1: the session goes on" 60
	wait "$apply"
}

first()
{
	check_status "apply" 3 "$BALEEN" apply lan0
	ban_all
	rules_of_lan0 >"$NOTES/before"
	lock_out >"$TMP/lock-out"
	start_session
	say hello
	session_is "there is a session" 60
	check_status "what cuts a session is refused" 1 "$BALEEN" apply lan0 -c "$TMP/lock-out"
	lock_out_and_wait "nobody confirms" nothing
	lock_out_and_wait "apply and the daemon are killed" all
	check "the daemon is started again" until_true systemctl --quiet is-active baleend
	"$BALEEN" apply lan0 -c "$TMP/lock-out" --force --confirm 1h >"$TMP/apply" 2>&1 &
	check "rules are on, for an hour" until_true is_default drop
	systemctl reboot 2>/dev/null
	sleep infinity
}

second()
{
	rules_of_lan0 >"$TMP/now"
	check "a boot within the window: the rules before are back" diff "$NOTES/before" "$TMP/now"
	check_status "nothing is left to confirm" 1 "$BALEEN" confirm lan0
	judges "after the boot"
	sed 's/^sample .*/dry-run/' /etc/baleen/lan0.conf >"$TMP/other"
	"$BALEEN" apply lan0 -c "$TMP/other" --confirm 1h >"$TMP/apply" 2>&1 &
	check "other rules are on" until_true dry_run
	check "they are confirmed" "$BALEEN" confirm lan0
	rules_of_lan0 >"$NOTES/confirmed"
	cut_the_power
}

dry_run()
{
	[ "$(field dry_run)" = true ]
}

third()
{
	rules_of_lan0 >"$TMP/now"
	check "what was confirmed is in force after a power cut" diff "$NOTES/confirmed" "$TMP/now"
	is "no unit failed" "$(failed_units)" ""
}

case $VM_BOOT in
1) first ;;
2) second ;;
3) third ;;
esac
