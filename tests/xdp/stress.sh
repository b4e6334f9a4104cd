#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A thousand changes of two live rules under a million packets: who is listed all
# the time is always dropped, who never is always passes. Then 200 commands at
# once, each of which adds a key, with a rebuild or a swap in the middle. In
# `make check` a tenth of it.
#
#      rule hosts    IPv4 and IPv6 hosts: changed in place, grown, swapped
#      rule nets     IPv4 and IPv6 prefixes: built aside each time

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

N_CYCLES=$(pick 10 100) # of ten changes
N_FRAMES=$(pick 100000 1000000)
N_HOSTS=500
N_ADDS=$(pick 20 200)
sampled "changes" $((10 * N_CYCLES)) 1000
sampled "adds at once" "$N_ADDS" 200

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# --- a thousand changes ---------------------------------------------------

# make_changes CYCLE: writes them, a line each. Their keys are sent by nobody.
make_changes()
{
	local v4=203.0.113.$1 v6=2001:db8:ff::$1 image=small net

	printf -v net %02d "$1"
	[ $(($1 % 2)) -eq 0 ] || image=big
	cat <<-END
		resize --capacity $((8000 + 10 * $1)) veth-b:hosts
		add veth-b:hosts $v4 $v6
		del veth-b:hosts $v4 $v6
		add --atomic veth-b:hosts $v4 $v6
		merge veth-b:hosts $TMP/extra.bln
		add -f $TMP/many veth-b:hosts
		del -f $TMP/many veth-b:hosts
		swap veth-b:hosts $TMP/$image.bln
		add veth-b:nets 10.1$net.0.0/16 fd00:$1::/32
		del veth-b:nets 10.1$net.128.0/17 fd00:$1::1
	END
}

# change_all: the number of changes, or the one that failed
change_all()
{
	local n=0
	local -a change

	while read -r -a change; do
		if ! baleen "${change[@]}" >>"$TMP/said" 2>&1; then
			echo "${change[*]} fails: $(tail -n 1 "$TMP/said")"
			return
		fi
		n=$((n + 1))
	done <"$TMP/changes"
	echo $n
}

# frames: what veth-a has sent
frames()
{
	# shellcheck disable=SC2016 # of awk
	in_ns "$A" awk '$1 == "veth-a:" { print $11 }' /proc/net/dev
}

# wait_frames: until so many were sent; a bound in steps, not in time
wait_frames()
{
	local i

	for ((i = 0; i < 100000; i++)); do
		[ "$(frames)" -ge $N_FRAMES ] && return 0
	done
	return 1
}

# Listed all the time: hosts, and what prefixes cover.
make_sets()
{
	make_list "$TMP/small" $N_HOSTS $N_HOSTS 301
	make_list "$TMP/more" 3000 3000 302 --avoid "$TMP/small"
	make_list "$TMP/many" 4000 1000 303 --avoid "$TMP/small"
	make_list "$TMP/extra" 200 0 304 --avoid "$TMP/small"
	cat "$TMP/small" "$TMP/more" >"$TMP/big"
	cat "$TMP/big" "$TMP/many" "$TMP/extra" >"$TMP/avoid"
	make_list "$TMP/unlisted" $N_HOSTS $N_HOSTS 305 --avoid "$TMP/avoid"
	printf '%s\n' 198.18.0.0/15 2001:db8:aaaa::/48 172.16.5.0/24 2001:2::/47 >"$TMP/nets"
	{
		cat "$TMP/small"
		printf '%s\n' 198.18.{0,7}.{1..99} 172.16.5.{1..99} \
			2001:db8:aaaa:{1..9}::{1..9} 2001:2:1::{1..99}
	} >"$TMP/listed"
	for set in small big extra nets; do
		check "build $set" "$BALEEN" build -o "$TMP/$set.bln" "$TMP/$set"
	done
	for ((i = 0; i < N_CYCLES; i++)); do
		make_changes $i
	done >"$TMP/changes"
}

try_changes()
{
	local traffic line

	mkfifo "$TMP/fifo"
	check "attach" baleen attach veth-b --no-state --drop "hosts=$TMP/small.bln" --drop "$TMP/nets.bln"
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$TMP/listed" \
		--unlisted "$TMP/unlisted" --loop --expect -j >"$TMP/fifo" 2>"$TMP/traffic.err" &
	traffic=$!
	exec 3<"$TMP/fifo"
	read -r line <&3
	is "traffic runs" "$line" running
	is "every change is made" "$(change_all)" $((N_CYCLES * 10))
	check "$N_FRAMES frames and more" wait_frames
	kill -INT "$traffic"
	cat <&3 >"$TMP/result"
	wait "$traffic"
	is "all listed dropped, all others passed" "$?$(cat "$TMP/traffic.err")" 0
	is "of each ten changes two were in place" "$(grep -c " in place$" "$TMP/said")" \
		$((2 * N_CYCLES))
	is "every frame is counted once" \
		"$(baleen status -j veth-b | jq -c '.[0] | [([.rules[].packets] | add), .unmatched]')" \
		"$(jq -c '[.listed.sent, .unlisted.sent]' "$TMP/result")"
	{
		baleen match -f "$TMP/listed" veth-b:hosts
		baleen match -f "$TMP/listed" veth-b:nets
	} | sort >"$TMP/matched"
	sort "$TMP/listed" >"$TMP/want"
	check "match agrees" cmp "$TMP/matched" "$TMP/want"
	check "detach" baleen detach veth-b
}

# --- two hundred at once --------------------------------------------------

# adds FROM TO: in the background; one of four built aside, the others in place
adds()
{
	local i how

	for ((i = $1; i <= $2; i++)); do
		how=--exist
		[ $((i % 4)) -ne 0 ] || how=--atomic
		{ baleen add $how --wait 300 veth-b:hosts "198.51.100.$i" "2001:db8:e::$i" >/dev/null \
			2>>"$TMP/odd" || echo "add $i ends with $?" >>"$TMP/odd"; } &
	done
}

# holds FROM TO: how many of these are there
holds()
{
	{ seq -f 198.51.100.%g "$1" "$2"; seq -f 2001:db8:e::%g "$1" "$2"; } |
		baleen match -c veth-b:hosts
}

# try_parallel NAME FROM COMMAND...: the command comes in the middle; all that was
# added from FROM on is there
try_parallel()
{
	local middle

	: >"$TMP/odd"
	check "attach" baleen attach veth-b --no-state --drop "hosts=$TMP/small.bln"
	adds 1 $((N_ADDS / 2))
	baleen "${@:3}" >/dev/null 2>>"$TMP/odd" &
	middle=$!
	[ "$2" -eq 1 ] || wait $middle
	adds $((N_ADDS / 2 + 1)) $N_ADDS
	wait
	is "$1: all commands end well" "$(<"$TMP/odd")" ""
	is "$1: no key is lost" "$(holds "$2" $N_ADDS)" $((2 * (N_ADDS - $2 + 1)))
	is "$1: nor one from before" "$(baleen match -c -f "$TMP/small" veth-b:hosts)" \
		$((2 * N_HOSTS))
	check "detach" baleen detach veth-b
}

make_sets
try_changes
try_parallel "$N_ADDS adds and a resize" 1 resize --capacity 3000 --wait 300 veth-b:hosts
try_parallel "$N_ADDS adds and a merge" 1 merge --wait 300 veth-b:hosts "$TMP/extra.bln"
# What was added before goes with the old set; what comes after stays.
try_parallel "a swap, and $((N_ADDS / 2)) adds after it" $((N_ADDS / 2 + 1)) \
	swap veth-b:hosts "$TMP/big.bln"
