#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kill -9 at the system calls of `baleen icp attach`, `resync` and `detach` that change
# something: bpf, the directories of pins, netlink.
#
# After each an instance is there as a whole, or not; `status` says so; and the next
# command works and leaves one generation: what the links and tc have is what is pinned.
#
# An attach that hears a signal, or whose call fails, leaves the instance as a whole, or
# nothing, without the next command.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
cd "$TMP" || exit 2

PINS=/sys/fs/bpf/baleen-icp
CALLS=bpf,mkdir,rmdir,unlink,unlinkat,sendto,sendmsg,flock,membarrier

printf 'http://10.66.0.2/obj/%d\n' {1..100} >urls.txt
for n in {1..200}; do
	key=$(printf '\1http://10.66.0.2/obj/%d' "$n" | md5sum)
	printf '1700000000.%03d SWAPOUT 00 %08X %s  200 1700000000 -1 -1 text/plain 1/1 GET %s\n' \
		"$n" "$n" "$(tr a-f A-F <<<"${key%% *}")" "http://10.66.0.2/obj/$n"
done >store.log
check "an image" "$BALEEN" build --key squid --kind counting --hash squid --fpp 0.001 \
	--capacity 1000 -o s.bln urls.txt

command_attach()
{
	printf '%s\n' icp attach veth-b --sibling s=10.66.0.2,mode=observe,image=s.bln,feeder=10.66.0.2 \
		--sibling t=10.66.0.3,image=urls.txt --asker 10.66.0.0/24 --feed lo:3131
}
command_resync() { printf '%s\n' icp resync veth-b:s store.log; }
command_detach() { printf '%s\n' icp detach veth-b; }

baleen() { in_ns "$B" "$BALEEN" "$@" >"$TMP/out" 2>"$TMP/err"; }

# run COMMAND: to its end
run()
{
	local -a words

	mapfile -t words < <("command_$1")
	baleen "${words[@]}"
}

# value PATH: of the instance
value()
{
	in_ns "$B" "$BALEEN" icp status -j 2>/dev/null | jq -r "$1"
}

fail() { bad+=" $call $k: $1;"; }

# programs: ids of those on veth-b, on lo and in tc
programs()
{
	xdp_id "$B" veth-b
	xdp_id "$B" lo
	in_ns "$B" tc filter show dev veth-b egress 2>/dev/null | sed -n 's/.* id \([0-9]*\) .*/\1/p'
}

# pinned: ids of the programs of the one generation that is pinned
pinned()
{
	local pin

	for pin in "$PINS"/ns*/[0-9]*/{prog,feed,egress}; do
		bpftool -j prog show pinned "$pin" | jq -r .id
	done 2>/dev/null
}

# is_whole: what is there is one generation, everywhere
is_whole()
{
	[ "$(find "$PINS" -mindepth 2 -maxdepth 2 -name '[0-9]*' | wc -l)" -eq 1 ] &&
		[ "$(programs)" = "$(pinned)" ] && [ "$(value '.[0].enforced')" = true ] &&
		[ "$(value '.[0].switching')" = false ]
}

# left: anything of an instance
left()
{
	find "$PINS" -mindepth 1 2>/dev/null
	programs
	in_ns "$B" tc qdisc show dev veth-b | grep clsact
}

# kill_at COMMAND: at call $k of $call; fails when it ended before
kill_at()
{
	local -a words
	local result

	mapfile -t words < <("command_$1")
	{ in_ns "$B" strace -qq -o /dev/null -e trace="$call" -e inject="$call:signal=KILL:when=$k" \
		"$BALEEN" "${words[@]}"; } >"$TMP/out" 2>&1
	result=$?
	[ "$result" -eq 137 ]
}

# points COMMAND WHICH: `CALL K` for each of its calls that change something; of bpf WHICH,
# an expression, and of its many calls that look for features of the kernel a few. In
# `make check` only those that others see, and of pins that come or go each sixth.
points()
{
	local -a words

	mapfile -t words < <("command_$1")
	in_ns "$B" strace -o log -e trace="$CALLS" "$BALEEN" "${words[@]}" >"$TMP/out" 2>"$TMP/err" ||
		bail "$1 fails under strace: $(<"$TMP/err")"
	awk -v which="$2" -v all="$(pick 0 1)" '
		!/^[a-z]/ { next }
		{ name = $0; sub(/\(.*/, "", name); k = ++n[name]; n_all++ }
		all && ($0 ~ which || name != "bpf" || k % 10 == 0) { print name, k }
		all || /= -1 E/ || /NLM_F_DUMP|RTM_GET/ { next }
		/OBJ_PIN/ || name == "unlinkat" { if (n_some[name]++ % 6 == 0) print name, k; next }
		name != "bpf" || /LINK_|MAP_UPDATE/ { print name, k }
		END { print n_all >"n_all" }' log
}

start_none() { [ -z "$(left)" ] || run detach || [ -z "$(left)" ] || fail "no start: $(<"$TMP/err")"; }
start_there() { [ -n "$(value '.[0].device // empty')" ] || { start_none; run attach; } || fail "no start: $(<"$TMP/err")"; }

# It is there or not; then detach leaves nothing, and attach works.
try_attach()
{
	start_none
	kill_at attach || return
	if [ -e "$(echo "$PINS"/ns*/link)" ]; then
		[ "$(value '.[0].enforced')" = true ] || fail "half an instance"
	else
		[ "$(value length)" = 0 ] || fail "status tells of one"
	fi
	if [ $((n % 2)) -eq 0 ]; then
		run detach
		[ -z "$(left)" ] || fail "detach left $(left | paste -sd ' ')"
	fi
	[ -e "$(echo "$PINS"/ns*/link)" ] || run attach || fail "then attach: $(<"$TMP/err")"
	is_whole || fail "not whole: $(programs | paste -sd ' ') $(pinned | paste -sd ' ')"
}

# It answers all the time; the next one goes on.
try_resync()
{
	start_there
	kill_at resync || return
	[ "$(value '.[0].state')" = attached ] || fail "no instance"
	run resync || fail "then resync: $(<"$TMP/err")"
	is_whole || fail "not whole: $(programs | paste -sd ' ') $(pinned | paste -sd ' ')"
	[ "$(value '.[0].siblings[0].entries')" = 200 ] || fail "entries: $(value '.[0].siblings[0].entries')"
}

# The next one takes off what is left.
try_detach()
{
	start_there
	kill_at detach || return
	run detach
	[ -z "$(left)" ] || fail "left $(left | paste -sd ' ')"
}

# try_end HOW: attach, with HOW done to its call $k of $call; $ended counts those that ended so
try_end()
{
	local -a words
	local result there

	mapfile -t words < <(command_attach)
	start_none
	{ in_ns "$B" strace -qq -o /dev/null -e trace="$call" -e inject="$call:$1:when=$k" \
		"$BALEEN" "${words[@]}"; } >"$TMP/out" 2>"$TMP/err"
	result=$?
	there=$(left)
	if [ -n "$there" ]; then
		is_whole || fail "$1: status $result, left $(paste -sd ' ' <<<"$there")"
		[ "$result" -eq 0 ] || grep -q '^veth-b: attached' "$TMP/out" ||
			fail "$1: status $result, and attached"
	else
		[ "$result" -ne 0 ] || fail "$1: done, and nothing there"
		ended=$((ended + 1))
	fi
}

# tell POINTS WHAT: how many of how many calls that is
tell() { sampled "$2" "$(wc -l <"$1")" "$(<n_all)"; }

# try_ends NAME HOW POINTS: at each of them
try_ends()
{
	bad='' ended=0
	while read -r call k; do
		try_end "$2"
	done <"$3"
	[ "$ended" -gt 5 ] || bad+=" only $ended ended"
	is "$1" "$bad" ""
}

start_none
points attach 'OBJ_PIN|LINK_' >found
# Without a lock nothing is done, and what cannot be removed is left.
grep -v 'flock\|unlink\|rmdir' found >failing
tell found "calls of attach"
try_ends "attach that is interrupted leaves nothing, or all" signal=INT found
try_ends "attach that fails leaves nothing" error=ENOMEM failing

start_none
for command in attach resync detach; do
	points "$command" 'OBJ_PIN|LINK_|PROG_LOAD|MAP_CREATE' >found
	tell found "calls of $command"
	bad='' n=0
	while read -r call k; do
		"try_$command"
		n=$((n + 1))
	done <found
	[ "$n" -gt 5 ] || bad="only $n points"
	is "$command killed at $n places" "$bad" ""
	[ "$command" = resync ] || run detach
	[ "$command" != attach ] || run attach
done
is "nothing is left" "$(left)" ""
