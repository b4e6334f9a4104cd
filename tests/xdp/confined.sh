#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# baleen-fetch has no rights when root starts it, ends with who started it, and goes to
# this host or a link-local address only when the URL names it.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck disable=SC2119
make_pair
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"

unset http_proxy https_proxy all_proxy no_proxy ALL_PROXY HTTPS_PROXY NO_PROXY
FETCH=$ROOT/build/tools/fetch
mkdir "$TMP/files"
echo 192.0.2.1 >"$TMP/files/list"
size=$(stat -c %s "$TMP/files/list")
export FEED_SERVER_ANY=1

# The name of each address, for whoever asks in this mount namespace.
printf '%s\n' "127.0.0.1 localhost self.example" "10.66.0.1 feeds.example" "10.66.0.2 own.example" >"$TMP/hosts"
mount --bind "$TMP/hosts" /etc/hosts || bail "cannot replace /etc/hosts"

coproc FAR { exec nsenter "--net=/run/netns/$A" "$ROOT/build/tools/feed_server" "$TMP/files"; }
read -r -t 30 -u "${FAR[0]}" far || bail "the server does not start"
exec {near_end}> >(in_ns "$B" "$ROOT/build/tools/feed_server" "$TMP/files" >"$TMP/near")
for ((i = 0; i < 600; i++)); do [ -s "$TMP/near" ] || sleep 0.05; done
read -r near <"$TMP/near" || bail "no server here"

# gets NAME URL
gets()
{
	check "$1" in_ns "$B" "$FETCH" "$2" "$TMP/body" retries=0
	is "$1: is it" "$(stat -c %s "$TMP/body")" "$size"
}

# refused NAME URL WHAT
refused()
{
	check_status "$1" 1 in_ns "$B" "$FETCH" "$2" "$TMP/body" retries=3
	is "$1: says why" "$(sed 's/.*: refused: //' "$TMP/err")" \
		"its name or a redirection leads to $3, which only the URL itself may name"
	is "$1: brings nothing" "$(stat -c %s "$TMP/body")" 0
}

# --- where it may lead ---

gets "another host" "http://10.66.0.1:$far/list"
gets "by its name" "http://feeds.example:$far/list"
gets "loopback, as the URL says" "http://127.0.0.1:$near/list"
gets "localhost" "http://localhost:$near/list"
gets "an address of this host, as the URL says" "http://10.66.0.2:$near/list"
gets "a redirection to another host" "http://feeds.example:$far/to/http://10.66.0.1:$far/list"
this="this host"
refused "a redirection to loopback" "http://10.66.0.1:$far/to/http://127.0.0.1:$near/list" "$this"
refused "as IPv6" "http://10.66.0.1:$far/to/http://[::1]:$near/list" "$this"
refused "mapped" "http://10.66.0.1:$far/to/http://[::ffff:127.0.0.1]:$near/list" "$this"
refused "by a short form" "http://10.66.0.1:$far/to/http://0:$near/list" "$this"
refused "to an address of this host" "http://10.66.0.1:$far/to/http://10.66.0.2:$near/list" "$this"
refused "to a name of it" "http://10.66.0.1:$far/to/http://self.example:$near/list" "$this"
refused "a name that is this host" "http://own.example:$near/list" "$this"
refused "a name that is loopback" "http://self.example:$near/list" "$this"
refused "a redirection to what clouds ask" "http://10.66.0.1:$far/to/http://169.254.169.254/" \
	"a link-local address"
refused "also from this host" "http://127.0.0.1:$near/to/http://169.254.169.254/" \
	"a link-local address"
is "nothing else was asked here" "$(grep -c '^/list' "$TMP/near")" 3

# --- what it may do ---

# status FIELD: of the helper
status() { sed -n "s/^$1:[[:space:]]*//p" "/proc/$pid/status"; }

nsenter "--net=/run/netns/$B" "$FETCH" "http://10.66.0.1:$far/stall" "$TMP/body" stall=600 timeout=600000 &
for ((i = 0; i < 600; i++)); do
	pid=$(pgrep -P $! -x baleen-fetch) && [ "$(status Seccomp)" = 2 ] && break
	sleep 0.05
done
[ -n "$pid" ] || bail "the helper does not start"
is "it is nobody that others are" "$(status Uid | tr '\t' ' ') $(status Gid | tr '\t' ' ')" \
	"65531 65531 65531 65531 65531 65531 65531 65531"
is "in no group" "$(status Groups | tr -d ' ')" ""
is "without capabilities" "$(status CapEff) $(status CapPrm)" "0000000000000000 0000000000000000"
is "and gets none" "$(status NoNewPrivs)" 1
is "its calls are filtered" "$(status Seccomp)" 2
is "its memory is bounded" "$(awk '/^Max data size/ { print $4 }' "/proc/$pid/limits")" 268435456
is "so is what it writes" "$(awk '/^Max file size/ { print $4 }' "/proc/$pid/limits")" 268435456
is "of our descriptors it has two, and its stderr" \
	"$(find "/proc/$pid/fd" -type l -lname '/memfd:*' | wc -l) $(find "/proc/$pid/fd" -type l -lname "$TMP/body" | wc -l)" "1 1"
is "no secret is in its arguments" "$(tr '\0' ' ' <"/proc/$pid/cmdline")" "baleen-fetch "
kill -KILL $!
wait $! 2>/dev/null
for ((i = 0; i < 600; i++)); do [ -d "/proc/$pid" ] || break; sleep 0.05; done
check_status "it ends with who started it" 1 test -d "/proc/$pid"

check_status "root that cannot give up its rights fetches nothing" 1 in_ns "$B" \
	setpriv --bounding-set -setuid --inh-caps -setuid -- "$FETCH" "http://10.66.0.1:$far/list" "$TMP/body"
is "it says why" "$(sed 's/.*baleen-fetch: //' "$TMP/err")" \
	"cannot become a user without rights (CAP_SETUID and CAP_SETGID do it): Operation not permitted"
is "the unit of baleend has what that takes" \
	"$(grep -c '^CapabilityBoundingSet=.*CAP_SETUID CAP_SETGID CAP_KILL' user/systemd/baleend.service)" 1
exec {near_end}>&-
