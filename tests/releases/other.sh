#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The other Debian, on this kernel: everything is built by its compilers and runs with its
# libraries. In `make check` on Debian 12 that is 13, and the tests are those of what differs
# there: libbpf, libxdp, libmicrohttpd, hiredis, nft, iproute2, fail2ban. In `make check-all` also Debian 12
# with libbpf of its backports.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

TESTS=(xdp/kinds xdp/egress xdp/conntrack xdp/icp-feed xdp/set xdp/restore xdp/metrics xdp/icp-serve
	xdp/fail2ban xdp/routes cli/import cli/icp-serve)
UNITS=(unit/test_redis unit/test_object_maps)

# try RELEASE TEST: what it prints, and its status behind it
try()
{
	local command=tests/$2.sh

	[[ $2 != unit/test_* ]] || command="env CMOCKA_MESSAGE_OUTPUT=TAP build/$2"
	# shellcheck disable=SC2086 # words
	tests/releases/in "$1" $command >"$TMP/${2//\//-}" 2>&1 </dev/null
	echo "status $?" >>"$TMP/${2//\//-}"
}

# tell RELEASE TEST: its results, as ours
tell()
{
	local file=$TMP/${2//\//-} line

	check "$1: $2 has results" grep -qE '^(not )?ok ' "$file"
	while read -r line; do
		case $line in
		"status "*) is "$1: $2: its status" "${line#status }" 0 ;;
		*) retell "$1: $2" "$line" ;;
		esac
	done <"$file"
}

# try_release [--in RELEASE]: without, that which this machine is not
try_release()
{
	local release test

	release=$(tests/releases/built "$@" 2>"$TMP/err") || bail "it builds nothing: $(tail -n 20 "$TMP/err")"
	is "$release: the build says nothing" "$(grep -iE 'warning|error' "$TMP/err")" ""
	check "$release: the demo" tests/releases/in "$release" tests/demo
	for test in "${TESTS[@]}" "${UNITS[@]}"; do
		while [ "$(jobs -pr | wc -l)" -ge 2 ]; do
			wait -n
		done
		try "$release" "$test" &
	done
	wait
	for test in "${TESTS[@]}" "${UNITS[@]}"; do
		tell "$release" "$test"
	done
}

if [ "$(id -u)" -ne 0 ]; then
	skip "another Debian" "needs root"
	exit 0
fi
try_release
tests_all && try_release --in bookworm-backports
true
