#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The other Debian, on this kernel: everything is built by its compilers and runs with its
# libraries. In `make check` on Debian 12 that is 13, and the tests are those of what differs
# there: libbpf, libxdp, libmicrohttpd, hiredis, nft, iproute2, fail2ban. In `make check-all` all.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

TESTS=(xdp/kinds xdp/egress xdp/conntrack xdp/icp-feed xdp/set xdp/restore xdp/metrics xdp/icp-serve
	xdp/fail2ban xdp/routes cli/import cli/icp-serve)
UNITS=(unit/test_redis unit/test_object_maps)

# try TEST: what it prints, and its status behind it
try()
{
	local command=tests/$1.sh

	[[ $1 != unit/test_* ]] || command="env CMOCKA_MESSAGE_OUTPUT=TAP build/$1"
	# shellcheck disable=SC2086 # words
	tests/releases/in "$OTHER" $command >"$TMP/${1//\//-}" 2>&1 </dev/null
	echo "status $?" >>"$TMP/${1//\//-}"
}

# tell TEST: its results, as ours
tell()
{
	local file=$TMP/${1//\//-} line n=0

	while read -r line; do
		case $line in
		"ok "*"# SKIP "* | "not ok "*"# SKIP "*) skip "$1: ${line#* - }" "${line##*# SKIP }" ;;
		"ok "*) ok "$1: ${line#* - }" ;;
		"not ok "*) not_ok "$1: ${line#* - }" ;;
		"status 0") check "$1 has results" test "$n" -gt 0 ;;
		"status "*) not_ok "$1: its status" "${line#status }" ;;
		*) echo "# $line" && continue ;;
		esac
		n=$((n + 1))
	done <"$file"
}

if [ "$(id -u)" -ne 0 ]; then
	skip "another Debian" "needs root"
	exit 0
fi
OTHER=$(tests/releases/built 2>"$TMP/err") ||
	bail "it builds nothing: $(tail -n 20 "$TMP/err")"
is "the build says nothing" "$(grep -iE 'warning|error' "$TMP/err")" ""
check "the demo" tests/releases/in "$OTHER" tests/demo
for test in "${TESTS[@]}" "${UNITS[@]}"; do
	while [ "$(jobs -pr | wc -l)" -ge 2 ]; do
		wait -n
	done
	try "$test" &
done
wait
for test in "${TESTS[@]}" "${UNITS[@]}"; do
	tell "$test"
done
