#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# baleen config: what a device enforces is a file that apply takes. R11 is of ../shared/BOOK.md, for
# what a configuration can name.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
mkdir "$BALEEN_CONF_DIR"
VERDICT=$ROOT/build/tools/verdict
baleen() { in_ns "$B" timeout 60 "$BALEEN" "$@"; }
dropped() { in_ns "$B" "$VERDICT" veth-b "$@"; }
KEYS=(45.1.1.1 45.2.2.2 46.1.1.1 192.0.2.1 47.9.9.9 2600::7 2600::8)

printf '%s\n' 45.1.1.0/24 2600::8 >"$TMP/list"
printf '%s\n' 46.1.1.0/24 >"$TMP/friends"
printf 'address,country\n45.2.2.2,XX\n45.2.2.3,YY\n' >"$TMP/table.csv"
mkdir "$TMP/lists with blanks"
echo 47.9.9.9 >"$TMP/lists with blanks/one"

refuses "no device" "veth-x has no rules that are remembered: nothing was applied or attached, or with --no-state" \
	baleen config veth-x
check_status "nor two" 2 baleen config veth-b lo

# --- configured ---

cat >"$BALEEN_CONF_DIR/veth-b.conf" <<EOF
# comments go
default pass
sample 100/s
never none
guard-sessions none
rule friends allow
  feed $TMP/friends
rule bad drop
  feed $TMP/list every 1h
  feed $TMP/table.csv column 1 where country=XX
  feed "$TMP/lists with blanks" skip-bad
  min-entries 1
  max-shrink 90%
  bans
  ban-width 56
  widen 3 in /24
rule ssh drop proto tcp dport ssh tcp-syn
  any
rule seen count
  feed $TMP/list
  kind bloom
  fpp 0.001
EOF
check_status "a configuration" 3 baleen apply
check "a ban" baleen ban 192.0.2.1
before=$(dropped "${KEYS[@]}")
check "is printed" baleen config veth-b
cp "$TMP/out" "$TMP/once.conf"
check "as it stands" grep -qx '    feed .*table.csv column 1 where country=XX' "$TMP/once.conf"
check "apply finds no change" baleen apply -c "$TMP/once.conf" veth-b
check "nor its diff" baleen apply --diff -c "$TMP/once.conf" veth-b
baleen config veth-b >"$TMP/twice.conf"
is "and it is printed again" "$(<"$TMP/twice.conf")" "$(<"$TMP/once.conf")"
is "nothing has changed" "$(dropped "${KEYS[@]}")" "$before"
check "forgotten" baleen detach --forget veth-b
check_status "it comes back by it" 3 baleen apply -c "$TMP/once.conf" veth-b
is "as it was, with its ban" "$(dropped "${KEYS[@]}")" "$before"
check "forgotten" baleen detach --forget --entries veth-b

# --- by hand ---

check "attach by hand" baleen attach veth-b --allow "friends=$TMP/friends" --drop "bad=$TMP/list" bans \
	--drop "ssh=$TMP/list" proto tcp dport 22
check "a policy" baleen policy veth-b --default drop --force
check "another rule" baleen rule add veth-b --count "seen=$TMP/friends"
before=$(dropped "${KEYS[@]}")
check "is printed" baleen config veth-b
cp "$TMP/out" "$TMP/hand.conf"
check "a typed rule keeps special-purpose ranges" grep -qx '    special keep' "$TMP/hand.conf"
check "forgotten" baleen detach --forget veth-b
check_status "it comes back by it" 3 baleen apply --force -c "$TMP/hand.conf" veth-b
is "as it was" "$(dropped "${KEYS[@]}")" "$before"
baleen config veth-b >"$TMP/again.conf"
is "and is printed so" "$(grep -v '^never\|^#' "$TMP/again.conf")" "$(grep -v '^never\|^#' "$TMP/hand.conf")"
check "forgotten" baleen detach --forget veth-b

# --- what is nowhere but here ---

# changes_nothing WHAT: what is printed of the device is applied to it.
changes_nothing() {
	local before
	before=$(dropped "${KEYS[@]}")
	baleen config veth-b >"$TMP/copies.conf"
	check_status "$1: it is applied to itself" 3 baleen apply -c "$TMP/copies.conf" veth-b
	is "and is only kept from now on" "$(grep -v ': changed' "$TMP/out")" "veth-b: + keep: attached by hand"
	check "again it is the same" baleen apply -c "$TMP/copies.conf" veth-b
	baleen config veth-b >"$TMP/again.conf"
	is "and is printed so" "$(<"$TMP/again.conf")" "$(<"$TMP/copies.conf")"
	is "it drops what it did" "$(dropped "${KEYS[@]}")" "$before"
}
forget() { check "forgotten" baleen detach --forget veth-b; }

check "from standard input" baleen attach veth-b --drop bad=- <"$TMP/list"
check "another, too" baleen rule add veth-b --drop worse=- <"$TMP/friends"
changes_nothing "standard input"
is "each has a name" "$(grep -o 'feed copy:.*' "$TMP/copies.conf" | paste -sd ' ')" "feed copy:stdin feed copy:stdin-2"
before=$(dropped "${KEYS[@]}")
sed -i 's/^rule bad/rule other/' "$TMP/copies.conf"
check_status "another rule may have it" 3 baleen apply -c "$TMP/copies.conf" veth-b
is "with all that is in it" "$(dropped "${KEYS[@]}")" "$before"
check "update leaves it alone" baleen update veth-b
sed -i 's/copy:stdin-2/copy:stdin-3/' "$TMP/copies.conf"
refuses "none of that name" "$TMP/copies.conf:7: copy:stdin-3: the device has no such copy" \
	baleen apply -c "$TMP/copies.conf" veth-b
is "changes nothing" "$(dropped "${KEYS[@]}")" "$before"
forget
refuses "nor has a device without a state" "$TMP/copies.conf:3: copy:stdin: the device has no such copy" \
	baleen apply -c "$TMP/copies.conf" veth-b
for statement in "feed copy:" "feed copy:stdin every 1h" "feed copy:stdin access /x" "feed copy:stdin ring 1"; do
	printf '%s\n' "rule bad drop" "$statement" >"$TMP/wrong.conf"
	check_status "'$statement' is refused" 1 baleen apply --check -c "$TMP/wrong.conf" veth-b
done

check "from a pipe with a name" baleen attach veth-b --drop bad=<(cat "$TMP/list")
changes_nothing "a pipe"
forget
check "a table" baleen attach veth-b --drop bad=- --column 1 --where country=XX <"$TMP/table.csv"
changes_nothing "a table"
is "read as it was" "$(grep -c 'feed copy:stdin column 1 where country=XX' "$TMP/copies.conf")" 1
forget
check "an image" baleen build --kind bloom --fpp 0.01 -o "$TMP/bad.bln" "$TMP/list"
check "put on" baleen attach veth-b --accept-fpp 0.01 --drop "bad=$TMP/bad.bln"
changes_nothing "an image"
is "is a file" "$(grep -c "feed $TMP/bad.bln" "$TMP/copies.conf")" 1
forget
check "a rate that was consented to" baleen attach veth-b --kind bloom --fpp 0.001 --accept-fpp 0.01 --drop "bad=$TMP/list"
changes_nothing "a rate"
is "and what is built" "$(grep -o 'fpp .*\|accept-fpp .*' "$TMP/copies.conf" | paste -sd ' ')" "fpp 0.001 accept-fpp 0.01"
forget
check "a list" baleen attach veth-b --drop "bad=$TMP/list"
check "and what is added to it" baleen merge veth-b:bad "$TMP/friends"
changes_nothing "a merge"
check "and resized" baleen resize --capacity 100k veth-b:bad
baleen config veth-b >"$TMP/copies.conf"
check "is the same" baleen apply -c "$TMP/copies.conf" veth-b
check "another of it is put on" baleen swap veth-b:bad - <"$TMP/table.csv" --column 1
baleen config veth-b >"$TMP/copies.conf"
check "and the same again" baleen apply -c "$TMP/copies.conf" veth-b
forget

# A typed rule holds what was typed, of this host's own, too.
own=$(in_ns "$B" ip -4 -o addr show dev veth-b | awk '{ sub("/.*", "", $4); print $4; exit }')
printf '%s\n' 45.1.1.0/24 "$own" >"$TMP/own"
check "an address of this host" baleen attach veth-b --force --drop "bad=$TMP/own"
baleen config veth-b >"$TMP/own.conf"
is "is typed" "$(grep -c 'protect none' "$TMP/own.conf")" 1
check_status "with it nothing changes" 3 baleen apply --force -c "$TMP/own.conf" veth-b
is "and it is dropped" "$(dropped "$own")" D
check "off for a while" baleen detach --forget veth-b
check_status "without --force it is refused" 1 baleen apply -c "$TMP/own.conf" veth-b
is "for a reason" "$(grep -c "$own" "$TMP/err")" 1
sed 's/protect none/protect host/' "$TMP/own.conf" >"$TMP/host.conf"
check_status "protected" 3 baleen apply -c "$TMP/host.conf" veth-b
is "it is not" "$(dropped "$own")" P
forget

# --- secrets ---

mkdir "$TMP/www"
cp "$TMP/list" "$TMP/www/list"
coproc SERVER { in_ns "$B" /usr/bin/python3 -uc 'import functools, http.server as h
server = h.HTTPServer(("127.0.0.1", 0), functools.partial(h.SimpleHTTPRequestHandler, directory="'"$TMP"'/www"))
print(server.server_port, flush=True)
server.serve_forever()' 2>/dev/null; }
read -r port <&"${SERVER[0]}"
printf '%s\n' "rule bad drop" " feed http://me:secret@127.0.0.1:$port/list?token=hidden" \
	>"$BALEEN_CONF_DIR/veth-b.conf"
check_status "a URL" 3 baleen apply veth-b
check "is printed" baleen config veth-b
is "without its secrets" "$(grep -c 'secret\|hidden' "$TMP/out") $(grep -c "feed http://.*127.0.0.1:$port/list" "$TMP/out")" "0 1"
check "with --secrets whole" baleen config --secrets veth-b
cp "$TMP/out" "$TMP/whole.conf"
check "so apply finds no change" baleen apply --offline -c "$TMP/whole.conf" veth-b
kill "$SERVER_PID"
