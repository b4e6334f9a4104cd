#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Squids that ask each other over IPv6: a shield, a summary and a feed, and checksums that
# are right, which IPv6 has no way to do without. Addresses of the lab: fd09::1 is the
# sibling, fd09::2 the asker, fd09::fe the switch.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source tests/squid/lab.sh

# statuses NAME URL...: of fetches by the Squid of NAME, "N STATUS"
statuses()
{
	lab_get "$@" | sort | uniq -c | xargs
}

# routes PATTERN: of the asker's requests for such URLs, "N ROUTE/HOST", sorted
routes()
{
	awk -v pattern="$1" '$7 ~ pattern { n[$9]++ } END { for (route in n) print n[route], route }' \
		"$TMP/asker/access.log" | sort -k 2 | paste -sd ' '
}

# are_routes WHAT PATTERN ROUTES: as soon as they are logged
are_routes()
{
	local i

	for ((i = 0; i < 100; i++)); do
		[ "$(routes "$2")" != "$3" ] || break
		sleep 0.05
	done
	is "$1" "$(routes "$2")" "$3"
}

# capture WHAT N: begins to write down the first N replies that come to the asker
capture()
{
	file=$TMP/${1%% *}
	# The shell that is asked to enter the namespace becomes tcpdump itself.
	nsenter --net="/run/netns/$(lab_ns asker)" -- tcpdump -i eth0 -n -vvv --immediate-mode \
		-c "$2" ip6 and src host fd09::1 and udp src port 3130 >"$file.replies" 2>"$file.tcpdump" &
	captor=$!
	wait_for "capture" grep -q "listening on" "$file.tcpdump"
}

has_ended()
{
	! kill -0 "$1"
}

# captured WHAT N: all of them came, with a right checksum each
captured()
{
	wait_for "$2 replies" has_ended "$captor"
	is "$1: answers, and of them with a right checksum" \
		"$(grep -c 'fd09::1.3130 > fd09::2.3130' "$file.replies") $(grep -c '\[udp sum ok\]' "$file.replies")" \
		"$2 $2"
}

lab_start
lab_node sibling 1
lab_node asker 2
squid_start sibling "cache_store_log udp://[fd09::fe]:3131" "acl purge method PURGE"
squid_start asker "cache_peer fd09::1 sibling 3128 3130 no-digest proxy-only name=sibling" \
	"dead_peer_timeout 10 minutes" "icp_query_timeout 5000"
is "the sibling has objects" "$(obj 1 100 | statuses sibling -)" "100 200"

# --- Squid itself ---------------------------------------------------------

is "without us: what it has and what it has not" "$(obj 51 60 | statuses asker -) $(obj 901 910 | statuses asker -)" \
	"10 200 10 200"
are_routes "without us: hits over IPv6" "/obj/5.$|/obj/60$" "10 SIBLING_HIT/fd09::1"
are_routes "without us: misses" "/obj/9..$" "10 HIER_DIRECT/$ORIGIN"
is "without us: the sibling answered" "$(icp_counter sibling)" 20

# --- a shield, and a summary ----------------------------------------------

check "what the sibling holds is read over IPv6" in_ns "$SW" "$BALEEN" icp seed -o "$TMP/sibling.bln" \
	"http://[fd09::1]:3128" --from objects --capacity 1000
# place WHAT NAMESPACE DEVICE FIRST: objects 1 to 100, and 100 strangers from this one on,
# through a filter that stands there. The asker keeps what it has from the origin.
place()
{
	local before

	check "$1: attached" in_ns "$2" "$BALEEN" icp attach "$3" --asker fd09::2/128 --stale 10m \
		--sibling "sibling=fd09::1,mode=answer,image=$TMP/sibling.bln" --confirm never \
		--mode generic
	before=$(icp_counter sibling)
	hits=$((hits + 100))
	capture "$1" 200
	is "$1: all is fetched" "$(obj 1 100 | statuses asker -) $(obj "$4" $(($4 + 99)) | statuses asker -)" \
		"100 200 100 200"
	captured "$1" 200
	are_routes "$1: hits" "/obj/(.|..|100)$" "$hits SIBLING_HIT/fd09::1"
	are_routes "$1: misses" "/obj/${4%00}..$" "100 HIER_DIRECT/$ORIGIN"
	is "$1: the Squid was not asked" $(($(icp_counter sibling) - before)) 0
	check "$1: taken off" in_ns "$2" "$BALEEN" icp detach "$3"
}

hits=10
place "shield" "$(lab_ns sibling)" eth0 1100
place "summary" "$SW" asker 1200

# --- a feed ---------------------------------------------------------------

# number NAME: of the sibling, as status says
number()
{
	in_ns "$SW" "$BALEEN" icp status -j asker | jq ".[0].siblings[0].$1"
}

is_number()
{
	[ "$(number "$1")" -eq "$2" ]
}

# Before somebody listens a line that is sent comes back as an error, and for that error
# the next line is not sent.
hears()
{
	lab_get sibling "http://$ORIGIN/first/$((hear++))" >/dev/null
	[ "$(number inserted)" -gt 0 ]
}

hear=0
check "feed: attached" in_ns "$SW" "$BALEEN" icp attach asker --asker fd09::/64 --stale 10m \
	--mode generic --feed sibling:3131 --sibling sibling=fd09::1,mode=answer,feeder=fd09::1 \
	--confirm never --capacity 2000
wait_for "line of the sibling" hears
check "feed: what it had before" in_ns "$SW" "$BALEEN" icp resync asker:sibling "http://[fd09::1]:3128" \
	--from objects
entries=$(number entries)
is "feed: all that it has" "$entries" "$(squid_on_disk sibling)"
before=$(number inserted)
is "feed: new objects" "$(obj 2001 2050 | statuses sibling -)" "50 200"
wait_for "50 inserts" is_number inserted $((before + 50))
before=$(number deleted)
is "feed: objects that go" "$(obj 2001 2010 | lab_purge sibling - | sort | uniq -c | xargs)" "10 200"
wait_for "10 deletes" is_number deleted $((before + 10))
is "feed: entries" "$(number entries)" $((entries + 40))
queries=$(icp_counter sibling)
capture "feed" 50
is "feed: all is fetched" "$(obj 2001 2050 | statuses asker -)" "50 200"
captured "feed" 50
are_routes "feed: hits and misses" "/obj/2...$" "10 HIER_DIRECT/$ORIGIN 40 SIBLING_HIT/fd09::1"
is "feed: the Squid was not asked" $(($(icp_counter sibling) - queries)) 0
check "feed: taken off" in_ns "$SW" "$BALEEN" icp detach asker
