#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# baleen-fetch has no rights when root starts it, ends with who started it, and goes to what
# is not public only when the URL names it, or the feed has the word for private networks.

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
printf '%s\n' "127.0.0.1 localhost self.example" "10.66.0.1 feeds.example" "10.66.0.2 own.example" \
	"11.66.0.1 public.example" >"$TMP/hosts"
# An address that is public, but for where it is.
ip -n "$A" address add 11.66.0.1/32 dev veth-a
ip -n "$B" route add 11.66.0.1/32 via 10.66.0.1
mount --bind "$TMP/hosts" /etc/hosts || bail "cannot replace /etc/hosts"

coproc FAR { exec nsenter "--net=/run/netns/$A" "$ROOT/build/tools/feed_server" "$TMP/files"; }
read -r -t 30 -u "${FAR[0]}" far || bail "the server does not start"
exec {near_end}> >(in_ns "$B" "$ROOT/build/tools/feed_server" "$TMP/files" >"$TMP/near")
for ((i = 0; i < 600; i++)); do [ -s "$TMP/near" ] || sleep 0.05; done
read -r near <"$TMP/near" || bail "no server here"

# gets NAME URL [NAME=VALUE...]
gets()
{
	check "$1" in_ns "$B" "$FETCH" "$2" "$TMP/body" retries=0 "${@:3}"
	is "$1: is it" "$(stat -c %s "$TMP/body")" "$size"
}

# refused NAME URL WHERE WHY [NAME=VALUE...]
refused()
{
	check_status "$1" 1 in_ns "$B" "$FETCH" "$2" "$TMP/body" retries=3 "${@:5}"
	is "$1: says why" "$(sed 's/.*: refused: //' "$TMP/err")" \
		"its name or a redirection leads to $3, which $4"
	is "$1: brings nothing" "$(stat -c %s "$TMP/body")" 0
}

# --- where it may lead ---

INSIDE=http://10.66.0.1:$far
PUBLIC=http://public.example:$far
this="is this host: only a URL with an address of it leads there"
link="is link-local, or what a cloud tells its instances: only a URL with this address leads there"
word="is not public: the word 'private' behind the feed's URL allows it"
gets "a public host" "$PUBLIC/list"
gets "a private one, as the URL says" "$INSIDE/list"
refused "by its name" "http://feeds.example:$far/list" "10.66.0.1 (private use)" "$word"
gets "by its name with the word" "http://feeds.example:$far/list" private=1
gets "loopback, as the URL says" "http://127.0.0.1:$near/list"
gets "localhost" "http://localhost:$near/list"
gets "an address of this host, as the URL says" "http://10.66.0.2:$near/list"
gets "a redirection to a public host" "$PUBLIC/to/$PUBLIC/list"
gets "a redirection to the same private host" "$INSIDE/to/$INSIDE/list"
refused "a redirection to a private network" "$PUBLIC/to/$INSIDE/list" "10.66.0.1 (private use)" "$word"
refused "to one as IPv6" "$PUBLIC/to/http://[fd00::1]/" "fd00::1 (unique local)" "$word"
refused "from one to another" "$INSIDE/to/http://10.66.0.3/" "10.66.0.3 (private use)" "$word"
gets "a redirection with the word" "$PUBLIC/to/$INSIDE/list" private=1
refused "a redirection to loopback" "$INSIDE/to/http://127.0.0.1:$near/list" "127.0.0.1 (loopback)" "$this"
refused "with the word, too" "$INSIDE/to/http://127.0.0.1:$near/list" "127.0.0.1 (loopback)" "$this" private=1
refused "as IPv6" "$INSIDE/to/http://[::1]:$near/list" "::1 (loopback)" "$this"
refused "mapped" "$INSIDE/to/http://[::ffff:127.0.0.1]:$near/list" "::ffff:127.0.0.1 (loopback)" "$this"
refused "by a short form" "$INSIDE/to/http://0:$near/list" "0.0.0.0 (this network)" "$this"
refused "to an address of this host" "$INSIDE/to/http://10.66.0.2:$near/list" "10.66.0.2 (private use)" "$this"
refused "to a name of it" "$INSIDE/to/http://self.example:$near/list" "127.0.0.1 (loopback)" "$this"
refused "a name that is this host" "http://own.example:$near/list" "10.66.0.2 (private use)" "$this" private=1
refused "a name that is loopback" "http://self.example:$near/list" "127.0.0.1 (loopback)" "$this"
refused "a redirection to what clouds ask" "$INSIDE/to/http://169.254.169.254/" \
	"169.254.169.254 (link local)" "$link" private=1
refused "as IPv6" "$PUBLIC/to/http://[fd00:ec2::254]/" "fd00:ec2::254 (unique local)" "$link" private=1
refused "also from this host" "http://127.0.0.1:$near/to/http://169.254.169.254/" \
	"169.254.169.254 (link local)" "$link"
is "nothing else was asked here" "$(grep -c '^/list' "$TMP/near")" 3

# --- proxies ---

# The server has no such document; it was reached.
export http_proxy=http://feeds.example:$far
check_status "a proxy of a private network is asked" 1 in_ns "$B" "$FETCH" "$PUBLIC/list" "$TMP/body" retries=0
is "and answers" "$(grep -c 'HTTP status' "$TMP/err")" 1
export http_proxy=http://127.0.0.1:1 no_proxy=public.example,127.0.0.1
refused "another port of the proxy's host" "$PUBLIC/to/http://127.0.0.1:$near/list" "127.0.0.1 (loopback)" "$this"
unset http_proxy no_proxy

# --- the word of a feed ---

# applies LINE: a file with this feed; apply says why not in $TMP/err
applies()
{
	printf '%s\n' "rule bad drop" "  special keep" "  feed $1" >"$BALEEN_CONF_DIR/veth-b.conf"
	in_ns "$B" "$BALEEN" apply veth-b
}

mkdir -p "$BALEEN_CONF_DIR"
check_status "a feed by a private name" 1 applies "http://feeds.example:$far/list"
is "is refused, with the word for it" "$(grep -c "10.66.0.1 (private use), which $word" "$TMP/err")" 1
check_status "with it" 3 applies "http://feeds.example:$far/list private every 1h"
check "that is all" applies "http://feeds.example:$far/list private every 1h"
check "an update has it, too" in_ns "$B" "$BALEEN" update veth-b
check_status "without it the feed is another" 3 applies "http://feeds.example:$far/list every 1h"
check_status "and its update refused" 1 in_ns "$B" "$BALEEN" update veth-b
"$BALEEN" set keygen "$TMP/sec" "$TMP/pub" >"$TMP/out" || bail "keygen"
check_status "a signed set by a private name" 1 applies "set+http://feeds.example:$far/list key $TMP/pub"
is "is refused, with the word for it" "$(grep -c "which $word" "$TMP/err")" 1
check_status "and asked with it" 1 applies "set+http://feeds.example:$far/none key $TMP/pub private"
is "in vain" "$(grep -c 'HTTP status 404' "$TMP/err")" 1
in_ns "$B" "$BALEEN" detach --forget --entries veth-b

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

# --- a system call that ends it ---

mkdir -p "$TMP/bin/libexec/baleen"
cp "$FETCH" "$TMP/bin/fetch"
# shellcheck disable=SC2016 # for that shell
printf '#!/bin/sh\nkill -SYS $$\n' >"$TMP/bin/libexec/baleen/baleen-fetch"
chmod +x "$TMP/bin/libexec/baleen/baleen-fetch"
check_status "a helper that makes a forbidden call" 1 "$TMP/bin/fetch" http://127.0.0.1:9/ "$TMP/body"
is "is told from one that fails" "$(sed 's/^[^ ]* //' "$TMP/err")" \
	"baleen-fetch was ended for a system call that no fetch makes: dmesg has its number (type=1326)"
