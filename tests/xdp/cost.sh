#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a ban costs, counted in system calls: syncs, looks at the state, mappings of the filter.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
mkdir "$BALEEN_CONF_DIR"
VERDICT=$ROOT/build/tools/verdict
N_ADDED=80

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }

# counted CALLS COMMAND...: its calls are left in $TMP/calls
counted()
{
	in_ns "$B" strace -qq -f -o "$TMP/calls" -e "trace=$1" "$BALEEN" "${@:2}" >"$TMP/out" 2>&1
}

echo 20.1.1.1 >"$TMP/list"
printf '%s\n' "rule jail drop" " bans" " feed $TMP/list" >"$BALEEN_CONF_DIR/veth-b.conf"
check_status "a configuration" 3 baleen apply
check "a ban" baleen add veth-b:jail 100.1.0.1

# --- one command ---

counted fdatasync,fsync add veth-b:jail 100.1.0.2
is "a ban on disk: its row, and its directory" "$(wc -l <"$TMP/calls")" 2
counted openat add veth-b:jail 100.1.0.3
is "the state is read, then again behind the lock" "$(grep -c '"[^"]*/state\.db"' "$TMP/calls")" 2
counted openat ban 100.1.0.7
is "a ban reads it once: behind the lock it is the same still" "$(grep -c '"[^"]*/state\.db"' "$TMP/calls")" 1
is "and opens the book once" "$(grep -c '"[^"]*/book\.db"' "$TMP/calls")" 1
# 444 on Debian 12, of which 123 load libraries, and some for each ban since the log began anew;
# 694 when each step opened the state. 20 are to find devices that come meanwhile. What a machine has
# mounted takes some reads more or less.
counted all ban 100.1.0.8
n_one=$(wc -l <"$TMP/calls")
is "a ban of one address takes $n_one system calls: 460 at most" "$((n_one <= 460))" 1
counted mmap add veth-b:jail 100.1.0.4
is "the filter is mapped to look, then to change" "$(grep -c 'MAP_SHARED, [0-9]*, 0) ' "$TMP/calls")" \
	"$((2 + $(grep -c 'mmap(NULL, 32768, PROT_READ|PROT_WRITE, MAP_SHARED' "$TMP/calls")))"
counted unlink,unlinkat add veth-b:jail 100.1.0.5
is "the log of the book stays" "$(grep -c 'book\.db' "$TMP/calls")" 0

# --- many ---

for ((i = 0; i < N_ADDED; i++)); do
	baleen add veth-b:jail "100.2.0.$i" >"$TMP/out" || not_ok "ban $i" "$(<"$TMP/out")"
done
size=$(stat -c %s "$(book_of "$B")-wal")
is "the log does not grow with the bans" "$((size < 100 * 4120))" 1
is "all are there" "$(baleen list -j veth-b:jail | jq length)" $((N_ADDED + 7))

# --- feed, a line after each reply, beside others ---

coproc FEED { baleen feed veth-b:jail - --origin tool; }
feed_pid=$FEED_PID # the shell forgets it when the feed has ended
drive()
{
	local i reply

	for ((i = 0; i < 60000 && $(wc -l <"$TMP/said") < 4; i++)); do
		echo "add 100.3.$((i / 250)).$((i % 250))"
		read -r reply
		[ "$reply" = ok ] || echo "$reply" >>"$TMP/replies"
	done
	echo "$i" >"$TMP/driven"
}
touch "$TMP/said" "$TMP/replies"
exec {from}<&"${FEED[0]}" {to}>&"${FEED[1]}"
drive <&"$from" >&"$to" &
for i in 1 2 3 4; do
	check "another command has its turn" baleen add --wait 60 veth-b:jail "100.4.0.$i"
	echo "$i" >>"$TMP/said"
done
wait $!
eval "exec ${FEED[1]}>&- {to}>&- {from}<&-"
wait "$feed_pid"
is "each line has its reply" "$(<"$TMP/replies")" ""
is "and is an entry" "$(baleen list -j veth-b:jail --origin tool | jq length)" "$(<"$TMP/driven")"
is "in force" "$(dropped 100.3.0.0 100.4.0.{1..4} 100.4.0.5)" DDDDDP

# --- many devices ---

# least CALLS NET: of three bans. One of many reads a log that is long, or moves it into the
# database: which one, the feed has decided.
least()
{
	local i

	for i in 1 2 3; do
		counted "$1" ban "$2.$i"
		wc -l <"$TMP/calls"
	done | sort -n | head -n 1
}

# 81 on Debian 12; 172 when each had a survey of the host, and was asked for its number eight times.
n_one=$(least all 100.5.0)
for i in 1 2 3 4; do
	ip -n "$B" link add "v$i" type veth peer name "w$i"
	check "another device" baleen attach "v$i" --drop "jail=$TMP/list" bans
done
n=$((($(least all 100.6.0) - n_one) / 4))
is "each further device takes $n system calls: 90 at most" "$((n <= 90))" 1
is "a ban on five devices is written once" "$(least fdatasync,fsync 100.7.0)" 2
counted sendto ban 100.1.0.14
is "and the host surveyed once" "$(grep -c 'nlmsg_type=RTM_GETROUTE' "$TMP/calls")" 1
