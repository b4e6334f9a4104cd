#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Commands that run at once: swaps against swaps, against readers, and against
# detach and attach; builds of one file.
#
# Image i lists 192.0.2.i and 192.0.2.100, so what is enforced is one image,
# whole, when it drops exactly one of the first N and the common address.
# A command ends with 0, or with 1 and the one line that says what the others
# had just done. In `make check` a fifth of the rounds.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

VERDICT=$ROOT/build/tools/verdict
RULE=p$$ # as part of a map's name it tells our maps from everybody's
PINS=/sys/fs/bpf/baleen
N=20
ROUNDS=$(pick 1 5)
sampled "rounds" "$ROUNDS" 5
DROP=(--drop "$RULE=$TMP/1.bln")

# --- the final state ------------------------------------------------------

# enforced: the number of the one image that is enforced, or what is instead
enforced()
{
	local all i one

	all=$(in_ns "$B" "$VERDICT" veth-b 192.0.2.{100,101} $(seq -f 192.0.2.%g $N) 2>&1)
	for ((i = 1; i <= N; i++)); do
		printf -v one '%*s' $N ''
		one=DP${one// /P}
		one=${one:0:i + 1}D${one:i + 2}
		[ "$all" != "$one" ] || { echo $i; return; }
	done
	echo "$all"
}

# found: all pins but the root
found() { (cd "$PINS" && shopt -s nullglob && echo */ */* */*/*); }

# n_maps WANT: how many there are; waits up to 5 s for WANT, since the kernel
# frees late
n_maps()
{
	local i n

	for i in {1..100}; do
		n=$(bpftool map show | grep -c " name bln_$RULE ")
		[ "$n" -ne "$1" ] || break
		sleep 0.05
	done
	echo "$n"
}

# is_whole NAME: one image is in force and nothing else is left
is_whole()
{
	local image id ns

	image=$(enforced)
	is "$1: one image is enforced" "${image//[0-9]/}" ""
	is "$1: match agrees" "$(in_ns "$B" "$BALEEN" match "veth-b:$RULE" \
		192.0.2.{100,101} $(seq -f 192.0.2.%g $N) 2>&1 | paste -s -d ' ')" \
		"192.0.2.100 192.0.2.$image"
	id=$(xdp_id "$B" veth-b)
	ns=$(basename "$PINS"/ns*)
	is "$1: nothing is left" "$(found)" \
		"$(echo "$ns/" "$ns/$id" "$ns/link" "$ns/$id"/{config,prog,rule0,stats})"
	is "$1: nor a map" "$(n_maps 1)" 1
}

# --- commands at once -----------------------------------------------------

# try WHAT_ELSE COMMAND...: ends with 0, or with 1 and one line that matches, or,
# only status, with 1 and a filter that it shows not to be enforced; anything
# else is noted
try()
{
	local out status shown=$TMP/shown.$BASHPID off

	out=$(in_ns "$B" "$BALEEN" "${@:2}" 2>&1 >"$shown")
	status=$?
	cat "$shown" >>"$TMP/$2.$BASHPID"
	off=$(grep -c '"enforced": false' "$shown")
	rm -f "$shown"
	echo "$2 $status" >>"$TMP/ended"
	[ $status -eq 0 ] && [ -z "$out" ] && [ "$off" -eq 0 ] && return
	[ "$2 $status" = "status 1" ] && [ -z "$out" ] && [ "$off" -eq 1 ] && return
	[ $status -eq 1 ] && [[ $out =~ ^baleen:\ [^$'\n']*$ ]] && [[ $out =~ $1$ ]] && return
	echo "$2 ends with $status: $out" >>"$TMP/odd"
}

# repeat TIMES COMMAND...
repeat()
{
	local i

	for ((i = 0; i < $1; i++)); do
		"${@:2}"
	done
}

# is_orderly NAME: nothing was noted since the last time
is_orderly()
{
	wait
	is "$1: every command ends well" "$(sort "$TMP/odd" | uniq -c)" ""
	: >"$TMP/odd"
}

# statuses: all that status -j printed, as one array
statuses()
{
	cat "$TMP"/status.* | jq -s 'add'
	rm -f "$TMP"/status.*
}

swap_each()
{
	local i

	for ((i = 1; i <= N; i++)); do
		try "$1" swap "veth-b:$RULE" "$TMP/$i.bln" &
	done
	wait
}

detach_and_attach()
{
	try 'not attached to veth-b' detach veth-b
	try 'attached to veth-b already: .*' attach veth-b "${DROP[@]}"
}

: >"$TMP/odd"
for ((i = 1; i <= N; i++)); do
	printf '192.0.2.%d\n' $i 100 >"$TMP/$i.txt"
	"$BALEEN" build -o "$TMP/$i.bln" "$TMP/$i.txt" || bail "cannot build an image"
done

check "attach" in_ns "$B" "$BALEEN" attach veth-b "${DROP[@]}"
swap_each never
is_orderly "$N swaps at once"
is_whole "$N swaps at once"

# A reader never sees the filter half changed, gone or replaced.
repeat $ROUNDS swap_each never &
repeat $((10 * ROUNDS)) try never status -j &
repeat $((10 * ROUNDS)) try never status -j &
repeat $((20 * ROUNDS)) try never match "veth-b:$RULE" 192.0.2.100 &
is_orderly "swaps and readers"
is "status sees one image in force, always" "$(statuses |
	jq -c '[.[] | [.state, .enforced, .rules[0].error, .rules[0].entries]] | unique')" \
	'[["attached",true,null,2]]'
is "match sees it, always" "$(sort "$TMP"/match.* | uniq -c | xargs)" "$((20 * ROUNDS)) 192.0.2.100"
is_whole "swaps and readers"

# Between two commands of others the filter may be off, or detached and pinned.
repeat $((5 * ROUNDS)) detach_and_attach &
repeat $((5 * ROUNDS)) detach_and_attach &
repeat $(((ROUNDS + 1) / 2)) swap_each 'not attached to veth-b' &
repeat $((10 * ROUNDS)) try never status -j &
is_orderly "detach, attach, swap and status"
is "status sees the filter attached or detached" "$(statuses |
	jq -c '[.[] | .state] | unique - ["attached", "detached"]')" '[]'
is "attaches, detaches and swaps come through" \
	"$(sort -u "$TMP/ended" | grep -c -E '(attach|detach|swap) 0')" 3
if [ -z "$(xdp_id "$B" veth-b)" ]; then
	is "a detached device leaves nothing" "$(found)" ""
	in_ns "$B" "$BALEEN" attach veth-b "${DROP[@]}" >/dev/null
fi
is_whole "detach, attach, swap and status"

# A swap that waited for the detach must not leave the directory of its lock.
check "detach" in_ns "$B" "$BALEEN" detach veth-b
left=''
for ((i = 0; i < 4 * ROUNDS; i++)); do
	try never attach veth-b "${DROP[@]}"
	repeat 3 try 'not attached to veth-b' swap "veth-b:$RULE" "$TMP/2.bln" &
	repeat 3 try 'not attached to veth-b' swap "veth-b:$RULE" "$TMP/3.bln" &
	try never detach veth-b
	wait
	left+=$(found)
done
is_orderly "swaps and the last detach"
is "nothing is left in the end" "$left" ""
is "nor a map" "$(n_maps 0)" 0

mkdir "$TMP/dir"
for ((i = 1; i <= N; i++)); do
	try never build -o "$TMP/dir/a.bln" "$TMP/$i.txt" &
done
is_orderly "$N builds of one file"
is "one of them made it" "$("$BALEEN" dump "$TMP/dir/a.bln" | wc -l)" 2
is "and leaves nothing beside it" "$(ls -A "$TMP/dir")" a.bln
