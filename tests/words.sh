# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a command says, compared word for word. Sourced after lib.sh.

# expect NAME STATUS STDOUT STDERR COMMAND...: ends so and says this, no more and no less
expect()
{
	local status

	"${@:5}" >"$TMP/out" 2>"$TMP/err"
	status=$?
	is "$1" "status $status, out '$(<"$TMP/out")', err '$(<"$TMP/err")'" \
		"status $2, out '$3', err '$4'"
}

# prints NAME STDOUT COMMAND...: succeeds, and prints just that
prints()
{
	expect "$1" 0 "$2" "" "${@:3}"
}

# refuses NAME MESSAGE COMMAND...: status 1, and `baleen: MESSAGE` on stderr; lines
# after the first of MESSAGE are whole lines
refuses()
{
	expect "$1" 1 "" "baleen: $2" "${@:3}"
}

# json FILE PATH
json()
{
	"$ROOT/build/tools/json" "$@"
}
