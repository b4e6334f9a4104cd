#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Filters of murmur3 are, bit for bit, those of the usual Python class over mmh3 and
# bitarray: random sizes and numbers of hashes, addresses and strings, with counters
# and without; and those of strings that start from a seed, unsigned, quoted, of hex
# digits and of BIP 37.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

# Debian's own: another Python in the PATH has not its modules.
PYTHON=/usr/bin/python3

check "lists by Python, whose hash is MurmurHash3_x86_32" \
	"$PYTHON" "$ROOT/tests/cli/mmh3.py" make "$TMP/work"
n=0
wrong=
for options in *.options; do
	base=${options%.options}
	read -ra words <"$options"
	"$TMP/baleen" build "${words[@]}" -o "$base.bln" "$base.list" 2>"$TMP/err" ||
		wrong+="$base: ${words[*]}: $(<"$TMP/err")"$'\n'
	"$TMP/baleen" match -f "$base.others" "$base.bln" >"$base.found" 2>"$TMP/err" ||
		[ ! -s "$TMP/err" ] || wrong+="$base: match: $(<"$TMP/err")"$'\n'
	n=$((n + 1))
done
is "all of them were built" "$wrong" ""
is "so many" "$n" 48
check "the same bits, counters and answers" \
	"$PYTHON" "$ROOT/tests/cli/mmh3.py" compare "$TMP/work"
