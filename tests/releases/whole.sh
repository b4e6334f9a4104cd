#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The other Debian, on this kernel and in its virtual machines: every group of tests of `make check`,
# all tests of a fleet, with its Redis and with valkey, and what its compilers make: programs under
# the kernels of both, whose verifiers differ, and the module under its own. What a test may not
# depend on is as on another machine: the locale, in which I is no capital i, time zone, mask, name of
# the host and a resolver. For `make check-all`, or, of some groups:
#
#	tests/releases/whole.sh [unit|xdp|squid|deb|kernels|kmod|fleet|valkey]...

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

# shellcheck disable=SC2016 # of the shell in there
ELSEWHERE='localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 && hostname "a-host.$1.example" && shift || exit
	{ cat /etc/resolv.conf && echo nameserver 192.0.2.53; } >/tmp/resolv.conf &&
		mount --bind /tmp/resolv.conf /etc/resolv.conf && umask 077 || exit
	unset LC_ALL && export LANG=tr_TR.UTF-8 LANGUAGE=tr TZ=Pacific/Chatham && exec "$@"'

# group NAME COMMAND...: in the other Debian, which prints what tests/run does
group()
{
	unshare --uts -- tests/releases/in "$OTHER" sh -c "$ELSEWHERE" sh "$1" "${@:2}" >"$TMP/$1" 2>&1
	is "$OTHER: $1" "$(grep -E '^not ok' "$TMP/$1")" ""
	check "$OTHER: $1 ran: $(tail -n 1 "$TMP/$1")" grep -qE '^[1-9][0-9]* passed, 0 failed' "$TMP/$1"
	sed 's/^/# /' "$TMP/$1"
}

if [ "$(id -u)" -ne 0 ]; then
	skip "another Debian" "needs root"
	exit 0
fi
unset TEST_ALL
OTHER=$(tests/releases/built tests 2>"$TMP/err") || bail "it builds nothing: $(tail -n 20 "$TMP/err")"
is "$OTHER: the build says nothing" "$(grep -iE 'warning|error' "$TMP/err")" ""
check "its modules and machines" tests/releases/in --build "$OTHER" sh -c \
	'make -s kmod-vm && tests/vm/fetch image 6.1 && tests/vm/fetch image 6.12'
[ $# -gt 0 ] || set -- unit xdp squid deb kernels kmod fleet valkey
for name; do
	case $name in
	fleet) group fleet tests/run --only fleet/ fleet ;;
	valkey)
		# shellcheck disable=SC2016 # of the shell in there
		[ "$OTHER" != trixie ] || group valkey sh -c 'mkdir /tmp/valkey
			for name in server cli sentinel; do
				ln -s "$(command -v valkey-$name)" /tmp/valkey/redis-$name || exit
			done
			PATH=/tmp/valkey:$PATH exec tests/run --only fleet/ fleet'
		;;
	# The machines of two kernels beside each other.
	kernels) group kernels env KERNELS="6.1 6.12" TEST_TIMEOUT=3600 tests/run kernels ;;
	kmod)
		if [ "$OTHER" = trixie ]; then
			group kmod env KMOD_KERNELS=6.12 tests/run kmod
		else
			group kmod tests/run kmod
		fi
		;;
	*) group "$name" tests/run "$name" ;;
	esac
done
