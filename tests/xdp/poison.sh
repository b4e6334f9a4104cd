#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Poisoned feeds, from a file and from a web server: what was in force before is
# in force after, by real packets; it is said in a line, by the exit status, and
# by a metric.
#
# The addresses of the pair are public ones, for private ones are never dropped:
#
#      $A  veth-a 11.66.0.1/24 ============ veth-b 11.66.0.2/24  $B
#          peer of a session                gateway 11.66.0.9

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
make_pair
ip -n "$A" address add 11.66.0.1/24 dev veth-a
ip -n "$B" address add 11.66.0.2/24 dev veth-b
ip -n "$B" neigh replace 11.66.0.1 lladdr "$(mac "$A" veth-a)" dev veth-b nud permanent
ip -n "$A" neigh replace 11.66.0.2 lladdr "$(mac "$B" veth-b)" dev veth-a nud permanent
ip -n "$B" route add default via 11.66.0.9

export BALEEN_STATE_DIR=$TMP/state BALEEN_RUN_DIR=$TMP/run BALEEN_CONF_DIR=$TMP/conf
mkdir "$TMP/conf" "$TMP/files"
# Messages quote a list that everybody may read.
chmod 755 "$TMP"
unset http_proxy https_proxy all_proxy no_proxy ALL_PROXY HTTPS_PROXY NO_PROXY
FEED=$TMP/files/feed
SESSION=$ROOT/build/tools/session

baleen() { in_ns "$B" "$BALEEN" "$@"; }

coproc SERVER { exec nsenter "--net=/run/netns/$B" "$ROOT/build/tools/feed_server" "$TMP/files"; }
read -r -t 30 -u "${SERVER[0]}" port || bail "the server does not start"

# drops NAME [MORE_LISTED]: what is listed is dropped, and nobody else
drops()
{
	check "$1" "$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$TMP/listed" \
		--unlisted "$TMP/innocent" --random 200 --expect
}

# errors: failures in a row, by the metric
errors()
{
	baleen metrics veth-b | awk '/^baleen_feed_consecutive_errors/ { print $NF }'
}

# poisoned NAME LINE: the feed as it is now is refused with this line
poisoned()
{
	local before n
	n=$(errors)
	before=$(xdp_id "$B" veth-b)
	expect "$FROM, $1" 1 "" "baleen: veth-b:bad: $SHOWN$2; its last good copy stays in force" \
		baleen update
	is "$FROM, $1: the program is the same" "$(xdp_id "$B" veth-b)" "$before"
	drops "$FROM, $1: so is what it drops"
	is "$FROM, $1: a metric says so" "$(errors)" $((n + 1))
	is "$FROM, $1: the state, too" "$(failure)" "$SHOWN$2"
}

# failure: what the state says of the feed
failure()
{
	baleen status -j veth-b | jq -r '[.. | .failure? // empty] | first // "none"'
}

# taken NAME LINE: the feed as it is now is taken, and this line is printed
taken()
{
	expect "$FROM, $1" 3 "veth-b:bad: $SHOWN: changed, $2" "" baleen update
	is "$FROM, $1: the metric is down" "$(errors)" 0
}

# --- the feeds ----------------------------------------------------------------

make_feeds()
{
	"$TRAFFIC" --print --random 1000 --seed 5 --avoid "$TMP/innocent" >"$TMP/good"
	"$TRAFFIC" --print --random6 100 --seed 6 >>"$TMP/good"
	cp "$TMP/good" "$TMP/listed"
}

# from_file, from_server: how the feed comes
from_file()
{
	FROM=file SHOWN=$FEED
	printf '%s\n' "rule bad drop" "  feed $FEED" >"$TMP/conf/veth-b.conf"
}

from_server()
{
	FROM=server SHOWN=http://127.0.0.1:$port/feed
	printf '%s\n' "rule bad drop" "  feed $SHOWN" >"$TMP/conf/veth-b.conf"
}

try_poison()
{
	cp "$TMP/good" "$FEED"
	check_status "$FROM: apply" 3 baleen apply
	drops "$FROM: drops what is listed"
	is "$FROM: all is well" "$(errors)" 0

	: >"$FEED"
	poisoned "0 bytes" ": refused: 0 entries: fewer than min-entries 1 asks for"
	echo '<!DOCTYPE html><html><body>Sign in</body></html>' >"$FEED"
	poisoned "a page" ": is an HTML or XML page, not a list"
	gzip -c "$TMP/good" | head -c 3000 >"$FEED"
	poisoned "a cut gzip" ": gzip cut short"
	{ cat "$TMP/good"; echo 0.0.0.0/0; } >"$FEED"
	poisoned "everything" ": refused: covers 86.2 % of the IPv4 space: more than max-coverage \
25% allows; widest: line 1101, 0.0.0.0/0"
	{ cat "$TMP/good"; printf '%d.0.0.0/9\n' {1..223}; } >"$FEED"
	poisoned "much of everything" ": refused: covers 43.0 % of the IPv4 space: more than \
max-coverage 25% allows; widest: line 1101, 1.0.0.0/9"
	{ printf '%d.0.0.0/8\n' {20..70}; cat "$TMP/good"; } | gzip >"$FEED"
	poisoned "a fifth of everything" ": refused: covers 19.9 % of the IPv4 space more than \
before: more than max-growth 0.1% allows; widest: line 1, 20.0.0.0/8"
	{ cat "$TMP/good"; echo 2a00::/12; } >"$FEED"
	poisoned "a registry of IPv6" ": refused: covers 12.5 % of the allocated IPv6 space more than \
before: more than max-growth 0.1% allows; widest: line 1101, 2a00::/12"
	head -n 100 "$TMP/good" >"$FEED"
	poisoned "a tenth of it" ": refused: entries fell by 90.9 %, from 1100 to 100: more than \
max-shrink 50% allows"
	cp "$TMP/good" "$FEED"
	prints "$FROM: the good one again" "veth-b:bad: $SHOWN: unchanged" baleen update
	is "$FROM: all is well again" "$(errors)$(failure)" 0none
}

# What may come is taken, but for what must not be dropped.
try_special()
{
	local option

	{ cat "$TMP/good"; echo 10.0.0.0/8; } >"$FEED"
	taken "a private range" "+0 -0: 1,101 entries, without 1 special-purpose"
	drops "$FROM, a private range: is not dropped"
	{ cat "$TMP/good"; echo 11.66.0.9; } >"$FEED"
	taken "the gateway" "+1 -0: 1,101 entries"
	drops "$FROM, the gateway: is not dropped"
	{ cat "$TMP/good"; echo 11.66.0.0/24; } >"$FEED"
	expect "$FROM, the peer of a session" 3 \
		"veth-b:bad: $SHOWN: changed, +1 -1: 1,101 entries" "" \
		"$SESSION" "/run/netns/$A" "/run/netns/$B" 11.66.0.1 "$BALEEN" update
	echo 11.66.0.77 >>"$TMP/listed"
	drops "$FROM, the peer of a session: is not dropped, its neighbour is"
	check "$FROM: an attacker reaches a port of ours" "$SESSION" "/run/netns/$B" "/run/netns/$A" \
		11.66.0.2 nsenter "--net=/run/netns/$B" -- "$BALEEN" update
	prints "$FROM: which does not exempt him" 11.66.0.1 baleen match veth-b:bad 11.66.0.1
	for option in "" --force; do
		# shellcheck disable=SC2086 # no word
		expect "$FROM: add of the gateway $option" 1 "veth-b:bad: 0 added, others refused" \
			"baleen: veth-b:bad: '11.66.0.9' not added: 11.66.0.9 is never dropped (gateway)" \
			baleen add $option veth-b:bad 11.66.0.9
	done
	cp "$TMP/good" "$TMP/listed"
	cp "$TMP/good" "$FEED"
	check_status "$FROM: back" 3 baleen update
}

printf '%s\n' 10.1.2.3 11.66.0.9 11.66.0.1 11.66.0.2 >"$TMP/innocent"
make_feeds
from_file
try_poison
try_special
from_server
try_poison
try_special

# --- what only a server can do ----------------------------------------------------

# behind NAME PATH LINE: the same feed from a path that cuts it
behind()
{
	SHOWN=http://127.0.0.1:$port/$2
	printf '%s\n' "rule bad drop" "  feed $SHOWN" >"$TMP/conf/veth-b.conf"
	check_status "a server that $1" 1 baleen apply
	drops "a server that $1: what was in force is"
}

behind "cuts its gzip" cut-gzip/feed
behind "sends less than it says" short/feed
behind "leaves out the end" cut-chunks/feed
behind "has no such file" none
behind "redirects in a circle" status/302
