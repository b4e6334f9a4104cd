# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The ways in, by which an address comes into a rule: a function way_NAME each, sourced by
# tests/xdp/promises.sh after lib.sh and isolate.
#
#      way_NAME KEY...     brings the keys into rule 'bad' of $DEV; $answer is then ok, narrowed,
#                          refused or failed, and $TMP/said has all that was said
#      fresh               before it: $DEV as the way finds it
#      set_up_NAME, take_down_NAME   what only this way needs, where it needs anything
#
# A way is a line of the table WAYS:
#
#      NAME         way_NAME; NAME/conf is the same function on a device with a configuration
#      finds        nothing: no filter; hand: one that was attached; conf: one that was applied
#      brings       list, feed: the rule's whole list; image: a saved one; keys: single entries;
#                   nothing: it makes anew what is there
#      asks         typed, fed, limit, fleet, library, restored: ../shared/BOOK.md says what
#                   follows from that

# shellcheck disable=SC2034 # for the test
# shellcheck disable=SC2153,SC2154 # of lib.sh and of the test
WAYS="
attach             nothing list    typed
apply              nothing feed    fed
apply/conf         conf    feed    fed
take_over          hand    feed    fed
update/conf        conf    feed    fed
set/conf           conf    feed    fed
new_device/conf    nothing feed    fed
rule_add           hand    list    typed
swap               hand    list    typed
swap/conf          conf    list    typed
merge              hand    list    typed
merge/conf         conf    list    typed
restore            nothing image   restored
restore_boot/conf  conf    nothing restored
refresh            hand    nothing restored
refresh/conf       conf    nothing restored
subtract           hand    nothing typed
subtract/conf      conf    nothing typed
resize             hand    nothing typed
resize/conf        conf    nothing typed
ban                hand    keys    typed
ban/conf           conf    keys    typed
add                hand    keys    typed
add/conf           conf    keys    typed
add_f              hand    keys    typed
add_f/conf         conf    keys    typed
import             hand    keys    typed
import/conf        conf    keys    typed
feed               hand    keys    fed
feed/conf          conf    keys    fed
feed_bans          hand    keys    fed
feed_bans/conf     conf    keys    fed
library            hand    keys    library
library/conf       conf    keys    library
crowdsec           hand    keys    fed
crowdsec/conf      conf    keys    fed
fail2ban           hand    keys    fed
fail2ban/conf      conf    keys    fed
limit              hand    keys    limit
limit/conf         conf    keys    limit
fleet/conf         conf    keys    fleet
"


VERDICT=$ROOT/build/tools/verdict
# The device, and how commands come to it: promises put something in front of the way's only.
NS=$B DEV=veth-b
INSIDE=(nsenter "--net=/run/netns/$B" --)
ENTER=("${INSIDE[@]}")
# Keys that the rule has from the start: innocent ones, of which `subtract` takes the second.
BASE=(9.1.1.1 9.1.2.2)
# The rule as promises want it: statements of the device and of the rule, or words of attach, and
# those of build where lists are to be images; --force; the end of entries; sources of a limit, and
# its cap.
ACTION=drop ATTACH=() DEVICE_LINES=() RULE_LINES=() IMAGE=() FORCE=() TTL='' PER=src CAP=1000
WORLD_C=bln$$-c
sentinel_n=0

# --- what was said ----------------------------------------------------------------------------

# say COMMAND...: what it says is the answer
say()
{
	timeout 60 "$@" >"$TMP/said" 2>&1
	case $? in
	0 | 3) answer=ok ;;
	1) answer=refused ;;
	*) answer=failed ;;
	esac
	[ "$answer" != ok ] || ! grep -qw narrowed "$TMP/said" || answer=narrowed
	! grep -q 'behind: ' "$TMP/said" || answer=failed
}

# judge_replies: those of `feed`; the worst one decides
judge_replies()
{
	answer=ok
	! grep -q narrowed "$TMP/said" || answer=narrowed
	! grep -q '^refused' "$TMP/said" || answer=refused
	! grep -vE '^baleen: warning:' "$TMP/said" | grep -qE '^(failed|bad|baleen:|.*behind: )' || answer=failed
}

# next_sentinel: an address that was not asked for yet. It comes behind the keys, and in order: once
# it is dropped, they were judged.
next_sentinel()
{
	sentinel_n=$((sentinel_n + 1))
	sentinel=9.99.$((sentinel_n / 250)).$((sentinel_n % 250 + 1))
}

# until_true COMMAND...: for ten seconds at most
until_true()
{
	local n

	for ((n = 0; n < 500; n++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.02
	done
	return 1
}

# --- the device as a way finds it -------------------------------------------------------------

# inside COMMAND...: in the namespace of the device
inside() { timeout 60 "${INSIDE[@]}" "$@"; }

# fates_of ADDRESS...: D or P of each, by the program of the device
fates_of() { inside "$VERDICT" "$DEV" "$@" 2>/dev/null; }
is_dropped() { [ "$(fates_of "$1")" = D ]; }

# lines_of FILE KEY...
lines_of() { printf '%s\n' "${@:2}" >"$1"; }

# list_of KEY...: a list, or an image of it; its path is $list
list_of()
{
	list=$TMP/list
	lines_of "$list" "$@"
	[ ${#IMAGE[@]} -eq 0 ] || "$BALEEN" build "${IMAGE[@]}" -o "$TMP/list.bln" "$list" >/dev/null || bail "no image"
	[ ${#IMAGE[@]} -eq 0 ] || list=$TMP/list.bln
}

# conf_of FEED...: the configuration; of a way that has a limit, too
conf_of()
{
	printf '%s\n' "${DEVICE_LINES[@]}" "rule bad $ACTION"
	[ "$ACTION" != drop ] || echo bans
	printf 'feed %s\n' "$@"
	printf '%s\n' "${RULE_LINES[@]}"
	[ "$way" != limit ] || printf '%s\n' "rule web count ${LIMIT[*]}" any
}

# words_of NAME=LIST: the same for attach
words_of()
{
	words=("--$ACTION" "$1")
	[ "$ACTION" != drop ] || words+=(bans)
	words+=("${ATTACH[@]}")
	[ "$way" != limit ] || words+=(--count web=any "${LIMIT[@]}")
}

# strip: no filter, no state, no configuration
strip()
{
	rm -f "$BALEEN_CONF_DIR/$DEV.conf" "$BALEEN_CONF_DIR/default.conf"
	# Bans are of no device.
	inside "$BALEEN" flush bans --all >/dev/null 2>&1
	inside "$BALEEN" detach --forget --entries "$DEV" >/dev/null 2>&1 || inside "$BALEEN" detach "$DEV" >/dev/null 2>&1
}

# fresh: the device as the way finds it, with a never-drop list; fails when it cannot be made
fresh()
{
	strip
	lines_of "$BALEEN_CONF_DIR/never.list" "$NEVER"
	lines_of "$TMP/feed" "${BASE[@]}"
	LIMIT=(limit 1/h burst 1 per "$PER" ban 10m cap "$CAP" unverified)
	FEEDS=("$TMP/feed")
	declare -F "fresh_$way" >/dev/null && { "fresh_$way" || return; }
	case $finds in
	hand)
		list_of "${BASE[@]}"
		words_of "bad=$list"
		inside "$BALEEN" attach "$DEV" "${words[@]}" ;;
	conf)
		conf_of "${FEEDS[@]}" >"$BALEEN_CONF_DIR/$DEV.conf"
		inside "$BALEEN" apply --quiet-change "$DEV" ;;
	esac >"$TMP/fresh" 2>&1
}

# --- lists ------------------------------------------------------------------------------------

way_attach()
{
	list_of "${BASE[@]}" "$@"
	words_of "bad=$list"
	say "${ENTER[@]}" "$BALEEN" attach "$DEV" "${words[@]}" "${FORCE[@]}"
}

way_rule_add()
{
	list_of "$@"
	say "${ENTER[@]}" "$BALEEN" rule add "$DEV" "--$ACTION" "more=$list" "${ATTACH[@]}" "${FORCE[@]}"
}

way_swap()
{
	list_of "${BASE[@]}" "$@"
	say "${ENTER[@]}" "$BALEEN" swap "$DEV:bad" "$list" "${FORCE[@]}"
}

way_merge()
{
	lines_of "$TMP/list" "$@"
	say "${ENTER[@]}" "$BALEEN" merge "$DEV:bad" "$TMP/list" "${FORCE[@]}"
}

# Saved on a device of a host where nothing is protected.
way_restore()
{
	local twin=(nsenter "--net=/run/netns/$WORLD_C" -- "$BALEEN")

	list_of "${BASE[@]}" "$@"
	words_of "bad=$list"
	rm -rf "$TMP/saved"
	mv "$BALEEN_CONF_DIR/never.list" "$TMP/away"
	{
		"${twin[@]}" attach veth-c "${words[@]}" --force
		[ -z "${ENTRY-}" ] || "${twin[@]}" add veth-c:bad "$ENTRY" --ttl 1h --origin ways --reason "a reason"
		"${twin[@]}" save veth-c -o "$TMP/saved"
		"${twin[@]}" detach veth-c
	} >"$TMP/twin" 2>&1
	mv "$TMP/away" "$BALEEN_CONF_DIR/never.list"
	say "${ENTER[@]}" "$BALEEN" restore "$DEV" "$TMP/saved" "${FORCE[@]}"
}

# --- feeds ------------------------------------------------------------------------------------

way_apply()
{
	lines_of "$TMP/feed" "${BASE[@]}" "$@"
	conf_of "${FEEDS[@]}" >"$BALEEN_CONF_DIR/$DEV.conf"
	say "${ENTER[@]}" "$BALEEN" apply "$DEV" "${FORCE[@]}"
}

# By apply, on a device that was attached by hand.
way_take_over() { way_apply "$@"; }

way_update()
{
	lines_of "$TMP/feed" "${BASE[@]}" "$@"
	say "${ENTER[@]}" "$BALEEN" update "$DEV" "${FORCE[@]}"
	# Half an answer of a name is a failure that is told, and changes what it did answer.
	! grep -q 'what it did answer is withheld' "$TMP/said" || answer=ok
}

set_up_set()
{
	mkdir -p "$TMP/sets"
	"$BALEEN" set keygen "$TMP/secret" "$TMP/public" >/dev/null
}

publish()
{
	"$BALEEN" set publish -o "$TMP/sets" --name bans --key "$TMP/secret" "$1" >"$TMP/published" 2>&1
}

fresh_set()
{
	FEEDS=("set+file://$TMP/sets/bans key $TMP/public")
	publish "$TMP/feed"
}

# A new generation.
way_set()
{
	lines_of "$TMP/list" "${BASE[@]}" "$@"
	publish "$TMP/list"
	say "${ENTER[@]}" "$BALEEN" update "$DEV" "${FORCE[@]}"
}

set_up_new_device() { DEV=new0; }

take_down_new_device()
{
	strip
	ip -n "$NS" link del new0 2>/dev/null
	DEV=veth-b
}

fresh_new_device()
{
	ip -n "$NS" link del new0 2>/dev/null
	ip -n "$NS" link add new0 type veth peer name new1
}

# As the rule of udev does it.
way_new_device()
{
	lines_of "$TMP/feed" "${BASE[@]}" "$@"
	{ echo 'match new0'; conf_of "${FEEDS[@]}"; } >"$BALEEN_CONF_DIR/default.conf"
	say "${ENTER[@]}" "$BALEEN" apply --quiet-change --new --offline \
		--ifindex "$(ip -n "$NS" -j link show dev new0 | jq '.[0].ifindex')" -- new0
}

# --- made anew --------------------------------------------------------------------------------

way_restore_boot()
{
	unpin "$NS"
	say "${ENTER[@]}" "$BALEEN" restore --boot "$DEV"
}

way_refresh() { say "${ENTER[@]}" "$BALEEN" refresh --force "$DEV"; }

way_subtract()
{
	lines_of "$TMP/list" "${1-${BASE[1]}}"
	say "${ENTER[@]}" "$BALEEN" subtract "$DEV:bad" "$TMP/list"
}

way_resize() { say "${ENTER[@]}" "$BALEEN" resize --capacity "${1-100}" "$DEV:bad"; }

# --- single entries ---------------------------------------------------------------------------

# Each way says what its entries have to have.
way_ban()
{
	local key

	origin_is=ways reason_is="a reason"
	for key in "$@"; do
		# shellcheck disable=SC2086 # words
		say "${ENTER[@]}" "$BALEEN" ban "$key" $TTL --origin ways --reason "a reason" "${FORCE[@]}"
		[ "$answer" = ok ] || return 0
	done
}

way_add()
{
	origin_is=ways reason_is="a reason"
	say "${ENTER[@]}" "$BALEEN" add "$DEV:bad" "$@" ${TTL:+--ttl $TTL} --origin ways --reason "a reason" \
		"${FORCE[@]}"
}

way_add_f()
{
	origin_is=ways reason_is="a reason"
	lines_of "$TMP/list" "$@"
	say "${ENTER[@]}" "$BALEEN" add "$DEV:bad" -f "$TMP/list" ${TTL:+--ttl $TTL} --origin ways --reason "a reason" \
		"${FORCE[@]}"
}

way_import()
{
	local family=inet

	origin_is=ways reason_is="a reason"
	[[ $1 != *:* ]] || family=inet6
	{
		echo "create old hash:net family $family hashsize 1024 maxelem 65536 timeout 0 comment"
		printf "add old %s timeout ${TTL:+3600}${TTL:-0} comment \"a reason\"\n" "$@" | sed 's/36001h/3600/'
	} >"$TMP/list"
	say "${ENTER[@]}" "$BALEEN" import "$DEV:bad" --format ipset --origin ways "${FORCE[@]}" "$TMP/list"
}

# feed_to TARGET KEY...
feed_to()
{
	origin_is=ways reason_is="a reason"
	printf "add %s${TTL:+ ttl=$TTL} reason=a reason\n" "${@:2}" >"$TMP/list"
	say "${ENTER[@]}" "$BALEEN" feed "$1" - --origin ways <"$TMP/list"
	judge_replies
}

way_feed() { feed_to "$DEV:bad" "$@"; }
way_feed_bans() { feed_to bans "$@"; }

set_up_library()
{
	gcc -Wall -I user/api -o "$TMP/api" tests/xdp/api.c build/api/libbaleen.so.0.1 -Wl,-rpath,"$TMP" ||
		bail "the client of the library does not build"
	ln -sf "$ROOT/build/api/libbaleen.so.0.1" "$TMP/libbaleen.so.0"
}

# Entries of this client end after an hour.
way_library()
{
	origin_is=api reason_is="a test"
	printf 'ban %s\n' "$@" >"$TMP/list"
	say "${ENTER[@]}" "$TMP/api" "$DEV:bad" <"$TMP/list"
	! grep -q '^1 ' "$TMP/said" || answer=narrowed
	! grep -q '^-' "$TMP/said" || answer=refused
}

# --- adapters ---------------------------------------------------------------------------------

# Messages for the system's log are in a file; and nobody starts the script again, before whom it
# would pause.
set_up_crowdsec()
{
	mkdir -p "$TMP/bin"
	printf '%s\n' '#!/bin/sh' "cat >>$TMP/said" ": >$TMP/logged" >"$TMP/bin/logger"
	printf '%s\n' '#!/bin/sh' >"$TMP/bin/sleep"
	chmod +x "$TMP/bin/logger" "$TMP/bin/sleep"
}

way_crowdsec()
{
	origin_is=crowdsec reason_is="a reason"
	printf '{"action":"add","duration":"'"${TTL:-4h}"'","scenario":"a reason","scope":"Ip","type":"ban","value":"%s"}\n' \
		"$@" >"$TMP/list"
	: >"$TMP/said"
	rm -f "$TMP/logged"
	"${ENTER[@]}" env PATH="$TMP/bin:$PATH" BALEEN="$BALEEN" \
		user/adapters/baleen-crowdsec <"$TMP/list" >/dev/null 2>&1
	# The script may end before what reads its replies does.
	until_true test -e "$TMP/logged"
	judge_replies
}

# fail2ban's own code reads the action that comes with Baleen, and runs it.
FAIL2BAN='
import logging, sys
from fail2ban.client.actionreader import ActionReader
from fail2ban.server.action import CommandAction
logging.getLogger("fail2ban").addHandler(logging.StreamHandler(sys.stdout))
base, target, baleen, ttl = sys.argv[1:5]
reader = ActionReader("baleen", "ways", {"target": target, "baleen": baleen}, basedir=base)
reader.read()
reader.getOptions({})
action = CommandAction(None, "baleen")
for name, value in reader.convert()[-1][-1]:
    setattr(action, name, value)
for ip in sys.argv[5:]:
    try:
        action.ban({"ip": ip, "family": "inet6" if ":" in ip else "inet4", "bantime": ttl,
                    "failures": 5})
    except RuntimeError as error:
        sys.exit(str(error))
'

set_up_fail2ban()
{
	mkdir -p "$TMP/fail2ban/action.d"
	cp user/adapters/fail2ban-baleen.conf "$TMP/fail2ban/action.d/baleen.conf"
}

way_fail2ban()
{
	origin_is=fail2ban-ways reason_is="5 failures"
	say "${ENTER[@]}" /usr/bin/python3 -c "$FAIL2BAN" "$TMP/fail2ban" bans "$BALEEN" \
		"$([ -n "$TTL" ] && echo 3600 || echo -1)" "$@"
}

# --- daemons ----------------------------------------------------------------------------------

set_up_limit()
{
	"${INSIDE[@]}" "$ROOT/build/baleend" --command "$BALEEN" --listen off --no-drops >>"$TMP/baleend.log" 2>&1 &
	limit_pid=$!
}

take_down_limit()
{
	kill "$limit_pid"
	wait "$limit_pid" 2>/dev/null
}

is_limit_done() { is_dropped "$sentinel" || grep -q 'its cap is reached' "$TMP/baleend.log"; }

# over_limit ADDRESS...: two frames of each are one too many. A prefix is that of its first host.
over_limit()
{
	local key frames=()

	for key in "$@"; do
		key=${key%/*}
		if [[ $key == *:* ]]; then
			key=$(ip6 "${key##*:}" 17 64 "$(udp 53)")
		else
			key=$(ip4 "${key/%.0/.77}" 17 "$(udp 53)")
		fi
		frames+=("$key" "$key")
	done
	fates "${frames[@]}" >>"$TMP/said" 2>&1
}

# A round bans first and reports then: another round begins only when this one has reported.
way_limit()
{
	origin_is=limit reason_is="over 1/h of $DEV:web"
	: >"$TMP/baleend.log"
	: >"$TMP/said"
	answer=failed
	next_sentinel
	over_limit "$@" "$sentinel"
	if until_true is_limit_done; then
		next_sentinel
		over_limit "$sentinel"
		until_true is_limit_done && answer=ok
	fi
	cat "$TMP/baleend.log" >>"$TMP/said"
	! grep -q narrowed "$TMP/said" || answer=narrowed
	! grep -qE 'not banned|cannot ban' "$TMP/said" || answer=refused
}

# Host 1 publishes, host 2 has the device.
set_up_fleet()
{
	# shellcheck source=tests/fleet/lab.sh
	source "$ROOT/tests/fleet/lab.sh"
	make_lab 1 2
	begin_fleet 1 2
	set_entry 2
	NS=$(host_ns 2) DEV=eth0
	INSIDE=(nsenter "--net=/run/netns/$NS" "--uts=$TMP/h2/uts" --)
	ENTER=("${INSIDE[@]}")
	ours=("$BALEEN_RUN_DIR" "$BALEEN_STATE_DIR" "$BALEEN_CONF_DIR")
	BALEEN_RUN_DIR=$TMP/h2/run BALEEN_STATE_DIR=$TMP/h2/state BALEEN_CONF_DIR=$TMP/h2/conf
	protect "$S" peer2
}

# signal_daemons SIGNAL: to baleend of host 2, and to all that it runs
signal_daemons()
{
	local pids=${daemon_pid[2]} all=()

	while [ -n "$pids" ]; do
		# shellcheck disable=SC2206 # words
		all+=($pids)
		pids=$(pgrep -d ' ' -P "${pids// /,}")
	done
	kill "-$1" "${all[@]}"
}

take_down_fleet()
{
	stop_lab
	# shellcheck disable=SC2317 # finish calls it
	cleanup() { :; }
	NS=$B DEV=veth-b
	INSIDE=(nsenter "--net=/run/netns/$B" --)
	ENTER=("${INSIDE[@]}")
	BALEEN_RUN_DIR=${ours[0]} BALEEN_STATE_DIR=${ours[1]} BALEEN_CONF_DIR=${ours[2]}
}

fresh_fleet()
{
	FEEDS=("$TMP/feed" "fleet:bans max-ttl 24h")
	b 1 flush eth0:bad --origin soc >/dev/null 2>&1
	return 0
}

way_fleet()
{
	origin_is=fleet:h1/soc reason_is="a reason"
	next_sentinel
	answer=failed
	b 1 add eth0:bad --exist "$@" --origin soc --ttl 1h --reason "a reason" >"$TMP/said" 2>&1 &&
		b 1 add eth0:bad "$sentinel" --origin soc --ttl 1h >>"$TMP/said" 2>&1 &&
		until_true is_dropped "$sentinel" && answer=ok
	b 2 fleet status >>"$TMP/said" 2>&1
	! grep -q narrowed "$TMP/said" || answer=narrowed
}
