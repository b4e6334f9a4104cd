#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A mistyped option, command or verb is answered with the one that was meant. tests/xdp/nearest.sh
# does so with rules.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
baleen() { timeout 20 "$BALEEN" "$@"; }

# options COMMAND...: the long ones that it has, a line each
options()
{
	baleen help --words "$@" | sed -n '1,/^$/d; s/^--\([^ ]*\) .*/\1/p' | sort -u
}

# mistyped WORD: its second and third letter exchanged
mistyped() { printf %s "${1:0:1}${1:2:1}${1:1:1}${1:3}"; }

# try_options COMMAND...: each option, mistyped
try_options()
{
	local option wrong='' n=0

	for option in $(options "$@"); do
		[ ${#option} -gt 3 ] && [ "$(mistyped "$option")" != "$option" ] || continue
		n=$((n + 1))
		baleen "$@" "--$(mistyped "$option")" </dev/null >"$TMP/out" 2>"$TMP/err"
		[ "$? $(grep -c "^baleen: did you mean '--$option'? See 'baleen help $*'$" "$TMP/err")" = "2 1" ] ||
			wrong+=" $option ($(tail -n 1 "$TMP/err"))"
	done
	is "$*: $n options" "$wrong" ""
}

commands=$(baleen help | sed -n 's/^  baleen \([a-z]*\) .*/\1/p' | sort -u)
for command in $commands; do
	case $command in
	icp | set | fleet)
		for verb in $(baleen help "$command" | sed -nE "s/^(usage:)? *baleen $command ([a-z]+) .*/\\2/p" | sort -u); do
			try_options "$command" "$verb"
		done
		expect "$command: a verb" 2 "" "baleen: $command: no '$(mistyped "$verb")' (did you mean '$verb'?): \
see 'baleen help $command'" baleen "$command" "$(mistyped "$verb")"
		;;
	*) try_options "$command" ;;
	esac
done
expect "a verb" 2 "" "baleen: fleet: no 'staus' (did you mean 'status'?): see 'baleen help fleet'" baleen fleet staus
expect "a command" 2 "" "baleen: no command 'appyl' (did you mean 'apply'?): see 'baleen help'" baleen appyl
expect "its value does not matter" 2 "" "baleen: unrecognized option '--capcity=3'
baleen: did you mean '--capacity'? See 'baleen help plan'" baleen plan --capcity=3
expect "two letters off" 2 "" "baleen: unrecognized option '--capaictyx'
baleen: did you mean '--capacity'? See 'baleen help plan'" baleen plan --capaictyx 3
expect "one that is like none" 2 "" "baleen: unrecognized option '--nothing'
baleen: see 'baleen help plan'" baleen plan --nothing
expect "one whose value is missing" 2 "" "baleen: option '--capacity' requires an argument
baleen: see 'baleen help plan'" baleen plan --capacity
expect "one that may be two" 2 "" "baleen: option '--f' is ambiguous; possibilities: '--force' '--fixed' '--file'
baleen: see 'baleen help add'" baleen add --f
expect "a letter" 2 "" "baleen: invalid option -- 'x'
baleen: see 'baleen help add'" baleen add -x
expect "the beginning of one still is one" 2 "" "baleen: option '--capacity' requires an argument
baleen: see 'baleen help plan'" baleen plan --capac
