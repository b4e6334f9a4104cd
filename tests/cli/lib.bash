# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tests of the command line share: baleen run by a user without
# privileges, in a directory of its own, and its words compared.

# shellcheck source=tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

umask 022
# A user may not get to the repository, nor into root's directories.
cp "$BALEEN" "$TMP/baleen"
mkdir "$TMP/work"
if [ "$(id -u)" -eq 0 ]; then
	chmod 0711 "$TMP"
	chown 65534:65534 "$TMP/work"
fi
cd "$TMP/work" || exit 2

# user COMMAND...
user()
{
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"
	else
		"$@"
	fi
}

baleen()
{
	user "$TMP/baleen" "$@"
}

# json FILE PATH
json()
{
	"$ROOT/build/tools/json" "$@"
}

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

# info IMAGE PATH: a value from `info -j`
info()
{
	baleen info -j "$1" >"$TMP/json" && json "$TMP/json" "[0]$2"
}
