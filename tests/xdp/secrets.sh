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
is "of all that was asked" "$(($(grep -c '^+ ' "$SAID") > 50))" 1
is "nothing told a secret" "$(grep -B3 SECRET "$SAID" | head -n 20)" ""
