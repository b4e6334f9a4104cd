#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# CrowdSec's custom bouncer as Debian has it turns decisions into single entries and
# takes them out again, by the script that comes with Baleen. The local API is a small
# one of the tests: CrowdSec itself wants the internet to be installed.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
if ! command -v crowdsec-custom-bouncer >/dev/null; then
	skip "crowdsec" "crowdsec-custom-bouncer is not installed"
	exit 0
fi
make_pair
VERDICT=$ROOT/build/tools/verdict
ADAPTER=$ROOT/user/adapters/baleen-crowdsec
export BALEEN

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
# are VERDICTS ADDRESS...
are() { [ "$(in_ns "$B" "$VERDICT" veth-b "${@:2}")" = "$1" ]; }

feeds() { [ -n "$(waiters)" ]; }

# decision VALUE DURATION [SCOPE TYPE SCENARIO]
decision()
{
	jq -nc --arg value "$1" --arg duration "$2" --arg scope "${3:-Ip}" --arg type "${4:-ban}" \
		--arg scenario "${5:-crowdsecurity/ssh-bf}" '{ duration: $duration, id: 1,
		origin: "cscli", scenario: $scenario, scope: $scope, type: $type, value: $value }'
}

# stream NAME NEW DELETED: what the API says next; decisions, one on a line
stream()
{
	jq -n --slurpfile new <(echo "$2") --slurpfile deleted <(echo "$3") \
		'{ new: $new, deleted: $deleted }' >"$TMP/api/$1.new"
	mv "$TMP/api/$1.new" "$TMP/api/$1"
}

start_api()
{
	mkdir "$TMP/api" "$TMP/run-bouncer"
	exec {api_end}> >(in_ns "$B" "$ROOT/build/tools/lapi" "$TMP/api" secret >"$TMP/asked")
	await "the API is there" test -s "$TMP/asked"
	read -r port <"$TMP/asked"
}

start_bouncer()
{
	sed -e "s|^bin_path:.*|bin_path: $ADAPTER|; s|^piddir:.*|piddir: $TMP/run-bouncer/|" \
		-e "s|^update_frequency:.*|update_frequency: 1s|; s|^log_mode:.*|log_mode: stdout|" \
		-e "s|^api_url:.*|api_url: http://127.0.0.1:$port/|; s|^api_key:.*|api_key: secret|" \
		"$ROOT/user/adapters/crowdsec-custom-bouncer.yaml" >"$TMP/bouncer.yaml"
	nsenter --net="/run/netns/$B" -- crowdsec-custom-bouncer -c "$TMP/bouncer.yaml" \
		>>"$TMP/bouncer.log" 2>&1 {api_end}>&- &
	bouncer=$!
}

# It ends by the signal, or by its own hand when it has learnt to.
stop_bouncer()
{
	kill "$bouncer"
	wait "$bouncer" 2>/dev/null
	return 0
}

cleanup()
{
	[ "$tap_failed" -eq 0 ] || grep -v "'0' decisions" "$TMP/bouncer.log" "$TMP/logged" |
		tail -n 40 | sed 's/^/# /'
}

# --- the script alone ------------------------------------------------------------

# adapts NAME WANT LINE...: what it makes of these lines
adapts()
{
	: >"$TMP/logged"
	printf '%s\n' "${@:3}" | BALEEN=$TMP/fake "$ADAPTER" 2>>"$TMP/logged"
	is "$1" "$(<"$TMP/logged")" "$2"
}

try_script()
{
	printf '%s\n' '#!/bin/sh' 'sed "s/^/$* < /"' >"$TMP/fake"
	chmod +x "$TMP/fake"
	local to="feed bans - --origin crowdsec --wait 60 <" action='"action":"add"}'
	local n

	for n in 3h59m57.638s=3h59m57s 1h=1h 0.2s=1s 638ms=1s 9.1µs=1s -1s=1s 57s=57s; do
		adapts "duration ${n%=*}" "$to add 9.9.9.9 ttl=${n#*=} reason=x" \
			"$(decision 9.9.9.9 "${n%=*}" Ip ban x | sed "s/}$/,$action/")"
	done
	adapts "a scenario with quotes" "$to add 9.9.9.9 ttl=1h reason=a \"value\":\"1.1.1.1\" b" \
		"$(decision 9.9.9.9 1h Ip ban 'a "value":"1.1.1.1" b' | sed "s/}$/,$action/")"
	adapts "what is no ban, no address, no JSON" "" \
		"$(decision 9.9.9.9 1h Ip captcha | sed "s/}$/,$action/")" \
		"$(decision BR 1h Country | sed "s/}$/,$action/")" \
		"$(decision '9.9.9.9 origin=x' 1h | sed "s/}$/,$action/")" "add 9.9.9.9"
	printf '%s\n' '#!/bin/sh' 'cat >/dev/null' 'printf "%s\n" ok "ok renewed" "ok absent" "ok, not kept: disk full" \
		"ok, not on eth1: held" "ok narrowed why"' >"$TMP/fake"
	adapts "what some device has not is logged" $'ok, not on eth1: held\nok narrowed why' "nothing"
}

# --- the bouncer ------------------------------------------------------------------

# What the script tells the system's log is in a file.
mkdir "$TMP/bin"
printf '%s\n' '#!/bin/sh' "exec cat >>$TMP/logged" >"$TMP/bin/logger"
chmod +x "$TMP/bin/logger"
PATH=$TMP/bin:$PATH
echo 192.88.99.1 >"$TMP/list"
baleen attach veth-b --drop bad="$TMP/list" bans >/dev/null || bail "cannot attach"
try_script
start_api
stream startup "$(decision 9.9.9.1 3h59m57.638s Ip ban "manual 'ban' from 'me'"
	decision 9.9.8.0/24 1h Range
	decision 2a00:1:2:3::4 1h
	decision 10.66.0.2 1h
	decision BR 1h Country)" ""
start_bouncer
await "what was decided before is in force" are DDD 9.9.9.1 9.9.8.77 2a00:1:2:3:ffff::1
is "and no more than that" "$(are PPP 9.9.9.2 9.9.7.255 2a00:1:2:4::1 && echo yes)" yes
check "why" baleen why veth-b 9.9.9.1
is "has origin and scenario" "$(grep -c "crowdsec.*manual 'ban' from 'me'\|crowdsec" "$TMP/out") \
$(grep -c "manual 'ban' from 'me'" "$TMP/out")" "1 1"
is "it has an end" "$(grep -c '3h5[89]m' "$TMP/out")" 1
await "an own address is refused" grep -q "^refused .*10.66.0.2" "$TMP/logged"
is "and not dropped" "$(are P 10.66.0.2 && echo yes)" yes
stream next "$(decision 9.9.9.3 1h; decision 9.9.9.4 2s)" \
	"$(decision 9.9.9.1 -1s; decision 9.9.8.0/24 -1s Range)"
await "new decisions come" are D 9.9.9.3
await "deleted ones go" are PP 9.9.9.1 9.9.8.77
is "others stay" "$(are DD 2a00:1:2:3::4 192.88.99.1 && echo yes)" yes
stream next "" "$(decision 2a00:1:2:3::4 -1s)"
await "IPv6 goes, too" are P 2a00:1:2:3::4
stream next "$(jq -nc --argjson like "$(decision 9.9.9.9 1h)" 'range(2000) as $n |
	$like + { value: "9.8.\($n / 250 | floor).\($n % 250)" }')" ""
await "two thousand at once" are DDD 9.8.0.1 9.8.4.0 9.8.7.249
kill_waiters
await "a feed that was killed is started again" feeds
stream next "$(decision 9.9.9.6 1h)" ""
await "and no decision is lost" are D 9.9.9.6
stop_bouncer
is "without the bouncer they stay" "$(are DD 9.8.0.1 9.9.9.3 && echo yes)" yes
stream startup "$(decision 9.9.9.5 1h)" "$(decision 9.9.9.3 -1s)"
start_bouncer
await "a new start takes up what has changed" are DP 9.9.9.5 9.9.9.3
stop_bouncer
