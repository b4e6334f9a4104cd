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

# --- what no configuration can name ---

check "from standard input" baleen attach veth-b --drop bad=- <"$TMP/list"
check_status "is no file" 1 baleen config veth-b
is "and named" "$(<"$TMP/err")" "baleen: veth-b:bad: standard input or a pipe: no configuration can name it: \
'baleen dump veth-b:bad' makes a list of what the rule holds"
is "in a comment, too" "$(head -n 2 "$TMP/out")" \
	"# rule bad was typed: applied, it does not drop what is protected
# rule bad holds more: standard input or a pipe"
cp "$TMP/out" "$TMP/left.conf"
check_status "what is left can be applied" 3 baleen apply --check -c "$TMP/left.conf" veth-b
check "forgotten" baleen detach --forget veth-b
check "from a pipe with a name" baleen attach veth-b --drop bad=<(cat "$TMP/list")
check_status "is no file, either" 1 baleen config veth-b
check "forgotten" baleen detach --forget veth-b
check "a rate that was consented to" baleen attach veth-b --kind bloom --fpp 0.001 --accept-fpp 0.01 --drop "bad=$TMP/list"
check "is printed" baleen config veth-b
is "as what is consented to" "$(grep -o 'fpp .*' "$TMP/out")" "fpp 0.01"
check "forgotten" baleen detach --forget veth-b
check "an image" baleen build -o "$TMP/bad.bln" "$TMP/list"
check "put on" baleen attach veth-b --drop "bad=$TMP/bad.bln"
check_status "is none, either" 1 baleen config veth-b
check "forgotten" baleen detach --forget veth-b

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
