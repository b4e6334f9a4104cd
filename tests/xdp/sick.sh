#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One sick device never stops another: a renamed one, one that was in another network namespace
# and has another number now.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
VERDICT=$ROOT/build/tools/verdict
make_netns "$A" "$B"
mkdir -p "$TMP/conf"
for d in ad0 ad1; do
	ip -n "$B" link add $d type veth peer name ${d}p || bail "cannot make $d"
	ip -n "$B" link set $d up
	ip -n "$B" link set ${d}p up
done
echo 8.8.8.8 >"$TMP/list"
printf '%s\n' "rule bad drop" "  bans" "  feed $TMP/list" | tee "$TMP/conf/ad0.conf" >"$TMP/conf/ad1.conf"

baleen() { in_ns "$B" "$BALEEN" "$@"; }
states() { find "$(kept_of "$B")" -mindepth 1 -maxdepth 1 -printf "%f\n" | sort | paste -sd " "; }
state_of() { echo "$(kept_of "$B")/$1"; }
verdicts() { in_ns "$B" "$VERDICT" "$@"; }

fill()
{
	check_status "apply" 3 baleen apply ad0
	check_status "apply" 3 baleen apply ad1
	check "a ban" baleen ban 198.51.100.1
	sqlite3 "$(state_of ad0)/state.db" "PRAGMA wal_checkpoint(TRUNCATE)" >"$TMP/out"
}

forget()
{
	for d in ad0 ad1; do
		check "forget $d" baleen detach --forget $d
	done
	is "nothing is left" "$(find /sys/fs/bpf/baleen -name 'ns*') $(xdp_mode "$B" ad0)" " off"
	find "$(kept_of "$B")" -mindepth 1 -delete
}

# --- another name ---

rename_to() { ip -n "$B" link set "$1" down && ip -n "$B" link set "$1" name "$2" && ip -n "$B" link set "$2" up; }

try_renamed()
{
	fill
	check "is renamed" rename_to ad0 wan0
	check "a ban" baleen ban 198.51.100.2
	check "an unban" baleen unban 198.51.100.1
	is "act on both" "$(verdicts wan0 198.51.100.{1,2}) $(verdicts ad1 198.51.100.{1,2})" "PD PD"
	check "an entry by the old name" baleen add ad0:bad 198.51.100.5
	is "is in force" "$(verdicts wan0 198.51.100.5)" D
	cp "$TMP/conf/ad0.conf" "$TMP/conf/wan0.conf"
	check_status "apply by the new name" 3 baleen apply wan0
	check "a ban" baleen ban --wait 0 198.51.100.3
	check "an unban" baleen unban --wait 0 198.51.100.2
	is "act on both" "$(verdicts wan0 198.51.100.{2,3}) $(verdicts ad1 198.51.100.{2,3})" "PD PD"
	check_status "the old name has no filter" 1 baleen detach nobody
	check "it is forgotten" baleen detach --forget ad0
	is "the filter of the new name stays" "$(verdicts wan0 198.51.100.3 8.8.8.8) $(states)" "DD ad1 wan0"
	check_status "and is no longer known by the old" 1 baleen detach ad0
	is "nor goes" "$(verdicts wan0 198.51.100.3)" D
	check "it goes by its own" baleen detach --forget wan0
	check "is renamed back" rename_to wan0 ad0
	check_status "apply" 3 baleen apply ad0
	forget
}

# --- another number ---

# comes_back: it leaves its network namespace and returns when its number is another's
comes_back()
{
	ip -n "$A" link add busy index "$(ip -n "$B" -o link show ad0 | cut -d: -f1)" type veth peer name busyp &&
		ip -n "$B" link set ad0 netns "$A" && ip -n "$A" link set ad0 netns "$B" &&
		ip -n "$A" link del busy && ip -n "$B" link set ad0 up
}

try_moved()
{
	local how id

	fill
	id=$(xdp_id "$B" ad0)
	check "it comes back" comes_back
	is "its program is on it" "$(xdp_id "$B" ad0) $(verdicts ad0 198.51.100.{1,2})" "$id DP"
	is "status knows it" "$(baleen status -j ad0 | jq -r '.[0].state')" attached
	check "a ban" baleen ban 198.51.100.2
	is "is in force" "$(verdicts ad0 198.51.100.2)" D
	check_status "apply" 0 baleen apply ad0
	is "all see it" "$(baleen status -j | jq -c 'sort_by(.device) | map([.device, .state])')" \
		'[["ad0","attached"],["ad1","attached"]]'
	for how in "" --no-link; do
		check "detach" baleen detach --forget ad0
		# shellcheck disable=SC2086
		check "attach $how" baleen attach ad0 $how --drop "bad=$TMP/list"
		check "it comes back" comes_back
		check "detach frees it" baleen detach ad0
		is "nothing is on it" "$(xdp_mode "$B" ad0)" off
		check_status "apply" 3 baleen apply ad0
	done
	check "it comes back" comes_back
	check "rows go on" baleen add ad0:bad 198.51.100.7
	is "in force" "$(verdicts ad0 198.51.100.7)" D
	forget
}

try_damaged header P
try_renamed
try_moved
