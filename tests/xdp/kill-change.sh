#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kill -9 at the system calls of add, in place and built aside, of del and merge, for
# each kind of key: those that change something, or, in `make check-all`, each of
# add and each tenth of the others.
#
# After each kill the rule holds what it held before or what it was to hold; the
# same command with --exist then works, and leaves nothing of the dead one. The
# same goes for an image file.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/killed.sh
source "$ROOT/tests/killed.sh"

# held: which of the keys asked for the rule, or the file, holds
held()
{
	# No key at all is an answer, too.
	if [ "$target" = "$TMP/dir/a.bln" ]; then
		"$BALEEN" match "$target" "${keys[@]}" 2>&1
	else
		in_ns "$B" "$BALEEN" match "$target" "${keys[@]}" 2>&1
	fi | paste -s -d ' '
}

# is_clean: nothing lies around
is_clean()
{
	if [ "$target" = "$TMP/dir/a.bln" ]; then
		[ "$(ls -A "$TMP/dir")" = a.bln ]
	else
		is_tidy
	fi
}

# try_change: kills the command, makes the change, takes it back
try_change()
{
	local after

	run_killed "$name" "$k" "$BALEEN" "${change[@]}" || fail "not killed"
	after=$(held)
	[ "$after" = "$before" ] || [ "$after" = "$changed" ] || fail "holds $after"
	baleen "${again[@]}" || fail "again: $(cat "$TMP/err")"
	[ "$(held)" = "$changed" ] || fail "then holds $(held)"
	is_clean || fail "left something"
	baleen "${back[@]}" || fail "back: $(cat "$TMP/err")"
	[ "$(held)" = "$before" ] || fail "back is $(held)"
}

# try_kind NAME N FROM: by the arrays keys, change, again and back; each Nth call
# from one that matches FROM
try_kind()
{
	local before changed

	before=$(held)
	find_points "$TMP/points" "$3" never "$BALEEN" "${change[@]}"
	[ "$2" -eq 1 ] || thin "$2" "$TMP/points"
	changed=$(held)
	baleen "${back[@]}" || bail "$1: cannot be taken back: $(cat "$TMP/err")"
	is "$1: changes, and is taken back" "$([ "$before" != "$changed" ] && held)" "$before"
	for_each_group "$1" "$TMP/points" try_change
}

# start KEY_SPEC LIST: the rule, or the file
start()
{
	baleen detach veth-b
	printf '%s\n' "${@:2}" >"$TMP/list"
	mkdir -p "$TMP/dir"
	baleen build -o "$TMP/dir/a.bln" --capacity 100 --key "$1" "$TMP/list"
	baleen attach veth-b --no-state --drop "$RULE=$TMP/dir/a.bln" || bail "cannot attach"
	NS=$(basename "$PINS"/ns*)
	now=attached
	target=veth-b:$RULE
}

# add_and_del NAME N FROM KEY: of $target; N is that of del
add_and_del()
{
	change=(add --force "$target" "$4")
	again=(add --force --exist "$target" "$4")
	back=(del --force --exist "$target" "$4")
	try_kind "add $1" 1 "$3"
}

del_and_add()
{
	change=(del --force "$target" "$4")
	again=(del --force --exist "$target" "$4")
	back=(add --force --exist "$target" "$4")
	try_kind "del $1" "$2" "$3"
}

LOCKED='^flock'

start src 192.0.2.1 192.0.2.2 2001:db8::1
keys=(192.0.2.1 192.0.2.2 192.0.2.9 10.0.0.1 2001:db8::1 2001:db8::9)
add_and_del "a host" 1 "$LOCKED" 192.0.2.9
del_and_add "a host" 10 "$LOCKED" 192.0.2.2
add_and_del "a prefix" 1 "$LOCKED" 10.0.0.0/8
del_and_add "an IPv6 host" 10 "$LOCKED" 2001:db8::1

start src 192.0.2.1 2001:db8::/64
keys=(192.0.2.1 2001:db8::1 2001:db8::9 2001:db9::1)
del_and_add "an address of an IPv6 prefix" 10 "$LOCKED" 2001:db8::9

printf '%s\n' 192.0.2.7 2001:db8::/48 >"$TMP/more"
keys=(192.0.2.1 192.0.2.7 2001:db8::1 2001:db8:0:1::1)
change=(merge --force "$target" "$TMP/more")
again=("${change[@]}")
back=(swap --force "$target" "$TMP/dir/a.bln")
try_kind "merge" 10 "$LOCKED"

FLOW=tcp,192.0.2.1,198.51.100.1,1000,443
start flow "$FLOW" tcp,2001:db8::1,2001:db8::2,1,2
keys=("$FLOW" udp,192.0.2.1,198.51.100.1,53,53 tcp,2001:db8::1,2001:db8::2,1,2)
del_and_add "a flow" 10 "$LOCKED" "$FLOW"

target=$TMP/dir/a.bln
add_and_del "a flow to a file" 1 "$LOCKED" udp,192.0.2.1,198.51.100.1,53,53
