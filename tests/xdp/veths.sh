#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Devices of one default.conf that come and go, as those of containers: what they leave behind is
# bounded, and what somebody made by hand is not lost.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
make_pair
C=$TMP/conf
mkdir "$C"

# Who plays systemd ends when nobody holds the other end.
cleanup()
{
	[ -z "${systemd_end-}" ] || exec {systemd_end}>&-
}

baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
# add NAME...: veth devices in $B
add()
{
	local name

	for name; do
		ip -n "$B" link add "$name" type veth peer name "p-$name"
	done
}
# del NAME...
del()
{
	local name

	for name; do
		ip -n "$B" link del "$name"
	done
}
new() { check "apply --new $1" baleen apply --quiet-change --new "$1"; }
# states: how many devices have one; filters: how many have pins
states() { find "$BALEEN_STATE_DIR" -name state.db | wc -l; }
filters() { find /sys/fs/bpf/baleen -mindepth 1 -maxdepth 1 -name 'ns*' | wc -l; }
has_filters() { [ "$(filters)" -eq "$1" ]; }
has_state() { [ -n "$(find "$BALEEN_STATE_DIR" -path "*/$1/state.db")" ]; }

# --- one after the other, without baleend -------------------------------------------------

try_churn()
{
	local n i

	n=$(pick 40 1000)
	sampled "devices" "$n" 1000
	add v-old
	new v-old
	check "a ban" baleen ban 198.51.100.7
	for ((i = 1; i <= n; i++)); do
		add "v$i"
		baleen apply --quiet-change --new "v$i" >"$TMP/out" 2>"$TMP/err" ||
			{ check "apply --new v$i" false; break; }
		del "v$i"
	done
	del v-old
	add v-new
	new v-new
	is "as many states as are kept, and those that others have" "$(states)" $((16 + 1 + 2))
	is "filters of those that are there" "$(filters)" $((1 + 1))
	check "of the one that went last, which came first" has_state v-old
	del v-new
	check "of the last devices" has_state "v$n"
	check_status "not of the first" 1 has_state v1
	check "a configuration of its own keeps its state" has_state eth7
	check "so does what was changed by hand" has_state w1
	is "a ban is told in few lines" "$(baleen ban 198.51.100.8)" "eth7:bad and 18 more: 198.51.100.8 added, not attached now
list:list: 198.51.100.8 added"
	add w1 eth7 v1
	check "what was changed by hand comes back" baleen restore --boot -- w1
	is "as it was" "$(baleen status -j w1 | jq -c '[.[0].rules[].name]')" '["bad","mine"]'
	check "a device of its own, too" baleen restore --boot -- eth7
	new v1
	is "a device whose state was forgotten has what holds" "$(verdicts v1)" DDP
	del w1 eth7 v1
}

verdicts() { in_ns "$B" "$ROOT/build/tools/verdict" "$1" 9.9.9.9 198.51.100.7 203.0.113.9; }

# --- made by hand ---------------------------------------------------------------------------

# What nothing can make again is shown by status, of the last ones.
try_by_hand()
{
	local i

	for i in {1..20}; do
		add "h$i"
		baleen attach "h$i" --drop "$TMP/list" >"$TMP/out" 2>&1 || check "attach h$i" false
	done
	del h{1..20}
	add v2
	new v2
	is "the last are shown" "$(baleen status -j | jq -r '[.[] | select(.state == "gone").device] |
		sort | join(" ")')" "$(printf '%s\n' h{5..20} | sort | xargs)"
	is "their states are those of living numbers, or shown" "$(find "$BALEEN_RUN_DIR" -name 'ns*-if*' |
		wc -l)" $((16 + 1))
	check "detach --gone" baleen detach --gone
	is "forgets them" "$(baleen status -j | jq -c '[.[] | select(.state == "gone")]')" "[]"
	del v2
}

# --- beside baleend ---------------------------------------------------------------------------

try_baleend()
{
	local before

	add v3 v4
	new v3
	new v4
	before=$(filters)
	del v3
	await "a device goes, and its filter with it" has_filters $((before - 1))
	check "its state waits for it" has_state v3
	baleen rule add v4 --drop other="$TMP/list" >"$TMP/out" 2>&1 || check "a rule by hand" false
	add v3
	await "it comes back" is_attached v3
	is "as it was" "$(verdicts v3)" DDP
	ip -n "$B" link set v4 netns "$A"
	sleep 0.5
	is "one that moves away keeps its filter" "$(baleen status -j v4 | jq -r '.[0].state')" moved
	ip -n "$A" link set v4 netns "$B"
	del v3 v4
	await "all go" has_filters $((before - 2))
}

is_attached() { [ -n "$(xdp_id "$B" "$1")" ]; }

export BALEEN_CONF_DIR=$C
echo 9.9.9.9 >"$TMP/list"
printf '%s\n' "match v* w*" "rule bad drop" bans "  feed $TMP/list" >"$C/default.conf"
printf '%s\n' "rule bad drop" bans "  feed $TMP/list" >"$C/eth7.conf"
add list w1 eth7
check "attach by hand" baleen attach list --drop "$TMP/list" bans
check_status "apply to eth7" 3 baleen apply eth7
new w1
check "a rule by hand" baleen rule add w1 --count mine="$TMP/list"
del w1 eth7
try_churn
try_by_hand
play_systemd
start_baleend "$B" --no-drops
try_baleend
stop_baleend
