#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The feed: what Squid says of its store, line by line as datagrams, keeps a filter equal to
# its disk, through fetches, PURGE, reloads and eviction; only who is named may feed; what UDP
# loses is counted to the datagram, and mended by a resync.

# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
isolate "$@"
# shellcheck source=tests/squid/lab.sh
source "$ROOT/tests/squid/lab.sh"

ASK=$ROOT/build/tools/icp_ask
FEED=3131
# Where the programs are: queries by the asker's port of the switch, the feed by the
# sibling's; and who sends it.
NODE=sw DEV=asker
SWITCH=10.9.0.254

# stat NAME: of the sibling, or of its feeder
stat()
{
	icp_status "$NODE" "$DEV" peer "$1"
}

feeder()
{
	icp_status "$NODE" "$DEV" "$FEEDER" "$1"
}

# inserted_now: inserts minus deletes
inserted_now()
{
	echo $(($(stat inserted) - $(stat deleted)))
}

# is_level: has the filter as many as the disk? Squid evicts once a second, so what
# was read is kept.
is_level()
{
	now=$(inserted_now)
	disk=$(squid_on_disk sibling)
	[ "$now" -eq "$disk" ]
}

# level NAME: it has, by Squid's own count
level()
{
	wait_for "feed level with the disk: $1" is_level
	is "$1: inserts minus deletes are the objects on disk" "$now" "$disk"
	is "$1: nothing came twice, went twice, or had no room" \
		"$(stat again) $(stat absent) $(stat no_room)" "0 0 0"
}

# on_disk: URLs of what is on Squid's disk now, sorted; its list has keys, and URLs only of
# what is in memory, too
on_disk()
{
	join -o 2.2 <(squid_mgr sibling objects | awk '
		/^KEY/ { key = $2 }
		/SWAPOUT_DONE/ { print key }' | sort) <(paste -d ' ' <(ever | squid_keys) <(ever) | sort) |
		sort
}

# known: URLs of the input to which XDP says hit, sorted
known()
{
	lab_in asker "$ASK" -w 32 10.9.0.1 | sed -n 's/^HIT //p' | sort
}

# ever: all objects that ever were
ever()
{
	obj 1 "$last"
	seq -f "http://$ORIGIN/big/%.0f" 1 100
}

is_same()
{
	on_disk >"$TMP/disk"
	cmp -s "$TMP/disk" <(ever | known)
}

# knows NAME: of all objects that ever were, XDP knows those on the disk. Squid evicts
# once a second, so both are read until it rests.
knows()
{
	wait_for "rest: $1" is_same
	are "$1: XDP knows what is on disk, and nothing else" "$TMP/disk" < <(ever | known)
	echo "# $1: $(wc -l <"$TMP/disk") objects on disk"
}

# --- the life of a store ----------------------------------------------------

# The disk has room for some 1,000 small objects, so most of 3,000 are evicted.
try_life()
{
	last=3400
	is "$1: fetches" "$(obj 1 400 | lab_get sibling - | counted)" "400 200"
	level "$1: fetched"
	is "$1: PURGE" "$(obj 101 200 | lab_purge sibling - | counted)" "100 200"
	level "$1: purged"
	is "$1: reloads" "$(obj 1 50 | lab_reload sibling - | counted)" "50 200"
	level "$1: reloaded"
	knows "$1, before eviction"
	is "$1: more than the disk has room for" "$(obj 401 "$last" | lab_get sibling - |
		counted)" "3000 200"
	wait_for "eviction" is_evicted
	level "$1: evicted"
	echo "# $1: $(stat inserted) inserts, $(stat deleted) deletes"
	is "$1: some are gone" "$(($(stat deleted) > 200))" 1
	knows "$1, after eviction"
	is "$1: nothing was lost" "$(feeder lost) $(feeder reordered) $(feeder malformed)" "0 0 0"
}

# is_evicted: is the disk below its mark, 90 % of 4 MiB? While it is full, at 1,025 objects,
# Squid keeps new ones in memory only.
is_evicted()
{
	[ "$(squid_on_disk sibling)" -lt 930 ]
}

# try_fresh PLACE: how soon the other cache gets a new object from this one
try_fresh()
{
	local began

	lab_get sibling "http://$ORIGIN/new/$1" >"$TMP/status"
	began=$(date +%s%N)
	wait_for "new object at the asker" is_known "http://$ORIGIN/new/$1"
	echo "# $1: a new object is known after $((($(date +%s%N) - began) / 1000)) us, by processes"
	ok "$1: a new object is known"
	lab_purge sibling "http://$ORIGIN/new/$1" >"$TMP/status"
	wait_for "gone object at the asker" is_gone "http://$ORIGIN/new/$1"
	ok "$1: and soon no more when it is gone"
}

is_known()
{
	[ "$(known <<<"$1")" = "$1" ]
}

is_gone()
{
	[ -z "$(known <<<"$1")" ]
}

# --- who may feed -----------------------------------------------------------

# line TAG DIR URL: a line of store.log, in HEX, of an object that is fresh for an hour
line()
{
	local key now=1700000000

	key=$(squid_keys <<<"$3")
	printf '%9d.%03d %-7s %s %08X %s  200 %d %d %d text/plain 9/9 GET %s\n' "$now" 1 "$1" \
		"$2" 1 "$key" "$now" "$now" $((now + 3600)) "$3" | xxd -p -c 0
}

# unheard: datagrams to ports where nobody listens, on the switch
unheard()
{
	in_ns "$SW" nstat -asz UdpNoPorts | awk '/UdpNoPorts/ { print $2 }'
}

# is_unheard N: so many by now?
is_unheard()
{
	[ "$(unheard)" -ge "$1" ]
}

# tell [ADDRESS]: the lines of the input, each a datagram to the feed port, from the sibling's
# host and its address or another
tell()
{
	lab_in sibling "$ASK" -x -a "${1-10.9.0.1}" -p "$FEED" "$SWITCH"
}

try_strangers()
{
	local before nobody url="http://$ORIGIN/stranger"

	# By the device where the feed comes in.
	ip -n "$(lab_ns sibling)" address add 10.9.0.11/24 dev eth0
	before=$(icp_status "$NODE" "$DEV" "" feed_strangers)
	nobody=$(unheard)
	{ line SWAPOUT 00 "$url"; line RELEASE 00 "$(tail -n 1 "$TMP/disk")"; } | tell 10.9.0.11
	wait_for "stranger" is_unheard $((nobody + 2))
	is "what a stranger tells passes" $(($(unheard) - nobody)) 2
	is "and is counted" $(($(icp_status "$NODE" "$DEV" "" feed_strangers) - before)) 2
	is "and changes nothing" "$(known <<<"$url")" ""
	nobody=$(unheard)
	before=$(feeder malformed)
	{ echo 00; line SWAPOUT 00 "$url" | cut -c 1-132; line SWAPOUT 00 "$url" |
		sed 's/20535741504f555420/20535741504f555421/'; } | tell
	line SWAPOUT 00 "$url" | tell
	wait_for "line by hand" is_known "$url"
	is "what the feeder tells is taken, whatever it is" $(($(unheard) - nobody)) 0
	is "what is no line is counted" $(($(feeder malformed) - before)) 3
	line RELEASE 00 "$url" | tell
	wait_for "line by hand" is_gone "$url"
	before=$(stat absent)
	line RELEASE 00 "$url" | tell
	line SWAPOUT 00 "$url" | tell
	wait_for "lines by hand" is_known "$url"
	is "what goes twice is counted" $(($(stat absent) - before)) 1
	before=$(stat again)
	line SWAPOUT 00 "$url" | tell
	line RELEASE 00 "$url" | tell
	wait_for "lines by hand" is_gone "$url"
	is "what comes twice, too" $(($(stat again) - before)) 1
	knows "nothing went below zero, or stayed"
}

# --- loss -------------------------------------------------------------------

# is_heard N: more than so many lines that change nothing?
is_heard()
{
	squid_mgr sibling info
	[ "$(feeder others)" -gt "$1" ]
}

# Of the datagrams that the sibling sends, each hundredth is lost on its device.
try_loss()
{
	local lost before others

	before=$(feeder lost)
	lab_in sibling nft -f - <<-END || bail "cannot lose anything"
		table netdev loss {
			counter lost { }
			chain out {
				type filter hook egress device "eth0" priority 0
				udp dport $FEED numgen inc mod 100 50 counter name "lost" drop
			}
		}
	END
	is "loss: PURGE" "$(head -n 200 "$TMP/disk" | lab_purge sibling - | counted)" \
		"200 200"
	is "loss: fetches" "$(obj $((last + 1)) 5400 | lab_get sibling - | counted)" "2000 200"
	last=5400
	wait_for "eviction" is_evicted
	lost=$(lab_in sibling nft -j list counters | jq '[.nftables[].counter? | values | .packets] | add')
	lab_in sibling nft delete table netdev loss
	# A gap shows when the next datagram comes; all that Squid does makes one.
	others=$(feeder others)
	wait_for "datagram after the last" is_heard "$others"
	echo "# $lost datagrams were lost"
	is "loss: some were" "$((lost > 20))" 1
	is "loss: counted, to the datagram" $(($(feeder lost) - before)) "$lost"
	check_status "loss: the filter is wrong now" 1 is_same
	check "resync" in_ns "$SW" "$BALEEN" icp resync "$DEV:peer" http://10.9.0.1:3128 --from objects
	knows "resynced"
	try_fresh "resynced"
}

# --- places and kinds -------------------------------------------------------

# attach PLACE OPTION...: sets $NODE, $DEV and $FEEDER
attach()
{
	local feed=("--feed" "sibling:$FEED")

	NODE=${1%:*} DEV=${1#*:} FEEDER=10.9.0.1
	if [ "$NODE" = sibling ]; then
		FEEDER=127.0.0.1
		feed=("--feed" "lo:$FEED")
	fi
	check "$*: attach" lab_in "$NODE" "$BALEEN" icp attach "$DEV" --asker 10.9.0.2 --stale 10m \
		--sibling "peer=10.9.0.1,mode=answer,feeder=$FEEDER" --confirm never "${feed[@]}" "${@:2}"
}

# begin PLACE: a Squid with an empty disk, which feeds that place
begin()
{
	local to=$SWITCH

	[ "${1%:*}" = sw ] || to=127.0.0.1
	rm -rf "$TMP/sibling/cache"
	squid_start sibling "cache_dir ufs $TMP/sibling/cache 4 4 16" "digest_generation off" \
		"cache_store_log udp://$to:$FEED"
}

lab_start
lab_node sibling 1
lab_node asker 2

attach sw:asker --capacity 10k
begin sw:asker
try_life "cuckoo"
try_fresh "cuckoo"
try_strangers
try_loss
check "detach" in_ns "$SW" "$BALEEN" icp detach asker
squid_stop sibling

attach sibling:eth0 --capacity 10k --kind counting --fpp 0.000001
begin sibling:eth0
try_life "counting"
try_fresh "counting"
check "detach" lab_in sibling "$BALEEN" icp detach eth0
