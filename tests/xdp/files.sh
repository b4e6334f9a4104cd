#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Others may write where Baleen reads and writes: the directory of node_exporter, that of a
# feed. A link or a FIFO there neither costs root a file nor keeps anything waiting, and one in
# place of a configuration or a state is told. So is a limit on the size of files.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
make_pair
chmod 755 "$TMP"
mkdir "$TMP/conf" "$TMP/prom" "$TMP/feeds"
chown 65534 "$TMP/prom" "$TMP/feeds"
CONF=$TMP/conf/veth-b.conf
STATE=$(kept_of "$B")/veth-b/state.db
BOOK=$(book_of "$B")
VERDICT=$ROOT/build/tools/verdict

baleen() { in_ns "$B" timeout 20 "$BALEEN" "$@"; }
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }
verdicts() { in_ns "$B" "$VERDICT" veth-b "$@"; }
are() { [ "$(verdicts "${@:2}")" = "$1" ]; }
said() { grep -qF -- "$1" "$TMP/baleend.log"; }

# fails NAME STATUS TEXT COMMAND...: and says so; its messages go through a pipe
fails()
{
	local status

	"${@:4}" 2>&1 | cat >"$TMP/said"
	status=${PIPESTATUS[0]}
	is "$1" "$status, $(grep -oF -m 1 -- "$3" "$TMP/said" || cat "$TMP/said")" "$2, $3"
}

# --- outputs ----------------------------------------------------------------------

# textfile NAME SAID: with what is there, baleend goes on, and ends when it is told to
textfile()
{
	: >"$TMP/baleend.log"
	start_baleend "$B" --textfile "$TMP/prom/baleen.prom" --listen off
	await "$1: is told" said "$TMP/prom/baleen.prom: $2"
	check "$1: a ban" baleen ban 198.51.100.9 1s
	await "$1: which ends" are P 198.51.100.9
	stop_baleend
	is "$1: so does baleend" "$baleend_status" 0
}

try_outputs()
{
	local theirs="a symbolic link of another user's leads to what is not theirs: not followed"

	play_systemd
	nobody ln -s "$STATE" "$TMP/prom/baleen.prom"
	textfile "a link to a state" "$theirs"
	is "the state stays one" "$(head -c 13 "$STATE")" "SQLite format"
	check "which can be read" baleen list veth-b:bad
	# A file of metrics is one that the command would replace.
	baleen metrics -o "$TMP/roots.prom" || bail "no metrics"
	cp "$TMP/roots.prom" before.prom
	nobody ln -sf "$TMP/roots.prom" "$TMP/prom/baleen.prom"
	refuses "metrics -o" "$TMP/prom/baleen.prom: $theirs" \
		baleen metrics -o "$TMP/prom/baleen.prom"
	: >roots.file
	nobody ln -s "$TMP/roots.file" "$TMP/prom/link"
	baleen policy veth-b --sample 100/s >/dev/null
	refuses "watch -w" "$TMP/prom/link: $theirs" baleen watch veth-b -w "$TMP/prom/link"
	refuses "build -o" "$TMP/prom/link: $theirs" baleen build -o "$TMP/prom/link" list
	refuses "compile -o" "$TMP/prom/link: $theirs" baleen compile -o "$TMP/prom/link" list
	check "leave the file that is linked to" cmp before.prom "$TMP/roots.prom"
	is "this one, too" "$(stat -c %s roots.file)" 0
	rm "$TMP/prom/baleen.prom"
	nobody mkfifo "$TMP/prom/baleen.prom"
	textfile "a FIFO" "not a regular file: not overwritten"
	refuses "metrics -o a FIFO" \
		"$TMP/prom/baleen.prom: belongs to user 65534, and is not a file: not opened" \
		baleen metrics -o "$TMP/prom/baleen.prom"
	rm "$TMP/prom/baleen.prom"
	nobody touch "$TMP/prom/baleen.prom"
	prints "a file of theirs is replaced" "" baleen metrics -o "$TMP/prom/baleen.prom"
	is "by one of ours" "$(stat -c %u "$TMP/prom/baleen.prom")" 0
	ln -s "$TMP/prom/baleen.prom" mine.prom
	prints "a link of ours is followed" "" baleen metrics -o mine.prom
	check "and stays one" test -L mine.prom
}

# --- inputs -----------------------------------------------------------------------

try_feeds()
{
	local theirs="a symbolic link of another user's leads to what is not theirs: not followed"
	local feed=$TMP/feeds/list

	rm "$feed"
	nobody mkfifo "$feed"
	fails "update: a FIFO as feed" 1 "$feed: not a regular file" baleen update veth-b
	rm "$feed"
	install -m 0600 "$TMP/list" "$TMP/roots.list"
	nobody ln -s "$TMP/roots.list" "$feed"
	fails "update: a link to a file of root's" 1 "$feed: $theirs" baleen update veth-b
	rm "$feed"
	nobody cp "$TMP/list" "$TMP/feeds/theirs"
	nobody ln -s theirs "$feed"
	check "update: a link of theirs to theirs" baleen update veth-b
	rm "$feed"
	ln -s "$TMP/roots.list" "$feed"
	check "update: a link of root's" baleen update veth-b
}

try_configurations()
{
	mv "$CONF" "$TMP/shared.conf"
	ln -s "$TMP/shared.conf" "$CONF"
	check_status "apply: a configuration may be a link" 3 baleen apply veth-b
	rm "$CONF"
	mkfifo "$CONF"
	refuses "apply: a FIFO" "$CONF: not a regular file" baleen apply veth-b
	rm "$CONF"
	mkfifo "$TMP/conf/never.list"
	cp "$TMP/shared.conf" "$CONF"
	echo "#" >>"$CONF"
	fails "apply: a FIFO as never-drop list" 1 "$TMP/conf/never.list: not a regular file" baleen apply veth-b
	rm "$TMP/conf/never.list"
	# shellcheck disable=SC2016 # for the inner shell
	check "a pipe that is typed is a list" in_ns "$B" bash -c \
		'"$0" build -o piped.bln <(cat "$1")' "$BALEEN" "$TMP/list"
}

# state NAME TEXT COMMAND...: with this done to the directory $in, commands say so
state()
{
	cp -a "$in" "$TMP/saved"
	(cd "$in" && "${@:3}")
	refuses "$1: ban" "$2" baleen add veth-b:bad 198.51.100.7 --ttl 1h
	fails "$1: list" 1 "$2" baleen list veth-b:bad
	rm -rf "$in"
	mv "$TMP/saved" "$in"
}

# shellcheck disable=SC2016 # for the inner shells
try_state()
{
	local in=${STATE%/*}

	baleen add veth-b:bad 198.51.100.6 --ttl 1h >/dev/null
	state "a FIFO as state" "$STATE: not a regular file" sh -c 'rm state.db && mkfifo state.db'
	state "a link as state" "$STATE: Too many levels of symbolic links" \
		sh -c 'mv state.db other.db && ln -s other.db state.db'
	state "a state of somebody else's" "$STATE: belongs to user 65534, not to root" \
		chown 65534 state.db
	in=${BOOK%/*}
	state "a FIFO as book" "$BOOK: not a regular file" sh -c 'rm book.db && mkfifo book.db'
	state "a FIFO as its log" "$BOOK-wal: not a regular file" \
		sh -c 'rm -f book.db-wal && mkfifo book.db-wal'
	state "a link as book" "$BOOK: Too many levels of symbolic links" \
		sh -c 'mv book.db other.db && ln -s other.db book.db'
	check "the state is as before" baleen add veth-b:bad 198.51.100.7 --ttl 1h
}

# --- a limit on the size of files ----------------------------------------------------

# limited KB COMMAND...: no file of it becomes larger. The signal would end it between what it
# has done and what it has not.
# shellcheck disable=SC2016 # for the inner shell
limited()
{
	in_ns "$B" timeout 20 bash -c 'ulimit -f "$1" && shift && exec "$0" "$@"' "$BALEEN" "$@"
}

try_limit()
{
	local log n kb

	fails "a limit on files: build" 1 "limited.bln: File too large" \
		limited 0 build -o limited.bln list
	check "nothing is left" test ! -e limited.bln
	fails "add, with less than the book has" 1 "$BOOK: File too large" \
		limited 20 add veth-b:bad 198.51.100.8 --ttl 1h
	is "and it is so" "$(verdicts 198.51.100.8)" P
	# The book has room, its log has none: like a full disk.
	kb=$(($(stat -c %s "$BOOK") / 1024 + 4))
	for n in {1..40}; do
		log=$(stat -c %s "$BOOK-wal" 2>/dev/null)
		[ "${log:-0}" -lt $((kb * 1024)) ] || break
		baleen add veth-b:bad "192.0.2.$n" --ttl 1h >/dev/null
	done
	check "a long log" test "${log:-0}" -ge $((kb * 1024))
	fails "add, with less than the log has" 4 "in force, but not kept" \
		limited "$kb" add veth-b:bad 198.51.100.8 --ttl 1h
	is "is in force" "$(verdicts 198.51.100.8)" D
	check "without a limit all is kept" baleen add veth-b:bad 198.51.100.10 --ttl 1h
	is "that one, too" "$(baleen list veth-b:bad | grep -c '198\.51\.100\.\(8\|10\) ')" 2
}

cd "$TMP" || bail "no directory"
echo 203.0.113.7 >list
cp list feeds/list
printf 'rule bad drop\n    bans\n    feed %s\n    special keep\n' "$TMP/feeds/list" >"$CONF"
baleen apply veth-b >/dev/null
[ $? -eq 3 ] || bail "cannot apply"
try_outputs
try_feeds
try_configurations
try_state
try_limit
