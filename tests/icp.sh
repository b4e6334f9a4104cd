# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tests of a live instance of ICP share. Sourced after lib.sh.

# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

# shellcheck disable=SC2034 # for the tests
{
	PLAY=$ROOT/build/tools/store_play
	CHECK=$ROOT/build/tools/resync_check
	ASK=$ROOT/build/tools/icp_ask
	N_STAY=2000
}

baleen() { in_ns "$B" "$BALEEN" "$@"; }

# until_true WHAT COMMAND...: a bound in steps, not in time
until_true()
{
	local n

	for ((n = 0; n < ${UNTIL_STEPS:-400}; n++)); do
		"${@:2}" && return
		sleep 0.05
	done
	bail "waited in vain until $1"
}

# instance PATH...: values of the first one in the JSON of status
instance()
{
	local path

	baleen icp status -j >"$TMP/json" 2>/dev/null
	for path in "$@"; do
		json "$TMP/json" "[0]$path"
	done | paste -sd ' '
}

# status PATH...: values of its first sibling
status() { instance "${@/#/.siblings[0]}"; }

# field NAME: of what $CHECK printed into $TMP/checked
field() { sed -n "s/.*\b$1 \([0-9]*\).*/\1/p" "$TMP/checked"; }
