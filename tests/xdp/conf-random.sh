#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Random configurations through text, state, text, save and restore: nothing is lost (R11 of
# ../shared/BOOK.md). CONF_SEED and CONF_N choose others.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair

mkdir "$BALEEN_CONF_DIR"
baleen() { in_ns "$B" "$BALEEN" "$@"; }
SEED=${CONF_SEED:-1} N=${CONF_N:-15}
[ -z "${TEST_ALL:-}" ] || N=${CONF_N:-300}
ASKED=(45.1.1.1 45.2.2.2 45.2.2.3 46.1.1.1 47.9.9.9 48.1.1.1 49.1.1.1 10.1.2.3 2600::7 2600:1::8)
dropped() { in_ns "$B" "$ROOT/build/tools/verdict" veth-b "${ASKED[@]}"; }

mkdir "$TMP/of" "$TMP/of/lists"
printf '%s\n' 45.1.1.0/24 10.0.0.0/8 2600::/64 '!45.1.1.9' >"$TMP/of/addresses"
printf 'address,country\n45.2.2.2,XX\n45.2.2.3,Y Y\n' >"$TMP/of/table.csv"
echo 46.1.1.0/24 >"$TMP/of/lists/one"
echo 47.9.9.9 >"$TMP/of/lists/two"
printf '%s\n' 45.1.1.1,22 46.1.1.1,443 >"$TMP/of/flows"
echo 48.1.1.1 >"$TMP/of/image.list"
check "an image" "$BALEEN" build --kind bloom --fpp 0.001 -o "$TMP/of/image.bln" "$TMP/of/image.list"

# fails WHAT: of this configuration, with what the last command said
fails()
{
	failed+=" $1"
	echo "# $1: $(cat "$TMP/err" "$TMP/out" 2>/dev/null | head -n 4)"
}

# goes STATUS COMMAND...
goes()
{
	local want=$1 status

	"${@:2}" >"$TMP/out" 2>"$TMP/err"
	status=$?
	[ "$status" = "$want" ]
}

# is_text FILE: what the device enforces
is_text() { baleen config --secrets veth-b | cmp -s - "$1"; }

try()
{
	local want failed=''

	python3 "$ROOT/tests/model/confs.py" "$1" "$TMP/of" >"$TMP/file.conf" || bail "no configuration"
	goes 3 baleen apply --force -c "$TMP/file.conf" veth-b || fails apply
	want=$(dropped)
	baleen config --secrets veth-b >"$TMP/text"
	goes 0 baleen apply --force -c "$TMP/text" veth-b || fails "apply of what is printed"
	goes 0 baleen apply --force -c "$TMP/file.conf" veth-b || fails "apply of the file again"
	is_text "$TMP/text" || fails "another text"
	if grep -q '^ *bans$' "$TMP/text"; then
		goes 0 baleen ban 49.1.1.1 1h --reason "a b" || fails ban
		want=$(dropped)
	fi
	goes 0 baleen save veth-b -o "$TMP/saved" || fails save
	goes 0 baleen restore --force veth-b "$TMP/saved" || fails "restore over it"
	is_text "$TMP/text" || fails "another text after that"
	goes 0 baleen detach --forget --entries veth-b || fails forget
	goes 0 baleen flush bans --all || true
	goes 0 baleen restore --force veth-b "$TMP/saved" || fails restore
	is_text "$TMP/text" || fails "another text, restored"
	[ "$(dropped)" = "$want" ] || fails "restored, it drops $(dropped), not $want"
	goes 0 baleen save veth-b -o "$TMP/again" || fails "save again"
	diff -r "$TMP/saved" "$TMP/again" >"$TMP/out" 2>&1 || fails "other bytes"
	goes 0 baleen apply --force -c "$TMP/file.conf" veth-b || [ "$?" = 1 ] || fails "apply, restored"
	if goes 0 baleen detach veth-b && goes 0 baleen restore --boot veth-b; then
		is_text "$TMP/text" || fails "another text at boot"
		[ "$(dropped)" = "$want" ] || fails "at boot it drops $(dropped)"
	else
		fails boot
	fi
	goes 0 baleen detach --forget --entries veth-b || fails "forget again"
	goes 0 baleen flush bans --all || true
	rm -rf "$TMP/saved" "$TMP/again"
	[ -z "$failed" ] || cp "$TMP/file.conf" "$TMP/failed.$1"
	is "configuration of seed $1" "$failed" ""
	[ -z "$failed" ] || sed 's/^/# | /' "$TMP/file.conf"
}

for ((seed = SEED; seed < SEED + N; seed++)); do
	try "$seed"
done
