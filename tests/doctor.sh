# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the tests of `baleen doctor` share: what it found on $DEVICE in $B, and
# whether the command that it names mends that. Sourced after tests/lib.sh.

# In front of doctor, such as alone
LOOK_BY=()

# look: asks doctor anew; the exit status is that of the levels
look()
{
	local status

	"${LOOK_BY[@]}" nsenter --net="/run/netns/$B" -- "$BALEEN" doctor -j "$DEVICE" >"$TMP/findings"
	status=$?
	[ "$status" -eq "$(jq 'if map(.level) | index("problem") then 1 else 0 end' "$TMP/findings")" ]
}

# field CHECK FIELD: of the first finding of that check; nothing when there is none
field()
{
	jq -r --arg check "$1" "map(select(.check == \$check))[0].$2 // empty" "$TMP/findings"
}

# level CHECK: as it is now
level()
{
	look && field "$1" level
}

# text CHECK, command_of CHECK: as it was when level was asked last
text()
{
	field "$1" text
}

command_of()
{
	field "$1" command
}

# mends NAME CHECK BEFORE AFTER: the level was BEFORE, and is AFTER once its command
# was run, as it stands, in $B; the exit status says whether there is a problem
mends()
{
	local command

	is "$1: is found" "$(level "$2")" "$3"
	command=$(command_of "$2")
	mkdir -p "$TMP/bin"
	ln -sf "$BALEEN" "$TMP/bin/baleen"
	check "$1: # $command" env PATH="$TMP/bin:$PATH" nsenter --net="/run/netns/$B" -- \
		bash -c "${command:-false}"
	is "$1: is mended" "$(level "$2")" "$4"
}
