#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kill -9 at the system calls of restore and save that change something, or, in
# `make check-all`, at each.
#
# After each kill of restore one complete set is enforced, the old one or the
# new one, and the next command works, be it another restore or `detach`. What
# a killed save was to replace is all old or all new, and the next save leaves
# only the new.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/killed.sh
source "$ROOT/tests/killed.sh"

command_restore() { printf '%s\n' "$BALEEN" restore veth-b "$TMP/$1.saved"; }
command_save() { printf '%s\n' "$BALEEN" save veth-b -o "$TMP/dir/a"; }

# --- a live filter --------------------------------------------------------

# put_saved SET: and save it
put_saved()
{
	put "$1" && baleen save veth-b -o "$TMP/$1.saved" || bail "cannot save the $1 set"
}

# What gives up an attach that was killed is tried by kill.sh.
try_attach()
{
	start_none
	kill_at "$name" "$k" none new
	next_goes_on
}

try_restore()
{
	local command=restore
	local -a argv

	put_saved new
	put_saved old
	NS=$(basename "$PINS"/ns*)
	mapfile -t argv < <(command_restore new)
	find_points "$TMP/update" "^openat.*new.saved" never "${argv[@]}"
	look
	start_none
	find_points "$TMP/attach" "^openat.*new.saved" never "${argv[@]}"
	look
	for_each_group restore "$TMP/update" try_live start_old old new
	for_each_group "restore, attaching," "$TMP/attach" try_attach
	send restore
}

# --- a directory ----------------------------------------------------------

start_saved()
{
	rm -rf "$TMP/dir"
	mkdir "$TMP/dir"
	[ "$1" = none ] || cp -a "$TMP/$1.saved" "$TMP/dir/a"
}

# saved_is SET: all of it; saved twice, a set is the same bytes
saved_is() { diff -r "$TMP/dir/a" "$TMP/$1.saved" >/dev/null 2>&1; }

# try_save SET: the directory held this set, or was not there
try_save()
{
	local -a argv

	mapfile -t argv < <(command_save)
	start_saved "$1"
	run_killed "$name" "$k" "${argv[@]}" || fail "not killed"
	if [ -e "$TMP/dir/a" ] || [ "$1" != none ]; then
		saved_is "$1" || saved_is new || fail "saved is $(ls -A "$TMP/dir/a")"
	fi
	in_ns "$B" "${argv[@]}" >"$TMP/out" 2>"$TMP/err" || fail "save fails: $(cat "$TMP/err")"
	saved_is new || fail "the next directory is damaged"
	[ "$(ls -A "$TMP/dir")" = a ] || fail "left $(ls -A "$TMP/dir")"
}

try_saves()
{
	local start
	local -a argv

	put_saved new
	mapfile -t argv < <(command_save)
	for start in none old; do
		start_saved "$start"
		find_points "$TMP/$start" "^statfs.*fs/bpf" never "${argv[@]}"
		for_each_group "save ($start before)" "$TMP/$start" try_save "$start"
	done
	is "saving leaves no pins" "$(is_tidy || found)" ""
	start_none
}

try_restore
try_saves
