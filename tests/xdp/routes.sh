#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Routes of a kernel table as entries of a rule, and entries as routes. BIRD announces by BGP
# from the namespace that sends to one in the namespace that filters, which writes a table:
#
#      $A: bird --BGP, 10.66.0.1 to 10.66.0.2--> $B: bird --> table 100 --> baleend --> veth-b
#
# The configuration of the second is the example that is installed.

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

cleanup()
{
	[ ! -s a.pid ] || kill -KILL "$(<a.pid)" 2>/dev/null
	[ ! -s b.pid ] || kill -KILL "$(<b.pid)" 2>/dev/null
}

baleen()
{
	in_ns "$B" "$BALEEN" "$@"
}

# route ARGUMENT...: of table 100
route()
{
	ip -n "$B" route "$1" "${@:2}" table 100
}

# routes_of TABLE: both families, with their protocol
routes_of()
{
	{ ip -n "$B" route show table "$1"; ip -n "$B" -6 route show table "$1"; } 2>ip.err |
		sed 's/ dev lo//; s/ metric.*//; s/ $//'
}

# has KEY, has_not KEY: of the rule
has()
{
	baleen match veth-b:rtbh "$1" >/dev/null
}

has_not()
{
	! has "$1"
}

# field NAME: of the feed, as status says
field()
{
	baleen status -j veth-b | jq ".[0].rules[0].made_of.feeds[0].$1 // .[0].rules[0].feeds[0].$1"
}

field_is()
{
	[ "$(field "$1")" = "$2" ]
}

# timed NAME COMMAND...: as await; says how long it took
timed()
{
	local began

	began=$(date +%s%N)
	await "$@"
	echo "# $1: after $((($(date +%s%N) - began) / 1000000)) ms"
}

# --- what is refused ------------------------------------------------------------

# refuses_conf NAME MESSAGE LINE...: of a rule
refuses_conf()
{
	printf '%s\n' "${@:3}" >"$CONF"
	refuses "$1" "$2" baleen apply veth-b
}

try_refused()
{
	refuses_conf "no table" "$TMP/$CONF:2: feed 'route:': not the number or name of a routing table" \
		"rule rtbh drop" "feed route:"
	refuses_conf "a word with a slash" \
		"$TMP/$CONF:2: feed 'route:a/b': not the number or name of a routing table" \
		"rule rtbh drop" "feed route:a/b"
	refuses_conf "a word of a download" "$TMP/$CONF:2: feed route:100: only hold and every are for routes" \
		"rule rtbh drop" "feed route:100 timeout 3s"
	refuses_conf "hold of a file" "$TMP/$CONF:2: hold is for routes: feed route:TABLE" \
		"rule rtbh drop" "feed /a hold 1h"
	refuses_conf "keys of several fields" \
		"$TMP/$CONF:2: feed route:100: routes, names and sets are for keys of one address" \
		"rule rtbh drop" "feed route:100" "key src,dport"
	refuses_conf "a name that nobody gave" \
		"$TMP/$CONF:2: route:nobody: routing table 'nobody' is neither a number nor in /etc/iproute2/rt_tables" \
		"rule rtbh drop" "feed route:nobody"
	refuses_conf "table 0" "$TMP/$CONF:2: route:0: '0' is no routing table: 1 to 4294967295" \
		"rule rtbh drop" "feed route:0"
	is "nothing is attached" "$(xdp_id "$B" veth-b)" ""
}

# --- without baleend --------------------------------------------------------------

try_update()
{
	printf '9.9.8.1\n' >conf/never.list
	printf '%s\n' "rule rtbh drop" "feed route:rtbh" >"$CONF"
	# This test has a mount namespace of its own.
	# A newer iproute2 has its own names in /usr/share, and reads /etc before.
	local usual=/etc/iproute2/rt_tables

	[ -e "$usual" ] || usual=/usr/share/iproute2/rt_tables
	sed '$a 100 rtbh' "$usual" >rt_tables
	mount --bind rt_tables "$usual" || bail "no names of tables"
	check_status "apply with an empty table" 3 baleen apply veth-b
	is "apply --diff says nothing more" "$(baleen apply --diff veth-b)" "veth-b: unchanged"

	check "a blackhole" route add blackhole 9.9.9.1 proto bird
	check "unreachable" route add unreachable 9.9.9.0/30 proto zebra
	check "prohibit" route add prohibit 2620:fe::/48 proto 77
	check "never to be dropped" route add blackhole 9.9.8.1 proto bird
	check "special-purpose" route add blackhole 10.66.0.0/24 proto bird
	check "one that leads somewhere" route add 9.9.7.0/24 via 10.66.0.1
	check "one of another table" ip -n "$B" route add blackhole 9.9.6.1 table 101
	check_status "update says that something changed" 3 baleen update veth-b
	is "how much" "$(<out)" \
		"veth-b:rtbh: route:rtbh: changed, +4 -0: 4 entries, without 1 special-purpose"
	is "those that lead nowhere are the set" "$(baleen dump veth-b:rtbh)" "9.9.9.0/30
2620:fe::/48"
	is "why names who made the route" \
		"$(baleen why veth-b 9.9.9.1 | sed -n 's/ in route:rtbh.*//p')" \
		"    9.9.9.1              route of bird
    9.9.9.0/30           route of zebra"
	is "or the number that he has" "$(baleen why -j veth-b 2620:fe::1 | jq -r '.[0].rules[0].entries[0].route_of')" 77
	is "why it is withheld" "$(baleen why veth-b 9.9.8.1 | sed -n 's/^ *//; s/ *never dropped/ never dropped/p')" \
		"9.9.8.1 never dropped: the never-drop list, 9.9.8.1"
	check "again" baleen update veth-b
	is "nothing new" "$(<out)" "veth-b:rtbh: route:rtbh: unchanged"

	check "too much at once" route add blackhole 8.0.0.0/7
	check_status "is refused" 1 baleen update veth-b
	is "by what it covers" "$(sed 's/.*refused: //' err)" \
		"covers 0.781 % of the IPv4 space more than before: more than max-growth 0.1% allows; widest: line 2, 8.0.0.0/7; its last good copy stays in force"
	is "status says it" "$(field failures)" 1
	check "it goes" route del blackhole 8.0.0.0/7
	check "a single withdrawal" route del blackhole 9.9.9.1
	check_status "counts at once" 3 baleen update veth-b:rtbh
	is "and is no entry any more" "$(baleen why -j veth-b 9.9.9.1 | jq -c '[.[0].rules[0].entries[].entry]')" \
		'["9.9.9.0/30"]'
}

# The set comes from the copy, before there is any route.
try_boot()
{
	local before

	before=$(baleen dump veth-b:rtbh)
	check "save" baleen save veth-b -o saved
	unpin "$B"
	check "restore at boot" baleen restore --boot
	is "the routes are in force again" "$(baleen dump veth-b:rtbh)" "$before"
	check "detach, forget" baleen detach --forget --entries veth-b
	check "restore what was saved" baleen restore veth-b saved
	is "again the same" "$(baleen dump veth-b:rtbh)" "$before"
	check "detach again" baleen detach veth-b
	check_status "apply" 3 baleen apply veth-b
	is "with the feed that it was" "$(baleen apply --diff veth-b)" "veth-b: unchanged"
	# A reboot empties the table; the copy says of which boot it is.
	sed -i 's/boot .*/boot another/' "$(kept_of "$B")"/veth-b/feeds/*
	check "a route is lost" route del unreachable 9.9.9.0/30
	check_status "update after a reboot" 3 baleen update veth-b
	is "it is held" "$(field held) $(baleen dump veth-b:rtbh | head -n 1)" "1 9.9.9.0/30"
	check_status "update --force lets go" 3 baleen update --force veth-b:rtbh
	is "what was held" "$(field held) $(baleen dump veth-b:rtbh | head -n 1)" "0 2620:fe::/48"
	check "the table is emptied" ip -n "$B" -6 route flush table 100
	check "of IPv4, too" route flush
	baleen update veth-b:rtbh >/dev/null
	check "detach once more" baleen detach veth-b
}

# --- BIRD -------------------------------------------------------------------------

# announce [PREFIX...]: what the first BIRD announces from now on
announce()
{
	local prefix

	: >a4.conf
	: >a6.conf
	for prefix; do
		case $prefix in
		*:*) echo "route $prefix blackhole;" >>a6.conf ;;
		*) echo "route $prefix blackhole;" >>a4.conf ;;
		esac
	done
	[ ! -s a.pid ] || in_ns "$A" birdc -s a.ctl configure >birdc.out || bail "birdc"
}

start_a()
{
	rm -f a.ctl
	in_ns "$A" bird -c "$TMP/a.conf" -s a.ctl -P a.pid 2>bird.err {systemd_end}>&- ||
		bail "no bird: $(<bird.err)"
}

start_birds()
{
	cat >a.conf <<-END
		router id 10.66.0.1;
		protocol device {}
		protocol static {
			ipv4;
			include "$TMP/a4.conf";
		}
		protocol static {
			ipv6;
			include "$TMP/a6.conf";
		}
		protocol bgp {
			local 10.66.0.1 as 64511;
			neighbor 10.66.0.2 as 64512;
			multihop;
			ipv4 { import none; export all; };
			ipv6 { import none; export all; next hop address fd66::1; };
		}
	END
	{
		echo "router id 10.66.0.2;"
		echo "protocol device {}"
		cat "$ROOT/user/adapters/bird-rtbh.conf"
	} >b.conf
	announce
	start_a
	in_ns "$B" bird -c "$TMP/b.conf" -s b.ctl -P b.pid 2>bird.err {systemd_end}>&- ||
		bail "no bird: $(<bird.err)"
	await "the session is established" session_is_up
}

session_is_up()
{
	in_ns "$B" birdc -s b.ctl show protocols rtbh | grep -q Established
}

session_is_down()
{
	! session_is_up
}

# passes FILE, drops FILE: frames of these sources
passes()
{
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --unlisted "$1" --expect
}

drops()
{
	"$TRAFFIC" --from "$A:veth-a" --to "$B:veth-b" --listed "$1" --unlisted others --expect
}

try_bird()
{
	printf '%s\n' "rule rtbh drop" "feed route:100 hold 1h" >"$CONF"
	printf '%s\n' 9.10.0.1 2620:fe:1::1 >one
	printf '%s\n' 9.11.0.1 2620:fe:2::1 >others
	check_status "apply" 3 baleen apply veth-b
	start_birds
	start_baleend "$B"
	check "before, all pass" passes one

	announce 9.10.0.1/32 2620:fe:1::/48
	timed "BIRD announces IPv4" has 9.10.0.1
	await "and IPv6" has 2620:fe:1::1
	check "they are dropped" drops one
	is "why says who" "$(baleen why veth-b 9.10.0.1 | grep -o 'route of .* in route:100')" \
		"route of bird in route:100"
	is "table main is what it was" "$(ip -n "$B" route show | grep -c blackhole)" 0
	announce 2620:fe:1::/48
	timed "BIRD withdraws IPv4" has_not 9.10.0.1
	announce
	await "it withdraws IPv6" has_not 2620:fe:1::1
	check "they pass" passes one
	is "nothing is held" "$(field held)" 0
}

N_SESSION=40

try_session()
{
	local i prefixes=()

	# A name, so that what went before is not counted with what goes now.
	printf '%s\n' "rule rtbh drop" "feed route:rtbh" >"$CONF"
	check_status "apply" 3 baleen apply veth-b
	for ((i = 0; i < N_SESSION; i++)); do
		prefixes+=("9.12.0.$i/32" "2620:fe:3:$i::/64")
	done
	announce "${prefixes[@]}"
	await "BIRD announces many" field_is entries $((2 * N_SESSION))
	kill -KILL "$(<a.pid)"
	await "its session is lost" session_is_down
	timed "baleend holds what went with it" field_is held $((2 * N_SESSION))
	is "the table is empty" "$(routes_of 100)" ""
	is "all are entries still" "$(field entries)" $((2 * N_SESSION))
	baleen dump veth-b:rtbh >held
	sed 's|::/.*|::1|' held >sources
	check "and dropped" drops sources
	is "status says it" "$(baleen status veth-b | grep -c "feed route:rtbh: $((2 * N_SESSION)) withdrawn together or by a reboot, held until .*; 'baleen update --force veth-b:rtbh' lets go")" 1
	is "a metric, too" "$(baleen metrics | sed -n 's/^baleen_feed_held_entries{.*feed="route:rtbh"} //p')" \
		$((2 * N_SESSION))
	is "why says it" "$(baleen why veth-b 9.12.0.7 | grep -c 'route of bird in route:rtbh, .*, withdrawn .* with others or by a reboot, held until 20')" 1

	rm -f a.pid
	announce "${prefixes[@]:0:20}"
	start_a
	await "it comes back with a part: the others stay held" field_is held $((2 * N_SESSION - 20))
	is "no entry is lost" "$(field entries)" $((2 * N_SESSION))
	check_status "update --force lets go" 3 baleen update --force veth-b:rtbh
	is "of all that is not announced" "$(field entries)" 20

	printf '%s\n' "rule rtbh drop" "feed route:rtbh hold 1s" >"$CONF"
	is "apply --diff tells of another hold" "$(baleen apply --diff veth-b | grep '^veth-b: [-+]')" \
		"veth-b: -	feed route:rtbh
veth-b: +	feed route:rtbh hold 1s"
	check_status "apply with a short hold" 3 baleen apply veth-b
	kill -KILL "$(<a.pid)"
	rm -f a.pid
	await "when its time is over baleend lets go" field_is entries 0
	is "and nothing is held" "$(field held)" 0
	kill -KILL "$(<b.pid)"
	rm -f b.pid
	stop_baleend
}

# --- many, and notifications that are lost ----------------------------------------

N_MANY=100000

equals()
{
	route show 2>ip.err | sed -n 's/^blackhole \([^ ]*\).*/\1/p' | sort >table
	baleen dump veth-b:rtbh | sort | cmp -s - table
}

# batch WORD FILE: adds or deletes
batch()
{
	sed "s/.*/route $1 blackhole & table 100/" "$2" | ip -n "$B" -batch -
}

try_many()
{
	awk -v n="$N_MANY" 'BEGIN { for (i = 0; i < n; i++)
		printf "45.%d.%d.%d\n", i / 32768, i / 128 % 256, 2 * (i % 128) }' >many
	printf '45.200.0.1\n' >one-more
	start_baleend "$B" --route-buffer 1
	check "one before" batch add one-more
	await "it listens" has 45.200.0.1
	check "which goes" batch del one-more
	await "and is followed" has_not 45.200.0.1
	# While it sleeps nobody reads what the kernel tells.
	kill -STOP "$baleend_pid"
	check "$N_MANY routes" batch add many
	kill -CONT "$baleend_pid"
	await "notifications were lost" grep -q 'changes of routes were lost' baleend.log systemd
	timed "the set equals the table" equals
	is "all of them" "$(wc -l <table)" "$N_MANY"
	check "one more" batch add one-more
	timed "of $N_MANY routes one more" has 45.200.0.1
	check "one less" batch del one-more
	timed "of $N_MANY routes one less" has_not 45.200.0.1

	printf '%s\n' "rule rtbh drop" "feed route:100 hold none" >"$CONF"
	check_status "apply without a hold" 3 baleen apply veth-b
	awk 'NR % 3 == 0' many >third
	kill -STOP "$baleend_pid"
	check "a third goes" batch del third
	kill -CONT "$baleend_pid"
	await "the set equals the table again" equals
	is "two thirds of them" "$(wc -l <table)" $((N_MANY - N_MANY / 3))
	stop_baleend
}

# --- the other way round ------------------------------------------------------------

try_export()
{
	printf '%s\n' 9.20.0.0/24 9.21.0.1-9.21.0.3 2620:fe::/48 '!2620:fe::7' 9.22.0.1 >list
	check_status "no verb" 2 baleen route
	check_status "another verb" 2 baleen route import list --table 70
	check_status "no table" 2 baleen route export list
	check_status "a set and --remove" 2 baleen route export list --remove --table 70
	refuses "table main" "table main: packets of this host go by it, so what is exported becomes unreachable from here (--force does it)" \
		baleen route export list --table main
	refuses "table local by number" "table 255: packets of this host go by it, so what is exported becomes unreachable from here (--force does it)" \
		baleen route export list --table 255
	refuses "too many" "list: more than 3 routes: see --max" baleen route export list --table 70 --max 3
	is "nothing was exported" "$(routes_of 70)" ""
	check "somebody else's route" ip -n "$B" route add blackhole 9.22.0.1 table 70 proto bird

	check "detach" baleen detach --forget --entries veth-b
	check "attach" baleen attach veth-b --drop list
	check "export" baleen route export veth-b:list --table 70
	is "says how many" "$(<out)" "table 70: +5 -0: 5 routes of baleen"
	is "and what is not" "$(<err)" \
		"baleen: table 70: 1 not exported: others have a route of the same prefix"
	is "as routes" "$(routes_of 70)" "blackhole 9.20.0.0/24 proto 98
blackhole 9.21.0.1 proto 98
blackhole 9.21.0.2/31 proto 98
blackhole 9.22.0.1 proto bird
throw 2620:fe::7 proto 98
blackhole 2620:fe::/48 proto 98"
	check "a change" baleen add veth-b:list 9.23.0.1
	check "another" baleen add veth-b:list '!9.20.0.0/25'
	check "export again" baleen route export veth-b:list --table 70 -j
	is "only what differs" "$(jq -c . out)" '{"table":"70","added":2,"removed":1,"same":4,"others":1}'
	check "once more" baleen route export veth-b:list --table 70 -j
	is "nothing differs" "$(jq -c . out)" '{"table":"70","added":0,"removed":0,"same":6,"others":1}'
	echo 9.99.0.0/16 >other
	refuses "without CAP_NET_ADMIN" "routing table 71: 9.99.0.0/16: Operation not permitted" \
		in_ns "$B" setpriv --bounding-set -all -- "$BALEEN" route export other --table 71
	printf '%s\n' "rule rtbh drop" "feed route:70" >"$CONF"
	is "no route of baleen is an entry: there is no circle" \
		"$(baleen apply --diff veth-b | grep 'rule rtbh: feed')" "veth-b: + rule rtbh: feed route:70: +1"
	check "remove" baleen route export --remove --table 70
	is "ours are gone" "$(routes_of 70)" "blackhole 9.22.0.1 proto bird"
	check "detach" baleen detach veth-b
}

try_refused
try_update
try_boot
try_bird
try_session
try_many
try_export
