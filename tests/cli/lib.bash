# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tests of the command line share: baleen run by a user without
# privileges, in a directory of its own.

# shellcheck source=tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

umask 022
# A user may not get to the repository, nor into root's directories.
cp -r "$BALEEN" "${BALEEN}d" "$ROOT/build/libexec" "$TMP"
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

# info IMAGE PATH: a value from `info -j`
info()
{
	baleen info -j "$1" >"$TMP/json" && json "$TMP/json" "[0]$2"
}
