#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A download that takes its time says on a terminal how far it is, and leaves
# nothing of that beside its message; elsewhere there is the message alone.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
cd "$TMP" || exit 2
unset http_proxy https_proxy all_proxy no_proxy ALL_PROXY HTTPS_PROXY NO_PROXY

make_netns "$B"
coproc SERVER { exec nsenter "--net=/run/netns/$B" "$ROOT/build/tools/feed_server" "$TMP"; }
read -r -t 30 -u "${SERVER[0]}" port || bail "the server does not start"
url=http://127.0.0.1:$port/stall
mkdir -p "$BALEEN_CONF_DIR"
printf '%s\n' "rule bad drop" "  feed $url?key=secret timeout 3s" >"$BALEEN_CONF_DIR/lo.conf"

check_status "a download that stalls" 1 in_ns "$B" "$BALEEN" apply lo
message=$(<"$TMP/err")
is "says why" "${message%%: *}" baleen
is "and shows nothing else" "$(wc -l <"$TMP/err") $(grep -c $'\r' "$TMP/err")" "1 0"

TERM=vt100 SHELL=/bin/sh script -qfec "stty cols 80; nsenter --net=/run/netns/$B '$BALEEN' apply lo" \
	/dev/null >seen </dev/null
is "the same on a terminal" "$?" 1
check "which is told how far it is" grep -qF "fetching $url: 1 %, " seen
is "without secrets" "$(grep -c secret seen)" 0
all=$(tr -d '\r' <seen)
is "the message stands alone" "$(sed 's/[0-9]* milliseconds/TIME/' <<<"${all##*$'\e[K'}")" \
	"$(sed 's/[0-9]* milliseconds/TIME/' <<<"$message")"
