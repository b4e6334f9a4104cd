#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a command says is done survives a power cut, also what one before had written and, as
# it was killed, had not synced: the next command finds it there, and syncs it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
KEPT=$(kept_of "$B")
HOME_OF_STATES=$(dirname "$KEPT/x")
mkdir "$BALEEN_CONF_DIR"

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }

# dies_at CALL K COMMAND...: killed on entry to its Kth CALL
dies_at()
{
	in_ns "$B" strace -qq -o /dev/null -e trace="$1" -e inject="$1:signal=KILL:when=$2" \
		"$BALEEN" "${@:3}" >"$TMP/out" 2>&1
	[ $? -eq 137 ]
}

# traced COMMAND...: which files it syncs is in $TMP/log
traced()
{
	in_ns "$B" strace -qq -y -o "$TMP/log" -e trace=fsync,fdatasync,rename,renameat2,write \
		"$BALEEN" "$@" >"$TMP/out" 2>"$TMP/err"
}

# syncs NAME FILE...: the command that was traced has synced each
syncs()
{
	local file missing=

	for file in "${@:2}"; do
		grep -qE "^f(data)?sync\([0-9]+<$file>" "$TMP/log" || missing+=" $file"
	done
	is "$1" "$missing" ""
}

# --- directories ---

printf '%s\n' 45.1.1.0/24 >"$TMP/list"
printf '%s\n' "rule jail drop" " bans" " feed $TMP/list" >"$BALEEN_CONF_DIR/veth-b.conf"
parents=("$TMP" "$BALEEN_STATE_DIR" "$BALEEN_STATE_DIR/network-namespaces" "$HOME_OF_STATES")
for k in 1 2 3 4; do
	check "apply is killed at sync $k" dies_at fsync "$k" apply
	check_status "apply once more, after sync $k" 3 traced apply
	syncs "then all names above the state are synced, after sync $k" "${parents[@]}"
	baleen detach --forget --entries veth-b >/dev/null
	rm -rf "$BALEEN_STATE_DIR"
done

# --- a state that goes from /run to the disk ---

attached() { baleen attach veth-b --drop "jail=$TMP/list" >"$TMP/out" 2>&1; }
check "attach by hand" attached
check_status "a configuration for it" 3 traced apply
k=$(awk -v at="$KEPT/veth-b" '/^fsync/ { n++; if (is_there) { print n; exit } }
	/^rename/ && index($0, "\"" at "\"") { is_there = 1 }' "$TMP/log")
baleen detach --forget --entries veth-b >/dev/null
check "attach by hand once more" attached
check "apply is killed once its state has its name, at sync $k" dies_at fsync "$k" apply
check "an add then" traced add --exist veth-b:jail 192.0.2.1
syncs "syncs the name" "$HOME_OF_STATES"
baleen detach --forget --entries veth-b >/dev/null
rm -rf "$BALEEN_STATE_DIR"

# --- rows ---

baleen apply >"$TMP/out" 2>&1
check "a book" baleen add veth-b:jail 192.0.2.9
check "add is killed before its rows are synced" dies_at fdatasync 1 add veth-b:jail 192.0.2.1
check "the same add" traced add --exist veth-b:jail 192.0.2.1
is "finds them there" "$(<"$TMP/out")" "veth-b:jail: 0 added, 1 renewed"
syncs "and syncs them" "$KEPT/book-of-the-host/book.db-wal"

check "another one is killed" dies_at fdatasync 1 add --origin feed veth-b:jail 192.0.2.2
check "feed" traced feed veth-b:jail - --origin feed <<<"add 192.0.2.2"
is "feed finds it there" "$(<"$TMP/out")" "ok renewed"
is "and syncs it before it says so" \
	"$(sed -nE 's/^(fdatasync)\(.*book.db-wal.*/\1/p; s/^write\(1<.*(ok renewed).*/\1/p' "$TMP/log" |
		head -n 2 | paste -s -d ' ')" "fdatasync ok renewed"
