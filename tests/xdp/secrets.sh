#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Secrets of feeds: a password and a key in a URL are in nothing that any command, the
# metrics or baleend prints, whether the feed is well, fails, changes or goes.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

unset http_proxy https_proxy all_proxy no_proxy ALL_PROXY HTTPS_PROXY NO_PROXY
CONF=$BALEEN_CONF_DIR/veth-b.conf
mkdir -p "$BALEEN_CONF_DIR" "$TMP/files"
SAID=$TMP/said
: >"$SAID"

# baleen ARGUMENT...: what it says is kept in $SAID, too
baleen()
{
	local status

	in_ns "$B" "$BALEEN" "$@" >"$TMP/said.out" 2>"$TMP/said.err"
	status=$?
	{
		echo "+ baleen $1"
		cat "$TMP/said.out" "$TMP/said.err"
	} >>"$SAID"
	cat "$TMP/said.out"
	cat "$TMP/said.err" >&2
	return "$status"
}

# conf LINE...
conf() { printf '%s\n' "$@" >"$CONF"; }

# asks_all: what speaks of feeds
asks_all()
{
	baleen why veth-b 192.0.2.1
	baleen why -j veth-b 192.0.2.1
	baleen status veth-b
	baleen status -j veth-b
	baleen apply --diff veth-b
	baleen apply --dry-run veth-b
	baleen metrics
	baleen doctor veth-b
	baleen doctor -j veth-b
	baleen update veth-b
	baleen update -j veth-b
	baleen del veth-b:bad 192.0.2.1
} >/dev/null 2>&1

coproc SERVER { exec nsenter "--net=/run/netns/$B" "$ROOT/build/tools/feed_server" "$TMP/files"; }
read -r -t 30 -u "${SERVER[0]}" port || bail "the server does not start"
echo 192.0.2.1 >"$TMP/files/list"
NAME=http://127.0.0.1:$port/list
URL="http://user:SECRET@127.0.0.1:$port/list?key=SECRET#SECRET"

conf "rule bad drop" "  special keep" "  feed $URL every 1h"
check_status "a feed with secrets is applied" 3 baleen apply veth-b
asks_all
for words in "why veth-b 192.0.2.1" "why -j veth-b 192.0.2.1" "status -j veth-b" "metrics" \
	"update veth-b" "update -j veth-b"; do
	# shellcheck disable=SC2086 # words
	check_status "$words" 0 baleen $words
	is "$words: names the feed" "$(($(grep -c "$NAME" "$TMP/out") > 0))" 1
done
baleen del veth-b:bad 192.0.2.1 2>"$TMP/err"
is "what stays in force is named" "$(grep -c "line 1 of $NAME" "$TMP/err")" 1

mv "$TMP/files/list" "$TMP/files/gone"
check_status "a feed that fails" 1 baleen update veth-b
check "is told in the status" baleen status veth-b
is "by its name" "$(grep -c "feed $NAME FAILED" "$TMP/out")" 1
asks_all
mv "$TMP/files/gone" "$TMP/files/list"
echo "no address" >>"$TMP/files/list"
check_status "one with a bad line" 1 baleen update veth-b
asks_all
echo 192.0.2.1 >"$TMP/files/list"
gzip -kf "$TMP/files/list"
head -c 30 "$TMP/files/list.gz" >"$TMP/files/list"
check_status "one that is cut" 1 baleen update veth-b
asks_all
echo 192.0.2.1 >"$TMP/files/list"

conf "rule bad drop" "  special keep" "  feed ${URL/list/other} every 2h"
check_status "another feed that is not there" 1 baleen apply veth-b
check_status "its difference" 1 baleen apply --diff veth-b
conf "rule bad drop" "  special keep" "  feed ${URL/list/list.gz} every 2h"
asks_all
check_status "one that is, damaged as it is" 3 baleen apply veth-b
asks_all
conf "rule bad drop" "  feed $URL" "  feed $URL"
check_status "twice the same" 1 baleen apply veth-b
conf "rule bad drop" "  feed ${URL/http/ftp}"
check_status "another protocol" 1 baleen apply veth-b
conf "rule bad drop" "  feed http:///user:SECRET@127.0.0.1:$port/list"
check_status "no URL at all" 1 baleen apply veth-b

baleen icp seed -o "$TMP/seed.bln" "$URL" >/dev/null 2>&1

# --- a file of them -------------------------------------------------------------

HOST=http://127.0.0.1:$port
ACCESS=$TMP/example.access
printf 'SECRET-1' >"$TMP/files/token"

# access TEXT [MODE]
access()
{
	printf '%b' "$1" >"$ACCESS"
	chmod "${2-600}" "$ACCESS"
}

# access_refused NAME TEXT MODE WANT: apply says so, and nothing of what is in the file
access_refused()
{
	access "$2" "$3"
	check_status "$1" 1 baleen apply veth-b
	is "$1: is told" "$(grep -cF "$4" "$TMP/err")" 1
}

conf "rule bad drop" "  special keep" "  feed $HOST/token/list"
check_status "a server that asks for a token" 1 baleen apply veth-b
is "serves nobody without" "$(grep -c 'HTTP status 401' "$TMP/err")" 1
conf "rule bad drop" "  special keep" "  feed $HOST/token/list every 1h access $ACCESS"
HEADER='header X-Token: SECRET-1\n'
rm -f "$ACCESS"
check_status "no file" 1 baleen apply veth-b
is "is told" "$(grep -c "$ACCESS: No such file" "$TMP/err")" 1
for mode in 640 604 620 601; do
	access_refused "a file of mode $mode" "$HEADER" $mode \
		"$ACCESS: others may read or change it: 'chmod 600 $ACCESS' first"
done
access "$HEADER"
chown 65534 "$ACCESS"
check_status "a file of somebody else" 1 baleen apply veth-b
is "is told" "$(grep -cF "$ACCESS: is not root's: 'chown root $ACCESS' first" "$TMP/err")" 1
chown 0 "$ACCESS"
access_refused "an empty one" "# SECRET\n\n" 600 "$ACCESS: neither a header nor a user"
access_refused "a line that is none" "# one\nSECRET\n" 600 \
	"$ACCESS:2: neither 'header NAME: VALUE' nor 'user NAME:PASSWORD'"
access_refused "a header without a value" "header X-SECRET:\n" 600 "$ACCESS:1: not 'header NAME: VALUE'"
access_refused "a header without a name" "header : SECRET\n" 600 "$ACCESS:1: not 'header NAME: VALUE'"
access_refused "a header of two lines" "header X: a\rX-SECRET: b\n" 600 "$ACCESS:1: a control character"
access_refused "a NUL" "header X: a\0SECRET\n" 600 "$ACCESS:1: a control character"
access_refused "a user without a password" "user SECRET\n" 600 "$ACCESS:1: not 'user NAME:PASSWORD'"
access_refused "two users" "user a:SECRET\nuser b:SECRET\n" 600 "$ACCESS:2: a second user"
access_refused "a long one" "header X: SECRET$(printf 'x%.0s' {1..4100})\n" 600 "$ACCESS:1: too many headers"
access_refused "another token" "header X-Token: SECRET-0\n" 600 "HTTP status 401"

access "# The token.\n  $HEADER\nheader \"X-Other: SECRET\" \n"
check_status "with the token it is applied" 3 baleen apply veth-b
check "which is all that was to be done" baleen apply veth-b
asks_all
conf "rule bad drop" "  special keep" "  feed $HOST/token/list every 2h access $TMP/other.access"
cp -p "$ACCESS" "$TMP/other.access"
check_status "another file is a change" 3 baleen apply --diff veth-b
check_status "that is applied" 3 baleen apply veth-b
rm "$TMP/other.access"
check_status "is asked for at the next download" 1 baleen update veth-b
is "and missed" "$(grep -c "$TMP/other.access: No such file" "$TMP/err")" 1
asks_all
printf 'SECRET-2' >"$TMP/files/token"
echo 192.0.2.2 >>"$TMP/files/list"
echo "header X-Token: SECRET-2" >"$TMP/other.access"
chmod 600 "$TMP/other.access"
check_status "a token that was renewed is read" 3 baleen update veth-b
access 'user user:SECRET'
conf "rule bad drop" "  special keep" "  feed $HOST/basic/list access $ACCESS"
check_status "a user and a password" 3 baleen apply veth-b
access 'user user:SECRET\nheader X-Token: SECRET-2\n'
conf "rule bad drop" "  special keep" "  feed $HOST/to/http://localhost:$port/plain/list access $ACCESS"
check_status "another host gets neither" 3 baleen apply veth-b
asks_all
conf "rule bad drop" "  special keep" "  feed $HOST/to/$HOST/token/list access $ACCESS"
check_status "the same host gets them" 3 baleen apply veth-b
is "the helper has none among its arguments" "$(in_ns "$B" strace -f -qq -s 500 -e trace=execve \
	"$BALEEN" update veth-b 2>&1 | grep execve | grep -c SECRET)" 0
conf "rule bad drop" "  special keep" "  feed $TMP/files/list"
check_status "a feed without them" 3 baleen apply veth-b
is "leaves no path of them" "$(sqlite3 "$(kept_of "$B")/veth-b/state.db" \
	"SELECT count(*) FROM text WHERE name GLOB 'access *'")" 0
is "of all that was asked" "$(($(grep -c '^+ ' "$SAID") > 50))" 1
is "nothing told a secret" "$(grep -B3 SECRET "$SAID" | head -n 20)" ""
