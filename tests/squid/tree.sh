#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Trees of Squids: the summary of a node is the OR of those below it and its own, and a
# question goes down only where it may be answered.
#
#                     root .10   top .13          ask the mids: as parents, as siblings
#                     /      \                    that may go on looking
#              mid1 .11      mid2 .12             ask their leaves
#              /     \        /     \
#        leaf1 .21  leaf2  leaf3  leaf4 .24       100 objects each, none at the mids
#
# Each summary stands on the port of the switch where the one that asks is: it is
# answered there, and none of the Squids below is asked by ICP at all.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source tests/squid/lab.sh

MIDS="mid1 mid2"
LEAVES="leaf1 leaf2 leaf3 leaf4"
declare -A AT=([root]=10 [top]=13 [mid1]=11 [mid2]=12 [leaf1]=21 [leaf2]=22 [leaf3]=23 [leaf4]=24)

# of LEAF: its objects
of()
{
	obj "${1#leaf}001" "${1#leaf}100"
}

# routes NAME PATTERN: of the requests by HTTP for such URLs, "N ROUTE/HOST", sorted
routes()
{
	awk -v pattern="$2" '$6 == "GET" && $7 ~ pattern { n[$9]++ }
		END { for (route in n) print n[route], route }' "$TMP/$1/access.log" |
		sort -k 2 | paste -sd ' '
}

# are_routes WHAT NAME PATTERN ROUTES: as soon as they are logged, which is after the client
# has its object
are_routes()
{
	local i

	for ((i = 0; i < 100; i++)); do
		[ "$(routes "$2" "$3")" != "$4" ] || break
		sleep 0.05
	done
	is "$1" "$(routes "$2" "$3")" "$4"
}

# direct PATTERN: of such requests by HTTP to the mids, those that went to the origin
direct()
{
	cat "$TMP"/mid[12]/access.log | awk -v pattern="$1" '$7 ~ pattern && $9 ~ /^HIER_DIRECT/' | wc -l
}

# asked: ICP queries that mids and leaves received, in all
asked()
{
	local name sum=0

	for name in $MIDS $LEAVES; do
		sum=$((sum + $(icp_counter "$name")))
	done
	echo $sum
}

# icp COMMAND...: on the switch
icp()
{
	in_ns "$SW" "$BALEEN" icp "$@"
}

# --- the Squids -----------------------------------------------------------

# Half a minute after its start a Squid knows how near its parents are to the origin, and asks none.
parents()
{
	local n

	for n in 11 12; do
		echo "cache_peer 10.9.0.$n $1 3128 3130 no-digest no-netdb-exchange proxy-only name=mid$n"
	done
	squid_sibling none
}

lab_start
for name in "${!AT[@]}"; do
	lab_node "$name" "${AT[$name]}"
done
# Whom another asks is started first: who is not there then is dead until the next request.
for leaf in $LEAVES; do
	squid_start "$leaf" "cache_store_log udp://10.9.0.254:3131" "acl purge method PURGE"
	is "$leaf has its objects" "$(of "$leaf" | lab_get "$leaf" - | sort | uniq -c | xargs)" "100 200"
done
mapfile -t lines < <(squid_sibling mid1 21 22)
squid_start mid1 "${lines[@]}"
mapfile -t lines < <(squid_sibling mid2 23 24)
squid_start mid2 "${lines[@]}"
mapfile -t lines < <(parents parent)
squid_start root "${lines[@]}"
mapfile -t lines < <(parents "sibling" | sed '/cache_peer/s/$/ allow-miss/')
squid_start top "${lines[@]}"

# --- what each knows of those below ---------------------------------------

# summary NAME [OPTION...]: what the Squid of NAME holds, as NAME.bln
summary()
{
	check "what $1 holds is read" icp seed -o "$TMP/$1.bln" "http://10.9.0.${AT[$1]}:3128" \
		--from objects "${@:2}"
}

# holds NAME LEAF...: its summary has the objects of these leaves and no others
holds()
{
	local leaf

	for leaf in "${@:2}"; do
		of "$leaf"
	done | sort >"$TMP/want"
	for leaf in $LEAVES; do
		of "$leaf"
	done | "$BALEEN" match -f - "$TMP/$1.bln" | sort >"$TMP/got"
	check "$1 knows of ${*:2}, and of no more" cmp "$TMP/want" "$TMP/got"
}

summary leaf1 --kind counting --hash squid --capacity 2000 --fpp 1e-6
for name in leaf2 leaf3 leaf4 mid1 mid2; do
	summary "$name" --like "$TMP/leaf1.bln"
done
mv "$TMP/mid1.bln" "$TMP/own1.bln"
mv "$TMP/mid2.bln" "$TMP/own2.bln"
check "mid1: OR" "$BALEEN" merge -o "$TMP/mid1.bln" "$TMP/own1.bln" "$TMP/leaf1.bln" "$TMP/leaf2.bln"
check "mid2: OR" "$BALEEN" merge -o "$TMP/mid2.bln" "$TMP/own2.bln" "$TMP/leaf3.bln" "$TMP/leaf4.bln"
holds leaf3 leaf3
holds mid1 leaf1 leaf2
holds mid2 leaf3 leaf4

# route PORT NAME...: queries of the node behind this port for these are answered there
route()
{
	local name siblings=()

	for name in "${@:2}"; do
		siblings+=(--sibling "$name=10.9.0.${AT[$name]},mode=answer,image=$TMP/$name.bln")
	done
	check "$1 has the summaries of ${*:2}" icp attach "$1" "${siblings[@]}" \
		--asker "10.9.0.${AT[$1]}" --stale 10m --confirm never --mode generic
}

route root mid1 mid2
route top mid1 mid2
route mid1 leaf1 leaf2
route mid2 leaf3 leaf4

# --- from the root down ---------------------------------------------------

before=$(asked)
is "root: all objects" "$(for leaf in $LEAVES; do of "$leaf"; done | lab_get root - | sort | uniq -c | xargs)" \
	"400 200"
are_routes "root goes to the right mid" root "/obj/[12]...$" "200 PARENT_HIT/10.9.0.11"
are_routes "root goes to the other one" root "/obj/[34]...$" "200 PARENT_HIT/10.9.0.12"
for leaf in $LEAVES; do
	mid=mid$(((${leaf#leaf} + 1) / 2))
	are_routes "$mid goes to $leaf" "$mid" "/obj/${leaf#leaf}...$" "100 SIBLING_HIT/10.9.0.${AT[$leaf]}"
	are_routes "$leaf got them once, and gave them once" "$leaf" "/obj/" \
		"100 HIER_DIRECT/$ORIGIN 100 HIER_NONE/-"
done
is "top: objects of all leaves" \
	"$(lab_get top "$(obj 1001 1010)" "$(obj 4001 4010)" | sort | uniq -c | xargs)" "20 200"
are_routes "top goes to the right mid" top "/obj/1...$" "10 SIBLING_HIT/10.9.0.11"
are_routes "top goes to the other one" top "/obj/4...$" "10 SIBLING_HIT/10.9.0.12"

# A parent that says no is asked to get it; a sibling is not. In the log of root that is no
# miss: it names what the connection to the parent was opened for.
is "root: objects that nobody has" "$(obj 9001 9100 | lab_get root - | sort | uniq -c | xargs)" "100 200"
is "top: objects that nobody has" "$(obj 8001 8100 | lab_get top - | sort | uniq -c | xargs)" "100 200"
are_routes "top goes to the origin" top "/obj/8...$" "100 HIER_DIRECT/$ORIGIN"
is "a mid goes there for root" "$(direct "/obj/9...$")" 100
is "root had 400 hits and 100 times no" \
	"$(icp status -j root | jq -c '[.[0].siblings[] | [.hits, .misses]]')" "[[200,300],[200,300]]"
for leaf in $LEAVES; do
	is "$leaf is not asked for them" "$(routes "$leaf" "/obj/[89]...$")" ""
done
is "no query reached a mid or a leaf" $(($(asked) - before)) 0

# --- a summary that follows -----------------------------------------------

for port in root top mid1 mid2; do
	check "$port: taken off" icp detach "$port"
done

# number NAME: of mid1, as status says
number()
{
	icp status -j root | jq ".[0].siblings[] | select(.name == \"mid1\") | .$1"
}

# is_number NAME N
is_number()
{
	[ "$(number "$1")" -eq "$2" ]
}

# hears LEAF: a new object of the leaf is told of. Before somebody listens a line that is
# sent comes back as an error, and for that error the next line is not sent.
hears()
{
	local before

	before=$(number inserted)
	lab_get "$1" "http://$ORIGIN/first/$1/$((hear++))" >/dev/null
	[ "$(number inserted)" -gt "$before" ]
}

# Both leaves tell of themselves; the leaves themselves answer mid1. What comes for the
# switch comes in by its own device, from whatever port.
hear=0
check "root has mid1, which leaf1 and leaf2 feed" icp attach root --asker 10.9.0.10 \
	--stale 10m --confirm never \
	--mode generic --feed br0:3131 --kind counting --hash squid --capacity 2000 --fpp 1e-6 \
	--sibling mid1=10.9.0.11,mode=answer,feeder=10.9.0.21,feeder=10.9.0.22
wait_for "line of leaf1" hears leaf1
wait_for "line of leaf2" hears leaf2
check "what they had before" icp resync root:mid1 http://10.9.0.21:3128 http://10.9.0.22:3128 \
	--from objects
is "all of both is in the summary" "$(number entries)" \
	"$(($(squid_on_disk leaf1) + $(squid_on_disk leaf2)))"

# root_gets WHAT N ROUTE: object N, by a hit of mid1 and this way from there
root_gets()
{
	local hits

	hits=$(number hits)
	is "root: $1" "$(lab_get root "http://$ORIGIN/obj/$2")" 200
	is "root: a hit" "$(number hits)" $((hits + 1))
	are_routes "mid1: the way to $1" mid1 "/obj/$2$" "$3"
}

# fetches LEAF N, purges LEAF N: and the summary has heard of it
fetches()
{
	local n

	n=$(number inserted)
	is "$1 fetches object $2" "$(lab_get "$1" "http://$ORIGIN/obj/$2")" 200
	wait_for "insert of object $2" is_number inserted $((n + 1))
}

purges()
{
	local n

	n=$(number deleted)
	is "$1 purges object $2" "$(lab_purge "$1" "http://$ORIGIN/obj/$2")" 200
	wait_for "delete of object $2" is_number deleted $((n + 1))
}

root_gets "an old object of leaf1" 1050 "2 SIBLING_HIT/10.9.0.21"
root_gets "an old object of leaf2" 2050 "2 SIBLING_HIT/10.9.0.22"
fetches leaf1 7001
root_gets "a new object of leaf1" 7001 "1 SIBLING_HIT/10.9.0.21"
fetches leaf1 7002
fetches leaf2 7002
purges leaf1 7002
root_gets "an object that leaf2 has still" 7002 "1 SIBLING_HIT/10.9.0.22"
purges leaf2 7002
misses=$(number misses)
is "root: an object that no leaf has any more" "$(lab_get root "http://$ORIGIN/obj/7002")" 200
is "root: no hit" "$(number misses)" $((misses + 1))
are_routes "mid1 goes to the origin" mid1 "/obj/7002$" \
	"1 HIER_DIRECT/$ORIGIN 1 SIBLING_HIT/10.9.0.22"
check "root: taken off" icp detach root
