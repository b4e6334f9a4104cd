# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the scripts for the virtual machines share: lists, and traffic for them.
# Sourced after tests/lib.sh.

JSON=$ROOT/build/tools/json
LISTED=$TMP/listed OTHER=$TMP/other FREE=$TMP/free
FROM=$A:veth-a TO=$B:veth-b

# on_b COMMAND...: in the receiving namespace; a command that hangs fails alone. An emulated
# machine beside others takes half a minute to attach 16 rules.
on_b()
{
	in_ns "$B" timeout 120 "$@"
}

# judges NAME LIST [OPTION...]: every address of the list is dropped, no other is
judges()
{
	check "$1" "$TRAFFIC" --from "$FROM" --to "$TO" --listed "$2" --unlisted "$FREE" \
		--expect "${@:3}"
}

# lets_by NAME LIST [OPTION...]: every address of the list passes
lets_by()
{
	check "$1" "$TRAFFIC" --from "$FROM" --to "$TO" --unlisted "$2" --expect "${@:3}"
}

# shows NAME TEXT: the output of the last check has it
shows()
{
	if grep -qE -- "$2" "$TMP/out"; then
		ok "$1"
	else
		not_ok "$1" "no '$2' in:"$'\n'"$(cat "$TMP/out")"
	fi
}

# sizes: of the XDP programs that are loaded, as a diagnostic
sizes()
{
	bpftool prog show | awk '/: xdp / { name = $4 } name && /xlated/ {
		print "# " name ":", $1, $2, $3, $4; name = "" }'
}

# Three lists without a common address, of both families.
make_lists()
{
	"$TRAFFIC" --print --random 300 --random6 100 --seed 1 >"$LISTED" &&
		"$TRAFFIC" --print --random 300 --random6 100 --seed 2 --avoid "$LISTED" \
			>"$OTHER" &&
		sort "$LISTED" "$OTHER" >"$TMP/both" &&
		"$TRAFFIC" --print --random 400 --random6 100 --seed 3 --avoid "$TMP/both" >"$FREE"
}
