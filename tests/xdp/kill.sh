#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kill -9 at the system calls of attach, swap, detach and build that change something,
# or, in `make check-all`, at each. With the way of attaching in KILL_WAY, --no-link, of
# those but build.
#
# After each kill one complete set is enforced, the old one or the new one;
# `status` says the same; and the next command works and leaves nothing of
# the dead one, be it the same command again or `detach`. The file of a killed
# build is the old image or the new one, and the next build leaves only that.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/killed.sh
source "$ROOT/tests/killed.sh"

command_attach() { printf '%s\n' "$BALEEN" attach veth-b "${WAY[@]}" --drop "$RULE=$TMP/$1.bln"; }
command_swap() { printf '%s\n' "$BALEEN" swap "veth-b:$RULE" "$TMP/$1.bln"; }
command_detach() { printf '%s\n' "$BALEEN" detach veth-b; }
command_build() { printf '%s\n' "$BALEEN" build -o "$TMP/dir/a.bln" "$TMP/$1.txt"; }

# --- a live filter --------------------------------------------------------

# No bpffs, as at boot; the tmpfs hides the machine's own.
start_bare()
{
	start_none
	while [ "$(stat -f -c %T /sys/fs/bpf)" = bpf_fs ]; do
		umount /sys/fs/bpf || bail "cannot unmount bpffs"
	done
	[ "$(stat -f -c %T /sys/fs/bpf)" = tmpfs ] ||
		mount -t tmpfs baleen-test /sys/fs/bpf || bail "cannot hide bpffs"
}

# kill_in_a_row POINTS: dead commands are not cleaned up in between. What they left
# decides how many calls the next one makes, so some may be done before their Kth.
kill_in_a_row()
{
	local name k bad='' n=0 n_killed=0

	put old || bail "cannot put the old set"
	while read -r _ name k; do
		may_end=yes
		kill_at "$name" "$k" old new
		n=$((n + 1))
		[ "$may_end" = ended ] || n_killed=$((n_killed + 1))
	done < <(awk -v n="$(pick 3 7)" 'NR % n == 0' "$1")
	may_end=no
	[ "$n_killed" -gt $((n * 3 / 4)) ] || fail "only $n_killed of $n were killed"
	next_goes_on
	has_maps 1 || fail "maps leaked"
	is "swap killed in a row" "$bad" ""
	start_none
}

try_commands()
{
	local command

	command=attach
	for_each_group attach "$TMP/attach" try_live start_none none new
	send attach
	command=swap
	for_each_group swap "$TMP/swap" try_live start_old old new
	kill_in_a_row "$TMP/swap"
	send swap
	command=detach
	for_each_group detach "$TMP/detach" try_live start_old old none
	send detach
}

find_commands()
{
	local -a argv

	mapfile -t argv < <(command_attach old)
	find_points "$TMP/attach" "^statfs.*fs/bpf" never "${argv[@]}"
	NS=$(basename "$PINS"/ns*)
	mapfile -t argv < <(command_swap new)
	find_points "$TMP/swap" "^statfs.*fs/bpf" never "${argv[@]}"
	mapfile -t argv < <(command_detach)
	find_points "$TMP/detach" "^statfs.*fs/bpf" never "${argv[@]}"
	if [ ${#WAY[@]} -gt 0 ] && ! tests_all; then
		# Without a link: all else is as in kill.sh.
		thin 2 "$TMP/attach"
		thin 2 "$TMP/swap"
	fi
	look
	is "attach, swap and detach leave nothing" "$now $(found)" "none "
}

# caller_has_bpffs: a process that called this one sees one, where attach would put its pins
caller_has_bpffs()
{
	local pid=$PPID

	while [ "${pid:-0}" -gt 1 ]; do
		[ "$(stat -f -c %T "/proc/$pid/root/sys/fs/bpf" 2>/dev/null)" != bpf_fs ] || return 0
		pid=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | awk '{ print $2 }')
	done
	return 1
}

# Attach mounts bpffs: killed before and after it.
try_bare()
{
	local command=attach
	local -a argv

	if stat -L /proc/1/ns/mnt >/dev/null 2>&1 || caller_has_bpffs; then
		skip "attach without bpffs" "that of a calling process is taken: safety.sh mounts one"
		return
	fi
	start_bare
	mapfile -t argv < <(command_attach new)
	find_points "$TMP/all" "^statfs.*fs/bpf" "^bpf" "${argv[@]}"
	grep -v startup "$TMP/all" >"$TMP/bare"
	look
	for_each_group "attach without bpffs," "$TMP/bare" try_live start_bare none new
}

# --- a file ---------------------------------------------------------------

# file_holds SET: exactly the addresses of the set
file_holds()
{
	"$BALEEN" match -f "$TMP/asked.txt" "$TMP/dir/a.bln" 2>&1 | cmp -s - "$TMP/$1.txt"
}

start_file()
{
	rm -rf "$TMP/dir"
	mkdir "$TMP/dir"
	[ "$1" = none ] || cp "$TMP/$1.bln" "$TMP/dir/a.bln"
}

# try_file SET: the file held this set, or was not there
try_file()
{
	local -a argv

	mapfile -t argv < <(command_build new)
	start_file "$1"
	run_killed "$name" "$k" "${argv[@]}" || fail "not killed"
	if [ -e "$TMP/dir/a.bln" ] || [ "$1" != none ]; then
		file_holds "$1" || file_holds new || fail "the file is damaged"
	fi
	"${argv[@]}" 2>"$TMP/err" || fail "build fails: $(cat "$TMP/err")"
	file_holds new || fail "the next file is damaged"
	[ "$(ls -A "$TMP/dir")" = a.bln ] || fail "left $(ls -A "$TMP/dir")"
}

try_build()
{
	local start
	local -a argv

	mapfile -t argv < <(command_build new)
	printf '%s\n' "${ASKED[@]}" >"$TMP/asked.txt"
	for start in none old; do
		start_file "$start"
		find_points "$TMP/$start" "^openat.*new.txt" never "${argv[@]}"
		for_each_group "build ($start before)" "$TMP/$start" try_file "$start"
	done
}

find_commands
try_commands
[ ${#WAY[@]} -eq 0 ] || exit 0
try_bare
start_none
try_build
