#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Names as feeds of rules that allow, and names that no rule drops. A dnsmasq in the namespace that sends answers for
# example.net; the other one asks it, by a resolv.conf of its own.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/words.sh
source "$ROOT/tests/words.sh"
# shellcheck source=tests/baleend.sh
source "$ROOT/tests/baleend.sh"
play_systemd
make_pair
cd "$TMP" || exit 2
mkdir -p conf
CONF=conf/veth-b.conf
chmod 755 "$TMP"
resolver=

cleanup()
{
	stop_resolver
}

stop_resolver()
{
	[ -n "$resolver" ] && kill -KILL "$resolver" 2>/dev/null && wait "$resolver" 2>/dev/null
}

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# answers LINE...: what the resolver has from now on; there are no other names
answers()
{
	printf '%s\n' "$@" >hosts
	stop_resolver
	rm -f dnsmasq.log
	nsenter --net="/run/netns/$A" -- dnsmasq --keep-in-foreground --conf-file=/dev/null \
		--user=root --pid-file= --no-resolv --no-hosts --addn-hosts="$TMP/hosts" \
		--local=/net/ --bind-interfaces --listen-address=10.66.0.1 \
		--log-facility="$TMP/dnsmasq.log" {systemd_end}>&- &
	resolver=$!
	await "the resolver answers" grep -q 'read .*hosts' dnsmasq.log
}

# holds: which of all that is asked for here are in the set
holds()
{
	baleen match veth-b:friends 9.10.0.{1,2,3} 2620:fe:1::1 2620:fe:1::3 | tr '\n' ' '
}

is_set()
{
	[ "$(holds)" = "$1" ]
}

# passes FILE: frames of these sources, while others are dropped
passes()
{
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --unlisted "$1" --listed dropped --expect
}

# A mount namespace of its own: this is of no other test.
echo 'nameserver 10.66.0.1
options timeout:1 attempts:1' >resolv.conf
mount --bind resolv.conf /etc/resolv.conf || bail "no resolv.conf"
printf 'hosts: dns\n' >nsswitch.conf
mount --bind nsswitch.conf /etc/nsswitch.conf || bail "no nsswitch.conf"
printf '%s\n' 9.10.0.1 9.10.0.2 2620:fe:1::1 >bad
printf '%s\n' 9.10.0.2 >dropped
printf '%s\n' 9.10.0.1 2620:fe:1::1 >both
answers "9.10.0.1 mail.example.net" "2620:fe:1::1 mail.example.net"

# --- what is refused ---------------------------------------------------------------

printf '%s\n' "rule bad drop" "feed name:mail.example.net" >"$CONF"
refuses "a rule that drops" "$TMP/$CONF:2: feed name:mail.example.net: names are for rules that allow: whoever answers for one could have others dropped" \
	baleen apply veth-b
printf '%s\n' "rule friends allow" "feed name:nobody.example.net" >"$CONF"
refuses "no such name" "$TMP/$CONF:2: name:nobody.example.net: no such name, or no address of it" \
	baleen apply veth-b
is "nothing is attached" "$(xdp_id "$B" veth-b)" ""

# --- answers -----------------------------------------------------------------------

printf '%s\n' "rule friends allow" "feed name:mail.example.net every 1s timeout 3s" \
	"rule bad drop" "feed $TMP/bad" >"$CONF"
check_status "apply" 3 baleen apply veth-b
is "both families are the set" "$(holds)" "9.10.0.1 2620:fe:1::1 "
check "they pass, the other does not" passes both
is "apply again changes nothing" "$(baleen apply veth-b)" "veth-b: unchanged, native"
is "why says the name" "$(baleen why veth-b 9.10.0.1 | grep -c 'line 1 of name:mail.example.net, received ')" 1

answers "9.10.0.2 mail.example.net" "2620:fe:1::1 mail.example.net"
check_status "another answer" 3 baleen update veth-b:friends
is "takes the place of the first" "$(<out)" \
	"veth-b:friends: name:mail.example.net: changed, +1 -1: 2 entries"
answers "2620:fe:1::1 mail.example.net"
check_status "an answer without IPv4" 3 baleen update veth-b:friends
is "is one, too" "$(holds)" "2620:fe:1::1 "
answers "9.10.0.1 mail.example.net" "2620:fe:1::1 mail.example.net"
check_status "as before" 3 baleen update veth-b:friends

answers "9.10.0.9 other.example.net"
refuses "the name is gone" "veth-b:friends: name:mail.example.net: no such name, or no address of it; its last good copy stays in force" \
	baleen update veth-b:friends
is "the last answer stays" "$(holds)" "9.10.0.1 2620:fe:1::1 "
is "status says it" "$(baleen status veth-b | grep -c 'feed name:mail.example.net FAILED 1 time: .*no such name.*; that of .* stays')" 1
is "why says that it is old" "$(baleen why veth-b 9.10.0.1 | grep -c 'not renewed since: name:mail.example.net: no such name')" 1

mapfile -t many < <(for ((i = 1; i <= 65; i++)); do echo "9.11.0.$i mail.example.net"; done)
answers "${many[@]}"
refuses "more addresses than a name may have" "veth-b:friends: name:mail.example.net: more addresses than a name may have here; its last good copy stays in force" \
	baleen update veth-b:friends

kill -STOP "$resolver"
check_status "nobody answers" 1 baleen update veth-b:friends
is "says so" "$(<err)" "baleen: veth-b:friends: name:mail.example.net: Temporary failure in name resolution; its last good copy stays in force"
is "the last answer is in force" "$(holds)" "9.10.0.1 2620:fe:1::1 "
check "they pass still" passes both

# --- a boot without a network --------------------------------------------------------

unpin "$B"
check "restore at boot" baleen restore --boot
is "the last answer is in force again" "$(holds)" "9.10.0.1 2620:fe:1::1 "
check "save" baleen save veth-b -o saved
check "detach" baleen detach --forget --entries veth-b
check "restore what was saved" baleen restore veth-b saved
is "with the last answer" "$(holds)" "9.10.0.1 2620:fe:1::1 "
check "detach again" baleen detach veth-b
kill -CONT "$resolver"

# --- baleend ---------------------------------------------------------------------------

answers "9.10.0.1 mail.example.net"
check_status "apply once more" 3 baleen apply veth-b
start_baleend "$B"
answers "9.10.0.3 mail.example.net" "2620:fe:1::3 mail.example.net"
await "baleend asks when it is due" is_set "9.10.0.3 2620:fe:1::3 "
kill -STOP "$resolver"
await "without an answer it says so" grep -q 'the update of the feeds failed' baleend.log systemd
is "and the last answer stays" "$(holds)" "9.10.0.3 2620:fe:1::3 "
kill -CONT "$resolver"
stop_baleend

# --- names that no rule drops ------------------------------------------------------------

STATE_DB=$(kept_of "$B")/veth-b/state.db

# drops: which of the addresses are in the set of the rule that drops
drops()
{
	baleen match veth-b:bad 9.10.0.{1,2,3} 2620:fe:1::1 | tr '\n' ' '
}

drops_only()
{
	[ "$(drops)" = "$1" ]
}

# asked_long_ago MS: as if the name had been asked, and answered, so much earlier
asked_long_ago()
{
	check "time passes" sqlite3 "$STATE_DB" \
		"UPDATE text SET value = (substr(value, 1, 13) - $1) || ' ' || (substr(value, 15, 13) - $1) || substr(value, 28)
			WHERE name = 'never-name mail.example.net'"
}

check "detach" baleen detach --forget --entries veth-b
printf '%s\n' "never-name mail.example.net" "rule bad drop" "bans" "feed $TMP/bad every 1h" >"$CONF"
answers "9.10.0.9 other.example.net"
check_status "a name without an answer is no reason to refuse" 3 baleen apply veth-b
is "apply says it" "$(<err)" "baleen: veth-b: never-name mail.example.net: no such name, or no address of it; nothing is withheld for it yet"
is "the list is dropped" "$(drops)" "9.10.0.1 9.10.0.2 2620:fe:1::1 "
is "status says it" "$(baleen status veth-b | grep -c 'never-name mail.example.net: no answer yet; FAILED .* ago: no such name')" 1
baleen doctor veth-b >out
is "doctor says it" "$(grep -c 'never-name mail.example.net has no address yet: no such name' out)" 1

answers "9.10.0.1 mail.example.net" "2620:fe:1::1 mail.example.net"
check_status "an answer" 3 baleen update veth-b
is "update says it" "$(<out)" "veth-b:bad: $TMP/bad: unchanged
veth-b: never-name mail.example.net: new, +2 -0: 2 addresses"
is "its addresses are dropped by no feed" "$(drops)" "9.10.0.2 "
check "they pass, the other does not" passes both
check_status "update again" 0 baleen update veth-b
is "an answer like the last changes nothing" "$(tail -n 1 out)" "veth-b: never-name mail.example.net: unchanged"
is "apply, too" "$(baleen apply veth-b)" "veth-b: unchanged, native"
is "status" "$(baleen status veth-b | grep -c 'never-name mail.example.net: 2 addresses, answered .* ago$')" 1
is "metrics" "$(baleen metrics | sed -n 's/^baleen_never_name_\(addresses\|[a-z]*_timestamp_seconds\){device="veth-b",name="mail.example.net"} \([0-9]\).*/\1 \2/p' | paste -s -d ' ')" \
	"addresses 2 answer_timestamp_seconds $(date +%s | cut -c 1)"
is "status as JSON" "$(baleen status veth-b -j | jq -c '.[0].never_names | map([.name, .addresses, .error])')" '[["mail.example.net",2,null]]'
baleen why veth-b 9.10.0.1 >out
is "why says the name, and when" "$(grep -c '9.10.0.1 .*never dropped: an address of mail.example.net, asked [-0-9: ]* (.*)$' out)" 1
is "why as JSON" "$(baleen why veth-b 9.10.0.1 -j | jq -c '[.. | .withheld? // empty | [.role, .what, .asked_ms == .answered_ms]] | first')" '["name","mail.example.net",true]'
for address in 9.10.0.1 9.10.0.0/24 2620:fe:1::1; do
	check_status "ban $address" 1 baleen ban "$address"
	is "is refused by name" "$(grep -c 'is never dropped (an address of mail.example.net)' err)" 1
done
is "nothing is banned" "$(drops)" "9.10.0.2 "

answers "9.10.0.2 mail.example.net" "2620:fe:1::1 mail.example.net"
printf '%s\n' 9.10.0.2 2620:fe:1::1 >both
echo 9.10.0.1 >dropped
check_status "diff" 3 baleen apply --diff veth-b
is "diff tells another answer" "$(grep -c 'never-name mail.example.net: +1 -1' out)" 1
check_status "apply takes it" 3 baleen apply veth-b
is "the old one is dropped, the new one not" "$(drops)" "9.10.0.1 "
check "so say the packets" passes both
check_status "another address can be banned" 0 baleen ban 9.10.0.3
check "and unbanned" baleen unban 9.10.0.3

answers "9.10.0.9 other.example.net"
check_status "the name is gone" 1 baleen update veth-b
is "the last answer stays" "$(<err) $(drops)" "baleen: veth-b: never-name mail.example.net: no such name, or no address of it; its last answer stays in force 9.10.0.1 "
is "metrics say since when" "$(baleen metrics | grep -c '^baleen_never_name_failure_timestamp_seconds{device="veth-b"')" 1
baleen why veth-b 9.10.0.2 >out
is "why says that there was none since" "$(grep -c 'an address of mail.example.net, asked .*, without an answer since ' out)" 1
kill -STOP "$resolver"
check_status "nobody answers" 1 baleen update veth-b
is "the last answer stays in force" "$(drops)" "9.10.0.1 "
unpin "$B"
check "restore at boot" baleen restore --boot
is "with the last answer" "$(drops)" "9.10.0.1 "
check "so say the packets after a boot" passes both
check "save" baleen save veth-b -o names
check "detach" baleen detach --forget --entries veth-b
check "restore what was saved" baleen restore veth-b names
is "with the last answer, too" "$(drops)" "9.10.0.1 "
check "detach again" baleen detach veth-b
kill -CONT "$resolver"

answers "9.10.0.1 mail.example.net"
check_status "apply once more" 3 baleen apply veth-b
is "as it answers now" "$(drops)" "9.10.0.2 2620:fe:1::1 "
baleen doctor veth-b >out
is "doctor has nothing to say" "$(grep -c never-name out)" 0
check_status "nothing is due" 0 baleen update --due
is "so the name is not asked" "$(<out)" ""
asked_long_ago 7200000
baleen doctor veth-b >out
is "doctor tells an old answer" "$(grep -c 'the last answer for never-name mail.example.net is 2h.* old: it was not asked since' out)" 1
answers "9.10.0.2 mail.example.net"
start_baleend "$B"
await "baleend asks when it is due" drops_only "9.10.0.1 2620:fe:1::1 "
stop_baleend

printf '%s\n' "rule bad drop" "bans" "feed $TMP/bad every 1h" >"$CONF"
check_status "without the statement" 3 baleen apply veth-b
is "apply tells it" "$(grep -c 'never-name none' out)" 1
is "all are dropped again" "$(drops)" "9.10.0.1 9.10.0.2 2620:fe:1::1 "
is "and nothing is kept of the name" "$(sqlite3 "$STATE_DB" "SELECT count(*) FROM text WHERE name GLOB 'never-name*'")" 0

# --- half an answer ------------------------------------------------------------------------

# refuses_family TYPE ADDRESS: a resolver that refuses questions of this type (1 for A, 28 for AAAA), and
# answers those of the other with this address
refuses_family()
{
	stop_resolver
	rm -f stub.log
	nsenter --net="/run/netns/$A" -- python3 - "$@" >stub.log {systemd_end}>&- <<-'END' &
	import socket, sys
	refused, address = int(sys.argv[1]), sys.argv[2]
	family = socket.AF_INET6 if ":" in address else socket.AF_INET
	data = socket.inet_pton(family, address)
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	s.bind(("10.66.0.1", 53))
	print("ready", flush=True)
	while True:
	    query, who = s.recvfrom(2000)
	    end = query.index(b"\0", 12) + 5
	    kind = query[end - 3]
	    head = query[:2] + (b"\x81\x85" if kind == refused else b"\x81\x80") + b"\0\1"
	    answer = b"\xc0\x0c" + query[end - 4:end] + b"\0\0\0\5" + len(data).to_bytes(2, "big") + data
	    if kind == refused:
	        s.sendto(head + b"\0\0\0\0\0\0" + query[12:end], who)
	    else:
	        s.sendto(head + b"\0\1\0\0\0\0" + query[12:end] + answer, who)
	END
	resolver=$!
	await "the resolver answers" grep -q ready stub.log
}

printf '%s\n' "never-name mail.example.net" "rule bad drop" "bans" "feed $TMP/bad every 1h" >"$CONF"
refuses_family 28 9.10.0.1
check_status "A is answered, AAAA refused" 3 baleen apply veth-b
HALF="baleen: veth-b: never-name mail.example.net: no answer for IPv6: Temporary failure in name resolution; \
what it did answer is withheld"
is "which is said" "$(<err)" "$HALF"
is "the half that answered is not dropped" "$(drops)" "9.10.0.2 2620:fe:1::1 "
is "status says it" "$(baleen status veth-b | grep -c \
	'never-name mail.example.net: 1 address, answered .* ago; FAILED .* ago: no answer for IPv6: ')" 1
baleen doctor veth-b >out
is "doctor, too" "$(grep -c 'never-name mail.example.net has half an answer: no answer for IPv6: ' out)" 1
check_status "it cannot be banned" 1 baleen ban 9.10.0.1
answers "9.10.0.1 mail.example.net" "2620:fe:1::1 mail.example.net"
check_status "both answer" 3 baleen update veth-b
is "both are not dropped" "$(drops)" "9.10.0.2 "
refuses_family 28 9.10.0.2
check_status "another A, and AAAA refused" 1 baleen update veth-b
is "which is said, too" "$(<err)" "$HALF"
is "what is asked for" "$(tail -n 1 out)" "veth-b: never-name mail.example.net: changed, +1 -1: 2 addresses"
is "A is the new one, AAAA that of the last answer" "$(drops)" "9.10.0.1 "
refuses_family 1 2620:fe:1::3
check_status "A refused, another AAAA" 1 baleen update veth-b
is "the other way round" "$(drops)" "9.10.0.1 2620:fe:1::1 "
answers "2620:fe:1::1 mail.example.net"
check_status "a whole answer" 3 baleen update veth-b
is "takes the place of all" "$(drops)" "9.10.0.1 9.10.0.2 "
printf '%s\n' "rule friends allow" "feed name:mail.example.net" >"$CONF"
check "detach" baleen detach --forget --entries veth-b
refuses_family 28 9.10.0.1
refuses "half an answer is no feed" "$TMP/$CONF:2: name:mail.example.net: no answer for IPv6: Temporary failure in \
name resolution" baleen apply veth-b
