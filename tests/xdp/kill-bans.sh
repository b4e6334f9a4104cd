#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kill -9 at the system calls of ban, unban and a snapshot of feed bans, over two devices: those
# that change something, and in `make check-all` each. Then the book has all of the change or
# nothing of it, and whatever changes a device next lets it follow: R1, R2, R6 of what is promised
# of bans. And devices that come, or begin to take bans, while a ban is on its way to the disk: R4.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/killed.sh
source "$ROOT/tests/killed.sh"

mkdir "$BALEEN_CONF_DIR"
ip -n "$B" link add veth-c type veth peer name veth-d
ip -n "$B" link set veth-c up
ip -n "$B" link set veth-d up
printf '%s\n' 45.1.1.0/24 >"$TMP/list"
printf '%s\n' "rule jail drop" " bans" " feed $TMP/list" >"$BALEEN_CONF_DIR/veth-b.conf"
baleen apply
[ $? -eq 3 ] || bail "cannot apply: $(<"$TMP/err")"
baleen attach veth-c --drop "jail=$TMP/list" bans || bail "cannot attach: $(<"$TMP/err")"

# --- killed ---

n_tried=0 n_killed=0
keys=(192.0.2.{7..9} 198.51.100.7 45.1.1.7)
seen() { in_ns "$B" "$VERDICT" "$1" "${keys[@]}"; }
# booked: what the book says of them, for the rules hold the last one by a list
booked()
{
	local key

	for key in "${keys[@]:0:4}"; do
		if baleen list bans "$key"; then echo -n D; else echo -n P; fi
	done
	echo D
}

# follows WHEN: both devices enforce what the book has, all of the change or nothing of it
follows()
{
	local book

	book=$(booked)
	[ "$book" = "$before" ] || [ "$book" = "$after" ] || fail "$1 the book has $book"
	[ "$(seen veth-b) $(seen veth-c)" = "$book $book" ] ||
		fail "$1 packets see $(seen veth-b) and $(seen veth-c), the book has $book"
	[ -z "$(compgen -G "$BALEEN_RUN_DIR/*changing*")$(compgen -G "$BALEEN_RUN_DIR/*behind*")" ] ||
		fail "$1 a mark is left"
}

try_change()
{
	# Where a filter is built anew the state has the second of that.
	[ "$is_anew" = no ] || next_second
	# How often the log of the book is read differs: a call may be one of the counted run alone.
	if run_killed "$name" "$k" "${change[@]}"; then
		n_killed=$((n_killed + 1))
	else
		[ "$ended" -eq 0 ] || fail "not killed, status $ended"
	fi
	n_tried=$((n_tried + 1))
	baleen add --exist veth-b:jail 192.0.2.200 || fail "then: $(<"$TMP/err")"
	baleen add --exist veth-c:jail 192.0.2.200 || fail "then: $(<"$TMP/err")"
	follows then
	baleen "${back[@]}" || fail "back: $(<"$TMP/err")"
	[ "$(booked)" = "$before" ] || fail "back the book has $(booked)"
	follows back
}

# try_kind NAME N: by the arrays change and back; each Nth call
try_kind()
{
	local before after

	before=$(booked)
	[ "$is_anew" = no ] || next_second
	find_points "$TMP/points" "^flock" "^exit_group" "${change[@]}"
	thin "$2" "$TMP/points"
	after=$(booked)
	follows changed
	baleen "${back[@]}" || bail "$1: cannot be taken back: $(<"$TMP/err")"
	is "$1: changes, and is taken back" "$([ "$before" != "$after" ] && booked)" "$before"
	for_each_group "$1" "$TMP/points" try_change
}

baleen ban 192.0.2.7 || bail "cannot ban: $(<"$TMP/err")"
change=("$BALEEN" ban --exist 192.0.2.8)
back=(unban --exist 192.0.2.8)
is_anew=no
try_kind ban 3
change=("$BALEEN" unban --exist 192.0.2.7)
back=(ban --exist 192.0.2.7)
try_kind unban 6
# A prefix that both rules derive anew.
change=("$BALEEN" ban --exist 198.51.100.6-198.51.100.9)
back=(unban --exist 198.51.100.6-198.51.100.9)
is_anew=yes
try_kind "a range" 10
is_anew=no
printf '%s\n' begin "ban 192.0.2.8" "ban 192.0.2.9" commit >"$TMP/lines"
change=(sh -c "exec '$BALEEN' feed bans - --origin soc <'$TMP/lines'")
back=(flush bans --origin soc)
try_kind "a snapshot" 6

is "most are killed" "$((n_killed * 10 >= n_tried * 9))" 1

# --- while a ban is on its way to the disk ---

# slowly ADDRESS: it is banned by a command that stands before its commit for a second
slowly()
{
	in_ns "$B" strace -qq -f -o "$TMP/slow" -e trace=fdatasync \
		-e inject=fdatasync:delay_enter=1500000:when=1 "$BALEEN" ban "$1" >"$TMP/slow.out" 2>&1 &
	for ((i = 0; i < 200; i++)); do
		grep -q fdatasync "$TMP/slow" 2>/dev/null && return
		read -rt 0.02 <> <(:)
	done
}
# everywhere ADDRESS: D for each device that drops it
everywhere() { in_ns "$B" "$VERDICT" veth-b "$1"; in_ns "$B" "$VERDICT" veth-c "$1"; }

baleen detach --forget veth-c || bail "cannot detach: $(<"$TMP/err")"
slowly 192.0.2.101
check "R4: a device comes by hand meanwhile" baleen attach veth-c --drop "jail=$TMP/list" bans
wait $!
is "R4: and has the ban" "$(everywhere 192.0.2.101 | paste -sd ' ')" "D D"
baleen detach --forget veth-c || bail "cannot detach: $(<"$TMP/err")"
cp "$BALEEN_CONF_DIR/veth-b.conf" "$BALEEN_CONF_DIR/veth-c.conf"
slowly 192.0.2.102
check_status "R4: a device comes by its configuration meanwhile" 3 in_ns "$B" "$BALEEN" apply veth-c
wait $!
is "R4: and has the ban" "$(everywhere 192.0.2.102 | paste -sd ' ')" "D D"
printf '%s\n' "rule jail drop" " feed $TMP/list" >"$BALEEN_CONF_DIR/veth-c.conf"
check_status "a rule takes no bans" 3 in_ns "$B" "$BALEEN" apply veth-c
is "and has none" "$(everywhere 192.0.2.102 | paste -sd ' ')" "D P"
printf '%s\n' "rule jail drop" " bans" " feed $TMP/list" >"$BALEEN_CONF_DIR/veth-c.conf"
slowly 192.0.2.103
check_status "R4: it takes bans again meanwhile" 3 in_ns "$B" "$BALEEN" apply veth-c
wait $!
is "R4: and has all" "$(for i in 1 2 3; do everywhere "192.0.2.10$i"; done | paste -sd ' ')" "D D D D D D"
