#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A signed set that reaches its hosts in rings, on one host: it waits for its ring, counts first as
# a canary, refuses what would cut peers off or drops too much, and goes back.
#
#      namespace $A: a peer, 10.66.0.1       namespace $B: veth-b, the rule
#
# The set is a directory of files. Soak times are seconds.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair

mkdir "$TMP/conf" "$TMP/www"
W=$TMP/www
CONF=$TMP/conf/veth-b.conf
VERDICT=$ROOT/build/tools/verdict
URL=set+file://$W/bans

baleen() { in_ns "$B" "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" veth-b "$@"; }
status() { baleen set status -j veth-b | jq -rc ".[0] | $1"; }
rules() { baleen status -j veth-b | jq -rc '[.[0].rules[] | "\(.name) \(.action)"] | join(", ")'; }

# publish LIST [OPTION...]
publish() { "$BALEEN" set publish -o "$W" --name bans --key "$TMP/sec" "${@:2}" "$1" >"$TMP/published" 2>&1 || bail "publish $1: $(<"$TMP/published")"; }

# configure RING [LINE...]: ring 1 is that of canaries
configure()
{
	printf '%s\n' "${@:2}" "rule bad drop" "	feed $URL key $TMP/pub ring $1" "	special keep" >"$CONF"
	baleen apply veth-b >"$TMP/out" 2>&1 || [ $? -eq 3 ] || bail "apply: $(<"$TMP/out")"
}

# send ADDRESS: packets from there
send() { in_ns "$B" "$ROOT/build/tools/flood" veth-b "$1" x20000; }

# until_is NAME WANT COMMAND...: updates until the command says so, 20 seconds at the most
until_is()
{
	local end=$((SECONDS + 20)) got=

	while [ "$SECONDS" -lt "$end" ]; do
		baleen update veth-b >>"$TMP/updates" 2>&1
		got=$("${@:3}")
		[ "$got" = "$2" ] && break
		read -r -t 0.1 <> <(:)
	done
	is "$1" "$got" "$2"
}

"$BALEEN" set keygen "$TMP/sec" "$TMP/pub" >"$TMP/out" || bail keygen
seq -f '20.0.%.0f.1' 0 99 >"$TMP/one"
{ cat "$TMP/one"; echo 20.1.0.1; } >"$TMP/two"
{ cat "$TMP/one"; echo 20.2.0.1; } >"$TMP/three"

# --- configuration ------------------------------------------------------------------------

# conf_refuses NAME WHY LINE...
conf_refuses()
{
	printf '%s\n' "${@:3}" >"$CONF"
	check_status "$1" 1 baleen apply veth-b
	is "says why" "$(sed "s|.*$CONF:[0-9]*: ||" "$TMP/err")" "$2"
}
conf_refuses "ring 0" "ring '0': not a number from 1 to 8" "rule bad drop" "feed $URL key $TMP/pub ring 0"
conf_refuses "ring 9" "ring '9': not a number from 1 to 8" "rule bad drop" "feed $URL key $TMP/pub ring 9"
conf_refuses "a ring of a list" "ring is for signed sets: feed set+https://..." "rule bad drop" "feed $TMP/one ring 1"
conf_refuses "a health command without a path" "health 'true': not a whole path, from / on" \
	"health true" "rule bad drop"

# --- a host waits for its ring -------------------------------------------------------------

publish "$TMP/one"
configure 2
is "the first generation, for all hosts at once" "$(verdicts 20.0.7.1 20.1.0.1)" DP
publish "$TMP/two" --rings 1:4s,100:2s
check_status "the next one, in rings" 0 baleen update veth-b
is "says what it waits for" "$(sed -E 's/.*(generation.*), which.*/\1/' "$TMP/out")" "generation 2 waits for ring 2 of 2"
is "is not in force" "$(verdicts 20.0.7.1 20.1.0.1)" DP
is "status says so" "$(status '"\(.generation) \(.available) \(.ring) \(.rings) \(.step) \(.phase)"')" "1 2 2 2 ring none"
check_status "apply has nothing to do" 0 baleen apply veth-b
check "detach, as a reboot does" baleen detach veth-b
check "restore" baleen restore --boot veth-b
is "still the previous one" "$(verdicts 20.0.7.1 20.1.0.1)" DP
until_is "in force when the ring is due" "DD" verdicts 20.0.7.1 20.1.0.1
is "and watched" "$(status '"\(.generation) \(.previous) \(.phase)"')" "2 1 watch"
is "beside what the previous one would drop" "$(rules)" "next.bad count, bad drop"
check_status "apply has nothing to do" 0 baleen apply veth-b
until_is "until its soak time is over" "none" status .phase
is "then nothing counts any more" "$(rules)" "bad drop"
check "nobody says anything: this is no canary" test ! -e "$TMP/state/votes"

# --- a canary ---------------------------------------------------------------------------------

publish "$TMP/one" --rings 1:4s,100:2s
baleen update veth-b >"$TMP/out" 2>&1
configure 1
check_status "a canary takes the next one at once" 3 baleen update veth-b
is "on trial" "$(status '"\(.generation) \(.available) \(.phase)"')" "2 3 trial"
is "which counts" "$(rules)" "next.bad count, bad drop"
is "and does not decide" "$(verdicts 20.0.7.1 20.1.0.1)" DD
baleen why veth-b 20.0.7.1 >"$TMP/why"
check "why tells of both" grep -qF "generation 3 of $URL, " "$TMP/why"
check "of the one in force, too" grep -qF "generation 2 of $URL, " "$TMP/why"
check "detach, as a reboot does" baleen detach veth-b
check "restore" baleen restore --boot veth-b
is "the trial goes on" "$(rules)" "next.bad count, bad drop"
until_is "in force after half of the soak time" "DP" verdicts 20.0.7.1 20.1.0.1
until_is "and good after the other half" "none" status .phase
is "it says so" "$(cut -d ' ' -f 1-3,6 "$(find "$TMP/state" -name votes)")" "ok bans 3 own"

# --- a canary refuses ---------------------------------------------------------------------------

# refused NAME WHY GENERATION: of the set, in a line; the generation in force stays
refused()
{
	until_is "$1" "veto" status .step
	is "says why" "$(status .why)" "$2"
	is "$1: what was in force stays" "$(status .generation) $(rules)" "$3 bad drop"
	is "$1: it says so" "$(tail -n 1 "$(find "$TMP/state" -name votes)" | cut -d ' ' -f 1,2,8-)" "veto bans $2"
	check_status "$1: it stays so" 0 baleen update veth-b
}

# in_session: updates while $A has a session with $B, until the generation is refused
in_session()
{
	# shellcheck disable=SC2016 # for the inner shell
	"$ROOT/build/tools/session" "/run/netns/$B" "/run/netns/$A" 10.66.0.2 bash -c '
		baleen() { nsenter --net="/run/netns/$2" -- "$1" "${@:3}"; }
		for ((n = 0; n < 200; n++)); do
			baleen "$1" "$2" update veth-b >/dev/null 2>&1
			[ "$(baleen "$1" "$2" set status -j veth-b | jq -r ".[0].step")" = veto ] && exit 0
			read -r -t 0.1 <> <(:)
		done
		exit 1' - "$BALEEN" "$B"
}
{ cat "$TMP/one"; echo 10.66.0.1; } >"$TMP/peer"
publish "$TMP/peer" --rings 1:60s,100:2s
check "a generation that has a peer of a session" in_session
refused "afterwards" "would cut off 1 of 1 peers: rule 'bad' would drop 10.66.0.1, peer of a TCP session of this host" 3

{ cat "$TMP/one"; echo 10.66.0.8; } >"$TMP/flood"
publish "$TMP/flood" --rings 1:60s,100:2s
check_status "the next generation" 3 baleen update veth-b
is "is on trial" "$(status .phase)" trial
check "packets that it would drop" send 10.66.0.8
check_status "the next look" 3 baleen update veth-b
is "refuses it" "$(status .step)" veto
is "for its share" "$(status .why | sed 's/of [0-9]* packets/of N packets/')" "would drop 20000 of N packets, the generation before 0"
is "nothing was dropped" "$(verdicts 10.66.0.8)" P
is "metrics have it" \
	"$(baleen metrics | sed -nE 's/^baleen_feed_(generation|generation_available|ring|rollout_held|rollout_vetoed)[{].* /\1 /p' | paste -sd ' ')" \
	"generation 3 generation_available 5 ring 1 rollout_held 0 rollout_vetoed 1"
baleen doctor -j veth-b >"$TMP/doctor" 2>&1
is "doctor has a word on it" \
	"$(jq -rc '[.. | objects | select(.check == "roll-out") | .level] | .[0]' "$TMP/doctor")" note
check "and says what to do" grep -q "baleen set release veth-b:bad && baleen update veth-b:bad" "$TMP/doctor"

# --- watched -----------------------------------------------------------------------------------------

printf '#!/bin/sh\n[ ! -e "%s/ill" ] || exit 7\n' "$TMP" >"$TMP/health"
chmod +x "$TMP/health"
configure 1 "health $TMP/health arg"
publish "$TMP/three" --rings 1:2s,100:2s
touch "$TMP/ill"
until_is "a host that is ill before does not go on" "waits for the health command: $TMP/health: exit status 7" status .why
is "it is on trial" "$(status '"\(.generation) \(.phase)"')" "3 trial"
rm "$TMP/ill"
until_is "then it does" "6 watch" status '"\(.generation) \(.phase)"'
touch "$TMP/ill"
check_status "a health command that fails" 3 baleen update veth-b
is "puts the old one back" "$(status '"\(.generation) \(.step) \(.vetoed)"')" "3 veto 6"
is "and says why" "$(status .why)" "health command $TMP/health: exit status 7"
is "is not in force" "$(verdicts 20.0.7.1 20.2.0.1)" DP
check_status "nor later" 0 baleen update veth-b
rm "$TMP/ill"
configure 2
{ cat "$TMP/one"; echo 10.66.0.9; } >"$TMP/jump"
publish "$TMP/jump" --rings 1:1s,100:60s
until_is "a host of the second ring" "7 watch" status '"\(.generation) \(.phase)"'
check "packets that it drops" send 10.66.0.9
check_status "a jump of what is dropped" 3 baleen update veth-b
is "puts the old one back" "$(status '"\(.generation) \(.step)"')" "3 veto"
is "which does not drop them" "$(verdicts 10.66.0.9)" P

# --- the operator ----------------------------------------------------------------------------------------

check_status "no device" 2 baleen set hold
check_status "another device" 1 baleen set hold veth-x
configure 2
publish "$TMP/three" --rings 1:60s,100:2s
check "hold" baleen set hold veth-b
baleen update veth-b >"$TMP/out" 2>&1
is "holds" "$(status '"\(.generation) \(.step) \(.held)"')" "3 held true"
is "update says so" "$(sed 's/.*generation/generation/' "$TMP/out")" "generation 8 is held by the operator (set release lets it come)"
check "release" baleen set release veth-b:bad
check_status "lets it come before its ring" 3 baleen update veth-b
is "is in force" "$(verdicts 20.0.7.1 20.2.0.1)" DD
check "rollback" baleen set rollback --reason "too many" veth-b
is "puts the previous one in force" "$(verdicts 20.0.7.1 20.2.0.1)" DP
is "and refuses the other" "$(status '"\(.generation) \(.vetoed) \(.why)"')" "3 8 too many"
check_status "also later" 0 baleen update veth-b
expect "there is no other to go back to" 1 "" "baleen: there is no previous generation to go back to" \
	baleen set rollback veth-b
check "release again" baleen set release veth-b
check_status "lets it come" 3 baleen update veth-b
is "in force again" "$(status .generation)" 8
is "no veto is left on it" "$(grep -c ' 8 .* own ' "$(find "$TMP/state" -name votes)")" 0

# --- nobody there ------------------------------------------------------------------------------------------

publish "$TMP/one" --rings 1:2s,100:1s
baleen update veth-b >"$TMP/out" 2>&1
mv "$W" "$W.gone"
end=$((SECONDS + 4))
while [ "$SECONDS" -lt "$end" ]; do
	baleen update veth-b >"$TMP/out" 2>&1
	read -r -t 0.2 <> <(:)
done
is "without a server nobody goes on, though the ring is due" "$(status '"\(.generation) \(.step)"')" "8 ring"
is "nothing leaves force" "$(verdicts 20.0.7.1 20.2.0.1)" DD
mv "$W.gone" "$W"
until_is "with it again" "9" status .generation

# --- a new host ---------------------------------------------------------------------------------------------

publish "$TMP/two" --rings 1:60s,100:1s
rm "$CONF"
baleen detach --forget --entries veth-b >"$TMP/out" 2>&1 || baleen detach veth-b >"$TMP/out" 2>&1
rm -rf "$TMP/state"
configure 2
is "a host without a copy takes the previous generation" "$(status '"\(.generation) \(.available)"')" "9 10"
