# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# How many instructions a program may cost the verifier, whatever compiler made it. Sourced.

# hold_count SERIES CONFIGURATION VERIFIED: prints a line of TAP without its number. The ceiling
# is twice what tests/kernels/instructions has of that kernel, whose compiler is clang 14; of
# programs for caches half of the million that the verifier follows, since clang 18 makes of one
# three times the instructions, and 470,881 of another.
hold_count()
{
	local ceiling

	ceiling=$(awk -v series="$1." -v name="$2" '
		!/^#/ && index($1, series) == 1 && $2 == name {
			print name ~ /^icp-.*-(prog|egress)$/ ? 500000 : 2 * $3 }' tests/kernels/instructions)
	if [ -z "$ceiling" ]; then
		echo "ok - $2 # SKIP tests/kernels/instructions has it of no kernel like $1"
	elif [ "$3" -le "$ceiling" ]; then
		echo "ok - $2: $3 instructions, at most $ceiling"
	else
		echo "not ok - $2: $3 instructions, at most $ceiling"
	fi
}
