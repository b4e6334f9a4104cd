#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A change on trial stays when it is confirmed and goes when it is not, whoever
# was killed meanwhile. That an hour has passed is told by a time namespace, that
# the machine was rebooted by another boot id.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair

export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run BALEEN_CONF_DIR=$TMP/conf
mkdir "$TMP/conf"
CONF=$TMP/conf/veth-b.conf
RECORD=$(kept_of "$B")/veth-b.baleen-confirm
VERDICT=$ROOT/build/tools/verdict

baleen() { in_ns "$B" "$BALEEN" "$@"; }
verdicts() { in_ns "$B" "$VERDICT" veth-b 8.8.8.8 9.9.9.9; }
later() { in_ns "$B" unshare --time --boottime 7200 --fork -- "$BALEEN" "$@"; }

# rules LIST: the configuration drops what LIST says
rules() { printf '%s\n' "rule bad drop" "  feed $TMP/$1" >"$CONF"; }

# on_trial TIME LIST: applied, to be confirmed within TIME
on_trial()
{
	rules "$2"
	check_status "apply --confirm $1" 3 baleen apply --force --confirm "$1"
}

cleanup() { kill_waiters; }

# wait_gone FILE: a bound in steps, of a minute
wait_gone()
{
	local n

	for ((n = 0; n < 1200; n++)); do
		[ -e "$1" ] || return 0
		sleep 0.05
	done
	return 1
}

# at_boot COMMAND...: as if the machine had been rebooted: nothing is attached, and
# the boot has another id
at_boot()
{
	unpin "$B"
	rm -rf "$TMP/run"
	cat /proc/sys/kernel/random/uuid >"$TMP/boot_id"
	mount --bind "$TMP/boot_id" /proc/sys/kernel/random/boot_id || bail "no other boot id"
	"$@"
	umount /proc/sys/kernel/random/boot_id
}

echo 8.8.8.8 >"$TMP/one"
echo 9.9.9.9 >"$TMP/two"

# --- nothing before -------------------------------------------------------------

try_nothing()
{
	refuses "nothing to confirm" "veth-b: nothing waits to be confirmed" baleen confirm veth-b
	rules one
	expect "apply on trial" 3 "veth-b: + attach: no filter is in force
veth-b: + rule bad: drop
veth-b: + rule bad: feed $TMP/one: +1
veth-b: changed, native
veth-b: back to what was in 1h, unless 'baleen confirm veth-b'" "" baleen apply --confirm 1h
	is "is in force" "$(verdicts)" DP
	is "somebody waits, and somebody behind" "$(waiters | wc -l)" 2
	check "a metric says until when" test "$(baleen metrics veth-b |
		awk '/^baleen_confirm_deadline_timestamp_seconds/ { printf "%d", $NF }')" -gt \
		"$(date +%s)"
	kill_waiters
	check_status "nobody confirmed it in time" 0 later restore --boot
	is "so there is nothing, as before" "$(xdp_mode "$B" veth-b)$(states_in "$B")" off
}

# --- confirmed --------------------------------------------------------------------

try_confirmed()
{
	rules one
	check_status "apply" 3 baleen apply
	is "nobody waits for that" "$(waiters)" ""
	on_trial 1h two
	is "the new is in force" "$(verdicts)" PD
	refuses "another apply would be lost" "veth-b: goes back to what was in 1h: 'baleen \
confirm veth-b' first, or --confirm" sh -c "echo 1.1.1.1 >>$TMP/two
		nsenter --net=/run/netns/$B $BALEEN apply --force 2>&1 |
		sed 's/in [0-9hms]*:/in 1h:/' >&2; exit 1"
	echo 9.9.9.9 >"$TMP/two"
	prints "one without a change is none" "veth-b: unchanged, native
veth-b: back to what was in 1h, unless 'baleen confirm veth-b'" sh -c \
		"nsenter --net=/run/netns/$B $BALEEN apply | sed 's/in [0-9hms]*,/in 1h,/'"
	is "status says so" "$(baleen status veth-b | sed -n 's/in [0-9hms]*,/in 1h,/; 2p')" \
		"  back to what was in 1h, unless 'baleen confirm veth-b'"
	prints "confirm" "veth-b: confirmed" baleen confirm veth-b
	is "leaves nothing behind" "$(states_in "$B")" veth-b
	kill_waiters
	check_status "later" 0 later restore --boot
	is "it is in force still" "$(verdicts)" PD
	refuses "confirm again" "veth-b: nothing waits to be confirmed" baleen confirm veth-b
}

# --- not confirmed ------------------------------------------------------------------

# in_force_or_over: DP, also when the second was over before it was looked at
in_force_or_over()
{
	local now

	now=$(verdicts)
	[ "$now" = DP ] || ! wait_gone "$RECORD" || now=DP
	echo "$now"
}

try_timer()
{
	on_trial 1s one
	is "the new is in force, or its time is over" "$(in_force_or_over)" DP
	check "who waits takes it back" wait_gone "$RECORD"
	is "the old is in force" "$(verdicts)" PD
	rules two
	prints "which the state says, too" "veth-b: unchanged, native" baleen apply
	is "and nothing is left behind" "$(states_in "$B")" veth-b
}

# The terminal closes: the group of its processes gets SIGHUP, then SIGKILL.
try_terminal()
{
	local id

	rules one
	in_ns "$B" setsid --wait script -qec "$BALEEN apply --force --confirm 2s; echo \$\$ >$TMP/id
		kill -HUP 0; kill -KILL 0" /dev/null >"$TMP/out" 2>&1
	id=$(<"$TMP/id")
	check "the terminal is gone" test -n "$id" -a ! -d "/proc/$id"
	check "the change is taken back all the same" wait_gone "$RECORD"
	is "the old is in force after a hangup" "$(verdicts)" PD
}

# Killed between the switch and the end, the command cannot say what it did.
try_killed()
{
	local when

	for when in 1 2 3 4; do
		rules one
		in_ns "$B" strace -qq -o /dev/null -e trace=fsync,fdatasync \
			-e inject="fsync,fdatasync:signal=KILL:when=$((4 + when * 2))" \
			"$BALEEN" apply --force --confirm 1s >"$TMP/out" 2>&1
		check "killed at sync $when: nothing waits for ever" wait_gone "$RECORD"
		rules two
		baleen apply --force >"$TMP/out" 2>&1
		is "killed at sync $when: the old is in force" "$(verdicts)" PD
		kill_waiters
	done
}

# first, second: who waits, and who stands behind it
first() { for id in $(waiters); do grep -qxF "$(awk '{ print $4 }' "/proc/$id/stat")" <(waiters) || echo "$id"; done; }
second() { comm -23 <(waiters | sort) <(first | sort); }
nobody_waits() { [ -z "$(waiters)" ]; }
# soon NAME COMMAND...: within ten seconds
soon()
{
	local n

	for ((n = 0; n < 200; n++)); do
		"${@:2}" && break
		sleep 0.05
	done
	check "$@"
}
has_two() { [ "$(waiters | wc -l)" -eq 2 ]; }

# One of the two, whichever, and then the one that has taken its place.
try_one_killed()
{
	local which

	for which in first second; do
		on_trial 8s one
		kill -KILL "$("$which")"
		soon "$which killed: there are two again" has_two
		kill -KILL "$(first)"
		check "$which killed: the change is taken back all the same" wait_gone "$RECORD"
		is "$which killed: the old is in force" "$(verdicts)" PD
		soon "$which killed: nobody waits any more" nobody_waits
	done
	on_trial 1h one
	kill -TERM "$(first)"
	check "TERM means at once" wait_gone "$RECORD"
	is "the old is in force" "$(verdicts)" PD
	soon "nobody waits any more" nobody_waits
	on_trial 1h one
	# shellcheck disable=SC2046 # words
	kill -INT $(waiters)
	check "INT to both, too" wait_gone "$RECORD"
	is "the old is in force" "$(verdicts)" PD
	on_trial 1h one
	check "confirmed" baleen confirm veth-b
	# shellcheck disable=SC2046 # words
	kill -TERM $(waiters)
	soon "who waits for nothing goes" nobody_waits
	is "the new stays" "$(verdicts)" DP
	rules two
	check_status "back" 3 baleen apply --force
}

# Killed while the command is at work still, before there is anything to take back.
try_killed_early()
{
	rules one
	in_ns "$B" strace -qq -o /dev/null -e trace=fsync,fdatasync \
		-e inject=fsync,fdatasync:delay_enter=200000 \
		"$BALEEN" apply --force --confirm 2s >"$TMP/out" 2>&1 &
	soon "two wait for the command" has_three
	kill -KILL "$(pgrep -P "$(first)")"
	wait $!
	is "it has changed the rules, and said until when" "$(tail -n 1 "$TMP/out" | sed 's/in [0-9s]*,/in 2s,/')" \
		"veth-b: back to what was in 2s, unless 'baleen confirm veth-b'"
	check "the change is taken back all the same" wait_gone "$RECORD"
	is "the old is in force" "$(verdicts)" PD
}
has_three() { [ "$(waiters | wc -l)" -eq 3 ]; }

try_waiter_killed()
{
	on_trial 1h one
	kill_waiters
	is "nobody waits any more" "$(waiters)" ""
	check "a look within the window" baleen restore --boot
	is "changes nothing" "$(verdicts)" DP
	rules one
	expect "a look after it takes it back" 0 "veth-b: is attached already" \
		"baleen: veth-b: was not confirmed: the previous state is back" later restore --boot
	is "the old is in force, whoever looked" "$(verdicts)" PD
	on_trial 1h one
	kill_waiters
	rules two
	expect "the next apply, too" 0 "veth-b: unchanged, native" \
		"baleen: veth-b: was not confirmed: the previous state is back in force" later apply
	is "the old is in force, and applied" "$(verdicts)" PD
}

# Whoever takes it back is killed at each name that changes or goes, until nothing is
# left; the next one goes on from there.
try_taking_back_killed()
{
	local call k bad="" n=0

	for call in renameat2 unlinkat rmdir unlink; do
		for ((k = 1; k <= 24; k++)); do
			rules one
			baleen apply --force --confirm 1h >"$TMP/out" 2>&1
			kill_waiters
			next_second
			{ in_ns "$B" strace -f -qq -o /dev/null -e trace="$call" \
				-e inject="$call:signal=KILL:when=$k" \
				unshare --time --boottime 7200 --fork -- "$BALEEN" restore --boot \
				>"$TMP/out" 2>&1; } 2>/dev/null
			[ -e "$RECORD" ] || break
			later restore --boot >"$TMP/out" 2>&1
			[ "$(verdicts)$(states_in "$B")" = PDveth-b ] && continue
			bad="$call $k: $(cat "$TMP/out")"
			break 2
		done
		n=$((n + k - 1))
	done
	is "killed wherever it takes it back, the old comes back" "$bad" ""
	check "killed in many places" test "$n" -ge 20
}

try_reboot()
{
	on_trial 1h one
	kill_waiters
	at_boot expect "a reboot within the window" 0 "veth-b: attached, native, 1 rule" \
		"baleen: veth-b: was not confirmed: the previous state is back" \
		baleen restore --boot
	is "the old comes up" "$(verdicts)" PD
	is "nothing is left behind" "$(states_in "$B")" veth-b
	at_boot prints "a reboot without one" "veth-b: attached, native, 1 rule" \
		baleen restore --boot
	is "brings up the same" "$(verdicts)" PD
}

# A container that starts again has the boot id of before, the files of before, and an
# empty /run.
try_container()
{
	on_trial 1h one
	kill_waiters
	unpin "$B"
	find "$TMP/run" -type f -delete
	expect "a container that starts again within the window" 0 \
		"veth-b: attached, native, 1 rule" \
		"baleen: veth-b: was not confirmed: the previous state is back" \
		baleen restore --boot
	is "the old comes up in the container" "$(verdicts)" PD
	is "nothing is left behind of the window" "$(states_in "$B")$(find "$TMP/run" \
		-name 'on-trial*')" veth-b
}

# Tries one after the other are one change.
try_extended()
{
	on_trial 1h one
	printf '%s\n' 8.8.8.8 9.9.9.9 >"$TMP/both"
	on_trial 1h both
	is "the last is in force" "$(verdicts)" DD
	kill_waiters
	check "later" later restore --boot
	is "what was before the first is back" "$(verdicts)" PD
}

# What was refused opens no window.
try_refused()
{
	rules none
	check_status "a bad feed on trial" 1 baleen apply --confirm 1h
	is "opens no window" "$(states_in "$B")$(waiters)" veth-b
	printf '%s\n' "default drop" "rule bad drop" >"$CONF"
	ip -n "$B" route add default via 10.66.0.1
	check_status "what cuts off on trial" 1 baleen apply --confirm 1h
	is "opens none, either" "$(states_in "$B")$(waiters)" veth-b
	is "the old is in force, after refusals" "$(verdicts)" PD
}

# A rule, a policy and a second device more are all taken back.
try_all_of_it()
{
	local before
	# shellcheck disable=SC2016 # of jq
	before=$(baleen status -j veth-b | jq -c '.[0] | [.default, .dry_run, [.rules[].name]]')
	printf '%s\n' "dry-run" "rule more allow" "feed $TMP/one" "rule bad drop proto tcp" \
		"feed $TMP/two" >"$CONF"
	check_status "much on trial" 3 baleen apply --confirm 1h
	kill_waiters
	check "later" later restore --boot
	is "is taken back" \
		"$(baleen status -j veth-b | jq -c '.[0] | [.default, .dry_run, [.rules[].name]]')" \
		"$before"
	is "with what it drops" "$(verdicts)" PD
}

# What was attached by hand comes back as such, with the bans of the meantime.
try_by_hand()
{
	check "detach for good" baleen detach --forget --entries veth-b
	check "attach by hand" baleen attach veth-b --drop "bad=$TMP/two"
	on_trial 1h one
	is "taken over" "$(verdicts)$(find "$TMP/run" -name 'ns*')" DP
	check "a ban in the meantime" baleen add veth-b:bad 7.7.7.7 --ttl 1h --origin test
	kill_waiters
	check "later" later restore --boot
	is "the old is in force, by hand" "$(verdicts)$(states_in "$B")" PD
	is "with the ban" "$(in_ns "$B" "$VERDICT" veth-b 7.7.7.7)" D
	on_trial 1h one
	kill_waiters
	at_boot check "a reboot within the window" baleen restore --boot
	is "nothing was to come up" "$(xdp_mode "$B" veth-b)$(states_in "$B")" off
}

try_nothing
try_confirmed
try_timer
try_terminal
try_killed
try_one_killed
try_killed_early
try_waiter_killed
try_taking_back_killed
try_reboot
try_container
try_extended
try_refused
try_all_of_it
try_by_hand
