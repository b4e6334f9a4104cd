#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# default.conf: one configuration for all devices that it matches and that have none of
# their own; by hand, for new devices as the rule of udev asks for it, and by baleend.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
make_pair
C=$TMP/conf
F=$TMP/feeds
mkdir "$C" "$F"
VERDICT=$ROOT/build/tools/verdict

# Who plays systemd ends when nobody holds the other end.
cleanup()
{
	[ -z "${systemd_end-}" ] || exec {systemd_end}>&-
}

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" "$1" 1.1.1.1 2.2.2.2 3.3.3.3; }
is_attached() { [ -n "$(xdp_id "$B" "$1")" ]; }
# conf NAME LINE...
conf() { printf '%s\n' "${@:2}" >"$C/$1.conf"; }
# add NAME: a veth device in $B
add() { ip -n "$B" link add "$1" type veth peer name "p-$1"; }

serve()
{
	coproc SERVER { exec nsenter "--net=/run/netns/$B" "$ROOT/build/tools/feed_server" "$F"; }
	SERVER_OUT=${SERVER[0]}
	read -r -t 30 -u "$SERVER_OUT" port || bail "the server does not start"
	URL=http://127.0.0.1:$port
}

# asked: the paths that the server was asked for, up to the marker that ends them
asked()
{
	local path rest paths=

	in_ns "$B" "$ROOT/build/tools/fetch" "$URL/marker" "$TMP/marker" >/dev/null 2>&1
	while read -r -t 30 -u "$SERVER_OUT" path rest && [ "$path" != /marker ]; do
		paths+="$path "
	done
	echo "$paths"
}

# --- refused --------------------------------------------------------------------

try_refused()
{
	conf default "rule bad drop" "  feed $F/a"
	refuses "no match" "$C/default.conf: for which devices? write a line such as 'match eth*'" \
		baleen apply
	conf default "match" "rule bad drop"
	refuses "match of nothing" \
		"$C/default.conf:1: match: names of devices such as eth* is missing" baleen apply
	conf default "match !" "rule bad drop"
	refuses "no name" "$C/default.conf:1: match '!': no name of a device" baleen apply
	conf default "rule bad drop" "match eth*"
	refuses "behind a rule" \
		"$C/default.conf:2: match is of the device: it stands before the first rule" baleen apply
	conf default "match $(printf 'e%.0s' {1..520})" "rule bad drop"
	refuses "too many names" "$C/default.conf:1: match: more than 512 bytes of names" \
		baleen apply
	conf default "match eth*" "rule bad drop"
	refuses "not matched" "veth-b: no configuration: $C/veth-b.conf is not there, and \
$C/default.conf does not match this device" baleen apply veth-b
	conf veth-b "match veth*" "rule bad drop"
	refuses "in the file of a device" "$C/veth-b.conf: match belongs into default.conf" \
		baleen apply veth-b
	rm "$C/veth-b.conf"
	prints "none matches" "" baleen apply
	check_status "-c default.conf names no device" 2 baleen apply -c "$C/default.conf"
	check_status "--all with a device" 2 baleen apply --all veth-b
	check_status "--new without a device" 2 baleen apply --new
	check_status "--ifindex without --new" 2 baleen apply --ifindex 2 veth-b
	is "nothing is attached" "$(baleen status)" "nothing is attached in this network namespace"
}

# --- by hand ----------------------------------------------------------------------

try_all()
{
	echo 1.1.1.1 >"$F/a"
	echo 2.2.2.2 >"$F/b"
	echo 3.3.3.3 >"$F/own"
	add wan0 && add wan1 && add own0 && add dmz0
	conf default "match * !p-* !dmz*" "match !veth-*" "rule bad drop" "  feed $F/a" \
		"  feed $URL/b every 1h"
	conf own0 "rule mine drop" "  feed $F/own"
	check_status "apply --all" 3 baleen apply --all
	is "own0 by its own file" "$(verdicts own0)" PPD
	is "wan0 by default.conf" "$(verdicts wan0)" DDP
	is "wan1, too" "$(verdicts wan1)" DDP
	is "lo is not meant by *" "$(xdp_id "$B" lo)" ""
	is "nor what is excepted" "$(xdp_id "$B" dmz0)$(xdp_id "$B" p-wan0)$(xdp_id "$B" veth-b)" ""
	is "the server was asked once for both" "$(asked)" "/b "
	prints "a second time" "own0: unchanged, native
wan0: unchanged, native
wan1: unchanged, native" baleen apply
	is "one table for all" "$(baleen status --short | awk '{ print $1, $2, $3, $4, $5, $NF }')" \
		"DEVICE STATE MODE RULES ENTRIES DEFAULT
own0 attached native 1 1 pass
wan0 attached native 1 2 pass
wan1 attached native 1 2 pass"
	check_status "--short and -j" 2 baleen status --short -j
	conf wan1 "rule mine drop" "  feed $F/own"
	check_status "its own file goes first" 3 baleen apply wan1
	is "and is in force" "$(verdicts wan1)" PPD
	rm "$C/wan1.conf"
	check_status "without it default.conf again" 3 baleen apply wan1
	is "is in force again" "$(verdicts wan1)" DDP
	asked >"$TMP/out"
	check "-c default.conf for a device that it does not match" \
		baleen apply --quiet-change -c "$C/default.conf" dmz0
	is "it is in force" "$(verdicts dmz0)" DDP
	baleen detach --forget --entries dmz0 >/dev/null
	asked >"$TMP/out"
}

# One download serves all devices whose feeds are due at the same time.
try_update()
{
	echo 3.3.3.3 >>"$F/b"
	# Their last look was an hour and a second ago.
	for device in wan0 wan1; do
		sqlite3 "$(kept_of "$B")/$device/state.db" \
			"UPDATE feed SET checked_ms = checked_ms - 3601000,
				confirmed_ms = confirmed_ms - 3601000" || bail "no such table"
	done
	check_status "wan0 is due" 3 baleen update --due wan0
	check_status "wan1 is due" 3 baleen update --due wan1
	is "the server was asked once" "$(asked)" "/b "
	is "both have the new version" "$(verdicts wan0)$(verdicts wan1)" DDDDDD
	check_status "neither is due again" 0 baleen update --due
	is "so nobody was asked" "$(asked)" ""
	check_status "by hand the server is asked" 0 baleen update wan1
	is "it was asked" "$(asked)" "/b "
}

# --- new devices --------------------------------------------------------------------

try_new()
{
	prints "what is applied already is left alone" "" baleen apply --new wan0
	prints "what has a file of its own, too" "" baleen apply --new own0
	prints "what is not matched, too" "" baleen apply --new veth-b dmz0
	add wan2
	ip -n "$B" link set dev wan2 name raw0
	check_status "a new one, before udev gives it its name" 3 \
		baleen apply --new --offline --ifindex "$(ip -n "$B" -j link show dev raw0 | jq ".[0].ifindex")" wan2
	ip -n "$B" link set dev raw0 name wan2
	is "the copy of another device serves" "$(verdicts wan2)" DDD
	is "no server was asked" "$(asked)" ""
	conf default "match wan*" "rule bad drop" "  feed $URL/c"
	add wan3
	refuses "there is no copy" "$C/default.conf:3: $URL/c: no device has a copy of it, and no \
server is asked" baleen apply --new --offline wan3
	is "it has no filter" "$(xdp_id "$B" wan3)" ""
}

try_daemon()
{
	rm "$F/c"
	play_systemd
	start_baleend "$B"
	await "baleend fails while the server has nothing" \
		grep -q 'wan3: is new: default.conf cannot be applied to it' "$TMP/baleend.log"
	stop_baleend
	echo 1.1.1.1 >"$F/c"
	start_baleend "$B"
	await "started again, baleend applies default.conf" is_attached wan3
	is "it is in force" "$(verdicts wan3)" DPP
	add wan4
	await "a device that comes while it runs gets it" is_attached wan4
	is "it is in force there" "$(verdicts wan4)" DPP
	check "detached and forgotten" baleen detach --forget --entries wan4
	add dmz4
	add wan5
	await "the next one gets it" is_attached wan5
	is "what an operator took off stays off" "$(xdp_id "$B" wan4)" ""
	is "others have none" "$(xdp_id "$B" dmz4)" ""
	stop_baleend
}

serve
try_refused
try_all
try_update
echo 9.9.9.9 >"$F/c"
try_new
try_daemon
