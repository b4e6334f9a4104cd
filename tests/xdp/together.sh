#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One file with all that a host learns by itself: replies, a limit, routes, names, widening. It
# is in force as before after apply, save and restore, and a boot, and why explains each.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
make_pair
cd "$TMP" || exit 2
mkdir -p conf
chmod 755 "$TMP"
resolver=

cleanup()
{
	[ -z "$resolver" ] || kill -KILL "$resolver" 2>/dev/null
}

baleen() { in_ns "$B" "$BALEEN" "$@"; }

start_resolver()
{
	echo 'nameserver 10.66.0.1' >resolv.conf
	mount --bind resolv.conf /etc/resolv.conf || bail "no resolv.conf"
	printf 'hosts: dns\n' >nsswitch.conf
	mount --bind nsswitch.conf /etc/nsswitch.conf || bail "no nsswitch.conf"
	printf '%s\n' "9.10.0.1 office.example.net" "9.10.0.2 mail.example.net" >hosts
	nsenter --net="/run/netns/$A" -- dnsmasq --keep-in-foreground --conf-file=/dev/null \
		--user=root --pid-file= --no-resolv --no-hosts --addn-hosts="$TMP/hosts" \
		--local=/net/ --bind-interfaces --listen-address=10.66.0.1 \
		--log-facility="$TMP/dnsmasq.log" &
	resolver=$!
	for ((i = 0; i < 200; i++)); do
		grep -qs 'read .*hosts' dnsmasq.log && return
		sleep 0.05
	done
	bail "no resolver"
}

# rules: without what was counted
rules()
{
	baleen status -j veth-b | jq -c '.[0] | [.default,
		[.rules[] | [.name, .action, .qualifiers, .addresses, .key, .exact]]]'
}

# state: rules, entries and sets
state()
{
	rules
	baleen list -j veth-b | jq -c '[.[] | [.rule, .entry, .origin, .reason, .expires_ms]] | sort'
	in_ns "$B" "$ROOT/build/tools/verdict" veth-b "${ASKED[@]}"
}

# why KEY: what of each rule decides
why()
{
	baleen why veth-b "$@" 2>&1
}

has_line()
{
	local text

	text=$(why "${@:3}")
	case $text in
	*"$2"*) ok "$1" ;;
	*) not_ok "$1"; echo "# ${text//$'\n'/$'\n'# }" ;;
	esac
}

write_conf()
{
	cat >conf/veth-b.conf <<-END
		never-name mail.example.net
		rule office allow
		    feed name:office.example.net
		rule replies allow established
		    any
		rule jail drop
		    bans
		    ban-width 56
		    widen 2 in /24
		rule rtbh drop
		    feed route:100 hold 1h
		rule bad drop
		    feed $TMP/bad
		    special keep
		rule web count limit 1/h burst 2 ban 10m unverified
		    any
	END
}

ASKED=(9.10.0.1 9.10.0.2 185.10.5.1 203.0.113.1 203.0.113.200 2620:fe:0:1::7 9.9.9.9 192.168.3.4
	9.8.7.6)
printf '%s\n' 9.9.9.9 9.10.0.1 9.10.0.2 192.168.3.0/24 >bad
ip -n "$B" link set lo up
ip -n "$B" route add blackhole 185.10.5.0/24 table 100
start_resolver
write_conf
check_status "apply" 3 baleen apply veth-b
check "two bans in one prefix" baleen add veth-b:jail 203.0.113.1 203.0.113.2 --ttl 1h --origin test \
	--reason "ssh scan"
check "one of IPv6" baleen ban 2620:fe:0:1::1 1h
want=$(state)
is "each is in force" "$(tail -n 1 <<<"$want")" PPDDDDDDP
is "apply again changes nothing" "$(baleen apply veth-b)" "veth-b: unchanged, native"

has_line "why: a name" "name:office.example.net" 9.10.0.1
has_line "why: a never-name" "mail.example.net" 9.10.0.2
has_line "why: a route" "route:100" 185.10.5.1
has_line "why: widened" "2 of 203.0.113.0/24" 203.0.113.200
has_line "why: a ban" "ssh scan" 203.0.113.1
has_line "why: established" "established" 9.8.7.6
has_line "why: the limit" "limit 1/h burst 2 ban 10m" 9.8.7.6

check "save" baleen save veth-b -o saved
check "detach, and forget" baleen detach --forget --entries veth-b
check "restore" baleen restore --force veth-b saved
is "is in force as it was saved" "$(rules)" "$(head -n 1 <<<"$want")"
is "and for all that is asked" "$(in_ns "$B" "$ROOT/build/tools/verdict" veth-b "${ASKED[@]}")" \
	"$(tail -n 1 <<<"$want")"

check "the file again" baleen detach --forget --entries veth-b
check_status "applied again" 3 baleen apply veth-b
check "bans again" baleen add veth-b:jail 203.0.113.1 203.0.113.2 --ttl 1h --origin test \
	--reason "ssh scan"
check "of IPv6, which is banned still" baleen ban --exist 2620:fe:0:1::1 1h
want=$(state)
unpin "$B"
is "nothing is on" "$(xdp_mode "$B" veth-b)" off
ip -n "$B" route flush table 100
kill -KILL "$resolver"
{ wait "$resolver"; } 2>/dev/null
resolver=
check "boot, with neither routes nor resolver" baleen restore --boot veth-b
is "all is in force again" "$(state)" "$want"

finish
