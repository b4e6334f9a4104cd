# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kill -9 at the system calls of a command that change something: see
# tests/killed.awk; at each call of it in `make check-all`. Sourced after lib.sh and
# make_pair. strace delivers the signal on entry, so the call does not happen.
#
# A test defines a command_NAME for each command: it prints the command that
# puts SET, its argument, a word a line. try_live tries $command.

VERDICT=$ROOT/build/tools/verdict
RULE=k$$ # as part of a map's name it tells our maps from everybody's
PINS=/sys/fs/bpf/baleen
read -ra WAY <<<"${KILL_WAY-}" # options of attach
OLD='' NEW=''
may_end=no # a command that is to be killed
ASKED=()

# --- the two sets ---------------------------------------------------------

# ask ADDRESS OLD NEW: the letters are the verdicts under either set
ask()
{
	ASKED+=("$1")
	OLD+=$2
	NEW+=$3
	[ "$2" = P ] || echo "$1" >>"$TMP/old.txt"
	[ "$3" = P ] && echo "$1" >>"$TMP/pass.txt" || echo "$1" >>"$TMP/new.txt"
}

for i in {0..9}; do
	ask "192.0.2.1$i" D P
	ask "192.0.2.2$i" P D
	ask "192.0.2.3$i" D D
	ask "192.0.2.4$i" P P
	ask "2001:db8::1$i" D P
	ask "2001:db8::2$i" P D
	ask "2001:db8::3$i" D D
	ask "2001:db8::4$i" P P
done

# look: sets now to what the device enforces: old, new, none, or something else
look()
{
	now=$(in_ns "$B" "$VERDICT" veth-b "${ASKED[@]}" 2>&1)
	case $now in
	"$OLD") now=old ;;
	"$NEW") now=new ;;
	esac
}

# --- commands -------------------------------------------------------------

baleen() { in_ns "$B" "$BALEEN" "$@" >"$TMP/out" 2>"$TMP/err"; }

# put SET: enforces it by swap, or by attach when there is nothing to swap
put()
{
	local result

	if [ "$now" = none ]; then
		baleen attach veth-b "${WAY[@]}" --drop "$RULE=$TMP/$1.bln"
	else
		baleen swap "veth-b:$RULE" "$TMP/$1.bln"
	fi
	result=$?
	look
	[ "$result" -eq 0 ] && [ "$now" = "$1" ]
}

# run_killed NAME K COMMAND...: SIGKILL on entry to its Kth call of NAME; fails, and
# sets ended to its status, when it ended by itself
run_killed()
{
	local result

	{ in_ns "$B" strace -qq -o /dev/null -e trace="$1" -e inject="$1:signal=KILL:when=$2" \
		"${@:3}"; } >"$TMP/out" 2>&1
	result=$?
	[ "$result" -eq 137 ] && return
	ended=$result
	return 1
}

# find_points FILE FROM TO COMMAND...: runs it and writes the calls to kill it at, a
# line `GROUP NAME K` for the Kth call of NAME, grouped by name: of those from the line
# that matches FROM to the one that matches TO, and of those before
find_points()
{
	in_ns "$B" strace -o "$TMP/log" "${@:4}" >"$TMP/out" || bail "${*:5:1} fails under strace"
	awk -v from="$2" -v to="$3" -v all="$(pick 0 1)" -f "$ROOT/tests/killed.awk" "$TMP/log" \
		2>"$TMP/n" | sort -s -k 1,1 >"$1"
	grep -q -v startup "$1" || bail "found no calls of ${*:5:1}"
	echo "# ${*:5:1}: killed at $(grep -c -v startup "$1") of $(<"$TMP/n") calls"
}

# thin N FILE: of the points in it each Nth, in `make check` when there are so many that
# 12 remain
thin()
{
	local n

	n=$(wc -l <"$2")
	awk -v n="$(pick $((n > 12 * $1 ? $1 : (n + 11) / 12)) "$1")" 'NR % n == 0' "$2" >"$TMP/some" &&
		mv "$TMP/some" "$2"
	sampled "points" "$(wc -l <"$2")" "$n"
}

# --- what must hold -------------------------------------------------------

# found: all pins but the root
found() { [ ! -d "$PINS" ] || (cd "$PINS" && shopt -s nullglob && echo */ */* */*/*); }

# is_tidy: the pins are those of the running program, or none
is_tidy()
{
	local id link="" want=""

	if [ "$now" != none ]; then
		id=$(xdp_id "$B" veth-b)
		[ ${#WAY[@]} -gt 0 ] || link=$NS/link
		want=$(echo "$NS/" "$NS/$id" $link "$NS/$id"/{config,prog,rule0,stats})
	fi
	[ "$(found)" = "$want" ]
}

# is_known: there are pins of a filter, be it in force or not
is_known()
{
	if [ ${#WAY[@]} -gt 0 ]; then
		compgen -G "$PINS/$NS/*/config" >"$TMP/known"
	else
		[ -e "$PINS/$NS/link" ]
	fi
}

# has_maps N: within 5 s. The kernel frees late, and a program that leaked
# keeps its map.
has_maps()
{
	local i

	for i in {1..100}; do
		[ "$(bpftool map show | grep -c " name bln_$RULE ")" -eq "$1" ] && return
		sleep 0.05
	done
	return 1
}

# fail WHY: at the point that is being tried
fail() { bad+=" $name $k: $1;"; }

# check_status_says: `status` agrees with the device
check_status_says()
{
	local says want=attached

	[ "$now" != none ] || want="not attached"
	# Between the detach and the end of its pins a filter is known, and out of
	# force: status 1, but no message.
	baleen status || [ ! -s "$TMP/err" ] || fail "status fails: $(cat "$TMP/err")"
	case $(head -n 1 "$TMP/out") in
	veth-b:\ attached*) says=attached ;;
	*) says="not attached" ;;
	esac
	[ "$says" = "$want" ] || fail "$now is in force, status says $says"
}

# did_end: the command ended before it was killed; sets may_end to ended where it
# may do so, if it did what it was asked. How often the log of a state is read and written
# depends on what commands before have left in it.
did_end()
{
	local of_log='openat|read|close|getpid|pread64|pwrite64|fdatasync|fcntl|newfstatat'

	if [ "$ended" -eq 0 ] && [[ $name =~ ^($of_log)$ ]]; then
		return
	fi
	if [ "$may_end" = no ] || [ "$ended" -ne 0 ]; then
		fail "not killed, status $ended"
	else
		may_end=ended
	fi
}

# kill_at NAME K SET...: the command dies there; one of the sets is in force
kill_at()
{
	local -a argv

	mapfile -t argv < <("command_$command" new)
	run_killed "$1" "$2" "${argv[@]}" || did_end
	look
	case " ${*:3} " in
	*" $now "*) ;;
	*) fail "in force: $now" ;;
	esac
	check_status_says
}

# next_goes_on: the next command enforces the new set
next_goes_on()
{
	put new || fail "then $now: $(cat "$TMP/err")"
	is_tidy || fail "left $(found)"
}

# next_gives_up: the next command is detach; it says when there was nothing
next_gives_up()
{
	local result want=0

	is_known || want=1
	baleen detach veth-b
	result=$?
	[ "$result" -eq "$want" ] || fail "detach ends with $result: $(cat "$TMP/err")"
	look
	[ "$now" = none ] || fail "after detach $now"
	is_tidy || fail "detach left $(found)"
}

start_old() { [ "$now" = old ] || put old || fail "no start: $(cat "$TMP/err")"; }

start_none()
{
	[ "$now" = none ] || baleen detach veth-b || fail "no start: $(cat "$TMP/err")"
	look
}

# for_each_group NAME POINTS TRY [ARGUMENT...]: tries every point, one result a
# group
for_each_group()
{
	local group name k n bad

	while read -r group; do
		bad='' n=0
		while read -r _ name k; do
			"${@:3}"
			n=$((n + 1))
		done < <(grep "^$group " "$2")
		has_maps "$([ "$now" = none ]; echo $?)" || fail "maps leaked"
		is "$1 killed at $group, $n places" "$bad" ""
	done < <(cut -d ' ' -f 1 "$2" | uniq)
}

# --- a live filter --------------------------------------------------------

# try_live START SET...: the next command goes on, or gives up
try_live()
{
	local next

	for next in next_goes_on next_gives_up; do
		"$1"
		kill_at "$name" "$k" "${@:2}"
		"$next"
	done
}

# send: real frames agree with BPF_PROG_TEST_RUN, with the new set in force
send()
{
	put new || bail "cannot put the new set"
	check "real frames after $1" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --expect \
		--listed "$TMP/new.txt" --unlisted "$TMP/pass.txt"
}

# --- both sets exist, none is enforced ------------------------------------

for set in old new; do
	check "build $set" "$BALEEN" build -o "$TMP/$set.bln" "$TMP/$set.txt"
done
look
is "nothing is attached" "$now" none
