#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One sick device never stops another: a damaged state, one of an older Baleen, a renamed device,
# one that was in another network namespace and has another number now. Each is mended by the
# command that is named.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
VERDICT=$ROOT/build/tools/verdict
make_netns "$A" "$B"
mkdir -p "$TMP/conf" "$TMP/bin"
ln -s "$BALEEN" "$TMP/bin/baleen"
for d in ad0 ad1; do
	ip -n "$B" link add $d type veth peer name ${d}p || bail "cannot make $d"
	ip -n "$B" link set $d up
	ip -n "$B" link set ${d}p up
done
echo 8.8.8.8 >"$TMP/list"
printf '%s\n' "rule bad drop" "  bans" "  feed $TMP/list" | tee "$TMP/conf/ad0.conf" >"$TMP/conf/ad1.conf"

baleen() { in_ns "$B" "$BALEEN" "$@"; }
states() { states_in "$B" | paste -sd " "; }
state_of() { echo "$(kept_of "$B")/$1"; }
verdicts() { in_ns "$B" "$VERDICT" "$@"; }

# pasted COMMAND: as a user would
pasted() { in_ns "$B" env PATH="$TMP/bin:$PATH" bash -c "$1"; }

# renamed DEVICE: what doctor says of its name
renamed() { baleen doctor -j "$1" | jq -r '.[] | select(.check == "renamed") | "\(.text) \(.command)"'; }

# mend_of DEVICE: the command that doctor names for its state
mend_of() { baleen doctor -j "$1" | jq -r '.[] | select(.check == "state" and .level == "problem") | .command'; }

# named: the commands that the last one suggested
named() { sed -n "s/.*: '\(baleen [^']*\)' sets .* aside and makes another.*/\1/p" "$TMP/err"; }

fill()
{
	check_status "apply" 3 baleen apply ad0
	check_status "apply" 3 baleen apply ad1
	check "a ban" baleen ban 198.51.100.1
}

forget()
{
	for d in ad0 ad1; do
		check "forget $d" baleen detach --forget --entries $d
	done
	is "nothing is left" "$(find /sys/fs/bpf/baleen -name 'ns*') $(xdp_mode "$B" ad0)" " off"
	find "$(kept_of "$B")" -mindepth 1 -delete
}

# --- a state that cannot be used ---

damage_header() { dd if=/dev/urandom of="$1" bs=100 count=1 conv=notrunc status=none; }
damage_half() { truncate -s 10000 "$1"; }
damage_gone() { rm "$1"*; }
damage_old() { sqlite3 "$1" "PRAGMA user_version = 1"; }
# Pages of feeds alone: it opens, and its rules can be read.
damage_feeds()
{
	local page

	page=$(sqlite3 "$1" "SELECT rootpage FROM sqlite_schema WHERE name = 'feed'")
	dd if=/dev/urandom of="$1" bs=4096 seek=$((page - 1)) count=1 conv=notrunc status=none
}

# try_damaged HOW: its bans are none of it
try_damaged()
{
	local command

	fill
	"damage_$1" "$(state_of ad0)/state.db"
	check_status "R5: $1: a ban" 5 baleen ban 198.51.100.2
	is "$1: names the device and the command" "$(named)" "baleen apply ad0"
	is "$1: the other has it, this one goes on" \
		"$(verdicts ad1 198.51.100.{1,2}) $(verdicts ad0 198.51.100.{1,2} 8.8.8.8)" "DD DPD"
	check_status "R5: $1: an unban" 5 baleen unban 198.51.100.2
	is "$1: passes on the other" "$(verdicts ad1 198.51.100.{1,2})" DP
	is "$1: in JSON" "$(baleen ban -j 198.51.100.3 2>"$TMP/err" |
		jq -c '[.rules[] | select(.result != "behind").device], [.behind[].device]' | paste -sd ' ')" '["ad1"] ["ad0"]'
	check_status "$1: --check changes nothing" 1 baleen apply --check ad0
	is "$1: and names the command" "$(named)" "baleen apply ad0"
	command=$(mend_of ad0)
	is "$1: doctor names it" "$command" "baleen apply ad0"
	check_status "$1: which can be pasted" 3 pasted "$command"
	is "$1: the old one is beside" "$(find "$(kept_of "$B")" -maxdepth 1 -name 'ad0.damaged-*' | wc -l)" 1
	is "$1: it enforces its configuration, and its bans" \
		"$(verdicts ad0 8.8.8.8 198.51.100.1)" DD
	is "$1: doctor is content" "$(mend_of ad0)" ""
	check "$1: a ban" baleen ban 198.51.100.4
	is "$1: comes to both" "$(verdicts ad0 198.51.100.4)$(verdicts ad1 198.51.100.4)" DD
	forget
}

try_forgotten()
{
	fill
	damage_header "$(state_of ad0)/state.db"
	damage_header "$(state_of ad1)/state.db"
	check_status "a ban where all are damaged" 1 baleen ban 198.51.100.9
	is "names each once, and its command" "$(grep -c ': nothing changed$' "$TMP/err") $(named | paste -sd ,)" \
		"1 baleen apply ad0,baleen apply ad1"
	check_status "the command mends it" 3 baleen apply ad1
	rm -r "$(kept_of "$B")"/ad1.damaged-*
	check_status "at boot" 1 baleen restore --boot ad0
	is "the command is named" "$(named)" "baleen apply ad0"
	check "detach --forget" baleen detach --forget --entries ad0
	is "takes filter and state" "$(xdp_mode "$B" ad0) $(states)" "off ad1"
	check_status "of an absent device, too" 3 baleen apply ad0
	check "detached" baleen detach ad0
	damage_header "$(state_of ad0)/state.db"
	check "detach --forget" baleen detach --forget --entries ad0
	is "takes the state" "$(states)" ad1
	check_status "apply" 3 baleen apply ad0
	rm "$TMP/conf/ad0.conf"
	damage_header "$(state_of ad0)/state.db"
	is "without a configuration doctor forgets it" "$(mend_of ad0)" "baleen detach --forget ad0"
	printf '%s\n' "rule bad drop" "  bans" "  feed $TMP/list" >"$TMP/conf/ad0.conf"
	forget
}

# A writer that holds one device.
try_held()
{
	fill
	exec 9<"$(state_of ad0)"
	flock 9
	check_status "R5: one is held" 5 baleen ban --wait 0 198.51.100.2
	exec 9<&-
	is "the other has it" "$(verdicts ad0 198.51.100.2)$(verdicts ad1 198.51.100.2)" PD
	check "again" baleen ban --exist 198.51.100.2
	is "both have it" "$(verdicts ad0 198.51.100.2)$(verdicts ad1 198.51.100.2)" DD
	forget
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
	is "doctor says it" "$(renamed wan0)" "it was ad0, and its state goes by that name: a \
configuration of the new name begins without its bans null"
	cp "$TMP/conf/ad0.conf" "$TMP/conf/wan0.conf"
	check_status "apply by the new name" 3 baleen apply wan0
	check "a ban" baleen ban --wait 0 198.51.100.3
	check "an unban" baleen unban --wait 0 198.51.100.2
	is "act on both" "$(verdicts wan0 198.51.100.{2,3}) $(verdicts ad1 198.51.100.{2,3})" "PD PD"
	is "doctor says what is left" "$(renamed wan0)" \
		"it was ad0, whose state is left, with its bans baleen detach --forget ad0"
	check "which can be pasted" pasted "baleen detach --forget ad0"
	is "the filter of the new name stays" "$(verdicts wan0 198.51.100.3 8.8.8.8) $(states)" "DD ad1 wan0"
	check_status "and is no longer known by the old" 1 baleen detach ad0
	is "nor goes" "$(verdicts wan0 198.51.100.3)" D
	check "it goes by its own" baleen detach --forget --entries wan0
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
		check "detach" baleen detach --forget --entries ad0
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

try_damaged header
if tests_all; then
	try_damaged half
	try_damaged gone
	try_damaged old
fi
sampled "kinds of damage" "$(pick 2 5)" 5
try_damaged feeds
try_forgotten
try_held
try_renamed
try_moved
