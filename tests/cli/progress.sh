#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Long work shows how far it has come on a terminal, takes its line away before
# anything else is printed, and writes nothing of it elsewhere.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# Erases a line, behind the carriage return.
CLEAR=$'\e[K'

# on_terminal COMMAND: a shell command, with a terminal as its standard error; what
# comes out of that is in seen, and its status in ended
on_terminal()
{
	# shellcheck disable=SC2024 # as who runs this
	user env TERM=vt100 SHELL=/bin/sh script -qfec "stty cols 80; $1" /dev/null >seen </dev/null
	echo $? >ended
}

# until_seen TEXT: waits for it, for a minute at most
until_seen()
{
	local deadline=$((SECONDS + 60))

	until grep -qF "$1" seen; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
	done
}

# left: what a terminal still shows after the progress was taken away
left()
{
	local all

	all=$(tr -d '\r' <seen)
	echo "${all##*$CLEAR}"
}

# A list that does not end as long as nobody has seen anything.
try_pipe()
{
	user mkfifo terminal.fifo file.fifo
	on_terminal "'$TMP/baleen' build -o one.bln - <terminal.fifo" &
	user "$TMP/baleen" build -o two.bln - <file.fifo 2>said &
	exec 5>file.fifo 6>terminal.fifo
	echo 192.0.2.1 | tee /dev/fd/5 >&6
	check "a terminal is told" until_seen "reading stdin: 10 B, "
	echo nonsense | tee /dev/fd/5 >&6
	exec 5>&- 6>&-
	wait
	is "the bad line refuses the list" "$(<ended)" 1
	is "messages have lines of their own" "$(left)" "$(<said)"
	is "and the same elsewhere, without any progress" "$(<said)" \
		"baleen: stdin:2: 'nonsense': a host name, not an address
baleen: stdin: 1 bad line of 2: list refused (--skip-bad goes on without them)"
}

# A file that is read slowly.
try_file()
{
	user sh -c 'seq -f "192.0.2.1 # %060.0f" 10000 >list.txt'
	on_terminal "strace -qq -o /dev/null -f -P list.txt -e trace=read \
		-e inject=read:delay_enter=500000 '$TMP/baleen' build -o file.bln list.txt"
	is "is read" "$(<ended)" 0
	is "with its share" "$(grep -cE 'reading list.txt: [1-9][0-9]? %, [0-9.]+ [kM]?B/s' seen)" 1
	is "more than once" "$(($(grep -oF "$CLEAR" seen | wc -l) > 2))" 1
	is "nothing of it is left" "$(left)" \
		"baleen: 9,999 of 10,000 entries superfluous: listed twice, or others cover them"
	on_terminal "TERM=dumb; export TERM; strace -qq -o /dev/null -f -P list.txt -e trace=read \
		-e inject=read:delay_enter=500000 '$TMP/baleen' build -o file.bln list.txt"
	is "not on a terminal that cannot" "$(grep -c reading seen)" 0
}

# Most lists take no time.
try_short()
{
	user sh -c 'echo 192.0.2.1 >short.txt'
	on_terminal "'$TMP/baleen' build -o short.bln short.txt"
	is "what is short shows nothing" "$(<ended) $(<seen)" "0 "
}

try_pipe
try_file
try_short
