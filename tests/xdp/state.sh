#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# States that need more than a directory: a full disk, two network namespaces with a
# device of one name, and readers beside a writer.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_netns "$A" "$B"

STATE=$ROOT/build/tools/state
OLD="old old" NEW="new new"
KEPT=$(kept_of "$A")

# state NAMESPACE WORD...
state() { in_ns "$1" "$STATE" "${@:2}"; }

# shows NAME NAMESPACE TEXT
shows() { is "$1" "$(state "$2" show dev0 2>&1)" "$3"; }

# --- a full disk ------------------------------------------------------------

mkdir "$BALEEN_STATE_DIR"
mount -t tmpfs -o size=1m,mode=0700 baleen-test "$BALEEN_STATE_DIR" || bail "no tmpfs"
check "make a state" state "$A" make dev0
head -c 2M /dev/zero >"$BALEEN_STATE_DIR/filling" 2>"$TMP/err"
check_status "no change on a full disk" 1 state "$A" change dev0
is "it names the file" "$(grep -c "$KEPT/dev0/.*\(full\|No space\)" "$TMP/err")" 1
check_status "no copy on a full disk" 1 state "$A" copy dev0 "$KEPT/dev0.baleen-previous"
shows "what was there is there" "$A" "$OLD"
check_status "no other state on a full disk" 1 state "$A" make dev1
rm "$BALEEN_STATE_DIR/filling"
is "nothing is left of what failed" "$(ls -I book-of-the-host "$KEPT")" dev0
check "a change when there is room again" state "$A" change dev0
shows "it is there" "$A" "$NEW"
umount "$BALEEN_STATE_DIR"

# --- two namespaces ---------------------------------------------------------

for ns in "$A" "$B"; do
	ip -n "$ns" link add dev0 type veth peer name dev1 || bail "cannot make a device"
done
echo 8.8.8.8 >"$TMP/list"
check "a kept state of a device in one namespace" state "$A" make dev0
shows "is not the other one's" "$B" none
check "who makes one of this name" state "$B" make dev0
check "changes it" state "$B" change dev0
check "and removes it" state "$B" remove dev0
shows "it is still the first one's" "$A" "$OLD"

# --- a writer that an apply overtakes ------------------------------------------

# An apply copies what was attached by hand, under its lock, into a kept state: who
# waits for that lock meanwhile goes on with the kept one.
check "forget it" state "$A" remove dev0
check "attached by hand" in_ns "$A" "$BALEEN" attach dev0 --drop "$TMP/list"
VOLATILE=$(echo "$BALEEN_RUN_DIR"/ns*-if*[0-9])
exec 9<"$VOLATILE"
flock 9
nsenter --net="/run/netns/$A" "$BALEEN" add dev0:list 9.9.9.9 --origin test --ttl 1h \
	--wait 60 9<&- >"$TMP/add" 2>&1 &
writer=$!
waits() { find "/proc/$writer/fd" -lname "$VOLATILE" 2>/dev/null | grep -q .; }
# Seen once it may be on a first look that does not wait.
for ((n = seen = 0; n < 600 && seen < 5; n++)); do
	waits && seen=$((seen + 1))
	sleep 0.05
done
is "somebody waits for it" "$seen" 5
cp -a "$VOLATILE" "$KEPT/dev0"
exec 9<&-
wait "$writer"
is "who waited is done" $? 0
rm -r "$VOLATILE"
check "and has written to the kept one" in_ns "$A" "$BALEEN" del dev0:list 9.9.9.9 --origin test
check "detached for good" in_ns "$A" "$BALEEN" detach --forget --entries dev0

# --- readers beside a writer ------------------------------------------------

# Each sees all of one commit; what it says of a feed is of the next, if that came.
check "make it again" state "$A" make dev0
for reader in 1 2; do
	for _ in {1..60}; do
		state "$A" show dev0
	done >"$TMP/reader.$reader" 2>&1 &
done
for _ in {1..30}; do
	state "$A" change dev0 || not_ok "a change beside readers" "$(cat "$TMP/err")"
done
wait
is "readers beside a writer see what is there" \
	"$(grep -vcE '^(old|new) (old|new)$' "$TMP"/reader.* | tr '\n' ' ')" \
	"$TMP/reader.1:0 $TMP/reader.2:0 "
