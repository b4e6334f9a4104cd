# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# baleend in a test: started in a namespace, with what it tells systemd in files.
# Sourced after lib.sh and isolate.
#
#      $TMP/systemd        lines of what came to NOTIFY_SOCKET and to the journal
#      $TMP/baleend.log    its messages

BALEEND=$ROOT/build/baleend
LISTEN=127.0.0.1:9733
# As the unit has them.
CAPABILITIES=-all$(sed -n 's/^CapabilityBoundingSet=//p' "$ROOT/user/systemd/baleend.service" |
	tr '[:upper:]' '[:lower:]' | sed 's/\(^\| *\)cap_/,+/g')
baleend_pid=

# await NAME COMMAND...: until it succeeds; a bound in steps, of a minute or more
await()
{
	local n

	for ((n = 0; n < ${AWAIT_STEPS:-1200}; n++)); do
		if "${@:2}" >/dev/null 2>&1; then
			ok "$1"
			return
		fi
		sleep 0.05
	done
	not_ok "$1" "did not happen: ${*:2}"
	[ ! -f "$TMP/baleend.log" ] || tail -n 5 "$TMP/baleend.log" | sed 's/^/# /'
	return 1
}

# play_systemd: its sockets, where systemd has them; only for what this test starts
play_systemd()
{
	mkdir -p /run/systemd || bail "no /run/systemd"
	mount -t tmpfs -o mode=0755 baleen-test /run/systemd || bail "no tmpfs on /run/systemd"
	mkdir -p /run/systemd/journal
	exec {systemd_end}> >("$ROOT/build/tools/datagrams" "$TMP/notify" \
		/run/systemd/journal/socket >"$TMP/systemd")
	export NOTIFY_SOCKET=$TMP/notify
	await "somebody plays systemd" grep -q '^ready$' "$TMP/systemd"
}

# start_baleend NAMESPACE [OPTION...]: until it says that it is ready; with no more
# capabilities than its unit gives it
start_baleend()
{
	local n

	n=$(grep -c READY=1 "$TMP/systemd")
	nsenter --net="/run/netns/$1" -- setpriv --bounding-set "$CAPABILITIES" \
		"$BALEEND" --command "$BALEEN" --listen "$LISTEN" \
		"${@:2}" >>"$TMP/baleend.log" 2>&1 {systemd_end}>&- &
	baleend_pid=$!
	await "baleend is ready" is_ready "$((n + 1))"
}

is_ready()
{
	[ "$(grep -c READY=1 "$TMP/systemd")" -ge "$1" ]
}

# stop_baleend [SIGNAL]: and its exit status is left in $baleend_status
stop_baleend()
{
	kill "-${1:-TERM}" "$baleend_pid"
	wait "$baleend_pid" 2>/dev/null
	# shellcheck disable=SC2034 # for the tests
	baleend_status=$?
	baleend_pid=
}

# http NAMESPACE METHOD PATH [HEADER]: the answer, header and all
http()
{
	# shellcheck disable=SC2016 # for the inner shell
	in_ns "$1" timeout 30 bash -c 'exec 3<>"/dev/tcp/${0%:*}/${0##*:}" &&
		printf "%s\r\n" "$1 $2 HTTP/1.1" "Host: $0" "Connection: close" ${3:+"$3"} "" >&3 &&
		cat <&3' "$LISTEN" "${@:2}"
}
