#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that each clang of Debian 12 and 13 compiles load, and cost this kernel's verifier no
# more than tests/kernels/ceilings.sh allows any compiler.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/kernels/ceilings.sh
source tests/kernels/ceilings.sh

# judge RELEASE: what with-clangs has printed into $TMP/RELEASE
judge()
{
	local line name verified clang=none series=none n_clangs=0

	while read -r line; do
		case $line in
		"# compiler "*) clang=${line#\# compiler } n_clangs=$((n_clangs + 1)) ;;
		"# kernel "*) series=$(sed -E 's/^# kernel ([0-9]+\.[0-9]+).*/\1/' <<<"$line") ;;
		"# count "*)
			read -r _ _ name verified _ <<<"$line"
			retell "$1, $clang" "$(hold_count "$series" "$name" "$verified")"
			;;
		*) retell "$1, $clang" "$line" ;;
		esac
	done <"$TMP/$1"
	check "$1: its clangs are found" test "$n_clangs" -ge 2
}

if [ "$(id -u)" -ne 0 ]; then
	skip "compilers" "needs root"
	exit 0
fi
check "the other release is built" tests/releases/built
for release in bookworm trixie; do
	tests/releases/in "$release" tests/releases/with-clangs >"$TMP/$release" 2>&1 &
done
wait
for release in bookworm trixie; do
	judge "$release"
done
