#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kill -9 at each system call of each change of a state: what is there afterwards is
# what was or what was to be, whole, and the next one goes on and leaves nothing of
# the killed one behind.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
command -v strace >/dev/null || { skip "kill -9" "needs strace"; exit 0; }

STATE=$ROOT/build/tools/state
DEV=dev0
export BALEEN_STATE_DIR=$TMP/states BALEEN_RUN_DIR=$TMP/run
COPY=$BALEEN_STATE_DIR/$DEV.baleen-previous

state() { "$STATE" "$@" >"$TMP/out" 2>"$TMP/err"; }

# show: sets now to what is there
show() { now=$("$STATE" show $DEV 2>&1); }

OLD="old old" NEW="new new"

# --- what a change starts from ----------------------------------------------

# keep NAME: what is there now is what NAME starts from
keep() { cp -a "$BALEEN_STATE_DIR" "$TMP/start-$1"; }

start()
{
	rm -rf "$BALEEN_STATE_DIR" "$BALEEN_RUN_DIR"
	cp -a "$TMP/start-$1" "$BALEEN_STATE_DIR"
}

# --- killing ----------------------------------------------------------------

# Calls that change what others find. Before any other call it is as before the next
# of these.
CHANGES='write|pwrite64|sendfile|ftruncate|fallocate|mkdir|mkdirat|rmdir|link|unlink'
CHANGES+='|unlinkat|rename|renameat2|fchown|fchmod|utimensat|fsync|fdatasync|close|exit_group'

# find_points WORD...: writes these calls of it to $TMP/points, a line `NAME K` for the
# Kth call of NAME, from the first that knows of states on
find_points()
{
	strace -o "$TMP/log" "$STATE" "$@" >"$TMP/out" 2>&1 || bail "fails under strace: $*"
	awk -v root="$BALEEN_STATE_DIR" -v changes="^($CHANGES)$" '
		!/^[a-z]/ { next }
		{ name = $0; sub(/\(.*/, "", name); k = ++n[name] }
		index($0, root) && name != "execve" { on = 1 }
		on && (name ~ changes || /O_CREAT/) { print name, k }' "$TMP/log" >"$TMP/points"
	[ "$(wc -l <"$TMP/points")" -gt 20 ] || bail "found no calls of $*"
}

# run_killed NAME K WORD...
run_killed()
{
	{ strace -qq -o /dev/null -e trace="$1" -e inject="$1:signal=KILL:when=$2" \
		"$STATE" "${@:3}"; } >"$TMP/out" 2>&1
	[ $? -eq 137 ]
}

# fail WHY: at the point that is being tried
fail() { bad+=" $name $k: $1;"; }

# must WORD...: the next one goes on
must() { state "$@" || fail "then $* fails: $(cat "$TMP/err")"; }

# must_show TEXT...: one of these is there
must_show()
{
	local want

	show
	for want in "$@"; do
		[ "$now" != "$want" ] || return
	done
	fail "there is: $now"
}

# must_list FILE...: of the state, and nothing else, and no other state
must_list()
{
	local found

	# Readers leave what they shared with writers.
	found=$(cd "$BALEEN_STATE_DIR" && find . -mindepth 1 -not -path "./$DEV.baleen-previous*" \
		-not -name "state.db-*" | sort | tr '\n' ' ')
	[ "$found" = "$*${1:+ }" ] || fail "left $found"
}

whole=("./$DEV" "./$DEV/feeds")

after_make()
{
	must_show none "$OLD"
	[ "$now" = "$OLD" ] || must make $DEV
	must remove $DEV
	must_list
}

after_change()
{
	must_show "$OLD" "$NEW"
	must change $DEV
	must_show "$NEW"
	must_list "${whole[@]}" "$(cd "$BALEEN_STATE_DIR" && echo ./$DEV/feeds/*)" ./$DEV/state.db
}

after_copy()
{
	must_show "$OLD"
	must copy $DEV "$COPY"
	must change $DEV
	must replace $DEV "$COPY"
	must_show "$OLD"
	must_list "${whole[@]}" ./$DEV/feeds/1.1 ./$DEV/state.db
}

# What has the name of the copy once it was taken back is none.
after_replace()
{
	must_show "$OLD" "$NEW"
	if [ "$now" = "$NEW" ]; then
		must replace $DEV "$COPY"
	elif state replace $DEV "$COPY"; then
		fail "replaced twice"
	fi
	must_show "$OLD"
	must change $DEV
	must_show "$NEW"
}

after_remove()
{
	must_show none "$OLD"
	[ "$now" != "$OLD" ] || must remove $DEV
	must make $DEV
	must_show "$OLD"
	must_list "${whole[@]}" ./$DEV/feeds/1.1 ./$DEV/state.db
}

# try NAME START WORD...: NAME, killed everywhere
try()
{
	local bad='' n=0

	start "$2"
	find_points "${@:3}"
	while read -r name k; do
		start "$2"
		run_killed "$name" "$k" "${@:3}" || fail "not killed"
		"after_$1"
		n=$((n + 1))
	done <"$TMP/points"
	is "$1 from $2 killed at $n places" "$bad" ""
}

mkdir "$BALEEN_STATE_DIR"
keep none
# A state whose making was killed before its tables were there.
mkdir -p "$BALEEN_STATE_DIR/$DEV/feeds"
touch "$BALEEN_STATE_DIR/$DEV/unfinished" "$BALEEN_STATE_DIR/$DEV/state.db"
keep unfinished
start none
check "make" "$STATE" make $DEV
keep old
check "copy" "$STATE" copy $DEV "$COPY"
keep old-and-copy
check "change" "$STATE" change $DEV
keep new-and-copy
show
is "all of it is new" "$now" "$NEW"

try make none make $DEV
try make unfinished make $DEV
try change old change $DEV
try copy old copy $DEV "$COPY"
try copy old-and-copy copy $DEV "$COPY"
try replace new-and-copy replace $DEV "$COPY"
try remove old remove $DEV
