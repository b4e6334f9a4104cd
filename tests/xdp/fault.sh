#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A call of a command fails: each write, sync, change of a name, open, mmap, allocation,
# bpf() and netlink call of the commands that change a device, one after the other, by
# tests/model/shim.c, alone or with all of its class after it; in `make check` samples of them.
#
# A command that then ends with 0, or with 4 (in force, not kept), has done what it was
# asked. Any other status says that nothing has changed, in what packets see, rules,
# entries, and the answers of `why`. The same command then works.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
SHIM=$ROOT/build/tools/shim.so
VERDICT=$ROOT/build/tools/verdict
RUN=(in_ns "$B" timeout 60)
mkdir "$BALEEN_CONF_DIR"

baleen() { "${RUN[@]}" "$BALEEN" "$@" >"$TMP/out" 2>"$TMP/err"; }

# with_fault FAULT COMMAND...: one of its calls fails; sets n to how many there were
with_fault()
{
	local status

	"${RUN[@]}" env LD_PRELOAD="$SHIM" SHIM_FAIL="$1" SHIM_COUNT="$TMP/n" "$BALEEN" "${@:2}" \
		<"$input" >"$TMP/out" 2>"$TMP/err"
	status=$?
	n=$(<"$TMP/n")
	return "$status"
}

# see: what packets see
see() { in_ns "$B" "$VERDICT" veth-b "${keys[@]}" 2>&1; }

# look: sets now to what packets see, to the rules with their entries, and to what `why` says
# of each key; and counted to what the rules have counted so far
look()
{
	local status

	now=$(see)
	counted=0
	[ "$now" != none ] || return
	status=$("${RUN[@]}" "$BALEEN" status -j veth-b 2>&1)
	counted=$(jq '[.[0].rules[].packets] | add' <<<"$status")
	now+=$'\n'$(jq -c '.[0] | [.made_of != null, .default, .dry_run, (.rules[] | [.name, .action, .origins])]' \
		<<<"$status" || echo "$status")$'\n'
	now+=$("${RUN[@]}" "$BALEEN" why -j veth-b "${keys[@]}" 2>&1 |
		jq -c '.[] | [.address, .verdict, .differs, (.rules[] | .holds)]')
}

# fail WHAT WANTED: at the call that is being tried
fail()
{
	bad+="$fault: status $status: $1: $(<"$TMP/said") $(diff <(echo "$2") <(echo "$now"))"$'\n'
}

# try_fault FAULT
try_fault()
{
	local fault=$1 status now counted had

	look
	had=$counted
	go_on
	with_fault "$fault" "${change[@]}"
	status=$?
	cp "$TMP/err" "$TMP/said"
	look
	case $status in
	0 | 3 | 4) [ "$now" = "$after" ] || fail "and yet not done" "$after" ;;
	*) [ "$now" = "$before" ] || fail "and yet changed" "$before" ;;
	esac
	[ "$now" = none ] || [ "$counted" -ge "$had" ] || fail "what was counted is lost" ""
	baleen "${change[@]}" <"$input"
	cp "$TMP/err" "$TMP/said"
	now=$(see)
	[ "$now" = "${after%%$'\n'*}" ] || fail "then, again" "${after%%$'\n'*}"
	go_back
}

# go_on, go_off: before the command, and before what takes it back
go_on() { :; }
go_off() { :; }

go_back()
{
	go_off
	baleen "${back[@]}" || [ $? = 3 ] || bail "${back[*]}: $(<"$TMP/err")"
	[ "$(see)" = "${before%%$'\n'*}" ] || bail "${back[*]}: $(see), not $before"
}

# Errors that such calls end with, taken in turn; +: all calls after it, too.
declare -A ERRORS=([write]="28 5 28+" [sync]="5 28+" [name]="28+ 1 5" [open]="24 28+ 12 13"
	[map]="16 12+" [mem]=12 [bpf]="12+ 1 28 16" [net]="12+ 105 1")

# Each Nth call of a class is tried in `make check`, beginning with another one for each
# command, and of most classes for each second command; of allocations in `make check-all`, too.
declare -A EVERY=([write]=36 [sync]=2 [name]=12 [open]=27 [map]=6 [mem]=2200 [bpf]=39 [net]=22)
n_commands=0 n_classes=0

# try_class NAME CLASS
try_class()
{
	local k errors bad='' n n_calls every=${EVERY[$2]} tried=0

	read -ra errors <<<"${ERRORS[$2]}"
	if tests_all; then
		every=1
		[ "$2" != mem ] || every=40
	fi
	go_on
	with_fault "$2:-1:1" "${change[@]}"
	n_calls=$n
	go_back
	for ((k = n_commands % every; k < n_calls; k += every, tried++)); do
		try_fault "$2:$k:${errors[$((tried % ${#errors[@]}))]}"
	done
	[ "$tried" -gt 0 ] || return 0
	is "$1: each of $2 may fail" "$bad" ""
	sampled "$1, $2" "$tried" "$n_calls"
}

# try_command NAME: by the arrays change and back
try_command()
{
	local before after class now counted

	n_commands=$((n_commands + 1))
	[[ " ${ONLY-$1} " == *" $1 "* ]] || return 0
	look
	before=$now
	go_on
	baleen "${change[@]}" <"$input" || [ $? = 3 ] || bail "$1: $(<"$TMP/err")"
	look
	after=$now
	[ "$before" != "$after" ] || bail "$1 changes nothing"
	go_back
	for class in ${CLASSES:-sync write net map bpf open name mem}; do
		n_classes=$((n_classes + 1))
		[[ $class =~ sync|net ]] || tests_all || [ -n "${ONLY-}" ] ||
			[ $(((n_commands + n_classes) % 2)) -eq 0 ] || continue
		try_class "$1" "$class"
	done
}

# try NAME CHANGE BACK: words with spaces between
try()
{
	read -ra change <<<"$2"
	read -ra back <<<"$3"
	try_command "$1"
}

# --- a device with a configuration ---

input=/dev/null
printf '%s\n' 45.1.1.0/24 45.2.2.2 2400::/48 >"$TMP/list"
printf '%s\n' 45.1.1.0/24 45.3.3.3 >"$TMP/other"
printf '%s\n' 46.1.1.0/24 >"$TMP/allow"
printf '%s\n' begin "add 47.1.1.2" "add 47.4.0.0/16" commit >"$TMP/lines"
printf '%s\n' "rule good allow" " feed $TMP/allow" "rule jail drop" " bans" " feed $TMP/feed" \
	" max-growth 100%" " max-shrink 100%" >"$TMP/one.conf"
printf '%s\n' "default drop" "$(<"$TMP/one.conf")" "rule seen count" " feed $TMP/other" >"$TMP/other.conf"
cp "$TMP/list" "$TMP/feed"
cp "$TMP/one.conf" "$BALEEN_CONF_DIR/veth-b.conf"
baleen apply || [ $? = 3 ] || bail "$(<"$TMP/err")"
baleen add veth-b:jail 47.1.1.1 47.2.0.0/16 2600::/64 '!45.1.1.7' || bail "$(<"$TMP/err")"
keys=(45.1.1.1 45.1.1.7 45.2.2.2 45.3.3.3 46.1.1.1 47.1.1.1 47.1.1.2 47.2.1.1 47.3.1.1 47.4.1.1
	2400::1 2600::1 2601::1)

try add "add --exist veth-b:jail 47.1.1.2" "del veth-b:jail 47.1.1.2"
try add-prefix "add --exist veth-b:jail 47.3.0.0/16 !45.2.2.2" "del veth-b:jail 47.3.0.0/16 !45.2.2.2"
try del "del --exist veth-b:jail 47.1.1.1 2600::/64" "add veth-b:jail 47.1.1.1 2600::/64"
try add-atomic "add --atomic --exist veth-b:jail 47.1.1.2 47.3.0.0/16" \
	"del veth-b:jail 47.1.1.2 47.3.0.0/16"
try swap "swap veth-b:jail $TMP/other" "swap veth-b:jail $TMP/list"
# The way back is derived anew, also while nothing can be written.
every_write=${EVERY[write]} errors_write=${ERRORS[write]}
EVERY[write]=3 ERRORS[write]="28+"
try merge "merge veth-b:jail $TMP/other" "swap veth-b:jail $TMP/list"
EVERY[write]=$every_write ERRORS[write]=$errors_write
try rule-add "rule add veth-b --first --drop more=$TMP/other" "rule del veth-b:more"
try rule-move "rule move veth-b:jail --first" "rule move veth-b:good --first"
try policy "policy veth-b --dry-run" "policy veth-b --enforce"
input=$TMP/lines
try feed "feed veth-b:jail - --origin tool" "flush veth-b:jail --origin tool"
input=/dev/null
baleen add --origin tool veth-b:jail 47.1.1.2 47.4.0.0/16
try flush "flush veth-b:jail --origin tool" "add --origin tool veth-b:jail 47.1.1.2 47.4.0.0/16"
try detach "detach veth-b" "restore --boot veth-b"
baleen detach veth-b
try restore "restore --boot veth-b" "detach veth-b"

baleen apply
go_on() { cp "$TMP/other" "$TMP/feed"; }
go_off() { cp "$TMP/list" "$TMP/feed"; }
try update "update veth-b" "update --force veth-b"
go_on() { cp "$TMP/other.conf" "$BALEEN_CONF_DIR/veth-b.conf"; }
go_off() { cp "$TMP/one.conf" "$BALEEN_CONF_DIR/veth-b.conf"; }
try apply "apply --force veth-b" "apply --force veth-b"
go_on() { :; }
go_off() { :; }

# --- a device by hand, with a state and without ---

baleen detach --forget --entries veth-b
baleen detach --forget --entries veth-b
try attach "attach veth-b --drop jail=$TMP/list" "detach veth-b"
baleen attach veth-b --drop "jail=$TMP/list" || bail "$(<"$TMP/err")"
try hand-add "add --exist veth-b:jail 47.1.1.2 2601::/64" "del --exist veth-b:jail 47.1.1.2 2601::/64"
baleen detach veth-b
baleen attach --no-state veth-b --drop "jail=$TMP/list" || bail "$(<"$TMP/err")"
try bare-add "add --exist veth-b:jail 47.1.1.2 2601::/64" "del --exist veth-b:jail 47.1.1.2 2601::/64"
try bare-swap "swap veth-b:jail $TMP/other" "swap veth-b:jail $TMP/list"
