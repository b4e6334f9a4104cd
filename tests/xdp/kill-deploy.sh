#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kill -9 at the system calls of a batch in place, of one that derives anew and of a
# put: those that change something, or, in `make check-all`, each of the first and each
# fifth of the others.
#
# After each kill packets see what they saw before or what they were to see, each
# key by itself in a batch in place; what the next command finds is put right:
# then packets and state agree, on the old or the new.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/killed.sh
source "$ROOT/tests/killed.sh"

DEPLOY=$ROOT/build/tools/deploy
export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run

deploy() { in_ns "$B" "$DEPLOY" "$1" veth-b "${@:2}" >"$TMP/out" 2>"$TMP/err"; }

# seen: what packets see; each of the keys asked for
seen() { in_ns "$B" "$VERDICT" veth-b "${keys[@]}" 2>&1; }

# said: the same by the state
said() { in_ns "$B" "$DEPLOY" holds veth-b "$RULE" "${keys[@]}" 2>&1 | tr yn DP; }

# is_between SEEN: each key as before or as it was to be
is_between()
{
	local i

	[ ${#1} -eq ${#before} ] || return 1
	for ((i = 0; i < ${#1}; i++)); do
		[ "${1:i:1}" = "${before:i:1}" ] || [ "${1:i:1}" = "${after:i:1}" ] || return 1
	done
}

# try_deploy: kills the command, looks, opens, looks again, and goes back
try_deploy()
{
	local now_seen

	[ "$mode" = "in place" ] || next_second
	run_killed "$name" "$k" "$DEPLOY" "${change[@]}" || did_end
	now_seen=$(seen)
	if [ "$mode" = "in place" ]; then
		is_between "$now_seen" || fail "packets see $now_seen"
	else
		[ "$now_seen" = "$before" ] || [ "$now_seen" = "$after" ] ||
			fail "packets see $now_seen"
	fi
	deploy open || fail "then: $(<"$TMP/err")"
	now_seen=$(seen)
	[ "$now_seen" = "$before" ] || [ "$now_seen" = "$after" ] || fail "then packets see $now_seen"
	[ "$(said)" = "$now_seen" ] || fail "packets see $now_seen, the state says $(said)"
	[ -z "$(compgen -G "$TMP/run/*changing*")" ] || fail "a mark is left"
	deploy "${change[@]:0:1}" "${change[@]:2}" || fail "again: $(<"$TMP/err")"
	[ "$(seen)" = "$after" ] || fail "again packets see $(seen)"
	deploy "${back[@]}" || fail "back: $(<"$TMP/err")"
	[ "$(seen)" = "$before" ] || fail "back packets see $(seen)"
	now=attached
	is_tidy || fail "left $(found)"
}

# try_kind NAME MODE N: by the arrays keys, change and back; each Nth call
try_kind()
{
	local before after mode=$2

	# After a change of another kind the first one may build anew, and none after it.
	deploy "${change[@]:0:1}" "${change[@]:2}" || bail "$1: $(<"$TMP/err")"
	deploy "${back[@]}" || bail "$1: cannot be taken back: $(<"$TMP/err")"
	before=$(seen)
	next_second
	find_points "$TMP/points" 'state\.db' never "$DEPLOY" "${change[@]}"
	[ "$3" -eq 1 ] || thin "$3" "$TMP/points"
	after=$(seen)
	deploy "${back[@]}" || bail "$1: cannot be taken back: $(<"$TMP/err")"
	is "$1: changes, and is taken back" "$([ "$before" != "$after" ] && seen)" "$before"
	for_each_group "$1" "$TMP/points" try_deploy
}

printf '%s\n' 20.0.0.1 20.0.0.2 21.0.0.0/16 2400::1 >"$TMP/feed"
printf '%s\n' 20.0.0.1 22.0.0.2 >"$TMP/feed2"
deploy make kept "drop:$RULE=$TMP/feed" || bail "cannot make: $(<"$TMP/err")"
deploy batch "$RULE" +30.0.0.1 +30.0.0.2 || bail "cannot ban: $(<"$TMP/err")"
NS=$(basename "$PINS"/ns*)
keys=(20.0.0.1 20.0.0.2 21.0.0.1 22.0.0.2 2400::1 2400::2 30.0.0.1 30.0.0.2 30.0.0.3 30.0.0.4)

change=(batch veth-b "$RULE" +30.0.0.3 +30.0.0.4 -30.0.0.1 '+!20.0.0.1')
back=(batch "$RULE" -30.0.0.3 -30.0.0.4 +30.0.0.1 '-!20.0.0.1')
try_kind "hosts" "in place" 1
change=(batch veth-b "$RULE" --atomic +30.0.0.0/24 '+!21.0.0.0/24')
back=(batch "$RULE" --atomic -30.0.0.0/24 '-!21.0.0.0/24')
try_kind "prefixes in one step" anew 5
change=(batch veth-b "$RULE" +30.0.0.0/24 '+!21.0.0.0/24')
back=(batch "$RULE" -30.0.0.0/24 '-!21.0.0.0/24')
try_kind "prefixes" "in place" 1
change=(update veth-b "$RULE" "$TMP/feed2")
back=(update "$RULE" "$TMP/feed")
try_kind "a feed" anew 5
